"""Infinities and NaN in either operand or in the result: whatever the search fits, diff reports, and never raises."""

from itertools import islice, product

import numpy as np
import pytest
from helpers import mostly_slow

import teachconv as tc
from teachconv.core.kinds import OPS
from teachconv.verification.cases import Case

SEEDS = range(2)
DTYPES = ("float32", "float64", "float16")
VALUES = (np.inf, -np.inf, np.nan)


def _case(name, rank):
    """A small call, in which every axis has padding where the op pads."""
    transposed, depthwise = "transpose" in name, name.startswith("depthwise")
    channels = (3, 2) if transposed else (2, 2) if depthwise else (2, 3)
    padding = "VALID" if transposed else ((1, 1), (2, 0), (1, 2))[-rank:]
    shapes = (2, *(4, 5, 3)[:rank], 2), (*(3, 2, 2)[:rank], *channels)
    return Case(name, name, *shapes, 1, padding, data_format=f"N{'DHW'[-rank:]}C", bias=True)


CASES = [
    *(_case(f"conv{rank}d{ending}", rank) for rank, ending in product((1, 2, 3), ("", "_transpose"))),
    *(_case(name, 1) for name in ("convolution", "conv_transpose")),
    _case("depthwise_conv2d", 2),
]
DATA = ("normal", "tiny")
PROBLEMS = {
    (dtype, data): [problem for case in CASES for problem in case.problems(dtype, data)]
    for dtype, data in product(DTYPES, DATA)
}
NAMES = [problem.name for problem in PROBLEMS["float32", "normal"]]


def planted(random, array):
    """A copy of which up to three cells are not finite."""
    array = np.array(array)
    cells = random.choice(array.size, min(3, array.size), replace=False)
    array.flat[cells] = random.choice(VALUES, len(cells))
    return array


def arguments(random, problem, chosen):
    """The arguments of a problem, of which these arrays (the first, the second, or both) are planted."""
    args = list(problem.args)
    arrays = [i for i, each in enumerate(args) if isinstance(each, np.ndarray) and each.dtype.kind == "f"]
    for index in (arrays[number] for number in chosen):
        args[index] = planted(random, args[index])
    return args


def test_every_op_is_among_the_problems():
    assert {problem.op.__name__ for problem in PROBLEMS["float32", "normal"]} == {*OPS}


@pytest.mark.parametrize("dtype", mostly_slow(DTYPES, "float32"))
@pytest.mark.parametrize("seed", mostly_slow(SEEDS, 0))
@pytest.mark.parametrize("which", range(len(NAMES)), ids=NAMES)
def test_numbers_that_are_not_finite_never_raise(which, seed, dtype):
    random, problem = np.random.default_rng([which, seed]), PROBLEMS[dtype, DATA[seed % 2]][which]
    right = np.asarray(problem.op(*problem.args, **problem.kwargs))
    ways = {
        "finite": lambda y: np.where(np.isfinite(y), y, y.dtype.type(65504)),
        "shifted": lambda y: np.roll(y, 1, 1),
        "without them": lambda y: right,
        "huge": lambda y: np.where(np.isfinite(y), np.finfo(y.dtype).max, y),
        "planted": lambda y: planted(random, y),
    }
    turns = islice(
        product(((0,), (1,), (0, 1), ()), ways), (5 * which + 7 * seed) % 20, None, 20 if seed == 0 else 10
    )
    for chosen, way in turns:
        args = arguments(random, problem, chosen)
        y = np.asarray(problem.op(*args, **problem.kwargs))
        got = ways[way](y)
        row = tc.diff(problem.op, *args, backends=[], against=got, **problem.kwargs).rows[0]
        assert row.passed or row.where or row.note
