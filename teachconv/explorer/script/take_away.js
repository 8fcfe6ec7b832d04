// Exports: the picture as SVG or PNG, and the call as Python code for any framework.

import { forPeople, h } from "./elements.js";
import { translate } from "./calls.js";
import { copyButton } from "./parts.js";
import { fromJson } from "./python.js";
import { FRAMEWORKS } from "./rules.js";

const CENTIMETRES = { "screen size": 0, "8.5 cm": 8.5, "17 cm": 17 }; // one column and two columns of a paper
const DOTS = 300 / 2.54; // pixels per centimetre of a PNG for print: 300 dpi

/** The button that downloads the picture, and the choices of its format, background and width. */
export function pictureButton(app) {
  const choice = (label, names) => h("select", { "aria-label": label }, names.map((name) => h("option", { value: name }, name)));
  const format = choice("format of the picture", ["SVG", "PNG"]);
  const ground = choice("background of the picture", ["this theme", "light", "transparent"]);
  const width = choice("width of the picture", Object.keys(CENTIMETRES));
  const save = async () => {
    const svg = pictureOf(app, ground.value, CENTIMETRES[width.value]);
    if (format.value === "SVG") download(`${app.doc.op}.svg`, svg, "image/svg+xml");
    else download(`${app.doc.op}.png`, await pngOf(svg, CENTIMETRES[width.value]), "image/png");
  };
  return h("span", { class: "picture", role: "group", "aria-label": "The picture as a file" },
    h("button", { type: "button", class: "save", title: "download this picture", onclick: save }, "⤓ picture"), format, ground, width);
}

