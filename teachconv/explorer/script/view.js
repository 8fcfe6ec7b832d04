// One call as data: which values it has, which taps each cell, and what each cell is called.

import { axisOf, countedCells, inverse } from "./axis_tables.js";
import { channelsOf, heldArray } from "./held_arrays.js";
import { ExactSum, parse } from "./numbers.js";
import { poolSteps, rescaled, stored, zeroAt } from "./quantized.js";

export const index = (cell) => (cell ? cell.join(", ") : "a zero between two cells");

const DIMMEST = 32; // the largest number of a photo of 0 to 255

/** Every combination of what depth, rows and columns have: the first numbers, the second ones, and whether any is outside. */
const together = (depths, rows, cols) => depths.flatMap((z) => rows.flatMap((r) => cols.map((q) =>
  ({ first: [z[0], r[0], q[0]], second: [z[1], r[1], q[1]], outside: z[2] || r[2] || q[2] }))));

/**
 * One variant of one call. Cells are canonical: [n, row, col, plane], or a filter's [row, col, plane, channel]. A plane is
 * one channel of one slice; only a volume has several slices.
 */
export class View {
  constructor(doc, variant) {
    const pick = (store, item) => (typeof item === "number" ? store[item] : item);
    this.doc = doc;
    this.variant = variant;
    this.kind = doc.kind;
    this.rows = pick(doc.axes, variant.rows);
    this.cols = pick(doc.axes, variant.cols);
    this.depth = pick(doc.axes, variant.depth);
    this.axes = [this.depth, this.rows, this.cols].slice(-doc.rank); // those that the call has
    this.channels = channelsOf(doc);
    this.arrays = {};
    for (const [side, number] of Object.entries(variant.arrays)) {
      this.arrays[side] = heldArray(doc, number, side);
    }
    this.groupOfIn = new Map();
    this.groupOfOut = new Map();
    for (const group of doc.groups) {
      for (const [c] of group.in) this.groupOfIn.set(c, group);
      for (const o of group.out) this.groupOfOut.set(o, group);
    }
    this.known = new Map();
    this.pairs = new Map();
  }

  /** A plane as slice and channel. */
  split(side, plane) {
    const slice = Math.floor(plane / this.channels[side]);
    return [slice, plane - slice * this.channels[side]];
  }

  /** The cell of a side at depth, row and column; `channel` is one of a group of the filter's. */
  at(side, n, [slice, row, col], channel) {
    return [n, row, col, slice * this.channels[side] + channel];
  }

  weight([slice, row, col], i, o) {
    return [row, col, slice * this.channels.filter + i, o];
  }

  /** The planes of the input that a plane of the output reads: [plane, that of the filter, whether it is padding]. */
  insOf(o) {
    if (!this.pairs.has(o)) {
      const [slice, channel] = this.split("out", o);
      this.pairs.set(o, inverse(this.depth.gather, this.depth.scatter, slice).flatMap(([tap, i, outside]) =>
        (this.groupOfOut.get(channel)?.in ?? []).map(([c, depth]) => [i * this.channels.in + c, tap * this.channels.filter + depth, outside])));
    }
    return this.pairs.get(o);
  }

  /** The planes of the output that read a plane of the input, likewise. */
  outsOf(c) {
    const [slice, channel] = this.split("in", c);
    const group = this.groupOfIn.get(channel);
    const depth = group?.in.find(([other]) => other === channel)[1];
    return inverse(this.depth.scatter, this.depth.gather, slice).flatMap(([tap, i, outside]) =>
      (group?.out ?? []).map((o) => [i * this.channels.out + o, tap * this.channels.filter + depth, outside]));
  }

  /** The pairs of planes, [input, output], that a plane of the filter connects. */
  pairsOf(third, o) {
    const [tap] = this.split("filter", third);
    return Object.keys(this.depth.gather).map((slice) => Number(slice) * this.channels.out + o)
      .flatMap((out) => this.insOf(out).filter(([, plane, outside]) => plane === third && !outside).map(([c]) => [c, out]))
      .toSorted(([a], [b]) => Math.abs(a - tap * this.channels.in) - Math.abs(b - tap * this.channels.in));
  }

