// The state of the playground: one convolution, as the address of the page holds it and as each framework says it.

import { resolve } from "./calls.js";
import { normalize_padding, transposed_geometry } from "./law.js";
import { PRESETS } from "./playground_numbers.js";
import { Refusal, floorDiv, listText, repr, tuple } from "./python.js";
import { FRAMEWORKS, FUNCTIONS } from "./rules.js";
import { modesOf, placeOn } from "./shown.js";

/** What can be set: the name in the address, the words on the page, and the legal range of each number. */
export const FIELDS = {
  n: { label: "input", least: 1, most: 320, numbers: [7, 7] },
  k: { label: "filter", least: 1, most: 15, numbers: [3, 3] },
  s: { label: "stride", least: 1, most: 10, numbers: [2, 2] },
  d: { label: "dilation", least: 1, most: 8, numbers: [1, 1] },
  c: { label: "channels in", least: 1, most: 16, numbers: [1] },
  o: { label: "channels out", least: 1, most: 16, numbers: [1] },
  g: { label: "groups", least: 1, most: 16, numbers: [1] },
};
/** The operations, by the name in the address. */
export const OPERATIONS = { conv2d: "convolution", transpose: "transposed", max_pool: "max pool", avg_pool: "average pool" };
export const isPool = (state) => state.op.endsWith("_pool");
const FLAGS = ["ceil", "counted"]; // of a pool: ceil_mode, and whether padding counts in the divisor
const FARTHEST_PAD = 20;
export const WORDS = ["same", "valid", "same_lower"];

/**
 * The state of an address without any parameter.
 * @returns {any}
 */
export function defaultState() {
  const numbers = Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, [...field.numbers]]));
  return { ...numbers, op: "conv2d", as: "tensorflow", p: "same", ceil: false, counted: false, op_pad: null, size: null, at: null, x: "digits", w: "small", channels: null, on: null, tap: null, step: null, quiz: null, view: null, modes: [] };
}

/** Where a reader may begin: what is shown, and its address. */
export const BEGINNINGS = [
  ["a photo", "conv2d&n=75,113&k=3&s=1&p=same&x=a photo&w=vertical edges"],
  ["an edge", "conv2d&n=8&k=3&s=1&p=same&x=an edge&w=vertical edges"],
  ["stride 2", "conv2d&n=7&k=3&s=2&p=same"],
  ["SAME pads below", "conv2d&n=6&k=3&s=2&p=same&at=2,2"],
  ["dilation", "conv2d&n=9&k=3&s=1&d=2&p=valid"],
  ["groups", "conv2d&n=6&k=3&s=1&c=4&o=4&g=2&p=same"],
  ["depthwise", "conv2d&n=6&k=3&s=1&c=3&o=3&g=3&p=same"],
  ["1 × 1", "conv2d&n=6&k=1&s=1&c=4&o=3&p=valid"],
  ["checkerboard", "transpose&n=4&k=3&s=2&p=valid&x=ones&w=ones"],
];

const HOW_MANY = { 1: "a whole number", 2: "two (rows × columns)", 3: "three", 4: "four (top, bottom, left, right)" };

/** The numbers of a text such as "7", "7,5", "7x5" or "7 × 5"; refused if one is not in the range. */
function numbersOf(text, name, counts, least, most) {
  const parts = String(text).trim().split(/\s*[x×,\s]\s*/);
  const numbers = parts.map((part) => (/^[+-]?\d+$/.test(part) ? Number(part) : NaN));
  if (!counts.includes(numbers.length) || numbers.some((number) => !(number >= least && number <= most))) {
    const how = counts.map((number) => HOW_MANY[number]).join(" or ");
    throw new Refusal(`${name} must be ${how} from ${least} to ${most}; got ${text === "" ? "nothing" : `"${text}"`}`);
  }
  return numbers.map((number) => number + 0); // -0 is 0
}

