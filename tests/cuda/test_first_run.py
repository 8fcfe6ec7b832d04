"""tools/first_run.sh, tried on the stand-in for CuPy: its Python steps run, and it skips by name what is missing."""

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture
def first_run(stand_in, monkeypatch):
    monkeypatch.setattr(stand_in.cuda, "set_allocator", lambda allocator: None, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("first_run", ROOT / "tools" / "first_run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_steps_run(first_run, capsys, tmp_path):
    first_run.bring_up(["int32"])
    first_run.cases(["int32"], first_run.SMALL[-1:])
    first_run.sweep(layers=[(1, 5, 32, 32)], rounds=1, algorithms=["winograd2"])
    assert "bytes of Winograd's blocks: 16777216: " in capsys.readouterr().out
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
