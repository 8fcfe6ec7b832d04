// The channels as rooms with walls: each group's channels side by side, as small maps that can be chosen.

import { h, moreButton, plural } from "./elements.js";
import { several } from "./parts.js";
import { inside } from "./view.js";

const MOST = 16; // maps of a side of a room, and rooms, before they are unfolded
const MAP_WORK = 2e6; // the most products that are summed for maps alone, in float64

/** The small maps of all channels of a call, in rooms. */
export class Thumbs {
  constructor(app) {
    this.app = app;
    this.maps = new Map(); // "side:channel" -> its canvas and what it shows
    this.largest = { in: 0, out: 0, filter: 0 };
    this.least = { in: 0, out: 0, filter: 0 };
    const { doc } = app;
    this.element = (several(app.view) || doc.rank === 3) && !doc.empty ? this.build() : null;
    this.measure();
  }

  build() {
    const { view, doc, state } = this.app;
    const [first, last] = doc.source === "out" ? ["out", "in"] : ["in", "out"]; // as the numbers flow
    const held = { in: view.planes("in"), out: view.planes("out") };
    const volume = doc.rank === 3;
    const current = volume ? this.window() : view.groupOfOut.get(state.o);
    const groups = volume ? [current] : doc.groups.filter((group) => group.in.some(([c]) => held.in.has(c)) && group.out.some((o) => held.out.has(o)));
    const at = Math.max(0, Math.min(groups.indexOf(current) - MOST / 2, groups.length - MOST));
    const shown = this.app.allChannels ? groups : groups.slice(at, at + MOST);
    const walls = !volume && doc.groups.length > 1;
    const rooms = shown.map((group) => {
      const lists = { in: group.in.map(([c]) => c).filter((c) => held.in.has(c)), out: group.out.filter((o) => held.out.has(o)) };
      const here = group === current;
      return h("li", { class: here ? "room here" : "room" },
        walls ? h("span", { class: "name" }, `group ${doc.groups.indexOf(group)}`) : null,
        this.row(first, lists[first], here), h("span", { class: "arrow", "aria-hidden": "true" }, doc.result === "filter" ? "×" : "→"), this.row(last, lists[last], here));
    });
    const folded = groups.length - shown.length;
    const words = walls ? `${plural(doc.groups.length, "group")} of channels: nothing passes the walls` : volume ? "the slices that the window covers" : "all channels";
    return h("section", { class: "channels-map", "aria-label": words }, walls || volume ? h("p", {}, `${words[0].toUpperCase()}${words.slice(1)}.`) : null,
      h("ul", { class: "rooms" }, rooms),
      folded ? moreButton(this.app, plural(folded, "more group")) : null);
  }

  /** The room of a volume: the slices that the window covers, and those beside the one that it goes to. */
  window() {
    const { view, doc, state } = this.app;
    const met = (list) => list.filter(([, , outside]) => !outside).map(([plane]) => plane);
    const beside = (side, plane) => {
      const [slice, channel] = view.split(side, plane);
      const { [side]: list } = (side === "in" ? view.groupOfIn : view.groupOfOut).get(channel);
      return list.map((c) => slice * view.channels[side] + (side === "in" ? c[0] : c));
    };
    const [ins, outs] = doc.result === "in" ? [beside("in", state.c), met(view.outsOf(state.c))] : [met(view.insOf(state.o)), beside("out", state.o)];
    return { in: ins.map((c) => [c]), out: outs };
  }

  /** The maps of one side of a room: of the channels that are summed over, each with its plane of the filter. */
  row(side, channels, here) {
    const { app } = this;
    const { doc, state } = app;
    const name = side === "in" ? "c" : "o";
    const at = Math.max(0, Math.min(channels.indexOf(state[name]) - MOST / 2, channels.length - MOST));
    const shown = app.allChannels ? channels : channels.slice(at, at + MOST);
    const summed = doc.result === "filter" ? side === "in" : side === doc.source;
    const buttons = shown.map((channel) => {
      const words = `${doc.names[side]} ${app.view.planeName(side, channel)}`;
      const number = doc.rank === 3 ? app.view.split(side, channel).slice(0, app.view.channels[side] > 1 ? 2 : 1).join(":") : String(channel);
      const filter = summed && here && !doc.pool ? this.map("filter", { ...state, [name]: channel }) : null;
      return h("button", { type: "button", class: shown.length > 8 ? "thumb many" : "thumb", "data-thumb": `${name}${channel}`, "aria-pressed": String(state[name] === channel), "aria-label": words.endsWith(number) ? words : `${words}: ${number}`, title: words,
        onclick: () => app.chooseChannel(name, channel) }, this.map(side, { ...state, [name]: channel }, shown.length > 8), filter, h("small", {}, number));
    });
    const folded = channels.length - shown.length;
    const more = folded ? moreButton(app, `${folded} more`) : null;
    return h("div", { class: "maps" }, buttons, more);
  }

