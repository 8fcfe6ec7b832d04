// Parts of the page that depend on the data alone.

import { axisOf } from "./axis_tables.js";
import { brief, full } from "./numbers.js";
import { h, plural } from "./elements.js";
import { KINDS, MARKS } from "./grids.js";
import { inside } from "./view.js";

/**
 * A small image of the whole source, with a frame around the part that is shown; a click or the arrow keys move the
 * selected cell there. `show` draws where that is.
 */
export function overview(app) {
  const { doc, view } = app;
  if (!doc.overview) return null;
  const { image, moves } = doc.overview;
  const words = `the whole ${doc.names[doc.source]}; the part shown is framed`;
  const sizes = view.variant.shapes[doc.source].slice(1, 3);
  const frame = h("span", { class: "part" });
  for (const [axis, list] of view.drawn(doc.source).entries()) {
    const shown = inside(list);
    frame.style[axis ? "left" : "top"] = `${(100 * shown[0]) / sizes[axis]}%`;
    frame.style[axis ? "width" : "height"] = `${(100 * (shown.at(-1) + 1 - shown[0])) / sizes[axis]}%`;
  }
  const picture = h("img", { src: image, alt: words });
  if (!moves) return { element: h("div", { class: "overview" }, picture, frame), show: () => {}, why: "Each weight meets the whole image: no window moves over it, so there is no lens." };
  const why = doc.quantized ? "Of a quantized call there is no lens: the page holds only the part in the frame." : app.data.beside ? "Beside another result there is no lens: the page holds only the part in the frame."
    : "The lens needs one whole image that takes at most 2 MB of the page, or the budget of tc.explore: this page holds only the part in the frame.";
  const spot = h("span", { class: "spot" });
  const element = h("button", { type: "button", class: "overview", "aria-label": `${words}; choose a place by a click or the arrow keys`, onclick: (event) => event.detail && app.moveTo(placeUnder(picture, event, sizes)), // not by the keyboard
    onkeydown: (event) => moveBy(app, event, sizes) }, picture, frame, spot);
  const show = () => {
    for (const [axis, at] of app.amid([app.state.row, app.state.col]).entries()) spot.style[axis ? "left" : "top"] = `${(100 * (at + 0.5)) / sizes[axis]}%`;
  };
  return { element, show, why };
}

const within = (place, sizes) => place.map((at, axis) => Math.max(0, Math.min(sizes[axis] - 1, at)));

/** The place of a pointer on a picture of so many rows and columns. */
export function placeUnder(picture, { clientX, clientY }, sizes) {
  const { left, top, width, height } = picture.getBoundingClientRect();
  return within([Math.floor(((clientY - top) / height) * sizes[0]), Math.floor(((clientX - left) / width) * sizes[1])], sizes);
}

/** Move the place in an image by an arrow key. */
export function moveBy(app, event, sizes) {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step) return;
  event.preventDefault();
  app.moveTo(within(app.amid([app.state.row, app.state.col]).map((at, axis) => at + step[axis] * Math.ceil(sizes[axis] / 40)), sizes));
}

/** What a page is about, for a reader who got only this page. */
export function whatItIs({ kind, names, pool, quantized }) {
  if (quantized) return `A quantized ${kind === "conv2d" ? "convolution" : "transposed convolution"}, number by number.`;
  if (pool) return "Pooling, number by number.";
  if (kind === "conv2d") return "A convolution, number by number; the filter is not flipped.";
  if (kind === "conv2d_backprop_filter") return "The gradient of a filter.";
  return names.in === "output" ? "A transposed convolution." : "The gradient of an input.";
}

/** A call in one sentence for people: what a cell is made of, and how the window moves. */
export function inWords({ doc, axes, variant }) {
  if (doc.empty) return "";
  const cells = (sizes, more = "") => {
    if (sizes.every((size) => size === sizes[0])) return `${plural(sizes[0], "cell")}${more}`;
    const [across, down, deep] = sizes.toReversed();
    return `${deep ? `${deep} deep, ` : ""}${plural(down, "cell")}${more} down and ${across} across`;
  };
  const moves = cells(axes.map((axis) => axis.stride));
  const apart = axes.some((axis) => axis.dilation > 1) ? `; its taps are ${cells(axes.map((axis) => axis.dilation), " apart")}` : "";
  if (doc.pool) return `Each output cell is the ${{ max: "largest", average: "mean", sum: "sum" }[doc.pool.reduce]} of a window; the window moves ${moves}${apart}.`;
  const count = Math.max(1, variant.terms - Number(Boolean(doc.bias)));
  const most = count === 1 ? "one product" : plural(count, "product");
  const products = axes.map(axisOf).some((axis) => axis.has_padding) ? `up to ${most}` : most;
  if (doc.kind === "conv2d") return `Each ${doc.names.out} cell is the sum of ${products}${doc.quantized ? ", rescaled and rounded" : ""}; the window moves ${moves}${apart}.`;
  if (doc.kind === "conv2d_backprop_filter") return `Each weight's gradient is the sum of ${products}: what the weight met, times the gradient there.`;
  return `Each ${doc.names.out} cell stamps the filter, times its value, on the ${doc.names.in}; the stamp moves ${moves}${apart}; overlaps add up.`;
}

/** What the page says about choices that it does not hold. */
export function leftOut(data, variants) {
  const { left_out: count } = data.variants;
  if (data.playground) return "";
  if (data.call.pool) return "For another window call tc.explore with its arguments.";
  const held = Object.keys(variants).length;
  return `This page holds ${plural(held, "variant")} of the call${count ? `; ${count.toLocaleString("en")} more combinations are left out: call tc.explore with those arguments` : ""}.`;
}

