"""The facts of an algorithm, which its `Algorithm` states, are those of the code that runs."""

from importlib import import_module

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import TABLE, Algorithm, cython_backend, why_not
from teachconv.backends.cuda import ladder
from teachconv.core.kinds import FORWARD, KINDS
from teachconv.inspection import marks

MODULES = {name: import_module(path) for name, path in TABLE.items()}
ALL = [(name, one) for name, module in MODULES.items() for one in module.ALGORITHMS]
IDS = [f"{name}-{one.name}" for name, one in ALL]
ON_REQUEST = {  # no backend chooses these by itself
    ("reference", "loops"),
    ("cython", "im2col"),
    ("cupy", "tiled"),
    ("cupy", "registers"),
    ("cupy", "cudnn"),
}
COMPILED = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
X, DEEP = np.ones((1, 9, 9, 4), "float32"), np.ones((3, 3, 1, 4), "float32")


def calls(one):
    """Calls with padding, of each kind that an algorithm has, with a NaN in the second array."""
    w = DEEP if one.name == "depthwise" else DEEP.repeat(4, 2)
    bad, bad_x = w.copy(), X.copy()
    bad[0, 0, 0, 0] = bad_x[0, 0, 0, 0] = np.nan
    for kind, args in zip(KINDS, ((X, bad), (X.shape, bad, X), (X, w.shape, bad_x)), strict=True):
        if kind in one.kinds:
            yield getattr(tc, kind.name), args


@pytest.mark.parametrize(("backend", "one"), ALL, ids=IDS)
def test_an_algorithm_that_a_backend_may_choose_says_why(backend, one):
    assert bool(one.why) == ((backend, one.name) not in ON_REQUEST)
    if backend in ("cython", "cupy") and one.name != "direct":  # which have a line for each choice
        chosen = any(mark.mark == "choice" for mark in marks.find(backend, [one.name]))
        assert bool(one.why) == chosen


@pytest.mark.parametrize(("backend", "one"), ALL, ids=IDS)
def test_an_algorithm_whose_source_multiplies_says_how_often(backend, one):
    found = [mark for mark in marks.find(backend, [one.name]) if mark.mark == "multiply-add"]
    assert bool(one.times) == (not all(mark.by for mark in found))


@pytest.mark.parametrize("backend", ["cython", "cupy"])
def test_each_kind_of_call_has_one_usual_algorithm(backend):
    for kind in KINDS:
        assert len([one for one in MODULES[backend].ALGORITHMS if one.usual and kind in one.kinds]) == 1


@pytest.mark.parametrize(("backend", "one"), [pair for pair in ALL if pair[0] not in ("cupy", "reference")])
def test_what_an_algorithm_gives_way_to_is_what_runs(backend, one):
    if why_not(backend):
        pytest.skip(why_not(backend))
    how = {"padding": "SAME", "backend": backend, "algorithm": one.name}
    ran = {tc.trace(op, *args, **how).algorithm for op, args in calls(one)}
    assert ran - {one.name} == ({one.gives_way_to} if one.gives_way_to else set())
    assert one.gives_way_to in ("", *(other.name for other in MODULES[backend].ALGORITHMS))


@COMPILED
def test_c_has_the_algorithms_that_python_has_for_the_same_kinds():
    kernels = import_module("teachconv._kernels")
    compiled = [one for one in cython_backend.ALGORITHMS if one.name not in cython_backend._LOOPS]
    assert [one.name for one in compiled] == list(kernels.ALGORITHMS)
    problem = cython_backend._problem(tc.conv2d_geometry(X.shape, (3, 3, 1, 4), padding="SAME"))

    def has(name, kind):
        try:
            if kind.sums_images:
                kernels.run_filter_gradient(name, problem, *(a.flatten() for a in (X, X, DEEP)), 1)
            else:
                kernels.packed_numbers(name, kind.scatters, problem, 4)
        except KeyError:
            return False
        return True

    for one in compiled:
        assert one.kinds == tuple(kind for kind in KINDS if has(one.name, kind))


@COMPILED
def test_a_kernel_that_there_is_not_is_refused_before_it_is_called():
    kernels = import_module("teachconv._kernels")
    problem = cython_backend._problem(tc.conv2d_geometry(X.shape, (3, 3, 4, 4)))
    with pytest.raises(KeyError, match="phases"):
        kernels.packed_numbers("phases", False, problem, 4)
    with pytest.raises(KeyError, match="row_gemm"):
        kernels.run_filter_gradient("row_gemm", problem, *[X.flatten()] * 3, 1)


@COMPILED
def test_the_ways_through_a_kernel_have_the_names_that_marks_use():
    paths = set(import_module("teachconv._kernels").PATHS)
    native = {one.name for one in cython_backend.ALGORITHMS}
    assert {path for mark in marks.read() if mark.algorithm in native for path in mark.paths} <= paths
    assert {one.path for one in cython_backend.ALGORITHMS} - {""} <= paths


def test_an_algorithm_takes_the_ranks_that_it_names():
    flat = tc.conv2d_geometry((1, 4, 4, 1), (2, 2, 1, 1))
    for ranks, fits in ((None, True), ((2,), True), ((1, 2), True), ((1, 3), False)):
        assert Algorithm("one", "", ranks=ranks).fits(FORWARD, "float32", flat) == fits
    with pytest.raises(tc.ArgumentError, match=r"ranks of algorithm 'one' must be one of 1, 2, 3; got 4$"):
        Algorithm("one", "", ranks=(2, 4))


def test_the_gpu_needs_what_its_rungs_say():
    for one in ladder.ALGORITHMS:
        assert bool(one.arch) == bool(one.needs)
        assert not ladder.lacks(one.name, one.dtypes[0], one.arch)
        if one.arch:
            assert one.needs in ladder.lacks(one.name, one.dtypes[0], one.arch - 1)
