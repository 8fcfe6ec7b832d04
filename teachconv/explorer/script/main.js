// The two ways in: a page of its own, and a notebook's widget.

import { App } from "./app.js";
import { axisOf, axisTable } from "./axis_tables.js";
import { callText } from "./calls.js";
import { facts } from "./law.js";
import { geometryOf, imageHost } from "./moving.js";
import { wordsOf } from "./take_away.js";

/** Draw the explorer in an element; `host.request(key)`, if present, computes a variant. */
export function mount(root, data, host = null) {
  return new App(root, data, host);
}

/** The document of a saved page, with what packing.py leaves out. */
export function unpacked(data) {
  const { call } = data;
  const transposed = call.source === "out";
  call.axes = call.axes.map((axis) =>
    axisTable(axisOf({ ...axis, formulas: axis.formulas.map((i) => call.lines[i]) }), transposed, axis.ins, axis.outs));
  for (const variant of Object.values(data.variants.table)) {
    if (!variant.call) continue;
    variant.code = callText(call.function, variant.call.shapes, wordsOf(call, variant));
    variant.facts = facts(geometryOf(call, variant));
  }
  return data;
}

/** Draw the document of a saved page. */
export function open(root, data) {
  return mount(root, unpacked(data), imageHost(data));
}

/** anywidget's entry point: the same picture, connected to a running Python process. */
export function render({ model, el }) {
  const data = model.get("data");
  const waiting = new Map();
  model.on("msg:custom", ({ key, variant, axes, arrays, lines, moved }) => {
    if (moved) {
      data.call = moved.call;
      waiting.get("at")?.(moved);
      return;
    }
    data.call.axes.push(...axes.slice(data.call.axes.length));
    data.call.arrays.push(...arrays.slice(data.call.arrays.length));
    data.call.lines.push(...lines.slice(data.call.lines.length));
    waiting.get(key.join())?.(variant);
    waiting.delete(key.join());
  });
  const request = (key) => new Promise((resolve) => {
    waiting.set(key.join(), resolve);
    model.send({ variant: key });
  });
  const move = (at, _) => new Promise((resolve) => {
    waiting.set("at", resolve);
    model.send({ at });
  });
  const root = document.createElement("div");
  root.classList.add("in-a-page");
  el.append(root);
  const app = mount(root, data, { request, move });
  return () => app.play(false);
}
