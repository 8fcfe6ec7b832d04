// The reader's numbers: presets, comma-separated values, .npy files and images.

import { shapesOf } from "./call_document.js";
import { h, plural } from "./elements.js";
import { pixelsOf } from "./lens.js";
import { prod, Refusal } from "./python.js";

const MOST_SIDE = 320; // rows and columns of an array that is read

/** The numbers that the playground offers, as functions of a cell and of the array's shape. */
export const PRESETS = {
  x: {
    digits: ([n, r, q, c]) => (31 * n + 7 * r * r + 5 * q + 3 * r * q + 4 * c + 3) % 10,
    counting: ([, r, q, c], [, rows, cols]) => c * rows * cols + r * cols + q + 1,
    ones: () => 1,
    "a single 1": ([, r, q], [, rows, cols]) => Number(r === Math.floor(rows / 2) && q === Math.floor(cols / 2)),
    "an edge": ([, , q], [, , cols]) => (q < cols / 2 ? 0 : 9),
  },
  w: {
    small: ([r, q, i, o]) => [1, 0, 2, -1, 1, 0, -2, 1, 1][(3 * r + q + 2 * i + 4 * o) % 9],
    counting: ([r, q], [, cols]) => r * cols + q + 1,
    ones: () => 1,
    mean: (_, [rows, cols, depth]) => 1 / (rows * cols * depth),
    "a single 1": ([r, q], [rows, cols]) => Number(r === Math.floor(rows / 2) && q === Math.floor(cols / 2)),
    "vertical edges": ([r, q], [rows, cols]) => Math.sign(q - (cols - 1) / 2) * (1 + Math.min(r, rows - 1 - r)),
    "horizontal edges": ([r, q], [rows, cols]) => Math.sign(r - (rows - 1) / 2) * (1 + Math.min(q, cols - 1 - q)),
  },
};

const sizeOf = (shape) => shape.reduce((all, size) => all * size, 1);

/** All numbers of an array, in C order: a preset, or a list, cropped or filled up with zeros. */
export function numbersFor(side, choice, shape) {
  if (Array.isArray(choice)) return Array.from({ length: sizeOf(shape) }, (_, i) => choice[i] ?? 0);
  const preset = PRESETS[side][choice];
  return Array.from({ length: sizeOf(shape) }, (_, i) => preset(cellAt(i, shape), shape));
}

function cellAt(position, shape) {
  const cell = [];
  for (let axis = 3; axis >= 0; axis--) {
    cell[axis] = position % shape[axis];
    position = Math.floor(position / shape[axis]);
  }
  return cell;
}

export const positionOf = (cell, shape) => cell.reduce((position, i, axis) => position * shape[axis] + i, 0);

/** Planes of an array as text: rows as lines, an empty line between two planes; its plane axes are `axes`. */
export function toCsv(numbers, shape, isFilter) {
  const planes = isFilter ? [shape[2], shape[3]] : [shape[0], shape[3]];
  const [rows, cols] = isFilter ? shape : [shape[1], shape[2]];
  const texts = [];
  for (let a = 0; a < planes[0]; a++) {
    for (let b = 0; b < planes[1]; b++) {
      const lines = Array.from({ length: rows }, (_, r) =>
        Array.from({ length: cols }, (__, q) => numbers[positionOf(isFilter ? [r, q, a, b] : [a, r, q, b], shape)]).join(","));
      texts.push(lines.join("\n"));
    }
  }
  return texts.join("\n\n");
}

/** An array that was typed or pasted: { sizes: [rows, cols, planes], at(row, col, plane) }. */
export function fromCsv(text) {
  const planes = text.trim().split(/\n\s*\n/).map((plane) => plane.trim().split("\n").map((line) => line.trim().split(/[\s,;]+/).map(Number)));
  const [rows, cols] = [planes[0].length, planes[0][0].length];
  if (planes.some((plane) => plane.length !== rows || plane.some((line) => line.length !== cols))) {
    throw new Refusal("every line must have as many numbers as the first, and every plane as many lines");
  }
  if (planes.flat(2).some((number) => Number.isNaN(number))) throw new Refusal("only numbers, separated by commas, spaces or tabs");
  return checked(rows, cols, planes.length, (r, q, plane) => planes[plane][r][q]);
}

/** An image file as an array with three planes, or one if it is grey; larger ones are scaled down. */
export async function fromImage(file) {
  const { rows, cols, data, from } = await pixelsOf(file, (...sizes) => {
    const scale = Math.min(1, MOST_SIDE / Math.max(...sizes));
    return sizes.map((size) => Math.max(1, Math.round(size * scale)));
  });
  const grey = data.every((value, i) => i % 4 === 3 || value === data[i - (i % 4)]);
  const note = from === `${rows} × ${cols}` ? "" : `Your image of ${from} pixels was scaled here to ${rows} × ${cols}; it does not leave this page.`;
  return { ...checked(rows, cols, grey ? 1 : 3, (r, q, plane) => data[4 * (r * cols + q) + plane]), note };
}