/** The numbers of a text such as "1,2.5,-3e2", or the name of numbers that the playground offers. */
function numbersOrPreset(name, text) {
  if (Object.hasOwn(PRESETS[name], text)) return text;
  const numbers = text.split(",").map((part) => (part.trim() ? Number(part) : NaN));
  if (numbers.some(Number.isNaN)) throw new Refusal(`${name} must be numbers or one of ${Object.keys(PRESETS[name]).join(", ")}; got "${text}"`);
  return numbers;
}

/** Change one field of a state by the text of a control or of the address. */
export function setField(state, name, text) {
  if (Object.hasOwn(FIELDS, name)) {
    const { label, least, most, numbers } = FIELDS[name];
    const found = numbersOf(text, label, numbers.length === 2 ? [1, 2] : [1], least, most);
    state[name] = numbers.length === 2 && found.length === 1 ? [found[0], found[0]] : found;
  } else if (name === "p") {
    state.p = WORDS.includes(text.toLowerCase()) ? text.toLowerCase() : numbersOf(text, "padding", [1, 2, 4], -FARTHEST_PAD, FARTHEST_PAD);
  } else if (name === "op_pad" || name === "size") {
    const most = name === "size" ? 999 : FIELDS.s.most;
    const found = text === "" ? null : numbersOf(text, name === "size" ? "output size" : "output_padding", [1, 2], name === "size" ? 1 : -1, most);
    state[name] = found?.length === 1 ? [found[0], found[0]] : found;
  } else if (name === "at") {
    state.at = text === "" ? null : numbersOf(text, "at", [2], 0, 999);
  } else if (name === "ch") {
    state.channels = numbersOf(text, "ch", [2], 0, FIELDS.c.most - 1);
  } else if (name === "tap") {
    [state.tap] = numbersOf(text, "tap", [1], 0, 9999);
  } else if (["present", "embed"].includes(name) && text === "") {
    state.view = name;
  } else if (name === "step") {
    [state.step] = numbersOf(text, "step", [1], 1, 99);
  } else if (name === "quiz") {
    state.quiz = numbersOf(text, "quiz", [3], 0, 99999);
    if (!(state.quiz[1] >= 1 && state.quiz[1] <= 4)) throw new Refusal(`the level of a quiz must be from 1 to 4; got ${state.quiz[1]}`);
  } else if (name === "on" && placeOn(text)) {
    state.on = placeOn(text);
  } else if (name === "show" && modesOf(text)) {
    state.modes = modesOf(text);
  } else if (name === "op" && Object.hasOwn(OPERATIONS, text)) {
    state.op = text;
  } else if (FLAGS.includes(name) && ["0", "1"].includes(text)) {
    state[name] = text === "1";
  } else if (name === "as" && Object.hasOwn(FRAMEWORKS, text)) {
    state.as = text;
  } else if (name === "x" || name === "w") {
    state[name] = numbersOrPreset(name, text);
  } else {
    throw new Refusal(name === "op" ? `the playground has no operation "${text}"` : `the playground cannot read "${name}=${text}" in its address`);
  }
}

/** The state that an address such as "#conv2d&n=7&k=3&s=2&p=same&at=1,2" holds, and what in it is not legal. */
export function fromAddress(hash) {
  const state = defaultState();
  const problems = [];
  for (const [number, part] of hash.replace(/^#/, "").split("&").entries()) {
    if (!part) continue;
    const [name, ...rest] = part.split("=");
    try {
      if (number === 0 && !rest.length && !["present", "embed"].includes(name)) setField(state, "op", name);
      else setField(state, name, decodeURIComponent(rest.join("=")));
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof URIError)) throw error;
      problems.push(error.message);
    }
  }
  return { state, problems };
}

const pairText = (numbers) => (numbers.every((number) => number === numbers[0]) ? String(numbers[0]) : numbers.join(","));

