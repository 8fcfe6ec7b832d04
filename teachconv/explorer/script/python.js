// Python's values and functions: the page shows and copies calls of Python, its errors are Python's, and the rules of
// dialects and translations are Python's functions, which tools/javascript.py writes in terms of these.

/** An argument with an invalid value: ArgumentError. */
export class Refusal extends Error {
  /** @type {string[]} */
  notes = [];

  add_note(note) {
    this.notes.push(note);
  }
}

/** A Python tuple; a plain array is a list. */
export class Tuple extends Array {}

/** Source text in place of a value. */
export class Code extends String {}

/** A tuple of items. */
export const tuple = (...items) => {
  const made = new Tuple();
  made.push(...items);
  return made;
};

/** A JSON value with a tuple, or with `lists` a list, for every array. */
export function fromJson(value, lists = false) {
  if (!Array.isArray(value)) return value;
  const items = value.map((item) => fromJson(item, lists));
  return lists ? items : tuple(...items);
}

/** A value as Python's repr writes it. */
export function repr(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (value instanceof Code) return String(value);
  if (typeof value === "string") return value.includes("'") && !value.includes('"') ? `"${value}"` : `'${value.replace(/\\/g, "\\\\").replace(/'/g, "\\'")}'`;
  if (value instanceof Tuple) return tupleText(value);
  if (Array.isArray(value)) return listText(value);
  return String(value);
}

export const listText = (items) => `[${Array.from(items, repr).join(", ")}]`;

export const tupleText = (items) => `(${Array.from(items, repr).join(", ")}${items.length === 1 ? "," : ""})`;

/** "1 node", "1,200 nodes". */
export const count = (number, noun) => `${number.toLocaleString("en")} ${number === 1 ? noun : `${noun}s`}`;

/** A text with values, as an f-string writes them. */
export const text = (parts, ...values) => String.raw({ raw: parts }, ...values.map(str));

export const str = (value) => (typeof value === "string" ? value : repr(value));
export const format = (words, ...values) => words.replace(/\{\}/g, () => str(values.shift()));
export const maketrans = (from, to) => (to ? dict(zip(from, to)) : from);
export const translated = (words, table) => [...words].map((letter) => table[letter] ?? letter).join("");

// ---- numbers; JavaScript's division does not floor, and its whole numbers are exact only below 2 ** 53 ----

/** A number, if it is exact: geometries have no others. */
export function integer(value, ..._) {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Refusal(`a page has whole numbers below 2**53 only; got ${value}`);
  return value;
}
export const floorDiv = (a, b) => Math.floor(integer(a) / integer(b));
export const floorMod = (a, b) => a - b * floorDiv(a, b);
export const divmod = (a, b) => tuple(floorDiv(a, b), floorMod(a, b));
export const prod = (items) => integer(list(items).reduce((all, item) => all * item, 1));
export const int = (value) => Math.trunc(value);
export const { abs } = Math;
export const max = (...items) => integer(Math.max(...(items.length > 1 ? items : list(items[0]))));
export const min = (...items) => integer(Math.min(...(items.length > 1 ? items : list(items[0]))));
export const sum = (items) => list(items).reduce((all, item) => all + item, 0);
export const range = (start, stop = null, step = 1) =>
  stop === null ? range(0, start) : Array.from({ length: Math.max(0, Math.ceil((stop - start) / step)) }, (_, i) => start + i * step);

// ---- collections: an array that is a list, a tuple, a text, a set, or an object that is a dict ----

export const list = (items, ..._) => (Array.isArray(items) ? [...items] : items[Symbol.iterator] ? [...items] : Object.keys(items));
export const tupleOf = (items, ..._) => tuple(...list(items));
export const dict = (items) => Object.fromEntries(Array.isArray(items) ? items : Object.entries(items));
export const itemsOf = (items) => Object.entries(items).map((pair) => tuple(...pair));
export const set = (items) => new Set(list(items));
export const len = (items) => items.length ?? items.size;
export const zip = (...lists) => range(0, min(lists.map(len))).map((i) => tuple(...lists.map((items) => items[i])));
export const enumerate = (items, start = 0) => list(items).map((item, i) => tuple(start + i, item));
export const sorted = (items) => list(items).sort((a, b) => (a < b ? -1 : Number(a > b)));
export const islice = (items, most) => list(items).slice(0, most);
export const map = (change, items) => list(items).map((item) => change(item));
export const any = (items) => list(items).some(truth);
export const all = (items) => list(items).every(truth);
/** Every choice of one item from each list, the last one changing first. */
export const product = (...lists) => lists.reduce((rows, items) => rows.flatMap((row) => list(items).map((item) => tuple(...row, item))), [tuple()]);
export const filter = (_, items) => list(items).filter(truth);
export const get = (items, key, usual = null) => (Object.hasOwn(items, key) ? items[key] : usual);
export const reversed = (items) => (items instanceof Tuple ? tuple(...[...items].reverse()) : [...items].reverse());
export const repeated = (items, times) => tuple(...range(0, times).flatMap(() => [...items]));
export const add = (a, b) => (Array.isArray(a) ? (a instanceof Tuple ? tuple : Array.of)(...a, ...b) : a + b);

export const contains = (items, item) =>
  Array.isArray(items) ? items.some((other) => equal(other, item)) : items.includes?.(item) ?? items.has?.(item) ?? Object.hasOwn(items, item);

/** What is bound to `[...first, *rest, ...last]`, the rest as an array. */
export const spread = (items, first, last) => {
  const all = list(items);
  return [...all.slice(0, first), all.slice(first, all.length - last), ...all.slice(all.length - last)];
};

// ---- objects and conditions ----

export const truth = (value) => (Array.isArray(value) ? value.length > 0 : value?.constructor === Object ? Object.keys(value).length > 0 : Boolean(value));
export const either = (value, other) => (truth(value) ? value : other());
export const both = (value, other) => (truth(value) ? other() : value);
export const equal = (a, b) =>
  a === b || (Array.isArray(a) && a.constructor === b?.constructor && a.length === b.length && a.every((item, i) => equal(item, b[i])));
/** An object with these values in its fields; numbers are exact. */
export const assigned = (object, fields) => {
  Object.values(fields).forEach(integer);
  return Object.assign(object, fields);
};
/** An object with other values in some fields: dataclasses.replace. */
export const changed = (object, fields) => {
  const made = assigned(Object.assign(Object.create(Object.getPrototypeOf(object)), object), fields);
  made.__post_init__?.();
  return made;
};
export const isinstance = (value, types) =>
  typeof value === "string" ? types.includes("str") : types.includes(Array.isArray(value) ? "tuple" : value?.constructor.name);
export const hasattr = (value, name) => Object(value)[name === "__iter__" ? Symbol.iterator : name] !== undefined;
export const getattr = (value, name, usual) => value?.[name] ?? usual;
export const nothing = (..._) => "";
