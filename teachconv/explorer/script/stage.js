// The stage: the planes of the source, the operand and the result, their frames and their size.

import { h, plural } from "./elements.js";
import { GAPLESS, Grid, KINDS, WRITTEN } from "./grids.js";
import { drawnBeside } from "./panels.js";
import { planeNote, unfed } from "./parts.js";
import { inside } from "./view.js";

const HIGHEST = 30; // em: the tallest plane
const MOST_NARROW = 30; // pixels: the largest cell on a phone, so that picture and buttons fit on one screen
const LOW = 480; // pixels: the highest frame that explorer.css calls low
const LEGIBLE = 24; // pixels: the smallest cell with a legible number
const CROPS = new WeakMap(); // the last position of the frame around the result, by app

/** Redraw the three planes of an app. */
export function drawGrids(app) {
  const { view, doc, state } = app;
  const photo = view.isPhoto();
  const before = app.grids;
  app.grids = Object.fromEntries(["source", "operand", "result"].map((name) => {
    const side = doc[name];
    const shows = photo && name === "source" ? `${state.n}` : view.cell(side, 0, 0, state).join();
    const known = before[name];
    if (known?.view === view && known.shows === shows && known.element.isConnected && !known.whole) return [name, known]; // already up to date
    const point = name === "result" ? (r, q, how) => app.select(r, q, how) : (r, q, how) => app.follow(name, r, q, how);
    const grid = Object.assign(plane(app, side, photo, point), { view, shows });
    if (known) grid.sizeAs(known); // the size rarely changes, so the browser lays it out once
    return [name, grid];
  }));
  const { source, operand, result } = app.grids;
  const pooled = { max: "the largest", average: "the mean", sum: "the sum" }[doc.pool?.reduce];
  const equals = pooled ? sign("→", pooled) : sign("=", summedOver(view, state));
  if (before.result?.element.parentNode === app.stage) {
    for (const [name, grid] of Object.entries(app.grids)) if (before[name] !== grid) before[name].element.replaceWith(grid.element);
    result.element.previousElementSibling.replaceWith(equals);
  } else {
    app.stage.replaceChildren(source.element, sign(pooled ? "" : "∗"), operand.element, equals, result.element);
  }
}

const sign = (text, below = "") => h("span", { class: "sign" }, h("span", { "aria-hidden": "true" }, text), below ? h("small", {}, below) : null);

/** What the sum runs over, apart from the planes on the stage. */
function summedOver(view, { c, o }) {
  const { doc } = view;
  if (doc.empty) return "";
  if (doc.kind === "conv2d_backprop_filter") {
    const images = view.variant.shapes[doc.source][0];
    return images > 1 ? `summed over ${plural(images, "image")}` : "";
  }
  const planes = (doc.kind === "conv2d" ? view.insOf(o) : view.outsOf(c)).filter(([, , outside]) => !outside);
  return planes.length > 1 ? `summed over ${plural(planes.length, doc.rank === 3 ? "plane" : "channel")}` : "";
}

function plane(app, side, photo, onPoint) {
  const { view, doc, state } = app;
  const cuts = side === doc.result && doc.kind === "conv2d_backprop_input"; // what is outside the result is cut away
  const [rows, cols] = (side === doc.source && app.other ? drawnBeside(view, app.other, side) : view.drawn(side))
    .map((list) => list.map(([i, kind]) => [i, cuts && kind === "padding" ? "cut" : kind]));
  const content = (r, q, kind) => {
    const cell = view.cell(side, r, q, state);
    if (["padding", "outside", "beyond"].includes(kind)) return { kind: KINDS[kind], text: zeroOf(doc, side) };
    if (doc.pool && side === "filter") return {}; // places without weights
    if (photo && side === doc.source) return { value: view.number(side, cell), colour: view.colour(cell) };
    const shown = { value: side === doc.result ? view.value(cell) : view.number(side, cell) };
    return kind === "unread" && side === doc.result ? { ...shown, kind: unfed(doc) } : shown;
  };
  const change = app.host?.edit && side !== doc.result;
  const onEdit = change ? (r, q, number) => app.host.edit(side, view.cell(side, r, q, state), number) : null;
  const grid = new Grid({ title: doc.names[side], note: planeNote(view, side, state, photo), rows, cols, content, onPoint, onEdit, flat: doc.rank === 1, scale: view.arrays[side]?.largest ?? app.thumbs.largest[side], least: view.arrays[side]?.least ?? app.thumbs.least[side] });
  grid.photo = photo && side === doc.source;
  return grid;
}

