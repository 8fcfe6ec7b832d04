"""Weights, channels, cropped cells and the overview in a real browser: each number against Python's."""

import itertools
from base64 import b64encode

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import CASES, W, cell_text, integers, marked, normal, number, same, wait_for
from helpers import mostly_slow

import teachconv as tc
from teachconv.data import photo
from teachconv.inspection.images import png

pytestmark = needs_browser


def chosen(call, cell):
    """The channels to choose for a cell of the operand, and where to click."""
    if call.kind.sums_images:
        n, row, col, o = cell
        return {"n": n, "o": o}, 1, row, col
    row, col, depth, o = cell
    group = o // (call.geometry.out_channels // call.geometry.groups)
    return {"o": o, "c": group * call.geometry.filters_shape[2] + depth}, 1, row, col


def operand_of(tap):
    return tap.filter_index if tap.out_backprop_index is None else tap.out_backprop_index


POINTED = [
    "stride 2, SAME, channels",
    "padding all around, bias",
    "cropped",
    "dilated, normal numbers",
    "NaN and infinities",
    "int64 beyond a double",
    "depthwise",
    "transpose, SAME",
    "transpose, gaps",
    "input gradient",
    "filter gradient",
    "depthwise filter gradient",
]


OFTEN = (
    "stride 2, SAME, channels",
    "cropped",
    "NaN and infinities",
    "transpose, SAME",
    "depthwise filter gradient",
)


