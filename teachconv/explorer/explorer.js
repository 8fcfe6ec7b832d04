// The conv explorer: draws one call of teachconv from the JSON that teachconv/explorer/document.py makes.
//
// This file derives no indices. A tap is one position of the filter; which taps a cell has, which input each
// of them reads and what is padding is all in the tables (doc.axes) that Python's taps.py made. This file only
// computes with the numbers it shows: products, and their exact sum rounded once, like tc.explain.
//
// Contents, in order: numbers, one call as data (View), elements, grids, the panels, the app.

// ---------------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------------

/** A number of the JSON in the call's type: integers as BigInt, floats as doubles. */
function parse(raw, doc) {
  if (!doc.format) return BigInt(raw);
  const value = Number(raw); // "NaN" and "Infinity" are strings in JSON
  return doc.dtype === "float32" ? Math.fround(value) : value;
}

/** A finite double as [integer, exponent]: integer * 2 ** exponent. */
function split(value) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const field = (high >>> 20) & 0x7ff;
  let integer = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
  if (field) integer |= 1n << 52n;
  return [high >>> 31 ? -integer : integer, Math.max(field, 1) - 1075];
}

/** The exact sum of exact products, rounded once to the call's type: reference.round_sum. */
class ExactSum {
  constructor(doc) {
    this.doc = doc;
    this.integer = 0n;
    this.exponent = 0;
    this.special = null; // the first NaN or infinity; from there on, IEEE arithmetic is used
  }

  add(a, b) {
    if (!this.doc.format) {
      this.integer += a * b;
    } else if (!Number.isFinite(a) || !Number.isFinite(b)) {
      this.special = (this.special ?? 0) + a * b;
    } else {
      const [m, e] = split(a);
      const [n, f] = split(b);
      if (m && n) this.addExact(m * n, e + f);
    }
  }

  addExact(integer, exponent) {
    if (exponent < this.exponent || !this.integer) {
      if (this.integer) this.integer <<= BigInt(this.exponent - exponent);
      this.exponent = exponent;
    }
    this.integer += integer << BigInt(exponent - this.exponent);
  }

  get value() {
    const { format, bits } = this.doc;
    if (!format) return BigInt.asIntN(bits, this.integer);
    if (this.special !== null) return this.special;
    const magnitude = this.integer < 0n ? -this.integer : this.integer;
    if (!magnitude) return 0;
    const length = magnitude.toString(2).length;
    const last = Math.max(this.exponent + length - format.precision, format.smallest_exponent);
    const shift = BigInt(last - this.exponent);
    let units = magnitude;
    if (shift > 0n) {
      units >>= shift;
      const rest = magnitude - (units << shift);
      const half = 1n << (shift - 1n);
      if (rest > half || (rest === half && units & 1n)) units += 1n; // half to even
    } else {
      units <<= -shift;
    }
    const value = Number(units) * 2 ** last;
    return Math.sign(Number(this.integer)) * (value > format.largest ? Infinity : value);
  }
}

/** A number with up to seven digits. */
export function full(value) {
  if (typeof value === "bigint") return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return String(Number(value.toPrecision(7))).replace("e+", "e");
}

/** A number in about five characters, for a cell; the cell's label has all its digits. */
export function short(value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return full(number);
  if (Number.isInteger(number) && Math.abs(number) < 1e5) return String(number);
  if (Math.abs(number) >= 100 && Math.abs(number) < 1e5) return number.toFixed(0);
  if (Math.abs(number) >= 1e-3 && Math.abs(number) < 100) return String(Number(number.toPrecision(2)));
  return number.toExponential(0).replace("e+", "e");
}

/** A number with up to four digits. */
const brief = (value) => (typeof value === "bigint" || !Number.isFinite(value) ? full(value) : full(Number(value.toPrecision(4))));

const same = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b));
const index = (cell) => (cell ? cell.join(", ") : "a zero between two cells");

// ---------------------------------------------------------------------------------------------
// One call as data
// ---------------------------------------------------------------------------------------------

/** Part of an array: its axes are ranges of indices in the whole array. */
class Held {
  constructor({ axes, values }, doc) {
    this.axes = axes;
    this.values = values.map((raw) => parse(raw, doc));
  }

  get(cell) {
    let position = 0;
    for (let axis = 0; axis < 4; axis++) {
      const [start, stop] = this.axes[axis];
      if (!(cell[axis] >= start && cell[axis] < stop)) return undefined;
      position = position * (stop - start) + cell[axis] - start; // the number's index in storage
    }
    return this.values[position];
  }

  indices(axis) {
    const [start, stop] = this.axes[axis];
    return Array.from({ length: stop - start }, (_, i) => start + i);
  }
}

/** One variant of one call. Cells are canonical: [n, row, col, channel], or a filter's four indices. */
class View {
  constructor(doc, variant) {
    const pick = (store, item) => (typeof item === "number" ? store[item] : item);
    this.doc = doc;
    this.variant = variant;
    this.kind = doc.kind;
    this.rows = pick(doc.axes, variant.rows);
    this.cols = pick(doc.axes, variant.cols);
    this.arrays = {};
    for (const [side, number] of Object.entries(variant.arrays)) {
      this.arrays[side] = heldArray(doc, number);
    }
    this.groupOfIn = new Map();
    this.groupOfOut = new Map();
    for (const group of doc.groups) {
      for (const [c] of group.in) this.groupOfIn.set(c, group);
      for (const o of group.out) this.groupOfOut.set(o, group);
    }
    this.known = new Map();
  }

  /** What is drawn of one side: for rows and for columns, a list of [index, kind of cell]. */
  drawn(side) {
    if (side !== "filter") return [this.rows[side], this.cols[side]];
    const held = this.arrays.filter;
    const sizes = held
      ? [held.indices(0), held.indices(1)]
      : [this.rows, this.cols].map((axis) => Array.from({ length: axis.filter_size }, (_, i) => i));
    return sizes.map((list) => list.map((i) => [i, ""]));
  }

  /** The filter depth that an input channel uses. */
  depth(c) {
    return this.groupOfIn.get(c)?.in.find(([channel]) => channel === c)?.[1] ?? 0;
  }

  /** The cell at (row, col) of a side's plane, for the chosen image and channels. */
  cell(side, row, col, { n, c, o }) {
    if (side === "filter") return [row, col, this.depth(c), o];
    return [n, row, col, side === "in" ? c : o];
  }

  number(side, cell) {
    return this.arrays[side]?.get(cell);
  }

  /** A cell as the caller numbers it, as CellNames.name; null for a zero between the caller's cells. */
  name(side, cell) {
    const names = this.doc.cell_names?.[side];
    if (!names) return cell;
    const at = side === "filter" ? this.filterName(names, cell) : this.activationName(names, cell, this.variant.shapes[side]);
    return at && [...names.letters].map((letter) => at[letter]);
  }

  filterName(names, [row, col, third, fourth]) {
    const [rows, cols, depth] = this.variant.shapes.filter;
    if (names.split) {
      third += Math.floor(fourth / names.split) * depth;
      fourth %= names.split;
    }
    const [i, o] = names.canonical.slice(2);
    return { H: names.flip ? rows - 1 - row : row, W: names.flip ? cols - 1 - col : col, [i]: third, [o]: fourth };
  }

