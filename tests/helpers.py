"""Helpers shared by tests: slow parameters, the backends that can run, broken ones, and random legal problems."""

import io
from functools import lru_cache
from types import ModuleType

import numpy as np
import pytest
from hypothesis import strategies as st

from teachconv import memory
from teachconv.arguments import PADDING_WORDS
from teachconv.backends import TABLE, get, numpy_backend, why_not
from teachconv.kinds import KINDS


def mostly_marked(mark, parameters, *unmarked):
    """Parameters of which all but some have a mark."""
    return [pytest.param(each, marks=[mark] * (each not in unmarked)) for each in parameters]


def mostly_slow(parameters, *quick):
    """Parameters of which only the quick ones are in every run, and those near to them among the slow tests."""
    return mostly_marked(pytest.mark.slow, parameters, *quick)


def mostly_release(parameters, *often):
    """Parameters of a slow test of which most wait for a release."""
    return mostly_marked(pytest.mark.release, parameters, *often)


def backend_algorithms(dtypes=None):
    """Every (backend, algorithm) that can run here, or every (backend, algorithm, dtype) that is listed.

    A backend that cannot run is one skipped test, with the reason. The plain loops of the reference are
    left out: they are slow, and test_reference holds them to be the same bits as its ``direct``.
    """
    for name in TABLE:
        reason = why_not(name)
        if reason:
            values = (name, None) if dtypes is None else (name, None, None)
            yield pytest.param(*values, marks=pytest.mark.skip(reason=reason), id=name)
            continue
        for algorithm in get(name).ALGORITHMS:
            if (name, algorithm.name) == ("reference", "loops"):
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


@st.composite
def problems(draw, max_size=7, max_filter=4, max_channels=3, algorithm=None, rank=2):
    """A random legal forward convolution: its shapes and arguments, such as ``algorithm`` can do."""
    name = None if algorithm is None else algorithm.name
    groups = draw(st.integers(1, 3)) if name not in ("winograd2", "winograd4", "col2im") else 1
    depth, outs = draw(st.integers(1, max_channels)), draw(st.integers(1, max_channels))
    filter_size = [draw(st.integers(1, max_filter)) for _ in range(rank)]
    strides = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    dilations = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    if name in ("winograd2", "winograd4"):
        filter_size, strides, dilations = [3, 3], (1, 1), (1, 1)
    if name == "depthwise":
        depth = 1
    pads = tuple(tuple(draw(st.integers(-2, 4)) for _ in range(2)) for _ in range(rank))
    padding = draw(st.sampled_from([*PADDING_WORDS, pads]))
    sizes = []
    for axis in range(rank):
        effective = (filter_size[axis] - 1) * dilations[axis] + 1
        smallest = 1
        if padding == "VALID":
            smallest = effective
        elif not isinstance(padding, str):
            smallest = max(1, effective - sum(pads[axis]))
        sizes.append(draw(st.integers(smallest, smallest + max_size)))
    batch = draw(st.integers(1, 2))
    return {
        "input_shape": (batch, *sizes, groups * depth),
        "filters_shape": (*filter_size, depth, groups * outs),
        "strides": strides,
        "padding": padding,
        "dilations": dilations,
    }


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
