// The panels of one cell: every product of a sum, and what a cell of the source contributes to.

import { ExactSum, brief, full, same } from "./numbers.js";
import { h, plural, table } from "./elements.js";
import { index, named } from "./view.js";

const ROWS = 120; // rows of a table of products before it is expanded

/** Every product of one cell of the result. */
export function sumPanel(view, cell, app) {
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
    const cells = list.map((tap) => productCell(tap, app));
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

function productCell(tap, app) {
  const point = { onpointerenter: () => app.light(tap), onpointerleave: () => app.light(null) };
  if (tap.outside) return h("span", { class: "product padding", "data-tap": tap.order, ...point, title: "in the padding" }, h("small", {}, "padding"));
  if (tap.product === undefined) return h("span", { class: "product" }, h("small", {}, "not here"));
  const factors = `${brief(tap.value)} × ${brief(tap.weight)}`;
  const element = h("span", { class: "product", "data-tap": tap.order, ...point, title: `${full(tap.value)} × ${full(tap.weight)} = ${full(tap.product)}` },
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
    "data-tap": shown[i].order,
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
export function feedPanel(view, cell) {
  const { doc } = view;
  const found = view.feeds(cell);
  const padding = view.isPadding(cell);
  const value = view.number(doc.source, cell);
  const number = (v) => (v === undefined ? "not here" : full(v));
  const factor = doc.kind === "conv2d_backprop_filter" ? doc.names.out : "filter";
  const rows = found.slice(0, 400).map((tap) => [
    index(view.name(doc.result, tap.result)),
    index(view.name(doc.operand, tap.operand)),
    number(tap.weight),
    padding ? "" : number(tap.product),
  ]);
  const places = new Set(found.map((tap) => tap.result.join())).size;
  return [
    h("h2", { class: "headline" }, `${named(view, doc.source, cell)} = `, h("output", {}, padding ? "padding" : number(value))),
    h("p", {}, padding ? `No number is here: ${plural(found.length, "tap")} of ${plural(places, "cell")} of the ${doc.names[doc.result]} ${found.length === 1 ? "falls" : "fall"} on it and contribute${found.length === 1 ? "s" : ""} nothing.` : found.length
      ? `The inverse: this cell is in ${plural(found.length, "product")} and contributes to ${plural(places, "cell")} of the ${doc.names[doc.result]}.`
      : `The inverse: this cell is in no window and contributes to nothing.`),
    found.length ? table("What this cell contributes to", [doc.names[doc.result], factor, `${factor} value`, "product"], rows) : null,
    found.length > rows.length ? h("p", {}, `… and ${found.length - rows.length} more`) : null,
  ];
}
