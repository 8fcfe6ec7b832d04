// A call as the source text of a Python function for another framework: the copy of translation/source_text.py.

import { resolve } from "./dialects.js";
import { NO_PADS, familyOf, madeFor, mixed, targetCall } from "./target_calls.js";
import { repr, tuple, tupleText } from "./python_text.js";

const IMPORTS = {
  tensorflow: ["import tensorflow as tf"],
  torch: ["import torch", "import torch.nn.functional as F"],
  jax: ["import jax"],
  onnx: ["import onnxruntime", "from onnx import helper"],
  keras: ["import keras"],
};
const WIDTH = 109; // the longest line of emitted code

/** The same convolution in another framework: tc.translate. `code` is "" and `why` says why if it has no such call. */
export function translate(name, shapes, words, to) {
  const conv = resolve(name, shapes, words);
  const family = familyOf(name, conv, shapes, words);
  const target = targetCall(family, to);
  if (target.whyNot) return { code: "", why: target.whyNot, notes: target.notes, call: "" };
  const code = (other) => sourceText(other, { ...targetCall([other, ...family], to), notes: [] }); // notes may differ where the calls do not
  const checked = madeFor(name, conv, shapes, words, code);
  return { code: sourceText(conv, target, checked), why: "", notes: target.notes, call: `${target.name}(${callWords(target, "x, w").join(", ")})` };
}

function sourceText(conv, target, checked = "") {
  const section = [...before(target), ...SECTIONS[target.target](target), ...after(target)];
  const lines = [
    `# x: the input, ${conv.input}; w: ${conv.filter}, as ${conv.name} has them`,
    ...target.notes.map((note) => `# ${note}`),
    ...sizeLines(conv, checked),
    ...transposeLine("x", conv.input, target.layout),
    ...filterLines(conv, target),
    ...section,
    ...transposeLine("y", target.outLayout, conv.output),
    "return y",
  ];
  return ["import numpy as np", ...IMPORTS[target.target], "", "", "def convolve(x, w):", ...lines.flatMap(folded).map((line) => `    ${line}`), ""].join("\n");
}

/** A line, folded if it is a comment that is too long: textwrap.wrap. */
function folded(line) {
  if (line.length + 4 <= WIDTH || !line.startsWith("#")) return [line];
  const lines = [];
  let now = "";
  for (const word of line.split(/ (?=\S)/)) {
    if (now && now.length + 1 + word.length > WIDTH - 4) {
      lines.push(now);
      now = `# ${word}`;
    } else {
      now = now ? `${now} ${word}` : word;
    }
  }
  return [...lines, now];
}

/** The lines that refuse sizes that the code was not made for. */
function sizeLines(conv, checked) {
  const { rows, cols, batch } = conv.geometry;
  const [depth, outs] = [conv.geometry.in_channels / conv.geometry.groups, conv.geometry.out_channels];
  const sizes = conv.transposed
    ? [{ N: batch, H: rows.out_size, W: cols.out_size, C: outs }, { H: rows.filter_size, W: cols.filter_size, O: depth, I: outs }]
    : [{ N: batch, H: rows.in_size, W: cols.in_size, C: conv.geometry.in_channels }, { H: rows.filter_size, W: cols.filter_size, I: depth, O: outs }];
  const [terms, values, shown, got] = [[], [], [], []];
  for (const [number, letters] of checked.split(",").entries()) {
    const [name, layout] = [["x", conv.input], ["w", conv.filter]][number];
    const at = [...layout].flatMap((letter, i) => (letters.includes(letter) ? [i] : []));
    if (!at.length) continue;
    const last = at.at(-1) + 1;
    if (at.length === layout.length) terms.push(`${name}.shape`);
    else if (last - at[0] === at.length) terms.push(`${name}.shape[${at[0] || ""}:${last < layout.length ? last : ""}]`);
    else terms.push(`(${at.map((i) => `${name}.shape[${i}],`).join(" ")})`);
    values.push(...at.map((i) => sizes[number][layout[i]]));
    shown.push(`${name} [${[...layout].map((letter, i) => (at.includes(i) ? sizes[number][letter] : letter)).join(", ")}]`);
    got.push(`{${name}.shape}`);
  }
  if (!terms.length) return [];
  const text = `f"made for ${shown.join(" and ")}; got ${got.join(" and ")}"`;
  let error = [`    raise ValueError(${text})`];
  if (error[0].length + 4 > WIDTH) error = ["    raise ValueError(", `        ${text}`, "    )"];
  return [`if ${terms.join(" + ")} != ${tupleText(values)}:`, ...error];
}

/** The line that changes an array's layout, or none if it has the layout already. */
function transposeLine(name, have, want) {
  if (have === want) return [];
  return [`${name} = ${name}.transpose(${[...want].map((letter) => have.indexOf(letter)).join(", ")})  # ${have} to ${want}`];
}

