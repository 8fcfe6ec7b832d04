// The quiz of a network's page: what a cell reads, which product is the strongest, and what the answer is without a map. The page's own law answers.

import { h } from "./elements.js";
import { ranked } from "./network_numbers.js";
import { placeName } from "./network_panels.js";
import { drawItself } from "./network_story.js";
import { readsOf, rowsAndColumns, spanOf } from "./network_reach.js";
import { brief } from "./numbers.js";
import { equalLists, Quiz, seeded } from "./quiz.js";

const TRIES = 24; // cells or maps among which a question is looked for
const THREE = 3; // products of a choice, and classes
const CLEAR = 0.8; // of a product: the next one is at most so large

/** The quiz of an app. A kind gives a question, whose `reason` tells what is right, and, given a wrong answer, why it is wrong. */
export class NetworkQuiz extends Quiz {
  constructor(app) {
    super(app, [whatItReads, strongestProduct, withoutMap]);
    /** @type {number[] | null} */
    this.at = null; // the cell of the input to which the keys have moved
  }

  begin(seed = 1, level = 1) {
    const { app } = this;
    app.takeBack();
    if (app.isBlank) drawItself(app);
    Object.assign(this, { seed, level });
    this.ask();
  }

  end() {
    this.app.leave();
    this.app.root.querySelector(".begin-quiz")?.focus({ preventScroll: true });
  }

  ask() {
    this.choose();
    this.show();
    this.focus();
    this.app.tell();
  }

  /** Choose the question, of the numbers that are shown now. */
  choose() {
    super.ask();
    this.at = null;
    Object.assign(this.app, { cell: this.asked?.cell ?? null, kept: this.on, why: null, covers: false, step: null });
  }

  questionOf(kind) {
    return kind(this.app, seeded(this.seed));
  }

  judged(given) {
    const { answer, reason } = this.asked;
    const right = String(given) === String(answer);
    return { right, words: right ? `That is it. ${reason()}` : reason(given) };
  }

  solution() {
    return this.asked.reason();
  }

  /**
   * Take a cell that was clicked, or to which the keys have moved: only one of the input can be an answer.
   * @param {number[]} cell
   */
  point(cell, isAnswer) {
    if (this.asked.choices || this.answered || cell[0]) return;
    this.at = cell;
    if (isAnswer) return this.answer(cell.slice(1, 3));
    this.said = { right: false, words: `Row ${cell[1]}, column ${cell[2]}: Enter takes it.` };
    this.show();
  }

  /** Answers that are pointed at are given with the keys of the maps, too. */
  focus() {
    if (this.answered || this.asked.choices) super.focus();
    else this.app.plane.canvas.focus({ preventScroll: true });
  }

  show() {
    this.app.mark();
    this.app.say();
  }

  /** What is asked, as the page's panel. */
  panel() {
    this.element = h("section", { class: "quiz", "aria-label": "The quiz" }, this.parts());
    return [this.element];
  }
}

/** Things in an order that a seed chooses. */
const shuffled = (things, random) => things.map((thing) => [random(), thing]).sort((a, b) => a[0] - b[0]).map(([, thing]) => thing).slice(0, TRIES);
/** The first question that `made` makes about one of them. */
const chosen = (things, random, made) => shuffled(things, random).reduce((question, thing) => question ?? made(thing), null);
const layersOf = (network, fits) => [...network.columns.keys()].filter((k) => k && fits(network.columns[k]));
const anyCell = (network, k, random) => network.cellAt(k, Math.floor(random() * network.columns[k].size));

