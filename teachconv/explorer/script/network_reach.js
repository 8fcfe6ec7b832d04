// What a cell of a network depends on, and what depends on it: exact sets of cells, from the law of each layer.

import { range } from "./python.js";

/** The indices of a place's window in the maps before: rows, then columns, those outside too. */
const windowOf = (column, row, col) => (column.windows ? [column.windows[0][row], column.windows[1][col]].map((list) => list.map(([, index]) => index)) : [[row], [col]]);

/** What a group of channels reads: [which source, its first channel, how many]. */
function channelsRead(column, group) {
  if (column.windows) return [[0, group * column.ins, column.ins]];
  if (column.kind !== "concatenate") return column.from.map((_, n) => [n, group, 1]);
  const starts = column.sources.map((_, n) => column.sources.slice(0, n).reduce((sum, shape) => sum + shape[2], 0));
  const n = starts.findLastIndex((start) => start <= group);
  return [[n, group - starts[n], 1]];
}

/** What a place of a column reads, for one group of its channels or for all of them: where in each source; and the rows and columns of its window. */
function readsAt(network, column, place, group = null) {
  const window = windowOf(column, Math.floor(place / column.cols), place % column.cols);
  const list = group === null ? column.sources.map(([, , count], n) => [n, 0, count]) : channelsRead(column, group);
  const reads = list.map(([n, first, count]) => {
    const { rows, cols, channels } = network.columns[column.from[n]];
    const [down, across] = window.map((indices, axis) => indices.filter((i) => i >= 0 && i < (axis ? cols : rows)));
    return { from: column.from[n], starts: down.flatMap((y) => across.map((z) => (y * cols + z) * channels + first)), count };
  });
  return { reads, window };
}

const blankMasks = (network) => network.columns.map(({ size }) => new Uint8Array(size));
const isMarked = (mask, start, count) => mask.subarray(start, start + count).includes(1);

/**
 * The cells that a cell depends on: a mask of each column up to its own, and the rows and columns that the windows span, padding included.
 * @param {number[]} cell
 * @returns {{masks: Uint8Array[], spans: ({rows: number[], cols: number[]} | null)[]}}
 */
export function readsOf(network, cell) {
  const masks = blankMasks(network);
  const spans = network.columns.map(() => null);
  masks[cell[0]][network.position(cell)] = 1;
  for (let k = cell[0]; k > 0; k--) {
    const column = network.columns[k];
    if (column.kind === "box" || !masks[k].includes(1)) continue;
    for (let place = 0; place < column.rows * column.cols; place++) {
      const marks = masks[k].subarray(place * column.channels, (place + 1) * column.channels);
      if (!marks.includes(1)) continue;
      const groups = range(0, column.groups).filter((group) => isMarked(marks, group * column.outs, column.outs));
      for (const group of groups.length === column.groups ? [null] : groups) {
        const { reads, window: [down, across] } = readsAt(network, column, place, group);
        for (const { from, starts, count } of reads) {
          spans[from] = { rows: extent(spans[from]?.rows, down), cols: extent(spans[from]?.cols, across) };
          for (const start of starts) masks[from].fill(1, start, start + count);
        }
      }
    }
  }
  return { masks, spans };
}

const extent = (before, list) => [Math.min(...list, ...(before ?? [])), Math.max(...list, ...(before ?? []))];

/**
 * The cells that a cell reaches: a mask of each column from its own.
 * @param {number[]} cell
 * @returns {Uint8Array[]}
 */
export function reachedBy(network, cell) {
  const masks = blankMasks(network);
  masks[cell[0]][network.position(cell)] = 1;
  for (let k = cell[0] + 1; k < network.columns.length; k++) {
    const column = network.columns[k];
    if (column.kind === "box" || !column.from.some((from) => masks[from].includes(1))) continue;
    const meets = (place, group = null) => readsAt(network, column, place, group).reads.some(({ from, starts, count }) => starts.some((start) => isMarked(masks[from], start, count)));
    for (let place = 0; place < column.rows * column.cols; place++) {
      if (!meets(place)) continue;
      for (let group = 0; group < column.groups; group++) {
        const first = place * column.channels + group * column.outs;
        if (column.groups === 1 || meets(place, group)) masks[k].fill(1, first, first + column.outs);
      }
    }
  }
  return masks;
}

/** The cells of one map of a mask, [row, column]. */
export function cellsOf(network, k, mask, channel) {
  const { rows, cols, channels } = network.columns[k];
  const found = [];
  for (let place = 0; place < rows * cols; place++) if (mask[place * channels + channel]) found.push([Math.floor(place / cols), place % cols]);
  return found;
}

/** The first row and column of the cells of a mask, and how many they span, on any map: what a reader counts. */
export function spanOf(network, k, mask) {
  const { cols, channels } = network.columns[k];
  const places = [...new Set([...mask.keys()].filter((i) => mask[i]).map((i) => Math.floor(i / channels)))];
  const sides = [(place) => Math.floor(place / cols), (place) => place % cols].map((side) => places.map(side));
  return { count: places.length, first: sides.map((side) => Math.min(...side)), sides: sides.map((side) => (side.length ? Math.max(...side) - Math.min(...side) + 1 : 0)) };
}

/** The rows and the columns of such a span, in words. */
export const rowsAndColumns = ({ first, sides }) => ["rows", "columns"].map((name, axis) => `${name} ${first[axis]} to ${first[axis] + sides[axis] - 1}`);

/** The outline of cells as an SVG path: the edges between one of them and what is none. */
export function outline(cells, { x, y, cell }) {
  const held = new Set(cells.map(String));
  const edges = [];
  for (const [row, col] of cells) {
    const [left, top] = [x + col * cell, y + row * cell];
    if (!held.has(`${row - 1},${col}`)) edges.push(`M${left} ${top}h${cell}`);
    if (!held.has(`${row + 1},${col}`)) edges.push(`M${left} ${top + cell}h${cell}`);
    if (!held.has(`${row},${col - 1}`)) edges.push(`M${left} ${top}v${cell}`);
    if (!held.has(`${row},${col + 1}`)) edges.push(`M${left + cell} ${top}v${cell}`);
  }
  return edges.join("");
}
