// A page that holds a whole image, and shows a part of it: the part around another place.

import { axisOf, axisTable, held, partOf, resultAround, shownText } from "./axis_tables.js";
import { Geometry } from "./law.js";
import { floorDiv, range } from "./python.js";

/** The geometry of a variant. */
export function geometryOf(call, { rows, cols, shapes }) {
  const axes = [rows, cols].map((axis) => axisOf(call.axes[axis]));
  return new Geometry(shapes.in[0], axes, shapes.in[3], shapes.out[3], call.groups.length);
}

/** The host of a page that holds all numbers of an image, which can show any part of it; null of any other page. */
export function imageHost(data, lens) {
  const { call } = data;
  const held = call.overview?.numbers;
  if (!held || data.beside) return null; // what stands beside it is not known elsewhere
  let filter = null; // the reader's
  const [rows, cols, channels] = held.shape;
  const cells = range(0, rows * cols * channels).map((i) => [0, floorDiv(i, cols * channels), floorDiv(i, channels) % cols, i % channels]);
  const rounded = call.dtype === "float32" ? Math.fround : Number;
  let value, image; // the number at a cell, and all of them
  const hold = (numbers, note = "") => {
    value = numbers;
    image = { shape: held.shape, numbers: numbers.then((at) => cells.map(at)), note };
  };
  hold(numberAt(held, call.bits / 8, rounded));
  const again = (app) => {
    const { row, col } = app.state;
    return app.redraw(app.amid([row, col]), { row, col });
  };
  return {
    lens,
    image: () => image,
    move: async (cell, source) => moved(data, await value, cell, source, filter),
    refilter: (app, changes) => {
      filter = changes && withNumbers(filter ?? call.arrays[call.base.arrays[call.operand]], changes);
      return again(app);
    },
    /** An image of the reader's, with as many rows, columns and channels as the call's. */
    takeImage: async (app, file, pixelsOf) => {
      const { data: bytes, from } = await pixelsOf(file, () => [rows, cols]);
      const grey = ([r, g, b]) => Math.round(0.299 * r + 0.587 * g + 0.114 * b);
      const byte = (first, channel) => (channels === 3 ? bytes[first + channel] : grey(bytes.subarray(first)));
      hold(Promise.resolve(([, row, col, channel]) => rounded(byte(4 * (row * cols + col), channel) / (held.scale ?? 255))),
        `Your image of ${from} pixels was scaled here to the ${rows} × ${cols} of the call; it does not leave this page.`);
      await again(app);
    },
  };
}

/** A filter with other numbers in some cells. */
function withNumbers({ axes, values }, changes) {
  const [, [, cols], , [depth, depths], [out, outs]] = axes;
  const next = [...values];
  for (const [[row, col, i, o], number] of changes) next[((row * cols + col) * (depths - depth) + i - depth) * (outs - out) + o - out] = number;
  return { axes, values: next };
}

/** The number at a cell of an image, from its PNG: packing.image_numbers. */
async function numberAt({ image, scale, shape: [rows, cols, channels] }, size, rounded) {
  const picture = new Image();
  picture.src = image;
  await picture.decode();
  const { width, height } = picture;
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  pen.drawImage(picture, 0, 0);
  const bytes = pen.getImageData(0, 0, width, height).data.filter((_, i) => i % 4 === 0);
  const place = ([, row, col, channel]) => (channel * rows + row) * cols + col;
  if (scale) return (cell) => rounded(bytes[place(cell)] / scale);
  const view = new DataView(new ArrayBuffer(8));
  return (cell) => {
    for (let i = 0; i < size; i++) view.setUint8(i, bytes[i * rows * cols * channels + place(cell)]);
    return size === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  };
}

/** The document with the part around another cell, as document.py makes it; its results are summed on the page. */
function moved(data, value, cell, source, filter) {
  const { call, variants } = data;
  const transposed = call.source === "out";
  const around = (variant) => {
    const g = geometryOf(call, variant);
    const [row, col] = [g.rows, g.cols].map((axis, i) => resultAround(axis, transposed, source[i]));
    return { g, part: partOf(g, transposed, [cell[0], row, col, cell[3]]) };
  };
  const recut = (variant) => {
    if (variant.error) return variant;
    const { g, part } = around(variant);
    const [images, , , , channels] = call.arrays[variant.arrays[call.source]].axes;
    const ranges = transposed ? [images, part.outRows, part.outCols, channels] : [images, part.inRows, part.inCols, channels];
    return {
      ...variant,
      rows: axisTable(g.rows, transposed, part.inRows, part.outRows),
      cols: axisTable(g.cols, transposed, part.inCols, part.outCols),
      arrays: { [call.source]: held(ranges, value), [call.operand]: filter ?? variant.arrays[call.operand] },
    };
  };
  const alike = ({ shapes }) => !filter || !shapes || shapes.filter.join() === call.base.shapes.filter.join(); // of the same filter
  const { g, part } = around(call.base);
  const table = Object.fromEntries(Object.entries(variants.table).filter(([, variant]) => alike(variant)).map(([key, variant]) => [key, recut(variant)]));
  return { ...data, call: { ...call, at: cell, base: recut(call.base), shown: shownText(g, part, transposed) }, variants: { ...variants, table } };
}
