// What Python's table of diagnoses has for the quiz: code, what it changes, words, and the change.

interface Change {
  integers?: Record<string, any>,
  order?: number[],
  of?: string,
  shift?: number[],
  transform?: string,
  kind?: string,
  rank?: number,
  stride?: number,
}

export const MISTAKES: [string, string, string, Change][];
