"""The beginning of a page, its tour, and a teacher's story, in a real browser."""

import time

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import integers, wait_for

import teachconv as tc

X, W = integers(1, 6, 6, 2), integers(3, 3, 2, 2)
CALLS = {
    "conv2d": lambda: tc.explore(tc.conv2d, X, W, 2, "SAME", budget=1),
    "conv2d_transpose": lambda: tc.explore(tc.conv2d_transpose, X[:, :4, :4], W, None, 2, "SAME", budget=1),
    "conv2d_backprop_filter": lambda: tc.explore(
        tc.conv2d_backprop_filter, X, (3, 3, 2, 2), integers(1, 3, 3, 2), 2, "SAME", budget=1
    ),
}
STORY = [
    ("Here we begin.", (0, 1, 2, 1), None, ["source", "result"]),
    ("The third product.", (0, 0, 0, 0), 2, "products"),
    ("All of it.",),
]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tour")
    saved = {name: call().save(folder / f"{name}.html") for name, call in CALLS.items()}
    saved["story"] = tc.explore(tc.conv2d, X, W, 2, "SAME", story=STORY, budget=1).save(folder / "story.html")
    return saved | {"playground": tc.playground().save(folder / "playground.html")}


class Address:
    """A page at an address."""

    def __init__(self, path, hash_):
        self.uri = path.as_uri() + hash_

    def as_uri(self):
        return self.uri


NOW = """
const ink = getComputedStyle(document.querySelector(".tcx")).color; // the sum is dimmed by its colour: it covers what scrolls below it
const lit = (selector) => { const e = document.querySelector(selector), style = e && getComputedStyle(e); return e && Number(style.opacity) === 1 && (selector !== ".headline" || style.color === ink); };
return { caption: document.querySelector(".caption p").textContent, hash: location.hash, headline: document.querySelector(".headline").textContent,
  lit: [".stage .grid:nth-of-type(1)", ".stage .grid:nth-of-type(2)", ".unfold", ".headline", ".stage .grid:nth-of-type(3)"].map(lit),
  later: document.querySelectorAll(".product.later").length, touring: document.querySelector(".touring") !== null }
"""


@needs_browser
@pytest.mark.parametrize("name", CALLS)
def test_five_steps_of_one_short_sentence(driver, paths, name):
    page = Page(driver, paths[name], width=1280, height=800)
    before = page.look()["headline"]
    for step in range(1, 6):
        page.press(" ")
        now = page.run(NOW)
        number, _, sentence = now["caption"].partition(" ")
        assert number == f"{step}/5"
        assert 3 < len(sentence.split()) <= 15, sentence
        assert now["hash"] == f"#step={step}"
        assert True in now["lit"]
        assert False in now["lit"] or step == 5  # something is dimmed
        box = "const { bottom } = document.querySelector('.caption').getBoundingClientRect(); return bottom"
        assert page.run(box) <= 800
    page.press(" ")
    now = page.run(NOW)
    assert (now["caption"], now["hash"], now["touring"]) == ("Point at any cell.", "", False)
    assert now["lit"] == [True] * 5
    page.press(" ", "\ue014", "\ue014", "\ue012")  # right, right, left
    assert page.run(NOW)["hash"] == "#step=2"
    page.press("\ue00c")  # Escape
    assert page.run(NOW)["hash"] == ""
    assert before
    assert page.complaints() == []


@needs_browser
def test_an_address_opens_a_step_and_a_click_ends_the_tour(driver, paths):
    driver.get("about:blank")
    page = Page(driver, Address(paths["conv2d"], "#step=3"), motion=True)
    now = page.run(NOW)
    assert now["caption"].startswith("3/5 The 18 products add up")
    time.sleep(0.3)
    assert page.run("return document.querySelector('.playing')") is None  # what was asked for stays
    page.run("const back = document.querySelector('.caption .back'); back.focus(); back.click();")
    assert page.run(NOW)["hash"] == "#step=2"
    assert page.run("return document.activeElement.className") == "back"
    page.run('document.querySelector(\'.stage .grid:nth-of-type(3) [data-row="0"][data-col="1"]\').click()')
    now = page.run(NOW)
    assert (now["touring"], now["hash"], now["headline"].split(" = ")[0]) == (False, "", "output[0, 0, 1, 0]")
    assert page.complaints() == []