  /** The planes of a side that are on the page. */
  planes(side) {
    const groups = side === "in" ? this.groupOfIn : this.groupOfOut;
    const slices = Object.keys(side === "in" ? this.depth.scatter : this.depth.gather).map(Number);
    const channels = this.arrays[side] || side === "in" ? [...groups.keys()] : this.arrays.filter?.indices(3) ?? [];
    const held = this.arrays[side]?.indices(3) ?? slices.flatMap((slice) => channels.map((channel) => slice * this.channels[side] + channel));
    return new Set(held.filter((plane) => groups.has(this.split(side, plane)[1])));
  }

  /** What a plane is called. */
  planeName(side, plane) {
    const [slice, channel] = this.split(side, plane);
    if (this.doc.rank < 3) return `channel ${channel}`;
    return this.channels[side] > 1 ? `depth ${slice}, channel ${channel}` : `depth ${slice}`;
  }

  /** What is drawn of one side: for rows and for columns, a list of [index, kind of cell]. */
  drawn(side) {
    if (side !== "filter") return [this.rows[side], this.cols[side]];
    const held = this.arrays.filter;
    const sizes = held
      ? [held.indices(0), held.indices(1)]
      : [this.rows, this.cols].map((axis) => Array.from({ length: axis.filter_size }, (_, i) => i));
    return sizes.map((list) => list.map((i) => [i, ""]));
  }

  /** The plane of the filter between a plane of the input and one of the output. */
  third(c, o) {
    return this.insOf(o).find(([plane]) => plane === c)?.[1] ?? 0;
  }

  /** The cell at (row, col) of a side's plane, for the chosen image and planes. */
  cell(side, row, col, { n, c, o }) {
    if (side === "filter") return [row, col, this.third(c, o), this.split("out", o)[1]];
    return [n, row, col, side === "in" ? c : o];
  }

  number(side, cell) {
    return this.arrays[side]?.get(cell);
  }

  /** The number that a cell of the source or the operand puts into products: of a quantized call less what stands for 0. */
  factor(side, cell) {
    const number = this.number(side, cell);
    return number === undefined || !this.doc.quantized ? number : number - zeroAt(this, side, cell);
  }

  /** A cell as the caller numbers it, as CellNames.name; null for a zero between the caller's cells. */
  name(side, cell) {
    const names = this.doc.cell_names?.[side];
    if (!names) return cell;
    const at = side === "filter" ? this.filterName(names, cell) : this.activationName(names, side, cell);
    return at && [...names.letters].map((letter) => at[letter]);
  }

  filterName(names, [row, col, plane, fourth]) {
    const depth = this.channels.filter;
    const [slice, inGroup] = this.split("filter", plane);
    const third = inGroup + (names.split ? Math.floor(fourth / names.split) * depth : 0);
    if (names.split) fourth %= names.split;
    const [i, o] = names.canonical.slice(-2);
    const [z, r, q] = [[this.depth, slice], [this.rows, row], [this.cols, col]].map(([axis, tap]) => (names.flip ? axis.filter_size - 1 - tap : tap));
    return { D: z, H: r, W: q, [i]: third, [o]: fourth };
  }

  activationName(names, side, [n, row, col, plane]) {
    const steps = names.stuffing ?? [1, 1, 1];
    const [slice, channel] = this.split(side, plane);
    const [images, rows, cols, planes] = this.variant.shapes[side];
    const sizes = [planes / this.channels[side], rows, cols];
    const places = [slice, row, col].map((i, axis) => {
      if (i >= sizes[axis]) return Math.ceil(i / steps[axis]); // beyond the last cell the padding begins at once
      return i >= 0 && i % steps[axis] ? null : Math.floor(i / steps[axis]);
    });
    if (places.includes(null)) return null;
    const part = names.part_channels ? Math.floor(channel / names.part_channels) : 0;
    const [D, H, W] = places;
    return { N: n + part * images, D, H, W, C: names.part_channels ? channel % names.part_channels : channel };
  }

