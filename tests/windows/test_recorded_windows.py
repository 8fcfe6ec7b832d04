"""Recorded answers of the real frameworks to seeded calls of pools, padding, batch normalisation and resizes: equal,
but for a rounding."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from peers import window_sweeps as sweeps

import teachconv as tc
from teachconv.truth.bounds import direct, judge
from teachconv.verification.window_mistakes import limits

with np.load(Path(__file__).parents[1] / "recorded" / "windows.npz") as file:
    META, OUTPUTS = json.loads(file["meta"].item()), file["outputs"]


def cases():
    """Yield (case, the arrays that the framework gave)."""
    first = 0
    for case in META["cases"]:
        found = []
        for shape, dtype in case.get("outputs", []):
            last = first + int(np.prod(shape))
            found.append(OUTPUTS[first:last].reshape(shape).astype(dtype))
            first = last
        yield case, found
    assert first == len(OUTPUTS)


CASES = list(cases())
FUNCTIONS = [(framework, name) for framework, names in sweeps.FUNCTIONS.items() for name in names]


def agree(framework, function, x, arguments, ours, theirs):
    """Whether two lists of arrays are equal; sums and means within the bound of their terms."""
    if len(ours) != len(theirs) or any(a.shape != b.shape for a, b in zip(ours, theirs, strict=True)):
        return False
    if function.startswith(("batch", *sweeps.RESIZES)):
        place = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
        given = sweeps.as_arrays(arguments, x.dtype) if function.startswith("batch") else arguments
        call = tc.resolve(getattr(place, function), x, **given)
        allowed = limits(call, x)
        return all(judge(b, a, bound).passed for a, b, bound in zip(ours, theirs, allowed, strict=False))
    if all(map(np.array_equal, ours, theirs)) or len(ours) > 1 or theirs[0].dtype != np.float32:
        return all(map(np.array_equal, ours, theirs))
    (sizes,) = sweeps.ours(framework, function, np.abs(x), arguments, None)  # gradients: at least as large
    # a window has at most 64 cells; a share, or a mean, is rounded once more
    return judge(theirs[0], ours[0], direct(sizes.astype(float), 66, "float32")).passed


def test_the_page_says_how_many_calls_are_recorded():
    page = Path(tc.__file__).parents[1] / "docs" / "explanation" / "windows.md"
    words = " ".join(page.read_text(encoding="utf-8").split())
    assert f"in {len(CASES) // 100 * 100:,} recorded calls" in words


@pytest.mark.parametrize(("framework", "function"), FUNCTIONS)
def test_recorded(framework, function):
    seen = Counter()
    for case, theirs in CASES:
        if (case["framework"], case["function"]) != (framework, function):
            continue
        shape, arguments, seed = case["shape"], case["arguments"], case["seed"]
        x = sweeps.data(shape, case["dtype"], function, seed)
        try:
            ours = sweeps.ours(framework, function, x, arguments, seed)
        except (tc.ArgumentError, tc.ArgumentTypeError) as error:
            ours = error
        if isinstance(ours, Exception) and case["error"]:
            seen["refused"] += 1
        elif (
            not isinstance(ours, Exception)
            and not case["error"]
            and agree(framework, function, x, arguments, ours, theirs)
        ):
            seen["equal" if all(map(np.array_equal, ours, theirs)) else "rounded"] += 1
        else:
            assert sweeps.known(framework, function, shape, arguments, ours, case["error"] or theirs), case
            seen["known"] += 1
    assert seen["equal"] >= (30 if function.startswith(("batch", *sweeps.RESIZES)) else 230), seen
    assert seen["equal"] + seen["rounded"] + (0 if framework != "onnx" else seen["known"]) >= 290, seen


def test_there_are_thousands():
    answered = [case for case, _ in CASES if not case["error"]]
    assert len(answered) >= 7000
    assert Counter((case["framework"], case["function"]) for case in answered).most_common()[-1][1] >= 300
