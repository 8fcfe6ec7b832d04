// Strides, dilations and pads as the pages have them: numbers, or arrays of numbers. core/arguments.py takes more, such as
// arrays of other libraries and four numbers in data_format order; the law in law.js sees the same.

import { Refusal, integer, list, repr, tuple, tupleOf } from "./python.js";

const FARTHEST = 2 ** 31 - 1;

export const isScalar = (value) => typeof value === "number";

/** A shape as a tuple: normalize_shape. */
export const normalizeShape = (shape, ..._) => tupleOf(list(shape).map(integer));

/** Refuse strides, dilations and pads that are too large: check_steps. */
export function checkSteps(numbers, name, value) {
  if (list(numbers).some((number) => Math.abs(number) > FARTHEST)) {
    throw new Refusal(`${name} must be at most ${FARTHEST} (2**31 - 1) in size; got ${repr(value)}`);
  }
}

/** Strides or dilations as (rows, cols); null means 1: normalize_steps. */
export function normalizeSteps(value, name, dataFormat) {
  if (value === null || value === undefined) return tuple(1, 1);
  const steps = isScalar(value) ? [value] : [...value];
  if (steps.length === 1) steps.push(steps[0]);
  if (steps.length !== 2) throw new Refusal(`${name} must be an int, (rows, cols) or 4 ints in ${dataFormat} order; got ${repr(value)}`);
  if (Math.min(...steps) < 1) throw new Refusal(`${name} must be at least 1; got ${repr(value)}`);
  checkSteps(steps, name, value);
  return tuple(...steps);
}
