// One call as data: which values it has, which taps each cell, and what each cell is called.

import { axisOf } from "./axis_tables.js";
import { countedCells } from "./law.js";
import { ExactSum, parse } from "./numbers.js";

export const index = (cell) => (cell ? cell.join(", ") : "a zero between two cells");

/** Part of an array: its axes are ranges of indices in the whole array. */
class Held {
  constructor({ axes, values }, doc) {
    this.axes = axes;
    this.known = this.lowest = undefined;
    this.values = values.map((raw) => parse(raw, doc));
  }

  get(cell) {
    let position = 0;
    for (let axis = 0; axis < 4; axis++) {
      const [start, stop] = this.axes[axis];
      if (!(cell[axis] >= start && cell[axis] < stop)) return undefined;
      position = position * (stop - start) + cell[axis] - start; // the number's index in storage
    }
    return this.values[position];
  }

  /** The largest size of a finite number: one scale of colours for all channels. */
  get largest() {
    this.known ??= this.values.reduce((most, value) => {
      const size = Math.abs(Number(value));
      return Number.isFinite(size) && size > most ? size : most;
    }, 0);
    return this.known;
  }

  /** The least finite number. */
  get least() {
    this.lowest ??= this.values.reduce((least, value) => (Number.isFinite(Number(value)) && value < least ? Number(value) : least), Infinity);
    return this.lowest;
  }

  indices(axis) {
    const [start, stop] = this.axes[axis];
    return Array.from({ length: stop - start }, (_, i) => start + i);
  }
}

const DIMMEST = 32; // the largest number of a photo of 0 to 255

/** One variant of one call. Cells are canonical: [n, row, col, channel], or a filter's four indices. */
export class View {
  constructor(doc, variant) {
    const pick = (store, item) => (typeof item === "number" ? store[item] : item);
    this.doc = doc;
    this.variant = variant;
    this.kind = doc.kind;
    this.rows = pick(doc.axes, variant.rows);
    this.cols = pick(doc.axes, variant.cols);
    this.arrays = {};
    for (const [side, number] of Object.entries(variant.arrays)) {
      this.arrays[side] = heldArray(doc, number);
    }
    this.groupOfIn = new Map();
    this.groupOfOut = new Map();
    for (const group of doc.groups) {
      for (const [c] of group.in) this.groupOfIn.set(c, group);
      for (const o of group.out) this.groupOfOut.set(o, group);
    }
    this.known = new Map();
  }

  /** What is drawn of one side: for rows and for columns, a list of [index, kind of cell]. */
  drawn(side) {
    if (side !== "filter") return [this.rows[side], this.cols[side]];
    const held = this.arrays.filter;
    const sizes = held
      ? [held.indices(0), held.indices(1)]
      : [this.rows, this.cols].map((axis) => Array.from({ length: axis.filter_size }, (_, i) => i));
    return sizes.map((list) => list.map((i) => [i, ""]));
  }

  /** The filter depth that an input channel uses. */
  depth(c) {
    return this.groupOfIn.get(c)?.in.find(([channel]) => channel === c)?.[1] ?? 0;
  }

  /** The cell at (row, col) of a side's plane, for the chosen image and channels. */
  cell(side, row, col, { n, c, o }) {
    if (side === "filter") return [row, col, this.depth(c), o];
    return [n, row, col, side === "in" ? c : o];
  }

  number(side, cell) {
    return this.arrays[side]?.get(cell);
  }

  /** A cell as the caller numbers it, as CellNames.name; null for a zero between the caller's cells. */
  name(side, cell) {
    const names = this.doc.cell_names?.[side];
    if (!names) return cell;
    const at = side === "filter" ? this.filterName(names, cell) : this.activationName(names, cell, this.variant.shapes[side]);
    return at && [...names.letters].map((letter) => at[letter]);
  }

  filterName(names, [row, col, third, fourth]) {
    const [rows, cols, depth] = this.variant.shapes.filter;
    if (names.split) {
      third += Math.floor(fourth / names.split) * depth;
      fourth %= names.split;
    }
    const [i, o] = names.canonical.slice(2);
    return { H: names.flip ? rows - 1 - row : row, W: names.flip ? cols - 1 - col : col, [i]: third, [o]: fourth };
  }

