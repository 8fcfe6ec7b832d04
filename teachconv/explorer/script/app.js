// The app: one call, the place that is selected in it, and the page that shows both.

import { axisOf, resultAround, sourceAmid } from "./axis_tables.js";
import { CallQuiz } from "./call_quiz.js";
import { breakable, forPeople, h, keepFocus } from "./elements.js";
import { View, index, inside, named, placeOf } from "./view.js";
import { Grid } from "./grids.js";
import { fedMarks, pointed } from "./pointing.js";
import { pressed } from "./keyboard.js";
import { ADDRESSED, readAddress, writeAddress } from "./present.js";
import { sectionsOf } from "./sections.js";
import { Thumbs } from "./channels.js";
import { drawGrids, fitGrids, frameResult } from "./stage.js";
import { Player } from "./motion.js";
import { drawStamps } from "./stamping.js";
import { buildControls, buildTools, buildTransport, channelControls, labelControls } from "./controls.js";
import { Tour } from "./tour.js";
import { callable, copyButton, inWords, leftOut, legendEntries, overview, themeButton, whatItIs } from "./parts.js";

export class App {
  constructor(root, data, host) {
    this.root = root;
    this.host = host;
    this.player = new Player(this);
    this.tour = new Tour(this);
    this.quiz = new CallQuiz(this);
    /** @type {string | null} whether it fills the page, as a slide or in a frame */
    this.presenting = null;
    /** @type {Record<string, any>} the grids of source, operand and result, which stage.js draws */
    this.grids = {};
    /** @type {any} the parts that controls.js makes */
    this.playButton = this.slider = this.position = this.inputs = null;
    this.quiet = false; // while what was shown is shown again
    this.opened = new Map(); // which sections are open, by name: kept when another call is drawn
    this.draw(data);
    new ResizeObserver(() => this.fit()).observe(root);
    // what the mouse passes over is shown while it is there; a click or a key chooses a place
    root.addEventListener("pointerover", (event) => event.target.closest?.("[role=grid]") || this.unhover());
    root.addEventListener("pointerleave", () => this.unhover());
    root.addEventListener("click", (event) => this.tour.now !== null && event.target.closest?.("[role=grid], .transport") && this.tour.leave());
    readAddress(this, true);
    addEventListener("hashchange", () => readAddress(this));
    this.player.open(root, this.stage);
    addEventListener("beforeprint", () => this.onPaper(true));
    addEventListener("afterprint", () => this.onPaper(false));
    root.ownerDocument.addEventListener("keydown", (event) => pressed(this, event));
  }

  /** Draw a call, in place of the one that was there before; `settle` chooses what of it is shown first. */
  draw(data, settle = () => {}) {
    const playing = this.player.on;
    this.data = data;
    this.doc = data.call;
    this.variants = { ...data.variants.table };
    this.tour.now = null;
    this.quiz.on = false;
    this.key = data.variants.controls.map((control) => control.base);
    this.base = this.key.join();
    this.legal = [...this.key]; // the choices that are drawn
    this.view = new View(this.doc, this.doc.base);
    this.other = data.beside?.call ? new View(data.beside.call, data.beside.call.base) : null;
    this.allRows = this.allChannels = false;
    this.pinned = null;
    this.stamp = false;
    this.start();
    keepFocus(this.root, () => {
      this.build();
      settle();
      labelControls(this);
      this.drawStage();
    });
    this.play(playing && this.cells.length > 1);
  }

  /** The first cell, chosen by Python. */
  start() {
    const { in: c, out: o } = this.doc.rank === 3 && !this.doc.empty ? this.view.channels : { in: 0, out: 0 };
    this.state = { n: 0, row: 0, col: 0, c: -c, o: -o, focus: null }; // of a volume no slice yet: that in the middle of the window
    this.setPlace(this.doc.at);
    this.first = [this.state.row, this.state.col];
  }

