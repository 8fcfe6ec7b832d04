"""Explanations match the reference's sum tap by tap, for every op and for input cells."""

import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import mostly_slow

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.inspection import panels, pictures
from teachconv.inspection.panels import short
from teachconv.verification.cases import find_cases

CASES = find_cases("small")
BY_OP = {name: getattr(tc, name) for name in (
    "conv2d", "conv2d_transpose", "depthwise_conv2d", "conv2d_backprop_input", "conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input", "depthwise_conv2d_backprop_filter",
)}  # fmt: skip


def nhwc(result, problem):
    filter_gradient = problem.op.__name__.endswith("backprop_filter")
    return (
        result.transpose(0, 2, 3, 1)
        if problem.kwargs["data_format"] == "NCHW" and not filter_gradient
        else result
    )


@pytest.mark.parametrize("dtype", ["float32", "int32", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_the_value_explained_is_the_reference_value(case, dtype):
    for problem in case.problems(dtype):
        result = nhwc(problem.op(*problem.args, **problem.kwargs, backend="reference"), problem)
        if not result.size:
            continue
        corner = (0,) * 4
        middle = tuple(size // 2 for size in result.shape)
        last = tuple(size - 1 for size in result.shape)
        for cell in {corner, middle, last}:
            explained = tc.explain(problem.op, *problem.args, **problem.kwargs, at=cell)
            assert explained.value == result[cell], problem.name
            inside = [tap for tap in explained.taps if not tap.in_padding]
            assert len(list(explained.taps)) == len(explained.taps)
            if explained.bias is None and explained.taps:
                assert explained.taps[-1].running_sum == explained.value
            assert all(tap.product == 0 for tap in explained.taps if tap.in_padding)
            if dtype == "int32" and explained.bias is None:
                assert (sum(tap.product for tap in inside) - int(result[cell])) % 2**32 == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_at_input_is_the_inverse_of_at(case):
    """Every output listed for an input cell has that input cell among its taps, with the same product."""
    for problem in case.problems("int32", "integers"):
        call = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)[0]
        if not call.first.size or not call.second.size:
            continue
        cell = tuple(size // 2 for size in call.first.shape)
        inverse = tc.explain(problem.op, *problem.args, **problem.kwargs, at_input=cell)
        assert inverse.value == call.first[cell]
        for fed in list(inverse.taps)[:6]:
            forward = tc.explain(problem.op, *problem.args, **problem.kwargs, at=fed.output_index)
            matches = [t for t in forward.taps if t.input_index == cell and t.product == fed.product]
            assert matches
            assert fed.filter_index in {t.filter_index for t in matches}
        # and it feeds as many cells as there are taps with it, over all results
        if np.prod(call.result_shape) < 40:
            shape = call.result_shape if call.kind.sums_images else call.backend_shape
            uses = sum(
                tap.input_index == cell and not tap.in_padding
                for at in np.ndindex(*shape)
                for tap in tc.explain(problem.op, *problem.args, **problem.kwargs, at=at).taps
            )
            assert uses == len(inverse.taps)


def test_by_hand():
    """The 4x4 image and 3x3 kernel of the TensorFlow example, SAME: the corner has four taps."""
    image = np.float32([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]).reshape(1, 4, 4, 1)
    kernel = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)
    explained = tc.explain(tc.conv2d, image, kernel, 1, "SAME", at=(0, 0, 0, 0))
    assert [
        (t.filter_index[:2], t.input_index[1:3], t.product) for t in explained.taps if not t.in_padding
    ] == [
        ((1, 1), (0, 0), 4),
        ((1, 2), (0, 1), 0),
        ((2, 1), (1, 0), 0),
        ((2, 2), (1, 1), 1),
    ]
    assert explained.value == 5
    assert [t.running_sum for t in explained.taps if not t.in_padding] == [4, 4, 4, 5]


def test_running_sums_are_exact_prefixes_rounded_once():
    x, w = np.float32([2**24, 1, 1]).reshape(1, 1, 1, 3), np.ones((1, 1, 3, 1), np.float32)
    sums = [tap.running_sum for tap in tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0)).taps]
    assert sums == [2**24, 2**24, 2**24 + 2]  # adding one at a time would stay at 2**24


