// The playground: the reader sets up a convolution; the app that draws the calls of Python draws it.

import { mount } from "./main.js";
import { forPeople, h, keepFocus, unique } from "./elements.js";
import { copyButton } from "./parts.js";
import { callDocument, poolGeometry } from "./call_document.js";
import { resolve, translate } from "./calls.js";
import { Refusal } from "./python.js";
import { FRAMEWORKS } from "./rules.js";
import { lens, takeFiles } from "./lens.js";
import { remedies } from "./overhang.js";
import { ADDRESSED, writeAddress } from "./present.js";
import { shownIn, showAgain } from "./shown.js";
import { download } from "./take_away.js";
import { BEGINNINGS, FIELDS, OPERATIONS, Wordless, callOf, canonicalShapes, defaultState, fromAddress, isPool, paddingWords, poolOf, setField, toAddress } from "./playground_state.js";
import { PRESETS, factsOf, fromCsv, fromImage, fromNpy, imageOf, numbersFor, positionOf, toCsv, toNpy } from "./playground_numbers.js";

const sizeText = (pair) => (pair[0] === pair[1] ? String(pair[0]) : pair.join(" × "));

class Playground {
  constructor(root, home) {
    this.form = h("section", { class: "controls call", "aria-label": "The call" });
    this.problem = h("p", { class: "message", role: "alert", hidden: true });
    this.help = h("div", { class: "help", hidden: true });
    this.facts = h("ul", { class: "numbers" });
    this.stage = h("div", {});
    root.classList.add("playground");
    const beginnings = BEGINNINGS.map(([words, address]) => h("button", { type: "button", onclick: () => this.begin(`#${address}`) }, words));
    const about = h("div", { class: "title" },
      h("p", {}, h("b", { role: "heading", "aria-level": "1" }, "The convolution playground"), " Set up a convolution and see every product. All of it is computed on this page; the call is shown for five frameworks."),
      home && window.parent === window ? h("a", { href: home }, "teachconv") : null);
    const begin = h("div", { class: "beginnings", role: "group", "aria-label": "Examples" }, "Start with ", beginnings);
    const box = (name, ...parts) => h("div", { class: `tcx head ${name}` }, parts);
    this.more = h("div", { class: "call controls" });
    this.rest = h("details", { class: "rest" }, h("summary", {}, "framework, dilation, channels, groups, examples"), this.more, begin);
    this.fields = box("set", this.form, this.rest);
    root.replaceChildren(box("first", about), this.fields, box("refusal", this.problem, this.help), box("known", this.facts), this.stage);
    takeFiles(root, (dropped) => this.file("x", dropped));
    addEventListener("popstate", () => this.read());
    this.read();
  }

  /** Read the state from the address, and draw it. */
  read() {
    const { state, problems } = fromAddress(location.hash);
    this.take(state);
    if (problems.length) this.say(problems.join("; "));
  }

  /** Draw another state. */
  take(state) {
    this.state = state;
    this.wrong = {}; // what was typed into fields that cannot take it, and why: {text, why} by name
    this.arrays();
    this.buildForm();
    this.draw();
  }

  /** Show an example, in the framework that the reader chose. */
  begin(address) {
    if (ADDRESSED) writeAddress(address, true);
    this.take({ ...fromAddress(address).state, as: this.state.as });
  }

  /** Make the numbers of both arrays from the state. */
  arrays() {
    const shapes = canonicalShapes(this.state);
    const { x } = this.state;
    this.x = { shape: shapes.source, numbers: numbersFor("x", x, shapes.source), given: x, note: this.x?.given === x ? this.x.note : "" };
    this.w = { shape: shapes.filter, numbers: numbersFor("w", isPool(this.state) ? "ones" : this.state.w, shapes.filter) };
  }

