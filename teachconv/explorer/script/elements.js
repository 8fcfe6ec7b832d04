// Helpers that build elements of the page.

let serial = 0;
export const unique = (name) => `tcx-${name}-${(serial += 1)}`;

/** An element with attributes, event handlers (on…) and children; strings are inserted as text, never as markup. */
export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
/** The same of a drawing. */
export const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const MEASURED = 100; // pixels of a letter that is measured
const widths = new Map(); // of letters, in sizes of the font

/** How wide a text is, in sizes of the page's font. */
export function emsOf(text) {
  let sum = 0;
  for (const letter of text) {
    if (!widths.has(letter)) {
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = `${MEASURED}px ${getComputedStyle(document.querySelector(".tcx")).fontFamily}`;
      widths.set(letter, pen.measureText(letter).width / MEASURED);
    }
    sum += widths.get(letter);
  }
  return sum;
}

/** A name or a call that may wrap after a period, a parenthesis or an underscore. */
export const breakable = (code) => code.split(/(?<=[._(])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

const AXIS_WORDS = { depth: "slices", rows: "rows", cols: "columns" };
/** Python's message of a refusal without the names of variables. */
export const forPeople = (message) => message
  .replace(/\bin_(depth|rows|cols) >= (\d+)/g, (_, axis, least) => `at least ${least} ${AXIS_WORDS[axis]}`)
  .replace("pad_before + pad_after may be", "the padding before and after may together be")
  .replace(/\bcols\b/g, "columns");

/** A table. `each(i)` returns the attributes of row i. Columns whose name begins with "<" hold text; the others hold numbers. */
export function table(caption, columns, rows, each = (_) => ({})) {
  const heads = columns.map((name) =>
    h("th", { scope: "col", class: name.startsWith("<") ? "words" : null }, breakable(name.replace("<", ""))),
  );
  const body = rows.map((row, i) =>
    h("tr", each(i), row.map((cell, j) => h("td", { class: columns[j].startsWith("<") ? "words" : null }, cell))),
  );
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)));
}

/** A button that shows all that is folded. */
export const moreButton = (app, words) => h("button", { type: "button", class: "more", onclick: () => app.showAll() }, words);

const identity = (element) => ["role", "aria-label", "name", "data-channel", "data-thumb", "class"].map((name) => element.getAttribute(name)).join("|");

/** Redraw parts of an element; the keyboard focus moves to the element that replaces the focused one. */
export function keepFocus(root, draw) {
  const had = root.ownerDocument.activeElement;
  const alike = (known) => [...root.querySelectorAll(had.tagName)].filter((element) => identity(element) === known);
  const known = had && root.contains(had) && had !== root ? identity(had) : null;
  const position = known === null ? -1 : alike(known).indexOf(had);
  draw();
  if (known === null || had.isConnected) {
    if (known !== null) had.focus({ preventScroll: true }); // it was moved within the page
    return;
  }
  const found = alike(known);
  const next = found[position] ?? found[0] ?? root.querySelector(".sum .scroll, .stage [role=grid]");
  next?.focus({ preventScroll: true });
}
