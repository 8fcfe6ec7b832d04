"""tools/first_run.sh, tried on the stand-in for CuPy: its Python steps run, and it skips by name what is missing."""

import csv
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cuda_variants import VARIANTS

from teachconv.backends.cuda import compiling, ladder
from teachconv.core.kinds import FORWARD

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture
def first_run(stand_in, monkeypatch):
    monkeypatch.setattr(stand_in.cuda, "set_allocator", lambda allocator: None, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "peers", raising=False)  # tests/peers, where it was imported before
    spec = importlib.util.spec_from_file_location("first_run", ROOT / "tools" / "first_run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_steps_run(first_run, capsys, monkeypatch, tmp_path):
    first_run.bring_up(["int32"])
    first_run.cases(["int32"], first_run.SMALL[-1:])
    laid_out, schedule = [], ladder.schedule
    monkeypatch.setattr(ladder, "schedule", lambda *call: laid_out.append(schedule(*call)) or laid_out[-1])
    ladder.schedule.cache_clear = schedule.cache_clear
    sizes = {
        name: first_run.SIZES[name]
        for name in ("bytes of Winograd's blocks", "columns for which tiles have 64")
    }
    first_run.sweep(layers=[(1, 5, 32, 32)], rounds=1, sizes=sizes, ballast=1 << 20)
    assert "bytes of Winograd's blocks: 16777216: " in capsys.readouterr().out
    tiles = [step.steps[0].kernel.defines[2] for step in laid_out if "pipelined" in step.algorithm]
    assert (
        tiles == ["TILE_COLS=128", "TILE_COLS=64", "TILE_COLS=64"] * 2
    )  # a kept call would run the first thrice
    first_run.large(rows=9, cols=8)
    line = {"op": "forward", "layer": "quick 3x3 8-16@14", "batch": 1, "dtype": "float32", "status": "ok"}
    with open(tmp_path / "results.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*line, "competitor", "gflops_median"])
        writer.writeheader()
        writer.writerow(line | {"competitor": "teachconv", "gflops_median": 1.0})
        writer.writerow(line | {"competitor": "cudnn_channels_last", "gflops_median": 4.0})
    capsys.readouterr()
    first_run.worst(tmp_path / "results.csv")
    assert "0.25 of cuDNN: pipelined_gemm_float32" in capsys.readouterr().out


def test_what_is_warm_is_what_the_benchmark_and_the_tests_launch(first_run, stand_in, capsys):
    wanted = first_run.kernels(90)
    assert len(wanted) == len({*wanted}) > 150
    assert {kernel.file for kernel in wanted} == {*VARIANTS}
    direct = [kernel for kernel in wanted if kernel.file == "direct.cu" and kernel.dtype == "int64"]
    first_run.warm(direct, ThreadPoolExecutor(1))
    assert "3 kernels in " in capsys.readouterr().out
    assert stand_in.cuda.nvrtc.compiled == ["direct.cu"] * 3
    compiling.compiled(direct[0], 90)
    assert len(stand_in.cuda.nvrtc.compiled) == 3


def test_a_result_that_is_not_the_exact_sum_is_said(first_run, capsys, monkeypatch):
    first_run.exact("direct,im2col", "float16", first_run.TILES[:1])
    assert capsys.readouterr().out == "0 of 6 results differ from the exact sum\n"
    first_run.exact("", "float32", first_run.TILES[:1])
    (count,) = re.findall(r"^0 of (\d+) results differ", capsys.readouterr().out)
    assert int(count) >= 20  # 8 rungs or more, of which two compute the forward kind alone
    exact = first_run.float64_result
    monkeypatch.setattr(first_run, "float64_result", lambda call: exact(call) + (call.kind == FORWARD))
    with pytest.raises(AssertionError):
        first_run.exact("direct", "float32", first_run.TILES[:1])
    assert "direct float32 conv2d: eights: 960 of 960 cells differ\n1 of 3" in capsys.readouterr().out


def test_tiles_of_256_rows_are_tried_where_they_are_not_chosen(first_run, capsys, monkeypatch):
    monkeypatch.setattr(first_run.gemm, "MULTIPROCESSORS", 1)
    case = first_run.Case("256 rows", "conv2d", (1, 7, 6, 72), (1, 1, 72, 72))
    layers, pool = [(1, 4, 72, 72)], ThreadPoolExecutor(1)
    first_run.tall("float16,float32", [case], layers, pool, 1 << 20)
    kernels, verdict, *times = capsys.readouterr().out.splitlines()
    assert kernels.startswith("6 kernels in ")
    assert verdict == "0 of 6 results differ from the exact sum"
    assert [re.sub(r"\d+ µs", "", line) for line in times] == [
        f"1x4x4x72 {name}, cards with tiles of 128 rows: (90,): , (): "
        for name in ("pipelined_gemm", "pipelined_gemm_tf32")
    ]
    assert first_run.gemm._SHORT_ON == (90,)


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_what_is_missing_is_skipped_by_name(tmp_path):
    """An interpreter without CuPy: every step says what it lacks, and none fails."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    environment = os.environ | {"PYTHON": str(python), "OUT": str(tmp_path / "out")}
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "first_run.sh")],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cupy: not found" in done.stdout
    steps = [
        "bring_up",
        "tests",
        "memcheck",
        "racecheck",
        "synccheck",
        "race_forward",
        "profile",
        "sweep",
        "large",
    ]
    assert all(f"{step}: skipped, " in done.stdout for step in steps)


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
def test_a_failing_step_is_said(tmp_path):
    """An interpreter that imports everything and fails everything else."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] || exit 3\n')
    python.chmod(0o755)
    environment = os.environ | {"PYTHON": str(python), "OUT": str(tmp_path / "out")}
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "first_run.sh"), "bring_up", "large"],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert "bring_up: FAILED with status 3" in done.stdout
    assert "large: FAILED" in done.stdout
    assert "sweep" not in done.stdout


@pytest.mark.skipif(not shutil.which("sh"), reason="needs a shell")
@pytest.mark.parametrize(
    ("half", "steps"),
    [
        ("first", "warm exact tests race"),
        ("second", "warm sweep forward"),
        ("untried", "exact nans tall race"),
    ],
)
def test_the_two_halves_of_a_lease(tmp_path, half, steps):
    """An interpreter that says what it is asked: each step runs with its own limit, the last line is shown."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "asked $PYTHONPATH $*"\n')
    python.chmod(0o755)
    environment = os.environ | {"PYTHON": str(python), "OUT": str(tmp_path / "out"), "PYTHONPATH": "/more"}
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "first_run.sh"), half],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    for step in steps.split():
        assert re.search(rf"^{step}: passed after \d+ s: asked {ROOT}:/more ", done.stdout, re.MULTILINE)
    assert "large" not in done.stdout
