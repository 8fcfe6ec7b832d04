// Made from Python's law by tools/recorders/record_page_rules.py: `make page-rules` makes it again.

import { Refusal, all, assigned, changed, contains, count, divmod, either, equal, floorDiv, floorMod, int, integer, isinstance, itemsOf, len, list, map, max, min, nothing, prod, product, range, repeated, repr, spread, str, text, truth, tuple, tupleOf, zip } from "./python.js";
import { checkSteps, isScalar, normalizeShape, normalizeSteps } from "./arguments.js";

// ---- teachconv/support/errors.py ----

/** Return whether a value is among others; for some values `in` raises, such as lists and arrays. */
export function is_one_of(value, known) {
  try {
    return contains(known, value);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return false;
  }
}

// ---- teachconv/core/kinds.py ----

/** Return the letters of the axes of a role's array, as backends have it, for 1, 2 or 3 spatial axes. */
export function layout_of(role, rank) {
  const axes = "DHW".slice(-rank);
  return role === "filters" ? text`${axes}IO` : text`N${axes}C`;
}

// ---- teachconv/core/arguments.py ----

export const PADDING_WORDS = tuple("SAME", "VALID", "SAME_LOWER");

export const SIDES = tuple(tuple("front", "back"), tuple("top", "bottom"), tuple("left", "right"));

export const _FORMATS = { 1: tuple("NWC", "NCW"), 2: tuple("NHWC", "NCHW"), 3: tuple("NDHWC", "NCDHW") };

/** Return `data_format` if it is legal. */
export function check_data_format(data_format, rank = 2) {
  if (isinstance(data_format, "str") && contains(_FORMATS[rank], data_format)) return data_format;
  const [last, first] = _FORMATS[rank];
  let near = nothing(data_format, _FORMATS[rank]);
  for (const [other, formats] of itemsOf(_FORMATS)) {
    near = is_one_of(data_format, formats) ? text`, which is for ${other} spatial axes` : near;
  }
  throw new Refusal(text`data_format must be "${last}" or "${first}"; got ${repr(data_format)}${near}`);
}

/** Return a shape, or other values with one for each axis, with channels last: NHWC for rank 2. */
export function channels_last(shape, data_format) {
  return data_format.at(-1) === "C" ? shape : tuple(shape[0], ...shape.slice(2), shape[1]);
}

/** Return what a message calls one number for each axis: "(rows, cols)". */
export function axis_names(rank) {
  return str(AXES.slice(-rank)).replaceAll("'", "");
}

/** Return output_padding as ints, one for each axis; `geometry` checks their range. */
export function normalize_output_padding(value, data_format = "NHWC") {
  let extra;
  const rank = len(data_format) - 2;
  if (isScalar(value)) {
    extra = repeated(tuple(integer(value, "output_padding")), rank);
  } else {
    extra = tupleOf(list(list(value, "output_padding")).map((item) => integer(item, "output_padding")));
  }
  checkSteps(extra, "output_padding", value);
  if (len(extra) !== rank) throw new Refusal(`output_padding must be an int or ${axis_names(rank)}; got ${repr(value)}`);
  return extra;
}

/** Return what a message calls a legal padding. */
export function _padding_help(rank, words = PADDING_WORDS) {
  const sides = str(SIDES.slice(-rank)).replaceAll("'", "");
  const quoted = list(words).map((word) => text`"${word}"`).join(", ");
  return text`${quoted}, an int, ${axis_names(rank)}, ${sides} or ${rank + 2} pairs in data_format order`;
}

/** Return padding as its mode and its pads. */
export function normalize_padding(value, data_format = "NHWC", causal = false) {
  const rank = len(data_format) - 2;
  if (isinstance(value, "str")) {
    const words = causal && rank === 1 ? tuple(...PADDING_WORDS, "CAUSAL") : PADDING_WORDS;
    if (contains(words, value)) return tuple(value, repeated(tuple(tuple(0, 0)), rank));
    const near = nothing(value, words);
    throw new Refusal(`padding must be ${_padding_help(rank, words)}; got ${repr(value)}${near}`);
  }
  if (value == null) throw new Refusal(`padding must be ${_padding_help(rank)}; got None`);
  const pads = _explicit_padding(value, data_format);
  checkSteps(list(pads).flatMap((pair) => list(pair)), "padding", value);
  return tuple("EXPLICIT", pads);
}

