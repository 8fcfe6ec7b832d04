// What rules.json has of Python's functions, as the modules beside it see it.

interface Call {
  op: { name: string, transposed: boolean },
  kind: { name: string },
  geometry: import("./law.js").ConvGeometry,
  input_layout: string,
  filter_layout: string,
  output_layout: string,
  canonical_filter: string,
  flip: boolean,
  steps: string[],
}

export const FRAMEWORKS: Record<string, string>;
export const FUNCTIONS: Record<string, {
  operands: { name: string, role: string }[],
  words: Record<string, any>,
  resolver: (given: Record<string, any>) => Call,
}>;
export function writtenCall(entry: object, source: Call, given: object, to: string): [{ why_not: string, notes: string[] }, string, string];
