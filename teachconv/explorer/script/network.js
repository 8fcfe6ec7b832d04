// A network drawn whole: its maps, what a cell reads and reaches, its sum, why the answer, and what would change it.

import { h } from "./elements.js";
import { chances, Network, ranked, unpackedArray } from "./network_numbers.js";
import { cellPanel, says, whyPanel } from "./network_panels.js";
import { Plane } from "./network_plane.js";
import { cellsOf, outline, reachedBy, readsOf } from "./network_reach.js";
import { brief } from "./numbers.js";
import { themeButton } from "./parts.js";
import { ADDRESSED } from "./present.js";

const NARROW = 800; // pixels of a page whose axes are swapped
const KEEP = [3, 2, 2, 1]; // lines from the answer, and from each cell that they come from
const THIN = 0.004; // share of a line that is not drawn
const WIDEST = 44; // pixels of a line that is the whole positive pile
const LEVELS = 16; // values of an input cell that are tried between its ends

/** The page of a network. */
class NetworkApp {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.network = new Network(data);
    this.values = this.network.forward(this.network.input);
    const { columns, answer } = this.network;
    for (const [k, column] of columns.entries()) Object.assign(column, { note: says(column), strongest: strongest(column, this.values[k]) });
    this.plane = new Plane(this.network, columns.map((column, k) => (k ? column.largest : data.scale[0])));
    this.plane.hasChances = answer !== null && [...columns[answer].steps, ...columns[answer].then].every(({ kind }) => kind === "softmax");
    this.plane.inked = data.scale[1] >= 0;
    this.cell = null; // the cell that is pointed at
    this.why = null; // the question that is asked
    this.flip = null; // the least change that was found
    this.kept = false; // whether a click selected it
    this.build();
    this.layout();
    this.readAddress();
    this.draw();
    addEventListener("resize", () => { this.layout(); this.draw(); });
    addEventListener("hashchange", () => { this.readAddress(); this.draw(); });
    const themes = () => this.draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themes);
    new MutationObserver(themes).observe(document.documentElement, { attributes: true });
    new MutationObserver(themes).observe(root, { attributes: true, attributeFilter: ["data-theme", "style"] });
  }

  // ---- the parts of the page ----

  build() {
    const { root, data } = this;
    root.classList.add("tcx", "network");
    this.says = h("output", {});
    this.next = h("p", { class: "faint" });
    this.over = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.over.setAttribute("aria-hidden", "true");
    const { canvas } = this.plane;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "the maps of all layers: arrow keys move the cell, with shift to the next layer or map; Escape ends");
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => { if (!this.kept) this.select(null, false); });
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("keydown", (event) => this.press(event));
    const tool = (words, act) => h("button", { type: "button", onclick: act }, words);
    const answers = this.network.answer !== null;
    this.tools = h("div", { class: "tools" },
      answers && this.explains() ? tool("why?", () => this.ask()) : null,
      answers && this.network.isWhole ? tool("change its mind", () => this.changeMind()) : null);
    this.padHolder = h("div", { class: "pad" });
    this.net = h("div", { class: "net" }, canvas, this.over, this.padHolder);
    this.sum = h("aside", { class: "told", "aria-label": "what is pointed at", "aria-live": "polite" });
    this.foot = h("footer", {});
    root.replaceChildren(
      h("header", {}, h("h1", {}, data.title), this.says, this.next, this.tools, themeButton(root, true)),
      this.net, this.sum, this.foot);
  }

  layout() {
    const wide = this.root.clientWidth > NARROW;
    const width = this.net.clientWidth;
    const top = this.net.getBoundingClientRect().top + scrollY;
    const height = wide ? Math.max(420, Math.min(760, innerHeight - top - 44)) : Math.max(440, innerHeight - top - 150);
    const pad = { width: wide ? 176 : 0, height: 0 };
    this.plane.layout(width, height, wide, pad);
    this.net.style.height = `${this.plane.size.height}px`;
    this.over.setAttribute("viewBox", `0 0 ${this.plane.size.width} ${this.plane.size.height}`);
    Object.assign(this.over.style, { width: `${this.plane.size.width}px`, height: `${this.plane.size.height}px` });
  }

  draw() {
    this.plane.paint(this.values);
    this.mark();
    this.say();
  }

  /** Another input: every number anew. */
  show(input) {
    const start = performance.now();
    this.values = this.network.forward(input);
    this.took = performance.now() - start;
    this.flip = null;
    if (this.why) this.why = this.explained(ranked(this.scores)[0], null);
    this.draw();
    this.tell();
  }

  get scores() {
    return this.values[this.network.answer];
  }

  // ---- pointing ----

  at({ clientX, clientY }) {
    const { left, top } = this.plane.canvas.getBoundingClientRect();
    return this.plane.hit(clientX - left, clientY - top);
  }

  point(event) {
    if (this.kept || event.pointerType === "touch") return;
    const cell = this.at(event);
    if (String(cell) !== String(this.cell)) this.select(cell, false);
  }

  click(event) {
    const cell = this.at(event);
    if (cell?.[0] === this.network.answer && this.explains()) {
      const [win, next] = ranked(this.scores);
      return this.ask(win, cell[3] === win ? next : cell[3]);
    }
    return this.select(cell);
  }

  /** Select a cell, or nothing. */
  select(cell, kept = true) {
    Object.assign(this, { cell, why: null, kept: kept && cell !== null });
    this.mark();
    this.say();
    if (kept) this.tell();
  }

  press(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Escape") return this.select(null);
    if (event.key === "Enter" && this.cell?.[0] === this.network.answer) return this.ask();
    if (!steps) return undefined;
    event.preventDefault();
    const { columns } = this.network;
    const [k, row, col, channel] = this.cell ?? [0, 0, 0, 0];
    if (!this.cell) return this.select([k, row, col, channel]);
    const within = (i, size) => Math.max(0, Math.min(size - 1, i));
    const vector = columns[k].rows * columns[k].cols === 1;
    const next = event.shiftKey || (vector && !steps[0]) ? within(k + steps[1], columns.length) : k;
    const column = columns[next];
    const turned = event.shiftKey || vector ? channel + steps[0] : channel;
    const moved = event.shiftKey || vector ? [row, col] : [row + steps[0], col + steps[1]];
    return this.select([next, within(moved[0], column.rows), within(moved[1], column.cols), within(turned, column.channels)]);
  }

  // ---- why, and what would change it ----

  /** Whether the answer is a sum whose products say why. */
  explains() {
    const column = this.network.columns[this.network.answer];
    return column !== undefined && ["convolution", "average pool"].includes(column.kind) && column.then.every(({ kind }) => ["softmax", "sigmoid"].includes(kind));
  }

  ask(win = null, rival = null) {
    const [best] = ranked(this.scores);
    Object.assign(this, { cell: null, kept: true, why: this.explained(win ?? best, rival) });
    this.mark();
    this.say();
    this.tell();
  }

  /** The difference of two scores as products, and the strongest ways back from it. */
  explained(win, asked) {
    const { network, values } = this;
    const { answer } = network;
    const rival = asked ?? ranked(this.scores).find((c) => c !== win);
    const mine = network.taps([answer, 0, 0, win], values);
    const other = network.taps([answer, 0, 0, rival], values);
    const differing = network.columns[answer].filters
      ? mine.list.map((tap, i) => ({ ...tap, weight: tap.weight - other.list[i].weight }))
      : [...mine.list, ...other.list.map((tap) => ({ ...tap, weight: -tap.weight }))];
    const list = differing.map((tap) => ({ ...tap, product: tap.value * tap.weight }));
    const bias = (mine.bias ?? 0) - (other.bias ?? 0);
    const positive = list.reduce((sum, { product }) => sum + Math.max(0, product), Math.max(0, bias)) || 1;
    const lines = [];
    this.grow(lines, [answer, 0, 0, win], list, positive, 1, 0);
    const margin = this.scores[win] - this.scores[rival];
    for (const line of lines.filter(({ to }) => to[0] === answer)) {
      const scores = network.forward(values[0], this.origin(line.from), values.slice(0, line.from[0]))[answer];
      line.without = scores[win] - scores[rival];
    }
    return { win, rival, margin, lines, list, bias, positive };
  }

  /** Add the strongest lines into a cell, and those into the cells that they come from; a pool passes one. */
  grow(lines, to, list, positive, wide, depth) {
    const { network, values } = this;
    const strong = list.filter(({ product, outside }) => product > 0 && !outside).sort((a, b) => b.product - a.product);
    for (const tap of strong.slice(0, KEEP[Math.min(depth, KEEP.length - 1)])) {
      const share = (wide * tap.product) / positive;
      if (share < THIN) continue;
      lines.push({ ...tap, from: tap.source, to, share });
      let cell = tap.source;
      let column = network.columns[cell[0]];
      while (cell[0] && column.kind !== "box") {
        const { winner } = network.evaluated(cell, values);
        const { list: before, bias } = network.taps(cell, values);
        const only = winner ?? (before.length === 1 && !column.filters ? before[0] : null);
        if (!only) {
          const pile = before.reduce((sum, { product }) => sum + Math.max(0, product), Math.max(0, bias ?? 0)) || 1;
          this.grow(lines, cell, before, pile, share, depth + 1);
          break;
        }
        lines.push({ ...only, from: only.source, to: cell, share });
        cell = only.source;
        column = network.columns[cell[0]];
      }
    }
  }

  /** The cell that a cell passes on: of a pool the one that won. */
  origin(cell) {
    const winner = cell[0] ? this.network.evaluated(cell, this.values).winner : null;
    return winner?.source ? this.origin(winner.source) : cell;
  }

  /** Find the least change of one input cell with which another class wins: all cells, all values of a grid. */
  async changeMind() {
    const { network, data } = this;
    const [, least, most] = data.scale;
    const [low, high] = [Math.min(0, least), most || 1];
    const input = this.values[0];
    const [win] = ranked(this.scores);
    const tries = [];
    for (let i = 0; i < input.length; i++) {
      for (let n = 0; n <= LEVELS; n++) tries.push([i, low + ((high - low) * n) / LEVELS]);
    }
    tries.sort(([i, a], [j, b]) => Math.abs(a - input[i]) - Math.abs(b - input[j]));
    let pause = performance.now();
    for (const [n, [i, to]] of tries.entries()) {
      const changed = input.slice();
      changed[i] = to;
      const says = ranked(network.forward(changed)[network.answer])[0];
      if (says !== win) {
        this.flip = { cell: network.cellAt(0, i), to: changed[i], was: input[i], says, tries: n, win };
        break;
      }
      if (performance.now() - pause < 30) continue;
      this.next.textContent = `${n} of ${tries.length} changes tried`;
      await new Promise((done) => { setTimeout(done); });
      if (this.values[0] !== input) return; // something else is drawn by now
      pause = performance.now();
    }
    this.flip ??= { cell: null, to: 0, was: 0, says: win, tries: tries.length, win };
    this.mark();
    this.say();
  }

  // ---- marks over the maps ----

  mark() {
    const { columns, answer } = this.network;
    const { places, wide, size } = this.plane;
    const parts = [];
    for (const [k, place] of places.entries()) parts.push(...this.titles(k, place, wide));
    if (this.why) parts.push(...this.ways());
    else if (this.cell) parts.push(...this.windows());
    if (this.flip?.cell) parts.push(frame(places[0], [[this.flip.cell[1], this.flip.cell[2]]], this.flip.cell[3], "mark"), ring(this.plane.middle(this.flip.cell)));
    this.over.innerHTML = parts.join("");
    if (answer === null && columns.length) return;
    this.over.style.width = `${size.width}px`;
  }

  titles(k, place, wide) {
    const column = this.network.columns[k];
    const note = [...column.note, place.left ? `${place.maps.size} of ${column.channels}` : ""].filter(Boolean);
    const [x, y] = wide ? [place.at, (k ? 0 : place.top - 58) + 14] : [k ? 0 : place.maps.get(0).x, (k ? place.at : 22) - 7];
    const most = wide && !place.bars ? Math.max(14, Math.floor((place.end - place.at) / 6.4)) : 60;
    const name = column.name.length > most ? `${column.name.slice(0, most - 1)}…` : column.name;
    const parts = wide
      ? [label(x, y, name), ...note.slice(0, 2).map((line, i) => label(x, y + 17 + 15 * i, line, "faint"))]
      : [label(x, y, `${name} <tspan class="faint">${k ? note.join(", ") : ""}</tspan>`)];
    if (!place.bars) return parts;
    const shares = this.plane.hasChances ? chances(this.scores) : null;
    const [best] = ranked(this.scores);
    for (const c of this.plane.classes(this.scores)) {
      const at = place.maps.get(c);
      const strong = c === best ? "best" : "";
      if (!wide) parts.push(label(at.x + place.cell / 2, at.y + 14, c, strong, "middle"));
      else {
        const chance = shares ? ` <tspan class="faint">${percent(shares[c])}</tspan>` : "";
        parts.push(label(at.x + 2, at.y + place.cell / 2 + 5, c, strong), label(at.x + place.width, at.y + place.cell / 2 + 5, `${brief(Number(this.scores[c].toPrecision(3)))}${chance}`, strong, "end"));
      }
    }
    return parts;
  }

  /** The windows of the selected cell back to the input, and all that it reaches. */
  windows() {
    const { network, plane, cell } = this;
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
          parts.unshift(this.wire(plane.middle([n, r, q, c]), plane.middle(cell), "faint-wire", 1));
        }
      }
    }
    if (!plane.places[k].bars && plane.places[k].maps.has(channel)) parts.push(frame(plane.places[k], [[row, col]], channel, "mark"));
    return parts;
  }

  /** The lines of the question. */
  ways() {
    const { plane, why, network } = this;
    const parts = [];
    for (const line of why.lines.toSorted((a, b) => a.share - b.share)) {
      const ends = [plane.middle(line.from), plane.middle(line.to)];
      if (!ends[0] || !ends[1]) continue;
      parts.push(this.wire(...ends, "way", Math.max(0.8, WIDEST * line.share)));
      parts.push(frame(plane.places[line.from[0]], [[line.from[1], line.from[2]]], line.from[3], "mark thin"));
    }
    const end = plane.middle([network.answer, 0, 0, why.win]);
    const drawn = why.lines.filter((line) => line.to[0] === network.answer).reduce((sum, line) => sum + line.share, 0);
    if (end) parts.unshift(`<path class="stub" d="M${end}${plane.wide ? "h-24" : "v-16"}" stroke-width="${(WIDEST * (1 - drawn)).toFixed(1)}"/>`);
    return parts;
  }

  wire(from, to, name, width) {
    if (!from || !to) return "";
    const bend = this.plane.wide ? [(from[0] + to[0]) / 2, from[1], (from[0] + to[0]) / 2, to[1]] : [from[0], (from[1] + to[1]) / 2, to[0], (from[1] + to[1]) / 2];
    return `<path class="${name}" d="M${from}C${bend.slice(0, 2)} ${bend.slice(2)} ${to}" stroke-width="${width.toFixed(2)}"/>`;
  }

  // ---- words ----

  say() {
    const { network, data } = this;
    const { answer } = network;
    if (answer !== null) {
      const [win, second] = ranked(this.scores);
      const shares = this.plane.hasChances ? chances(this.scores) : null;
      this.says.textContent = shares ? `${win}, ${percent(shares[win])}` : String(win);
      this.next.textContent = this.flip ? flipText(this.flip, network) : shares ? `next: ${second}, ${percent(shares[second])}` : `next: ${second}`;
    }
    const panel = this.why ? whyPanel(this, this.why) : this.cell ? cellPanel(this, this.cell) : hints(this);
    this.sum.replaceChildren(...panel.filter(Boolean));
    this.foot.textContent = footText(this, data);
  }

  /** Whether a layer's call opens as the picture of a call. */
  opens(_) {
    return false;
  }

  // ---- the address ----

  tell() {
    if (!ADDRESSED) return;
    const parts = [];
    if (this.why) parts.push(`why=${this.why.win},${this.why.rival}`);
    if (this.cell) parts.push(`at=${this.cell}`);
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
  }

  readAddress() {
    const found = (name) => new RegExp(`(?:^#|&)${name}=([\\d,]+)`).exec(location.hash)?.[1].split(",").map(Number);
    const cell = found("at") ?? (location.hash ? null : this.data.at);
    const why = found("why");
    const { columns, answer } = this.network;
    const column = columns[cell?.[0]];
    if (cell?.length === 4 && column && cell[1] < column.rows && cell[2] < column.cols && cell[3] < column.channels) Object.assign(this, { cell, kept: true, why: null });
    else if (why?.length === 2 && answer !== null && this.explains() && why.every((c) => c < columns[answer].channels)) this.ask(...why);
  }
}