export function _explicit_padding(value, data_format) {
  let batch, channels, item;
  const rank = len(data_format) - 2;
  if (isScalar(value)) {
    const all_sides = integer(value, "padding");
    return repeated(tuple(tuple(all_sides, all_sides)), rank);
  }
  const items = list(value, "padding");
  const numbers = all(map(isScalar, items));
  if (numbers && len(items) === rank) {
    return tupleOf(list(items).map((item) => integer(item, "padding")).map((size) => tuple(size, size)));
  }
  let pairs = [];
  for (item of list(items)) {
    const sides = isScalar(item) ? [] : list(list(item, "padding")).map((side) => integer(side, "padding"));
    if (len(sides) !== 2) {
      const near = numbers && equal(tuple(rank, len(items)), tuple(1, 2)) ? `; write (${repr(tupleOf(items))},) for left and right` : "";
      throw new Refusal(`padding must be ${_padding_help(rank)}; got ${repr(value)}${near}`);
    }
    pairs.push(tuple(sides[0], sides[1]));
  }
  if (len(pairs) === rank + 2) {
    [batch, pairs, channels] = spread(channels_last(tupleOf(pairs), data_format), 1, 1);
    if (!equal(batch, tuple(0, 0)) || !equal(channels, tuple(0, 0))) {
      throw new Refusal(`padding must be (0, 0) at N and C in ${data_format} order: images and channels are not padded; got ${repr(value)}`);
    }
  }
  if (len(pairs) !== rank) throw new Refusal(`padding must be ${_padding_help(rank)}; got ${repr(value)}`);
  return tupleOf(pairs);
}

/** Return words as a list in a sentence. */
export function arguments_listed(words, joint) {
  const [most, last] = spread(map(str, words), 0, 1);
  return truth(most) ? text`${list(most).join(", ")} ${joint} ${last}` : last;
}

// ---- teachconv/core/law.py ----

export const SAME_WORDS = tuple("SAME", "SAME_LOWER");

/** One axis of a convolution, depth, rows or columns: seven integers, and how they were derived. */
export class AxisGeometry {
  in_size; filter_size; out_size; stride; dilation; pad_before; pad_after; formulas; legal_sizes;

  constructor(
    in_size,
    filter_size,
    out_size,
    stride,
    dilation,
    pad_before,
    pad_after,
    formulas = tuple(),
    legal_sizes = range(0, 0),
  ) {
    assigned(this, { in_size, filter_size, out_size, stride, dilation, pad_before, pad_after, formulas, legal_sizes });
  }

  /** The filter's length including dilation gaps: ek = (k - 1)·d + 1. */
  get effective_filter() {
    return (this.filter_size - 1) * this.dilation + 1;
  }

  /** The number of consecutive indices that the taps of all outputs span: F = (o - 1)·s + ek. */
  get full_size() {
    return (this.out_size - 1) * this.stride + this.effective_filter;
  }

  /** Return the input index that a tap of an output reads: the index law. */
  in_index(out_index, tap) {
    return out_index * this.stride - this.pad_before + tap * this.dilation;
  }

  /** Whether any tap of any output lies in the padding. */
  get has_padding() {
    if (this.out_size < 1) return false;
    const last = this.in_index(this.out_size - 1, this.filter_size - 1);
    return this.in_index(0, 0) < 0 || last >= this.in_size;
  }
}

/** Split the padding of one axis into half of it before, and the rest after. */
export function split_padding(total, lower = false) {
  const [small, large] = [floorDiv(total, 2), total - floorDiv(total, 2)];
  return lower ? tuple(large, small) : tuple(small, large);
}