/** What the padding of a quantized convolution holds: the integer that stands for 0. */
const zeroOf = ({ quantized, kind, source }, side) => (quantized && kind === "conv2d" && side === source ? String(quantized.zeros[0]) : undefined);

/** Draw the frame that separates the result from what is cut away; it slides when the output size changes. */
export function frameResult(app) {
  const { result } = app.grids;
  const { rows, cols } = result;
  const kept = app.view.drawn(app.doc.result).map(inside);
  const full = `${rows.length} × ${cols.length}`;
  const cuts = app.doc.kind === "conv2d_backprop_input" && (kept[0].length < rows.length || kept[1].length < cols.length);
  const before = CROPS.get(app);
  const corners = [[kept[0][0], kept[1][0]], [kept[0].at(-1), kept[1].at(-1)]];
  const at = corners.map(([r, q]) => [rows.findIndex(([i]) => i === r), cols.findIndex(([i]) => i === q)]);
  if (!cuts && before?.full !== full) {
    CROPS.delete(app);
    return;
  }
  if (before?.full === full) { // the same full result: start from the last position
    result.frame("crop", before.at.map(([top, left]) => [rows[top][0], cols[left][0]]));
    result.box.getBoundingClientRect(); // force a layout, so that the transition starts there
  }
  result.frame("crop", corners);
  CROPS.set(app, { full, at });
}

/**
 * Size the cells for the space available: all planes in one row if their numbers are legible; else the larger of
 * source and result in a row of its own; else all planes stacked.
 * @param {any} app
 */
export function fitGrids(app) {
  if (!app.grids.result) return;
  const { em } = app;
  const style = getComputedStyle(app.stage);
  const width = app.stage.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const { source, operand, result } = app.grids;
  const [filter, plane] = app.doc.result === "filter" ? [result, operand] : [operand, result];
  const [times, equals] = [...app.stage.querySelectorAll(".sign")].map((element) => element.clientWidth);
  const narrow = width < 44 * em;
  const least = (narrow ? 1.25 : 2.1) * em; // the smallest cell of a filter beside large planes
  const tight = isTight(app);
  const paper = app.root.classList.contains("drawn");
  const [gap, numbers] = tight ? [0.3 * em, 2] : [paper ? 0.3 * em : em, app.presenting ? Math.max(20, 0.026 * innerHeight) : 20]; // as the CSS has them
  const row = (others, room) => { // the cell size of planes in one row, and that of a small filter among them
    const even = cellIn(room, others + filter.columns);
    const shrunk = cellIn(room - filter.columns * (least + 1), others);
    const apart = filter.columns <= 7 && even < least && (even < WRITTEN || shrunk >= WRITTEN); // not if the others lose their numbers
    return apart ? { cell: shrunk, filter: least } : { cell: even, filter: even };
  };
  const planes = source.columns + plane.columns;
  const beside = row(planes, width - times - equals - 4 * gap - 3 * numbers);
  const alone = cellIn(width - 20, Math.max(source.columns, operand.columns, result.columns));
  const rows = [source, operand, result].map((grid) => Math.max(1, grid.rows.length));
  const wanted = app.presenting ? 53 : LEGIBLE; // on a slide, digits of 22 pixels
  const flat = beside.cell < wanted && alone >= wanted && rows.reduce((sum, n) => sum + n) * Math.min(alone, 2.9 * em) < (HIGHEST - 12) * em;
  const low = paper || (!grows(app) && innerHeight < 640); // only one row fits
  const wide = tight || (!flat && beside.cell >= (!narrow || alone < WRITTEN ? 5 : paper ? 6 : low ? 15 : 22)); // in a narrow page, only if legible
  const below = row(Math.min(source.columns, plane.columns), width - times - equals - 3 * 0.3 * em - 2 * 20);
  const large = source.columns >= result.columns ? source : result;
  const folded = !wide && narrow && below.filter >= 16 && below.cell >= Math.min(16, alone);
  app.stage.classList.toggle("stacked", !wide && !folded);
  app.stage.classList.toggle("folded", folded);
  app.stage.classList.toggle("last", folded && large === result);
  const shared = (app.presenting || flat) && !wide && !folded; // all planes below each other have one height together
  const lines = wide ? Math.max(...rows) : rows.reduce((sum, n) => sum + n);
  const high = wide || shared ? highest(app, lines, wide, low) : (paper ? 22 : HIGHEST) * em;
  const most = app.presenting && !narrow ? 6 * em : wide || !narrow ? 2.9 * em : MOST_NARROW;
  const fits = wide ? beside : below;
  for (const [i, grid] of [source, operand, result].entries()) {
    const tall = Math.floor(high / (shared ? lines : rows[i]));
    grid.most = Math.min(most, folded && grid !== large ? Math.max(18, (7.5 * em) / rows[i]) : Infinity, wide && tall >= GAPLESS ? tall - 1 : tall);
    grid.smallest = tight ? 3 : 5;
    grid.fit(wide || (folded && grid !== large) ? fits[grid === filter ? "filter" : "cell"] : alone);
  }
  if (wide || folded || filter.columns > 7) return;
  if (!shared) filter.most = most;
  filter.fit(cellIn(width - 20, filter.columns));
}