def test_non_finite_taps():
    x = np.float32([np.inf, 1, -np.inf]).reshape(1, 1, 1, 3)
    explained = tc.explain(tc.conv2d, x, np.ones((1, 1, 3, 1), np.float32), at=(0, 0, 0, 0))
    assert [tap.running_sum for tap in explained.taps[:2]] == [np.inf, np.inf]
    assert np.isnan(explained.value)
    assert "nan" in str(explained)
    ElementTree.fromstring(explained.picture())


def test_taps_are_lazy_sized_and_indexable():
    x, w = np.ones((1, 100, 100, 16), np.float32), np.ones((3, 3, 16, 4), np.float32)
    dy = np.ones((1, 98, 98, 4), np.float32)
    taps = tc.explain(tc.conv2d_backprop_filter, x, w.shape, dy, at=(0, 0, 0, 0)).taps
    assert len(taps) == 98 * 98
    assert taps[3].input_index == (0, 0, 3, 0)
    assert len(taps._made) == 4  # nothing more was made
    assert taps[1:3] == [taps[1], taps[2]]
    with pytest.raises(IndexError):
        taps[98 * 98]
    assert taps[-1].running_sum == 98 * 98


@pytest.mark.parametrize(("op", "rank"), [(tc.conv1d, 1), (tc.conv3d, 3)])
def test_the_bias_of_a_cell_is_that_of_its_channel_on_every_rank(op, rank):
    x, w = np.ones((1, *(2,) * rank, 1), "float32"), np.ones((*(1,) * rank, 1, 3), "float32")
    at = (0, *(1,) * rank, 2)
    assert tc.explain(op, x, w, bias=np.float32([10, 20, 40]), at=at).value == 41


def test_bias_is_shown():
    x, w = np.ones((1, 2, 2, 1), np.float32), np.ones((1, 1, 1, 2), np.float32)
    explained = tc.explain(tc.conv2d, x, w, bias=np.float32([1, 2]), at=(0, 0, 0, 1))
    assert (explained.bias, explained.value) == (2, 3)
    assert "+ bias 2 = 3" in str(explained)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, TypeError, "give one of at="),
        ({"at": (0, 0, 0, 0), "at_input": (0, 0, 0, 0)}, TypeError, "give one of at="),
        ({"at": (0, 2, 0, 0)}, IndexError, r"at must be inside shape \[1, 2, 2, 1\]"),
        ({"at": (0, 0, 0)}, ValueError, r"at must be \(n, row, col, channel\)"),
        ({"at": 3}, TypeError, r"at must be \(n, row, col, channel\), 4 integers; got 3"),
        ({"at": (0, 0, 0, 0.5)}, TypeError, r"4 integers; got \(0, 0, 0, 0.5\)"),
        ({"at_input": (1, 0, 0, 0)}, IndexError, r"at_input must be inside shape \[1, 4, 4, 1\]"),
    ],
)
def test_cells_that_are_not_there(arguments, kind, message):
    x, w = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
    with pytest.raises(kind, match=message):
        tc.explain(tc.conv2d, x, w, **arguments)


def test_negative_cells_count_from_the_end():
    x, w = make_array((1, 4, 4, 1), "float32"), make_array((3, 3, 1, 1), "float32")
    assert tc.explain(tc.conv2d, x, w, at=(-1, -1, -1, -1)).cell == (0, 1, 1, 0)


def ones(*shape):
    return np.ones(shape, np.float32)


