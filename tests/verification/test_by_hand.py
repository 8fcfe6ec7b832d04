"""Mistakes of hand-written loops and of converters are named, right arrays pass, and others get no name."""

import by_hand
import pytest

LOCATED = ("output_padding_by_zeros_behind_the_result",)  # zeros have many causes: where they are is said


@pytest.mark.parametrize("size", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", by_hand.ROWS, ids=[row.id for row in by_hand.ROWS])
def test_a_mistake_is_named(row, size):
    verdict, text = by_hand.score(row, size)
    assert verdict == ("silent" if row.id in LOCATED else "named"), text


@pytest.mark.parametrize("size", range(len(by_hand.SIZES)))
@pytest.mark.parametrize("row", by_hand.INNOCENT, ids=[row.id for row in by_hand.INNOCENT])
def test_a_right_array_passes(row, size):
    assert by_hand.score(row, size)[0] == "passed"


@pytest.mark.parametrize("size", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", by_hand.UNKNOWN, ids=[row.id for row in by_hand.UNKNOWN])
def test_what_has_no_name_gets_none(row, size):
    assert by_hand.score(row, size)[0] == "silent"


def test_there_are_more_than_eighty_each_with_its_own_name():
    assert len({row.id for row in by_hand.ROWS}) == len(by_hand.ROWS) > 80
