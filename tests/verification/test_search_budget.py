"""The search for a name is bounded by what it evaluates: counted, so that no step of it takes long."""

import time
import tracemalloc

import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.verification import diagnosing

CALLS = {
    "many channels out": ((1, 1, 1, 2), (1, 1, 2, 16393), "VALID"),
    "many channels in": ((1, 1, 1, 16393), (1, 1, 16393, 2), "VALID"),
    "many columns": ((1, 1, 40000, 2), (1, 3, 2, 2), "SAME"),
    "many images": ((20000, 2, 2, 1), (2, 2, 1, 3), "SAME"),
    "10^7 products": ((1, 33, 33, 32), (3, 3, 32, 32), "SAME"),
}


@pytest.fixture
def stopped_clock(patience, monkeypatch):
    """What users have, and a clock that stands still: the count alone ends the search."""
    monkeypatch.setattr(diagnosing, "thread_time", lambda: 0.0)
    monkeypatch.setattr(diagnosing, "_SECONDS", 0.5)


@pytest.mark.usefixtures("stopped_clock")
@pytest.mark.parametrize("name", CALLS)
def test_a_search_ends_by_what_it_evaluates(name):
    *shapes, padding = CALLS[name]
    x, w = (make_array(shape, "float32", "normal", f"{name} {n}") for n, shape in enumerate(shapes))
    got = np.array(tc.conv2d(x, w, 1, padding))
    got += 1000 * make_array(got.shape, "float32", "normal", f"{name} noise")
    arguments = {"backends": [], "against": got}
    tc.diff(tc.conv2d, x[:1, :1, :1], w[:1, :1], **arguments | {"against": got[:1, :1, :1]})  # imports
    start = time.process_time()
    row = tc.diff(tc.conv2d, x, w, 1, padding, **arguments).rows[0]
    seconds = time.process_time() - start
    assert row.diagnosis is None
    assert row.tried > 40
    assert seconds < 4, seconds  # half a second for the search, on a machine that is busy; was 8 to 19


@pytest.mark.usefixtures("stopped_clock")
def test_a_search_takes_no_memory_for_all_pairs_of_many_channels():
    x, w = (make_array(shape, "float32", "normal", "memory") for shape in ((1, 1, 1, 2), (1, 1, 2, 16393)))
    got = tc.conv2d(x, w) + np.float32(1)
    tc.diff(tc.conv2d, x, w[..., :9], backends=[], against=got[..., :9])
    tracemalloc.start()
    try:
        tc.diff(tc.conv2d, x, w, backends=[], against=got)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1 << 28  # all pairs of numbers would be 2 GB


@pytest.mark.usefixtures("stopped_clock")
def test_what_was_left_out_is_said():
    x, w = (make_array(shape, "float32", "normal", "said") for shape in ((1, 1, 1, 2), (1, 1, 2, 16393)))
    row = tc.diff(tc.conv2d, x, w, backends=[], against=np.roll(tc.conv2d(x, w), 5000, 3)[..., ::-1]).rows[0]
    assert row.diagnosis is None
    assert row.note.startswith(
        "none of the usual mistakes in this time: tc.diff(..., thorough=True) looks for all"
    )
