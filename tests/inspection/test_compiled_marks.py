"""The compiled kernels' marked lines are those that run, and as often as they should: gcov counts them.

The extension is built once more, without optimisation and with coverage. Each call then runs in a process of
its own, whose counts are read before the next one.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not
from teachconv.core.kinds import OPS
from teachconv.inspection import marks

ROOT = Path(tc.__file__).parents[1]
LANES = 4  # float32 on the baseline instruction set
ELSEWHERE = {
    "rows" if platform.machine() in ("aarch64", "arm64") else "neon_rows"
}  # the way of other processors
pytestmark = [
    pytest.mark.xdist_group("compiled_marks"),
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled"),
    pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcov"), reason="gcov is not installed"),
    pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="installed without the sources to build"),
]


def forward(algorithm, x, w, *more, **options):
    return "conv2d", [{"shape": x}, {"shape": w}, *more], algorithm, options


def input_gradient(algorithm, x, w, dy, *more):
    return "conv2d_backprop_input", [x, {"shape": w}, {"shape": dy}, *more], algorithm, {}


def filter_gradient(algorithm, x, w, dy, *more):
    return "conv2d_backprop_filter", [{"shape": x}, w, {"shape": dy}, *more], algorithm, {}


DILATED = "NHWC", 2  # data_format, dilations
CALLS = {
    "direct": forward("direct", (1, 9, 9, 3), (3, 3, 3, 4), 2, "SAME", *DILATED),
    "direct dx": input_gradient("direct", (1, 9, 9, 3), (3, 3, 3, 4), (1, 5, 5, 4), 2, "SAME", *DILATED),
    "direct dw": filter_gradient("direct", (1, 9, 9, 3), (3, 3, 3, 4), (1, 5, 5, 4), 2, "SAME", *DILATED),
    "direct, VALID": forward("direct", (1, 9, 9, 3), (3, 3, 3, 4), 2),
    "direct dx, VALID": input_gradient("direct", (1, 9, 9, 3), (3, 3, 3, 4), (1, 4, 4, 4), 2),
    "direct dw, VALID": filter_gradient("direct", (1, 9, 9, 3), (3, 3, 3, 4), (1, 4, 4, 4), 2),
    "im2col": forward("im2col", (1, 9, 9, 3), (3, 3, 3, 4), 2, "SAME", *DILATED),
    "im2col dw": filter_gradient("im2col", (1, 9, 9, 3), (3, 3, 3, 4), (1, 5, 5, 4), 2, "SAME", *DILATED),
    "row_gemm, patches": forward("row_gemm", (1, 9, 9, 3), (3, 3, 3, 4), 2, "SAME", *DILATED),
    "row_gemm, padded rows": forward("row_gemm", (1, 17, 17, 3), (3, 3, 3, 4), 2, "SAME", *DILATED),
    "row_gemm, the input itself": forward("row_gemm", (1, 8, 8, 3), (1, 1, 3, 4)),
    "row_gemm, VALID": forward("row_gemm", (1, 17, 17, 3), (3, 3, 3, 4), 2),
    "row_gemm, one channel": forward("row_gemm", (1, 9, 9, 1), (3, 3, 1, 4), 2, "SAME", *DILATED),
    "row_gemm, few filters": forward("row_gemm", (1, 9, 9, 3), (3, 3, 3, 2), 1, "SAME", *DILATED),
    "row_gemm, few filters, VALID": forward("row_gemm", (1, 10, 10, 3), (3, 3, 3, 2)),
    "winograd": forward("winograd", (1, 8, 8, 4), (5, 5, 4, 4), 1, "SAME"),
    "winograd, stride": forward("winograd", (1, 8, 8, 4), (3, 3, 4, 4), 2, "SAME"),
    "winograd, out of range": forward("winograd", (1, 8, 8, 4), (5, 5, 4, 4), 1, "SAME", huge=True),
    "winograd dx": input_gradient("winograd", (1, 8, 8, 4), (3, 3, 4, 4), (1, 4, 4, 4), 2, "SAME"),
    "winograd dw": filter_gradient("winograd", (1, 8, 8, 4), (5, 5, 4, 4), (1, 8, 8, 4), 1, "SAME"),
    "winograd2": forward("winograd2", (1, 8, 8, 4), (3, 3, 4, 4), 1, "SAME"),
    "winograd2, out of range": forward("winograd2", (1, 8, 8, 4), (3, 3, 4, 4), 1, "SAME", huge=True),
    "winograd2 dx": input_gradient("winograd2", (1, 8, 8, 4), (3, 3, 4, 4), (1, 8, 8, 4), 1, "SAME"),
    "winograd4": forward("winograd4", (1, 8, 8, 4), (3, 3, 4, 4), 1, "SAME"),
    "winograd4, pieces": forward("winograd4", (1, 8, 8, 4), (5, 5, 4, 4), 1, "SAME"),
    "winograd4, stride": forward("winograd4", (1, 16, 16, 4), (3, 3, 4, 4), 2, "SAME"),
    "winograd4, out of range": forward("winograd4", (1, 8, 8, 4), (3, 3, 4, 4), 1, "SAME", huge=True),
    "winograd4 dx": input_gradient("winograd4", (1, 8, 8, 4), (3, 3, 4, 4), (1, 8, 8, 4), 1, "SAME"),
    "winograd4 dx, stride": input_gradient("winograd4", (1, 8, 8, 4), (3, 3, 4, 4), (1, 4, 4, 4), 2, "SAME"),
    "winograd4 dw": filter_gradient("winograd4", (1, 8, 8, 4), (3, 3, 4, 4), (1, 8, 8, 4), 1, "SAME"),
    "phases": input_gradient("phases", (1, 9, 9, 4), (3, 3, 4, 4), (1, 5, 5, 4), 2, "SAME"),
    "phases, dilated": input_gradient(
        "phases", (1, 33, 33, 4), (3, 3, 4, 4), (1, 17, 17, 4), 2, "SAME", *DILATED
    ),
    "col2im, gathered": input_gradient(
        "col2im", (1, 9, 9, 3), (3, 3, 3, 4), (1, 9, 9, 4), 1, "SAME", *DILATED
    ),
    "col2im, scattered": input_gradient(
        "col2im", (1, 9, 9, 3), (3, 3, 3, 4), (1, 5, 5, 4), 2, "SAME", *DILATED
    ),
    "pixel_gemm": filter_gradient(
        "pixel_gemm", (1, 9, 9, 8), (3, 3, 8, 4), (1, 5, 5, 4), 2, "SAME", *DILATED
    ),
    "pixel_gemm, merged": filter_gradient(
        "pixel_gemm", (1, 9, 9, 3), (3, 3, 3, 4), (1, 5, 5, 4), 2, "SAME", "NHWC", (2, 1)
    ),
    "pixel_gemm, VALID": filter_gradient("pixel_gemm", (1, 9, 9, 8), (3, 3, 8, 4), (1, 4, 4, 4), 2),
    "depthwise, tall, adjacent": forward("depthwise", (1, 8, 8, 4), (3, 3, 1, 4), 1, "SAME"),
    "depthwise, dilated": forward("depthwise", (1, 9, 9, 4), (3, 3, 1, 4), 2, "SAME", *DILATED),
    "depthwise, adjacent": forward("depthwise", (1, 12, 12, 4), (5, 5, 1, 4), 1, "SAME"),
    "depthwise, adjacent, seven": forward("depthwise", (1, 12, 12, 4), (1, 7, 1, 4), 1, "SAME"),
    "depthwise, tall": forward("depthwise", (1, 9, 9, 4), (3, 3, 1, 4), 2, "SAME"),
    "depthwise, any width": forward("depthwise", (1, 9, 9, 4), (2, 2, 1, 4), 2),
    "depthwise dx": input_gradient(
        "depthwise", (1, 9, 9, 4), (3, 3, 1, 4), (1, 5, 5, 4), 2, "SAME", *DILATED
    ),
    "depthwise dx, tiles": input_gradient("depthwise", (1, 9, 9, 4), (3, 3, 1, 4), (1, 5, 5, 4), 2, "SAME"),
    "depthwise dw": filter_gradient(
        "depthwise", (1, 9, 9, 4), (3, 3, 1, 4), (1, 5, 5, 4), 2, "SAME", *DILATED
    ),
    "depthwise dw, tiles": filter_gradient("depthwise", (1, 9, 9, 4), (3, 3, 1, 4), (1, 5, 5, 4), 2, "SAME"),
    "depthwise dw, moving": filter_gradient("depthwise", (1, 9, 9, 4), (5, 5, 1, 4), (1, 5, 5, 4)),
    "auto": forward(None, (1, 9, 9, 3), (3, 3, 3, 4), 2, "SAME"),
    "auto winograd": forward(None, (1, 16, 16, 32), (5, 5, 32, 32), 1, "SAME"),
    "auto winograd2": forward(None, (1, 16, 16, 32), (3, 3, 32, 32), 1, "SAME"),
    "auto depthwise": forward(None, (1, 9, 9, 4), (3, 3, 1, 4), 2, "SAME"),
    "auto dx": input_gradient(None, (1, 9, 9, 4), (3, 3, 4, 4), (1, 5, 5, 4), 2, "SAME"),
    "auto dw": filter_gradient(None, (1, 9, 9, 3), (3, 3, 3, 4), (1, 5, 5, 4), 2, "SAME"),
}
# the multiply-adds of one run of the marked line
EXACT = {
    **dict.fromkeys(["direct, VALID", "direct dx, VALID", "direct dw, VALID"], 1),
    **dict.fromkeys(["row_gemm, VALID", "row_gemm, the input itself", "pixel_gemm, VALID"], LANES),
    **dict.fromkeys(["depthwise, any width", "depthwise dw, moving"], LANES),
}
# `continue` in Cython jumps to a label at the end of the loop's body, which gcov counts with its last line:
# (tap rows, then taps) of each output; (output rows, then outputs) of each tap
LABELS = {"direct, VALID": 4 * 4 * (3 + 9), "direct dw, VALID": 9 * (4 + 4 * 4)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The extension with coverage, and the folder of its objects, where its counts are written."""
    folder = tmp_path_factory.mktemp("coverage")
    command = [sys.executable, "setup.py", "-q", "build_ext", "--force"]
    command += ["--build-lib", str(folder / "lib"), "--build-temp", str(folder / "temp")]
    environment = os.environ | {"TEACHCONV_COVERAGE": "1", "TEACHCONV_REQUIRE_CYTHON": "1"}
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    (extension,) = folder.glob("lib/teachconv/_kernels*.so")
    return extension, folder / "temp"


