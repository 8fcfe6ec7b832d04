"""A probe runs in a process of its own: what comes back, and what is said when nothing does."""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from teachconv.frameworks import child

PROBE = """
import os, sys, time
from teachconv.frameworks import child

def work(job, arrays):
    print("before")
    if job == "crash":
        os.kill(os.getpid(), 11)
    if job == "wait":
        time.sleep(60)
    if job == "exit":
        sys.exit("no framework here")
    child.begin("first")
    os.write(2, b"native\\n")
    child.begin("second")
    print(os.environ["SWITCH"], os.getcwd())
    return {"sums": {name: float(array.sum()) for name, array in arrays.items()}, "job": job}
"""


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Run the probe above, with a folder for temporary files that must be empty again at the end."""
    (tmp_path / "own_probe.py").write_text(PROBE)
    (tmp_path / "garbage_probe.py").write_text(
        "import os, sys, pathlib\nprint('x' * 300, flush=True)\n"
        "pathlib.Path(sys.argv[2], 'facts.json').write_text('{nonsense')\nos._exit(0)"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    def run(job, probe="own_probe", seconds=30.0, **arrays):
        before = dict(os.environ), list(sys.path), Path.cwd()
        try:
            return child.run(probe, job, arrays, {"SWITCH": "on"}, seconds)
        finally:
            assert (dict(os.environ), list(sys.path), Path.cwd()) == before
            assert not list((tmp_path / "temporary").iterdir())

    return run


def test_facts_arrays_and_sections_of_the_log_come_back(ask):
    answer = ask({"a": [1, None]}, x=np.arange(4.0), y=np.ones((2, 0), np.int32))
    assert answer.facts == {"sums": {"x": 6.0, "y": 0.0}, "job": {"a": [1, None]}}
    assert list(answer.log) == ["", "first", "second"]
    assert answer.log[""].strip() == "before"
    assert answer.log["first"].strip() == "native"
    assert answer.log["second"].strip() == f"on {Path.cwd()}"


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("crash", r"own_probe: its process ended with SIGSEGV; the end of its log:\n    before"),
        ("exit", "ended with exit status 1; the end of its log:\n    before\n    no framework here"),
    ],
)
def test_a_process_that_ends_early_is_named_with_the_end_of_its_log(ask, job, words):
    with pytest.raises(child.ProbeError, match=words):
        ask(job)


def test_a_process_that_takes_too_long_is_ended(ask):
    with pytest.raises(child.ProbeError, match=r"took longer than 1\.5 s and was ended"):
        ask("wait", seconds=1.5)


def test_an_answer_that_is_no_json_is_refused_and_long_lines_are_cut(ask):
    with pytest.raises(child.ProbeError, match="left no readable answer; the end of its log:\n    x{200}$"):
        ask({}, probe="garbage_probe")


def test_a_probe_that_does_not_exist_is_named(ask):
    with pytest.raises(child.ProbeError, match="No module named"):
        ask({}, probe="no_such_probe")


def test_arrays_of_objects_are_not_pickled(ask):
    with pytest.raises(ValueError, match="allow_pickle=False"):
        ask({}, x=np.array([object()]))