/** Return one axis of a forward convolution: how many outputs, and how many zeros before and after. */
export function forward_axis(axis, n, k, s, d, mode, pads, may_be_empty = false, ceil = false) {
  let after, before, o;
  const ek = (k - 1) * d + 1;
  const steps = [_effective_filter(k, d, ek)];
  if (contains(SAME_WORDS, mode)) {
    o = -floorDiv(-n, s);
    const total = n ? max(0, (o - 1) * s + ek - n) : 0;
    [before, after] = split_padding(total, mode === "SAME_LOWER");
    steps.push(
      `output            o  = ⌈n / s⌉ = ⌈${n} / ${s}⌉ = ${o}`,
      `total padding     P  = max(0, (o - 1)·s + ek - n) = max(0, (${o} - 1)·${s} + ${ek} - ${n}) = ${total}`,
      _split_formula(total, mode),
    );
  } else {
    [before, after] = mode === "CAUSAL" ? tuple(ek - 1, 0) : pads;
    o = floorDiv(n + before + after - ek + (ceil ? s - 1 : 0), s) + 1;
    const dropped = int(ceil && o > 1 && (o - 1) * s - before >= n);
    o = o - dropped;
    if (o < 1 && n && !may_be_empty) {
      const padded = mode === "EXPLICIT" ? text`, padding ${before} and ${after}` : "";
      throw new Refusal(`${_mode_name(mode)} needs in_${axis} >= ${max(1, ek - before - after)} (filter ${k}, dilation ${d}${padded}); got ${n}`);
    }
    o = max(0, o);
    const [opening, closing] = ceil ? "⌈⌉" : "⌊⌋";
    const causal = mode === "CAUSAL" ? `(k - 1)·d = (${k} - 1)·${d} = ` : "";
    steps.push(
      text`padding           pad_before = ${causal}${before}, pad_after = ${after} (${_mode_name(mode)})`,
      text`output            o  = ${opening}(n + pad_before + pad_after - ek) / s${closing} + 1 = ${opening}(${n} + ${before} + ${after} - ${ek}) / ${s}${closing} + 1 = ${o + dropped}`,
    );
    if (truth(dropped)) {
      steps.push(`ceil_mode         o  = ${o}: the last window would begin in the padding at the end`);
    }
  }
  steps.push(`index law         in_index = out_index·${s} - ${_signed(before)} + tap·${d}`);
  return new AxisGeometry(n, k, o, s, d, before, after, tupleOf(steps));
}

/** Return one axis of TensorFlow's transposed convolution: which part of the full result is kept. */
export function transposed_axis(mode, rank, axis, i, k, s, d, pads, wanted, output_padding) {
  let default_, formula, high, low, total;
  const ek = (k - 1) * d + 1;
  const full = (i - 1) * s + ek;
  const extra = either(output_padding, () => 0);
  let [before, after] = pads;
  if (mode === "CAUSAL") {
    throw new Refusal(`padding "CAUSAL" is for a convolution; for its transpose give the crop ((0, ek - s),), which is ((0, ${ek - s}),) for filter ${k}, dilation ${d}, stride ${s}`);
  }
  if (contains(SAME_WORDS, mode)) {
    [low, high, default_] = [(i - 1) * s + 1, i * s, i * s];
    formula = `i·s = ${i}·${s}`;
  } else if (mode === "EXPLICIT" || output_padding != null) {
    low = full - before - after;
    [high, default_] = [low + s - 1, low + extra];
    formula = text`F - pad_before - pad_after + output_padding = ${full} - ${before} - ${after} + ${extra}`;
  } else {
    [low, high, default_] = [full, full + s - 1, (i - 1) * s + max(ek, s)];
    formula = `(i - 1)·s + max(ek, s) = (${i} - 1)·${s} + max(${ek}, ${s})`;
  }
  const smallest = i ? 1 : 0;
  if (i && (high < 1 || wanted == null && default_ < 1)) {
    throw new Refusal(text`${_mode_name(mode)} ${tuple(before, after)} crops all ${full} ${axis === "depth" ? "planes" : axis} of the full result (input ${axis} ${i}, filter ${k}, stride ${s}, dilation ${d}); pad_before + pad_after may be at most ${full - 1 + extra}`);
  }
  [low, high, default_] = [max(smallest, low), max(smallest, high), max(smallest, default_)];
  const o = wanted == null ? default_ : wanted;
  if (!(low <= o && o <= high) && wanted != null) {
    const error = new Refusal(text`output_shape ${axis} must be ${one_of(low, high)} for ${_mode_name(mode)}, stride ${s}, input ${axis} ${i}; got ${o}`);
    const function_ = rank === 2 ? "conv2d_transpose_geometry" : "conv_transpose_geometry";
    error.add_note(`${function_}(..., output_shape=None).legal_output_shapes lists what is legal`);
    throw error;
  }
  if (contains(SAME_WORDS, mode)) {
    total = i ? max(0, full - o) : 0;
    [before, after] = split_padding(total, mode === "SAME_LOWER");
  }
  const chosen = [wanted == null ? text`output            o  = ${formula} = ${o}` : text`output            o  = ${o}, requested; legal: ${one_of(low, high)}`];
  if (contains(SAME_WORDS, mode)) {
    chosen.push(text`cropped           P  = max(0, F - o) = max(0, ${full} - ${o}) = ${total}`, _split_formula(total, mode));
  }
  const cropped = cropped_axis(i, k, s, d, before, after, o, chosen);
  return changed(cropped, { legal_sizes: range(low, max(low, high) + 1) });
}

