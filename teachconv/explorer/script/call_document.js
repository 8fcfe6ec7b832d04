// A call as the JSON that the view draws, made on the page itself: the copy of document.py, beside law.js.

import { axisTable, held, partOf, shownText, teaching } from "./axis_tables.js";
import { callText, resolve } from "./calls.js";
import { AxisGeometry, ConvGeometry, ConvTransposeGeometry, forward_axis } from "./law.js";
import { floorDiv, range } from "./python.js";

// float32 as dtypes.py describes it
const FLOAT32 = { precision: 24, smallest_exponent: -149, largest: (2 - 2 ** -23) * 2 ** 127 };

/**
 * The document of a call of a dialect's function. It has no result: the view sums the taps.
 * @param {string} name the function, such as "torch.conv2d"
 * @param {number[][]} shapes of the two arrays, in the dialect's layouts
 * @param {object} words the other arguments
 * @param {{source: (cell: number[]) => any, filter: (cell: number[]) => any}} values the number at a canonical cell
 * @param {number[] | null} at the first cell
 * @param {{reduce: string, ceil: boolean, counted: boolean, code: string} | null} pool the pool that the windows are of
 */
export function callDocument(name, shapes, words, values, at = null, pool = null) {
  const call = resolve(name, shapes, words);
  const { op: { transposed } } = call;
  const g = poolGeometry(call.geometry, pool?.ceil);
  const sizes = shapesOf(g);
  const [source, result] = transposed ? ["out", "in"] : ["in", "out"];
  const empty = [...sizes.in, ...sizes.out, ...sizes.filter].includes(0);
  const inside = (cell) => cell?.every((i, axis) => i >= 0 && i < sizes[result][axis]);
  const usual = () => [0, teaching(g.rows, transposed), teaching(g.cols, transposed), 0];
  const start = empty ? [0, 0, 0, 0] : inside(at) ? at : usual();
  const part = partOf(g, transposed, start);
  const activations = (side) =>
    side === "in" ? [part.images, part.inRows, part.inCols, part.inChannels] : [part.images, part.outRows, part.outCols, part.outChannels];
  const depths = depthsWithin(part.inChannels, sizes.filter[2]);
  const arrays = [
    held(activations(source), values.source),
    held([[0, sizes.filter[0]], [0, sizes.filter[1]], depths, part.outChannels], values.filter, 2),
  ];
  const axes = [];
  const stored = (axis, ins, outs) => { // each once
    const table = axisTable(axis, transposed, ins, outs);
    const known = axes.findIndex((other) => JSON.stringify(other) === JSON.stringify(table));
    return known < 0 ? axes.push(table) - 1 : known;
  };
  const [rows, cols] = [stored(g.rows, part.inRows, part.outRows), stored(g.cols, part.inCols, part.outCols)];
  return {
    op: pool ? `${pool.reduce} pool` : call.op.name,
    rank: 2,
    pool,
    quantized: null,
    kind: call.kind.name,
    dtype: "float32",
    bits: 32,
    format: FLOAT32,
    source,
    operand: "filter",
    result,
    names: transposed ? { in: "output", filter: "filters", out: "input" } : { in: "input", filter: pool ? "window" : "filters", out: "output" },
    code: pool?.code ?? callText(name, shapes, words),
    backend: null,
    algorithm: null,
    bias: null,
    groups: channelGroups(g),
    cell_names: name.startsWith("tensorflow.") ? null : cellNames(call),
    at: start,
    empty,
    shown: shownText(g, part, transposed),
    function: null,
    overview: null,
    trace: [],
    tile: null,
    axes,
    arrays,
    base: {
      rows,
      cols,
      depth: stored(new AxisGeometry(1, 1, 1, 1, 1, 0, 0), [0, 1], [0, 1]),
      arrays: { [source]: 0, filter: 1 },
      terms: Math.max(1, g.terms_of(transposed ? "input" : "output")),
      note: "",
      facts: g._facts().join(" "),
      shapes: sizes,
    },
    steps: call.steps,
    legal_output_shapes: name === "tensorflow.conv2d_transpose" ? new ConvTransposeGeometry(g).legal_output_shapes : [],
  };
}

/** The shapes of the arrays of a geometry as the page names them, NHWC and HWIO. */
export const shapesOf = (g) => ({ in: g.input_shape, filter: g.filters_shape, out: g.output_shape });

/** The geometry of a pool with the windows of a convolution; with `ceil` a last window that does not fit counts too. */
export function poolGeometry(g, ceil) {
  if (!ceil) return g;
  const axes = [["rows", g.rows], ["cols", g.cols]].map(([name, { in_size: n, filter_size: k, stride, dilation, pad_before, pad_after }]) =>
    forward_axis(name, n, k, stride, dilation, "EXPLICIT", [pad_before, pad_after], false, true));
  return new ConvGeometry(g.batch, axes, g.in_channels, g.out_channels, g.groups);
}

/** The filter depths that a range of input channels uses. */
function depthsWithin(channels, depth) {
  const [start, stop] = channels;
  if (!depth || start === stop || floorDiv(start, depth) !== floorDiv(stop - 1, depth)) return [0, depth];
  const first = start - floorDiv(start, depth) * depth;
  return [first, first + stop - start];
}

/** Each group's input channels, with the filter depths that they use, and its output channels. */
function channelGroups(g) {
  const [depth, outs] = [g.filters_shape[2], floorDiv(g.out_channels, g.groups)];
  return range(0, g.groups).map((group) => ({
    in: range(0, depth).map((i) => [group * depth + i, i]),
    out: range(group * outs, (group + 1) * outs),
  }));
}

/** What the view needs to number each side's cells as the dialect does. */
function cellNames({ op: { transposed }, input_layout, filter_layout, output_layout, canonical_filter, flip }) {
  const own = { letters: input_layout, stuffing: [1, 1, 1], part_channels: 0 };
  const [filter, other] = [{ letters: filter_layout, canonical: canonical_filter, flip, split: 0 }, { letters: output_layout }];
  return transposed ? { in: other, filter, out: own } : { in: own, filter, out: other };
}
