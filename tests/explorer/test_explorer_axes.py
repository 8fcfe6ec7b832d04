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
    words["padding"] = rng.choice(["SAME", "SAME_LOWER", (rng.randint(1, 2),) * rank, *["CAUSAL"] * (rank == 1)])
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
            [list(tap.input_index), list(two), tap.in_padding] for tap, two in zip(want.taps, second, strict=True)
        ]
        for (*_, value, weight, running), tap in zip(cell["taps"], want.taps, strict=True):
            factor = tap.out_backprop_value if gradient else tap.filter_value
            assert value is None if tap.in_padding else float(value) == tap.input_value
            assert float(weight) == factor
            assert float(running) == tap.running_sum
    shown = np.array([float(cell["value"]) for cell in found["found"]])
    assert sorted(shown) == sorted(np.ravel(explorer.result))


@needs_browser
@pytest.mark.parametrize("rank", [1, 3])
def test_every_tap_of_one_axis_and_of_three_is_explains(drawn, rank):
    calls = [drawn_call(rank, number) for number in range(8)]
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
    explorers = {name: tc.explore(op, *args, **words) for name, (op, args, words) in ((n, p()) for n, p in POOLS.items())}
    for (name, explorer), found in zip(explorers.items(), drawn(explorers.values()), strict=True):
        op, args, words = explorer.op, explorer.args, explorer.kwargs
        result = explorer.result
        names = {tuple(cell["name"]) for cell in found["found"]}
        assert names == set(np.ndindex(result.shape)), name
        for cell in found["found"]:
            value = result.dtype.type(cell["total"])
            assert value == result[tuple(cell["name"])] == result.dtype.type(cell["value"]), (name, cell)
        for cell in found["found"][:: max(1, result.size // 5)]:
            taps = [(tuple(index), None if value is None else float(value)) for index, _, _, value, *_ in cell["taps"]]
            assert taps == [*tc.explain(op, *args, at=cell["name"], **words).taps], name


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