/** Whether the height is unlimited: on paper, and in a frame, which grows with its contents unless they fill it. */
const grows = (app) => app.root.classList.contains("drawn") || (window.parent !== window && !app.presenting);

/** Whether the planes are beside the whole image, in a low frame: without the numbers of rows and columns. */
const isTight = (app) => Boolean(app.presenting && app.overview?.whole && innerHeight <= LOW);

/** The height of so many lines of cells below each other: the buttons stay visible, unless the numbers would not be legible. */
function highest(app, lines, wide, low) {
  const { em, presenting } = app;
  const room = roomFor(app, wide);
  if (presenting) return Math.max(5 * lines, room);
  const legible = (low ? WRITTEN + 1 : LEGIBLE) * lines;
  return Math.min(HIGHEST * em, Math.max(legible < HIGHEST * em ? legible : app.overview?.whole ? 5 * lines : 15 * em, room));
}

/** The height that is left for the cells of the stage. */
function roomFor(app, wide) {
  if (grows(app)) return Infinity;
  const { em, stage, sum, presenting, overview } = app;
  const heights = (...elements) => elements.reduce((all, element) => all + (element?.offsetHeight ?? 0), 0);
  const heads = [...stage.querySelectorAll("figcaption")].map((caption) => caption.offsetHeight + 0.4 * em + 14);
  const within = wide ? Math.max(...heads) : heads.reduce((all, head) => all + head) + heights(...stage.querySelectorAll(".sign")) + 2 * em;
  const above = !presenting ? stage.getBoundingClientRect().top + scrollY : overview?.whole && !isTight(app) ? heights(overview.element) : 0;
  const headline = getComputedStyle(sum).display === "contents" ? sum.querySelector(".headline") : null; // else it is beside
  const margins = (presenting && innerHeight <= LOW ? 3 : 4.5) * em;
  return innerHeight - above - within - heights(app.tour.element, app.legend, app.transport, headline) - margins;
}

/** The cell size at which so many columns fit in a width; small cells have no gap between them. */
function cellIn(room, columns) {
  const size = room / columns;
  return size < GAPLESS ? size : size - 1;
}
