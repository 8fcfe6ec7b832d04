// What lies over the maps of a network: their titles, the windows of a cell, and the ways of a question.

import { chances, ranked } from "./network_numbers.js";
import { PAD_CAPTION } from "./network_plane.js";
import { cellsOf, outline, reachedBy, readsOf } from "./network_reach.js";
import { brief, short } from "./numbers.js";

const STYLED = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "font-size", "font-weight", "font-family", "paint-order", "fill-opacity"];
const WIDEST = 44; // pixels of a line that is the whole positive pile
const BEYOND = 6; // pixels that a title may reach beyond its column
const NAME = 22; // pixels of half the number of a map, which is whole at the edges, too
const ARC = 36; // pixels that an arc reaches beyond the maps
const PERCENTS = ["percent among these ten:", "a scribble gets one, too"];

/** The contents of the groups of an SVG: what is pointed at, asked or changed, and over its lines the titles of each column and the answer. */
export function marksOf(app) {
  const { plane, flip, network } = app;
  const parts = app.quiz.on && !(app.quiz.answered && app.cell) ? asked(app) : app.cell ? windows(app) : app.why ? ways(app) : app.covers ? covers(app) : [];
  if (flip?.cell) parts.push(ring(plane.middle(flip.cell), short(flip.to * plane.unit)));
  for (const [k, place] of plane.places.entries()) place.titles ??= network.isHidden(k) ? "" : titles(app, k, place).join("");
  return [arcs(app).join(""), parts.join(""), ...plane.places.map((place) => place.titles), network.answer === null ? "" : classes(app).join("")];
}

/** Arcs beside the maps, from a column to one that it reaches past others, and around a closed block with such a way in it. */
function arcs({ network, plane: { places, wide } }) {
  const shown = network.columns.map((_, k) => k).filter((k) => network.isLarge && !network.isHidden(k));
  const middle = (k) => (places[k].at + (k ? places[k].end : places[k].at + places[k][wide ? "width" : "height"])) / 2;
  const edge = (k) => Math.max(0, ...[...places[k].maps.values()].map(({ x, y }) => (wide ? y + places[k].height : x + places[k].width)));
  return shown.slice(1).flatMap((k, i) => {
    const { from } = network.columns[k];
    const starts = new Set(from.map((source) => (network.isHidden(source) ? network.blockOf(source).before : source)));
    const skips = [...starts].filter((start) => start !== shown[i] || (from.length > 1 && starts.size === 1));
    return skips.map((start) => {
      const near = Math.max(...shown.filter((n) => start && n >= start && n <= k).map(edge)) + 4;
      const [a, b, far] = [middle(start), middle(k), near + ARC];
      return `<path class="arc" d="${wide ? `M${a} ${near}C${a} ${far} ${b} ${far} ${b} ${near}` : `M${near} ${a}C${far} ${a} ${far} ${b} ${near} ${b}`}"/>`;
    });
  });
}

/** The squares of the input that were covered, as dark as what they take from the winner's lead. */
function covers({ plane, data: { cover: { edges: [down, across], margins, whole } } }) {
  const { maps, cell } = plane.places[0];
  const most = Math.max(...margins.map((margin) => Math.abs(whole - margin))) || 1;
  return [...maps.values()].flatMap(({ x, y }) => margins.map((margin, i) => {
    const [row, col] = [Math.floor(i / (across.length - 1)), i % (across.length - 1)];
    const [width, height] = [(across[col + 1] - across[col]) * cell, (down[row + 1] - down[row]) * cell];
    return `<rect class="${margin > whole ? "cover more" : "cover"}" x="${x + across[col] * cell}" y="${y + down[row] * cell}" width="${width}" height="${height}" fill-opacity="${((0.8 * Math.abs(whole - margin)) / most).toFixed(2)}"/>`;
  }));
}

function titles(app, k, place) {
  const { plane, network } = app;
  const { wide } = plane;
  const isRead = app.pad && !k;
  const [title, ...notes] = isRead ? [wide ? "what the network reads" : "the network reads", "ink in blocks of 4 × 4"] : plane.lines(k);
  const note = [...notes, place.left ? `${place.maps.size} of ${network.columns[k].channels}` : ""].filter(Boolean);
  const [x, y] = wide ? [place.at, (k ? 0 : place.top - (app.pad ? 46 : 58)) + 14] : [k ? 0 : place.maps.get(0).x, (k ? place.at : 22) - 7];
  const room = wide && k && !place.bars ? place.end - place.at + BEYOND : plane.size.width - x;
  const cut = (words, isName = false, free = room) => {
    const fits = (text) => plane.lineWidth(text, isName) <= free;
    let most = words.length;
    while (most && !fits(`${words.slice(0, most)}…`)) most -= 1;
    return asText(fits(words) ? words : `${words.slice(0, most)}…`);
  };
  const name = cut(title, true);
  const parts = wide
    ? [label(x, y, name), ...note.slice(0, 2).map((line, i) => label(x, y + 17 + 15 * i, cut(line), "faint"))]
    : [label(x, y, `${name} <tspan class="faint">${k ? cut(note.join(", "), false, room - plane.lineWidth(title, true)) : ""}</tspan>`)];
  if (place.bars && app.pad) parts.push(...(wide ? PERCENTS : [PERCENTS.join(" ")]).map((line, i) => label(wide ? place.at + place.width : 0, place.below + 15 * i, line, "faint", wide ? "end" : "start")));
  return parts;
}

