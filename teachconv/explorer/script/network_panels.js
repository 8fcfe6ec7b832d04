// What is said about a cell of a network, and about its answer: two piles, then the products by strength.

import { h, plural } from "./elements.js";
import { chances, ranked } from "./network_numbers.js";
import { readsOf, reachedBy, spanOf } from "./network_reach.js";
import { brief, full, short } from "./numbers.js";
import { productFigure } from "./sum_panels.js";

const STRONGEST = 6; // grids of products, the strongest ones
const MOST_WRITTEN = 256; // cells of a map that is written out
const SEGMENTS = 40; // of a pile; the smallest products share the last
const stepName = ({ kind, low, high }) => {
  if (kind !== "clip") return kind === "leaky" ? "leaky ReLU" : kind;
  return low === 0 ? `ReLU${high ?? ""}` : `clip ${low ?? ""}…${high ?? ""}`;
};

/** What a column does, in a few words: what it makes of its windows, and the steps behind that. */
export function says(column) {
  const { kind, axes, filters, groups, channels, sources, then = [], steps = [], word } = column;
  if (kind === "box") return [word, "not computed"];
  if (kind === "input") return [`${column.rows} × ${column.cols}${channels > 1 ? ` × ${channels}` : ""}`];
  const size = axes?.map(({ filter_size }) => filter_size).join(" × ");
  const [rows, cols] = axes ?? [];
  const spread = (field) => (axes && Math.max(rows[field], cols[field]) > 1 ? `, ${field} ${[...new Set([rows[field], cols[field]])].join(" × ")}` : "");
  const walls = filters && groups > 1 ? (groups === channels ? ", depthwise" : `, ${groups} groups`) : "";
  const dense = filters && column.rows * column.cols === 1 && sources[0][0] === rows.filter_size && sources[0][1] === cols.filter_size;
  const what = dense ? `sums of ${sources[0].reduce((a, b) => a * b)}`
    : filters ? `${size}${spread("stride")}${spread("dilation")}${walls}`
      : axes ? `${kind === "max pool" ? "max" : "mean"} of ${size}`
        : kind === "same" ? "" : kind;
  return [what, [...steps, ...then].map(stepName).join(", ")].filter(Boolean);
}

/** The products for and against, as two bars of one scale, the largest first. */
export function piles(products, words) {
  const sides = [1, -1].map((sign) => products.filter((x) => sign * x > 0).map(Math.abs).sort((a, b) => b - a));
  const sums = sides.map((side) => side.reduce((a, b) => a + b, 0));
  const most = Math.max(...sums) || 1;
  return h("div", { class: "piles" }, sides.map((side, i) => {
    const rest = side.slice(SEGMENTS).reduce((a, b) => a + b, 0);
    const parts = [...side.slice(0, SEGMENTS), rest].filter(Boolean);
    return h("div", { class: i ? "pile against" : "pile" },
      h("span", { class: "bar", "aria-hidden": "true" }, parts.map((x) => h("i", { style: `width:${((100 * x) / most).toFixed(2)}%` }))),
      h("span", {}, `${words[i]} `, h("b", {}, `${sums[i] ? (i ? "-" : "+") : ""}${brief(sums[i])}`)));
  }));
}

const placeName = (network, [k, row, col, channel]) => {
  const { name, rows, cols, channels } = network.columns[k];
  if (rows * cols === 1) return `${name}, ${k === network.answer ? "class" : "number"} ${channel}`;
  return `${name}${channels > 1 ? `, map ${channel}` : ""}, row ${row}, column ${col}`;
};

