// What the page on which one draws draws itself, and its story: nine steps from the ink to the answer, each of which points at something.

import { h } from "./elements.js";
import { onceSeen, still } from "./flight.js";
import { ranked } from "./network_numbers.js";
import { range } from "./python.js";

const SEVEN = [[0.22, 0.2], [0.76, 0.2], [0.6, 0.48], [0.44, 0.84]]; // what the page draws itself
const PIECES = 24; // of each of its lines
const DRAWS_IN = 1200; // milliseconds in which it does

/** The cell with the largest number of a column, of the drawing that is shown. */
const strongestCell = ({ network, values }, k) => network.cellAt(k, values[k].indexOf(Math.max(...values[k])));

/**
 * A sentence, and the cell that the page points at with it; the last one asks why.
 * @type {[string, ((app: any) => number[] | null) | null][]}
 */
const STORY = [
  ["You draw lines. The network reads only numbers that are made of them, as the next step shows.", () => null],
  ["It reads 64 numbers: the ink in each block of 4 × 4, after the drawing is scaled to fill the frame.", (app) => strongestCell(app, 0)],
  ["A number of conv1 is a sum of nine products: a window of ink, times a filter.", (app) => strongestCell(app, 1)],
  ["At the edge, a part of the window is padding. It adds nothing.", (app) => [1, 0, 0, strongestCell(app, 1)[3]]],
  ["ReLU makes every sum below zero 0: the pattern of this map is not here.", (app) => (app.values[1].includes(0) ? app.network.cellAt(1, app.values[1].indexOf(0)) : strongestCell(app, 1))],
  ["A max pool keeps the largest of four cells, and forgets which of them it was.", (app) => strongestCell(app, 2)],
  ["A number of conv2 sums windows of all eight maps, and through them sees most of the drawing.", (app) => strongestCell(app, 3)],
  ["The answer is the largest of ten sums of 64 products. Softmax makes shares of them.", (app) => [5, 0, 0, ranked(app.scores)[0]]],
  ["Why this digit and not the next? The difference of two sums has products for and against, and ways back to the ink.", null],
];

/** The page has drawn a digit, and draws it anew, line by line, once the pad is seen. */
export function openDrawn(app) {
  app.pad.draw([SEVEN]);
  onceSeen(app.padHolder, () => drawItself(app));
}

/** The page draws a digit itself, until the reader does. */
export function drawItself(app) {
  app.touched = false;
  const start = performance.now();
  const points = SEVEN.slice(1).flatMap((end, i) => range(0, PIECES).map((n) => end.map((to, axis) => SEVEN[i][axis] + ((to - SEVEN[i][axis]) * n) / PIECES)));
  const step = (now) => {
    if (app.touched) return;
    const share = still() ? 1 : Math.min(1, (now - start) / DRAWS_IN);
    app.pad.draw([share < 1 ? points.slice(0, 1 + Math.floor(share * points.length)) : SEVEN]);
    if (share < 1) requestAnimationFrame(step);
  };
  step(start);
}

/** Go to a step; one beyond the ends leaves the story. */
export function goTo(app, number) {
  app.step = STORY[number] ? number : null;
  if (number === STORY.length - 1) app.ask(null, null, number);
  else app.select(STORY[number]?.[1](app) ?? null);
}

/** The sentence of the step that is shown, and the way on; null outside the story. */
export function caption(app) {
  if (app.step === null) return null;
  const button = (words, label, to) => h("button", { type: "button", "aria-label": label, onclick: () => goTo(app, to) }, words);
  return h("div", { class: "story" },
    button("←", "previous step", app.step - 1),
    button(app.step + 1 < STORY.length ? "→" : "✓", "next step", app.step + 1),
    h("p", { role: "status" }, h("b", {}, `${app.step + 1}/${STORY.length} `), STORY[app.step][0]));
}