/** The lines that convert the filter. */
function filterLines(conv, target) {
  const lines = [];
  let letters = conv.filter;
  if (target.regroup) {
    lines.push(...transposeLine("w", letters, "HWOI"));
    letters = "HWOI";
    lines.push(`w = w.reshape(*w.shape[:3], ${conv.geometry.groups}, -1).transpose(0, 1, 3, 2, 4)`);
    lines.push("w = w.reshape(*w.shape[:2], -1, w.shape[4])  # groups along the output's");
  }
  lines.push(...transposeLine("w", letters, target.filterLayout));
  if (conv.flip !== target.flip) {
    const places = [...target.filterLayout].map((letter) => ("HW".includes(letter) ? "::-1" : ":"));
    lines.push(`w = w[${places.join(", ")}]  # flip rows and columns`);
  }
  return lines;
}

/** The lines that pad or crop the input; PyTorch's tensors come first. */
function before(target) {
  const tensors = target.target === "torch" ? ["x = torch.from_numpy(x.copy())", "w = torch.from_numpy(w.copy())"] : [];
  return [...tensors, ...padLines("x", target.target, target.layout, target.padInput)];
}

/** The lines that subsample, pad or crop the result. */
function after(target) {
  const lines = [];
  if (Math.max(...target.subsample) > 1) {
    const steps = { H: target.subsample[0], W: target.subsample[1] };
    lines.push(`y = y[${[...target.outLayout].map((letter) => (Object.hasOwn(steps, letter) ? `::${steps[letter]}` : ":")).join(", ")}]`);
  }
  lines.push(...padLines("y", target.target, target.outLayout, target.padOutput));
  return target.target === "torch" ? [...lines, "y = y.numpy()"] : lines;
}

/** The lines that pad with zeros, then those that crop: the crop may exceed the input. */
function padLines(name, framework, layout, pads) {
  const positive = pads.map((sides) => sides.map((side) => Math.max(0, side)));
  const negative = pads.map((sides) => sides.map((side) => Math.min(0, side)));
  if (framework === "torch") {
    if (!mixed(pads)) return torchPad(name, pads);
    return [...torchPad(name, positive), ...torchPad(name, negative)];
  }
  const lines = [];
  const of = (sides, letter) => ({ H: sides[0], W: sides[1] })[letter] ?? [0, 0];
  if (Math.max(...pads.flat()) > 0) {
    lines.push(`${name} = np.pad(${name}, ${repr(tuple(...[...layout].map((letter) => tuple(...of(positive, letter)))))})`);
  }
  if (Math.min(...pads.flat()) < 0) {
    const slice = ([first, last]) => `${first < 0 ? -first : ""}:${last < 0 ? last : ""}`;
    lines.push(`${name} = ${name}[${[...layout].map((letter) => slice(of(pads, letter))).join(", ")}]`);
  }
  return lines;
}

/** The line that pads or crops with F.pad. */
function torchPad(name, [[top, bottom], [left, right]]) {
  if ([top, bottom, left, right].join() === NO_PADS.flat().join()) return [];
  return [`${name} = F.pad(${name}, ${tupleText([left, right, top, bottom])})  # left, right, top, bottom`];
}

const callWords = (target, arrays) => [arrays, ...Object.entries(target.words).map(([word, value]) => `${word}=${repr(value)}`)];

/** A call as lines: one line if it fits, else one for the arrays and one for each argument. */
function callLines(target, start, arrays, end) {
  const words = callWords(target, arrays);
  const line = `${start}${words.join(", ")}${end}`;
  return line.length + 4 <= WIDTH ? [line] : [start, ...words.map((word) => `    ${word},`), end];
}

/** The lines that call a function once, or once for each group; `result` wraps the call. */
function tensorLines(target, result) {
  const [start, end] = result.split("{}");
  if (target.split === 1) return callLines(target, `y = ${start}${target.name}(`, "x, w", `)${end}`);
  const parts = `np.split(x, ${target.split}, ${target.layout.indexOf("C")})`;
  const filters = `np.split(w, ${target.split}, ${target.filterLayout.indexOf("I")})`;
  const [first, ...rest] = callLines(target, `    ${start}${target.name}(`, "part, filters", `)${end}`);
  return [
    "y = [",
    first,
    ...rest.map((line) => `    ${line}`),
    `    for part, filters in zip(${parts}, ${filters})`,
    "]",
    `y = np.concatenate(y, ${target.outLayout.indexOf("C")})`,
  ];
}

const SECTIONS = {
  tensorflow: (target) => tensorLines(target, "{}.numpy()"),
  torch: (target) => tensorLines(target, "{}"),
  jax: (target) => [...tensorLines(target, "{}"), "y = np.asarray(y)"],
  keras: (target) => tensorLines(target, "keras.ops.convert_to_numpy({})"),
  onnx: (target) => [
    'feeds = {"X": x, "W": w}',
    ...callLines(target, "node = helper.make_node(", `"${target.name}", list(feeds), ["Y"]`, ")"),
    "kind = helper.np_dtype_to_tensor_dtype(x.dtype)",
    "inputs = [helper.make_tensor_value_info(name, kind, a.shape) for name, a in feeds.items()]",
    'outputs = [helper.make_tensor_value_info("Y", kind, None)]',
    'graph = helper.make_graph([node], "convolve", inputs, outputs)',
    'model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)',
    "session = onnxruntime.InferenceSession(",
    '    model.SerializeToString(), providers=["CPUExecutionProvider"]',
    ")",
    "y = session.run(None, feeds)[0]",
  ],
};