/** The panel of a cell. */
export function cellPanel(app, cell) {
  const { network, values } = app;
  const [k] = cell;
  const column = network.columns[k];
  const value = values[k][network.position(cell)];
  const read = app.pad && !k ? `${value * app.plane.unit} of ${app.plane.unit}, read as ` : "";
  const head = h("h2", {}, `${placeName(network, cell)} = `, h("output", {}, read + full(value)));
  if (!k || column.kind === "box") return [head, k ? h("p", {}, `${column.word} is not computed on this page: the numbers are those that the model computed.`) : reachText(network, cell), k ? mapTable(app, cell) : null];
  const { list, bias } = network.taps(cell, values);
  const { sum, stages, winner } = network.evaluated(cell, values);
  const outside = list.filter((tap) => tap.outside).length;
  const steps = [...column.steps, ...column.then];
  const chain = stages.map(({ kind, value: made }, i) => ` → ${stepName(steps[i])} ${full(kind === "softmax" ? chances(values[k])[cell[3]] : made)}`).join("");
  const products = [...list.map(({ product }) => product), bias ?? 0];
  const counted = `${plural(list.length - outside, column.filters ? "product" : "cell")}${outside ? `, ${outside} in the padding` : ""}`;
  const said = column.kind === "max pool" ? `The largest of ${counted}: ${full(sum)}${chain}.`
    : column.kind === "average pool" ? `The mean of ${counted}: ${full(sum)}${chain}.`
      : column.kind === "same" ? `From ${full(list[0].value)}${chain}.`
        : column.kind === "concatenate" ? `The same number as before${chain}.`
          : `${counted}${bias === null ? "" : `, bias ${full(bias)}`}: ${full(sum)}${chain}.`;
  return [
    head,
    readsText(network, cell),
    column.filters || column.kind === "add" ? piles(products, ["plus", "minus"]) : null,
    h("p", { class: "said" }, said),
    column.windows ? grids(column, cell, list, winner) : null,
    app.opens(column) ? h("p", {}, h("button", { type: "button", class: "open-call", onclick: () => app.openCall(cell) }, "this layer alone")) : null,
    mapTable(app, cell),
  ];
}

/** How much of the input a cell reads. */
function readsText(network, cell) {
  const { masks, spans } = readsOf(network, cell);
  const { count, sides: [high, wide] } = spanOf(network, 0, masks[0]);
  if (!spans[0]) return h("p", { class: "faint" }, "A layer before it is not computed on this page, so what it reads of the input is not known.");
  const [rows, cols] = [spans[0].rows, spans[0].cols].map(([low, top]) => top - low + 1);
  const beyond = rows > high || cols > wide ? `; its window is ${rows} × ${cols}, the rest is padding` : "";
  const holes = count < high * wide ? `, ${count} cells of them` : "";
  return h("p", { class: "faint" }, `reads ${high} × ${wide} of the input${holes}${beyond}`);
}

/** How much of each later column a cell of the input reaches. */
function reachText(network, cell) {
  const masks = reachedBy(network, cell);
  const parts = network.columns.flatMap(({ name, rows, cols, channels }, k) => {
    const { count } = spanOf(network, k, masks[k]);
    if (!k || !count) return [];
    return rows * cols > 1 ? [`${count} of ${rows * cols} places of ${name}`] : [`${masks[k].filter(Boolean).length} of ${channels} numbers of ${name}`];
  });
  return h("p", {}, parts.length ? `Reaches ${parts.join(", ")}.` : "Reaches nothing.");
}

/** The products of each map, the strongest map first. */
function grids(column, [, , col], list, winner) {
  const planes = Map.groupBy(list, (tap) => tap.plane);
  const strength = (taps) => taps.reduce((sum, tap) => sum + tap.product, 0);
  const sorted = [...planes].sort((a, b) => Math.abs(strength(b[1])) - Math.abs(strength(a[1])));
  const columns = column.windows[1][col].length;
  const doc = { pool: column.filters ? null : { reduce: column.kind } };
  const figures = sorted.slice(0, STRONGEST).map(([plane, taps]) => {
    const figure = productFigure(planes.size > 1 ? `map ${plane}` : "", taps, columns, strength(taps), { doc, light: () => {} }, true);
    if (winner) figure.querySelectorAll(".product")[taps.indexOf(winner)]?.classList.add("winner");
    if (!column.filters || planes.size === 1) figure.querySelector(".partial").remove();
    return figure;
  });
  const more = planes.size > STRONGEST ? h("p", { class: "faint" }, `The ${STRONGEST} strongest of ${planes.size} maps.`) : null;
  return h("div", {}, h("div", { class: "unfold" }, figures), more);
}

