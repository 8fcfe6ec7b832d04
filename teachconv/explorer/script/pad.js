// A pad for a digit, and what the network reads of it: the digit scaled as the training images were, its ink counted in blocks.
// examples/drawn_digits.py has the same preparation in Python.

import { h, svg } from "./elements.js";

const BITMAP = 32; // rows and columns
const BLOCK = 4;
const READ = BITMAP / BLOCK; // rows and columns that the network reads
const FILLED = [16, 27]; // columns and rows between the outermost points; the lines around these fill the rest
const INK = 310; // cells with ink, as in the mean of scikit-learn's digits
const RADII = [1.2, 4]; // of the thinnest and of the thickest line, in cells
const LEAST = 0.02; // of the pad: what is narrower or lower is scaled as if it were so large
const PEN = 0.08; // of the pad: the width of the line that one draws
const KEY_STEP = 0.04; // of the pad: what an arrow key moves the pen by

/**
 * Points from the first touch of the pen to its lifting, as fractions of the pad's side from its top left.
 * @typedef {number[][]} Stroke
 */

/**
 * How many cells of each block of the bitmap have ink: 64 numbers from 0 to 16, row by row. The drawing fills the bitmap, and its lines are as thick as usual.
 * @param {Stroke[]} strokes
 */
export function inkOf(strokes) {
  const counts = new Float64Array(READ * READ);
  const points = strokes.flat();
  if (!points.length) return counts;
  const [[left, right], [top, bottom]] = [0, 1].map((axis) => points.reduce(([low, high], { [axis]: at }) => [Math.min(low, at), Math.max(high, at)], [Infinity, -Infinity]));
  const [width, height] = [right - left, bottom - top];
  const rowsForOne = FILLED[1] / Math.max(height, width / 3, LEAST); // a lying line does not become a high one
  const colsForOne = Math.min(FILLED[0] / Math.max(width, LEAST), rowsForOne); // nor a narrow digit a wide one
  const placed = ([x, y]) => [(x - (left + right) / 2) * colsForOne + BITMAP / 2, (y - (top + bottom) / 2) * rowsForOne + BITMAP / 2];
  const squares = squaredDistances(strokes.map((stroke) => stroke.map(placed)));
  const [least, most] = RADII;
  const near = squares.filter((square) => square < most ** 2).sort();
  const reach = Math.max(near[INK - 1] ?? most ** 2, least ** 2);
  for (let at = 0; at < squares.length; at++) {
    if (squares[at] <= reach) counts[Math.floor(at / BITMAP / BLOCK) * READ + Math.floor((at % BITMAP) / BLOCK)] += 1;
  }
  return counts;
}

/** The square of the distance of each cell's middle to the nearest line; infinite where no line is within the largest radius. */
function squaredDistances(strokes) {
  const nearest = new Float64Array(BITMAP * BITMAP).fill(Infinity);
  const reached = (a, b) => [Math.max(0, Math.floor(Math.min(a, b) - RADII[1] - 1)), Math.min(BITMAP, Math.ceil(Math.max(a, b) + RADII[1] + 1))];
  for (const stroke of strokes) {
    for (const [i, [x0, y0]] of stroke.entries()) {
      const [x1, y1] = stroke[i + 1] ?? [x0, y0];
      const [across, down] = [x1 - x0, y1 - y0];
      const length = across * across + down * down || 1;
      const [firstCol, lastCol] = reached(x0, x1);
      const [firstRow, lastRow] = reached(y0, y1);
      for (let row = firstRow; row < lastRow; row += 1) {
        const y = row + 0.5 - y0;
        for (let col = firstCol; col < lastCol; col += 1) {
          const x = col + 0.5 - x0;
          const along = Math.min(Math.max((x * across + y * down) / length, 0), 1); // 0 and 1 are the two ends
          const dx = x - along * across;
          const dy = y - along * down;
          const square = dx * dx + dy * dy;
          if (square < nearest[row * BITMAP + col]) nearest[row * BITMAP + col] = square;
        }
      }
    }
  }
  return nearest;
}

/** Counts of ink as the network takes them: from 0 to 1. */
export const asInput = (counts) => counts.map((count) => count / BLOCK ** 2);

export const KEYS = "Keys: arrows move the pen, Space lowers or lifts it, Backspace removes a stroke, Delete clears.";

/**
 * Insert a pad into an element.
 *
 * `onInput` is called at each change with what the network takes (`asInput` of `inkOf`), `onFirstTouch` before a stroke of the reader that takes
 * the place of what `draw` drew, and `onKeys` as the reader draws with keys (true) or with a pointer (false).
 * @param {Element} element
 * @param {{onInput?: (values: Float64Array) => void, onFirstTouch?: () => void, onKeys?: (used: boolean) => void}} handlers
 * @returns {{draw: (strokes: Stroke[]) => void, clear: () => void, strokes: () => Stroke[]}}
 */
export function pad(element, handlers = {}) {
  const made = new Pad(handlers);
  element.append(h("figure", { class: "pad" }, h("figcaption", {}, "what you draw"), made.surface));
  return { draw: (strokes) => made.set(strokes), clear: () => made.set([]), strokes: () => structuredClone(made.strokes) };
}

