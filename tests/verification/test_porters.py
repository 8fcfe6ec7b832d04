"""Mistakes of people who port a layer are named: nine in ten of them, and none wrongly."""

import pytest
from porters import ROWS, SIZES, Problem, score


@pytest.mark.parametrize(
    "size", [0, *(pytest.param(size, marks=pytest.mark.slow) for size in range(1, len(SIZES)))]
)
def test_mistakes_are_named(size):
    scores = [score(row, size) for row in ROWS]
    assert not [found.row.id for found in scores if found.verdict == "wrong"]
    named = [found.row.id for found in scores if found.verdict == "named"]
    located = [found.row.id for found in scores if found.verdict == "located"]
    assert len(named) >= 0.98 * len(ROWS)
    assert {row.id for row in ROWS} == {*named, *located}


def test_there_are_more_than_a_hundred_each_with_its_own_name():
    assert len({row.id for row in ROWS}) == len(ROWS) > 100
    assert len({row.words for row in ROWS}) > 100


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_the_sizes_are_not_one_size(row):
    results = [row.make(Problem(size))[1] for size in range(len(SIZES))]
    assert len({result.shape for result in results}) > 1
