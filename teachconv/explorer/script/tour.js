// The tour: a few steps that show what the picture means, one sentence each, with all else dimmed.

import { h, plural } from "./elements.js";
import { present } from "./present.js";
import { inside } from "./view.js";

const COUNTS = ["no", "one", "two", "three", "four", "five", "six"];

/** The cell of the result with the most taps in the padding, or null if no cell has any. */
function padded(app) {
  const outside = (axis, i) => (axis[app.doc.source === "in" ? "gather" : "scatter"][i] ?? []).filter(([, , out]) => out).length;
  const [row, col] = [[app.view.rows, 0], [app.view.cols, 1]].map(([axis, number]) => {
    const list = app.view.drawn(app.doc.result).map(inside)[number];
    return list.reduce((best, i) => (outside(axis, i) > outside(axis, best) ? i : best), list[0]);
  });
  return outside(app.view.rows, row) || outside(app.view.cols, col) ? [row, col] : null;
}

/** The five steps of every page, for its kind of call. */
function usualSteps(app) {
  const { view, doc } = app;
  const { names } = doc;
  const [lines, columns] = view.drawn(doc.result).map(inside);
  const [row, col] = lines.includes(app.first[0]) && columns.includes(app.first[1]) ? app.first : [lines[0], columns[0]];
  const next = [row, columns[(columns.indexOf(col) + 1) % columns.length]];
  const [source, operand, result] = ["source", "operand", "result"].map((name) => names[doc[name]]);
  const size = view.axes.map(({ filter_size }) => filter_size).join(" × ");
  const taps = view.taps(view.cell(doc.result, row, col, app.state)).list.filter((tap) => !tap.outside);
  const middle = Math.floor(taps.length / 2);
  const { quantized } = doc;
  const adds = `The ${plural(taps.length, "product")} add up${quantized ? "; the sum is rescaled and rounded" : ""} to one number of the ${result}.`;
  if (doc.kind === "conv2d") {
    const corner = padded(app);
    const { reduce, counted } = doc.pool ?? {};
    const taken = { max: "The largest number in the window is taken.", average: "The numbers in the window are averaged.", sum: "The numbers in the window are added." }[reduce];
    const padding = reduce === "max" ? "it is skipped" : reduce === "average" ? `it ${counted ? "counts as zeros" : "does not count"}` : quantized ? `it holds the zero point ${quantized.zeros[0]}, and adds nothing` : "it adds nothing";
    return [
      { text: `The window covers ${size} cells of the ${source}.`, at: [row, col], focus: ["source"] },
      { text: taken ?? `Each number in the window${quantized ? ", less its zero point," : ""} is multiplied by the weight at its place.`, at: [row, col], tap: taps[middle]?.order, focus: ["source", "operand", "products"] },
      { text: taken ? `That is one number of the ${result}.` : adds, at: [row, col], focus: ["products", "sum", "result"] },
      { text: `The window moves ${plural(view.cols.stride, "cell")}: the next number of the ${result}.`, at: next, focus: ["source", "result"] },
      corner ? { text: `Here a part of the window is padding: ${padding}.`, at: corner, focus: ["source", "products"] }
        : { text: `There is no padding: every window lies inside the ${source}.`, at: [row, col], focus: ["source"] },
    ];
  }
  if (doc.kind === "conv2d_backprop_filter") {
    return [
      { text: "Which windows saw this weight? Each of them, at one cell.", at: [row, col], focus: ["source", "result"] },
      { text: `The number it met is multiplied by the gradient of that window's output.`, at: [row, col], tap: taps[middle]?.order, focus: ["source", "operand", "products"] },
      { text: adds, at: [row, col], focus: ["products", "sum", "result"] },
      { text: `The next weight met the cells ${plural(view.cols.dilation, "column")} further.`, at: next, focus: ["source", "result"] },
      { text: `So the gradient is itself a convolution: of the ${source} with ${operand}.`, at: next, focus: ["source", "operand", "result"] },
    ];
  }
  const [rows, cols] = view.drawn(doc.source).map(inside);
  const stamps = [Math.floor((cols.length - 1) / 2), Math.min(cols.length - 1, Math.floor((cols.length - 1) / 2) + 1)].map((i) => [rows[Math.floor((rows.length - 1) / 2)], cols[i]]);
  const cut = view.drawn(doc.result).some((list) => inside(list).length < list.length);
  return [
    { text: `One cell of the ${source} stamps all weights, times its value.`, on: stamps[0], focus: ["source", "operand", "products", "result"] },
    { text: `The next cell stamps ${plural(view.cols.stride, "cell")} further.`, on: stamps[1], focus: ["source", "result"] },
    { text: `Where stamps overlap, their products add up.`, at: [row, col], focus: ["source", "operand", "result"] },
    { text: adds, at: [row, col], focus: ["products", "sum", "result"] },
    { text: cut ? "The frame keeps the result; what is outside it is cut away." : "Nothing is cut away: every stamp is whole in the result.", at: [row, col], focus: ["result"] },
  ];
}

