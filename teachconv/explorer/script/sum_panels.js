// What is said about one cell: the equation of its sum, and the products that a cell of the source or a weight is in.

import { ExactSum, brief, full, same } from "./numbers.js";
import { h, moreButton, plural, table } from "./elements.js";
import { averageSteps, rescalingSteps, zeroAt } from "./quantized.js";
import { index, named } from "./view.js";

const ROWS = 120; // rows of a table of products before it is expanded
const GRIDS = 6; // channels of a sum before it is unfolded
const [ROOMY, CLOSE] = [22, 28]; // em of a grid of products that has its usual size, and that still has its factors
const COLOURS = ["red", "green", "blue"];
const LARGEST_GRID = 144; // products that are drawn as a grid; more are only listed

const known = (value) => (value === undefined ? "not here" : full(value));
const falls = (count) => `${count === 1 ? "falls" : "fall"} into the padding and contribute${count === 1 ? "s" : ""} nothing`;

/** The exact sum of taps that are all on the page; undefined if one is not. */
function sumOf(doc, taps) {
  const sum = new ExactSum(doc);
  for (const tap of taps) {
    if (tap.outside) continue;
    if (tap.product === undefined) return undefined;
    sum.add(tap.value, tap.weight);
  }
  return sum.value;
}

// ---- a cell of the result: what it is made of ----

/** Every product of one cell of the result: the equation, and its terms one by one. */
export function sumPanel(view, cell, app) {
  const { doc } = view;
  const taps = view.taps(cell);
  const inside = taps.list.filter((tap) => !tap.outside);
  const outside = taps.list.length - inside.length;
  const value = view.value(cell);
  let words = view.isCropped(cell) ? "This cell is cut away. It would be the sum of " : "The sum of ";
  words += `${plural(inside.length, doc.pool ? "cell" : "product")}${doc.quantized ? ` of ${doc.names[doc.source]} and ${doc.names.filter}, less their zero points, rescaled` : ""}`;
  if (doc.pool?.reduce === "max") words = words.replace("sum", "largest");
  if (outside) words += `; ${plural(outside, "tap")} ${falls(outside)}`;
  if (taps.missing) words += `; ${plural(taps.missing, "product")} of it ${taps.missing === 1 ? "is" : "are"} not on this page`;
  words += `. The value is ${view.computedBy}.`;
  if (taps.total !== undefined && value !== undefined && !same(taps.total, value)) {
    words += ` The exact sum, rounded once, is ${full(taps.total)}: the difference is the backend's rounding.`;
  }
  const headline = h("h2", { class: "headline" }, `${named(view, doc.result, cell)} `, h("span", { class: "is" }, "="), " ", h("output", {}, value === undefined ? "?" : full(value)));
  return {
    equation: [headline, ...equation(view, taps, app), poolLine(view, cell, taps), doc.quantized ? rescalingSteps(view, cell, taps) : null],
    terms: [h("p", { class: "said" }, words), taps.list.length ? tapTable(view, taps, app) : null],
    list: taps.list,
  };
}

/** How a pool comes to its value. */
function poolLine(view, cell, taps) {
  const { pool } = view.doc;
  if (!pool || taps.total === undefined) return null;
  if (taps.steps) return averageSteps(pool, taps);
  const value = full(taps.total);
  const inside = taps.list.filter((tap) => !tap.outside);
  if (pool.reduce === "sum") return null;
  if (pool.reduce === "max") return h("p", { class: "total", "data-tap": Infinity }, `the largest: ${value}`);
  const what = pool.over ? "the divisor is given" : `${pool.counted ? "padding counts" : "padding does not count"} in the divisor`;
  return h("p", { class: "total", "data-tap": Infinity }, `${full(sumOf(view.doc, inside))} / ${view.divisor(cell)} = ${value}; ${what}`);
}