@pytest.fixture(scope="module")
def runs(built):
    """Of each call: what find_source says, and how often each line ran."""
    return {name: run(built, *call) for name, call in CALLS.items()}


def run(built, op, args, algorithm, options):
    extension, objects = built
    for old in objects.rglob("*.gcda"):
        old.unlink()
    call = {"op": op, "args": args, "options": {"algorithm": algorithm}, **options}
    environment = os.environ | {
        "TEACHCONV_ISA": "baseline",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}:{ROOT / 'tools'}",
    }
    command = [sys.executable, str(ROOT / "tests/covered_call.py"), str(extension), json.dumps(call)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), counts_of(objects)


def counts_of(objects):
    """How often each (file, line) ran, in all functions that it was compiled into."""
    counts = defaultdict(int)
    for data in sorted(path for name in ("_kernels", "f32_base") for path in objects.rglob(f"{name}.gcda")):
        command = ["gcov", "--json-format", "--stdout", str(data)]
        text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for file in json.loads(text)["files"]:
            for line in file["lines"]:
                name = file["file"].removeprefix("build/cython-coverage/")  # Cython copies some headers there
                counts[name, line["line_number"]] += line["count"]
    return counts


def marks_of(chain, op, paths):
    return marks.find("cython", [chain["algorithm"]], OPS[op].kind, paths)


