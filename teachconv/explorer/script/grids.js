// A plane of cells with row and column numbers, for the pointer and the arrow keys.

import { full, short } from "./numbers.js";
import { emsOf, h, unique } from "./elements.js";

export const KINDS = {
  padding: "padding",
  crop: "cropped by negative padding",
  unread: "read by no tap",
  outside: "padding",
  cut: "cut away",
  gap: "an inserted zero",
  beyond: "padding of the other call only",
};
export const MARKS = {
  window: "in the window",
  met: "meets it",
  current: "this cell",
  fed: "fed by it",
  tap: "this product",
  other: "in the other call's window",
  differs: "differs",
};

export const GAPLESS = 14; // pixels of a cell: smaller ones stand without a gap
export const WRITTEN = 18; // smaller ones have no number
const LEAST_TEXT = 7; // pixels of a number; one that must be smaller to fit has one digit if it is a fraction, or is not written

/** The cell that an event of the pointer is in. */
const cellOf = (event) => event.target.closest?.("[role=gridcell]");

/** A plane of cells with row and column numbers, for the pointer and the arrow keys. */
export class Grid {
  constructor({ title, note = "", rows, cols, content, onPoint = null, onEdit = null, most = 44, scale = undefined, least = 0, flat = false }) {
    this.rows = rows;
    this.cols = cols;
    this.content = content;
    this.onPoint = onPoint;
    this.onEdit = onEdit;
    this.most = most;
    this.smallest = 5; // pixels of a cell
    this.flat = flat; // a row that has no number
    this.floor = least; // the least number of all channels
    this.scale = scale; // the number that has the strongest colour; that of the plane if not given
    this.cells = new Map();
    this.marked = [];
    this.frames = new Map();
    this.photo = false; // whether its cells have colours of their own
    this.box = h("div", {
      class: flat ? "cells flat" : "cells", role: "grid", "aria-label": title, tabindex: onPoint ? "0" : null,
      "aria-readonly": "true",
      onkeydown: (event) => this.key(event),
    });
    this.box.style.setProperty("--cols", cols.length);
    const number = (i, role) => h("span", { class: i % 5 ? "number off" : "number", role }, String(i));
    const head = cols.map(([col]) => number(col, "columnheader"));
    this.box.append(h("div", { role: "row", class: "row" }, h("span", { class: "number", "aria-hidden": "true" }), head));
    for (const [row, rowKind] of rows) {
      const line = h("div", { role: "row", class: "row" }, flat ? h("span", { class: "number", "aria-hidden": "true" }) : number(row, "rowheader"));
      for (const [col, colKind] of cols) line.append(this.cell(row, rowKind, col, colKind));
      this.box.append(line);
    }
    if (onPoint) this.listen();
    if (onEdit) this.box.addEventListener("dblclick", (event) => this.edit(cellOf(event)));
    if (!rows.length || !cols.length) this.box.append(h("p", { class: "empty" }, "no cells"));
    this.element = h("figure", { class: "grid" },
      h("figcaption", {}, h("b", {}, title), note ? h("small", {}, note) : null), this.box);
    this.fill();
  }

  cell(row, rowKind, col, colKind) {
    const kind = [rowKind, colKind].find((k) => ["outside", "padding", "beyond", "cut"].includes(k)) ?? (rowKind || colKind);
    const element = h("span", { class: `cell ${kind}`, role: "gridcell", id: unique("cell"), "data-row": row, "data-col": col });
    this.cells.set(`${row},${col}`, { element, row, col, kind });
    return element;
  }

  listen() {
    const point = (event, how) => {
      const found = cellOf(event);
      if (found) this.onPoint(Number(found.dataset.row), Number(found.dataset.col), how);
    };
    this.box.addEventListener("pointerover", (event) => event.pointerType === "mouse" && point(event, "hover"));
    this.box.addEventListener("click", (event) => point(event, "click"));
  }

