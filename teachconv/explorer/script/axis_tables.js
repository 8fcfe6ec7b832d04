// The tables of one axis, and the part of a large call that a page shows: the part as shown_part.py has it.

import { AxisGeometry, gather_all, scatter_all } from "./law.js";
import { floorDiv, range } from "./python.js";

const MOST_VALUES = 20_000; // numbers of one array on a page
const PLANE_SIDES = [40, 24, 16, 10, 6, 3, 1]; // rows and columns of a plane: the first number that fits is used
const MOST_CHANNELS = 512;
const MOST_IMAGES = 8;
/** @type {(range: number[]) => number} */
const lengthOf = ([start, stop]) => stop - start;
const STRETCH = 200; // indices of one axis that are drawn without a gap

/**
 * The part of a call that is shown, as ranges [start, stop] of indices: shown_part.part_of.
 * @param {number[]} at a cell of the result
 */
export function partOf(g, transposed, at) {
  const [n, row, col, channel] = at;
  let part;
  for (const side of PLANE_SIDES) {
    const [insR, outsR] = axisPart(g.rows, transposed, row, side);
    const [insC, outsC] = axisPart(g.cols, transposed, col, side);
    for (const few of halvings(Math.max(g.in_channels, g.out_channels))) {
      const [ins, outs] = channelPart(g, transposed, channel, few);
      const inValues = lengthOf(insR) * lengthOf(insC) * lengthOf(ins);
      const outValues = lengthOf(outsR) * lengthOf(outsC) * lengthOf(outs);
      const filterValues = g.rows.filter_size * g.cols.filter_size * lengthOf(outs) * Math.min(lengthOf(ins), depthOf(g));
      const images = Math.min(g.batch, MOST_IMAGES, Math.max(1, floorDiv(MOST_VALUES, Math.max(1, inValues, outValues))));
      part = { images: around(n, images, g.batch), inRows: insR, inCols: insC, inChannels: ins, outRows: outsR, outCols: outsC, outChannels: outs };
      if (Math.max(inValues, outValues, filterValues) <= MOST_VALUES) return part;
    }
  }
  return part;
}

/** Every tap of one output index, as [tap, input index, whether that is in the padding]. */
export const gatherAll = (axis, outIndex) => gather_all(axis, outIndex).map(({ tap, in_index, in_padding }) => [tap, in_index, Number(in_padding)]);

/** Every tap through which an output reads one input index, as [tap, output index, whether that is outside]. */
export const scatterAll = (axis, inIndex) => scatter_all(axis, inIndex).map(({ tap, out_index, in_padding }) => [tap, out_index, Number(in_padding)]);

/** How many cells of a window a mean is divided by: walking.counts, of one axis and one window. */
export function countedCells(axis, outIndex, padded) {
  const [low, high] = padded ? [-axis.pad_before, axis.in_size + axis.pad_after] : [0, axis.in_size];
  return gatherAll(axis, outIndex).filter(([, index]) => index >= low && index < high).length;
}

/** The number of input channels of a group, at least 1. */
const depthOf = (g) => Math.max(1, g.filters_shape[2]);

function halvings(most) {
  const tries = [Math.min(most, MOST_CHANNELS)];
  while (tries.at(-1) > 4) tries.push(Math.max(4, floorDiv(tries.at(-1), 2)));
  return tries;
}

function channelPart(g, transposed, channel, few) {
  const outsOfGroup = floorDiv(g.out_channels, g.groups);
  if (transposed) {
    const group = floorDiv(channel, depthOf(g));
    return [around(channel, few, g.in_channels), around(group * outsOfGroup, MOST_CHANNELS, g.out_channels)];
  }
  const group = floorDiv(channel, Math.max(1, outsOfGroup));
  return [around(group * depthOf(g), MOST_CHANNELS, g.in_channels), around(channel, few, g.out_channels)];
}