  /** The canvas of one plane, which `paint` fills. */
  map(side, state, many = false) {
    const [rows, cols] = this.app.view.drawn(side).map(inside);
    const canvas = h("canvas", { width: cols.length, height: rows.length, "aria-hidden": "true", class: side === "filter" ? "plane weights" : "plane" });
    const scale = Math.max(1, Math.min(side === "filter" ? 7 : (many ? 34 : 48) / Math.max(rows.length, cols.length), 9));
    canvas.style.width = `${cols.length * scale}px`;
    canvas.style.height = `${rows.length * scale}px`;
    const last = side === "filter" ? `${state.c}>${state.o}` : state[side === "in" ? "c" : "o"];
    this.maps.set(`${side}:${last}`, { canvas, side, state, rows, cols });
    return canvas;
  }

  /** The numbers of all maps, and the largest and the least of each side: one scale for all its channels. */
  measure() {
    const { view, doc } = this.app;
    const cells = [...this.maps.values()].filter(({ side }) => side === doc.result).reduce((sum, { rows, cols }) => sum + rows.length * cols.length, 0);
    const shown = doc.result === "out" ? this.app.state.o : this.app.state.c; // the plane beside sums it anyway
    this.work = view.arrays[doc.result] ? 0 : cells * view.variant.terms;
    const summed = (cell) => (doc.kind === "conv2d_backprop_filter" ? view.value(cell) : this.work <= MAP_WORK ? view.painted(cell) : undefined);
    const value = (side, cell) => (side !== doc.result ? view.number(side, cell) : view.arrays[doc.result] || cell[3] === shown ? view.value(cell) : summed(cell));
    for (const map of this.maps.values()) {
      map.values = map.rows.map((r) => map.cols.map((q) => Number(value(map.side, view.cell(map.side, r, q, map.state)) ?? NaN)));
      for (const number of map.values.flat().filter(Number.isFinite)) {
        this.largest[map.side] = Math.max(this.largest[map.side], Math.abs(number));
        this.least[map.side] = Math.min(this.least[map.side], number);
      }
    }
    const note = !this.work || doc.kind === "conv2d_backprop_filter" ? "" : this.work <= MAP_WORK ? "painted with sums in float64" : "too many products to sum: choose a channel to see it";
    for (const { canvas, side, state } of this.maps.values()) {
      const button = canvas.closest("button");
      if (note && button && side === doc.result && state[side === "in" ? "c" : "o"] !== shown) button.title += `: ${note}`;
    }
    if (this.work > MAP_WORK) this.element?.append(h("p", {}, `The maps of the other channels have ${plural(this.work, "product")}, too many to sum here: choose a channel to see it.`));
    for (const side of Object.keys(this.largest)) this.largest[side] = view.arrays[side]?.largest ?? this.largest[side];
  }

  /** Paint all maps; they have to be on the page, which knows the colours. */
  paint() {
    if (!this.element) return;
    const [above, below] = signColours(this.element);
    for (const { canvas, side, values, rows, cols } of this.maps.values()) {
      if (!values.flat().some(Number.isFinite)) continue;
      const grey = side !== "filter" && this.least[side] === 0 && rows.length * cols.length > 300;
      const pen = canvas.getContext("2d");
      if (grey) {
        pen.fillStyle = "#111";
        pen.fillRect(0, 0, cols.length, rows.length);
      }
      for (const [r, line] of values.entries()) {
        for (const [q, number] of line.entries()) {
          if (!Number.isFinite(number)) continue;
          pen.globalAlpha = Math.abs(number) / (this.largest[side] || 1);
          pen.fillStyle = grey ? "#fff" : number < 0 ? below : above;
          pen.fillRect(q, r, 1, 1);
        }
      }
    }
  }

  /** Where a cell of another channel than the one that is drawn large is on the screen. */
  rectOf(side, cell) {
    const filter = side === "filter";
    const { view, state } = this.app;
    const [, at] = filter ? view.split("out", state.o) : [];
    const out = filter ? state.o + cell[3] - at : null;
    const plane = filter ? view.insOf(out).find(([, third]) => third === cell[2])?.[0] : null;
    const map = this.maps.get(filter ? `filter:${plane}>${out}` : `${side}:${cell[3]}`);
    if (!map?.canvas.checkVisibility()) return null;
    const { left, top, width, height } = map.canvas.getBoundingClientRect();
    const [r, q] = [map.rows.indexOf(filter ? cell[0] : cell[1]), map.cols.indexOf(filter ? cell[1] : cell[2])];
    return new DOMRect(left + (q * width) / map.cols.length, top + (r * height) / map.rows.length, width / map.cols.length, height / map.rows.length);
  }
}

/** Colours of the palette, of numbers above and below zero, on an element of the page. */
export function signColours(element, names = ["above", "below"]) {
  const found = names.map((name) => {
    element.style.color = `var(--${name})`;
    return getComputedStyle(element).color;
  });
  element.style.color = "";
  return found;
}
