// Slips: what a cell, its window, a size or a side would be with a mistake of Python's table of diagnoses in it.

import { axisOf, axisTable } from "./axis_tables.js";
import { MISTAKES } from "./mistakes.js";
import { parse } from "./numbers.js";
import { changed, floorDiv, floorMod } from "./python.js";
import { View } from "./view.js";

/** A view that differs in some of its fields. */
const changedView = (view, fields) => Object.assign(Object.create(View.prototype), view, { known: new Map(), pairs: new Map() }, fields);

/** A view one of whose arrays is read at another cell. */
function reread(view, side, place) {
  const held = view.arrays[side];
  const other = Object.assign(Object.create(Object.getPrototypeOf(held)), held, { get: (cell) => held.get(place(cell)) });
  return changedView(view, { arrays: { ...view.arrays, [side]: other } });
}

/** The sum of a cell whose padding counts, as the number at the cell that `place` finds. */
function withPadding(view, cell, number) {
  if (view.kind !== "conv2d" || view.doc.pool) return undefined;
  const { list, total } = view.taps(cell);
  return total === undefined ? undefined : list.filter((tap) => tap.outside).reduce((sum, tap) => sum + number(tap) * Number(tap.weight), Number(total));
}

/** The sum of some of a cell's products. */
function partly(view, cell, keep) {
  const { list, total } = view.taps(cell);
  if (total === undefined || view.doc.pool) return undefined;
  return list.filter((tap) => !tap.outside && !keep(tap, list)).reduce((sum, tap) => sum - Number(tap.value) * Number(tap.weight), Number(total));
}

const biasOf = (view, cell) => (view.doc.bias ? Number(parse(view.doc.bias[floorMod(cell[3], view.doc.bias.length)], view.doc)) : undefined);
const clamp = (i, size) => Math.max(0, Math.min(size - 1, i));

/** The numbers of a cell with a slip that no integers say. */
const TRANSFORMS = {
  flip: (view, cell) => (view.doc.operand !== "filter" ? undefined : reread(view, "filter", ([r, q, plane, o]) => {
    const [tap, i] = view.split("filter", plane);
    const [depth, rows, cols] = [[view.depth, tap], [view.rows, r], [view.cols, q]].map(([axis, at]) => axis.filter_size - 1 - at);
    return [rows, cols, depth * view.channels.filter + i, o];
  }).taps(cell).total),
  ones: (view, cell) => withPadding(view, cell, () => 1),
  edge: (view, cell) => withPadding(view, cell, ({ source: [n, row, col, plane] }) => {
    const [slice, channel] = view.split("in", plane);
    const [depth, r, q] = [[view.depth, slice], [view.rows, row], [view.cols, col]].map(([axis, i]) => clamp(i, axis.in_size));
    return Number(view.number("in", [n, r, q, depth * view.channels.in + channel]));
  }),
  "no bias": (view, cell) => Number(view.taps(cell).total) - biasOf(view, cell),
  "bias twice": (view, cell) => Number(view.taps(cell).total) + biasOf(view, cell),
  relu: (view, cell) => (view.doc.pool ? undefined : Math.max(0, Number(view.taps(cell).total))),
  sum: (view, cell) => (view.doc.pool?.reduce === "average" ? changedView(view, { doc: { ...view.doc, pool: { ...view.doc.pool, reduce: "sum", steps: undefined } } }).taps(cell).total : undefined),
  "one channel": (view, cell, { c, o }) => partly(view, cell, (tap) => tap.source[3] === (view.doc.source === "in" ? c : o)),
  "last product": (view, cell) => partly(view, cell, (tap, list) => tap !== list.findLast((other) => !other.outside)),
};

/** An axis with other integers: each is a number, or a sum of numbers and of integers of the axis or of the `other` one. */
function mistakenAxis(axis, other, integers) {
  const term = (part) => {
    if (typeof part === "number") return part;
    if (part.startsWith("-")) return -term(part.slice(1));
    return part.startsWith("other.") ? other[part.slice(6)] : axis[part];
  };
  const made = Object.entries(integers).map(([name, parts]) => [name, [parts].flat().reduce((sum, part) => sum + term(part), 0)]);
  return changed(axis, Object.fromEntries(made));
}

