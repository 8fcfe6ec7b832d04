// Numbers in flight: the two factors of a product fly from their own cells to its place in the equation.

import { brief, full } from "./numbers.js";
import { h } from "./elements.js";
import { placeOf } from "./view.js";

const WAY = [0, 0.2, 0.65, 0.85]; // the share of the time at which a number is at each corner of its way

/** Whether nothing may move. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const SEEN = 0.5; // of an element, from where it begins to move

/** Act once enough of an element is seen, unless the reader does something before, or nothing may move. */
export function onceSeen(element, act) {
  if (still()) return;
  const view = new IntersectionObserver((entries) => {
    if (entries.at(-1).intersectionRatio < SEEN) return;
    view.disconnect();
    act();
  }, { threshold: SEEN });
  view.observe(element);
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => view.disconnect(), { once: true, capture: true });
}

/**
 * The rectangle of a cell on the screen: on its grid, or on the thumbnail of its channel.
 * @returns {DOMRect | null}
 */
function rectOf(app, name, cell) {
  const side = app.doc[name];
  const drawn = app.view.cell(side, ...placeOf(side, cell), app.state);
  if (drawn.join() !== cell.join()) return app.thumbs?.rectOf(side, cell) ?? null;
  return app.grids[name].cells.get(placeOf(side, cell).join())?.element.getBoundingClientRect() ?? null;
}

/** The way of a number past the other planes: above all of them, or on a narrow page along their left. */
function wayAround(app, from, to) {
  const { left, top, right } = app.stage.getBoundingClientRect();
  const beside = to.left >= right;
  return [from, to].map((rect) => ({ left: beside ? rect.left : left, top: beside ? top : rect.top, width: beside ? rect.width : 0, height: beside ? 0 : rect.height }));
}

/** Let a number fly from one rectangle to another; it is gone when it arrives. */
function send(app, text, from, to, milliseconds) {
  if (!from || !to) return;
  const base = app.sky.getBoundingClientRect();
  const chip = h("span", { class: "chip" }, text);
  app.sky.append(chip);
  const { width, height } = chip.getBoundingClientRect();
  const at = (rect) => `translate(${rect.left + rect.width / 2 - width / 2 - base.left}px, ${rect.top + rect.height / 2 - height / 2 - base.top}px)`;
  const way = [from, ...wayAround(app, from, to), to].map((rect, i) => ({ transform: at(rect), opacity: 1, offset: WAY[i] }));
  const frames = [...way, { transform: at(to), opacity: 0 }];
  const flight = chip.animate(frames, { duration: milliseconds, easing: "ease-in-out" });
  flight.finished.then(() => chip.remove(), () => chip.remove()); // or cancelled
}

/** A product appears when its two factors have arrived from their cells. */
export function flyFactors(app, tap, milliseconds) {
  const target = app.sum.querySelector(`.product[data-tap="${tap.order}"]`);
  if (still() || !target || tap.outside || tap.product === undefined) return;
  const to = (target.checkVisibility() ? target : app.sum.querySelector(".headline output")).getBoundingClientRect(); // in a low frame
  send(app, brief(tap.value), rectOf(app, "source", tap.source), to, milliseconds);
  if (!app.doc.pool) send(app, brief(tap.weight), rectOf(app, "operand", tap.operand), to, milliseconds);
  target.animate([{ opacity: 0 }, { opacity: 0, offset: 0.75 }, { opacity: 1 }], { duration: milliseconds });
}

/** The sum flies to its cell of the result. */
export function flySum(app, milliseconds) {
  if (still()) return;
  const from = app.sum.querySelector(".headline output")?.getBoundingClientRect();
  const value = app.view.value(app.cell());
  if (value !== undefined) send(app, full(value), from, rectOf(app, "result", app.cell()), milliseconds);
}

/** End all flights. */
export function land(app) {
  app.sky.replaceChildren();
}
