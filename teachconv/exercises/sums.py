"""Puzzles about the sum itself: convolutions in loops, of one axis and of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..running import nn_ops
from .puzzle import Puzzle, ints

_PAIRS = ((5, 3), (6, 2), (8, 4), (4, 4))  # inputs and taps


def _line(x: np.ndarray, w: np.ndarray, *more: Any) -> tuple[Any, ...]:
    """The call of one channel along one axis."""
    return nn_ops.conv1d, x[None, :, None], w[:, None, None], *more


def _run(call: tuple[Any, ...]) -> np.ndarray:
    op, *args = call
    return np.asarray(op(*args))


def _wrong_depthwise(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The channels of the result as [m, c] instead of [c, m]."""
    found = nn_ops.depthwise_conv2d(x, w, (1, 1, 1, 1), "VALID")
    return found.reshape(*found.shape[:3], *w.shape[2:]).swapaxes(3, 4).reshape(found.shape)


def _causal(x: np.ndarray, w: np.ndarray, d: int, before: int) -> np.ndarray:
    total = (len(w) - 1) * d
    return _run(_line(x, w, 1, ((before, total - before),), "NWC", d))[0, :, 0]


def _windows(x: np.ndarray, k: int, s: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(x, k)[::s]


def _means(x: np.ndarray, k: int, s: int, padding: int, whole: bool = False) -> np.ndarray:
    """Sums of windows, divided by their cells inside; with ``whole`` by k."""
    counts = _windows(np.pad(np.ones_like(x), padding), k, s).sum(1)
    return _windows(np.pad(x, padding), k, s).sum(1) / (k if whole else counts)


# fmt: off
PUZZLES: tuple[Puzzle, ...] = (
    Puzzle(
        "correlate",
        "a convolution along one axis",
        "x is an array of n numbers and w one of k. Return the n - k + 1 sums x[i] * w[0] + x[i + 1] * "
        "w[1] + ..., as conv1d computes them with VALID.",
        lambda x, w: _run(_line(x, w, 1, "VALID"))[0, :, 0],
        lambda: [(ints(n), ints(k, seed="w")) for n, k in _PAIRS],
        (
            ("flipped_filter", "your filter is reversed: that is a mathematical convolution. The "
             "layers of networks do not reverse it", lambda x, w: np.convolve(x, w, "valid")),
            ("one_missing", "one output is missing: the last window ends with the last input",
             lambda x, w: np.correlate(x, w, "valid")[:-1]),
            ("wraps", "an index below 0 or behind the end was read: Python takes x[-1] from the other end",
             lambda x, w: np.array([sum(x[(i + j) % len(x)] * w[j] for j in range(len(w)))
                                    for i in range(len(x))])),
            ("unchanged", "these are the inputs: the filter has no effect yet",
             lambda x, w: x[:len(x) - len(w) + 1]),
            ("full", "with VALID, windows that hang over the edge are left out",
             lambda x, w: np.correlate(x, w, "full")),
            ("same", "that is SAME: with VALID, windows that hang over the edge are left out",
             lambda x, w: np.correlate(x, w, "same")),
            ("full_flipped", "np.convolve turns the filter round, and keeps windows that hang over the edge",
             lambda x, w: np.convolve(x, w)),
        ),
        ("Two loops: one over the outputs, one over the taps.",
         "Output i reads the inputs i to i + k - 1.",
         "out[i] += x[i + j] * w[j]"),
        "answers/correlation_or_convolution",
        lambda x, w: _line(x, w, 1, "VALID"),
        True,
    ),
    Puzzle(
        "causal",
        "an output that does not see the future",
        "x is an array of n numbers, w one of k, and d is the dilation. Return n sums; output i may read "
        "input i and those before it, d apart, as conv1d does with CAUSAL. The last tap meets input i.",
        lambda x, w, d: _causal(x, w, d, (len(w) - 1) * d),
        lambda: [(ints(n), ints(k, seed="w"), d) for n, k in _PAIRS for d in (1, 2, 3)],
        (
            ("unchanged", "these are the inputs: the filter has no effect yet", lambda x, w, d: x),
            ("same", "that is SAME: half of the window is in the future. All of the padding goes before",
             lambda x, w, d: _causal(x, w, d, (len(w) - 1) * d // 2)),
            ("dilation_ignored", "the padding is (k - 1) * d and the taps lie d apart",
             lambda x, w, d: _causal(x, w, 1, len(w) - 1)),
            ("looks_ahead", "the zeros are after the input: output i reads only the future",
             lambda x, w, d: _causal(x, w, d, 0)),
            ("flipped_filter", "the last tap meets the newest input, and the first tap the oldest",
             lambda x, w, d: _causal(x, w[::-1], d, (len(w) - 1) * d)),
            ("wraps", "an index below 0 was read: Python takes x[-1] from the other end",
             lambda x, w, d: np.array([sum(x[i - (len(w) - 1 - j) * d] * w[j] for j in range(len(w)))
                                       for i in range(len(x))])),
            ("one_late", "output i reads input i too", lambda x, w, d: np.concatenate(
                [[0.0], _causal(x, w, d, (len(w) - 1) * d)[:-1]])),
        ),
        ("Put zeros before x, so that every output has a whole window.",
         "How far before input i lies the oldest input that it needs?",
         "out[i] += x[i - (k - 1 - j) * d] * w[j], and 0 where that index is below 0."),
        "answers/causal_at_stride_2",
        lambda x, w, d: _line(x, w, 1, "CAUSAL", "NWC", d),
        True,
    ),
    Puzzle(
        "dilated",
        "holes in the filter",
        "x is an array of n numbers, w one of k, and d is the dilation: the taps lie d inputs apart. "
        "Return the sums of all windows that lie inside, as conv1d does with VALID.",
        lambda x, w, d: _run(_line(x, w, 1, "VALID", "NWC", d))[0, :, 0],
        lambda: [(ints(n), ints(k, seed="w"), d) for n, k, d in
                 ((5, 2, 2), (7, 3, 2), (8, 3, 3), (9, 2, 4), (6, 3, 1))],
        (
            ("dilation_ignored", "the taps lie next to each other: tap j meets x[i + j * d]",
             lambda x, w, d: np.correlate(x, w, "valid")),
            ("strided", "that is a stride: the windows move by d, and the taps lie next to each other",
             lambda x, w, d: np.correlate(x, w, "valid")[::d]),
            ("too_many", "the window covers (k - 1) * d + 1 inputs: fewer of them fit than with d = 1",
             lambda x, w, d: np.correlate(np.append(x, np.zeros((len(w) - 1) * (d - 1))),
                                          np.kron(w, np.eye(d)[0])[: (len(w) - 1) * d + 1], "valid")),
            ("too_few", "the window covers (k - 1) * d + 1 inputs, not k * d: your last outputs are missing",
             lambda x, w, d: _run(_line(x, w, 1, "VALID", "NWC", d))[0, : len(x) - len(w) * d + 1, 0]),
            ("flipped_filter", "your filter is reversed",
             lambda x, w, d: _run(_line(x, w[::-1], 1, "VALID", "NWC", d))[0, :, 0]),
        ),
        ("It is `correlate` with d - 1 zeros between the taps.",
         "You need no zeros: tap j of output i meets x[i + j * d].",
         "There are n - (k - 1) * d outputs."),
        "answers/dilated_grouped_depthwise",
        lambda x, w, d: _line(x, w, 1, "VALID", "NWC", d),
        True,
    ),
    Puzzle(
        "conv2d",
        "the layer itself, in loops",
        "x is [images, rows, cols, in], w is [filter rows, filter cols, in, out]. Return [images, out rows, "
        "out cols, out] with this stride and `padding` zeros on every side.",
        lambda x, w, stride, padding: _run((nn_ops.conv2d, x, w, stride, padding)),
        lambda: [
            (ints(*shape), ints(*filters, seed="w"), s, p)
            for shape, filters, s, p in (
                ((1, 4, 4, 1), (2, 2, 1, 1), 1, 0), ((1, 5, 4, 1), (3, 3, 1, 1), 1, 1),
                ((1, 6, 7, 2), (3, 2, 2, 3), 2, 0), ((2, 5, 7, 3), (3, 3, 3, 2), 2, 1),
                ((1, 7, 6, 2), (2, 3, 2, 2), 3, 2))
        ],
        (
            ("one_channel", "every output sums over all input channels",
             lambda x, w, stride, padding: _run(
                 (nn_ops.conv2d, x[..., :1], w[:, :, :1], stride, padding))),
            ("padding_ignored", "there are `padding` zeros on every side, so the result is larger",
             lambda x, w, stride, padding: _run((nn_ops.conv2d, x, w, stride, 0))),
            ("one_side", "there are zeros on every side; yours are above and on the left only",
             lambda x, w, stride, padding: _run(
                 (nn_ops.conv2d, x, w, stride, ((padding, 0), (padding, 0))))),
            ("window_place", "window (i, j) begins at row i * stride, col j * stride; yours at row i, col j",
             lambda x, w, stride, padding: _run((nn_ops.conv2d, x, w, 1, padding))[
                 :, :(x.shape[1] + 2 * padding - w.shape[0]) // stride + 1,
                 :(x.shape[2] + 2 * padding - w.shape[1]) // stride + 1]),
            ("stride_ignored", "the windows are `stride` rows and cols apart",
             lambda x, w, stride, padding: _run((nn_ops.conv2d, x, w, 1, padding))),
            ("padding_after_stride", "the zeros surround the input, and the windows cover them too",
             lambda x, w, stride, padding: np.pad(
                 _run((nn_ops.conv2d, x, w, stride, 0)), [(0, 0), (padding,) * 2, (padding,) * 2, (0, 0)])),
            ("channels_first", "the result is [images, rows, cols, out]: the channels come last",
             lambda x, w, stride, padding: np.moveaxis(
                 _run((nn_ops.conv2d, x, w, stride, padding)), 3, 1)),
            ("transposed_filter", "w is [rows, cols, in, out]: in and out channels are exchanged",
             lambda x, w, stride, padding: _run((
                 nn_ops.conv2d, x, w.reshape(*w.shape[:2], w.shape[3], w.shape[2]).swapaxes(2, 3),
                 stride, padding))),
        ),
        ("Seven loops: images, out rows, out cols, out, filter rows, filter cols, in.",
         "Output row r and filter row a meet input row r * stride - padding + a.",
         "Leave out the terms whose row or col is outside of x: the padding is zeros."),
        "explanation/laws",
        lambda x, w, stride, padding: (nn_ops.conv2d, x, w, stride, padding),
        True,
    ),
    Puzzle(
        "mean_pool",
        "a mean at the border",
        "x is an array of n numbers. Return the means of windows of k at stride s, with `padding` cells on "
        "each side, as TensorFlow divides: by the number of cells that are inside.",
        lambda x, k, s, padding: _means(x, k, s, padding),
        lambda: [(ints(n) + 5, k, s, p) for n, k, s, p in
                 ((4, 2, 2, 0), (4, 3, 1, 1), (5, 3, 2, 1), (6, 2, 2, 1), (7, 4, 3, 2))],
        (
            ("padding_counted", "the padding has no numbers: divide by the cells that are inside. PyTorch "
             "counts it, unless count_include_pad is False",
             lambda x, k, s, padding: _means(x, k, s, padding, True)),
            ("padding_ignored", "windows begin in the padding: the first one reads k - padding cells",
             lambda x, k, s, padding: _means(x, k, s, 0)),
            ("sum", "that is the sum of each window: divide it",
             lambda x, k, s, padding: _means(x, k, s, padding, True) * k),
            ("largest", "that is the largest number of each window, not its mean",
             lambda x, k, s, padding: _windows(np.pad(x, padding, constant_values=-np.inf), k, s).max(1)),
            ("stride_ignored", "the windows lie s apart",
             lambda x, k, s, padding: _means(x, k, 1, padding)),
            ("moved", "a window that begins in the padding is cut at the first number, not moved there",
             lambda x, k, s, padding: np.array([
                 x[max(0, i * s - padding):][:k].mean()
                 for i in range((len(x) + 2 * padding - k) // s + 1)])),
            ("window_place", "window i begins at i * s - padding; yours at i - padding",
             lambda x, k, s, padding: _means(x, k, 1, padding)[: (len(x) + 2 * padding - k) // s + 1]),
        ),
        ("Without padding it is a convolution whose weights are all 1 / k.",
         "Window i begins at x[i * s - padding], which may lie before the first number.",
         "Cut the window to the cells from 0 to n - 1, and take the mean of what is left."),
        "answers/average_pool_at_the_border",
        close=1e-12,
    ),
    Puzzle(
        "grouped",
        "groups of channels",
        "x is [1, rows, cols, in], w is [filter rows, filter cols, in / groups, out]. The first in / "
        "groups channels give the first out / groups outputs, and so on. Return the result with stride 1, "
        "no padding.",
        lambda x, w, groups: _run((nn_ops.conv2d, x, w)),
        lambda: [
            (ints(1, 4, 4, c), ints(2, 3, c // groups, out, seed="w"), groups)
            for c, out, groups in ((2, 2, 2), (4, 2, 2), (4, 4, 2), (6, 3, 3), (4, 8, 4), (2, 2, 1))
        ],
        (
            ("groups", "a group has neighbouring channels: do not deal them out in turn",
             lambda x, w, groups: _run((nn_ops.conv2d, np.concatenate(
                 [x[..., i::groups] for i in range(groups)], 3), w))),
            ("first_group", "every group reads the first channels: each has channels of its own",
             lambda x, w, groups: _run((nn_ops.conv2d, np.concatenate(
                 [x[..., : w.shape[2]]] * groups, 3), w))),
            ("all_channels", "an output sums over the channels of its own group alone",
             lambda x, w, groups: _run((nn_ops.conv2d, x, np.concatenate([w] * groups, 2)))),
            ("summed", "the results of the groups are placed side by side, not added",
             lambda x, w, groups: sum(
                 _run((nn_ops.conv2d, part, each)) for part, each in zip(
                     np.split(x, groups, 3), np.split(w, groups, 3), strict=True))),
        ),
        ("Cut x into groups along its last axis, and w along its last axis.",
         "Each pair is a convolution of its own.",
         "np.concatenate joins the results along the last axis."),
        "answers/dilated_grouped_depthwise",
        lambda x, w, groups: (nn_ops.conv2d, x, w),
        True,
    ),
    Puzzle(
        "depthwise",
        "a filter for each channel",
        "x is [1, rows, cols, c], w is [filter rows, filter cols, c, m]: m filters for each channel. Return "
        "[1, out rows, out cols, c * m] as depthwise_conv2d does, with stride 1 and no padding.",
        lambda x, w: _run((nn_ops.depthwise_conv2d, x, w, (1, 1, 1, 1), "VALID")),
        lambda: [(ints(1, 4, 5, c), ints(2, 2, c, m, seed="w")) for c, m in ((2, 1), (2, 2), (3, 2), (1, 3))],
        (
            ("channel_order", "channel c and filter q give output channel c * m + q, not q * C + c",
             _wrong_depthwise),
            ("summed", "the channels are not added: that would be conv2d",
             lambda x, w: _run((nn_ops.conv2d, x, w))),
            ("first_filter", "each channel has m filters, and each of them gives an output channel",
             lambda x, w: _run((nn_ops.depthwise_conv2d, x, w[..., :1], (1, 1, 1, 1), "VALID"))),
        ),
        ("Take one channel alone: it is a convolution with one input channel and m outputs.",
         "Its m results are next to each other.",
         "Output channel c * m + q sums x[..., c] with w[..., c, q]."),
        "answers/dilated_grouped_depthwise",
        lambda x, w: (nn_ops.depthwise_conv2d, x, w, (1, 1, 1, 1), "VALID"),
        True,
    ),
)
# fmt: on