/** The channels of a column from the one with the largest numbers. */
function strongest({ channels }, numbers) {
  const sizes = new Array(channels).fill(0);
  for (let i = 0; i < numbers.length; i++) sizes[i % channels] = Math.max(sizes[i % channels], Math.abs(numbers[i]));
  return ranked(sizes);
}

const percent = (share) => `${(100 * share).toFixed(share > 0.0995 && share < 0.9995 ? 0 : 1)} %`;
const label = (x, y, words, name = "", anchor = "start") => `<text x="${x}" y="${y}" class="${name}" text-anchor="${anchor}">${words}</text>`;
const ring = (at) => `<circle class="mark" cx="${at[0]}" cy="${at[1]}" r="16"/>`;

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

function flipText({ cell, to, was, says, tries, win }, network) {
  if (!cell) return `No single cell changes its mind, of ${tries} changes tried: it stays with ${win}.`;
  const map = network.columns[0].channels > 1 ? `, map ${cell[3]}` : "";
  return `The least change: row ${cell[1]}, column ${cell[2]}${map} from ${brief(was)} to ${brief(to)}, and it says ${says}.`;
}

const hints = (app) => [
  h("h2", {}, "Point at any cell"),
  h("p", {}, "Its window lights up in the layer before, and the window of that window, back to the input. A dashed frame is padding."),
  app.network.answer !== null && app.explains() ? h("p", {}, "Click a class at the end to see why the answer is not that one.") : null,
];

/** What is true of the whole page. */
function footText({ network, values, took }, data) {
  const numbers = values.reduce((sum, list) => sum + list.length, 0).toLocaleString("en");
  const far = network.answer === null ? null : distance(network, network.forward(network.input)[network.answer], data);
  const theirs = far === null ? "" : ` On the input that the page was made with, ${data.framework} differs from these sums by at most ${far === 0 ? "0" : far.toExponential(1)}.`;
  const boxes = network.isWhole ? "" : " Layers that this page does not compute show what the model computed.";
  return `${numbers} numbers, computed on this page${took ? ` in ${took.toFixed(1)} ms` : ""}: sums in float64, each rounded once to ${data.dtype}.${theirs}${boxes}`;
}

/** How far the scores are from those that the model returned. */
function distance(network, scores, { returned }) {
  const theirs = unpackedArray(returned);
  const steps = [...network.columns[network.answer].steps, ...network.columns[network.answer].then];
  const ours = steps.at(-1)?.kind === "softmax" ? chances(scores) : scores;
  return theirs.reduce((far, x, i) => Math.max(far, Math.abs(x - ours[i])), 0);
}

/** Draw the page of a network in an element. */
export function openNetwork(root, data) {
  return new NetworkApp(root, data);
}