@pytest.mark.parametrize("name", mostly_slow(POINTED, *OFTEN))
def test_a_weight_shows_where_it_is_used(show, name):
    """Its products are those taps of all cells of the result that use it, one by one."""
    op, args, kwargs = CASES[name]
    page = show(tc.explore(op, *args, budget=1, **kwargs))
    call = tc.nn_ops.call_of(op, args, kwargs)[0]
    uses = {}
    shape, _ = call.cells_of(call.kind.result)
    for at in np.ndindex(*shape):
        for tap in tc.explain(op, *args, at=at, **kwargs).taps:
            if not (call.kind.scatters and tap.in_padding):  # no cell of the input is there
                uses.setdefault(operand_of(tap), []).append((at, tap))
    cells = sorted(uses)[:: max(1, len(uses) // 7)]
    found = [call.find(call.kind.second, cell) for cell in cells]
    looks = page.tour([chosen(call, cell) for cell in found])
    for cell, place, seen in zip(cells, found, looks, strict=True):
        want = uses[cell]
        assert f"[{cell_text(cell)}]" in seen["headline"]
        rows = [row for row in seen["rows"] if not row[0].endswith("cut away")]
        by_place = {(row[0], row[1]): row for row in rows}
        assert len(rows) == len(by_place) == len(want)
        for at, tap in want:
            row = by_place[cell_text(at), cell_text(tap.input_index)]
            assert row[2] == "padding" if tap.in_padding else same(row[2], tap.input_value)
            assert row[3] == "" if tap.in_padding else same(row[3], tap.product)
        source, operand, result = seen["grids"]
        where = place[1:3] if call.kind.sums_images else place[:2]
        assert marked(operand, "current") == {where}
        met = {tap.input_index[1:3] for _, tap in want}
        if call.kind.scatters:  # every cell stamps every weight; some of these products are cut away
            met = set(np.ndindex(call.first.shape[1:3]))
        assert marked(source, "met") == met
        side = 0 if call.kind.sums_images else 1
        assert {at[side : side + 2] for at, _ in want} <= marked(result, "fed")


@pytest.mark.parametrize(
    ("op", "args", "gradient"),
    [
        (
            tc.conv2d,
            (integers(2, 4, 5, 2), integers(3, 2, 2, 2), 2, "SAME"),
            lambda x, w, y: tc.conv2d_backprop_filter(x, w.shape, np.ones_like(y), 2, "SAME"),
        ),
        pytest.param(
            tc.depthwise_conv2d,
            (integers(1, 4, 4, 2), integers(3, 3, 2, 2), 1, "SAME"),
            lambda x, w, y: tc.depthwise_conv2d_backprop_filter(x, w.shape, np.ones_like(y), 1, "SAME"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            tc.conv2d_transpose,
            (integers(1, 3, 2, 2), integers(3, 3, 1, 2), None, 2, "SAME"),
            lambda x, w, y: tc.conv2d_backprop_filter(np.ones_like(y), w.shape, x, 2, "SAME"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_weights_gradient_is_backprop_filters(show, op, args, gradient):
    """Where every gradient of the result is 1, the filter gradient of the library is what the page says."""
    page = show(tc.explore(op, *args, budget=1))
    call = tc.nn_ops.call_of(op, args, {})[0]
    want = gradient(*args[:2], op(*args))
    look = "return document.querySelector('.gradient output').textContent"
    cells = list(np.ndindex(*want.shape))
    shown = page.tour([chosen(call, call.find("filters", cell)) for cell in cells], look)
    assert all(same(text, float(want[cell])) for cell, text in zip(cells, shown, strict=True))


def test_the_arrow_keys_move_over_the_weights(show):
    x = integers(1, 5, 5, 1)
    page = show(tc.explore(tc.conv2d, x, W, 1, "SAME"))
    page.run("document.querySelector('.stage .grid:nth-of-type(2) [role=grid]').focus()")
    page.press("\ue015", "\ue014")  # down, right
    seen = page.look()
    assert marked(seen["grids"][1], "current") == {(1, 1)}
    assert "This weight is in 25 products" in seen["spoken"]
    assert str(int(W[1, 1, 0, 0])) == seen["value"]
    assert "meets it" in {c["label"].split(", ")[-1] for c in seen["grids"][0]["cells"]}
    page.press("\ue014", "\ue014", "\ue014")  # at the edge it stays
    assert marked(page.look()["grids"][1], "current") == {(1, 2)}
    assert page.run("return document.activeElement.getAttribute('aria-label')") == "filters"


def test_what_is_cut_away_can_be_seen(show):
    """The cells outside the result are those of the full result, which padding="VALID" gives."""
    x, w = integers(1, 3, 3, 2), integers(3, 3, 1, 2)
    page = show(tc.explore(tc.conv2d_transpose, x, w, (1, 5, 5, 1), 2, "SAME", budget=1))
    full = tc.conv2d_transpose(x, w, None, 2, "VALID")[0, :, :, 0]
    seen = page.look()["grids"][2]["cells"]
    assert {(c["row"], c["col"]) for c in seen} == {(r - 1, q - 1) for r, q in np.ndindex(full.shape)}
    for cell in seen:
        assert same(cell["text"], float(full[cell["row"] + 1, cell["col"] + 1]))
        assert ("cut" in cell["classes"]) == (not (0 <= cell["row"] < 5 and 0 <= cell["col"] < 5))
    [cut] = page.tour([({}, 2, -1, 2)])
    assert same(cut["value"], float(full[0, 3]))
    assert same(cut["rows"][-1][5], float(full[0, 3]))
    assert "This cell is cut away" in cut["spoken"]
    assert cut["position"] == "cut away"


FRAME = """const box = (e) => { const { left, top, width, height } = e.getBoundingClientRect(); return [left, top, width, height]; };
const cells = [...document.querySelectorAll(".stage .grid:nth-of-type(3) [role=gridcell]:not(.cut)")].map(box);
const [left, top] = [0, 1].map((i) => Math.min(...cells.map((c) => c[i])));
const [right, bottom] = [0, 1].map((i) => Math.max(...cells.map((c) => c[i] + c[i + 2])));
return [box(document.querySelector(".slide.crop")), [left, top, right - left, bottom - top]];"""


@pytest.mark.parametrize("motion", mostly_slow([False, True], True))
def test_the_crop_slides_between_the_two_legal_sizes(show, motion):
    page = show(tc.explore(tc.conv2d_transpose, integers(1, 3, 3, 1), W, None, 2), motion=motion)
    page.run("document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))")
    frame, kept = page.run(FRAME)
    assert frame == pytest.approx(kept, abs=1)
    page.choose("output size", "5 × 5")
    moves = page.run(
        """return document.getAnimations().filter((a) => a.effect.target.classList.contains("crop"))
        .map((a) => { a.finish(); return a.transitionProperty; })"""
    )
    assert set(moves) == ({"left", "top", "width", "height"} & set(moves) if motion else set())
    assert bool(moves) == motion
    frame, kept = page.run(FRAME)
    assert frame == pytest.approx(kept, abs=1)


# ---------------------------------------------------------------------------------------------
# Numbers in flight
# ---------------------------------------------------------------------------------------------

CHIPS = """document.querySelector('[aria-label="next tap"]').click();
return [...document.querySelectorAll(".chip")].map((chip) => {
  const [flight] = chip.getAnimations(); flight.pause();
  const middle = (e) => { const { left, top, width, height } = e.getBoundingClientRect(); return [left + width / 2, top + height / 2]; };
  flight.currentTime = 0; const from = middle(chip);
  flight.currentTime = flight.effect.getTiming().duration * 0.9; const to = middle(chip);
  flight.finish();
  return [chip.textContent, from, to];
});"""
MIDDLE = """const e = document.querySelector(arguments[0]); const { left, top, width, height } = e.getBoundingClientRect();
return [left + width / 2, top + height / 2];"""


def test_both_factors_fly_from_their_own_cells(show):
    x = integers(1, 4, 4, 1)
    page = show(tc.explore(tc.conv2d, x, W, 1, "SAME", at=(0, 0, 1, 0)), motion=True)
    page.run("document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))")
    for tap in tc.explain(tc.conv2d, x, W, 1, "SAME", at=(0, 0, 1, 0)).taps:
        flown = page.run(CHIPS)
        if tap.in_padding:
            assert flown == []
            continue
        cells = [(1, tap.input_index[1:3]), (2, tap.filter_index[:2])]
        places = [
            page.run(MIDDLE, f".stage .grid:nth-of-type({n}) [data-row='{r}'][data-col='{q}']")
            for n, (r, q) in cells
        ]
        product = 3 * tap.filter_index[0] + tap.filter_index[1]
        target = page.run(MIDDLE, f".product[data-tap='{product}']")
        for (text, from_, to), place, value in zip(
            flown, places, (tap.input_value, tap.filter_value), strict=True
        ):
            assert same(text, value)
            assert from_ == pytest.approx(place, abs=1)
            assert to == pytest.approx(target, abs=1)
    page.run("return new Promise((done) => setTimeout(done, 50))")
    assert page.all(".chip") == []


def test_the_factors_of_another_channel_fly_from_its_small_map(show):
    x = integers(1, 4, 4, 2)
    page = show(tc.explore(tc.conv2d, x, integers(1, 1, 2, 1), 1, "SAME", at=(0, 1, 2, 0)), motion=True)
    page.run("document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))")
    page.run(CHIPS)
    (text, (left, top), _), (weight, _, _) = page.run(CHIPS)
    assert same(text, float(x[0, 1, 2, 1]))
    assert same(weight, float(integers(1, 1, 2, 1)[0, 0, 1, 0]))
    box = page.run(
        "const b = document.querySelector('[data-thumb=c1] canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]"
    )
    assert [left, top] == pytest.approx([box[0] + box[2] * 2.5 / 4, box[1] + box[3] * 1.5 / 4], abs=1)


def test_nothing_flies_where_reduced_motion_is_asked_for(show):
    page = show(tc.explore(tc.conv2d, integers(1, 4, 4, 1), W))
    assert page.run(CHIPS) == []
    assert page.run("return document.querySelector('.product:not(.later)') !== null")


def test_pause_holds_the_tap_that_is_shown(show):
    page = show(tc.explore(tc.conv2d, integers(1, 4, 4, 1), W))
    for _ in range(3):
        page.run("document.querySelector('[aria-label=\"next tap\"]').click()")
    later = "return document.querySelectorAll('.product.later').length"
    assert page.run(later) == 6
    page.run("document.querySelector('.play').click(); document.querySelector('.play').click()")
    assert page.run(later) == 6
    page.run("document.querySelector('[aria-label=\"next tap\"]').click()")
    assert page.run(later) == 5


# ---------------------------------------------------------------------------------------------
# Channels
# ---------------------------------------------------------------------------------------------


def terms(line):
    """The numbers of "(-4) + 16 of 2 more channels + bias 3 = 15": those that are added, and the sum."""
    left, right = line.split(" = ")
    added = [part.removeprefix("bias ").split(" of ")[0].strip("()") for part in left.split(" + ")]
    return list(map(number, added)), number(right)


@pytest.mark.parametrize("channels", mostly_slow([2, 3, 16], 2, 16))
def test_the_equation_has_all_channels(show, channels):
    """Each channel's sum, the folded ones together, and the bias: they add up to the cell."""
    x, w, bias = integers(1, 4, 4, channels), integers(3, 3, channels, 2), integers(2)
    page = show(tc.explore(tc.conv2d, x, w, 1, "SAME", bias=bias, at=(0, 1, 1, 1), budget=1))
    want = (x[0, 0:3, 0:3] * w[..., 1]).sum((0, 1))
    total = float(tc.conv2d(x, w, 1, "SAME", bias=bias)[0, 1, 1, 1])
    line = "return document.querySelector('.total').textContent"
    added, result = terms(page.run(line))
    folded = [] if channels <= 6 else [want[6:].sum()]
    assert added == [*want[:6], *folded, bias[1]]
    assert result == total == sum(added)
    if folded:
        page.run("const b = document.querySelector('.equation .more'); b.focus(); b.click()")
        assert page.run("return document.querySelectorAll('.unfolded').length") == channels
        assert terms(page.run(line)) == ([*want, bias[1]], total)
        assert page.run("return document.activeElement !== document.body")
    sign = page.run("return document.querySelector('.stage .sign small').textContent")
    assert sign == f"summed over {channels} channels"


def test_the_strip_of_feature_maps(show):
    """One small map for each channel, in one scale; a click chooses the channel."""
    x, w = integers(1, 5, 5, 2), integers(3, 3, 2, 4)
    page = show(tc.explore(tc.conv2d, x, w, 1, "SAME"))
    y = tc.conv2d(x, w, 1, "SAME")[0]
    assert [e.get_attribute("data-thumb") for e in page.all(".thumb")] == ["c0", "c1", "o0", "o1", "o2", "o3"]
    for channel in range(4):
        alphas = page.run(
            """const c = document.querySelector(`[data-thumb=o${arguments[0]}] canvas.plane`);
            const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
            return [...data].filter((_, i) => i % 4 === 3)""",
            channel,
        )
        want = np.abs(y[:, :, channel]).ravel() / np.abs(y).max()
        assert np.allclose(np.array(alphas) / 255, want, atol=0.005)
    page.run("const b = document.querySelector('[data-thumb=o2]'); b.focus(); b.click()")
    seen = page.look()
    shown = {(c["row"], c["col"]): c["text"] for c in seen["grids"][2]["cells"]}
    assert all(same(shown[place], float(value)) for place, value in np.ndenumerate(y[:, :, 2]))
    assert [e.get_attribute("data-thumb") for e in page.all(".thumb[aria-pressed=true]")] == ["c0", "o2"]
    assert page.run("return document.activeElement.dataset.thumb") == "o2"  # the focus is not lost


def test_groups_are_walls(show):
    """A room for each group; a channel of another group brings its own inputs with it."""
    x, w = integers(1, 4, 4, 4), integers(2, 2, 2, 6)
    page = show(tc.explore(tc.conv2d, x, w, budget=1))
    rooms = page.run(
        "return [...document.querySelectorAll('.room')].map((r) => [...r.querySelectorAll('.thumb')].map((t) => t.dataset.thumb))"
    )
    assert rooms == [["c0", "c1", "o0", "o1", "o2"], ["c2", "c3", "o3", "o4", "o5"]]
    assert (
        page.run("return parseFloat(getComputedStyle(document.querySelector('.room')).borderLeftWidth)") >= 3
    )
    page.run("document.querySelector('[data-thumb=o4]').click()")
    assert page.run("return document.querySelector('[data-channel=c]').value") == "2"
    assert [e.text for e in page.all(".unfolded figcaption")] == ["input channel 2", "input channel 3"]
    assert same(page.look()["value"], float(tc.conv2d(x, w)[0, 0, 0, 4]))


def test_the_legend_has_the_numbers_of_its_colours(show):
    x, w = integers(1, 5, 5, 2), integers(3, 3, 2, 4)
    page = show(tc.explore(tc.conv2d, x, w, 1, "SAME"))
    entries = page.run(
        "return [...document.querySelectorAll('.legend .scale')].map((e) => [...e.parentElement.childNodes].map((n) => n.textContent))"
    )
    for (name, low, _, high), array in zip(entries, (x, w, tc.conv2d(x, w, 1, "SAME")), strict=True):
        assert name in ("input", "filters", "output")
        assert float(high) == -float(low) == np.abs(array).max()


# ---------------------------------------------------------------------------------------------
# The overview, and what stands where
# ---------------------------------------------------------------------------------------------

CLICK = """const box = document.querySelector(".overview :is(img, canvas)").getBoundingClientRect();
const at = { clientX: box.left + box.width * arguments[1], clientY: box.top + box.height * arguments[0], bubbles: true, detail: 1 };
document.querySelector("button.overview").dispatchEvent(new MouseEvent("click", at));"""


def test_the_overview_moves_the_selected_cell(show):
    x = np.random.default_rng(8).integers(0, 256, (1, 80, 90, 3)).astype("float32")
    w = integers(3, 3, 3, 2)
    page = show(tc.explore(tc.conv2d, x, w, 2, "SAME"))
    y = tc.conv2d(x, w, 2, "SAME")
    page.run(CLICK, 0.5, 0.5)
    row, col = (int(part) for part in page.look()["headline"].split("[")[1].split("]")[0].split(", ")[1:3])
    assert abs(2 * row - 40) <= 4
    assert abs(2 * col - 45) <= 4
    assert same(page.look()["value"], float(y[0, row, col, 0]))
    page.run("document.querySelector('button.overview').focus()")
    page.press("\ue015")
    assert f"[0, {row + 1}, {col}, 0]" in page.look()["headline"]


def place(page):
    """The row and the column that the headline has, and its number."""
    seen = page.look()
    row, col = (int(part) for part in seen["headline"].split("[")[1].split("]")[0].split(", ")[1:3])
    return row, col, seen["value"]


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["bytes", "float32", "parts of 255", "float64"])
def test_a_page_with_the_whole_image_goes_anywhere(show, numbers):
    bytes_ = np.random.default_rng(8).integers(0, 256, (1, 80, 90, 3)).astype("float32")
    x, w = bytes_, integers(3, 3, 3, 2)
    if numbers == "parts of 255":
        x = bytes_ / np.float32(255)
    elif numbers != "bytes":
        x, w = (bytes_[..., :1] / 3 - 40).astype(numbers), w[:, :, :1].astype(numbers)
    page = show(tc.explore(tc.conv2d, x, w, 2, "SAME"))
    for stride, down, right in ((2, 0.01, 0.99), (2, 0.99, 0.02), (1, 0.5, 0.99), (1, 0.02, 0.02)):
        page.choose("stride", str(stride))
        page.run(CLICK, down, right)
        page.run("return new Promise((done) => setTimeout(done, 150))")  # the image is decoded
        row, col, value = place(page)
        assert abs(stride * row - 80 * down) <= 4
        assert abs(stride * col - 90 * right) <= 4
        assert same(value, float(tc.conv2d(x, w, stride, "SAME", backend="reference")[0, row, col, 0]))
        assert page.look()["message"] == ""
        frame = page.run(PART)
        assert frame[0] - 3 <= 100 * down <= frame[0] + frame[2] + 3
        assert frame[1] - 3 <= 100 * right <= frame[1] + frame[3] + 3


PART = """const { top, left, height, width } = document.querySelector(".overview .part").style;
return [top, left, height, width].map(parseFloat);"""


def test_a_refused_size_stays_refused_elsewhere(show):
    """A click on the overview keeps the choices, also one that the op refuses."""
    x = np.random.default_rng(8).integers(0, 256, (1, 80, 90, 3)).astype("float32")
    w = integers(3, 3, 2, 3)
    page = show(tc.explore(tc.conv2d_transpose, x, w, None, 2))
    crossed = "return document.querySelectorAll('.choices .refused').length"
    before = page.run(crossed)
    page.choose("output size", "158 × 178")
    assert "refuses" in page.look()["message"]
    assert page.run(crossed) == before  # the other choices, which are legal, are not crossed out
    page.run(CLICK, 0.01, 0.99)
    page.run("return new Promise((done) => setTimeout(done, 150))")  # the image is decoded
    row, col, value = place(page)
    assert row <= 4
    assert col >= 174
    assert same(value, float(tc.conv2d_transpose(x, w, None, 2)[0, row, col, 0]))
    assert "refuses" in page.look()["message"]


def test_another_stride_stays_at_the_same_place_of_a_large_input(show):
    """Also on a page that holds only a part: that of each variant is around the same place."""
    x = np.random.default_rng(8).normal(size=(2, 180, 190, 1)).astype("float64")
    w = integers(3, 3, 1, 2).astype("float64")
    page = show(tc.explore(tc.conv2d, x, w, 2, "SAME", at=(0, 80, 20, 0), budget=700_000))
    for stride in (1, 3, 2):
        page.choose("stride", str(stride))
        row, col, value = place(page)
        assert abs(stride * row - 160) <= 3
        assert abs(stride * col - 40) <= 3
        assert same(value, float(tc.conv2d(x, w, stride, "SAME", backend="reference")[0, row, col, 0]))


def test_a_page_without_the_whole_image_goes_to_the_nearest_cell(show):
    x = np.random.default_rng(8).normal(size=(2, 180, 190, 3)).astype("float32")
    page = show(tc.explore(tc.conv2d, x, integers(3, 3, 3, 2), 2, "SAME"))
    assert "needs one whole image" in page.run("return document.querySelector('.shown').textContent")
    page.run(CLICK, 0.01, 0.99)
    row, col, _ = place(page)
    assert (row, col) == (page.run(FIRST)[0], page.run(FIRST)[3])
    assert "the cell nearest to that place is selected" in page.look()["message"]
    assert "at=(0, 0, 9" in page.look()["message"]
    page.run(CLICK, 0.5, 0.5)
    assert page.look()["message"] == ""


# the first and the last row and column of the result's plane
FIRST = """const cells = [...document.querySelectorAll(".stage .grid:nth-of-type(3) [role=gridcell]")];
const [rows, cols] = ["row", "col"].map((name) => cells.map((cell) => Number(cell.dataset[name])));
return [Math.min(...rows), Math.max(...rows), Math.min(...cols), Math.max(...cols)];"""


def test_the_equation_stays_at_the_top_of_a_phone(show):
    page = show(
        tc.explore(tc.conv2d, integers(1, 7, 7, 2), integers(3, 3, 2, 4), 2, "SAME"), width=390, height=844
    )
    page.run("document.querySelector('.transport').scrollIntoView({ block: 'end', behavior: 'instant' })")
    top, bottom = page.run(
        "const { top, bottom } = document.querySelector('.equation').getBoundingClientRect(); return [top, bottom]"
    )
    assert top == pytest.approx(0, abs=1)
    assert bottom < 844 * 0.45
    assert page.run("return document.documentElement.scrollWidth") <= 390
    covered = "const { left, top } = document.querySelector('.stage .grid:nth-of-type(3) [role=gridcell]').getBoundingClientRect(); return document.elementFromPoint(left + 5, top + 5).role"
    assert page.run(covered) == "gridcell"


CONTRAST = """
const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgb = (color, below) => {
  pen.clearRect(0, 0, 1, 1);
  for (const fill of [below, color]) { pen.fillStyle = fill; pen.fillRect(0, 0, 1, 1); }
  return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (channels) => {
  const [r, g, b] = channels.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const clear = (e) => getComputedStyle(e).backgroundColor === "rgba(0, 0, 0, 0)";
const ground = (e) => { while (e && clear(e)) e = e.parentElement; return e ? getComputedStyle(e).backgroundColor : "white"; };
const opacity = (e) => (e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1);
const written = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
return [...document.querySelectorAll(".tcx *")]
  .filter((e) => written(e) && e.checkVisibility({ visibilityProperty: true }) && !e.closest(".hidden, .absent, option, :disabled, svg"))
  .map((e) => {
    const under = rgb(ground(e), "white"), over = rgb(getComputedStyle(e).color, ground(e)), share = opacity(e);
    const [a, b] = [light(over.map((v, i) => v * share + under[i] * (1 - share))), light(under)];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 150)];
  })
  .filter(([ratio]) => ratio < 4.5).slice(0, 5);"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", mostly_slow(["groups", "transposed"], "groups"))
def test_all_text_stands_out(show, name, dark):
    """A contrast of 4.5 (WCAG AA) with what is behind it, opacity included, also where a weight is pointed at."""
    if name == "groups":
        explorer = tc.explore(tc.conv2d, integers(1, 5, 5, 4), integers(3, 3, 2, 4), 1, "SAME")
    else:
        explorer = tc.explore(
            tc.conv2d_transpose, integers(1, 3, 3, 2), integers(3, 3, 1, 2), (1, 5, 5, 1), 2
        )
    page = show(explorer, dark=dark)
    assert page.run(CONTRAST) == []
    page.run('document.querySelector(\'.stage .grid:nth-of-type(2) [data-row="0"][data-col="0"]\').click()')
    assert page.run(CONTRAST) == []


# ---------------------------------------------------------------------------------------------
# The whole image: the lens, the palette, and weights that one drags
# ---------------------------------------------------------------------------------------------

PAINTED = """const { width, height } = document.querySelector(".lens .output canvas");
const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
pen.drawImage(document.querySelector(".lens .output canvas"), 0, 0);
return [width, height, [...pen.getImageData(0, 0, width, height).data].filter((_, i) => i % 4 === 3).map((v) => Number(v > 0))];"""
PRESS = "[...document.querySelectorAll('.lens button')].find((b) => b.textContent === arguments[0]).click()"


def lens_page(show):
    image = photo()[None, 20:80, 60:140].astype("float32")
    page = show(tc.explore(tc.conv2d, image, normal(3, 3, 3, 2), 2, "SAME", budget=1), width=1280)
    wait_for(page, "return document.querySelector('.lens canvas')?.width === 80")
    return page, image


@pytest.mark.slow
def test_the_lens_paints_the_output_where_it_is_dragged(show):
    page, _ = lens_page(show)
    width, height, painted = page.run(PAINTED)
    assert (width, height) == (40, 30)
    assert np.mean(painted) > 0.9  # the whole output
    page.run(PRESS, "paint it yourself")
    part = np.reshape(page.run(PAINTED)[2], (30, 40))
    assert 0 < part.mean() < 0.6  # what the lens is over
    picture = page.all(".lens .overview")[0]
    from selenium.webdriver import ActionChains

    chain = ActionChains(page.driver, duration=0).move_to_element(picture).click_and_hold()
    chain.move_by_offset(-140, -90).move_by_offset(280, 180).release().perform()
    more = np.reshape(page.run(PAINTED)[2], (30, 40))
    corners = [0, -1], [0, -1]
    assert part[corners].tolist() == [0, 0]
    assert more[corners].tolist() == [1, 1]
    row, col = map(int, page.look()["headline"].split("[")[1].split("]")[0].split(", ")[1:3])
    assert (row, col) > (24, 34)  # the magnifier has followed
    page.run(PRESS, "paint all")
    assert np.mean(page.run(PAINTED)[2]) > 0.9


def test_a_filter_of_the_palette_and_a_dragged_weight_are_summed_exactly(show):
    page, image = lens_page(show)
    page.run(PRESS, "Sobel")
    sobel = np.float32([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])[..., None] / 3
    filters = np.repeat(sobel, 3, axis=2)[..., None].astype("float32")
    wait_for(page, "return document.querySelector('.summary').textContent.includes('summed on this page')")
    want = tc.conv2d(image, filters, 2, "SAME", backend="reference")

    def selected():
        seen = page.look()
        at = tuple(map(int, seen["headline"].split("[")[1].split("]")[0].split(", ")))
        return at, seen["value"]

    at, value = selected()
    assert same(value, float(want[at]))
    field = page.all(".weights input")[0]
    from selenium.webdriver import ActionChains

    ActionChains(page.driver, duration=0).click_and_hold(field).move_by_offset(0, -40).release().perform()
    filters[0, 0, 0, 0] = np.float32(round(filters[0, 0, 0, 0] + 10 * 0.05, 2))
    wait_for(page, f"return document.querySelector('.weights input').value === '{filters[0, 0, 0, 0]:.2f}'")
    at, value = selected()
    assert same(value, float(tc.conv2d(image, filters, 2, "SAME", backend="reference")[at]))
    page.run(PRESS, "as given")
    wait_for(page, "return document.querySelector('.weights input').value !== '0.17'")


PHOTO = photo()[None, 20:80, 60:140].astype("float32")
LENSES = {  # calls that explore an image, and the channel of the result that is chosen
    "depthwise": (tc.depthwise_conv2d, (PHOTO, normal(3, 3, 3, 2), 2, "SAME"), 3),
    "transposed": (tc.conv2d_transpose, (PHOTO, normal(3, 3, 2, 3), None, 2, "SAME"), 1),
    "input gradient": (
        tc.conv2d_backprop_input,
        ((1, 120, 160, 2), normal(3, 2, 2, 1), PHOTO[..., :1] - 99, 2, "SAME"),
        1,
    ),
    "max pool": (tc.max_pool, (PHOTO, (3, 2), 2, "SAME"), 2),
    "average pool": (tc.avg_pool, (PHOTO - 90, 3, 1, "SAME"), 0),
}
# the bytes of every pixel of the whole result, and the number that has the full colour
COLOURS = """const canvas = document.querySelector(".lens .output canvas"), { width, height } = canvas;
const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
pen.drawImage(canvas, 0, 0);
return [width, height, [...pen.getImageData(0, 0, width, height).data], document.querySelector(".lens .notes").textContent];"""


@pytest.mark.parametrize("name", mostly_slow(LENSES, "transposed"))
def test_the_lens_paints_the_whole_result_of_every_op_that_explores_an_image(show, name):
    op, args, channel = LENSES[name]
    call = tc.explore(op, *args, budget=1)
    page = show(call, width=1280)
    wait_for(page, "return document.querySelector('.lens .output canvas')?.width > 1")
    side = "c" if name in ("transposed", "input gradient") else "o"
    choose = f"const s = document.querySelector('[data-channel={side}]'); s.value = arguments[0]; s.dispatchEvent(new Event('change'));"
    page.run(choose, str(channel))
    want = call.result[0, :, :, channel].astype("float64")
    width, height, pixels, words = page.run(COLOURS)
    assert (height, width) == want.shape
    bytes_ = np.reshape(pixels, (height, width, 4))
    sizes = np.sort(np.abs(want), axis=None)
    most = sizes[int(0.99 * (sizes.size - 1))]
    if (want < 0).any():
        assert np.abs(bytes_[..., 3] - np.minimum(255, 255 * np.abs(want) / most)).max() <= 1
        above, below = bytes_[want > most / 2], bytes_[want < -most / 2]
        assert len(np.unique(above[:, 2] > above[:, 0])) == len(np.unique(below[:, 2] < below[:, 0])) == 1
    else:
        assert np.abs(bytes_[..., 0] - np.minimum(255, 17 + 238 * want / most)).max() <= 1
    assert {"max pool": "largest number", "average pool": "Means"}.get(name, "Sums") in words
    page.run(PRESS, "paint it yourself")
    assert 0 < np.mean(page.run(PAINTED)[2]) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8 numbers", "float32", "float64"])
def test_an_image_of_more_than_100_kb_has_the_lens(show, dtype):
    """And of a result with too many products to sum at once, the lens paints one of every few rows and columns."""
    values = np.random.default_rng(3)
    if dtype == "uint8 numbers":
        image = values.integers(0, 256, (1, 700, 900, 1)).astype("float32")
    else:
        image = values.normal(size=(1, 250, 300, 1)).astype(dtype)
    size = 11 if dtype == "uint8 numbers" else 3
    call = tc.explore(tc.conv2d, image, normal(size, size, 1, 1).astype(image.dtype), 1, "SAME", budget=1)
    page = show(call, width=1280)
    wait_for(page, "return document.querySelector('.lens .output canvas')?.width > 1")
    every = 2 if size == 11 else 1
    want = call.result[0, ::every, ::every, 0].astype("float64")
    width, height, pixels, words = page.run(COLOURS)
    assert (height, width) == want.shape
    assert ("in one of 2 rows and columns" in words) == (every == 2)
    sizes = np.sort(np.abs(want), axis=None)
    alpha = np.minimum(255, 255 * np.abs(want) / sizes[int(0.99 * (sizes.size - 1))])
    assert np.abs(np.reshape(pixels, (height, width, 4))[..., 3] - alpha).max() <= 1
    page.run(CLICK, 0.9, 0.1)  # a place far outside the first part
    row, col, value = place(page)
    assert row > 0.85 * image.shape[1]
    assert col < 0.15 * image.shape[2]
    exact = tc.explain(tc.conv2d, image, *call.args[1:], at=(0, row, col, 0)).value
    assert same(value, float(exact))
    page.run(PRESS, "paint it yourself")
    assert 0 < np.mean(page.run(PAINTED)[2]) < 0.1


def test_a_larger_image_is_held_if_the_budget_says_so():
    image = np.random.default_rng(4).normal(size=(1, 400, 500, 3)).astype("float32")
    for budget, held in ((None, False), (4_000_000, True)):
        data = tc.explore(tc.conv2d, image, normal(1, 1, 3, 1), budget=budget).data()
        assert (data["call"]["overview"]["numbers"] is not None) == held
    beside = tc.explore(tc.conv2d, image[:, :90, :90], normal(1, 1, 3, 1)).beside(padding=1).data()
    assert beside["call"]["overview"]["numbers"] is None  # there is no lens that would need them


@pytest.mark.slow
def test_the_page_of_a_filter_gradient_says_why_it_has_no_lens(show):
    page = show(
        tc.explore(tc.conv2d_backprop_filter, PHOTO, (3, 3, 3, 1), PHOTO[..., :1], 1, "SAME", budget=1)
    )
    assert page.all(".lens") == []
    assert "no window moves over it, so there is no lens" in page.run(
        "return document.querySelector('.shown').textContent"
    )


@pytest.fixture(scope="module")
def large_png(tmp_path_factory):
    """An image of 900 x 1300 pixels that takes more than 100 kB: noise above, 0 and 200 side by side below."""
    image = np.zeros((900, 1300), "uint8")
    image[:, 650:] = 200
    image[:300] = np.random.default_rng(3).integers(0, 256, (300, 1300))
    path = tmp_path_factory.mktemp("image") / "large.png"
    path.write_bytes(png(image))
    assert path.stat().st_size > 100_000
    return path


@pytest.mark.slow
def test_an_image_of_the_readers_is_scaled_in_the_browser_and_summed(show, large_png):
    page, _ = lens_page(show)
    page.all(".lens [type=file]")[0].send_keys(str(large_png))
    note = "Your image of 900 × 1300 pixels was scaled here to the 60 × 80 of the call; it does not leave this page."
    wait_for(page, "return document.querySelector('.lens [role=status]').textContent !== ''")
    assert page.all(".lens [role=status]")[0].text == note
    assert "summed on this page" in page.look()["summary"]
    page.run(CLICK, 0.8, 0.8)  # where all is 200
    row, col, value = place(page)
    assert row > 20
    assert col > 30
    bright = tc.conv2d(np.full_like(PHOTO, 200), normal(3, 3, 3, 2), 2, "SAME", backend="reference")
    assert same(value, float(bright[0, row, col, 0]))


DROP = """const bytes = Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0)), data = new DataTransfer();
data.items.add(new File([bytes], "large.png", { type: "image/png" }));
const event = arguments[1] === "drop" ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
  : new ClipboardEvent("paste", { clipboardData: data, bubbles: true });
document.querySelector(".tcx").dispatchEvent(event);"""


@pytest.mark.slow
def test_a_large_image_that_is_dropped_or_pasted_is_taken(driver, tmp_path, large_png):
    """On a saved page, which has the call's sizes, and on the playground, which takes those of the image."""
    file = b64encode(large_png.read_bytes()).decode()
    pages = {
        "60 × 80 of the call": tc.explore(tc.conv2d, PHOTO, normal(3, 3, 3, 2), 2, "SAME", budget=1),
        "222 × 320": tc.playground(),
    }
    for (sizes, made), how in itertools.product(pages.items(), ("drop", "paste")):
        page = Page(driver, made.save(tmp_path / "page.html"), width=1280)
        if "call" in sizes:
            wait_for(page, "return document.querySelector('.lens canvas')?.width === 80")
        page.run(DROP, file, how)
        wait_for(page, "return document.querySelector('.lens [role=status]')?.textContent.includes('scaled')")
        assert sizes in page.all(".lens [role=status]")[0].text
        size = "const { width, height } = document.querySelector('.lens canvas'); return [width, height]"
        wait_for(page, f"{size.replace('return [width, height]', 'return width > 1')}")
        assert page.run(size) == ([80, 60] if "call" in sizes else [320, 222])
        page.run(DROP.replace("image/png", "text/plain"), b64encode(b"no image").decode(), how)
        wait_for(page, "return document.body.textContent.includes('large.png')")
        assert page.complaints() == []
