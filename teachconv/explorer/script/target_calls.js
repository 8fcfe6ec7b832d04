// How each framework expresses a convolution: the copy of teachconv/translation's target calls.
//
// No padding arithmetic is here: every choice is checked against law.js.

import { resolve } from "./dialects.js";
import { Refusal, effectiveFilter, forwardAxis, fullSize, range, shapesOf, splitPadding } from "./law.js";
import { Code, listText, tuple } from "./python_text.js";

export const TARGETS = ["tensorflow", "torch", "jax", "onnx", "keras"];
export const NO_PADS = [[0, 0], [0, 0]];

/**
 * One call of a framework's function, and what is done before and after it: TargetCall.
 * @typedef {{target: string, name: string, words: Record<string, any>, layout: string, outLayout: string, filterLayout: string,
 *   regroup: boolean, flip: boolean, padInput: number[][], padOutput: number[][], subsample: number[], split: number,
 *   notes: string[], whyNot: string}} TargetCall
 */

/** @returns {TargetCall} */
function targetOf(target, name, words, more = {}) {
  return {
    target, name, words, layout: "NHWC", outLayout: "NHWC", filterLayout: "HWIO", regroup: false, flip: false,
    padInput: NO_PADS, padOutput: NO_PADS, subsample: [1, 1], split: 1, notes: [], whyNot: "", ...more,
  };
}

const axesOf = (conv) => [conv.geometry.rows, conv.geometry.cols];
const padsOf = (conv) => axesOf(conv).map((axis) => [axis.pad_before, axis.pad_after]);
const samePads = (a, b) => a.flat().join() === b.flat().join();
const strides = (conv) => tuple(...axesOf(conv).map((axis) => axis.stride));
const dilations = (conv) => tuple(...axesOf(conv).map((axis) => axis.dilation));
const isDilated = (conv) => axesOf(conv).some((axis) => axis.dilation !== 1);
const pairs = (pads) => tuple(...pads.map((sides) => tuple(...sides)));
const least = (pads) => Math.min(...pads.flat());

/** Whether an axis is padded on one side and cropped on the other. */
export const mixed = (pads) => pads.some((sides) => Math.min(...sides) < 0 && Math.max(...sides) > 0);

/** "SAME" or "SAME_LOWER" if that gives the alignment at every size, or "". */
function sameWord(family) {
  const agrees = (axis, word) => {
    const same = forwardAxis("rows", axis.in_size, axis.filter_size, axis.stride, axis.dilation, word, [0, 0], true);
    return same.out_size === axis.out_size && same.pad_before === axis.pad_before;
  };
  return ["SAME", "SAME_LOWER"].find((word) => family.every((conv) => axesOf(conv).every((axis) => agrees(axis, word)))) ?? "";
}

// ---------------------------------------------------------------------------------------------
// Forward
// ---------------------------------------------------------------------------------------------

/** The pads that the call itself takes, and what is padded or cropped first. */
function splitPads(conv, framework) {
  const pads = padsOf(conv);
  if (mixed(pads)) return [NO_PADS, { padInput: pads, notes: [`${framework} has no negative padding: the input is padded, then cropped`] }];
  if (least(pads) >= 0) return [pads, {}];
  const crop = pads.map((sides) => sides.map((side) => Math.min(0, side)));
  const rest = pads.map((sides) => sides.map((side) => Math.max(0, side)));
  return [rest, { padInput: crop, notes: [`${framework} has no negative padding: the input is cropped first`] }];
}