@pytest.mark.parametrize("name", CALLS)
def test_the_lines_named_ran(name, runs):
    chain, counts = runs[name]
    op = CALLS[name][0]
    assert chain["algorithm"] == (CALLS[name][2] or chain["algorithm"])
    for line in chain["lines"]:
        assert not line["file"] or counts[line["file"], line["line"]] > 0, line
    for step in chain["steps"]:
        if step["what"] in ("innermost loop", "fallback") or step["file"].endswith("choose.h"):
            assert counts[step["file"], step["line"]] > 0, step
    for mark in marks_of(chain, op, chain["paths"]):
        if mark.mark in ("kernel", *(line["mark"] for line in chain["lines"] if line["file"])):
            assert counts[mark.file, mark.line] > 0, mark


@pytest.mark.parametrize("name", CALLS)
def test_the_ways_that_were_not_taken_did_not_run(name, runs):
    chain, counts = runs[name]
    taken = marks_of(chain, CALLS[name][0], chain["paths"])
    for mark in marks_of(chain, CALLS[name][0], None):
        assert mark in taken or counts[mark.file, mark.line] == 0, mark


def test_every_mark_is_of_some_call(runs):
    """No mark of the compiled kernels is left out by the calls above, so that each was seen to run."""
    seen = {
        (mark.file, mark.line)
        for name, (chain, _) in runs.items()
        for mark in marks_of(chain, CALLS[name][0], chain["paths"])
    }
    every = {
        (m.file, m.line)
        for m in marks.read()
        if m.backend == "cython" and m.mark != "fallback" and {*m.paths} != ELSEWHERE
    }
    assert every == {place for place in seen if place in every}