/** Return one axis of a transposed convolution whose result is full[before : before + o]. */
export function cropped_axis(i, k, s, d, before, after, o, chosen) {
  const ek = (k - 1) * d + 1;
  const full = (i - 1) * s + ek;
  const steps = [
    _effective_filter(k, d, ek),
    `full size         F  = (i - 1)·s + ek = (${i} - 1)·${s} + ${ek} = ${full}`,
    ...chosen,
    _kept_part(before, o, full),
    `index law         output_index = input_index·${s} - ${_signed(before)} + tap·${d}`,
  ];
  return new AxisGeometry(o, k, i, s, d, before, after, tupleOf(steps));
}

/** Return what a sentence calls a mode. */
export function _mode_name(mode) {
  return mode === "EXPLICIT" ? "explicit padding" : mode;
}

/** Return the line of a derivation that gives the effective filter. */
export function _effective_filter(k, d, ek) {
  return `effective filter  ek = (k - 1)·d + 1 = (${k} - 1)·${d} + 1 = ${ek}`;
}

/** Return the line of a derivation that splits the padding. */
export function _split_formula(total, mode) {
  const lower = mode === "SAME_LOWER";
  const [first, second] = lower ? tuple("P - ⌊P / 2⌋", "⌊P / 2⌋") : tuple("⌊P / 2⌋", "P - ⌊P / 2⌋");
  const [before, after] = split_padding(total, lower);
  return text`${mode.padEnd(17)} pad_before = ${first} = ${before}, pad_after = ${second} = ${after}`;
}

/** Return the line of a derivation that says which part of the full result is kept. */
export function _kept_part(before, o, full) {
  const rest = before < 0 || before + o > full ? "; the rest is zero" : "";
  return `result            full[${before} : ${before + o}] of its ${max(0, full)} cells${rest}`;
}

/** Return a number as text, a negative one in parentheses. */
export function _signed(number) {
  return number < 0 ? `(${number})` : str(number);
}

/** Return the legal sizes from `low` to `high` as text. */
export function one_of(low, high) {
  if (high <= low) return str(low);
  return high === low + 1 ? `${low} or ${high}` : `from ${low} to ${high}`;
}

/** Return the groups of a forward convolution, the ratio of the channels as in TensorFlow. */
export function groups_of(in_channels, filters_shape, name) {
  const [sizes, filter_depth, out_channels] = spread(filters_shape, 0, 2);
  if (in_channels === filter_depth) return 1;
  const [shape, rank] = [name === "filters" ? "filters.shape" : name, len(sizes)];
  if (filter_depth < 1 || floorMod(in_channels, filter_depth) || in_channels === 0) {
    throw new Refusal(text`${shape}[${rank}] must be the input's ${count(in_channels, "channel")}, or divide them (groups); got ${filter_depth}`);
  }
  const groups = floorDiv(in_channels, filter_depth);
  if (floorMod(out_channels, groups)) {
    throw new Refusal(text`${shape}[${rank + 1}] must be a multiple of the ${count(groups, "group")} (input channels ${in_channels} / ${shape}[${rank}] ${filter_depth}); got ${out_channels}`);
  }
  return groups;
}

/** Return the groups of a transposed convolution. */
export function transposed_groups(out_channels, filters_shape) {
  const [sizes, filter_depth, in_channels] = spread(filters_shape, 0, 2);
  if (out_channels === filter_depth) return 1;
  const depth = `filters.shape[${len(sizes)}]`;
  if (filter_depth < 1 || floorMod(out_channels, filter_depth) || out_channels === 0) {
    throw new Refusal(text`output_shape channels must be ${filter_depth} (${depth}) or a multiple of it (groups); got ${out_channels}`);
  }
  const groups = floorDiv(out_channels, filter_depth);
  if (floorMod(in_channels, groups)) {
    throw new Refusal(text`output_shape channels ${out_channels} / ${depth} ${filter_depth} gives ${groups} groups, which must divide the input's channels; got ${in_channels}`);
  }
  return groups;
}

