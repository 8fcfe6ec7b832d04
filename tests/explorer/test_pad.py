"""The pad for digits: its preparation is Python's, the network reads what is drawn, and every way to draw works."""

import json
from importlib.resources import files

import digits_network
import numpy as np
import pytest
from browser import Page, needs_browser
from drawn_digits import as_drawn, prepare
from node import answers, needs_node
from recorders import record_drawn_digits
from recordings import RECORDED

from teachconv import graph as tg
from teachconv.data import digits
from teachconv.explorer.page import script, style

DRAWINGS = json.loads((RECORDED / "drawn_digits.json").read_text(encoding="utf-8"))["digits"]
LABELS = np.array([drawing["digit"] for drawing in DRAWINGS])


def on_the_pad(drawing):
    """The strokes of a drawing in fractions of the pad's side."""
    return [[[x / 1000, y / 1000] for x, y in stroke] for stroke in drawing["strokes"]]


STROKES = [on_the_pad(drawing) for drawing in DRAWINGS]


def answered(inputs):
    """The digits that the network answers to inputs from 0 to 1."""
    with tg.Session(digits_network.build(digits())) as session:
        session.run("init")
        return session.run("logits:0", {"images:0": np.float32(inputs).reshape(-1, 8, 8, 1)}).argmax(1)


@pytest.fixture(scope="module")
def on_the_page():
    """What the page makes of all drawings: 64 numbers each."""
    answer = answers(("elements", "pad"), "")
    return np.array(answer("(all) => all.map((strokes) => [...asInput(inkOf(strokes))])", STROKES))


# -- the drawings -------------------------------------------------------------------------------------


def test_twenty_drawings_a_class_of_varied_hands():
    assert np.bincount(LABELS).tolist() == [20] * 10
    heights = [np.ptp([y for stroke in strokes for _, y in stroke]) for strokes in STROKES]
    assert min(heights) < 0.4 < 0.7 < max(heights)
    points = [len(stroke) for strokes in STROKES for stroke in strokes]
    assert min(points) < 10 < 50 < max(points)  # quick hands and slow ones
    assert all(
        0 <= part <= 1 for strokes in STROKES for stroke in strokes for point in stroke for part in point
    )
    forms = {(drawing["digit"], drawing["form"]) for drawing in DRAWINGS}
    assert len(forms) == sum(map(len, record_drawn_digits.FORMS.values()))


def test_the_script_draws_what_is_recorded():
    drawn = record_drawn_digits.drawings(record_drawn_digits.A_CLASS, record_drawn_digits.SEED)
    for got, want in zip(drawn, DRAWINGS, strict=True):
        assert [len(stroke) for stroke in got["strokes"]] == [len(stroke) for stroke in want["strokes"]]
        for stroke, recorded in zip(got["strokes"], want["strokes"], strict=True):
            assert abs(np.array(stroke) - recorded).max() <= 1  # sines round differently on other machines
        assert {**got, "strokes": 0} == {**want, "strokes": 0}


# -- the preparation ----------------------------------------------------------------------------------


@needs_node
def test_the_page_prepares_as_python_does(on_the_page):
    assert (on_the_page == [prepare(strokes).ravel() / 16 for strokes in STROKES]).all()


@needs_node
def test_unusual_drawings_are_prepared_as_in_python():
    unusual = {
        "nothing": [],
        "a stroke without points": [[]],
        "a dot": [[[0.2, 0.9]]],
        "a lying line": [[[0, 0.5], [1, 0.5]]],
        "a standing line": [[[0.5, 0], [0.5, 1]]],
        "the whole pad": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]],
        "a scribble": [np.random.default_rng(5).uniform(size=(300, 2)).round(3).tolist()],
    }
    answer = answers(("elements", "pad"), "")
    for name, counts in answer(
        "(all) => Object.entries(all).map(([name, strokes]) => [name, [...inkOf(strokes)]])", unusual
    ):
        assert counts == prepare(unusual[name]).ravel().tolist(), name