function axisPart(axis, transposed, wanted, side) {
  if (Math.max(axis.in_size, axis.out_size) <= side) return [[0, axis.in_size], [0, axis.out_size]];
  const [resultSize, sourceSize] = transposed ? [axis.in_size, axis.out_size] : [axis.out_size, axis.in_size];
  const both = [gathered, scattered].map((list) => (index) => list(axis, index));
  const [lookBack, look] = transposed ? both : both.toReversed();
  const at = Math.min(wanted, resultSize - 1);
  let met = look(at);
  if (!met.length) met = [Math.min(at, sourceSize - 1)];
  const length = transposed ? Math.max(1, floorDiv(side, axis.stride)) : side;
  const source = around(met[floorDiv(met.length, 2)], length, sourceSize);
  const holds = (shown, i) => i >= shown[0] && i < shown[1];
  const near = range(source[0], source[1]).flatMap(lookBack);
  const whole = near.filter((i) => look(i).every((j) => holds(source, j)));
  let result = whole.length ? [Math.min(...whole), Math.max(...whole) + 1] : [at, at + 1];
  if (result[1] - result[0] > side) result = around(at - result[0], side, result[1] - result[0], result[0]);
  return transposed ? [result, source] : [source, result];
}

/** A range of `length` indices out of `size` around `centre`, shifted at the borders. */
function around(centre, wanted, size, start = 0) {
  const length = Math.min(wanted, size);
  const first = Math.max(0, Math.min(centre - floorDiv(length, 2), size - length));
  return [start + first, start + first + length];
}

/** The indices with values on the other side of one axis: that a result is made of, or that a source contributes to. */
const gathered = (axis, index) => gatherAll(axis, index).filter(([, , out]) => !out).map(([, i]) => i);
const scattered = (axis, index) => scatterAll(axis, index).filter(([, , out]) => !out).map(([, i]) => i);
const middle = (list) => list[floorDiv(list.length, 2)];

/** The index of the result whose window is around an index of the source; if no window reads it, around one before. */
export function resultAround(axis, transposed, index) {
  for (let i = index; i >= 0; i--) {
    const met = transposed ? gathered(axis, i) : scattered(axis, i);
    if (met.length) return middle(met);
  }
  return 0;
}

/** The index of the source in the middle of the window of a result. */
export function sourceAmid(axis, transposed, index) {
  const met = transposed ? scattered(axis, index) : gathered(axis, index);
  return met.length ? middle(met) : Math.min(index, (transposed ? axis.out_size : axis.in_size) - 1);
}

/** The index of the result to begin with: shown_part.teaching. */
export function teaching(axis, transposed) {
  const [size, look] = transposed ? [axis.in_size, scatterAll] : [axis.out_size, gatherAll];
  if (Math.max(axis.in_size, axis.out_size) > PLANE_SIDES[0]) return floorDiv(size, 2);
  const inner = range(0, size).map((index) => look(axis, index).filter(([, , out]) => !out).length);
  return inner.indexOf(Math.max(...inner));
}

/** The integers of an axis, of its table. */
export const axisOf = ({ in_size, filter_size, out_size, stride, dilation, pad, formulas }) =>
  new AxisGeometry(in_size, filter_size, out_size, stride, dilation, pad[0], pad[1], formulas);

/** The tables of one axis for the page; tests/explorer_tables.py has them in Python. */
export function axisTable(axis, transposed, ins, outs) {
  const [inList, outList] = [range(ins[0], ins[1]), range(outs[0], outs[1])];
  const gather = Object.fromEntries(outList.map((o) => [o, gatherAll(axis, o)]));
  const scatter = Object.fromEntries(inList.map((i) => [i, scatterAll(axis, i)]));
  const table = {
    in_size: axis.in_size,
    out_size: axis.out_size,
    filter_size: axis.filter_size,
    stride: axis.stride,
    dilation: axis.dilation,
    pad: [axis.pad_before, axis.pad_after],
    gather,
    scatter,
    in: drawnIn(axis, ins, outList),
    out: outList.map((o) => [o, ""]),
    formulas: axis.formulas,
  };
  if (!transposed) return table;
  const reached = [...new Set(Object.values(scatter).flat().filter(([, , out]) => out).map(([, o]) => o))].sort((a, b) => a - b);
  const outside = (list) => list.map((o) => [o, "outside"]);
  table.out = [...outside(reached.filter((o) => o < 0)), ...table.out, ...outside(reached.filter((o) => o >= axis.out_size))];
  return { ...table, ...zeroInsertion(axis, inList) };
}

