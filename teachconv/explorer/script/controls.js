// The controls of the page: the arguments of the call, the channels, and the buttons that step and play.

import { forPeople, h, unique } from "./elements.js";
import { SPEEDS } from "./motion.js";
import { choiceLabel, spatial } from "./parts.js";
import { shareButtons } from "./present.js";
import { stampButton } from "./stamping.js";
import { callCopier, pictureButton } from "./take_away.js";

/** The arguments of the call, as choices; `app.inputs` holds the labels of each. */
export function buildControls(app) {
  app.inputs = [];
  return app.data.variants.controls.map((control, number) => {
    const name = unique("control");
    const choices = control.labels.map((label, i) => {
      const input = h("input", { type: "radio", name, value: String(i), checked: i === control.base, onchange: () => app.choose(number, i) });
      return h("label", {}, input, h("span", {}, label));
    });
    app.inputs[number] = choices;
    return h("fieldset", { "data-control": control.name }, h("legend", {}, control.name), h("div", { class: "choices" }, choices));
  });
}

/** Label each choice by whether it is possible with the other choices as they are drawn. */
export function labelControls(app) {
  for (const [number, control] of app.data.variants.controls.entries()) {
    for (const [i, label] of app.inputs[number].entries()) {
      const variant = app.variantOf(app.legal.with(number, i));
      const absent = !variant;
      const [input, words] = label.children;
      input.disabled = absent;
      label.className = absent ? "absent" : variant?.error ? "refused" : "";
      label.title = absent ? "not on this page" : forPeople(variant?.error ?? "");
      const sized = (held) => (held?.shapes ? spatial(app.doc, app.doc.result, held.shapes[app.doc.result]) : undefined);
      const size = sized(variant);
      words.textContent = control.name === "output size" && size ? size.join(" × ") : choiceLabel(control, i, sized(app.variantOf(app.legal.with(number, 0))));
    }
  }
}

/** Which image and which channels are drawn large, and how. */
export function channelControls(app) {
  const { view, doc, state, root } = app;
  const held = (side, axis) => view.arrays[side]?.indices(axis) ?? [];
  const images = held(doc.source, 0);
  const [ins, outs] = ["in", "out"].map((side) => [...view.planes(side)]);
  const select = (name, label, list) => {
    if (list.length < 2) return null;
    const label_ = (i) => String(SIDE[name] ? view.split(SIDE[name], i)[1] : i);
    const options = list.map((i) => h("option", { value: String(i), selected: i === state[name] }, label_(i)));
    const element = h("select", { "data-channel": name, onchange: () => app.chooseChannel(name, Number(element.value)) }, options);
    return h("label", {}, `${label} `, element);
  };
  const colours = h("input", { type: "checkbox", checked: root.classList.contains("colours"), onchange: () => {
    root.classList.toggle("colours", colours.checked);
    app.tellHost(true);
  } });
  return [
    stampButton(app),
    images.length > 1 ? select("n", "image", images) : null,
    ...["c", "o"].flatMap((name, i) => [slices(app, name, [ins, outs][i]), select(name, `${doc.names[SIDE[name]]} channel`, besides(app, name, [ins, outs][i]))]),
    h("label", {}, colours, " colours only"),
  ].filter(Boolean);
}

const SIDE = { c: "in", o: "out" };

/** The planes of the slice that is shown: its channels. */
function besides(app, name, list) {
  const [slice] = app.view.split(SIDE[name], app.state[name]);
  return list.filter((plane) => app.view.split(SIDE[name], plane)[0] === slice);
}

/** A stepper through the slices of a volume. */
function slices(app, name, list) {
  if (app.doc.rank < 3) return null;
  const side = SIDE[name];
  const [slice, channel] = app.view.split(side, app.state[name]);
  const known = [...new Set(list.map((plane) => app.view.split(side, plane)[0]))];
  const words = `${app.doc.names[side]} depth`;
  const to = (by) => {
    const next = known[known.indexOf(slice) + by];
    return h("button", { type: "button", "aria-label": `${words}: ${by < 0 ? "decrease" : "increase"}`, name: `${name}${by}`, disabled: next === undefined,
      onclick: () => app.chooseChannel(name, next * app.view.channels[side] + channel) }, by < 0 ? "−" : "+");
  };
  return h("span", { class: "stepper slices", role: "group", "aria-label": words }, `${words} `, to(-1), h("output", {}, `${slice} of ${spatial(app.doc, side, app.view.variant.shapes[side])[0]}`), to(1));
}

/** The buttons that step and play, and the slider over all cells. */
export function buildTransport(app) {
  const { player } = app;
  app.playButton = h("button", { type: "button", class: "play", onclick: () => (player.on ? player.pause() : app.play(true)) }, "▶ play");
  app.slider = h("input", { type: "range", min: "0", step: "1", "aria-label": "cell of the result", oninput: () => app.goTo(Number(app.slider.value)) });
  app.position = h("span", { class: "position" });
  const step = (by, sign, label) => h("button", { type: "button", "aria-label": label, title: label, onclick: () => app.step(by) }, sign);
  const tap = h("button", { type: "button", "aria-label": "next tap", title: "next tap", onclick: () => {
    player.pause();
    player.nextTap();
  } }, "tap ▸");
  return h("div", { class: "transport", role: "group", "aria-label": "Step through the cells" },
    step(-1, "◀", "previous cell"), app.playButton, step(1, "▶", "next cell"), tap, app.slider, app.position);
}

/** What is needed less often: the speed, the picture, the call in other words. */
export function buildTools(app) {
  const { player } = app;
  const speed = h("select", { "aria-label": "speed", onchange: () => player.setSpeed(speed.value) },
    Object.keys(SPEEDS).map((name) => h("option", { value: name, selected: name === player.speed }, name)));
  return h("details", { class: "extras" }, h("summary", {}, "speed, picture, code, link"),
    h("div", { class: "tools" }, [h("label", {}, "speed ", speed), pictureButton(app), callCopier(app), ...shareButtons(app)]));
}
