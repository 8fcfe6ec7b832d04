"""Every control of the explorer and of the playground, used at random by a reader with a keyboard and a mouse."""

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import integers, same

import teachconv as tc

pytestmark = needs_browser


# uses controls at random, each kind as often as the others, by the keyboard's focus and a click, a key or a choice;
# says for each step what was used, whether the focus is lost, and what the page shows then
WALK = """
let [steps, seed] = arguments;
const random = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 32; };
const one = (list) => list[Math.floor(random() * list.length)];
const shown = (e) => e.checkVisibility() && !e.disabled && !e.closest("[inert]") && e.getClientRects().length;
const kindOf = (e) => e.dataset.thumb ? "thumb" : e.dataset.channel ? "channel" : e.matches("fieldset input") ? "argument"
  : e.matches("[role=gridcell]") ? `cell of ${e.closest(".stage") ? "the stage" : "a panel"}` : e.matches("tbody tr") ? "row"
  : e.getAttribute("name") ? "field" : e.matches(".entry, .product, summary, textarea") ? e.classList[0] ?? e.localName
  : e.localName === "button" ? e.className || (e.getAttribute("aria-label") ?? e.textContent) : e.getAttribute("role") ?? e.type ?? e.localName;
const text = (e) => e?.textContent ?? "";
const use = (e, how) => {
  const fire = (type, Kind = Event, more = {}) => e.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, ...more }));
  if (e.matches("select")) { e.selectedIndex = Math.floor(random() * e.options.length); fire("change"); }
  else if (e.matches("input[type=range]")) { e.value = String(Math.floor(random() * (Math.min(Number(e.max), e.closest(".field") ? 5 : Infinity) + 1))); fire("input"); }
  else if (e.matches("input[name]:not([type=radio])")) { e.value = String(1 + Math.floor(random() * 5)); fire("change"); }
  else if (e.matches("input[type=file], textarea")) fire("input");
  else if (how === "key") fire("keydown", KeyboardEvent, { key: one(["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "Enter", " "]) });
  else {
    fire("pointerover", PointerEvent, { pointerType: "mouse" });
    e.dispatchEvent(new PointerEvent("pointerenter"));
    if (how === "click") e.click ? e.click() : fire("click", MouseEvent);
  }
};
const state = () => {
  const current = document.querySelectorAll(".stage .cell.current");
  return { value: text(document.querySelector(".headline output")), cell: current[0]?.getAttribute("aria-label") ?? "", marks: current.length,
    headline: text(document.querySelector(".headline")), heading: text(document.querySelector("h1 code")), message: text(document.querySelector(".message:not([hidden])")),
    later: document.querySelectorAll(".later, .ahead, .predicting").length, width: document.documentElement.scrollWidth };
};
const walk = async () => {
  const found = [], used = (window.used ??= {}); // from one call to the next
  window.saveds = 0;
  HTMLAnchorElement.prototype.click = () => { window.saveds += 1; };  // a download
  HTMLInputElement.prototype.click = function () { if (this.type !== "file") HTMLElement.prototype.click.call(this); }; // no chooser of files
  while (steps--) {
    const kinds = Map.groupBy([...document.querySelectorAll("button, select, input, textarea, summary, [tabindex='0'], [role=gridcell], .product, .entry, tbody tr")].filter(shown), kindOf);
    const least = Math.min(...[...kinds.keys()].map((kind) => used[kind] ?? 0));
    const kind = one([...kinds.keys()].filter((kind) => (used[kind] ?? 0) === least));
    used[kind] = (used[kind] ?? 0) + 1;
    const [e, how] = [one(kinds.get(kind)), one(["click", "click", "key", "hover"])];
    const element = e.outerHTML.slice(0, 160);
    const focusable = e.matches("button, select, input, textarea, summary, [tabindex]");
    if (focusable) e.focus({ preventScroll: true });
    use(e, how);
    const lost = focusable && document.activeElement === document.body;
    found.push({ kind, how, element, lost, ...state() });
    await new Promise((done) => setTimeout(done));
  }
  return found;
};
return walk();"""


