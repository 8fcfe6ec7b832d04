// Calls of TensorFlow, PyTorch, JAX, ONNX and Keras: resolved, translated, and as text.

import { listText, repr, tuple } from "./python.js";
import { FUNCTIONS, writtenCall } from "./rules.js";

/** The arguments of a call by name, with shapes in place of arrays. */
function argumentsOf({ operands, words: usual }, shapes, words) {
  const arrays = operands.map(({ name }, i) => [name, shapes[i] ? tuple(...shapes[i]) : null]);
  return { ...usual, ...words, ...Object.fromEntries(arrays) };
}

/** The call that a function of a dialect comes to: teachconv.resolve. */
export function resolve(name, shapes, words) {
  return FUNCTIONS[name].resolver(argumentsOf(FUNCTIONS[name], shapes, words));
}

/** The same convolution in another framework: tc.translate. `code` is "" and `why` says why if it has no such call. */
export function translate(name, shapes, words, to) {
  const given = argumentsOf(FUNCTIONS[name], shapes, words);
  const [{ why_not: why, notes }, , code] = writtenCall(FUNCTIONS[name], FUNCTIONS[name].resolver(given), given, to);
  return { code, why, notes };
}

/** The call as Python text, with shapes in place of arrays and without default arguments: document.code. */
export function callText(name, shapes, words) {
  const { operands, words: usual } = FUNCTIONS[name];
  const parts = shapes.map((shape, i) => `${operands[i].name} ${listText(shape)}`);
  for (const [word, value] of Object.entries(usual)) {
    if (!Object.hasOwn(words, word) || words[word] === value || (word === "dilations" && words[word] === 1)) continue;
    const text = repr(words[word]);
    parts.push(`${word}=${text.length <= 80 ? text : `${text.slice(0, 77)}...`}`);
  }
  return `tc.${name.startsWith("tensorflow.") ? name.slice(11) : `dialects.${name}`}(${parts.join(", ")})`;
}

/** A line of code, folded if it is a comment that is too long: textwrap.wrap. */
export function folded(line) {
  const most = 105;
  if (line.length <= most || !line.startsWith("#")) return [line];
  const lines = [];
  let now = "";
  for (const word of line.split(/ (?=\S)/)) {
    if (now && now.length + 1 + word.length > most) {
      lines.push(now);
      now = `# ${word}`;
    } else {
      now = now ? `${now} ${word}` : word;
    }
  }
  return [...lines, now];
}