def test_a_standing_line_by_hand():
    """Its middle is at column 16 and its ends are at rows 2.5 and 29.5.

    At the radius 4 it has 8 columns of 32 rows, 256 cells, less those that are farther than 4 from an end: fewer than
    310, so the radius stays the largest. The rows 0 and 31 have their middles 2 from the ends, and reach over
    sqrt(16 - 4) = 3.46 columns at each side: 3 columns, whose middles are 0.5, 1.5 and 2.5 away; at 3.5 there is none.
    """
    counts = prepare([[[0.4, 0.2], [0.4, 0.7]]])
    assert counts[:, [0, 1, 2, 5, 6, 7]].sum() == 0
    assert counts[:, [3, 4]].T.tolist() == [[15, *[16] * 6, 15]] * 2


def test_the_place_and_the_size_of_a_drawing_do_not_matter():
    """The numbers are powers of two apart, so that the scaled points are the same to the last bit."""
    four = [[[0.25, 0.125], [0.125, 0.3125], [0.375, 0.3125]], [[0.3125, 0.1875], [0.3125, 0.375]]]
    moved = [[[x * 2 + 0.125, y * 2 + 0.0625] for x, y in stroke] for stroke in four]
    assert prepare(four).tolist() == prepare(moved).tolist()
    assert (as_drawn(four, 0.08) != as_drawn(moved, 0.08)).any()


def test_prepared_drawings_have_the_size_and_the_ink_of_the_training_images():
    theirs = digits()["images"][..., 0].astype(int)
    ours = np.array([prepare(strokes) for strokes in STROKES])
    assert theirs[:, [0, 7]].any(2).all()
    assert ours[:, [0, 7]].any(2).all()
    assert abs(ours.sum((1, 2)).mean() / theirs.sum((1, 2)).mean() - 1) < 0.04
    assert abs(ours.mean(0).sum(0) - theirs.mean(0).sum(0)).max() < 16  # by column, of 128


# -- the network --------------------------------------------------------------------------------------


@needs_node
def test_the_network_reads_what_the_page_prepares(on_the_page):
    with np.load(files("teachconv.data") / "digits.npz") as file:
        accuracy = json.loads(str(file["meta"]))["accuracy"]
    right = (answered(on_the_page) == LABELS).mean()
    assert right >= 0.9
    assert right == accuracy["drawn"]
    raw = np.array([as_drawn(on_the_pad(one), one["pen"] / 1000) for one in DRAWINGS]) / 16
    assert (answered(raw) == LABELS).mean() == accuracy["drawn, not prepared"] < 0.5
    assert accuracy["drawn in a last form, by the network without"] > 0.9
    assert accuracy["test images"] > 0.97


# -- the pad in a browser -----------------------------------------------------------------------------

_PAGE = """
window.inputs = [];
window.touches = 0;
window.keyed = [];
window.made = pad(document.querySelector("main"), { onInput: (values) => window.inputs.push([...values]), onFirstTouch: () => { window.touches += 1; }, onKeys: (used) => { window.keyed.push(used); } });
"""
_SHOWN = """
const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
return painted().then(() => ({
  strokes: made.strokes(), inputs: window.inputs, touches: window.touches, line: [...document.querySelectorAll("polyline")].map((line) => line.getAttribute("points")),
}));
"""


@pytest.fixture
def opened(driver, tmp_path):
    """The pad on a page of its own."""
    path = tmp_path / "pad.html"
    path.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><title>a pad</title>'
        f"<style>:root {{ color-scheme: light dark }} {style()} main {{ width: 320px }}</style><main class='tcx'></main>"
        f'<script type="module">{script(("elements", "pad"))}\n{_PAGE}</script>',
        encoding="utf-8",
    )
    page = Page(driver, path, width=800, height=900)
    yield page
    assert page.complaints() == []


def follow(page, strokes, kind="mouse"):
    """Draw strokes with a real pointer."""
    box = page.run("return document.querySelector('.surface').getBoundingClientRect().toJSON()")
    for stroke in strokes:
        places = [
            {"x": box["left"] + x * box["width"], "y": box["top"] + y * box["height"]} for x, y in stroke
        ]
        for name, place in [
            ("start", places[0]),
            *(("move", place) for place in places[1:]),
            ("end", places[-1]),
        ]:
            if kind == "touch":
                points = [] if name == "end" else [place]
                event = {"type": f"touch{name.capitalize()}", "touchPoints": points}
                page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)
            else:
                word = {"start": "Pressed", "move": "Moved", "end": "Released"}[name]
                event = {"type": f"mouse{word}", "button": "left", "buttons": 1, "clickCount": 1, **place}
                page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


