// What is said about a cell of a network, and about its answer: two piles, then the products by strength.

import { callDocument } from "./call_document.js";
import { weightFields } from "./weights.js";
import { emsOf, h, plural } from "./elements.js";
import { chances, ranked, unpackedArray } from "./network_numbers.js";
import { readsOf, reachedBy, rowsAndColumns, spanOf } from "./network_reach.js";
import { brief, full, short } from "./numbers.js";
import { mount } from "./main.js";
import { copyButton } from "./parts.js";
import { ADDRESSED } from "./present.js";
import { tuple } from "./python.js";
import { productFigure } from "./sum_panels.js";

const STRONGEST = 6; // grids of products, the strongest ones
const WEIGHT_STEP = 0.05; // of a weight that is dragged
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

export const placeName = (network, [k, row, col, channel]) => {
  const { name, rows, cols, channels } = network.columns[k];
  if (rows * cols === 1) return `${name}, ${k === network.answer ? "class" : "number"} ${channel}`;
  return `${name}${channels > 1 ? `, map ${channel}` : ""}, row ${row}, column ${col}`;
};

/** The button that opens the block of a column, or closes it. */
function blockButton(app, k) {
  const block = app.network.blockOf(k);
  if (!block) return null;
  const { before, last } = block;
  const words = app.network.closed.has(last) ? `open the block: ${plural(last - before, "layer")}` : "close the block";
  return h("p", {}, h("button", { type: "button", class: "block", onclick: () => app.toggle(last) }, words));
}

/** The panel of a cell of which the page has no window: the call that shows it. */
function elsewhere(app, cell, head, value) {
  const [k, ...place] = cell;
  const { name } = app.network.columns[k];
  const code = `tc.explore(model, x, at=(${JSON.stringify(name)}, ${place.join(", ")}))`;
  return [head, app.network.isExact(cell) ? null : h("p", { class: "faint" }, Number.isNaN(value) ? "This page does not have this map." : "One of 256 levels, not the exact number."), readsText(app, cell),
    h("p", {}, "This page has no window and no filter of this cell. The page of this call has them, and sums them: ", h("code", {}, code), copyButton(() => code, "copy the call")), blockButton(app, k)];
}

/** The panel of a cell. */
export function cellPanel(app, cell) {
  const { network, values } = app;
  const [k] = cell;
  const column = network.columns[k];
  const value = values[k][network.position(cell)];
  const read = app.pad && !k ? `${value * app.plane.unit} of ${app.plane.unit}, read as ` : "";
  const head = h("h2", {}, `${placeName(network, cell)} = `, h("output", {}, network.isExact(cell) ? read + full(value) : Number.isNaN(value) ? "?" : `about ${short(value)}`));
  if (!k || column.kind === "box") return [head, k ? h("p", {}, `${column.word} is not computed on this page: the numbers are those that the model computed.`) : reachText(network, cell), k ? mapTable(app, cell) : null];
  if (!network.canSum(cell)) return elsewhere(app, cell, head, value);
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
    readsText(app, cell),
    column.filters || column.kind === "add" ? piles(products, ["plus", "minus"]) : null,
    h("p", { class: "said" }, said),
    column.windows ? grids(column, cell, list, winner) : null,
    app.weighs(column) ? weightPanel(app, cell, list) : null,
    blockButton(app, k),
    app.opens(column) ? h("p", {}, h("button", { type: "button", class: "open-call", onclick: () => openCall(app, cell) }, "this layer alone")) : null,
    mapTable(app, cell),
  ];
}

/** Open the call of a cell's layer, with the numbers that it has now. */
function openCall(app, [k, row, col, channel]) {
  const { columns } = app.network;
  const { axes, sources: [source], filters, bias, filterDepth, filterChannels, name, from: [from] } = columns[k];
  const [rows, cols] = axes;
  const two = (field) => tuple(rows[field], cols[field]);
  const words = { strides: two("stride"), padding: tuple(...axes.map((axis) => tuple(axis.pad_before, axis.pad_after))), dilations: two("dilation") };
  const numbers = app.values[from];
  const doc = callDocument("tensorflow.conv2d", [[1, ...source], [rows.filter_size, cols.filter_size, filterDepth, filterChannels]], words, {
    source: ([, r, q, c]) => numbers[(r * source[1] + q) * source[2] + c],
    filter: ([t, u, i, o]) => filters[((t * cols.filter_size + u) * filterDepth + i) * filterChannels + o],
  }, [0, row, col, channel]);
  doc.base.terms += Number(Boolean(bias)); // a bias is a term of a sum
  const inside = h("div", {});
  const dialog = h("dialog", { class: "call", "aria-label": `the call of ${name}`, onclose: () => dialog.remove() },
    h("button", { type: "button", class: "close", onclick: () => dialog.close() }, "back to the network"), inside);
  app.root.append(dialog);
  dialog.showModal();
  mount(inside, { call: { ...doc, bias: bias && [...bias] }, variants: { controls: [], table: {}, left_out: 0 }, beside: null, playground: true }, { shows: () => {} });
}