def svg_cells(explained):
    """The cells of a picture: title, and the classes of its marks."""
    root = ElementTree.fromstring(explained.picture())
    space = {"svg": "http://www.w3.org/2000/svg"}
    return {
        group.find("svg:title", space).text: {mark.get("class") for mark in group if mark.get("class")}
        for group in root.iterfind("svg:g[svg:title]", space)
    }


def test_the_picture_shows_the_window_the_padding_and_the_cell():
    x, w = make_array((1, 5, 5, 1), "float32", "integers"), make_array((3, 3, 1, 1), "float32", "integers")
    explained = tc.explain(tc.conv2d, x, w, 2, "SAME", at=(0, 0, 0, 0))
    cells = {title: marks for title, marks in svg_cells(explained).items() if title.startswith("input")}
    assert len(cells) == 49  # 5x5 and one ring of padding
    marks = list(cells.values())
    assert marks.count({"plain", "window"}) == 4
    assert marks.count({"padding", "tap in the padding"}) == 5
    assert marks.count({"padding"}) == 24 - 5
    assert all(title.endswith("padding") == ("padding" in found) for title, found in cells.items())
    assert svg_cells(explained)["output 3 x 3 [0, 0]"] == {"plain", "cell"}
    assert str(int(explained.value)) in explained.picture()


@pytest.mark.parametrize("case", CASES[::3], ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_every_picture_is_well_formed(case):
    for problem in case.problems():
        call = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)[0]
        if not call.first.size or not call.second.size:
            continue
        for where in ({"at": (0, 0, 0, 0)}, {"at_input": (0, 0, 0, 0)}):
            explained = tc.explain(problem.op, *problem.args, **problem.kwargs, **where)
            ElementTree.fromstring(explained.picture())
            assert "<table>" in explained._repr_html_()
            assert len(explained.picture()) < 200_000


def test_taps_in_the_padding_are_drawn_apart():
    x, w = make_array((1, 5, 5, 1), "float32", "integers"), make_array((3, 3, 1, 1), "float32", "integers")
    explained = tc.explain(tc.conv2d, x, w, 2, "SAME", at=(0, 0, 0, 0))
    skipped = {tap.input_index[1:3] for tap in explained.taps if tap.in_padding}
    drawn = svg_cells(explained)
    assert {f"input 5 x 5 [{row}, {col}]: a tap in the padding" for row, col in skipped} == {
        title for title, marks in drawn.items() if "tap in the padding" in marks
    }
    multiplied = [title for title, marks in drawn.items() if "factor" in marks]
    assert multiplied == [f"filter 3 x 3 [{row}, {col}]" for row in (1, 2) for col in (1, 2)]


def test_a_picture_that_drops_padding_is_a_part():
    x, w = ones(1, 9, 9, 1), ones(3, 3, 1, 1)
    explained = tc.explain(tc.conv2d, x, w, 2, "SAME", dilations=2, at_input=(0, 4, 4, 0))
    texts = [title for title in svg_cells(explained) if title.startswith("input")]
    assert len(texts) == 12 * 12  # of 13 x 13
    assert all(text.startswith("input 9 x 9 (part)") for text in texts)
    whole = tc.explain(tc.conv2d, x[:, :8, :8], w, 2, "SAME", dilations=2, at_input=(0, 4, 4, 0))
    assert "part" not in whole.picture()