  /** Let the reader type another number into a cell; Enter takes it, Escape does not. */
  edit(element) {
    const cell = element && this.cells.get(`${element.dataset.row},${element.dataset.col}`);
    if (!cell || cell.shown.value === undefined || element.querySelector("input")) return;
    const input = h("input", { class: "typed", value: full(cell.shown.value), "aria-label": `new number of ${this.place(cell)}`, inputmode: "decimal" });
    const done = (take) => {
      if (!input.isConnected) return;
      const number = Number(input.value);
      element.textContent = cell.text;
      this.box.focus();
      if (take && input.value.trim() && Number.isFinite(number)) this.onEdit(cell.row, cell.col, number);
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" || event.key === "Escape") done(event.key === "Enter");
    });
    input.addEventListener("blur", () => done(true));
    element.replaceChildren(input);
    input.select();
  }

  /** Write the numbers, and set the strength of each colour by the largest of them. */
  fill() {
    let largest = this.scale ?? 0;
    let least = Math.min(0, Number(this.floor));
    const values = new Set();
    for (const cell of this.cells.values()) {
      cell.shown = this.content(cell.row, cell.col, cell.kind);
      if (cell.shown.value < least) least = cell.shown.value;
      if (cell.shown.value !== undefined && values.size < 2) values.add(cell.shown.value);
      const size = Math.abs(Number(cell.shown.value ?? 0));
      if (Number.isFinite(size)) largest = Math.max(largest, size);
    }
    const varied = values.size > 1; // a map of equal counts is no photograph
    this.bright = least === 0 && varied && this.cells.size > 300; // a photograph: larger values are lighter
    this.largest = largest;
    this.least = least;
    this.box.classList.toggle("bright", this.bright);
    for (const cell of this.cells.values()) {
      const { value, text } = cell.shown;
      const number = Number(value ?? 0);
      const size = Number.isFinite(number) ? Math.abs(number) / (largest || 1) : 0;
      cell.text = text ?? (value === undefined ? "" : short(value));
      cell.element.textContent = cell.text;
      cell.element.style.setProperty("--strength", size.toFixed(3));
      cell.element.style.background = cell.shown.colour ?? "";
      cell.element.classList.toggle("below", number < 0);
      cell.element.classList.toggle("special", value !== undefined && !Number.isFinite(number));
      this.label(cell, []);
    }
  }

  place({ row, col }) {
    return this.flat ? `column ${col}` : `row ${row}, column ${col}`;
  }

  label(cell, marks) {
    const { value, text } = cell.shown;
    const words = [this.place(cell)];
    if (value !== undefined) words.push(full(value));
    else if (text) words.push(text);
    if (cell.kind) words.push(cell.shown.kind ?? KINDS[cell.kind]);
    words.push(...marks.map((mark) => MARKS[mark]));
    if (value !== undefined && cell.text && cell.text !== full(value)) words.push(`shown as ${cell.text}`);
    cell.element.setAttribute("aria-label", words.join(", "));
    cell.element.title = words.join(", ");
  }

  /** Mark cells, given as [[row, col, mark], …], and remove all earlier marks. */
  mark(list) {
    for (const cell of this.marked) {
      cell.element.classList.remove(...Object.keys(MARKS));
      this.label(cell, []);
    }
    const found = new Map();
    for (const [row, col, mark] of list) {
      const cell = this.cells.get(`${row},${col}`);
      if (cell) found.set(cell, [...(found.get(cell) ?? []), mark]);
    }
    for (const [cell, marks] of found) {
      cell.element.classList.add(...marks);
      this.label(cell, [...new Set(marks)]);
      if (marks.includes("current")) this.box.setAttribute("aria-activedescendant", cell.element.id);
    }
    this.marked = [...found.keys()];
    this.box.classList.toggle("crowded", found.size > 300);
    this.active = list.find(([, , mark]) => mark === "current") ?? null;
  }

  /**
   * Draw a frame around marked places, [[row, col], …], or none; it slides from where it was.
   * @param {string} name its class
   * @param {number[][]} places
   */
  frame(name, places) {
    const corners = [this.rows, this.cols].map((list, axis) => {
      const wanted = new Set(places.map((place) => place[axis]));
      const found = list.flatMap(([i], position) => (wanted.has(i) ? [position] : []));
      return found.length ? [found[0], found.at(-1) - found[0] + 1] : null;
    });
    const element = this.frames.get(name);
    if (corners.includes(null)) {
      element?.remove();
      this.frames.delete(name);
      return;
    }
    const [[top, high], [left, wide]] = corners;
    const drawn = element ?? h("div", { class: `slide ${name}`, "aria-hidden": "true" });
    for (const [property, value] of Object.entries({ top, left, high, wide })) drawn.style.setProperty(`--${property}`, String(value));
    if (!element) this.box.append(drawn);
    this.frames.set(name, drawn);
  }

  key(event) {
    if (this.onEdit && (event.key === "Enter" || event.key === "F2") && this.active) {
      this.edit(this.cells.get(`${this.active[0]},${this.active[1]}`).element);
      event.preventDefault();
      return;
    }
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !this.onPoint || !this.rows.length || !this.cols.length) return;
    const place = (list, value) => list.findIndex(([i]) => i === value);
    const clamp = (list, i) => list[Math.max(0, Math.min(list.length - 1, i))][0];
    const [row, col] = this.active ?? [this.rows[0][0], this.cols[0][0]];
    this.onPoint(clamp(this.rows, place(this.rows, row) + step[0]), clamp(this.cols, place(this.cols, col) + step[1]), "key");
    event.preventDefault();
    event.stopPropagation();
  }

  /** Set the size of a cell in pixels; small cells show only colours. */
  fit(pixels) {
    const size = Math.max(this.smallest, Math.min(this.most, Math.floor(pixels)));
    this.size = size;
    this.box.style.setProperty("--cell", `${size}px`);
    this.box.classList.toggle("dots", size < GAPLESS);
    const digits = Math.max(1, ...this.cols.map(([i]) => String(i).length));
    this.box.classList.toggle("packed", size < 6.5 * digits + 3); // the numbers of the columns would touch
    const cells = [...this.cells.values()];
    const within = size - 2 * Math.min(4, Math.max(2, 0.07 * size)) - 2.5; // the ring and the edge of explorer.css
    const sized = (width) => Math.min(size * (size < 28 ? 0.5 : 0.42), within / width);
    const fits = (text) => sized(emsOf(text)) >= LEAST_TEXT;
    const texts = cells.map(({ text }) => {
      const number = Number(text);
      return fits(text) || !number || Math.abs(number) > 1 ? text : String(Number(number.toPrecision(1)));
    });
    const sorted = texts.filter((text) => text && fits(text)).map(emsOf).sort((a, b) => a - b);
    const usual = sorted[Math.floor(0.9 * sorted.length)] ?? 1; // a few longer numbers are smaller than the others
    this.box.style.setProperty("--text", `${sized(usual)}px`);
    for (const [i, { element }] of cells.entries()) {
      if (!element.firstElementChild && element.textContent !== texts[i]) element.textContent = texts[i];
      element.style.fontSize = !fits(texts[i]) ? "0" : emsOf(texts[i]) > usual ? `${sized(emsOf(texts[i]))}px` : "";
    }
    this.box.classList.toggle("tiny", size < WRITTEN || 2 * sorted.length < texts.filter(Boolean).length); // too small for numbers
  }

  /** Begin at the size of the plane that stood here before. */
  sizeAs({ most, smallest, size }) {
    Object.assign(this, { most, smallest });
    this.fit(size);
  }

  get columns() {
    return this.cols.length;
  }
}