/** Render an SVG as PNG: two dots per pixel, or 300 dots per inch for print. */
export async function pngOf(svg, centimetres) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const scale = centimetres ? (centimetres * DOTS) / image.naturalWidth : 2;
  const canvas = h("canvas", { width: Math.round(image.naturalWidth * scale), height: Math.round(image.naturalHeight * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

/** The controls that copy the call as code for a framework; null if the page cannot translate its function. */
export function callCopier(app) {
  if (!app.doc.function) return null;
  const own = app.doc.function.split(".")[0];
  const names = Object.entries(FRAMEWORKS).map(([to, name]) => h("option", { value: to, selected: to === own }, name));
  const choice = h("select", { "aria-label": "framework", onchange: () => { said.textContent = ""; } }, names);
  const said = h("span", { class: "said", role: "status" });
  const text = () => {
    const code = codeOf(app.doc, app.variantOf(app.key), choice.value);
    said.textContent = code.startsWith("not possible") ? forPeople(code) : "";
    return said.textContent ? null : code;
  };
  return h("div", { class: "take-away", role: "group", "aria-label": "The call in another framework" },
    h("label", {}, "the call for ", choice), copyButton(text, "copy call for the chosen framework", "copy call"), said);
}

/** The code of a variant's call in a framework, or "not possible: " and why. */
function codeOf(doc, variant, framework) {
  if (!variant || variant.error) return `not possible: ${variant?.error ?? "this combination is not on this page"}`;
  const { code, why } = translate(doc.function, variant.call.shapes, wordsOf(doc, variant), framework);
  return code || `not possible: ${why}`;
}

/** The arguments of a variant's call, as Python values. */
export function wordsOf(doc, { call: { words } }) {
  const lists = doc.function.startsWith("onnx.");
  return Object.fromEntries(Object.entries(words).map(([word, value]) => [word, fromJson(value, lists)]));
}

/** Download a file. */
export function download(name, contents, type = "application/octet-stream") {
  const address = URL.createObjectURL(new Blob([contents], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/**
 * The picture on the page as SVG text: channels, windows, legend, sum, and the result beside it.
 * @param {any} app
 * @param {string} ground its background: "this theme", "light", or "transparent" with the light colours
 * @param {number} centimetres its width; 0 for its size on the screen
 */
export function pictureOf(app, ground = "this theme", centimetres = 0) {
  const { root } = app;
  const scheme = root.style.colorScheme;
  if (ground !== "this theme") root.style.colorScheme = "light";
  root.classList.add("drawn", "alone");
  const picture = drawing(app, ground === "transparent", centimetres);
  root.classList.remove("drawn", "alone");
  root.style.colorScheme = scheme;
  return picture;
}

function drawing(app, clear, centimetres) {
  const { root, stage } = app;
  const parts = [stage, app.legend, ...root.querySelectorAll(".lens figure, .rooms-map > *, .touring .caption p, .equation > *, [data-section=beside][open] .strip")];
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)) - 10, Math.min(...boxes.map((box) => box.top)) - 30];
  const all = parts.flatMap((part) => [...part.children, part]).map((element) => element.getBoundingClientRect());
  const [width, height] = [Math.ceil(Math.max(...all.map((box) => box.right)) - left) + 12, Math.ceil(Math.max(...all.map((box) => box.bottom)) - top) + 6];
  const title = `<text x="10" y="20" font-size="14" font-weight="600" fill="${paint(getComputedStyle(root).color)}">${escaped(app.heading.textContent)}</text>`;
  const shapes = parts.map((part) => painted(part, left, top)).join("\n");
  const size = centimetres ? `width="${centimetres}cm" height="${near((centimetres * height) / width)}cm"` : `width="${width}" height="${height}"`;
  const behind = clear ? "" : `<rect width="100%" height="100%" fill="${paint(getComputedStyle(root).backgroundColor)}"/>\n`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${size} font-family="system-ui, sans-serif">\n${behind}${title}\n${shapes}\n</svg>\n`;
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const near = (number) => String(Math.round(number * 100) / 100);
const pen = () => (pen.made ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true }));
pen.made = null;
const PAINTS = new Map();

/** A CSS colour as "#rrggbb"; null if it is transparent. */
function paint(colour) {
  if (!PAINTS.has(colour)) {
    pen().clearRect(0, 0, 1, 1);
    pen().fillStyle = colour;
    pen().fillRect(0, 0, 1, 1);
    const [r, g, b, alpha] = pen().getImageData(0, 0, 1, 1).data;
    PAINTS.set(colour, alpha < 8 ? null : `#${[r, g, b].map((v) => v.toString(16).padStart(2, "0")).join("")}`);
  }
  return PAINTS.get(colour);
}

/** An element and its descendants as SVG shapes: backgrounds, borders, rings, frames and text. */
function painted(element, left, top) {
  const style = getComputedStyle(element);
  if (style.visibility !== "visible" || style.display === "none") return "";
  const box = element.getBoundingClientRect();
  if (element instanceof HTMLCanvasElement) {
    return `<image x="${near(box.left - left)}" y="${near(box.top - top)}" width="${near(box.width)}" height="${near(box.height)}" preserveAspectRatio="none" image-rendering="pixelated" href="${element.toDataURL()}"/>\n`;
  }
  const own = style.display === "contents" ? "" : boxOf(style, box.left - left, box.top - top, box.width, box.height) + generated(element, style, box.left - left, box.top - top);
  const inner = [...element.childNodes].map((child) => {
    if (child.nodeType === Node.ELEMENT_NODE) return painted(/** @type {HTMLElement} */ (child), left, top);
    return child.nodeType === Node.TEXT_NODE ? texts(child, style, left, top) : "";
  });
  const text = own + inner.filter(Boolean).join("");
  return text && style.opacity !== "1" ? `<g opacity="${style.opacity}">${text}</g>\n` : text;
}

/** What ::after draws on an element: the frame of the other call's window, or a sign. */
function generated(element, around, left, top) {
  const style = getComputedStyle(element, "::after");
  if (style.content === "none" || style.position !== "absolute") return "";
  const at = (side) => parseFloat(style[side]) + parseFloat(around[`border${side === "left" ? "Left" : "Top"}Width`]);
  const [x, y, width, height] = [left + at("left"), top + at("top"), parseFloat(style.width), parseFloat(style.height)];
  const sign = style.content.slice(1, -1);
  if (!sign) return boxOf(style, x, y, width, height);
  const size = parseFloat(style.fontSize);
  return `<text x="${near(x)}" y="${near(y + size)}" font-size="${near(size)}" font-weight="600" fill="${paint(style.color)}">${escaped(sign)}</text>\n`;
}

/** A box: its background, its border, the rings inside it and the outline around it. */
function boxOf(style, x, y, width, height) {
  const rect = (inset, attributes) => `<rect x="${near(x + inset)}" y="${near(y + inset)}" width="${near(Math.max(0, width - 2 * inset))}" height="${near(Math.max(0, height - 2 * inset))}" ${attributes}/>\n`;
  const stroke = (colour, size, dashes = "") => `fill="none" stroke="${colour}" stroke-width="${near(size)}"${dashes}`;
  const shapes = [];
  const ground = paint(style.backgroundColor);
  if (ground) shapes.push(rect(0, `fill="${ground}" ${parseFloat(style.borderTopLeftRadius) ? `rx="${near(parseFloat(style.borderTopLeftRadius))}"` : 'shape-rendering="crispEdges"'}`)); // no hairlines between small cells
  const stops = style.backgroundImage.match(/(?:rgba?|color)\([^)]*\)/g);
  if (style.backgroundImage.startsWith("linear-gradient") && width > 2 * height) {
    shapes.push(...scale(stops.map(paint), x, y, width, height));
  } else if (stops) {
    const colour = stops.map(paint).findLast(Boolean); // a line across, or hatching
    if (colour) shapes.push(`<path d="M${near(x)} ${near(y + height)}L${near(x + width)} ${near(y)}" stroke="${colour}"/>\n`);
  }
  const border = parseFloat(style.borderTopWidth);
  const dashes = { dashed: ` stroke-dasharray="${width > 20 ? "5 4" : "3 2"}"`, dotted: ' stroke-dasharray="2 2"' }[style.borderTopStyle] ?? "";
  if (border && paint(style.borderTopColor)) shapes.push(rect(border / 2, stroke(paint(style.borderTopColor), border, dashes)));
  const rings = [...style.boxShadow.matchAll(/((?:rgba?|color)\([^)]*\)) 0px 0px 0px ([\d.]+)px inset/g)].reverse();
  for (const [, colour, size] of rings) shapes.push(rect(border + Number(size) / 2, stroke(paint(colour), Number(size))));
  const around = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
  if (around) shapes.push(rect(-parseFloat(style.outlineOffset) - around / 2, stroke(paint(style.outlineColor), around)));
  return shapes.join("");
}

