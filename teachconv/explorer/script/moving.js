// A page that holds a whole image, and shows a part of it: the part around another place.

import { axisOf, axisTable, held, partOf, resultAround, shownText } from "./axis_tables.js";
import { geometry } from "./law.js";

/** The geometry of a variant. */
export function geometryOf(call, { rows, cols, shapes }) {
  const axes = [rows, cols].map((axis) => axisOf(call.axes[axis]));
  return geometry(shapes.in[0], axes[0], axes[1], shapes.in[3], shapes.out[3], call.groups.length);
}

/** The host of a page that holds the whole image, which can show any part of it; null of any other page. */
export function imageHost(data) {
  const { overview } = data.call;
  if (!overview?.exact || !overview.moves || data.beside) return null; // what stands beside it is not known elsewhere
  let value = null;
  return { move: async (cell, source) => moved(data, (value ??= await pixels(overview)), cell, source) };
}

/** The number at a cell of an image: its pixels are the numbers, or the numbers times 255. */
async function pixels({ image, exact }) {
  const picture = new Image();
  picture.src = image;
  await picture.decode();
  const { width, height } = picture;
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  pen.drawImage(picture, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  return ([, row, col, channel]) => data[4 * (row * width + col) + channel] / exact;
}

/** The document with the part around another cell, as document.py makes it; its results are summed on the page. */
function moved(data, value, cell, source) {
  const { call, variants } = data;
  const transposed = call.source === "out";
  const number = call.format?.precision === 24 ? (at) => Math.fround(value(at)) : value;
  const around = (variant) => {
    const g = geometryOf(call, variant);
    const [row, col] = [g.rows, g.cols].map((axis, i) => resultAround(axis, transposed, source[i]));
    return { g, part: partOf(g, transposed, [cell[0], row, col, cell[3]]) };
  };
  const recut = (variant) => {
    if (variant.error) return variant;
    const { g, part } = around(variant);
    const [images, , , channels] = call.arrays[variant.arrays[call.source]].axes;
    const ranges = transposed ? [images, part.outRows, part.outCols, channels] : [images, part.inRows, part.inCols, channels];
    return {
      ...variant,
      rows: axisTable(g.rows, transposed, part.inRows, part.outRows),
      cols: axisTable(g.cols, transposed, part.inCols, part.outCols),
      arrays: { [call.source]: held(ranges, number), [call.operand]: variant.arrays[call.operand] },
    };
  };
  const { g, part } = around(call.base);
  const table = Object.fromEntries(Object.entries(variants.table).map(([key, variant]) => [key, recut(variant)]));
  return { ...data, call: { ...call, at: cell, base: recut(call.base), shown: shownText(g, part, transposed) }, variants: { ...variants, table } };
}
