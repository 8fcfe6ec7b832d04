"""The GPU kernels' marked lines are those that run: the host runs the same sources, and gcov counts."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from cuda_host import COMPILER

import teachconv as tc
from teachconv.backends.cuda.ladder import ALGORITHMS
from teachconv.core.kinds import OPS
from teachconv.inspection import marks

ROOT = Path(tc.__file__).parents[1]
pytestmark = [
    pytest.mark.xdist_group("cuda"),
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or not COMPILER or "g++" not in COMPILER, reason="needs g++ and gcov"
    ),
]


def calls_of(name, more):
    """The three kinds of call, for an algorithm: 3x3 on 9x9 cells, with so many outputs as ``more`` gives."""
    depth, outs = (1, 8) if name == "depthwise" else (8, 8)
    x, w = {"shape": (1, 9, 9, 8)}, {"shape": (3, 3, depth, outs)}
    out = tc.conv2d_geometry(x["shape"], w["shape"], *more).output_shape
    return {
        "conv2d": [x, w, *more],
        "conv2d_backprop_input": [x["shape"], w, {"shape": out}, *more],
        "conv2d_backprop_filter": [x, w["shape"], {"shape": out}, *more],
    }


STRIDED = 2, "SAME", "NHWC", 2  # strides, padding, data_format, dilations
PLAIN = 1, "SAME"


def takes_strides(name, op):
    return "winograd" not in name and not (name.startswith("wgmma") and OPS[op].kind.scatters)


CALLS = {
    (one.name, op): calls_of(one.name, STRIDED if takes_strides(one.name, op) else PLAIN)[op]
    for one in ALGORITHMS
    for op in calls_of(one.name, PLAIN)
    if OPS[op].kind in one.kinds
}
NAMED = {one.name: one for one in ALGORITHMS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cuda")


@pytest.fixture(scope="module")
def runs(folder):
    """Of each algorithm and kind of call, how often each line of the GPU's sources ran."""
    return {(name, op): run(folder, name, op, args) for (name, op), args in CALLS.items()}


def run(folder, name, op, args):
    for old in folder.rglob("*.gcda"):
        old.unlink()
    dtype = "float32" if "float32" in NAMED[name].dtypes else NAMED[name].dtypes[0]
    precision = None if NAMED[name].may_be_chosen(None) else NAMED[name].precision
    call = {"op": op, "args": args, "algorithm": name, "dtype": dtype, "precision": precision}
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, str(ROOT / "tests/covered_cuda.py"), str(folder), json.dumps(call)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts = defaultdict(int)
    for data in sorted(folder.rglob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", data.name]
        text = subprocess.run(command, cwd=data.parent, capture_output=True, text=True, check=True).stdout
        for file in json.loads(text)["files"]:
            for line in file["lines"]:
                counts[file["file"], line["line_number"]] += line["count"]
    return counts


def lines_of(name, op):
    """The marked lines in the GPU's sources, by place."""
    found = marks.find("cupy", [name], OPS[op].kind)
    return {(Path(m.file).name, m.line): m for m in found if Path(m.file).suffix in (".cu", ".cuh")}


@pytest.mark.parametrize(("name", "op"), CALLS)
def test_every_marked_line_ran(name, op, runs):
    for place, mark in lines_of(name, op).items():
        assert runs[name, op][place] > 0, mark


@pytest.mark.parametrize(("name", "op"), CALLS)
def test_the_algorithm_has_a_line_that_no_other_runs(name, op, runs):
    others = [counts for (other, its), counts in runs.items() if its == op and other != name]
    assert any(not any(counts[place] for counts in others) for place in lines_of(name, op))


@pytest.mark.parametrize(("name", "op"), [call for call in CALLS if call[0] in ("direct", "depthwise")])
def test_the_multiply_adds_are_those_of_the_geometry(name, op, folder):
    """On a geometry without padding: what is in the padding would be left out."""
    args = calls_of(name, (2,))[op]
    arrays = [np.zeros(a["shape"], "float32") if isinstance(a, dict) else a for a in args]
    macs = tc.nn_ops.call_of(getattr(tc, op), tuple(arrays), {})[0].geometry.macs
    (place,) = (place for place, mark in lines_of(name, op).items() if mark.mark == "multiply-add")
    assert run(folder, name, op, args)[place] == macs
