// The laws of padding: the one copy of teachconv/geometry.py, for pages that run without Python.
//
// A test in a browser compares it with geometry.py, call by call. Both are read side by side: the functions
// have the same names and the same order. JavaScript's division does not floor, so every one here is floorDiv.

import { count, listText, repr, tupleText } from "./python_text.js";

/** An argument with an invalid value: ArgumentError. */
export class Refusal extends Error {}

export const floorDiv = (a, b) => Math.floor(a / b);
export const floorMod = (a, b) => a - b * Math.floor(a / b);
export const range = (start, stop, step = 1) =>
  Array.from({ length: Math.max(0, Math.ceil((stop - start) / step)) }, (_, i) => start + i * step);

// ---------------------------------------------------------------------------------------------
// One axis
// ---------------------------------------------------------------------------------------------

/**
 * One axis of a convolution: AxisGeometry.
 * @typedef {{in_size: number, filter_size: number, out_size: number, stride: number, dilation: number,
 *   pad_before: number, pad_after: number, formulas: string[], legal_sizes: number[]}} Axis
 */

/** @returns {Axis} */
export function axisGeometry(in_size, filter_size, out_size, stride, dilation, pad_before, pad_after, formulas = [], legal_sizes = []) {
  return { in_size, filter_size, out_size, stride, dilation, pad_before, pad_after, formulas, legal_sizes };
}

export const effectiveFilter = (axis) => (axis.filter_size - 1) * axis.dilation + 1;

/** The number of consecutive indices that the taps of all outputs span: F = (o - 1)·s + ek. */
export const fullSize = (axis) => (axis.out_size - 1) * axis.stride + effectiveFilter(axis);

/** The input index that a tap of an output reads: the index law. */
export const inIndex = (axis, outIndex, tap) => outIndex * axis.stride - axis.pad_before + tap * axis.dilation;

/** Whether two axes are the same seven integers. */
export const equalAxes = (a, b) =>
  ["in_size", "filter_size", "out_size", "stride", "dilation", "pad_before", "pad_after"].every((name) => a[name] === b[name]);

/** Half of the padding of one axis before, and the rest after; `lower` swaps the two. */
export function splitPadding(total, lower = false) {
  const small = floorDiv(total, 2);
  return lower ? [total - small, small] : [small, total - small];
}

/** One axis of a forward convolution: how many outputs, and how many zeros before and after. */
export function forwardAxis(axis, n, k, s, d, mode, pads, mayBeEmpty = false) {
  const ek = (k - 1) * d + 1;
  const steps = [effectiveFilterStep(k, d, ek)];
  let [before, after] = pads;
  let o;
  if (SAME.includes(mode)) {
    o = -floorDiv(-n, s);
    const total = n ? Math.max(0, (o - 1) * s + ek - n) : 0;
    [before, after] = splitPadding(total, mode === "SAME_LOWER");
    steps.push(
      `output            o  = ⌈n / s⌉ = ⌈${n} / ${s}⌉ = ${o}`,
      `total padding     P  = max(0, (o - 1)·s + ek - n) = max(0, (${o} - 1)·${s} + ${ek} - ${n}) = ${total}`,
      splitFormula(total, mode),
    );
  } else {
    o = floorDiv(n + before + after - ek, s) + 1;
    if (o < 1 && n && !mayBeEmpty) {
      const padded = mode === "EXPLICIT" ? `, padding ${before} and ${after}` : "";
      throw new Refusal(
        `${NAMES[mode]} needs in_${axis} >= ${Math.max(1, ek - before - after)} (filter ${k}, dilation ${d}${padded}); got ${n}`,
      );
    }
    o = Math.max(0, o); // an empty input gives an empty output; any other gives at least one cell
    steps.push(
      `padding           pad_before = ${before}, pad_after = ${after} (${NAMES[mode]})`,
      `output            o  = ⌊(n + pad_before + pad_after - ek) / s⌋ + 1 = ⌊(${n} + ${before} + ${after} - ${ek}) / ${s}⌋ + 1 = ${o}`,
    );
  }
  steps.push(`index law         in_index = out_index·${s} - ${signed(before)} + tap·${d}`);
  return axisGeometry(n, k, o, s, d, before, after, steps);
}

