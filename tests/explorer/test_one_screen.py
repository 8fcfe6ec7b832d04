"""At 1280 x 800 the windows, the sum and the buttons are on one screen, and nothing is cut off."""

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import integers, normal
from helpers import mostly_slow

import teachconv as tc
from teachconv.data import photo

pytestmark = needs_browser

SCREEN = 800
# the bottom of what has to be seen, and by how many pixels what may not scroll sideways is too wide
_SEEN = """
const bottom = (selector) => document.querySelector(selector).getBoundingClientRect().bottom;
const over = (selector) => Math.max(0, ...[...document.querySelectorAll(selector)].map((e) => e.scrollWidth - e.clientWidth));
const first = document.querySelector(".unfolded .products");
return { stage: bottom(".stage"), transport: bottom(".transport"), equation: (first ?? document.querySelector(".equation")).getBoundingClientRect().bottom,
  wide: over(".stage, .products, .channels-map, html") };
"""


def gradient():
    return tc.explore(
        tc.conv2d_backprop_input, (1, 7, 7, 2), integers(3, 3, 2, 2), integers(1, 4, 4, 2), 2, "SAME"
    )


def transposed():
    x, w = integers(1, 2, 4, 4), integers(2, 3, 3, 3)
    op = tc.dialects.torch.conv_transpose2d
    return tc.explore(op, x, w, stride=2, padding=1, output_padding=1)


def groups():
    return tc.explore(tc.depthwise_conv2d, integers(1, 6, 6, 3), integers(3, 3, 3, 2), 1, "SAME")


def image():
    w = np.random.default_rng(1).normal(size=(5, 5, 3, 16)).astype("float32")
    return tc.explore(tc.conv2d, photo()[None].astype("float32"), w, 2, "SAME", budget=1)


def image_at_full_size():
    return tc.explore(tc.conv2d, photo()[None].astype("float32"), normal(3, 3, 3, 1), 1, "SAME", budget=1)


def beside():
    x, w = integers(1, 6, 6, 1), integers(3, 3, 1, 1)
    return tc.explore(tc.conv2d, x, w, 2, "SAME", at=(0, 1, 1, 0)).beside(padding=1)


def large_filter():
    return tc.explore(tc.conv2d, integers(1, 12, 12, 1), integers(7, 7, 1, 1), 1, "SAME", budget=1)


def fractions():
    return tc.explore(tc.conv2d, normal(1, 8, 8, 1), normal(5, 5, 1, 1), 1, "SAME", budget=1)


@pytest.mark.parametrize(
    "picture",
    mostly_slow(
        [gradient, transposed, groups, image, image_at_full_size, beside, large_filter, fractions],
        gradient,
        image,
        beside,
    ),
    ids=lambda picture: picture.__name__,
)
def test_windows_sum_and_buttons_are_on_one_screen(driver, tmp_path, picture):
    page = Page(driver, picture().save(tmp_path / "page.html"), width=1280, height=SCREEN)
    seen = page.run(_SEEN)
    assert max(seen["stage"], seen["transport"], seen["equation"]) <= SCREEN, seen
    assert seen["wide"] == 0, seen


def test_a_low_and_wide_call_has_its_planes_below_each_other(driver, tmp_path):
    """So that their numbers can be read."""
    explorer = tc.explore(tc.conv2d, integers(1, 2, 20, 1), integers(1, 5, 1, 1), 1, "SAME", budget=1)
    page = Page(driver, explorer.save(tmp_path / "page.html"), width=1280, height=SCREEN)
    assert page.all(".stage.stacked")
    assert page.all(".stage .tiny") == []
    assert page.run(_SEEN)["transport"] <= SCREEN


def test_large_and_small_numbers(driver, tmp_path):
    """Two digits in a cell, four in the equation and the legend, and whole numbers whole."""
    x = np.full((1, 6, 7, 1), 3, "float32")
    x[0, :2, :2, 0] = [[123456789, -1.26e-7], [12345, 0.5]]
    explorer = tc.explore(tc.conv2d, x, np.ones((1, 1, 1, 1), "float32"), budget=1)
    page = Page(driver, explorer.save(tmp_path / "page.html"), width=1280, height=SCREEN)
    shown = {(cell["row"], cell["col"]): cell["text"] for cell in page.look()["grids"][0]["cells"]}
    assert [shown[place] for place in np.ndindex(2, 3)] == ["1.2e8", "-1e-7", "3", "12345", "0.5", "3"]
    assert "1.235e8" in page.all(".legend")[0].text
    page.run('document.querySelector(\'.stage .grid:last-of-type [data-row="1"][data-col="0"]\').click()')
    assert page.all(".product b")[0].text == "12345"
    sizes = page.run(
        "return [...document.querySelectorAll('.stage .grid:first-of-type .cell')]"
        ".map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert sizes[2] > sizes[0]  # a few long numbers do not make all of them small


def test_a_long_call_breaks_between_its_words(driver, tmp_path):
    page = Page(driver, transposed().save(tmp_path / "page.html"), width=390, height=844)
    text, lines = page.run(
        """const code = document.querySelector("h1 code"), range = document.createRange(), lines = [];
        let last = null;
        for (const node of code.childNodes) for (let i = 0; i < (node.data ?? "").length; i++) {
          range.setStart(node, i); range.setEnd(node, i + 1);
          const { top } = range.getBoundingClientRect();
          if (node.data[i] !== " " && last !== null && top > last + 2) lines.push("");
          if (!lines.length) lines.push("");
          lines[lines.length - 1] += node.data[i];
          if (node.data[i] !== " ") last = top;
        }
        return [code.textContent, lines];"""
    )
    assert "".join(lines) == text
    assert len(lines) > 2
    assert all(line[-1] in " ._(" for line in lines[:-1]), lines


def test_the_call_in_other_words_begins_with_its_own(driver, tmp_path):
    page = Page(driver, transposed().save(tmp_path / "page.html"), width=1280, height=SCREEN)
    assert page.run("return document.querySelector('.take-away select').value") == "torch"
