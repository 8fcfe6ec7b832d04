// The laws of padding: the one copy of teachconv/core/geometry.py, for pages that run without Python, with what they
// need of arguments.py, taps.py and windows/walking.py.
//
// tests/explorer/test_explorer_law.py compares them with Python's in a browser: whole documents, call by call. The
// functions of geometry.py have their Python names here, in JavaScript's spelling. The rules in rules.json call them.

import { changed, count, floorDiv, floorMod, listText, range, repr, tuple, tupleText } from "./python.js";

/** An argument with an invalid value: ArgumentError. */
export class Refusal extends Error {}

// ---------------------------------------------------------------------------------------------
// One axis
// ---------------------------------------------------------------------------------------------

/** One axis of a convolution: AxisGeometry. */
export class Axis {
  in_size; filter_size; out_size; stride; dilation; pad_before; pad_after; formulas; legal_sizes;

  constructor(in_size, filter_size, out_size, stride, dilation, pad_before, pad_after, formulas = [], legal_sizes = []) {
    Object.assign(this, { in_size, filter_size, out_size, stride, dilation, pad_before, pad_after, formulas, legal_sizes });
  }

  get effective_filter() {
    return (this.filter_size - 1) * this.dilation + 1;
  }

  /** The number of consecutive indices that the taps of all outputs span: F = (o - 1)·s + ek. */
  get full_size() {
    return (this.out_size - 1) * this.stride + this.effective_filter;
  }

  /** The input index that a tap of an output reads: the index law. */
  in_index(outIndex, tap) {
    return outIndex * this.stride - this.pad_before + tap * this.dilation;
  }

  /** Whether a tap of the first or the last output is in the padding, so that their sums have fewer products. */
  get overhangs() {
    return this.in_index(0, 0) < 0 || this.in_index(this.out_size - 1, this.filter_size - 1) >= this.in_size;
  }
}

/** Half of the padding of one axis before, and the rest after; `lower` swaps the two. */
export function splitPadding(total, lower = false) {
  const small = floorDiv(total, 2);
  return lower ? [total - small, small] : [small, total - small];
}

/** One axis of a forward convolution: how many outputs, and how many zeros before and after. */
export function forwardAxis(axis, n, k, s, d, mode, pads, mayBeEmpty = false, ceil = false) {
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
    o = floorDiv(n + before + after - ek + (ceil ? s - 1 : 0), s) + 1;
    const dropped = Number(ceil && o > 1 && (o - 1) * s - before >= n);
    o -= dropped;
    if (o < 1 && n && !mayBeEmpty) {
      const padded = mode === "EXPLICIT" ? `, padding ${before} and ${after}` : "";
      throw new Refusal(
        `${modeName(mode)} needs in_${axis} >= ${Math.max(1, ek - before - after)} (filter ${k}, dilation ${d}${padded}); got ${n}`,
      );
    }
    o = Math.max(0, o); // an empty input gives an empty output; any other gives at least one cell
    const [opening, closing] = ceil ? "⌈⌉" : "⌊⌋";
    steps.push(
      `padding           pad_before = ${before}, pad_after = ${after} (${modeName(mode)})`,
      `output            o  = ${opening}(n + pad_before + pad_after - ek) / s${closing} + 1` +
        ` = ${opening}(${n} + ${before} + ${after} - ${ek}) / ${s}${closing} + 1 = ${o + dropped}`,
    );
    if (dropped) steps.push(`ceil_mode         o  = ${o}: the last window would begin in the padding at the end`);
  }
  steps.push(`index law         in_index = out_index·${s} - ${signed(before)} + tap·${d}`);
  return new Axis(n, k, o, s, d, before, after, steps);
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
      `${modeName(mode)} ${tupleText([before, after])} crops all ${full} ${axis} of the full result (input ${axis} ${i}, ` +
        `filter ${k}, stride ${s}, dilation ${d}); pad_before + pad_after may be at most ${full - 1 + extra}`,
    );
  }
  [low, high, usual] = [Math.max(smallest, low), Math.max(smallest, high), Math.max(smallest, usual)];
  const o = wanted ?? usual;
  if (wanted !== null && !(low <= o && o <= high)) {
    throw new Refusal(`output_shape ${axis} must be ${oneOf(low, high)} for ${modeName(mode)}, stride ${s}, input ${axis} ${i}; got ${o}`);
  }
  const chosen = [
    wanted === null ? `output            o  = ${formula} = ${o}` : `output            o  = ${o}, requested; legal: ${oneOf(low, high)}`,
  ];
  if (SAME.includes(mode)) {
    const total = i ? Math.max(0, full - o) : 0;
    [before, after] = splitPadding(total, mode === "SAME_LOWER");
    chosen.push(`cropped           P  = max(0, F - o) = max(0, ${full} - ${o}) = ${total}`, splitFormula(total, mode));
  }
  return Object.assign(croppedAxis(i, k, s, d, before, after, o, chosen), { legal_sizes: range(low, Math.max(low, high) + 1) });
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
  return new Axis(o, k, i, s, d, before, after, steps);
}

