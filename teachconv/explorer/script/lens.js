// The whole image and its whole result. The lens is the part that the stage shows: dragging it paints the result.

import { signColours } from "./channels.js";
import { MOST_WEIGHTS, weightFields } from "./weights.js";
import { h, keepFocus } from "./elements.js";
import { axisOf, gatherAll, scatterAll } from "./axis_tables.js";
import { brief } from "./numbers.js";
import { moveBy, placeUnder } from "./parts.js";
import { range } from "./python.js";
import { inside } from "./view.js";

const MOST_SUMMED = 4e7; // products that are summed on the page, in float64: a larger result is summed in some of its rows and columns
const KERNELS = {
  identity: [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
  blur: null, // the mean of the window
  Sobel: [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
  sharpen: [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
  emboss: [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
};

/** A filter of the palette in a plane of some rows and columns, in its middle; null if it has no room. */
function kernel(name, rows, cols, whole) {
  const one = KERNELS[name];
  if (!one) return range(0, rows).map(() => range(0, cols).map(() => (whole ? 1 : 1 / (rows * cols))));
  const [top, left] = [rows, cols].map((size) => Math.floor((size - 1) / 2) - 1);
  const at = (r, q) => one[r - top]?.[q - left] ?? 0;
  const room = name === "identity" || Math.min(rows, cols) >= 3;
  return room ? range(0, rows).map((r) => range(0, cols).map((q) => at(r, q))) : null;
}

/** The lens of an app, which is kept while other parts are drawn; null for a call without a whole image. */
export function lens(app) {
  const { doc, host } = app;
  const image = doc.shown && !doc.empty ? host?.image?.() : null; // a filter gradient has none: each weight meets the whole image
  if (!image) return null;
  host.kept ??= new Lens(app);
  host.kept.look(image);
  return host.kept;
}

class Lens {
  constructor(app) {
    this.app = app;
    this.whole = true;
    this.wiped = false;
    /** @type {any} */
    this.image = this.numbers = this.key = null;
    /** @type {any} the planes that are summed, their weights, and their cells */
    this.planes = this.weights = this.cells = null;
    this.rows = this.cols = 0; // of the filter
    this.every = 1; // which rows and columns of the result are summed
    this.source = blank();
    this.target = blank();
    this.all = blank(); // the result, whether or not it is shown
    this.parts = [0, 1].map(() => [h("span", { class: "part" }), h("span", { class: "spot" })]);
    this.said = h("span", {});
    this.note = h("span", { role: "status" });
    this.wipe = h("button", { type: "button", onclick: () => {
      this.wiped = !this.wiped;
      this.paint();
    } });
    this.filter = h("div", { class: "kernel" });
    this.captions = [0, 1].map(() => h("figcaption", {}));
    const file = h("input", { type: "file", accept: "image/*", hidden: true, onchange: () => this.receive(file.files[0]) });
    const own = h("button", { type: "button", title: "or drop one here, or paste one; it does not leave this page", onclick: () => file.click() }, "your image");
    this.element = h("section", { class: "lens", "aria-label": "The whole image and its result" },
      ["source", "target"].map((name, i) => h("figure", {}, this.captions[i], this.picture(this[name], i))),
      h("p", { class: "notes" }, this.wipe, own, file, this.note, " ", this.said), this.filter);
    if (!app.host.shows) takeFiles(app.root, (dropped) => this.receive(dropped)); // the playground takes them itself, with or without a lens
  }

  /** An image of the reader's takes the place of the one that is shown. */
  async receive(file) {
    if (!file) return;
    try {
      await this.app.host.takeImage(this.app, file, pixelsOf);
    } catch (error) {
      this.note.textContent = `${file.name} is no image that this browser can read: ${error.message}`;
    }
  }

  /** A canvas on which a place is chosen: by a click, by dragging the lens, or by the arrow keys. */
  picture(canvas, side) {
    const place = (event) => (side ? this.app.amid(placeUnder(canvas, event, this.sizes(1))) : placeUnder(canvas, event, this.sizes(0)));
    return h("button", { type: "button", class: side ? "overview output" : "overview",
      "aria-label": `the whole ${side ? "result" : "image"}; the part shown is framed; drag it, or choose a place by a click or the arrow keys`,
      onpointerdown: (event) => event.currentTarget.setPointerCapture(event.pointerId),
      onpointermove: (event) => event.currentTarget.hasPointerCapture(event.pointerId) && this.drag(place(event)),
      onclick: (event) => event.detail && this.app.moveTo(place(event)), // not by the keyboard
      onkeydown: (event) => moveBy(this.app, event, this.sizes(0)) }, canvas, this.parts[side]);
  }

  /** The rows and columns of the image, or of its result. */
  sizes(side) {
    const { doc, view } = this.app;
    return view.variant.shapes[side ? doc.result : doc.source].slice(1, 3);
  }

  /** Take an image, whose numbers may still have to be read. */
  async look(image) {
    if (image === this.image) return;
    Object.assign(this, { image, numbers: null, key: null });
    this.note.textContent = image.note ?? "";
    const numbers = await image.numbers;
    if (image !== this.image) return;
    this.numbers = numbers;
    const [rows, cols, channels] = image.shape;
    Object.assign(this.source, { width: cols, height: rows });
    const [least, largest] = [Math.min, Math.max].map((end) => numbers.reduce((a, b) => end(a, b), 0));
    const scale = 255 / (channels === 3 && !least ? (largest > 1 ? Math.max(255, largest) : 1) : largest - least || 1);
    fill(this.source, (pixel) => [...[0, 1, 2].map((i) => (numbers[pixel * channels + (channels === 3 ? i : 0)] - least) * scale), 255]);
    this.update();
  }

  /** The channel of the result that is shown. */
  get channel() {
    const { view, state, doc } = this.app;
    return view.split(doc.result, doc.result === "in" ? state.c : state.o)[1];
  }

  /** Sum and paint the result of the call and the channel that are shown, if that is not what is painted. */
  update() {
    const { view, state, doc } = this.app;
    if (!this.numbers) return;
    this.show();
    const { axes } = view.arrays.filter;
    const scatters = doc.source === "out";
    this.planes = (scatters ? view.outsOf(state.c) : view.insOf(state.o)).filter(([, , outside]) => !outside);
    this.rows = axes[0][1] - axes[0][0];
    this.cols = axes[1][1] - axes[1][0];
    this.cells = this.planes.map(([plane, depth]) => range(0, this.rows * this.cols).map((i) => [Math.floor(i / this.cols), i % this.cols, depth, view.split("out", scatters ? plane : state.o)[1]]));
    this.weights = this.cells.map((plane) => plane.map((cell) => Number(view.number("filter", cell))));
    const key = JSON.stringify([[view.rows, view.cols].map(axisOf), state.c, state.o, this.weights]);
    if (key === this.key) return; // only another part is shown
    this.key = key;
    for (const [i, side] of [doc.source, doc.result].entries()) {
      const which = i && view.channels[side] > 1 ? `, channel ${this.channel}` : "";
      this.captions[i].replaceChildren(h("b", {}, doc.names[side]), h("small", {}, `${view.variant.shapes[side].slice(1, 3).join(" × ")}${which}`));
    }
    this.buildFilter();
    this.sum();
  }

  /** Sum the plane of the result in float64, each sum rounded once, as the canvas has it; of a pool, what its windows give. */
  sum() {
    const { view, doc } = this.app;
    const { reduce = "", start = null } = doc.pool ?? {};
    const taps = doc.source === "out" ? scatterAll : gatherAll;
    const lists = [view.rows, view.cols].map(axisOf).map((axis) => range(0, axis[`${doc.result}_size`]).map((i) => [i, taps(axis, i).filter(([, , outside]) => !outside)]));
    const products = lists.reduce((all, list) => all * list.reduce((sum, [, met]) => sum + met.length, 0), this.planes.length);
    this.every = Math.max(1, Math.ceil(Math.sqrt(products / MOST_SUMMED)));
    const [rows, cols] = lists.map((list) => list.filter(([i]) => i % this.every === 0));
    for (const canvas of [this.target, this.all]) Object.assign(canvas, { width: cols.length, height: rows.length });
    this.element.style.setProperty("--aspect", String(Math.max(this.source.width / this.source.height, cols.length / rows.length)));
    const [, width, channels] = this.image.shape;
    const begin = reduce === "max" ? Number(start ?? NaN) : Number(doc.bias?.[this.channel] ?? 0);
    const rounded = doc.dtype === "float32" ? Math.fround : (sum) => sum;
    const values = new Float64Array(rows.length * cols.length);
    let at = 0;
    for (const [r, down] of rows) {
      for (const [q, across] of cols) {
        let sum = begin;
        for (let p = 0; p < this.planes.length; p++) {
          for (const tap of down) {
            for (const other of across) {
              const number = this.numbers[(tap[1] * width + other[1]) * channels + this.planes[p][0]];
              if (reduce !== "max") sum += number * this.weights[p][tap[0] * this.cols + other[0]];
              else if (!(number <= sum)) sum = number;
            }
          }
        }
        if (reduce === "average") sum /= view.divisor([0, r, q, this.channel]);
        values[at++] = rounded(sum);
      }
    }
    const sizes = values.filter(Number.isFinite).map(Math.abs).sort();
    const most = sizes[Math.floor(0.99 * (sizes.length - 1))] || sizes.at(-1) || 1; // the edge of the padding is not all that one sees
    const negative = values.some((value) => value < 0);
    const made = { max: "The largest number of each window", average: "Means in float64, rounded once" }[reduce] ?? "Sums in float64, rounded once";
    const thinned = this.every > 1 ? `, in one of ${this.every} rows and columns` : "";
    this.said.textContent = `${made}${thinned}; full colour from ${negative ? "±" : ""}${brief(most)}. The cell pointed at is exact.`;
    const [above, below] = signColours(this.element).map((colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number));
    fill(this.all, negative
      ? (pixel) => [...(values[pixel] < 0 ? below : above), 255 * Math.abs(values[pixel] / most)]
      : (pixel) => [0, 1, 2].map(() => 17 + (238 * values[pixel]) / most).concat(255));
    this.paint();
  }

  /** Show the result: all of it, or what the lens has passed. */
  paint() {
    this.wipe.textContent = this.wiped ? "paint all" : "paint it yourself";
    const { width, height } = this.all;
    this.target.getContext("2d").clearRect(0, 0, width, height);
    if (this.wiped) this.brush([this.app.state.row, this.app.state.col]);
    else this.target.getContext("2d").drawImage(this.all, 0, 0);
  }

  /** Paint the result around a place, as much of it as the stage shows. */
  brush([row, col]) {
    const [high, wide] = this.app.view.drawn(this.app.doc.result).map((list) => inside(list).length);
    const [x, y, across, down] = [Math.max(0, col - (wide >> 1)), Math.max(0, row - (high >> 1)), wide, high].map((cells) => Math.ceil(cells / this.every));
    this.target.getContext("2d").clearRect(x, y, across, down);
    this.target.getContext("2d").drawImage(this.all, x, y, across, down, x, y, across, down);
  }

  /** The lens is over a place of the image. */
  drag(place) {
    this.show([place, this.app.around(this.app.view, place)]);
  }

  /** Where the lens is, and in it the cell that is selected. */
  show(places = null) {
    const { app } = this;
    const { view, state, doc } = app;
    const at = places ?? [app.amid([state.row, state.col]), [state.row, state.col]];
    if (this.wiped) this.brush(at[1]);
    for (const [i, side] of [doc.source, doc.result].entries()) {
      const [part, spot] = this.parts[i];
      for (const [axis, size] of view.variant.shapes[side].slice(1, 3).entries()) {
        const shown = inside(view.drawn(side)[axis]);
        const start = places ? Math.max(0, Math.min(size - shown.length, at[i][axis] - (shown.length >> 1))) : shown[0];
        part.style[axis ? "left" : "top"] = `${(100 * start) / size}%`;
        part.style[axis ? "width" : "height"] = `${(100 * shown.length) / size}%`;
        spot.style[axis ? "left" : "top"] = `${(100 * (at[i][axis] + 0.5)) / size}%`;
      }
    }
  }

  // ---- the filter: a palette, and weights that one drags ----

  buildFilter() {
    const { app } = this;
    const { doc, host, state, view } = app;
    const given = view.variant.shapes.filter.join() === doc.base.shapes.filter.join(); // not one of another size
    const usable = given && !doc.pool && this.rows * this.cols <= MOST_WEIGHTS && (!doc.format || ["float32", "float64"].includes(doc.dtype));
    this.filter.hidden = !usable;
    if (!usable) return;
    const shown = Math.max(0, this.planes.findIndex(([plane]) => plane === (doc.source === "in" ? state.c : state.o)));
    const names = Object.keys(KERNELS).filter((name) => kernel(name, this.rows, this.cols, !doc.format));
    const use = (name) => {
      const found = kernel(name, this.rows, this.cols, !doc.format).flat();
      this.weights = this.planes.map(() => found.map((weight) => (doc.format ? Math.fround(weight / this.planes.length) : weight)));
      this.take();
    };
    const among = this.planes.length > 1 ? ` ${state.c} → ${state.o}` : "";
    const fields = weightFields(this.weights[shown], this.cols, doc.format ? 0.05 : 1, { weigh: (i, number) => this.weigh(shown, i, number), take: () => this.take() });
    keepFocus(this.filter, () => this.filter.replaceChildren(h("div", { class: "palette", role: "group", "aria-label": "Filters to try" },
      names.map((name) => h("button", { type: "button", onclick: () => use(name) }, name)), h("button", { type: "button", onclick: () => host.refilter(app, null) }, "as given")),
      h("p", {}, h("b", {}, doc.names.filter), `${among}: drag a weight`, this.planes.length > 1 && doc.format ? h("small", {}, `; those to try are divided by ${this.planes.length} channels`) : ""), fields));
  }

  /** A weight changes: the result is painted again at once. */
  weigh(plane, i, number) {
    this.weights[plane][i] = this.app.doc.format ? number : Math.round(number);
    this.sum();
  }

  /** The weights become those of the call, whose cells are summed exactly. */
  take() {
    this.app.host.refilter(this.app, this.cells.flatMap((plane, p) => plane.map((cell, i) => [cell, this.weights[p][i]])));
  }
}

/** Files that are dropped on an element or pasted outside a text field; they do not leave the page. */
export function takeFiles(root, receive) {
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    receive(event.dataTransfer.files[0]);
  });
  addEventListener("paste", (/** @type {any} */ { target, clipboardData: { files } }) => target.closest?.("input, textarea") || receive(files[0]));
}

/**
 * The pixels of an image file, scaled in this browser to the sizes that are wanted; what has another shape is cut at two sides.
 * @param {Blob} file
 * @param {(rows: number, cols: number) => number[]} wanted the rows and columns, of those of the file
 */
export async function pixelsOf(file, wanted) {
  const bitmap = await createImageBitmap(file);
  const [rows, cols] = wanted(bitmap.height, bitmap.width);
  const pen = Object.assign(document.createElement("canvas"), { width: cols, height: rows }).getContext("2d");
  const scale = Math.max(rows / bitmap.height, cols / bitmap.width);
  const [high, wide] = [bitmap.height * scale, bitmap.width * scale];
  pen.imageSmoothingQuality = "high";
  pen.drawImage(bitmap, (cols - wide) / 2, (rows - high) / 2, wide, high);
  return { rows, cols, data: pen.getImageData(0, 0, cols, rows).data, from: `${bitmap.height} × ${bitmap.width}` };
}

const blank = () => /** @type {HTMLCanvasElement} */ (h("canvas", { "aria-hidden": "true" }));

/** Fill a canvas; `colour` gives red, green, blue and alpha of a pixel. */
function fill(canvas, colour) {
  const { width, height } = canvas;
  const picture = new ImageData(width, height);
  for (let pixel = 0; pixel < width * height; pixel++) picture.data.set(colour(pixel), 4 * pixel);
  canvas.getContext("2d").putImageData(picture, 0, 0);
}