def svg_numbers(explained):
    root = ElementTree.fromstring(explained.picture())
    return [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("where", [{"at": (0, 1, 0, 1)}, {"at_input": (0, 1, 0, 0)}], ids=str)
def test_the_picture_has_the_other_results(where):
    x, w = make_array((1, 4, 4, 2), "float32", "integers"), 1000 * ones(3, 3, 2, 2)
    found = svg_numbers(tc.explain(tc.conv2d, x, w, **where))
    plane = tc.conv2d(x, w)[0, :, :, 1 if "at" in where else 0]
    assert all(short(value) in found for value in plane.ravel())
    large = tc.explain(tc.conv2d, ones(1, 400, 400, 4), ones(3, 3, 4, 4), at=(0, 9, 9, 0))
    assert "not computed" in large.picture()
    assert "not computed" not in tc.explain(tc.conv2d, x, w, **where).picture()


def test_the_equation_says_what_is_not_drawn():
    def sign(op, *args, at=(0, 1, 1, 0), **kwargs):
        found = svg_numbers(tc.explain(op, *args, at=at, **kwargs))
        return [text for text in found if text == "=" or text.startswith("+")]

    w = ones(3, 3, 4, 2)
    assert sign(tc.conv2d, ones(1, 4, 4, 4), w) == ["+ 3 more channels", "="]
    assert sign(tc.conv2d, ones(1, 4, 4, 1), ones(3, 3, 1, 2)) == ["="]
    assert sign(tc.conv2d, ones(1, 4, 4, 1), ones(3, 3, 1, 2), bias=ones(2)) == ["+ bias", "="]
    assert sign(tc.conv2d, ones(1, 4, 4, 4), ones(3, 3, 2, 2)) == ["+ 1 more channel", "="]  # 2 groups
    assert sign(tc.conv2d_transpose, ones(1, 4, 4, 4), ones(3, 3, 2, 4)) == ["+ 3 more channels", "="]
    args = ones(3, 4, 4, 4), w.shape, ones(3, 2, 2, 2)
    assert sign(tc.conv2d_backprop_filter, *args, at=(1, 1, 0, 0)) == ["+ 2 more images", "="]


def test_large_planes_are_cut_to_the_window():
    x, w = make_array((1, 500, 500, 3), "float32"), make_array((3, 3, 3, 2), "float32")
    explained = tc.explain(tc.conv2d, x, w, 2, "SAME", at=(0, 120, 200, 1))
    cells = [marks for title, marks in svg_cells(explained).items() if title.startswith("input")]
    assert len(cells) == 144
    assert sum("window" in marks for marks in cells) == 9
    assert "part" in explained.picture()


def test_fractions_are_not_needed_for_the_sum():
    """Independent of the tables: the terms of one cell of the input gradient, by the law read forwards."""
    w, dy = make_array((3, 2, 2, 3), "float64"), make_array((1, 3, 4, 3), "float64")
    explained = tc.explain(tc.conv2d_backprop_input, (1, 6, 7, 2), w, dy, 2, "SAME", at=(0, 2, 3, 1))
    g = tc.conv2d_geometry((1, 6, 7, 2), w.shape, 2, "SAME")
    exact = Fraction(0)
    for r, c, a, b, o in np.ndindex(3, 4, 3, 2, 3):
        if (r * 2 - g.padding[0][0] + a, c * 2 - g.padding[1][0] + b) == (2, 3):
            exact += Fraction(float(dy[0, r, c, o])) * Fraction(float(w[a, b, 1, o]))
    assert explained.value == float(exact)


EMPTY_SUMS = {
    "no input channels": lambda: tc.explain(tc.conv2d, ones(1, 4, 4, 0), ones(3, 3, 0, 2), at=(0, 0, 0, 0)),
    "far in the padding": lambda: tc.explain(
        tc.conv2d, ones(1, 4, 4, 1), ones(3, 3, 1, 2), padding=7, at=(0, 0, 0, 0)
    ),
    "transposed, no channels": lambda: tc.explain(
        tc.conv2d_transpose, ones(1, 4, 4, 0), ones(3, 3, 2, 0), at=(0, 0, 0, 0)
    ),
    "in the stride's gap": lambda: tc.explain(
        tc.conv2d_transpose, ones(1, 4, 4, 1), ones(1, 1, 2, 1), strides=3, at=(0, 1, 1, 0)
    ),
    "no output channels": lambda: tc.explain(
        tc.conv2d_backprop_input, (1, 4, 4, 2), ones(1, 1, 2, 0), ones(1, 4, 4, 0), at=(0, 1, 1, 0)
    ),
    "no images": lambda: tc.explain(
        tc.conv2d_backprop_filter, ones(0, 4, 4, 2), (1, 1, 2, 2), ones(0, 4, 4, 2), at=(0, 0, 1, 0)
    ),
    "depthwise, no images": lambda: tc.explain(
        tc.depthwise_conv2d_backprop_filter, ones(0, 4, 4, 2), (1, 1, 2, 2), ones(0, 4, 4, 4), at=(0, 0, 1, 0)
    ),
    "a dialect's, no channels": lambda: tc.explain(
        tc.dialects.torch.conv2d, ones(1, 0, 4, 4), ones(2, 0, 3, 3), at=(0, 0, 0, 0)
    ),
    "nothing fed": lambda: tc.explain(tc.conv2d, ones(1, 4, 4, 1), ones(1, 1, 1, 0), at_input=(0, 1, 1, 0)),
    "nothing fed, transposed": lambda: tc.explain(
        tc.conv2d_transpose, ones(1, 4, 4, 1), ones(1, 1, 0, 1), at_input=(0, 1, 1, 0)
    ),
    "nothing fed, depthwise": lambda: tc.explain(
        tc.depthwise_conv2d, ones(1, 4, 4, 2), ones(1, 1, 2, 0), at_input=(0, 1, 1, 0)
    ),
}


@pytest.mark.parametrize("name", EMPTY_SUMS)
def test_an_empty_sum_has_a_picture(name):
    explanation = EMPTY_SUMS[name]()
    assert explanation.inverse or explanation.value == 0
    assert explanation.picture().startswith("<svg")
    assert "<svg" in explanation._repr_html_()


@pytest.mark.parametrize("name", mostly_slow(list(EMPTY_SUMS), "no images"))
def test_an_empty_sum_has_a_plot(name, tmp_path):
    pytest.importorskip("matplotlib")
    explanation = EMPTY_SUMS[name]()
    picture = tc.plot.window(explanation)
    assert picture._repr_svg_() == explanation.picture()  # what a notebook shows
    assert picture.save(tmp_path / "window.png").read_bytes().startswith(b"\x89PNG")


def test_several_threads_read_one_explanation():
    x, w = np.ones((1, 9, 9, 64), np.float32), np.ones((5, 5, 64, 1), np.float32)
    want = list(tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0)).taps)
    taps = tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0)).taps
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: list(taps), range(8)):
            assert got == want


