"""The page of a network too large for its weights: maps as bytes, exact sums on the ways, blocks, covers, and the call elsewhere."""

import re
from base64 import b64decode

import numpy as np
import pytest
from browser import needs_browser
from explorer_pages import wait_for
from node import answers, needs_node

import teachconv as tc
from teachconv import keras
from teachconv.explorer import large_network
from teachconv.explorer.large_network import LargeNetwork
from teachconv.explorer.network_document import NetworkDocument
from teachconv.explorer.page import MODULES

MODULES = (*MODULES, "call_document", "network_numbers", "network_reach", "network_why")


def residual_network(blocks=(("one", 8, 1), ("two", 32, 2))):
    """A ResNet of two blocks, the second with a convolution on its skip, or of others; seeded weights."""
    layers = keras.layers

    def conv(x, filters, size, stride, name):
        x = layers.Conv2D(filters, size, strides=stride, padding="same", use_bias=False, name=name)(x)
        return layers.BatchNormalization(name=f"{name}.norm")(x)

    start = layers.Input((28, 28, 3))
    x = layers.ReLU(name="relu")(conv(start, 8, 7, 2, "conv"))
    x = layers.MaxPooling2D(3, 2, padding="same", name="pool")(x)
    for block, filters, stride in blocks:
        y = layers.ReLU(name=f"{block}.relu")(conv(x, filters, 3, stride, f"{block}.a"))
        y = conv(y, filters, 3, 1, f"{block}.b")
        skip = x if stride == 1 else conv(x, filters, 1, stride, f"{block}.skip")
        x = layers.ReLU(name=f"{block}.end")(layers.Add(name=f"{block}.add")([skip, y]))
    x = layers.GlobalAveragePooling2D(name="mean")(x)
    model = keras.Model(start, layers.Dense(6, activation="softmax", name="classes")(x), name="residual")
    rng = np.random.default_rng(3)
    for layer in model.layers:
        shapes = [np.shape(weight) for weight in layer.get_weights()]
        layer.set_weights([np.float32(np.abs(rng.normal(0.5, 0.2, shape))) if len(shape) == 1 else
                           np.float32(rng.normal(0, 0.4, shape)) for shape in shapes])  # fmt: skip
    return model


MODEL = residual_network()
MEANS = keras.Model(MODEL.inputs, MODEL.get_layer("mean").output)
X = np.random.default_rng(4).random((1, 28, 28, 3), "float32")


@pytest.fixture(scope="module")
def whole():
    return tc.explore(MODEL, X)


@pytest.fixture(scope="module")
def budget(whole):
    """Less than the page takes with its weights."""
    return len(whole.html()) - 20_000


@pytest.fixture(scope="module")
def large(budget):
    return tc.explore(MODEL, X, budget=budget)


def ask(explorer, function, *arguments):
    """Call a function of a network of the page, its numbers and the arguments."""
    text = f"const ran = {function}; const start = (data, ...given) => {{ const network = new Network(data); return ran(network, network.opening(), ...given); }};"
    return answers(MODULES, text)("start", explorer.data(), *arguments)


def numbers_of(explorer):
    """The numbers of each column as the model computed them."""
    return NetworkDocument(explorer.network).values


def test_the_page_fits_its_budget_and_has_four_maps_of_a_column(large, budget):
    assert len(large.html()) <= budget
    for column, want in zip(large.data()["columns"], numbers_of(large), strict=True):
        assert "base64" not in column.get("filters", {})
        if want.shape[:2] == (1, 1):
            assert column["places"] == [0]
            continue
        assert len(column["thumbs"]) == min(4, want.shape[2])
        strength = np.abs(want).max((0, 1))
        assert strength[column["thumbs"]].tolist() == sorted(strength, reverse=True)[:4]
        levels = np.frombuffer(b64decode(column["bytes"]), np.uint8).reshape(-1, *want.shape[:2])
        low, high = want.min(), want.max()
        shown = low + (high - low) * np.moveaxis(levels, 0, 2) / 255
        assert np.abs(shown - want[..., column["thumbs"]]).max() <= 0.51 * (high - low) / 255


@needs_node
def test_cells_on_the_ways_have_the_windows_and_the_sums_of_explain(large):
    """All of them: their taps are the model's numbers and weights, and their sums those of `explain`."""
    values, cells = numbers_of(large), large.data()["cells"]
    assert len(cells) > 30
    got = ask(
        large,
        "(network, values, cells) => cells.map((cell) => [network.evaluated(cell, values).sum, network.taps(cell, values).list.map((tap) => [tap.source, tap.value])])",
        cells,
    )
    layers = {layer.name: layer for layer in large.network.layers}
    columns, summed = large.data()["columns"], 0
    for cell, (value, taps) in zip(cells, got, strict=True):
        for source, number in taps:
            assert source is None or number == values[source[0]][tuple(source[1:])]
        layer = layers.get(columns[cell[0]]["name"])
        if columns[cell[0]]["kind"] == "convolution" and columns[cell[0]]["name"] != "classes":
            x, words = layer.inputs[0], dict(layer.arguments)
            want = tc.explain(layer.op, x, at=(0, *cell[1:]), **words)
            assert np.float32(value) == np.float32(want.value)
            summed += 1
    assert summed > 5