const FORWARD = {
  tensorflow(family) {
    const [conv] = family;
    const words = { strides: strides(conv) };
    let more = {};
    if (sameWord(family) === "SAME") {
      words.padding = "SAME";
    } else {
      const [pads, before] = splitPads(conv, "TensorFlow");
      words.padding = samePads(pads, NO_PADS) ? "VALID" : [[0, 0], pads[0], pads[1], [0, 0]];
      more = before;
    }
    if (isDilated(conv)) words.dilations = dilations(conv);
    return targetOf("tensorflow", "tf.nn.conv2d", words, more);
  },

  torch(family) {
    const [conv] = family;
    const words = { stride: strides(conv) };
    const pads = padsOf(conv);
    const begin = pads.map(([before]) => before);
    let before = {};
    if (family.every((member) => axesOf(member).every((axis, a) => isSymmetric(axis, begin[a])))) {
      if (begin.some((pad) => pad)) words.padding = tuple(...begin);
    } else {
      const [[top, bottom], [left, right]] = pads;
      const here = axesOf(conv).every((axis, a) => isSymmetric(axis, begin[a])); // but not at other sizes
      const why = here ? "no padding that depends on the size" : least(pads) < 0 ? "no negative padding" : "no asymmetric padding";
      const note = mixed(pads)
        ? "torch has no negative padding: F.pad pads the input, then crops it"
        : `torch has ${why}: F.pad(x, (${left}, ${right}, ${top}, ${bottom})) first`;
      before = { padInput: pads, notes: [note] };
    }
    if (isDilated(conv)) words.dilation = dilations(conv);
    if (conv.geometry.groups > 1) words.groups = conv.geometry.groups;
    return targetOf("torch", "F.conv2d", words, { layout: "NCHW", outLayout: "NCHW", filterLayout: "OIHW", ...before });
  },

  jax(family) {
    const [conv] = family;
    const words = { window_strides: strides(conv) };
    const [word, pads] = [sameWord(family), padsOf(conv)];
    let more = {};
    if (word === "SAME" || (word && family.some((other) => !samePads(padsOf(other), pads)))) {
      words.padding = word;
    } else if (mixed(pads)) {
      words.padding = "VALID";
      more = { padInput: pads, notes: ["JAX 0.10.2 computes some pads of mixed signs wrong: padded, then cropped, before the call"] };
    } else {
      words.padding = pairs(pads);
    }
    if (isDilated(conv)) words.rhs_dilation = dilations(conv);
    words.dimension_numbers = tuple(conv.input, conv.filter, conv.output);
    if (conv.geometry.groups > 1) words.feature_group_count = conv.geometry.groups;
    return targetOf("jax", "jax.lax.conv_general_dilated", words,
      { layout: conv.input, outLayout: conv.output, filterLayout: conv.filter, ...more });
  },

  onnx(family) {
    const [conv] = family;
    const word = sameWord(family);
    const constant = family.every((other) => samePads(padsOf(other), padsOf(conv)));
    let [words, before] = [{}, {}];
    if (word && !constant && !isDilated(conv)) { // onnxruntime takes no dilation with it
      words = { auto_pad: { SAME: "SAME_UPPER", SAME_LOWER: "SAME_LOWER" }[word], ...onnxWords(conv, NO_PADS) };
    } else {
      const [pads, more] = splitPads(conv, "ONNX");
      [words, before] = [onnxWords(conv, pads), more];
    }
    return targetOf("onnx", "Conv", words, { layout: "NCHW", outLayout: "NCHW", filterLayout: "OIHW", ...before });
  },

  keras(family) {
    const [conv] = family;
    const both = Math.max(...strides(conv)) > 1 && Math.max(...dilations(conv)) > 1;
    const words = { strides: both ? tuple(1, 1) : strides(conv) };
    const notes = [];
    const more = {};
    if (sameWord(family) === "SAME" && !both) {
      words.padding = "same";
    } else {
      words.padding = "valid";
      more.padInput = padsOf(conv);
      if (!samePads(more.padInput, NO_PADS)) notes.push("Keras has no explicit padding: the input is padded (or cropped) first");
    }
    if (isDilated(conv)) words.dilation_rate = dilations(conv);
    if (both) {
      notes.push("Keras on TensorFlow has no strides with dilation_rate: stride 1, then subsampled");
      more.subsample = strides(conv);
    }
    return targetOf("keras", "keras.ops.conv", words, { ...kerasLayouts(conv, words), notes, ...more });
  },
};

/** Whether a pad on both sides gives the same result; rows that no tap reads do not matter. */
function isSymmetric(axis, before) {
  if (before < 0 || before !== axis.pad_before) return false;
  const both = forwardAxis("rows", axis.in_size, axis.filter_size, axis.stride, axis.dilation, "EXPLICIT", [before, before], true);
  return both.out_size === axis.out_size;
}

