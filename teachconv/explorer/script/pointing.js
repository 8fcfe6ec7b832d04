// The place that is selected: what it marks on the three grids, and what is said about it.

import { feedPanel, sumPanel, usePanel } from "./sum_panels.js";
import { otherWindow } from "./panels.js";
import { placeOf } from "./view.js";

/**
 * What an app shows of its selected place: marks and frames by grid, the panel, and the taps of a sum.
 * @returns {any}
 */
export function pointed(app) {
  const { view, doc, state } = app;
  if (!state.focus) return resultPlace(app);
  const { grid, row, col } = state.focus;
  const cell = view.cell(doc[grid], row, col, state);
  return grid === "source" ? sourcePlace(app, cell) : operandPlace(app, cell);
}

const places = (app, name, taps, mark) => taps.map((tap) => [...placeOf(app.doc[name], tap[name]), mark]);

/** A cell of the result: its window, and the weights that it uses. */
function resultPlace(app) {
  const { view, state } = app;
  const cell = app.cell();
  const panel = sumPanel(view, cell, app);
  const marks = {
    source: places(app, "source", panel.list, "window"),
    operand: places(app, "operand", panel.list.filter((tap) => !tap.outside), "window"),
    result: [[state.row, state.col, "current"]],
  };
  const frames = { source: marks.source };
  if (app.other) marks.source = [...marks.source, ...otherWindow(app.other, view, cell)];
  return { marks, frames, ...panel };
}

/** A cell of the source: the weights that it meets, and the cells that it feeds. */
function sourcePlace(app, cell) {
  const taps = app.view.feeds(cell);
  const { row, col } = app.state.focus;
  const marks = { source: [[row, col, "current"]], operand: places(app, "operand", taps, "met"), result: fedMarks(app, taps) };
  return { marks, frames: { result: marks.result }, ...feedPanel(app.view, cell, app), list: null };
}

/** The cells of the result that products are added to, as marks. */
export const fedMarks = (app, taps) => places(app, "result", taps, "fed");

/** A weight: the cells of the source that it meets, and those of the result that its products are added to. */
function operandPlace(app, cell) {
  const taps = app.view.uses(cell);
  const { row, col } = app.state.focus;
  const marks = { source: places(app, "source", taps, "met"), operand: [[row, col, "current"]], result: places(app, "result", taps, "fed") };
  return { marks, frames: { source: marks.source }, ...usePanel(app.view, cell, app), list: null };
}