@needs_browser
def test_digits_that_are_drawn_with_a_mouse_are_read(opened):
    for strokes in STROKES[:10]:
        opened.run("made.clear()")
        follow(opened, strokes)
        shown = opened.run(_SHOWN)
        assert [len(stroke) > 1 for stroke in shown["strokes"]] == [True] * len(strokes)
        for got, want in zip(shown["strokes"], strokes, strict=True):
            assert abs(np.array([got[0], got[-1]]) - [want[0], want[-1]]).max() < 0.005
        counts = prepare(shown["strokes"]).ravel()
        assert shown["inputs"][-1] == (counts / 16).tolist()
        assert len(shown["line"]) == len(strokes)
    answers_seen = answered(
        [opened.run("made.draw(arguments[0]); return window.inputs.at(-1)", s) for s in STROKES[:10]]
    )
    assert (answers_seen == LABELS[:10]).all()


@needs_browser
def test_a_finger_draws_and_the_first_touch_takes_the_place_of_what_the_page_drew(opened):
    opened.run("made.draw(arguments[0])", STROKES[7])
    assert opened.run(_SHOWN)["strokes"] == STROKES[7]
    follow(opened, [[[0.5, 0.2], [0.5, 0.5], [0.5, 0.8]]], "touch")
    shown = opened.run(_SHOWN)
    assert shown["touches"] == 1
    assert len(shown["strokes"]) == 1
    assert shown["strokes"][0][0][1] < 0.25
    follow(opened, [[[0.3, 0.3], [0.4, 0.2]]], "touch")
    shown = opened.run(_SHOWN)
    assert (shown["touches"], len(shown["strokes"])) == (1, 2)  # the reader's own strokes stay
    opened.run("made.clear()")
    shown = opened.run(_SHOWN)
    assert (shown["strokes"], shown["line"]) == ([], [])
    assert shown["inputs"][-1] == [0] * 64


@needs_browser
def test_keys_draw_too(opened):
    from selenium.webdriver.common.keys import Keys

    surface = opened.all(".surface")[0]
    opened.run("document.querySelector('.surface').focus()")
    surface.send_keys(
        Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.SPACE, *[Keys.ARROW_DOWN] * 5, Keys.SPACE, Keys.ARROW_RIGHT
    )
    shown = opened.run(_SHOWN)
    assert shown["strokes"] == [[[0.46, y] for y in (0.46, 0.5, 0.54, 0.58, 0.62, 0.66)]]
    assert shown["touches"] == 1
    assert shown["inputs"][-1] == (prepare(shown["strokes"]).ravel() / 16).tolist()
    surface.send_keys(Keys.SPACE, Keys.ARROW_RIGHT, Keys.SPACE)
    assert len(opened.run(_SHOWN)["strokes"]) == 2
    surface.send_keys(Keys.BACKSPACE)
    assert opened.run(_SHOWN)["strokes"] == shown["strokes"]
    surface.send_keys(Keys.ESCAPE)
    assert opened.run(_SHOWN)["strokes"] == shown["strokes"]
    surface.send_keys(Keys.DELETE)
    assert opened.run(_SHOWN)["strokes"] == []
    assert opened.run("return window.keyed.at(-1)") is True
    follow(opened, [[[0.3, 0.3], [0.4, 0.2]]])
    assert opened.run("return window.keyed.at(-1)") is False
    assert "Space" in opened.run("return document.querySelector('.surface').getAttribute('aria-label')")


@needs_browser
def test_a_longer_line_needs_no_new_style(opened):
    """What a path has as attributes is style, which the browser would work out at every move."""
    opened.driver.execute_cdp_cmd("Performance.enable", {})

    def styles():
        metrics = opened.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return {metric["name"]: metric["value"] for metric in metrics}["RecalcStyleCount"]

    grow = """return (async () => {
      for (let i = 1; i <= arguments[0]; i++) {
        made.draw([[[0.2, 0.2], [0.2 + i / 100, 0.4]]]);
        await new Promise(requestAnimationFrame);
      }
    })()"""
    opened.run(grow, 1)
    before = styles()
    opened.run(grow, 40)
    assert styles() - before < 20
