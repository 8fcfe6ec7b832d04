"""autotune keeps its time limit, offers what the op may choose, and counts against reference and NumPy."""

import math
import re
from types import ModuleType

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import Algorithm, numpy_backend
from teachconv.core.kinds import KINDS
from teachconv.running import tuning

X, W = np.ones((2, 12, 10, 8), "float32"), np.ones((3, 3, 8, 8), "float32")
CALLS = [
    (tc.conv2d, (X, W, 2, "SAME")),
    (tc.conv2d, (X, W[:, :, :2])),
    (tc.depthwise_conv2d, (X, np.ones((3, 3, 8, 2), "float32"))),
    (tc.conv2d_transpose, (X, W, None, 3)),
    (tc.conv2d_backprop_filter, (X, W.shape, np.ones((2, 6, 5, 8), "float32"), 2, "SAME")),
    (tc.dialects.torch.conv2d, (X, np.ones((4, 12, 3, 3), "float32"))),
]


class Slow:
    """A backend whose clock runs by the work that it gets: 1,000 multiply-adds a second."""

    def __init__(self, monkeypatch):
        self.now, self.shapes = 0.0, []
        monkeypatch.setattr(tuning.record, "clock", lambda: self.now)
        self.backend = ModuleType("slow")
        self.backend.ALGORITHMS = (Algorithm("one", "as numpy"),)
        for kind in KINDS:
            setattr(self.backend, kind.name, self.slow(kind.name))

    def slow(self, kind):
        def run(first, second, geometry, *, algorithm, **options):
            self.now += geometry.macs / 1000
            self.shapes.append(geometry.output_shape)
            return getattr(numpy_backend, kind)(first, second, geometry, algorithm=None, **options)

        return run


