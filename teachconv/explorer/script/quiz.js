// A quiz: questions of several kinds, which a seed chooses, with buttons or fields for the answer; what is right or wrong is told with the reason.

import { h } from "./elements.js";

/** A seeded sequence of numbers from 0 to 1: mulberry32. */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const equalLists = (a, b) => a.length === b.length && a.every((item, i) => item === b[i]);

/**
 * What is asked, and its answer: one of the `choices`, [an answer, its words], or what `takes` makes of the numbers in fields with these `names`,
 * undefined if they are not what is `expected`; without these, the answer is only pointed at.
 * @typedef {{kind: string, words: string, answer: any, cell?: number[], choices?: any[][], names?: string[], expected?: string, takes?: (numbers: number[]) => any, [more: string]: any}} Question
 */

/** A quiz with its kinds of questions, for a page that it belongs to. */
export class Quiz {
  /** @param {any} app @param {any[]} kinds */
  constructor(app, kinds) {
    this.app = app;
    this.kinds = kinds;
    this.own = /** @type {any} */ (this); // what each page's quiz has: questionOf, judged, solution, show, end, perhaps footing
    this.element = h("section", { class: "quiz", "aria-label": "The quiz", hidden: true });
    this.on = this.answered = false;
    this.seed = this.level = 1; // the level is the kind of question
    /** @type {Question | null} */
    this.asked = null;
    /** @type {{right: boolean, words: string, code?: string} | null} */
    this.said = null;
  }

  /** The next question: of the next level that has one. */
  next() {
    this.seed += 1;
    this.level = (this.level % this.kinds.length) + 1;
    this.ask();
  }

  /** Choose the question of this level, or of the next one that has a question; the quiz is over if none has. */
  ask() {
    Object.assign(this, { asked: null, answered: false, said: null });
    const { length } = this.kinds;
    for (let tried = 0; !this.asked && tried < length; tried++) {
      if (tried) this.level = (this.level % length) + 1;
      this.asked = this.own.questionOf(this.kinds[this.level - 1]);
    }
    this.on = this.asked !== null;
  }

  /** Take an answer. */
  answer(given) {
    this.said = this.own.judged(given);
    this.answered = this.said.right;
    this.own.show();
    this.focus();
  }

  /** Show the answer. */
  give() {
    this.said = { right: true, words: this.own.solution() };
    this.answered = true;
    this.own.show();
    this.focus();
  }

  /** Put the keyboard where the reader goes on; of buttons that are answers none, or it would look chosen. */
  focus() {
    (this.element.querySelector(this.answered ? ".next" : "input") ?? this.element.querySelector(".asks"))?.focus({ preventScroll: true });
  }

  parts() {
    const { asked, said, answered } = this;
    const act = (name, words, onclick) => h("button", { type: "button", class: name, onclick }, words);
    return [
      h("h2", { class: "asks", tabindex: "-1" }, asked.words),
      answered || !(asked.choices || asked.names) ? null : this.form(),
      h("p", { class: said?.right ? "right" : "wrong", role: "status", "data-code": said?.code ?? null }, said?.words ?? ""),
      h("p", {}, answered ? act("next", "next question", () => this.next()) : act("give", "show it", () => this.give()), act("end", "end the quiz", () => this.own.end()), this.own.footing?.()),
    ].filter(Boolean);
  }

  /** Buttons or fields for the answer. */
  form() {
    const { names, expected, choices, takes } = this.asked;
    if (choices) return h("p", {}, choices.map(([choice, words]) => h("button", { type: "button", "data-choice": choice, onclick: () => this.answer(choice) }, words)));
    const inputs = names.map((name) => h("input", { name: "answer", "aria-label": name, placeholder: name, autocomplete: "off", size: "8" }));
    const take = (event) => {
      event.preventDefault();
      const given = takes(inputs.flatMap((input) => input.value.match(/-?\d+(?:\.\d+)?(?:e-?\d+)?/g) ?? []).map(Number));
      if (given !== undefined) return this.answer(given);
      this.said = { right: false, words: `${expected} expected.` };
      this.own.show();
      return this.focus();
    };
    return h("form", { onsubmit: take }, this.asked.isPlace ? "Or by number: " : null, inputs, " ", h("button", { type: "submit" }, "check"));
  }
}