WAYS = "(network, values, win, rival) => explained(network, values, win, rival).lines.map(({ from, to, share, without }) => [from, to, share, without])"


@needs_node
def test_the_ways_are_those_of_the_page_with_all_weights(large, whole):
    """As far as the page has windows; the numbers there are the model's, here summed again."""
    win, rival = (int(c) for c in np.argsort(-numbers_of(large)[-1].ravel())[:2])
    here, there = (ask(explorer, WAYS, win, rival) for explorer in (large, whole))
    assert any(line[0][0] == 0 for line in here)  # back to the input
    assert len(here) > len(there)
    # thinner ones the other page draws only where there is no thicker one
    assert all(line[:2] in [way[:2] for way in here] for line in there)
    here, there = ([line for line in lines if line[2] >= 0.004] for lines in (here, there))
    assert [line[:2] for line in here] == [line[:2] for line in there]
    np.testing.assert_allclose([line[2] for line in here], [line[2] for line in there], rtol=1e-4)
    first = [(a[3], b[3]) for a, b in zip(here, there, strict=True) if a[1][0] == len(numbers_of(large)) - 1]
    assert len(first) == 3
    np.testing.assert_allclose(*zip(*first, strict=True), rtol=1e-4, atol=1e-5)


def test_covers_are_runs_of_the_model(large):
    cover, scores = large.data()["cover"], numbers_of(large)[-1].ravel()
    win = int(scores.argmax())
    assert (cover["grid"], cover["win"], cover["edges"][0]) == (7, win, [0, 4, 8, 12, 16, 20, 24, 28])
    for number in (0, 24, 45):
        row, col = divmod(number, 7)
        covered = X.copy()
        covered[:, 4 * row : 4 * row + 4, 4 * col : 4 * col + 4] = X.mean((1, 2))
        weights, bias = MODEL.get_layer("classes").get_weights()
        seen = np.asarray(MEANS(covered))[0] @ weights + bias
        want = seen[win] - np.delete(seen, win).max()
        assert cover["margins"][number] == pytest.approx(want, rel=1e-3, abs=1e-4)


def test_a_cell_that_is_asked_for_is_on_the_page(large, budget, monkeypatch):
    monkeypatch.setattr(LargeNetwork, "_cover", lambda _: None)
    place = ["one.b", 3, 4, 5]
    number = next(k for k, column in enumerate(large.data()["columns"]) if column["name"] == "one.b")
    cell = [number, *place[1:]]
    assert cell not in large.data()["cells"]
    shown = tc.explore(MODEL, X, budget=budget, at=place).data()
    assert shown["at"] == shown["cells"][0] == cell


def test_a_budget_that_has_no_room(monkeypatch):
    monkeypatch.setattr(large_network, "GRID", 100)  # no covers
    with pytest.raises(
        ValueError, match=r"budget must be at least \d+ KiB for the page of this network; got 8.79 KiB"
    ):
        tc.explore(MODEL, X, budget=9000)


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_block_opens_and_a_cell_without_window_says_its_call(show, large, dark):
    page = show(large, width=1440, height=900, dark=dark)
    titles = "return [...document.querySelectorAll('.net > svg text')].map((e) => e.textContent)"
    shown = page.run(titles)
    assert {"one", "two", "3 layers", "4 layers"} <= {*shown}
    assert not [text for text in shown if text.startswith("one.")]
    assert len(page.all("path.arc")) == 2
    columns = large.data()["columns"]
    end = next(k for k, column in enumerate(columns) if column["name"] == "one.add")
    page.run("location.hash = arguments[0]", f"#at={end},0,6,{columns[end]['thumbs'][0]}")
    wait_for(page, "return document.querySelector('.block')")
    text = page.all(".told")[0].text
    call = f'tc.explore(model, x, at=("one.add", 0, 6, {columns[end]["thumbs"][0]}))'
    assert call in text or "2 cells: " in text
    page.all(".block")[0].click()
    assert {"one.a", "one.b", "one.add"} <= {*page.run(titles)}
    assert page.all(".block")[0].text == "close the block"
    exact = next(
        cell
        for cell in large.data()["cells"]
        if columns[cell[0]]["kind"] == "convolution" and columns[cell[0]]["name"] != "classes"
    )
    page.run("location.hash = arguments[0]", f"#at={','.join(map(str, exact))}")
    wait_for(page, "return document.querySelector('.told .product')")
    known = [list(cell[1:]) for cell in large.data()["cells"] if cell[0] == exact[0]]
    channel = columns[exact[0]]["thumbs"][0]
    row = next(r for r in range(columns[exact[0]]["shape"][0]) if [r, 0, channel] not in known)
    page.run("location.hash = arguments[0]", f"#at={exact[0]},{row},0,{channel}")
    name = columns[exact[0]]["name"]
    wait_for(
        page,
        f"return document.querySelector('.told code')?.textContent === `tc.explore(model, x, at=(\"{name}\", {row}, 0, {channel}))`",
    )
    assert page.contrast(".network > :not(.net) *")[0] >= 4.5
    other = next(c for c in range(columns[end]["shape"][2]) if c not in columns[end]["thumbs"])
    rows, cols, _ = columns[end]["shape"]
    place = next(n for n in range(rows * cols) if n not in columns[end]["places"])
    page.run("location.hash = arguments[0]", f"#at={end},{place // cols},{place % cols},{other}")
    wait_for(page, "return document.querySelector('.told').textContent.includes('does not have this map')")
    assert page.run("return document.querySelector('.told output').textContent") == "?"
    down = "new KeyboardEvent('keydown', { key: 'ArrowDown', shiftKey: true, bubbles: true })"
    for _ in range(6):  # the keys move among the maps that the page has
        page.run(f"document.querySelector('.net > canvas').dispatchEvent({down})")
        assert page.run("return document.querySelector('.told output').textContent") not in ("?", "about NaN")