/** The sum as it is written: one grid of products for each channel (or image), and their sums. */
function equation(view, taps, app) {
  const { doc } = view;
  if (!taps.list.length && taps.bias === null) return [];
  const filterGradient = doc.kind === "conv2d_backprop_filter";
  const photo = view.isPhoto();
  const title = (tap) => (filterGradient
    ? [`image ${tap.source[0]}`, ...(doc.rank === 3 ? [`${doc.names.out} ${view.planeName("out", tap.operand[3])}`] : [])].join(", ")
    : `${doc.names[doc.source]} ${view.planeName(doc.source, tap.source[3])}${photo ? `, ${COLOURS[tap.source[3]]}` : ""}`);
  const parts = Map.groupBy(taps.list, title);
  const shown = [...parts].slice(0, app.allChannels ? undefined : GRIDS);
  const folded = [...parts].slice(shown.length);
  const axis = filterGradient ? 2 : 1;
  const figures = shown.map(([key, list]) => {
    const columns = new Set(list.map((tap) => tap.operand[axis])).size;
    if (parts.size === 1) return added("", list, columns, app, false); // the headline has its sum
    return productFigure(key, list, columns, sumOf(doc, list), app, parts.size > 3, parts.size === 3);
  });
  const sums = [...shown.map(([, list]) => list), ...(folded.length ? [folded.flatMap(([, list]) => list)] : [])].map((list) => sumOf(doc, list));
  const more = folded.length ? moreButton(app, plural(folded.length, "more grid")) : null;
  const written = sums.map((sum) => (sum === undefined ? "?" : sum < 0 ? `(${full(sum)})` : full(sum)));
  if (folded.length) written.push(`${written.pop()} of ${plural(folded.length, doc.rank === 3 ? "more plane" : "more channel")}`);
  if (taps.bias !== null) written.push(`bias ${full(taps.bias)}`);
  const line = written.length > 1 ? h("p", { class: "total", "data-tap": Infinity }, `${written.join(" + ")} = ${taps.sum === undefined ? "?" : full(taps.sum)}`) : null;
  return [h("div", { class: "unfold" }, figures, more), line];
}

/** Products as a grid, with their sum below. */
export function productFigure(title, list, columns, total, app, dense, three = false) {
  const wide = columns * Math.max(3.4, ...list.map((tap) => (tap.product === undefined ? 0 : 0.9 + 0.42 * factors(tap).length))); // in em
  const size = dense || list.length > 64 || wide > CLOSE ? " dense" : three ? " close three" : wide > ROOMY ? " close" : "";
  const many = list.length > 6 * columns ? " many" : ""; // rows
  const grid = h("div", { class: `products${size}${many}`, tabindex: columns > 5 ? "0" : null, role: "group", "aria-label": title || "the products" }, list.map((tap) => productCell(tap, app)));
  grid.style.setProperty("--cols", String(columns));
  return h("figure", { class: "unfolded" }, title ? h("figcaption", {}, title) : null, grid,
    h("p", { class: "partial", "data-tap": list.at(-1).order ?? null }, `adds up to ${total === undefined ? "?" : full(total)}`));
}

function productCell(tap, app) {
  const point = { onpointerenter: () => app.light(tap), onpointerleave: () => app.light(null), "data-tap": tap.order ?? null };
  if (tap.outside) return h("span", { class: "product padding", ...point, title: "in the padding" }, h("small", {}, "padding"));
  if (tap.product === undefined) return h("span", { class: "product", ...point }, h("small", {}, "not here"));
  if (app.doc.pool) return h("span", { class: "product", ...point, title: full(tap.value) }, h("b", {}, brief(tap.value)));
  const stored = app.doc.quantized ? `(${less(app.view, app.doc.source, tap.source)}) × (${less(app.view, app.doc.operand, tap.operand)})` : `${full(tap.value)} × ${full(tap.weight)}`;
  const title = `${stored} = ${full(tap.product)}${tap.cropped ? ", cut away" : ""}`;
  return h("span", { class: tap.cropped ? "product cropped" : "product", ...point, title },
    h("small", {}, factors(tap)), h("b", {}, brief(tap.product)));
}

/** The stored integer of a tap's source or operand, less what stands for 0. */
const less = (view, side, cell) => `${full(view.number(side, cell))} − ${full(zeroAt(view, side, cell))}`;

const factors = (tap) => `${brief(tap.value)} × ${brief(tap.weight)}`;

