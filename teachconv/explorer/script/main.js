// The way in: the document of a page, drawn in an element.

import { App } from "./app.js";
import { axisOf, axisTable } from "./axis_tables.js";
import { callText } from "./calls.js";
import { geometryOf, imageHost } from "./moving.js";
import { wordsOf } from "./take_away.js";

/** Draw the explorer in an element; `host.move`, if present, shows another part. */
export function mount(root, data, host = null) {
  return new App(root, data, host);
}

/** The document of a saved page, with what packing.py leaves out. */
export function unpacked(data) {
  const { call } = data;
  for (const drawn of [call, data.beside?.call].filter(Boolean)) {
    drawn.axes = drawn.axes.map((axis) =>
      axisTable(axisOf({ ...axis, formulas: axis.formulas.map((i) => drawn.lines[i]) }), drawn.source === "out", axis.ins, axis.outs));
  }
  for (const variant of Object.values(data.variants.table)) {
    if (!variant.call) continue;
    variant.code = callText(call.function, variant.call.shapes, wordsOf(call, variant));
    variant.facts = geometryOf(call, variant)._facts().join(" ");
  }
  return data;
}

/** Draw the document of a saved page; `lens` is what draws a whole image, if the page has one. */
export function open(root, data, lens = null) {
  return mount(root, unpacked(data), imageHost(data, lens));
}