class Pad {
  constructor(handlers) {
    this.handlers = handlers;
    /** @type {Stroke[]} */
    this.strokes = [];
    this.isOwn = false; // whether the reader drew them
    this.pen = null; // the pointer that draws, "keys", or null
    this.at = [0.5, 0.5]; // where the arrow keys have moved the pen
    this.frame = 0;
    this.lines = svg("g", { fill: "none", stroke: "currentColor", "stroke-width": PEN, "stroke-linecap": "round", "stroke-linejoin": "round" });
    this.spot = svg("circle", { r: PEN / 2, fill: "none", stroke: "var(--mark)", "stroke-width": 0.012, visibility: "hidden" });
    this.surface = svg("svg", { class: "surface", viewBox: "0 0 1 1", tabindex: 0, role: "application", "aria-label": `Pad: draw a digit. ${KEYS}`,
      style: "position:static;width:100%;display:block;pointer-events:auto;touch-action:none;cursor:crosshair" }, this.lines, this.spot); // wherever the page puts other drawings
    this.listen();
    this.paint();
  }

  listen() {
    const on = (name, handler) => this.surface.addEventListener(name, handler);
    on("pointerdown", (event) => {
      if (this.pen !== null || event.button) return;
      event.preventDefault();
      this.surface.focus({ preventScroll: true });
      this.surface.setPointerCapture(event.pointerId);
      this.usesKeys(false);
      this.begin(event.pointerId, this.placeOf(event));
    });
    on("pointermove", (event) => {
      if (event.pointerId !== this.pen) return;
      const events = event.getCoalescedEvents?.() ?? [];
      for (const part of events.length ? events : [event]) this.move(this.placeOf(part));
      this.tell();
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) on(name, (event) => event.pointerId === this.pen && this.lift());
    on("keydown", (event) => this.press(event));
    on("blur", () => {
      this.spot.setAttribute("visibility", "hidden");
      if (this.pen === "keys") this.lift();
    });
  }

  usesKeys(used) {
    this.spot.setAttribute("visibility", used ? "visible" : "hidden");
    this.handlers.onKeys?.(used);
  }

  /** The place of a pointer on the pad; outside of the pad, the nearest one on it. */
  placeOf({ clientX, clientY }) {
    const { left, top, width, height } = this.surface.getBoundingClientRect();
    return [(clientX - left) / width, (clientY - top) / height];
  }

  press(event) {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
    if (event.ctrlKey || event.metaKey || event.altKey || !(x || y || [" ", "Backspace", "Delete"].includes(event.key))) return;
    event.preventDefault();
    event.stopPropagation(); // the page has keys of its own
    if (x || y) this.at = onPad([this.at[0] + x * KEY_STEP, this.at[1] + y * KEY_STEP]);
    this.usesKeys(true);
    if (event.key === " " && this.pen === null) this.begin("keys", this.at);
    else if (event.key === " ") this.lift();
    else if (event.key === "Delete") this.set([]);
    else if (event.key === "Backspace") this.set(this.strokes.slice(0, -1), this.isOwn);
    else if (this.pen === "keys") {
      this.move(this.at);
      this.tell();
    }
    this.paintSoon();
  }

  /** Lower a pen, the reader's. */
  begin(pen, place) {
    if (!this.isOwn) {
      this.handlers.onFirstTouch?.();
      this.strokes = [];
    }
    this.isOwn = true;
    this.pen = pen;
    this.strokes.push([]);
    this.move(place);
    this.tell();
  }

  move(place) {
    const stroke = this.strokes.at(-1);
    const [x, y] = onPad(place);
    const last = stroke.at(-1);
    if (!last || last[0] !== x || last[1] !== y) stroke.push([x, y]);
  }

  lift() {
    this.pen = null;
    this.paintSoon();
  }

  /** Show other strokes. */
  set(strokes, isOwn = false) {
    this.strokes = structuredClone(strokes);
    this.isOwn = isOwn;
    this.pen = null;
    this.tell();
  }

  /** Say what the network takes now, and draw it with the next frame. */
  tell() {
    this.handlers.onInput?.(asInput(inkOf(this.strokes)));
    this.paintSoon();
  }

  paintSoon() {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  /** Draw the strokes; the attributes of a polyline, unlike those of a path and a circle, are no style, which the browser would work out anew. */
  paint() {
    this.frame = 0;
    const lines = this.strokes.map((stroke) => [...stroke, ...stroke.slice(-1)].join(" ")); // a dot, too, is a line
    while (this.lines.children.length > lines.length) this.lines.lastChild.remove();
    for (const [i, points] of lines.entries()) {
      const line = this.lines.children[i] ?? this.lines.appendChild(svg("polyline"));
      if (line.getAttribute("points") !== points) line.setAttribute("points", points); // the same would be laid out anew
    }
    if (this.spot.getAttribute("visibility") === "hidden") return;
    const looks = { cx: this.at[0], cy: this.at[1], fill: this.pen === "keys" ? "var(--mark)" : "none" };
    for (const [name, value] of Object.entries(looks)) this.spot.setAttribute(name, String(value));
  }
}

/** A place on the pad in thousandths of its side: the nearest to a place that may be outside. */
const onPad = (place) => place.map((part) => Math.round(Math.min(Math.max(part, 0), 1) * 1000) / 1000);