/** The classes of the answer, and where there is room their scores. */
function classes({ plane, network, scores, isBlank }) {
  const parts = [];
  const place = plane.places[network.answer];
  const shares = plane.hasChances && !isBlank ? chances(scores) : null;
  const [best] = isBlank ? [null] : ranked(scores);
  for (const c of plane.classes(scores)) {
    const at = place.maps.get(c);
    const strong = c === best ? "best" : "";
    if (!plane.wide) parts.push(label(at.x + place.cell / 2, at.y + 14, c, strong, "middle"));
    else {
      const chance = shares ? ` <tspan class="faint">${asText(percent(shares[c]))}</tspan>` : "";
      parts.push(label(at.x + 2, at.y + place.cell / 2 + 5, c, strong), label(at.x + place.width, at.y + place.cell / 2 + 5, `${brief(Number(scores[c].toPrecision(3)))}${chance}`, strong, "end"));
    }
  }
  return parts;
}

/** The cell or the map that a question is about, and the cell of the input to which the keys have moved. */
function asked({ network, plane, quiz: { at, asked: { cell, map } } }) {
  const [k, channel] = map ?? [cell[0], cell[3]];
  const whole = map && network.columns[k];
  const places = whole ? Array.from({ length: whole.rows * whole.cols }, (_, i) => network.cellAt(k, i * whole.channels).slice(1, 3)) : [cell.slice(1, 3)];
  return [frame(plane.places[k], places, channel, "mark"), at ? frame(plane.places[0], [at.slice(1, 3)], at[3], "window") : ""];
}

/** The windows of the selected cell back to the input, and all that it reaches. */
function windows(app) {
  const { network, plane, cell } = app;
  const [k, row, col, channel] = cell;
  const { masks, spans } = readsOf(network, cell);
  const ahead = reachedBy(network, cell);
  const parts = [];
  for (const [n, place] of plane.places.entries()) {
    const mask = n < k ? masks[n] : n > k ? ahead[n] : null;
    if (!mask || !mask.some(Boolean) || place.bars) continue;
    for (const c of place.maps.keys()) {
      const cells = cellsOf(network, n, mask, c);
      if (!cells.length) continue;
      if (n < k && (n === 0 || network.columns[k].from.includes(n))) parts.push(dashed(place, c, spans[n], network.columns[n]));
      parts.push(frame(place, cells, c, n < k ? "window" : "fed"));
      if (n < k && network.columns[k].from?.includes(n)) {
        const [r, q] = [0, 1].map((axis) => cells.reduce((sum, one) => sum + one[axis], 0) / cells.length);
        parts.unshift(wire(plane, plane.middle([n, r, q, c]), plane.middle(cell), "faint-wire", 1));
      }
    }
  }
  if (!plane.places[k].bars && plane.places[k].maps.has(channel)) parts.push(frame(plane.places[k], [[row, col]], channel, "mark"), mapName(app, plane.places[k], cell));
  return parts;
}

/** The lines of the question. */
function ways(app) {
  const { plane, why, network, lit } = app;
  const [parts, names] = [[], []];
  const behind = new Set(); // cells that the lit line comes from; each line stands before those behind it
  for (const line of why.lines) if (line === lit || behind.has(String(line.to))) behind.add(String(line.from));
  for (const line of why.lines.toSorted((a, b) => a.share - b.share)) {
    const ends = [beside(plane, line.from, 0.5), beside(plane, line.to, -0.5)];
    if (!ends[0] || !ends[1]) continue;
    parts.push(wire(plane, ...ends, behind.has(String(line.from)) ? "way lit" : "way", Math.max(0.8, WIDEST * line.share)));
    parts.push(frame(plane.places[line.from[0]], [[line.from[1], line.from[2]]], line.from[3], "mark thin"));
    if (line.to[0] === network.answer) names.push(mapName(app, plane.places[line.from[0]], line.from));
  }
  const end = plane.middle([network.answer, 0, 0, why.win]);
  const drawn = why.lines.filter((line) => line.to[0] === network.answer).reduce((sum, line) => sum + line.share, 0);
  if (end) parts.unshift(`<path class="stub" d="M${end}${plane.wide ? "h-24" : "v-16"}" stroke-width="${(WIDEST * (1 - drawn)).toFixed(1)}"/>`);
  if (lit?.origin) {
    const { masks: [mask] } = readsOf(network, lit.origin);
    for (const c of plane.places[0].maps.keys()) parts.push(frame(plane.places[0], cellsOf(network, 0, mask, c), c, "window"));
  }
  return [...parts, ...names];
}

