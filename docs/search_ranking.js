/* Ranks what the search finds: the more of the rarer words of the query a page has, the earlier it stands.
 *
 * Sphinx appends this file to language_data.js (html_search_scorer in conf.py), which the theme loads after Sphinx's
 * searchtools.js. That lists only pages with all the words, and judges a page by its best word. Here every word counts
 * by its rarity (Robertson's idf), more in a title, less on a long page; no word is required. If the query is a word of the
 * glossary, that follows the best page. Then follow Sphinx's own results, such as names of the API. Below each page is its
 * sentence with the most of the words that its title lacks.
 */
"use strict";

const IN_TITLE = 3; // how often a word in a title counts
const LENGTH = 0.4; // the part of a page's weight that depends on its length
const ROOMS = [["answers/index", 0.5], ["error_index", 1.5], ["answers/", 1.3], ["api/", 0.5], ["glossary", 0.5], ["changelog", 0.3]]; // the rest: 1
const SHOWN = 20; // pages
const OTHER_WORD = 0.8; // how often our word for what was asked counts

/* What people call a thing, and the words that these pages have for it; a query with the left one finds both. */
const ALSO = [
  ["atrous", "dilated"], ["autodiff", "gradients"], ["backprop", "gradients"], ["backpropagation", "gradients"],
  ["channels last", "nhwc"], ["conv", "convolution"], ["flip", "correlation"],
  ["field of view", "receptive"], ["fractionally", "transposed"], ["im2col", "matrix"], ["quantisation", "quantization"],
  ["quantised", "quantized"], ["separable", "depthwise"], ["slow", "slower"],
  ["toeplitz", "matrix"], ["unet", "net"], ["1x1", "depthwise"],
];

/** The numbers of the pages in an entry of the index: a list, one number, or undefined. */
const pagesOf = (table, word) => (Object.hasOwn(table, word) ? [table[word]].flat() : []);

/** For each page with the word the weight of the word on it: a Map. A word that is nowhere is looked for in others. */
const weightsOf = (index, word) => {
  const found = new Map();
  const add = (table, term, weight) => {
    for (const page of pagesOf(table, term)) found.set(page, Math.max(weight, found.get(page) ?? 0));
  };
  const tables = [[index.terms, 1], [index.titleterms, IN_TITLE]];
  for (const [table, weight] of tables) add(table, word, weight);
  if (!found.size && word.length > 2) {
    for (const [table, weight] of tables) {
      for (const term of Object.keys(table)) if (term.includes(word)) add(table, term, weight / 2);
    }
  }
  return found;
};

/** How many different words each page has. */
const lengths = (index) => {
  const found = new Array(index.docnames.length).fill(0);
  for (const term of Object.keys(index.terms)) for (const page of pagesOf(index.terms, term)) found[page] += 1;
  return found;
};

/** The words of a query with which pages are ranked, each with the words that count as it. */
const meant = (query, words) => {
  const stem = (word) => (typeof Stemmer === "undefined" ? word : new Stemmer().stemWord(word));
  const plain = query.toLowerCase();
  const kept = new Map([...words].map((word) => [word, [word]]));
  for (const [asked, ours] of ALSO) {
    if (!new RegExp(`(^|\\W)${asked}(\\W|$)`).test(plain)) continue;
    const word = stem(asked.split(" ").at(-1));
    kept.set(word, [...(kept.get(word) ?? []), stem(ours)]);
  }
  return [...kept.values()];
};

/** [page, score] of the best pages for the words, the best first; a list of words counts as one. */
const rankPages = (index, words) => {
  const count = index.docnames.length;
  const length = lengths(index);
  const mean = length.reduce((sum, one) => sum + one, 0) / count;
  const sums = new Map();
  let possible = 0;
  for (const word of words) {
    const weights = new Map();
    for (const [i, each] of [word].flat().entries()) {
      const part = i ? OTHER_WORD : 1;
      for (const [page, weight] of weightsOf(index, each)) weights.set(page, part * weight + (weights.get(page) ?? 0));
    }
    const rarity = Math.log(1 + (count - weights.size + 0.5) / (weights.size + 0.5));
    possible += rarity;
    for (const [page, weight] of weights) {
      const [sum, had] = sums.get(page) ?? [0, 0];
      sums.set(page, [sum + rarity * weight, had + rarity]);
    }
  }
  const scored = [...sums].map(([page, [sum, had]]) => {
    const room = ROOMS.find(([start]) => index.docnames[page].startsWith(start))?.[1] ?? 1;
    return [page, (room * sum * had) / possible / (1 - LENGTH + (LENGTH * length[page]) / mean)];
  });
  return scored.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, SHOWN);
};

/** All results in the order in which they are shown: a word of the glossary that was asked for comes second. */
const inOrder = (query, pages, others) => {
  const place = `#term-${query.trim().toLowerCase().replaceAll(" ", "-")}`;
  const isAsked = ([, , anchor]) => anchor.toLowerCase() === place;
  const rest = others.filter((one) => !isAsked(one)).reverse();
  return [...pages.slice(0, 1), ...others.filter(isAsked), ...pages.slice(1), ...rest];
};

/** The sentence of a page's text with the most of the stems that its title lacks: the first one of these. */
const excerpt = (title, text, stems) => {
  const stemmer = new Stemmer();
  const stemsOf = (words) => new Set(splitQuery(words.toLowerCase()).map((word) => stemmer.stemWord(word)));
  const named = stemsOf(title);
  const asked = stems.filter((one) => !named.has(one));
  const has = (words) => asked.filter((one) => words.has(one)).length;
  const sentences = text.split(/\n|(?<=[.?!:]) (?=\p{Lu})/u).filter((one) => one.length > 20 && !one.endsWith(":"));
  const counts = sentences.map((one) => has(stemsOf(one)));
  return sentences[counts.indexOf(Math.max(...counts))] ?? "";
};

/** Write an excerpt under each result that is a page, as finding.py made them; Sphinx would have to load the page. */
const showExcerpts = (list, stems) => {
  for (const item of list.querySelectorAll(":scope > li:not(:has(p))")) {
    const link = item.querySelector("a");
    const [name, place] = link.getAttribute("href").split("#");
    const text = EXCERPTS[name.replace(/\.html$/, "")];
    if (place || !text) continue;
    const paragraph = item.appendChild(document.createElement("p"));
    paragraph.className = "context";
    paragraph.textContent = excerpt(link.textContent, text, stems);
  }
};

if (typeof Search !== "undefined") { // it begins to search when the page has been read
  const theirs = Search._performSearch;
  Search._performSearch = (query, words, excluded, ...more) => {
    const index = Search._index;
    const list = Search.output;
    new MutationObserver(() => showExcerpts(list, [...words])).observe(list, { childList: true });
    const left = (page) => [...excluded].every((word) => !weightsOf(index, word).has(page));
    const pages = rankPages(index, meant(query, words)).filter(([page]) => left(page)).map(([page, score]) => [
      index.docnames[page], index.titles[page], "", null, score, index.filenames[page], "text",
    ]);
    const listed = new Set(pages.map(([name]) => name));
    const others = theirs(query, words, excluded, ...more).filter(([name, , anchor]) => anchor || !listed.has(name));
    return inOrder(query, pages, others).reverse(); // Sphinx shows the last one first
  };
}