  /** The shape of a side as the caller has it. */
  shape(side) {
    const shape = this.variant.shapes[side];
    if (shape.includes(0)) return shape;
    const corners = [shape.map(() => 0), shape.map((size) => size - 1)].map((cell) => this.name(side, cell) ?? shape);
    return corners[0].map((i, axis) => Math.max(i, corners[1][axis]) + 1);
  }

  /** Every tap of one cell of the result, in the order of tc.explain, with its running sum. */
  taps(cell) {
    const found = [];
    if (this.kind === "conv2d_backprop_filter") {
      const [c, o] = this.connects(cell);
      for (const n of this.arrays[this.doc.source].indices(0)) {
        for (const { first: out, second: into, outside } of this.lattice(cell)) {
          found.push(this.tap(outside, this.at("in", n, into, c), this.at("out", n, out, o)));
        }
      }
    } else {
      const [n, row, col, plane] = cell;
      const gathers = this.kind === "conv2d";
      const [slice, channel] = this.split(this.doc.result, plane);
      const lists = [[this.depth, slice], [this.rows, row], [this.cols, col]].map(([axis, i]) => (gathers ? axis.gather[i] ?? [] : inverse(axis.scatter, axis.gather, i)));
      for (const { first: taps, second: place, outside } of together(...lists)) {
        for (const [other, i, o] of this.partners(channel)) {
          found.push(this.tap(outside, this.at(this.doc.source, n, place, other), this.weight(taps, i, o)));
        }
      }
    }
    const sum = new ExactSum(this.doc);
    const list = found.filter((tap) => this.isCell(tap));
    let missing = 0;
    for (const [order, tap] of list.entries()) {
      tap.order = order;
      if (!tap.outside && (tap.value === undefined || tap.weight === undefined)) missing += 1;
      else if (!tap.outside) sum.add(tap.value, tap.weight);
      const largest = this.doc.pool?.reduce === "max" ? list.slice(0, order + 1) : null;
      tap.running = missing ? undefined : largest ? this.pooled(cell, largest, sum) : sum.value;
    }
    const bias = this.doc.bias ? parse(this.doc.bias[this.split(this.doc.result, cell[3])[1]], this.doc) : null;
    if (bias !== null) sum.add(bias, this.doc.format ? 1 : 1n);
    if (this.kind === "conv2d_backprop_filter" && !this.doc.empty) missing += this.variant.terms - list.length;
    if (missing) return { list, missing, bias };
    const steps = this.doc.pool?.steps && poolSteps(this, cell);
    if (this.doc.pool) return { list, missing, bias, total: steps ? BigInt(steps.at(-1)[1]) : this.pooled(cell, list, sum), steps };
    return { list, missing, bias, sum: sum.value, ...(this.doc.quantized ? stored(this, cell, bias, sum.value) : { total: sum.value }) };
  }

  /** The channels that are summed in one of the result: [channel of the source, that of the filter, its output channel]. */
  partners(channel) {
    if (this.kind === "conv2d") return this.groupOfOut.get(channel).in.map(([c, i]) => [c, i, channel]);
    const group = this.groupOfIn.get(channel);
    const depth = group?.in.find(([c]) => c === channel)[1];
    return (group?.out ?? []).map((o) => [o, depth, o]);
  }

  /** What a pool makes of the cells of a window, whose exact sum is known. */
  pooled(cell, list, sum) {
    const { reduce, start = null } = this.doc.pool;
    if (reduce !== "max") return reduce === "sum" ? sum.value : sum.over(this.divisor(cell));
    const begin = start === null ? [] : [parse(start, this.doc)];
    const values = [...begin, ...list.filter((tap) => !tap.outside).map((tap) => tap.value)];
    if (start !== null && values.some(Number.isNaN)) return NaN;
    return values.filter((value) => !Number.isNaN(value)).reduce((most, value) => (most === undefined || value > most ? value : most), undefined);
  }