/** One axis of TensorFlow's transposed convolution: which part of the full result is kept. */
function transposedAxis(axis, i, k, s, d, mode, pads, wanted, outputPadding) {
  const ek = (k - 1) * d + 1;
  const full = (i - 1) * s + ek;
  const extra = outputPadding ?? 0;
  let [before, after] = pads;
  let low, high, usual, formula;
  if (SAME.includes(mode)) {
    [low, high, usual] = [(i - 1) * s + 1, i * s, i * s];
    formula = `i·s = ${i}·${s}`;
  } else if (mode === "EXPLICIT" || outputPadding !== null) {
    low = full - before - after;
    [high, usual] = [low + s - 1, low + extra];
    formula = `F - pad_before - pad_after + output_padding = ${full} - ${before} - ${after} + ${extra}`;
  } else {
    [low, high, usual] = [full, full + s - 1, (i - 1) * s + Math.max(ek, s)];
    formula = `(i - 1)·s + max(ek, s) = (${i} - 1)·${s} + max(${ek}, ${s})`;
  }
  const smallest = i ? 1 : 0; // an empty input may give an empty result; any other gives at least one cell
  if (i && (high < 1 || (wanted === null && usual < 1))) {
    throw new Refusal(
      `${NAMES[mode]} ${tupleText(pads)} crops all ${full} ${axis} of the full result (input ${axis} ${i}, ` +
        `filter ${k}, stride ${s}, dilation ${d}); pad_before + pad_after may be at most ${full - 1 + extra}`,
    );
  }
  [low, high, usual] = [Math.max(smallest, low), Math.max(smallest, high), Math.max(smallest, usual)];
  const o = wanted ?? usual;
  if (wanted !== null && !(low <= o && o <= high)) {
    throw new Refusal(`output_shape ${axis} must be ${oneOf(low, high)} for ${NAMES[mode]}, stride ${s}, input ${axis} ${i}; got ${o}`);
  }
  const chosen = [
    wanted === null ? `output            o  = ${formula} = ${o}` : `output            o  = ${o}, requested; legal: ${oneOf(low, high)}`,
  ];
  if (SAME.includes(mode)) {
    const total = i ? Math.max(0, full - o) : 0;
    [before, after] = splitPadding(total, mode === "SAME_LOWER");
    chosen.push(`cropped           P  = max(0, F - o) = max(0, ${full} - ${o}) = ${total}`, splitFormula(total, mode));
  }
  return { ...croppedAxis(i, k, s, d, before, after, o, chosen), legal_sizes: range(low, Math.max(low, high) + 1) };
}

/** One axis of a transposed convolution whose result is full[before : before + o]. */
export function croppedAxis(i, k, s, d, before, after, o, chosen) {
  const ek = (k - 1) * d + 1;
  const full = (i - 1) * s + ek;
  const steps = [
    effectiveFilterStep(k, d, ek),
    `full size         F  = (i - 1)·s + ek = (${i} - 1)·${s} + ${ek} = ${full}`,
    ...chosen,
    keptPart(before, o, full),
    `index law         output_index = input_index·${s} - ${signed(before)} + tap·${d}`,
  ];
  return axisGeometry(o, k, i, s, d, before, after, steps);
}

const SAME = ["SAME", "SAME_LOWER"];
const NAMES = { SAME: "SAME", SAME_LOWER: "SAME_LOWER", VALID: "VALID", EXPLICIT: "explicit padding" };

const effectiveFilterStep = (k, d, ek) => `effective filter  ek = (k - 1)·d + 1 = (${k} - 1)·${d} + 1 = ${ek}`;

function splitFormula(total, mode) {
  const lower = mode === "SAME_LOWER";
  const [first, second] = lower ? ["P - ⌊P / 2⌋", "⌊P / 2⌋"] : ["⌊P / 2⌋", "P - ⌊P / 2⌋"];
  const [before, after] = splitPadding(total, lower);
  return `${mode.padEnd(17)} pad_before = ${first} = ${before}, pad_after = ${second} = ${after}`;
}

/** The line of a derivation that says which part of the full result is kept. */
function keptPart(before, o, full) {
  const rest = before < 0 || before + o > full ? "; the rest is zero" : "";
  return `result            full[${before} : ${before + o}] of its ${Math.max(0, full)} cells${rest}`;
}

/** A number as text, a negative one in parentheses. */
const signed = (number) => (number < 0 ? `(${number})` : String(number));

/** The legal sizes from `low` to `high` as text. */
function oneOf(low, high) {
  if (high <= low) return String(low);
  return high === low + 1 ? `${low} or ${high}` : `from ${low} to ${high}`;
}

// ---------------------------------------------------------------------------------------------
// The taps of one axis: teachconv/taps.py
// ---------------------------------------------------------------------------------------------

/** Every tap of one output index, as [tap, input index, whether that is in the padding]. */
export function gatherAll(axis, outIndex) {
  return range(0, axis.filter_size).map((tap) => {
    const index = inIndex(axis, outIndex, tap);
    return [tap, index, index >= 0 && index < axis.in_size ? 0 : 1];
  });
}