/** The address of a state: only what differs from the default, but always the sizes. */
export function toAddress(state) {
  const usual = defaultState();
  const parts = [state.op];
  for (const name of Object.keys(FIELDS)) {
    const text = pairText(state[name]);
    if (["n", "k", "s"].includes(name) || text !== pairText(usual[name])) parts.push(`${name}=${text}`);
  }
  parts.push(`p=${typeof state.p === "string" ? state.p : state.p.join(",")}`);
  for (const name of FLAGS) if (isPool(state) && state[name]) parts.push(`${name}=1`);
  for (const name of ["op_pad", "size"]) if (state[name]) parts.push(`${name}=${pairText(state[name])}`);
  if (state.as !== usual.as) parts.push(`as=${state.as}`);
  for (const name of ["x", "w"]) {
    const text = Array.isArray(state[name]) ? state[name].join(",") : state[name];
    if (text !== usual[name] && text.length <= 1500) parts.push(`${name}=${text}`); // longer addresses are cut off on their way
  }
  if (state.at) parts.push(`at=${state.at.join(",")}`);
  if (state.channels) parts.push(`ch=${state.channels.join(",")}`);
  if (state.on) parts.push(`on=${state.on.join(",")}`);
  if (state.tap !== null) parts.push(`tap=${state.tap}`);
  if (state.view) parts.push(state.view);
  if (state.step) parts.push(`step=${state.step}`);
  if (state.quiz) parts.push(`quiz=${state.quiz}`);
  if (state.modes.length) parts.push(`show=${state.modes.join(",")}`);
  return `#${parts.join("&")}`;
}

/** The shapes of source and filter as the law has them: NHWC, and HWIO or transposed [rows, cols, out, in]. */
export function canonicalShapes(state) {
  const [[c], [o], [g]] = isPool(state) ? [state.c, state.c, state.c] : [state.c, state.o, state.g];
  const depth = Math.max(1, floorDiv(state.op === "transpose" ? o : c, g));
  return { source: [1, ...state.n, c], filter: [...state.k, depth, state.op === "transpose" ? c : o] };
}

/** One number for two that are equal, as people write it. */
const plain = (pair) => (pair[0] === pair[1] ? pair[0] : tuple(...pair));

/** The pads of a state that has numbers, [[top, bottom], [left, right]]. */
function padsOfState(p) {
  if (p.length === 4) return [[p[0], p[1]], [p[2], p[3]]];
  return [[p[0], p[0]], [p.at(-1), p.at(-1)]];
}

const SPELLINGS = {
  tensorflow: { same: "SAME", valid: "VALID", same_lower: "SAME_LOWER" },
  torch: { same: "same", valid: "valid" },
  jax: { same: "SAME", valid: "VALID", same_lower: "SAME_LOWER" },
  onnx: { same: "SAME_UPPER", valid: "VALID", same_lower: "SAME_LOWER" },
  keras: { same: "same", valid: "valid" },
};

/** The padding words that a framework's function takes. */
export function paddingWords(state) {
  if (isPool(state)) return WORDS;
  if (state.op === "transpose" && state.as === "torch") return [];
  if (state.op === "transpose" && state.as === "jax") return ["same", "valid"];
  return WORDS.filter((word) => Object.hasOwn(SPELLINGS[state.as], word));
}

/** A framework has no word for what a state asks for; TensorFlow may have one. */
export class Wordless extends Refusal {}

function wordless(state, what, instead = "") {
  const name = FUNCTION_NAMES[state.as][state.op === "transpose" ? 1 : 0];
  return new Wordless(`${FRAMEWORKS[state.as]}'s ${name} has no ${what}${instead ? `: ${instead}` : ""}.`);
}

const FUNCTION_NAMES = {
  tensorflow: ["conv2d", "conv2d_transpose"],
  torch: ["conv2d", "conv_transpose2d"],
  jax: ["conv_general_dilated", "conv_transpose"],
  onnx: ["conv", "conv_transpose"],
  keras: ["conv", "conv_transpose"],
};

