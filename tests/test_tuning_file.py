"""autotune's file: used only where it is named, for this machine only; damaged and hostile files are refused."""

import contextlib
import json
import os
import random

import numpy as np
import pytest

import teachconv as tc
from teachconv import tuning, tuning_file
from teachconv.backends import numpy_backend

X, W = np.ones((1, 6, 6, 4), "float32"), np.ones((3, 3, 4, 5), "float32")
QUICK = {"backends": ["numpy"], "rounds": 2, "seconds": 0.2}
GOOD = {
    "backend": "numpy",
    "algorithm": "im2col",
    "median": 1e-5,
    "least": 9e-6,
    "gflops": 3.0,
    "estimated": False,
    "over_reference": 20.0,
    "over_numpy": 1.0,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tuned.json"


@pytest.fixture
def timed(monkeypatch):
    """The candidates that were timed, by name."""
    found, timing = [], tuning._timed
    monkeypatch.setattr(
        tuning, "_timed", lambda one, call: (found.append(one.algorithm), timing(one, call))[1]
    )
    return found


def test_a_second_call_reads_what_the_first_one_measured(path, timed):
    first = tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)
    assert timed
    timed.clear()
    second = tc.autotune(tc.conv2d, X, W, cache=str(path), **QUICK)
    assert not timed
    assert list(second) == list(first)
    assert "not measured now" in " ".join(str(second).split())
    assert "not measured now" not in str(first)
    text = path.read_text()
    assert (
        "conv2d float32 [1, 6, 6, 4] * [3, 3, 4, 5] -> [1, 4, 4, 5], strides (1, 1), pads (0, 0), NHWC"
        in text
    )
    assert f"teachconv {tc.__version__}" in text
    tc.autotune(tc.conv2d, X, W, **QUICK)  # without the path, nothing is read
    assert timed
    assert os.listdir(path.parent) == ["tuned.json"]


def test_what_decides_the_time_is_part_of_the_name(path, timed):
    tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)
    others = [
        (tc.conv2d, (X, W, 2), {}),
        (tc.conv2d, (X, W, 1, "SAME"), {}),
        (tc.conv2d, (X, W), {"dilations": 2}),
        (tc.conv2d, (X, W), {"bias": np.ones(5, "float32")}),
        (tc.conv2d, (X.astype("float64"), W.astype("float64")), {}),
        (tc.conv2d, (X.transpose(0, 3, 1, 2).copy(), W, 1, "VALID", "NCHW"), {}),
        (tc.conv2d, (np.asfortranarray(X), W), {}),
        (tc.conv2d_transpose, (np.ones((1, 4, 4, 5), "float32"), W, None, 1, "VALID"), {}),
        (tc.conv2d_backprop_filter, (X, W.shape, np.ones((1, 4, 4, 5), "float32")), {}),
    ]
    for op, args, kwargs in others:
        timed.clear()
        assert not tc.autotune(op, *args, **kwargs, cache=path, **QUICK).source
        assert timed
    timed.clear()
    assert tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source  # the others did not take its place
    [machine] = [name for name in json.loads(path.read_text()) if name != "format"]
    assert len(json.loads(path.read_text())[machine]) == 1 + len(others)
    one = tc.autotune(tc.conv2d, X, W, cache=path, algorithm="taps", **QUICK)  # the file has it
    assert [(row.algorithm, bool(one.source)) for row in one] == [("taps", True)]
    more = tc.autotune(tc.conv2d, X, W, cache=path, **QUICK | {"backends": ["numpy", "scipy"]})
    assert not more.source
    assert tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source


def test_measurements_of_another_machine_are_kept_and_not_used(path, timed, monkeypatch):
    before = tc.get_num_threads()
    tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)
    monkeypatch.setattr(tuning_file, "processor", lambda: "another processor")
    timed.clear()
    assert not tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source
    assert timed
    tc.set_num_threads(before + 1)
    try:
        assert not tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source
    finally:
        tc.set_num_threads(before)
    monkeypatch.undo()
    assert tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source
    assert len(json.loads(path.read_text())) == 4  # the format, and three machines


