// The calls of TensorFlow, PyTorch, JAX, ONNX and Keras: the copy of teachconv/dialects, beside law.js.
//
// A resolver takes the shapes of the arrays and the arguments in the framework's words, checks them as the
// framework does, and returns a Resolved: geometry, layouts, and the steps of the derivation.

import { count, listText, repr, tuple, tupleText } from "./python_text.js";
import {
  Refusal, axisGeometry, croppedAxis, forwardAxis, forwardGeometry, fullSize, geometry, normalizePadding, normalizePair, oneWord,
  splitPadding, transposedGeometry,
} from "./law.js";

/**
 * One call, resolved: ConvCall.
 * @typedef {{name: string, transposed: boolean, geometry: import("./law.js").Geometry, input: string, filter: string,
 *   output: string, flip: boolean, steps: string[]}} Resolved
 */

/** @returns {Resolved} */
function resolved(name, geometryOf, [input, filter, output], steps = [], flip = false) {
  return { name, transposed: name.endsWith("transpose") || name.endsWith("transpose2d"), geometry: geometryOf, input, filter, output, flip, steps };
}

/** The shape of an array in a layout, as its sizes in NHWC or HWIO order. */
const ordered = (shape, layout, letters) => [...letters].map((letter) => shape[layout.indexOf(letter)]);

// ---------------------------------------------------------------------------------------------
// What the resolvers share: teachconv/dialects/calls.py
// ---------------------------------------------------------------------------------------------

/**
 * Two ints, [rows, cols], of an argument that is an int or a sequence.
 * @param {any} value
 */
function pair(value, name, { least = 1, scalar = true, single = false } = {}) {
  const legal = (scalar ? "an int or " : "") + (single ? "1 or 2 ints" : "2 ints, (rows, cols)");
  const refuse = () => new Refusal(`${name} must be ${legal}; got ${repr(value)}`);
  if (value === null || typeof value === "string" || (typeof value === "number" && !scalar)) throw refuse();
  const numbers = typeof value === "number" ? [value, value] : [...value];
  if (single && numbers.length === 1) numbers.push(numbers[0]);
  if (numbers.length !== 2) throw refuse();
  if (least !== null && Math.min(...numbers) < least) throw new Refusal(`${name} must be at least ${least}; got ${repr(value)}`);
  return numbers;
}

function groupCount(value, name) {
  if (value < 1) throw new Refusal(`${name} must be at least 1; got ${value}`);
  return value;
}

function checkGroups(groups, name, inChannels, depth, depthName, outs, outsName) {
  if (inChannels !== depth * groups) {
    throw new Refusal(`${depthName} must be the input's ${count(inChannels, "channel")} / ${name} ${groups}; got ${depth}`);
  }
  if (outs % groups) throw new Refusal(`${outsName} must be a multiple of ${name} ${groups}; got ${outs}`);
}

function checkSize(size, axis, full, what, inSize, least = 1) {
  if (size < least && inSize) throw new Refusal(`${what} leaves no ${axis} of the ${full} that the full result has; got ${size}`);
}

/** F, the length of the full transposed result. */
const fullOf = (i, k, s, d) => fullSize(axisGeometry(0, k, i, s, d, 0, 0));

function checkExtra(axis, extra, s, d) {
  if (extra < Math.max(s, d)) return;
  throw new Refusal(
    `output_padding ${axis} must be from 0 to ${Math.max(s, d) - 1} (below the larger of stride ${s} and dilation ${d}); got ${extra}`,
  );
}

const AXES = ["rows", "cols"];
const bothAxes = (make) => [0, 1].map((number) => make(AXES[number], number));

// ---------------------------------------------------------------------------------------------
// TensorFlow
// ---------------------------------------------------------------------------------------------

function tensorflowConv2d([input, filters], { strides, padding, dilations }) {
  const made = forwardGeometry(input, filters, normalizePair(strides, "strides"), normalizePadding(padding), normalizePair(dilations, "dilations"));
  return resolved("tensorflow.conv2d", made, ["NHWC", "HWIO", "NHWC"]);
}

