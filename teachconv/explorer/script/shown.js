// What a reader sees of a call besides its arguments, in words: channels, the place pointed at, the tap, what is open.

import { several } from "./parts.js";

/** The words of the page's own modes; those of sections are their names, with a minus if one that opens by itself is closed. */
const MODES = {
  stamp: (app) => app.stamp,
  colours: (app) => app.root.classList.contains("colours"),
  all: (app) => app.allChannels,
};
const SECTION = /^-?[a-z]+$/;

/** What an app shows: null and [] where it is what every page of this call begins with. */
export function shownIn(app) {
  const { state, player, sections, doc } = app;
  const modes = Object.keys(MODES).filter((name) => MODES[name](app));
  const opened = sections.filter(({ element, usual }) => element.open !== usual).map(({ element, usual }) => (usual ? "-" : "") + element.dataset.section);
  return {
    at: app.view.isCropped(app.cell()) ? null : [state.row, state.col],
    channels: (several(app.view) || doc.rank === 3) && (state.c || state.o) ? [state.c, state.o] : null,
    on: state.focus ? [state.focus.grid === "source" ? "x" : "w", state.focus.row, state.focus.col] : null,
    tap: player.on || app.tour.now !== null ? null : player.tap,
    view: app.presenting,
    step: app.tour.now === null ? null : app.tour.now + 1,
    quiz: app.quiz.on ? [app.quiz.seed, app.quiz.level, app.quiz.score] : null,
    modes: [...modes, ...opened],
  };
}

/** Show that again, as far as this call has it. */
export function showAgain(app, { channels, on, tap, modes, step, quiz }) {
  app.quiet = true;
  const { root, doc, view, state } = app;
  if (channels && view.insOf(channels[1]).some(([c, , outside]) => c === channels[0] && !outside)) {
    [state.c, state.o] = channels;
  }
  if (modes.includes("all")) app.allRows = app.allChannels = true;
  root.classList.toggle("colours", modes.includes("colours"));
  if (modes.includes("stamp") !== app.stamp) root.querySelector(".stamp")?.click();
  for (const { element } of app.sections) {
    const name = element.dataset.section;
    if (modes.includes(name) || modes.includes(`-${name}`)) element.open = modes.includes(name);
  }
  app.drawStage();
  if (on && !doc.empty) app.follow(on[0] === "x" ? "source" : "operand", on[1], on[2]);
  if (tap !== null && tap < app.player.taps.length - 1) app.player.showTap(tap);
  if (on || tap !== null) app.player.stay();
  if (step) app.tour.go(step - 1);
  if (quiz) app.quiz.begin(...quiz);
  app.quiet = false;
  app.tellHost();
}

/** The place pointed at of a text such as "x,0,1"; null if it is none. */
export function placeOn(text) {
  const [side, ...numbers] = text.split(",");
  return ["x", "w"].includes(side) && numbers.length === 2 && numbers.every((part) => /^-?\d+$/.test(part)) ? [side, ...numbers.map(Number)] : null;
}

/** The modes of a text such as "stamp,matrix"; null if it has anything else. */
export function modesOf(text) {
  const words = text.split(",").filter(Boolean);
  return words.every((word) => SECTION.test(word)) ? words : null;
}
