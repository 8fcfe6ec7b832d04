"""The way of a call from the op to the kernel: which rooms its functions stand in, and how often it climbs.

A *stay* is a run of functions of one room, one after the other; a *climb* is a step from a stay to a room that
stands above it. Who follows a call in the source goes the same way: each climb is a file to come back to.
"""

import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not
from teachconv.core import geometry
from teachconv.data.seeded import make_array
from teachconv.running import dispatch

PACKAGE = Path(tc.__file__).parent
ROOMS = ("arguments", "geometry", "calls", "backends", "dispatch", "nn_ops")  # from below, as they import
HEIGHTS = {room: height for height, room in enumerate(ROOMS)}
# what the leaves do is no part of the way: they record, know settings, memory, dtypes and where an array lies
LEAVES = {"support", "default_backend", "dtypes", "kinds"}


def functions_of(call):
    """The functions that a call enters, in order, as (room, name); methods, which read or fill an object, aside."""
    found = []

    def enter(frame, event, _):
        code = frame.f_code
        path = Path(code.co_filename)
        if (
            event == "call"
            and PACKAGE in path.parents
            and "." not in code.co_qualname
            and code.co_name[0] != "<"
        ):
            folder, *files = path.relative_to(PACKAGE).parts
            room = files[0].removesuffix(".py") if folder in ("core", "running") else folder
            room = "geometry" if room == "law" else room  # a geometry's axes, and the law of each
            if room not in LEAVES:
                found.append((room, code.co_name))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def stays_of(functions):
    return [room for room, _ in groupby(room for room, _ in functions)]


def climbs_of(stays):
    return sum(HEIGHTS[one] < HEIGHTS[other] for one, other in zip(stays, stays[1:], strict=False))


X, W = make_array((1, 8, 8, 2), "float32"), make_array((3, 3, 2, 2), "float32")
DY, D = make_array((1, 4, 4, 2), "float32"), make_array((3, 3, 2, 1), "float32")
CALLS = {
    "conv2d": lambda **how: tc.conv2d(X, W, 2, "SAME", **how),
    "depthwise_conv2d": lambda **how: tc.depthwise_conv2d(X, D, 2, "SAME", **how),
    "conv2d_transpose": lambda **how: tc.conv2d_transpose(DY, W, None, 2, **how),
    "conv2d_backprop_input": lambda **how: tc.conv2d_backprop_input(X.shape, W, DY, 2, "SAME", **how),
    "conv2d_backprop_filter": lambda **how: tc.conv2d_backprop_filter(X, W.shape, DY, 2, "SAME", **how),
}
BACKENDS = [name for name in ("reference", "numpy", "scipy", "cython") if not why_not(name)]


def fresh(call, **how):
    """Run a call as if no other had come before."""
    for function in (dispatch._places, geometry.forward_geometry, geometry.transposed_geometry):
        function.cache_clear()
    call(**how)


@pytest.mark.skipif(bool(why_not("cython")), reason="calls are prepared for the compiled backend")
@pytest.mark.parametrize("name", CALLS)
def test_the_first_call_climbs_at_most_three_times_and_later_ones_never(name):
    tc.conv2d(np.ones((1, 1, 1, 1)), np.ones((1, 1, 1, 1)))  # what is loaded once is no part of a call
    first, later = functions_of(lambda: fresh(CALLS[name])), functions_of(CALLS[name])
    stays = stays_of(first)
    assert stays[:3] == ["nn_ops", "dispatch", "calls"]
    assert "backends" in stays
    assert climbs_of(stays) <= 3, stays
    assert stays_of(later) == ["nn_ops", "dispatch"]
    assert len(later) <= 6, later


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_is_reached_by_the_same_way(backend):
    CALLS["conv2d"](backend=backend)
    functions = functions_of(lambda: fresh(CALLS["conv2d"], backend=backend))
    stays = stays_of(functions)
    before = stays[: stays.index("backends")]
    assert before == ["nn_ops", "dispatch", "calls", "arguments", "geometry", "dispatch"]
