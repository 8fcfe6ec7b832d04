// The maps of a network on one canvas: a column for each layer, or on a narrow page a row; where each cell is, and its colour.

import { signColours } from "./channels.js";
import { emsOf, plural } from "./elements.js";
import { short } from "./numbers.js";
import { chances, ranked } from "./network_numbers.js";
import { range } from "./python.js";

const TOP = 58; // pixels of the titles
const WIDE_SIDES = { between: 26, bars: 190 }; // pixels between two columns, and of the answer
const NOTE = 32; // pixels of what stands below the answer of a pad
const TIGHT_SIDES = { between: 10, bars: 146 }; // the same, tight
export const TIGHT = 860; // pixels of a width with less room
export const PAD_CAPTION = 22; // pixels
const TITLES = [96, 60, 48, 40]; // the most pixels of a title: the first with which all fits
const LETTERS = { name: 13, note: 12, narrow: 11 }; // pixels of its letters, as network.css has them
const [READABLE, SCROLLED] = [36, 64]; // pixels of a map that shows its cells, and of one where a page scrolls
const [GAP, LARGEST, SMALLEST, VECTOR] = [6, 84, 16, 18]; // pixels between maps; of a map; of a cell of a vector
const CLASSES = 12; // bars of an answer; of more classes the highest ones are shown
const RING = 2; // pixels of a ring around a cell at the edge
const BEFORE = 6; // pixels from the end of a line to the class that it leads to
const SHOWN = [64, 32, 16, 8, 4]; // maps of a column: the first number that fits is used
const PHOTO = 300; // cells of an input that is drawn as an image, black to white
const MOST_NUMBERS = 256; // of a vector that are shown
const TWO_DIGITS = 28; // pixels of a cell that has two digits of its number
const SHARP = 2; // the most pixels of the canvas to one of the page: a phone's third one would cost twice the time to paint
const LEVEL = 255; // steps of a colour
const [NUMBERED, LEAST_NUMBERED] = [22, 18]; // pixels of a cell that has its number, and of one of the input

const NOWHERE = { maps: new Map(), cell: 0, at: 0, end: 0, left: 0, image: null }; // of a column within a closed block

const isVector = ({ rows, cols }) => rows * cols === 1;
/** How many maps a page has of a column. */
const mapsOf = ({ thumbs, channels }) => thumbs?.length ?? channels;

/** Where the maps of a network are, and their painting. */
export class Plane {
  constructor(network, scales) {
    this.network = network;
    this.scales = scales; // the largest size of each column's numbers
    this.canvas = /** @type {HTMLCanvasElement} */ (document.createElement("canvas"));
    this.wide = true;
    this.hasChances = false; // whether softmax takes the scores
    this.inked = false; // whether the input has no number below zero
    this.unit = 1; // what an input's number is multiplied by where it is written
    this.colours = null; // those of the theme, until it or the layout changes; then all is painted again
    this.tints = []; // of the input and of the layers, the pixels for all sizes of a number
    this.painted = []; // the numbers of each column that are painted
    this.title = TITLES[0];
    this.needed = []; // of each column the pixels of its title
    this.places = []; // of each column: its maps, the side of a cell, and where it begins
  }

