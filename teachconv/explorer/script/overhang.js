// What is wrong with a call that is refused, as a picture, and which padding would do.

import { resolve } from "./calls.js";
import { h } from "./elements.js";
import { Grid } from "./grids.js";
import { callOf, isPool, poolOf } from "./playground_state.js";
import { Refusal } from "./python.js";

/** Whether the call of a state is legal with another padding. */
function legal(state, p) {
  try {
    const tried = { ...state, p, size: null, op_pad: null };
    const { name, shapes, words } = isPool(tried) ? poolOf(tried).call : callOf(tried);
    return Boolean(resolve(name, shapes, words));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return false;
  }
}

/** Where the filter of a refused call hangs over, and a button for each padding that would be legal. */
export function remedies(state, choose) {
  const pads = Array.from({ length: 20 }, (_, i) => [i + 1]).find((p) => legal(state, p));
  const offers = [legal(state, "same") ? "same" : null, pads ? String(pads[0]) : null].filter(Boolean);
  const buttons = offers.map((p) => h("button", { type: "button", onclick: () => choose(p) }, `padding ${p.toUpperCase()}`));
  return [offers.length ? overhang(state) : null, buttons.length ? h("p", {}, "Legal padding: ") : null, ...buttons].filter(Boolean);
}

/** The input, its padding, and the filter that hangs over it; null if it does not. */
function overhang({ n, k, d, p, op }) {
  const pads = Array.isArray(p) ? (p.length === 4 ? [p.slice(0, 2), p.slice(2)] : [p[0], p.at(-1)].map((pad) => [pad, pad])) : [[0, 0], [0, 0]];
  const filter = k.map((size, axis) => (size - 1) * d[axis] + 1);
  if (op !== "conv2d" || !filter.some((size, axis) => size > n[axis] + pads[axis][0] + pads[axis][1])) return null;
  const lists = pads.map(([before, after], axis) => {
    const last = Math.max(n[axis] + after, filter[axis] - before);
    return Array.from({ length: before + last }, (_, i) => i - before)
      .map((i) => [i, i >= n[axis] + after ? "over" : i < 0 || i >= n[axis] ? "padding" : ""]);
  });
  const grid = new Grid({ title: "the filter hangs over", rows: lists[0], cols: lists[1], content: (_r, _q, kind) => (kind === "over" ? { kind: "no cell is here" } : {}) });
  grid.fit(22);
  grid.frame("window-frame", [0, 1].map((end) => pads.map(([before], axis) => end * (filter[axis] - 1) - before)));
  return grid.element;
}