  activationName(names, [n, row, col, channel], [images, ...sizes]) {
    const steps = names.stuffing ?? [1, 1];
    const places = [row, col].map((i, axis) => {
      if (i >= sizes[axis]) return Math.ceil(i / steps[axis]); // beyond the last cell the padding begins at once
      return i >= 0 && i % steps[axis] ? null : Math.floor(i / steps[axis]);
    });
    if (places.includes(null)) return null;
    const part = names.part_channels ? Math.floor(channel / names.part_channels) : 0;
    return { N: n + part * images, H: places[0], W: places[1], C: names.part_channels ? channel % names.part_channels : channel };
  }

  /** The shape of a side as the caller has it. */
  shape(side) {
    const shape = this.variant.shapes[side];
    if (shape.includes(0)) return shape;
    const corners = [shape.map(() => 0), shape.map((size) => size - 1)].map((cell) => this.name(side, cell) ?? shape);
    return corners[0].map((i, axis) => Math.max(i, corners[1][axis]) + 1);
  }

  /** Every tap of one cell of the result, in the order of tc.explain, with its running sum. */
  taps(cell) {
    const found = [];
    if (this.kind === "conv2d") {
      const [n, row, col, o] = cell;
      for (const r of this.rows.gather[row] ?? []) {
        for (const q of this.cols.gather[col] ?? []) {
          for (const [c, i] of this.groupOfOut.get(o).in) {
            found.push(this.tap(r[2] || q[2], [n, r[1], q[1], c], [r[0], q[0], i, o]));
          }
        }
      }
    } else if (this.kind === "conv2d_backprop_input") {
      const [n, row, col, c] = cell;
      for (const r of inverse(this.rows.scatter, this.rows.gather, row)) {
        for (const q of inverse(this.cols.scatter, this.cols.gather, col)) {
          for (const o of this.groupOfIn.get(c)?.out ?? []) {
            found.push(this.tap(r[2] || q[2], [n, r[1], q[1], o], [r[0], q[0], this.depth(c), o]));
          }
        }
      }
    } else {
      const [tapRow, tapCol, i, o] = cell;
      const c = this.channel(o, i);
      for (const n of this.arrays[this.doc.source].indices(0)) {
        for (const [outRow, outCol, r, q] of this.lattice(tapRow, tapCol)) {
          found.push(this.tap(r[2] || q[2], [n, r[1], q[1], c], [n, outRow, outCol, o]));
        }
      }
    }
    const sum = new ExactSum(this.doc);
    const list = found.filter((tap) => this.isCell(tap));
    let missing = 0;
    for (const [order, tap] of list.entries()) {
      tap.order = order;
      if (!tap.outside && (tap.value === undefined || tap.weight === undefined)) missing += 1;
      else if (!tap.outside) sum.add(tap.value, tap.weight);
      const largest = this.doc.pool?.reduce === "max" ? list.slice(0, order + 1) : null;
      tap.running = missing ? undefined : largest ? this.pooled(cell, largest) : sum.value;
    }
    const bias = this.doc.bias ? parse(this.doc.bias[cell[3]], this.doc) : null;
    if (bias !== null) sum.add(bias, this.doc.format ? 1 : 1n);
    if (this.kind === "conv2d_backprop_filter" && !this.doc.empty) missing += this.variant.terms - list.length;
    if (this.doc.pool && !missing) return { list, missing, bias, total: this.pooled(cell, list, sum.value) };
    return { list, missing, bias, total: missing ? undefined : sum.value };
  }

  /** What a pool makes of the cells of a window. */
  pooled(cell, list, sum = 0) {
    if (this.doc.pool.reduce === "average") return Math.fround(sum / this.divisor(cell));
    const values = list.filter((tap) => !tap.outside).map((tap) => tap.value);
    return values.length ? Math.max(...values) : undefined;
  }

