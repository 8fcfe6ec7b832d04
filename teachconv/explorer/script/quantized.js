// How a runtime makes an integer of the result of an exact sum: the copy of quantized/schemes.py, proven equal by a test.
// Pages of other calls do not have this module: whoever uses it asks first whether the document is quantized.

import { h } from "./elements.js";
import { heldArray } from "./held_arrays.js";

const { fround } = Math;

/** Round half to even. */
function halfToEven(number) {
  const [down, part] = [Math.floor(number), number - Math.floor(number)];
  return part < 0.5 || (part === 0.5 && down % 2 === 0) ? down : down + 1;
}

/** @type {(number: bigint) => bigint} */
const inInt32 = (number) => BigInt.asIntN(32, number);
/** @type {(number: bigint, multiplier: bigint) => bigint} */
const highMultiply = (number, multiplier) => (number * multiplier + (1n << 30n)) >> 31n;
/** @type {(number: bigint, shift: bigint) => bigint} */
const shiftHalfAway = (number, shift) => (number + (((1n << shift) - (number < 0n ? 1n : 0n)) >> 1n)) >> shift;
/** @type {(number: bigint, shift: bigint) => bigint} */
const shiftHalfUp = (number, shift) => (number + ((1n << shift) >> 1n)) >> shift;

/**
 * The steps from a sum with its bias to an integer of the result's scale, by the names that schemes.py has for them.
 * @type {Record<string, (total: bigint, r: any) => [string, any][]>}
 */
const RULES = {
  by_float32(total, r) {
    const [sum, steps] = [fround(Number(total)), []];
    const biased = fround(sum + fround(r.float_bias));
    steps.push(["float32(sum)", sum]);
    if (r.float_bias) steps.push(["+ bias / (x_scale * w_scale), float32", biased]);
    const product = fround(biased * r.factor);
    return [...steps, ["* multiplier, float32", product], ["round half to even", halfToEven(product)]];
  },
  by_float32_to_int32(total, r) {
    const steps = RULES.by_float32(total, r);
    const [, rounded] = steps.at(-1);
    return [...steps, ["convert to int32", Math.abs(rounded) < 2 ** 31 ? rounded : -(2 ** 31)]];
  },
  by_float64(total, r) {
    const biased = Number(total) + r.float_bias;
    const product = biased * r.real;
    return [["+ bias / (x_scale * w_scale), float64", biased], ["* multiplier, float64", product], ["round half to even", halfToEven(product)]];
  },
  by_two_roundings(total, r) {
    /** @type {bigint} */
    const left = r.shift > 0n ? r.shift : 0n;
    const shifted = inInt32(total << left);
    const high = highMultiply(shifted, r.multiplier);
    const last = r.half_up ? shiftHalfUp : shiftHalfAway;
    return [
      ["shift left, in 32 bits", shifted],
      ["* multiplier / 2**31, round half up", high],
      [`shift right, round ${r.half_up ? "half up" : "half away from zero"}`, last(high, left - r.shift)],
    ];
  },
  by_one_rounding(total, r) {
    const product = total * r.multiplier;
    const doubled = inInt32(product >> (30n - r.shift));
    return [["* multiplier", product], ["shift right by 30 - shift, in 32 bits", doubled], ["shift right by 1, round half up", shiftHalfUp(doubled, 1n)]];
  },
  by_16_bits(total, r) {
    const rounded = (r.multiplier + (1n << 15n)) >> 16n;
    const upper = rounded < 0x7fffn ? rounded : 0x7fffn;
    const product = total * upper;
    return [["the multiplier's upper 16 bits", upper], ["sum * these", product], ["shift right by 15 - shift, round half up", inInt32(shiftHalfUp(product, 15n - r.shift))]];
  },
};

