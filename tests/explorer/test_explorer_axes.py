"""Calls over one axis and over three, and pools, in a real browser: every tap, name and sum against `tc.explain`."""

import json
import random

import numpy as np
import pytest
from browser import Page, needs_browser
from explorer_pages import integers

import teachconv as tc
from teachconv.explorer.packing import dumps
from teachconv.explorer.page import MODULES, script

# each cell of the result as the caller numbers it, its taps with what they multiply, and its sum; and the inverse:
# how often each cell of the source is in a product of the cells that it feeds
_TAPS = """{
const text = (value) => (value === undefined ? null : String(value));
const taps = (data) => {
  const { call } = unpacked(data);
  const view = new View(call, call.base);
  const held = [0, 1, 2, 3].map((axis) => view.arrays[call.result].indices(axis));
  const cells = held[0].flatMap((a) => held[1].flatMap((b) => held[2].flatMap((c) => held[3].map((d) => [a, b, c, d]))));
  const found = cells.map((cell) => {
    const { list, total } = view.taps(cell);
    return { name: view.name(call.result, cell), total: text(total), value: text(view.value(cell)), taps: list.map((tap) => [
      view.name(call.source, tap.source), view.name(call.operand, tap.operand), tap.outside, text(tap.outside ? undefined : tap.value), text(tap.weight), text(tap.running)]) };
  });
  const count = (lists, key) => {
    const seen = {};
    for (const tap of lists.flat()) if (!tap.outside && !tap.cropped) seen[key(tap)] = (seen[key(tap)] ?? 0) + 1;
    return seen;
  };
  const all = (side) => {
    const [first, second, third, fourth] = [0, 1, 2, 3].map((axis) => view.arrays[side].indices(axis));
    return first.flatMap((a) => second.flatMap((b) => third.flatMap((c) => fourth.map((d) => [a, b, c, d]))));
  };
  const triple = (tap) => [tap.source, tap.operand, tap.result].join("|");
  const own = count(cells.map((cell) => view.taps(cell).list.map((tap) => ({ ...tap, result: cell }))), triple);
  const fed = count(all(call.source).map((cell) => view.feeds(cell)), triple);
  const used = count(all(call.operand).map((cell) => view.uses(cell)), triple);
  const same = (one) => JSON.stringify(Object.entries(own).toSorted()) === JSON.stringify(Object.entries(one).toSorted());
  return { found, inverses: [same(fed), same(used)], shapes: Object.fromEntries(["in", "filter", "out"].map((side) => [side, view.shape(side)])) };
};
window.taps = (calls) => JSON.stringify(calls.map(taps));
}"""


@pytest.fixture(scope="module")
def drawn(driver, tmp_path_factory):
    """A function from explorers to what the page finds of them."""
    path = tmp_path_factory.mktemp("axes") / "taps.html"
    path.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><script type="module">{script(MODULES)}\n{_TAPS}</script>'
    )
    driver.get(path.as_uri())

    def run(explorers):
        driver.get(path.as_uri())
        data = [json.loads(dumps(explorer.data())) for explorer in explorers]
        return json.loads(driver.execute_script("return taps(arguments[0])", data))

    return run


FORWARD = {1: tc.conv1d, 3: tc.conv3d}
TRANSPOSED = {1: tc.conv1d_transpose, 3: tc.conv3d_transpose}
BY_INPUT = {1: tc.conv1d_backprop_input, 3: tc.conv3d_backprop_input}
BY_FILTERS = {1: tc.conv1d_backprop_filter, 3: tc.conv3d_backprop_filter}


