"""conv1d, conv3d, their transposes and gradients: the names, CAUSAL, and every tool that takes a call."""

from itertools import product

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not
from teachconv.core.kinds import OPS, layout_of
from teachconv.data.seeded import make_array
from teachconv.running import dispatch, nn_ops, tuning
from teachconv.translation import translating
from teachconv.translation.targets import TARGETS

BACKENDS = [name for name in ("reference", "numpy", "scipy", "cython") if not why_not(name)]
ANY = {"": "convolution", "_transpose": "conv_transpose"}
ENDS = ("", "_transpose", "_backprop_input", "_backprop_filter")
NAMES = [f"conv{rank}d{end}" for rank, end in product((1, 3), ENDS)]


def a_call(name, *, first=False, dtype="float32"):
    """An op over one axis or three, its arguments without options, and those that it takes by name."""
    op = OPS[name]
    spatial, taps = {1: ((9,), (3,)), 3: ((4, 5, 6), (3, 2, 3))}[op.rank]
    x = make_array((2, *spatial, 4), dtype, "integers", "x")
    w = make_array((*taps, 2, 6), dtype, "integers", "w")
    words = {"strides": 2, "padding": "SAME"}
    y = tc.convolution(x, w, **words, backend="numpy")
    if first:
        x, y = (np.ascontiguousarray(np.moveaxis(array, -1, 1)) for array in (x, y))
        last = layout_of("input", op.rank)
        words["data_format"] = f"NC{last[1:-1]}"
    arguments = {
        "": (x, w),
        "_transpose": (y, w, x.shape),
        "_backprop_input": (x.shape, w, y),
        "_backprop_filter": (x, w.shape, y),
    }[name[6:]]
    return getattr(tc, name), arguments, words


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_they_are_the_ops_of_any_number_of_axes_bit_for_bit(name, first, backend):
    op, arguments, words = a_call(name, first=first)
    other = getattr(tc, ANY.get(name[6:], f"convolution{name[6:]}"))
    want, got = (function(*arguments, **words, backend=backend) for function in (other, op))
    assert got.tobytes() == want.tobytes()
    assert got.any()


def test_groups_follow_from_the_channels():
    x, w = make_array((1, 8, 6), "int32"), make_array((3, 1, 6), "int32")
    y = tc.conv1d(x, w)
    for channel in range(6):
        alone = tc.conv1d(x[..., channel : channel + 1], w[..., channel : channel + 1])
        assert np.array_equal(y[..., channel : channel + 1], alone)