  /**
   * Place all maps in a width and a height.
   * @param {number} width
   * @param {number} height
   * @param {boolean} wide whether columns are side by side
   * @param {{width: number, height: number}} pad what stands before the maps
   */
  layout(width, height, wide, pad) {
    const { columns, answer } = this.network;
    Object.assign(this, { wide, pad });
    const [input] = columns;
    const inner = columns.map((_, k) => k).filter((k) => k && k !== answer && !this.network.isHidden(k));
    const room = wide ? height - TOP : width - 2 * RING;
    const left = wide ? Math.max(pad.width, 1) : 0;
    const side = this.inputSide(input, room, height, wide, pad);
    const first = Math.max(wide ? left : pad.height, side) + 4;
    const { between, bars } = !wide ? { between: 24, bars: pad.height ? 64 + NOTE / 2 : 64 } : width < TIGHT || this.network.isLarge ? TIGHT_SIDES : WIDE_SIDES;
    const ends = answer === null ? 0 : bars;
    const free = (wide ? width : height) - first - ends - (inner.length + (answer === null ? 0 : 1)) * between - (wide || pad.height ? 0 : PAD_CAPTION);
    [this.title] = TITLES;
    this.needed = columns.map((_, k) => Math.max(...this.lines(k).map((line, i) => this.lineWidth(line, !i))));
    const [one, most] = this.fitted(inner, room, free, wide);
    this.places = [];
    this.places[0] = this.placeInput(input, side, wide, pad, width);
    const used = inner.reduce((sum, k) => sum + this.extent(k, one, most, room, wide), 0);
    const air = wide ? between + Math.max(0, Math.min(40, (free - used) / (inner.length + 1))) : between;
    let at = (wide ? first : first + (pad.height ? 0 : PAD_CAPTION)) + air;
    for (const k of columns.keys()) {
      if (!k) continue;
      if (this.network.isHidden(k)) {
        this.places[k] = NOWHERE;
        continue;
      }
      if (k === answer) {
        this.places[k] = this.placeBars(at, pad.height ? room - NOTE : room, wide, width, bars);
        at += ends + air;
        continue;
      }
      this.places[k] = this.placeMaps(k, one, most, room, wide, at);
      at = this.places[k].end + air;
    }
    this.size = wide ? { width: Math.max(width, at - air), height } : { width, height: at - air + 4 };
    const ratio = Math.min(SHARP, devicePixelRatio);
    Object.assign(this.canvas, { width: Math.round(this.size.width * ratio), height: Math.round(this.size.height * ratio) });
    this.colours = null;
    Object.assign(this.canvas.style, { width: `${this.size.width}px`, height: `${this.size.height}px` });
  }

  /** The longer side of a map of the input. */
  inputSide({ channels, rows, cols }, room, height, wide, pad) {
    if (rows * cols === 1) return VECTOR;
    if (!wide) return Math.min(128, height * 0.2, room / channels - GAP);
    const free = pad.height ? height - TOP - pad.height : room / channels - GAP;
    return Math.max(40, Math.min(pad.width || (this.network.isLarge ? 128 : 208), free));
  }

  /** The side of a map, and how many of a column are shown, with which all columns fit; their titles may be cut for that. */
  fitted(inner, room, free, wide) {
    const columns = inner.map((k) => this.network.columns[k]);
    for (this.title of TITLES) {
      for (const most of SHOWN) {
        for (let one = LARGEST; one >= SMALLEST; one -= 2) {
          const used = inner.reduce((sum, k) => sum + this.extent(k, one, most, room, wide), 0);
          if (used <= free && (one >= READABLE || columns.every((column) => mapsOf(column) <= most))) return [one, most];
        }
      }
    }
    this.title = TITLES.at(-2);
    return [SCROLLED, Math.max(1, Math.floor(room / (SCROLLED + GAP)))]; // one line of maps a column, and the page scrolls
  }

  /** The sides of a map, and how many of them stand beside each other across the flow. */
  sides(column, one, most, room, wide) {
    const cell = isVector(column) ? Math.min(VECTOR, one) : one / Math.max(column.rows, column.cols);
    const gap = isVector(column) ? 1 : wide ? GAP : 4;
    const [width, height] = [column.cols * cell, column.rows * cell];
    const [along, across] = wide ? [width, height] : [height, width];
    const count = Math.min(mapsOf(column), isVector(column) ? MOST_NUMBERS / (this.isNarrow ? 2 : 1) : most);
    const lines = Math.ceil(count / Math.max(1, Math.floor((room + gap) / (across + gap))));
    return { cell, gap, width, height, count, lines, along: along + gap, across: across + gap, line: Math.ceil(count / lines) };
  }