/** The button that goes through automatic, light and dark, if no page is around that has one; `whole` says that the document is the explorer's own. */
export function themeButton(root, whole) {
  if (parent !== window) return null;
  const order = ["light dark", "light", "dark"];
  const words = { "light dark": "theme: automatic", light: "theme: light", dark: "theme: dark" };
  let now = 0;
  return h("button", { type: "button", class: "theme", title: words[order[0]], "aria-label": words[order[0]], onclick: ({ currentTarget: button }) => {
    now = (now + 1) % order.length;
    for (const element of whole ? [root, document.documentElement] : [root]) element.style.colorScheme = order[now];
    button.title = words[order[now]];
    button.setAttribute("aria-label", words[order[now]]);
  } }, "◐");
}

/** What stands beside the title of a plane: its size, and which channels it shows. */
export function planeNote(view, side, { c, o }, photo) {
  const { doc } = view;
  const size = spatial(doc, side, view.variant.shapes[side]).join(" × ");
  if (side === "filter") {
    const [ins, outs] = [[view, "in", c], [view, "out", o]].map(([, at, plane]) => view.split(at, plane)[1]);
    const parts = [doc.rank === 3 ? `depth ${view.split("filter", view.third(c, o))[0]}` : null, several(view) && !doc.pool ? `channels ${ins}\u00a0→\u00a0${outs}` : null];
    return [size, ...parts.filter(Boolean)].join(", ");
  }
  if (photo && side === doc.source) return `${size}, in its colours`;
  return doc.rank === 3 || view.channels[side] > 1 ? `${size}, ${view.planeName(side, side === "in" ? c : o)}` : size;
}

/** Whether a side of a call has several channels. */
export const several = ({ channels }) => channels.in > 1 || channels.out > 1;

/** The sizes of the axes that a call has, of the shape of a side. */
export function spatial(doc, side, shape) {
  const last = doc.groups.reduce((sum, group) => sum + group[side === "in" ? "in" : "out"].length, 0);
  const sizes = side === "filter" ? [shape[2] / (doc.groups[0]?.in.length || 1), shape[0], shape[1]] : [shape[3] / (last || 1), shape[1], shape[2]];
  return sizes.slice(-doc.rank);
}

/** Of a cell of a transposed result that no source cell adds to; in a forward call it is a cell that no tap reads. */
export const unfed = (doc) => `fed by no ${doc.names[doc.source]} cell`;

/** What the marks of the stage mean: only those that are there. */
export function legendEntries(grids, doc, focus, beside) {
  const kinds = new Set(Object.values(grids).flatMap((grid) => [...grid.cells.values()].map((cell) => cell.kind)));
  const entry = (name, words) => h("li", {}, h("span", { class: `cell ${name}` }), words);
  const words = { ...KINDS };
  if (doc.result === "in") {
    words.crop = "outside the full result: zero";
    words.unread = unfed(doc);
  }
  const others = focus
    ? [entry(focus.grid === "source" ? "met factor" : "met", MARKS.met), entry("fed", MARKS.fed)]
    : [entry("window", MARKS.window), doc.pool ? null : entry("window factor", "what it is multiplied by")];
  return [entry("current", MARKS.current), ...others,
    ...["padding", "outside", "cut", "beyond", "crop", "unread"].filter((kind) => kinds.has(kind)).map((kind) => entry(kind, words[kind])),
    ...(beside ? [entry("other", MARKS.other)] : []),
    ...["source", doc.pool ? [] : "operand", "result"].flat().map((name) => scaleEntry(`${doc.names[doc[name]]}${doc.shown && name === "result" ? ", this part" : ""}`, grids[name]))].filter(Boolean);
}

/** The colours of a plane, with the numbers that have them: the same for all its channels. */
function scaleEntry(name, { largest, least, bright, photo }) {
  if (photo) return h("li", {}, `${name}: red, green and blue from 0 to ${full(largest)}`);
  if (!largest) return null;
  const [low, high] = [least < 0 ? `-${brief(largest)}` : "0", brief(largest)];
  return h("li", {}, name, h("span", {}, low), h("span", { class: bright ? "scale grey" : least < 0 ? "scale" : "scale above", role: "img", "aria-label": `colours from ${low} to ${high}` }), h("span", {}, high));
}

/**
 * The label of a choice. An output size that is refused is the default size, and as many cells more or fewer as
 * for the call's own arguments.
 */
export function choiceLabel(control, i, usual) {
  if (control.name !== "output size") return control.labels[i];
  const [first, now] = [control.labels[0], control.labels[i]].map((label) => label.split(" × ").map(Number));
  return first.map((size, axis) => (usual?.[axis] ?? size) + now[axis] - size).join(" × ");
}

/** A call that runs: the arrays by their names alone, without their shapes. */
export const callable = (code) => code.replaceAll(/(\w) \[[\d, ]*\]/g, "$1");

/** A button that copies a text, which may be null. */
export function copyButton(text, label, words = "copy") {
  const button = h("button", { type: "button", class: "copy", "aria-label": label, title: label, onclick: async () => {
    const copy = text();
    if (copy === null) return;
    button.textContent = (await copied(copy)) ? "copied" : "not copied";
    setTimeout(() => { button.textContent = words; }, 1500);
  } }, words);
  return button;
}

/** Copy a text to the clipboard, and say whether that was allowed. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // an old browser, or a frame that may not
    const area = h("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