@needs_browser
def test_covering_a_part_shows_what_remains(show, large):
    page = show(large, width=390, height=844)
    page.run(
        "[...document.querySelectorAll('.tools button')].find((e) => e.textContent === 'cover a part').click()"
    )
    assert "7 × 7 squares of about 4 × 4 cells" in page.all(".told")[0].text
    assert len(page.all(".written > span")) == 49
    assert len(page.all("rect.cover")) == 49 * 3
    lost = [number for number in large.data()["cover"]["margins"] if number < 0]
    assert len(page.all(".written .flips")) == len(lost)
    assert re.search(r"No single square|below zero", page.all(".told")[0].text)
    assert page.run("return document.documentElement.scrollWidth") <= 390


@needs_browser
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 800)])
def test_eight_blocks_and_the_answer_are_seen_without_scrolling(show, width, height):
    model = residual_network([(f"layer{stage}.{block}", 8, 1) for stage in range(1, 5) for block in range(2)])
    budget = len(tc.explore(model, X).html()) - 20_000
    page = show(tc.explore(model, X, budget=budget), width=width, height=height)
    assert len(page.all("path.arc")) == 8
    titles = page.run("return [...document.querySelectorAll('.net > svg text')].map((e) => e.textContent)")
    assert {f"layer{stage}.{block}" for stage in range(1, 5) for block in range(2)} <= {*titles}
    needed, there = page.run(
        "const net = document.querySelector('.net'); return [net.scrollWidth, net.clientWidth]"
    )
    assert needed <= there


@needs_browser
def test_the_maps_of_the_input_are_seen_on_a_phone(show, large):
    page = show(large, width=390, height=844)
    page.run("document.querySelector('.net > canvas').focus()")
    edges = []
    for _ in range(3):  # of the cell in the lower right corner of each map
        page.run("location.hash = arguments[0]", f"#at=0,27,27,{len(edges)}")
        wait_for(
            page, f"return document.querySelector('h2').textContent.startsWith('input, map {len(edges)},')"
        )
        edges.append(page.run("return document.querySelector('path.mark').getBoundingClientRect().right"))
    right = page.run("return document.querySelector('.net').getBoundingClientRect().right")
    assert edges == sorted(edges)
    assert edges[-1] <= right


BARS = """
const canvas = document.querySelector('.net > canvas'), { left, top } = canvas.getBoundingClientRect();
const ratio = canvas.width / canvas.clientWidth, { width, height } = canvas;
const pen = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true });
pen.drawImage(canvas, 0, 0);
return [...document.querySelectorAll('.net > svg text')].filter((e) => /^\\d+$/.test(e.textContent)).map((e) => {
  const { right, left: start, top: high, height } = e.getBoundingClientRect();
  const line = pen.getImageData(Math.round((start - left) * ratio), Math.round((high + height / 2 - top) * ratio), 60, 1).data;
  const bar = Array.from({ length: 60 }, (_, i) => line[4 * i + 3]).findIndex(Boolean);
  const ways = [...document.querySelectorAll('path.way')].map((way) => way.getBoundingClientRect().right).filter((end) => end > start - 12);
  return [start + bar / ratio - right, start - Math.max(0, ...ways)];
});"""


@needs_browser
def test_neither_bars_nor_lines_cover_the_classes(show, large):
    page = show(large, width=1440, height=900)
    page.run("[...document.querySelectorAll('.tools button')].find((e) => e.textContent === 'why?').click()")
    together = """const [rival, question] = document.querySelector('.told h2 b').childNodes, range = document.createRange();
      range.selectNode(question);
      return [range.getBoundingClientRect().top, rival.getBoundingClientRect().bottom];"""
    for room in ("19em", "22em"):
        page.run(f"document.querySelector('.told').style.width = '{room}'")
        question, rival = page.run(together)
        assert question < rival  # on one line
    left = page.run(BARS)
    assert len(left) == 6
    assert min(bar for bar, _ in left) > 3
    assert min(way for _, way in left) > 3