function tapTable(view, taps, app) {
  const { doc } = view;
  const factor = doc.kind === "conv2d_backprop_filter" ? doc.names.out : "filter";
  const source = doc.names[doc.source];
  if (doc.pool) {
    return listed("Every cell of the window", [source, `${source} value`, doc.pool.reduce === "max" ? "largest so far" : "running sum"], taps.list, app, (tap) => [
      index(view.name(doc.source, tap.source)),
      tap.outside ? "padding" : known(tap.value),
      tap.running === undefined ? "" : full(tap.running),
    ]);
  }
  const columns = [source, factor, ...(doc.quantized ? ["x", "w", "x - zero", "w - zero"] : [`${source} value`, `${factor} value`]), "product", "running sum"];
  return listed("Every tap, with the running sum", columns, taps.list, app, (tap) => [
    index(view.name(doc.source, tap.source)),
    index(view.name(doc.operand, tap.operand)),
    ...(doc.quantized ? [tap.outside ? "padding" : known(view.number(doc.source, tap.source)), known(view.number(doc.operand, tap.operand))] : []),
    tap.outside ? (doc.quantized ? "0" : "padding") : known(tap.value),
    known(tap.weight),
    tap.outside ? "" : known(tap.product),
    tap.running === undefined ? "" : full(tap.running),
  ]);
}

/** A table of products, whose first rows are shown until all are asked for. */
function listed(caption, columns, list, app, row) {
  const shown = app.allRows ? list : list.slice(0, ROWS);
  const each = (i) => ({
    class: shown[i].outside ? "outside" : null,
    "data-tap": shown[i].order,
    onpointerenter: () => app.light(shown[i]),
    onpointerleave: () => app.light(null),
  });
  const rest = list.length - shown.length;
  const more = rest ? moreButton(app, `show ${plural(rest, "more row")}`) : null;
  return h("details", { class: "taps", open: app.opened.get("taps"), ontoggle: ({ target }) => { app.opened.set("taps", target.open); } },
    h("summary", {}, caption), table(caption, columns, shown.map(row), each), more);
}

// ---- a cell of the source: whom it feeds ----

/** The cells of the result that one cell of the source contributes to. */
export function feedPanel(view, cell, app) {
  const { doc } = view;
  const list = view.feeds(cell);
  const padding = view.isPadding(cell);
  const [source, result] = [doc.names[doc.source], doc.names[doc.result]];
  const places = new Set(list.map((tap) => tap.result.join())).size;
  const factor = doc.kind === "conv2d_backprop_filter" ? doc.names.out : "filter";
  const headline = h("h2", { class: "headline" }, `${named(view, doc.source, cell)} = `, h("output", {}, padding ? "padding" : known(view.number(doc.source, cell))));
  const words = padding
    ? `No number is here: ${plural(list.length, "tap")} of ${plural(places, "cell")} of the ${result} ${list.length === 1 ? "falls" : "fall"} on it and contribute${list.length === 1 ? "s" : ""} nothing.`
    : list.length
      ? `This cell of the ${source} is in ${plural(list.length, doc.pool ? "window" : "product")} and contributes to ${plural(places, "cell")} of the ${result}.`
      : `This cell of the ${source} is in no window and contributes to nothing.`;
  return {
    equation: [headline, padding ? null : stamps(view, list, app)],
    terms: [h("p", { class: "said" }, words), list.length ? listed("What this cell contributes to", [result, ...(doc.pool ? ["place in the window"] : [factor, `${factor} value`, "product"])], list, app, (tap) => [
      index(view.name(doc.result, tap.result)),
      index(view.name(doc.operand, tap.operand)),
      ...(doc.pool ? [] : [known(tap.weight), padding ? "" : known(tap.product)]),
    ]) : null],
  };
}

/** The products of one cell of the source, in the places of the cells that they are added to: a stamp for each channel. */
function stamps(view, list, app) {
  const { doc } = view;
  const row = doc.result === "filter" ? 0 : 1;
  const title = ({ result }) => (row ? view.planeName(doc.result, result[3]) : [doc.rank === 3 ? `depth ${view.split("filter", result[2])[0]}` : "", `channel ${result[3]}`].filter(Boolean).join(", "));
  const parts = Map.groupBy(list, title);
  const figures = [...parts].slice(0, app.allChannels ? undefined : GRIDS).filter(([, taps]) => taps.length <= LARGEST_GRID).map(([key, taps]) => {
    const sorted = taps.toSorted((a, b) => a.result[row] - b.result[row] || a.result[row + 1] - b.result[row + 1]);
    const columns = new Set(taps.map((tap) => tap.result[row + 1])).size;
    return added(`to ${doc.names[doc.result]} ${key}`, sorted, columns, app, parts.size > 2);
  });
  const more = parts.size - figures.length;
  const button = more > 0 && !app.allChannels ? moreButton(app, plural(more, "more grid")) : null;
  return figures.length ? h("div", { class: "unfold" }, figures, button) : null;
}

