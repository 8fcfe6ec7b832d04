// Motion: the window slides from cell to cell, and the products of each appear tap by tap.

import { full } from "./numbers.js";

/** Milliseconds that a tap and a whole cell stay; without time for a tap, whole cells are shown. */
export const SPEEDS = { slow: { tap: 800, cell: 1800 }, normal: { tap: 350, cell: 900 }, fast: { tap: 0, cell: 250 } };
const MOST_TAPS = 40; // of a cell that is shown tap by tap

/** Plays an app: its timer, its speed, and which tap is shown. */
export class Player {
  constructor(app) {
    this.app = app;
    this.speed = "normal";
    this.timer = 0;
    this.tap = null; // the last tap that is shown; null for all of them
    this.rounds = 0; // how many cells are still to be shown before the opening ends
    this.opening = false; // playing since the page was opened, until the reader does something
  }

  /** The taps of the cell that is shown. */
  get taps() {
    return this.app.state.focus || !this.app.shown ? [] : this.app.shown.list;
  }

  get on() {
    return this.timer !== 0;
  }

  play(on) {
    clearTimeout(this.timer);
    this.timer = 0;
    this.tap = null;
    if (on) this.begin();
    this.app.playing(on);
  }

  /** Show the first tap of the current cell. */
  begin() {
    const { length } = this.taps;
    this.tap = SPEEDS[this.speed].tap && length > 1 && length <= MOST_TAPS ? 0 : null;
    this.wait();
  }

  wait() {
    const { tap, cell } = SPEEDS[this.speed];
    this.timer = setTimeout(() => this.tick(), this.tap === null ? cell : tap);
  }

  tick() {
    if (this.tap !== null) {
      this.nextTap();
      this.wait();
    } else if (this.opening && !(this.rounds -= 1)) { // every cell was shown
      this.play(false);
    } else {
      this.app.step(1);
      this.begin();
      this.show();
    }
  }

  /** One tap more; after the last one, all of them are shown. */
  nextTap() {
    const next = this.tap === null ? 0 : this.tap + 1;
    this.tap = next < this.taps.length ? next : null;
    this.show();
  }

  /** Show the taps of the cell up to the last one that is to be seen. */
  show() {
    this.showAhead();
    const { app, tap: last } = this;
    if (!this.taps.length) return;
    for (const element of app.sum.querySelectorAll("[data-tap]")) {
      element.classList.toggle("later", last !== null && Number(element.dataset.tap) > last);
    }
    const running = last === null ? undefined : this.taps[last].running;
    app.sum.querySelector("output").textContent = last === null ? app.shown.text : running === undefined ? "?" : full(running);
    app.light(last === null ? null : this.taps[last]);
  }

  /** Hide the cells of the result that are still to come while the explorer plays. */
  showAhead() {
    const { app } = this;
    const now = this.on && !app.state.focus ? app.atCell() - (this.tap === null ? 0 : 0.5) : app.cells.length; // a half: not yet summed
    for (const [i, [row, col]] of app.cells.entries()) {
      app.grids.result.cells.get(`${row},${col}`)?.element.classList.toggle("ahead", i > now);
    }
  }

  /** Begin to move once the page is in view, unless reduced motion is asked for; the reader's first act ends it. */
  open(root, stage) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const view = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      view.disconnect();
      this.opening = true;
      this.rounds = this.app.cells.length;
      this.play(true);
    }, { threshold: 0.2 });
    view.observe(stage);
    const act = (event) => {
      view.disconnect();
      const toggles = event.target.closest?.(".play") || event.key === " ";
      if (this.opening && !toggles) this.play(false);
      this.opening = false;
    };
    for (const type of ["pointerdown", "keydown"]) root.ownerDocument.addEventListener(type, act, { once: true, capture: true });
  }
}
