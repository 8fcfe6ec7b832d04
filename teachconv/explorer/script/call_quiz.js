// The quiz of a call: a cell and its sum are hidden, and the reader says what they are; a wrong answer is diagnosed.

import { axisOf } from "./axis_tables.js";
import { h, plural } from "./elements.js";
import { Grid } from "./grids.js";
import { full } from "./numbers.js";
import { equalLists, Quiz, seeded } from "./quiz.js";
import { paddedSide, slips } from "./slips.js";
import { index, inside } from "./view.js";

const KINDS_ASKED = ["number", "window", "size", "side"];
const MOST_PRODUCTS = 40; // of a sum that a reader works out
const SIDE_WORDS = [["on the left", "on the right"], ["above", "below"], ["in front", "behind"]]; // of the first axis of 1, 2 and 3
const MOST_GIVEN = 3; // products that the hints give away
const A_NUMBER = "A number is";
const YOURS = ["your answer"];

/** Whether two numbers are the same: whole ones exactly, others in their first two digits. */
export function alike(answer, value) {
  const [a, b] = [Number(answer), Number(value)];
  if (a === b) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b) || Number.isInteger(b)) return false;
  return Math.abs(a - b) <= 0.5 * 10 ** (Math.floor(Math.log10(Math.abs(b))) - 1);
}

/** The first items of a list of `length`, which end a sentence. */
const firstOnes = (items, length) => `${items.length === 1 ? "the first is " : ""}${items.join(", ")}${items.length > 1 && items.length < length ? ", …" : "."}`;

/** The quiz of an app: its panel beside the windows, and its place in the address. */
export class CallQuiz extends Quiz {
  constructor(app) {
    super(app, KINDS_ASKED);
    this.score = 0;
    this.first = true; // whether no wrong answer was given yet
    this.hints = 0; // how many were given to this question
  }

  get address() {
    return this.on ? `quiz=${this.seed},${this.level},${this.score}` : null;
  }

