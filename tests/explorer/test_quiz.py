"""The quiz: what is asked is hidden, and a wrong answer gets the diagnosis of the mistake that Python makes for it."""

import re

import numpy as np
import pytest
from browser import Page, needs_browser
from helpers import mostly_slow

import teachconv as tc
from teachconv.verification.diagnoses import DIAGNOSES

pytestmark = needs_browser


def numbers(*shape):
    """Seeded whole numbers of which no two sums are equal by chance."""
    return np.random.default_rng(list(shape)).integers(-99, 100, shape).astype("float32")


def padded(x, rows, cols, **how):
    return np.pad(x, ((0, 0), rows, cols, (0, 0)), **how)


X, W = numbers(1, 8, 8, 1), numbers(3, 3, 1, 1)
X2, W2, B2 = numbers(1, 6, 6, 2), numbers(3, 3, 2, 2), numbers(2)
X1, W1 = numbers(1, 12, 1), numbers(5, 1, 1)
T, V = numbers(1, 4, 4, 1), numbers(3, 3, 1, 1)
P = numbers(1, 8, 8, 1) + 0.5

CALLS = {
    "same": (tc.conv2d, (X, W, 2, "SAME"), {}),
    "plain": (tc.conv2d, (X, W, 1, "SAME"), {}),
    "channels": (tc.conv2d, (X2, W2), {"bias": B2}),
    "dilated": (tc.conv2d, (X, W), {"dilations": 2}),
    "strides": (tc.conv2d, (X, W, (1, 2)), {}),
    "dilations": (tc.conv2d, (X, W), {"dilations": (1, 2)}),
    "causal": (tc.conv1d, (X1, W1, 2, "CAUSAL"), {}),
    "transposed": (tc.conv2d_transpose, (T, V, None, 2, "SAME"), {}),
    "torch": (
        tc.dialects.torch.conv_transpose2d,
        (T.transpose(0, 3, 1, 2), V.transpose(2, 3, 0, 1)),
        {"stride": 2, "padding": 1, "output_padding": 1},
    ),
    "pool": (tc.avg_pool, (P, 2, 2, "VALID"), {}),
}


def of(op, *args, **words):
    """What the wrong call has in the cell that is asked."""
    result = op(*args, **words)
    return lambda cell: result[cell]


SAME = tc.conv2d(X, W, 2, "SAME")