  /** What the sum of a window is divided by. */
  divisor([, row, col]) {
    const [rows, cols] = [[this.rows, row], [this.cols, col]].map(([axis, i]) => countedCells(axisOf(axis), i, this.doc.pool.counted));
    return Math.max(1, rows * cols);
  }

  tap(outside, source, operand) {
    const value = outside ? undefined : this.number(this.doc.source, source);
    const weight = this.number(this.doc.operand, operand);
    const product = value === undefined || weight === undefined ? undefined : value * weight;
    return { outside: Boolean(outside), source, operand, value, weight, product };
  }

  /** Whether the source of a tap is a cell: a zero between two cells is no tap. */
  isCell(tap) {
    return this.name(this.doc.source, tap.source) !== null;
  }

  /** Where one tap of the filter is used: each cell of the forward output, with the tap of its row and of its column. */
  *lattice(tapRow, tapCol) {
    for (const [outRow, rows] of Object.entries(this.rows.gather)) {
      const r = rows.find(([tap]) => tap === tapRow);
      if (!r) continue;
      for (const [outCol, cols] of Object.entries(this.cols.gather)) {
        const q = cols.find(([tap]) => tap === tapCol);
        if (q) yield [Number(outRow), Number(outCol), r, q];
      }
    }
  }

  /** The products that one cell of the operand is part of: of a weight, one for each cell of the forward output. */
  uses(cell) {
    const found = [];
    if (this.kind === "conv2d_backprop_filter") {
      const [n, row, col, o] = cell;
      for (const r of this.rows.gather[row] ?? []) {
        for (const q of this.cols.gather[col] ?? []) {
          for (const [c, i] of this.groupOfOut.get(o).in) {
            found.push({ ...this.tap(r[2] || q[2], [n, r[1], q[1], c], cell), result: [r[0], q[0], i, o] });
          }
        }
      }
      return found.filter((tap) => this.isCell(tap));
    }
    const [tapRow, tapCol, i, o] = cell;
    const c = this.channel(o, i);
    for (const n of this.arrays[this.doc.source].indices(0)) {
      for (const [outRow, outCol, r, q] of this.lattice(tapRow, tapCol)) {
        const [into, out, beyond] = [[n, r[1], q[1], c], [n, outRow, outCol, o], Boolean(r[2] || q[2])];
        if (this.kind === "conv2d") found.push({ ...this.tap(beyond, into, cell), result: out });
        else found.push({ ...this.tap(0, out, cell), result: into, cropped: beyond });
      }
    }
    return found.filter((tap) => this.isCell(tap));
  }

  /** The input channel that an output channel reads at a depth of the filter. */
  channel(o, depth) {
    return this.groupOfOut.get(o).in.find(([, i]) => i === depth)[0];
  }

  /** The products that one cell of the source is part of: the inverse of the taps. */
  feeds(cell) {
    const [n, row, col, channel] = cell;
    const found = [];
    for (const r of this.meets(this.rows, row)) {
      for (const q of this.meets(this.cols, col)) {
        if (r[2] || q[2]) continue;
        if (this.doc.source === "out") {
          for (const [c, i] of this.groupOfOut.get(channel).in) {
            found.push(this.fed(cell, [r[0], q[0], i, channel], [n, r[1], q[1], c]));
          }
        } else {
          for (const o of this.groupOfIn.get(channel).out) {
            const tap = [r[0], q[0], this.depth(channel), o];
            const out = [n, r[1], q[1], o];
            if (this.kind === "conv2d") found.push(this.fed(cell, tap, out));
            else found.push(this.fed(cell, out, tap));
          }
        }
      }
    }
    return found;
  }

  /** The taps through which the result reads one index of the source, as [tap, index of the result, outside]. */
  meets(axis, index) {
    return this.doc.source === "in" ? inverse(axis.scatter, axis.gather, index) : inverse(axis.gather, axis.scatter, index);
  }

  /** Whether a cell of the source lies in its padding. */
  isPadding([, row, col]) {
    const size = this.doc.source === "in" ? "in_size" : "out_size";
    return row < 0 || col < 0 || row >= this.rows[size] || col >= this.cols[size];
  }

  fed(source, operand, result) {
    return { ...this.tap(this.isPadding(source), source, operand), result };
  }