@pytest.mark.parametrize("size", [3, 5])
def test_a_picture_has_room_for_its_scales(size):
    """A narrow panel with large numbers: the scale below it is wider than its cells."""
    x, w = 1e4 * np.ones((1, size, size, 1)), np.ones((3, 3, 1, 1))
    picture = tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0))._repr_svg_()
    width = float(re.search(r'viewBox="0 0 (\d+)', picture)[1])
    ends = [
        float(x) + 5 * len(text)
        for x, text in re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="start"[^>]*>([^<]*)<', picture)
    ]
    assert len(ends) > 6
    assert max(ends) < width


def frames(svg):
    """The frames of windows in a picture: each with what is cut off beside the cells, left, top, right and bottom."""
    space, root = "{http://www.w3.org/2000/svg}", ElementTree.fromstring(svg)
    ports = {rect: port for port in root.iter(f"{space}svg") for rect in port.findall(f"{space}rect")}

    def corners(element):
        x, y, width, height = (float(element.get(name)) for name in ("x", "y", "width", "height"))
        return x, y, x + width, y + height

    for rect in root.iter(f"{space}rect"):
        if rect.get("class") == "frame":
            inner = corners(rect)
            yield tuple(map(float.__sub__, inner, corners(ports[rect]) if ports[rect] is not root else inner))