  /** Set a field to what the reader entered; the browser's back button undoes it. */
  change(name, value, step = true) {
    try {
      setField(this.state, name, value);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.wrong[name] = { text: value, why: error.message };
      return this.mark();
    }
    delete this.wrong[name];
    if (["n", "c"].includes(name) && Array.isArray(this.state.x)) this.state.x = defaultState().x; // numbers for another shape
    if (["k", "c", "o", "g"].includes(name) && Array.isArray(this.state.w)) this.state.w = defaultState().w;
    if (name === "op") Object.assign(this.state, { size: null, op_pad: null });
    if (["n", "k", "s", "p", "op", "d"].includes(name)) this.state.size = null;
    if (!["x", "w", "as"].includes(name)) Object.assign(this.state, { on: null, tap: null, step: null, quiz: null });
    this.arrays();
    this.push(step);
    if (step) this.buildForm();
    this.draw();
  }

  /** Write the state into the address; a `step` gets an entry in the history of the browser. */
  push(step = true) {
    if (ADDRESSED) writeAddress(toAddress(this.state), step);
  }

  /** Record what is shown; only a `step` can be undone with the back button. */
  shows(app, step) {
    const shown = shownIn(app);
    Object.assign(this.state, shown, { at: shown.at ?? this.state.at });
    const address = toAddress(this.state);
    if (ADDRESSED && address !== location.hash) writeAddress(address, step);
  }

  /** Show the part of a large input around another cell. */
  async move([, row, col]) {
    this.state.at = [row, col];
    return this.data(this.document(this.state));
  }

  /** Mark the fields that hold what they cannot take, say why, and grey the picture: it shows none of that. */
  mark() {
    for (const input of this.fields.querySelectorAll("input[name]")) {
      input.ariaInvalid = Object.hasOwn(this.wrong, input.name) ? "true" : null;
      input.style.width = input.value.length > 3 && input.closest(".stepper") ? `${Math.min(input.value.length, 14) + 2}ch` : "";
    }
    const why = Object.values(this.wrong).map((field) => field.why);
    if (!why.length) return;
    this.help.replaceChildren();
    this.stale(why.join("; "));
  }

  say(problem) {
    this.problem.textContent = forPeople(problem);
    this.problem.hidden = !problem;
  }

  // ---- the call as a form ----

  buildForm() {
    const { state } = this;
    const choice = (name, label, options, value) => {
      const select = h("select", { name, onchange: () => this.change(name, select.value) },
        Object.entries(options).map(([key, words]) => h("option", { value: key, selected: key === value }, words)));
      return h("label", {}, h("span", {}, label), select);
    };
    const number = (name, label, value, hint = "") => {
      const input = h("input", { name, value: this.wrong[name]?.text ?? value, size: 5, placeholder: hint, autocomplete: "off", inputmode: "text",
        onchange: () => this.change(name, input.value), onkeydown: (event) => {
          const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
          if (!step) return;
          event.preventDefault();
          this.spin(name, input, step);
        } });
      return h("label", {}, h("span", {}, label), input);
    };
    // a number with a stepper and a slider; dragging the slider does not rebuild the form
    const field = (name, label = FIELDS[name].label) => {
      const { least, most } = FIELDS[name];
      const input = number(name, label, sizeText(state[name])).querySelector("input");
      input.id = unique("field");
      const slider = h("input", { type: "range", min: least, max: Math.min(most, 64), value: Math.max(...state[name]), "aria-label": `${label}, as a slider`,
        oninput: () => {
          input.value = slider.value;
          this.change(name, slider.value, false);
        }, onchange: () => this.change(name, slider.value) });
      const by = (sign, step, words) => h("button", { type: "button", tabindex: "-1", "aria-label": `${label}: ${words}`, onclick: () => this.spin(name, input, step) }, sign);
      return h("div", { class: "field" }, h("label", { for: input.id }, h("span", {}, label)),
        h("div", { class: "stepper" }, by("−", -1, "decrease"), input, by("+", 1, "increase")), slider);
    };
    const words = Object.fromEntries(paddingWords(state).map((word) => [word, word.toUpperCase()]));
    const spelled = typeof state.p === "string";
    if (spelled && !Object.hasOwn(words, state.p)) words[state.p] = state.p.toUpperCase();
    const pads = [
      choice("p", "padding", { ...words, [spelled ? "1" : state.p.join(",")]: "numbers" }, spelled ? state.p : state.p.join(",")),
      spelled ? null : number("p", "top, bottom, left, right", state.p.join(", ")),
    ];
    const [transposed, pool] = [state.op === "transpose", isPool(state)];
    const flag = (name, label) => choice(name, label, { 0: "no", 1: "yes" }, String(Number(state[name])));
    const [n, k, s, d, ...channels] = Object.keys(FIELDS);
    const usual = defaultState();
    this.rest.open ||= [d, ...channels, "as"].some((name) => String(state[name]) !== String(usual[name]));
    keepFocus(this.form, () => this.form.replaceChildren(...[
      choice("op", "operation", OPERATIONS, state.op),
      ...[n, k, s].map((name) => field(name, pool && name === k ? "window" : undefined)),
      ...pads,
    ].filter(Boolean)));
    keepFocus(this.more, () => this.more.replaceChildren(...[
      pool ? null : choice("as", "framework", FRAMEWORKS, state.as),
      field(d),
      transposed ? this.sizes(choice, number) : null,
      transposed ? number("op_pad", "output_padding", state.op_pad ? sizeText(state.op_pad) : "", "none") : null,
      pool ? flag("ceil", "ceil_mode") : null,
      state.op === "avg_pool" ? flag("counted", "count padding") : null,
      ...channels.slice(0, pool ? 1 : undefined).map((name) => field(name, pool ? "channels" : undefined)),
    ].filter(Boolean)));
    for (const name of Object.keys(this.wrong)) if (!this.fields.querySelector(`input[name=${name}]`)) delete this.wrong[name];
  }