# ---------------------------------------------------------------------------------------------
# CAUSAL
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("taps", "stride", "dilation"), [*product((1, 2, 3), (1, 2, 3), (1, 3))])
def test_causal_is_all_padding_before_and_no_output_reads_a_later_input(taps, stride, dilation):
    x, w = make_array((2, 10, 2), "int64"), make_array((taps, 2, 3), "int64")
    how = {"strides": stride, "dilations": dilation}
    pads = (((taps - 1) * dilation, 0),)
    y = tc.conv1d(x, w, padding="CAUSAL", **how)
    assert y.shape == (2, -(-10 // stride), 3)
    assert np.array_equal(y, tc.convolution(x, w, padding=pads, **how))
    assert np.array_equal(y, tc.convolution(x, w, padding="CAUSAL", **how))
    for op, arguments in (
        (tc.conv1d_backprop_input, (x.shape, w, y)),
        (tc.conv1d_backprop_filter, (x, w.shape, y)),
    ):
        assert np.array_equal(op(*arguments, padding="CAUSAL", **how), op(*arguments, padding=pads, **how))
    heard = tc.conv1d(x[:, :5], w, padding="CAUSAL", **how)
    assert np.array_equal(y[:, : heard.shape[1]], heard)
    geometry = tc.conv_geometry(x.shape, w.shape, stride, "CAUSAL", dilations=dilation)
    assert f"pad_before = (k - 1)·d = ({taps} - 1)·{dilation} = {pads[0][0]}" in str(geometry)


@pytest.mark.parametrize(("taps", "stride", "dilation"), [*product((1, 2, 4), (1, 2, 3), (1, 2))])
def test_the_transpose_refuses_causal_and_names_the_crop_that_is(taps, stride, dilation):
    y, w = make_array((1, 6, 2), "int64"), make_array((taps, 3, 2), "int64")
    crop = (taps - 1) * dilation + 1 - stride
    for op in (tc.conv1d_transpose, tc.conv_transpose):
        with pytest.raises(
            ValueError, match=rf"for its transpose give the crop .*, which is \(\(0, {crop}\),\)"
        ):
            op(y, w, None, stride, "CAUSAL", dilations=dilation)
    up = tc.conv1d_transpose(y, w, None, stride, ((0, crop),), dilations=dilation)
    assert up.shape[1] == 6 * stride
    heard = tc.conv1d_transpose(y[:, :4], w, None, stride, ((0, crop),), dilations=dilation)
    assert np.array_equal(up[:, : 4 * stride], heard)


def test_causal_is_a_word_for_sequences_and_convolutions_alone():
    image, volume = np.ones((1, 4, 4, 1)), np.ones((1, 4, 4, 4, 1))
    for call in (
        lambda: tc.conv2d(image, np.ones((3, 3, 1, 1)), 1, "CAUSAL"),
        lambda: tc.conv3d(volume, np.ones((3, 3, 3, 1, 1)), 1, "CAUSAL"),
        lambda: tc.convolution(image, np.ones((3, 3, 1, 1)), 1, "CAUSAL"),
        lambda: tc.max_pool(image[0], 2, 2, "CAUSAL"),
    ):
        with pytest.raises(
            ValueError, match='padding must be "SAME", "VALID", "SAME_LOWER", an int'
        ) as caught:
            call()
        assert '"CAUSAL",' not in str(caught.value)
    with pytest.raises(ValueError, match=r'padding must be .*"CAUSAL", an int.*did you mean "CAUSAL"'):
        tc.conv1d(image[0], np.ones((3, 1, 1)), 1, "causal")


# ---------------------------------------------------------------------------------------------
# Bad input
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x, w: tc.conv1d(x, w, data_format="NHWC"),
            'data_format must be "NWC" or "NCW"; got .* 2 spatial axes',
        ),
        (lambda x, w: tc.conv1d(x[None], w), r"input must have 3 axes, \[batch, cols, channels\]; got shape"),
        (lambda x, w: tc.conv1d(x, w[None]), r"filters must have 3 axes, \[cols, in, out\]; got shape"),
        (
            lambda x, w: tc.conv1d(x, w, (1, 2)),
            r"strides must be an int, \(cols,\) or 3 ints in NWC order; got",
        ),
        (
            lambda x, w: tc.conv1d(x, w, padding=(1, 2)),
            r"got \(1, 2\); write \(\(1, 2\),\) for left and right",
        ),
        (
            lambda x, w: tc.conv3d(x, w),
            r"input must have 5 axes, \[batch, depth, rows, cols, channels\]; got",
        ),
        (
            lambda x, w: tc.conv1d_backprop_input((1, 8, 1), w, x),
            r"out_backprop must have .* that of conv1d's output",
        ),
        (lambda x, w: tc.conv1d(x, w[:, :, :0], stride=2), "conv1d"),
        (lambda x, w: tc.conv1d(x[:, :2], w), r"VALID needs in_cols >= 3 \(filter 3, dilation 1\); got 2"),
    ],
)
def test_an_error_names_the_argument_its_value_and_what_would_be_legal(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(np.ones((1, 8, 1)), np.ones((3, 1, 1)))


# ---------------------------------------------------------------------------------------------
# Tools
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_translate_writes_every_op_for_every_framework(name, target, monkeypatch):
    monkeypatch.setattr(
        translating, "installed", lambda name: name == "scipy"
    )  # the peers' tests run the rest
    op, arguments, words = a_call(name)
    translation = tc.translate(op, *arguments, **words, to=target)
    if name.endswith("filter"):
        assert "the call computes a filter" in translation.why
        return
    report = translation.check()
    assert report.passed
    assert not any(row.max_abs for row in report.rows)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_explain_sums_every_tap_of_a_cell(name, first):
    op, arguments, words = a_call(name, first=first)
    result = op(*arguments, **words)
    last = result if not first or name.endswith("filter") else np.moveaxis(result, 1, -1)
    for at in ((0,) * last.ndim, tuple(size - 1 for size in last.shape)):
        explained = tc.explain(op, *arguments, at=at, **words)
        assert explained.value == last[at] == sum(tap.product for tap in explained.taps if not tap.in_padding)
        assert explained._repr_html_().count("<svg") == 1
        assert str(explained)
    if not name.endswith("filter"):
        back = tc.explain(op, *arguments, at_input=(1,) * last.ndim, **words)
        for tap in back.taps:
            if tap.output_index is not None:
                taps = tc.explain(op, *arguments, at=tap.output_index, **words).taps
                assert tap.filter_index in [t.filter_index for t in taps if t.input_index == (1,) * last.ndim]


@pytest.mark.parametrize("name", NAMES)
def test_trace_diff_find_source_and_check_gradients_take_them(name):
    op, arguments, words = a_call(name)
    traced = tc.trace(op, *arguments, **words)
    assert np.array_equal(traced.result, op(*arguments, **words))
    assert tc.diff(op, *arguments, **words).passed
    assert tc.diff(op, *arguments, **words, against=traced.result + 1).passed is False
    report = tc.check_gradients(op, *arguments, **words, cells=2)
    assert report.passed
    assert len(report.rows) == 4
    chain = tc.find_source(op, *arguments, **words)
    assert chain.steps[0].name == name
    assert any("SAME at stride 2" in step.note for step in chain.steps)
    assert {"stride", "multiply-add"} <= {line.mark for line in chain.lines}


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("filter")])
@pytest.mark.parametrize("first", [False, True])
def test_a_plan_gives_the_bits_of_the_op(name, first):
    op, arguments, words = a_call(name, first=first)
    w = arguments[1]
    if name.endswith("backprop_input"):
        planned, given = tc.plan(op, w, input_shape=arguments[0], **words), arguments[2]
    elif name.endswith("transpose"):
        words |= {"output_shape": arguments[2]}
        planned, given = tc.plan(op, w, input_shape=arguments[0].shape, **words), arguments[0]
        arguments = arguments[:2]
    else:
        planned, given = tc.plan(op, w, input_shape=arguments[0].shape, **words), arguments[0]
    want = op(*arguments, **words, algorithm=planned.algorithm)
    assert planned(given).tobytes() == want.tobytes()