/** Every tap through which an output reads one input index, as [tap, output index, whether that is outside]. */
export function scatterAll(axis, inputIndex) {
  const found = [];
  for (let tap = 0; tap < axis.filter_size; tap++) {
    const distance = inputIndex - inIndex(axis, 0, tap);
    if (floorMod(distance, axis.stride)) continue; // between two outputs: a gap of the stride
    const index = floorDiv(distance, axis.stride);
    found.push([tap, index, index >= 0 && index < axis.out_size ? 0 : 1]);
  }
  return found;
}

// ---------------------------------------------------------------------------------------------
// Rows and columns together
// ---------------------------------------------------------------------------------------------

/**
 * A convolution as integers: Conv2DGeometry. A transposed call reads it backwards.
 * @typedef {{batch: number, rows: Axis, cols: Axis, in_channels: number, out_channels: number, groups: number}} Geometry
 */

/** The shapes of the arrays of a geometry, NHWC and HWIO. */
export function shapesOf(g) {
  return {
    in: [g.batch, g.rows.in_size, g.cols.in_size, g.in_channels],
    filter: [g.rows.filter_size, g.cols.filter_size, floorDiv(g.in_channels, g.groups), g.out_channels],
    out: [g.batch, g.rows.out_size, g.cols.out_size, g.out_channels],
  };
}

const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

/** The number of multiply-adds as they are usually counted: taps in the padding included. */
export const multiplyAdds = (g) => g.batch * g.rows.out_size * g.cols.out_size * product(shapesOf(g).filter);

/** The number of weights of the filters. */
export const weights = (g) => product(shapesOf(g).filter);

/** The number of terms of the longest sum: Conv2DGeometry.terms_of. */
export function termsOf(g, result) {
  const taps = g.rows.filter_size * g.cols.filter_size;
  return result === "in" ? floorDiv(taps * g.out_channels, g.groups) : taps * shapesOf(g).filter[2];
}

/** The line that heads a geometry's text: strides, dilations, groups, padding, multiply-adds. */
export function facts(g) {
  const { rows, cols } = g;
  return `strides ${tupleText([rows.stride, cols.stride])}, dilations ${tupleText([rows.dilation, cols.dilation])}, groups ${g.groups}, padding ` +
    `top ${rows.pad_before} bottom ${rows.pad_after} left ${cols.pad_before} right ${cols.pad_after}, ${count(multiplyAdds(g), "multiply-add")}`;
}

/** Every output_shape that a transposed call may ask for. */
export function legalOutputShapes(g) {
  const sizes = (axis) => (axis.legal_sizes.length ? axis.legal_sizes : [axis.in_size]);
  return sizes(g.rows).flatMap((rows) => sizes(g.cols).map((cols) => [g.batch, rows, cols, g.in_channels]));
}

/** The geometry of a forward convolution, from normalised arguments and NHWC shapes. */
export function forwardGeometry(inputShape, filtersShape, strides, padding, dilations) {
  const [mode, pads] = padding;
  const [batch, inRows, inCols, inChannels] = inputShape;
  const [filterRows, filterCols, depth, outChannels] = filtersShape;
  checkFilterSizes(filterRows, filterCols);
  const groups = groupsOf(inChannels, depth, outChannels);
  const rows = forwardAxis("rows", inRows, filterRows, strides[0], dilations[0], mode, pads[0]);
  const cols = forwardAxis("cols", inCols, filterCols, strides[1], dilations[1], mode, pads[1]);
  return geometry(batch, rows, cols, inChannels, outChannels, groups);
}

/** @returns {Geometry} */
export function geometry(batch, rows, cols, in_channels, out_channels, groups) {
  return { batch, rows, cols, in_channels, out_channels, groups };
}

/** The forward geometry that TensorFlow's conv2d_transpose is the transpose of. */
export function transposedGeometry(inputShape, filtersShape, outputShape, strides, padding, dilations, outputPadding) {
  const [batch, inRows, inCols, inChannels] = inputShape;
  const [filterRows, filterCols, depth, filterInputs] = filtersShape;
  checkFilterSizes(filterRows, filterCols);
  if (filterInputs !== inChannels) {
    throw new Refusal(
      `filters must be [filter_rows, filter_cols, out_channels, in_channels] with in_channels = ${inChannels}, ` +
        `the input's channels; got ${listText(filtersShape)}`,
    );
  }
  const outChannels = outputShape ? outputShape[3] : depth;
  const groups = transposedGroups(outChannels, depth, inChannels);
  if (outputShape && outputShape[0] !== batch) {
    throw new Refusal(`output_shape batch must be ${batch}, the input's; got ${outputShape[0]}`);
  }
  if (outputPadding) checkOutputPadding(outputPadding, outputShape, strides, padding, dilations);
  const [mode, pads] = padding;
  const [rows, cols] = [0, 1].map((axis) =>
    transposedAxis(["rows", "cols"][axis], [inRows, inCols][axis], [filterRows, filterCols][axis], strides[axis], dilations[axis],
      mode, pads[axis], outputShape ? outputShape[1 + axis] : null, outputPadding ? outputPadding[axis] : null));
  return geometry(batch, rows, cols, outChannels, inChannels, groups);
}

