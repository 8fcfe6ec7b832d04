"""The search for a mistake ends after half a second of the processor; a slow host is to find here what a fast one does."""

from itertools import count

import pytest

from teachconv.verification import diagnosing, sizes


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Twenty times as long as users have."""
    for module in (diagnosing, sizes):
        monkeypatch.setattr(module, "_SECONDS", 20 * module._SECONDS)


@pytest.fixture
def slow_clock(patience, monkeypatch):
    """What users have, on a processor whose clock goes on by a hundredth of a second whenever it is looked at."""
    looks = count()

    def thread_time():
        return next(looks) / 100

    monkeypatch.setattr(diagnosing, "thread_time", thread_time)
    monkeypatch.setattr(sizes, "thread_time", thread_time)
    for module in (diagnosing, sizes):
        monkeypatch.setattr(module, "_SECONDS", 0.5)


@pytest.fixture
def undiagnosed(patience, monkeypatch):
    """Nobody looks for mistakes: for tests that ask which rows fail, and not why."""
    for module in (diagnosing, sizes):
        monkeypatch.setattr(module, "_SECONDS", 0.0)