/** The map of a cell, with its numbers. */
function mapTable(app, [k, row, col, channel]) {
  const { network, values } = app;
  const { rows, cols, channels } = network.columns[k];
  if (rows * cols === 1 || rows * cols > MOST_WRITTEN) return null;
  const cells = Array.from({ length: rows * cols }, (_, place) => {
    const [r, q] = [Math.floor(place / cols), place % cols];
    const value = values[k][place * channels + channel];
    const share = Math.min(1, Math.abs(value) / (app.plane.scales[k] || 1));
    return h("button", { type: "button", tabindex: "-1", class: r === row && q === col ? "here" : null, title: full(value), style: `--share:${(100 * share).toFixed(0)}%;--tint:var(--${value < 0 ? "below" : "above"})`, onclick: () => app.select([k, r, q, channel]) }, short(value));
  });
  return h("figure", { class: "map" }, h("figcaption", {}, `this map; full colour at ±${brief(app.plane.scales[k])}`), h("div", { class: "written", style: `grid-template-columns:repeat(${cols},minmax(2.2em,3.2em))` }, cells));
}

/** The panel of a question: why one class and not another. */
export function whyPanel(app, why) {
  const { network, values } = app;
  const { win, rival, margin, lines, list, bias, positive } = why;
  const scores = values[network.answer];
  const rivals = ranked(scores).filter((c) => c !== win).slice(0, 20);
  const choose = h("select", { "aria-label": "the class to compare with", onchange: () => app.ask(win, Number(choose.value)) }, rivals.map((c) => h("option", { value: c, selected: c === rival }, String(c))));
  const drawn = lines.filter((line) => line.to[0] === network.answer);
  const share = drawn.reduce((sum, line) => sum + line.product, 0) / positive;
  return [
    closer(app),
    h("h2", {}, `Why ${win} and not `, choose, "? ", h("output", {}, brief(margin))),
    h("p", { class: "faint" }, `the score of ${win} minus that of ${rival}${app.plane.hasChances ? ": softmax sees differences only" : ""}`),
    piles([...list.map(({ product }) => product), bias], ["for", "against"]),
    h("p", {}, `Drawn: the ${drawn.length} strongest of ${plural(list.length, "product")}, `, h("b", {}, `${(100 * share).toFixed(0)} %`), ` of what speaks for ${win}. A line is as wide as its share; the grey stub is the rest.`),
    h("ol", { class: "ways" }, drawn.map((line) => h("li", { onpointerenter: () => app.light(line), onpointerleave: () => app.light(null) },
      h("span", { class: "faint" }, `${placeName(network, line.from)}: value × (weight to ${win} − to ${rival})`), h("br"),
      `${brief(line.value)} × ${brief(line.weight)} = `, h("b", {}, brief(line.product)),
      `; ${withoutIt(network, line)}: ${brief(margin)} → `, h("b", { class: line.without < 0 ? "flips" : null }, brief(line.without))))),
  ];
}

/** What is taken away: the cell of a line, or the one that a pool passes on to it; then the next largest may step in. */
function withoutIt({ columns }, { from: [k], origin, instead }) {
  return instead ? `without this cell of ${columns[origin[0]].name}, ${columns[k].name} passes ${brief(instead)} instead` : "without it";
}

const closer = (app) => h("button", { type: "button", class: "shut", onclick: () => app.leave() }, "close");

/** The panel of the least change: the search, then what it found, which can be tried. */
export function flipPanel(app, flip) {
  return [
    closer(app),
    h("h2", {}, "What would change its mind?"),
    h("p", {}, flipText(app, flip)),
    flip.cell ? h("p", {}, h("button", { type: "button", class: "try", onclick: () => app.tryIt() }, flip.tried ? "back" : "try it")) : null,
  ];
}

/** The least change in words. */
export function flipText({ network, plane: { unit } }, { cell, to, was, says, tries, ahead, flips, win, words }) {
  if (!cell) return words;
  const map = network.columns[0].channels > 1 ? `, map ${cell[3]}` : "";
  const change = `row ${cell[1]}, column ${cell[2]}${map} from ${brief(was * unit)} to ${brief(to * unit)}`;
  if (flips) return `The least change: ${change}, and it says ${says}.`;
  return `No single cell does (${tries.toLocaleString("en")} changes tried). The nearest: ${change} leaves ${win} ahead of ${says} by ${brief(Number(ahead.toPrecision(2)))}.`;
}