  /** The field for the output size of a transposed call: the legal sizes, where they are known. */
  sizes(choice, number) {
    const { state } = this;
    const value = state.size ? state.size.join(",") : "";
    if (state.as !== "tensorflow") return state.as === "onnx" ? number("size", "output_shape", value, "not set") : null;
    try {
      const { name, shapes, words } = callOf({ ...state, size: null, op_pad: null });
      const { rows, cols } = resolve(name, shapes, words).geometry;
      const options = rows.legal_sizes.flatMap((r) => cols.legal_sizes.map((q) => [`${r},${q}`, `${r} × ${q}`])).slice(0, 100);
      return choice("size", "output_shape", { "": "not set", ...Object.fromEntries(options) }, value);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return number("size", "output_shape", value, "not set");
    }
  }

  /** Add `by` to every number of a field. */
  spin(name, input, by) {
    this.change(name, input.value.replace(/-?\d+/g, (digits) => String(Number(digits) + by)) || "0");
  }

  // ---- the picture ----

  draw() {
    const { state } = this;
    this.stale("");
    let made;
    try {
      made = this.document(state);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.refused(error);
    }
    const { channels, on, tap, modes, step, quiz } = state; // drawing clears these
    if (this.app) this.app.draw(this.data(made));
    else {
      this.app = mount(this.stage, this.data(made), {
        sections: this.sections(), shows: (...shown) => this.ready && this.shows(...shown), edit: (...edit) => this.edit(...edit), move: (cell) => this.move(cell),
        lens, image: () => this.image(), takeImage: (_, file) => this.file("x", file), refilter: (_, changes) => this.refilter(changes),
      });
    }
    this.ready = true;
    showAgain(this.app, { channels, on, tap, modes, step, quiz });
    const drawn = resolve(this.call.name, this.call.shapes, this.call.words);
    this.mark();
    this.facts.replaceChildren(...factsOf(isPool(state) ? { ...drawn, geometry: poolGeometry(drawn.geometry, poolOf(state).pool.ceil) } : drawn, isPool(state)));
  }

  /** Say why the picture is stale: it shows the last legal call, not the one in the fields; or "" if it is not. */
  stale(why) {
    const on = Boolean(why);
    this.say(why);
    for (const part of [this.stage, this.facts]) Object.assign(part, { inert: on, ariaDisabled: String(on) }).classList.toggle("stale", on);
    this.help.hidden = !on;
  }