# the call, the level, the seed, the wrong answer of the cell that is asked by Python, and the code of its diagnosis
WRONG = {
    "flipped": ("same", 1, 1, of(tc.conv2d, X, W[::-1, ::-1], 2, "SAME"), "flipped_filter"),
    "flipped, 1-D": ("causal", 1, 1, of(tc.conv1d, X1, W1[::-1], 2, "CAUSAL"), "flipped_filter"),
    "filter axes": ("same", 1, 1, of(tc.conv2d, X, W.transpose(1, 0, 2, 3), 2, "SAME"), "swapped_filter_axes"),
    "filter channels": ("channels", 1, 1, of(tc.conv2d, X2, W2.transpose(0, 1, 3, 2), bias=B2), "transposed_filter"),
    "causal": ("causal", 1, 1, of(tc.conv1d, X1, W1, 2, ((3, 1),)), "causal_stride"),
    "other side": ("same", 1, 1, of(tc.conv2d, X, W, 2, ((1, 0), (1, 0))), "padding_side"),
    "other side, rows": ("same", 1, 1, of(tc.conv2d, X, W, 2, ((1, 0), (0, 1))), "padding_side"),
    "other side, columns": ("same", 1, 1, of(tc.conv2d, X, W, 2, ((0, 1), (1, 0))), "padding_side"),
    "late": ("same", 1, 1, of(tc.conv2d, X, W, 2, ((-1, 2), (-1, 2))), "stride_phase"),
    "alignment": ("transposed", 1, 8, lambda cell: tc.conv2d_transpose(T, V, None, 2, "VALID")[cell[0], cell[1] + 1, cell[2] + 1, 0], "output_alignment"),
    "no dilation": ("dilated", 1, 1, of(tc.conv2d, X, W), "dilation"),
    "exchanged": ("dilated", 1, 1, of(tc.conv2d, X, W, 2), "stride_and_dilation"),
    "strides": ("strides", 1, 12, of(tc.conv2d, X, W, (2, 1)), "swapped_strides"),
    "dilations": ("dilations", 1, 1, of(tc.conv2d, X, W, dilations=(2, 1)), "swapped_dilations"),
    "no padding": ("plain", 1, 5, of(tc.conv2d, X, W), "padding_mode"),
    "no bias": ("channels", 1, 1, of(tc.conv2d, X2, W2), "bias"),
    "bias twice": ("channels", 1, 1, of(tc.conv2d, X2, W2, bias=2 * B2), "bias"),
    "relu": ("same", 1, 1, lambda cell: 0, "activation"),
    "ones": ("same", 1, 36, of(tc.conv2d, padded(X, (0, 1), (0, 1), constant_values=1), W, 2), "padding_values"),
    "edge": ("same", 1, 36, of(tc.conv2d, padded(X, (0, 1), (0, 1), mode="edge"), W, 2), "padding_values"),
    "next column": ("same", 1, 1, lambda cell: SAME[0, cell[1], cell[2] + 1, 0], "shift"),
    "row before": ("same", 1, 1, lambda cell: SAME[0, cell[1] - 1, cell[2], 0], "shift"),
    "one channel": ("channels", 1, 1, of(tc.conv2d, X2[..., :1], W2[:, :, :1], bias=B2), "missing_terms"),
    "a product less": ("same", 1, 1, lambda cell: SAME[cell] - X[0, 2 * cell[1] + 2, 2 * cell[2] + 2, 0] * W[2, 2, 0, 0], "missing_terms"),
    "image axes": ("same", 1, 13, of(tc.conv2d, X.transpose(0, 2, 1, 3), W, 2, "SAME"), "swapped_image_axes"),
    "not divided": ("pool", 1, 1, lambda cell: 4 * tc.avg_pool(P, 2, 2, "VALID")[cell], "scale"),
    "window, other side": ("same", 2, 1, lambda cell: (2 * cell[1] - 1, 2 * cell[2] - 1), "padding_side"),
    "window, late": ("same", 2, 1, lambda cell: (2 * cell[1] + 1, 2 * cell[2] + 1), "stride_phase"),
    "window, no padding": ("plain", 2, 1, lambda cell: cell[1:3], "padding_mode"),
    "window, next row": ("same", 2, 1, lambda cell: (2 * cell[1] + 2, 2 * cell[2]), "shift"),
    "window, axes": ("same", 2, 14, lambda cell: (2 * cell[2], 2 * cell[1]), "swapped_image_axes"),
    "window, 1-D": ("causal", 2, 1, lambda cell: (0, 2 * cell[1] - 3), "causal_stride"),
    "size, no padding": ("same", 3, 1, lambda cell: (3, 3), "padding"),
    "size, no stride": ("same", 3, 1, lambda cell: (8, 8), "stride"),
    "size, rounded up": ("strides", 3, 1, lambda cell: (6, 4), "ceil_mode"),
    "size, fence post": ("dilated", 3, 1, lambda cell: (3, 3), "window"),
    "size, no dilation": ("dilated", 3, 1, lambda cell: (6, 6), "dilation"),
    "size, output_padding": ("torch", 3, 1, lambda cell: (7, 7), "output_padding"),
    "side, above": ("same", 4, 1, lambda cell: "before", "padding_side"),
    "side, both": ("same", 4, 1, lambda cell: "both", "padding_side"),
    "side, neither": ("same", 4, 1, lambda cell: "none", "padding_mode"),
}  # fmt: skip


class Address:
    """A page at an address."""

    def __init__(self, path, hash_):
        self.uri = path.as_uri() + hash_

    def as_uri(self):
        return self.uri


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quiz")
    return {
        name: tc.explore(op, *args, budget=1, **words).save(folder / f"{name}.html")
        for name, (op, args, words) in CALLS.items()
    }


ASKED = """const { hash } = location; return { hash, question: document.querySelector(".quiz h2").textContent,
  said: document.querySelector(".quiz [role=status]").textContent, code: document.querySelector(".quiz [role=status]").dataset.code ?? null };"""
ANSWER = """
const input = document.querySelectorAll(".quiz input");
const [given] = arguments;
if (typeof given === "string" && !input.length) document.querySelector(`[data-choice=${given}]`).click();
else {
  input.forEach((field, i) => { field.value = input.length > 1 ? given[i] : given; });
  input[0].form.requestSubmit();
}"""