@needs_browser
def test_a_teachers_story(driver, paths):
    page = Page(driver, paths["story"])
    now = page.run(NOW)  # it opens on its first step
    value = float(tc.conv2d(X, W, 2, "SAME")[0, 1, 2, 1])
    assert now["caption"] == "1/3 Here we begin."
    assert now["headline"] == f"output[0, 1, 2, 1] = {value:.0f}"
    assert now["lit"] == [True, False, False, False, True]
    page.press(" ")
    now = page.run(NOW)
    tap = tc.explain(tc.conv2d, X, W, 2, "SAME", at=(0, 0, 0, 0)).taps[2]
    assert now["headline"] == f"output[0, 0, 0, 0] so far {tap.running_sum:.0f}"
    assert now["later"] == 18 - 3
    assert now["lit"] == [False, False, True, False, False]
    page.press(" ")
    assert page.run(NOW)["lit"] == [True] * 5
    page.press(" ")
    assert page.all(".caption .on")[0].text == "▷ three steps"
    driver.get("about:blank")
    page = Page(driver, Address(paths["story"], "#step=2"))
    assert page.run(NOW)["caption"] == "2/3 The third product."
    driver.get("about:blank")
    page = Page(driver, Address(paths["story"], "#at=1,1"))
    assert page.run(NOW)["headline"].startswith("output[0, 1, 1, ")  # for a cell, not for the story
    assert page.complaints() == []


@needs_browser
def test_an_address_that_is_typed_into_an_open_page_is_shown(driver, paths):
    driver.get("about:blank")
    page = Page(driver, Address(paths["conv2d"], "#at=1,1"))

    def go(address):
        page.run("location.hash = arguments[0]; return new Promise((done) => setTimeout(done, 100))", address)

    go("at=1,2")
    assert "[0, 1, 2, " in page.look()["headline"]
    go("step=2")
    assert page.run(NOW)["caption"].startswith("2/5")
    go("at=0,1")
    assert "[0, 0, 1, " in page.look()["headline"]
    assert page.run("return document.querySelector('.touring')") is None
    go("quiz=1,1,0")
    assert page.run("return document.querySelector('.quizzing') !== null")
    go("at=2,1")
    assert "[0, 2, 1, " in page.look()["headline"]
    go("present")
    assert page.run("return document.querySelector('.presenting') !== null")
    go("at=0,0")
    assert page.run("return document.querySelector('.presenting, .quizzing')") is None
    assert page.complaints() == []


@needs_browser
def test_a_sum_of_all_taps_is_no_longer_so_far(driver, paths, tmp_path):
    told = [("Nearly.", (0, 0, 0, 0), 7), ("All.", (0, 0, 0, 0), 8)]
    x, w = integers(1, 5, 5, 1), integers(3, 3, 1, 1)
    for name, words, last in (
        ("plain", {}, "="),
        ("bias", {"bias": np.ones(1, "float32")}, "so far"),  # the bias is still to come
    ):
        path = tc.explore(tc.conv2d, x, w, story=told, budget=1, **words).save(tmp_path / f"{name}.html")
        page = Page(driver, path)
        assert " so far " in page.look()["headline"]
        page.press(" ")
        total = tc.conv2d(x, w)[0, 0, 0, 0]
        assert page.look()["headline"] == f"output[0, 0, 0, 0] {last} {total:.0f}"
        assert page.complaints() == []


