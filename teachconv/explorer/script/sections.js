// The sections of the page that open and close: which there are, and when each is redrawn.

import { h } from "./elements.js";
import { matrices } from "./matrix_panel.js";
import { fourWays, work } from "./transposed_panels.js";
import { besidePanel, geometryPanel, overlapPanel, tracePanel } from "./panels.js";

/** Each section: its element, its body, what it depends on, and its content. */
export function sectionsOf(app) {
  const { doc } = app;
  const small = doc.kind === "conv2d_backprop_input" && !doc.empty && work(app.view, app.state) < 600;
  const list = [];
  // `depends` says when a section is redrawn: for each cell, for each variant, or never
  const add = (name, title, depends, content, open = false) => {
    const body = h("div", { class: "body" });
    const toggled = () => {
      if (element.open !== (app.opened.get(name) ?? open)) app.tellHost();
      app.opened.set(name, element.open);
      app.refresh();
    };
    const element = h("details", { open: app.opened.get(name) ?? open, "data-section": name, ontoggle: toggled }, h("summary", {}, title), body);
    list.push({ element, body, depends, content, usual: open });
  };
  if (app.data.beside) add("beside", `Beside it: ${app.data.beside.label}`, "cell", () => besidePanel(app.view, app), true);
  add("geometry", "The geometry, with numbers", "variant", () => geometryPanel(app.view));
  for (const section of app.host?.sections ?? []) add(section.name, section.title, "variant", () => section.content(app), section.open);
  if (!doc.empty && !doc.quantized && doc.kind === "conv2d_backprop_input") {
    add("ways", "Transposed convolution, four ways", "cell", () => fourWays(app.view, app), small);
  }
  if (!doc.empty && !doc.quantized && doc.kind === "conv2d") {
    add("matrix", "The matrix C: y = C x", "cell", () => h("div", { class: "strip" }, matrices(app.view, app)));
  }
  if (!doc.empty && doc.kind !== "conv2d_backprop_filter") {
    add("overlap", "The overlap map", doc.rank === 3 ? "cell" : "variant", () => overlapPanel(app.view, app));
  }
  if (doc.tile) add("tile", "Winograd's steps, for one tile", "nothing", () => [h("pre", { class: "note", tabindex: "0" }, doc.tile)]);
  if (doc.trace.length) add("trace", "The trace: from the Python call to the kernel", "nothing", () => tracePanel(doc));
  return list;
}