  activationName(names, [n, row, col, channel], [images, ...sizes]) {
    const steps = names.stuffing ?? [1, 1];
    const places = [row, col].map((i, axis) => {
      if (i >= sizes[axis]) return Math.ceil(i / steps[axis]); // beyond the last cell the padding begins at once
      return i >= 0 && i % steps[axis] ? null : Math.floor(i / steps[axis]);
    });
    if (places.includes(null)) return null;
    const part = names.part_channels ? Math.floor(channel / names.part_channels) : 0;
    return { N: n + part * images, H: places[0], W: places[1], C: names.part_channels ? channel % names.part_channels : channel };
  }

  /** The shape of a side as the caller has it. */
  shape(side) {
    const shape = this.variant.shapes[side];
    if (shape.includes(0)) return shape;
    const corners = [shape.map(() => 0), shape.map((size) => size - 1)].map((cell) => this.name(side, cell) ?? shape);
    return corners[0].map((i, axis) => Math.max(i, corners[1][axis]) + 1);
  }

  /** Every tap of one cell of the result, in the order of tc.explain, with its running sum. */
  taps(cell) {
    const found = [];
    if (this.kind === "conv2d") {
      const [n, row, col, o] = cell;
      for (const r of this.rows.gather[row] ?? []) {
        for (const q of this.cols.gather[col] ?? []) {
          for (const [c, i] of this.groupOfOut.get(o).in) {
            found.push(this.tap(r[2] || q[2], [n, r[1], q[1], c], [r[0], q[0], i, o]));
          }
        }
      }
    } else if (this.kind === "conv2d_backprop_input") {
      const [n, row, col, c] = cell;
      for (const r of this.rows.scatter[row] ?? []) {
        for (const q of this.cols.scatter[col] ?? []) {
          for (const o of this.groupOfIn.get(c).out) {
            found.push(this.tap(r[2] || q[2], [n, r[1], q[1], o], [r[0], q[0], this.depth(c), o]));
          }
        }
      }
    } else {
      const [tapRow, tapCol, i, o] = cell;
      const c = this.groupOfOut.get(o).in.find(([, depth]) => depth === i)[0];
      for (const n of this.arrays[this.doc.source].indices(0)) {
        for (const [outRow, rows] of Object.entries(this.rows.gather)) {
          const r = rows.find(([tap]) => tap === tapRow);
          for (const [outCol, cols] of Object.entries(this.cols.gather)) {
            const q = cols.find(([tap]) => tap === tapCol);
            found.push(this.tap(r[2] || q[2], [n, r[1], q[1], c], [n, Number(outRow), Number(outCol), o]));
          }
        }
      }
    }
    const sum = new ExactSum(this.doc);
    const list = found.filter((tap) => this.name(this.doc.source, tap.source)); // a zero between two cells is no tap
    let missing = 0;
    for (const tap of list) {
      if (!tap.outside && (tap.value === undefined || tap.weight === undefined)) missing += 1;
      else if (!tap.outside) sum.add(tap.value, tap.weight);
      tap.running = missing ? undefined : sum.value;
    }
    const bias = this.doc.bias ? parse(this.doc.bias[cell[3]], this.doc) : null;
    if (bias !== null) sum.add(bias, this.doc.format ? 1 : 1n);
    if (this.kind === "conv2d_backprop_filter" && !this.doc.empty) missing += this.variant.terms - list.length;
    return { list, missing, bias, total: missing ? undefined : sum.value };
  }

  tap(outside, source, operand) {
    const value = outside ? undefined : this.number(this.doc.source, source);
    const weight = this.number(this.doc.operand, operand);
    const product = value === undefined || weight === undefined ? undefined : value * weight;
    return { outside: Boolean(outside), source, operand, value, weight, product };
  }

  /** The products that one cell of the source is part of: the inverse of the taps. */
  feeds(cell) {
    const [n, row, col, channel] = cell;
    const found = [];
    const axis = this.doc.source === "in" ? "scatter" : "gather";
    for (const r of this.rows[axis][row] ?? []) {
      for (const q of this.cols[axis][col] ?? []) {
        if (r[2] || q[2]) continue;
        if (this.doc.source === "out") {
          for (const [c, i] of this.groupOfOut.get(channel).in) {
            found.push(this.fed(cell, [r[0], q[0], i, channel], [n, r[1], q[1], c]));
          }
        } else {
          for (const o of this.groupOfIn.get(channel).out) {
            const tap = [r[0], q[0], this.depth(channel), o];
            const out = [n, r[1], q[1], o];
            if (this.kind === "conv2d") found.push(this.fed(cell, tap, out));
            else found.push(this.fed(cell, out, tap));
          }
        }
      }
    }
    return found;
  }

  fed(source, operand, result) {
    return { ...this.tap(false, source, operand), result };
  }

  /** The value of one cell of the result: the backend's, or else the sum of its taps. */
  value(cell) {
    const result = this.arrays[this.doc.result];
    if (result) return result.get(cell);
    const key = cell.join();
    if (!this.known.has(key)) this.known.set(key, this.taps(cell).total);
    return this.known.get(key);
  }

  get computedBy() {
    const { backend, algorithm } = this.doc;
    if (!this.arrays[this.doc.result]) return "summed on this page from Python's tap tables";
    return `computed by ${backend}${algorithm ? `, ${algorithm}` : ""}`;
  }
}

const parsedArrays = new WeakMap(); // an array is parsed once, however many variants share it
function heldArray(doc, number) {
  const raw = typeof number === "number" ? doc.arrays[number] : number;
  if (!parsedArrays.has(raw)) parsedArrays.set(raw, new Held(raw, doc));
  return parsedArrays.get(raw);
}

// ---------------------------------------------------------------------------------------------
// Elements
// ---------------------------------------------------------------------------------------------

let serial = 0;
const unique = (name) => `tcx-${name}-${(serial += 1)}`;

/** An element with attributes, on… handlers and children; strings are inserted as text, never as markup. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** A table. Columns whose name begins with "<" hold text, the others hold numbers. */
function table(caption, columns, rows, each = () => ({})) {
  const heads = columns.map((name) =>
    h("th", { scope: "col", class: name.startsWith("<") ? "words" : null }, name.replace("<", "")),
  );
  const body = rows.map((row, i) =>
    h("tr", each(i), row.map((cell, j) => h("td", { class: columns[j].startsWith("<") ? "words" : null }, cell))),
  );
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)));
}

// ---------------------------------------------------------------------------------------------
// Grids
// ---------------------------------------------------------------------------------------------

const KINDS = {
  padding: "padding",
  crop: "cropped by negative padding",
  unread: "read by no tap",
  outside: "outside the input",
  gap: "an inserted zero",
};
const MARKS = {
  window: "in the window",
  current: "this cell",
  fed: "uses it",
  tap: "this product",
  other: "in the other call's window",
  differs: "differs",
};

