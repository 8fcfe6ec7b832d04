// A network drawn whole: its maps, what a cell reads and reaches, its sum, why the answer, and what would change it.

import { MOST_WEIGHTS } from "./weights.js";
import { h, keepFocus, svg } from "./elements.js";
import { chances, Network, ranked } from "./network_numbers.js";
import { marksOf, percent, pictureOfNetwork } from "./network_marks.js";
import { aboutPage, cellPanel, coverPanel, flipPanel, flipText, hints, says, whyPanel } from "./network_panels.js";
import { PAD_CAPTION, Plane, TIGHT } from "./network_plane.js";
import { NetworkQuiz } from "./network_quiz.js";
import { caption, drawItself, goTo, openDrawn } from "./network_story.js";
import { explained, explains, leastChange } from "./network_why.js";
import { KEYS, pad } from "./pad.js";
import { themeButton } from "./parts.js";
import { ADDRESSED, writeAddress } from "./present.js";
import { full } from "./numbers.js";
import { download, pngOf } from "./take_away.js";

const NARROW = "(max-width: 960px)"; // of a page whose axes are swapped, as in explorer.css
const PAD_SIDE = { wide: 208, tight: 160, narrow: 152 }; // pixels of the pad
const SIXTEENTHS = 16; // an input of the pad is so many sixteenths
const SCROLL_BAR = 16; // pixels
const LEAST_WIDTH = 240; // pixels of the maps; a frame that its host has not laid out yet, or hides, has none
const PAPER = 680; // pixels of A4 and Letter with their margins
const FRAMED = { wide: 700, narrow: 720 }; // pixels of a page in a frame, whose height follows the page