const SAME = ["SAME", "SAME_LOWER"];

/** What a sentence calls a mode. */
const modeName = (mode) => (mode === "EXPLICIT" ? "explicit padding" : mode);

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
// The taps of one axis: teachconv/core/taps.py
// ---------------------------------------------------------------------------------------------

/** Every tap of one output index, as [tap, input index, whether that is in the padding]. */
export function gatherAll(axis, outIndex) {
  return range(0, axis.filter_size).map((tap) => {
    const index = axis.in_index(outIndex, tap);
    return [tap, index, index >= 0 && index < axis.in_size ? 0 : 1];
  });
}

/** Every tap through which an output reads one input index, as [tap, output index, whether that is outside]. */
export function scatterAll(axis, inputIndex) {
  const found = [];
  for (let tap = 0; tap < axis.filter_size; tap++) {
    const distance = inputIndex - axis.in_index(0, tap);
    if (floorMod(distance, axis.stride)) continue; // between two outputs: a gap of the stride
    const index = floorDiv(distance, axis.stride);
    found.push([tap, index, index >= 0 && index < axis.out_size ? 0 : 1]);
  }
  return found;
}

/** How many cells of a window a mean is divided by: walking.counts, of one axis and one window. */
export function countedCells(axis, outIndex, padded) {
  const [low, high] = padded ? [-axis.pad_before, axis.in_size + axis.pad_after] : [0, axis.in_size];
  return gatherAll(axis, outIndex).filter(([, index]) => index >= low && index < high).length;
}

// ---------------------------------------------------------------------------------------------
// Rows and columns together
// ---------------------------------------------------------------------------------------------

/** A convolution as integers: Conv2DGeometry. A transposed call reads it backwards. */
export class Geometry {
  batch; axes; rows; cols; in_channels; out_channels; groups; data_format = "NHWC";

  constructor(batch, axes, in_channels, out_channels, groups) {
    const [rows, cols] = axes;
    Object.assign(this, { batch, axes, rows, cols, in_channels, out_channels, groups });
  }

  get strides() {
    return tuple(this.rows.stride, this.cols.stride);
  }

  get dilations() {
    return tuple(this.rows.dilation, this.cols.dilation);
  }

  get input_shape() {
    return tuple(this.batch, this.rows.in_size, this.cols.in_size, this.in_channels);
  }

  get filters_shape() {
    return tuple(this.rows.filter_size, this.cols.filter_size, floorDiv(this.in_channels, this.groups), this.out_channels);
  }

  get output_shape() {
    return tuple(this.batch, this.rows.out_size, this.cols.out_size, this.out_channels);
  }

  shape_of(role) {
    return { input: this.input_shape, filters: this.filters_shape, output: this.output_shape }[role];
  }
}

/** The shapes of the arrays of a geometry as the page names them, NHWC and HWIO. */
export const shapesOf = (g) => ({ in: g.input_shape, filter: g.filters_shape, out: g.output_shape });

export const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

/** The number of multiply-adds as they are usually counted: taps in the padding included. */
export const multiplyAdds = (g) => g.batch * g.rows.out_size * g.cols.out_size * product(g.filters_shape);

/** The number of weights of the filters. */
export const weights = (g) => product(g.filters_shape);

/** The number of terms of the longest sum: Conv2DGeometry.terms_of. */
export function termsOf(g, result) {
  const taps = g.rows.filter_size * g.cols.filter_size;
  return result === "in" ? floorDiv(taps * g.out_channels, g.groups) : taps * g.filters_shape[2];
}

