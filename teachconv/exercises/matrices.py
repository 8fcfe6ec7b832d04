"""Puzzles about the convolution as a matrix, and about its transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..running import nn_ops
from .gradients import scattered
from .puzzle import Puzzle, ints


def _patches(x: np.ndarray, k: int, s: int) -> np.ndarray:
    """[out rows, out cols, k, k, channels] of one image."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (0, 1))
    return windows[::s, ::s].transpose(0, 1, 3, 4, 2)


def _im2col(x: np.ndarray, k: int, s: int) -> np.ndarray:
    found = _patches(x, k, s)
    return found.reshape(found.shape[0] * found.shape[1], -1)


def _col2im(patches: np.ndarray, rows: int, cols: int, k: int, s: int, add: bool = True) -> np.ndarray:
    image = np.zeros((rows, cols, patches.shape[1] // (k * k)))
    across = (cols - k) // s + 1
    for number, patch in enumerate(patches):
        r, c = number // across * s, number % across * s
        window = image[r : r + k, c : c + k]
        window[:] = add * window + patch.reshape(k, k, -1)
    return image


def _matrix(w: np.ndarray, n: int, s: int) -> np.ndarray:
    return np.array([nn_ops.conv1d(row[None, :, None], w[:, None, None], s)[0, :, 0] for row in np.eye(n)]).T


def _transposed(x: np.ndarray, w: np.ndarray, s: int) -> tuple[Any, ...]:
    size = (len(x) - 1) * s + len(w)
    return nn_ops.conv1d_transpose, x[None, :, None], w[:, None, None], (1, size, 1), s, "VALID"


def _scatter(x: np.ndarray, w: np.ndarray, s: int, add: bool = True) -> np.ndarray:
    """A transposed convolution is the input gradient of the smallest input that gives len(x) outputs."""
    return scattered(x, w, (len(x) - 1) * s + len(w), s, add)


def _products(d: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The four products of F(2, 3)."""
    whole, turned = (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2
    return np.array(
        [(d[0] - d[2]) * g[0], (d[1] + d[2]) * whole, (d[2] - d[1]) * turned, (d[1] - d[3]) * g[2]]
    )


_IMAGES = ((4, 4, 1, 2, 1), (4, 5, 2, 3, 1), (5, 4, 2, 2, 2), (6, 7, 1, 3, 2))  # rows, cols, channels, k, s
_LINES = ((2, 3, 2), (3, 3, 1), (4, 4, 2), (3, 5, 3), (4, 2, 2))  # inputs, taps, stride

# fmt: off
PUZZLES: tuple[Puzzle, ...] = (
    Puzzle(
        "im2col",
        "patches as rows of a matrix",
        "x is an image [rows, cols, channels]. Return a matrix with a row for each k x k window at stride s "
        "(windows row by row), which holds its numbers in the order filter row, filter col, channel.",
        _im2col,
        lambda: [(ints(r, c, ch), k, s) for r, c, ch, k, s in _IMAGES],
        (
            ("transposed", "one window is one row; yours are columns", lambda x, k, s: _im2col(x, k, s).T),
            ("channels_first", "the channel runs fastest: filter row, filter col, channel",
             lambda x, k, s: _patches(x, k, s).transpose(0, 1, 4, 2, 3).reshape(
                 len(_im2col(x, k, s)), -1)),
            ("columns_first", "the windows go row by row: to the right first, then down",
             lambda x, k, s: _patches(x, k, s).swapaxes(0, 1).reshape(len(_im2col(x, k, s)), -1)),
            ("stride_ignored", "the windows lie s apart", lambda x, k, s: _im2col(x, k, 1)),
            ("flipped", "within a window the first number is the one at its top left",
             lambda x, k, s: _patches(x, k, s)[:, :, ::-1, ::-1].reshape(len(_im2col(x, k, s)), -1)),
            ("window_place", "window (i, j) begins at row i * s, col j * s; yours at row i, col j",
             lambda x, k, s: _patches(x, k, 1)[: (x.shape[0] - k) // s + 1, : (x.shape[1] - k) // s + 1]
             .reshape(len(_im2col(x, k, s)), -1)),
            ("swapped_filter_axes", "within a window the numbers go row by row",
             lambda x, k, s: _patches(x, k, s).swapaxes(2, 3).reshape(len(_im2col(x, k, s)), -1)),
        ),
        ("Loop over the top left corners of the windows.",
         "x[r : r + k, c : c + k] has the shape [k, k, channels].",
         "Its ravel() is already in the right order."),
        "answers/the_three_steps",
    ),
    Puzzle(
        "col2im",
        "patches back into an image",
        "patches is a matrix as im2col returns it. Return the image [rows, cols, channels] in which every "
        "number of every patch was added to the place that it came from.",
        _col2im,
        lambda: [(ints(((r - k) // s + 1) * ((c - k) // s + 1), k * k * ch), r, c, k, s)
                 for r, c, ch, k, s in _IMAGES],
        (
            ("overwritten", "where windows overlap the numbers are added; yours are overwritten",
             lambda patches, rows, cols, k, s: _col2im(patches, rows, cols, k, s, False)),
            ("averaged", "the sum stays a sum: it is not divided by the number of windows",
             lambda patches, rows, cols, k, s: _col2im(patches, rows, cols, k, s) / np.maximum(
                 1, _col2im(np.ones_like(patches), rows, cols, k, s))),
            ("flipped", "the first number of a patch belongs to its top left",
             lambda patches, rows, cols, k, s: _col2im(
                 patches.reshape(len(patches), k, k, -1)[:, ::-1, ::-1].reshape(patches.shape),
                 rows, cols, k, s)),
            ("channels_first", "in a patch the channel runs fastest",
             lambda patches, rows, cols, k, s: _col2im(
                 patches.reshape(len(patches), -1, k, k).transpose(0, 2, 3, 1).reshape(patches.shape),
                 rows, cols, k, s)),
            ("window_place", "window (i, j) belongs to row i * s, col j * s; yours to row i, col j",
             lambda patches, rows, cols, k, s: np.pad(
                 _col2im(patches, (rows - k) // s + k, (cols - k) // s + k, k, 1),
                 [(0, rows - (rows - k) // s - k), (0, cols - (cols - k) // s - k), (0, 0)])),
            ("swapped_filter_axes", "within a patch the numbers go row by row",
             lambda patches, rows, cols, k, s: _col2im(
                 patches.reshape(len(patches), k, k, -1).swapaxes(1, 2).reshape(patches.shape),
                 rows, cols, k, s)),
        ),
        ("It is im2col with the arrow reversed: begin with an image of zeros.",
         "Reshape a patch to [k, k, channels].",
         "image[r : r + k, c : c + k] += patch"),
        "answers/the_three_steps",
    ),
    Puzzle(
        "matrix",
        "the matrix C of a convolution",
        "w has k taps, there are n inputs, and the stride is s. Return the matrix C for which C @ x is the "
        "convolution of x with VALID.",
        _matrix,
        lambda: [(ints(k, seed="w"), n, s) for n, k, s in ((4, 2, 1), (5, 3, 1), (5, 3, 2), (7, 2, 3))],
        (
            ("transposed", "C has a row for each output and a column for each input",
             lambda w, n, s: _matrix(w, n, s).T),
            ("flipped_filter", "in a row the taps are in the order of w",
             lambda w, n, s: _matrix(w[::-1], n, s)),
            ("stride_ignored", "from row to row the taps move by s columns",
             lambda w, n, s: _matrix(w, n, 1)),
            ("wraps", "the filter does not go on at the other end of the row",
             lambda w, n, s: np.array([np.roll(np.append(w, np.zeros(n - len(w))), i) for i in range(n)])),
            ("window_place", "row i begins at column i * s; yours at column i",
             lambda w, n, s: _matrix(w, n, 1)[: (n - len(w)) // s + 1]),
        ),
        ("How many rows and columns does C have?",
         "Row i holds the weights with which output i reads each input; most are 0.",
         "C[i, i * s + j] = w[j]"),
        "answers/the_three_steps",
    ),
    Puzzle(
        "scatter",
        "a transposed convolution by stamping",
        "x is an array of i numbers, w one of k, and the stride is s. Every input stamps w, multiplied by "
        "it, s places after the stamp before; what overlaps is added. Return all (i - 1) * s + k numbers.",
        _scatter,
        lambda: [(ints(n), ints(k, seed="w"), s) for n, k, s in _LINES],
        (
            ("overwritten", "where stamps overlap they are added; yours are overwritten",
             lambda x, w, s: _scatter(x, w, s, False)),
            ("flipped_filter", "the stamp is w as it is, not reversed",
             lambda x, w, s: _scatter(x, w[::-1], s)),
            ("stride_ignored", "the stamps lie s places apart", lambda x, w, s: _scatter(x, w, 1)),
            ("cut", "that is what SAME keeps: here the whole is asked for",
             lambda x, w, s: _scatter(x, w, s)[: len(x) * s]),
            ("window_place", "stamp m begins at output m * s; yours at output m",
             lambda x, w, s: np.append(_scatter(x, w, 1), np.zeros((len(x) - 1) * (s - 1)))),
        ),
        ("Begin with zeros, and loop over the inputs.",
         "Input m touches the outputs m * s to m * s + k - 1.",
         "out[m * s + j] += x[m] * w[j]"),
        "answers/is_it_the_inverse",
        _transposed,
        True,
    ),
    Puzzle(
        "gather",
        "a transposed convolution, output by output",
        "The same numbers as in `scatter`, but one output at a time: return output y alone, as one number.",
        lambda x, w, s, y: _scatter(x, w, s)[y],
        lambda: [
            (ints(n), ints(k, seed="w"), s, y) for n, k, s in _LINES for y in range((n - 1) * s + k)
        ],
        (
            ("not_divisible", "x[m] meets output y only if y - j is a multiple of s",
             lambda x, w, s, y: sum(x[(y - j) // s] * w[j] for j in range(len(w))
                                    if 0 <= (y - j) // s < len(x))),
            ("flipped_filter", "tap j is the one with m * s + j = y, not its mirror image",
             lambda x, w, s, y: _scatter(x, w[::-1], s)[y]),
            ("wraps", "an index below 0 was read: Python takes x[-1] from the other end",
             lambda x, w, s, y: sum(x[(y - j) // s] * w[j] for j in range(len(w))
                                    if (y - j) % s == 0 and (y - j) // s < len(x))),
            ("forward", "that is a convolution: output y reads x[y], x[y + 1], ...",
             lambda x, w, s, y: sum(x[y + j] * w[j] for j in range(len(w)) if y + j < len(x))),
            ("overwritten", "all taps that meet output y are added; yours keep the last one",
             lambda x, w, s, y: ([0.0] + [x[(y - j) // s] * w[j] for j in range(len(w))
                                          if (y - j) % s == 0 and 0 <= (y - j) // s < len(x)])[-1]),
            ("stride_ignored", "the stamps lie s places apart: m * s + j = y",
             lambda x, w, s, y: sum(x[y - j] * w[j] for j in range(len(w)) if 0 <= y - j < len(x))),
        ),
        ("Which inputs m and taps j have m * s + j = y?",
         "Loop over the taps: y - j must be a multiple of s.",
         "And m = (y - j) // s must be an input: 0 <= m < i."),
        "explanation/laws",
    ),
    Puzzle(
        "torch_weight",
        "the filter of a transposed layer in PyTorch",
        "w is the filter of TensorFlow's conv2d_transpose: [filter rows, filter cols, out, in]. Return the "
        "weight of PyTorch's conv_transpose2d: [in, out, rows, cols].",
        lambda w: w.transpose(3, 2, 0, 1),
        lambda: [(ints(2, 3, 1, 2, seed="w"),), (ints(2, 2, 3, 3, seed="w"),), (ints(3, 3, 2, 4, seed="w"),)],
        (
            ("flipped_filter", "the filter is not flipped: only its axes change places",
             lambda w: w[::-1, ::-1].transpose(3, 2, 0, 1)),
            ("transposed_filter", "that is [out, in, rows, cols]; a transposed layer has in first",
             lambda w: w.transpose(2, 3, 0, 1)),
            ("swapped_filter_axes", "rows and cols are exchanged", lambda w: w.transpose(3, 2, 1, 0)),
            ("reshaped", "reshape keeps the order of the numbers: transpose moves the axes",
             lambda w: w.reshape(w.shape[3], w.shape[2], *w.shape[:2])),
        ),
        ("Write the four letters of both layouts below each other.",
         "np.transpose takes, for each new axis, the number of the old one.",
         "in is axis 3 of TensorFlow's filter, out is axis 2."),
        "answers/converting_transposed_filters",
    ),
    Puzzle(
        "winograd",
        "two outputs with four multiplications",
        "Winograd's F(2, 3): d holds 4 inputs, g the 3 taps. Return the four products m with which the "
        "outputs are m[0] + m[1] + m[2] and m[1] - m[2] - m[3]; m[0] has g[0] alone, and m[3] has g[2] "
        "alone.",
        _products,
        lambda: [(ints(4, seed=f"{i}"), ints(3, seed=f"{i}w")) for i in range(6)],
        (
            ("half", "the middle taps are (g0 + g1 + g2) / 2 and (g0 - g1 + g2) / 2",
             lambda d, g: _products(d, g) * (1, 2, 2, 1)),
            ("sign", "the last product is (d1 - d3) * g2: it is subtracted",
             lambda d, g: _products(d, g) * (1, 1, 1, -1)),
            ("third_sign", "the third product is (d2 - d1) times its taps",
             lambda d, g: _products(d, g) * (1, 1, -1, 1)),
            ("outputs", "the four products are asked for, not the two outputs",
             lambda d, g: np.correlate(d, g, "valid")),
            ("direct", "those are products of the direct sum; with them the outputs need six",
             lambda d, g: np.append(d[:3] * g, d[1] * g[0])),
            ("flipped_filter", "the taps are g[0], g[1], g[2] in this order",
             lambda d, g: _products(d, g[::-1])),
        ),
        ("Write out both outputs: d0 g0 + d1 g1 + d2 g2 and d1 g0 + d2 g1 + d3 g2.",
         "m[0] = (d0 - d2) * g0 and m[3] = (d1 - d3) * g2. What do they lack of the first output, and of the "
         "second?",
         "m[1] + m[2] and m[1] - m[2] are known then: half of their sum, and half of their difference."),
        "answers/winograd",
    ),
)
# fmt: on