def test_a_frame_is_open_where_its_window_goes_on_outside_the_picture():
    """Its frame's sides stand outside, not drawn."""
    x, w = np.ones((1, 40, 40, 1), "float32"), np.ones((5, 5, 1, 1), "float32")
    [sides] = frames(tc.explain(tc.conv2d, x, w, 1, "SAME", dilations=6, at=(0, 20, 20, 0)).picture())
    assert sides == (2, 2, 13 * 36 - 2, 13 * 36 - 2)  # 25 cells in a picture of 12


def test_minus_zero_is_printed_as_zero():
    """Its sign is kept in the value."""
    x, w = np.float32([0, -1]).reshape(1, 1, 2, 1), np.float32([-1, 0]).reshape(1, 2, 1, 1)
    found = tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0), bias=np.float32([-0.0]))
    inverse = tc.explain(tc.conv2d, -x[:, :, :1], w[:, :1], at_input=(0, 0, 0, 0))
    assert np.signbit([inverse.value, found.taps[0].product, found.taps[1].product]).all()
    for shown in (
        str(found),
        found._repr_html_(),
        str(inverse),
        inverse.picture(),
        tc.support.tables.number(-0.0),
    ):
        assert not re.search(r"(?<![\w.])-0(\.0)?(?![\d.,])", shown)