/** The size of the result along an axis by the formula, with a slip in its rounding or without one. */
function resultSize(axis, transposed, slip = "") {
  const { in_size: n, stride: s, pad_before, pad_after, effective_filter: ek } = axis;
  if (transposed) return axis.full_size - pad_before - pad_after;
  if (slip === "input size") return n;
  return floorDiv(n + pad_before + pad_after - ek + (slip === "ceil" ? s - 1 : 0), s) + (slip === "fencepost" ? 0 : 1);
}

/** The side of an axis with more padding: "before", "after", "both" if both have as much, or "none". */
export function paddedSide({ pad_before, pad_after }) {
  if (pad_before === pad_after) return pad_before > 0 ? "both" : "none";
  return pad_before > pad_after ? "before" : "after";
}

/** The axes of a view with a change in them: all together, then each alone; none if the change is not one of these axes. */
function mistakenAxes(view, { integers, kind, rank, stride }) {
  const axes = view.axes.map(axisOf);
  if (!integers || (kind && kind !== view.kind) || (rank && rank !== axes.length) || (stride && Math.max(...axes.map((axis) => axis.stride)) < stride)) return [];
  const other = (i) => axes[axes.length - 2 + (axes.length - 1 - i)] ?? axes[i];
  const made = axes.map((axis, i) => mistakenAxis(axis, other(i), integers));
  return [made, ...(axes.length > 1 ? axes.map((_, one) => axes.map((axis, i) => (i === one ? made[i] : axis))) : [])];
}

/** A view with other axes, its first ones if it has more. */
function withAxes(view, axes) {
  const names = ["depth", "rows", "cols"].slice(-axes.length);
  const ends = (table) => [Math.min(...Object.keys(table).map(Number)), Math.max(...Object.keys(table).map(Number)) + 1];
  return changedView(view, Object.fromEntries(names.map((name, i) => [name, axisTable(axes[i], view.doc.source === "out", ends(view[name].scatter), ends(view[name].gather))])));
}

/** Each slip of a kind of question with what it leads to, the first ones first: [code, words, answer]. */
export function* slips(question, view, cell, state) {
  const rows = MISTAKES.filter(([, changes]) => (changes === "size") === (question === "size"));
  for (const [code, , words, change] of question === "size" ? [...rows, ...MISTAKES.filter(([, changes]) => changes === "geometry")] : rows) {
    for (const answer of wrongAnswers(question, view, change, cell, state)) yield [code, words, answer];
  }
}

function* wrongAnswers(question, view, change, cell, state) {
  const transposed = view.doc.source === "out";
  const { order, of, shift, transform } = change;
  if (question === "number") {
    for (const axes of mistakenAxes(view, change)) yield withAxes(view, axes).taps(cell).total;
    const rescales = view.doc.quantized && transform !== "flip"; // these slips are of a plain sum
    if (transform && TRANSFORMS[transform] && !rescales) yield TRANSFORMS[transform](view, cell, state);
    if (shift) yield neighbour(view, cell, shift);
    if (order && view.doc.rank === 2 && of === "filter" && view.doc.operand === "filter") yield reread(view, "filter", (at) => order.map((axis) => at[axis])).taps(cell).total;
    if (order && view.doc.rank === 2 && of === "source") yield reread(view, view.doc.source, (at) => order.map((axis) => at[axis])).taps(cell).total;
  } else if (question === "window") {
    const begins = (axes, [, row, col]) => [axes.at(-2), axes.at(-1)].map((axis, i) => (axis ? axis.in_index([row, col][i], 0) : 0));
    for (const axes of mistakenAxes(view, change)) yield begins(axes, cell);
    const axes = view.axes.map(axisOf);
    if (shift) yield begins(axes, [0, cell[1] + shift[0], cell[2] + shift[1]]);
    if (order && of === "source" && view.doc.rank > 1) yield begins(axes, cell).reverse();
  } else if (question === "size") {
    for (const axes of mistakenAxes(view, change)) yield axes.map((axis) => resultSize(axis, transposed));
    if (transform) yield view.axes.map((axis) => resultSize(axisOf(axis), transposed, transform));
  } else {
    for (const [axis] of mistakenAxes(view, change)) yield paddedSide(axis);
  }
}

/** The number of another cell of the result; undefined if there is none. */
function neighbour(view, [n, row, col, plane], [down, right]) {
  const place = [n, row + down, col + right, plane];
  return view.isCropped(place) ? undefined : view.value(place);
}
