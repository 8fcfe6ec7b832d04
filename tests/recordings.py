"""Reads the recorded results of the real frameworks (tests/recorded)."""

import json
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "recorded"


def load(name):
    """Return (versions, [(case, arrays by name)]); case["error"] is set where the framework refused."""
    with np.load(RECORDED / f"{name}.npz") as file:
        meta = json.loads(file["meta"].item())
        cases = [
            (case, {array: file[f"{case['name']}/{array}"] for array in case["arrays"]})
            for case in meta["cases"]
        ]
    return meta["versions"], cases


def answers_and_refusals(name):
    """Return (versions, answers, refusals), each a list of (case, inputs, outputs)."""
    versions, cases = load(name)
    split = [
        (
            case,
            {key: array for key, array in arrays.items() if not key.startswith("output")},
            {key: array for key, array in arrays.items() if key.startswith("output")},
        )
        for case, arrays in cases
    ]
    return (
        versions,
        [entry for entry in split if entry[0]["error"] is None],
        [entry for entry in split if entry[0]["error"] is not None],
    )
