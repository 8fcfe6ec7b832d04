// What a cell of a network depends on, and what depends on it: exact sets of cells, from the law of each layer.

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

/** Call `visit` with every place and group of a column, its first cell, and where it reads in each source. */
function eachGroup(network, column, visit) {
  for (let row = 0; row < column.rows; row++) {
    for (let col = 0; col < column.cols; col++) {
      const [down, across] = windowOf(column, row, col);
      for (let group = 0; group < column.groups; group++) {
        const reads = channelsRead(column, group).map(([n, first, count]) => {
          const { rows, cols, channels } = network.columns[column.from[n]];
          const inside = down.filter((y) => y >= 0 && y < rows).flatMap((y) => across.filter((z) => z >= 0 && z < cols).map((z) => (y * cols + z) * channels + first));
          return { from: column.from[n], starts: inside, count };
        });
        visit((row * column.cols + col) * column.channels + group * column.outs, reads, [down, across]);
      }
    }
  }
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
    eachGroup(network, column, (first, reads, [down, across]) => {
      if (!isMarked(masks[k], first, column.outs)) return;
      for (const { from, starts, count } of reads) {
        spans[from] = { rows: extent(spans[from]?.rows, down), cols: extent(spans[from]?.cols, across) };
        for (const start of starts) masks[from].fill(1, start, start + count);
      }
    });
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
    eachGroup(network, column, (first, reads) => {
      if (reads.some(({ from, starts, count }) => starts.some((start) => isMarked(masks[from], start, count)))) masks[k].fill(1, first, first + column.outs);
    });
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

/** How many rows and columns the cells of a mask span, on any map: what a reader counts. */
export function spanOf(network, k, mask) {
  const { cols, channels } = network.columns[k];
  const places = [...new Set([...mask.keys()].filter((i) => mask[i]).map((i) => Math.floor(i / channels)))];
  const sides = [(place) => Math.floor(place / cols), (place) => place % cols].map((side) => places.map(side));
  return { count: places.length, sides: sides.map((side) => (side.length ? Math.max(...side) - Math.min(...side) + 1 : 0)) };
}

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
