// Motion: the window slides from cell to cell, and the products of each fly in tap by tap.

import { full } from "./numbers.js";
import { flyFactors, flySum, land, onceSeen } from "./flight.js";

/** Milliseconds that a tap and a whole cell stay; without time for a tap, whole cells are shown. */
export const SPEEDS = { slow: { tap: 900, cell: 1800 }, normal: { tap: 450, cell: 900 }, fast: { tap: 0, cell: 250 } };
const OPENING = { tap: 450, cell: 800 };
const MOST_TAPS = 40; // of a cell that is shown tap by tap

/** Plays an app: its timer, its speed, and which tap is shown. */
export class Player {
  constructor(app) {
    this.app = app;
    this.speed = "normal";
    this.timer = 0;
    this.tap = null; // the last tap that is shown; null for all of them
    this.rounds = 0; // how many cells the opening still shows whole, before one tap by tap ends it
    this.stays = false;
    this.opening = false; // playing since the page was opened, until the reader does something
  }

  /** The taps of the cell that is shown. */
  get taps() {
    return this.app.shown?.list ?? [];
  }

  get on() {
    return this.timer !== 0;
  }

  /** Play, from the tap that is shown; or stop, and show the whole sum. */
  play(on) {
    clearTimeout(this.timer);
    this.timer = 0;
    if (!on) this.tap = null;
    else if (this.tap === null) this.begin();
    else this.wait();
    this.app.playing(on);
  }

  /** Stop at the tap that is shown. */
  pause() {
    if (!this.on) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.app.playing(false);
    this.app.tellHost();
  }

  /** Do not begin to move by itself: the page was opened for what it shows. */
  stay() {
    this.stays = true;
  }

  /** Show the taps up to one. */
  showTap(tap) {
    this.tap = tap;
    this.show();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.app.root.style.setProperty("--pace", `${Math.min(350, SPEEDS[speed].cell / 3)}ms`);
    if (!this.on) return;
    clearTimeout(this.timer);
    this.wait();
  }

  /** Another place is shown: with its whole sum, and nothing in flight. */
  rest() {
    this.tap = null;
    land(this.app);
  }

  /** Show the first tap of the current cell. */
  begin() {
    const { length } = this.taps;
    const whole = this.opening && this.rounds > 0;
    this.tap = !whole && SPEEDS[this.speed].tap && length > 1 && length <= MOST_TAPS ? 0 : null;
    this.wait();
  }

  wait() {
    const { tap, cell } = this.opening ? OPENING : SPEEDS[this.speed];
    this.timer = setTimeout(() => this.tick(), this.tap === null ? cell : this.taps[this.tap]?.outside ? tap / 2 : tap);
  }

  tick() {
    if (this.tap !== null) {
      this.nextTap();
      if (this.opening && this.tap === null) this.endOpening();
      else this.wait();
    } else if (this.opening && (this.rounds -= 1) < 0) { // a cell of too many taps was shown whole
      this.endOpening();
    } else {
      this.app.step(1);
      this.begin();
      this.show(true);
    }
  }

  /** The opening ends. */
  endOpening() {
    this.opening = false;
    this.play(false);
  }

  /** One tap more; after the last one, all of them are shown. */
  nextTap() {
    const next = this.tap === null ? 0 : this.tap + 1;
    const last = this.tap !== null && next >= this.taps.length;
    this.tap = next < this.taps.length ? next : null;
    this.show(true);
    if (!this.on) this.app.tellHost();
    if (last) flySum(this.app, SPEEDS[this.speed].cell * 0.6);
  }

  /** Whether nothing is missing after a tap: the others are in the padding, and no bias, division or rescaling follows. */
  allAdded(tap) {
    const { doc } = this.app;
    return !doc.bias && !doc.quantized && doc.pool?.reduce !== "average" && this.taps.slice(tap + 1).every(({ outside }) => outside);
  }

  /** Show the taps of the cell up to the last one that is to be seen; a new one flies in. */
  show(fresh = false) {
    this.showAhead();
    const { app, tap: last } = this;
    if (!this.taps.length) return;
    for (const element of app.sum.querySelectorAll("[data-tap]")) {
      element.classList.toggle("later", last !== null && Number(element.dataset.tap) > last);
    }
    const running = last === null ? undefined : this.taps[last].running;
    const done = last === null || this.allAdded(last);
    app.sum.querySelector(".is").textContent = done ? "=" : "so far";
    app.sum.querySelector("output").textContent = done ? app.shown.text : running === undefined ? "?" : full(running);
    app.light(last === null ? null : this.taps[last]);
    if (fresh && last !== null) flyFactors(app, this.taps[last], SPEEDS[this.speed].tap * 0.8);
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
    onceSeen(stage, () => {
      if (this.stays) return;
      this.opening = true;
      this.rounds = Math.min(3, this.app.cells.length - 1);
      this.play(true);
    });
    const act = (event) => {
      if (this.opening && !event.target.closest?.(".play")) this.play(false);
      this.opening = false;
    };
    for (const type of ["pointerdown", "keydown"]) root.ownerDocument.addEventListener(type, act, { once: true, capture: true });
  }
}
