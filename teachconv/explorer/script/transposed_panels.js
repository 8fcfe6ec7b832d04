// The transposed convolution, four ways, and the matrix C of the convolution.

import { ExactSum, full, parse, same } from "./numbers.js";
import { h, plural } from "./elements.js";
import { index, inside } from "./view.js";
import { entries, matrices, tapsOf } from "./matrix_panel.js";

export const WORK = 60_000; // the most products that a panel sums

/** Sum maps: "row,col" -> ExactSum. */
export class Sums {
  constructor(view, channel) {
    this.view = view;
    this.map = new Map();
    const [rows, cols] = view.drawn("in");
    for (const r of inside(rows)) for (const q of inside(cols)) this.map.set(`${r},${q}`, new ExactSum(view.doc));
    const one = view.doc.format ? 1 : 1n;
    const bias = view.doc.bias ? parse(view.doc.bias[view.split("in", channel)[1]], view.doc) : null;
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
    for (const [o, third] of view.outsOf(c)) {
      for (const [m, tapRow, row] of tapsOf(view.rows)) {
        for (const [k, tapCol, col] of tapsOf(view.cols)) {
          sums.add(row, col, view.number("out", [n, m, k, o]), view.number("filter", [tapRow, tapCol, third, view.split("out", o)[1]]));
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
    for (const [o, third] of view.outsOf(c)) {
      for (const [row, rows] of Object.entries(view.rows.windows)) {
        for (const [col, cols] of Object.entries(view.cols.windows)) {
          for (const [placeRow, tapRow] of rows) {
            for (const [placeCol, tapCol] of cols) {
              const [m, k] = [rowAt.get(placeRow), colAt.get(placeCol)];
              if (!m || !k || m[1] || k[1]) continue; // an inserted zero or padding contributes nothing
              sums.add(row, col, view.number("out", [n, m[0], k[0], o]), view.number("filter", [tapRow, tapCol, third, view.split("out", o)[1]]));
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
    for (const [o, third] of view.outsOf(c)) {
      for (const key of sums.map.keys()) {
        const [row, col] = key.split(",").map(Number);
        for (const [m, k, weight] of response(view, row, col, third, o)) {
          sums.add(row, col, view.number("out", [n, m, k, o]), weight);
        }
      }
    }
    return sums;
  },

  /** y = Cᵀ x, entry by entry. */
  matrix(view, { n, c }) {
    const sums = new Sums(view, c);
    for (const [o, third] of view.outsOf(c)) {
      for (const { out, into, weight } of entries(view, third, o)) {
        sums.add(into[0], into[1], view.number("out", [n, ...out, o]), weight);
      }
    }
    return sums;
  },
};

/** The forward op's response to a plane of zeros with a 1 at (row, col): [out_row, out_col, response]. */
function response(view, row, col, third, o) {
  const [down, across] = [[view.rows, row], [view.cols, col]].map(([axis, at]) => tapsOf(axis).filter(([, , into]) => into === at));
  return down.flatMap(([m, r]) => across.map(([k, q]) => [m, k, view.number("filter", [r, q, third, view.split("out", o)[1]])]));
}

/** The number of products in the planes of one panel. */
export function work(view, { c }) {
  const pairs = (axis) => Object.values(axis.gather).reduce((sum, taps) => sum + taps.length, 0);
  return pairs(view.rows) * pairs(view.cols) * view.outsOf(c).length;
}

export function fourWays(view, app) {
  const { state } = app;
  if (work(view, state) > WORK) {
    return [h("p", {}, `${plural(work(view, state), "product")} are too many to sum four times here: make the call smaller.`)];
  }
  const cell = app.cell();
  if (view.isCropped(cell)) return [h("p", {}, "This cell is cut away: choose one of the result.")];
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
  const result = (name, marks) => app.small("result", view.drawn("in"), (r, q) => planes[name].get(r, q), marks, (r, q, how) => app.select(r, q, how));
  const source = (content, marks, title) => app.small(title, view.drawn("out"), content, marks, (m, k, how) => app.follow("source", m, k, how));
  const taps = view.taps(cell).list.filter((tap) => tap.source[3] === state.o);
  const window = taps.map((tap) => [tap.source[1], tap.source[2], "window"]);
  const x = (m, k) => view.number("out", [state.n, m, k, state.o]);
  const impulse = new Map(response(view, row, col, view.third(c, state.o), state.o).map(([m, k, weight]) => [`${m},${k}`, weight]));
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
  const [, row, col] = app.cell();
  const order = (windows) => (windows ?? []).map(([, tap]) => [tap, ""]);
  const lists = [order(view.rows.windows[row]), order(view.cols.windows[col])];
  return app.small("filter, flipped", lists, (r, q) => view.number("filter", view.cell("filter", r, q, app.state)), []);
}
