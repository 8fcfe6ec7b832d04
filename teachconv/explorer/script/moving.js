// A page that holds a whole image, and shows a part of it: the part around another place.

import { axisOf, axisTable, held, partOf, resultAround, shownText } from "./axis_tables.js";
import { ConvGeometry } from "./law.js";
import { floorDiv } from "./python.js";

/** The geometry of a variant. */
export function geometryOf(call, { rows, cols, shapes }) {
  const axes = [rows, cols].map((axis) => axisOf(call.axes[axis]));
  return new ConvGeometry(shapes.in[0], axes, shapes.in[3], shapes.out[3], call.groups.length);
}

/** The host of a page that holds all numbers of an image, which can show any part of it; null of any other page. */
export function imageHost(data, lens) {
  const { call } = data;
  const held = call.overview?.numbers;
  if (!held || data.beside) return null; // what stands beside it is not known elsewhere
  let filter = null; // the reader's
  const [rows, cols, channels] = held.shape;
  let image = { shape: held.shape, numbers: imageNumbers(held, call), note: "" }; // its numbers are in C order
  const again = (app) => {
    const { row, col } = app.state;
    return app.redraw(app.amid([row, col]), { row, col });
  };
  return {
    lens,
    image: () => image,
    move: async (cell, source) => {
      const numbers = await image.numbers;
      const value = ([, row, col, channel]) => numbers[(row * cols + col) * channels + channel];
      return moved(data, value, cell, source, filter);
    },
    refilter: (app, changes) => {
      filter = changes && withNumbers(filter ?? call.arrays[call.base.arrays[call.operand]], changes);
      return again(app);
    },
    /** An image of the reader's, with as many rows, columns and channels as the call's. */
    takeImage: async (app, file, pixelsOf) => {
      const { data: bytes, from } = await pixelsOf(file, () => [rows, cols]);
      const grey = (at) => Math.round(0.299 * bytes[at] + 0.587 * bytes[at + 1] + 0.114 * bytes[at + 2]);
      const byte = channels === 3 ? (i) => bytes[4 * floorDiv(i, 3) + (i % 3)] : (i) => grey(4 * i);
      image = { shape: held.shape, numbers: Promise.resolve(unfilled(held, call).map((_, i) => byte(i) / (held.scale ?? 255))),
        note: `Your image of ${from} pixels was scaled here to the ${rows} × ${cols} of the call; it does not leave this page.` };
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

/** As many numbers as an image has, in the type of the call if that rounds. */
const unfilled = ({ shape }, { dtype }) => new (dtype === "float32" ? Float32Array : Float64Array)(shape.reduce((all, size) => all * size, 1));

/** All numbers of an image, in C order, from its PNG: packing.image_numbers. */
async function imageNumbers(held, call) {
  const { image, scale, shape: [rows, cols, channels] } = held;
  const picture = new Image();
  picture.src = image;
  await picture.decode();
  const { width, height } = picture;
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  pen.drawImage(picture, 0, 0);
  const { data: pixels } = pen.getImageData(0, 0, width, height); // each byte of the PNG has four here
  const numbers = unfilled(held, call);
  const view = new DataView(new ArrayBuffer(8));
  for (let at = 0; at < numbers.length; at++) {
    const place = (at % (rows * cols)) * channels + floorDiv(at, rows * cols); // the PNG has the channels one after another
    if (scale) {
      numbers[place] = pixels[4 * at] / scale;
      continue;
    }
    for (let i = 0; i < call.bits / 8; i++) view.setUint8(i, pixels[4 * (i * numbers.length + at)]);
    numbers[place] = call.bits === 32 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  }
  return numbers;
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