  /** The channels of a column that are shown: all, or those whose numbers were largest as the page was made. */
  shownOf(column, most) {
    if (column.channels <= most) return range(0, column.channels);
    const sizes = column.thumbs ?? column.strongest ?? range(0, column.channels);
    return sizes.slice(0, most).sort((a, b) => a - b);
  }

  /** Whether titles are written small, so that all columns fit. */
  get isNarrow() {
    return this.title === TITLES.at(-1);
  }

  /** The lines above a column, its name first; a closed block stands for all its layers. */
  lines(k) {
    const { name, note } = this.network.columns[k];
    const block = this.network.closed.has(k) ? this.network.blockOf(k) : null;
    return block ? [block.name || name, plural(k - block.before, "layer")] : [name, ...note];
  }

  /** The width of a line of a title. */
  lineWidth(line, isName) {
    return emsOf(line) * (this.isNarrow ? LETTERS.narrow : LETTERS[isName ? "name" : "note"]);
  }

  extent(k, one, most, room, wide) {
    const { along, gap, lines } = this.sides(this.network.columns[k], one, most, room, wide);
    return Math.max(lines * along - gap, wide ? Math.min(this.title, this.needed[k]) : 0);
  }

  placeMaps(k, one, most, room, wide, at) {
    const column = this.network.columns[k];
    const { cell, width, height, along, across, line, count } = this.sides(column, one, most, room, wide);
    const shown = this.shownOf(column, count);
    const maps = new Map(shown.map((channel, i) => {
      const [main, cross] = [at + Math.floor(i / line) * along, (i % line) * across];
      return [channel, wide ? { x: main, y: TOP + cross } : { x: cross + RING, y: main }];
    }));
    return { maps, cell, width, height, at, end: at + this.extent(k, one, most, room, wide), left: column.channels - shown.length };
  }

  placeInput({ channels, rows, cols }, side, wide, pad, width) {
    const cell = side / Math.max(rows, cols);
    const [across, down] = [cols * cell, rows * cell];
    const y = wide ? TOP + (pad.height && pad.height - 8) : PAD_CAPTION;
    const step = wide ? { x: 0, y: down + GAP } : { x: across + 4, y: 0 };
    const x = wide ? 2 + Math.max(0, (pad.width - across) / 2) : pad.width ? Math.min(width - across - cell - 4, 2 * pad.width) : 2; // windows reach a cell beyond it
    const maps = new Map(range(0, channels).map((c) => [c, { x: x + c * step.x, y: y + c * step.y }]));
    return { maps, cell, width: across, height: down, at: wide ? x : y, end: x + across, top: y, left: 0 };
  }

  placeBars(at, room, wide, width, bars) {
    const count = Math.min(CLASSES, this.network.columns[this.network.answer].channels);
    const cell = wide ? Math.min(64, (room - GAP) / count) : width / count;
    return { bars: true, maps: new Map(), cell, at, below: 14 + (wide ? TOP + count * cell : at + 60), end: at + bars, count, width: wide ? bars : cell, height: wide ? cell : 60, left: 0 };
  }

  /** The classes whose bars are shown, in their order; the places of the bars follow. */
  classes(scores) {
    const place = this.places[this.network.answer];
    const shown = ranked(scores).slice(0, place.count).sort((a, b) => a - b);
    place.maps = new Map(shown.map((c, i) => [c, this.wide ? { x: place.at, y: TOP + i * place.cell } : { x: i * place.cell, y: place.at }]));
    return shown;
  }

  /** The cell at a point, or null. */
  hit(x, y) {
    for (const [k, { maps, cell, width, height, bars }] of this.places.entries()) {
      for (const [channel, at] of maps) {
        if (x < at.x || y < at.y || x >= at.x + width || y >= at.y + height) continue;
        return bars ? [k, 0, 0, channel] : [k, Math.floor((y - at.y) / cell), Math.floor((x - at.x) / cell), channel];
      }
    }
    return null;
  }