/**
 * The call of a state in its framework's words.
 * @returns {{name: string, shapes: number[][], words: Record<string, any>}}
 */
export function callOf(state) {
  groupsDivide(state);
  const name = `${state.as}.${FUNCTION_NAMES[state.as][state.op === "transpose" ? 1 : 0]}`;
  const words = PHRASES[state.as](state, state.op === "transpose");
  const { source: x, filter: w } = canonicalShapes(state);
  const first = ["torch", "onnx"].includes(state.as);
  const isJaxTranspose = name === "jax.conv_transpose";
  const shapes = [
    first ? [x[0], x[3], x[1], x[2]] : x,
    first ? [w[3], w[2], w[0], w[1]] : isJaxTranspose ? [w[0], w[1], w[3], w[2]] : w,
  ];
  const given = Object.entries(words).filter(([word, value]) => value !== FUNCTIONS[name].words[word]);
  return { name, shapes, words: Object.fromEntries(given) };
}

/**
 * The convolution of ones with the windows of a pool, and the pool as `callDocument` has it.
 * @returns {{call: {name: string, shapes: number[][], words: Record<string, any>}, pool: {reduce: string, ceil: boolean, counted: boolean, code: string}}}
 */
export function poolOf(state) {
  const [pads, k, same] = [typeof state.p === "string" ? [] : padsOfState(state.p), state.k, state.p === "same" || state.p === "same_lower"];
  for (const [axis, pair] of pads.entries()) {
    for (const pad of pair) {
      if (pad < 0 || pad >= k[axis]) throw new Refusal(`padding of a pool must be from 0 to ${k[axis] - 1}, below the size of the window; got ${pad}`);
    }
  }
  const reduce = state.op === "max_pool" ? "max" : "average";
  const pool = { reduce, ceil: state.ceil && !same, counted: reduce === "average" && state.counted };
  const call = callOf({ ...state, op: "conv2d", as: "tensorflow", o: state.c, g: state.c });
  const { rows, cols } = resolve(call.name, call.shapes, call.words).geometry;
  // onnxruntime's SAME takes the pads of a window without its dilation
  const sides = same && dilated(state) ? [rows, cols].map((axis) => [axis.pad_before, axis.pad_after]) : pads;
  return { call, pool: { ...pool, code: poolText(state, pool, sides) } };
}

/** A pool as Python text: in TensorFlow's words, or in ONNX's, which has ceil_mode, dilation and both divisors. */
function poolText(state, { ceil, counted }, pads) {
  const [rows, cols] = state.n;
  const [c] = state.c;
  if (!ceil && !counted && !dilated(state) && !pads.length) {
    return `tc.${state.op}(input ${listText([1, rows, cols, c])}, ksize=${repr(plain(state.k))}, strides=${repr(plain(state.s))}, padding=${repr(state.p.toUpperCase())})`;
  }
  const words = [`X ${listText([1, c, rows, cols])}`, `kernel_shape=${listText(state.k)}`, `strides=${listText(state.s)}`];
  if (pads.length) words.push(`pads=${listText([pads[0][0], pads[1][0], pads[0][1], pads[1][1]])}`);
  else words.push(`auto_pad=${repr(SPELLINGS.onnx[state.p])}`);
  if (dilated(state)) words.push(`dilations=${listText(state.d)}`);
  if (ceil) words.push("ceil_mode=1");
  if (counted) words.push("count_include_pad=1");
  return `tc.dialects.onnx.${state.op === "max_pool" ? "max_pool" : "average_pool"}(${words.join(", ")})`;
}

/** Every framework divides both numbers of channels by the groups; from shapes alone the fault would not be seen. */
function groupsDivide({ c: [ins], o: [outs], g: [groups] }) {
  if (ins % groups || outs % groups) {
    throw new Refusal(`groups must divide channels in (${ins}) and channels out (${outs}); got ${groups}`);
  }
}

