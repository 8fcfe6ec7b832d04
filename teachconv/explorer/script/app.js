// The app: controls, stage, and the selected cell.

import { h, unique } from "./elements.js";
import { View, index, inside, named } from "./view.js";
import { Grid, KINDS } from "./grids.js";
import { feedPanel, sumPanel } from "./sum_panels.js";
import { drawnBeside, otherWindow } from "./panels.js";
import { sectionsOf } from "./sections.js";
import { Player, SPEEDS } from "./motion.js";
import { drawStamps, stampButton } from "./stamping.js";
import { callable, choiceLabel, copyButton, focusedGrid, leftOut, legendEntries, overview, planeNote, themeButton } from "./parts.js";

export class App {
  constructor(root, data, host) {
    this.root = root;
    this.host = host;
    this.player = new Player(this);
    this.opened = new Map(); // which sections are open, by name: kept when another call is drawn
    this.draw(data);
    new ResizeObserver(() => this.fit()).observe(root);
    // what the mouse passes over is shown while it is there; a click or a key chooses a place
    root.addEventListener("pointerover", (event) => event.target.closest?.("[role=grid]") || this.unhover());
    root.addEventListener("pointerleave", () => this.unhover());
    this.player.open(root, this.stage);
    const target = data.live ? root : root.ownerDocument;
    target.addEventListener("keydown", (event) => this.key_(event));
  }

  /** Draw a call, in place of the one that was there before. */
  draw(data) {
    const [playing, had] = [this.player.on, focusedGrid(this)];
    this.data = data;
    this.doc = data.call;
    this.variants = { ...data.variants.table };
    this.key = data.variants.controls.map((control) => control.base);
    this.base = this.key.join();
    this.view = new View(this.doc, this.doc.base);
    this.other = data.beside?.call ? new View(data.beside.call, data.beside.call.base) : null;
    this.allRows = this.allChannels = false;
    this.pinned = null;
    this.stamp = false;
    this.start();
    this.build();
    this.labelControls();
    this.drawStage();
    this.play(playing && this.cells.length > 1);
    if (had) this.grids[had].box.focus({ preventScroll: true });
  }

  /** The first cell, chosen by Python. */
  start() {
    const at = this.doc.at;
    const filter = this.doc.result === "filter";
    const state = { n: filter ? 0 : at[0], row: filter ? at[0] : at[1], col: filter ? at[1] : at[2], c: 0, o: 0, focus: null };
    const held = Object.fromEntries(Object.entries(this.view.arrays).map(([side, array]) => [side, array]));
    const source = held[this.doc.source];
    state.n = source.indices(0).includes(state.n) ? state.n : source.indices(0)[0] ?? 0;
    if (this.doc.result === "in") state.c = at[3];
    else state.o = at[3];
    this.state = state;
    this.pairUp(this.doc.result === "in" ? "c" : "o");
    if (filter && !this.doc.empty) {
      const c = this.view.groupOfOut.get(state.o)?.in.find(([, depth]) => depth === at[2]);
      if (c) state.c = c[0];
    }
  }

  /** Channels that share no product cannot be shown together: change the other one as well. */
  pairUp(changed) {
    const { state, view } = this;
    if (changed === "o") {
      const group = view.groupOfOut.get(state.o);
      if (group && !group.in.some(([c]) => c === state.c)) state.c = group.in[0]?.[0] ?? 0;
    } else {
      const group = view.groupOfIn.get(state.c);
      if (group && !group.out.includes(state.o)) state.o = group.out[0] ?? 0;
    }
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
    this.legend = h("ul", { class: "legend" });
    this.summary = h("p", { class: "summary" });
    this.heading = h("code", {}, doc.code);
    this.transport = this.buildTransport();
    this.channels = h("div", { class: "controls channels" });
    this.sections = sectionsOf(this);
    const settings = h("div", { class: "controls", role: "group", "aria-label": "Arguments of the call" }, this.buildControls());
    const beside = this.sections.filter(({ element }) => element.dataset.section === "beside");
    const rest = this.sections.filter((section) => !beside.includes(section));
    this.root.classList.add("tcx");
    this.root.replaceChildren(
      h("header", {}, h("div", {}, h("h1", {}, this.heading, copyButton(() => callable(this.heading.textContent), "copy the call")), this.summary), themeButton(this.root, !this.data.live)),
      doc.shown ? h("div", { class: "shown" }, overview(doc), h("p", {}, doc.shown)) : "",
      this.data.variants.controls.length ? settings : "", this.message,
      h("div", { class: "main" }, h("div", {}, this.channels, this.stage, this.legend, this.transport), h("div", {}, beside.map(({ element }) => element), this.sum)), this.live,
      ...rest.map(({ element }) => element),
      h("footer", {}, h("p", {}, "In a grid the arrow keys move the cell; the space bar plays. ", leftOut(this.data, this.variants))),
    );
  }