/** A plane of cells with row and column numbers, for the pointer and the arrow keys. */
class Grid {
  constructor({ title, note = "", rows, cols, content, onPoint = null, most = 44 }) {
    Object.assign(this, { rows, cols, content, onPoint, most });
    this.cells = new Map();
    this.marked = [];
    this.box = h("div", {
      class: "cells", role: "grid", "aria-label": title, tabindex: onPoint ? "0" : null,
      "aria-readonly": "true",
      onkeydown: (event) => this.key(event),
    });
    this.box.style.setProperty("--cols", cols.length);
    const number = (i, role) => h("span", { class: i % 5 ? "number off" : "number", role }, String(i));
    const head = cols.map(([col]) => number(col, "columnheader"));
    this.box.append(h("div", { role: "row", class: "row" }, h("span", { class: "number", role: "columnheader" }), head));
    for (const [row, rowKind] of rows) {
      const line = h("div", { role: "row", class: "row" }, number(row, "rowheader"));
      for (const [col, colKind] of cols) line.append(this.cell(row, rowKind, col, colKind));
      this.box.append(line);
    }
    if (onPoint) this.listen();
    if (!rows.length || !cols.length) this.box.append(h("p", { class: "empty" }, "no cells"));
    this.element = h("figure", { class: "grid" },
      h("figcaption", {}, h("b", {}, title), note ? h("small", {}, note) : null), this.box);
    this.fill();
  }

  cell(row, rowKind, col, colKind) {
    const kind = [rowKind, colKind].find((k) => k === "outside" || k === "padding") ?? (rowKind || colKind);
    const element = h("span", { class: `cell ${kind}`, role: "gridcell", id: unique("cell"), "data-row": row, "data-col": col });
    this.cells.set(`${row},${col}`, { element, row, col, kind });
    return element;
  }

  listen() {
    const point = (event) => {
      const found = event.target.closest?.("[role=gridcell]");
      if (found) this.onPoint(Number(found.dataset.row), Number(found.dataset.col));
    };
    this.box.addEventListener("pointerover", (event) => event.pointerType === "mouse" && point(event));
    this.box.addEventListener("click", point);
  }

  /** Write the numbers, and set the strength of each colour by the largest of them. */
  fill() {
    let largest = 0;
    let least = 0;
    for (const cell of this.cells.values()) {
      cell.shown = this.content(cell.row, cell.col, cell.kind);
      if (cell.shown.value < least) least = cell.shown.value;
      const size = Math.abs(Number(cell.shown.value ?? 0));
      if (Number.isFinite(size)) largest = Math.max(largest, size);
    }
    this.box.classList.toggle("bright", least === 0 && this.cells.size > 300); // a photograph: larger values are lighter
    for (const cell of this.cells.values()) {
      const { value, text } = cell.shown;
      const number = Number(value ?? 0);
      const size = Number.isFinite(number) ? Math.abs(number) / (largest || 1) : 0;
      cell.text = text ?? (value === undefined ? "" : short(value));
      cell.element.textContent = cell.text;
      cell.element.style.setProperty("--strength", size.toFixed(3));
      cell.element.classList.toggle("below", number < 0);
      cell.element.classList.toggle("special", value !== undefined && !Number.isFinite(number));
      this.label(cell, []);
    }
  }

  label(cell, marks) {
    const { value, text } = cell.shown;
    const words = [`row ${cell.row}, column ${cell.col}`];
    if (value !== undefined) words.push(full(value));
    else if (text) words.push(text);
    if (cell.kind) words.push(cell.shown.kind ?? KINDS[cell.kind]);
    words.push(...marks.map((mark) => MARKS[mark]));
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
    this.active = list.find(([, , mark]) => mark === "current") ?? null;
  }

  key(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !this.onPoint || !this.rows.length || !this.cols.length) return;
    const place = (list, value) => list.findIndex(([i]) => i === value);
    const clamp = (list, i) => list[Math.max(0, Math.min(list.length - 1, i))][0];
    const [row, col] = this.active ?? [this.rows[0][0], this.cols[0][0]];
    this.onPoint(clamp(this.rows, place(this.rows, row) + step[0]), clamp(this.cols, place(this.cols, col) + step[1]));
    event.preventDefault();
    event.stopPropagation();
  }

  /** Set the size of a cell in pixels; small cells show only colours. */
  fit(pixels) {
    const size = Math.max(7, Math.min(this.most, Math.floor(pixels)));
    this.box.style.setProperty("--cell", `${size}px`);
    this.box.classList.toggle("tiny", size < 24);
    const longest = Math.max(1, ...[...this.cells.values()].map((cell) => cell.text.length));
    this.box.style.setProperty("--text", `${Math.max(7, Math.min(size * 0.42, (size - 3) / (0.58 * longest)))}px`);
  }

  get columns() {
    return this.cols.length;
  }
}

// ---------------------------------------------------------------------------------------------
// Panels: the sum of one cell
// ---------------------------------------------------------------------------------------------

const ROWS = 120; // rows of a table of products before it is expanded

/** "[0, 1, 2, 0]" with the name of its side. */
const named = (view, side, cell) => `${view.doc.names[side]}[${index(view.name(side, cell))}]`;

/** Every product of one cell of the result. */
function sumPanel(view, cell, app) {
  const { doc } = view;
  const taps = view.taps(cell);
  const inside = taps.list.filter((tap) => !tap.outside);
  const outside = taps.list.length - inside.length;
  const value = view.value(cell);
  const parts = [h("h2", { class: "headline" }, `${named(view, doc.result, cell)} = `, h("output", {}, value === undefined ? "?" : full(value)))];
  let words = `The sum of ${plural(inside.length, "product")}`;
  if (outside) words += `; ${plural(outside, "tap falls", "taps fall")} into the padding and contribute${outside === 1 ? "s" : ""} nothing`;
  if (taps.missing) words += `; ${plural(taps.missing, "product")} of it ${taps.missing === 1 ? "is" : "are"} not on this page`;
  words += `. The value is ${view.computedBy}.`;
  if (taps.total !== undefined && value !== undefined && !same(taps.total, value)) {
    words += ` The exact sum, rounded once, is ${full(taps.total)}: the difference is the backend's rounding.`;
  }
  parts.push(h("p", {}, words));
  if (taps.list.length) parts.push(h("div", { class: "products-and-taps" }, productGrids(view, taps, app), tapTable(view, taps, app)));
  if (taps.bias !== null) parts.push(h("p", { class: "bias" }, `+ bias ${full(taps.bias)} = ${full(taps.total ?? NaN)}`));
  return parts;
}

/** The terms of the sum: one grid of products for each channel (or image) that is summed over. */
function productGrids(view, taps, app) {
  const { doc } = view;
  const filterGradient = doc.kind === "conv2d_backprop_filter";
  const groups = new Map();
  for (const tap of taps.list) {
    const key = filterGradient ? tap.source[0] : tap.source[3];
    groups.set(key, [...(groups.get(key) ?? []), tap]);
  }
  const word = filterGradient ? "image" : `${doc.names[doc.source]} channel`;
  const grids = [...groups].slice(0, app.allChannels ? undefined : 8).map(([key, list]) => {
    const sum = new ExactSum(doc);
    const rows = [...new Set(list.map((tap) => tap.operand[filterGradient ? 1 : 0]))];
    const cols = [...new Set(list.map((tap) => tap.operand[filterGradient ? 2 : 1]))];
    let complete = true;
    for (const tap of list.filter((t) => !t.outside)) {
      if (tap.product === undefined) complete = false;
      else sum.add(tap.value, tap.weight);
    }
    const cells = list.map((tap) => productCell(view, tap, app));
    const grid = h("div", { class: list.length > 64 ? "products dense" : "products" }, cells);
    grid.style.setProperty("--cols", cols.length);
    const total = complete ? full(sum.value) : "?";
    return h("figure", { class: "unfolded", "data-rows": rows.length },
      h("figcaption", {}, `${word} ${key}`), grid, h("p", { class: "partial" }, `adds up to ${total}`));
  });
  const more = groups.size - grids.length;
  const button = more > 0
    ? h("button", { type: "button", class: "more", onclick: () => app.showAll() }, `${plural(more, "more grid")}`)
    : null;
  return h("div", { class: "unfold" }, grids, button);
}

