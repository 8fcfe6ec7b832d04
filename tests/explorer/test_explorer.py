"""The explorer without a browser: content, size and errors of pages; and tc.plot."""

import json
import math
import re
import subprocess
import sys
import threading
from xml.etree import ElementTree

import numpy as np
import pytest
from explorer_tables import axis_of, with_tables
from helpers import AtOnce, Terminal, problems
from hypothesis import given
from hypothesis import strategies as st

import teachconv as tc
from teachconv.cli.main import main
from teachconv.core import taps
from teachconv.data.seeded import make_array
from teachconv.explorer.document import number_list
from teachconv.explorer.packing import dumps, image_numbers
from teachconv.explorer.shown_part import Part, lifted, part_call
from teachconv.explorer.variants import Variants
from teachconv.inspection.svg import Picture
from teachconv.running import dispatch, nn_ops
from teachconv.support import palette
from teachconv.verification.cases import find_cases

CASES = find_cases("small")
X, W = (
    make_array((1, 6, 6, 1), "float32", "integers", "x"),
    make_array((3, 3, 1, 1), "float32", "integers", "w"),
)


def numbers(values, dtype):
    """Decode numbers of the JSON as the page does."""
    if np.dtype(dtype).kind == "i":
        return np.array([int(v) for v in values], dtype)
    return np.array([float(v) for v in values]).astype(dtype)


def data_of(html):
    found = re.search(r'<script type="application/json" id="explorer-data">(.*?)</script>', html, re.DOTALL)
    return json.loads(found[1])


def test_a_call_by_winograd_shows_the_tile_of_its_first_cell():
    def tile(op, *args, **options):
        return tc.explore(op, *args, at=(0, 2, 3, 0), **options).data()["call"]["tile"]

    first, *steps = tile(tc.conv2d, X, W, padding="SAME", algorithm="winograd2").split("\n")
    assert first == "The tile of rows 2 to 3 and columns 2 to 3: 16 products for 2 x 2 outputs, instead of 36"
    explained = tc.explain(tc.conv2d, X, W, padding="SAME", at=(0, 2, 3, 0), algorithm="winograd2")
    assert steps == explained.tile.text()
    assert steps[0].startswith("1 input transform: B' d B  winograd_stages.h:")
    assert tile(tc.conv2d, X, W, padding="SAME") is None
    assert tile(tc.conv2d, np.full_like(X, np.inf), W, padding="SAME", algorithm="winograd2") is None
    gradient = {"padding": "SAME", "algorithm": "winograd4"}
    assert tc.explore(tc.conv2d_backprop_filter, X, W.shape, X, **gradient).data()["call"]["tile"] is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_makes_a_page_with_its_axes(case):
    for problem in case.problems("float32", "nonfinite"):
        explorer = tc.explore(problem.op, *problem.args, budget=80_000, **problem.kwargs)
        call = explorer.data()["call"]
        geometry = explorer._document.call.geometry
        for name in ("rows", "cols"):
            axis, ins, outs = axis_of(call["axes"][call["base"][name]])
            assert axis == getattr(geometry, name)
            assert {*ins} <= {*range(axis.in_size)}
            assert {*outs} <= {*range(axis.out_size)}


@given(problems(max_size=5))
def test_zero_insertion_is_an_ordinary_convolution(problem):
    """The table read literally: zeros between the inputs, the filter flipped, stride 1."""
    shape, filters = problem.pop("input_shape"), problem.pop("filters_shape")
    g = tc.conv2d_geometry(shape, filters, **problem)
    dy = np.zeros(g.output_shape, "int32")
    explorer = tc.explore(
        tc.conv2d_backprop_input, shape, np.zeros(filters, "int32"), dy, budget=1, **problem
    )
    call = with_tables(explorer.data()["call"])
    table = call["axes"][call["base"]["rows"]]
    x = np.arange(1, g.rows.out_size + 1)
    places = [0 if what is None or what[1] else int(x[what[0]]) for _, what in table["inserted"]]
    weights = 10 ** np.arange(g.rows.filter_size, dtype=object)
    first = table["inserted"][0][0]
    for y, window in table["windows"].items():
        assert [tap for _, tap in window] == list(range(g.rows.filter_size))[::-1]
        steps = np.diff([place for place, _ in window])
        assert set(steps.tolist()) <= {g.rows.dilation}
        got = sum(places[place - first] * weights[tap] for place, tap in window)
        reach = taps.scatter(g.rows)[y]
        assert got == sum(int(x[m]) * weights[tap] for tap, m in zip(*reach, strict=True))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("data", ["normal", "huge", "tiny", "nonfinite"])
