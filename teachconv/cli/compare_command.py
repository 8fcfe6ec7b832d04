"""``python -m teachconv compare``: two models layer by layer."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from math import isfinite

from ..networks.comparing.models import Comparison, compare
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
    """Print the comparison; exit status 1 where it fails, or something could not be judged."""
    found = compare(arguments.a, arguments.b, read_npy(arguments.input) if arguments.input else None)
    show(_json(found) if arguments.json else found)
    return 0 if found.passed else 1


def _json(found: Comparison) -> str:
    """The rows with the names of their attributes; an error without a number is null."""
    rows = [asdict(row) | {"passed": row.passed} for row in (*found.layers, found.returned)]
    for row in rows:
        row["bound_fraction"] = row["bound_fraction"] if isfinite(row["bound_fraction"]) else None
    return json.dumps(
        {"passed": found.passed, "frameworks": found.frameworks, "layers": rows[:-1], "returned": rows[-1]},
        indent=1,
    )
