// The panels of a whole call: overlap map, geometry, trace, another result beside this one.

import { same } from "./numbers.js";
import { h, plural } from "./elements.js";
import { heldArray } from "./held_arrays.js";
import { index, inside } from "./view.js";

/** The number of products that each cell of the "in" side is in; uneven counts cause the checkerboard. */
export function overlapPanel(view, app) {
  const count = (axis, i) => (axis.scatter[i] ?? []).filter(([, , out]) => !out).length;
  const deep = count(view.depth, view.split("in", app.state.c)[0]);
  const counts = (r, q) => deep * count(view.rows, r) * count(view.cols, q);
  const [rows, cols] = view.drawn("in");
  const all = inside(rows).flatMap((r) => inside(cols).map((q) => counts(r, q)));
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const words = view.kind === "conv2d"
    ? "How many windows read each input cell."
    : "How many products each cell of the result is the sum of, for one pair of channels. Where neighbours differ, a constant input gives an uneven output: the checkerboard of transposed convolutions. Away from the borders the counts are equal if the stride divides the filter's size and, of dilated taps, has no common divisor with the dilation.";
  const content = (r, q) => (inside([[r, rows.find(([i]) => i === r)[1]], [q, cols.find(([i]) => i === q)[1]]]).length === 2 ? counts(r, q) : undefined);
  return [h("p", {}, words), all.length ? h("p", { class: "range" }, `From ${least} to ${most}.`) : null,
    app.small("overlap", [rows, cols], content, [])];
}

/** The arrays of a call with their shapes and layouts, as its own function calls them. */
function shapesLine(view) {
  const { doc } = view;
  const named = (side) => {
    const letters = doc.cell_names?.[side].letters ?? (side === "filter" ? "" : "NHWC");
    return `${doc.names[side]} [${index(view.shape(side))}]${letters && ` ${letters}`}`;
  };
  return `${doc.op}: ${named(doc.source)}, ${named(doc.operand)} → ${named(doc.result)}`;
}

export function geometryPanel(view) {
  const names = ["Depth", "Rows", "Columns"].slice(-view.axes.length);
  const alike = view.axes.every((axis) => axis.formulas.join() === view.axes[0].formulas.join());
  const together = names.join(", ").replace(/, (\w+)$/, " and $1");
  const shown = alike ? [[together[0] + together.slice(1).toLowerCase(), view.axes[0].formulas]] : names.map((name, i) => [name, view.axes[i].formulas]);
  return [
    h("p", { class: "facts" }, [shapesLine(view), view.variant.facts].map((line) => h("span", {}, line))),
    h("div", { class: "formulas" }, shown.map(([title, lines]) => h("div", {}, h("h3", {}, title), h("pre", { tabindex: "0" }, lines.join("\n"))))),
  ];
}

export function tracePanel(doc) {
  return [
    h("p", {}, "The stages of this call, from the Python function to the loops that ran, timed when everything was loaded. Open a stage to see its source."),
    h("ol", { class: "trace" }, doc.trace.map((stage) => {
      const lines = stage.source.map((text, i) => {
        const number = stage.first_line + i;
        return h("span", { class: number === stage.line ? "here" : null }, h("i", {}, String(number).padStart(4)), ` ${text}`);
      });
      const item = h("li", {}, h("details", {},
        h("summary", {}, h("b", {}, stage.name), h("span", { class: "time" }, `${stage.microseconds.toLocaleString("en")} µs`), h("code", {}, stage.place)),
        stage.arrays.length ? h("p", {}, stage.arrays.join("; ")) : null,
        stage.note ? h("pre", { class: "note", tabindex: "0" }, stage.note) : null,
        h("pre", { class: "source", tabindex: "0", "aria-label": `source of ${stage.place}` }, lines)));
      item.style.setProperty("--depth", stage.depth);
      return item;
    })),
  ];
}

/** Another result's plane, and the difference from this one. */
export function besidePanel(view, app) {
  const { beside } = app.data;
  const { doc } = view;
  const theirs = heldArray(doc, beside.array, doc.result);
  const flags = beside.differs === undefined ? null : heldArray(doc, beside.differs, doc.result);
  const ours = view.arrays[doc.result];
  if (!ours) return [h("p", {}, "The comparison is with the original call: choose its arguments again to see it.")];
  const plane = (array, r, q) => array.get(view.cell(doc.result, r, q, app.state));
  const other = doc.result === "filter" ? [theirs.indices(0), theirs.indices(1)] : [theirs.indices(1), theirs.indices(2)];
  const drawn = view.drawn(doc.result).map((list, axis) => [...new Set([...inside(list), ...other[axis]])].sort((a, b) => a - b).map((i) => [i, ""]));
  const difference = (r, q) => {
    const [a, b] = [plane(ours, r, q), plane(theirs, r, q)];
    return a === undefined || b === undefined ? undefined : b - a;
  };
  const differs = (r, q) => {
    if (flags) return Boolean(plane(flags, r, q));
    const [a, b] = [plane(ours, r, q), plane(theirs, r, q)];
    return a === undefined || b === undefined || !same(a, b);
  };
  const bad = drawn[0].flatMap(([r]) => drawn[1].map(([q]) => [r, q])).filter(([r, q]) => differs(r, q)).map(([r, q]) => [r, q, "differs"]);
  const current = [app.state.row, app.state.col, "current"];
  const point = (r, q, how) => app.select(r, q, how);
  const three = 96 / (drawn[1].length || 1) - 1; // pixels of a cell if the three planes stand in a row
  const most = three >= 19 ? three : undefined;
  const verdict = beside.passed ? `Equal${doc.quantized ? "" : " within the error bound"} in every cell ${beside.diagnosis ? "that is shown" : "of the whole result"}.` : `Different in ${plural(bad.length, "cell")} of this plane.`;
  return [
    h("p", { class: beside.passed ? "equal" : "differs" }, `${beside.passed ? "✓" : "✗"} ${verdict}`),
    beside.diagnosis ? h("p", { class: "diagnosis" }, beside.diagnosis) : null,
    beside.call ? h("p", {}, h("code", {}, beside.call.code)) : null,
    h("div", { class: "strip" },
      app.small("this call", drawn, (r, q) => plane(ours, r, q), [current], point, most),
      app.small(beside.label, drawn, (r, q) => plane(theirs, r, q), [...bad, current], point, most),
      app.small("the other − this", drawn, difference, [...bad, current], point, most)),
    app.other ? h("p", {}, "On the input above, the dashed frame is the other call's window for the same cell.") : null,
  ];
}

/** The rows and columns of one side, with those that only another call reads. */
export function drawnBeside(view, other, side) {
  const ours = view.drawn(side);
  if (other.kind !== view.kind) return ours;
  return other.drawn(side).map((theirs, axis) => {
    const known = new Set(ours[axis].map(([i]) => i));
    const more = theirs.filter(([i]) => !known.has(i)).map(([i]) => [i, "beyond"]);
    return [...ours[axis], ...more].sort(([a], [b]) => a - b);
  });
}

/** The other call's window for the same cell, as marks. */
export function otherWindow(other, view, cell) {
  if (other.kind !== view.kind) return [];
  try {
    return other.taps(cell).list.map((tap) => [tap.source[1], tap.source[2], "other"]);
  } catch {
    return []; // the other call has no such channel
  }
}