  /** Whether the source is an image in colours: many cells, three channels, numbers from 0 to 255. */
  isPhoto() {
    const held = this.arrays[this.doc.source];
    if (this.kind !== "conv2d" || !held || this.variant.shapes.in[3] !== 3 || held.indices(1).length * held.indices(2).length < 300) return false;
    if (held.largest > 1 && held.largest < DIMMEST) return false; // digits in three channels would all be black
    return held.indices(3).length === 3 && held.values.every((value) => value >= 0 && value <= 255);
  }

  /**
   * The colour of a cell of a photo.
   * @param {number[]} cell
   */
  colour(cell) {
    const [n, row, col] = cell;
    const scale = this.arrays[this.doc.source].largest <= 1 ? 255 : 1;
    return `rgb(${[0, 1, 2].map((c) => Math.round(Number(this.number(this.doc.source, [n, row, col, c])) * scale)).join(" ")})`;
  }

  /** The value of one cell of the result: the backend's, or else the sum of its taps. */
  value(cell) {
    const result = this.arrays[this.doc.result];
    if (result && !this.isCropped(cell)) return result.get(cell);
    const key = cell.join();
    if (!this.known.has(key)) this.known.set(key, this.taps(cell).total);
    return this.known.get(key);
  }

  /** The sum of a cell of the result in float64, for a map that is only painted. */
  painted([n, row, col, channel]) {
    const forward = this.kind === "conv2d";
    const taps = (axis, i) => (forward ? axis.gather[i] ?? [] : inverse(axis.scatter, axis.gather, i)).filter(([, , outside]) => !outside);
    const planes = forward ? this.groupOfOut.get(channel).in.map(([c, i]) => [c, i, channel]) : this.groupOfIn.get(channel).out.map((o) => [o, this.depth(channel), o]);
    let sum = this.doc.bias ? Number(parse(this.doc.bias[channel], this.doc)) : 0;
    for (const [tapRow, r] of taps(this.rows, row)) {
      for (const [tapCol, q] of taps(this.cols, col)) {
        for (const [plane, depth, o] of planes) {
          sum += Number(this.number(this.doc.source, [n, r, q, plane])) * Number(this.number("filter", [tapRow, tapCol, depth, o]));
        }
      }
    }
    return sum;
  }

  /** Whether a cell of the result is cut away. */
  isCropped(cell) {
    const { result } = this.doc;
    const [, row, col] = cell;
    if (result === "filter") return false;
    return [[this.rows, row], [this.cols, col]].some(([axis, i]) => i < 0 || i >= axis[`${result}_size`]);
  }

  get computedBy() {
    const { backend, algorithm } = this.doc;
    if (!backend || !this.arrays[this.doc.result]) return "summed on this page";
    return `computed by ${backend}${algorithm ? `, ${algorithm}` : ""}`;
  }
}

/** The taps of one index, from its own table; of an index in the padding, from the table of the other side. */
function inverse(table, other, index) {
  if (table[index]) return table[index];
  const found = Object.entries(other).flatMap(([met, taps]) => taps.filter(([, i]) => i === index).map(([tap]) => [tap, Number(met), 0]));
  return found.sort(([a], [b]) => a - b);
}

const parsedArrays = new WeakMap(); // an array is parsed once, however many variants share it
export function heldArray(doc, number) {
  const raw = typeof number === "number" ? doc.arrays[number] : number;
  if (!parsedArrays.has(raw)) parsedArrays.set(raw, new Held(raw, doc));
  return parsedArrays.get(raw);
}

/** The row and column of a cell on the plane of its side. */
export const placeOf = (side, cell) => (side === "filter" ? [cell[0], cell[1]] : [cell[1], cell[2]]);

/** "[0, 1, 2, 0]" with the name of its side. */
export const named = (view, side, cell) => `${view.doc.names[side]}[${index(view.name(side, cell))}]`;

/** The indices of one axis that are not padding. */
export const inside = (list) => list.filter(([, kind]) => !["padding", "outside", "cut"].includes(kind)).map(([i]) => i);