/** The numbers of one channel: what its sums are multiplied by. */
export function rescalingOf({ channels }, channel) {
  const [real, factor, floatBias, halfUp] = ["real", "factor", "float_bias", "half_up"].map((name) => channels[name][channel]);
  const [multiplier, shift] = ["multiplier", "shift"].map((name) => BigInt(channels[name][channel]));
  return { real, factor: fround(factor), float_bias: floatBias, half_up: halfUp, multiplier, shift };
}

/**
 * The steps from an exact sum with its bias to a stored integer, which is the last number: [what is done, the number after it].
 * @param {any} view
 * @param {number} plane the channel of the result
 * @param {bigint} total
 * @returns {[string, any][]}
 */
export function rescaled(view, plane, total) {
  const { quantized, result } = view.doc;
  const steps = RULES[quantized.rule](total, rescalingOf(quantized, view.split(result, plane)[1]));
  const { y_zero_point: zero, limits: [low, high] } = quantized;
  const y = Number(steps.at(-1)[1]) + zero;
  return [...steps, [`+ y_zero_point ${zero}`, y], [`saturated to ${low} .. ${high}`, Math.min(Math.max(y, low), high)]];
}

/** The stored integer of a cell, and all steps to it from the sum of its products; the bias may be null. */
export function stored(view, cell, bias, sum) {
  const more = bias ? [[`+ bias ${bias}`, sum]] : [];
  const steps = [["sum of the products", sum - (bias ?? 0n)], ...more, ...rescaled(view, cell[3], sum)];
  return { total: BigInt(steps.at(-1)[1]), steps };
}

/** What stands for 0 at a cell of the source or the operand. */
export function zeroAt(view, side, cell) {
  const [, , plane, o] = cell;
  const [ofSource, ofFilter] = view.doc.quantized.zeros;
  if (side === view.doc.source) return BigInt(ofSource);
  return BigInt(typeof ofFilter === "number" ? ofFilter : ofFilter[view.split("filter", plane)[1]][o]);
}

/** A float32 or a double with the fewest digits that say which it is. */
export function exactly(number) {
  if (typeof number === "bigint" || Number.isInteger(number)) return String(number);
  const single = fround(number) === number;
  const digits = single && [1, 2, 3, 4, 5, 6, 7, 8, 9].find((count) => fround(Number(number.toPrecision(count))) === number);
  return String(digits ? Number(number.toPrecision(digits)) : number).replace("e+", "e");
}

/** How a quantized call comes from the sum to its value: the multiplier in its forms, and every step with the number after it. */
export function rescalingSteps(view, cell, { steps }) {
  const { quantized, result } = view.doc;
  if (!steps) return null;
  const { real, factor, multiplier, shift } = rescalingOf(quantized, view.split(result, cell[3])[1]);
  const forms = [["x_scale * w_scale / y_scale", exactly(real)], ["in float32", exactly(factor)], ["as an integer", `${multiplier} / 2**31 * 2**${shift}`]];
  return h("div", { class: "rescaling", "data-tap": Infinity },
    h("h3", {}, `From the sum to the stored integer: scheme ${quantized.scheme}`),
    h("p", {}, `${quantized.runtime}. The multiplier is `, forms.flatMap(([what, number], i) => [i ? `, ${what} ` : `${what} = `, h("b", {}, number)]), "."),
    stepList(steps));
}

/** The steps of a quantized average: [what is done, the number after it]. */
export function poolSteps({ doc }, cell) {
  const numbers = { ...doc, format: {}, dtype: "float64" }; // not all of them are integers
  return doc.pool.steps.map(([what, number]) => [what, heldArray(numbers, number, doc.result).get(cell)]);
}

/** How a quantized pool comes from its window to the mean. */
export function averageSteps({ scheme, runtime }, { steps }) {
  return h("div", { class: "rescaling", "data-tap": Infinity },
    h("h3", {}, `From the window to the stored integer: scheme ${scheme}`), h("p", {}, `${runtime}.`), stepList(steps));
}

const stepList = (steps) => h("ol", {}, steps.map(([what, number]) => h("li", {}, h("span", {}, what), h("b", {}, exactly(number)))));