/** A colour scale as a row of rectangles, from the smallest number to the largest. */
function scale(stops, x, y, width, height) {
  const steps = 24;
  const mixed = (share) => {
    const from = Math.min(stops.length - 2, Math.floor(share * (stops.length - 1)));
    const [one, other] = stops.slice(from);
    const part = share * (stops.length - 1) - from;
    const at = (colour, i) => parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16);
    return `rgb(${[0, 1, 2].map((i) => Math.round(at(one, i) * (1 - part) + at(other, i) * part)).join(",")})`;
  };
  return Array.from({ length: steps }, (_, i) =>
    `<rect x="${near(x + (width * i) / steps)}" y="${near(y)}" width="${near(width / steps + 0.3)}" height="${near(height)}" fill="${mixed(i / (steps - 1))}"/>\n`);
}

/** A text node at its position; each line becomes one <text> element. */
function texts(node, style, left, top) {
  const fill = paint(style.color);
  if (!fill || !node.data.trim()) return "";
  const range = document.createRange();
  range.selectNodeContents(node);
  const size = parseFloat(style.fontSize);
  const lines = [...range.getClientRects()];
  const attributes = `font-size="${near(size)}"${Number(style.fontWeight) > 500 ? ' font-weight="600"' : ""} fill="${fill}"`;
  const words = lines.length > 1 ? byLine(node, range) : [node.data.trim()];
  return lines.map((line, i) => `<text x="${near(line.left - left)}" y="${near(line.top - top + line.height / 2 + size * 0.36)}" ${attributes}>${escaped(words[i] ?? "")}</text>\n`).join("");
}

/** The words of a text in the lines into which the page breaks it. */
function byLine(node, range) {
  const lines = [];
  let last = null;
  for (const { 0: word, index } of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.trimEnd().length);
    const { top } = range.getBoundingClientRect();
    if (last === null || Math.abs(top - last) > 2) lines.push("");
    lines[lines.length - 1] += word;
    last = top;
  }
  return lines.map((line) => line.trim());
}
