"""Eight convolutions with a bug each, and the puzzle to name them."""

from __future__ import annotations

import numpy as np

from ..running import nn_ops
from ..support.argument_types import PaddingWord
from .puzzle import Puzzle

# the answers are the codes of `teachconv.diff`
_CODES = (
    "flipped_filter", "padding_side", "swapped_filter_axes", "shift", "transposed_filter", "dilation",
    "bias", "swapped_strides",
)  # fmt: skip


def buggy(number: int, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute conv2d(x, w, (2, 1), "SAME", dilations=(1, 2), bias=b), with a bug.

    Args:
        number: which of the eight bugs, 0 to 7.
        x: the input, [images, rows, cols, channels].
        w: filters, [rows, cols, channels, out] with as many out as in and as many cols as rows.
        b: the bias, [out].

    Returns:
        The result, which is wrong.

    >>> import numpy as np
    >>> buggy(0, np.ones((1, 4, 4, 1)), np.ones((3, 3, 1, 1)), np.ones(1)).shape
    (1, 2, 4, 1)
    """
    code = _CODES[number]
    filters = {
        "flipped_filter": w[::-1, ::-1],
        "swapped_filter_axes": w.swapaxes(0, 1),
        "transposed_filter": w.swapaxes(2, 3),
    }
    padding: PaddingWord = "SAME_LOWER" if code == "padding_side" else "SAME"
    strides = (1, 2) if code == "swapped_strides" else (2, 1)
    dilations = (1, 1) if code == "dilation" else (1, 2)
    found = np.asarray(nn_ops.conv2d(x, filters.get(code, w), strides, padding, dilations=dilations))
    found = np.roll(found, 1, 1) if code == "shift" else found
    return found if code == "bias" else found + b


# fmt: off
PUZZLES: tuple[Puzzle, ...] = (
    Puzzle(
        "find_the_bug",
        "eight kernels, eight bugs",
        "ex.buggy(number, x, w, b) is a kernel with a bug, for number 0 to 7; its docstring says what it "
        "should compute. Return the code of the bug, as teachconv.diff calls it.",
        lambda number: _CODES[number],
        lambda: [(number,) for number in range(8)],
        (
            ("wrong", "this kernel has another bug: teachconv.diff names it", None),
        ),
        ("Choose x, w and b yourself: an even number of rows, another of cols, and random numbers.",
         "teachconv.diff(op, ..., against=result) compares a result and names the mistake.",
         "Where diff names another code, look at what differs: a picture of the first bad cell shows it."),
        "howto/find_a_bug_in_your_kernel",
        judge=lambda args, got: "" if str(got).partition("(")[0] == _CODES[args[0]] else "wrong",
    ),
)
# fmt: on
