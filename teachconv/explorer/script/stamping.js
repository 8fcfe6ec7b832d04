// The transposed convolution as stamping: each cell of the input stamps the filter, times its value, on the output.

import { h } from "./elements.js";
import { Sums, WORK, work } from "./transposed_panels.js";

/** The result after the cells of the source that were stamped: all channels of each of them. */
function stamped(view, state, cells) {
  const sums = new Sums(view, state.c);
  for (const [row, col] of cells) {
    for (const [o] of view.outsOf(state.c)) {
      for (const { result, value, weight } of view.feeds([state.n, row, col, o])) {
        if (result[3] === state.c) sums.add(result[1], result[2], value, weight);
      }
    }
  }
  return sums;
}

/** Write the result as far as it is stamped, or whole again. */
export function drawStamps(app) {
  const { result } = app.grids;
  const partly = app.stamp && app.state.focus?.grid === "source";
  if (!partly && !result.whole) return;
  result.whole ??= result.content;
  const { whole } = result;
  if (partly) {
    const sums = stamped(app.view, app.state, app.cells.slice(0, app.atCell() + 1));
    result.content = (row, col, kind) => (kind === "cut" ? {} : { value: sums.get(row, col) });
  } else {
    result.content = whole;
    result.whole = null;
  }
  result.fill();
}

/** The button between gathering, cell by cell of the output, and stamping, cell by cell of the input. */
export function stampButton(app) {
  if (app.doc.kind !== "conv2d_backprop_input" || app.doc.empty || work(app.view, app.state) > WORK) return null;
  const say = () => {
    button.textContent = app.stamp ? "⇄ gather" : "⇄ stamp";
    button.title = app.stamp ? "Each input cell stamps the filter on the output. Press to gather the products of each output cell." : "Each output cell gathers its products. Press to let each input cell stamp the filter on the output.";
  };
  const button = h("button", { type: "button", class: "stamp", "aria-pressed": String(app.stamp), onclick: () => {
    app.stamp = !app.stamp;
    button.setAttribute("aria-pressed", String(app.stamp));
    say();
    app.state.focus = app.pinned = null;
    app.tellHost(true);
    app.drawStage();
    if (app.stamp) app.goTo(0);
  } });
  say();
  return button;
}