/** Raise if `output_padding` is out of range or does not go with the other arguments. */
export function check_output_padding(output_padding, output_shape, strides, padding, dilations) {
  if (output_shape != null) {
    throw new Refusal(text`output_padding ${output_padding} and output_shape ${output_shape} both set the size; give only one of them`);
  }
  if (contains(SAME_WORDS, padding[0])) {
    throw new Refusal(text`output_padding needs VALID or explicit padding; got ${output_padding} with ${padding[0]} (give output_shape instead)`);
  }
  const names = AXES.slice(-len(strides));
  for (const [axis, extra, s, d] of zip(names, output_padding, strides, dilations)) {
    check_extra(axis, extra, s, d);
  }
}

/** Raise if the `output_padding` of an axis is out of range. */
export function check_extra(axis, extra, s, d) {
  if (!(0 <= extra && extra < max(s, d))) {
    throw new Refusal(`output_padding ${axis} must be from 0 to ${max(s, d) - 1} (below the larger of stride ${s} and dilation ${d}); got ${extra}`);
  }
}

// ---- teachconv/core/geometry.py ----

export const AXES = tuple("depth", "rows", "cols");

/** A convolution as integers: all that a backend is told about a call. */
export class ConvGeometry {
  batch; axes; in_channels; out_channels; groups; data_format;

  constructor(batch, axes, in_channels, out_channels, groups, data_format = "") {
    assigned(this, { batch, axes, in_channels, out_channels, groups, data_format });
    this.__post_init__();
  }

  __post_init__() {
    const axes = isinstance(this.axes, "(list, tuple)") ? tupleOf(this.axes) : tuple();
    if (!((1 <= len(axes) && len(axes) <= 3) && list(axes).every((axis) => isinstance(axis, "AxisGeometry")))) {
      throw new Refusal(`axes must be a tuple of 1, 2 or 3 AxisGeometry; got ${repr(this.axes)}`);
    }
    this.axes = axes;
    if (truth(this.data_format)) {
      check_data_format(this.data_format, this.rank);
    } else {
      this.data_format = layout_of("input", this.rank);
    }
  }

  /** Shape of the input in `data_format` order. */
  get input_shape() {
    return this._layout(list(this.axes).map((axis) => axis.in_size), this.in_channels);
  }

  /** Shape of the filters, `[*filter_sizes, in_channels / groups, out_channels]`. */
  get filters_shape() {
    const taps = list(this.axes).map((axis) => axis.filter_size);
    return tuple(...taps, floorDiv(this.in_channels, this.groups), this.out_channels);
  }

  /** Shape of the output in `data_format` order. */
  get output_shape() {
    return this._layout(list(this.axes).map((axis) => axis.out_size), this.out_channels);
  }

  /** Return the shape of the array of a role. */
  shape_of(role) {
    return this._shapes[role];
  }

  get _shapes() {
    return { input: this.input_shape, filters: this.filters_shape, output: this.output_shape };
  }

  /** Return the number of terms of the longest sum if the array of a role is the result. */
  terms_of(role) {
    const taps = prod(list(this.axes).map((axis) => axis.filter_size));
    return {
      input: floorDiv(taps * this.out_channels, this.groups),
      filters: this.batch * prod(list(this.axes).map((axis) => axis.out_size)),
      output: taps * floorDiv(this.in_channels, this.groups),
    }[role];
  }

  /** Whether any tap of any output lies in the padding, on any axis. */
  get has_padding() {
    return list(this.axes).some((axis) => truth(axis.has_padding));
  }

  /** The number of spatial axes: 1, 2 or 3. */
  get rank() {
    return len(this.axes);
  }

  /** The axis of the depth, the first of three; ranks 1 and 2 have none. */
  get depth() {
    return len(this.axes) > 2 ? this.axes.at(-3) : this._lacks("depth");
  }

  /** The axis of the rows, the last but one; rank 1 has none. */
  get rows() {
    return len(this.axes) > 1 ? this.axes.at(-2) : this._lacks("rows");
  }

  /** The axis of the columns, the last one. */
  get cols() {
    return this.axes.at(-1);
  }

  /** Raise `AttributeError`: the rank has no axis of this name. */
  _lacks(name) {
    const there = arguments_listed(AXES.slice(-this.rank), "and");
    throw new Refusal(text`a convolution of rank ${this.rank} has no ${name}; it has ${there}`);
  }

