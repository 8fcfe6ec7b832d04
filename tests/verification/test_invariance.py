"""The same bits alone and in a batch, on any number of threads, run after run: ours, and how others fail."""

import numpy as np
import pytest
from helpers import broken, only
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import get, numpy_backend, why_not
from teachconv.testing import CASES, Case, check_invariance

RIGHT = numpy_backend.conv2d


def failed(report):
    """{way: the note of the first row that failed}"""
    return {row.name.rpartition(", ")[2]: row.note for row in report.rows if row.passed is False}


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
@pytest.mark.parametrize(
    ("dtype", "tags"),
    [
        *((dtype, "tails") for dtype in ("float32", "float64", "bfloat16", "int32")),
        pytest.param("float32", None, marks=pytest.mark.slow),
    ],
)
def test_cython_gives_the_same_bits(dtype, tags):
    report = check_invariance("cython", dtype, tags=tags)
    assert report.passed, report


@pytest.mark.parametrize("name", ["direct", "slices"])
def test_the_reference_gives_the_same_bits(name):
    algorithm = next(one for one in get("reference").ALGORITHMS if one.name == name)
    report = check_invariance(only("reference", algorithm), tags=["hand", "crop"])
    assert report.passed, report
    assert "against a plain run of each call" in report.summary


@settings(max_examples=30)
@given(st.data())
def test_random_calls_give_the_same_bits(data):
    """With `auto`, which may look at the shape of one image only."""
    channels, outs = (data.draw(st.integers(1, 70)) for _ in range(2))
    rows, cols, size = (data.draw(st.integers(1, limit)) for limit in (12, 20, 4))
    case = Case(
        f"{rows} {cols} {channels} {outs}",
        "conv2d",
        (data.draw(st.integers(1, 3)), rows, cols, channels),
        (size, size, channels, outs),
        data.draw(st.integers(1, 2)),
        "SAME",
        bias=data.draw(st.booleans()),
    )
    from teachconv.verification import invariance

    backend = "numpy" if why_not("cython") else "cython"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(invariance, "find_cases", lambda tags: (case,))
        if backend == "numpy":
            patch.delitem(invariance._WAYS, "in a larger batch")
        assert check_invariance(backend).passed


def test_what_changes_with_the_batch_is_found_and_said():
    def by_batch(x, w, geometry, **options):
        y = RIGHT(x, w, geometry, **options)
        return np.nextafter(y, y.dtype.type(np.inf)) if geometry.batch > 4 else y

    found = failed(check_invariance(broken(conv2d=by_batch), tags="odd", kinds="conv2d"))
    assert not {"run again", "threads: 1", "threads: 7"} & set(found)
    assert "of 18 cells change, by up to 2 ulps" in found["in a larger batch"]
    assert tc.check_backend(broken(conv2d=by_batch), "float32", tags="odd").passed  # within its bound


def test_what_changes_with_the_threads_or_the_run_is_found():
    def by_threads(x, w, geometry, **options):
        return RIGHT(x, w, geometry, **options) * np.float32(1 + 2.0**-23 * (tc.get_num_threads() == 7))

    def by_run(x, w, geometry, *, runs=[0], **options):  # noqa: B006 (that is the bug)
        runs[0] += 1
        return RIGHT(x, w, geometry, **options) * np.float32(1 + 2.0**-23 * (runs[0] % 2))

    def raises(x, w, geometry, **options):
        raise ZeroDivisionError("oops")

    before = tc.get_num_threads()
    found = failed(check_invariance(broken(conv2d=by_threads), tags="hand"))
    assert "threads: 7" in found
    assert not {"run again", "threads: 1", "threads: 2", "threads: 3"} & set(found)
    assert tc.get_num_threads() == before
    assert "run again" in failed(check_invariance(broken(conv2d=by_run), tags="hand"))
    assert set(failed(check_invariance(broken(conv2d=raises), tags="hand")).values()) == {
        "raised ZeroDivisionError: oops"
    }


def test_what_is_refused():
    with pytest.raises(ValueError, match='did you mean "numpy"'):
        check_invariance("nunpy")
    with pytest.raises(ValueError, match='tags must be one of .* mean "groups"'):
        check_invariance("numpy", tags="groupx")
    with pytest.raises(TypeError, match='did you mean "float32"'):
        check_invariance("numpy", "flaot32")
    assert Case("one pixel", "conv2d", (1, 1, 1, 1), (1, 1, 1, 1), marks=("hand",)) in CASES
