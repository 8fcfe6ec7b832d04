// A page as a slide, or embedded in another page: the windows, the sum and the steps fill it.

import { h } from "./elements.js";
import { copyButton } from "./parts.js";

export const ADDRESSED = location.protocol !== "about:"; // a frame in a notebook has no address of its own
const AT = /(?:^#|&)at=(-?\d+),(-?\d+)(?=&|$)/;
const HOW = /(?:^#|&)(present|embed)(?=&|$)/;

/** Whether the address asks for a slide ("present") or for a page within another ("embed"); else null. */
export const presenting = (address) => HOW.exec(address)?.[1] ?? null;

/** Write what is shown into the address; a page in a frame says it to the page around, once the reader did something. */
export function writeAddress(address, step = false) {
  history[step ? "pushState" : "replaceState"](null, "", address || location.pathname + location.search);
  if (parent !== window && navigator.userActivation?.hasBeenActive) parent.postMessage({ explorerAddress: address }, "*");
}

/** Show what the address of a page says: a slide, a step of the tour, a question, or a cell; a story begins by itself. */
export function readAddress(app, opened = false) {
  const address = location.hash; // each of them writes its own
  if (presenting(address) !== app.presenting) present(app, presenting(address));
  app.tour.read(address);
  app.quiz.read(address);
  const at = AT.exec(address);
  if (opened && app.data.story && !at && app.tour.now === null && !app.quiz.on) app.tour.go(0);
  if (!at || app.host?.shows) return; // the playground reads its own
  app.select(Number(at[1]), Number(at[2]));
  app.player.stay();
}

/** Fill the page with the picture, or show all of the page again. */
export function present(app, how) {
  app.presenting = how;
  app.root.classList.toggle("presenting", Boolean(how));
  app.tour.draw();
  const had = document.activeElement;
  if (how && had !== app.root && app.root.contains(had)) app.tour.element.querySelector("button")?.focus({ preventScroll: true }); // it is hidden now
  app.fit();
  app.tell();
}

const titleOf = (app) => app.heading.textContent.replaceAll('"', "&quot;");
const frameAround = (address, app) => `<iframe src="${address("embed")}" title="${titleOf(app)}" width="640" height="360" style="border:0" loading="lazy"></iframe>`;
const fenced = (how, text) => ["```" + how, text, "```"].join("\n"); // eslint-disable-line prefer-template
/** How the pages around say that this one is a frame in them. */
const EMBEDS = {
  HTML: frameAround,
  "reveal.js": (address) => `<section data-background-iframe="${address("present")}" data-background-interactive></section>`,
  Quarto: (...page) => fenced("{=html}", frameAround(...page)),
  "Jupyter Book": (...page) => fenced("{raw} html", frameAround(...page)),
  MyST: (address, app) => `:::{iframe} ${address("embed")}\n:width: 100%\n${app.heading.textContent}\n:::`,
};

/** The buttons for a slide, for a link to what is shown, and for a frame around it. */
export function shareButtons(app) {
  const address = (how) => {
    const [page, shown] = location.href.split("#");
    const rest = (shown ?? "").split("&").filter((part) => part && !["present", "embed"].includes(part) && (app.host?.shows || !part.startsWith("at=")));
    const { row, col } = app.state;
    if (!app.host?.shows && app.tour.now === null && [row, col].join() !== app.first.join()) rest.push(`at=${row},${col}`);
    const text = (how && app.host?.shows ? [...rest, how] : [how, ...rest]).filter(Boolean).join("&"); // the playground's begins with its op
    return `${page}${text && `#${text}`}`;
  };
  const host = h("select", { "aria-label": "the page around the frame" }, Object.keys(EMBEDS).map((name) => h("option", { value: name }, name)));
  return [
    h("button", { type: "button", class: "slide-show", title: "fill the page: f", onclick: () => present(app, "present") }, "present"),
    ...(ADDRESSED ? [copyButton(() => address(null), "copy link to what is shown", "copy link"),
      h("span", { role: "group", "aria-label": "A frame of what is shown" }, "frame for ", host, copyButton(() => EMBEDS[host.value](address, app), "copy frame of what is shown", "copy frame"))] : []),
  ];
}