  /** The number of multiply-adds as they are usually counted: taps in the padding included. */
  get macs() {
    return int(prod(tuple(this.batch, ...list(this.axes).map((axis) => axis.out_size), ...this.filters_shape)));
  }

  /** The strides, one for each axis, such as (rows, cols). */
  get strides() {
    return tupleOf(list(this.axes).map((axis) => axis.stride));
  }

  /** The dilations, one for each axis, such as (rows, cols); 1 means none. */
  get dilations() {
    return tupleOf(list(this.axes).map((axis) => axis.dilation));
  }

  /** Zeros around the forward input, a pair for each axis; negative numbers crop. */
  get padding() {
    return tupleOf(list(this.axes).map((axis) => tuple(axis.pad_before, axis.pad_after)));
  }

  /** Return a shape in `data_format` order. */
  _layout(sizes, channels) {
    if (this.data_format[1] === "C") return tuple(this.batch, channels, ...sizes);
    return tuple(this.batch, ...sizes, channels);
  }

  /** Return what follows the first line: strides, padding, multiply-adds; two lines for rank 3. */
  _facts() {
    const pads = zip(SIDES.slice(-this.rank), this.axes).map(([[before, after], axis]) => text`${before} ${axis.pad_before} ${after} ${axis.pad_after}`);
    const steps = text`strides ${this.strides}, dilations ${this.dilations}, groups ${this.groups},`;
    const edges = `padding ${pads.join(" ")}, ${count(this.macs, "multiply-add")}`;
    return this.rank < 3 ? tuple(`${steps} ${edges}`) : tuple(steps, edges);
  }
}

/** A transposed convolution: the geometry of a forward convolution, with input and output exchanged. */
export class ConvTransposeGeometry {
  forward;

  constructor(forward) {
    assigned(this, { forward });
  }

  /** The forward convolution's axes: their `in_size` are the sizes of the transposed output. */
  get axes() {
    return this.forward.axes;
  }

  /** Number of images. */
  get batch() {
    return this.forward.batch;
  }

  /** Channel groups. */
  get groups() {
    return this.forward.groups;
  }

  /** NHWC or NCHW, or that of another rank. */
  get data_format() {
    return this.forward.data_format;
  }

  /** Shape of the input in `data_format` order. */
  get input_shape() {
    return this.forward.output_shape;
  }

  /** Shape of the filters, `[*filter_sizes, out_channels / groups, in_channels]`. */
  get filters_shape() {
    return this.forward.filters_shape;
  }

  /** Shape of the output in `data_format` order. */
  get output_shape() {
    return this.forward.input_shape;
  }

  /** Every `output_shape` that a call with this input, these filters and this padding may ask for. */
  get legal_output_shapes() {
    const sizes = product(...list(this.axes).map((axis) => either(axis.legal_sizes, () => tuple(axis.in_size))));
    return tupleOf(list(sizes).map((shape) => this._layout(shape, this.out_channels)));
  }

  /** Channels of the input. */
  get in_channels() {
    return this.forward.out_channels;
  }

  /** Channels of the output. */
  get out_channels() {
    return this.forward.in_channels;
  }

  /** The number of spatial axes: 1, 2 or 3. */
  get rank() {
    return len(this.axes);
  }

  /** The axis of the depth, the first of three; ranks 1 and 2 have none. */
  get depth() {
    return len(this.axes) > 2 ? this.axes.at(-3) : this._lacks("depth");
  }

  /** The axis of the rows, the last but one; rank 1 has none. */
  get rows() {
    return len(this.axes) > 1 ? this.axes.at(-2) : this._lacks("rows");
  }

  /** The axis of the columns, the last one. */
  get cols() {
    return this.axes.at(-1);
  }

  /** Raise `AttributeError`: the rank has no axis of this name. */
  _lacks(name) {
    const there = arguments_listed(AXES.slice(-this.rank), "and");
    throw new Refusal(text`a convolution of rank ${this.rank} has no ${name}; it has ${there}`);
  }

  /** The number of multiply-adds as they are usually counted: taps in the padding included. */
  get macs() {
    return int(prod(tuple(this.batch, ...list(this.axes).map((axis) => axis.out_size), ...this.filters_shape)));
  }

  /** The strides, one for each axis, such as (rows, cols). */
  get strides() {
    return tupleOf(list(this.axes).map((axis) => axis.stride));
  }