def document(entry):
    return json.dumps({"format": "teachconv autotune, format 1", "a machine": {"a call": [entry]}}).encode()


HOSTILE = {
    "nothing": b"",
    "no JSON": b"\x89PNG\r\n",
    "not UTF-8": b'{"format": "\xff"}',
    "a number": b"3",
    "another format": b'{"format": "teachconv autotune, format 2"}',
    "no machine": b'{"format": "teachconv autotune, format 1", "a": 3}',
    "no call": b'{"format": "teachconv autotune, format 1", "a": {"b": {}}}',
    "no measurement": b'{"format": "teachconv autotune, format 1", "a": {"b": [[]]}}',
    "brackets": b"[" * 100_000,
    "a long number": b'{"format": ' + b"9" * 10_000 + b"}",
    "too large": b" " * (17 << 20),
    "another field": document(GOOD | {"more": 1.0}),
    "a field missing": document({key: value for key, value in GOOD.items() if key != "least"}),
    "text as time": document(GOOD | {"median": "1"}),
    "no time": document(GOOD | {"median": 0.0}),
    "negative speed": document(GOOD | {"gflops": -1.0}),
    "negative": document(GOOD | {"least": -1.0}),
    "NaN": document(GOOD).replace(b"3.0", b"NaN"),
    "infinite": document(GOOD).replace(b"3.0", b"1e999"),
    "true as number": document(GOOD | {"gflops": True}),
    "a list as name": document(GOOD | {"backend": ["numpy"]}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_and_left_alone(path, timed, name):
    path.write_bytes(HOSTILE[name])
    with pytest.raises(ValueError, match="cache .*tuned.json' is no file of autotune's: .*; remove it"):
        tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)
    assert not timed
    assert path.read_bytes() == HOSTILE[name]


def test_damaged_files():
    rng, legal = random.Random(1), document(GOOD)
    assert tuning_file.parsed(legal)
    for _ in range(500):
        damaged = bytearray(legal)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        with contextlib.suppress(ValueError):
            tuning_file.parsed(bytes(damaged[: rng.choice([len(damaged), rng.randrange(len(damaged))])]))


def test_an_empty_call_is_kept_and_leaves_the_file_readable(path):
    empty = tc.autotune(tc.conv2d, X[:0], W, cache=path, **QUICK)
    assert empty.best.gflops == 0
    assert tc.autotune(tc.conv2d, X[:0], W, cache=path, **QUICK).source
    assert not tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source


def test_legal_entries_of_unknown_algorithms_are_measured_again(path, timed):
    tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)
    path.write_text(path.read_text().replace('"taps"', '"no such algorithm"'))
    timed.clear()
    assert not tc.autotune(tc.conv2d, X, W, cache=path, **QUICK).source
    assert timed


@pytest.mark.parametrize(
    ("cache", "error"),
    [
        (3, "cache must be a path; got 3"),
        (b"tuned.json", "cache must be a path"),
        ("no/such/folder/tuned.json", "cache must be the path of a file in a folder that exists"),
        (".", "cache must be the path of a file"),
    ],
)
def test_other_paths(timed, cache, error):
    with pytest.raises((ValueError, TypeError), match=error):
        tc.autotune(tc.conv2d, X, W, cache=cache, **QUICK)
    assert not timed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_not_waited_for(path):
    os.mkfifo(path)
    with pytest.raises(ValueError, match="cache must be the path of a file"):
        tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)


def test_a_backend_of_ones_own_is_refused(path):
    with pytest.raises(ValueError, match="cache is for the backends that come with teachconv"):
        tc.autotune(tc.conv2d, X, W, cache=path, **QUICK | {"backends": [numpy_backend]})


def test_a_write_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    tc.autotune(tc.conv2d, X, W, cache=path, **QUICK)
    before = path.read_bytes()

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        tc.autotune(tc.conv2d, X, W, 2, cache=path, **QUICK)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["tuned.json"]