  /** Show why a call is refused, where the filter hangs over, which padding would be legal, and the last legal call in grey. */
  refused(error) {
    const { state } = this;
    if (!this.app) { // no call was legal so far
      this.state = defaultState();
      this.arrays();
      this.draw();
      this.state = state;
      this.arrays();
    }
    this.stale(error.message);
    this.help.replaceChildren(...remedies(state, (p) => this.change("p", p)));
    this.mark();
  }

  data(call) {
    return { call, variants: { controls: [], table: {}, left_out: 0 }, beside: null, playground: true };
  }

  /** The document of a state; of its TensorFlow call if the chosen framework has no such call. */
  document(state) {
    const value = (array) => (cell) => array.numbers[positionOf(cell, array.shape)];
    const values = { source: value(this.x), filter: value(this.w) };
    const made = (as) => {
      const { call, pool } = isPool(state) ? poolOf(state) : { call: callOf({ ...state, as }), pool: null };
      this.call = call;
      const drawn = callDocument(call.name, call.shapes, call.words, values, state.at && [0, ...state.at, 0], pool);
      return drawn.shown ? { ...drawn, overview: { image: imageOf(this.x.numbers, this.x.shape), numbers: null, moves: true } } : drawn;
    };
    try {
      return made(state.as);
    } catch (error) {
      if (!(error instanceof Refusal) || state.as === "tensorflow" || isPool(state)) throw error;
      let other;
      try {
        other = made("tensorflow");
      } catch {
        throw error; // TensorFlow refuses it too
      }
      const framework = FRAMEWORKS[state.as];
      const why = error instanceof Wordless ? error.message : `${framework} refuses this: ${error.message}.`;
      this.say(`${why} The picture shows the call of TensorFlow, which is translated to ${framework} below.`);
      return other;
    }
  }

  // ---- sections of the page ----

  sections() {
    return [
      { name: "calls", title: "The same call in every framework", open: true, content: () => this.callsPanel() },
      { name: "numbers", title: "Your numbers: type, paste, drop a file", open: false, content: () => this.numbersPanel() },
    ];
  }

  callsPanel() {
    if (isPool(this.state)) return this.poolPanel();
    const { name, shapes, words } = this.call;
    return h("div", { class: "calls" }, Object.keys(FRAMEWORKS).map((to) => {
      const { code, why, notes } = translate(name, shapes, words, to);
      const copy = copyButton(() => code, `copy the call of ${FRAMEWORKS[to]}`);
      return h("article", { "data-framework": to },
        h("h3", {}, FRAMEWORKS[to], code ? copy : null),
        notes.map((note) => h("p", { class: "note" }, note)),
        code ? h("pre", { tabindex: "0" }, code.trimEnd()) : h("p", {}, `not possible: ${why}`));
    }));
  }

