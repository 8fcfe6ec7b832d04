// The quiz: a cell and its sum are hidden, and the reader says what they are; a wrong answer is diagnosed.

import { axisOf } from "./axis_tables.js";
import { h, plural } from "./elements.js";
import { Grid } from "./grids.js";
import { full } from "./numbers.js";
import { paddedSide, slips } from "./slips.js";
import { index, inside } from "./view.js";

const KINDS_ASKED = ["number", "window", "size", "side"];
const MOST_PRODUCTS = 40; // of a sum that a reader works out
const SIDE_WORDS = [["on the left", "on the right"], ["above", "below"], ["in front", "behind"]]; // of the first axis of 1, 2 and 3
const MOST_GIVEN = 3; // products that the hints give away
const EXPECTED = { number: "A number is", window: "Row and column, two whole numbers, are", size: "Whole numbers, one for each axis, are" };

/** A seeded sequence of numbers from 0 to 1: mulberry32. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whether two numbers are the same: whole ones exactly, others in their first two digits. */
export function alike(answer, value) {
  const [a, b] = [Number(answer), Number(value)];
  if (a === b) return true;
  if (!Number.isFinite(a) || !Number.isFinite(b) || Number.isInteger(b)) return false;
  return Math.abs(a - b) <= 0.5 * 10 ** (Math.floor(Math.log10(Math.abs(b))) - 1);
}

/** The first items of a list of `length`, which end a sentence. */
const firstOnes = (items, length) => `${items.length === 1 ? "the first is " : ""}${items.join(", ")}${items.length > 1 && items.length < length ? ", …" : "."}`;

const equalLists = (a, b) => a.length === b.length && a.every((item, i) => item === b[i]);

/** The quiz of an app: its panel beside the windows, and its place in the address. */
export class Quiz {
  constructor(app) {
    this.app = app;
    this.on = this.answered = false;
    this.seed = this.level = 1; // the level is the kind of question
    this.score = 0;
    this.asked = this.said = null;
    this.first = true; // whether no wrong answer was given yet
    this.hints = 0; // how many were given to this question
    this.element = h("section", { class: "quiz", "aria-label": "The quiz", hidden: true });
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
    this.app.drawStage();
    this.app.tell();
    this.app.root.querySelector(".begin-quiz")?.focus();
  }

  /** The next question: of the next level that this call has questions for. */
  next() {
    this.seed += 1;
    this.level = (this.level % 4) + 1;
    this.ask();
  }