function onnxWords(conv, pads) {
  const words = { strides: [...strides(conv)] };
  if (!samePads(pads, NO_PADS)) words.pads = [pads[0][0], pads[1][0], pads[0][1], pads[1][1]];
  if (isDilated(conv)) words.dilations = [...dilations(conv)];
  if (conv.geometry.groups > 1) words.group = conv.geometry.groups;
  return words;
}

/** Set Keras' data_format by the source's layouts, and return the call's. */
function kerasLayouts(conv, words) {
  const first = conv.input === "NCHW" && conv.output === "NCHW";
  words.data_format = first ? "channels_first" : "channels_last";
  return first ? { layout: "NCHW", outLayout: "NCHW" } : {};
}

// ---------------------------------------------------------------------------------------------
// Transposed: full[a : a + o], or all of it and a crop after
// ---------------------------------------------------------------------------------------------

/** What each axis wants: a, o, F, stride, dilation, effective filter, and the size of the input. */
const wantedOf = (conv) =>
  axesOf(conv).map((axis) => ({
    a: axis.pad_before, o: axis.in_size, full: fullSize(axis), s: axis.stride, d: axis.dilation, ek: effectiveFilter(axis), i: axis.out_size,
  }));

/** The pads that turn the full result into full[a : a + o]; negative numbers crop. */
const cropOfFull = (conv) => wantedOf(conv).map(({ a, o, full }) => [-a, a + o - full]);
const cropAfter = (framework) => `${framework} cannot express this alignment: the full result is computed, then cropped or padded`;

/** Pads, and an output_padding below the stride, that give (a, o), or null if there are none. */
function endPads(conv) {
  const [pads, extra] = [[], []];
  for (const { a, o, full, s } of wantedOf(conv)) {
    const after = Math.max(0, full - a - o);
    const more = o - (full - a - after);
    if (a < 0 || more < 0 || more >= s) return null;
    pads.push([a, after]);
    extra.push(more);
  }
  return { pads, extra };
}

