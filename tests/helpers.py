"""Helpers shared by tests: slow parameters, the backends that can run, broken ones, and random legal problems."""

import io
import os
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import strategies as st

from teachconv.backends import TABLE, get, numpy_backend, why_not
from teachconv.core.kinds import KINDS
from teachconv.support import memory
from teachconv.testing.strategies import shapes

_STATM = Path("/proc/self/statm")
says_memory = pytest.mark.skipif(not _STATM.exists(), reason="Linux says there how much memory is in use")


def resident():
    """How many bytes of this process are in memory now."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def mostly_marked(mark, parameters, *unmarked):
    """Parameters, a tuple for several names, of which all but some have a mark."""
    values = [(each, each if isinstance(each, tuple) else (each,)) for each in parameters]
    return [pytest.param(*value, marks=[mark] * (each not in unmarked)) for each, value in values]


def mostly_slow(parameters, *quick):
    """Parameters of which only the quick ones are in every run, and those near to them among the slow tests."""
    return mostly_marked(pytest.mark.slow, parameters, *quick)


def mostly_release(parameters, *often):
    """Parameters of a slow test of which most wait for a release."""
    return mostly_marked(pytest.mark.release, parameters, *often)


def backend_algorithms(dtypes=None):
    """Every (backend, algorithm) that can run here, or every (backend, algorithm, dtype) that is listed.

    A backend that cannot run is one skipped test, with the reason. The plain loops of the reference are
    left out: they are slow, and test_reference holds them to be the same bits as its ``direct``. So is cuDNN, which
    may not be there and whose infinities are its own: test_cudnn has it.
    """
    for name in TABLE:
        reason = why_not(name)
        if reason:
            values = (name, None) if dtypes is None else (name, None, None)
            yield pytest.param(*values, marks=pytest.mark.skip(reason=reason), id=name)
            continue
        for algorithm in get(name).ALGORITHMS:
            if (name, algorithm.name) in (("reference", "loops"), ("cupy", "cudnn")):
                continue
            if dtypes is None:
                yield pytest.param(name, algorithm, id=f"{name}-{algorithm.name}")
            for dtype in algorithm.dtypes if dtypes is not None else ():
                if dtype in dtypes:
                    yield pytest.param(name, algorithm, dtype, id=f"{name}-{algorithm.name}-{dtype}")


def assert_same_bits(got, want):
    """Every bit, the sign of zero too; of NaN only where it is: IEEE 754 gives its sign no meaning."""
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if got.dtype.kind == "i":
        assert np.array_equal(got, want)
        return
    got, want = got.astype(np.float64), want.astype(np.float64)  # exact, for all dtypes
    assert np.array_equal(got, want, equal_nan=True)
    signed = ~np.isnan(want)
    assert np.array_equal(np.signbit(got[signed]), np.signbit(want[signed]))


@lru_cache(maxsize=64)
def only(backend, algorithm):
    """A backend that has this algorithm and no other: a diff of it runs no others."""
    module = ModuleType(backend)
    module.__dict__.update(vars(get(backend)) | {"__name__": backend, "ALGORITHMS": (algorithm,)})
    return module


def problems(max_size=7, max_filter=4, max_channels=3, algorithm=None, rank=2):
    """A random legal forward convolution: its shapes and arguments, such as ``algorithm`` can do."""
    name, one = None if algorithm is None else algorithm.name, st.just(1)
    options = {"extra": st.integers(0, max_size), "taps": st.integers(1, max_filter)}
    options["channels"] = st.integers(1, max_channels)
    if name in ("winograd", "winograd2", "winograd4", "col2im"):
        options["groups"] = one
    if name == "winograd":
        options["dilations"] = one
    if name in ("winograd2", "winograd4"):
        options |= {"taps": st.just(3), "strides": one, "dilations": one}
    if name == "depthwise":
        options["depth"] = one
    return shapes(rank, **options)


def broken(**changes):
    """The numpy backend as a separate module with one change."""
    module = ModuleType("my_backend")
    module.__dict__.update({name: getattr(numpy_backend, name) for name in (*map(str, KINDS), "ALGORITHMS")})
    module.__dict__.update(changes)
    return module


def ignoring(what):
    """The numpy backend, which ignores one of the arguments of the contract."""

    def ignores(function):
        return lambda first, second, geometry, **options: function(
            first, second, geometry, **{name: value for name, value in options.items() if name != what}
        )

    return broken(**{str(kind): ignores(getattr(numpy_backend, str(kind))) for kind in KINDS})


def only_memory(monkeypatch, nbytes):
    """As if so much may be taken, nine tenths of what there is, and small arrays were counted too."""
    monkeypatch.setattr(memory, "TRIFLE", 0)
    monkeypatch.setattr(memory, "_limits", lambda: [(-(-10 * nbytes // 9), "the test's memory")])


class Terminal(io.StringIO):
    """In place of the standard error."""

    def isatty(self):
        return True


class AtOnce:
    """In place of `threading.Timer`: nobody waits."""

    def __init__(self, seconds, begin):
        self.start, self.cancel = begin, lambda: None