def test_the_picture_of_a_large_array_reads_some_of_its_cells(monkeypatch):
    """One cell of an array of 10^8 took 5 seconds and 1.5 GB: all of it was converted for the scale of colours."""
    monkeypatch.setattr(panels, "SAMPLE", 1000)
    monkeypatch.setattr(pictures, "SAMPLE", 1000)
    x, w = make_array((1, 2000, 1000, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
    found = tc.explain(tc.conv2d, x, w, at=(0, 5, 5, 0))
    found.picture()  # loads what it needs
    tracemalloc.start()
    try:
        picture = found.picture()
        assert tracemalloc.get_traced_memory()[1] < x.nbytes // 4
    finally:
        tracemalloc.stop()
    assert "colours by the largest of 1,000 cells of an array, chosen at random" in picture
    assert picture == found.picture()
    assert "at random" not in tc.explain(tc.conv2d, x[:, :9, :9], w, at=(0, 5, 5, 0)).picture()


def test_a_sum_of_a_million_products_is_not_taken_tap_by_tap(monkeypatch):
    x, dy = np.ones((1, 1000, 1000, 1), "float32"), np.full((1, 1000, 1000, 1), 2, "float32")
    found = tc.explain(tc.conv2d_backprop_filter, x, (3, 3, 1, 1), dy, padding="SAME", at=(0, 1, 0, 0))
    monkeypatch.setattr(type(found.taps), "__getitem__", lambda self, index: 1 / 0)
    assert found.value == 2.0 * 999 * 1000  # the tap's first row is in the padding
    assert found._headline().endswith("the sum of 999,000 products; 1,000 of 1,000,000 taps in the padding")


# ----------------------------------------------------------------------------------------------------
# Winograd's tile
# ----------------------------------------------------------------------------------------------------

IMAGE = np.float32([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]).reshape(1, 4, 4, 1)
KERNEL = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)


def test_the_tile_of_winograd_by_hand():
    """F(2x2, 3x3) of the corner, worked on paper: B' to the rows of d and then to its columns, and so on."""
    explained = tc.explain(tc.conv2d, IMAGE, KERNEL, 1, "SAME", at=(0, 0, 1, 0), algorithm="winograd2")
    tile = explained.tile

    def text(matrix):
        return [" ".join(map(str, row)) for row in matrix]

    assert text(tile.inputs[0]) == ["0 0 0 0", "0 4 3 1", "0 2 1 0", "0 1 2 4"]
    # B' d: 0 -2 -1 0 | 0 -3 -1 3 | 0 6 4 1 | 0 -2 -2 -1
    assert text(tile.transformed_inputs[0]) == ["1 2 -3 1", "1 6 -4 2", "-4 -5 10 -2", "2 1 -4 0"]
    # G g: 1 0 1 | 0 0 1 | 3/2 1/2 1 | -1/2 -1/2 1
    assert text(tile.transformed_filters[0]) == ["1 1 1 1", "0 1 1/2 1/2", "3/2 1 3/2 1", "-1/2 1 0 1/2"]
    assert text(tile.products) == ["1 2 -3 1", "0 6 -2 1", "-6 -5 15 -2", "-1 1 0 0"]
    # A' M: -6 -2 12 -1 | -5 0 13 -1
    assert text(tile.outputs) == ["5 11", "7 14"]
    assert (tile.rows, tile.cols, explained.value) == (range(2), range(2), 11)
    printed = str(explained)
    assert printed.startswith(
        "conv2d by winograd2: output[0, 0, 1, 0] = 11.0, in the tile of rows 0 to 1 and columns 0 to 1:\n"
        "16 products for 2 x 2 outputs, instead of 36\n1 input transform: B' d B  winograd_stages.h:"
    )
    assert "    g      U\n    1 0 1     1 1   1   1\n    2 1 0     0 1 1/2 1/2\n" in printed
    html = explained._repr_html_()
    assert "<svg" in html
    assert "0 1 1/2 1/2" in html
    ElementTree.fromstring(html)


def test_winograd4_has_square_roots_of_two_and_they_cancel():
    tile = tc.explain(tc.conv2d, IMAGE, KERNEL, 1, "SAME", at=(0, 3, 3, 0), algorithm="winograd4").tile
    # G g G' by hand, in its last row and column: (1 - 0 + 0 - 2 b + b^2 + 2 b + 4) / 36 with b^2 = 2 is 1/4 - b/18
    assert str(tile.transformed_filters[0, 5, 5]) == "1/4-√2/18"
    assert [[str(number) for number in row] for row in tile.outputs] == [
        ["5", "11", "8", "2"],
        ["7", "14", "6", "2"],
        ["3", "6", "12", "9"],
        ["5", "12", "5", "6"],
    ]


CALLS_OF_TILES = [
    ("winograd2", tc.conv2d, 3, 1, "SAME"),
    ("winograd2", tc.conv2d_transpose, 3, 1, ((0, 0), (2, 1), (0, 3), (0, 0))),
    ("winograd4", tc.conv2d, 3, 1, ((0, 0), (2, 1), (0, 3), (0, 0))),
    ("winograd4", tc.conv2d, 5, 1, "SAME"),
    ("winograd4", tc.conv2d_backprop_input, 3, 2, "SAME"),
    ("winograd", tc.conv2d, 5, 1, "VALID"),
    ("winograd", tc.conv2d, 3, 2, "SAME"),
    ("winograd", tc.conv2d_transpose, 5, 2, "SAME"),
    ("winograd", tc.conv2d_backprop_input, 4, 3, "VALID"),
]


@pytest.mark.parametrize(("algorithm", "op", "size", "stride", "padding"), CALLS_OF_TILES)
def test_every_cell_is_the_exact_sum_in_the_one_tile_that_has_it(algorithm, op, size, stride, padding):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 7, 6, 2), dtype="float32")
    w = rng.standard_normal((size, size, 2, 3), dtype="float32")
    args = (x, w)
    if op is not tc.conv2d:
        shape = tc.conv2d_geometry(x.shape, w.shape, stride, padding).output_shape
        dy = rng.standard_normal(shape, dtype="float32")
        args = (dy, w, x.shape) if op is tc.conv2d_transpose else (x.shape, w, dy)
    left = set(np.ndindex(op(*args, stride, padding).shape[1:3]))
    while left:
        explained = tc.explain(op, *args, stride, padding, at=(1, *min(left), 1), algorithm=algorithm)
        tile = explained.tile
        assert str(explained)
        cells = {(row, col) for row in tile.rows for col in tile.cols}
        assert min(left) in cells <= left
        left -= cells
        for row, col in cells:
            plain = tc.explain(op, *args, stride, padding, at=(1, row, col, 1))
            inside = (tap for tap in plain.taps if not tap.in_padding)
            number = tile.outputs[row - tile.rows[0], col - tile.cols[0]]
            assert number.p == sum(Fraction(tap.input_value) * Fraction(tap.filter_value) for tap in inside)
            assert number.q == 0
            assert plain.value == np.float32(number.p)