  ask() {
    const { app } = this;
    const { view } = app;
    for (let tried = 0; !this.questionOf(KINDS_ASKED[this.level - 1]) && tried < 4; tried++) this.level = (this.level % 4) + 1;
    this.asked = this.questionOf(KINDS_ASKED[this.level - 1]);
    Object.assign(this, { answered: false, said: null, first: true, hints: 0 });
    if (!this.asked) this.on = false; // nothing of this call can be asked
    else if (!this.asked.cell) Object.assign(app.state, { row: app.first[0], col: app.first[1], focus: null });
    else Object.assign(app.state, { row: this.asked.cell[1], col: this.asked.cell[2], focus: null });
    if (view.doc.result === "filter" && this.asked?.cell) Object.assign(app.state, { row: this.asked.cell[0], col: this.asked.cell[1] });
    app.pinned = null;
    app.drawStage();
    app.tell();
    this.focus();
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
      if (kind === "number") return { kind, cell, answer: view.value(cell), words: `What is ${doc.names[doc.result]}[${at}]?` };
      const [row, col] = [[view.rows, cell[1]], [view.cols, cell[2]]].map(([axis, i]) => axisOf(axis).in_index(i, 0));
      const where = doc.rank === 1 ? "Click its first cell" : "Click its first cell, at the top and on the left";
      return { kind, cell, answer: [row, col], words: `Where does the window of ${doc.names[doc.result]}[${at}] begin? ${where}; padding counts.` };
    }
    if (kind === "size" && (forward || (doc.names.in === "output" && !app.heading.textContent.includes("output_shape=(")))) {
      return { kind, answer: axes.map((axis) => (forward ? axis.out_size : axis.in_size)), words: `How large is the ${doc.names[doc.result]}, ${axes.length > 1 ? `as ${["depth", "rows", "columns"].slice(-axes.length).join(" × ")}` : "in cells"}?` };
    }
    if (kind === "side" && forward && axes[0].pad_before + axes[0].pad_after > 0) {
      const { before, after } = this.sides;
      return { kind, answer: paddedSide(axes[0]), words: `Where is there more padding: ${before} or ${after}?` };
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

  /** Take an answer: a number, [row, col], sizes or a side. */
  answer(given) {
    const { asked } = this;
    const right = asked.kind === "number" ? alike(given, asked.answer) : Array.isArray(given) ? equalLists(given, asked.answer) : given === asked.answer;
    if (right) {
      this.score += Number(this.first);
      this.said = { right, words: "That is it." };
      this.answered = true;
    } else {
      this.first = false;
      const found = this.diagnose(given);
      this.said = { right, code: found?.[0] ?? "", words: found ? this.sentence(found[1]) : `No usual mistake leads there. ${this.hint()}` };
    }
    this.app.drawStage();
    this.app.tell();
    this.focus();
  }

  /** Put the keyboard where the reader goes on; of buttons that are answers none, or it would look chosen. */
  focus() {
    (this.element.querySelector(this.answered ? ".next" : "input") ?? this.element.querySelector(".asks"))?.focus({ preventScroll: true });
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

  /** Show the answer without a point. */
  give() {
    this.first = false;
    const { asked } = this;
    const text = asked.kind === "number" ? full(asked.answer) : asked.kind === "side" ? this.sides[asked.answer] : asked.kind === "size" ? asked.answer.join(" × ") : this.placeText(asked.answer);
    this.said = { right: true, words: `It is ${text}.` };
    this.answered = true;
    this.app.drawStage();
    this.element.querySelector(".next")?.focus({ preventScroll: true });
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
    if (on) this.element.replaceChildren(...this.parts().filter(Boolean));
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

  parts() {
    const { asked, said, answered } = this;
    const act = (name, words, onclick) => h("button", { type: "button", class: name, onclick }, words);
    return [
      h("h2", { class: "asks", tabindex: "-1" }, asked.words),
      answered ? null : this.form(),
      h("p", { class: said?.right ? "right" : "wrong", role: "status", "data-code": said?.code ?? null }, said?.words ?? ""),
      h("p", {}, answered ? act("next", "next question", () => this.next()) : act("give", "show it", () => this.give()), act("end", "end the quiz", () => this.end()),
        h("span", { class: "score" }, ` level ${this.level}, ${plural(this.score, "point")}`)),
    ];
  }

  /** Fields for the answer. */
  form() {
    const { kind } = this.asked;
    if (kind === "side") {
      return h("p", { class: "sides" }, Object.entries(this.sides).map(([side, words]) => h("button", { type: "button", "data-side": side, onclick: () => this.answer(side) }, words)));
    }
    const names = { number: ["your answer"], size: ["your answer"], window: this.app.doc.rank === 1 ? ["column"] : ["row", "column"] }[kind];
    const inputs = names.map((name) => h("input", { name: "answer", "aria-label": name, placeholder: name, autocomplete: "off", size: "8" }));
    const numbers = () => inputs.flatMap((input) => input.value.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number);
    const take = (event) => {
      event.preventDefault();
      const found = numbers();
      const { length } = kind === "size" ? this.asked.answer : names;
      const all = kind === "size" && found.length === 1 ? Array.from({ length }, () => found[0]) : found;
      if (all.length !== length) {
        this.said = { right: false, words: `${length === 1 ? EXPECTED.number : EXPECTED[kind]} expected.` };
        this.draw();
        this.focus();
        return;
      }
      this.answer(kind === "number" ? all[0] : kind === "window" && length === 1 ? [0, ...all] : all);
    };
    return h("form", { onsubmit: take }, kind === "window" ? "Or by number: " : null, inputs, " ", h("button", { type: "submit" }, "check"));
  }
}