const TRANSPOSED = {
  tensorflow(family) {
    const [conv] = family;
    const g = conv.geometry;
    const words = { output_shape: outputShape(family, [g.rows.in_size, g.cols.in_size]), strides: strides(conv) };
    const [wanted, ends, notes] = [wantedOf(conv), endPads(conv), []];
    let crop = NO_PADS;
    if (wanted.every(({ a, o, full, s, ek, i }) => full - ek < o && o <= i * s && a === splitPadding(Math.max(0, full - o))[0])) {
      words.padding = "SAME";
    } else if (wanted.every(({ a, o, full, s }) => a === 0 && full <= o && o < full + s)) {
      words.padding = "VALID";
    } else if (ends && !isDilated(conv)) {
      words.padding = [[0, 0], ...ends.pads, [0, 0]];
    } else {
      words.padding = "VALID";
      crop = cropOfFull(conv);
      words.output_shape = outputShape(family, wanted.map(({ full }) => full));
      notes.push(cropAfter("TensorFlow"));
    }
    if (isDilated(conv)) {
      words.dilations = dilations(conv);
      notes.push("on a CPU TensorFlow needs oneDNN for a dilation here");
    }
    if (g.groups > 1) notes.push("one call for each group: not every build of TensorFlow has groups here");
    return targetOf("tensorflow", "tf.nn.conv2d_transpose", words, { filterLayout: "HWOI", padOutput: crop, split: g.groups, notes });
  },

  torch(family) {
    const [conv] = family;
    const words = { stride: strides(conv) };
    const wanted = wantedOf(conv);
    const extra = wanted.map(({ a, o, full }) => o - (full - 2 * a));
    const notes = [];
    let crop = NO_PADS;
    if (wanted.every(({ a, s, d }, axis) => a >= 0 && extra[axis] >= 0 && extra[axis] < Math.max(s, d))) {
      if (wanted.some(({ a }) => a)) words.padding = tuple(...wanted.map(({ a }) => a));
      if (extra.some((more) => more)) words.output_padding = tuple(...extra);
    } else {
      crop = cropOfFull(conv);
      const [[top, bottom], [left, right]] = crop;
      notes.push(
        `torch crops both sides equally: the full result is computed, then F.pad(y, (${left}, ${right}, ${top}, ${bottom})); negative numbers crop`,
      );
    }
    if (conv.geometry.groups > 1) words.groups = conv.geometry.groups;
    if (isDilated(conv)) words.dilation = dilations(conv);
    return targetOf("torch", "F.conv_transpose2d", words, { layout: "NCHW", outLayout: "NCHW", filterLayout: "IOHW", padOutput: crop, notes });
  },

  jax(family) {
    const [conv] = family;
    const g = conv.geometry;
    const notes = [];
    let crop = NO_PADS;
    let pads = wantedOf(conv).map(({ a, o, full, ek }) => [ek - 1 - a, a + o - full + ek - 1]);
    if (axesOf(conv).every((axis) => axis.stride === 1) && mixed(pads)) {
      pads = axesOf(conv).map((axis) => [effectiveFilter(axis) - 1, effectiveFilter(axis) - 1]);
      crop = cropOfFull(conv);
      notes.push("JAX 0.10.2 computes some pads of mixed signs wrong: the full result is cropped instead");
    }
    const padding = { padding: pairs(pads), ...(isDilated(conv) ? { rhs_dilation: dilations(conv) } : {}) };
    const layouts = { layout: conv.input, outLayout: conv.output };
    if (g.groups === 1) {
      const exchanged = { I: "O", O: "I", H: "H", W: "W" };
      const letters = conv.flip ? conv.filter : [...conv.filter].map((letter) => exchanged[letter]).join("");
      /** @type {Record<string, any>} */
      const words = { strides: strides(conv), ...padding, dimension_numbers: tuple(conv.input, letters, conv.output) };
      if (!conv.flip) words.transpose_kernel = true; // JAX's own filter is flipped already
      return targetOf("jax", "jax.lax.conv_transpose", words, { ...layouts, filterLayout: conv.filter, flip: conv.flip, padOutput: crop, notes });
    }
    notes.push("jax.lax.conv_transpose has no groups: conv_general_dilated with lhs_dilation, the filter flipped");
    const words = {
      window_strides: tuple(1, 1), ...padding, lhs_dilation: strides(conv),
      dimension_numbers: tuple(conv.input, "HWOI", conv.output), feature_group_count: g.groups,
    };
    return targetOf("jax", "jax.lax.conv_general_dilated", words,
      { ...layouts, filterLayout: "HWOI", regroup: true, flip: true, padOutput: crop, notes });
  },

  onnx(family) {
    const [conv] = family;
    const ends = endPads(conv);
    const words = onnxWords(conv, ends ? ends.pads : NO_PADS);
    if (ends && ends.extra.some((more) => more)) words.output_padding = ends.extra;
    const after = ends ? {} : { padOutput: cropOfFull(conv), notes: [cropAfter("ONNX")] };
    return targetOf("onnx", "ConvTranspose", words, { layout: "NCHW", outLayout: "NCHW", filterLayout: "IOHW", ...after });
  },

  keras(family) {
    const [conv] = family;
    const words = { strides: strides(conv) };
    const [wanted, notes] = [wantedOf(conv), []];
    const odd = wanted.map(({ ek }) => ek % 2);
    const same = wanted.map(({ o, full, ek }, axis) => o - (full - ek) - odd[axis]);
    let crop = NO_PADS;
    if (wanted.every(({ a, o, full, s }, axis) =>
      a === splitPadding(Math.max(0, full - o))[0] && 1 - odd[axis] <= same[axis] && same[axis] <= s - odd[axis])) {
      words.padding = "same";
      if (wanted.some(({ o, i, s }) => o !== i * s)) words.output_padding = tuple(...same);
    } else if (wanted.every(({ a, o, full, s }) => a === 0 && full <= o && o < full + s)) {
      words.padding = "valid";
      if (wanted.some(({ o, full, s, ek }) => o !== full + Math.max(0, s - ek))) {
        words.output_padding = tuple(...wanted.map(({ o, full }) => o - full));
      }
    } else {
      words.padding = "valid";
      words.output_padding = tuple(0, 0);
      crop = cropOfFull(conv);
      notes.push(cropAfter("Keras"));
    }
    if (isDilated(conv)) words.dilation_rate = dilations(conv);
    if (conv.geometry.groups > 1) notes.push("Keras has no groups in conv_transpose: one call for each group");
    return targetOf("keras", "keras.ops.conv_transpose", words,
      { ...kerasLayouts(conv, words), filterLayout: "HWOI", padOutput: crop, split: conv.geometry.groups, notes });
  },
};