/** How much of the input a cell reads, and where; `isWhole`: with its padding. */
function readsText({ network, pad }, cell, isWhole = true) {
  const { masks, spans } = readsOf(network, cell);
  const span = spanOf(network, 0, masks[0]);
  const { count, sides: [high, wide] } = span;
  if (!spans[0]) return h("p", { class: "faint" }, "A layer before it is not computed on this page, so what it reads of the input is not known.");
  const [rows, cols] = [spans[0].rows, spans[0].cols].map(([low, top]) => top - low + 1);
  const beyond = isWhole && (rows > high || cols > wide) ? `; its window is ${rows} × ${cols}, the rest is padding` : "";
  const holes = count < high * wide ? `, ${count} cells of them` : "";
  return h("p", { class: "faint" }, `reads ${high} × ${wide} ${pad ? "blocks of ink" : "of the input"}: ${rowsAndColumns(span).join(", ")}${holes}${beyond}`);
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

const strength = (taps) => taps.reduce((sum, tap) => sum + tap.product, 0);

/** The taps of each map, the strongest map first. */
const byStrength = (list) => [...Map.groupBy(list, (tap) => tap.plane)].sort((a, b) => Math.abs(strength(b[1])) - Math.abs(strength(a[1])));

/** The weights of a cell's filter for one of the maps that it reads, which one drags. */
function weightPanel(app, [k, , , channel], list) {
  const { axes: [, cols], ins, name, given } = app.network.columns[k];
  const maps = byStrength(list);
  const [plane, taps] = maps.find(([one]) => one === app.weighed) ?? maps[0];
  const weights = taps.map(({ weight }) => weight);
  const choose = h("select", { "aria-label": "the map that the weights are for", onchange: () => app.weigh(k, { plane: Number(choose.value) }) },
    maps.map(([one]) => h("option", { value: one, selected: one === plane }, String(one))));
  const weigh = (i, number) => {
    weights[i] = number;
    app.weigh(k, { at: taps[i].at, number });
  };
  return h("div", { class: "kernel" },
    h("p", {}, h("b", {}, `weights of ${name}`), ins > 1 ? [", map ", choose, ` to ${channel}`] : "", ": drag one ",
      given ? h("button", { type: "button", class: "as-given", onclick: () => app.asGiven(k) }, "as given") : null),
    weightFields(weights, cols.filter_size, WEIGHT_STEP, { weigh, take: () => app.draw() }));
}

/** The products of each map, the strongest map first. */
function grids(column, [, , col], list, winner) {
  const sorted = byStrength(list);
  const columns = column.windows[1][col].length;
  const doc = { pool: column.filters ? null : { reduce: column.kind } };
  const figures = sorted.slice(0, STRONGEST).map(([plane, taps]) => {
    const figure = productFigure(sorted.length > 1 ? `map ${plane}` : "", taps, columns, strength(taps), { doc, light: () => {} }, true);
    figure.querySelectorAll(".product")[taps.findIndex(({ order }) => order === winner?.order)]?.classList.add("winner");
    if (!column.filters || sorted.length === 1) figure.querySelector(".partial").remove();
    return figure;
  });
  const more = sorted.length > STRONGEST ? h("p", { class: "faint" }, `The ${STRONGEST} strongest of ${sorted.length} maps.`) : null;
  return h("div", {}, h("div", { class: "unfold" }, figures), more);
}

/** The map of a cell, with its numbers. */
function mapTable(app, [k, row, col, channel]) {
  const { network, values } = app;
  const { rows, cols, channels } = network.columns[k];
  if (rows * cols === 1 || rows * cols > MOST_WRITTEN || network.isLarge) return null;
  const cells = Array.from({ length: rows * cols }, (_, place) => {
    const [r, q] = [Math.floor(place / cols), place % cols];
    const value = values[k][place * channels + channel];
    const share = Math.min(1, Math.abs(value) / (app.plane.scales[k] || 1));
    return h("button", { type: "button", tabindex: "-1", class: r === row && q === col ? "here" : null, title: full(value), style: `--share:${(100 * share).toFixed(0)}%;--tint:var(--${value < 0 ? "below" : "above"})`, onclick: () => app.select([k, r, q, channel]) }, short(value));
  });
  return h("figure", { class: "map" }, h("figcaption", {}, `this map; the darkest colour stands for ±${brief(app.plane.scales[k])}`), writtenGrid(cols, cells));
}

/** Numbers as a table, each of which has the room that the widest needs. */
function writtenGrid(cols, cells) {
  const least = Math.max(2.2, 0.75 * Math.max(...cells.map(({ textContent }) => emsOf(textContent))) + 0.3); // the letters are smaller, as in network.css
  return h("div", { class: "written", style: `grid-template-columns:repeat(${cols},minmax(${least}em,3.2em))` }, cells);
}

/** The panel of a question: why one class and not another. */
export function whyPanel(app, why) {
  const { network, values } = app;
  const { win, rival, margin, lines, list, bias, positive } = why;
  const scores = values[network.answer];
  const rivals = ranked(scores).filter((c) => c !== win && network.canSum([network.answer, 0, 0, c])).slice(0, 20);
  const choose = h("select", { "aria-label": "the class to compare with", onchange: () => app.ask(win, Number(choose.value)) }, rivals.map((c) => h("option", { value: c, selected: c === rival }, String(c))));
  const drawn = lines.filter((line) => line.to[0] === network.answer);
  const share = drawn.reduce((sum, line) => sum + line.product, 0) / positive;
  return [
    closer(app),
    h("h2", {}, `Why ${win} and not `, h("b", {}, choose, "?"), " ", h("output", {}, brief(margin))),
    h("p", { class: "faint" }, `the score of ${win} minus that of ${rival}${app.plane.hasChances ? "; the percentages depend on such differences only" : ""}`),
    piles([...list.map(({ product }) => product), bias], ["for", "against"]),
    h("p", {}, `Drawn: the ${drawn.length} strongest of ${plural(list.length, "product")}, `, h("b", {}, `${(100 * share).toFixed(0)} %`), ` of what speaks for ${win}. A line is as wide as its share, the grey stub as that of the other ${list.length - drawn.length}.`),
    h("ol", { class: "ways" }, drawn.map((line) => h("li", { tabindex: "0", onpointerenter: () => app.light(line), onpointerleave: () => app.light(null), onfocus: () => app.light(line), onblur: () => app.light(null) },
      readsText(app, line.origin, false),
      h("span", { class: "faint" }, `${placeName(network, line.from)}: value × (weight to ${win} − to ${rival})`), h("br"),
      `${brief(line.value)} × ${brief(line.weight)} = `, h("b", {}, brief(line.product)),
      line.without === undefined ? "" : [`; ${withoutIt(network, line)}: ${brief(margin)} → `, h("b", { class: line.without < 0 ? "flips" : null }, brief(line.without))]))),
  ];
}

/** What is taken away: the cell of a line, or the one that a pool passes on to it; then the next largest may step in. */
function withoutIt({ columns }, { from: [k], origin, instead }) {
  return instead ? `without this cell of ${columns[origin[0]].name}, ${columns[k].name} takes the next largest, ${brief(instead)}` : "without it";
}

const closer = (app) => h("button", { type: "button", class: "shut", onclick: () => app.leave() }, "close");

/** The panel of the least change: the search, then what it found, which can be tried. */
export function flipPanel(app, flip) {
  return [
    closer(app),
    h("h2", {}, "What would change its mind?"),
    flip.cell ? h("button", { type: "button", class: "try", onclick: () => app.tryIt() }, flip.tried ? "back" : "try it") : null,
    h("p", {}, flipText(app, flip)),
    flip.tried && app.pad ? h("p", {}, `The change is in "what the network reads", in the circle: your lines stay as you drew them.`) : null,
  ];
}

/** The panel of an input that was covered square by square. */
export function coverPanel(app) {
  const { grid, edges: [down, across], margins, win, whole } = app.data.cover;
  const most = Math.max(...margins.map(Math.abs), Math.abs(whole)) || 1;
  const cells = margins.map((margin) => h("span", { class: margin < 0 ? "flips" : null, title: full(margin), style: `--share:${((100 * Math.abs(margin)) / most).toFixed(0)}%;--tint:var(--${margin < 0 ? "below" : "above"})` }, short(Number(margin.toPrecision(2)))));
  const flips = margins.filter((margin) => margin < 0).length;
  return [
    closer(app),
    h("h2", {}, `What does ${win} need?`),
    h("p", {}, `${grid} × ${grid} squares of about ${down[1]} × ${across[1]} cells: each in turn was covered with the mean of the whole input, and the model ran again when this page was made. A number is what ${win} is then ahead of the best other class; without a cover it is ${brief(whole)}.`),
    h("figure", { class: "map" }, writtenGrid(grid, cells)),
    h("p", {}, flips ? `${plural(flips, "square")} below zero: there the answer changes.` : "No single square changes the answer."),
  ];
}

/** The least change in words. */
export function flipText({ network, plane: { unit } }, { cell, to, was, says, tries, ahead, flips, win, words }) {
  if (!cell) return words;
  const map = network.columns[0].channels > 1 ? `, map ${cell[3]}` : "";
  const change = `row ${cell[1]}, column ${cell[2]}${map} from ${brief(was * unit)} to ${brief(to * unit)}${unit > 1 ? ` of ${unit}` : ""}`;
  if (flips) return `The least change: ${change}, and it says ${says}.`;
  const { size } = network.columns[0];
  const tried = unit > 1 ? `each of ${size} cells was tried with ${tries / size} other amounts of ink` : `${tries.toLocaleString("en")} changes were tried`;
  return `No single cell does: ${tried}. The nearest: ${change} leaves the score of ${win} ahead of that of ${says} by ${brief(Number(ahead.toPrecision(2)))}.`;
}

/** What one reads first. */
export const hints = (app) => [
  app.pad ? h("p", {}, `From ${app.plane.wide ? "left to right" : "top to bottom"}: your ink, what each layer makes of it, and a score for each digit; the highest is the answer. A square of colours is a map, and each cell of it one number. "How it works" explains the layers, "why?" and "change its mind" question the answer.`) : null,
  app.network.isLarge ? null : h("button", { type: "button", class: "begin-quiz", onclick: () => app.quiz.begin() }, "quiz"),
  h("h2", {}, app.network.isLarge ? "Click any cell" : "Point at any cell"),
  h("p", {}, "Its window lights up in the layer before, and the window of that window, back to the input. Blue: what it reads; green: what it reaches; dashed: padding. Rows, columns and maps are counted from 0."),
  app.network.isLarge ? null : h("p", {}, `The darkest blue stands for a number above zero, the darkest orange for one below: ${app.network.columns.flatMap(({ name }, k) => (k && k !== app.network.answer ? [`${name} ±${brief(Number(app.plane.scales[k].toPrecision(3)))}`] : [])).join(", ")}.`),
  app.network.blocks.length ? h("p", {}, "A column is a block of layers, and an arc a way past some of them. The panel of a cell opens its block. Cells on the ways to the answer have their sums.") : null,
  h("p", {}, `A click keeps the cell, Escape lets it go. With keys: Tab leads to the maps, arrows move from cell to cell, with Shift from map to map and from layer to layer.${app.pad ? " In the pad, Delete clears the drawing." : ""}`),
  app.network.answer !== null && app.explains ? h("p", {}, `Click ${app.pad ? "a digit" : "an answer"} in the last ${app.plane.wide ? "column" : "row"} to see why the answer is not that one.`) : null,
  app.pad && ADDRESSED ? h("p", {}, "The address of this page holds your drawing and what you asked: a link to share.") : null,
];

/** What is true of the whole page: a line, and what is folded behind it. */
export function aboutPage(network, values, data) {
  const numbers = values.reduce((sum, list) => sum + list.length, 0).toLocaleString("en");
  if (network.isLarge) return [`${numbers} numbers, as the model computed them`, `The four strongest maps of a column in 256 levels. ${plural(data.cells.length, "cell")} with window and filter, on the ways to the answer: summed here exactly.`];
  const far = network.answer === null ? null : distance(network, values[network.answer], data);
  const changed = network.columns.some(({ given }) => given);
  const theirs = changed || far === null ? "" : `; what ${data.framework} returned differs by at most ${far === 0 ? "0" : far.toExponential(1)}`;
  const first = data.outputs > 1 ? ` The answer is the first of ${data.outputs} outputs.` : "";
  const boxes = network.isWhole ? "" : " A layer that this page does not compute shows what the model computed.";
  return [`${numbers} numbers, computed here${changed ? "; you changed weights" : ""}`, `Sums in float64, each rounded once to ${data.dtype}${theirs}.${first}${boxes}`];
}

/** How far the scores are from those that the model returned. */
function distance(network, scores, { returned }) {
  const theirs = unpackedArray(returned);
  const steps = [...network.columns[network.answer].steps, ...network.columns[network.answer].then];
  const ours = steps.at(-1)?.kind === "softmax" ? chances(scores) : scores;
  return theirs.reduce((far, x, i) => Math.max(far, Math.abs(x - ours[i])), 0);
}