function tensorflowTranspose([input, filters], { output_shape, strides, padding, dilations, output_padding }) {
  const extra = typeof output_padding === "number" ? [output_padding, output_padding] : output_padding;
  const made = transposedGeometry(input, filters, output_shape, normalizePair(strides, "strides"), normalizePadding(padding),
    normalizePair(dilations, "dilations"), extra);
  return resolved("tensorflow.conv2d_transpose", made, ["NHWC", "HWOI", "NHWC"]);
}

// ---------------------------------------------------------------------------------------------
// PyTorch
// ---------------------------------------------------------------------------------------------

function torchConv2d([[n, inChannels, inRows, inCols], [outs, depth, rows, cols]], words) {
  const strides = pair(words.stride, "stride", { single: true });
  const [mode, [padRows, padCols]] = torchPadding(words.padding, strides);
  const groups = groupCount(words.groups, "groups");
  checkGroups(groups, "groups", inChannels, depth, "weight.shape[1]", outs, "weight.shape[0]");
  if (outs < 1) throw new Refusal(`weight.shape[0], the output channels, must be at least 1; got ${outs}`);
  const made = forwardGeometry([n, inRows, inCols, inChannels], [rows, cols, depth, outs], strides,
    [mode, [[padRows, padRows], [padCols, padCols]]], pair(words.dilation, "dilation", { single: true }));
  const steps = ["filter: weight.transpose(2, 3, 1, 0), OIHW to HWIO, no flip"];
  if (mode === "EXPLICIT") steps.push(`padding: ${count(padRows, "row")} and ${count(padCols, "column")} on both sides, whatever the stride`);
  else if (mode === "SAME") steps.push("padding 'same': the odd row goes to the bottom, as in TensorFlow");
  return resolved("torch.conv2d", made, ["NCHW", "OIHW", "NCHW"], steps);
}

/** @returns {[string, number[]]} */
function torchPadding(padding, strides) {
  if (padding === "same") {
    if (strides[0] !== 1 || strides[1] !== 1) {
      throw new Refusal(`padding 'same' needs stride 1, as in PyTorch; got stride ${tupleText(strides)}: give padding as integers`);
    }
    return ["SAME", [0, 0]];
  }
  if (padding === "valid") return ["VALID", [0, 0]];
  if (typeof padding === "string") oneWord(padding, ["same", "valid"], "padding", "'same', 'valid', an int or 2 ints");
  return ["EXPLICIT", pair(padding, "padding", { least: 0, single: true })];
}

function torchTranspose([[n, inChannels, ...inSizes], [weightIn, depth, ...sizes]], words) {
  const groups = groupCount(words.groups, "groups");
  const channels = count(inChannels, "channel");
  if (weightIn !== inChannels) throw new Refusal(`weight.shape[0] must be the input's ${channels}; got ${weightIn}`);
  if (inChannels % groups) throw new Refusal(`groups must divide the input's ${channels}; got ${groups}`);
  if (typeof words.padding === "string") throw new Refusal(`padding must be an int or 2 ints, not a string; got ${repr(words.padding)}`);
  if (!depth) throw new Refusal("weight.shape[1], the output channels / groups, must be at least 1; got 0");
  const strides = pair(words.stride, "stride", { single: true });
  const dilations = pair(words.dilation, "dilation", { single: true });
  const pads = pair(words.padding, "padding", { least: 0, single: true });
  const extra = pair(words.output_padding, "output_padding", { least: 0, single: true });
  const [rows, cols] = bothAxes((axis, a) => torchAxis(axis, inSizes[a], sizes[a], strides[a], dilations[a], pads[a], extra[a]));
  const steps = ["filter: weight.transpose(2, 3, 1, 0), [in, out, rows, cols] to [rows, cols, out, in], no flip"];
  if (extra[0] >= strides[0] || extra[1] >= strides[1]) {
    steps.push("output_padding is not below the stride: TensorFlow allows no output_shape this large");
  }
  return resolved("torch.conv_transpose2d", geometry(n, rows, cols, depth * groups, inChannels, groups), ["NCHW", "IOHW", "NCHW"], steps);
}