def walk(page, steps, seed, needed):
    """Use controls at random; return what the page showed after each step."""
    found = []
    for part in range(0, steps, 20):
        page.run("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        found += page.run(WALK, min(20, steps - part), seed + part)
    assert page.complaints() == []
    for step in found:
        assert not step["lost"], step
        assert step["width"] <= 1280, step
        if at_rest(step):  # the selected cell's label, its number in the plane, and the headline are one
            assert step["marks"] == 1, step
            assert step["value"] == step["cell"].split(", ")[2], step
    used = {step["kind"] for step in found}
    assert needed <= used, (sorted(needed - used), sorted(used))
    return found


def at_rest(step):
    """Whether a step ends on a call that is legal, with the whole sum of one cell, and no question of the quiz."""
    return not step["message"] and not step["later"] and step["cell"] and "[" in step["headline"]


PAGES = {
    "channels and groups": (
        tc.conv2d,
        (integers(2, 5, 4, 4), integers(3, 2, 2, 4), 2, "SAME"),
        {"thumb", "channel", "product"},
    ),
    "transposed": (
        tc.conv2d_transpose,
        (integers(1, 3, 4, 2), integers(3, 3, 1, 2), None, 2),
        {"stamp", "cell of a panel", "entry"},
    ),
    "filter gradient": (
        tc.conv2d_backprop_filter,
        (integers(2, 4, 4, 2), (3, 3, 2, 2), integers(2, 2, 2, 2), 2, "SAME"),
        {"channel"},
    ),
    "a part of an image": (
        tc.conv2d,
        (integers(1, 44, 50, 3), integers(3, 3, 3, 2), 2, "SAME"),
        {"thumb", "overview"},
    ),
}
EVERYWHERE = {"argument", "copy", "theme", "play", "next cell", "previous cell", "next tap", "range"}
EVERYWHERE |= {"select-one", "grid", "row", "cell of the stage", "summary", "checkbox"}


LONG = [pytest.mark.slow, pytest.mark.release]  # random walks: a longer one is another one
LENGTHS = [pytest.param(60, marks=pytest.mark.slow), pytest.param(400, marks=LONG)]


@pytest.mark.parametrize(
    ("name", "steps"),
    [("channels and groups", 60)]
    + [pytest.param(name, 60, marks=pytest.mark.slow) for name in ("transposed", "filter gradient")]
    + [pytest.param(name, 100, marks=pytest.mark.slow) for name in PAGES if "image" in name]
    + [pytest.param(name, 400, marks=LONG) for name in PAGES if "image" not in name],
)
def test_every_control_can_be_used(driver, tmp_path, name, steps):
    """The console stays empty, the keyboard's focus is never lost, and a number is the same wherever it stands."""
    op, args, needed = PAGES[name]
    explorer = tc.explore(op, *args)
    if name == "channels and groups":
        explorer = explorer.beside(np.array(explorer.result) + 1)
    page = Page(driver, explorer.save(tmp_path / "page.html"), width=1280, height=800)
    walk(page, steps, len(name), needed | EVERYWHERE)


@pytest.mark.parametrize("steps", [120, pytest.param(800, marks=LONG)])
def test_a_walk_stays_with_what_python_computes(driver, tmp_path, steps):
    """After each step, the cell that is selected has the value of the call in the heading."""
    x, w = integers(1, 6, 5, 1), integers(3, 3, 1, 1)
    page = Page(driver, tc.explore(tc.conv2d, x, w, 2, "SAME").save(tmp_path / "page.html"), width=1280)
    compared = []
    for step in walk(page, steps, 3, EVERYWHERE):
        if not at_rest(step) or not step["headline"].startswith("output"):
            continue
        if "[3, 3, 1, 1]" not in step["heading"]:  # a filter of another size
            continue
        words = dict(part.split("=") for part in step["heading"].rstrip(")").split(", ") if "=" in part)
        padding = words.get("padding", "'VALID'").strip("'")
        y = tc.conv2d(
            x,
            w,
            int(words.get("strides", 1)),
            int(padding) if padding.isdigit() else padding,
            dilations=int(words.get("dilations", 1)),
        )
        at = tuple(map(int, step["headline"].split("[")[1].split("]")[0].split(", ")))
        assert same(step["value"], float(y[at])), step
        compared.append(step["heading"])
    assert len(compared) > 20


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize(
    "hash_",
    ["#conv2d&n=6&k=3&s=2&p=same&c=2&o=2", "#transpose&n=3&k=3&s=2&p=same"],
)
def test_every_control_of_the_playground(driver, tmp_path, hash_, steps):
    steps = max(steps, 120 if hash_.startswith("#transpose") else 90)  # it has more controls

    class Address:
        def as_uri(self):
            return path.as_uri() + hash_

    path = tc.playground().save(tmp_path / "playground.html")
    driver.get("about:blank")
    page = Page(driver, Address(), width=1280, height=800)
    needed = {"field", "save .npy", "use these numbers", "textarea", "file"}
    walk(page, steps, 7, needed | EVERYWHERE - {"argument"})
