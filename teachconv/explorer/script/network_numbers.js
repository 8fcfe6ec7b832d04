// A network on the page: every layer's numbers from the input's, each sum in float64 and rounded once, and what one cell is made of.

import { countedCells, gatherAll, scatterAll } from "./axis_tables.js";
import { AxisGeometry } from "./law.js";
import { ExactSum } from "./numbers.js";
import { range } from "./python.js";

const FLOATS = { float32: Float32Array, float64: Float64Array };
// float32 and float64 as dtypes.py describes them
const FORMATS = {
  float32: { precision: 24, smallest_exponent: -149, largest: (2 - 2 ** -23) * 2 ** 127 },
  float64: { precision: 53, smallest_exponent: -1074, largest: Number.MAX_VALUE },
};

/** The bytes of a text; an iterator over its letters would take most of the time in which a large page opens. */
function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}
/** An array of network_document.packed. */
export const unpackedArray = ({ dtype, base64 }) => new FLOATS[dtype](bytesOf(base64).buffer);

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const between = (x, low, high) => Math.min(Math.max(x, low ?? -Infinity), high ?? Infinity);
/** What a step makes of a number; definitions.py has them in Python. */
const STEPS = {
  clip: (x, { low, high }) => between(x, low, high),
  leaky: (x, { slope }) => (x < 0 ? slope * x : x),
  "batch norm": (x, { factor, offset }, c) => x * factor[c] + offset[c],
  softmax: (x) => x, // of all scores: see chances
  sigmoid,
  tanh: Math.tanh,
  "silu (swish)": (x) => x * sigmoid(x),
  "gelu (tanh)": (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))) / 2,
  elu: (x) => (x < 0 ? Math.expm1(x) : x),
  hardswish: (x) => (x * between(x + 3, 0, 6)) / 6,
  hardsigmoid: (x) => between(x + 3, 0, 6) / 6,
};

/** The shares that softmax makes of scores. */
export function chances(scores) {
  const most = Math.max(...scores);
  const grown = [...scores].map((score) => Math.exp(score - most));
  const sum = grown.reduce((a, b) => a + b, 0);
  return grown.map((x) => x / sum);
}

/** The classes from the highest score to the lowest. */
export const ranked = (scores) => [...scores.keys()].sort((a, b) => scores[b] - scores[a]);

/** A network of a page's document. Column 0 is the input; a cell is [column, row, column of the map, channel]. */
export class Network {
  constructor(data) {
    this.data = data;
    this.rounded = data.dtype === "float32" ? Math.fround : (x) => x;
    this.input = data.input && unpackedArray(data.input);
    this.isLarge = !data.input; // large_network.py: maps as bytes, and some cells exactly
    this.answer = data.answer;
    this.columns = data.columns.map((column) => this.prepare(column, data.columns));
    this.isWhole = !this.isLarge && !this.columns.some(({ kind }) => kind === "box"); // any input can be computed
    this.summed = new Set(data.cells?.map(String)); // cells of a large network with windows and filters
    this.blocks = this.isLarge ? this.blocksOf() : [];
    this.closed = new Set(this.blocks.map(({ last }) => last));
  }

  /** The numbers of all columns as the page opens. */
  opening() {
    return this.isLarge ? this.columns.map((column) => this.held(column)) : this.forward(this.input);
  }

  /** What the page holds of a column of a large network: maps as bytes, and all numbers of some places; else NaN. */
  held({ size, rows, cols, channels, thumbs = [], bytes, low, high, places, known }) {
    const numbers = new FLOATS[this.data.dtype](size).fill(NaN);
    const levels = bytes && bytesOf(bytes);
    for (const [n, channel] of thumbs.entries()) {
      for (let place = 0; place < rows * cols; place++) numbers[place * channels + channel] = low + ((high - low) * levels[n * rows * cols + place]) / 255;
    }
    const exact = unpackedArray(known);
    for (const [n, place] of places.entries()) numbers.set(exact.subarray(n * channels, (n + 1) * channels), place * channels);
    return numbers;
  }

  /** Whether the number of a cell is the model's own, and not one of 256 levels. */
  isExact([k, row, col]) {
    return !this.isLarge || this.columns[k].places.includes(row * this.columns[k].cols + col);
  }

  /** Whether the page has the window and the filter of a cell. */
  canSum(cell) {
    return !this.isLarge || this.summed.has(String(cell));
  }

  /** The blocks: columns between two through which every way leads, with the latter of these two. */
  blocksOf() {
    const ends = this.columns.map((_, k) => k).filter((k) => this.columns.slice(k + 1).every(({ from }) => from.every((source) => source >= k)));
    return ends.slice(1).flatMap((last, i) => (last - ends[i] > 1 ? [{ before: ends[i], last, name: sharedName(this.columns.slice(ends[i] + 1, last + 1)) }] : []));
  }

  /** The block that a column is in, its end included. */
  blockOf(k) {
    return this.blocks.find(({ before, last }) => before < k && k <= last);
  }

  /** Whether a column is inside of a block that is closed. */
  isHidden(k) {
    const block = this.blockOf(k);
    return block !== undefined && k < block.last && this.closed.has(block.last);
  }