function productCell(view, tap, app) {
  const point = { onpointerenter: () => app.light(tap), onpointerleave: () => app.light(null) };
  if (tap.outside) return h("span", { class: "product padding", ...point, title: "in the padding" }, h("small", {}, "padding"));
  if (tap.product === undefined) return h("span", { class: "product" }, h("small", {}, "not here"));
  const factors = `${brief(tap.value)} × ${brief(tap.weight)}`;
  const element = h("span", { class: "product", ...point, title: `${full(tap.value)} × ${full(tap.weight)} = ${full(tap.product)}` },
    h("small", {}, factors), h("b", {}, brief(tap.product)));
  return element;
}

function tapTable(view, taps, app) {
  const { doc } = view;
  const shown = app.allRows ? taps.list : taps.list.slice(0, ROWS);
  const factor = doc.kind === "conv2d_backprop_filter" ? doc.names.out : "filter";
  const source = doc.names[doc.source];
  const columns = [source, factor, `${source} value`, `${factor} value`, "product", "running sum"];
  const number = (value) => (value === undefined ? "not here" : full(value));
  const rows = shown.map((tap) => [
    index(view.name(doc.source, tap.source)),
    index(view.name(doc.operand, tap.operand)),
    tap.outside ? "padding" : number(tap.value),
    number(tap.weight),
    tap.outside ? "" : number(tap.product),
    tap.running === undefined ? "" : full(tap.running),
  ]);
  const each = (i) => ({
    class: shown[i].outside ? "outside" : null,
    onpointerenter: () => app.light(shown[i]),
    onpointerleave: () => app.light(null),
  });
  const rest = taps.list.length - shown.length;
  const more = rest
    ? h("button", { type: "button", class: "more", onclick: () => app.showAll() }, `show ${plural(rest, "more tap")}`)
    : null;
  return h("div", { class: "taps" }, table("Every tap, with the running sum", columns, rows, each), more);
}

/** The cells of the result that one cell of the source contributes to. */
function feedPanel(view, cell) {
  const { doc } = view;
  const found = view.feeds(cell);
  const value = view.number(doc.source, cell);
  const number = (v) => (v === undefined ? "not here" : full(v));
  const factor = doc.kind === "conv2d_backprop_filter" ? doc.names.out : "filter";
  const rows = found.slice(0, 400).map((tap) => [
    index(view.name(doc.result, tap.result)),
    index(view.name(doc.operand, tap.operand)),
    number(tap.weight),
    number(tap.product),
  ]);
  const places = new Set(found.map((tap) => tap.result.join())).size;
  return [
    h("h2", { class: "headline" }, `${named(view, doc.source, cell)} = `, h("output", {}, number(value))),
    h("p", {}, found.length
      ? `The inverse: this cell is in ${plural(found.length, "product")} and contributes to ${plural(places, "cell")} of the ${doc.names[doc.result]}.`
      : `The inverse: this cell is in no window and contributes to nothing.`),
    found.length ? table("What this cell contributes to", [doc.names[doc.result], factor, `${factor} value`, "product"], rows) : null,
    found.length > rows.length ? h("p", {}, `… and ${found.length - rows.length} more`) : null,
  ];
}

// ---------------------------------------------------------------------------------------------
// Panels: the transposed convolution, four ways; the matrix; the overlap
// ---------------------------------------------------------------------------------------------

const WORK = 60_000; // the most products that a panel sums

/** The indices of one axis that are not padding. */
const inside = (list) => list.filter(([, kind]) => kind !== "padding" && kind !== "outside").map(([i]) => i);

/** Sum maps: "row,col" -> ExactSum. */
class Sums {
  constructor(view, channel) {
    this.view = view;
    this.map = new Map();
    const [rows, cols] = view.drawn("in");
    for (const r of inside(rows)) for (const q of inside(cols)) this.map.set(`${r},${q}`, new ExactSum(view.doc));
    const one = view.doc.format ? 1 : 1n;
    const bias = view.doc.bias ? parse(view.doc.bias[channel], view.doc) : null;
    if (bias !== null) for (const sum of this.map.values()) sum.add(bias, one);
  }

  add(row, col, a, b) {
    if (a !== undefined && b !== undefined) this.map.get(`${row},${col}`)?.add(a, b);
  }

  get(row, col) {
    return this.map.get(`${row},${col}`)?.value;
  }
}

/** Each way makes the whole plane [n, :, :, c] of the result. x is the source, w the filter. */
const WAYS = {
  /** Every input cell adds the filter, times its value, to the output. */
  scatter(view, { n, c }) {
    const sums = new Sums(view, c);
    for (const o of view.groupOfIn.get(c).out) {
      for (const [m, rows] of Object.entries(view.rows.gather)) {
        for (const [k, cols] of Object.entries(view.cols.gather)) {
          const x = view.number("out", [n, Number(m), Number(k), o]);
          for (const [tapRow, row, cutRow] of rows) {
            for (const [tapCol, col, cutCol] of cols) {
              if (!cutRow && !cutCol) sums.add(row, col, x, view.number("filter", [tapRow, tapCol, view.depth(c), o]));
            }
          }
        }
      }
    }
    return sums;
  },

  /** An ordinary convolution at stride 1 of the zero-inserted input with the flipped filter. */
  insertion(view, { n, c }) {
    const sums = new Sums(view, c);
    const rowAt = new Map(view.rows.inserted);
    const colAt = new Map(view.cols.inserted);
    for (const o of view.groupOfIn.get(c).out) {
      for (const [row, rows] of Object.entries(view.rows.windows)) {
        for (const [col, cols] of Object.entries(view.cols.windows)) {
          for (const [placeRow, tapRow] of rows) {
            for (const [placeCol, tapCol] of cols) {
              const [m, k] = [rowAt.get(placeRow), colAt.get(placeCol)];
              if (!m || !k || m[1] || k[1]) continue; // an inserted zero or padding contributes nothing
              sums.add(row, col, view.number("out", [n, m[0], k[0], o]), view.number("filter", [tapRow, tapCol, view.depth(c), o]));
            }
          }
        }
      }
    }
    return sums;
  },

  /** The forward op is linear: its gradient with respect to a cell is its response to a 1 there, weighted by x. */
  gradient(view, { n, c }) {
    const sums = new Sums(view, c);
    for (const o of view.groupOfIn.get(c).out) {
      for (const key of sums.map.keys()) {
        const [row, col] = key.split(",").map(Number);
        for (const [m, k, weight] of response(view, row, col, c, o)) {
          sums.add(row, col, view.number("out", [n, m, k, o]), weight);
        }
      }
    }
    return sums;
  },

  /** y = Cᵀ x, entry by entry. */
  matrix(view, { n, c }) {
    const sums = new Sums(view, c);
    for (const o of view.groupOfIn.get(c).out) {
      for (const { out, into, weight } of entries(view, c, o)) {
        sums.add(into[0], into[1], view.number("out", [n, ...out, o]), weight);
      }
    }
    return sums;
  },
};

