"""``python -m teachconv compare``: two models layer by layer."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from math import isfinite
from typing import Any

from ..networks.comparing.models import Comparison, compare
from ..networks.comparing.ranking import QuantizedComparison
from ..support.files import read_npy
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two models and the input."""
    parser.add_argument("a", help="the model that is right: an .onnx or .tflite file, or a recording (.npz)")
    parser.add_argument("b", help="its port, likewise")
    parser.add_argument(
        "--input", metavar="FILE", help="an .npy file, the input of a; a recording has its own"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON, for other programs")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison; exit status 1 where it fails, or something could not be judged.

    A float model beside its quantized copy is not judged, but ranked: its exit status is 0.
    """
    comparison = compare(arguments.a, arguments.b, read_npy(arguments.input) if arguments.input else None)
    show(_json(comparison) if arguments.json else comparison)
    return 0 if comparison.passed or isinstance(comparison, QuantizedComparison) else 1


def _json(found: Comparison | QuantizedComparison) -> str:
    """The rows with the names of their attributes; a number that is not finite is null."""
    facts: dict[str, Any] = {"passed": found.passed, "frameworks": found.frameworks}
    if isinstance(found, QuantizedComparison):
        facts |= {**_finite(found), "layers": [_finite(row) for row in found.layers]}
    else:
        rows = [_finite(row) | {"passed": row.passed} for row in (*found.layers, found.returned)]
        facts |= {"layers": rows[:-1], "returned": rows[-1]}
    return json.dumps(facts, indent=1)


def _finite(row: Any) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in asdict(row).items()
    }