  /** A column with its arrays, and of each row and column the taps of its window. */
  prepare(column, all) {
    const [rows, cols, channels] = column.shape;
    const made = { ...column, rows, cols, channels, size: rows * cols * channels, then: (column.then ?? []).map(withArrays), steps: (column.steps ?? []).map(withArrays) };
    if (column.values) made.values = unpackedArray(column.values);
    if (!column.from) return made;
    made.sources = column.from.map((from) => all[from].shape);
    const [[, , depth]] = made.sources;
    if (!column.axes) return Object.assign(made, { windows: null, groups: channels, ins: 1, outs: 1 });
    made.axes = column.axes.map((axis) => new AxisGeometry(...axis));
    const scatters = column.kind === "transposed convolution";
    const taps = scatters ? scatterAll : gatherAll;
    made.windows = made.axes.map((axis, i) => range(0, column.shape[i]).map((index) => taps(axis, index)));
    made.inner = made.windows.map((lists) => lists.map((list) => list.filter(([, , outside]) => !outside)));
    const groups = column.filters ? column.groups : channels;
    Object.assign(made, { groups, ins: depth / groups, outs: channels / groups });
    if (column.filters) {
      made.filters = column.filters.base64 ? unpackedArray(column.filters) : [];
      made.filtersOf = new Map(Object.entries(column.held ?? {}).map(([channel, filter]) => [Number(channel), unpackedArray(filter)])); // of a large network
      made.bias = column.bias && unpackedArray(column.bias);
      [, , made.filterDepth, made.filterChannels] = column.filters.shape;
    }
    return made;
  }

  /**
   * The position of a cell in the numbers of its column.
   * @param {number[]} cell
   */
  position(cell) {
    const [k, row, col, channel] = cell;
    const { cols, channels } = this.columns[k];
    return (row * cols + col) * channels + channel;
  }

  /** The cell at a position. */
  cellAt(k, position) {
    const { cols, channels } = this.columns[k];
    const place = Math.floor(position / channels);
    return [k, Math.floor(place / cols), place % cols, position % channels];
  }

  /**
   * The numbers of all columns.
   * @param {any} input
   * @param {number[] | null} without a cell that counts as 0
   * @param {any[]} known of columns before, numbers that are so already
   */
  forward(input, without = null, known = []) {
    const values = [input];
    for (let k = 1; k < this.columns.length; k++) {
      values.push(k < known.length ? known[k] : this.computed(k, values));
      if (without?.[0] === k) {
        values[k] = values[k].slice();
        values[k][this.position(without)] = 0;
      }
    }
    return values;
  }

  /** The numbers of one column. */
  computed(k, values) {
    const column = this.columns[k];
    if (column.kind === "box") return column.values;
    const made = new FLOATS[this.data.dtype](column.size);
    const sources = column.from.map((from) => values[from]);
    if (column.filters) this.convolve(column, sources[0], made);
    else if (column.windows) this.pool(column, sources[0], made);
    else this.combine(column, sources, made);
    for (const step of [...column.steps, ...column.then]) {
      const act = STEPS[step.kind];
      for (let i = 0; i < made.length; i++) made[i] = act(made[i], step, i % column.channels); // rounded as it is stored
    }
    return made;
  }

