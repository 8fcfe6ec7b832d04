"""Mistakes of hand-written loops and of converters are named, right arrays pass, and others get no name."""

import re

import by_hand
import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array

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


# ---------------------------------------------------------------------------------------------
# What is said where there is no name
# ---------------------------------------------------------------------------------------------

X, W = make_array((3, 9, 8, 4), "float32", "normal", "x"), make_array((3, 3, 4, 16), "float32", "normal", "w")
Y = tc.conv2d(X, W, 1, "SAME")
NOISE = make_array(Y.shape, "float32", "normal", "noise")


def moved(y):
    return np.concatenate([NOISE[..., :8], y[..., :8]], 3)


@pytest.mark.parametrize(
    ("words", "got"),
    [
        ("it is wrong in every second row", np.where(np.arange(9)[:, None, None] % 2, Y + NOISE, Y)),
        ("it is wrong in every 4th channel", np.where(np.arange(16) % 4 == 3, Y + NOISE, Y)),
        ("the error is the same for all images", Y + NOISE[:1]),
        ("it equals the right result moved by 8 channels", moved(Y)),
    ],
    ids=["rows", "channels", "images", "blocks"],
)
def test_what_the_wrong_cells_have_in_common_is_said(words, got):
    row = tc.diff(tc.conv2d, X, W, 1, "SAME", backends=[], against=got).rows[0]
    assert row.diagnosis is None
    assert words in row.note


def test_one_number_everywhere_has_no_pattern():
    """Zeros are those that were moved by any number of channels, too, where small numbers count as zeros."""
    x = X * np.float32(1e-40)
    row = tc.diff(tc.conv2d, x, W, 1, "SAME", backends=[], against=np.zeros_like(Y)).rows[0]
    assert row.passed is False
    assert not re.search("the error is the same|moved by", row.note)


def test_one_cell_cannot_tell():
    x, w = X[:1, :3, :3], W[..., :1]
    row = tc.diff(tc.conv2d, x, w, backends=[], against=tc.conv2d(x, w[::-1, ::-1])).rows[0]
    assert row.diagnosis is None
    assert "flipped_filter fits (" in row.note
    assert "but one cell cannot tell" in row.note


def test_the_nearest_explains_nearly_all_in_more_than_a_few_cells():
    flipped = tc.conv2d(X, W[::-1], 1, "SAME")
    for size, is_near in ((0.1, True), (1.5, False)):
        row = tc.diff(
            tc.conv2d, X, W, 1, "SAME", backends=[], against=flipped + np.float32(size) * NOISE
        ).rows[0]
        assert ("nearest: flipped_filter" in row.note) is is_near, row.note
    few = np.where(np.arange(Y.size).reshape(Y.shape) < 20, flipped + 0.1 * NOISE, Y).astype("float32")
    assert "nearest" not in tc.diff(tc.conv2d, X, W, 1, "SAME", backends=[], against=few).rows[0].note


def test_a_pool_has_the_same_rules():
    x = make_array((2, 3, 2, 2), "float32", "normal", "pool") - np.float32(1)
    # every window reaches the padding
    right = tc.dialects.torch.max_pool2d(x, 3, 1, 1)
    row = tc.diff(tc.dialects.torch.max_pool2d, x, 3, 1, 1, against=np.maximum(right, 0)).rows[0]
    assert row.diagnosis.code == "padded_with_zeros"
    assert row.note == "start fits as well: if every maximum begins with 0"
    one = x[:1, :1]
    row = tc.diff(tc.dialects.torch.max_pool2d, one, 2, against=one.mean((2, 3), keepdims=True)).rows[0]
    assert row.diagnosis is None
    assert row.note.startswith("average_for_max fits (if it is the mean, not the maximum), but one cell")
