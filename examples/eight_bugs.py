"""Eight convolutions with a planted bug each, for notebook 11, whose readers are not to look here first."""

import numpy as np

import teachconv as tc

__all__ = ["wrong_results"]


def wrong_results(x: np.ndarray, w: np.ndarray, bias: np.ndarray) -> list[np.ndarray]:
    """Return eight wrong results of ``tc.conv2d(x, w, 2, "SAME", bias=bias)``.

    Args:
        x: the input, [images, rows, cols, 4], with as many rows as cols, and even.
        w: filters, [3, 3, 4, 4].
        bias: the bias, [4].

    >>> x, w, bias = np.ones((1, 4, 4, 4)), np.ones((3, 3, 4, 4)), np.ones(4)
    >>> {bug.shape for bug in wrong_results(x, w, bias)}
    {(1, 2, 2, 4)}
    """
    right = tc.conv2d(x, w, 2, "SAME", bias=bias)
    one_more = np.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)], mode="edge")
    return [
        tc.conv2d(x, w[::-1, ::-1], 2, "SAME", bias=bias),
        tc.conv2d(x, w, 2, padding=1, bias=bias),
        tc.conv2d(x, w, 2, "SAME"),
        tc.conv2d(x[..., [2, 1, 0, 3]], w, 2, "SAME", bias=bias),
        tc.conv2d(x, w.transpose(1, 0, 2, 3), 2, "SAME", bias=bias),
        np.maximum(right, 0),
        tc.conv2d(x, w.transpose(0, 1, 3, 2), 2, "SAME", bias=bias),
        tc.conv2d(one_more, w, 2, "VALID", bias=bias),
    ]