/** The address of an image of an array: its three channels as colours, or its first one in grey. */
export function imageOf(numbers, shape) {
  const [, height, width, channels] = shape;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const [low, high] = [Math.min, Math.max].map((end) => numbers.reduce((a, b) => end(a, b), 0));
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let i = 0; i < 3; i++) {
      const number = numbers[pixel * channels + (channels === 3 ? i : 0)];
      image.data[4 * pixel + i] = (255 * (number - low)) / (high - low || 1);
    }
    image.data[4 * pixel + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

const READERS = {
  "<f4": ["getFloat32", 4], "<f8": ["getFloat64", 8], "<i4": ["getInt32", 4], "<i2": ["getInt16", 2], "|i1": ["getInt8", 1], "|u1": ["getUint8", 1],
};

/** A .npy file of 2 to 4 axes: [rows, cols], [rows, cols, channels] or NHWC with one image, or HWIO for filters. */
export function fromNpy(buffer) {
  const view = new DataView(buffer);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, 6));
  if (magic !== "\x93NUMPY") throw new Refusal("this is not an .npy file");
  const wide = view.getUint8(6) > 1;
  const start = wide ? 12 : 10;
  const length = wide ? view.getUint32(8, true) : view.getUint16(8, true);
  const header = new TextDecoder("latin1").decode(new Uint8Array(buffer, start, length));
  const type = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  if (!Object.hasOwn(READERS, type)) throw new Refusal(`the numbers must be of type ${Object.keys(READERS).join(", ")}; got ${type}`);
  if (/'fortran_order':\s*True/.test(header)) throw new Refusal("the array must be in C order: np.save(path, np.ascontiguousarray(array))");
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)[1].split(",").filter((size) => size.trim()).map(Number);
  const [get, bytes] = READERS[type];
  const number = (position) => view[get](start + length + position * bytes, true);
  if (shape.length === 2) return checked(shape[0], shape[1], 1, (r, q) => number(r * shape[1] + q));
  if (shape.length === 3) return checked(...shape, (r, q, c) => number((r * shape[1] + q) * shape[2] + c));
  if (shape.length === 4 && shape[0] === 1) return checked(shape[1], shape[2], shape[3], (r, q, c) => number((r * shape[2] + q) * shape[3] + c));
  if (shape.length === 4) { // a filter, [rows, cols, in, out]: its planes are pairs of channels
    return { ...checked(shape[0], shape[1], shape[2] * shape[3], (r, q, plane) => number((r * shape[1] + q) * shape[2] * shape[3] + plane)), depth: shape[2] };
  }
  throw new Refusal(`the array must have 2 to 4 axes, with one image; got [${shape.join(", ")}]`);
}

function checked(rows, cols, planes, at) {
  if (Math.max(rows, cols) > MOST_SIDE || planes > 256) {
    throw new Refusal(`at most ${MOST_SIDE} × ${MOST_SIDE} numbers in a plane; got ${rows} × ${cols} and ${planes} planes`);
  }
  return { sizes: [rows, cols, planes], at };
}

/** The bytes of an .npy file of float32 numbers. */
export function toNpy(numbers, shape) {
  const words = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
  const header = `${words.padEnd(Math.ceil((words.length + 11) / 64) * 64 - 11)}\n`;
  const bytes = new Uint8Array(10 + header.length + 4 * numbers.length);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  bytes.set(new TextEncoder().encode(header), 10);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setFloat32(10 + header.length + 4 * i, number, true);
  return bytes;
}

/** Output size, padding, receptive field, weights and multiply-adds. */
export function factsOf({ geometry: g, op: { transposed } }, ofPool) {
  const { in: ins, out: outs, filter } = shapesOf(g);
  const [rows, cols, weights] = [g.rows, g.cols, prod(filter)];
  const fact = (name, value, more = "") => h("li", {}, h("b", {}, value), ` ${name}`, more ? h("small", {}, ` ${more}`) : null);
  const field = `${rows.effective_filter} × ${cols.effective_filter}`;
  const result = transposed ? ins : outs;
  return [
    fact("output", `${result[1]} × ${result[2]}`, result[3] > 1 ? `× ${plural(result[3], "channel")}` : ""),
    transposed
      ? fact("cropped from the full result", `${rows.pad_before}, ${rows.pad_after}; ${cols.pad_before}, ${cols.pad_after}`, `of ${rows.full_size} × ${cols.full_size}`)
      : fact("padding", `${rows.pad_before}, ${rows.pad_after}; ${cols.pad_before}, ${cols.pad_after}`, "top, bottom; left, right"),
    transposed ? fact("cells that one input cell feeds", field) : fact("receptive field", field, `in steps of ${rows.stride} × ${cols.stride}`),
    ...(ofPool ? [] : [
      fact(weights === 1 ? "weight" : "weights", weights.toLocaleString("en"), `${filter.join(" × ")}`),
      fact("multiply-adds", g.macs.toLocaleString("en")),
    ]),
  ];
}