/** The page of a network. */
class NetworkApp {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.network = new Network(data);
    this.values = this.network.opening();
    const { columns, answer } = this.network;
    for (const [k, column] of columns.entries()) Object.assign(column, { note: says(column), strongest: strongest(column, this.values[k]) });
    this.plane = new Plane(this.network, columns.map((column, k) => (k ? column.largest : data.scale[0])));
    this.plane.hasChances = answer !== null && [...columns[answer].steps, ...columns[answer].then].every(({ kind }) => kind === "softmax");
    if (this.plane.hasChances && !columns[answer].note.some((line) => line.includes("softmax"))) columns[answer].note.push("%: softmax");
    this.plane.inked = data.scale[1] >= 0;
    this.plane.unit = data.pad ? SIXTEENTHS : 1;
    this.explains = explains(this.network);
    this.about = aboutPage(this.network, this.values, data);
    this.cell = null; // the cell that is pointed at
    this.why = null; // the question that is asked
    this.flip = null; // the least change, as it is searched and found
    this.covers = false; // whether it shows what covering a part of the input does
    this.marks = []; // what lies over the maps
    this.lit = null; // the line of the reason that is pointed at
    this.usesKeys = false; // whether the reader draws with keys
    this.step = null; // of the story
    this.weighed = null; // the map for which the weights are shown; that with the strongest products if it is not read
    this.kept = false; // whether a click selected it
    this.quiz = new NetworkQuiz(this);
    this.build();
    this.layout();
    const isGiven = this.readAddress();
    if (this.pad && !isGiven) openDrawn(this);
    this.draw(); // at once: a frame that is not in view has no next one
    const again = () => { this.layout(); this.draw(); };
    addEventListener("resize", again);
    new ResizeObserver(() => { if (this.width !== this.net.clientWidth && !this.net.style.zoom) again(); }).observe(this.net); // as a scroll bar comes
    addEventListener("hashchange", () => { this.readAddress(); this.draw(); });
    const themes = () => {
      this.plane.colours = null;
      this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themes);
    new MutationObserver(themes).observe(document.documentElement, { attributes: true });
    for (const name of ["beforeprint", "afterprint"]) addEventListener(name, () => this.onPaper(name === "beforeprint"));
    new MutationObserver(themes).observe(root, { attributes: true, attributeFilter: ["data-theme", "style"] });
  }

  // ---- the parts of the page ----

  build() {
    const { root, data } = this;
    root.classList.add("tcx", "network");
    this.says = h("output", {});
    this.next = h("p", { class: "faint" });
    this.over = svg("svg", { "aria-hidden": "true" });
    const { canvas } = this.plane;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "the maps of all layers: arrow keys move the cell, with shift to the next layer or map");
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => { if (!this.kept) this.select(null, false); });
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("keydown", (event) => this.turn(event));
    const tool = (words, act) => h("button", { type: "button", onclick: act }, words);
    const answers = this.network.answer !== null;
    this.whyTool = answers && this.explains ? tool("why?", () => (this.why ? this.leave() : this.ask())) : null;
    this.flipTool = answers && this.network.isWhole ? tool("change its mind", () => (this.flip ? this.leave() : this.changeMind())) : null;
    this.coverTool = data.cover ? tool("cover a part", () => (this.covers ? this.leave() : this.cover())) : null;
    this.tools = h("div", { class: "tools" },
      data.pad ? tool("how it works", () => this.begin()) : null,
      data.pad ? tool("clear", () => { this.touched = true; this.pad.clear(); }) : null,
      this.whyTool, this.flipTool, this.coverTool,
      tool("⤓ SVG", () => download("network.svg", this.picture(), "image/svg+xml")),
      tool("⤓ PNG", async () => download("network.png", await pngOf(this.picture(), 0), "image/png")));
    this.padHolder = h("div", { class: "pad-holder" });
    if (data.pad) this.pad = pad(this.padHolder, { onInput: (values) => this.show(Float32Array.from(values)), onFirstTouch: () => { this.touched = true; }, onKeys: (used) => this.draws(used) });
    this.net = h("div", { class: "net" }, canvas, this.over, this.padHolder);
    this.sum = h("aside", { class: "told", tabindex: "0", "aria-label": "what is pointed at", "aria-live": "polite" });
    this.foot = h("summary", {});
    this.fine = h("p", {});
    root.replaceChildren(
      h("header", {}, h("h1", {}, data.title), this.tools, h("div", { class: "answers" }, h("div", {}, this.says, this.next)), themeButton(root, true)),
      this.net, this.sum, h("footer", {}, data.note, h("details", {}, this.foot, this.fine)));
  }

  layout() {
    const wide = !matchMedia(NARROW).matches;
    this.width = this.net.clientWidth;
    const width = Math.max(LEAST_WIDTH, this.width);
    const top = this.net.getBoundingClientRect().top + scrollY;
    const room = (parent === window ? innerHeight : FRAMED[wide ? "wide" : "narrow"]) - top;
    const height = wide ? Math.max(420, Math.min(760, room - 78)) : Math.max(440, room - 158);
    const side = this.pad ? PAD_SIDE[wide ? (width < TIGHT ? "tight" : "wide") : "narrow"] : 0;
    this.padHolder.style.width = `${side}px`;
    this.plane.layout(width, height, wide, { width: side, height: side && side + PAD_CAPTION });
    this.net.style.height = `${this.plane.size.height + (this.plane.size.width > width ? SCROLL_BAR : 0)}px`;
    this.sum.style.maxHeight = wide ? `${this.plane.size.height}px` : "";
    this.over.classList.toggle("narrow", this.plane.isNarrow);
    this.over.setAttribute("viewBox", `0 0 ${this.plane.size.width} ${this.plane.size.height}`);
    Object.assign(this.over.style, { width: `${this.plane.size.width}px`, height: `${this.plane.size.height}px` });
  }

  draw() {
    this.plane.paint(this.values, this.isBlank);
    this.mark();
    this.say();
  }

  /** Draw the page for paper, light and not wider than that, or for the screen again. */
  onPaper(on) {
    if (on) this.scheme = this.root.style.colorScheme;
    this.root.style.colorScheme = on ? "light" : this.scheme;
    this.net.style.zoom = on ? String(Math.min(1, PAPER / this.plane.size.width)) : "";
    this.plane.colours = null;
    this.draw();
  }

  // ---- weights ----

  /** Whether the weights of a layer can be dragged: those of a window, and not too many. */
  weighs({ kind, windows, axes }) {
    return !this.network.isLarge && kind === "convolution" && windows && axes.reduce((size, { filter_size }) => size * filter_size, 1) <= MOST_WEIGHTS;
  }

  /** Show the weights for another map, or change one: all that is behind it is computed anew. */
  weigh(k, { plane = this.weighed, at = null, number = 0 }) {
    this.weighed = plane;
    if (at === null) return this.say();
    const column = this.network.columns[k];
    column.given ??= column.filters.slice();
    column.filters[at] = number;
    this.computeFrom(k);
    const { values, network, cell } = this;
    put(this.sum.querySelector("h2 output"), full(values[cell[0]][network.position(cell)]));
    return network.answer === null ? undefined : this.sayAnswer();
  }

  /** The weights of a layer become those of the model again. */
  asGiven(k) {
    const column = this.network.columns[k];
    column.filters.set(column.given);
    column.given = null;
    this.computeFrom(k);
    this.say();
  }

  /** Other weights: the layers from there on compute anew. */
  computeFrom(k) {
    this.flip = null;
    this.values = this.network.forward(this.values[0], null, this.values.slice(0, k));
    this.about = aboutPage(this.network, this.values, this.data);
    this.plane.paint(this.values, this.isBlank);
    this.mark();
  }

  /** Another input: every number anew at once, and painted with the next frame. */
  show(input) {
    this.values = this.network.forward(input);
    this.flip = null;
    if (this.isBlank) this.select(null);
    if (this.why) this.why = explained(this.network, this.values, ranked(this.scores)[0], null);
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.quiz.on && !this.quiz.answered) this.quiz.choose();
      this.draw();
    });
    this.tell();
  }

  /** Tell the keys of the pad while the reader uses them. */
  draws(usesKeys) {
    if (this.usesKeys === usesKeys) return;
    this.usesKeys = usesKeys;
    this.say();
  }

  get scores() {
    return this.values[this.network.answer];
  }

  /** Whether nothing is drawn. */
  get isBlank() {
    return Boolean(this.pad) && !this.values[0].some(Boolean);
  }

  // ---- pointing ----

  at({ clientX, clientY }) {
    const { left, top } = this.plane.canvas.getBoundingClientRect();
    return this.plane.hit(clientX - left, clientY - top);
  }

  point(event) {
    if (this.kept || event.pointerType === "touch" || this.network.isLarge) return; // there a click selects: so many windows take time
    const cell = this.at(event);
    if (this.why && cell?.[0] === this.network.answer) return; // it was clicked
    if (String(cell) !== String(this.cell)) this.select(cell, false);
  }

  click(event) {
    const cell = this.at(event);
    if (this.quiz.on) return cell ? this.quiz.point(cell, true) : undefined;
    return cell?.[0] === this.network.answer && this.explains ? this.ask(null, cell[3]) : this.select(cell);
  }

  /** Select a cell, or nothing; one that is only pointed at leaves the question open. */
  select(cell, kept = true) {
    this.quiz.on = false;
    if (kept && !this.flip?.tried) this.flip = null;
    Object.assign(this, { cell, why: kept ? null : this.why, kept: kept && cell !== null, covers: false });
    this.mark();
    this.say();
    if (kept) this.tell();
  }

  /** Escape closes, wherever the focus is; in the story the arrows turn its pages. */
  turn({ key, target, defaultPrevented }) {
    if (this.root.querySelector("dialog")) return;
    if (key === "Escape") this.leave();
    const by = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (by && this.step !== null && !defaultPrevented && !target.matches("select, input")) goTo(this, Math.max(0, this.step + by));
  }

  press(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!steps && event.key !== "Enter") return undefined;
    event.preventDefault(); // or Enter would press the button that has the focus then
    if (!steps && this.quiz.at) return this.quiz.point(this.quiz.at, true);
    if (!steps) return this.cell?.[0] === this.network.answer ? this.ask() : undefined;
    const { columns } = this.network;
    const start = this.quiz.on ? this.quiz.at : this.cell;
    const go = (cell) => (this.quiz.on ? this.quiz.point(cell, false) : this.select(cell));
    const [k, row, col, channel] = start ?? [0, 0, 0, 0];
    if (!start) return go([k, row, col, channel]);
    const within = (i, size) => Math.max(0, Math.min(size - 1, i));
    const vector = columns[k].rows * columns[k].cols === 1;
    const shown = columns.map((_, n) => n).filter((n) => !this.network.isHidden(n));
    const next = event.shiftKey || (vector && !steps[0]) ? shown[within(shown.indexOf(k) + steps[1], shown.length)] : k;
    const column = columns[next];
    const maps = column.thumbs?.toSorted((a, b) => a - b) ?? [...Array(column.channels).keys()]; // of a large network those that the page has
    const turned = maps[within(maps.indexOf(channel) + (event.shiftKey || vector ? steps[0] : 0), maps.length)];
    const moved = event.shiftKey || vector ? [row, col] : [row + steps[0], col + steps[1]];
    return go([next, within(moved[0], column.rows), within(moved[1], column.cols), turned]);
  }

  // ---- why, and what would change it ----

  ask(win = null, rival = null, step = null) {
    if (this.isBlank) return;
    if (!this.flip?.tried) this.flip = null; // of a change that is tried, why it changes the answer
    this.quiz.on = false;
    Object.assign(this, { cell: null, kept: false, lit: null, covers: false, step, why: explained(this.network, this.values, win ?? ranked(this.scores)[0], rival) });
    this.draw();
    this.tell();
  }

  /** Point out one line of the question, or none. */
  light(line) {
    this.lit = line;
    this.mark();
  }

  /** Let a kept cell go, and the story; if no cell is kept, close what was asked. */
  leave() {
    if (!this.kept) this.takeBack();
    goTo(this, -1);
  }

  /** Begin the story, of a digit. */
  begin() {
    this.takeBack();
    if (this.isBlank) drawItself(this);
    goTo(this, 0);
  }

  /** Find the least change of one input cell with which another class wins. */
  async changeMind() {
    const search = { words: "" };
    this.step = null;
    this.select(null);
    this.flip = search;
    const found = await leastChange(this.network, this.values[0], this.data.scale, (n, all) => {
      if (this.flip !== search) return false; // another drawing, or closed
      search.words = `${n.toLocaleString("en")} of ${all.toLocaleString("en")} changes tried`;
      this.say();
      return true;
    });
    if (!found || this.flip !== search) return;
    this.flip = found;
    this.draw();
  }

  /** Show what covering each part of the input does. */
  cover() {
    this.select(null);
    this.covers = true;
    this.draw();
  }

  /** Open a block, or close it. */
  toggle(last) {
    const { closed } = this.network;
    if (!closed.delete(last)) closed.add(last);
    if (this.cell && this.network.isHidden(this.cell[0])) this.cell = null;
    this.layout();
    this.draw();
  }

  /** Let the network read the change that was found, or again what it read before. */
  tryIt() {
    this.flip.tried = !this.flip.tried;
    this.values = this.network.forward(this.flip.tried ? this.flip.changed : this.flip.input);
    this.draw();
  }

  /** Close the least change. */
  takeBack() {
    if (this.flip?.tried) this.tryIt();
    this.flip = null;
  }

  /** Draw what lies over the maps, where that has changed. */
  mark() {
    const groups = marksOf(this);
    if (this.marks.length !== groups.length) this.over.innerHTML = "<g></g>".repeat(groups.length);
    for (const [i, group] of groups.entries()) if (this.marks[i] !== group) this.over.children[i].innerHTML = group;
    this.marks = groups;
  }

  picture() {
    return pictureOfNetwork(this, [this.data.title, this.says.textContent, this.flip ? flipText(this, this.flip) : ""].filter(Boolean).join(" · "));
  }

  // ---- words ----

  sayAnswer() {
    const [win, second] = ranked(this.scores);
    const shares = this.plane.hasChances ? chances(this.scores) : null;
    const { isBlank } = this;
    this.says.hidden = isBlank;
    for (const button of [this.whyTool, this.flipTool]) if (button) button.disabled = isBlank;
    for (const [button, pressed] of [[this.whyTool, this.why], [this.flipTool, this.flip], [this.coverTool, this.covers]]) button?.setAttribute("aria-pressed", String(Boolean(pressed)));
    put(this.says, shares ? `${win}, ${percent(shares[win])}` : String(win));
    put(this.next, isBlank ? "with mouse, finger or keys" : shares ? `next: ${second}, ${percent(shares[second])}` : `next: ${second}`);
  }

  say() {
    if (this.network.answer !== null) this.sayAnswer();
    const panel = this.quiz.on ? this.quiz.panel() : this.cell ? cellPanel(this, this.cell) : this.why ? whyPanel(this, this.why) : this.flip ? flipPanel(this, this.flip) : this.covers ? coverPanel(this) : null;
    const subject = [this.usesKeys, this.step, this.plane.wide, this.quiz.on && [this.quiz.seed, this.quiz.level], this.cell && [this.cell[0], this.cell[3]], this.why?.win, this.why?.rival, !this.flip, this.covers].join(";");
    if (panel || this.subject !== subject) { // a drawing alone says nothing new
      const lines = [this.usesKeys ? h("p", { class: "faint" }, KEYS) : null, caption(this), ...(panel ?? hints(this))].filter(Boolean);
      keepFocus(this.sum, () => this.sum.replaceChildren(...lines));
    }
    if (this.subject !== subject) this.sum.scrollTop = 0; // its heading is read first
    this.subject = subject;
    put(this.foot, this.about[0]);
    put(this.fine, this.about[1]);
  }

  /** Whether a layer's call opens as the picture of a call: a convolution, of which the page of a call has the words. */
  opens({ kind, axes }) {
    return !this.network.isLarge && kind === "convolution" && this.data.dtype === "float32" && axes.every(({ in_size }) => in_size > 0);
  }

  // ---- the address ----

  tell() {
    clearTimeout(this.later); // a browser refuses too many addresses
    this.later = ADDRESSED ? setTimeout(() => this.write(), 200) : undefined;
  }

  write() {
    const parts = [];
    if (this.pad && this.touched) parts.push(`d=${[...this.values[0]].map((value) => Math.round(value * SIXTEENTHS).toString(SIXTEENTHS + 1)).join("")}`);
    if (this.why) parts.push(`why=${this.why.win},${this.why.rival}`);
    if (this.quiz.on) parts.push(`quiz=${this.quiz.seed},${this.quiz.level}`);
    else if (this.cell) parts.push(`at=${this.cell}`);
    writeAddress(parts.length ? `#${parts.join("&")}` : "");
  }

  /** Show what the address says; whether it says what is drawn. */
  readAddress() {
    const drawn = this.pad && /(?:^#|&)d=([0-9a-g]{64})(?=&|$)/.exec(location.hash)?.[1];
    if (drawn) {
      this.touched = true;
      this.flip = null;
      this.values = this.network.forward(Float32Array.from(drawn, (digit) => parseInt(digit, SIXTEENTHS + 1) / SIXTEENTHS));
    }
    const found = (name) => new RegExp(`(?:^#|&)${name}=([\\d,]+)`).exec(location.hash)?.[1].split(",").map(Number);
    const quiz = this.network.isLarge ? null : found("quiz");
    const { length } = this.quiz.kinds;
    this.quiz.on = false;
    const cell = found("at") ?? (location.hash ? null : this.data.at);
    const why = found("why");
    const { columns, answer } = this.network;
    const column = columns[cell?.[0]];
    if (quiz?.length === 2 && quiz[1] >= 1 && quiz[1] <= length) this.quiz.begin(...quiz);
    else if (cell?.length === 4 && column && cell[1] < column.rows && cell[2] < column.cols && cell[3] < column.channels) Object.assign(this, { cell, kept: true, why: null });
    else if (why?.length === 2 && answer !== null && this.explains && why.every((c) => c < columns[answer].channels)) this.ask(...why);
    return Boolean(drawn);
  }
}

/** The channels of a column from the one with the largest numbers. */
function strongest({ channels }, numbers) {
  const sizes = new Array(channels).fill(0);
  for (let i = 0; i < numbers.length; i++) sizes[i % channels] = Math.max(sizes[i % channels], Math.abs(numbers[i]));
  return ranked(sizes);
}

/** Write a text where it is another one: the browser lays out anew what is written, and another node is dearer than another text. */
function put(element, text) {
  if (!element.firstChild) element.append("");
  if (element.firstChild.data !== text) element.firstChild.data = text;
}

/** Draw the page of a network in an element. */
export function openNetwork(root, data) {
  return new NetworkApp(root, data);
}