  /** The dilations, one for each axis, such as (rows, cols); 1 means none. */
  get dilations() {
    return tupleOf(list(this.axes).map((axis) => axis.dilation));
  }

  /** Zeros around the forward input, a pair for each axis; negative numbers crop. */
  get padding() {
    return tupleOf(list(this.axes).map((axis) => tuple(axis.pad_before, axis.pad_after)));
  }

  /** Return a shape in `data_format` order. */
  _layout(sizes, channels) {
    if (this.data_format[1] === "C") return tuple(this.batch, channels, ...sizes);
    return tuple(this.batch, ...sizes, channels);
  }

  /** Return what follows the first line: strides, padding, multiply-adds; two lines for rank 3. */
  _facts() {
    const pads = zip(SIDES.slice(-this.rank), this.axes).map(([[before, after], axis]) => text`${before} ${axis.pad_before} ${after} ${axis.pad_after}`);
    const steps = text`strides ${this.strides}, dilations ${this.dilations}, groups ${this.groups},`;
    const edges = `padding ${pads.join(" ")}, ${count(this.macs, "multiply-add")}`;
    return this.rank < 3 ? tuple(`${steps} ${edges}`) : tuple(steps, edges);
  }
}

/** Return the geometry of a convolution of rank 1, 2 or 3 from shapes alone; no data is needed. */
export function conv_geometry(
  input_shape,
  filters_shape,
  strides = 1,
  padding = "VALID",
  data_format = null,
  dilations = null,
  unknown = {},
) {
  const [shape, layout] = _laid_out(conv_geometry, unknown, input_shape, data_format);
  const geometry = forward_geometry(
    channels_last(shape, layout),
    normalizeShape(filters_shape, "filters", null, len(shape) - 2),
    normalizeSteps(strides, "strides", layout),
    normalize_padding(padding, layout, true),
    normalizeSteps(dilations, "dilations", layout),
  );
  return equal(geometry.data_format, layout) ? geometry : changed(geometry, { data_format: layout });
}

/** Return the geometry of a transposed convolution of rank 1, 2 or 3 from shapes alone; no data is needed. */
export function conv_transpose_geometry(
  input_shape,
  filters_shape,
  output_shape = null,
  strides = 1,
  padding = "SAME",
  data_format = null,
  dilations = null,
  output_padding = null,
  unknown = {},
) {
  const [shape, layout] = _laid_out(conv_transpose_geometry, unknown, input_shape, data_format);
  const rank = len(shape) - 2;
  const wanted = output_shape == null ? null : normalizeShape(output_shape, "output_shape", shape[0], rank);
  let forward = transposed_geometry(
    channels_last(shape, layout),
    normalizeShape(filters_shape, "filters", null, rank),
    wanted == null ? null : channels_last(wanted, layout),
    normalizeSteps(strides, "strides", layout),
    normalize_padding(padding, layout, true),
    normalizeSteps(dilations, "dilations", layout),
    output_padding == null ? null : normalize_output_padding(output_padding, layout),
  );
  if (!equal(forward.data_format, layout)) {
    forward = changed(forward, { data_format: layout });
  }
  return new ConvTransposeGeometry(forward);
}

/** Return the geometry of a `conv2d` call from shapes alone; no data is needed. */
export function conv2d_geometry(
  input_shape,
  filters_shape,
  strides = 1,
  padding = "VALID",
  data_format = "NHWC",
  dilations = null,
  unknown = {},
) {
  const [shape, layout] = _laid_out(conv2d_geometry, unknown, input_shape, data_format, 2);
  return conv_geometry(shape, filters_shape, strides, padding, layout, dilations);
}

/** Return the geometry of a `conv2d_transpose` call from shapes alone; no data is needed. */
export function conv2d_transpose_geometry(
  input_shape,
  filters_shape,
  output_shape = null,
  strides = 1,
  padding = "SAME",
  data_format = "NHWC",
  dilations = null,
  output_padding = null,
  unknown = {},
) {
  const [shape, layout] = _laid_out(conv2d_transpose_geometry, unknown, input_shape, data_format, 2);
  return conv_transpose_geometry(shape, filters_shape, output_shape, strides, padding, layout, dilations, output_padding);
}

/** Return the shape of an input and the layout of its axes; without a rank the shape sets it. */
export function _laid_out(_function_, _unknown, input_shape, data_format, rank = null) {
  const shape = normalizeShape(input_shape, "input", null, rank);
  if (rank == null && data_format == null) return tuple(shape, layout_of("input", len(shape) - 2));
  return tuple(shape, check_data_format(data_format, len(shape) - 2));
}