def test_numbers_come_back_exactly(dtype, data):
    if np.dtype(tc.dtypes.to_dtype(dtype)).kind == "i" and data != "normal":
        pytest.skip("integers have no such data")
    array = make_array((50,), dtype, data, "numbers")
    back = numbers(json.loads(dumps(number_list(array))), array.dtype)
    assert np.array_equal(back, array, equal_nan=array.dtype.kind != "i")


def test_the_page_needs_nothing_from_elsewhere():
    html = tc.explore(tc.conv2d, X, W).html()
    assert "default-src 'none'" in html
    addresses = set(re.findall(r"https?://[^\"' )]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("op", [tc.conv2d, tc.conv2d_transpose, tc.depthwise_conv2d])
def test_a_page_of_8_x_8_is_small(op):
    x, w = (make_array(s, "float32", "normal", "size") for s in ((1, 8, 8, 1), (3, 3, 1, 1)))
    explorer = tc.explore(op, x, w, strides=1, padding="SAME")
    assert len(explorer.html().encode()) <= 350_000
    assert len(explorer.data()["variants"]["table"]) > 20


def test_an_image_is_held_in_bytes_only_where_the_page_can_undo_it():
    """The page divides in float32 and float64; in float16 k / 255 is another number."""
    counts = np.arange(64).reshape(8, 8, 1)
    for dtype, scale in (("uint8", 1), ("float16", 1), ("float32", 1), ("float64", 255), ("float32", 255)):
        image = counts.astype(dtype) / np.dtype(dtype).type(scale) if scale > 1 else counts.astype(dtype)
        assert image_numbers(image, 10_000)["scale"] == scale
    assert image_numbers(counts.astype("float16") / np.float16(255), 10_000) is None
    assert image_numbers(counts, 50) is None  # more bytes than that


def test_the_size_budget():
    small = tc.explore(tc.conv2d, make_array((1, 8, 8, 1), "float32", "integers"), W, 2, "SAME").html()
    assert len(small.encode()) < 350_000
    x, w = (make_array(s, "float32", "normal", "size") for s in ((1, 32, 32, 3), (3, 3, 3, 16)))
    assert len(tc.explore(tc.conv2d, x, w, 1, "SAME").html().encode()) < 1_000_000
    photo = tc.explore(tc.conv2d, make_array((4, 150, 225, 3), "float32"), w, 2, "SAME").html()
    assert len(photo.encode()) < 1_000_000
    wide = tc.explore(
        tc.conv2d, make_array((1, 30, 30, 512), "float32"), make_array((3, 3, 512, 64), "float32")
    ).html()
    assert len(wide.encode()) < 1_000_000


@pytest.mark.parametrize(
    ("op", "arrays", "words"),
    [
        (tc.conv2d, (X, W), {"strides": 2, "padding": "SAME"}),
        (tc.dialects.torch.conv2d, (X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)), {"stride": 2}),
        (tc.depthwise_conv2d, (X, W), {"strides": 2, "padding": "SAME"}),
        (tc.conv2d, (X.transpose(0, 3, 1, 2), W), {"strides": 2, "data_format": "NCHW"}),
    ],
    ids=["tensorflow", "torch", "depthwise", "NCHW"],
)
def test_the_page_has_the_frameworks_calls(op, arrays, words):
    """Of a function that the page knows, what it writes them from."""
    data = tc.explore(op, *arrays, **words).data()
    held = [v for v in data["variants"]["table"].values() if "error" not in v]
    if data["call"]["function"]:
        assert all({"shapes", "words"} == set(variant["call"]) for variant in held)
        assert data["call"]["base"]["call"]["shapes"] == [list(a.shape) for a in arrays]
    assert (data["call"]["function"] is None) == (op is tc.depthwise_conv2d)


def test_a_small_budget_leaves_variants_out_and_counts_them():
    every = tc.explore(tc.conv2d, X, W, budget=900_000).data()["variants"]
    bare = len(tc.explore(tc.conv2d, X, W, budget=1).html().encode())
    few = tc.explore(tc.conv2d, X, W, budget=bare + 20_000).data()["variants"]
    assert 0 < len(few["table"]) < len(every["table"])
    assert len(few["table"]) + few["left_out"] == len(every["table"]) + every["left_out"]
    base = [c["base"] for c in few["controls"]]
    changes = [sum(int(a) != b for a, b in zip(k.split(","), base, strict=True)) for k in few["table"]]
    assert changes == sorted(changes)  # the nearest first


@pytest.mark.parametrize("op", ["conv2d", "conv2d_transpose", "depthwise_conv2d"])
def test_variants_are_the_ops_own_geometries(op):
    """Each variant that is held has the result shape of the op called with its arguments, or its error."""
    function = getattr(tc, op)
    explorer = tc.explore(function, X, W, strides=2, padding="SAME")
    variants = Variants(explorer._document)
    side = explorer.data()["call"]["result"]
    legal = refused = 0
    for key in variants.combinations():
        chosen = {c.name: c.values[i] for c, i in zip(variants.controls, key, strict=True)}
        if chosen["filter size"] != (3, 3) or chosen.get("output size") is not None:
            continue
        kwargs = {"strides": chosen["stride"], "dilations": chosen["dilation"], "padding": chosen["padding"]}
        made = variants.make(key)
        if "error" in made:
            with pytest.raises(ValueError, match="^" + re.escape(made["error"]) + "$"):
                function(X, W, **kwargs)
            refused += 1
        else:
            assert tuple(made["shapes"][side]) == function(X, W, **kwargs).shape
            legal += 1
    assert legal >= 20
    assert refused == 0 or op != "conv2d_transpose"


@pytest.mark.parametrize(
    ("op", "args"),
    [
        (tc.conv2d_backprop_input, (X.shape, W)),
        (tc.conv2d_backprop_filter, (X, W.shape)),
        (tc.depthwise_conv2d_backprop_input, (X.shape, W)),
        (tc.depthwise_conv2d_backprop_filter, (X, W.shape)),
    ],
)
def test_variants_of_gradients_have_an_out_backprop_that_fits(op, args):
    forward = tc.depthwise_conv2d if "depthwise" in op.__name__ else tc.conv2d
    data = tc.explore(op, *args, forward(X, W, 2, "SAME"), 2, "SAME").data()
    held = [variant for variant in data["variants"]["table"].values() if "error" not in variant]
    assert len(held) >= 20
    assert any(variant["note"].startswith("out_backprop is cropped") for variant in held)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1}, "budget must be at least 1 byte; got -1"),
        ({"budget": math.nan}, "budget must be an integer; got nan"),
        ({"budget": "a"}, "budget must be an integer; got 'a'"),
        ({"backend": "foo"}, "backend must be one of .*; got 'foo'"),
        ({"algorithm": "foo"}, "algorithm of backend .* must be one of .*; got 'foo'"),
    ],
)
def test_options_are_checked_at_once(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tc.explore(tc.conv2d, np.ones((1, 4, 4, 1)), np.ones((3, 3, 1, 1)), **options)


def test_arguments_are_checked_at_once():
    with pytest.raises(ValueError, match="VALID needs in_rows >= 7"):
        tc.explore(tc.conv2d, X, np.ones((7, 7, 1, 1), "float32"))
    with pytest.raises(TypeError, match="op must be one of"):
        tc.explore(np.convolve, X, W)
    with pytest.raises(IndexError, match="at must be inside"):
        tc.explore(tc.conv2d, X, W, at=(0, 4, 0, 0))
    with pytest.raises(TypeError, match="beside needs either changed arguments"):
        tc.explore(tc.conv2d, X, W).beside()
    with pytest.raises(ValueError, match="4 axes"):
        tc.explore(tc.conv2d, X, W).beside(np.ones(3))
    with pytest.raises(ValueError, match="padding must be"):
        tc.explore(tc.conv2d, X, W).beside(padding="WRONG")
    with pytest.raises(OSError, match="missing"):
        tc.explore(tc.conv2d, X, W).save("/missing/page.html")


def test_paths_are_checked_by_their_kind_and_ending(tmp_path):
    picture = tc.explore(tc.conv2d, X, W)
    assert picture.save(tmp_path / "page.HTML").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    for path in (3, None, b"x.html"):
        with pytest.raises(TypeError, match="path must be a path; got"):
            picture.save(path)


def test_callers_text_is_escaped_everywhere():
    evil = "</script><svg onload=alert(1)>"
    explorer = tc.explore(tc.conv2d, X, W, name=evil, budget=1).beside(tc.conv2d(X, W), name=evil)
    assert evil not in explorer.html()
    assert "<svg onload" not in explorer._repr_html_()
    assert data_of(explorer.html())["beside"]["label"] == evil


def test_still_picture_and_repr():
    explorer = tc.explore(tc.conv2d, X, W, 2, "SAME", at=(0, 1, 1, 0))
    assert explorer._repr_svg_() == tc.explain(tc.conv2d, X, W, 2, "SAME", at=(0, 1, 1, 0)).picture()
    assert repr(explorer).startswith("Explorer(tc.conv2d(input [1, 6, 6, 1]")
    assert np.array_equal(explorer.result, tc.conv2d(X, W, 2, "SAME"))
    assert tc.explore(tc.conv2d, X[:0], W)._repr_svg_() is None
    assert 'sandbox="allow-scripts' in explorer._repr_html_()


def test_beside_names_the_mistake():
    beside = tc.explore(tc.conv2d, X, W, 2, "SAME").beside(padding=1).data()["beside"]
    assert not beside["passed"]
    assert beside["diagnosis"].startswith("padding_side")
    same = tc.explore(tc.conv2d, X, W).beside(backend="numpy").data()["beside"]
    assert same["passed"]
    assert same["diagnosis"] is None


@pytest.mark.parametrize("transposed", [False, True])
def test_the_part_that_is_shown_is_computed_alone(transposed):
    """A part of the result by a smaller call, against the whole result."""
    function, shape = (tc.conv2d_transpose, (4, 3)) if transposed else (tc.conv2d, (3, 4))
    x = make_array((2, 9, 8, 3), "float32", "integers", "x")
    w = make_array((3, 2, *shape), "float32", "integers", "w")
    for padding in ("SAME", "VALID", 2, ((-1, 2), (0, -1))):
        call, _ = nn_ops.call_of(function, (x, w), {"strides": 2, "padding": padding})
        g = call.geometry
        ins = range(1), range(1, g.rows.in_size), range(2, 4)
        outs = range(1), range(1, g.rows.out_size), range(1, 3)
        call = lifted(call)
        smaller, shown = part_call(call, Part(range(1, 2), ins, range(1, 3), outs, range(1, 3)))
        whole = dispatch.run_canonical(call, "reference")
        assert smaller.geometry.macs < g.macs
        assert np.array_equal(dispatch.run_canonical(smaller, "reference"), whole[shown])


def test_beside_on_a_large_call_compares_what_is_shown(monkeypatch):
    """No backend computes the whole of it again, and the page says that only a part was compared."""
    x, w = make_array((1, 160, 160, 8), "float32"), make_array((3, 3, 8, 64), "float32")
    explorer = tc.explore(tc.conv2d, x, w, 1, "SAME", at=(0, 80, 80, 0))
    other = explorer.result.copy()
    other[0, 80, 80, 0] += 1
    run, sizes = dispatch.run_canonical, []

    def counted(call, *args, **options):
        sizes.append(call.geometry.macs)
        return run(call, *args, **options)

    monkeypatch.setattr(dispatch, "run_canonical", counted)
    beside = explorer.beside(other)._beside()
    assert not beside["passed"]
    assert "only the cells that are shown were compared" in beside["diagnosis"]
    assert max(sizes) < tc.conv2d_geometry(x.shape, w.shape, 1, "SAME").macs / 4
    smaller = explorer.beside(explorer.result[:, 1:-1, 1:-1])._beside()
    assert not smaller["passed"]
    assert "Its shape is [1, 158, 158, 64], and this call's is [1, 160, 160, 64]" in smaller["diagnosis"]
    assert max(sizes) < tc.conv2d_geometry(x.shape, w.shape, 1, "SAME").macs / 4


def test_the_trace_of_a_page_is_that_of_a_warm_call():
    program = (
        "import numpy as np, teachconv as tc\n"
        "x, w = np.ones((1, 6, 6, 1), 'float32'), np.ones((3, 3, 1, 1), 'float32')\n"
        "assert tc.trace(tc.conv2d, x, w, backend='scipy').loading\n"  # the first call of a process loads its backend
        "assert not tc.explore(tc.conv2d, x, w, backend='numpy')._document.trace.loading"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_terminal_shows_what_is_computed(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(threading, "Timer", AtOnce)
    tc.explore(tc.conv2d, X, W, 2, "SAME", budget=150_000).beside(padding=1).data()
    for what in ("computing the call", "comparing it with padding=1", "its variants"):
        assert what in terminal.getvalue()


torch, jax = tc.dialects.torch, tc.dialects.jax
DIALECT_CALLS = [
    (torch.conv2d, ((1, 2, 5, 6), (3, 2, 3, 3)), {"stride": 2, "padding": 1}),
    (torch.conv2d, ((2, 5, 6), (3, 2, 3, 3)), {"padding": "same"}),
    (torch.conv_transpose2d, ((1, 4, 3, 2), (4, 1, 3, 3)), {"stride": 2, "groups": 2}),
    (tc.dialects.keras.conv, ((1, 5, 6, 2), (3, 3, 2, 3)), {"strides": 2, "padding": "same"}),
    (
        jax.conv_general_dilated,
        ((1, 2, 3, 3), (3, 2, 2, 2), (1, 1), [(1, 0), (0, 0)]),
        {"lhs_dilation": (2, 2)},
    ),
    (tc.dialects.onnx.conv, ((1, 2, 5, 5), (3, 2, 2, 2)), {"auto_pad": "SAME_LOWER"}),
]


@pytest.mark.parametrize(("function", "args", "kwargs"), DIALECT_CALLS)
def test_a_dialects_call_is_shown_canonically(function, args, kwargs):
    arrays = [make_array(a, "float32", "integers", str(i)) for i, a in enumerate(args[:2])]
    explorer = tc.explore(function, *arrays, *args[2:], budget=340_000, **kwargs)
    data = explorer.data()
    call = data["call"]
    held = call["arrays"][call["base"]["arrays"][call["result"]]]
    resolved, _ = nn_ops.call_of(function, (*arrays, *args[2:]), kwargs)
    assert held["values"] == number_list(resolved.from_caller(explorer.result))
    assert call["code"].startswith(
        f"tc.{function.__module__.removeprefix('teachconv.')}.{function.__name__}("
    )
    assert any("error" not in made for made in data["variants"]["table"].values())


def test_a_dialect_beside_our_own_op():
    """PyTorch's padding=1 against TensorFlow's SAME at stride 2: the stride starts at another cell."""
    x, w = (
        make_array((1, 6, 6, 2), "float32", "integers", "x"),
        make_array((3, 3, 2, 4), "float32", "integers", "w"),
    )
    ours = tc.explore(tc.conv2d, x, w, 2, "SAME")

    def theirs(padding):
        x_nchw, w_oihw = x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)
        x_nchw = np.pad(x_nchw, ((0, 0), (0, 0), (0, 1), (0, 1))) if padding == 0 else x_nchw
        return tc.explore(torch.conv2d, x_nchw, w_oihw, stride=2, padding=padding)

    beside = ours.beside(theirs(1), name="PyTorch").data()["beside"]
    assert not beside["passed"]
    assert beside["diagnosis"].startswith("padding_side")
    assert ours.beside(theirs(0)).data()["beside"]["passed"]
    reverse = theirs(1).beside(ours).data()["beside"]
    assert not reverse["passed"]
    assert "pad_top 0 instead of 1" in reverse["diagnosis"]


# ---------------------------------------------------------------------------------------------
# Receptive fields and static pictures
# ---------------------------------------------------------------------------------------------


@st.composite
def stacks(draw):
    """Two or three layers that fit each other, forward and transposed, on one channel."""
    size, layers = (draw(st.integers(5, 9)), draw(st.integers(5, 9))), []
    for _ in range(draw(st.integers(2, 3))):
        k, s, d = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
        shape, w = (1, *size, 1), (k, k, 1, 1)
        if draw(st.booleans()):
            g = tc.conv2d_transpose_geometry(shape, w, strides=s, padding="SAME", dilations=d)
        else:
            g = tc.conv2d_geometry(shape, w, s, "SAME", dilations=d)
        layers.append(g)
        size = g.output_shape[1:3]
    return layers


@given(stacks(), st.data())
def test_receptive_field_is_what_a_gradient_of_ones_shows(layers, data):
    """The gradient through filters of ones counts the paths from each input cell to the output cell."""
    field = tc.receptive_field(layers)
    row, col = (data.draw(st.integers(0, n - 1)) for n in field.output_size)
    back = np.zeros((1, *field.output_size, 1), "int64")
    back[0, row, col, 0] = 1
    for g in reversed(layers):
        w = np.ones(g.filters_shape, "int64")
        args = {"strides": g.strides, "padding": g.padding, "dilations": g.dilations}
        if isinstance(g, tc.Conv2DTransposeGeometry):
            back = tc.conv2d(back, w, **args)
            assert back.shape == g.input_shape
        else:
            back = tc.conv2d_backprop_input(g.input_shape, w, back, **args)
    rows, cols = field.at(row, col)
    want = np.zeros(field.input_size, "int64")
    for r, ways in rows.paths.items():
        for c, others in cols.paths.items():
            want[r, c] = ways * others
            assert rows.start <= r < rows.stop
            assert cols.start <= c < cols.stop
    assert np.array_equal(back[0, :, :, 0], want)


def test_receptive_field_of_a_known_stack():
    """VGG's first block: two 3 x 3, a pooling-like stride 2, two more; sizes as commonly tabulated."""
    shape, layers = (1, 64, 64, 1), []
    for k, s in [(3, 1), (3, 1), (2, 2), (3, 1), (3, 1)]:
        layers.append(tc.conv2d_geometry(shape, (k, k, 1, 1), s, "SAME"))
        shape = layers[-1].output_shape
    field = tc.receptive_field(layers)
    assert [tc.receptive_field(layers[: i + 1]).size[0] for i in range(5)] == [3, 5, 6, 10, 14]
    assert field.stride == (2, 2)
    last = str(field).split("\n")[5].split("  ")
    assert [cell.strip() for cell in last if cell][1:] == ["14 x 14", "2 x 2", "-6, -6", "0.5, 0.5"]


def test_receptive_field_of_layers_in_words():
    words = [("conv", 3, 1, "SAME"), ("pool", 2), ("conv", (5, 3), (2, 1), 1, 2), ("transpose", 4, 2, "SAME")]
    one = tc.conv2d_geometry((1, 40, 32, 1), (3, 3, 1, 1), 1, "SAME")
    two = tc.conv2d_geometry(one.output_shape, (2, 2, 1, 1), 2)
    three = tc.conv2d_geometry(two.output_shape, (5, 3, 1, 1), (2, 1), 1, dilations=2)
    four = tc.conv2d_transpose_geometry(three.output_shape, (4, 4, 1, 1), strides=2, padding="SAME")
    field = tc.receptive_field(words, input_size=(40, 32))
    assert field.geometries == (one, two, three, four)
    assert tc.receptive_field([one, *words[1:]]).geometries == field.geometries
    assert [line.split(" ")[1] for line in str(field).split("\n")[1:5]] == [
        "conv2d",
        "pool",
        "conv2d",
        "conv2d_transpose",
    ]
    assert tc.receptive_field([("pool", 3)]).stride == (3, 3)
    assert tc.receptive_field([("pool", 3, 2)]).input_size == (224, 224)


@given(stacks())
def test_offset_and_centre_are_those_of_the_first_cell(layers):
    field = tc.receptive_field(layers)
    rows, cols = field.at(0, 0)
    assert field.offset == (rows.start, cols.start)
    assert field.centre == ((rows.start + rows.stop - 1) / 2, (cols.start + cols.stop - 1) / 2)
    last = str(field).split("\n")[len(layers)]
    assert last.endswith(f"{field.centre[0]:g}, {field.centre[1]:g}")
    assert f"{rows.start}, {cols.start}  " in last


@pytest.mark.parametrize(
    ("layers", "kind", "message"),
    [
        (
            [("cnov", 3)],
            ValueError,
            r"geometries\[0\]\[0\] must be 'conv', 'pool', 'transpose'; .*mean \"conv\"",
        ),
        ([("conv",)], TypeError, r"geometries\[0\] must come from .* or be a tuple"),
        ([("conv", 3), ("conv", 0)], ValueError, r"geometries\[1\]\[1\]"),
        ([("conv", 3), ("pool", 2, 0)], ValueError, r"geometries\[1\], on 222 x 222: strides"),
        ([("conv", 300)], ValueError, r"geometries\[0\], on 224 x 224: VALID needs in_rows >= 300"),
    ],
)
def test_layers_in_words_that_are_not_legal(layers, kind, message):
    with pytest.raises(kind, match=message):
        tc.receptive_field(layers)


def test_receptive_field_refuses_what_does_not_fit():
    g = tc.conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1))
    with pytest.raises(ValueError, match=r"geometries\[1\] must have 6 input rows"):
        tc.receptive_field([g, g])
    with pytest.raises(ValueError, match="at least one layer"):
        tc.receptive_field([])
    with pytest.raises(TypeError, match="geometries must be a list of geometries; got 3"):
        tc.receptive_field(3)
    with pytest.raises(TypeError, match="put it in brackets"):
        tc.receptive_field(g)
    with pytest.raises(TypeError, match=r"geometries\[0\]"):
        tc.receptive_field(["conv"])
    with pytest.raises(IndexError, match="inside the 6"):
        tc.receptive_field([g]).at(6, 0)