  /** Choose a cell of the result with its image and channels, as Python numbers it. */
  setPlace(at) {
    const { state, view, doc } = this;
    const filter = doc.result === "filter";
    const images = view.arrays[doc.source].indices(0);
    const [n, row, col] = filter ? [0, at[0], at[1]] : at;
    Object.assign(state, { n: images.includes(n) ? n : images[0] ?? 0, row, col, focus: null });
    if (doc.result === "in") state.c = at[3];
    else state.o = at[3];
    this.pairUp(doc.result === "in" ? "c" : "o");
    const pair = filter && !doc.empty ? view.pairsOf(at[2], at[3])[0] : null;
    if (pair) [state.c, state.o] = pair;
  }

  /** Channels that share no product cannot be shown together: change the other one as well. */
  pairUp(changed) {
    const { state, view } = this;
    const other = changed === "o" ? "c" : "o";
    const met = (changed === "o" ? view.insOf(state.o) : view.outsOf(state.c)).filter(([, , outside]) => !outside).map(([plane]) => plane);
    if (!met.length || met.includes(state[other])) return;
    const { [changed === "o" ? "in" : "out"]: channels } = view.channels;
    const alike = met.filter((plane) => plane % channels === state[other] % channels);
    state[other] = alike[Math.floor(alike.length / 2)] ?? met[0];
  }

  cell() {
    return this.view.cell(this.doc.result, this.state.row, this.state.col, this.state);
  }

  // ---- the page's fixed parts ----

  build() {
    const { doc } = this;
    this.stage = h("section", { class: "stage", "aria-label": "The windows" });
    this.message = h("p", { class: "message", role: "alert", hidden: true });
    this.live = h("p", { class: "hidden", "aria-live": "polite", "data-role": "spoken" });
    this.sum = h("section", { class: "sum", "aria-label": "The sum" });
    this.sky = h("div", { class: "sky", "aria-hidden": "true" });
    this.legend = h("ul", { class: "legend" });
    this.people = h("span", { class: "people" });
    this.summary = h("p", { class: "summary" });
    this.heading = h("code", {}, breakable(doc.code));
    this.overview = this.host?.lens?.(this) ?? overview(this);
    this.transport = buildTransport(this);
    this.channels = h("div", { class: "controls channels" });
    this.rooms = h("div", { class: "rooms-map" });
    this.sections = sectionsOf(this);
    const settings = h("div", { class: "controls", role: "group", "aria-label": "Arguments of the call" }, buildControls(this));
    const beside = this.sections.filter(({ element }) => element.dataset.section === "beside");
    const rest = this.sections.filter((section) => !beside.includes(section));
    this.root.classList.add("tcx");
    this.root.replaceChildren(
      h("header", {}, h("div", {}, this.data.title ? h("h1", {}, this.data.title) : null, h(this.data.title ? "p" : "h1", { class: "code" }, this.heading, copyButton(() => callable(this.heading.textContent), "copy the call")), h("p", { class: "about" }, this.host?.shows ? null : h("b", {}, whatItIs(doc), " "), this.people)), themeButton(this.root, !this.data.live)),
      h("div", { class: "top" }, this.data.variants.controls.length ? settings : null,
        doc.shown ? h("div", { class: "shown" }, this.overview?.whole ? null : this.overview?.element, h("p", {}, doc.shown, " ", this.overview?.why)) : null),
      this.message,
      h("div", { class: "main" }, h("div", { class: "windows" }, this.overview?.whole ? this.overview.element : null, this.channels, this.rooms, this.stage, this.tour.element, this.legend, this.transport, buildTools(this)),
        h("div", { class: "side" }, this.quiz.element, beside.map(({ element }) => element), this.sum)), this.live,
      ...rest.map(({ element }) => element),
      h("footer", {}, this.summary, h("p", {}, "In a grid the arrow keys move the cell; the space bar goes through the steps. ", leftOut(this.data, this.variants))),
      this.sky,
    );
  }

  // ---- choices ----

  /** Show a choice as chosen. */
  check(control, choice) {
    this.key[control] = choice;
    this.inputs[control][choice].children[0].checked = true;
  }

