"""A large stride or dilation costs nothing: no loop is as long as a step, wherever one looks at a call."""

import json
import signal
from contextlib import contextmanager

import numpy as np
import pytest
from explorer_tables import axis_table

import teachconv as tc
from teachconv.core import taps
from teachconv.core.law import AxisGeometry
from teachconv.inspection.receptive import scattered

FAR = 1_000_000_000
X, W = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)

# a window that begins in the padding and ends beyond it: one tap of nine has a value
CALLS = {
    "large dilation": (tc.conv2d, (X, W), {"dilations": FAR, "padding": FAR}),
    "large stride": (tc.conv2d, (X, W), {"strides": FAR, "padding": FAR}),
    "large dilation, transposed": (tc.conv2d_transpose, (X, W), {"dilations": FAR, "padding": FAR}),
    "large stride, input gradient": (tc.conv2d_backprop_input, (X.shape, W, X[:, :1, :1]), {"strides": FAR, "padding": 1}),
    "large dilation, filter gradient": (
        tc.conv2d_backprop_filter, (X, W.shape, X), {"dilations": FAR, "padding": FAR}
    ),
}  # fmt: skip


@contextmanager
def within(seconds):
    """Stop a loop that takes longer: it would take hours."""

    def stop(*_):
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", CALLS)
def test_every_view_of_a_call(name):
    op, args, kwargs = CALLS[name]
    with within(30):
        got = op(*args, backend="numpy", **kwargs)
        assert np.array_equal(got, op(*args, backend="reference", **kwargs))
        assert np.array_equal(got, op(*args, backend="scipy", **kwargs))
        explained = tc.explain(op, *args, at=(0, 0, 0, 0), **kwargs)
        assert explained.value == got[0, 0, 0, 0]
        assert explained.picture().startswith("<svg")
        report = tc.diff(op, *args, backends=[], against={"mine": got + 1}, **kwargs)
        assert not report.passed
        page = tc.explore(op, *args, **kwargs).data()
        assert len(json.dumps(page)) < 2_000_000


@pytest.mark.parametrize("name", CALLS)
def test_every_plot_of_a_call(name):
    op, args, kwargs = CALLS[name]
    with within(30):
        assert len(tc.plot.window(op, *args, at=(0, 0, 0, 0), **kwargs).svg) < 200_000
    geometry = tc.conv2d_geometry(X.shape, W.shape, padding=FAR, dilations=FAR)
    with within(5), pytest.raises(ValueError, match="room for 160 columns, padding included; got 2000000004"):
        tc.plot.geometry(geometry)


def test_what_a_page_draws_of_an_axis_with_a_large_dilation():
    axis = AxisGeometry(4, 3, 4, 1, FAR, FAR, FAR)
    table = axis_table(axis, range(4), range(4), transposed=True)
    assert [index for index, _ in table["in"]] == [*range(-FAR, 4 - FAR), *range(4), *range(FAR, FAR + 4)]
    assert {what for index, what in table["in"] if index not in range(4)} == {"padding"}
    places = {place for window in table["windows"].values() for place, _ in window}
    assert [place for place, _ in table["inserted"]] == sorted(places)


def test_what_no_memory_holds_is_refused():
    """A padded image of 2 * FAR rows and columns, which im2col and plain correlation would need."""
    for name in ("large dilation", "large dilation, transposed", "large dilation, filter gradient"):
        op, args, kwargs = CALLS[name]
        for backend, algorithm in (("numpy", "im2col"), ("scipy", "direct"), ("scipy", "fft")):
            with pytest.raises(MemoryError, match="at most .* is legal"):
                op(*args, backend=backend, algorithm=algorithm, **kwargs)


def test_receptive_fields_of_transposed_layers():
    layers = [
        tc.conv2d_transpose_geometry((1, 3, 3, 1), W.shape, strides=2),
        tc.conv2d_geometry((1, 6, 6, 1), W.shape, padding=FAR, dilations=FAR),
    ]
    with within(5):
        field = tc.receptive_field(layers)
        assert field.size[0] > FAR // 2
        assert field.at(0, 0)[0].paths == {0: 1}


@pytest.mark.parametrize("stride", [1, 2, 5])
@pytest.mark.parametrize("dilation", [1, 3])
@pytest.mark.parametrize("pad", [-2, 0, 3])
def test_a_span_scattered_into_is_what_its_taps_say(stride, dilation, pad):
    axis = AxisGeometry(9, 3, 4, stride, dilation, pad, 0)
    for span in (range(first, first + length) for first in range(-9, 12) for length in range(7)):
        met = [t.out_index for index in span for t in taps.scatter_all(axis, index)]
        assert scattered(axis, span) == range(min(met, default=0), max(met, default=-1) + 1)
