"""Thirteen convolutions of other people, wired as examples/wiring.py says: the verdicts, and how long the way in is."""

import ast
import inspect
import os
from pathlib import Path

import pytest
import wiring

import teachconv as tc

HEAVY = (
    "torch",
    "jax",
    "onnxruntime",
    "tensorflow",
    "keras",
    "numba",
    "tinygrad",
    "numpy_ml",
)  # seconds to import or compile
FLUSHING = ("jax", "tensorflow", "keras")  # XLA and TensorFlow take subnormal numbers for 0


@pytest.mark.parametrize("wire", wiring.ALL)
def test_a_wiring_has_ten_lines_at_most(wire):
    [function] = ast.parse(inspect.getsource(wire)).body
    text = inspect.getsource(wire).split("\n")[function.body[0].end_lineno :]  # behind the docstring
    assert len([line for line in text if line.strip()]) <= 10


@pytest.mark.filterwarnings("ignore")  # theirs
@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(wire, marks=[pytest.mark.slow] if wire.__name__ in HEAVY else [], id=wire.__name__)
        for wire in wiring.ALL
    ],
)
def test_the_verdict_is_right(wire, monkeypatch):
    if "DARKNET" not in os.environ:
        monkeypatch.setenv("DARKNET", str(Path(__file__).parents[1] / "recorded" / "darknet"))
    try:
        kernel = wire()
    except (ImportError, wiring.NotHereError) as missing:
        pytest.skip(str(missing))
    report = tc.check_backend(kernel, tags=["hand", "odd", "groups"], kinds="conv2d")
    if any("no usable devices" in row.note for row in report.failed):
        pytest.skip("tinygrad has no compiler")
    assert sum(row.compared for row in report.rows) >= 4
    wrong = [row for row in report.failed if not row.name.endswith("subnormal numbers")]
    assert not wrong, [(row.name, row.note) for row in wrong]
    assert bool(report.failed) == (wire.__name__ in FLUSHING)