/** TensorFlow's output_shape: a formula of the input's shape, if the call takes other sizes. */
function outputShape(family, sizes) {
  const g = family[0].geometry;
  if (family.length === 1) return tuple(g.batch, ...sizes, shapesOf(g).filter[2]);
  const terms = [g.rows, g.cols].map((axis, a) => {
    const extra = sizes[a] - axis.out_size * axis.stride;
    const term = `x.shape[${a + 1}]${axis.stride > 1 ? ` * ${axis.stride}` : ""}`;
    return extra ? `${term} ${extra < 0 ? "-" : "+"} ${Math.abs(extra)}` : term;
  });
  return new Code(`(len(x), ${terms.join(", ")}, w.shape[2])`);
}

// ---------------------------------------------------------------------------------------------
// A call at other sizes: teachconv/translation/sizes.py
// ---------------------------------------------------------------------------------------------

/**
 * The call of a framework that computes a convolution.
 * @returns {TargetCall}
 */
export function targetCall(family, target) {
  const [conv] = family;
  const { in: x, out: y, filter } = shapesOf(conv.geometry);
  if ([...x, ...y, ...filter].includes(0) && target !== "jax") {
    const [input, output] = (conv.transposed ? [y, x] : [x, y]).map((shape, i) => [...[conv.input, conv.output][i]].map((letter) => shape["NHWC".indexOf(letter)]));
    return targetOf(target, "", {}, {
      whyNot: `the result or an input is empty (${listText(input)} -> ${listText(output)}): ${target} refuses that, or returns something else`,
    });
  }
  return (conv.transposed ? TRANSPOSED : FORWARD)[target](family);
}

/** The call, and the same call on images one row and column larger, and so on over a stride. */
export function familyOf(name, conv, shapes, words) {
  const others = otherSizes(name, conv, shapes, words, "HW");
  return others.includes(null) ? [conv] : [conv, ...others];
}

/** The axes of input and filter whose sizes the code depends on: "HW,HW". */
export function madeFor(name, conv, shapes, words, code) {
  const want = code(conv);
  let [first, second] = ["", ""];
  const groups = { HW: ["HW", ""], filter: ["", "HW"], N: ["N", ""], I: ["C", "I"], O: ["", "OM"] };
  for (const [group, [ofInput, ofFilter]] of Object.entries(groups)) {
    if (otherSizes(name, conv, shapes, words, group).some((other) => other === null || code(other) !== want)) {
      [first, second] = [first + ofInput, second + ofFilter];
    }
  }
  return `${first},${second}`;
}

/** The call at other sizes of one group of axes; null where the function refuses it. */
function otherSizes(name, conv, shapes, words, group) {
  const { rows, cols } = conv.geometry;
  const step = Math.max(rows.stride, cols.stride);
  let steps = [1];
  if (group === "HW") steps = range(1, step + 1);
  else if (group === "filter") steps = [...range(1, step + 2), ...range(1, Math.min(rows.filter_size, cols.filter_size)).map((less) => -less)];
  return steps.map((more) => {
    // with a larger filter the image keeps its place in the stride
    const reach = Math.max(0, more) * Math.max(rows.dilation, cols.dilation) * rows.stride * cols.stride;
    const grown = (letter, size, isFilter) => {
      if ("HW".includes(letter)) {
        if (isFilter) return group === "filter" ? size + more : size;
        return size + (group === "HW" ? more : group === "filter" ? reach : 0);
      }
      if (letter === "N") return group === "N" ? size * 2 : size;
      return group === { C: "I", I: "I", O: "O" }[letter] ? size * 2 : size;
    };
    const changed = shapes.map((shape, i) => shape.map((size, axis) => grown([conv.input, conv.filter][i][axis], size, i === 1)));
    try {
      return resolve(name, changed, words);
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
  });
}