  choose(control, choice) {
    this.check(control, choice);
    const variant = this.variantOf(this.key);
    this.message.hidden = Boolean(variant && !variant.error);
    if (this.message.hidden) this.legal = [...this.key];
    this.stage.classList.toggle("stale", !this.message.hidden);
    labelControls(this);
    if (!variant) {
      this.message.textContent = "This combination is not on this page: call tc.explore with these arguments.";
    } else if (variant.error) {
      this.message.textContent = `The op refuses these arguments: ${forPeople(variant.error)}`;
    } else {
      this.take(variant);
      this.drawStage();
    }
  }

  /** Make a variant the one that is shown, at the same place of the source, if it is there. */
  take(variant) {
    const place = this.amid([this.state.row, this.state.col]);
    this.view = new View(this.doc, variant);
    this.heading.replaceChildren(...breakable(variant.code ?? this.doc.code));
    this.state.focus = this.pinned = null;
    const [rows, cols] = this.view.drawn(this.doc.result).map(inside);
    if (rows.includes(this.state.row) && cols.includes(this.state.col)) return;
    const near = (list, i) => Math.max(list[0] ?? 0, Math.min(list.at(-1) ?? 0, i));
    const [row, col] = this.doc.result === "filter" ? [this.state.row, this.state.col] : this.around(this.view, place);
    Object.assign(this.state, { row: near(rows, row), col: near(cols, col) });
  }

  variantOf(key) {
    return key.join() === this.base ? this.doc.base : this.variants[key.join()];
  }

  chooseChannel(name, channel) {
    this.state[name] = channel;
    this.pairUp(name);
    this.tellHost(true);
    this.drawStage();
  }

  // ---- the stage ----

  drawStage() {
    const { view, doc } = this;
    this.player.rest();
    keepFocus(this.root, () => {
      this.thumbs = new Thumbs(this);
      this.channels.replaceChildren(...channelControls(this));
      this.rooms.replaceChildren(...[this.thumbs.element].filter(Boolean));
      drawGrids(this);
      this.overview?.update?.();
      this.thumbs.paint(); // asks for colours, and fit() for sizes: both at the end, so that the browser lays out once
    });
    const [rows, cols] = view.drawn(this.stamp ? doc.source : doc.result).map(inside);
    this.cells = rows.flatMap((r) => cols.map((q) => [r, q]));
    this.slider.max = String(Math.max(0, this.cells.length - 1));
    this.slider.disabled = this.playButton.disabled = !this.cells.length;
    this.people.textContent = inWords(view);
    const { terms } = view.variant;
    this.summary.textContent = `${doc.names[doc.result]} [${index(view.shape(doc.result))}] ${doc.dtype}, ${view.computedBy}; ${terms === 1 ? "one term" : `up to ${terms.toLocaleString("en")} terms`} a cell${view.variant.note ? `. Here ${view.variant.note}.` : ""}`;
    this.fit();
    frameResult(this);
    this.update();
    this.tour.draw();
  }

  /** Measure the page, and fit the grids of the stage to it; the panels' grids take these measures as they are drawn. */
  fit() {
    this.em = parseFloat(getComputedStyle(this.root).fontSize);
    this.width = this.root.clientWidth;
    fitGrids(this);
  }

  /** Draw the page for paper, or for the screen again: a page of paper is narrower than most screens. */
  onPaper(on) {
    this.root.classList.toggle("drawn", on);
    this.root.style.width = on ? "680px" : "";
    this.fit();
  }

  /** A grid of a panel; `content` returns a number or undefined. */
  small(title, [rows, cols], content, marks, onPoint = null, most = Infinity) {
    const grid = new Grid({ title, rows, cols, onPoint, most: 34, flat: this.doc.rank === 1, content: (r, q, kind) => {
      const value = kind === "padding" || kind === "outside" ? undefined : content(r, q);
      return { value };
    } });
    const { em } = this;
    grid.fit(Math.min(most, 2.2 * em, (Math.min(this.width, 34 * em) - 4 * em) / (cols.length || 1)));
    grid.mark(marks);
    return grid.element;
  }

  // ---- the selected cell ----

