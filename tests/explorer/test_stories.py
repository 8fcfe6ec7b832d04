"""The twelve stories of the docs: short sentences that are true of the calls, and pages that show each step."""

import sys
from pathlib import Path

import numpy as np
import pytest
from browser import Page, needs_browser
from helpers import mostly_slow

import teachconv as tc

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from explorer_stories import STORIES, W, integers


@pytest.fixture(scope="module")
def stories():
    return {name: told.page() for name, told in STORIES.items()}


def test_twelve_questions_and_short_sentences(stories):
    assert len(stories) == 12
    for name, explorer in stories.items():
        assert STORIES[name].make.__doc__.endswith("?")
        assert 4 <= len(explorer.story) <= 5
        for text, *_ in explorer.story:
            assert len(text.split()) <= 15, text
        assert len(explorer.html()) < 350_000
    sizes = [
        v["shapes"]["in"][1]
        for v in stories["seven_and_eight"].data()["variants"]["table"].values()
        if "shapes" in v
    ]
    assert 8 in sizes  # "Choose 8 × 8 above"


def test_what_the_stories_say_is_so(stories):
    said = {name: " ".join(step[0] for step in explorer.story) for name, explorer in stories.items()}
    assert "3 windows need 7 rows; the input has 6." in said["same_pads_below"]
    assert (
        "So 1 is missing: half of it, rounded down, goes above: 0. The rest goes below: 1."
        in said["same_pads_below"]
    )
    assert not (
        stories["the_pytorch_port"].result
        == stories["the_pytorch_port"]._other[1].result.transpose(0, 2, 3, 1)
    ).any()
    x = integers(1, 6, 6, 1)
    by_hand = tc.dialects.torch.conv2d(
        np.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0))).transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1), stride=2
    )
    assert (by_hand.transpose(0, 2, 3, 1) == tc.conv2d(x, W, 2, "SAME")).all()
    small, large = (tc.conv2d_transpose(integers(1, 4, 4, 1), W, (1, n, n, 1), 2, "SAME") for n in (7, 8))
    assert (small == large[:, 1:, 1:]).all()
    assert (
        "Here 4 stamps overlap: the sum is 4. One column further only 2 do. And here a single one: 1."
        in said["checkerboards"]
    )
    assert "9 weights reach over 5 × 5 cells." in said["dilation_leaves_holes"]
    reads = [
        {tap.input_index[2] for tap in taps(stories["dilation_leaves_holes"], (0, 2, col, 0))}
        for col in (2, 3, 4)
    ]
    assert not reads[0] & reads[1]
    assert reads[0] & reads[2]
    assert "So 6 rows, where 5 would be usual." in said["output_padding"]
    assert {tap.input_index[1] for tap in taps(stories["causal"], (0, 4, 0))} == {2, 3, 4}
    assert "All padding is before: 2, which is 3 − 1." in said["causal"]
    controls = stories["causal"].data()["variants"]["controls"]
    assert "SAME" in controls[2]["labels"]  # "Choose SAME above"
    x = stories["a_strided_pool"].args[0]
    means = x.reshape(1, 3, 2, 3, 2, 2).mean(axis=(2, 4))
    assert (stories["a_strided_pool"].result == means).all()
    x, w = stories["one_by_one"].args[:2]
    assert (stories["one_by_one"].result.reshape(16, 3) == x.reshape(16, 4) @ w.reshape(4, 3)).all()


def taps(explorer, at):
    return tc.explain(explorer.op, *explorer.args, at=at, **explorer.kwargs).taps


@needs_browser
@pytest.mark.parametrize(
    "name", mostly_slow(STORIES, "same_pads_below", "groups_are_walls", "the_filter_gradient")
)
def test_each_step_shows_its_cell(driver, stories, tmp_path, name):
    explorer = stories[name]
    page = Page(driver, explorer.save(tmp_path / "page.html"), width=1280, height=800)
    assert page.all("h1")[0].text == STORIES[name].make.__doc__
    for number, (text, at, tap, _) in enumerate(explorer.story, 1):
        if number > 1:  # it opens on its first step
            page.press(" ")
        seen = page.look()
        assert page.all(".caption p")[0].text == f"{number}/{len(explorer.story)} {text}"
        assert f"[{', '.join(map(str, at))}]" in seen["headline"]
        unseen = page.run("return document.querySelectorAll('.product.later:not(.padding)').length")
        assert ("so far" in seen["headline"]) == (tap is not None and unseen > 0)
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    assert page.complaints() == []