/** The forward op's response to a plane of zeros with a 1 at (row, col): [out_row, out_col, response]. */
function response(view, row, col, c, o) {
  const found = [];
  for (const [m, rows] of Object.entries(view.rows.gather)) {
    const r = rows.find(([, index]) => index === row);
    if (!r) continue;
    for (const [k, cols] of Object.entries(view.cols.gather)) {
      const q = cols.find(([, index]) => index === col);
      if (q) found.push([Number(m), Number(k), view.number("filter", [r[0], q[0], view.depth(c), o])]);
    }
  }
  return found;
}

/** The stored entries of C for one pair of channels, at row `out` and column `into`. */
function entries(view, c, o) {
  const found = [];
  for (const [m, rows] of Object.entries(view.rows.gather)) {
    for (const [k, cols] of Object.entries(view.cols.gather)) {
      for (const [tapRow, row, cutRow] of rows) {
        for (const [tapCol, col, cutCol] of cols) {
          if (cutRow || cutCol) continue;
          const tap = [tapRow, tapCol, view.depth(c), o];
          found.push({ out: [Number(m), Number(k)], into: [row, col], tap, weight: view.number("filter", tap) });
        }
      }
    }
  }
  return found;
}

/** The number of products in the planes of one panel. */
function work(view, { c }) {
  const pairs = (axis) => Object.values(axis.gather).reduce((sum, taps) => sum + taps.length, 0);
  return pairs(view.rows) * pairs(view.cols) * view.groupOfIn.get(c).out.length;
}

function fourWays(view, app) {
  const { state } = app;
  if (work(view, state) > WORK) {
    return [h("p", {}, `${plural(work(view, state), "product")} are too many to sum four times here: make the call smaller.`)];
  }
  const cell = app.cell();
  const [, row, col, c] = cell;
  const want = view.taps(cell).total;
  const planes = Object.fromEntries(Object.entries(WAYS).map(([name, way]) => [name, way(view, state)]));
  const verdict = (name) => {
    const cells = [...planes[name].map].map(([key, sum]) => [sum.value, view.taps([cell[0], ...key.split(",").map(Number), c]).total]);
    const known = cells.filter(([, total]) => total !== undefined);
    const equal = known.filter(([got, total]) => same(got, total)).length;
    return h("p", { class: equal === known.length ? "equal" : "differs", "data-way": name },
      `this cell: `, h("output", {}, full(planes[name].get(row, col) ?? NaN)), `; `,
      equal === known.length ? `✓ equal in all ${plural(known.length, "cell")}` : `✗ equal in ${equal} of ${known.length} cells`);
  };
  const result = (name, marks) => app.small("result", view.drawn("in"), (r, q) => planes[name].get(r, q), marks, (r, q) => app.select(r, q));
  const source = (content, marks, title) => app.small(title, view.drawn("out"), content, marks, (m, k) => app.follow(m, k));
  const taps = view.taps(cell).list.filter((tap) => tap.source[3] === state.o);
  const window = taps.map((tap) => [tap.source[1], tap.source[2], "window"]);
  const x = (m, k) => view.number("out", [state.n, m, k, state.o]);
  const impulse = new Map(response(view, row, col, c, state.o).map(([m, k, weight]) => [`${m},${k}`, weight]));
  const zero = view.doc.format ? 0 : 0n;
  const way = (title, words, grids, name) => h("article", { class: "way" }, h("h3", {}, title), h("p", {}, words), h("div", { class: "strip" }, grids), verdict(name));
  return [
    h("p", { class: "intro" }, want === undefined ? "" : `Cell [${index(view.name(view.doc.result, cell))}] is `, h("output", {}, want === undefined ? "" : full(want)), ` in each way. Point at a cell of any result.`),
    h("div", { class: "ways" },
      way("1. Scatter", "Each input cell adds the filter, times its value, to the output. The windows are those of the forward op, but they are written instead of read.",
        [source(x, window, "input"), result("scatter", [...app.fedMarks(), [row, col, "current"]])], "scatter"),
      way("2. Zeros inserted, filter flipped", "An ordinary convolution at stride 1 over the input with stride − 1 zeros after each cell.",
        [insertedGrid(view, app), flippedGrid(view, app)], "insertion"),
      way("3. Gradient of the forward op", "Put a 1 into this cell of the forward op's input: the response shows how much each output changes. Its sum, weighted by the input above, is the gradient.",
        [source((m, k) => impulse.get(`${m},${k}`) ?? zero, [...impulse.keys()].map((key) => [...key.split(",").map(Number), "window"]), "response"), result("gradient", [[row, col, "current"]])], "gradient"),
      way("4. The matrix C, transposed", "The forward op is y = C x. Its transpose is Cᵀ: this cell is one row of it.", matrices(view, app), "matrix")),
  ];
}

/** The zero-inserted input, with the window of the current cell. */
function insertedGrid(view, app) {
  const { n, o } = app.state;
  const kind = (list) => list.map(([place, what]) => [place, what === null ? "gap" : what[1] ? "outside" : ""]);
  const rows = new Map(view.rows.inserted);
  const cols = new Map(view.cols.inserted);
  const zero = view.doc.format ? 0 : 0n;
  const content = (r, q) => {
    const [m, k] = [rows.get(r), cols.get(q)];
    if (m && k && !m[1] && !k[1]) return view.number("out", [n, m[0], k[0], o]);
    return m === null || k === null ? zero : undefined;
  };
  const [, row, col] = app.cell();
  const marks = (view.rows.windows[row] ?? []).flatMap(([r]) => (view.cols.windows[col] ?? []).map(([q]) => [r, q, "window"]));
  return app.small("zero-inserted", [kind(view.rows.inserted), kind(view.cols.inserted)], content, marks);
}

function flippedGrid(view, app) {
  const { c, o } = app.state;
  const [, row, col] = app.cell();
  const order = (windows) => (windows ?? []).map(([, tap]) => [tap, ""]);
  const lists = [order(view.rows.windows[row]), order(view.cols.windows[col])];
  return app.small("filter, flipped", lists, (r, q) => view.number("filter", [r, q, view.depth(c), o]), []);
}