function checkFilterSizes(rows, cols) {
  if (rows < 1 || cols < 1) throw new Refusal(`filters must have at least one row and one column; got ${rows} x ${cols}`);
}

/** The groups of a forward convolution, the ratio of the channels as in TensorFlow. */
function groupsOf(inChannels, depth, outChannels) {
  if (inChannels === depth) return 1;
  if (depth < 1 || inChannels % depth || inChannels === 0) {
    throw new Refusal(`filters.shape[2] must be the input's ${count(inChannels, "channel")}, or divide them (groups); got ${depth}`);
  }
  const groups = inChannels / depth;
  if (outChannels % groups) {
    throw new Refusal(
      `filters.shape[3] must be a multiple of the ${count(groups, "group")} (input channels ${inChannels} / ` +
        `filters.shape[2] ${depth}); got ${outChannels}`,
    );
  }
  return groups;
}

/** The groups of a transposed convolution. */
function transposedGroups(outChannels, depth, inChannels) {
  if (outChannels === depth) return 1;
  if (depth < 1 || outChannels % depth || outChannels === 0) {
    throw new Refusal(`output_shape channels must be ${depth} (filters.shape[2]) or a multiple of it (groups); got ${outChannels}`);
  }
  const groups = outChannels / depth;
  if (inChannels % groups) {
    throw new Refusal(
      `output_shape channels ${outChannels} / filters.shape[2] ${depth} gives ${groups} groups, ` +
        `which must divide the input's channels; got ${inChannels}`,
    );
  }
  return groups;
}

function checkOutputPadding(outputPadding, outputShape, strides, padding, dilations) {
  if (outputShape) {
    throw new Refusal(
      `output_padding ${tupleText(outputPadding)} and output_shape ${tupleText(outputShape)} both set the size; give only one of them`,
    );
  }
  if (SAME.includes(padding[0])) {
    throw new Refusal(
      `output_padding needs VALID or explicit padding; got ${tupleText(outputPadding)} with ${padding[0]} (give output_shape instead)`,
    );
  }
  for (const axis of [0, 1]) {
    const [extra, s, d] = [outputPadding[axis], strides[axis], dilations[axis]];
    if (extra < 0 || extra >= Math.max(s, d)) {
      throw new Refusal(
        `output_padding ${["rows", "cols"][axis]} must be from 0 to ${Math.max(s, d) - 1} (below the larger of stride ${s} and ` +
          `dilation ${d}); got ${extra}`,
      );
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Arguments: teachconv/arguments.py
// ---------------------------------------------------------------------------------------------

/** Strides or dilations as [rows, cols]; null means 1. */
export function normalizePair(value, name) {
  if (value === null || value === undefined) return [1, 1];
  const pair = typeof value === "number" ? [value, value] : [...value];
  if (pair.length === 1) pair.push(pair[0]);
  if (pair.length !== 2) throw new Refusal(`${name} must be an int, (rows, cols) or 4 ints in NHWC order; got ${repr(value)}`);
  if (Math.min(...pair) < 1) throw new Refusal(`${name} must be at least 1; got ${repr(value)}`);
  return pair;
}

const PADDING_HELP =
  '"SAME", "VALID", "SAME_LOWER", an int, (rows, cols), ((top, bottom), (left, right)) or 4 pairs in data_format order';

/** The word that is one of `words`, as it is `read` where case does not matter; any other is refused. */
export function oneWord(value, words, name, legal, read = value) {
  if (!words.includes(read)) throw new Refusal(`${name} must be ${legal}; got ${repr(value)}`);
  return read;
}

/** Padding as its mode and its pads, [[top, bottom], [left, right]]. */
export function normalizePadding(value) {
  if (typeof value === "string") return [oneWord(value, [...SAME, "VALID"], "padding", PADDING_HELP), [[0, 0], [0, 0]]];
  if (typeof value === "number") return ["EXPLICIT", [[value, value], [value, value]]];
  const sides = [...value].map((side) => (typeof side === "number" ? [side, side] : [...side]));
  return ["EXPLICIT", sides];
}
