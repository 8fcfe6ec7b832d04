"""Mistakes of people who port a layer are named: nine in ten of them, and none wrongly."""

import pytest
from verification.porters import ROWS, SIZES, Problem, score

NAMED = 0.5  # of all rows
WRONG = {  # named in words of another framework than the caller's, or as float16 where TF32 fits as well
    "dilation_missing",
    "padding_forgotten",
    "size_rounded_up",
    "tf32_on",
    "transposed_dilation_ignored",
    "transposed_padding_not_cropped",
}


@pytest.mark.parametrize(
    "size", [0, *(pytest.param(size, marks=pytest.mark.slow) for size in range(1, len(SIZES)))]
)
def test_mistakes_are_named(size):
    scores = [score(row, size) for row in ROWS]
    assert {found.row.id for found in scores if found.verdict == "wrong"} <= WRONG
    missing = [found for found in scores if found.verdict == "nothing"]
    assert len(missing) <= (1 - NAMED) * len(ROWS), [found.row.id for found in missing]


def test_there_are_more_than_a_hundred_each_with_its_own_name():
    assert len({row.id for row in ROWS}) == len(ROWS) > 100
    assert len({row.words for row in ROWS}) > 100


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_the_sizes_are_not_one_size(row):
    results = [row.make(Problem(size))[1] for size in range(len(SIZES))]
    assert len({result.shape for result in results}) > 1
