// What lies over the maps of a network: their titles, the windows of a cell, and the ways of a question.

import { chances, ranked } from "./network_numbers.js";
import { cellsOf, outline, reachedBy, readsOf } from "./network_reach.js";
import { brief, short } from "./numbers.js";

const WIDEST = 44; // pixels of a line that is the whole positive pile
const PERCENTS = ["percent among these ten:", "a scribble gets one, too"];

/** The text of an SVG's content. */
export function marksOf(app) {
  const { plane, flip } = app;
  const parts = plane.places.flatMap((place, k) => titles(app, k, place));
  if (app.cell) parts.push(...windows(app));
  else if (app.why) parts.push(...ways(app));
  if (flip?.cell) parts.push(ring(plane.middle(flip.cell), short(flip.to * plane.unit)));
  return parts.join("");
}

function titles(app, k, place) {
  const { plane, network, scores, isBlank } = app;
  const { wide } = plane;
  const column = network.columns[k];
  const isRead = app.pad && !k;
  const note = isRead ? ["ink in blocks of 4 × 4"] : [...column.note, place.left ? `${place.maps.size} of ${column.channels}` : ""].filter(Boolean);
  const [x, y] = wide ? [place.at, (k ? 0 : place.top - (app.pad ? 46 : 58)) + 14] : [k ? 0 : place.maps.get(0).x, (k ? place.at : 22) - 7];
  const most = wide && !place.bars ? Math.max(9, Math.floor((place.end - place.at + 12) / 6.8)) : 60;
  const cut = (words) => asText(words.length > most ? `${words.slice(0, most - 1)}…` : words);
  const name = isRead ? (wide ? "what the network reads" : "the network reads") : cut(column.name);
  const parts = wide
    ? [label(x, y, name), ...note.slice(0, 2).map((line, i) => label(x, y + 17 + 15 * i, cut(line), "faint"))]
    : [label(x, y, `${name} <tspan class="faint">${k ? cut(note.join(", ")) : ""}</tspan>`)];
  if (!place.bars) return parts;
  const shares = plane.hasChances && !isBlank ? chances(scores) : null;
  const [best] = isBlank ? [null] : ranked(scores);
  for (const c of plane.classes(scores)) {
    const at = place.maps.get(c);
    const strong = c === best ? "best" : "";
    if (!wide) parts.push(label(at.x + place.cell / 2, at.y + 14, c, strong, "middle"));
    else {
      const chance = shares ? ` <tspan class="faint">${asText(percent(shares[c]))}</tspan>` : "";
      parts.push(label(at.x + 2, at.y + place.cell / 2 + 5, c, strong), label(at.x + place.width, at.y + place.cell / 2 + 5, `${brief(Number(scores[c].toPrecision(3)))}${chance}`, strong, "end"));
    }
  }
  if (app.pad) parts.push(...(wide ? PERCENTS : [PERCENTS.join(" ")]).map((line, i) => label(wide ? place.at + place.width : 0, place.below + 15 * i, line, "faint", wide ? "end" : "start")));
  return parts;
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
  const parts = [];
  const behind = new Set(); // cells that the lit line comes from; each line stands before those behind it
  for (const line of why.lines) if (line === lit || behind.has(String(line.to))) behind.add(String(line.from));
  for (const line of why.lines.toSorted((a, b) => a.share - b.share)) {
    const ends = [plane.middle(line.from), plane.middle(line.to)];
    if (!ends[0] || !ends[1]) continue;
    parts.push(wire(plane, ...ends, behind.has(String(line.from)) ? "way lit" : "way", Math.max(0.8, WIDEST * line.share)));
    parts.push(frame(plane.places[line.from[0]], [[line.from[1], line.from[2]]], line.from[3], "mark thin"));
    if (line.to[0] === network.answer) parts.push(mapName(app, plane.places[line.from[0]], line.from));
  }
  const end = plane.middle([network.answer, 0, 0, why.win]);
  const drawn = why.lines.filter((line) => line.to[0] === network.answer).reduce((sum, line) => sum + line.share, 0);
  if (end) parts.unshift(`<path class="stub" d="M${end}${plane.wide ? "h-24" : "v-16"}" stroke-width="${(WIDEST * (1 - drawn)).toFixed(1)}"/>`);
  return parts;
}

function wire(plane, from, to, name, width) {
  if (!from || !to) return "";
  const bend = plane.wide ? [(from[0] + to[0]) / 2, from[1], (from[0] + to[0]) / 2, to[1]] : [from[0], (from[1] + to[1]) / 2, to[0], (from[1] + to[1]) / 2];
  return `<path class="${name}" d="M${from}C${bend.slice(0, 2)} ${bend.slice(2)} ${to}" stroke-width="${width.toFixed(2)}"/>`;
}

/** A name, which may come from a file, without markup. */
export const asText = (words) => words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A share in percent. */
export function percent(share) {
  if (share > 0.9995 && share < 1) return ">99.9 %";
  return `${(100 * share).toFixed(share === 1 || (share > 0.0995 && share < 0.9945) ? 0 : 1)} %`;
}

const label = (x, y, words, name = "", anchor = "start") => `<text x="${x}" y="${y}" class="${name}" text-anchor="${anchor}">${words}</text>`;
const ring = ([x, y], words) => `<circle class="mark" cx="${x}" cy="${y}" r="16"/>${label(x, y + 5, words, "best", "middle")}`;

/** The number of a cell's map, on its upper edge. */
function mapName({ network, plane: { wide } }, { maps, width, bars }, [k, , , channel]) {
  const { rows, cols, channels } = network.columns[k];
  const at = !bars && rows * cols > 1 && channels > 1 && maps.get(channel);
  return at ? label(at.x + width / 2, at.y + (wide ? -1 : 9), `map ${channel}`, "map-name", "middle") : "";
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