def drawn_call(rank, number):
    """A random call over ``rank`` axes: the function and its arguments."""
    rng = random.Random(f"{rank} {number}")
    sizes = [rng.randint(2, 4 if rank == 3 else 9) for _ in range(rank)]
    k = [rng.randint(1, 3) for _ in range(rank)]
    strides, dilations = ([rng.randint(1, 2) for _ in range(rank)] for _ in range(2))
    groups, depth = rng.choice([1, 1, 2]), rng.randint(1, 2)
    outs = groups * rng.randint(1, 2)
    words = {"strides": tuple(strides), "dilations": tuple(dilations)}
    words["padding"] = rng.choice(
        ["SAME", "SAME_LOWER", (rng.randint(2, 3),) * rank, *["CAUSAL"] * (rank == 1)]
    )
    planar = rng.random() < 0.3
    if planar:
        words["data_format"] = {1: "NCW", 3: "NCDHW"}[rank]

    def laid(array):
        return np.moveaxis(array, -1, 1).copy() if planar else array

    batch = rng.choice([1, 2])
    kind = ("forward", "transposed", "by input", "by filters")[number % 4]
    w = integers(*k, depth, outs)
    if kind == "transposed":
        words["padding"] = rng.choice(["SAME", "VALID"])
        return TRANSPOSED[rank], (laid(integers(batch, *sizes, outs)), w), words
    x = integers(batch, *sizes, groups * depth)
    if kind == "forward":
        bias = integers(outs) if rng.random() < 0.5 else None
        return FORWARD[rank], (laid(x), w), words | {"bias": bias}
    dy = FORWARD[rank](x, w, **{**words, "data_format": {1: "NWC", 3: "NDHWC"}[rank]})
    dy = laid(integers(*dy.shape))
    if kind == "by filters":
        return BY_FILTERS[rank], (laid(x), w.shape, dy), words
    return BY_INPUT[rank], (laid(x).shape, w, dy), words


def is_python(explorer, found):
    """Whether all cells of a page have the taps, in their order, of `tc.explain`."""
    op, args, words = explorer.op, explorer.args, explorer.kwargs
    gradient = "backprop_filter" in op.__name__
    assert found["inverses"] == [True, True]
    for cell in found["found"]:
        # an op's own arrays have no names of their own on the page: cells are with channels last, as explain has them
        want = tc.explain(op, *args, at=cell["name"], **words)
        assert float(cell["total"]) == want.value, cell
        assert float(cell["value"]) == want.value
        second = [tap.out_backprop_index if gradient else tap.filter_index for tap in want.taps]
        assert [tap[:3] for tap in cell["taps"]] == [
            [list(tap.input_index), list(two), tap.in_padding]
            for tap, two in zip(want.taps, second, strict=True)
        ]
        for (*_, value, weight, running), tap in zip(cell["taps"], want.taps, strict=True):
            factor = tap.out_backprop_value if gradient else tap.filter_value
            assert value is None if tap.in_padding else float(value) == tap.input_value
            assert float(weight) == factor
            assert float(running) == tap.running_sum
    shown = np.array([float(cell["value"]) for cell in found["found"]])
    assert sorted(shown) == sorted(np.ravel(explorer.result))


@needs_browser
@pytest.mark.parametrize(
    "numbers", [range(4), pytest.param(range(4, 40), marks=pytest.mark.slow)], ids=["4", "36"]
)
@pytest.mark.parametrize("rank", [1, 3])
def test_every_tap_of_one_axis_and_of_three_is_explains(drawn, rank, numbers):
    calls = [drawn_call(rank, number) for number in numbers]
    explorers = [tc.explore(op, *args, budget=1, **words) for op, args, words in calls]
    for explorer, found in zip(explorers, drawn(explorers), strict=True):
        is_python(explorer, found)


def randoms(*shape):
    """Seeded float32 numbers whose sums and means have to be rounded."""
    return np.random.default_rng(list(shape)).normal(size=shape).astype("float32")


X2, X1, X3 = randoms(1, 2, 7, 6), randoms(1, 9, 2), randoms(1, 4, 5, 4, 1)
POOLS = {
    "torch max": lambda: (tc.dialects.torch.max_pool2d, (X2, 3, 2, 1), {"ceil_mode": True}),
    "torch max with indices": lambda: (tc.dialects.torch.max_pool2d, (X2[0], 2), {"return_indices": True}),
    "torch average": lambda: (tc.dialects.torch.avg_pool2d, (X2, (3, 2), 2, (1, 1), True), {}),
    "torch inside": lambda: (tc.dialects.torch.avg_pool2d, (X2, 3, 2, 1, True, False), {}),
    "torch divisor": lambda: (tc.dialects.torch.avg_pool2d, (X2, 3, 2, 1), {"divisor_override": -7}),
    "torch 1-D": lambda: (tc.dialects.torch.avg_pool1d, (X1, 2), {}),
    "torch 3-D": lambda: (tc.dialects.torch.avg_pool3d, (X3.transpose(0, 4, 1, 2, 3), 3, 2, 1), {}),
    "ours": lambda: (tc.avg_pool, (X1, 3, 2, "SAME"), {}),
    "ours, a maximum": lambda: (tc.max_pool, (X3, 2, 1, "SAME"), {}),
    "float64": lambda: (tc.avg_pool, (X2.astype("float64"), 3, 1, "SAME"), {}),
    "integers": lambda: (tc.max_pool, (np.rint(9 * X2).astype("int32"), 2, 2, "VALID"), {}),
    "ONNX": lambda: (tc.dialects.onnx.average_pool, (X2,), {"kernel_shape": [3, 3], "pads": [1, 1, 0, 0]}),
    "Keras": lambda: (tc.dialects.keras.max_pool, (X1, 3), {"padding": "same"}),
    "JAX, a sum": lambda: (tc.dialects.jax.reduce_window, (X2[0, 0], 0.0, "add", (3, 3)), {}),
    "JAX, from 1": lambda: (tc.dialects.jax.reduce_window, (X2, 1.0, "max", (1, 1, 2, 3)), {}),
}


