// The matrix C and its transpose.

import { full } from "./numbers.js";
import { h, svg } from "./elements.js";
import { index, inside } from "./view.js";

/** C and its transpose; the entry under the pointer is highlighted in both. */
export function matrices(view, app) {
  const { c, o } = app.state;
  const places = (side) => {
    const [rows, cols] = view.drawn(side);
    return inside(rows).flatMap((r) => inside(cols).map((q) => `${r},${q}`));
  };
  const [outs, ins] = [places("out"), places("in")];
  const known = new Set(ins); // only the part that is shown of a large call
  const list = entries(view, view.third(c, o), o).filter(({ into }) => known.has(into.join()));
  if (list.length > 2500 || Math.max(outs.length, ins.length) > 260) {
    return [h("p", {}, `One pair of channels has ${outs.length} × ${ins.length} entries: too many to draw. tc.conv_matrix gives the matrix.`)];
  }
  const readout = h("p", { class: "readout", "aria-live": "polite" }, "Point at an entry.");
  const at = { out: new Map(outs.map((key, i) => [key, i])), into: new Map(ins.map((key, i) => [key, i])) };
  const drawings = [];
  const light = (entry) => {
    for (const drawing of drawings) drawing.light(entry);
    const tap = view.name("filter", entry.tap);
    readout.textContent = `C[${view.doc.names.out} (${index(entry.out)}), ${view.doc.names.in} (${index(entry.into)})] = filters[${index(tap)}] = ${full(entry.weight)}`;
    app.lightEntry(entry);
  };
  const cell = app.cell();
  drawings.push(new Matrix("C", list, at, "out", "into", light), new Matrix("Cᵀ", list, at, "into", "out", light));
  const line = view.kind === "conv2d" ? drawings[0] : drawings[1];
  line.band(`${cell[1]},${cell[2]}`);
  const one = app.doc.rank === 3 ? "The block of the matrix for one slice of each side. " : "";
  const part = app.doc.shown || one ? h("p", { class: "readout" }, one, app.doc.shown ? "The part of the matrix for the cells that are shown." : "") : null;
  return [...drawings.map((drawing) => drawing.element), part, readout].filter(Boolean);
}

class Matrix {
  constructor(title, list, at, rowSide, colSide, light) {
    this.at = at;
    this.rowSide = rowSide;
    this.colSide = colSide;
    const [rows, cols] = [at[rowSide].size, at[colSide].size];
    this.svg = svg("svg", { viewBox: `-0.5 -0.5 ${cols + 1} ${rows + 1}`, role: "img",
      "aria-label": `${title}: ${rows} rows, ${cols} columns, ${list.length} entries` });
    this.svg.style.width = `${cols * Math.min(1.1, Math.max(0.22, 24 / Math.max(rows, cols)))}em`;
    this.svg.append(svg("rect", { class: "frame", x: 0, y: 0, width: cols, height: rows }));
    this.stripe = svg("rect", { class: "stripe", x: 0, width: cols, height: 1, y: -2 });
    this.spot = svg("rect", { class: "spot", width: 1, height: 1, x: -2, y: -2 });
    const largest = Math.max(...list.map(({ weight }) => Math.abs(Number(weight)) || 0)) || 1;
    for (const entry of list) {
      const rect = svg("rect", { x: this.place(entry, colSide), y: this.place(entry, rowSide), width: 1, height: 1,
        class: entry.weight < 0 ? "entry below" : "entry" });
      rect.dataset.entry = `${entry.out.join()};${entry.into.join()};${full(entry.weight)}`;
      rect.style.setProperty("--strength", ((Math.abs(Number(entry.weight)) || 0) / largest).toFixed(3));
      rect.addEventListener("pointerenter", () => light(entry));
      rect.addEventListener("click", () => light(entry));
      this.svg.append(rect);
    }
    this.svg.append(this.stripe, this.spot);
    this.element = h("figure", { class: "matrix" }, h("figcaption", {}, h("b", {}, title), h("small", {}, `${rows} × ${cols}`)), this.svg);
  }

  place(entry, side) {
    return this.at[side].get(entry[side].join());
  }

  light(entry) {
    this.spot.setAttribute("x", this.place(entry, this.colSide));
    this.spot.setAttribute("y", this.place(entry, this.rowSide));
  }

  band(key) {
    this.stripe.setAttribute("y", this.at[this.rowSide].get(key) ?? -2);
  }
}

/** The taps of an axis that are not cut away: [index of the output, tap, index of the input]. */
export const tapsOf = ({ gather }) => Object.entries(gather).flatMap(([out, taps]) => taps.filter(([, , outside]) => !outside).map(([tap, into]) => [Number(out), tap, into]));

/** The stored entries of C for one plane of the filter, at row `out` and column `into`. */
export function entries(view, third, o) {
  const across = tapsOf(view.cols);
  return tapsOf(view.rows).flatMap(([m, tapRow, row]) => across.map(([k, tapCol, col]) => {
    const tap = [tapRow, tapCol, third, view.split("out", o)[1]];
    return { out: [m, k], into: [row, col], tap, weight: view.number("filter", tap) };
  }));
}