  select(row, col, how = "click") {
    const cuts = this.doc.kind === "conv2d_backprop_input"; // what is cut away can be looked at
    const known = this.view.drawn(this.doc.result).map((list) => (cuts ? list.map(([i]) => i) : inside(list)));
    if (!known[0].includes(row) || !known[1].includes(col)) return;
    this.place({ row, col, focus: null }, how);
  }

  /** Select one cell of the source, of its padding, or of the operand, to show what it contributes to. */
  follow(grid, row, col, how = "click") {
    const known = this.view.drawn(this.doc[grid]).map((list) => list.map(([i]) => i));
    if (!known[0].includes(row) || !known[1].includes(col)) return;
    this.place({ focus: { grid, row, col } }, how);
  }

  /** Show another place; one that the mouse hovers over only until it leaves. */
  place(change, how) {
    if (this.quiz.on && !this.quiz.answered) {
      this.quiz.clicked(change.focus, how);
      return;
    }
    const { row, col, focus } = this.state;
    if (how === "hover") this.pinned ??= { row, col, focus };
    else this.pinned = null;
    const text = () => JSON.stringify([this.state.row, this.state.col, this.state.focus]);
    const before = text();
    Object.assign(this.state, change);
    if (before !== text()) this.update();
    else if (how !== "hover") this.tellHost();
  }

  /** The place in the source that is in the middle of the window of a place in the result. */
  amid(place) {
    const axes = [this.view.rows, this.view.cols].map(axisOf);
    return axes.map((axis, i) => sourceAmid(axis, this.doc.source === "out", place[i]));
  }

  /** The place in a view's result whose window is around a place in the source. */
  around(view, source) {
    return [view.rows, view.cols].map((axis, i) => resultAround(axisOf(axis), this.doc.source === "out", source[i]));
  }

  /** Select the cell of the result whose window is around a place in the source, which may be outside the part shown. */
  async moveTo(source) {
    const [row, col] = this.around(this.view, source);
    const [rows, cols] = this.view.drawn(this.doc.result).map(inside);
    this.message.hidden = true;
    if (!(rows.includes(row) && cols.includes(col)) && this.host?.move) {
      await this.redraw(source, { row, col });
    } else {
      this.select(...[[rows, row], [cols, col]].map(([list, i]) => Math.max(list[0], Math.min(list.at(-1), i))));
      this.message.hidden = rows.includes(row) && cols.includes(col);
      const place = index(this.view.name(this.doc.result, this.view.cell(this.doc.result, row, col, this.state)));
      this.message.textContent = `This page holds the part in the frame: the cell nearest to that place is selected. tc.explore with at=(${place}) shows that place.`;
    }
  }

  /** Draw the part around a place of the source that the host makes, with the choices as they are. */
  async redraw(source, place) {
    const [key, { c, o }] = [[...this.key], this.state];
    const at = this.around(new View(this.doc, this.doc.base), source);
    const arrive = () => Object.assign(this.state, { c, o, ...place });
    let settled = false; // whether the new page has the same choices
    this.draw(await this.host.move([this.state.n, ...at, this.cell()[3]], source), () => {
      const held = this.variantOf(key);
      settled = Boolean(held && !held.error);
      if (!settled) return;
      for (const [control, choice] of key.entries()) this.check(control, choice);
      this.take(held);
      arrive();
    });
    if (settled) return;
    for (const [control, choice] of key.entries()) if (choice !== this.key[control]) this.choose(control, choice);
    arrive();
    this.drawStage();
  }

  /** Write the step and the slide into the address of a page of its own, or tell the host. */
  tell() {
    const parts = [this.presenting, this.tour.now === null ? null : `step=${this.tour.now + 1}`, this.quiz.address].filter(Boolean);
    if (this.host?.shows) this.tellHost();
    else if (ADDRESSED) writeAddress(parts.length ? `#${parts.join("&")}` : "");
  }

  /** Tell the host what is shown; a `step` is one that the browser's back button undoes. */
  tellHost(step = false) {
    if (!this.quiet) this.host?.shows?.(this, step);
  }

  unhover() {
    const { pinned } = this;
    if (!pinned) return;
    this.pinned = null;
    this.place(pinned, "back");
  }

