"""Streams: whatever the chunks, the bits of the whole call; and what is kept, and who is refused."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import mostly_slow
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import get, why_not
from teachconv.core.law import AxisGeometry, forward_axis
from teachconv.core.slabs import axis_due
from teachconv.testing.strategies import shapes

BACKENDS = [name for name in ("cython", "reference") if not why_not(name)]
AXES = ("depth", "rows", "cols")


def chunked(x, axis, sizes):
    """Yield an array in chunks of these sizes again and again; a size may be 0."""
    first, at = 0, 0
    while first < x.shape[axis] or at < len(sizes):
        size = sizes[at % len(sizes)] if any(sizes) else 1
        yield np.take(x, range(first, min(x.shape[axis], first + size)), axis)
        first, at = first + size, at + 1


def streamed(stream, x, axis, sizes):
    """Return all outputs of a stream that is given an array in chunks."""
    return np.concatenate([*map(stream.push, chunked(x, axis, sizes)), stream.flush()], axis)


def same_bits(got, want):
    return got.shape == want.shape and got.dtype == want.dtype and got.tobytes() == want.tobytes()


def numbers(seed, shape, dtype):
    return (np.random.default_rng(seed).standard_normal(shape) * 8).astype(dtype)


@st.composite
def calls(draw, rank, dtypes):
    """Draw an op with its arguments, the input among them, and the axis that is streamed."""
    small = st.integers(0, 7 if rank == 1 else 3)
    drawn = draw(shapes(rank, extra=small, pads=st.integers(-2, 5), taps=st.integers(1, 3)))
    dtype, order = draw(st.sampled_from(dtypes)), draw(st.sampled_from([0, 1]))
    x_shape, w_shape = drawn.pop("input_shape"), drawn.pop("filters_shape")
    kwargs = {**drawn, "data_format": f"N{AXES_OF[rank]}C", "bias": numbers(2, w_shape[-1:], dtype)}
    op = tc.convolution
    if draw(st.booleans()) and drawn["padding"] != "CAUSAL":
        op = tc.conv_transpose
        groups = x_shape[-1] // w_shape[-2]
        w_shape = (*w_shape[:-2], w_shape[-1] // groups, x_shape[-1])
        kwargs["bias"] = kwargs["bias"][: w_shape[-2]]
    number = draw(st.integers(0, rank - 1))
    x, w = numbers(0, x_shape, dtype), numbers(1, w_shape, dtype)
    if order:
        x, kwargs["data_format"] = np.ascontiguousarray(np.moveaxis(x, -1, 1)), f"NC{AXES_OF[rank]}"
    return SimpleNamespace(op=op, x=x, w=w, kwargs=kwargs, name=AXES[-rank:][number], axis=1 + number + order)


AXES_OF = {1: "W", 2: "HW", 3: "DHW"}
SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_chunks_have_the_bits_of_the_whole(backend, rank):
    dtypes = ("float32", "float64", "float16", "int32") if backend == "cython" else ("float32", "int64")

    @settings(max_examples={1: 50, 2: 30, 3: 20}[rank] // (1 if backend == "cython" else 3), deadline=None)
    @given(calls(rank, dtypes), SIZES)
    def run(call, sizes):
        try:
            call.op(call.x, call.w, **call.kwargs)
        except ValueError:  # a transposed result that is cropped away
            return
        words = {**call.kwargs, "axis": call.name, "backend": backend}
        if "SAME" in call.kwargs["padding"] and call.op is tc.convolution:
            words["length"] = call.x.shape[call.axis]
        stream = tc.stream(call.op, call.w, **words)
        got = streamed(stream, call.x, call.axis, sizes)
        want = call.op(call.x, call.w, **call.kwargs, backend=backend, algorithm=stream.algorithm)
        assert same_bits(got, want)

    run()


def swept(rank, part):
    """Yield the words of calls: of all taps, strides, dilations and paddings of an axis a part, mixed."""
    rng = np.random.default_rng(rank)
    axes = [*product(range(1, 4), range(1, 5), (1, 2), product(range(-2, 4), repeat=2))]
    orders = zip(*(rng.permutation(len(axes)) for _ in range(rank)), strict=True)
    for order, _ in zip(orders, range(len(axes) // part), strict=False):
        taps, strides, dilations, pads = zip(*(axes[at] for at in order), strict=True)
        word = str(rng.choice(["SAME", "SAME_LOWER", "VALID"]))
        for padding in (pads, word):
            yield rng, taps, {"strides": strides, "dilations": dilations, "padding": padding}


@pytest.mark.parametrize("part", mostly_slow([1, 3], 3))
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("op", ["convolution", "conv_transpose"])
def test_a_sweep_has_the_bits_of_the_whole(op, rank, backend, part):
    """With parts between the taps of a short filter, which read no input that is there, or none at all."""
    op, transposed, compared = getattr(tc, op), op == "conv_transpose", 0
    calls = [*swept(rank, part * rank**2 * (2 if backend == "cython" else 8))]
    for rng, taps, words in calls:
        x = numbers(rng, (1, *rng.integers(1, 6 - rank, rank), 2), "float32")
        w, number = numbers(rng, (*taps, 2, 2), "float32"), int(rng.integers(rank))
        at = {"axis": AXES[-rank:][number], "backend": backend}
        if isinstance(words["padding"], str) and (transposed or words["padding"] != "VALID"):
            at["length"] = x.shape[1 + number]
        if transposed and "length" in at:
            spatial = tc.conv_transpose_geometry(x.shape, w.shape, **words).forward.axes
            words["output_shape"] = (1, *(int(rng.choice(axis.legal_sizes)) for axis in spatial), 2)
        try:
            op(x, w, **words, backend=backend)
        except ValueError:  # the input is too short, or all of the result is cropped
            continue
        stream = tc.stream(op, w, **words, **at)
        sizes = [int(size) for size in rng.integers(0, 4, 3)]
        want = op(x, w, **words, backend=backend, algorithm=stream.algorithm)
        assert same_bits(streamed(stream, x, 1 + number, sizes), want), (x.shape, taps, words, at, sizes)
        compared += 1
    assert compared > 0.4 * len(calls)


@pytest.mark.parametrize(("pads", "first"), [((1, -1), [[0], [1, 0], [1, 0]]), ((0, -1), [[1, 0]] * 3)])
def test_outputs_between_short_filters(pads, first):
    """One tap at stride 2: every other output reads nothing, neither of the past nor of the future."""
    stream = tc.stream(tc.conv1d_transpose, np.float32([[[1]]]), strides=2, padding=(pads,))
    assert [stream.push(np.float32([[[1]]])).ravel().tolist() for _ in range(3)] == first
    assert stream.flush().size == 0


@given(st.data())
def test_due_outputs_are_those_that_no_later_input_changes(data):
    """By brute force: an output is due if it exists, and reads no other input, however long the whole becomes."""
    k, s, d = (data.draw(st.integers(1, 4), name) for name in "ksd")
    pads, received = (
        (data.draw(st.integers(-3, 6)), data.draw(st.integers(-3, 6))),
        data.draw(st.integers(1, 14)),
    )
    role = data.draw(st.sampled_from(["output", "input"]))

    def whole(length):
        if role == "output":
            return forward_axis("cols", length, k, s, d, "EXPLICIT", pads, may_be_empty=True)
        ek = (k - 1) * d + 1  # the full result, cut
        size = max(0, (length - 1) * s + ek - sum(pads))
        return AxisGeometry(size, k, length, s, d, *pads)

    def reads(axis, number):
        if role == "output":
            indices = [axis.in_index(number, tap) for tap in range(k)]
        else:
            places = [(number + axis.pad_before - tap * d) for tap in range(k)]
            indices = [place // s for place in places if place % s == 0]
        return [
            index for index in indices if 0 <= index < axis.size_of("output" if role == "input" else "input")
        ]

    longer = [whole(received + more) for more in range(40)]
    due = 0
    while all(due < axis.size_of(role) and max(reads(axis, due), default=0) < received for axis in longer):
        due += 1
    far = whole(2**20)
    assert axis_due(far, role, received) == due


# ---------------------------------------------------------------------------------------------
# Stacks
# ---------------------------------------------------------------------------------------------


def relu(x):
    return np.maximum(x, 0)


@st.composite
def layers(draw, channels, depth=0):
    """Draw a list of layers whose outputs have as many channels as the input."""
    made = []
    for number in range(draw(st.integers(0 if depth else 1, 3))):
        what = draw(
            st.sampled_from(["down", "up", "same", "relu", "branches"] if not depth else ["same", "relu"])
        )
        k, d, seed = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(0, 99)) + number
        w = numbers(seed, (k, channels, channels), "float32")
        if what == "relu":
            made.append(relu)
        elif what == "branches":
            made.append((np.add, *(draw(layers(channels, 1)) for _ in range(draw(st.integers(1, 3))))))
        elif what == "same":
            padding = draw(st.sampled_from(["SAME", "SAME_LOWER", "CAUSAL"]))
            made.append((tc.conv1d, w, {"padding": padding, "dilations": d}))
        elif what == "up":
            made.append((tc.conv1d_transpose, w, {"strides": draw(st.integers(1, 3))}))
        else:
            made.append(
                (tc.conv1d, w, {"strides": draw(st.integers(1, 3)), "padding": "CAUSAL", "dilations": d})
            )
    return made


def add(*branches):
    """The sum of any number of arrays."""
    return sum(branches[1:], branches[0])


def with_add(entries):
    """The entries with `add` in the place of numpy.add, which takes two arrays alone."""
    return [
        (add, *map(with_add, entry[1:])) if isinstance(entry, tuple) and entry[0] is np.add else entry
        for entry in entries
    ]


def run_whole(entries, x, backend):
    """Run a list of layers on a whole input, by the ops alone."""
    for entry in entries:
        if callable(entry):
            x = entry(x)
        elif entry[0] is add:
            x = add(*(run_whole(branch, x, backend) for branch in entry[1:]))
        else:
            op, w, kwargs = entry
            algorithm = {"reference": "slices", "cython": "row_gemm"}[backend]
            if op is tc.conv1d_transpose and backend == "cython":
                algorithm = "phases"
            x = op(x, w, **kwargs, backend=backend, algorithm=algorithm)
    return x


@pytest.mark.parametrize("backend", BACKENDS)
def test_random_stacks_have_the_bits_of_the_whole(backend):
    @settings(max_examples=25 if backend == "cython" else 6, deadline=None)
    @given(layers(2), st.integers(1, 30), SIZES)
    def run(drawn, length, sizes):
        entries = [*with_add(drawn), (tc.conv1d, numbers(5, (1, 2, 3), "float32"), {})]
        x = numbers(6, (2, length, 2), "float32")
        assert same_bits(
            streamed(tc.stream(entries, backend=backend), x, 1, sizes), run_whole(entries, x, backend)
        )

    run()


def test_a_stack_of_three_by_hand():
    """The differences of neighbours, doubled in time, plus what came in: 1 3 6 gives 1 2 3, then 1 1 2 2 3 3."""
    difference = (tc.conv1d, np.int32([-1, 1]).reshape(2, 1, 1), {"padding": "CAUSAL"})
    hold = (tc.conv1d_transpose, np.int32([1, 1]).reshape(2, 1, 1), {"strides": 2, "padding": "VALID"})
    stream = tc.stream([difference, hold, (np.add, [], [])])
    given_ = [stream.push(np.int32([n]).reshape(1, 1, 1)).ravel().tolist() for n in (1, 3, 6)]
    assert given_ == [[2, 2], [4, 4], [6, 6]]
    assert stream.flush().size == 0
    assert (stream.lookahead, stream.chunk_step, stream.rate) == (0, 1, 2)


def test_gates_and_branches_wait_for_each_other():
    """A SAME branch is one input behind the CAUSAL one, whose outputs wait; the input itself waits as long."""
    w = numbers(0, (3, 1, 1), "float32")
    same, causal = (tc.conv1d, w, {"padding": "SAME"}), (tc.conv1d, w, {"padding": "CAUSAL"})
    stream = tc.stream([(add, [same], [causal], [])])
    x = numbers(1, (1, 9, 1), "float32")
    assert [stream.push(x[:, n : n + 1]).shape[1] for n in range(9)] == [0, *[1] * 8]
    assert stream.state_nbytes == 4 * (2 + 2 + 1 + 1)  # two inputs in either layer, two outputs that wait
    assert stream.lookahead == 1


# ---------------------------------------------------------------------------------------------
# What is kept, and what it costs
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "s", "d", "padding"), [(3, 1, 4, "CAUSAL"), (4, 2, 1, "VALID"), (2, 5, 1, "VALID")]
)
def test_only_what_later_outputs_read_is_kept(k, s, d, padding):
    stream = tc.stream(tc.conv1d, np.ones((k, 2, 2)), strides=s, padding=padding, dilations=d)
    x = numbers(0, (3, 60, 2), "float64")
    axis = tc.conv_geometry(x.shape, (k, 2, 2), s, padding, dilations=d).cols
    outputs = 0
    for received in range(1, 61):
        outputs += stream.push(x[:, received - 1 : received]).shape[1]
        kept = max(1, received - max(0, axis.in_index(outputs, 0)))  # one stays, for outputs of padding alone
        assert stream.state_nbytes == kept * 3 * 2 * 8
    stream.flush()
    assert stream.state_nbytes == 0


def test_a_transposed_stream_keeps_what_overlaps():
    stream = tc.stream(tc.conv1d_transpose, np.ones((8, 1, 1)), strides=2, padding="VALID")
    for _ in range(50):
        stream.push(np.ones((1, 3, 1)))
    assert stream.state_nbytes == 3 * 8  # 8 taps at stride 2 overlap with those of three inputs before


def test_every_output_is_computed_once_by_calls_that_are_prepared_once():
    computed = []

    class Counting:
        ALGORITHMS = get("reference").ALGORITHMS
        RANKS = (1, 2, 3)

        @staticmethod
        def conv2d(x, w, geometry, **options):
            computed.append((x.shape[1], geometry.cols.out_size))
            return get("reference").conv2d(x, w, geometry, **options)

    stream = tc.stream(tc.conv1d, numbers(0, (5, 1, 1), "float32"), padding="SAME", backend=Counting)
    for _ in range(20):
        stream.push(np.ones((1, 4, 1), "float32"))
    stream.flush()
    assert computed == [(4, 2), *[(8, 4)] * 19, (4, 2)]
    (layer,) = stream._layers
    assert layer._plan_of.cache_info().misses == 3


@pytest.mark.parametrize(
    ("layers_", "lookahead", "chunk_step", "rate"),
    [
        ([("conv1d", 3, {"padding": "SAME"})], 1, 1, 1),
        ([("conv1d", 3, {"padding": "CAUSAL"})], 0, 1, 1),
        ([("conv1d", 3, {"padding": "VALID"})], 2, 1, 1),
        ([("conv1d", 3, {"padding": ((5, 0),)})], -3, 1, 1),
        ([("conv1d", 4, {"strides": 2, "padding": ((1, 1),)})], 2, 2, Fraction(1, 2)),
        ([("conv1d_transpose", 4, {"strides": 2})], 1, 1, 2),
        ([("conv1d", 3, {"strides": 2}), ("conv1d", 3, {"strides": 3})], 6, 6, Fraction(1, 6)),
        ([("conv1d_transpose", 4, {"strides": 4}), ("conv1d", 3, {"strides": 2})], 1, 1, 2),
    ],
)
def test_lookahead_and_steps(layers_, lookahead, chunk_step, rate):
    entries = [(getattr(tc, op), np.ones((k, 1, 1)), kwargs) for op, k, kwargs in layers_]
    stream = tc.stream(entries)
    assert (stream.lookahead, stream.chunk_step, stream.rate) == (lookahead, chunk_step, rate)
    lags, outputs = [], 0
    for index in range(48):  # by pushing one after the other
        new = stream.push(np.ones((1, 1, 1))).shape[1]
        lags += [index - int((outputs + number) / rate) for number in range(new)]
        outputs += new
    assert max(lags[3:]) == lookahead
    other = tc.stream(entries)
    sizes = {other.push(np.ones((1, chunk_step, 1))).shape[1] for _ in range(30)}
    assert len(sizes - {0}) <= 2  # the first chunks apart, as many each time
    assert chunk_step * rate in sizes


def test_it_prints_as_what_it_keeps():
    stream = tc.stream(tc.conv2d, np.ones((3, 3, 1, 2), "float32"), padding="SAME", backend="reference")
    assert "kept nothing" in str(stream)
    stream.push(np.ones((1, 5, 4, 1), "float32"))
    assert str(stream) == (
        "<stream: lookahead 1, chunk_step 1, 32 B kept>\n"
        "  conv2d, algorithm slices: 5 inputs, 4 outputs; kept rows 3 to 4"
    )


# ---------------------------------------------------------------------------------------------
# Lengths, groups, special numbers, other arrays
# ---------------------------------------------------------------------------------------------


def test_same_at_a_stride_needs_the_length():
    w = np.ones((3, 1, 1), "float32")
    with pytest.raises(tc.ArgumentError, match=r"\(0, 1\) for a multiple of 2 and \(1, 1\) for one more"):
        tc.stream(tc.conv1d, w, strides=2, padding="SAME")
    for length in (7, 8):
        x = numbers(0, (1, length, 1), "float32")
        stream = tc.stream(tc.conv1d, w, strides=2, padding="SAME", length=length)
        want = tc.conv1d(x, w, 2, "SAME", algorithm=stream.algorithm)
        assert same_bits(streamed(stream, x, 1, [3]), want)


def test_groups_and_alignment_of_a_transposed_stream_follow_from_output_shape():
    x, w = numbers(0, (2, 8, 4), "float32"), numbers(1, (3, 1, 4), "float32")
    with pytest.raises(tc.ArgumentError, match="give length="):
        tc.stream(tc.conv1d_transpose, w, output_shape=(2, 15, 4), strides=2)
    for size in (15, 16):
        words = {"output_shape": (2, size, 4), "strides": 2}
        stream = tc.stream(tc.conv1d_transpose, w, length=8, **words)
        got = streamed(stream, x, 1, [2, 1])
        assert stream.algorithm == ("depthwise" if "cython" in BACKENDS else "slices")
        assert same_bits(got, tc.conv1d_transpose(x, w, algorithm=stream.algorithm, **words))


def test_depthwise_along_columns():
    x, w = numbers(0, (1, 5, 9, 3), "float32"), numbers(1, (3, 3, 3, 2), "float32")
    stream = tc.stream(tc.depthwise_conv2d, w, padding="SAME", axis="cols")
    got = streamed(stream, x, 2, [1, 4])
    assert same_bits(got, tc.depthwise_conv2d(x, w, padding="SAME", algorithm=stream.algorithm))


@pytest.mark.parametrize("backend", BACKENDS)
def test_infinite_filters_give_way_from_the_start(backend):
    w = np.float32([1, np.inf, 2]).reshape(3, 1, 1)
    x = numbers(0, (1, 9, 1), "float32")
    stream = tc.stream(tc.conv1d, w, padding=((0, 1),), strides=2, backend=backend)
    assert stream.algorithm == "direct"
    want = tc.conv1d(x, w, 2, ((0, 1),), backend=backend, algorithm="direct")
    assert same_bits(streamed(stream, x, 1, [2]), want)


def test_outputs_of_padding_alone_and_no_input_at_all():
    w, bias = np.ones((2, 1, 1), "float32"), np.float32([-0.0])
    for length in (0, 1, 3):
        x = numbers(0, (1, length, 1), "float32")
        stream = tc.stream(tc.conv1d, w, padding=((4, 5),), bias=bias)
        want = tc.conv1d(x, w, 1, ((4, 5),), bias=bias, algorithm=stream.algorithm)
        assert same_bits(streamed(stream, x, 1, [1]), want)


def test_a_chunk_is_not_kept_but_copied():
    stream, buffer = (
        tc.stream([(np.add, [], [(tc.conv1d, np.ones((3, 1, 1)), {"padding": "SAME"})])]),
        np.ones((1, 4, 1)),
    )
    first = stream.push(buffer)
    buffer[...] = 100
    assert [*first.ravel(), *stream.flush().ravel()] == [3, 4, 4, 3]


# ---------------------------------------------------------------------------------------------
# Who is refused
# ---------------------------------------------------------------------------------------------

W = np.ones((3, 2, 2), "float32")


@pytest.mark.parametrize(
    ("message", "make"),
    [
        (
            "backend 'numpy' with algorithm 'auto' cannot be streamed",
            lambda: tc.stream(tc.conv1d, W, backend="numpy"),
        ),
        ("reference loops, direct or slices", lambda: tc.stream(tc.conv1d, W, backend="scipy")),
        ("algorithm 'im2col' cannot", lambda: tc.stream(tc.conv1d, W, backend="cython", algorithm="im2col")),
        ("a filter gradient sums over", lambda: tc.stream(tc.conv1d_backprop_filter, W)),
        ("op must be a list of layers or one of", lambda: tc.stream(tc.dialects.torch.conv2d, W)),
        ("data_format must be", lambda: tc.stream(tc.conv1d, W, data_format="NHWC")),
        ("axis must be one of cols; got 'rows'", lambda: tc.stream(tc.conv1d, W, axis="rows")),
        ("no argument 'stride'|has no 'stride'|stride", lambda: tc.stream(tc.conv1d, W, stride=2)),
        ("push returns a new array", lambda: tc.stream(tc.conv1d, W, out=W)),
        ("CAUSAL", lambda: tc.stream(tc.conv1d_transpose, W, padding="CAUSAL")),
        ("layers must be", lambda: tc.stream([tc.conv1d])),
        ("layers must be", lambda: tc.stream([(tc.conv1d, W, 2)])),
        ("are arguments of a layer", lambda: tc.stream([(tc.conv1d, W)], length=3)),
        ("a convolution among its layers", lambda: tc.stream([np.tanh])),
        (
            "one axis in common",
            lambda: tc.stream([(tc.conv1d, W), (tc.conv1d, W, {"data_format": "NCW"})]),
        ),
        (
            "equally many outputs for each input; got 1/2 and 1",
            lambda: tc.stream([(np.add, [(tc.conv1d, W, {"strides": 2})], [])]),
        ),
    ],
)
def test_what_cannot_be_streamed_says_why(message, make):
    if "cython" in str(make.__code__.co_consts) and why_not("cython"):
        pytest.skip(why_not("cython"))
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        make()


def test_bad_chunks_are_refused_and_change_nothing():
    stream = tc.stream(tc.conv1d, W, padding="SAME")
    with pytest.raises(tc.ArgumentError, match="call push before flush"):
        stream.flush()
    first = stream.push(np.ones((1, 3, 2), "float32"))
    for chunk in (
        np.ones((1, 3, 4), "f4"),
        np.ones((2, 3, 2), "f4"),
        np.ones((1, 3, 2)),
    ):
        with pytest.raises(tc.ArgumentError, match=r"must have shape \[1, \d, 2\] and dtype float32"):
            stream.push(chunk)
    rest = stream.push(np.ones((1, 2, 2), "float32")), stream.flush()
    want = tc.conv1d(np.ones((1, 5, 2), "float32"), W, 1, "SAME", algorithm=stream.algorithm)
    assert same_bits(np.concatenate([first, *rest], 1), want)
    for ended in (stream.flush, lambda: stream.push(np.ones((1, 3, 2), "float32"))):
        with pytest.raises(tc.ArgumentError, match="this stream has ended"):
            ended()


def test_the_first_chunk_must_fit_the_filters():
    for chunk, message in (
        (np.ones((1, 3, 3), "float32"), "must be the input's 3 channels"),
        (np.ones((1, 3, 2)), "float64"),
        (np.ones((3, 2), "float32"), "3 axes"),
    ):
        with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
            tc.stream(tc.conv1d, W).push(chunk)


def test_lengths_are_kept_to():
    stream = tc.stream(tc.conv1d, W, length=4)
    with pytest.raises(tc.ArgumentError, match="length is 4, and 0 were pushed; got 5 more"):
        stream.push(np.ones((1, 5, 2), "float32"))
    stream.push(np.ones((1, 3, 2), "float32"))
    with pytest.raises(tc.ArgumentError, match="length is 4, and 3 were pushed before flush"):
        stream.flush()
    short = tc.stream(tc.conv1d, W)
    short.push(np.ones((1, 2, 2), "float32"))
    with pytest.raises(tc.ArgumentError, match="VALID needs in_cols >= 3"):
        short.flush()


def test_functions_must_be_element_wise_and_an_error_inside_ends_the_stream():
    stream = tc.stream([(tc.conv1d, W), lambda x: x[:, ::2]])
    with pytest.raises(tc.ArgumentError, match="must be element-wise"):
        stream.push(np.ones((1, 6, 2), "float32"))
    with pytest.raises(tc.ArgumentError, match="by an error in a push"):
        stream.push(np.ones((1, 6, 2), "float32"))
    crop = (tc.conv1d, W, {"padding": ((0, -1),)})
    uneven = tc.stream([(np.add, [crop], [])])
    uneven.push(np.ones((1, 6, 2), "float32"))
    with pytest.raises(tc.ArgumentError, match="one has 3 more than another"):
        uneven.flush()


@pytest.mark.skipif("cython" not in BACKENDS, reason="the example names cython's algorithms")
def test_the_example_streams_both_networks(capsys):
    import streamed_networks

    streamed_networks.main()
    shown = capsys.readouterr().out
    assert shown.count("the bits of the whole: True") == 2
    assert "256 outputs for each input; <stream: lookahead 13, chunk_step 1, " in shown


def test_a_list_that_contains_itself_and_one_without_a_convolution_are_refused():
    layers = [(tc.conv1d, np.ones((3, 1, 1)))]
    layers.append((np.add, layers, []))
    with pytest.raises(ValueError, match="op must be a list of layers that does not contain itself"):
        tc.stream(layers)
    with pytest.raises(ValueError, match="op must have a convolution among its layers"):
        tc.stream([np.tanh])
    with pytest.raises(TypeError, match=r"got 'conv1d'$"):
        tc.stream("conv1d", np.ones((3, 1, 1)))