def ask(driver, path, level, seed):
    """Open a question; return the page and the cell that is asked, if it is one."""
    page = Page(driver, Address(path, f"#quiz={seed},{level},0"))
    found = re.search(r"output\[([\d, ]+)\]", page.run(ASKED)["question"])
    return page, tuple(map(int, found[1].split(","))) if found else ()


def give(page, level, given):
    """Give an answer; return what is said to it."""
    fields = len(page.all(".quiz input"))
    if level == 2:
        given = [int(i) for i in given][-fields:]
        given = given if fields > 1 else given[0]
    elif level == 3:
        given = " x ".join(map(str, given))
    elif level == 1:
        given = float(given)
    page.run(ANSWER, given)
    return page.run(ASKED)


def test_there_is_a_wrong_answer_for_every_slip_of_the_table():
    assert len(WRONG) >= 30
    assert {code for *_, code in WRONG.values()} == {known.code for known in DIAGNOSES if known.slips}


@pytest.mark.parametrize("call", mostly_slow(CALLS, "channels", "causal", "pool"))
def test_wrong_answers_have_the_diagnosis_expected(driver, paths, call):
    for name, (asked, level, seed, wrong, code) in WRONG.items():
        if asked != call:
            continue
        page, cell = ask(driver, paths[call], level, seed)
        assert page.run(ASKED)["hash"] == f"#quiz={seed},{level},0"
        seen = give(page, level, wrong(cell))
        assert (seen["code"], seen["said"].startswith("That is ")) == (code, True), (name, cell, seen)
        assert page.complaints() == []


def test_right_answers_make_points_and_go_on(driver, paths):
    page, cell = ask(driver, paths["same"], 1, 1)
    assert page.run("return document.activeElement.name") == "answer"
    taps = [tap for tap in tc.explain(tc.conv2d, X, W, 2, "SAME", at=cell).taps if not tap.in_padding]
    products = [f"{tap.input_value:.0f} × {tap.filter_value:.0f} = {tap.product:.0f}" for tap in taps]
    hint = "No usual mistake leads there. Add the products of the taps one by one: "
    assert give(page, 1, 12345)["said"] == f"{hint}the first is {products[0]}."
    assert give(page, 1, 12345)["said"] == f"{hint}{products[0]}, {products[1]}, …"
    seen = give(page, 1, SAME[cell])
    assert (seen["said"], seen["hash"]) == ("That is it.", "#quiz=1,1,0")  # not at the first try
    assert page.look()["headline"] == f"output[{', '.join(map(str, cell))}] = {SAME[cell]:.0f}"
    for level, right in ((2, None), (3, (4, 4)), (4, "after")):
        page.run("document.querySelector('.quiz .next').click()")
        seen = page.run(ASKED)
        assert seen["hash"] == f"#quiz={level},{level},{level - 2}"
        if level == 2:  # by a click into the plane
            _, row, col, _ = map(int, re.search(r"\[([\d, ]+)\]", seen["question"])[1].split(", "))
            place = f"[data-row='{2 * row}'][data-col='{2 * col}']"
            page.run(f'document.querySelector(".stage .grid {place}").click()')
            assert page.run(ASKED)["said"] == "That is it."
        else:
            assert give(page, level, right)["said"] == "That is it."
    page.press("\ue00c")  # Escape
    assert page.run("return [location.hash, document.querySelector('.quizzing')]") == ["", None]
    assert page.complaints() == []


NUMBERS = """const seen = (e) => e.checkVisibility() ? [e.textContent, e.title, e.getAttribute("aria-label")] : [];
return [document.querySelector("[data-role=spoken]").textContent, ...seen(document.querySelector(".sum .headline")), ...seen(document.querySelector(".summary")),
  ...seen(document.querySelector(`.stage .grid:last-of-type [data-row="${arguments[0]}"][data-col="${arguments[1]}"]`))].join(" ");"""


# the planes that are seen, the cells of padding, and whether a window is marked
PICTURE = """const seen = [...document.querySelectorAll(".stage .grid")].filter((e) => e.checkVisibility());
return [seen.map((e) => e.querySelector("figcaption").textContent), seen[0].querySelectorAll(".padding").length, document.querySelector(".stage .slide") !== null];"""