@pytest.mark.parametrize(("op", "args"), CALLS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_would_take_too_long_is_estimated_and_not_run(monkeypatch, op, args):
    slow = Slow(monkeypatch)
    call, _ = tc.nn_ops.call_of(op, args, {})
    monkeypatch.setattr(tuning, "_FIRST_PIECE", 2000)
    [found] = tc.autotune(op, *args, backends=slow.backend, seconds=10)
    assert found.estimated
    assert found.median == pytest.approx(call.geometry.macs / 1000)
    assert call.geometry.output_shape not in slow.shapes
    assert slow.now < 10
    assert "about" in str(tc.autotune(op, *args, backends=slow.backend, seconds=10))


def test_what_fits_is_run_and_no_round_exceeds_the_limit(monkeypatch):
    slow = Slow(monkeypatch)
    call, _ = tc.nn_ops.call_of(tc.conv2d, (X, W), {})
    one = call.geometry.macs / 1000
    [found] = tc.autotune(tc.conv2d, X, W, backends=slow.backend, seconds=8 * one, rounds=100)
    assert not found.estimated
    assert [found.median, found.least] == pytest.approx([one, one])
    assert slow.now <= 8 * one + 1e-6
    with pytest.raises(ValueError, match="rounds must be at least 1 and seconds above 0; got 7 and 0"):
        tc.autotune(tc.conv2d, X, W, seconds=0)


@pytest.mark.parametrize(("op", "args"), CALLS, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("macs", [1, 700, 9000])
def test_a_part_of_a_call_is_a_call(op, args, macs):
    call, _ = tc.nn_ops.call_of(op, args, {})
    piece = tuning._piece(call, macs)
    assert piece.geometry.macs <= max(macs, math.prod(piece.geometry.filters_shape[:2]))
    got, want = (tc.running.dispatch.run_canonical(piece, name) for name in ("numpy", "reference"))
    assert np.array_equal(got, want)
    assert tuning._piece(call, 10**9) is call


def test_a_large_call_keeps_the_limit(monkeypatch):
    """By a clock that counts the multiply-adds of the runs, a million a second: the whole call would take hours."""
    x, w = np.ones((8, 112, 112, 64), "float32"), np.ones((5, 5, 64, 64), "float32")
    work, run = [], tuning._Candidate.run

    def counted(one, call):
        work.append(call.geometry.macs)
        return run(one, call)

    monkeypatch.setattr(tuning._Candidate, "run", counted)
    monkeypatch.setattr(tuning.record, "clock", lambda: sum(work) / 1e6)
    report = tc.autotune(tc.conv2d, x, w, backends=["reference", "scipy"], seconds=1)
    assert 0 < sum(work) < 1e6
    assert all(item.estimated for item in report)


def test_speed_ups_over_reference_and_numpy():
    report = tc.autotune(tc.conv2d, X, W, backends=["reference", "numpy"], rounds=2)
    best = {name: min(one.median for one in report if one.backend == name) for name in ("reference", "numpy")}
    for one in report:
        assert one.over_reference == pytest.approx(best["reference"] / one.median)
        assert one.over_numpy == pytest.approx(best["numpy"] / one.median)
    [fast] = tc.autotune(tc.conv2d, X, W, backends=["numpy"], algorithm="taps", rounds=2)
    assert fast.over_reference > 0 < fast.over_numpy
    for title in ("× reference", "× numpy"):
        assert title in str(report)


def test_what_the_memory_does_not_suffice_for_is_left_out():
    call = (tc.conv2d, np.ones((1, 8, 8, 2), "float32"), W[:, :, :2], 1, "SAME")  # im2col pads to 29 TiB
    report = tc.autotune(*call, dilations=10**6, backends="numpy", rounds=1)
    assert [one.algorithm for one in report] == ["taps"]
    assert re.fullmatch(
        "numpy im2col: the padded input .* needs 29.1 TiB; at most .* is legal: .*", *report.skipped
    )
    assert f"left out: {report.skipped[0]}" in " ".join(str(report).split())
    with pytest.raises(MemoryError, match="no algorithm has enough memory for this call; numpy im2col: "):
        tc.autotune(*call, dilations=10**6, backends="numpy", algorithm="im2col", rounds=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backends": []}, "backends must have an algorithm for this call; got none"),
        ({"backends": 3}, "backend must be one of .*; got 3"),
        ({"rounds": "3"}, "rounds must be an integer; got '3'"),
        ({"rounds": 2.5}, "rounds must be an integer; got 2.5"),
        ({"seconds": "3"}, "seconds must be a number; got '3'"),
        ({"seconds": math.nan}, "seconds above 0; got 7 and nan"),
    ],
)
def test_options_that_say_nothing(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        tc.autotune(tc.conv2d, X, W, **options)


def test_a_class_or_an_instance_is_one_backend():
    functions = {kind.name: staticmethod(getattr(numpy_backend, kind.name)) for kind in KINDS}
    own = type("Own", (), {"ALGORITHMS": numpy_backend.ALGORITHMS, **functions})
    for backend in (own, own()):
        assert tc.autotune(tc.conv2d, X, W, backends=backend, rounds=1).best.backend == "Own"
        assert tc.diff(tc.conv2d, X, W, backends=backend).passed


def test_only_what_the_precision_allows_is_offered():
    offered = {}
    for precision in (None, "strict", "fast"):
        report = tc.autotune(tc.conv2d, X, W, rounds=1, precision=precision)
        offered[precision] = {(one.backend, one.algorithm) for one in report}
    assert ("scipy", "fft") in offered["fast"] - offered[None]
    assert offered["strict"] < offered[None] < offered["fast"]
    assert ("cython", "winograd2") in offered[None] - offered["strict"]
    [asked] = tc.autotune(tc.conv2d, X, W, backends=["scipy"], algorithm="fft", rounds=1)
    assert asked.algorithm == "fft"


def test_a_time_limit_leaves_estimates():
    x, w = np.ones((8, 112, 112, 64), "float32"), np.ones((5, 5, 64, 64), "float32")
    assert "about" in str(tc.autotune(tc.conv2d, x, w, backends="scipy", seconds=0.5))