def test_pictures_refuse_what_they_cannot_draw():
    with pytest.raises(TypeError, match="geometry must come from"):
        tc.plot.geometry("conv")
    with pytest.raises(ValueError, match="room for 40"):
        tc.plot.geometry(tc.conv2d_geometry((1, 90, 90, 1), (3, 3, 1, 1)))
    with pytest.raises(ValueError, match="must have the shape of the result"):
        tc.plot.diff_heatmap(tc.conv2d, X, W, against=X)
    with pytest.raises(ValueError, match="n must be an image"):
        tc.plot.diff_heatmap(tc.conv2d, X, W, against=tc.conv2d(X, W), n=1)
    with pytest.raises(TypeError, match="does not draw into axes: geometry"):
        tc.plot.geometry(tc.conv2d_geometry(X.shape, W.shape), ax=object())
    with pytest.raises(TypeError, match="needs a geometry"):
        tc.plot.geometry()
    with pytest.raises(ValueError, match="explore draws pools"):
        tc.plot.window(tc.max_pool, X, 2, 2, "VALID")
    with pytest.raises(ValueError, match="room for 16 rows and columns, padding included; explore moves"):
        tc.plot.animate("window.gif", tc.conv2d, np.ones((1, 16, 16, 1)), np.ones((3, 3, 1, 1)), 1, "SAME")
    with pytest.raises(ValueError, match=r"end in \.gif; got 'window\.avi'"):
        tc.plot.animate("window.avi", tc.conv2d, X, W)


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    "found",
    [
        tc.conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME"),
        tc.conv2d_transpose_geometry((1, 4, 4, 1), (3, 3, 1, 1), strides=2),
        tc.conv2d_transpose_geometry((1, 1, 1, 1), (1, 1, 1, 1)),
        tc.conv2d_geometry((1, 30, 30, 1), (7, 7, 1, 1), 2, "SAME", dilations=3),
    ],
    ids=lambda found: str(found.output_shape),
)
def test_no_part_of_a_geometrys_picture_is_cut_off(found):
    pytest.importorskip("matplotlib", reason="matplotlib measures the letters")
    texts_inside(tc.plot.geometry(found))
    texts_inside(tc.plot.geometry(found, found, formulas=False))