  /** What the sum of a window is divided by. */
  divisor([, row, col, plane]) {
    const [slice] = this.split(this.doc.result, plane);
    const { counted, over = null } = this.doc.pool;
    const counts = [[this.depth, slice], [this.rows, row], [this.cols, col]].map(([axis, i]) => countedCells(axisOf(axis), i, counted));
    return over ?? Math.max(1, counts[0] * counts[1] * counts[2]);
  }

  tap(outside, source, operand) {
    const value = outside ? undefined : this.factor(this.doc.source, source);
    const weight = this.factor(this.doc.operand, operand);
    const product = value === undefined || weight === undefined ? undefined : value * weight;
    return { outside: Boolean(outside), source, operand, value, weight, product };
  }

  /** Whether the source of a tap is a cell: a zero between two cells is no tap. */
  isCell(tap) {
    return this.name(this.doc.source, tap.source) !== null;
  }

  /** Where one tap of the filter is used: each place of the forward output, and the place of the input that it meets. */
  lattice([tapRow, tapCol, plane]) {
    const used = (axis, wanted) => Object.entries(axis.gather).flatMap(([out, taps]) =>
      taps.filter(([tap]) => tap === wanted).map(([, into, outside]) => [Number(out), into, outside]));
    return together(used(this.depth, this.split("filter", plane)[0]), used(this.rows, tapRow), used(this.cols, tapCol));
  }

  /** The channels of input and output that a weight connects. */
  connects([, , plane, o]) {
    const [, i] = this.split("filter", plane);
    return [this.groupOfOut.get(o).in.find(([, depth]) => depth === i)[0], o];
  }

  /** The products that one cell of the operand is part of: of a weight, one for each cell of the forward output. */
  uses(cell) {
    const found = [];
    if (this.kind === "conv2d_backprop_filter") {
      const [n, row, col, plane] = cell;
      const [slice, o] = this.split("out", plane);
      for (const { first: taps, second: into, outside } of together(this.depth.gather[slice] ?? [], this.rows.gather[row] ?? [], this.cols.gather[col] ?? [])) {
        for (const [c, i] of this.groupOfOut.get(o).in) found.push({ ...this.tap(outside, this.at("in", n, into, c), cell), result: this.weight(taps, i, o) });
      }
      return found.filter((tap) => this.isCell(tap));
    }
    const [c, o] = this.connects(cell);
    for (const n of this.arrays[this.doc.source].indices(0)) {
      for (const { first, second, outside } of this.lattice(cell)) {
        const [into, out, beyond] = [this.at("in", n, second, c), this.at("out", n, first, o), Boolean(outside)];
        if (this.kind === "conv2d") found.push({ ...this.tap(beyond, into, cell), result: out });
        else found.push({ ...this.tap(0, out, cell), result: into, cropped: beyond });
      }
    }
    return found.filter((tap) => this.isCell(tap));
  }

  /** The products that one cell of the source is part of: the inverse of the taps. */
  feeds(cell) {
    const [n, row, col, plane] = cell;
    const [slice, channel] = this.split(this.doc.source, plane);
    const group = (this.doc.source === "out" ? this.groupOfOut : this.groupOfIn).get(channel);
    const found = [];
    for (const { first: taps, second: place, outside } of together(this.meets(this.depth, slice), this.meets(this.rows, row), this.meets(this.cols, col))) {
      if (outside) continue;
      if (this.doc.source === "out") {
        for (const [c, i] of group.in) found.push(this.fed(cell, this.weight(taps, i, channel), this.at("in", n, place, c)));
      } else {
        const depth = group.in.find(([c]) => c === channel)[1];
        for (const o of group.out) {
          const pair = [this.weight(taps, depth, o), this.at("out", n, place, o)];
          if (this.kind !== "conv2d") pair.reverse();
          found.push(this.fed(cell, ...pair));
        }
      }
    }
    return found;
  }

  /** The taps through which the result reads one index of the source, as [tap, index of the result, outside]. */
  meets(axis, index) {
    return this.doc.source === "in" ? inverse(axis.scatter, axis.gather, index) : inverse(axis.gather, axis.scatter, index);
  }

