// Values as Python writes them: the page shows and copies calls of Python, and its errors are Python's.

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