def texts_inside(picture):
    """The texts of a picture with their widths, all of which lie inside it, as matplotlib draws them."""
    from teachconv.inspection.drawn_svg import outline

    root = ElementTree.fromstring(picture.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    found = []
    for element in (part for top in list(root)[2:] for part in top.iter()):
        if (path := outline(element)) is None or not path.vertices.size:
            continue
        (left, top), (right, bottom) = path.vertices.min(axis=0), path.vertices.max(axis=0)
        assert 0 <= left <= right <= width, (element.text, element.attrib)
        assert 0 <= top <= bottom <= height, (element.text, element.attrib)
        if element.text:
            found.append((element, right - left))
    return found


@pytest.mark.parametrize("whole", [False, True], ids=["fractions", "whole numbers"])
@pytest.mark.parametrize("size", [4, 12])
def test_the_digits_of_a_picture_have_8_points_and_fit_their_cells(size, whole):
    pytest.importorskip("matplotlib", reason="matplotlib measures the letters")
    x = np.random.default_rng(size).standard_normal((1, size, size, 1)).astype("float32")
    picture = tc.plot.window(tc.conv2d, np.rint(9 * x) if whole else x, np.ones((3, 3, 1, 1), "float32"))
    texts = texts_inside(picture)
    assert min(float(text.get("font-size", 11)) for text, _ in texts) >= 8
    cells = {
        text for group in ElementTree.fromstring(picture.svg).iter(f"{SVG}g") for text in group.itertext()
    }
    digits = [width for text, width in texts if text.text in cells and text.get("fill") is None]
    assert len(digits) == size**2 + 9 + (size - 2) ** 2
    assert max(digits) < 36


def test_a_notebooks_page_asks_matplotlib_for_nothing(monkeypatch):
    def drawn(*args, **kwargs):
        raise AssertionError("a static picture by matplotlib was drawn")

    monkeypatch.setattr(Picture, "figure", property(drawn))
    bundle = tc.explore(tc.conv2d, X, W, budget=1)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain", "image/svg+xml"}


def test_diff_heatmap_marks_the_cells_outside_the_bound():
    pytest.importorskip("matplotlib", reason="tc.plot needs matplotlib")
    theirs = tc.conv2d(X, W)
    theirs[0, 1, 2, 0] += 1
    ax = tc.plot.diff_heatmap(tc.conv2d, X, W, against=theirs)
    crosses = [(line.get_ydata()[0], line.get_xdata()[0]) for line in ax.lines]
    assert crosses == [(1, 2)]


@pytest.mark.parametrize("op", [tc.conv2d, tc.conv2d_transpose, tc.depthwise_conv2d])
def test_the_animation_has_a_frame_for_each_cell(op, tmp_path):
    pytest.importorskip("matplotlib", reason="tc.plot needs matplotlib")
    image = pytest.importorskip("PIL.Image", reason="GIFs need Pillow")
    path = tc.plot.animate(tmp_path / "window.gif", op, X[:, :2, :3], W, strides=1, padding="SAME")
    with image.open(path) as gif:
        assert gif.n_frames == 6
        assert gif.is_animated


def test_a_saved_film_begins_with_the_taps_of_one_cell(tmp_path):
    pytest.importorskip("matplotlib", reason="tc.plot needs matplotlib")
    image = pytest.importorskip("PIL.Image", reason="GIFs need Pillow")
    x, w = X[:, :3, :3, :1] + 7, W[:2, :2, :1, :1] + 9  # no product is 0, and no two frames are alike
    with image.open(tc.explore(tc.conv2d, x, w).save(tmp_path / "window.gif")) as gif:
        assert gif.n_frames == 4 + 4
        assert gif.info["duration"] == 400
        gif.seek(7)
        assert gif.info["duration"] == 500


def test_pictures_draw_every_kind_of_op():
    pytest.importorskip("matplotlib", reason="matplotlib measures the letters")
    dy = tc.conv2d(X, W, 2, "SAME")
    for picture in (
        tc.plot.window(tc.conv2d_backprop_filter, X, W.shape, dy, 2, "SAME", at=(1, 1, 0, 0)),
        tc.plot.window(tc.conv2d_backprop_input, X.shape, W, dy, 2, "SAME"),
        tc.plot.window(tc.explain(tc.conv2d, X, W, at=(0, 0, 0, 0))),
        tc.plot.window(tc.explain(tc.conv2d, X, W, at_input=(0, 0, 0, 0))),
        tc.plot.window(tc.conv2d, np.ones((1, 6, 6, 1)), np.ones((3, 3, 1, 1)), 2, "SAME"),
        tc.plot.window(tc.conv2d, np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)), 1, "SAME"),
        tc.plot.window(tc.conv1d, np.ones((1, 6, 1)), np.ones((3, 1, 1)), at=(0, 0, 0)),
    ):
        texts = [text.text for text, _ in texts_inside(picture)]
        assert picture.caption in texts
        assert "the cell" in texts
    transposed = tc.plot.geometry(tc.conv2d_transpose_geometry((1, 3, 3, 1), W.shape, strides=2))
    assert transposed.caption == "conv2d_transpose, columns: 3 to 6, stride 2, dilation 1"


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_a_picture_is_saved_in_the_formats_of_papers_and_slides(style, tmp_path):
    pytest.importorskip("matplotlib", reason="images are drawn by matplotlib")
    from matplotlib import image
    from matplotlib import style as styles

    picture = tc.plot.window(tc.conv2d, X, W, 2, "SAME")
    assert picture.save(tmp_path / "window.svg").read_text(encoding="utf-8") == picture.svg
    with styles.context(style):
        assert picture.save(tmp_path / "window.pdf").read_bytes().startswith(b"%PDF")
        pixels = image.imread(picture.save(tmp_path / "window.png"))
    height, width = pixels.shape[:2]
    assert [2 * float(size) for size in re.search(r'viewBox="0 0 (\d+) (\d+)"', picture.svg).groups()] == [
        width,
        height,
    ]
    colours = palette.of_ground("#000000" if style == "dark_background" else "#ffffff")
    for name in ("paper", "ring", "mark", "filter", "ink"):
        colour = np.array([int(colours[name][i : i + 2], 16) for i in (1, 3, 5)])
        assert (np.abs(np.rint(255 * pixels[..., :3]) - colour).sum(axis=2) == 0).any(), name