  /**
   * The middle of a cell; null if its map is not shown.
   * @param {number[]} place
   */
  middle(place) {
    const [k, row, col, channel] = place;
    const { maps, cell, bars, width } = this.places[k];
    const at = maps.get(channel);
    if (!at) return null;
    if (bars) return this.wide ? [at.x - BEFORE, at.y + cell / 2] : [at.x + width / 2, at.y - BEFORE]; // a line's round end is beside the class
    return [at.x + (col + 0.5) * cell, at.y + (row + 0.5) * cell];
  }

  /** Paint the maps that have changed, and the answer; `isBlank`: there is nothing to answer to. */
  paint(values, isBlank) {
    const pen = this.canvas.getContext("2d");
    const ratio = Math.min(SHARP, devicePixelRatio);
    if (!this.colours) this.clear(pen, ratio);
    const [above, , , , ink, paper, mark] = this.colours;
    for (const [k, place] of this.places.entries()) {
      if (!place.maps.size || place.bars || this.painted[k] === values[k]) continue;
      this.painted[k] = values[k];
      place.image ??= this.framed(place, this.network.columns[k], ratio);
      const isNumbered = place.cell >= (k ? NUMBERED : LEAST_NUMBERED);
      if (!this.fill(k, values[k]) && !isNumbered) continue;
      pen.putImageData(place.image, place.image.left, place.image.top);
      if (isNumbered) this.number(pen, k, values[k], ink, paper);
    }
    if (this.network.answer !== null) this.paintBars(pen, values[this.network.answer], isBlank, above, mark);
  }