  /** Python code that translates a pool to every framework. */
  poolPanel() {
    const text = poolOf(this.state).pool.code.replace(/(input|X) (\[[^\]]*\])/, "$2");
    const [name, words] = [text.slice(0, text.indexOf("(")), text.slice(text.indexOf("(") + 1, -1)];
    const code = `for to in ${JSON.stringify(Object.keys(FRAMEWORKS))}:\n    print(tc.translate(${name}, ${words}, to=to))`;
    return h("div", { class: "calls" }, h("article", {}, h("h3", {}, "Python", copyButton(() => code, "copy the translation")), h("pre", { tabindex: "0" }, code)));
  }

  numbersPanel() {
    return h("div", { class: "arrays" }, (isPool(this.state) ? ["x"] : ["x", "w"]).map((side) => this.arrayPanel(side)));
  }

  arrayPanel(side) {
    const { shape, numbers } = this[side];
    const title = side === "x" ? "input" : "filters";
    const custom = Array.isArray(this.state[side]);
    const preset = h("select", { "aria-label": `numbers of the ${title}`, onchange: () => this.change(side, preset.value) },
      custom ? h("option", { selected: true }, "your own") : null,
      Object.keys(PRESETS[side]).map((name) => h("option", { selected: name === this.state[side] }, name)));
    const area = h("textarea", { rows: 8, spellcheck: "false", "aria-label": `${title} as comma-separated values` });
    area.value = toCsv(numbers, shape, side === "w");
    const use = h("button", { type: "button", onclick: () => this.use(side, () => fromCsv(area.value)) }, "use these numbers");
    const copy = copyButton(() => area.value, `copy the numbers of the ${title}`);
    const file = h("input", { type: "file", accept: ".npy,.csv,.txt,image/*", "aria-label": `a file for the ${title}`, onchange: () => this.file(side, file.files[0]) });
    const save = h("button", { type: "button", onclick: () => download(`${title}.npy`, toNpy(numbers, shape)) }, "save .npy");
    return h("section", {}, h("h3", {}, `${title} [${shape.join(", ")}]`), h("p", {}, preset, copy, save),
      area, h("p", {}, use, file),
      h("p", {}, "One line per row; an empty line between channels. You can also double-click a cell, or drop a file on this page."));
  }

  /** Use an array that was typed, pasted or dropped; the input or the filter takes its size. */
  use(side, read) {
    try {
      const { sizes: [rows, cols, planes], at, depth, note = "" } = read();
      const { state } = this;
      const numbers = Array.from({ length: rows * cols * planes }, (_, i) => at(Math.floor(i / planes / cols), Math.floor(i / planes) % cols, i % planes));
      if (side === "x") {
        state.n = [rows, cols];
        if (planes !== state.c[0]) state.w = Array.isArray(state.w) ? defaultState().w : state.w;
        state.c = [planes];
        if (planes % state.g[0]) state.g = [1];
        state.x = numbers;
      } else {
        const [, , wanted, outs] = canonicalShapes(state).filter;
        const one = depth ?? (planes % wanted === 0 ? wanted : planes);
        state.k = [rows, cols];
        if (one !== wanted || planes !== wanted * outs) {
          const transposed = state.op === "transpose";
          const before = state.c[0];
          Object.assign(state, { g: [1] }, transposed ? { o: [one], c: [planes / one] } : { c: [one], o: [planes / one] });
          if (state.c[0] !== before && Array.isArray(state.x)) state.x = defaultState().x; // of another number of channels
        }
        state.w = numbers;
      }
      Object.assign(state, { at: null, size: null });
      this.arrays();
      if (side === "x") this.x.note = note;
      this.push();
      this.buildForm();
      this.draw();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(error.message);
    }
  }

  async file(side, file) {
    if (!file) return;
    try {
      const array = file.name.endsWith(".npy") ? fromNpy(await file.arrayBuffer())
        : file.type.startsWith("image/") ? await fromImage(file)
        : fromCsv(await file.text());
      this.use(side, () => array);
    } catch (error) {
      this.say(`${file.name}: ${error.message}`);
    }
  }

  /** The whole input, for the lens: the same object until a number changes. */
  image() {
    const { shape, numbers, note } = this.x;
    return (this.x.image ??= { shape: shape.slice(1), numbers, note });
  }

  /** Change some weights; null restores those of a new page. */
  refilter(changes) {
    for (const [cell, number] of changes ?? []) this.w.numbers[positionOf(cell, this.w.shape)] = number;
    this.state.w = changes ? [...this.w.numbers] : defaultState().w;
    if (!changes) this.arrays();
    this.push();
    this.draw();
  }

  /** Use a number that the reader typed into a cell. */
  edit(side, cell, number) {
    const name = side === "filter" ? "w" : "x";
    if (name === "w" && isPool(this.state)) return this.say("the window of a pool has no weights");
    const array = this[name];
    array.numbers[positionOf(cell, array.shape)] = number;
    this.state[name] = [...array.numbers];
    this.arrays();
    this.push();
    this.draw();
  }
}

/** Draw the playground in an element; `photo` has the bytes of a grey image, in base64. */
export function playground(root, home = "", photo = null) {
  if (photo) {
    const bytes = atob(photo.bytes);
    PRESETS.x["a photo"] = ([, r, q]) => (r < photo.rows && q < photo.cols ? bytes.charCodeAt(r * photo.cols + q) : 0);
  }
  return new Playground(root, home);
}
