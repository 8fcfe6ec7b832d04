// The keys of the whole page.

import { present } from "./present.js";

/** What a key does outside the fields and the grids: it goes through the tour, pauses, fills the page, or goes on from the mouse. */
export function pressed(app, event) {
  if (app.quiz.on && event.key === "Escape") app.quiz.end();
  if (app.quiz.on || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const everywhere = event.key === " " || (["f", "Escape", "PageUp", "PageDown"].includes(event.key) && !event.target.closest?.("input, select, textarea"));
  if (!everywhere && event.target.closest?.("input, select, textarea, button, summary, .scroll, [role=grid]")) return;
  const typing = event.target.closest?.("input:not([type=range]), textarea, select, button, summary");
  if (event.key === " " && !typing) {
    if (app.player.on && !app.player.opening) app.player.pause();
    else app.tour.next();
    event.preventDefault();
  } else if (event.key === "f" && !typing) {
    present(app, app.presenting ? null : "present");
  } else if (event.key === "Escape" && app.presenting && app.tour.now === null) {
    present(app, null);
  } else if ((app.tour.now !== null && ["ArrowLeft", "ArrowRight", "Escape"].includes(event.key)) || (app.presenting && event.key.startsWith("Page"))) {
    const now = app.tour.now ?? -1; // a clicker presses PageUp and PageDown
    app.tour.go({ ArrowLeft: now - 1, PageUp: now - 1, ArrowRight: now + 1, PageDown: now + 1 }[event.key] ?? -1);
    event.preventDefault();
  } else if (event.key.startsWith("Arrow") && app.pinned) { // the mouse is over a cell: the keys go on from there
    const grid = app.grids[app.state.focus?.grid ?? "result"];
    grid.box.focus({ preventScroll: true });
    grid.key(event);
  }
}