  /** Begin anew, in the theme's colours. */
  clear(pen, ratio) {
    this.colours = signColours(this.canvas, ["above", "below", "line", "soft", "ink", "paper", "mark"]); // each asks for the page's style
    const [above, below, , soft, ink] = this.colours;
    const { rows, cols } = this.network.columns[0];
    const isPhoto = this.inked && rows * cols > PHOTO;
    this.tints = [isPhoto ? tints("rgb(17, 17, 17)", "rgb(255, 255, 255)", below) : tints(soft, this.inked ? ink : above, below), tints(soft, above, below)];
    this.painted = [];
    for (const place of this.places) place.image = null;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.size.width, this.size.height);
  }

  /**
   * The pixels of a column: the edges of its maps, which `fill` fills, and of the maps of each line where their cells begin. The browser copies them; images drawn larger
   * would be worked out as it shows the page.
   */
  framed({ maps, width, height }, { rows, cols }, ratio) {
    const pixel = (at) => Math.round(at * ratio);
    const [line] = tints(this.colours[2], this.colours[2]);
    const places = [...maps.values()];
    const [[left, right], [top, bottom]] = [["x", width], ["y", height]].map(([axis, side]) => [pixel(Math.min(...places.map(({ [axis]: at }) => at)) - 1), pixel(Math.max(...places.map(({ [axis]: at }) => at)) + side + 1)]);
    const image = new ImageData(right - left, bottom - top);
    const pixels = new Uint32Array(image.data.buffer);
    const edges = (first, side, count, before) => Array.from({ length: count + 1 }, (_, i) => pixel(first + (side * i) / count) - before);
    for (const { x, y } of places) {
      const [start, end] = [pixel(x - 1) - left, pixel(x + width + 1) - left];
      for (let row = pixel(y - 1) - top; row < pixel(y + height + 1) - top; row++) pixels.fill(line, row * image.width + start, row * image.width + end);
    }
    const lines = [...Map.groupBy(maps, ([, { y }]) => y)].map(([y, line]) => ({ ys: edges(y, height, rows, top), line: line.map(([channel, { x }]) => ({ channel, xs: edges(x, width, cols, left) })) }));
    return Object.assign(image, { left, top, pixels, lines });
  }

  /** Fill the cells whose colour has changed; whether there are any. */
  fill(k, numbers) {
    const { rows, cols, channels } = this.network.columns[k];
    const { width, pixels, lines } = this.places[k].image;
    const colours = this.tints[Math.min(k, 1)];
    const steps = LEVEL / (this.scales[k] || 1);
    let isNew = false;
    for (const { ys, line } of lines) {
      for (let row = 0; row < rows; row++) {
        const start = ys[row] * width; // of the first row of pixels, which the others copy
        let differs = false;
        for (const { channel, xs } of line) {
          for (let col = 0; col < cols; col++) {
            const number = numbers[(row * cols + col) * channels + channel];
            const colour = colours[(number < 0 ? LEVEL + 1 : 0) + Math.min(LEVEL, Math.round(Math.abs(number) * steps))];
            if (pixels[start + xs[col]] === colour) continue;
            pixels.fill(colour, start + xs[col], start + xs[col + 1]);
            differs = true;
          }
        }
        if (!differs) continue;
        isNew = true;
        for (let y = ys[row] + 1; y < ys[row + 1]; y++) pixels.copyWithin(y * width, start, start + width);
      }
    }
    return isNew;
  }

  /** The numbers in cells that are large enough. */
  number(pen, k, numbers, ink, paper) {
    const { cell, maps } = this.places[k];
    const { rows, cols, channels } = this.network.columns[k];
    pen.font = `${Math.min(13, Math.floor(cell * 0.42))}px system-ui, sans-serif`;
    Object.assign(pen, { textAlign: "center", textBaseline: "middle" });
    for (const [channel, at] of maps) {
      for (let place = 0; place < rows * cols; place++) {
        const value = numbers[place * channels + channel] * (k ? 1 : this.unit);
        if (!value) continue;
        pen.fillStyle = !k && this.inked && Math.abs(value / this.unit) > 0.5 * this.scales[0] ? paper : ink;
        const written = Number.isInteger(value) ? short(value) : short(Number(value.toPrecision(cell < TWO_DIGITS ? 1 : 2))).replace(/^(-?)0\./, "$1.");
        pen.fillText(written, at.x + ((place % cols) + 0.5) * cell, at.y + (Math.floor(place / cols) + 0.54) * cell, cell - 6); // within a ring
      }
    }
  }

  paintBars(pen, scores, isBlank, above, mark) {
    const shares = this.shares(scores);
    const [best] = ranked(scores);
    const shown = this.classes(scores);
    const { maps, at, end, cell, count, width } = this.places[this.network.answer];
    const named = Math.max(26, 10 + LETTERS.name * emsOf(String(shown.at(-1)))); // pixels of a class
    if (this.wide) pen.clearRect(at, TOP, end - at, count * cell);
    else pen.clearRect(0, at, this.size.width, end - at);
    for (const c of isBlank ? [] : shown) {
      const { x, y } = maps.get(c);
      pen.fillStyle = c === best ? mark : above;
      if (this.wide) pen.fillRect(x + named, y + cell * 0.22, Math.max(1, (width - named - 102) * shares[c]), cell * 0.56);
      else pen.fillRect(x + 4, y + 58 - Math.max(1, 36 * shares[c]), width - 8, Math.max(1, 36 * shares[c]));
    }
  }

  /** The lengths of the bars: chances, or of scores that no softmax takes their own size. */
  shares(scores) {
    if (this.hasChances) return chances(scores);
    const most = Math.max(...scores.map(Math.abs)) || 1;
    return [...scores].map((score) => Math.max(0, score) / most);
  }
}

/** Red, green and blue of a colour as the browser writes it. */
const redGreenBlue = (colour) => (colour.startsWith("color(srgb") ? colour.match(/[\d.]+/g).slice(0, 3).map((part) => 255 * Number(part)) : colour.match(/[\d.]+/g).slice(0, 3).map(Number));

/** Pixels from a ground to the colour of numbers above zero, then of those from it to the colour of numbers below. */
function tints(...colours) {
  const [ground, ...ends] = colours.map(redGreenBlue);
  const parts = ends.flatMap((end) => Array.from({ length: LEVEL + 1 }, (_, n) => [...ground.map((part, c) => part + ((end[c] - part) * n) / LEVEL), 255]));
  return new Uint32Array(Uint8ClampedArray.from(parts.flat()).buffer);
}