# ---------------------------------------------------------------------------------------------
# The command
# ---------------------------------------------------------------------------------------------


def command(*words):
    return main(["explore", *words])


def test_command_on_shapes_arrays_images_and_the_photograph(tmp_path, capsys):
    page = tmp_path / "page.html"
    np.save(tmp_path / "x.npy", X)
    common = ["-o", str(page), "--budget", "90000"]
    shapes = ["--input", "1,4,4,1", "--filters", "3,3,1,1"]
    assert command("conv2d_transpose", *shapes, "--strides", "2", *common) == 0
    assert data_of(page.read_text())["call"]["op"] == "conv2d_transpose"
    array = ["--input", str(tmp_path / "x.npy"), "--filters", "3,3,1,1", "--padding", "same"]
    assert command("conv2d", *array, "--strides", "2", "--beside-padding", "1", *common) == 0
    assert data_of(page.read_text())["beside"]["label"] == "padding=1"
    assert command(*common) == 0
    assert "Shown:" in data_of(page.read_text())["call"]["shown"]
    image = pytest.importorskip("PIL.Image", reason="image files need Pillow")
    image.fromarray(np.uint8(np.arange(60).reshape(6, 10))).save(tmp_path / "x.png")
    assert command("conv2d", "--input", str(tmp_path / "x.png"), "--padding", "same", *common) == 0
    assert data_of(page.read_text())["call"]["base"]["shapes"]["in"] == [1, 6, 10, 1]
    assert str(page) in capsys.readouterr().out
    assert command("conv2d_backprop_filter", "--input", str(tmp_path / "x.png"), *common) == 2
    assert "takes arrays" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["svg", "png", "gif"])
def test_a_picture_is_saved_in_the_format_of_its_name(tmp_path, ending):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    pytest.importorskip("PIL.Image", reason="GIFs need Pillow")
    picture = tc.explore(tc.conv2d, X[:, :3, :3], W[:2, :2])
    start = picture.save(tmp_path / f"window.{ending}").read_bytes()[:60]
    assert {"svg": b"<svg", "png": b"\x89PNG", "gif": b"GIF8"}[ending] in start
    empty = tc.explore(tc.conv2d, X[:0], W)
    with pytest.raises(ValueError, match="would show a window, and the call has none: an array is empty"):
        empty.save(tmp_path / f"empty.{ending}")


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"path must end in \.html, \.svg, \.png or \.gif; got .*window\.avi"
    ):
        tc.explore(tc.conv2d, X, W).save(tmp_path / "window.avi")