/** Which cells of the input does a cell read? The first of them is clicked. */
function whatItReads({ network }, random) {
  return chosen(layersOf(network, ({ windows, rows, cols }) => windows && rows * cols > 1), random, (k) => {
    const cell = anyCell(network, k, random);
    const { masks, spans } = readsOf(network, cell);
    if (!spans[0]) return null; // a layer before it is not computed
    const span = spanOf(network, 0, masks[0]);
    const { first, sides } = span;
    const { from: [source] } = network.columns[k];
    const reason = (given) => {
      if (!given) return `It reads ${rowsAndColumns(span).join(" and ")}.`;
      const name = `Row ${given[0]}, column ${given[1]}`;
      if (source && equalLists(given, [spans[source].rows[0], spans[source].cols[0]])) return `${name} is where its window begins in ${network.columns[source].name}; the cells there have windows of their own.`;
      if (given.some((at, axis) => at < first[axis] || at >= first[axis] + sides[axis])) return `${name} is not read.`;
      return `${name} is within what it reads, but not the first: go ${given[0] > first[0] ? "up" : "left"}.`;
    };
    return { kind: "reads", cell, answer: first, reason, words: `Which cells of the input does ${placeName(network, cell)} read? Click the first, at the top left.` };
  });
}

/** Which of three products moves a sum the most? */
function strongestProduct({ network, values }, random) {
  return chosen(layersOf(network, ({ filters }) => filters).flatMap((k) => Array(THREE).fill(k)), random, (k) => {
    const cell = anyCell(network, k, random);
    const list = network.taps(cell, values).list.filter(({ product }) => product).sort((a, b) => Math.abs(b.product) - Math.abs(a.product));
    const taps = [];
    for (const tap of list.slice(Math.floor((random() * list.length) / 2))) {
      if (taps.length < THREE && !(Math.abs(tap.product) > CLEAR * Math.abs(taps.at(-1)?.product))) taps.push(tap);
    }
    if (taps.length < THREE) return null;
    taps.sort((a, b) => a.order - b.order);
    const sizes = taps.map(({ product }) => Math.abs(product));
    const written = taps.map(({ value, weight, product }) => [`${brief(value)} × ${brief(weight)}`, brief(product)]);
    const reason = (given) => (given === undefined
      ? `${written.map((words) => words.join(" = ")).join("; ")}. The sign says for or against, the size how much.`
      : `${written[given].join(" = ")}, and another one is further from zero.`);
    return { kind: "strongest", cell, answer: sizes.indexOf(Math.max(...sizes)), reason, choices: written.map(([words], i) => [i, words]),
      words: `Three products of ${placeName(network, cell)}, a value times a weight. Which is the strongest, for or against?` };
  });
}

/** What is the answer without a map? Half of the seeds look for a map that it needs. */
function withoutMap({ network, values, scores }, random) {
  if (!network.isWhole || network.answer === null) return null;
  const classes = ranked(scores);
  const maps = layersOf(network, ({ rows, cols }) => rows * cols > 1).flatMap((k) => [...Array(network.columns[k].channels).keys()].map((channel) => [k, channel]));
  const questions = shuffled(maps, random).flatMap(([k, channel]) => {
    const { channels, name } = network.columns[k];
    const known = values.slice(0, k + 1);
    known[k] = values[k].map((number, i) => (i % channels === channel ? 0 : number));
    const after = network.forward(values[0], null, known)[network.answer];
    const [answer, next] = ranked(after);
    if (known[k].every((number, i) => number === values[k][i])) return []; // it is 0 already
    const change = (c) => `the score of ${c} goes from ${brief(Number(scores[c].toPrecision(3)))} to ${brief(Number(after[c].toPrecision(3)))}`;
    const reason = (given) => (given === undefined ? `It is ${answer}: ${change(answer)}, and ${change(answer === classes[0] ? next : classes[0])}.` : `Not ${given}: ${change(given)}, and another one is then higher.`);
    return [{ kind: "without", map: [k, channel], answer, reason, choices: [...new Set([answer, ...classes])].slice(0, THREE).sort((a, b) => a - b).map((c) => [c, String(c)]),
      words: `The answer is ${classes[0]}. What is it if map ${channel} of ${name} is taken away, all its numbers 0?` }];
  });
  const changes = random() < 0.5;
  return questions.find(({ answer }) => (answer !== classes[0]) === changes) ?? questions[0] ?? null;
}