/** The tour of an app: its caption below the windows, its keys, and its place in the address. */
export class Tour {
  constructor(app) {
    this.app = app;
    this.now = null; // the number of the step that is shown, from 0
    this.element = h("div", { class: "caption" });
  }

  /** The steps: those of a teacher, or the five of every page. */
  get steps() {
    return this.app.data.story ?? usualSteps(this.app);
  }

  /** Show the step that an address asks for; without one the tour is over. */
  read(address) {
    const step = /(?:^#|&)step=(\d+)/.exec(address);
    if (step && Number(step[1]) - 1 !== this.now) this.go(Number(step[1]) - 1);
    else if (!step && this.now !== null) this.leave();
  }

  /** Show a step; one beyond the first or the last ends the tour. */
  go(number) {
    const { app } = this;
    if (app.doc.empty) return;
    const { steps } = this;
    const step = steps[number];
    app.player.play(false);
    app.player.stay();
    if (!step) {
      app.place({ focus: null }, "click");
      this.leave();
      return;
    }
    this.now = number;
    this.lit(step.focus);
    if (step.cell) {
      app.setPlace(step.cell);
      app.drawStage();
    }
    if (step.on) app.follow("source", ...step.on);
    else if (step.at) app.select(...step.at);
    if (typeof step.tap === "number" && app.shown.list) app.player.showTap(Math.min(step.tap, app.shown.list.length - 1));
    this.draw();
    if (innerHeight < 640 && window.parent === window) app.stage.scrollIntoView(); // a low window shows little else
    app.tell();
  }

  /** End the tour where it is: the reader goes on alone. */
  leave() {
    this.now = null;
    this.lit(null);
    this.draw();
    this.app.tell();
  }

  /** Dim all but some parts; null dims nothing. */
  lit(parts) {
    const { root } = this.app;
    root.classList.toggle("touring", parts !== null);
    if (parts) root.dataset.lit = parts.join(" ");
    else delete root.dataset.lit;
  }

  /** One step further; the tour begins if it is not on. */
  next() {
    this.go(this.now === null ? 0 : this.now + 1);
  }

  /** Write the caption. */
  draw() {
    this.element.hidden = this.app.doc.empty; // there is no cell to show
    if (this.element.hidden) return;
    const { steps, now } = this;
    const button = (name, words, label, act) => h("button", { type: "button", class: name, "aria-label": label, title: label, onclick: act }, words);
    const leave = this.app.presenting ? [button("whole", "✕", "show the whole page", () => present(this.app, null))] : [];
    const had = document.activeElement; // the keyboard's focus stays on the button that was pressed
    const pressed = this.element.contains(had) ? had.className : null;
    const count = COUNTS[steps.length] ?? String(steps.length);
    this.element.replaceChildren(...now === null ? [
      h("p", {}, "Point at any cell."),
      button("on", `▷ ${count} steps`, `the tour: ${count} steps, one for each press of the space bar`, () => this.next()),
      button("begin-quiz", "? quiz", "quiz: predict, then see", () => this.app.quiz.begin()),
      ...leave,
    ] : [
      button("back", "←", "previous step", () => this.go(now - 1)),
      h("p", { role: "status" }, h("b", {}, `${now + 1}/${steps.length} `), steps[now].text),
      button("on", now + 1 < steps.length ? "→" : "✓", now + 1 < steps.length ? "next step" : "end of the tour", () => this.next()),
      ...leave,
    ]);
    if (pressed) (this.element.querySelector(`.${pressed}`) ?? this.element.querySelector("button")).focus({ preventScroll: true });
  }
}
