"""Recorded results of real TensorFlow; those of the other frameworks are in tests/dialects."""

import numpy as np
import pytest
from recordings import load

import teachconv as tc

VERSIONS, CASES = load("tensorflow")
ANSWERS = [(case, arrays) for case, arrays in CASES if case["error"] is None]
REFUSALS = [(case, arrays) for case, arrays in CASES if case["error"] is not None]


def replay(case, arrays, **options):
    """Run a recorded TensorFlow call here, with the arguments that TensorFlow was given."""
    op, arguments = getattr(tc, case["op"]), dict(case["arguments"])
    if case["op"].endswith("backprop_input"):
        args = (arguments.pop("input_sizes"), arrays["filters"], arrays["out_backprop"])
    elif case["op"].endswith("backprop_filter"):
        args = (arrays["input"], arguments.pop("filter_sizes"), arrays["out_backprop"])
    else:
        args = (arrays["input"], arrays["filters"])
    return op, args, arguments | options


def test_there_are_many():
    assert VERSIONS["tensorflow"].startswith("2.")
    assert len(ANSWERS) > 150
    assert len(REFUSALS) > 15


@pytest.mark.parametrize(("case", "arrays"), ANSWERS, ids=[case["name"] for case, _ in ANSWERS])
def test_what_tensorflow_answered(case, arrays):
    op, args, kwargs = replay(case, arrays)
    report = tc.diff(op, *args, against={"TensorFlow": arrays["output"]}, **kwargs)
    assert report.passed, report
    if case["exact"]:  # integers as data: equality, on the reference too
        assert report.rows[-1].max_abs == 0
        want = tc.running.dispatch.run(tc.nn_ops.call_of(op, args, kwargs)[0], "reference")
        assert np.array_equal(want, arrays["output"])
        assert want.dtype == arrays["output"].dtype


# What TensorFlow refuses on a CPU for want of a kernel, and what means something here all the same.
WIDER_HERE = {"refused_padding_name", "refused_padding_negative", "refused_no_out_channels"}


@pytest.mark.parametrize(("case", "arrays"), REFUSALS, ids=[case["name"] for case, _ in REFUSALS])
def test_what_tensorflow_refused(case, arrays):
    op, args, kwargs = replay(case, arrays)
    if case["name"] in WIDER_HERE:
        assert tc.diff(op, *args, **kwargs).passed
        return
    with pytest.raises((ValueError, TypeError)):
        op(*args, **kwargs)


def test_the_well_known_example():
    """Image rows 4 3 1 0 / 2 1 0 1 / 1 2 4 1 / 3 1 0 2, kernel rows 1 0 1 / 2 1 0 / 0 0 1, VALID."""
    image = np.float32([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]).reshape(1, 4, 4, 1)
    kernel = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)
    # top left: 4·1 + 1·1 + 2·2 + 1·1 + 4·1 = 14, and so on, by hand
    for backend in ("reference", "numpy", "scipy", "cython"):
        if not tc.backends.why_not(backend):
            assert tc.conv2d(image, kernel, backend=backend)[0, :, :, 0].tolist() == [[14, 6], [6, 12]]


def test_15_and_16_are_shifted_not_cropped():
    """output_shape chooses the alignment: out15[j] = out16[j + 1] (recorded from TensorFlow above, too)."""
    x = np.arange(64, dtype=np.float32).reshape(1, 8, 8, 1)
    w = np.arange(1, 10, dtype=np.float32).reshape(3, 3, 1, 1)
    short = tc.conv2d_transpose(x, w, (1, 15, 15, 1), 2)
    long = tc.conv2d_transpose(x, w, (1, 16, 16, 1), 2)
    assert np.array_equal(short, long[:, 1:, 1:])
