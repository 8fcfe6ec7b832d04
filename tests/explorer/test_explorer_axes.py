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