const dilated = (state) => state.d.some((d) => d !== 1);

/** The padding in a framework's words; `numbers` writes the pads that are numbers. */
function padding(state, numbers) {
  if (typeof state.p !== "string") return numbers(padsOfState(state.p));
  if (!paddingWords(state).includes(state.p)) throw wordless(state, `padding "${state.p.toUpperCase()}"`, "give the padding as numbers");
  return SPELLINGS[state.as][state.p];
}

/** The same number on both sides, which is all that PyTorch has. */
function symmetric(state, [rows, cols]) {
  if (rows[0] !== rows[1] || cols[0] !== cols[1]) throw wordless(state, "padding that differs from side to side", "pad the input first");
  return plain([rows[0], cols[0]]);
}

const PHRASES = {
  tensorflow(state, transposed) {
    const words = {
      strides: plain(state.s),
      padding: padding(state, (pads) => (pads.flat().every((pad) => pad === pads[0][0]) ? pads[0][0] : tuple(...pads.map((sides) => tuple(...sides))))),
      dilations: dilated(state) ? plain(state.d) : null,
    };
    if (!transposed) return words;
    const size = state.size ?? (state.g[0] > 1 ? usualSize(state) : null);
    return { ...words, output_shape: size ? tuple(1, ...size, state.o[0]) : null, output_padding: state.op_pad ? plain(state.op_pad) : null };
  },
  torch(state, transposed) {
    if (transposed && state.size) throw wordless(state, "output size", "give output_padding");
    return {
      stride: plain(state.s),
      padding: padding(state, (pads) => symmetric(state, pads)),
      dilation: plain(state.d),
      groups: state.g[0],
      ...(transposed && state.op_pad ? { output_padding: plain(state.op_pad) } : {}),
    };
  },
  jax(state, transposed) {
    const pads = padding(state, (sides) => tuple(...sides.map((side) => tuple(...side))));
    const spread = dilated(state) ? tuple(...state.d) : null;
    if (!transposed) {
      const layouts = tuple("NHWC", "HWIO", "NHWC");
      return { window_strides: tuple(...state.s), padding: pads, rhs_dilation: spread, dimension_numbers: layouts, feature_group_count: state.g[0] };
    }
    if (state.g[0] > 1) throw wordless(state, "groups", "use conv_general_dilated with lhs_dilation");
    if (state.size || state.op_pad) throw wordless(state, "output size or output_padding", "give the padding as numbers");
    return { strides: tuple(...state.s), padding: pads, rhs_dilation: spread };
  },
  onnx(state, transposed) {
    const pads = padding(state, (sides) => [sides[0][0], sides[1][0], sides[0][1], sides[1][1]]);
    const words = { strides: [...state.s], dilations: dilated(state) ? [...state.d] : null, group: state.g[0] };
    Object.assign(words, typeof pads === "string" ? { auto_pad: pads } : { pads });
    if (!transposed) return words;
    return { ...words, output_shape: state.size ? [...state.size] : null, output_padding: state.op_pad ? [...state.op_pad] : null };
  },
  keras(state, transposed) {
    const words = {
      strides: plain(state.s),
      padding: padding(state, () => { throw wordless(state, "padding as numbers", "pad the input first, and give VALID"); }),
      dilation_rate: plain(state.d),
    };
    if (!transposed) return words;
    if (state.g[0] > 1) throw wordless(state, "groups");
    if (state.size) throw wordless(state, "output size", "give output_padding");
    return { ...words, output_padding: state.op_pad ? plain(state.op_pad) : null };
  },
};

/** TensorFlow's size without output_shape, which it needs where there are groups. */
function usualSize({ n, k, s, d, p, c }) {
  const usual = transposed_geometry([1, ...n, c[0]], [...k, 1, c[0]], null, s, normalize_padding(typeof p === "string" ? p.toUpperCase() : padsOfState(p)), d, null);
  return [usual.rows.in_size, usual.cols.in_size];
}