/** C and its transpose; the entry under the pointer is highlighted in both. */
function matrices(view, app) {
  const { c, o } = app.state;
  const places = (side) => {
    const [rows, cols] = view.drawn(side);
    return inside(rows).flatMap((r) => inside(cols).map((q) => `${r},${q}`));
  };
  const [outs, ins] = [places("out"), places("in")];
  const known = new Set(ins); // only the part that is shown of a large call
  const list = entries(view, c, o).filter(({ into }) => known.has(into.join()));
  if (list.length > 2500 || Math.max(outs.length, ins.length) > 260) {
    return [h("p", {}, `One pair of channels has ${outs.length} × ${ins.length} entries: too many to draw. tc.conv_matrix gives the matrix.`)];
  }
  const readout = h("p", { class: "readout", "aria-live": "polite" }, "Point at an entry.");
  const at = { out: new Map(outs.map((key, i) => [key, i])), into: new Map(ins.map((key, i) => [key, i])) };
  const drawings = [];
  const light = (entry) => {
    for (const drawing of drawings) drawing.light(entry);
    const tap = view.name("filter", entry.tap);
    readout.textContent = `C[${view.doc.names.out} (${index(entry.out)}), ${view.doc.names.in} (${index(entry.into)})] = filters[${index(tap)}] = ${full(entry.weight)}`;
    app.lightEntry(entry);
  };
  const cell = app.cell();
  drawings.push(new Matrix("C", list, at, "out", "into", light), new Matrix("Cᵀ", list, at, "into", "out", light));
  const line = view.kind === "conv2d" ? drawings[0] : drawings[1];
  line.band(`${cell[1]},${cell[2]}`);
  const part = app.doc.shown ? h("p", { class: "readout" }, "The part of the matrix for the cells that are shown.") : null;
  return [...drawings.map((drawing) => drawing.element), part, readout].filter(Boolean);
}

class Matrix {
  constructor(title, list, at, rowSide, colSide, light) {
    Object.assign(this, { at, rowSide, colSide });
    const [rows, cols] = [at[rowSide].size, at[colSide].size];
    const svg = (tag, attributes) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      return element;
    };
    this.svg = svg("svg", { viewBox: `-0.5 -0.5 ${cols + 1} ${rows + 1}`, role: "img",
      "aria-label": `${title}: ${rows} rows, ${cols} columns, ${list.length} entries` });
    this.svg.style.width = `${cols * Math.min(1.1, Math.max(0.22, 24 / Math.max(rows, cols)))}em`;
    this.svg.append(svg("rect", { class: "frame", x: 0, y: 0, width: cols, height: rows }));
    this.stripe = svg("rect", { class: "stripe", x: 0, width: cols, height: 1, y: -2 });
    this.spot = svg("rect", { class: "spot", width: 1, height: 1, x: -2, y: -2 });
    this.svg.append(this.stripe);
    const largest = Math.max(...list.map(({ weight }) => Math.abs(Number(weight)) || 0)) || 1;
    for (const entry of list) {
      const rect = svg("rect", { x: this.place(entry, colSide), y: this.place(entry, rowSide), width: 1, height: 1,
        class: entry.weight < 0 ? "entry below" : "entry" });
      rect.dataset.entry = `${entry.out.join()};${entry.into.join()};${full(entry.weight)}`;
      rect.style.setProperty("--strength", ((Math.abs(Number(entry.weight)) || 0) / largest).toFixed(3));
      rect.addEventListener("pointerenter", () => light(entry));
      rect.addEventListener("click", () => light(entry));
      this.svg.append(rect);
    }
    this.svg.append(this.spot);
    this.element = h("figure", { class: "matrix" }, h("figcaption", {}, h("b", {}, title), h("small", {}, `${rows} × ${cols}`)), this.svg);
  }

  place(entry, side) {
    return this.at[side].get(entry[side].join());
  }

  light(entry) {
    this.spot.setAttribute("x", this.place(entry, this.colSide));
    this.spot.setAttribute("y", this.place(entry, this.rowSide));
  }

  band(key) {
    this.stripe.setAttribute("y", this.at[this.rowSide].get(key) ?? -2);
  }
}

/** The number of products that each cell of the "in" side is in; uneven counts cause the checkerboard. */
function overlapPanel(view, app) {
  const count = (axis, i) => (axis.scatter[i] ?? []).filter(([, , out]) => !out).length;
  const counts = (r, q) => count(view.rows, r) * count(view.cols, q);
  const [rows, cols] = view.drawn("in");
  const all = inside(rows).flatMap((r) => inside(cols).map((q) => counts(r, q)));
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const words = view.kind === "conv2d"
    ? "How many windows read each input cell."
    : "How many products each cell of the result is the sum of, for one pair of channels. Where neighbours differ, a constant input gives an uneven output: the checkerboard of transposed convolutions. Away from the borders the counts are equal if the stride divides the filter's size.";
  const content = (r, q) => (inside([[r, rows.find(([i]) => i === r)[1]], [q, cols.find(([i]) => i === q)[1]]]).length === 2 ? counts(r, q) : undefined);
  return [h("p", {}, words), all.length ? h("p", { class: "range" }, `From ${least} to ${most}.`) : null,
    app.small("overlap", [rows, cols], content, [])];
}

// ---------------------------------------------------------------------------------------------
// Panels: geometry, trace, another result beside this one
// ---------------------------------------------------------------------------------------------

function geometryPanel(view) {
  const lists = [["Rows", view.rows.formulas], ["Columns", view.cols.formulas]];
  const alike = lists[0][1].join() === lists[1][1].join();
  const shown = alike ? [["Rows and columns", lists[0][1]]] : lists;
  return [
    h("p", { class: "facts" }, view.variant.facts.map((line) => h("span", {}, line.trim()))),
    h("div", { class: "formulas" }, shown.map(([title, lines]) => h("div", {}, h("h3", {}, title), h("pre", {}, lines.join("\n"))))),
  ];
}

function tracePanel(doc) {
  return [
    h("p", {}, "The stages of this call, from the Python function to the loops that ran, timed when everything was loaded. Open a stage to see its source."),
    h("ol", { class: "trace" }, doc.trace.map((stage) => {
      const lines = stage.source.map((text, i) => {
        const number = stage.first_line + i;
        return h("span", { class: number === stage.line ? "here" : null }, h("i", {}, String(number).padStart(4)), ` ${text}`);
      });
      const item = h("li", {}, h("details", {},
        h("summary", {}, h("b", {}, stage.name), h("span", { class: "time" }, `${stage.microseconds.toLocaleString("en")} µs`), h("code", {}, stage.place)),
        stage.arrays.length ? h("p", {}, stage.arrays.join("; ")) : null,
        stage.note ? h("pre", { class: "note" }, stage.note) : null,
        h("pre", { class: "source", tabindex: "0", "aria-label": `source of ${stage.place}` }, lines)));
      item.style.setProperty("--depth", stage.depth);
      return item;
    })),
  ];
}