/** Products that are added to different cells: a grid without a sum. */
function added(title, list, columns, app, dense) {
  const figure = productFigure(title, list, columns, undefined, app, dense);
  figure.querySelector(".partial").remove();
  return figure;
}

// ---- a weight, or another cell of the operand: where it is used ----

/** All products of one cell of the operand; of a weight also its gradient, which sums over the same places. */
export function usePanel(view, cell, app) {
  const { doc } = view;
  const list = view.uses(cell);
  const [source, operand, result] = [doc.source, doc.operand, doc.result].map((side) => doc.names[side]);
  const padded = list.filter((tap) => tap.outside).length;
  const cropped = list.filter((tap) => tap.cropped).length;
  const headline = h("h2", { class: "headline" }, `${named(view, doc.operand, cell)}${doc.pool ? "" : " = "}`, h("output", {}, doc.pool ? "" : known(view.number(doc.operand, cell))));
  const weight = doc.operand === "filter";
  const each = `one for each cell of channel ${view.split("out", cell[3])[1]} of the ${doc.kind === "conv2d_backprop_input" ? source : result}`;
  const noun = doc.pool ? "window" : "product";
  let words = `This ${doc.pool ? "place" : weight ? "weight" : `cell of the ${operand}`} is in ${plural(list.length, noun)}, ${each}`;
  if (padded && !doc.pool) words += `; ${plural(padded, noun)} ${falls(padded)}`;
  if (cropped) words += `; ${plural(cropped, "product")} ${cropped === 1 ? "is" : "are"} added to cells that are cut away`;
  words += doc.shown ? ". Only the part that is shown is counted." : ".";
  const columns = [result, source, `${source} value`, ...(doc.pool ? [] : ["product"])];
  return {
    equation: [headline, usedGrids(view, list, app), weight && !doc.pool && !doc.quantized ? gradientLine(view, list) : null],
    terms: [h("p", { class: "said" }, words), list.length ? listed("Where it is used", columns, list, app, (tap) => [
      `${index(view.name(doc.result, tap.result))}${tap.cropped ? ", cut away" : ""}`,
      index(view.name(doc.source, tap.source)),
      tap.outside ? "padding" : known(tap.value),
      ...(doc.pool ? [] : [tap.outside ? "" : known(tap.product)]),
    ]) : null],
  };
}

/** The products of a weight in the places of the cells that it is used for, image by image. */
function usedGrids(view, list, app) {
  const { doc } = view;
  const gradient = doc.kind === "conv2d_backprop_filter"; // in the places of the filter; else in those of the forward output
  const key = (tap) => {
    if (gradient) return `${doc.names.in} ${view.planeName("in", tap.source[3])}`;
    const slice = doc.rank === 3 ? [`${doc.names.out} depth ${view.split("out", (doc.kind === "conv2d" ? tap.result : tap.source)[3])[0]}`] : [];
    return [`image ${tap.source[0]}`, ...slice].join(", ");
  };
  const column = (tap) => (gradient ? tap.result[1] : doc.kind === "conv2d" ? tap.result[2] : tap.source[2]);
  const parts = Map.groupBy(list, key);
  const figures = [...parts].filter(([, taps]) => taps.length <= LARGEST_GRID).slice(0, GRIDS).map(([number, taps]) =>
    added(parts.size > 1 ? number : "", taps, new Set(taps.map(column)).size, app, taps.length > 16 || parts.size > 2));
  return figures.length ? h("div", { class: "unfold" }, figures) : null;
}

/** The gradient of a weight where all gradients of the result are 1: the sum of the values that it meets. */
function gradientLine(view, list) {
  const { doc } = view;
  const sum = new ExactSum(doc);
  const met = list.filter((tap) => !tap.outside && !tap.cropped);
  for (const tap of met) if (tap.value !== undefined) sum.add(tap.value, doc.format ? 1 : 1n);
  const missing = doc.shown || met.some((tap) => tap.value === undefined);
  return h("p", { class: "gradient" },
    `The filter gradient sums over the same places: each ${doc.names[doc.source]} value times the gradient of its ${doc.names[doc.result]} cell. `,
    missing ? "" : h("span", {}, "If all of these are 1, the gradient of this weight is ", h("output", {}, full(sum.value)), "."));
}
