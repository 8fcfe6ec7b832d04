// What is wrong with a filter that is too large, as a picture.

import { Grid } from "./grids.js";

/** The input, its padding, and the filter that hangs over it; null if it does not. */
export function overhang({ n, k, d, p, op }) {
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