def test_each_algorithm_has_a_line_that_no_other_runs(runs):
    """But for winograd2, which is the name of winograd for 3x3 at stride 1."""
    alone = defaultdict(set)
    for name, (chain, counts) in runs.items():
        kind = OPS[CALLS[name][0]].kind
        others = {
            place
            for other, (its, ran) in runs.items()
            if its["algorithm"] not in (chain["algorithm"], {"winograd": "winograd2"}.get(chain["algorithm"]))
            and OPS[CALLS[other][0]].kind is kind
            for place, count in ran.items()
            if count
        }
        ran = {(m.file, m.line) for m in marks_of(chain, CALLS[name][0], chain["paths"])}
        if chain["algorithm"] == "winograd2":
            continue
        alone[chain["algorithm"], kind] |= {place for place in ran if counts[place]} - others
    assert not [key for key, places in alone.items() if not places]


@pytest.mark.parametrize("name", EXACT)
def test_the_multiply_adds_are_those_of_the_geometry(name, runs):
    chain, counts = runs[name]
    op, args, _, _ = CALLS[name]
    arrays = [np.zeros(a["shape"], "float32") if isinstance(a, dict) else a for a in args]
    macs = tc.nn_ops.call_of(getattr(tc, op), tuple(arrays), {})[0].geometry.macs
    (line,) = (line for line in chain["lines"] if line["mark"] == "multiply-add")
    assert counts[line["file"], line["line"]] - LABELS.get(name, 0) == macs / EXACT[name]


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("winograd", (49, 100)),
        ("winograd2", (16, 36)),
        ("winograd4", (36, 144)),
        ("winograd4, pieces", (121, 400)),
    ],
)
def test_winograd_multiplies_less(name, share, runs):
    """49 products of a 5x5 for 2x2 outputs and each pair of channels, not 100; of a 3x3 16, not 36."""
    chain, counts = runs[name]
    taps = 25 if name in ("winograd", "winograd4, pieces") else 9
    (line,) = (line for line in chain["lines"] if line["mark"] == "multiply-add")
    assert counts[line["file"], line["line"]] == 8 * 8 * taps * 4 * 4 * share[0] // share[1] // LANES


@pytest.mark.parametrize("name", CALLS)
def test_the_chain_says_how_often_the_line_runs(name, runs):
    chain, _ = runs[name]
    assert all(step["note"] for step in chain["steps"] if step["what"] == "innermost loop")