/** The edge of a cell where lines leave it or arrive, so that its number is read. */
const beside = (plane, [k, row, col, channel], by) => plane.middle(plane.wide ? [k, row, col + by, channel] : [k, row + by, col, channel]);

function wire(plane, from, to, name, width) {
  if (!from || !to) return "";
  const bend = plane.wide ? [(from[0] + to[0]) / 2, from[1], (from[0] + to[0]) / 2, to[1]] : [from[0], (from[1] + to[1]) / 2, to[0], (from[1] + to[1]) / 2];
  return `<path class="${name}" d="M${from}C${bend.slice(0, 2)} ${bend.slice(2)} ${to}" stroke-width="${width.toFixed(2)}"/>`;
}

/** A name, which may come from a file, without markup. */
const asText = (words) => words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A share in percent. */
export function percent(share) {
  if (share > 0.9995 && share < 1) return ">99.9 %";
  if (share > 0 && share < 0.0005) return "<0.1 %";
  return `${(100 * share).toFixed(share === 1 || (share > 0.0995 && share < 0.9945) ? 0 : 1)} %`;
}

const label = (x, y, words, name = "", anchor = "start") => `<text x="${x}" y="${y}" class="${name}" text-anchor="${anchor}">${words}</text>`;
const ring = ([x, y], words) => `<circle class="mark" cx="${x}" cy="${y}" r="16"/>${label(x, y + 5, words, "best", "middle")}`;

/** The number of a cell's map: above it, or where the page is narrow on the edge that is farther from the cell. */
function mapName({ network, plane: { wide, size } }, { maps, width, height, bars }, [k, row, , channel]) {
  const { rows, cols, channels } = network.columns[k];
  const at = !bars && rows * cols > 1 && channels > 1 && maps.get(channel);
  return at ? label(Math.min(Math.max(at.x + width / 2, NAME), size.width - NAME), at.y + (wide ? -1 : row < rows / 2 ? height - 2 : 9), `map ${channel}`, "map-name", "middle") : "";
}

/** The outline of cells of a map. */
function frame({ maps, cell }, cells, channel, name) {
  const at = maps.get(channel);
  return at ? `<path class="${name}" d="${outline(cells, { ...at, cell })}"/>` : "";
}

/** The rows and columns that windows span, where they reach beyond the map. */
function dashed({ maps, cell }, channel, span, { rows, cols }) {
  if (!span || (span.rows[0] >= 0 && span.cols[0] >= 0 && span.rows[1] < rows && span.cols[1] < cols)) return "";
  const { x, y } = maps.get(channel);
  const sides = [span.cols, span.rows].map(([low, high]) => (high - low + 1) * cell);
  return `<rect class="dashed" x="${x + span.cols[0] * cell}" y="${y + span.rows[0] * cell}" width="${sides[0]}" height="${sides[1]}"/>`;
}

/** What is drawn, under a title, as the text of an SVG that needs no style sheet. */
export function pictureOfNetwork(app, words) {
  const { width, height } = app.plane.size;
  const svg = /** @type {SVGElement} */ (app.over.cloneNode(true));
  for (const [i, shape] of [...svg.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(app.over.querySelectorAll("*")[i]);
    for (const name of STYLED) shape.setAttribute(name, style.getPropertyValue(name));
  }
  const tag = (name, attributes) => `<${name} ${Object.entries(attributes).map(([key, value]) => `${key}="${value}"`).join(" ")}`;
  const drawn = app.padHolder.querySelector(".surface g");
  const side = app.padHolder.clientWidth;
  const line = drawn ? `${tag("svg", { y: PAD_CAPTION, width: side, height: side, viewBox: "0 0 1 1", color: getComputedStyle(drawn).color })}>${drawn.outerHTML}</svg>` : "";
  const title = `${tag("text", { x: 0, y: -10, "font-size": 18, "font-weight": 600, "font-family": "system-ui, sans-serif", fill: getComputedStyle(app.root).color })}>${asText(words)}</text>`;
  return `${tag("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: height + 34, viewBox: `0 -34 ${width} ${height + 34}`, fill: "none" })}>${tag("rect", { y: -34, width: "100%", height: "100%", fill: getComputedStyle(app.root).backgroundColor })}/>${tag("image", { href: app.plane.canvas.toDataURL(), width, height })}/>${line}${title}${svg.innerHTML}</svg>`;
}