function torchAxis(axis, i, k, s, d, p, extra) {
  checkExtra(axis, extra, s, d);
  const full = fullOf(i, k, s, d);
  let o = full - 2 * p + extra;
  checkSize(o, axis, full, `padding ${p}, output_padding ${extra}`, i, 0); // PyTorch returns an empty result for size 0
  o = Math.max(0, o);
  return croppedAxis(i, k, s, d, p, p, o, [`output            o  = F - 2·p + output_padding = ${full} - 2·${p} + ${extra} = ${o}`]);
}

// ---------------------------------------------------------------------------------------------
// ONNX
// ---------------------------------------------------------------------------------------------

const ONNX_MODES = { SAME_UPPER: "SAME", SAME_LOWER: "SAME_LOWER", VALID: "VALID", NOTSET: "EXPLICIT" };
const onnxWord = (word) => oneWord(word, Object.keys(ONNX_MODES), "auto_pad", "one of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
const onnxPair = (value, name) => (value === null ? [1, 1] : pair(value, name, { scalar: false }));

function onnxPads(pads, autoPad) {
  if (pads === null) return [[0, 0], [0, 0]];
  if (pads.length !== 4) throw new Refusal(`pads must be 4 ints, [top, left, bottom, right]; got ${repr(pads)}`);
  if (Math.min(...pads) < 0) throw new Refusal(`pads must not be negative in ONNX; got ${repr(pads)}`);
  if (autoPad !== "NOTSET" && pads.some((pad) => pad)) {
    throw new Refusal(`pads and auto_pad ${autoPad} both set the padding; give only one of them; got pads ${repr(pads)}`);
  }
  return [[pads[0], pads[2]], [pads[1], pads[3]]];
}

function onnxConv([X, [outs, depth, rows, cols]], words) {
  const [n, inChannels, inRows, inCols] = X;
  onnxWord(words.auto_pad);
  if (!inRows || !inCols) throw new Refusal(`X must have at least one row and one column; got shape ${listText(X)}`);
  const [step, spread] = [onnxPair(words.strides, "strides"), onnxPair(words.dilations, "dilations")];
  const groups = groupCount(words.group, "group");
  checkGroups(groups, "group", inChannels, depth, "W.shape[1]", outs, "W.shape[0]");
  const padding = [ONNX_MODES[words.auto_pad], onnxPads(words.pads, words.auto_pad)];
  const made = forwardGeometry([n, inRows, inCols, inChannels], [rows, cols, depth, outs], step, padding, spread);
  const steps = ["filter: W.transpose(2, 3, 1, 0), OIHW to HWIO, no flip"];
  if (words.auto_pad.startsWith("SAME")) {
    steps.push(`auto_pad ${words.auto_pad}: the odd row goes to the ${words.auto_pad === "SAME_UPPER" ? "bottom, as TensorFlow's SAME" : "top"}`);
    if (spread[0] !== 1 || spread[1] !== 1) steps.push("onnxruntime 1.31.1 refuses auto_pad with a dilation; the specification does not");
  }
  return resolved("onnx.conv", made, ["NCHW", "OIHW", "NCHW"], steps);
}

function onnxTranspose([X, [weightIn, depth, ...sizes]], words) {
  const [n, inChannels, ...inSizes] = X;
  onnxWord(words.auto_pad);
  if (inSizes.includes(0)) throw new Refusal(`X must have at least one row and one column; got shape ${listText(X)}`);
  const [step, spread] = [onnxPair(words.strides, "strides"), onnxPair(words.dilations, "dilations")];
  const groups = groupCount(words.group, "group");
  const channels = count(inChannels, "channel");
  if (weightIn !== inChannels) throw new Refusal(`W.shape[0] must be X's ${channels}; got ${weightIn}`);
  if (inChannels % groups) throw new Refusal(`group must divide X's ${channels}; got ${groups}`);
  const extra = words.output_padding === null ? [0, 0] : pair(words.output_padding, "output_padding", { least: 0, scalar: false });
  const wanted = words.output_shape === null ? [null, null] : pair(words.output_shape, "output_shape", { scalar: false });
  const pads = onnxPads(words.output_shape === null ? words.pads : null, words.auto_pad); // output_shape determines the pads
  const [rows, cols] = bothAxes((axis, a) =>
    onnxAxis(words.auto_pad, axis, inSizes[a], sizes[a], step[a], spread[a], pads[a], extra[a], wanted[a]));
  const steps = ["filter: W.transpose(2, 3, 1, 0), [in, out, rows, cols] to [rows, cols, out, in], no flip"];
  if (extra[0] >= step[0] || extra[1] >= step[1]) {
    steps.push("onnxruntime 1.31.1 refuses an output_padding of the stride or more; the specification does not");
  }
  const short = [0, 1].some((a) => (sizes[a] - 1) * spread[a] + 1 < step[a]);
  if (words.auto_pad.startsWith("SAME") && words.output_shape === null && short) {
    steps.push(
      "filter shorter than stride: o = F, as in onnxruntime; the specification's text and its reference evaluator give i·s, with zeros after F",
    );
  }
  return resolved("onnx.conv_transpose", geometry(n, rows, cols, depth * groups, inChannels, groups), ["NCHW", "IOHW", "NCHW"], steps);
}

function onnxAxis(autoPad, axis, i, k, s, d, pads, extra, wanted) {
  checkExtra(axis, extra, s, d);
  const full = fullOf(i, k, s, d);
  let [before, after] = pads;
  if (wanted === null && !autoPad.startsWith("SAME")) {
    const size = full - before - after + extra;
    checkSize(size, axis, full, `pads ${before} and ${after}`, i);
    return croppedAxis(i, k, s, d, before, after, size, [
      `output            o  = F - pad_begin - pad_end + output_padding = ${full} - ${before} - ${after} + ${extra} = ${size}`,
    ]);
  }
  if (wanted !== null && wanted > full + s - 1) {
    throw new Refusal(
      `output_shape ${axis} must be at most F + stride - 1 = ${full + s - 1} (input ${i}, filter ${k}, stride ${s}, dilation ${d}); got ${wanted}`,
    );
  }
  const target = wanted ?? i * s;
  const total = Math.max(0, full + extra - target);
  const lower = autoPad !== "SAME_UPPER";
  [before, after] = splitPadding(total, lower);
  const o = wanted ?? full + extra - total;
  const name = wanted === null ? "i·s" : "output_shape";
  return croppedAxis(i, k, s, d, before, after, o, [
    `total padding     P  = max(0, F + output_padding - ${name}) = max(0, ${full} + ${extra} - ${target}) = ${total}`,
    `${autoPad.padEnd(17)} pad_begin = ${lower ? "P - ⌊P / 2⌋" : "⌊P / 2⌋"} = ${before}, pad_end = ${after}`,
    `output            o  = ${o}${wanted === null ? " = F + output_padding - P" : ", requested (output_shape)"}`,
  ]);
}

// ---------------------------------------------------------------------------------------------
// JAX
// ---------------------------------------------------------------------------------------------

const JAX_WORDS = ["SAME", "VALID", "SAME_LOWER"];

function jaxConv([lhs, rhs], words) {
  const [input, filter, output] = words.dimension_numbers ?? ["NCHW", "OIHW", "NCHW"];
  const strides = pair(words.window_strides, "window_strides", { scalar: false });
  const dilations = words.rhs_dilation === null ? [1, 1] : pair(words.rhs_dilation, "rhs_dilation", { scalar: false });
  const [mode, pads] = typeof words.padding === "string"
    ? [oneWord(words.padding, JAX_WORDS, "padding", "'SAME', 'SAME_LOWER', 'VALID' or 2 pairs", words.padding.toUpperCase()), [[0, 0], [0, 0]]]
    : normalizePadding(words.padding);
  const [n, inRows, inCols, channels] = ordered(lhs, input, "NHWC");
  const [kRows, kCols, depth, outs] = ordered(rhs, filter, "HWIO");
  const groups = groupCount(words.feature_group_count, "feature_group_count");
  checkGroups(groups, "feature_group_count", channels, depth, "rhs in", outs, "rhs out");
  if (Math.min(kRows, kCols) < 1) throw new Refusal(`rhs must have at least one row and one column; got shape ${listText(rhs)}`);
  const [rows, cols] = bothAxes((axis, a) => {
    const [i, k] = [[inRows, inCols][a], [kRows, kCols][a]];
    const n = stuffed(i, 1, pads[a]);
    return forwardAxis(axis, n, k, strides[a], dilations[a], mode, pads[a], true);
  });
  const steps = [`layouts: lhs ${input}, rhs ${filter}, out ${output}`];
  return resolved("jax.conv_general_dilated", geometry(n, rows, cols, channels, outs, groups), [input, filter, output], steps);
}

/** The size of an input with up - 1 zeros between its cells; refused if the pads crop more. */
function stuffed(i, up, pads) {
  const size = Math.max(0, (i - 1) * up + 1);
  if (size + pads[0] + pads[1] < 0) {
    throw new Refusal(`padding must not crop more than the input's ${count(size, "cell")}; got ${tupleText(pads)}`);
  }
  return size;
}

function jaxTranspose([lhs, rhs], words) {
  const [input, filter, output] = words.dimension_numbers ?? ["NHWC", "HWIO", "NHWC"];
  const strides = pair(words.strides, "strides", { scalar: false });
  const dilations = words.rhs_dilation === null ? [1, 1] : pair(words.rhs_dilation, "rhs_dilation", { scalar: false });
  const [n, inRows, inCols, channels] = ordered(lhs, input, "NHWC");
  const exchanged = { I: "O", O: "I", H: "H", W: "W" };
  const letters = words.transpose_kernel ? [...filter].map((letter) => exchanged[letter]).join("") : filter;
  const [kRows, kCols, depth, outs] = ordered(rhs, letters, "HWIO");
  if (depth !== channels) {
    throw new Refusal(`rhs must have lhs's ${count(channels, "channel")} at ${words.transpose_kernel ? "O" : "I"}; got ${depth}`);
  }
  if (Math.min(kRows, kCols) < 1) throw new Refusal(`rhs must have at least one row and one column; got shape ${listText(rhs)}`);
  const [rule, pads] = typeof words.padding === "string" ? jaxWord(words.padding, strides) : ["raw", normalizePadding(words.padding)[1]];
  const [rows, cols] = bothAxes((_, a) => jaxAxis(rule, [inRows, inCols][a], [kRows, kCols][a], strides[a], dilations[a], pads[a]));
  const how = words.transpose_kernel
    ? "transpose_kernel: TensorFlow's [rows, cols, out, in], as it is"
    : "flipped in rows and columns, in and out exchanged";
  const steps = [`layouts: lhs ${input}, rhs ${filter}, out ${output}`, `filter: ${how}`];
  return resolved("jax.conv_transpose", geometry(n, rows, cols, outs, channels, 1), [input, letters, output], steps, !words.transpose_kernel);
}

/** How jax.lax.conv_transpose reads a padding that is a word. */
function jaxWord(word, strides) {
  const [pads, legal] = [[[0, 0], [0, 0]], "'SAME', 'VALID' or 2 pairs of ints"];
  if (word === "SAME" || word === "VALID" || strides[0] !== 1 || strides[1] !== 1) return [oneWord(word, ["SAME", "VALID"], "padding", legal), pads];
  return [`forward ${oneWord(word, JAX_WORDS, "padding", legal, word.toUpperCase())}`, pads]; // as conv_general_dilated reads it
}

/** One axis of a convolution of stride 1 over an input with up - 1 zeros between its cells. */
function stuffedAxis(i, k, up, d, pads) {
  const [low, high] = pads;
  const full = fullOf(i, k, up, d);
  const ek = (k - 1) * d + 1;
  const n = stuffed(i, up, [low, high]);
  const o = Math.max(0, n + low + high - ek + 1);
  const before = ek - 1 - low;
  return croppedAxis(i, k, up, d, before, full - before - o, o, [
    `stuffed input     n  = (i - 1)·s + 1 = (${i} - 1)·${up} + 1 = ${n}`,
    `output            o  = n + low + high - ek + 1 = ${n} + ${low} + ${high} - ${ek} + 1 = ${o}`,
    `first cell        a  = ek - 1 - low = ${ek} - 1 - ${low} = ${before}`,
  ]);
}

function jaxAxis(rule, i, k, s, d, pads) {
  const full = fullOf(i, k, s, d);
  const ek = (k - 1) * d + 1;
  if (rule === "raw") return stuffedAxis(i, k, s, d, pads);
  if (rule.startsWith("forward")) {
    const same = forwardAxis("rows", i, k, 1, d, rule.split(" ")[1], [0, 0], true);
    return stuffedAxis(i, k, 1, d, [same.pad_before, same.pad_after]);
  }
  if (rule === "VALID") {
    const o = Math.max(0, (i - 1) * s + Math.max(ek, s));
    return croppedAxis(i, k, s, d, 0, full - o, o, [`output            o  = (i - 1)·s + max(ek, s) = (${i} - 1)·${s} + max(${ek}, ${s}) = ${o}`]);
  }
  const [before] = splitPadding(Math.max(0, ek - s));
  const o = i * s;
  return croppedAxis(i, k, s, d, before, full - before - o, o, [
    `output            o  = i·s = ${i}·${s} = ${o}`,
    `SAME              a  = ⌊max(0, ek - s) / 2⌋ = ⌊max(0, ${ek} - ${s}) / 2⌋ = ${before}`,
  ]);
}

// ---------------------------------------------------------------------------------------------
// Keras
// ---------------------------------------------------------------------------------------------

const kerasWord = (word) => oneWord(word, ["VALID", "SAME"], "padding", "'valid' or 'same'", word.toUpperCase());

function kerasConv([inputs, kernel], words) {
  const [, , depth, outs] = kernel;
  const channels = inputs[3];
  if (!depth || channels % depth) {
    throw new Refusal(`kernel.shape[2] must be the inputs' ${count(channels, "channel")}, or divide them (groups); got ${depth}`);
  }
  if (outs % Math.max(1, channels / depth)) {
    throw new Refusal(
      `kernel.shape[3] must be a multiple of the ${count(channels / depth, "group")} (inputs' channels ${channels} / ` +
        `kernel.shape[2] ${depth}); got ${outs}`,
    );
  }
  const made = forwardGeometry(inputs, kernel, pair(words.strides, "strides"), [kerasWord(words.padding), [[0, 0], [0, 0]]],
    pair(words.dilation_rate, "dilation_rate"));
  const steps = ["filter: as TensorFlow's, [rows, cols, in, out]"];
  if (Math.max(made.rows.stride, made.cols.stride) > 1 && Math.max(made.rows.dilation, made.cols.dilation) > 1) {
    steps.push("strides with dilation_rate: Keras' TensorFlow backend refuses this, the others run it");
  }
  return resolved("keras.conv", made, ["NHWC", "HWIO", "NHWC"], steps);
}

function kerasTranspose([[n, inRows, inCols, channels], kernel], words) {
  const [kRows, kCols, outs, depth] = kernel;
  if (depth !== channels) {
    throw new Refusal(`kernel must be [rows, cols, out, in] with the inputs' ${count(channels, "channel")} last; got ${listText(kernel)}`);
  }
  if (Math.min(kRows, kCols) < 1) throw new Refusal(`kernel must have at least one row and one column; got ${listText(kernel)}`);
  const [strides, dilations] = [pair(words.strides, "strides"), pair(words.dilation_rate, "dilation_rate")];
  const extra = words.output_padding === null ? [null, null] : pair(words.output_padding, "output_padding", { least: null });
  const mode = kerasWord(words.padding);
  const [rows, cols] = bothAxes((axis, a) => kerasAxis(mode, axis, [inRows, inCols][a], [kRows, kCols][a], strides[a], dilations[a], extra[a]));
  return resolved("keras.conv_transpose", geometry(n, rows, cols, outs, channels, 1), ["NHWC", "HWOI", "NHWC"],
    ["filter: as TensorFlow's, [rows, cols, out, in]"]);
}

function kerasAxis(mode, axis, i, k, s, d, extra) {
  const ek = (k - 1) * d + 1;
  const full = fullOf(i, k, s, d);
  const valid = mode === "VALID";
  const [low, high] = valid ? [0, s - 1] : [1 - (ek % 2), s - (ek % 2)];
  let [o, formula] = [i * s, `i·s = ${i}·${s}`];
  if (valid && extra === null) [o, formula] = [(i - 1) * s + Math.max(ek, s), `(i - 1)·s + max(ek, s) = (${i} - 1)·${s} + max(${ek}, ${s})`];
  else if (valid) [o, formula] = [full + extra, `F + output_padding = ${full} + ${extra}`];
  else if (extra !== null) {
    [o, formula] = [(i - 1) * s + (ek % 2) + extra, `(i - 1)·s + ek % 2 + output_padding = (${i} - 1)·${s} + ${ek % 2} + ${extra}`];
  }
  const before = valid ? 0 : splitPadding(Math.max(0, full - o))[0];
  if (extra !== null && !(low <= extra && extra <= high)) {
    throw new Refusal(
      `output_padding ${axis} must be from ${low} to ${high} for ${mode.toLowerCase()}, filter ${k}, stride ${s}, dilation ${d}; got ${extra}`,
    );
  }
  o = Math.max(0, o);
  const chosen = [`output            o  = ${formula} = ${o}`];
  if (!valid) chosen.push(`first cell        a  = ⌊max(0, F - o) / 2⌋ = ⌊max(0, ${full} - ${o}) / 2⌋ = ${before}`);
  return croppedAxis(i, k, s, d, before, full - before - o, o, chosen);
}

// ---------------------------------------------------------------------------------------------
// The table of functions
// ---------------------------------------------------------------------------------------------

/** Each function: its resolver, what it calls its two arrays, and its other arguments with their defaults. */
export const FUNCTIONS = {
  "tensorflow.conv2d": [tensorflowConv2d, ["input", "filters"], { strides: 1, padding: "VALID", dilations: null }],
  "tensorflow.conv2d_transpose": [tensorflowTranspose, ["input", "filters"],
    { output_shape: null, strides: 1, padding: "SAME", dilations: null, output_padding: null }],
  "torch.conv2d": [torchConv2d, ["input", "weight"], { stride: 1, padding: 0, dilation: 1, groups: 1 }],
  "torch.conv_transpose2d": [torchTranspose, ["input", "weight"], { stride: 1, padding: 0, output_padding: 0, groups: 1, dilation: 1 }],
  "jax.conv_general_dilated": [jaxConv, ["lhs", "rhs"],
    { window_strides: undefined, padding: undefined, rhs_dilation: null, dimension_numbers: null, feature_group_count: 1 }],
  "jax.conv_transpose": [jaxTranspose, ["lhs", "rhs"],
    { strides: undefined, padding: undefined, rhs_dilation: null, dimension_numbers: null, transpose_kernel: false }],
  "onnx.conv": [onnxConv, ["X", "W"], { auto_pad: "NOTSET", dilations: null, group: 1, pads: null, strides: null }],
  "onnx.conv_transpose": [onnxTranspose, ["X", "W"],
    { auto_pad: "NOTSET", dilations: null, group: 1, output_padding: null, output_shape: null, pads: null, strides: null }],
  "keras.conv": [kerasConv, ["inputs", "kernel"], { strides: 1, padding: "valid", dilation_rate: 1 }],
  "keras.conv_transpose": [kerasTranspose, ["inputs", "kernel"], { strides: 1, padding: "valid", output_padding: null, dilation_rate: 1 }],
};

/**
 * The call that a function of a dialect comes to: teachconv.resolve.
 * @returns {Resolved}
 */
export function resolve(name, shapes, words) {
  const [resolver, , defaults] = FUNCTIONS[name];
  return resolver(shapes.map((shape) => tuple(...shape)), { ...defaults, ...words });
}

/** The call as Python text, with shapes in place of arrays and without default arguments: document.code. */
export function callText(name, shapes, words) {
  const [, arrays, defaults] = FUNCTIONS[name];
  const parts = arrays.map((array, i) => `${array} ${listText(shapes[i])}`);
  for (const [word, usual] of Object.entries(defaults)) {
    if (!Object.hasOwn(words, word) || words[word] === usual || (word === "dilations" && words[word] === 1)) continue;
    const text = repr(words[word]);
    parts.push(`${word}=${text.length <= 80 ? text : `${text.slice(0, 77)}...`}`);
  }
  return `tc.${name.startsWith("tensorflow.") ? name.slice(11) : `dialects.${name}`}(${parts.join(", ")})`;
}