/** The line that heads a geometry's text: strides, dilations, groups, padding, multiply-adds. */
export function facts(g) {
  const { rows, cols } = g;
  return `strides ${tupleText(g.strides)}, dilations ${tupleText(g.dilations)}, groups ${g.groups}, padding ` +
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
  return new Geometry(batch, tuple(rows, cols), inChannels, outChannels, groups);
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
  return new Geometry(batch, tuple(rows, cols), outChannels, inChannels, groups);
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

/** The geometry of a pool with the windows of a convolution; with `ceil` a last window that does not fit counts too. */
export function poolGeometry(g, ceil) {
  if (!ceil) return g;
  const axes = [["rows", g.rows], ["cols", g.cols]].map(([name, { in_size: n, filter_size: k, stride, dilation, pad_before, pad_after }]) =>
    forwardAxis(name, n, k, stride, dilation, "EXPLICIT", [pad_before, pad_after], false, true));
  return new Geometry(g.batch, axes, g.in_channels, g.out_channels, g.groups);
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
// Arguments: teachconv/core/arguments.py
// ---------------------------------------------------------------------------------------------

/** Strides or dilations as [rows, cols]; null means 1. */
function normalizeSteps(value, name) {
  if (value === null || value === undefined) return [1, 1];
  const pair = typeof value === "number" ? [value, value] : [...value];
  if (pair.length === 1) pair.push(pair[0]);
  if (pair.length !== 2) throw new Refusal(`${name} must be an int, (rows, cols) or 4 ints in NHWC order; got ${repr(value)}`);
  if (Math.min(...pair) < 1) throw new Refusal(`${name} must be at least 1; got ${repr(value)}`);
  return pair;
}

const PADDING_WORDS = ["SAME", "VALID", "SAME_LOWER"];
const PADDING_HELP = [
  ...PADDING_WORDS.map((word) => `"${word}"`),
  "an int", "(rows, cols)", "((top, bottom), (left, right)) or 4 pairs in data_format order",
].join(", ");

/** Padding as its mode and its pads, [[top, bottom], [left, right]]. */
export function normalizePadding(value) {
  if (typeof value === "string") {
    if (!PADDING_WORDS.includes(value)) throw new Refusal(`padding must be ${PADDING_HELP}; got ${repr(value)}`);
    return [value, [[0, 0], [0, 0]]];
  }
  if (typeof value === "number") return ["EXPLICIT", [[value, value], [value, value]]];
  const sides = [...value].map((side) => (typeof side === "number" ? [side, side] : [...side]));
  return ["EXPLICIT", sides];
}

const channelsLast = (shape, format) => (format === "NCHW" ? [shape[0], shape[2], shape[3], shape[1]] : shape);

/** The geometry of a call of conv2d, in NHWC. */
export const conv2dGeometry = (input, filters, strides, padding, format, dilations) =>
  forwardGeometry(channelsLast(input, format), filters, normalizeSteps(strides, "strides"), normalizePadding(padding),
    normalizeSteps(dilations, "dilations"));

/** The geometry of a call of conv2d_transpose, in NHWC. */
export function conv2dTransposeGeometry(input, filters, output_shape, strides, padding, format, dilations, output_padding) {
  const extra = typeof output_padding === "number" ? [output_padding, output_padding] : output_padding;
  const wanted = output_shape && channelsLast(output_shape, format);
  return { forward: transposedGeometry(channelsLast(input, format), filters, wanted, normalizeSteps(strides, "strides"),
    normalizePadding(padding), normalizeSteps(dilations, "dilations"), extra) };
}

// ---------------------------------------------------------------------------------------------
// Mistakes: a row of Python's table of diagnoses, made on one axis
// ---------------------------------------------------------------------------------------------

/** An axis with other integers: each is a number, or a sum of numbers and of integers of the axis or of the `other` one. */
export function mistakenAxis(axis, other, integers) {
  const term = (part) => {
    if (typeof part === "number") return part;
    if (part.startsWith("-")) return -term(part.slice(1));
    return part.startsWith("other.") ? other[part.slice(6)] : axis[part];
  };
  const made = Object.entries(integers).map(([name, parts]) => [name, [parts].flat().reduce((sum, part) => sum + term(part), 0)]);
  return changed(axis, Object.fromEntries(made));
}

/** The size of the result along an axis by the formula, with a slip in its rounding or without one. */
export function resultSize(axis, transposed, slip = "") {
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
