"""The explorer in a real browser, network off: every number on the screen against tc.explain."""

import time

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import (
    CASES,
    W,
    cell_text,
    integers,
    marked,
    nonfinite,
    normal,
    place,
    places,
    same,
    wait_for,
)
from helpers import mostly_slow

import teachconv as tc
from teachconv.verification.cases import CASES as CASE_TABLE

pytestmark = needs_browser


def check_cell(seen, explained, value):
    """Check everything shown about one cell of the result; ``value`` is the backend's."""
    assert same(seen["value"], value.item() if value.dtype.kind == "i" else float(value)), seen["headline"]
    if explained.bias is None and len(explained.taps):
        assert same(seen["rows"][-1][5], explained.value)
    assert f"[{cell_text(explained.cell)}]" in seen["headline"]
    assert seen["value"] in seen["spoken"]
    assert len(seen["rows"]) == len(explained.taps)
    for row, tap in zip(seen["rows"], explained.taps, strict=True):
        other = tap.filter_index if tap.out_backprop_index is None else tap.out_backprop_index
        weight = tap.filter_value if tap.out_backprop_index is None else tap.out_backprop_value
        assert row[:2] == [cell_text(tap.input_index), cell_text(other)]
        assert same(row[3], weight)
        assert same(row[5], tap.running_sum)
        if tap.in_padding:
            assert (row[2], row[4]) == ("padding", "")
        else:
            assert same(row[2], tap.input_value)
            assert same(row[4], tap.product)
    products = [title.split(" = ")[1] for title in seen["products"] if " = " in title]
    unfolded = 0 if explained.call.kind.sums_images else 3  # one grid an image, or a channel
    want = sorted(explained.taps, key=lambda tap: tap.input_index[unfolded])
    want = [tap.product for tap in want if not tap.in_padding]
    assert len(products) == len(want)
    assert all(same(text, value) for text, value in zip(products, want, strict=True))
    source, operand, result = seen["grids"]
    first = explained.taps[0].input_index if len(explained.taps) else None
    windows = {(t.input_index[1], t.input_index[2]) for t in explained.taps}
    assert marked(source, "window") == windows & places(source), first
    assert len(marked(result, "current")) == 1
    if not explained.call.kind.sums_images:
        used = {t.filter_index[:2] for t in explained.taps if not t.in_padding}
        assert marked(operand, "window") == used
    for cell in source["cells"]:
        outside = "padding" in cell["classes"] or "outside" in cell["classes"]
        assert outside == (not inside(explained, (cell["row"], cell["col"])))


def inside(explained, place):
    shape = explained.call.first.shape[1:3]
    return all(0 <= i < n for i, n in zip(place, shape, strict=True))


OFTEN = (
    "stride 2, SAME, channels",
    "NCHW, groups",
    "NaN and infinities",
    "filter gradient",
)