  buildControls() {
    this.inputs = [];
    return this.data.variants.controls.map((control, number) => {
      const name = unique("control");
      const choices = control.labels.map((label, i) => {
        const input = h("input", { type: "radio", name, value: String(i), checked: i === control.base, onchange: () => this.choose(number, i) });
        return h("label", {}, input, h("span", {}, label));
      });
      this.inputs[number] = choices;
      return h("fieldset", { "data-control": control.name }, h("legend", {}, control.name), h("div", { class: "choices" }, choices));
    });
  }

  buildTransport() {
    this.playButton = h("button", { type: "button", class: "play", onclick: () => this.play(!this.player.on) }, "▶ play");
    this.slider = h("input", { type: "range", min: "0", step: "1", "aria-label": "cell of the result", oninput: () => this.goTo(Number(this.slider.value)) });
    this.position = h("span", { class: "position" });
    const step = (by, sign, label) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.step(by) }, sign);
    const tap = h("button", { type: "button", "aria-label": "next tap", title: "next tap", onclick: () => {
      if (this.player.on) this.play(false);
      this.player.nextTap();
    } }, "tap ▸");
    const speed = h("select", { "aria-label": "speed", onchange: () => { this.player.speed = speed.value; if (this.player.on) this.play(true); } },
      Object.keys(SPEEDS).map((name) => h("option", { value: name, selected: name === this.player.speed }, name)));
    return h("div", { class: "transport", role: "group", "aria-label": "Step through the cells" },
      step(-1, "◀", "previous cell"), this.playButton, ...[step(1, "▶", "next cell"), tap, stampButton(this), this.slider, this.position, speed].filter(Boolean));
  }

  // ---- choices ----

  async choose(control, choice) {
    this.key[control] = choice;
    const key = this.key.join();
    let variant = this.variantOf(this.key);
    if (!variant && this.host?.request) variant = this.variants[key] = await this.host.request([...this.key]);
    if (key !== this.key.join()) return; // another choice was made in the meantime
    this.message.hidden = Boolean(variant && !variant.error);
    this.stage.classList.toggle("stale", !this.message.hidden);
    this.labelControls();
    if (!variant) {
      this.message.textContent = "This combination is not on this page: call tc.explore with these arguments, or use .live().";
    } else if (variant.error) {
      this.message.textContent = `The op refuses these arguments: ${variant.error}`;
    } else {
      this.view = new View(this.doc, variant);
      this.heading.textContent = variant.code ?? this.doc.code;
      this.state.focus = this.pinned = null;
      const [rows, cols] = this.view.drawn(this.doc.result).map(inside);
      if (!rows.includes(this.state.row)) this.state.row = rows[0] ?? 0;
      if (!cols.includes(this.state.col)) this.state.col = cols[0] ?? 0;
      this.drawStage();
    }
  }

  variantOf(key) {
    return key.join() === this.base ? this.doc.base : this.variants[key.join()];
  }

  /** Label each choice by whether it is possible with the other choices as they are. */
  labelControls() {
    for (const [number, control] of this.data.variants.controls.entries()) {
      for (const [i, label] of this.inputs[number].entries()) {
        const variant = this.variantOf(this.key.with(number, i));
        const absent = !variant && !this.host;
        const [input, words] = label.children;
        input.disabled = absent;
        label.className = absent ? "absent" : variant?.error ? "refused" : "";
        label.title = absent ? "not on this page" : variant?.error ?? "";
        const size = variant?.shapes?.[this.doc.result];
        words.textContent = control.name === "output size" && size ? `${size[1]} × ${size[2]}` : choiceLabel(control, i, this.variantOf(this.key.with(number, 0))?.shapes?.[this.doc.result]);
      }
    }
  }

  buildChannels() {
    const { view, doc, state } = this;
    const held = (side, axis) => view.arrays[side]?.indices(axis) ?? [];
    const sides = [doc.source, doc.operand, doc.result];
    const images = held(doc.source, 0);
    const ins = sides.includes("in") && view.arrays.in ? held("in", 3) : [...view.groupOfIn.keys()];
    const outs = view.arrays.out ? held("out", 3) : held("filter", 3);
    const select = (name, label, list) => {
      if (list.length < 2) return null;
      const options = list.map((i) => h("option", { value: String(i), selected: i === state[name] }, String(i)));
      const element = h("select", { "data-channel": name, onchange: () => {
        state[name] = Number(element.value);
        this.pairUp(name);
        this.drawStage();
      } }, options);
      return h("label", {}, `${label} `, element);
    };
    const colours = h("input", { type: "checkbox", checked: this.root.classList.contains("colours"), onchange: () => this.root.classList.toggle("colours", colours.checked) });
    this.channels.replaceChildren(...[
      images.length > 1 ? select("n", "image", images) : null,
      select("c", `${doc.names.in} channel`, ins),
      select("o", `${doc.names.out} channel`, outs),
      h("label", {}, colours, " colours only"),
    ].filter(Boolean));
  }

  // ---- the stage ----

  drawStage() {
    const { view, doc, state } = this;
    this.buildChannels();
    const photo = view.isPhoto();
    const plane = (side, onPoint) => {
      const [rows, cols] = side === doc.source && this.other ? drawnBeside(view, this.other, side) : view.drawn(side);
      const content = (r, q, kind) => {
        if (kind === "padding" || kind === "outside" || kind === "beyond") return { kind: side === doc.result ? "cut away" : KINDS[kind] };
        const cell = view.cell(side, r, q, state);
        if (photo && side === doc.source) return { value: view.number(side, cell), colour: view.colour(cell) };
        return { value: side === doc.result ? view.value(cell) : view.number(side, cell) };
      };
      const change = this.host?.edit && side !== doc.result;
      const onEdit = change ? (r, q, number) => this.host.edit(side, view.cell(side, r, q, state), number) : null;
      return new Grid({ title: doc.names[side], note: planeNote(view, side, state, photo), rows, cols, content, onPoint, onEdit, scale: view.arrays[side]?.largest });
    };
    const had = focusedGrid(this);
    this.grids = {
      source: plane(doc.source, (r, q, how) => this.follow(r, q, how)),
      operand: plane(doc.operand, null),
      result: plane(doc.result, (r, q, how) => this.select(r, q, how)),
    };
    const sign = (text) => h("span", { class: "sign", "aria-hidden": "true" }, text);
    this.stage.replaceChildren(this.grids.source.element, sign("×"), this.grids.operand.element, sign("="), this.grids.result.element);
    if (had) this.grids[had].box.focus({ preventScroll: true });
    const [rows, cols] = view.drawn(this.stamp ? doc.source : doc.result).map(inside);
    this.cells = rows.flatMap((r) => cols.map((q) => [r, q]));
    this.slider.max = String(Math.max(0, this.cells.length - 1));
    this.slider.disabled = this.playButton.disabled = !this.cells.length;
    const { terms } = view.variant;
    this.summary.textContent = `${doc.names[doc.result]} [${index(view.shape(doc.result))}] ${doc.dtype}, ${view.computedBy}; ${terms === 1 ? "one term" : `up to ${terms.toLocaleString("en")} terms`} a cell${view.variant.note ? `. Here ${view.variant.note}.` : ""}`;
    this.legend.replaceChildren(...legendEntries(this.grids, doc, Boolean(this.other)));
    this.fit();
    this.update();
  }

  fit() {
    if (!this.grids) return;
    const em = parseFloat(getComputedStyle(this.root).fontSize);
    const style = getComputedStyle(this.stage);
    const width = this.stage.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const { source, operand, result } = this.grids;
    const most = 2.9 * em;
    // keep a filter readable beside large planes; each grid has row numbers, each cell a gap of a pixel
    const apart = operand.columns <= 7;
    const room = width - 8.5 * em - (apart ? operand.columns * 2.1 * em : 0) - 60;
    const beside = room / (source.columns + result.columns + (apart ? 0 : operand.columns)) - 1;
    const alone = (width - 20) / Math.max(source.columns, result.columns, operand.columns) - 1;
    const wide = beside >= (width > 44 * em ? 6 : 26); // in a narrow host, such as a docs page, only if legible
    this.stage.classList.toggle("stacked", !wide);
    for (const grid of Object.values(this.grids)) {
      grid.most = most;
      grid.fit(wide ? beside : alone);
    }
    if (apart) operand.fit(wide ? Math.max(Math.min(beside, most), 2.1 * em) : Math.min(most, (width - 20) / operand.columns - 1));
  }

  /** A grid of a panel; `content` returns a number or undefined. */
  small(title, [rows, cols], content, marks, onPoint = null) {
    const grid = new Grid({ title, rows, cols, onPoint, most: 34, content: (r, q, kind) => {
      const value = kind === "padding" || kind === "outside" ? undefined : content(r, q);
      return { value };
    } });
    const em = parseFloat(getComputedStyle(this.root).fontSize);
    grid.fit(Math.min(2.2 * em, (Math.min(this.root.clientWidth, 34 * em) - 4 * em) / (cols.length || 1)));
    grid.mark(marks);
    return grid.element;
  }

  // ---- the selected cell ----

  select(row, col, how = "click") {
    const known = this.view.drawn(this.doc.result).map(inside);
    if (!known[0].includes(row) || !known[1].includes(col)) return;
    this.place({ row, col, focus: null }, how);
  }

  /** Select one cell of the source, or of its padding, to show what it contributes to. */
  follow(row, col, how = "click") {
    const known = this.view.drawn(this.doc.source).map((list) => list.map(([i]) => i));
    if (!known[0].includes(row) || !known[1].includes(col)) return;
    this.place({ focus: [row, col] }, how);
  }

  /** Show another place; one that the mouse hovers over only until it leaves. */
  place(change, how) {
    const { row, col, focus } = this.state;
    if (how === "hover") this.pinned ??= { row, col, focus };
    else this.pinned = null;
    const before = [row, col, focus].join();
    Object.assign(this.state, change);
    if (before !== [this.state.row, this.state.col, this.state.focus].join()) this.update();
    else if (how !== "hover") this.host?.selected?.([row, col]);
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
    if (this.stamp) this.follow(row, col);
    else this.select(row, col);
  }

  step(by) {
    if (!this.cells.length) return;
    const now = this.atCell();
    if (!this.stamp) this.state.focus = null;
    this.goTo((now + by + this.cells.length) % this.cells.length);
  }

  play(on) {
    this.player.play(on);
  }

  /** Draw whether the explorer plays: while it does, the output fills up. */
  playing(on) {
    this.playButton.textContent = on ? "❚❚ pause" : "▶ play";
    this.live.setAttribute("aria-live", on ? "off" : "polite");
    this.player.show();
  }

  atCell() {
    const [row, col] = (this.stamp && this.state.focus) || [this.state.row, this.state.col];
    return this.cells.findIndex(([r, q]) => r === row && q === col);
  }

  key_(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea, button, summary, .scroll, [role=grid]") && event.key !== " ") return;
    if (event.key === " " && !event.target.closest?.("input:not([type=range]), textarea, select, button, summary")) {
      this.play(!this.player.on);
      event.preventDefault();
    } else if (event.key.startsWith("Arrow") && this.pinned) { // the mouse is over a cell: the keys go on from there
      const grid = this.state.focus ? this.grids.source : this.grids.result;
      grid.box.focus({ preventScroll: true });
      grid.key(event);
    }
  }

  showAll() {
    this.allRows = this.allChannels = true;
    this.update();
  }

  // ---- drawing the selected cell ----

  fedMarks() {
    const { focus } = this.state;
    if (!focus) return [];
    const cell = this.view.cell(this.doc.source, ...focus, this.state);
    const { result } = this.doc;
    return this.view.feeds(cell).map((tap) => {
      const [row, col] = result === "filter" ? tap.result : tap.result.slice(1);
      return [row, col, "fed"];
    });
  }

  update() {
    const { view, doc, state } = this;
    if (doc.empty || !this.cells.length) {
      this.sum.replaceChildren(h("p", { class: "headline" }, "The result is empty: there is no cell to explain."));
      this.refresh();
      return;
    }
    drawStamps(this);
    const place = (side, cell) => (side === "filter" ? [cell[0], cell[1]] : [cell[1], cell[2]]);
    if (state.focus) {
      const cell = view.cell(doc.source, ...state.focus, state);
      const taps = view.feeds(cell);
      this.grids.source.mark([[...state.focus, "current"]]);
      this.grids.operand.mark(taps.map((tap) => [...place(doc.operand, tap.operand), "window"]));
      this.grids.result.mark(this.fedMarks());
      this.sum.replaceChildren(...feedPanel(view, cell).filter(Boolean));
    } else {
      const cell = this.cell();
      const { list } = view.taps(cell);
      this.windowMarks = {
        source: list.map((tap) => [...place(doc.source, tap.source), "window"]),
        operand: list.filter((tap) => !tap.outside).map((tap) => [...place(doc.operand, tap.operand), "window"]),
        result: [[state.row, state.col, "current"]],
      };
      if (this.other) this.windowMarks.source.push(...otherWindow(this.other, view, cell));
      for (const [name, marks] of Object.entries(this.windowMarks)) this.grids[name].mark(marks);
      this.sum.replaceChildren(...sumPanel(view, cell, this));
      this.shown = { list, text: this.sum.querySelector("output").textContent };
    }
    const now = this.atCell();
    this.player.showAhead();
    this.slider.value = String(now);
    const name = named(view, doc.result, this.cell());
    this.slider.setAttribute("aria-valuetext", name);
    this.position.textContent = `${now + 1} / ${this.cells.length}`;
    if (!this.pinned) this.host?.selected?.([state.row, state.col]);
    this.live.textContent = [...this.sum.querySelectorAll(".headline, .headline + p")].map((e) => e.textContent).join(". ");
    this.refresh();
  }

  /** Highlight one product everywhere, or none. */
  light(tap) {
    if (this.state.focus || !this.windowMarks) return;
    const place = (side, cell) => (side === "filter" ? [cell[0], cell[1]] : [cell[1], cell[2]]);
    for (const name of ["source", "operand"]) {
      const extra = tap ? [[...place(this.doc[name], tap[name]), "tap"]] : [];
      this.grids[name].mark([...this.windowMarks[name], ...extra]);
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
    const { activeElement } = this.root.ownerDocument;
    const focused = activeElement?.getAttribute?.("aria-label");
    for (const section of this.sections) {
      const { element, body, depends, content } = section;
      if (!element.open || (section.drawn && depends === "nothing")) continue;
      if (section.drawn === this.view && depends === "variant") continue;
      section.drawn = this.view;
      const had = body.contains(activeElement);
      body.replaceChildren(...[content()].flat().filter(Boolean));
      if (had && focused) [...body.querySelectorAll("[role=grid]")].find((e) => e.getAttribute("aria-label") === focused)?.focus();
    }
  }
}