/** The input indices to draw, those with values and the padding beside them, with their kinds. */
function drawnIn(axis, [start, stop], outs) {
  let [low, high] = [start, stop - 1];
  const reach = outs.flatMap((o) => [0, axis.filter_size - 1].map((tap) => axis.in_index(o, tap)));
  if (start === 0) low = Math.min(0, ...reach, Math.max(-axis.pad_before, -(stop - start) - axis.filter_size));
  if (stop === axis.in_size) {
    const end = axis.in_size - 1;
    high = Math.max(end, ...reach, Math.min(end + axis.pad_after, end + (stop - start) + axis.filter_size));
  }
  const what = (index) => {
    if (index < 0 || index >= axis.in_size) return "padding";
    if (index < -axis.pad_before || index >= axis.in_size + axis.pad_after) return "crop";
    return scatterAll(axis, index).some(([, , out]) => !out) ? "" : "unread";
  };
  const met = outs.flatMap((o) => gatherAll(axis, o).map(([, index]) => index));
  return drawn(low, high, [...met, ...range(start, stop)]).map((index) => [index, what(index)]);
}

/** Every index from `low` to `high`; only the needed ones where a stride or dilation spreads them. */
function drawn(low, high, needed) {
  return high - low < STRETCH ? range(low, high + 1) : [...new Set(needed)].sort((a, b) => a - b);
}

/** The transposed convolution as an ordinary one: zeros inserted, filter flipped, stride 1. */
function zeroInsertion(axis, ins) {
  const inserted = new Map();
  const windows = {};
  for (const y of ins) {
    const found = new Map(scatterAll(axis, y).map(([tap, o, out]) => [tap, [o, out]]));
    windows[y] = range(0, axis.filter_size).reverse().map((tap) => {
      const place = y + axis.effective_filter - 1 - tap * axis.dilation;
      inserted.set(place, found.get(tap) ?? null);
      return [place, tap];
    });
  }
  const places = [...inserted.keys()];
  const [low, high] = places.length ? [Math.min(...places), Math.max(...places)] : [0, -1];
  return { inserted: drawn(low, high, places).map((place) => [place, inserted.get(place) ?? null]), windows };
}

/** The ranges of an array with a single slice, which stand before its axis `at`, and its values in C order. */
export function held(axes, value, at = 3) {
  const values = [];
  const [first, second, third, fourth] = axes.map(([start, stop]) => range(start, stop));
  for (const a of first) for (const b of second) for (const c of third) for (const d of fourth) values.push(value([a, b, c, d]));
  return { axes: axes.toSpliced(at, 0, [0, 1]), values };
}

/** Which part of a large call is shown, or "". */
export function shownText(g, part, transposed) {
  const [ins, outs] = transposed ? ["output", "input"] : ["input", "output"];
  const pieces = [
    ["image", part.images, g.batch],
    [`${ins} row`, part.inRows, g.rows.in_size],
    [`${ins} column`, part.inCols, g.cols.in_size],
    [`${ins} channel`, part.inChannels, g.in_channels],
    [`${outs} row`, part.outRows, g.rows.out_size],
    [`${outs} column`, part.outCols, g.cols.out_size],
    [`${outs} channel`, part.outChannels, g.out_channels],
  ].filter(([, [start, stop], size]) => stop - start < size).map(([name, [start, stop], size]) =>
    `${name}${stop - start > 1 ? `s ${start} to ${stop - 1}` : ` ${start}`} of ${size}`);
  return pieces.length ? `Shown: ${pieces.join(", ")}. Indices are those of the whole arrays.` : "";
}

/** The taps of one index, from its own table; of an index in the padding, from the table of the other side. */
export function inverse(table, other, index) {
  if (table[index]) return table[index];
  const found = Object.entries(other).flatMap(([met, taps]) => taps.filter(([, i]) => i === index).map(([tap]) => [tap, Number(met), 0]));
  return found.sort(([a], [b]) => a - b);
}