@pytest.mark.parametrize("name", mostly_slow(CASES, *OFTEN))
def test_every_number_is_explains(show, name):
    """Every cell of the result, in all images and channels: value, taps, products, sums, windows."""
    op, args, kwargs = CASES[name]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    call = tc.explain(op, *args, at=(0, 0, 0, 0), **kwargs).call
    shape = call.result_shape if call.kind.sums_images else call.backend_shape
    cells = list(np.ndindex(*shape))
    cells = cells[:: max(1, len(cells) // 40)]
    result = call.from_caller(op(*args, **kwargs))
    for cell, seen in zip(cells, page.tour([place(call, cell) for cell in cells]), strict=True):
        check_cell(seen, tc.explain(op, *args, at=cell, **kwargs), result[call.find(call.kind.result, cell)])


@pytest.mark.parametrize(
    "name",
    mostly_slow(
        ["stride 2, SAME, channels", "transpose, SAME", "filter gradient", "depthwise"],
        "stride 2, SAME, channels",
        "transpose, SAME",
        "filter gradient",
    ),
)
def test_pointing_at_the_input_shows_what_it_feeds(show, name):
    op, args, kwargs = CASES[name]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    shape = tc.explain(op, *args, at=(0, 0, 0, 0), **kwargs).call.first.shape
    cells = list(np.ndindex(*shape[1:3]))
    for (row, col), seen in zip(cells, page.tour([({"n": 0}, 0, *cell) for cell in cells]), strict=True):
        explained = tc.explain(op, *args, at_input=(0, row, col, 0), **kwargs)
        assert same(seen["value"], explained.value)
        assert len(seen["rows"]) == len(explained.taps)
        for cells, tap in zip(seen["rows"], explained.taps, strict=True):
            weight = tap.filter_value if tap.out_backprop_index is None else tap.out_backprop_value
            assert cells[0] == cell_text(tap.output_index)
            assert same(cells[2], weight)
            assert same(cells[3], tap.product)
        where = 0 if op is tc.conv2d_backprop_filter else 1
        fed = {t.output_index[where : where + 2] for t in explained.taps}
        assert marked(seen["grids"][2], "fed") == fed


torch, jax, keras = tc.dialects.torch, tc.dialects.jax, tc.dialects.keras
NCHW = integers(1, 2, 4, 5)
DIALECTS = {
    "NCHW, OIHW": (torch.conv2d, (NCHW, integers(4, 2, 3, 3)), {"stride": 2, "padding": 1}),
    "no batch": (torch.conv2d, (NCHW[0], integers(4, 1, 2, 3)), {"groups": 2}),
    "transposed, groups": (torch.conv_transpose2d, (NCHW, integers(2, 2, 3, 2)), {"stride": 2, "groups": 2}),
    "input gradient": (torch.conv2d_input, ((1, 2, 4, 5), integers(3, 2, 2, 2), integers(1, 3, 3, 4)), {}),
    "filter gradient": (torch.conv2d_weight, (NCHW, (3, 2, 2, 2), integers(1, 3, 3, 4)), {}),
    "channels_first": (keras.conv, (NCHW, integers(2, 3, 2, 2)), {"data_format": "channels_first"}),
    "flipped": (jax.conv_transpose, (integers(1, 3, 2, 2), integers(2, 3, 2, 3), (2, 1), "SAME"), {}),
    "flipped, groups": (
        jax.conv_transpose,
        (integers(1, 3, 2, 2), integers(2, 3, 2, 3), (2, 1), "VALID"),
        {"transpose_kernel": False},
    ),
    "zeros between cells": (
        jax.conv_general_dilated,
        (integers(1, 2, 3, 2), integers(3, 2, 2, 3), (1, 1), [(1, 2), (0, 1)]),
        {"lhs_dilation": (2, 3)},
    ),
    "batch groups": (
        jax.conv_general_dilated,
        (integers(4, 2, 3, 3), integers(4, 2, 2, 2), (1, 1), "VALID"),
        {"batch_group_count": 2},
    ),
    "NCHW of our own": (tc.conv2d, (NCHW, integers(2, 2, 2, 3)), {"data_format": "NCHW"}),
}


NAMED = ("NCHW, OIHW", "no batch", "filter gradient", "flipped, groups")


@pytest.mark.parametrize("name", mostly_slow(DIALECTS, *NAMED))
def test_a_dialects_cells_are_named_in_its_own_order(show, name):
    op, args, kwargs = DIALECTS[name]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    call = tc.nn_ops.call_of(op, args, kwargs)[0]
    shape, _ = call.cells_of(call.kind.result)
    assert f"[{cell_text(shape)}]" in page.run("return document.querySelector('.summary').textContent")
    cells = list(np.ndindex(*shape))[:: max(1, int(np.prod(shape)) // 12)]
    found = [call.find(call.kind.result, cell) for cell in cells]
    if call.kind.sums_images:
        places = [({"c": i, "o": o}, 2, row, col) for row, col, i, o in found]
    else:
        places = [place(call, cell) for cell in found]
    for cell, seen in zip(cells, page.tour(places), strict=True):
        explained = tc.explain(op, *args, at=cell, **kwargs)
        assert f"[{cell_text(cell)}]" in seen["headline"]
        second = [tap.out_backprop_index or tap.filter_index for tap in explained.taps]
        want = [
            [cell_text(tap.input_index), cell_text(other)]
            for tap, other in zip(explained.taps, second, strict=True)
        ]
        assert [row[:2] for row in seen["rows"]] == want
    row, col = (0, 0) if call.names and call.names.has_gaps else (1, 1)
    cell = call.name(call.kind.first, (0, row, col, 1))
    explained = tc.explain(op, *args, at_input=cell, **kwargs)
    chosen = {"n": 0, ("o" if call.kind.scatters else "c"): 1}
    [seen] = page.tour([(chosen, 0, row, col)])
    assert f"[{cell_text(explained.cell)}]" in seen["headline"]
    assert [row[0] for row in seen["rows"]] == [cell_text(tap.output_index) for tap in explained.taps]


def test_hover_and_keyboard_and_slider_and_play(show):
    x, w = integers(1, 5, 5, 1), W
    page = show(tc.explore(tc.conv2d, x, w, 1, "SAME"))
    y = tc.conv2d(x, w, 1, "SAME")[0, :, :, 0]

    def at(row, col):
        seen = page.look()
        assert marked(seen["grids"][2], "current") == {(row, col)}
        assert same(seen["value"], float(y[row, col]))

    page.hover(2, 3, 1)
    at(3, 1)
    page.press("\ue015")  # down
    at(4, 1)
    page.press("\ue014", "\ue014", "\ue013")  # right, right, up
    at(3, 3)
    page.press("\ue014", "\ue014")  # at the edge it stays
    at(3, 4)
    page.run(
        "const s = document.querySelector('input[type=range]'); s.value = 7; s.dispatchEvent(new Event('input'))"
    )
    at(1, 2)
    assert page.look()["position"] == "8 / 25"
    page.run("document.querySelector('[aria-label=\"next cell\"]').click()")
    at(1, 3)
    page.run(
        "document.querySelector('[aria-label=speed]').value = 'fast'; document.querySelector('[aria-label=speed]').dispatchEvent(new Event('change'))"
    )
    page.all(".play")[0].click()
    assert page.all(".play")[0].text.endswith("pause")
    wait_for(page, "return document.querySelector('.position').textContent !== '9 / 25'")
    page.run("document.activeElement.blur()")
    page.press(" ")  # while it plays, the space bar stops it
    assert page.all(".play")[0].text.endswith("play")
    moved = page.look()
    assert marked(moved["grids"][2], "current") > set()
    assert moved["position"] > "9 / 25" or moved["position"].startswith("1")
    assert moved["position"] != "9 / 25"
    stopped = page.look()["position"]
    time.sleep(0.4)
    assert page.look()["position"] == stopped


@pytest.mark.parametrize(
    ("control", "label", "changes"),
    [
        ("stride", "1", {"strides": 1}),
        pytest.param("stride", "3", {"strides": 3}, marks=pytest.mark.slow),
        ("dilation", "2", {"dilations": 2}),
        pytest.param("padding", "VALID", {"padding": "VALID"}, marks=pytest.mark.slow),
        ("padding", "SAME_LOWER", {"padding": "SAME_LOWER"}),
        pytest.param("padding", "1", {"padding": 1}, marks=pytest.mark.slow),
        pytest.param("filter size", "2 × 2", {"filters": W[:2, :2]}, marks=pytest.mark.slow),
        ("filter size", "5 × 5", {"filters": np.pad(W, ((1, 1), (1, 1), (0, 0), (0, 0)))}),
    ],
)
def test_a_choice_shows_what_the_call_with_it_gives(show, control, label, changes):
    x = integers(1, 6, 6, 1)
    kwargs = {"filters": W, "strides": 2, "padding": "SAME"}
    page = show(tc.explore(tc.conv2d, x, **kwargs))
    page.choose(control, label)
    kwargs |= changes
    want = tc.conv2d(x, **kwargs)[0, :, :, 0]
    seen = page.look()
    shown = {(c["row"], c["col"]): c["text"] for c in seen["grids"][2]["cells"]}
    assert len(shown) == want.size
    assert all(same(shown[place], float(value)) for place, value in np.ndenumerate(want))
    cells = list(np.ndindex(*want.shape))
    for cell, seen in zip(cells, page.tour([({}, 2, *cell) for cell in cells]), strict=True):
        check_cell(seen, tc.explain(tc.conv2d, x, at=(0, *cell, 0), **kwargs), want[cell])
    geometry = tc.conv2d_geometry(
        x.shape,
        kwargs["filters"].shape,
        kwargs["strides"],
        kwargs["padding"],
        "NHWC",
        kwargs.get("dilations"),
    )
    page.open("geometry")
    formulas = page.all("[data-section=geometry] pre")[0].text
    assert formulas.split("\n") == list(geometry.rows.formulas)


def test_transposed_output_sizes(show):
    x = integers(1, 3, 3, 1)
    page = show(tc.explore(tc.conv2d_transpose, x, W, None, 2))
    labels = [label.text for label in page.all("[data-control='output size'] label")]
    assert "6 × 6" in labels
    assert "5 × 5" in labels
    page.choose("output size", "5 × 5")
    want = tc.conv2d_transpose(x, W, (1, 5, 5, 1), 2)[0, :, :, 0]
    shown = {(c["row"], c["col"]): c["text"] for c in page.look()["grids"][2]["cells"] if c["text"]}
    assert all(same(shown[place], float(value)) for place, value in np.ndenumerate(want))
    page.choose("output size", "7 × 7")
    assert "output_shape rows must be 5 or 6 for SAME" in page.look()["message"]
    page.choose("output size", "6 × 6")
    assert page.look()["message"] == ""


@pytest.mark.parametrize(
    "name",
    mostly_slow(
        ["transpose, SAME", "transpose, output padding", "transpose, gaps", "input gradient"],
        "transpose, output padding",
        "input gradient",
    ),
)
def test_four_ways_are_equal(show, name):
    op, args, kwargs = CASES[name]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    page.open("ways")
    call = tc.explain(op, *args, at=(0, 0, 0, 0), **kwargs).call
    cells = list(np.ndindex(*call.backend_shape[1:3]))
    ways = """return [...document.querySelectorAll('[data-way]')]
        .map((e) => [e.dataset.way, e.querySelector('output').textContent, e.className])"""
    for cell, shown in zip(cells, page.tour([({"n": 0}, 2, *cell) for cell in cells], ways), strict=True):
        want = tc.explain(op, *args, at=(0, *cell, 0), **kwargs).value
        assert [way for way, _, _ in shown] == ["scatter", "insertion", "gradient", "matrix"]
        assert all(same(text, want) and verdict == "equal" for _, text, verdict in shown), (shown, want)
    result = np.asarray(call.from_caller(op(*args, **kwargs)))[0, :, :, 0]
    for grid in page.run(
        "return [...document.querySelectorAll('.way')].map((w) => [...w.querySelectorAll('.grid')].filter((g) => g.querySelector('b').textContent === 'result').map((g) => [...g.querySelectorAll('[role=gridcell]')].map((e) => [Number(e.dataset.row), Number(e.dataset.col), e.textContent])))"
    )[0]:
        values = {(r, c): text for r, c, text in grid if text}
        assert all(same(values[place], float(v)) for place, v in np.ndenumerate(result))


@pytest.mark.parametrize("transposed", mostly_slow([False, True], True))
def test_the_matrix_is_conv_matrix(show, transposed):
    """Every entry that is drawn, for one pair of channels of several."""
    if transposed:
        args = (integers(1, 2, 3, 2), integers(3, 2, 2, 2), None, 2)
        page, section = show(tc.explore(tc.conv2d_transpose, *args, at=(0, 0, 0, 1))), "ways"
        g = tc.conv2d_transpose_geometry(args[0].shape, args[1].shape, strides=2).forward
    else:
        args = (integers(1, 4, 5, 2), integers(3, 2, 2, 2), 2, "SAME")
        page, section = show(tc.explore(tc.conv2d, *args, at=(0, 0, 0, 1))), "matrix"
        g = tc.conv2d_geometry(args[0].shape, args[1].shape, 2, "SAME")
    page.open(section)
    dense = tc.conv_matrix(args[1], g).toarray()
    c, o = (1, 0) if transposed else (0, 1)
    block = dense[o :: g.out_channels, c :: g.in_channels]
    drawings = page.run(
        "return [...document.querySelectorAll('.matrix svg')].map((s) => [...s.querySelectorAll('.entry')].map((e) => [e.getAttribute('x'), e.getAttribute('y'), e.dataset.entry]))"
    )
    for drawing, want in zip(drawings, (block, block.T), strict=True):
        got = np.zeros(want.shape)
        for x, y, entry in drawing:
            got[int(y), int(x)] = float(entry.split(";")[2])
        assert np.array_equal(got, want)
    page.run("document.querySelector('.matrix .entry').dispatchEvent(new Event('pointerenter'))")
    assert "C[" in page.all(".readout")[0].text
    assert all(float(spot.get_attribute("x")) >= 0 for spot in page.all(".matrix .spot"))


def test_the_overlap_map_counts_products(show):
    args = (np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32"), None, 2)
    page = show(tc.explore(tc.conv2d_transpose, *args))
    page.open("overlap")
    want = tc.conv2d_transpose(*args)[0, :, :, 0]  # ones everywhere: the sum is the count
    cells = page.run(
        "return [...document.querySelectorAll('[data-section=overlap] [role=gridcell]')].map((e) => [Number(e.dataset.row), Number(e.dataset.col), e.textContent])"
    )
    counts = {(r, c): text for r, c, text in cells if text}
    assert len(counts) == want.size
    assert all(same(counts[place], float(v)) for place, v in np.ndenumerate(want))


def test_two_calls_beside_each_other(show):
    """TensorFlow's SAME and PyTorch's padding=1 differ at stride 2, and the page says why."""
    x = integers(1, 6, 6, 1)
    page = show(tc.explore(tc.conv2d, x, W, 2, "SAME", at=(0, 1, 1, 0)).beside(padding=1))
    ours, theirs = (tc.conv2d(x, W, 2, padding)[0, :, :, 0] for padding in ("SAME", 1))
    grids = page.run(
        "return [...document.querySelectorAll('[data-section=beside] .grid')].map((g) => [...g.querySelectorAll('[role=gridcell]')].map((e) => [Number(e.dataset.row), Number(e.dataset.col), e.textContent, e.classList.contains('differs')]))"
    )
    for grid, want in zip(grids, (ours, theirs, theirs - ours), strict=True):
        assert all(same(text, float(want[r, c])) for r, c, text, _ in grid)
    assert {(r, c) for r, c, _, bad in grids[2] if bad} == set(zip(*np.nonzero(ours != theirs), strict=True))
    assert "padding_side" in page.all(".diagnosis")[0].text
    other = tc.explain(tc.conv2d, x, W, 2, 1, at=(0, 1, 1, 0))
    assert marked(page.look()["grids"][0], "other") == {t.input_index[1:3] for t in other.taps}


def test_an_array_from_elsewhere_beside(show):
    x = integers(1, 5, 5, 1)
    y = tc.conv2d(x, W)
    page = show(tc.explore(tc.conv2d, x, W).beside(y.copy(), name="<b>my port</b>"))
    assert "Equal within the error bound" in page.all("[data-section=beside]")[0].text
    assert "<b>my port</b>" in page.all("[data-section=beside] summary")[0].text
    smaller = show(tc.explore(tc.conv2d, x, W).beside(y[:, :2, :2]))
    assert "window" in smaller.all(".diagnosis")[0].text


# ---------------------------------------------------------------------------------------------
# Hovering, padding, headings: what a teacher would stumble over
# ---------------------------------------------------------------------------------------------


def test_hovering_does_not_lose_the_place(show):
    page = show(tc.explore(tc.conv2d, integers(1, 5, 5, 1), W, 1, "SAME"))
    page.tour([({}, 2, 3, 1)])
    page.hover(2, 1, 4)
    assert marked(page.look()["grids"][2], "current") == {(1, 4)}
    page.hover(0, 2, 2)
    assert marked(page.look()["grids"][0], "current") == {(2, 2)}
    from selenium.webdriver import ActionChains

    ActionChains(page.driver, duration=0).move_to_element(page.all("h1")[0]).perform()
    assert marked(page.look()["grids"][2], "current") == {(3, 1)}


def test_the_padding_can_be_pointed_at(show):
    """Which outputs look at a cell of the padding, by the index law."""
    x, w = integers(1, 4, 4, 1), W
    page = show(tc.explore(tc.conv2d, x, w, 2, 1))
    [seen] = page.tour([({}, 0, -1, 1)])
    looks = set()
    for row, col in np.ndindex(2, 2):
        taps = tc.explain(tc.conv2d, x, w, 2, 1, at=(0, row, col, 0)).taps
        looks |= {(row, col) for tap in taps if tap.input_index[1:3] == (-1, 1)}
    assert marked(seen["grids"][2], "fed") == looks > set()
    assert seen["value"] == "padding"


def test_arrows_work_from_an_input_that_starts_in_the_padding(show):
    page = show(tc.explore(tc.conv2d, integers(1, 4, 4, 1), W, 1, 2))
    page.run("document.querySelector('.stage .grid [role=grid]').focus()")
    seen = set()
    for key in ("\ue015", "\ue015", "\ue015", "\ue014", "\ue014", "\ue014"):  # down, then right
        page.press(key)
        seen |= marked(page.look()["grids"][0], "current")
    assert (1, 1) in seen
    assert len(seen) == 6


def test_the_page_scrolls_where_no_grid_has_the_focus(show):
    page = show(tc.explore(tc.conv2d, integers(1, 4, 4, 1), W, 1, "SAME"), height=500)
    before = page.look()["position"]
    page.press("\ue015", "\ue015")
    assert page.look()["position"] == before
    wait_for(page, "return scrollY > 0")


def test_the_heading_follows_the_controls(show):
    page = show(tc.explore(tc.conv2d, integers(1, 6, 6, 1), W, 2, "SAME"))
    page.choose("stride", "1")
    page.choose("padding", "1")
    heading = page.run("return document.querySelector('h1 code').textContent")
    assert heading == "tc.conv2d(input [1, 6, 6, 1], filters [3, 3, 1, 1], padding=1)"
    assert page.all("h1 .copy")[0].get_attribute("aria-label") == "copy the call"


def test_a_torch_page_speaks_torchs_words(show):
    x, w = integers(1, 2, 6, 6), integers(3, 2, 3, 3)
    page = show(tc.explore(torch.conv2d, x, w, stride=2, padding=1))
    labels = [label.text for label in page.all("[data-control=padding] label")]
    assert labels == ["same", "0", "1", "2"]
    page.choose("padding", "0")
    heading = page.run("return document.querySelector('h1 code').textContent")
    assert heading == "tc.dialects.torch.conv2d(input [1, 2, 6, 6], weight [3, 2, 3, 3], stride=2)"
    want = torch.conv2d(x, w, stride=2)[0, 0]
    shown = {(c["row"], c["col"]): c["text"] for c in page.look()["grids"][2]["cells"]}
    assert all(same(shown[place], float(value)) for place, value in np.ndenumerate(want))
    page.open("geometry")
    assert "NHWC" not in page.all("[data-section=geometry]")[0].text
    assert "NCHW" in page.all("[data-section=geometry]")[0].text


def test_a_gradients_page_calls_its_arrays_by_their_names(show):
    op, args, kwargs = CASES["input gradient"]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    page.open("geometry")
    line = page.all("[data-section=geometry] .facts span")[0].text
    assert line == (
        "conv2d_backprop_input: out_backprop [1, 2, 2, 1] NHWC, filters [3, 3, 2, 1] → "
        "input gradient [1, 4, 4, 2] NHWC"
    )


def test_padding_is_one_word(show):
    op, args, kwargs = CASES["transpose, SAME"]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    assert "outside the input" not in page.run("return document.body.textContent")
    assert "padding" in page.all(".legend")[0].text


def test_a_uniform_overlap_map_is_not_white(show):
    page = show(tc.explore(tc.conv2d, integers(1, 19, 19, 1), integers(1, 1, 1, 1), budget=1))
    page.open("overlap")
    assert page.all("[data-section=overlap] .bright") == []


def test_beside_shows_the_rows_that_only_the_other_call_reads(show):
    """PyTorch's padding=1 reads row -1, which SAME does not have; and the comparison stands beside, not below."""
    x = integers(1, 6, 6, 1)
    page = show(
        tc.explore(tc.conv2d, x, W, 2, "SAME", at=(0, 0, 0, 0)).beside(padding=1), width=1280, height=800
    )
    source = page.look()["grids"][0]
    assert (-1, -1) in places(source)
    assert {(-1, 0), (-1, -1)} <= marked(source, "other")
    box = "const {top, left, right, bottom} = document.querySelector(arguments[0]).getBoundingClientRect(); return [top, left, right, bottom]"
    stage, beside = (page.run(box, selector) for selector in (".stage", "[data-section=beside] .strip"))
    assert beside[1] > stage[2]
    assert beside[0] < 800


# every third of those that are quick, and the one that is shown in part
SMALL = [case for case in CASE_TABLE if np.prod(case.input) * np.prod(case.filters) < 100_000]
SMALL = [case for case in SMALL if len(case.input) == 4][::3]  # the explorer draws rows and columns
SMALL += [case for case in CASE_TABLE if case.name == "wide row"]
SMALL = mostly_slow(SMALL, *(case for case in SMALL if case.name in ("the example", "empty batch")))


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_every_case_of_the_table_opens(show, case):
    """With all sections open, some cells visited and a second array, the console stays empty."""
    for problem in case.problems("float32", "nonfinite"):
        explorer = tc.explore(problem.op, *problem.args, budget=1, **problem.kwargs)
        page = show(explorer.beside(np.array(explorer.result)))
        page.run("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        page.run("for (let i = 0; i < 3; i++) document.querySelector('[aria-label=\"next cell\"]').click()")
        assert page.complaints() == []
        seen = page.look()
        assert seen["headline"]
        assert page.all("[data-section=geometry] pre")
        assert "Equal within" in page.all("[data-section=beside]")[0].text or not explorer.result.size
        wrong = page.run("return [...document.querySelectorAll('.way .differs')].map((e) => e.textContent)")
        assert wrong == []


def test_an_empty_output(show):
    page = show(tc.explore(tc.conv2d, np.ones((0, 4, 4, 1), "float32"), W))
    assert "The result is empty" in page.look()["headline"]


def test_nan_and_infinity_show_as_such(show):
    page = show(tc.explore(tc.conv2d, nonfinite(), W, 1, "SAME"))
    texts = {cell["text"] for cell in page.look()["grids"][0]["cells"]}
    assert {"NaN", "∞", "-∞"} < texts


def test_callers_text_is_text(show):
    """A name that contains markup is shown as text and not executed."""
    evil = "</script><img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    page = show(tc.explore(tc.conv2d, integers(1, 3, 3, 1), W, name=evil))
    assert "run" not in page.driver.title
    assert "</script><img" in page.all("h1")[0].text


def test_a_big_call_is_windowed_and_says_so(show):
    x, w = normal(1, 90, 100, 3), normal(3, 3, 3, 4)
    page = show(tc.explore(tc.conv2d, x, w, 2, "SAME", at=(0, 30, 40, 2)))
    assert "Shown: input rows" in page.all(".shown")[0].text
    value = tc.conv2d(x, w, 2, "SAME")[0, 30, 40, 2]
    check_cell(page.look(), tc.explain(tc.conv2d, x, w, 2, "SAME", at=(0, 30, 40, 2)), value)


def test_a_small_budget_names_what_is_left_out(show):
    call = (tc.conv2d, integers(1, 6, 6, 1), W)
    full = len(tc.explore(*call, budget=1).html().encode())
    budgets = range(full, full + 30_000, 1_000)
    some = next(b for b in budgets if tc.explore(*call, budget=b).data()["variants"]["table"])
    page = show(tc.explore(*call, budget=some))  # room for the nearest only
    assert "are left out" in page.all("footer")[0].text
    assert page.run("return document.querySelectorAll('.absent input:disabled').length") > 0


@pytest.mark.parametrize("dark", mostly_slow([False, True], False))
def test_a_phone_has_no_sideways_scrolling(show, dark):
    page = show(
        tc.explore(tc.conv2d_transpose, integers(1, 4, 4, 2), integers(3, 3, 2, 2), None, 2),
        width=360,
        height=700,
        dark=dark,
    )
    for section in ("geometry", "ways", "overlap", "trace"):
        page.open(section)
    assert page.run("return document.documentElement.scrollWidth") <= 360
    paper = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == dark


def test_text_stands_out_in_light_and_dark(show):
    """Numbers on their cells, and faint text, keep a contrast of 4.5 (WCAG AA)."""
    for dark in (False, True):
        page = show(tc.explore(tc.conv2d, integers(1, 6, 6, 1), W, 2, "SAME"), dark=dark)
        worst = page.run(
            """
            const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            const light = (color, below = null) => {
              canvas.clearRect(0, 0, 1, 1);
              for (const fill of [below, color].filter(Boolean)) { canvas.fillStyle = fill; canvas.fillRect(0, 0, 1, 1); }
              const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
              return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = (e) => { while (e && getComputedStyle(e).backgroundColor === "rgba(0, 0, 0, 0)") e = e.parentElement; return e ? getComputedStyle(e).backgroundColor : "white"; };
            return Math.min(...[...document.querySelectorAll(".cells .cell, .summary, legend, .product small, td, figcaption small, .number, .choices span")]
              .filter((e) => e.textContent && getComputedStyle(e).visibility === "visible")
              .map((e) => { const [a, b] = [light(getComputedStyle(e).color), light(ground(e))]; return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }));
            """
        )
        assert worst >= 4.5, (dark, worst)


def test_everything_has_a_name_and_a_role(show):
    page = show(tc.explore(tc.conv2d_transpose, integers(1, 3, 3, 2), integers(3, 3, 2, 2), None, 2))
    nameless = page.run(
        """return [...document.querySelectorAll("button, select, input, [role=grid], svg[role=img], iframe, img")]
        .filter((e) => !(e.getAttribute("aria-label") || e.labels?.length || e.textContent.trim() || e.alt)).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    assert page.run(
        "return [...document.querySelectorAll('[role=gridcell]')].every((e) => e.getAttribute('aria-label').startsWith('row '))"
    )
    active = page.run(
        "return document.querySelector('.stage .grid:nth-of-type(3) [role=grid]').getAttribute('aria-activedescendant')"
    )
    assert "this cell" in page.all(f"#{active}")[0].get_attribute("aria-label")
    walked = set()
    for _ in range(25):  # the keyboard gets everywhere
        page.press("\ue004")
        walked.add(
            page.run("const e = document.activeElement; return e.getAttribute('role') ?? e.type ?? e.tagName")
        )
    assert {"button", "radio", "select-one", "grid", "range"} <= walked


def test_winograds_steps_are_those_of_explain(show):
    x = integers(1, 6, 6, 1)
    options = {"padding": "SAME", "algorithm": "winograd2", "at": (0, 2, 3, 0)}
    page = show(tc.explore(tc.conv2d, x, W, **options))
    page.open("tile")
    shown = page.run("return document.querySelector('[data-section=tile] pre').innerText").splitlines()
    tile = tc.explain(tc.conv2d, x, W, **options).tile
    assert shown == [f"The tile of {tile.headline}", *tile.text()]


def test_the_trace_has_its_source(show):
    tc.conv2d(integers(1, 4, 4, 1), W, backend="numpy")  # the first call also loads the backend
    page = show(tc.explore(tc.conv2d, integers(1, 4, 4, 1), W, backend="numpy"))
    page.open("trace")
    stages = [stage.name for stage in tc.trace(tc.conv2d, integers(1, 4, 4, 1), W, backend="numpy").stages]
    assert (
        page.run("return [...document.querySelectorAll('.trace summary b')].map((e) => e.textContent)")
        == stages
    )
    page.run("document.querySelectorAll('.trace details').forEach((d) => { d.open = true })")
    lines = page.run("return [...document.querySelectorAll('.source .here')].map((e) => e.textContent)")
    assert len(lines) == len(stages)
    places = zip(stages, lines, strict=True)  # each is a stage, or the backend's function
    assert all(
        ("def conv2d(" if name == "numpy.conv2d" else "record.stage(") in line for name, line in places
    )


def test_the_frame_of_a_notebook(driver, tmp_path):
    """The output of _repr_html_ runs sandboxed inside another document."""
    explorer = tc.explore(tc.conv2d, integers(1, 4, 4, 1), W)
    (tmp_path / "host.html").write_text(
        f"<!DOCTYPE html><meta charset=utf-8><title>host</title>{explorer._repr_html_()}"
    )
    page = Page(driver, tmp_path / "host.html")
    driver.switch_to.frame(0)

    def settle():  # the frame takes the height of what is in it
        deadline = time.monotonic() + 60
        while page.run("return innerHeight != Math.ceil(document.body.getBoundingClientRect().height)"):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    try:
        wait_for(page, "return document.querySelector('.playing') !== null")
        page.run("document.body.append(document.createElement('div'))")
        below = "document.body.lastElementChild.style.height = arguments[0]"
        page.run(below, "300px")
        settle()
        high = page.run(below + "; return innerHeight", "0px")
        time.sleep(0.3)
        assert page.run("return innerHeight") == high  # while it moves, what is below it stays in its place
        page.run("document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))")
        page.run(below, "10px")
        settle()
        assert page.run("return innerHeight") < high
        page.run('document.querySelector(\'.stage .grid:last-of-type [data-row="0"][data-col="0"]\').click()')
        assert same(page.look()["value"], float(explorer.result[0, 0, 0, 0]))
    finally:
        driver.switch_to.default_content()
    assert page.complaints() == []


def test_without_scripts_there_is_a_picture(driver, tmp_path):
    path = tc.explore(tc.conv2d, integers(1, 4, 4, 1), W).save(tmp_path / "page.html")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(path.as_uri())
        assert driver.find_elements("css selector", "main svg")[0].size["width"] > 100
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_full_sized_example_is_quick(show):
    """A step of 32 x 32 x 3 with 16 filters is fast enough for an animation."""
    page = show(tc.explore(tc.conv2d, normal(1, 32, 32, 3), normal(3, 3, 3, 16), 1, "SAME"))
    spent = page.run(
        "const b = document.querySelector('[aria-label=\"next cell\"]'); const s = performance.now(); for (let i = 0; i < 20; i++) b.click(); return (performance.now() - s) / 20"
    )
    assert spent < 250, spent


# ---------------------------------------------------------------------------------------------
# Motion
# ---------------------------------------------------------------------------------------------


LATER = "return document.querySelectorAll('.product.later').length"
PAUSED = "return document.querySelector('.play').textContent.endsWith('play')"


def test_a_page_opens_moving(show):
    """The output fills and products appear tap by tap, until the reader does something."""
    x = integers(1, 4, 4, 1)
    page = show(tc.explore(tc.conv2d, x, W, 1, "SAME"), motion=True)
    wait_for(page, "return document.querySelector('.play').textContent.endsWith('pause')")
    assert page.run("return document.querySelectorAll('.cell.ahead').length") > 5
    wait_for(page, LATER)
    position = page.look()["position"]
    page.run("document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))")
    assert page.run(PAUSED)
    assert page.run(LATER) == page.run("return document.querySelectorAll('.ahead').length") == 0
    seen = page.look()
    assert seen["position"] == position == "9 / 16"  # the inner cells 6 to 8 were shown whole
    taps = tc.explain(tc.conv2d, x, W, 1, "SAME", at=(0, 2, 0, 0))
    check_cell(seen, taps, tc.conv2d(x, W, 1, "SAME")[0, 2, 0, 0])


def test_nothing_moves_where_reduced_motion_is_asked_for(show):
    page = show(tc.explore(tc.conv2d, integers(1, 4, 4, 1), W, 1, "SAME"))
    time.sleep(0.5)
    assert page.run(PAUSED)
    assert page.look()["position"] == "6 / 16"


def test_a_sum_that_is_not_complete_says_so_far(show):
    """While taps are still to come no sum is called the cell's value; neither are those of its channels."""
    x, w = np.full((1, 2, 2, 2), 2, "float32"), np.ones((2, 2, 2, 1), "float32")
    x[..., 1] = 1
    page = show(tc.explore(tc.conv2d, x, w, at=(0, 0, 0, 0)))
    shown = """return [...document.querySelectorAll(".partial, .total")]
        .filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.textContent)"""
    for number in range(8):
        page.run("document.querySelector('[aria-label=\"next tap\"]').click()")
        channels = ["adds up to 8"] * (number >= 6) + ["adds up to 4"] * (number == 7)
        said = "= 12" if number == 7 else f"so far {(3 * number + 4) // 2}"  # all taps are added, or not yet
        assert page.look()["headline"] == f"output[0, 0, 0, 0] {said}"
        assert page.run(shown) == channels
    page.run("document.querySelector('[aria-label=\"next tap\"]').click()")
    assert page.look()["headline"] == "output[0, 0, 0, 0] = 12"
    assert page.run(shown) == ["adds up to 8", "adds up to 4", "8 + 4 = 12"]


def test_a_cell_step_by_step(show):
    """Each tap adds its product to the sum that is shown."""
    x = integers(1, 4, 4, 1)
    page = show(tc.explore(tc.conv2d, x, W, 1, "SAME", at=(0, 0, 1, 0)))
    taps = tc.explain(tc.conv2d, x, W, 1, "SAME", at=(0, 0, 1, 0)).taps
    for number, tap in enumerate(taps):
        page.run("document.querySelector('[aria-label=\"next tap\"]').click()")
        assert same(page.look()["value"], tap.running_sum)
        assert page.run(LATER) == len(taps) - 1 - number
        assert marked(page.look()["grids"][0], "tap") == {tap.input_index[1:3]}


def test_a_photo_is_shown_in_its_colours(show):
    """Each cell of the input has the colour of its three numbers, and the whole stands in one row at 1280."""
    x = np.random.default_rng(4).integers(0, 256, (1, 20, 24, 3)).astype("float32")
    page = show(tc.explore(tc.conv2d, x, integers(3, 3, 3, 2), 2, "SAME"), width=1280, height=800)
    colours = page.run(
        """return [...document.querySelectorAll('.stage .grid:nth-of-type(1) [role=gridcell]')]
        .map((e) => [Number(e.dataset.row), Number(e.dataset.col), getComputedStyle(e).backgroundColor])"""
    )
    shown = {(row, col): colour for row, col, colour in colours if row < 20 and col < 24}
    assert shown[7, 9] == "rgb({:.0f}, {:.0f}, {:.0f})".format(*x[0, 7, 9])
    assert len(set(shown.values())) > 300
    assert "stacked" not in page.run("return document.querySelector('.stage').className")


def test_one_scale_of_colours_for_all_channels(show):
    """A channel of small numbers is pale beside one of large numbers."""
    x = np.ones((1, 4, 4, 2), "float32") * np.float32([1, 100])
    page = show(tc.explore(tc.conv2d, x, np.ones((1, 1, 2, 1), "float32")))
    strength = "return document.querySelector('.stage [role=gridcell]').style.getPropertyValue('--strength')"
    assert float(page.run(strength)) == 0.01
    assert page.all(".legend .scale")


def test_stamping_fills_the_output_input_by_input(show):
    """After each input cell, the output is that of an input whose later cells are zero."""
    x, w = integers(1, 3, 2, 2), integers(3, 3, 1, 2)
    page = show(tc.explore(tc.conv2d_transpose, x, w, None, 2))
    page.run("document.querySelector('.stamp').click()")
    order = "return document.querySelector('.position').textContent"
    for number, (row, col) in enumerate(np.ndindex(3, 2)):
        so_far = x.copy().reshape(1, 6, 2)
        so_far[:, number + 1 :] = 0
        want = tc.conv2d_transpose(so_far.reshape(x.shape), w, None, 2)[0, :, :, 0]
        seen = page.look()
        assert marked(seen["grids"][0], "current") == {(row, col)}
        assert page.run(order) == f"{number + 1} / 6"
        shown = {(c["row"], c["col"]): c["text"] for c in seen["grids"][2]["cells"] if c["text"]}
        assert all(same(shown[place], float(value)) for place, value in np.ndenumerate(want))
        page.run("document.querySelector('[aria-label=\"next cell\"]').click()")
    page.run("document.querySelector('.stamp').click()")
    shown = {(c["row"], c["col"]): c["text"] for c in page.look()["grids"][2]["cells"] if c["text"]}
    whole = tc.conv2d_transpose(x, w, None, 2)[0, :, :, 0]
    assert all(same(shown[place], float(value)) for place, value in np.ndenumerate(whole))