  /** Begin where an address says; without a quiz in it the quiz is over. */
  read(address) {
    const found = /(?:^#|&)quiz=(\d+),([1-4]),(\d+)/.exec(address);
    if (found) this.begin(...found.slice(1).map(Number));
    else if (this.on) this.end();
  }

  begin(seed = 1, level = 1, score = 0) {
    const { app } = this;
    if (app.doc.empty) return;
    app.tour.leave();
    app.player.play(false);
    app.player.stay();
    Object.assign(this, { on: true, seed, level, score });
    this.ask();
  }

  end() {
    this.on = false;
    this.show();
    this.app.root.querySelector(".begin-quiz")?.focus();
  }

  ask() {
    const { app } = this;
    const { view } = app;
    super.ask();
    Object.assign(this, { first: true, hints: 0 });
    if (this.asked && !this.asked.cell) Object.assign(app.state, { row: app.first[0], col: app.first[1], focus: null });
    else if (this.asked) Object.assign(app.state, { row: this.asked.cell[1], col: this.asked.cell[2], focus: null });
    if (view.doc.result === "filter" && this.asked?.cell) Object.assign(app.state, { row: this.asked.cell[0], col: this.asked.cell[1] });
    app.pinned = null;
    this.show();
    this.focus();
  }

  show() {
    this.app.drawStage();
    this.app.tell();
  }

  /** A question of a kind with its answer; null if this call has none. */
  questionOf(kind) {
    const { app } = this;
    const { view, doc } = app;
    const forward = view.kind === "conv2d";
    const axes = view.axes.map(axisOf);
    if (kind === "number" || (kind === "window" && forward)) {
      const cell = this.cell(kind);
      if (!cell) return null;
      const at = index(view.name(doc.result, cell));
      if (kind === "number") return { kind, cell, answer: view.value(cell), words: `What is ${doc.names[doc.result]}[${at}]?`, names: YOURS, expected: A_NUMBER, takes: (all) => (all.length === 1 ? all[0] : undefined) };
      const [row, col] = [[view.rows, cell[1]], [view.cols, cell[2]]].map(([axis, i]) => axisOf(axis).in_index(i, 0));
      const where = doc.rank === 1 ? "Click its first cell" : "Click its first cell, at the top and on the left";
      const field = doc.rank === 1
        ? { names: ["column"], expected: A_NUMBER, takes: (all) => (all.length === 1 ? [0, ...all] : undefined) }
        : { names: ["row", "column"], expected: "Row and column, two whole numbers, are", takes: (all) => (all.length === 2 ? all : undefined) };
      return { kind, cell, answer: [row, col], words: `Where does the window of ${doc.names[doc.result]}[${at}] begin? ${where}; padding counts.`, isPlace: true, ...field };
    }
    if (kind === "size" && (forward || (doc.names.in === "output" && !app.heading.textContent.includes("output_shape=(")))) {
      const { length } = axes;
      const takes = (all) => (all.length === 1 ? axes.map(() => all[0]) : all.length === length ? all : undefined); // a number alone is that of all axes
      return { kind, answer: axes.map((axis) => (forward ? axis.out_size : axis.in_size)), names: YOURS, expected: length > 1 ? "Whole numbers, one for each axis, are" : A_NUMBER, takes, words: `How large is the ${doc.names[doc.result]}, ${axes.length > 1 ? `as ${["depth", "rows", "columns"].slice(-axes.length).join(" × ")}` : "in cells"}?` };
    }
    if (kind === "side" && forward && axes[0].pad_before + axes[0].pad_after > 0) {
      const { before, after } = this.sides;
      return { kind, answer: paddedSide(axes[0]), choices: Object.entries(this.sides), words: `Where is there more padding: ${before} or ${after}?` };
    }
    return null;
  }

  /** The cell that the seed chooses: one whose numbers are all on the page, and few enough. */
  cell(kind) {
    const { app } = this;
    const { view, doc, state } = app;
    const [rows, cols] = view.drawn(doc.result).map(inside);
    const cells = rows.flatMap((r) => cols.map((q) => view.cell(doc.result, r, q, state)));
    const random = seeded(this.seed);
    const good = (cell) => {
      const { list, total } = view.taps(cell);
      const within = list.filter((tap) => !tap.outside).length;
      return total !== undefined && Number.isFinite(Number(total)) && within > 0 && (kind !== "number" || within <= MOST_PRODUCTS);
    };
    for (let tried = 0; cells.length && tried < 40; tried++) {
      const [cell] = cells.splice(Math.floor(random() * cells.length), 1);
      if (good(cell)) return cell;
    }
    return null;
  }

  // ---- answers ----

  /** What is said to an answer: a number, [row, col], sizes or a side. */
  judged(given) {
    const { asked } = this;
    const right = asked.kind === "number" ? alike(given, asked.answer) : Array.isArray(given) ? equalLists(given, asked.answer) : given === asked.answer;
    if (right) {
      this.score += Number(this.first);
      return { right, words: "That is it." };
    }
    this.first = false;
    const slip = this.diagnose(given);
    return { right, code: slip?.[0] ?? "", words: slip ? this.sentence(slip[1]) : `No usual mistake leads there. ${this.hint()}` };
  }

  /** How to come to the answer; of a sum also its first products, one more each time. */
  hint() {
    const { asked: { kind, cell }, app: { view, doc } } = this;
    if (kind === "side") return "Count the cells that all windows need together, and those that the input has.";
    if (kind === "size") return doc.source === "in" ? "Count the places where the window can begin: every one gives a cell." : "Lay the stamps out one by one, then take away what is cut.";
    if (kind === "window") return "The windows begin in the padding, if there is any; each next one is a stride further.";
    const taps = view.taps(cell).list.filter((tap) => !tap.outside);
    this.hints = Math.min(this.hints + 1, MOST_GIVEN, taps.length);
    const given = taps.slice(0, this.hints);
    if (doc.pool) return `${doc.pool.reduce === "max" ? "Look for the largest of" : "Add up"} the ${plural(taps.length, "number")} of the window: ${firstOnes(given.map((tap) => full(tap.value)), taps.length)}`;
    return `Add the products of the taps one by one: ${firstOnes(given.map((tap) => `${full(tap.value)} × ${full(tap.weight)} = ${full(tap.product)}`), taps.length)}`;
  }

  /** The first slip of the table that leads to a wrong answer: [code, words]; null if none does. */
  diagnose(given) {
    const { asked, app } = this;
    const same = (slip) => {
      if (slip === undefined) return false;
      if (asked.kind === "number") return alike(given, slip) && !alike(slip, asked.answer);
      return Array.isArray(slip) ? equalLists(given, slip) : given === slip;
    };
    for (const [code, words, slip] of slips(asked.kind, app.view, asked.cell, app.state)) if (same(slip)) return [code, words];
    return null;
  }

  /** What each side of the first axis is called. */
  get sides() {
    const [before, after] = SIDE_WORDS[this.app.doc.rank - 1];
    return { before, after, both: "on both sides alike", none: "on neither" };
  }

  sentence(words) {
    const what = { number: "the number", window: "where it begins", size: "the size", side: "what there is" }[this.asked.kind];
    return `That is ${what} ${words}.`;
  }

  /** The answer in words; it is worth no point. */
  solution() {
    this.first = false;
    const { asked } = this;
    const text = asked.kind === "number" ? full(asked.answer) : asked.kind === "side" ? this.sides[asked.answer] : asked.kind === "size" ? asked.answer.join(" × ") : this.placeText(asked.answer);
    return `It is ${text}.`;
  }

  placeText([row, col]) {
    return this.app.doc.rank === 1 ? `column ${col}` : `row ${row}, column ${col}`;
  }

  // ---- drawing ----

  /** What a click on the stage means while the quiz is on: an answer, or nothing. */
  clicked(focus, how) {
    if (how === "click" && focus?.grid === "source" && this.asked.kind === "window" && !this.answered) this.answer([focus.row, focus.col]);
  }

  /** Hide what is asked, and draw the question. */
  draw() {
    const { app, asked, on } = this;
    const hidden = on && !this.answered;
    app.root.classList.toggle("quizzing", on);
    app.root.classList.toggle("predicting", hidden);
    this.element.hidden = !on;
    if (hidden) {
      app.root.dataset.asks = asked.kind;
      app.live.textContent = "";
      if (asked.kind === "window") for (const name of ["source", "operand"]) this.bare(name);
      if (asked.kind === "side") this.unpadded();
      if (asked.cell) this.blank(asked.cell);
    } else delete app.root.dataset.asks;
    if (on) this.element.replaceChildren(...this.parts());
  }

  /** Take marks and frame from a plane. */
  bare(name) {
    const { [name]: grid } = this.app.grids;
    grid.mark([]);
    grid.frame("window-frame", []);
  }

  /** Draw the source without its padding, and the window where it is inside. */
  unpadded() {
    const { grids, shown } = this.app;
    const padding = ([, kind]) => kind === "padding" || kind === "outside";
    const { source } = grids;
    if (source.rows.some(padding) || source.cols.some(padding)) {
      const { rows, cols, content, flat, scale, floor, element } = source;
      grids.source = Object.assign(new Grid({ title: element.querySelector("b").textContent, note: element.querySelector("small")?.textContent, rows: rows.filter((i) => !padding(i)), cols: cols.filter((i) => !padding(i)), content, flat, scale, least: floor }), { whole: content });
      grids.source.sizeAs(source);
      element.replaceWith(grids.source.element);
    }
    const window = shown.frames.source ?? [];
    const whole = window.every(([row, col]) => grids.source.cells.has(`${row},${col}`)); // else it would show the padding
    grids.source.mark(whole ? shown.marks.source : []);
    grids.source.frame("window-frame", whole ? window : []);
  }

  /** Write a question mark into a cell of the result. */
  blank(cell) {
    const { result } = this.app.grids;
    const [row, col] = this.app.doc.result === "filter" ? cell : cell.slice(1);
    result.whole ??= result.content;
    const { whole } = result;
    result.content = (r, q, kind) => (r === row && q === col ? { text: "?" } : whole(r, q, kind));
    result.fill();
    result.mark([[row, col, "current"]]);
  }

  footing() {
    return h("span", { class: "score" }, ` level ${this.level}, ${plural(this.score, "point")}`);
  }
}