/** Return what `conv_geometry` returns, from normalised arguments and shapes with channels last; cached. */
export function forward_geometry(input_shape, filters_shape, strides, padding, dilations, filters_name = "filters") {
  const [batch, in_sizes, in_channels] = spread(input_shape, 1, 1);
  const [filter_sizes, , out_channels] = spread(filters_shape, 0, 2);
  _check_filter_sizes(filter_sizes, filters_name);
  const groups = groups_of(in_channels, filters_shape, filters_name);
  const [mode, pads] = padding;
  const facts = tuple(AXES.slice(-len(in_sizes)), in_sizes, filter_sizes, strides, dilations, pads);
  const axes = tupleOf(zip(...facts).map(([name, n, k, s, d, pair]) => forward_axis(name, n, k, s, d, mode, pair)));
  return new ConvGeometry(batch, axes, in_channels, out_channels, groups);
}

/** Return the `forward` of `conv_transpose_geometry`, from normalised arguments; cached. */
export function transposed_geometry(input_shape, filters_shape, output_shape, strides, padding, dilations, output_padding) {
  const [batch, in_sizes, in_channels] = spread(input_shape, 1, 1);
  const [filter_sizes, filter_depth, filter_inputs] = spread(filters_shape, 0, 2);
  const rank = len(in_sizes);
  _check_filter_sizes(filter_sizes);
  if (!equal(filter_inputs, in_channels)) {
    const sizes = list(AXES.slice(-rank)).map((name) => text`filter_${name}`).join(", ");
    throw new Refusal(text`filters must be [${sizes}, out_channels, in_channels] with in_channels = ${in_channels}, the input's channels; got ${list(filters_shape)}`);
  }
  const out_channels = output_shape == null ? filter_depth : output_shape.at(-1);
  const groups = transposed_groups(out_channels, filters_shape);
  if (output_shape != null && !equal(output_shape[0], batch)) {
    throw new Refusal(text`output_shape batch must be ${batch}, the input's; got ${output_shape[0]}`);
  }
  if (output_padding != null) {
    check_output_padding(output_padding, output_shape, strides, padding, dilations);
  }
  const [mode, pads] = padding;
  const none = repeated(tuple(null), rank);
  const wanted = output_shape == null ? none : output_shape.slice(1, -1);
  const facts = tuple(AXES.slice(-rank), in_sizes, filter_sizes, strides, dilations, pads, wanted, either(output_padding, () => none));
  const axes = tupleOf(zip(...facts).map((axis) => transposed_axis(mode, rank, ...axis)));
  return new ConvGeometry(batch, axes, out_channels, in_channels, groups);
}

/** Raise if the filter has no cells on some axis. */
export function _check_filter_sizes(sizes, name = "filters") {
  if (min(sizes) < 1) {
    throw new Refusal(`${name} must have at least ${one_each(len(sizes))}; got ${list(map(str, sizes)).join(" x ")}`);
  }
}

/** Return the smallest legal size of an array in words: "one row and one column". */
export function one_each(rank) {
  return arguments_listed(tuple("one plane", "one row", "one column").slice(-rank), "and");
}

// ---- teachconv/core/taps.py ----

/** One triple of the index law on one axis. */
export class AxisTap {
  out_index; tap; in_index; in_padding;

  constructor(out_index, tap, in_index, in_padding) {
    assigned(this, { out_index, tap, in_index, in_padding });
  }
}

/** Return every tap of one output index, those in the padding included. */
export function gather_all(axis, out_index) {
  return range(axis.filter_size).map((tap) => _axis_tap(axis, out_index, tap));
}

/** Return every tap through which an output reads one input index: the index law, inverted. */
export function scatter_all(axis, in_index) {
  const taps = [];
  for (const tap of range(axis.filter_size)) {
    const [out_index, gap] = divmod(in_index - axis.in_index(0, tap), axis.stride);
    if (gap === 0) {
      taps.push(new AxisTap(out_index, tap, in_index, !(0 <= out_index && out_index < axis.out_size)));
    }
  }
  return taps;
}

export function _axis_tap(axis, out_index, tap) {
  const in_index = axis.in_index(out_index, tap);
  return new AxisTap(out_index, tap, in_index, !(0 <= in_index && in_index < axis.in_size));
}