def test_what_is_asked_is_nowhere_on_the_page(driver, paths):
    page, (_, row, col, _) = ask(driver, paths["same"], 1, 1)
    assert str(int(SAME[0, row, col, 0])) not in page.run(NUMBERS, row, col)
    assert "?" in page.run(NUMBERS, row, col)
    other = '.stage .grid:last-of-type [data-row="0"][data-col="0"]'
    page.run(f"document.querySelector('{other}').click()")  # nothing else can be looked at meanwhile
    page.press(" ", "f")
    assert (
        page.run("return [...document.querySelectorAll('.sum *')].filter((e) => e.checkVisibility()).length")
        == 0
    )
    assert page.run(ASKED)["hash"] == "#quiz=1,1,0"
    page.run("document.querySelector('.quiz .give').click()")
    assert page.run(ASKED)["said"] == f"It is {SAME[0, row, col, 0]:.0f}."
    page, cell = ask(driver, paths["channels"], 1, 1)  # but all channels of the sum can be looked at
    page.run("document.querySelector('[data-thumb=c1]').click()")
    assert (
        page.run("return document.querySelector('.stage figcaption small').textContent") == "6 × 6, channel 1"
    )
    assert "?" in page.run(NUMBERS, *cell[1:3])
    page, cell = ask(driver, paths["same"], 2, 1)
    assert page.run("return document.querySelectorAll('.stage .window, .stage .slide').length") == 0
    page, cell = ask(driver, paths["same"], 3, 1)
    assert page.run(PICTURE) == [
        ["input8 × 8", "filters3 × 3"],
        17,
        True,
    ]  # with the padding, which is at two sides
    page, cell = ask(driver, paths["same"], 4, 1)
    assert page.run(ASKED)["question"] == "Where is there more padding: above or below?"
    assert page.run(PICTURE) == [["input8 × 8", "filters3 × 3"], 0, True]
    assert page.run("return document.activeElement.className") == "asks"  # no answer looks chosen
    assert give(page, 4, "before")["code"] == "padding_side"
    assert page.run(PICTURE)[1] == 0
    assert page.run("return document.activeElement.className") == "asks"
    give(page, 4, "after")
    assert page.run(PICTURE)[1] == 17
    assert page.complaints() == []


def test_the_size_is_not_asked_where_the_call_says_it(driver, tmp_path):
    path = tc.explore(tc.conv2d_transpose, T, V, (1, 8, 8, 1), 2, "SAME", budget=1).save(tmp_path / "p.html")
    page, _ = ask(driver, path, 3, 1)
    assert not page.run(ASKED)["question"].startswith("How large")
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("call", "level", "typed", "said"),
    [
        ("same", 1, "abc", "A number is expected."),
        ("same", 3, "large", "Whole numbers, one for each axis, are expected."),
        ("same", 2, "x", "Row and column, two whole numbers, are expected."),
        ("causal", 3, "", "A number is expected."),
    ],
)
def test_what_is_no_number_is_said(driver, paths, call, level, typed, said):
    page, _ = ask(driver, paths[call], level, 1)
    page.run(ANSWER, [typed] * 2)
    seen = page.run(ASKED)
    assert (seen["said"], seen["hash"]) == (said, f"#quiz=1,{level},0")
    assert page.run("return document.activeElement.name") == "answer"


def test_a_number_that_is_not_whole_counts_in_two_digits(driver, paths):
    page, cell = ask(driver, paths["pool"], 1, 2)
    value = float(tc.avg_pool(P, 2, 2, "VALID")[cell])
    assert not value.is_integer()
    assert give(page, 1, float(f"{value:.2g}"))["said"] == "That is it."


def test_the_playgrounds_address_has_the_quiz(driver, tmp_path):
    path = tc.playground().save(tmp_path / "playground.html")
    page = Page(driver, Address(path, "#conv2d&n=7&k=3&s=2&p=same&quiz=3,3,5"))
    assert page.run(ASKED)["question"] == "How large is the output, as rows × columns?"
    assert not page.run("return document.querySelector('.numbers').checkVisibility()")  # they have the answer
    assert give(page, 3, (4, 4))["said"] == "That is it."
    assert "quiz=3,3,6" in page.run(ASKED)["hash"]
    assert page.complaints() == []
