// The weights of a filter as fields: a number is typed, or dragged up and down.

import { h } from "./elements.js";
import { brief, full, short } from "./numbers.js";

export const MOST_WEIGHTS = 49; // of a plane of the filter that are shown as fields
const DRAG = 4; // pixels for a step of a weight

/** A weight as a field has room for it. */
const inField = (weight, cols) => (cols > 3 ? short(weight) : Number.isInteger(weight) ? brief(weight) : String(Number(weight.toPrecision(3))));

/**
 * The weights of a plane of a filter as fields, in which one types or drags a number.
 * @param {ArrayLike<number>} weights
 * @param {number} cols
 * @param {number} step of a number that is dragged
 * @param {{weigh: (i: number, number: number) => void, take: () => void}} handlers `weigh` puts each change into the weights; `take` follows the last one
 */
export function weightFields(weights, cols, step, { weigh, take }) {
  const change = (i, number) => Number.isFinite(number) && weigh(i, number);
  const fields = h("div", { class: "weights" }, Array.from(weights, (weight, i) => {
    const input = h("input", { type: "number", step: "any", value: inField(weight, cols), title: full(weight), "aria-label": `weight, row ${Math.floor(i / cols)}, column ${i % cols}`,
      oninput: () => change(i, Number(input.value)), onchange: take,
      onpointerdown: ({ clientY, pointerId }) => {
        const begin = weights[i];
        input.setPointerCapture(pointerId);
        input.onpointermove = (event) => {
          const steps = Math.round((clientY - event.clientY) / DRAG);
          if (!steps && weights[i] === begin) return;
          input.value = String(Math.round((begin + steps * step) * 100) / 100);
          change(i, Number(input.value));
        };
        input.onpointerup = () => {
          input.onpointermove = null;
          if (weights[i] !== begin) take();
        };
      } });
    return input;
  }));
  fields.style.setProperty("--cols", String(cols));
  return fields;
}