  convolve(column, x, made) {
    const { inner: [down, across], rows, cols, channels, groups, ins, outs, filters, bias, filterDepth, filterChannels } = column;
    const [, width, depth] = column.sources[0];
    const size = column.axes[1].filter_size;
    const scatters = column.kind === "transposed convolution";
    const step = scatters ? filterChannels : 1; // from a weight to that of the next channel
    const sums = new Float64Array(channels);
    for (let row = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++) {
        sums.fill(0);
        if (bias) sums.set(bias);
        for (const [t, y] of down[row]) {
          for (const [u, z] of across[col]) {
            const from = (y * width + z) * depth;
            const base = (t * size + u) * filterDepth * filterChannels;
            for (let g = 0; g < groups; g++) {
              for (let i = 0; i < ins; i++) {
                const value = x[from + g * ins + i];
                if (value === 0) continue;
                const first = base + (scatters ? g * ins + i : i * filterChannels + g * outs);
                for (let o = 0; o < outs; o++) sums[g * outs + o] += value * filters[first + o * step];
              }
            }
          }
        }
        made.set(sums, (row * cols + col) * channels);
      }
    }
  }

  pool(column, x, made) {
    const { inner: [down, across], rows, cols, channels, kind } = column;
    const [, width] = column.sources[0];
    for (let row = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++) {
        const divisor = kind === "max pool" ? 1 : this.divisor(column, row, col);
        for (let c = 0; c < channels; c++) {
          let value = kind === "max pool" ? this.start(column, row, col) : 0;
          for (const [, y] of down[row]) {
            for (const [, z] of across[col]) {
              const number = x[(y * width + z) * channels + c];
              value = kind === "max pool" ? Math.max(value, number) : value + number;
            }
          }
          made[(row * cols + col) * channels + c] = value / divisor;
        }
      }
    }
  }

  /** What a maximum begins with: the number in the padding of the layer, if its window meets that. */
  start({ filled, windows, inner }, row, col) {
    const outside = windows[0][row].length * windows[1][col].length > inner[0][row].length * inner[1][col].length;
    return filled !== null && outside ? filled : -Infinity;
  }

  /** What the sum of a window is divided by. */
  divisor({ divisor, axes }, row, col) {
    if (typeof divisor === "number") return divisor;
    return Math.max(1, countedCells(axes[0], row, divisor === "padded") * countedCells(axes[1], col, divisor === "padded"));
  }

  combine({ kind, channels, size, sources }, arrays, made) {
    if (kind === "concatenate") {
      let before = 0;
      for (const [n, array] of arrays.entries()) {
        const [, , depth] = sources[n];
        for (let i = 0; i < array.length; i++) made[Math.floor(i / depth) * channels + before + (i % depth)] = array[i];
        before += depth;
      }
      return;
    }
    for (let i = 0; i < size; i++) {
      let value = arrays[0][i];
      for (const array of arrays.slice(1)) value = kind === "multiply" ? value * array[i] : value + array[i];
      made[i] = value;
    }
  }

  /**
   * What one cell is made of: its taps in the order of the law, those in the padding too, and the bias.
   * @param {number[]} cell
   */
  taps(cell, values) {
    const [k, row, col, channel] = cell;
    const column = this.columns[k];
    const list = [];
    const add = (source, weight, order) => {
      const outside = source === null;
      const value = outside ? 0 : values[source[0]][this.position(source)];
      list.push({ source, outside, value, weight, product: outside ? 0 : value * weight, order: list.length, ...order });
    };
    if (!column.windows) {
      let before = 0;
      for (const [n, from] of (column.from ?? []).entries()) {
        const depth = column.sources[n][2];
        const own = column.kind === "concatenate" ? channel - before : channel;
        if (own >= 0 && own < depth) add([from, row, col, own], 1, { plane: own, from });
        before += depth;
      }
      return { list, bias: null };
    }
    const { windows, ins, outs, filters, filterDepth, filterChannels, from: [from] } = column;
    const g = Math.floor(channel / outs);
    const own = column.filtersOf?.get(channel);
    const size = column.axes[1].filter_size;
    const scatters = column.kind === "transposed convolution";
    const share = column.kind === "average pool" ? 1 / this.divisor(column, row, col) : 1;
    for (let i = 0; i < ins; i++) {
      const plane = g * ins + i;
      for (const [t, y, above] of windows[0][row]) {
        for (const [u, z, aside] of windows[1][col]) {
          const at = (t * size + u) * filterDepth * filterChannels + (scatters ? (channel - g * outs) * filterChannels + plane : i * filterChannels + channel);
          const weight = own ? own[(t * size + u) * ins + i] : filters ? filters[at] : share;
          add(above || aside ? null : [from, y, z, plane], weight, { plane, from, tap: [t, u], at });
        }
      }
    }
    return { list, bias: column.bias ? column.bias[channel] : null };
  }

  /**
   * The value of a cell: its sum exactly, rounded once, and what each step behind it makes of it.
   * @returns {{sum: number, stages: {kind: string, value: number}[], winner: any}}
   */
  evaluated(cell, values) {
    const [k, row, col, channel] = cell;
    const column = this.columns[k];
    const { list, bias } = this.taps(cell, values);
    const inside = list.filter((tap) => !tap.outside);
    let winner = null;
    let value = values[k][this.position(cell)];
    if (column.kind === "max pool") {
      winner = inside.reduce((a, b) => (a && a.value >= b.value ? a : b), null);
      value = Math.max(this.start(column, row, col), winner?.value ?? -Infinity);
    } else if (column.kind === "multiply") {
      value = this.rounded(inside.reduce((a, b) => a * b.value, 1));
    } else if (column.from && column.kind !== "box") {
      const sum = new ExactSum({ format: FORMATS[this.data.dtype], dtype: this.data.dtype });
      for (const tap of inside) sum.add(tap.value, column.kind === "average pool" ? 1 : tap.weight);
      if (bias !== null) sum.add(bias, 1);
      value = sum.over(column.kind === "average pool" ? this.divisor(column, row, col) : 1);
    }
    const stages = [];
    for (const step of [...column.steps, ...column.then]) {
      const before = stages.at(-1)?.value ?? value;
      stages.push({ kind: step.kind, value: this.rounded(STEPS[step.kind](before, step, channel)) });
    }
    return { sum: value, stages, winner };
  }
}

/** What the names of columns begin with, up to a dot or another sign between words. */
function sharedName(columns) {
  const [first, ...others] = columns.map(({ name }) => name.split(/(?=[./_])/));
  const same = first.findIndex((part, i) => others.some((parts) => parts[i] !== part));
  return first.slice(0, same < 0 ? first.length : same).join("");
}

/** A step with its arrays. */
const withArrays = (step) => (step.factor ? { ...step, factor: unpackedArray(step.factor), offset: unpackedArray(step.offset) } : step);