/** Another result's plane, and the difference from this one. */
function besidePanel(view, app) {
  const { beside } = app.data;
  const { doc } = view;
  const theirs = heldArray(doc, beside.array);
  const flags = beside.differs === undefined ? null : heldArray(doc, beside.differs);
  const ours = view.arrays[doc.result];
  if (!ours) return [h("p", {}, "The comparison is with the original call: choose its arguments again to see it.")];
  const plane = (array, r, q) => array.get(view.cell(doc.result, r, q, app.state));
  const other = doc.result === "filter" ? [theirs.indices(0), theirs.indices(1)] : [theirs.indices(1), theirs.indices(2)];
  const drawn = view.drawn(doc.result).map((list, axis) => [...new Set([...inside(list), ...other[axis]])].sort((a, b) => a - b).map((i) => [i, ""]));
  const difference = (r, q) => {
    const [a, b] = [plane(ours, r, q), plane(theirs, r, q)];
    return a === undefined || b === undefined ? undefined : b - a;
  };
  const differs = (r, q) => {
    if (flags) return Boolean(plane(flags, r, q));
    const [a, b] = [plane(ours, r, q), plane(theirs, r, q)];
    return a === undefined || b === undefined || !same(a, b);
  };
  const bad = drawn[0].flatMap(([r]) => drawn[1].map(([q]) => [r, q])).filter(([r, q]) => differs(r, q)).map(([r, q]) => [r, q, "differs"]);
  const current = [app.state.row, app.state.col, "current"];
  const point = (r, q) => app.select(r, q);
  const verdict = beside.passed ? "Equal within the error bound in every cell of the whole result." : `Different in ${plural(bad.length, "cell")} of this plane.`;
  return [
    h("p", { class: beside.passed ? "equal" : "differs" }, `${beside.passed ? "✓" : "✗"} ${verdict}`),
    beside.diagnosis ? h("p", { class: "diagnosis" }, beside.diagnosis) : null,
    beside.call ? h("p", {}, h("code", {}, beside.call.code)) : null,
    h("div", { class: "strip" },
      app.small("this call", drawn, (r, q) => plane(ours, r, q), [current], point),
      app.small(beside.label, drawn, (r, q) => plane(theirs, r, q), [...bad, current], point),
      app.small("the other − this", drawn, difference, [...bad, current], point)),
    app.other ? h("p", {}, "On the input above, the dashed frame is the other call's window for the same cell.") : null,
  ];
}

// ---------------------------------------------------------------------------------------------
// The app
// ---------------------------------------------------------------------------------------------

const SPEEDS = { slow: 1600, normal: 800, fast: 250 };

class App {
  constructor(root, data, host) {
    Object.assign(this, { root, data, host, doc: data.call });
    this.variants = { ...data.variants.table };
    this.key = data.variants.controls.map((control) => control.base);
    this.base = this.key.join();
    this.view = new View(this.doc, this.doc.base);
    this.other = data.beside?.call ? new View(data.beside.call, data.beside.call.base) : null;
    this.speed = "normal";
    this.start();
    this.build();
    this.labelControls();
    this.drawStage();
    new ResizeObserver(() => this.fit()).observe(root);
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
    this.transport = this.buildTransport();
    this.channels = h("div", { class: "controls channels" });
    this.sections = this.buildSections();
    const settings = h("div", { class: "controls", role: "group", "aria-label": "Arguments of the call" }, this.buildControls());
    this.root.classList.add("tcx");
    this.root.replaceChildren(
      h("header", {}, h("div", {}, h("h1", {}, h("code", {}, doc.code)), this.summary), this.themeButton()),
      doc.shown ? h("div", { class: "shown" }, this.overview(), h("p", {}, doc.shown)) : "",
      settings, this.message, this.channels, this.stage, this.legend, this.transport, this.live, this.sum,
      ...this.sections.map((section) => section.element),
      h("footer", {}, h("p", {}, "The arrow keys move the cell; the space bar plays. ", this.leftOut())),
    );
    const target = this.data.live ? this.root : this.root.ownerDocument;
    target.addEventListener("keydown", (event) => this.key_(event));
  }

  /** A small image of the whole source, with a frame around the part that is shown. */
  overview() {
    if (!this.doc.overview) return null;
    const { image, part } = this.doc.overview;
    const frame = h("span", { class: "part" });
    for (const [i, name] of ["top", "left", "height", "width"].entries()) frame.style[name] = `${100 * part[i]}%`;
    return h("div", { class: "overview" }, h("img", { src: image, alt: `the whole ${this.doc.names[this.doc.source]}; the part shown is framed` }), frame);
  }

  leftOut() {
    const { left_out: count } = this.data.variants;
    if (this.data.live) return "Every choice is computed by the running Python process.";
    const held = Object.keys(this.variants).length;
    return `This page holds ${plural(held, "variant")} of the call${count ? `; ${count.toLocaleString("en")} more combinations are left out: call tc.explore with those arguments, or use .live()` : ""}.`;
  }