def test_the_products_of_a_tile_are_summed_over_channels_and_the_bias_comes_after():
    x, w = np.ones((1, 4, 4, 3), "float32"), np.ones((3, 3, 3, 2), "float32")
    options = {"bias": np.float32([10, 20]), "at": (0, 0, 0, 1), "algorithm": "winograd2"}
    explained = tc.explain(tc.conv2d, x, w, 1, "SAME", **options)
    assert explained.tile.outputs[0, 0].p == 4 * 3
    assert explained.value == 32
    printed = str(explained)
    assert "3 products: U * V, element by element, summed over 3 channels" in printed
    assert printed.endswith("+ bias 20 = 32.0")


def test_the_tile_does_not_depend_on_the_layout():
    options = {"data_format": "NCHW", "at": (0, 1, 0, 0), "algorithm": "winograd2"}
    explained = tc.explain(tc.conv2d, IMAGE.transpose(0, 3, 1, 2), KERNEL, 1, "SAME", **options)
    assert str(explained.tile.outputs[1, 0]) == "7"
    assert explained.value == 7


def test_a_number_with_a_large_denominator_is_written_as_a_decimal_and_kept_exactly():
    explained = tc.explain(
        tc.conv2d, IMAGE * np.float32(0.1), KERNEL, 1, "SAME", at=(0, 0, 0, 0), algorithm="winograd2"
    )
    assert "~0.4" in str(explained)
    assert explained.tile.inputs[0, 1, 1].p == Fraction(float(np.float32(4) * np.float32(0.1)))


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {"algorithm": "im2col"},
            TypeError,
            "explain takes no algorithm: .*; of winograd, winograd2 and wino",
        ),
        (
            {"algorithm": "winograd2", "strides": 2},
            ValueError,
            r"'winograd2' needs filters 3 x 3, .*strides \(2, 2",
        ),
        (
            {"algorithm": "winograd4", "dilations": 2},
            ValueError,
            r"'winograd4' needs .*got .*dilations \(2, 2",
        ),
        ({"algorithm": "winograd2", "backend": "numpy"}, TypeError, "explain takes no backend"),
        (
            {"algorithm": "winograd2", "at_input": (0, 0, 0, 0), "at": None},
            TypeError,
            "needs at=, a cell of the",
        ),
    ],
)
def test_what_has_no_tile_is_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        tc.explain(tc.conv2d, IMAGE, KERNEL, **{"padding": "SAME", "at": (0, 0, 0, 0), **options})


def test_tiles_that_do_not_give_a_cell_alone_are_refused():
    options = {"at": (0, 0, 0, 0), "algorithm": "winograd4", "padding": "SAME"}
    with pytest.raises(ValueError, match="a filter gradient sums over all tiles"):
        tc.explain(tc.conv2d_backprop_filter, IMAGE, KERNEL.shape, IMAGE, **options)
    with pytest.raises(ValueError, match="needs two spatial axes.* got 1"):
        tc.explain(tc.conv1d, IMAGE[:, 0], KERNEL[0], **(options | {"at": (0, 0, 0)}))
    with pytest.raises(TypeError, match="winograd4' has no int32"):
        tc.explain(tc.conv2d, IMAGE.astype("int32"), KERNEL.astype("int32"), **options)
    with pytest.raises(ValueError, match="needs a tile of finite numbers"):
        tc.explain(tc.conv2d, np.full_like(IMAGE, np.inf), KERNEL, **options)