  goTo(position) {
    if (!this.cells[position]) return;
    const [row, col] = this.cells[position];
    if (this.stamp) this.follow("source", row, col);
    else this.select(row, col);
  }

  step(by) {
    if (!this.cells.length) return;
    const now = Math.max(0, this.atCell());
    if (!this.stamp) this.state.focus = null;
    this.goTo((now + by + this.cells.length) % this.cells.length);
  }

  play(on) {
    this.player.play(on);
  }

  /** Draw whether the explorer plays: while it does, the output fills up. */
  playing(on) {
    this.playButton.textContent = on ? "❚❚ pause" : "▶ play";
    this.root.classList.toggle("playing", on);
    this.live.setAttribute("aria-live", on ? "off" : "polite");
    this.player.show();
  }

  atCell() {
    const { focus } = this.state;
    const { row, col } = this.stamp && focus?.grid === "source" ? focus : this.state;
    return this.cells.findIndex(([r, q]) => r === row && q === col);
  }

  showAll() {
    this.allRows = this.allChannels = true;
    this.tellHost(true);
    this.drawStage();
  }

  // ---- drawing the selected cell ----

  update() {
    const { view, doc, state } = this;
    this.player.rest();
    this.shown = null;
    if (doc.empty || !this.cells.length) {
      this.sum.replaceChildren(h("p", { class: "headline" }, "The result is empty: there is no cell to explain."));
      this.refresh();
      return;
    }
    drawStamps(this);
    this.shown = pointed(this);
    const { marks, frames, equation, terms } = this.shown;
    for (const [name, grid] of Object.entries(this.grids)) {
      grid.mark(marks[name]);
      grid.frame("window-frame", frames[name] ?? []);
    }
    keepFocus(this.root, () => this.sum.replaceChildren(
      h("div", { class: "equation" }, equation.filter(Boolean)), h("div", { class: "terms" }, terms.filter(Boolean))));
    this.shown.text = this.sum.querySelector("output").textContent;
    this.legend.replaceChildren(...legendEntries(this.grids, doc, state.focus, Boolean(this.other)));
    const now = this.atCell();
    this.overview?.show();
    this.player.showAhead();
    this.slider.value = String(Math.max(0, now));
    this.slider.setAttribute("aria-valuetext", named(view, doc.result, this.cell()));
    this.position.textContent = now < 0 ? "cut away" : `${now + 1} / ${this.cells.length}`;
    if (!this.pinned) this.tellHost();
    this.live.textContent = [...this.sum.querySelectorAll(".headline, .said, .gradient")].map((e) => e.textContent).join(". ");
    this.refresh();
    this.quiz.draw();
  }

  /** The cells of the result that a cell of the source feeds, as marks. */
  fedMarks() {
    const { focus } = this.state;
    return focus?.grid === "source" ? fedMarks(this, this.view.feeds(this.view.cell(this.doc.source, focus.row, focus.col, this.state))) : [];
  }

  /** Highlight one product everywhere, or none. */
  light(tap) {
    if (!this.shown) return;
    for (const [name, grid] of Object.entries(this.grids)) {
      const cell = name === "result" ? tap?.result : tap?.[name];
      grid.mark([...this.shown.marks[name], ...(cell ? [[...placeOf(this.doc[name], cell), "tap"]] : [])]);
    }
  }

  /** Highlight one entry of the matrix C: the two cells it connects, and its place in the filter. */
  lightEntry({ out, into, tap }) {
    const places = { in: into, out, filter: [tap[0], tap[1]] };
    for (const name of ["source", "operand", "result"]) {
      this.grids[name].mark([[...places[this.doc[name]], "tap"]]);
    }
  }

  /** Redraw the open sections; the keyboard focus stays where it was. */
  refresh() {
    for (const section of this.sections) {
      const { element, body, depends, content } = section;
      if (!element.open || (section.drawn && depends === "nothing")) continue;
      if (section.drawn === this.view && depends === "variant") continue;
      section.drawn = this.view;
      keepFocus(this.root, () => body.replaceChildren(...[content()].flat().filter(Boolean)));
    }
  }
}
