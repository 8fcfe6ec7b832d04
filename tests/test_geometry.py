"""The laws of padding: defining inequalities, hand-worked numbers and edge cases."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest
from helpers import problems
from hypothesis import given
from hypothesis import strategies as st

import teachconv as tc
from teachconv.core.arguments import PADDING_WORDS
from teachconv.core.geometry import (
    conv2d_geometry,
    conv2d_transpose_geometry,
    conv_geometry,
    conv_transpose_geometry,
)

SIZES = st.integers(1, 30)


def axis(n, k, s=1, padding="VALID", d=1):
    return conv2d_geometry((1, n, 1, 1), (k, 1, 1, 1), (s, 1), padding, dilations=(d, 1)).rows


@given(SIZES, st.integers(1, 6), st.integers(1, 4), st.integers(1, 3))
def test_valid_gives_as_many_outputs_as_fit(n, k, s, d):
    if n < (k - 1) * d + 1:
        with pytest.raises(ValueError, match=rf"VALID needs in_rows >= {(k - 1) * d + 1} "):
            axis(n, k, s, "VALID", d)
        return
    rows = axis(n, k, s, "VALID", d)
    assert rows.in_index(rows.out_size - 1, k - 1) < n  # the last output fits
    assert rows.in_index(rows.out_size, k - 1) >= n  # one more would not
    assert not rows.has_padding


@given(
    SIZES, st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["SAME", "SAME_LOWER"])
)
def test_same_covers_every_stride_with_the_least_padding(n, k, s, d, padding):
    rows = axis(n, k, s, padding, d)
    assert (rows.out_size - 1) * s < n <= rows.out_size * s
    total = rows.pad_before + rows.pad_after
    larger = rows.pad_after if padding == "SAME" else rows.pad_before
    assert 0 <= total - larger <= larger <= total - larger + 1  # the odd row at the bottom, or at the top
    last = rows.in_index(rows.out_size - 1, k - 1)
    # the least: the last tap ends exactly at the padded end, unless the stride skips over it anyway
    assert last == n - 1 + rows.pad_after or (total == 0 and last < n)


def test_padding_is_split_in_one_place():
    """The laws and the dialects split padding only by `split_padding`."""
    package = Path(tc.__file__).parent
    files = [*package.glob("core/*.py"), *package.glob("dialects/*.py"), *package.glob("translation/*.py")]
    halves = [
        function.name
        for file in files
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.FloorDiv)
        and ast.unparse(node.right) == "2"
    ]
    assert set(halves) == {"split_padding"}


@given(problems())
def test_explicit_padding_is_what_same_resolves_to(problem):
    g = conv2d_geometry(**problem)
    again = conv2d_geometry(**(problem | {"padding": g.padding}))
    assert (again.output_shape, again.padding) == (g.output_shape, g.padding)


@given(problems())
def test_the_transpose_goes_back_to_the_size_it_came_from(problem):
    g = conv2d_geometry(**problem)
    rows, cols, depth, outs = problem["filters_shape"]
    back = conv2d_transpose_geometry(
        g.output_shape,
        (rows, cols, depth, outs),
        g.input_shape,
        problem["strides"],
        problem["padding"],
        dilations=problem["dilations"],
    )
    assert back.output_shape == g.input_shape
    assert back.forward == g  # the same facts, read backwards


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_every_legal_transposed_size_and_no_other(i, k, s, d):
    for padding in (*PADDING_WORDS, ((1, 0), (0, 0))):
        legal = set()
        for size in range(0, i * s + (k - 1) * d + s + 4):
            try:
                g = conv2d_transpose_geometry(
                    (1, i, 1, 1), (k, 1, 1, 1), (1, size, 1, 1), (s, 1), padding, dilations=(d, 1)
                )
            except ValueError:
                continue
            legal.add(size)
            assert g.output_shape[1] == size
        expected = set()
        for size in range(1, i * s + (k - 1) * d + s + 4):
            try:
                forward = axis(size, k, s, padding, d).out_size
            except ValueError:
                continue
            if forward == i:
                expected.add(size)
        assert legal == expected
        if legal:
            one = (1, i, 1, 1), (k, 1, 1, 1)
            for size in ((1, max(legal), 1, 1), (1, min(legal), 1, 1)):
                g = conv2d_transpose_geometry(*one, size, (s, 1), padding, dilations=(d, 1))
                assert g.legal_output_shapes == tuple((1, size, 1, 1) for size in sorted(legal))


def test_legal_output_shapes_of_both_axes_and_layouts():
    args = (2, 6, 3, 4), (3, 3, 5, 6)
    g = conv2d_transpose_geometry(*args, strides=(2, 3), padding="VALID", data_format="NCHW")
    assert g.legal_output_shapes == tuple((2, 5, rows, cols) for rows in (7, 8) for cols in (12, 13, 14))
    assert g.output_shape in g.legal_output_shapes
    for shape in g.legal_output_shapes:
        again = conv2d_transpose_geometry(*args, shape, (2, 3), "VALID", "NCHW")
        assert again.output_shape == shape
        assert again.legal_output_shapes == g.legal_output_shapes
    torch = tc.nn_ops.call_of(
        tc.dialects.torch.conv_transpose2d, (np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3)), None, 2, 1), {}
    )[0].geometry
    assert tc.Conv2DTransposeGeometry(torch).legal_output_shapes == (
        (1, 7, 7, 1),
    )  # another law: only its own


def test_a_call_that_fails_says_where_the_legal_shapes_are():
    with pytest.raises(ValueError, match="output_shape rows must be 15 or 16") as caught:
        tc.conv2d_transpose(np.ones((1, 8, 8, 1)), np.ones((3, 3, 1, 1)), (1, 17, 16, 1), 2)
    assert "legal_output_shapes" in caught.value.__notes__[0]


def test_the_example_sizes_of_the_design():
    for size, pad in ((15, (1, 1)), (16, (0, 1))):
        g = conv2d_transpose_geometry((1, 8, 8, 1), (3, 3, 1, 1), (1, size, size, 1), 2)
        assert g.padding[0] == pad
    with pytest.raises(ValueError, match="rows must be 15 or 16 for SAME, stride 2, input rows 8; got 17"):
        conv2d_transpose_geometry((1, 8, 8, 1), (3, 3, 1, 1), (1, 17, 17, 1), 2)


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ({"strides": 2}, 16),
        ({"strides": 2, "padding": "VALID"}, 17),
        ({"strides": 4, "padding": "VALID"}, 32),  # (8 - 1) * 4 + max(3, 4)
        ({"strides": 2, "padding": ((1, 2), (1, 2))}, 14),
        ({"strides": 2, "padding": 1, "output_padding": 1}, 16),
        ({"strides": 2, "padding": "VALID", "output_padding": 1}, 18),
        ({"strides": 1, "padding": 0, "dilations": 3, "output_padding": 2}, 16),
        ({"strides": 2, "padding": ((-1, 0), (-1, 0))}, 18),
    ],
)
def test_transposed_sizes_by_hand(arguments, size):
    g = conv2d_transpose_geometry((1, 8, 8, 1), (3, 3, 1, 1), **arguments)
    assert g.output_shape == (1, size, size, 1)


def test_layouts_and_groups():
    g = conv2d_geometry((2, 6, 5, 7), (3, 3, 2, 9), [1, 1, 2, 1], "SAME", "NCHW", (1, 1, 1, 2))
    assert g.groups == 3
    assert g.output_shape == (2, 9, 3, 7)
    assert (g.strides, g.dilations) == ((2, 1), (1, 2))
    assert g.macs == 2 * 3 * 7 * 9 * 3 * 3 * 2
    t = conv2d_transpose_geometry((2, 9, 3, 7), (3, 3, 2, 9), (2, 6, 5, 7), [1, 1, 2, 1], "SAME", "NCHW")
    assert (t.groups, t.in_channels, t.out_channels, t.output_shape) == (3, 9, 6, (2, 6, 5, 7))


def test_empty_inputs_have_empty_outputs():
    assert conv2d_geometry((0, 4, 4, 1), (3, 3, 1, 1)).output_shape == (0, 2, 2, 1)
    assert conv2d_geometry((1, 0, 4, 1), (3, 3, 1, 1)).output_shape == (1, 0, 2, 1)
    assert conv2d_geometry((1, 0, 4, 1), (3, 3, 1, 1), 2, "SAME").output_shape == (1, 0, 2, 1)
    assert conv2d_geometry((1, 4, 4, 0), (3, 3, 0, 5)).output_shape == (1, 2, 2, 5)
    assert conv2d_transpose_geometry((1, 0, 4, 1), (3, 3, 1, 1), strides=2).output_shape == (1, 0, 8, 1)


def test_geometries_are_hashable_equal_and_cached():
    first = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME")
    assert first is conv2d_geometry([1, 8, 8, 1], [3, 3, 1, 1], (2, 2), "SAME")
    other = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, ((0, 1), (0, 1)))
    assert first == other  # the same integers, however they were come by
    assert hash(first) == hash(other)


def test_the_text_has_every_formula_with_its_numbers():
    text = str(conv2d_geometry((1, 7, 9, 2), (3, 5, 2, 4), (2, 3), "SAME", dilations=(1, 2)))
    assert "⌈7 / 2⌉ = 4" in text
    assert "(5 - 1)·2 + 1 = 9" in text
    assert "rows:" in text
    assert "columns:" in text
    transposed = conv2d_transpose_geometry((1, 8, 8, 1), (3, 3, 1, 1), (1, 15, 15, 1), 2)
    assert "max(0, 17 - 15) = 2" in str(transposed)
    assert "15, requested; legal: 15 or 16" in str(transposed)
    assert "<pre" in transposed._repr_html_()
    assert "8 / 2" in conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME")._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"strides": 0}, ValueError, "strides must be at least 1; got 0"),
        ({"strides": -2}, ValueError, "strides must be at least 1; got -2"),
        ({"strides": 1.5}, TypeError, "strides must be integers; got 1.5"),
        ({"strides": True}, TypeError, "strides must be integers; got True"),
        ({"strides": "2"}, TypeError, "strides must be an int or a sequence of ints"),
        ({"strides": [2, 1, 1, 1]}, ValueError, "strides must be 1 at N and C in NHWC order"),
        ({"strides": [1, 1, 1, 2]}, ValueError, "strides must be 1 at N and C in NHWC order"),
        ({"strides": [1, 2, 3]}, ValueError, r"strides must be an int, \(rows, cols\) or 4 ints"),
        ({"dilations": 0}, ValueError, "dilations must be at least 1; got 0"),
        ({"dilations": [1, 2, 2, 2]}, ValueError, "dilations must be 1 at N and C"),
        ({"padding": "same"}, ValueError, r'got \'same\' \(did you mean "SAME"\?\)'),
        ({"padding": "FULL"}, ValueError, 'padding must be "SAME", "VALID"'),
        ({"padding": 1.0}, TypeError, "padding must be integers; got 1.0"),
        ({"padding": None}, TypeError, "got None"),
        ({"padding": [[1, 0], [1, 1], [1, 1], [0, 0]]}, ValueError, r"padding must be \(0, 0\) at N and C"),
        ({"padding": [1, 2, 3]}, ValueError, 'padding must be "SAME"'),
        ({"padding": ((1, 2, 3), (1, 2))}, ValueError, 'padding must be "SAME"'),
        ({"padding": ((1, 2.5), (1, 2))}, TypeError, "padding must be integers; got 2.5"),
        ({"data_format": "NWHC"}, ValueError, 'data_format must be "NHWC" or "NCHW"; got \'NWHC\''),
        ({"data_format": None}, ValueError, "data_format must be"),
        ({"input_shape": (1, 4, 4)}, ValueError, "input shape must have 4 sizes"),
        ({"input_shape": 4}, TypeError, "input shape must be a sequence of 4 ints; got 4"),
        ({"filters_shape": None}, TypeError, "filters shape must be a sequence of 4 ints; got None"),
        ({"input_shape": (1, 4, -4, 1)}, ValueError, "no negative size"),
        ({"input_shape": (1, 4.0, 4, 1)}, TypeError, "input shape must be integers; got 4.0"),
        (
            {"input_shape": (1, 2, 8, 1)},
            ValueError,
            r"VALID needs in_rows >= 3 \(filter 3, dilation 1\); got 2",
        ),
        ({"padding": -1, "input_shape": (1, 8, 4, 1)}, ValueError, "explicit padding needs in_cols >= 5"),
        ({"filters_shape": (0, 3, 1, 1)}, ValueError, "filters must have at least one row"),
        ({"input_shape": (1, 8, 8, 3), "filters_shape": (3, 3, 2, 2)}, ValueError, "or divide them"),
        ({"filters_shape": (3, 3, 2, 1)}, ValueError, r"filters.shape\[2\] must be the input's 1 channel"),
        (
            {"input_shape": (1, 8, 8, 4), "filters_shape": (3, 3, 2, 3)},
            ValueError,
            "multiple of the 2 groups",
        ),
    ],
)
def test_bad_arguments_say_what_would_be_legal(arguments, kind, message):
    call = {"input_shape": (1, 8, 8, 1), "filters_shape": (3, 3, 1, 1)} | arguments
    with pytest.raises(kind, match=message):
        conv2d_geometry(**call)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output_shape": (1, 8, 8, 1), "output_padding": 1}, "give only one of them"),
        ({"output_padding": 1}, "needs VALID or explicit padding"),
        ({"output_padding": 2, "padding": "VALID", "strides": 2}, "output_padding rows must be from 0 to 1"),
        ({"output_padding": -1, "padding": 0}, "must be from 0 to 0"),
        ({"output_padding": (1, 1, 1), "padding": 0}, r"an int or \(rows, cols\)"),
        ({"output_shape": (2, 8, 8, 1)}, "output_shape batch must be 1"),
        ({"output_shape": (1, 8, 8, 3)}, "must divide the input's channels; got 1"),
        ({"output_shape": (1, 8, 8, 0)}, "output_shape channels must be 1"),
        ({"output_shape": (1, 8, 8)}, "output_shape must have 4 sizes"),
        ({"filters_shape": (3, 3, 1, 2)}, "with in_channels = 1"),
        ({"padding": 40}, r"crops all 10 rows of the full result"),
    ],
)
def test_bad_transposed_arguments(arguments, message):
    call = {"input_shape": (1, 8, 8, 1), "filters_shape": (3, 3, 1, 1)} | arguments
    with pytest.raises(ValueError, match=message):
        conv2d_transpose_geometry(**call)


def test_three_axes_keep_a_padding_with_its_side():
    """Strides and padding together are more than a line has room for, and it was folded after "left"."""
    g = tc.conv_geometry((1, 8, 8, 8, 4), (3, 3, 3, 2, 6), 2, "SAME")
    edges = "padding front 0 back 1 top 0 bottom 1 left 0 right 1, 20,736 multiply-adds"
    assert str(g).splitlines()[1:3] == ["  strides (2, 2, 2), dilations (1, 1, 1), groups 2,", f"  {edges}"]
    assert f"groups 2,<br>{edges}<br>" in g._repr_html_()


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_note_on_an_illegal_size_names_a_function_that_takes_the_rank(rank):
    shapes = (1, *[8] * rank, 1), (*[3] * rank, 1, 1)
    with pytest.raises(ValueError, match="output_shape cols must be 15 or 16") as caught:
        tc.conv_transpose_geometry(*shapes, (1, *[16] * (rank - 1), 17, 1), 2)
    [note] = caught.value.__notes__
    function = getattr(tc, note.partition("(")[0])
    assert function(*shapes, None, 2).legal_output_shapes[-1] == (1, *[16] * rank, 1)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("make", [tc.conv_geometry, tc.conv_transpose_geometry])
def test_filters_and_layers_of_another_rank_are_refused(make, rank):
    g = make((1, *[8] * rank, 2), (*[3] * rank, 2, 2))
    flat = make((1, 8, 8, 2), (3, 3, 2, 2))
    with pytest.raises(ValueError, match=rf"geometries\[1\] must have {rank} ax[ie]s.*got 2, of a conv2d"):
        tc.receptive_field([g, flat])
    with pytest.raises(ValueError, match=rf"filters must have {rank + 2} axes"):
        tc.conv_matrix(np.ones((3, 3, 2, 2)), g)


def test_numpy_integers_are_integers():
    g = conv2d_geometry(np.array([1, 8, 8, 1]), (3, 3, 1, 1), np.int64(2), np.array([[1, 1], [0, 2]]))
    assert g.padding == ((1, 1), (0, 2))
    assert isinstance(g.rows.pad_before, int)
    assert tc.conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), np.array(2)).strides == (2, 2)


# ---------------------------------------------------------------------------------------------
# Ranks 1 and 3
# ---------------------------------------------------------------------------------------------


def test_rank_1_by_hand():
    causal = conv_geometry((2, 10, 3), (3, 3, 4), 1, ((4, 0),), dilations=2)
    assert (causal.rank, causal.axes, causal.data_format) == (1, (causal.cols,), "NWC")
    assert causal.output_shape == (2, 10, 4)
    assert causal.macs == 2 * 10 * 4 * 3 * 3
    assert [causal.terms_of(role) for role in ("input", "filters", "output")] == [12, 20, 9]
    assert causal.integers == (2, 10, 3, 10, 4, 1, 3, 1, 2, 4)
    assert all(causal.cols.in_index(n, 2) == n for n in range(10))  # the last tap reads the present
    same = conv_geometry((1, 3, 11), (4, 3, 2), [1, 1, 3], "SAME", "NCW")
    assert (same.input_shape, same.output_shape, same.padding) == ((1, 3, 11), (1, 2, 4), ((1, 1),))
    back = conv_transpose_geometry((1, 2, 4), (4, 3, 2), None, (3,), "SAME", "NCW")
    assert back.legal_output_shapes == ((1, 3, 10), (1, 3, 11), (1, 3, 12))


def test_rank_3_by_hand():
    video = conv_geometry((1, 9, 8, 7, 6), (3, 2, 1, 2, 9), (1, 2, 3), "SAME", dilations=(2, 1, 1))
    assert (video.rank, video.data_format, video.groups) == (3, "NDHWC", 3)
    assert (video.depth, video.rows, video.cols) == video.axes
    assert video.output_shape == (1, 9, 4, 3, 9)
    assert video.padding == ((2, 2), (0, 0), (0, 0))
    assert (video.strides, video.dilations) == ((1, 2, 3), (2, 1, 1))
    assert [video.terms_of(role) for role in ("input", "filters", "output")] == [18, 108, 12]
    shapes = conv_transpose_geometry((1, 2, 2, 2, 1), (3, 3, 3, 1, 1), None, (1, 2, 1)).legal_output_shapes
    assert shapes == ((1, 2, 3, 2, 1), (1, 2, 4, 2, 1))
    first = conv_geometry((1, 6, 9, 8, 7), (3, 2, 1, 2, 9), [1, 1, 1, 2, 3], "SAME", "NCDHW", [1, 1, 2, 1, 1])
    assert (first.axes, first.output_shape) == (video.axes, (1, 9, 9, 4, 3))


def with_one_more(arguments):
    """The arguments of the same convolution with one more axis in front, of length 1."""
    (batch, *sizes, channels), padding = arguments["input_shape"], arguments["padding"]
    return {
        "input_shape": (batch, 1, *sizes, channels),
        "filters_shape": (1, *arguments["filters_shape"]),
        "strides": (1, *arguments["strides"]),
        "padding": padding if isinstance(padding, str) else ((0, 0), *padding),
        "dilations": (1, *arguments["dilations"]),
    }


@given(st.data(), st.sampled_from([1, 2]))
def test_every_rank_has_the_laws_of_two_dimensions(data, rank):
    problem = data.draw(
        problems(rank=rank).filter(lambda one: one["padding"] != "CAUSAL")
    )  # of one axis only
    g, more = conv_geometry(**problem), conv_geometry(**with_one_more(problem))
    assert (more.axes[1:], more.macs, more.groups) == (g.axes, g.macs, g.groups)
    assert [axis.formulas for axis in more.axes[1:]] == [axis.formulas for axis in g.axes]
    assert more.has_padding == g.has_padding
    one, other = (each | {"input_shape": each_g.output_shape} for each, each_g in ((problem, g), (with_one_more(problem), more)))  # fmt: skip
    back, again = conv_transpose_geometry(**one, output_shape=g.input_shape), conv_transpose_geometry(**other, output_shape=more.input_shape)  # fmt: skip
    assert (back.forward, again.forward) == (g, more)
    assert [(n, *rest) for n, _, *rest in again.legal_output_shapes] == list(back.legal_output_shapes)


@given(problems())
def test_the_geometry_of_rank_2_is_that_of_conv2d(problem):
    g = conv2d_geometry(**problem)
    assert conv_geometry(**problem) is g
    assert type(g) is tc.ConvGeometry is tc.Conv2DGeometry
    back = problem | {"input_shape": g.output_shape, "output_shape": g.input_shape}
    assert conv_transpose_geometry(**back) == conv2d_transpose_geometry(**back)
    batch, rows, cols, channels = g.input_shape
    first = problem | {"data_format": "NCHW", "input_shape": (batch, channels, rows, cols)}
    assert conv_geometry(**first) == conv2d_geometry(**first)


def test_a_name_that_the_rank_lacks():
    one, two = conv_geometry((1, 4, 1), (3, 1, 1)), conv_geometry((1, 4, 4, 1), (3, 3, 1, 1))
    with pytest.raises(AttributeError, match="a convolution of rank 1 has no rows; it has cols"):
        _ = one.rows
    with pytest.raises(AttributeError, match="a convolution of rank 2 has no depth; it has rows and cols"):
        _ = tc.ConvTransposeGeometry(two).depth


def test_a_geometry_from_its_axes():
    one = conv_geometry((1, 4, 3), (3, 3, 2))
    for axes, layout in (((one.cols,), "NWC"), ((one.cols,) * 2, "NHWC"), ([one.cols] * 3, "NDHWC")):
        g = tc.ConvGeometry(1, axes, 3, 2, 1)
        assert g.data_format == layout
        assert g == tc.ConvGeometry(1, axes, 3, 2, 1, layout) == pickle.loads(pickle.dumps(g))
        assert len({g, tc.ConvGeometry(1, tuple(axes), 3, 2, 1)}) == 1
    for axes in ((), (one.cols,) * 4, one.cols, (3, 3)):
        with pytest.raises(ValueError, match="axes must be a tuple of 1, 2 or 3 AxisGeometry; got "):
            tc.ConvGeometry(1, axes, 3, 2, 1)
    with pytest.raises(ValueError, match='data_format must be "NWC" or "NCW"; got \'NHWC\''):
        tc.ConvGeometry(1, (one.cols,), 3, 2, 1, "NHWC")


def test_the_texts_of_all_ranks():
    one = str(conv_geometry((1, 8, 1), (3, 1, 1), 2, "SAME"))
    assert "conv1d: input [1, 8, 1] NWC" in one
    assert "padding left 0 right 1, 12 multiply-adds\ncolumns:\n" in one
    three = str(conv_geometry((1, 8, 8, 8, 1), (3, 3, 3, 1, 1), (1, 2, 2), ((1, 0), (0, 1), (0, 1))))
    assert "padding front 1 back 0 top 0 bottom 1 left 0 right 1" in " ".join(three.split())
    assert [line for line in three.splitlines() if line.endswith(":")] == ["depth:", "rows and columns:"]
    cube = conv_transpose_geometry((1, 4, 4, 4, 1), (3, 3, 3, 1, 1), strides=2)
    assert "conv3d_transpose: input [1, 4, 4, 4, 1] NDHWC" in str(cube)
    assert "\ndepth, rows and columns:\n" in str(cube)
    assert cube._repr_html_().count("<pre") == 1


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"input_shape": (1, 8)}, ValueError, r"input shape must have 3, 4 or 5 sizes; got \[1, 8\]"),
        ({"input_shape": (1,) * 6}, ValueError, "input shape must have 3, 4 or 5 sizes"),
        ({"filters_shape": (3, 3, 1, 1)}, ValueError, r"filters shape must have 3 sizes; got \[3, 3, 1, 1\]"),
        ({"strides": (1, 2)}, ValueError, r"strides must be an int, \(cols,\) or 3 ints in NWC order; got \(1, 2\)"),
        ({"strides": [2, 1, 1]}, ValueError, "strides must be 1 at N and C in NWC order"),
        ({"strides": (0,)}, ValueError, r"strides must be at least 1; got \(0,\)"),
        ({"dilations": [1] * 4}, ValueError, r"dilations must be an int, \(cols,\) or 3 ints in NWC order"),
        ({"padding": (1, 2)}, ValueError, r"an int, \(cols,\), \(\(left, right\),\) or 3 pairs in data_format order; got \(1, 2\); write \(\(1, 2\),\) for left and right"),
        ({"padding": ((1, 2), (0, 0))}, ValueError, r"an int, \(cols,\), \(\(left, right\),\) or 3 pairs .*\)\)$"),
        ({"padding": [(1, 0), (1, 1), (0, 0)]}, ValueError, r"padding must be \(0, 0\) at N and C in NWC order"),
        ({"padding": "same"}, ValueError, r"\(did you mean \"SAME\"\?\)"),
        ({"data_format": "NHWC"}, ValueError, 'data_format must be "NWC" or "NCW"; got \'NHWC\''),
        ({"input_shape": (1, 2, 1)}, ValueError, r"VALID needs in_cols >= 3 \(filter 3, dilation 1\); got 2"),
        ({"filters_shape": (0, 1, 1)}, ValueError, "filters must have at least one column; got 0"),
        ({"filters_shape": (3, 2, 1)}, ValueError, r"filters.shape\[1\] must be the input's 1 channel"),
        ({"input_shape": (1, 8, 4), "filters_shape": (3, 2, 3)}, ValueError, r"filters.shape\[2\] must be a multiple of the 2 groups .*filters.shape\[1\] 2"),
        ({"stride": 1}, TypeError, 'conv_geometry has no argument \'stride\' .did you mean "strides".'),
    ],
)  # fmt: skip
def test_bad_arguments_of_rank_1(arguments, kind, message):
    with pytest.raises(kind, match=message):
        conv_geometry(**{"input_shape": (1, 8, 1), "filters_shape": (3, 1, 1)} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filters_shape": (3, 3, 1, 1)}, "filters shape must have 5 sizes"),
        ({"strides": (1, 2)}, r"strides must be an int, \(depth, rows, cols\) or 5 ints in NDHWC order"),
        ({"padding": (1, 2)}, r"an int, \(depth, rows, cols\), \(\(front, back\), \(top, bottom\), \(left, right\)\) or 5 pairs in data_format order; got \(1, 2\)$"),
        ({"data_format": "NCHW"}, 'data_format must be "NDHWC" or "NCDHW"'),
        ({"data_format": "NCDWH"}, r"\(did you mean \"NCDHW\"\?\)"),
        ({"input_shape": (1, 2, 8, 8, 1)}, "VALID needs in_depth >= 3"),
        ({"filters_shape": (0, 3, 3, 1, 1)}, "at least one plane, one row and one column; got 0 x 3 x 3"),
    ],
)  # fmt: skip
def test_bad_arguments_of_rank_3(arguments, message):
    with pytest.raises(ValueError, match=message):
        conv_geometry(**{"input_shape": (1, 8, 8, 8, 1), "filters_shape": (3, 3, 3, 1, 1)} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"output_shape": (1, 17, 16, 16, 1)}, "output_shape depth must be 15 or 16 for SAME, stride 2, input depth 8; got 17"),
        ({"output_shape": (1, 16, 16, 1)}, "output_shape must have 5 sizes"),
        ({"output_padding": (1, 1), "padding": 0}, r"output_padding must be an int or \(depth, rows, cols\); got \(1, 1\)"),
        ({"output_padding": (2, 0, 0), "padding": 0}, "output_padding depth must be from 0 to 1"),
        ({"filters_shape": (3, 3, 3, 1, 2)}, r"filters must be \[filter_depth, filter_rows, filter_cols, out_channels, in_channels\] with in_channels = 1"),
        ({"output_shape": (1, 16, 16, 16, 0)}, r"output_shape channels must be 1 \(filters.shape\[3\]\)"),
        ({"padding": 40}, r"crops all 17 planes of the full result \(input depth 8, filter 3"),
    ],
)  # fmt: skip
def test_bad_transposed_arguments_of_rank_3(arguments, message):
    call = {"input_shape": (1, 8, 8, 8, 1), "filters_shape": (3, 3, 3, 1, 1), "strides": 2}
    with pytest.raises(ValueError, match=message):
        conv_transpose_geometry(**call | arguments)