  /** Whether a cell of the source lies in its padding. */
  isPadding([, row, col, plane]) {
    const size = this.doc.source === "in" ? "in_size" : "out_size";
    const [slice] = this.split(this.doc.source, plane);
    return [[this.depth, slice], [this.rows, row], [this.cols, col]].some(([axis, i]) => i < 0 || i >= axis[size]);
  }

  fed(source, operand, result) {
    return { ...this.tap(this.isPadding(source), source, operand), result };
  }

  /** Whether the source is an image in colours: many cells, three channels, numbers from 0 to 255. */
  isPhoto() {
    const held = this.arrays[this.doc.source];
    if (this.kind !== "conv2d" || !held || this.doc.rank !== 2 || this.variant.shapes.in[3] !== 3 || held.indices(1).length * held.indices(2).length < 300) return false;
    if (held.largest > 1 && held.largest < DIMMEST) return false; // digits in three channels would all be black
    return held.indices(3).length === 3 && held.values.every((value) => value >= 0 && value <= 255);
  }

  /**
   * The colour of a cell of a photo.
   * @param {number[]} cell
   */
  colour(cell) {
    const [n, row, col] = cell;
    const scale = this.arrays[this.doc.source].largest <= 1 ? 255 : 1;
    return `rgb(${[0, 1, 2].map((c) => Math.round(Number(this.number(this.doc.source, [n, row, col, c])) * scale)).join(" ")})`;
  }

  /** The value of one cell of the result: the backend's, or else the sum of its taps. */
  value(cell) {
    const result = this.arrays[this.doc.result];
    if (result && !this.isCropped(cell)) return result.get(cell);
    const key = cell.join();
    if (!this.known.has(key)) this.known.set(key, this.taps(cell).total);
    return this.known.get(key);
  }

  /** The sum of a cell of the result in float64, for a map that is only painted. */
  painted([n, row, col, result]) {
    const forward = this.kind === "conv2d";
    const taps = (axis, i) => (forward ? axis.gather[i] ?? [] : inverse(axis.scatter, axis.gather, i)).filter(([, , outside]) => !outside);
    const met = forward ? this.insOf(result).map((pair) => [...pair, result]) : this.outsOf(result).map((pair) => [...pair, pair[0]]);
    const planes = met.filter(([, , outside]) => !outside).map(([plane, depth, , out]) => [plane, depth, this.split("out", out)[1]]);
    let sum = this.doc.bias ? Number(parse(this.doc.bias[this.split(this.doc.result, result)[1]], this.doc)) : 0;
    for (const [tapRow, r] of taps(this.rows, row)) {
      for (const [tapCol, q] of taps(this.cols, col)) {
        for (const [plane, depth, o] of planes) {
          sum += Number(this.factor(this.doc.source, [n, r, q, plane])) * Number(this.factor("filter", [tapRow, tapCol, depth, o]));
        }
      }
    }
    return this.doc.quantized && Number.isFinite(sum) ? Number(rescaled(this, result, BigInt(sum)).at(-1)[1]) : sum;
  }

  /** Whether a cell of the result is cut away. */
  isCropped(cell) {
    const { result } = this.doc;
    const [, row, col] = cell;
    if (result === "filter") return false;
    return [[this.rows, row], [this.cols, col]].some(([axis, i]) => i < 0 || i >= axis[`${result}_size`]);
  }

  get computedBy() {
    const { backend, algorithm } = this.doc;
    if (!backend || !this.arrays[this.doc.result]) return "summed on this page";
    return `computed by ${backend}${algorithm ? `, ${algorithm}` : ""}`;
  }
}

/** The row and column of a cell on the plane of its side. */
export const placeOf = (side, cell) => (side === "filter" ? [cell[0], cell[1]] : [cell[1], cell[2]]);

/** "[0, 1, 2, 0]" with the name of its side. */
export const named = (view, side, cell) => `${view.doc.names[side]}[${index(view.name(side, cell))}]`;

/** The indices of one axis that are not padding. */
export const inside = (list) => list.filter(([, kind]) => !["padding", "outside", "cut"].includes(kind)).map(([i]) => i);
