// A page as a slide, or embedded in another page: the windows, the sum and the steps fill it.

import { h } from "./elements.js";
import { copyButton } from "./parts.js";

export const ADDRESSED = location.protocol !== "about:"; // a frame in a notebook has no address of its own
const HOW = /(?:^#|&)(present|embed)(?=&|$)/;

/** Whether the address asks for a slide ("present") or for a page within another ("embed"); else null. */
export const presenting = (address) => HOW.exec(address)?.[1] ?? null;

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

/** The buttons for a slide, for a link to what is shown, and for a frame around it. */
export function shareButtons(app) {
  const link = (how) => {
    const [page, shown] = location.href.split("#");
    const rest = (shown ?? "").split("&").filter((part) => part && !["present", "embed"].includes(part));
    const address = (how && app.host?.shows ? [...rest, how] : [how, ...rest]).filter(Boolean).join("&"); // the playground's begins with its op
    return `${page}${address && `#${address}`}`;
  };
  const frame = () => `<iframe src="${link("embed")}" title="${app.heading.textContent.replaceAll('"', "&quot;")}" width="640" height="360" style="border:0" loading="lazy"></iframe>`;
  const named = (words, button) => h("label", {}, words, " ", button);
  return [
    h("button", { type: "button", class: "slide-show", title: "fill the page: f", onclick: () => present(app, "present") }, "present"),
    ...(ADDRESSED ? [named("link", copyButton(() => link(null), "copy a link to what is shown")), named("frame", copyButton(frame, "copy a frame of what is shown"))] : []),
  ];
}
