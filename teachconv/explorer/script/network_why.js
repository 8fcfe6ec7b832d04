// Why a network answers as it does: the products for one class and against another, the ways back, and what would change it.

import { ranked } from "./network_numbers.js";

const KEEP = [3, 2, 2, 1]; // lines from the answer, and from each cell that they come from
const THIN = 0.004; // share of a line beside a stronger one that is not drawn
const LEVELS = 16; // steps between the ends of an input cell's values, all of which are tried
const PATIENCE = 30_000; // milliseconds of trying; of a network that takes longer only the two ends are tried
const PAUSE = 30; // milliseconds of trying before the page may draw

/** Whether the answer is a sum whose products say why. */
export function explains({ columns, answer }) {
  const column = columns[answer];
  return column !== undefined && ["convolution", "average pool"].includes(column.kind) && column.then.every(({ kind }) => ["softmax", "sigmoid"].includes(kind));
}

const positivePile = (list, bias) => list.reduce((sum, { product }) => sum + Math.max(0, product), Math.max(0, bias)) || 1;

/**
 * The difference of the sums of two classes as products, and the strongest ways back from it.
 * @param {number | null} asked the class to compare with; null for the highest other one
 */
export function explained(network, values, win, asked) {
  const { answer } = network;
  const scores = values[answer];
  const rival = asked === null || asked === win ? ranked(scores).find((c) => c !== win) : asked;
  const [mine, other] = [win, rival].map((c) => network.taps([answer, 0, 0, c], values));
  const differing = network.columns[answer].filters
    ? mine.list.map((tap, i) => ({ ...tap, weight: tap.weight - other.list[i].weight }))
    : [...mine.list, ...other.list.map((tap) => ({ ...tap, weight: -tap.weight }))]; // means of two maps
  const list = differing.map((tap) => ({ ...tap, product: tap.value * tap.weight }));
  const bias = (mine.bias ?? 0) - (other.bias ?? 0);
  const positive = positivePile(list, bias);
  const lines = waysInto(network, values, [answer, 0, 0, win], list, positive, 1, 0);
  for (const line of lines.filter(({ to }) => to[0] === answer)) {
    line.origin = originOf(network, values, line.from);
    if (network.isLarge) { // the model ran again as the page was made
      if (win === ranked(scores)[0] && rival === ranked(scores)[1]) [line.instead, line.without] = network.data.without[line.from] ?? [];
      continue;
    }
    const without = network.forward(values[0], line.origin);
    line.instead = without[line.from[0]][network.position(line.from)];
    line.without = without[answer][win] - without[answer][rival];
  }
  return { win, rival, margin: scores[win] - scores[rival], lines, list, bias, positive };
}

/** The strongest lines into a cell, and those into the cells that they come from: at least one all the way to the input. A pool passes one cell on. */
function waysInto(network, values, to, list, positive, wide, depth) {
  const thin = network.isLarge ? 0 : THIN; // there the page has chosen the cells
  const strong = list.filter(({ product, outside }) => product > 0 && !outside).sort((a, b) => b.product - a.product);
  return strong.slice(0, KEEP[Math.min(depth, KEEP.length - 1)]).flatMap((tap, i) => {
    const share = (wide * tap.product) / positive;
    return i && share < thin ? [] : [{ ...tap, from: tap.source, to, share }, ...waysBehind(network, values, tap.source, share, depth)];
  });
}

function waysBehind(network, values, cell, share, depth) {
  const column = network.columns[cell[0]];
  if (!cell[0] || column.kind === "box" || !network.canSum(cell)) return [];
  const { list, bias } = network.taps(cell, values);
  const only = network.evaluated(cell, values).winner ?? (list.length === 1 && !column.filters ? list[0] : null);
  if (!only) return waysInto(network, values, cell, list, positivePile(list, bias ?? 0), share, depth + 1);
  return [{ ...only, from: only.source, to: cell, share }, ...waysBehind(network, values, only.source, share, depth)];
}

/** The cell that a cell passes on: of a pool the one that won. */
function originOf(network, values, cell) {
  const winner = cell[0] && network.canSum(cell) ? network.evaluated(cell, values).winner : null;
  return winner?.source ? originOf(network, values, winner.source) : cell;
}

/**
 * The least change of one input cell with which another class wins, found by trying all of them from the smallest; if none does, the one that leaves
 * the winner least ahead. `says` is the class that wins then, or comes next, and `ahead` how far the winner is ahead of it.
 * @param {(tried: number, all: number) => boolean} goOn told from time to time; whether to go on
 */
export async function leastChange(network, input, [, least, most], goOn) {
  const [low, high] = [Math.min(0, least), most || 1];
  const [win] = ranked(network.forward(input)[network.answer]);
  let start = performance.now();
  network.forward(input); // the first one is slower
  const levels = (performance.now() - start) * input.length * LEVELS > PATIENCE ? 1 : LEVELS;
  const tries = [];
  for (let i = 0; i < input.length; i++) {
    for (let n = 0; n <= levels; n++) tries.push([i, network.rounded(low + ((high - low) * n) / levels)]);
  }
  const size = ([i, to]) => Math.abs(to - input[i]);
  const changes = tries.filter((one) => size(one) > 0).sort((a, b) => size(a) - size(b));
  let nearest = null;
  start = performance.now();
  for (const [n, [i, to]] of changes.entries()) {
    const changed = input.slice();
    changed[i] = to;
    const scores = network.forward(changed)[network.answer];
    const says = ranked(scores).find((c) => c !== win);
    const ahead = scores[win] - scores[says];
    const flips = ranked(scores)[0] !== win;
    if (flips || !nearest || ahead < nearest.ahead) nearest = { cell: network.cellAt(0, i), to, was: input[i], says, ahead, flips, win, tries: changes.length, input, changed };
    if (flips) return nearest;
    if (performance.now() - start < PAUSE) continue;
    if (!goOn(n, changes.length)) return null;
    await new Promise((done) => { setTimeout(done); });
    start = performance.now();
  }
  return nearest;
}