@pytest.mark.parametrize(
    ("step", "kind", "match"),
    [
        ("text", TypeError, "each step of story must be"),
        ((1,), TypeError, "each step of story must be"),
        (("text", (0, 9, 0, 0)), IndexError, "at"),
        (("text", None, -1), ValueError, "tap must be"),
        (("text", None, None, "filter"), ValueError, "focus must be one of source"),
    ],
)
def test_a_step_that_is_not_legal_is_refused(step, kind, match):
    with pytest.raises(kind, match=match):
        tc.explore(tc.conv2d, X, W, 2, "SAME", story=[step])


def test_a_story_is_a_list():
    with pytest.raises(TypeError, match="story must be a list of steps.*got 'text'"):
        tc.explore(tc.conv2d, X, W, 2, "SAME", story="text")


@needs_browser
def test_the_playground_keeps_the_step_in_its_address(driver, paths):
    driver.get("about:blank")
    page = Page(driver, Address(paths["playground"], "#conv2d&n=6&k=3&s=1&p=same&step=2"))
    assert page.run(NOW)["caption"].startswith("2/5 ")
    page.press(" ")
    assert page.run("return location.hash").endswith("&step=3")
    assert page.complaints() == []


# ---------------------------------------------------------------------------------------------
# The beginning
# ---------------------------------------------------------------------------------------------


@needs_browser
def test_a_page_opens_with_three_windows_and_one_cell_tap_by_tap(driver, tmp_path):
    x, w = integers(1, 6, 6, 1), integers(2, 2, 1, 1)
    page = Page(driver, tc.explore(tc.conv2d, x, w, budget=1).save(tmp_path / "page.html"), motion=True)
    page.run(
        """window.seen = [];
        setInterval(() => {
          const [cell, later] = [document.querySelector(".position").textContent, document.querySelectorAll(".product.later").length > 0];
          if (seen.at(-1)?.join() !== [cell, later].join()) seen.push([cell, later]);
        }, 20);"""
    )
    wait_for(page, "return document.querySelector('.play').textContent.endsWith('pause')")
    wait_for(page, "return document.querySelector('.play').textContent.endsWith('play')")
    assert page.run("return window.seen") == [
        ["1 / 25", False],
        ["2 / 25", False],
        ["3 / 25", False],
        ["4 / 25", True],
        ["4 / 25", False],
    ]
    assert page.run("return document.querySelectorAll('.ahead, .later').length") == 0
    assert page.run(NOW)["caption"] == "Point at any cell."


@needs_browser
def test_a_page_says_what_it_is_in_one_line(driver, paths):
    lines = {}
    for name in CALLS:
        page = Page(driver, paths[name])
        lines[name] = page.all(".people")[0].text
        assert page.run("return [...document.querySelectorAll('details')].some((e) => e.open)") == (
            name == "conv2d_transpose"  # four ways, of a small call
        )
    assert lines == {
        "conv2d": "Each output cell is the sum of up to 18 products; the window moves 2 cells.",
        "conv2d_transpose": "Each input cell stamps the filter, times its value, on the output; the stamp moves 2 cells; overlaps add up.",
        "conv2d_backprop_filter": "Each weight's gradient is the sum of up to 9 products: what the weight met, times the gradient there.",
    }


@needs_browser
def test_the_line_says_how_many_products_a_cell_has(driver, tmp_path):
    """Its number holds for every cell: "up to" where some have fewer, as explain counts them."""
    x, w = integers(1, 6, 5, 2), integers(3, 3, 2, 1)
    crop = [[0, 0], [-1, 0], [0, -1], [0, 0]]
    for op, rest in (
        (tc.conv2d, (1, "VALID")),
        (tc.conv2d, (1, "SAME")),
        (tc.conv2d, (2, "SAME")),
        (tc.conv2d, (1, crop)),
        (tc.conv2d, (2, [[0, 0], [0, 1], [0, 0], [0, 0]])),  # a row of padding that no window reaches
        (tc.conv2d_backprop_filter, (1, "VALID")),
        (tc.conv2d_backprop_filter, (2, "SAME")),
    ):
        filters = w.shape if op is tc.conv2d_backprop_filter else w
        dy = (np.ones(tc.conv2d(x, w, *rest).shape, x.dtype),) if op is tc.conv2d_backprop_filter else ()
        args = (x, filters, *dy, *rest)
        counts = {
            sum(not tap.in_padding for tap in tc.explain(op, *args, at=at).taps)
            for at in np.ndindex(op(*args).shape)
        }
        page = Page(driver, tc.explore(op, *args, budget=1).save(tmp_path / "page.html"))
        line = page.all(".people")[0].text
        number = f"{max(counts)} products"
        assert f"the sum of {'up to ' if len(counts) > 1 else ''}{number}" in line, (rest, counts, line)