@needs_browser
def test_every_cell_of_a_pool_is_pythons(drawn):
    explorers = {
        name: tc.explore(op, *args, **words)
        for name, (op, args, words) in ((n, p()) for n, p in POOLS.items())
    }
    for (name, explorer), found in zip(explorers.items(), drawn(explorers.values()), strict=True):
        op, args, words = explorer.op, explorer.args, explorer.kwargs
        result = explorer.result
        names = {tuple(cell["name"]) for cell in found["found"]}
        assert names == set(np.ndindex(result.shape)), name
        for cell in found["found"]:
            value = result.dtype.type(cell["total"])
            assert value == result[tuple(cell["name"])] == result.dtype.type(cell["value"]), (name, cell)
        for cell in found["found"][:: max(1, result.size // 5)]:
            taps = [
                (tuple(index), None if value is None else float(value))
                for index, _, _, value, *_ in cell["taps"]
            ]
            assert taps == [*tc.explain(op, *args, at=cell["name"], **words).taps], name


SEEN = """const text = (e) => e?.textContent ?? "";
return { headline: text(document.querySelector(".headline")), notes: [...document.querySelectorAll(".stage figcaption small")].map(text),
  labels: [...document.querySelectorAll(".stage .current")].map((e) => e.getAttribute("aria-label")),
  people: text(document.querySelector(".people")), rowheaders: document.querySelectorAll(".stage [role=rowheader]").length,
  depths: [...document.querySelectorAll(".slices output")].map(text), wide: document.documentElement.scrollWidth,
  titles: [...document.querySelectorAll(".unfolded figcaption")].map(text), formulas: [...document.querySelectorAll(".formulas h3")].map(text) };"""
POINT = """document.querySelector(`.stage .grid:nth-of-type(${arguments[0]}) [data-row="${arguments[1]}"][data-col="${arguments[2]}"]`).click()"""


@needs_browser
def test_a_sequence_is_a_strip_without_rows(driver, tmp_path):
    x, w = integers(1, 9, 2), integers(3, 2, 1)
    explorer = tc.explore(tc.conv1d, x, w, 1, "CAUSAL", dilations=2)
    page = Page(driver, explorer.save(tmp_path / "page.html"), width=390, height=844)
    page.run("document.querySelectorAll('details').forEach((e) => { e.open = true })")
    seen = page.run(SEEN)
    assert seen["wide"] <= 390
    assert seen["rowheaders"] == 0
    assert (
        seen["people"]
        == "Each output cell is the sum of up to 6 products; the window moves 1 cell; its taps are 2 cells apart."
    )
    assert seen["notes"] == ["9, channel 0", "3, channels 0\u00a0→\u00a00", "9"]
    assert seen["formulas"] == ["Columns"]
    assert page.run("return document.querySelectorAll('.stage .grid:first-of-type .padding').length") == 4
    page.run(POINT, 3, 0, 6)
    assert page.run(SEEN)["headline"] == f"output[0, 6, 0] = {explorer.result[0, 6, 0]:.0f}"
    assert page.run(SEEN)["labels"][0] == f"column 6, {explorer.result[0, 6, 0]:.0f}, this cell"
    page.run("document.querySelector('.stage .grid:last-of-type [role=grid]').focus()")
    page.press("\ue012")  # left
    assert page.run(SEEN)["headline"].startswith("output[0, 5, 0] = ")
    page.run(POINT, 1, 0, 8)  # a cell of the input
    assert page.run(SEEN)["headline"] == f"input[0, 8, 0] = {x[0, 8, 0]:.0f}"
    page.run(POINT, 1, 0, -1)  # and one of its padding
    assert page.run(SEEN)["headline"] == "input[0, -1, 0] = padding"
    page.run(POINT, 2, 0, 1)  # a weight
    assert page.run(SEEN)["headline"] == f"filters[1, 0, 0] = {w[1, 0, 0]:.0f}"
    for step in range(1, 6):
        page.press(" ")
        assert page.run("return document.querySelector('.caption p').textContent").startswith(f"{step}/5 ")
    page.run("document.querySelector('.tools .save').click()")
    assert page.complaints() == []


@needs_browser
def test_a_pools_page_multiplies_nothing(driver, tmp_path):
    """Nowhere on it is a weight, a product or a sign of a product: not in the tour, and not where one points."""
    for made, taken, padding in (
        (tc.explore(tc.max_pool, integers(1, 5, 5, 2), 3, 2, "SAME"), "largest number in", "it is skipped"),
        (tc.explore(tc.avg_pool, integers(1, 5, 5, 2), 3, 2, "SAME"), "are averaged", "it does not count"),
    ):
        page = Page(driver, made.save(tmp_path / "page.html"), width=1280, height=800)
        words = [page.run("return document.querySelector('.tcx .main').innerText")]
        for grid in (1, 2):
            page.run(POINT, grid, 1, 1)
            words.append(page.run("return document.querySelector('.tcx .main').innerText"))
        for _ in range(5):
            page.press(" ")
            words.append(page.run("return document.querySelector('.caption p').textContent"))
        assert taken in words[4]
        assert words[7].endswith(f"padding: {padding}.")
        for word in ("×", "product", "weight", "multiplied"):
            assert word not in "".join(words).replace("3 × 3", "").replace("5 × 5", ""), word
        assert page.complaints() == []


@needs_browser
def test_a_volume_is_drawn_slice_by_slice(driver, tmp_path):
    x, w = integers(1, 4, 5, 4, 1), integers(3, 2, 2, 1, 2)
    explorer = tc.explore(tc.conv3d, x, w, 1, "SAME", at=(0, 2, 1, 1, 1))
    page = Page(driver, explorer.save(tmp_path / "page.html"), width=1280, height=800)
    seen = page.run(SEEN)
    assert seen["headline"] == f"output[0, 2, 1, 1, 1] = {explorer.result[0, 2, 1, 1, 1]:.0f}"
    assert seen["depths"] == ["2 of 4", "2 of 4"]
    assert seen["titles"] == ["input depth 1", "input depth 2", "input depth 3"]
    assert seen["notes"] == [
        "4 × 5 × 4, depth 2",
        "3 × 2 × 2, depth 1, channels 0\u00a0→\u00a01",
        "4 × 5 × 4, depth 2, channel 1",
    ]
    more = (
        "document.querySelectorAll('.slices')[arguments[0]].querySelectorAll('button')[arguments[1]].click()"
    )
    page.run(more, 0, 1)  # another slice of the window: the cell stays
    seen = page.run(SEEN)
    assert seen["depths"] == ["3 of 4", "2 of 4"]
    assert seen["notes"][1].startswith("3 × 2 × 2, depth 2")
    assert seen["headline"].startswith("output[0, 2, 1, 1, 1]")
    page.run(more, 1, 0)  # another slice of the output, which does not read that one
    seen = page.run(SEEN)
    assert seen["depths"][1] == "1 of 4"
    assert seen["headline"] == f"output[0, 1, 1, 1, 1] = {explorer.result[0, 1, 1, 1, 1]:.0f}"
    assert seen["depths"][0] in ("0 of 4", "1 of 4", "2 of 4")
    page.run(POINT, 1, 4, 3)
    depth = int(seen["depths"][0][0])
    assert page.run(SEEN)["headline"] == f"input[0, {depth}, 4, 3, 0] = {x[0, depth, 4, 3, 0]:.0f}"
    page.run("document.querySelectorAll('details').forEach((e) => { e.open = true })")
    assert page.run(SEEN)["wide"] <= 1280
    page.press(" ", " ", " ")
    assert page.run("return document.querySelector('.caption p').textContent").startswith("3/5 The ")
    page.run("document.querySelector('.tools .save').click()")
    assert page.complaints() == []


@needs_browser
@pytest.mark.parametrize("rank", [1, 3])
def test_transposed_four_ways_are_equal_on_every_rank(driver, tmp_path, rank):
    x, w = integers(1, *(3,) * rank, 2), integers(*(3, 2, 3)[:rank], 2, 2)
    path = tc.explore(TRANSPOSED[rank], x, w, None, 2, budget=1).save(tmp_path / "page.html")
    page = Page(driver, path, width=1280, height=800)
    page.run("document.querySelector('[data-section=ways]').open = true")
    page.run("document.querySelector('.stage .grid:last-of-type [role=gridcell]:not(.cut)').click()")
    said = page.run("return [...document.querySelectorAll('.way [data-way]')].map((e) => e.textContent)")
    assert len(said) == 4
    assert all("✓ equal in all" in text for text in said)
    assert page.complaints() == []


@pytest.mark.parametrize("rank", [1, 3])
def test_a_call_beside_another_on_every_rank(rank):
    op = FORWARD[rank]
    x, w = integers(1, *((16,), (), (6, 5, 4))[rank - 1], 2), integers(*(3,) * rank, 2, 2)
    ours = tc.explore(op, x, w, 2, "SAME", budget=1)
    for other, code in (
        (ours.beside(padding="SAME_LOWER"), "padding"),
        (ours.beside(ours.result + 1), "channel_shift"),
    ):
        beside = other.data()["beside"]
        assert not beside["passed"]
        assert beside["diagnosis"].startswith(code)
    assert ours.beside(ours.result.copy()).data()["beside"]["passed"]


def test_two_results_beside_the_same_call_are_two():
    x, w = integers(1, 4, 4, 1), integers(3, 3, 1, 1)
    ours = tc.explore(tc.conv2d, x, w, 1, "SAME", budget=1)
    for add in (1, 2):
        data = ours.beside(ours.result + add).data()
        held = data["call"]["arrays"][data["beside"]["array"]]["values"]
        assert held == (ours.result + add).ravel().tolist()


@pytest.mark.parametrize("op", [tc.conv1d, tc.conv3d], ids=lambda op: op.__name__)
def test_what_is_left_out_of_one_axis_and_of_three_says_so(tmp_path, op):
    rank = 1 if op is tc.conv1d else 3
    picture = tc.explore(op, integers(1, *(4,) * rank, 1), integers(*(2,) * rank, 1, 1))
    with pytest.raises(ValueError, match=f"needs 2 axes, rows and columns; conv{rank}d has {rank}"):
        picture.save(tmp_path / "picture.gif")
    still = picture._repr_mimebundle_()["image/svg+xml"]
    assert "<svg" in still
    assert picture.save(tmp_path / "picture.svg").read_text(encoding="utf-8") == still
    with pytest.raises(ValueError, match="other must be an array of numbers with"):
        picture.beside(np.zeros((2, 2)))


def test_a_pools_page_has_no_variants_and_no_still_picture(tmp_path):
    picture = tc.explore(tc.max_pool, X1, 2, 2, "VALID")
    assert picture.data()["variants"] == {"controls": [], "table": {}, "left_out": 0}
    assert "image/svg+xml" not in picture._repr_mimebundle_()
    with pytest.raises(ValueError, match=r"path must end in \.html: of a pool there is no static picture"):
        picture.save(tmp_path / "pool.svg")
    with pytest.raises(ValueError, match="op must be a convolution, or a pool over 1 to 3 axes"):
        tc.explore(tc.dialects.torch.batch_norm, X2, np.zeros(2, "float32"), np.ones(2, "float32"))
    beside = tc.explore(tc.avg_pool, X1, 3, 2, "SAME").beside(padding="VALID").data()["beside"]
    assert not beside["passed"]
    assert beside["shape"] == [1, 4, 2]


def test_a_pool_without_channels_is_refused_by_name():
    with pytest.raises(ValueError, match=r"input must have channels to be drawn; got \[1, 5, 5, 0\]"):
        tc.explore(tc.max_pool, np.zeros((1, 5, 5, 0), "float32"), 2, 2, "SAME")


def test_a_long_filter_has_no_variants():
    page = tc.explore(tc.conv1d, np.ones((1, 1200, 1)), np.ones((600, 1, 1)))
    assert not page.data()["variants"]["table"]