  themeButton() {
    const order = ["light dark", "light", "dark"];
    const words = { "light dark": "theme: automatic", light: "theme: light", dark: "theme: dark" };
    let now = 0;
    const button = h("button", { type: "button", class: "theme", title: words[order[0]], "aria-label": words[order[0]], onclick: () => {
      now = (now + 1) % order.length;
      for (const element of [this.root, this.data.live ? this.root : document.documentElement]) element.style.colorScheme = order[now];
      button.title = words[order[now]];
      button.setAttribute("aria-label", words[order[now]]);
    } }, "◐");
    return button;
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
    this.playButton = h("button", { type: "button", class: "play", onclick: () => this.play(!this.timer) }, "▶ play");
    this.slider = h("input", { type: "range", min: "0", step: "1", "aria-label": "cell of the result", oninput: () => this.goTo(Number(this.slider.value)) });
    this.position = h("span", { class: "position" });
    const step = (by, sign, label) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => this.step(by) }, sign);
    const speed = h("select", { "aria-label": "speed", onchange: () => { this.speed = speed.value; if (this.timer) this.play(true); } },
      Object.keys(SPEEDS).map((name) => h("option", { value: name, selected: name === "normal" }, name)));
    return h("div", { class: "transport", role: "group", "aria-label": "Step through the cells" },
      step(-1, "◀", "previous cell"), this.playButton, step(1, "▶", "next cell"), this.slider, this.position, speed);
  }

  buildSections() {
    const { doc } = this;
    const small = doc.kind === "conv2d_backprop_input" && !doc.empty && work(this.view, this.state) < 600;
    const list = [];
    // `depends` says when a section is redrawn: for each cell, for each variant, or never
    const add = (name, title, depends, content, open = false) => {
      const body = h("div", { class: "body" });
      const element = h("details", { open, "data-section": name, ontoggle: () => this.refresh() }, h("summary", {}, title), body);
      list.push({ element, body, depends, content });
    };
    if (this.data.beside) add("beside", `Beside it: ${this.data.beside.label}`, "cell", () => besidePanel(this.view, this), true);
    add("geometry", "The geometry, with numbers", "variant", () => geometryPanel(this.view), true);
    if (!doc.empty && doc.kind === "conv2d_backprop_input") {
      add("ways", "Transposed convolution, four ways", "cell", () => fourWays(this.view, this), small);
    }
    if (!doc.empty && doc.kind === "conv2d") {
      add("matrix", "The matrix C: y = C x", "cell", () => h("div", { class: "strip" }, matrices(this.view, this)));
    }
    if (!doc.empty && doc.kind !== "conv2d_backprop_filter") {
      add("overlap", "The overlap map", "variant", () => overlapPanel(this.view, this));
    }
    add("trace", "The trace: from the Python call to the kernel", "nothing", () => tracePanel(doc));
    return list;
  }

  // ---- choices ----

  async choose(control, choice) {
    this.key[control] = choice;
    const key = this.key.join();
    let variant = key === this.base ? this.doc.base : this.variants[key];
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
      this.state.focus = null;
      const [rows, cols] = this.view.drawn(this.doc.result).map(inside);
      if (!rows.includes(this.state.row)) this.state.row = rows[0] ?? 0;
      if (!cols.includes(this.state.col)) this.state.col = cols[0] ?? 0;
      this.drawStage();
    }
  }

  /** Label each choice by whether it is possible with the other choices as they are. */
  labelControls() {
    for (const [number, control] of this.data.variants.controls.entries()) {
      for (const [i, label] of this.inputs[number].entries()) {
        const key = this.key.with(number, i).join();
        const variant = key === this.base ? this.doc.base : this.variants[key];
        const absent = !variant && !this.host;
        const [input, words] = label.children;
        input.disabled = absent;
        label.className = absent ? "absent" : variant?.error ? "refused" : "";
        label.title = absent ? "not on this page" : variant?.error ?? "";
        const size = variant?.shapes?.[this.doc.result];
        words.textContent = control.name === "output size" && size ? `${size[1]} × ${size[2]}` : control.labels[i];
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
    const size = (side) => {
      const { shapes } = view.variant;
      return side === "filter" ? `${shapes.filter[0]} × ${shapes.filter[1]}` : `${shapes[side][1]} × ${shapes[side][2]}`;
    };
    const note = (side) => {
      const words = [size(side)];
      if (side === "filter") {
        if (doc.groups.length > 1 || doc.groups[0]?.in.length > 1 || doc.groups[0]?.out.length > 1) words.push(`channels ${state.c} → ${state.o}`);
      } else if (view.variant.shapes[side][3] > 1) words.push(`channel ${side === "in" ? state.c : state.o}`);
      return words.join(", ");
    };
    const plane = (side, onPoint) => {
      const [rows, cols] = view.drawn(side);
      const content = (r, q, kind) => {
        if (kind === "padding" || kind === "outside") return { kind: side === doc.result ? "cut away" : KINDS[kind] };
        const cell = view.cell(side, r, q, state);
        return { value: side === doc.result ? view.value(cell) : view.number(side, cell) };
      };
      return new Grid({ title: doc.names[side], note: note(side), rows, cols, content, onPoint });
    };
    this.grids = {
      source: plane(doc.source, (r, q) => this.follow(r, q)),
      operand: plane(doc.operand, null),
      result: plane(doc.result, (r, q) => this.select(r, q)),
    };
    const sign = (text) => h("span", { class: "sign", "aria-hidden": "true" }, text);
    this.stage.replaceChildren(this.grids.source.element, sign("×"), this.grids.operand.element, sign("="), this.grids.result.element);
    const [rows, cols] = view.drawn(doc.result).map(inside);
    this.cells = rows.flatMap((r) => cols.map((q) => [r, q]));
    this.slider.max = String(Math.max(0, this.cells.length - 1));
    this.slider.disabled = this.playButton.disabled = !this.cells.length;
    const { terms } = view.variant;
    this.summary.textContent = `${doc.names[doc.result]} [${index(view.shape(doc.result))}] ${doc.dtype}, ${view.computedBy}; ${terms === 1 ? "one term" : `up to ${terms.toLocaleString("en")} terms`} a cell${view.variant.note ? `. Here ${view.variant.note}.` : ""}`;
    this.drawLegend();
    this.fit();
    this.update();
  }

  drawLegend() {
    const kinds = new Set([...Object.values(this.grids)].flatMap((grid) => [...grid.cells.values()].map((cell) => cell.kind)));
    const entry = (name, words) => h("li", {}, h("span", { class: `cell ${name}` }), words);
    const result = this.doc.result === "in" ? "outside the result: cropped" : KINDS.padding;
    const words = { ...KINDS, padding: result };
    if (this.doc.result === "in") words.crop = "outside the full result: zero";
    this.legend.replaceChildren(entry("window", MARKS.window), entry("current", "the cell"),
      ...["padding", "outside", "crop", "unread"].filter((kind) => kinds.has(kind)).map((kind) => entry(kind, words[kind])),
      this.other ? entry("other", MARKS.other) : "");
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
    const wide = beside >= (width > 44 * em ? 9 : 26); // in a narrow host, such as a docs page, only if legible
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

  select(row, col) {
    const { state } = this;
    const known = this.view.drawn(this.doc.result).map(inside);
    if (!known[0].includes(row) || !known[1].includes(col)) return;
    if (state.row === row && state.col === col && !state.focus) return;
    Object.assign(state, { row, col, focus: null });
    this.update();
  }

  /** Select one cell of the source, to show what it contributes to. */
  follow(row, col) {
    const known = this.view.drawn(this.doc.source).map(inside);
    if (!known[0].includes(row) || !known[1].includes(col)) return;
    const { focus } = this.state;
    if (focus && focus[0] === row && focus[1] === col) return;
    this.state.focus = [row, col];
    this.update();
  }

  goTo(position) {
    if (this.cells[position]) this.select(...this.cells[position]);
  }

  step(by) {
    if (!this.cells.length) return;
    const now = this.cells.findIndex(([r, q]) => r === this.state.row && q === this.state.col);
    this.state.focus = null;
    this.goTo((now + by + this.cells.length) % this.cells.length);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => this.step(1), SPEEDS[this.speed]) : null;
    this.playButton.textContent = on ? "❚❚ pause" : "▶ play";
    this.live.setAttribute("aria-live", on ? "off" : "polite");
  }

  key_(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea, button, summary, .scroll, [role=grid]") && event.key !== " ") return;
    if (event.key === " " && !event.target.closest?.("input[type=checkbox], input[type=radio], select, button, summary")) {
      this.play(!this.timer);
      event.preventDefault();
    } else if (event.key.startsWith("Arrow")) {
      this.grids.result.key(event);
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
      if (this.other) this.windowMarks.source.push(...this.otherWindow());
      for (const [name, marks] of Object.entries(this.windowMarks)) this.grids[name].mark(marks);
      this.sum.replaceChildren(...sumPanel(view, cell, this));
    }
    const now = this.cells.findIndex(([r, q]) => r === state.row && q === state.col);
    this.slider.value = String(now);
    const name = named(view, doc.result, this.cell());
    this.slider.setAttribute("aria-valuetext", name);
    this.position.textContent = `${now + 1} / ${this.cells.length}`;
    this.live.textContent = [...this.sum.querySelectorAll(".headline, .headline + p")].map((e) => e.textContent).join(". ");
    this.refresh();
  }

  /** The other call's window for the same cell. */
  otherWindow() {
    const cell = this.cell();
    if (this.other.kind !== this.view.kind) return [];
    try {
      return this.other.taps(cell).list.map((tap) => [tap.source[1], tap.source[2], "other"]);
    } catch {
      return []; // the other call has no such channel
    }
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

/** Draw the explorer in an element; `host.request(key)`, if present, computes a variant. */
export function mount(root, data, host = null) {
  return new App(root, data, host);
}

/** anywidget's entry point: the same picture, connected to a running Python process. */
function render({ model, el }) {
  const data = model.get("data");
  const waiting = new Map();
  model.on("msg:custom", ({ key, variant, axes, arrays }) => {
    data.call.axes.push(...axes.slice(data.call.axes.length));
    data.call.arrays.push(...arrays.slice(data.call.arrays.length));
    waiting.get(key.join())?.(variant);
    waiting.delete(key.join());
  });
  const request = (key) => new Promise((resolve) => {
    waiting.set(key.join(), resolve);
    model.send({ variant: key });
  });
  const root = document.createElement("div");
  el.append(root);
  const app = mount(root, data, { request });
  return () => app.play(false);
}

export default { render };