@needs_browser
def test_the_playground_says_what_it_is_and_where_to_begin(driver, paths, tmp_path):
    driver.get("about:blank")
    page = Page(driver, Address(paths["playground"], ""), width=1280, height=800)
    tops = page.run(
        "return ['[role=heading]', '.call', '.stage'].map((s) => document.querySelector(s).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    assert tops[-1] < 320  # the picture is seen
    assert page.run("return document.querySelector('.call').getBoundingClientRect().height") < 90  # one row
    page.run("document.querySelector('.rest').open = true")
    beginnings = page.all(".beginnings button")
    assert len(beginnings) == 9
    for number in range(9):
        page.all(".beginnings button")[number].click()
        assert page.run(
            "return [document.querySelector('.stale'), document.querySelector('.head .message').hidden]"
        ) == [None, True]
    assert page.run("return document.querySelector('h1 code').textContent").startswith("tc.conv2d_transpose(")
    assert page.complaints() == []


@needs_browser
def test_steppers_and_sliders_set_a_number(driver, paths):
    driver.get("about:blank")
    page = Page(driver, Address(paths["playground"], "#conv2d&n=6&k=3&s=1&p=same"))
    heading = "return document.querySelector('h1 code').textContent"
    page.run("document.querySelector('[aria-label=\"input: increase\"]').click()")
    assert "input [1, 7, 7, 1]" in page.run(heading)
    page.run("document.querySelector('[aria-label=\"stride, as a slider\"]').focus()")
    page.press("\ue014")
    assert "strides=2" in page.run(heading)
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "stride, as a slider"
    assert page.run("return location.hash").startswith("#conv2d&n=7&k=3&s=2")
    before = page.run("return history.length")
    page.run(
        """const slider = document.querySelector('[aria-label="filter, as a slider"]');
        for (const value of [4, 5]) { slider.value = value; slider.dispatchEvent(new Event("input")); }
        window.same = slider.isConnected;"""
    )
    assert "filters [5, 5, 1, 1]" in page.run(heading)
    assert page.run("return [window.same, history.length]") == [
        True,
        before,
    ]  # while it slides, nothing is a step back
    assert page.complaints() == []


def test_the_first_cell_is_an_inner_one():
    def first(size, filter_size, stride, padding):
        x, w = np.ones((1, size, size, 1), "float32"), np.ones((filter_size, filter_size, 1, 1), "float32")
        explorer = tc.explore(tc.conv2d, x, w, stride, padding)
        taps = tc.explain(tc.conv2d, x, w, stride, padding, at=explorer._document.at).taps
        return explorer._document.at[1:3], sum(tap.in_padding for tap in taps)

    assert first(7, 3, 1, "SAME") == ((1, 1), 0)
    assert first(7, 3, 2, "SAME") == ((1, 1), 0)
    assert first(7, 3, 2, "VALID") == ((0, 0), 0)
    assert first(90, 3, 2, "SAME") == ((22, 22), 0)
    assert first(2, 5, 1, "SAME") == ((0, 0), 21)  # no window lies inside


# ---------------------------------------------------------------------------------------------
# Slides, and pages within other pages
# ---------------------------------------------------------------------------------------------


FILLED = """
const box = (selector) => document.querySelector(selector).getBoundingClientRect();
const planes = [...document.querySelectorAll(".stage .cells")].map((e) => e.getBoundingClientRect());
return { bottoms: [...planes, box(".caption"), box(".transport"), box(".headline")].map((b) => b.bottom), caption: box(".caption").top, planes: planes.map((b) => b.bottom),
  digits: parseFloat(getComputedStyle(document.querySelector(".stage .cell.current")).fontSize),
  others: [...document.querySelectorAll("header, .top, .legend, .tools, details, footer")].filter((e) => e.checkVisibility()).length };
"""


@needs_browser
@pytest.mark.parametrize(("address", "width", "height"), [("present", 1920, 1080), ("embed", 640, 360)])
def test_a_slide_and_a_frame_are_filled(driver, paths, address, width, height):
    for name in ("conv2d", "playground"):
        driver.get("about:blank")
        hash_ = f"#{address}&step=2" if name == "conv2d" else f"#conv2d&n=7&k=3&s=2&p=same&{address}&step=2"
        page = Page(driver, Address(paths[name], hash_), width=width, height=height)
        seen = page.run(FILLED)
        assert max(seen["bottoms"]) <= height, (name, seen)
        assert seen["caption"] >= max(seen["planes"]) - 1
        assert seen["others"] == 0
        assert seen["digits"] >= (22 if height == 1080 else 11)
        assert f"{address}&step=2" in page.run("return location.hash").replace("step=2&embed", "embed&step=2")
        page.press("\ue00f")  # PageDown, as a clicker sends it
        assert page.run(NOW)["caption"].startswith("3/5")
        page.press("\ue00c", "\ue00c")  # Escape ends the tour, and then the slide
        assert page.run("return document.querySelector('.presenting')") is None
        assert address not in page.run("return location.hash")
        page.press("f")
        assert page.run("return document.querySelector('.presenting') !== null")
        page.all(".caption .whole")[0].click()  # without a keyboard
        assert page.run("return document.querySelector('.presenting')") is None
        assert page.complaints() == []


@needs_browser
def test_a_link_and_a_frame_to_copy(driver, paths):
    driver.get("about:blank")
    page = Page(driver, Address(paths["conv2d"], "#step=2"))
    page.run("window.copies = []; navigator.clipboard.writeText = async (text) => { copies.push(text); };")
    page.run(
        "for (const label of ['link', 'frame']) document.querySelector(`[aria-label='copy ${label} to what is shown'], [aria-label='copy ${label} of what is shown']`).click()"
    )
    link, frame = page.run("return copies")
    assert link == paths["conv2d"].as_uri() + "#step=2"
    assert f'<iframe src="{paths["conv2d"].as_uri()}#embed&step=2" title="tc.conv2d(' in frame
    copy = """const host = document.querySelector("[aria-label='the page around the frame']");
    copies.length = 0;
    for (const { value } of host.options) { host.value = value; document.querySelector("[aria-label='copy frame of what is shown']").click(); }
    return copies;"""
    html, reveal, quarto, book, myst = page.run(copy)
    assert html == frame
    assert f'<section data-background-iframe="{paths["conv2d"].as_uri()}#present&step=2"' in reveal
    assert quarto.split("\n") == ["```{=html}", frame, "```"]
    assert book.split("\n") == ["```{raw} html", frame, "```"]
    assert myst.startswith(f":::{{iframe}} {paths['conv2d'].as_uri()}#embed&step=2\n")
    page.press("\ue00c")  # a link to a cell
    page.run(
        """document.querySelector('.stage .grid:last-of-type [data-row="2"][data-col="0"]').click();
        copies.length = 0; document.querySelector("[aria-label='copy link to what is shown']").click();"""
    )
    (link,) = page.run("return copies")
    assert link == paths["conv2d"].as_uri() + "#at=2,0"
    driver.get("about:blank")
    page = Page(driver, Address(paths["conv2d"], "#at=2,0"))
    assert page.look()["headline"].startswith("output[0, 2, 0, 0]")
    assert page.complaints() == []
