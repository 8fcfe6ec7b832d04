// Numbers: exact sums of exact products, rounded once, and numbers as text.

/**
 * A number of the JSON in the call's type: integers as BigInt, floats as doubles.
 * @returns {any}
 */
export function parse(raw, doc) {
  if (!doc.format) return BigInt(raw);
  const value = Number(raw); // "NaN" and "Infinity" are strings in JSON
  return doc.dtype === "float32" ? Math.fround(value) : value;
}

const BITS = new DataView(new ArrayBuffer(8));

/**
 * A finite double as [integer, exponent]: integer * 2 ** exponent.
 * @param {number} value
 * @returns {[bigint, number]}
 */
function split(value) {
  if (Number.isSafeInteger(value)) return [BigInt(value), 0];
  BITS.setFloat64(0, value);
  const high = BITS.getUint32(0);
  const field = (high >>> 20) & 0x7ff;
  let integer = (BigInt(high & 0xfffff) << 32n) | BigInt(BITS.getUint32(4));
  if (field) integer |= 1n << 52n;
  return [high >>> 31 ? -integer : integer, Math.max(field, 1) - 1075];
}

/** The exact sum of exact products, rounded once to the call's type: core/rounding.py. */
export class ExactSum {
  constructor(doc) {
    this.doc = doc;
    /** @type {any} */
    this.integer = 0n;
    this.exponent = 0;
    this.special = null; // the first NaN or infinity; from there on, IEEE arithmetic is used
  }

  /** Add the product of two numbers of the call's type. */
  add(a, b) {
    if (!this.doc.format) {
      this.integer += a * b;
    } else if (!Number.isFinite(a) || !Number.isFinite(b)) {
      this.special = (this.special ?? 0) + a * b;
    } else {
      const [m, e] = split(a);
      const [n, f] = split(b);
      if (m && n) this.addExact(m * n, e + f);
    }
  }

  addExact(integer, exponent) {
    if (exponent < this.exponent || !this.integer) {
      if (this.integer) this.integer <<= BigInt(this.exponent - exponent);
      this.exponent = exponent;
    }
    this.integer += integer << BigInt(exponent - this.exponent);
  }

  get value() {
    return this.over(1);
  }

  /** The sum divided by a whole number, rounded once. */
  over(divisor) {
    const { format, bits } = this.doc;
    if (!format) return BigInt.asIntN(bits, this.integer);
    if (this.special !== null) return this.special / divisor;
    if (divisor !== 1) { // 80 bits more than any type has, and one that says whether that was all
      const whole = (this.integer * BigInt(Math.sign(divisor))) << 160n;
      const [quotient, rest] = [whole / BigInt(Math.abs(divisor)), whole % BigInt(Math.abs(divisor))];
      const exact = Object.assign(new ExactSum(this.doc), { integer: quotient * 2n + (rest ? (whole < 0n ? -1n : 1n) : 0n), exponent: this.exponent - 161 });
      return exact.value;
    }
    const magnitude = this.integer < 0n ? -this.integer : this.integer;
    if (!magnitude) return 0;
    const length = magnitude.toString(2).length;
    const last = Math.max(this.exponent + length - format.precision, format.smallest_exponent);
    const shift = BigInt(last - this.exponent);
    let units = magnitude;
    if (shift > 0n) {
      units >>= shift;
      const rest = magnitude - (units << shift);
      const half = 1n << (shift - 1n);
      if (rest > half || (rest === half && units & 1n)) units += 1n; // half to even
    } else {
      units <<= -shift;
    }
    const value = Number(units) * 2 ** last;
    return Math.sign(Number(this.integer)) * (value > format.largest ? Infinity : value);
  }
}

/** A number with up to seven digits. */
export function full(value) {
  if (typeof value === "bigint") return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return String(Number(value.toPrecision(7))).replace("e+", "e");
}

/** A number in about six characters, for a cell; the cell's label has all its digits. */
export function short(value) {
  const number = Number(value);
  if (!Number.isFinite(number)) return full(number);
  if (Number.isInteger(number) && Math.abs(number) < 1e5) return String(number);
  if (Math.abs(number) >= 100 && Math.abs(number) < 1e5) return number.toFixed(0);
  if (Math.abs(number) >= 1e-3 && Math.abs(number) < 100) return String(Number(number.toPrecision(2)));
  const text = powers(number, 1);
  return text.length <= 6 ? text : powers(number, 0);
}

/** A number as digits and a power of ten. */
const powers = (number, digits) => number.toExponential(digits).replace(/\.0+e/, "e").replace("e+", "e");

/** A number with up to four digits; a whole number of up to seven has all of them. */
export function brief(value) {
  if (typeof value === "bigint" || !Number.isFinite(value)) return full(value);
  const size = Math.abs(value);
  if (size && size < 1e-4) return powers(value, 3);
  if (size < 1e4 || (size < 1e7 && Number.isInteger(value))) return full(Number.isInteger(value) ? value : Number(value.toPrecision(4)));
  return size < 1e5 ? value.toFixed(0) : powers(value, 3);
}

export const same = (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b));
