// The arrays of a document: each a part of a whole one, whose numbers are parsed once.

import { parse } from "./numbers.js";
import { range } from "./python.js";

/** The channels of one slice of each side, which are that many planes. */
export const channelsOf = ({ groups }) => ({
  in: groups.reduce((sum, group) => sum + group.in.length, 0) || 1,
  out: groups.reduce((sum, group) => sum + group.out.length, 0) || 1,
  filter: groups[0]?.in.length || 1,
});

/** Part of an array: its axes are ranges of indices in the whole array. The slices and channels of a cell are one index, its plane. */
class Held {
  constructor({ axes, values }, doc, side) {
    this.axes = axes;
    this.at = side === "filter" ? 2 : 3; // the axis of the slices; that of the channels is the next one
    this.size = channelsOf(doc)[side];
    this.known = this.lowest = undefined;
    this.values = values.map((raw) => parse(raw, doc));
  }

  get(cell) {
    const slice = Math.floor(cell[this.at] / this.size);
    let position = 0;
    for (let axis = 0; axis < 5; axis++) {
      const [start, stop] = this.axes[axis];
      const i = axis < this.at ? cell[axis] : axis === this.at ? slice : cell[axis - 1] - (axis === this.at + 1 ? slice * this.size : 0);
      if (!(i >= start && i < stop)) return undefined;
      position = position * (stop - start) + i - start; // the number's index in storage
    }
    return this.values[position];
  }

  /** The largest size of a finite number: one scale of colours for all channels. */
  get largest() {
    this.known ??= this.values.reduce((most, value) => {
      const size = Math.abs(Number(value));
      return Number.isFinite(size) && size > most ? size : most;
    }, 0);
    return this.known;
  }

  /** The least finite number. */
  get least() {
    this.lowest ??= this.values.reduce((least, value) => (Number.isFinite(Number(value)) && value < least ? Number(value) : least), Infinity);
    return this.lowest;
  }

  indices(axis) {
    if (axis !== this.at) return range(...this.axes[axis > this.at ? axis + 1 : axis]);
    const [slices, channels] = this.axes.slice(axis);
    return range(...slices).flatMap((slice) => range(...channels).map((channel) => slice * this.size + channel));
  }
}

const parsedArrays = new WeakMap(); // an array is parsed once, however many variants share it
export function heldArray(doc, number, side) {
  const raw = typeof number === "number" ? doc.arrays[number] : number;
  if (!parsedArrays.has(raw)) parsedArrays.set(raw, new Held(raw, doc, side));
  return parsedArrays.get(raw);
}