@pytest.mark.parametrize("rank", [1, 3])
def test_autotune_measures_them(rank):
    x, w = np.ones((1, *(9,) * rank, 8), "float32"), np.ones((*(3,) * rank, 8, 8), "float32")
    op = getattr(tc, f"conv{rank}d")
    tuned = tc.autotune(op, x, w, backends=["numpy", "scipy"], rounds=1, seconds=0.1)
    assert {timing.backend for timing in tuned} == {"numpy", "scipy"}


@pytest.mark.parametrize("rank", [1, 3])
def test_a_part_of_a_call_is_a_call(rank):
    op, arguments, words = a_call(f"conv{rank}d")
    call, _ = nn_ops.call_of(op, arguments, words)
    part = tuning._piece(call, call.geometry.macs // 7)
    assert 0 < part.geometry.macs <= call.geometry.macs // 7
    assert part.first.shape == part.geometry.input_shape
    assert dispatch.run(part, "numpy").shape == part.result_shape == part.geometry.output_shape


@pytest.mark.parametrize("rank", [1, 3])
def test_the_matrix_multiplies_as_the_op_does(rank):
    pytest.importorskip("scipy")
    spatial = (5, 4, 3)[:rank]
    x, w = make_array((1, *spatial, 4), "int64"), make_array((*(2,) * rank, 2, 6), "int64")
    words = {"strides": 2, "padding": "SAME", "dilations": 1}
    g = tc.conv_geometry(x.shape, w.shape, **words)
    y = tc.convolution(x, w, **words)
    assert np.array_equal(tc.conv_matrix(w, g) @ x.ravel(), y.ravel())
    up = tc.conv_transpose_geometry(y.shape, w.shape, x.shape, **words)
    want = tc.conv_transpose(y, w, x.shape, **words)
    assert np.array_equal(tc.conv_matrix(w, up) @ y.ravel(), want.ravel())
    first = tc.conv_geometry((1, 4, *spatial), w.shape, **words, data_format=f"NC{'DHW'[-rank:]}")
    assert (tc.conv_matrix(w, first) != tc.conv_matrix(w, g)).nnz == 0


def test_a_receptive_field_has_as_many_axes_as_the_layers():
    layers = [tc.conv_geometry((1, 32, 1), (3, 1, 1), 1, "CAUSAL", dilations=d) for d in (1, 2, 4)]
    field = tc.receptive_field(layers)
    assert (field.rank, field.size, field.stride, field.offset) == (1, (15,), (1.0,), (-14,))
    assert field.at(0)[0].stop == 1
    assert "conv1d 3, stride 1, dilation 4" in str(field)
    cube = tc.receptive_field([("conv", 3, (1, 2, 2)), ("conv", 3)], input_size=(8, 16, 16))
    assert (cube.size, cube.stride, cube.output_size) == ((5, 7, 7), (1.0, 2.0, 2.0), (4, 5, 5))
    with pytest.raises(TypeError, match="at takes depth, row and col"):
        cube.at(0, 0)
    with pytest.raises(IndexError, match="depth must be inside the 4 of the output; got 4"):
        cube.at(4, 0, 0)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_dask_arrays_in_chunks_of_time_and_depth(name, first):
    da = pytest.importorskip("dask.array")
    op, arguments, words = a_call(name, first=first)
    channel, where = (1 if first else -1), 2 if "backprop" in name else 0
    chunks = [max(1, -(-size // 2)) for size in arguments[where].shape]
    chunks[channel] = -1
    lazy = [da.from_array(a, chunks=tuple(chunks)) if at == where else a for at, a in enumerate(arguments)]
    result = op(*lazy, **words)
    assert isinstance(result, da.Array)
    assert np.array_equal(result.compute(scheduler="synchronous"), op(*arguments, **words))
    assert tc.explain(op, *lazy, at=(0,) * result.ndim, **words).value == np.asarray(result).flat[0]


@pytest.mark.skipif("cython" not in BACKENDS, reason="needs the compiled backend")
@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("filter")])
def test_chunks_have_the_bits_of_the_whole(name):
    """With an algorithm whose bits do not depend on the image's extent."""
    da = pytest.importorskip("dask.array")
    op, arguments, words = a_call(name, dtype="float32")
    arguments = [
        make_array(a.shape, "float32", "normal", "n") if hasattr(a, "dtype") else a for a in arguments
    ]
    where = 2 if "backprop" in name else 0
    lazy = list(arguments)
    lazy[where] = da.from_array(arguments[where], chunks=(1, *(2,) * (arguments[where].ndim - 2), -1))
    result = op(*lazy, **words)
    algorithm = result.name.split("-")[1]
    assert algorithm != "auto"
    whole = op(*arguments, **words, algorithm=algorithm)
    assert result.compute(scheduler="synchronous").tobytes() == whole.tobytes()


@pytest.mark.peers
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_onnxruntime_runs_what_to_onnx_writes(name, first):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    op, arguments, words = a_call(name, first=first)
    session = onnxruntime.InferenceSession(tc.to_onnx(op, *arguments, **words).SerializeToString())
    known = dict(zip(list(__import__("inspect").signature(op).parameters), arguments, strict=False))
    (got,) = session.run(None, {one.name: known[one.name] for one in session.get_inputs()})
    assert np.array_equal(got, op(*arguments, **words))


@pytest.mark.peers
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("rank", [1, 3])
def test_autograd_differentiates_them(rank, first):
    """PyTorch's and JAX's gradients of ours are our gradient ops, the bias counted."""
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    for end in ("", "_transpose"):
        op, arguments, words = a_call(f"conv{rank}d{end}", first=first)
        x, w, *sizes = arguments
        y = op(*arguments, **words)
        b = np.ones(y.shape[1 if first else -1], "float32")
        dy = make_array(y.shape, "float32", "integers", "dy")
        tensors = [torch.tensor(array, requires_grad=True) for array in (x, w, b)]
        out = op(*tensors[:2], *sizes, **words, bias=tensors[2])
        out.backward(torch.tensor(dy))
        by_torch = [tensor.grad.numpy() for tensor in tensors]
        _, back = jax.vjp(lambda x, w, b: op(x, w, *sizes, **words, bias=b), x, w, b)  # noqa: B023
        by_jax = [np.asarray(gradient) for gradient in back(jax.numpy.asarray(dy))]
        if end:
            forward = getattr(tc, f"conv{rank}d")(dy, w, **words)
            of_filters = getattr(tc, f"conv{rank}d_backprop_filter")(dy, w.shape, x, **words)
            want = [forward, of_filters]
        else:
            want = [getattr(tc, f"conv{rank}d_backprop_input")(x.shape, w, dy, **words)]
            want += [getattr(tc, f"conv{rank}d_backprop_filter")(x, w.shape, dy, **words)]
        want.append(dy.sum(tuple(axis for axis in range(dy.ndim) if axis != (1 if first else dy.ndim - 1))))
        for found in (by_torch, by_jax):
            for one, expected in zip(found, want, strict=True):
                assert np.array_equal(one, expected)
