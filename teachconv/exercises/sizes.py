"""Puzzles about sizes and padding."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from ..core.law import AxisGeometry, forward_axis, split_padding
from ..core.slabs import axis_slab
from ..running import nn_ops
from .puzzle import Puzzle


def _axis(n: int, k: int, s: int, d: int, pads: tuple[int, int], **more: Any) -> AxisGeometry:
    return forward_axis("cols", n, k, s, d, "EXPLICIT", pads, **more)


def _drawn(n: int, k: int, s: int, d: int, padding: Any) -> tuple[Any, ...]:
    x = np.arange(1.0, n + 1).reshape(1, n, 1)
    return nn_ops.conv1d, x, np.ones((k, 1, 1)), s, padding, "NWC", d


def _sizes() -> list[tuple[int, ...]]:
    calls = product((5, 7, 8, 12), (3, 1, 2, 4), (1, 2, 3), (1, 2))
    return [(n, k, s, d) for n, k, s, d in calls if (k - 1) * d < n]


def _same(n: int, k: int, s: int, d: int) -> tuple[int, int]:
    axis = forward_axis("cols", n, k, s, d, "SAME", (0, 0))
    return axis.pad_before, axis.pad_after


def _transposed(i: int, k: int, s: int, p: int) -> int:
    return (i - 1) * s + k - 2 * p


def _reach(layers: Any, begin: int = 1, more: int = 1) -> int:
    """The size of the receptive field, walked from the last layer to the first; not 1 are mistakes."""
    size = 1
    for k, s, d in reversed(layers):
        size = (size - begin) * s + (k - 1) * d + more
    return size


def _jumps(layers: Any, own: bool) -> int:
    """The usual walk from the first layer on; with ``own``, each layer's stride counts for itself as well."""
    steps = np.cumprod([1, *(s for _, s, _ in layers)])  # how far neighbours of each layer lie apart
    return 1 + sum((k - 1) * d * int(steps[i + own]) for i, (k, _, d) in enumerate(layers))


def _ceiled(n: int, k: int, s: int, padding: int, end: int) -> int:
    """Windows with the division rounded up, less one that begins at ``end`` of the padded input or behind."""
    return sum(start < end for start in range(0, n + 2 * padding - k + s, s))


def _needed(first: int, last: int, n: int, k: int, s: int, before: int) -> tuple[int, int]:
    axis = _axis(n, k, s, 1, (before, k))
    return axis_slab(axis, "output", (first, last))[1]


# fmt: off
PUZZLES: tuple[Puzzle, ...] = (
    Puzzle(
        "output_size",
        "how many outputs there are",
        "n inputs, a filter of k taps, stride s, dilation d, `before` and `after` zeros around the input. "
        "Return the number of outputs.",
        lambda n, k, s, d, before, after: _axis(n, k, s, d, (before, after)).out_size,
        lambda: [(*sizes, *pads) for sizes in _sizes() for pads in ((0, 0), (1, 1), (0, 2))],
        (
            ("rounded_up", "the last window would hang over the edge: the division rounds down",
             lambda n, k, s, d, before, after: math.ceil((n + before + after - (k - 1) * d - 1) / s) + 1),
            ("fraction", "only whole windows count: divide by //, which rounds down",
             lambda n, k, s, d, before, after: (n + before + after - (k - 1) * d - 1) / s + 1),
            ("extent", "the filter covers (k - 1) * d + 1 inputs, not k * d",
             lambda n, k, s, d, before, after: (n + before + after - k * d) // s + 1),
            ("one_missing", "count the windows, not the steps between them: one more than there are steps",
             lambda n, k, s, d, before, after: (n + before + after - (k - 1) * d - 1) // s),
            ("dilation_ignored", "with dilation d the filter covers (k - 1) * d + 1 inputs, not k",
             lambda n, k, s, d, before, after: (n + before + after - k) // s + 1),
            ("one_side", "the zeros after the input count too",
             lambda n, k, s, d, before, after: (n + before - (k - 1) * d - 1) // s + 1),
            ("padding_ignored", "the zeros before and after make room for more windows",
             lambda n, k, s, d, before, after: (n - (k - 1) * d - 1) // s + 1),
            ("stride_ignored", "the windows lie s apart: what is left beside the first one is divided by s",
             lambda n, k, s, d, before, after: n + before + after - (k - 1) * d),
            ("one_too_many", "the filter covers (k - 1) * d + 1 inputs: the 1 is missing",
             lambda n, k, s, d, before, after: (n + before + after - (k - 1) * d) // s + 1),
            ("doubled", "the sides have numbers of their own: add `before` and `after`",
             lambda n, k, s, d, before, after: (n + 2 * before - (k - 1) * d - 1) // s + 1),
            ("after_only", "the zeros before the input count too",
             lambda n, k, s, d, before, after: (n + after - (k - 1) * d - 1) // s + 1),
            ("same", "ceil(n / s) is the size with SAME; here the padding is given",
             lambda n, k, s, d, before, after: -(-n // s)),
        ),
        ("Draw the inputs with their zeros in a row, and lay the filter on the first ones.",
         "How many inputs does the filter cover when there are d - 1 holes between its taps?",
         "What is left to the right of the first window, divided by the stride and rounded down, is the "
         "number of steps. Then count the first window too."),
        "explanation/laws",
        lambda n, k, s, d, before, after: _drawn(n, k, s, d, ((before, after),)),
    ),
    Puzzle(
        "same",
        "what SAME pads",
        "n inputs, a filter of k taps, stride s and dilation d. Return (before, after): the zeros that "
        "TensorFlow's SAME adds on each side.",
        _same,
        _sizes,
        (
            ("padding_side", "your padding is on the wrong side: the odd zero goes after the input. Try "
             "n = 7 and n = 8 at stride 2 by hand", lambda n, k, s, d: _same(n, k, s, d)[::-1]),
            ("symmetric", "that is PyTorch's padding=d*(k-1)//2, the same on both sides; SAME need not be "
             "symmetric. Try n = 8, k = 3, s = 2 by hand",
             lambda n, k, s, d: (((k - 1) * d) // 2, ((k - 1) * d) // 2)),
            ("fraction", "half of an odd number of zeros is rounded down before, and up after",
             lambda n, k, s, d: (sum(_same(n, k, s, d)) / 2,) * 2),
            ("stride_ignored", "that is right at stride 1 only: at a larger stride fewer zeros are needed",
             lambda n, k, s, d: split_padding((k - 1) * d)),
            ("not_rounded_up", "SAME has ceil(n / s) outputs; yours are rounded down",
             lambda n, k, s, d: split_padding(max(0, (n // s - 1) * s + (k - 1) * d + 1 - n))),
            ("extent", "the filter covers (k - 1) * d + 1 inputs, not k * d",
             lambda n, k, s, d: split_padding(max(0, (-(-n // s) - 1) * s + k * d - n))),
            ("negative", "padding is never negative: if inputs are left over, it is 0",
             lambda n, k, s, d: split_padding((-(-n // s) - 1) * s + (k - 1) * d + 1 - n)),
            ("dilation_ignored", "with dilation d the filter covers (k - 1) * d + 1 inputs, not k",
             lambda n, k, s, d: split_padding(max(0, (-(-n // s) - 1) * s + k - n))),
            ("odd_lost", "where the number of zeros is odd, the one that is left over goes after the input",
             lambda n, k, s, d: (_same(n, k, s, d)[0],) * 2),
            ("odd_doubled", "half of an odd number of zeros is rounded down before the input",
             lambda n, k, s, d: (_same(n, k, s, d)[1],) * 2),
            ("all_after", "half of the zeros go before the input", lambda n, k, s, d: (
                0, sum(_same(n, k, s, d)))),
            ("all_before", "that is CAUSAL: half of the zeros go after the input", lambda n, k, s, d: (
                sum(_same(n, k, s, d)), 0)),
            ("as_many_outputs", "there are ceil(n / s) outputs, not n",
             lambda n, k, s, d: split_padding(max(0, (n - 1) * s + (k - 1) * d + 1 - n))),
            ("one_step_too_many", "from the first window to the last there are ceil(n / s) - 1 steps",
             lambda n, k, s, d: split_padding(max(0, -(-n // s) * s + (k - 1) * d + 1 - n))),
            ("one_missing", "the filter covers (k - 1) * d + 1 inputs: the 1 is missing",
             lambda n, k, s, d: split_padding(max(0, (-(-n // s) - 1) * s + (k - 1) * d - n))),
            ("divisible", "that is right only where s divides n; elsewhere n % s takes the place of s",
             lambda n, k, s, d: split_padding(max(0, (k - 1) * d + 1 - s))),
        ),
        ("SAME begins with the number of outputs: ceil(n / s), whatever the filter.",
         "From the first tap of the first window to the last tap of the last one, how many inputs is that?",
         "The padding is the difference from n, but never less than 0. Half of it, rounded down, "
         "goes before."),
        "answers/why_bottom_and_right",
        lambda n, k, s, d: _drawn(n, k, s, d, "SAME"),
    ),
    Puzzle(
        "pool_size",
        "ceil_mode",
        "PyTorch's max_pool1d with ceil_mode=True: n inputs, windows of k at stride s, and `padding` cells "
        "on each side. Return the number of outputs.",
        lambda n, k, s, padding: _axis(n, k, s, 1, (padding, padding), ceil=True).out_size,
        lambda: [
            (n, k, s, p)
            for n, (k, s), p in product((5, 6, 7, 8), ((2, 2), (3, 2), (2, 3), (3, 3)), (0, 1))
            if 2 * p <= k
        ],
        (
            ("rounded_down", "with ceil_mode a last window may hang over the edge: the division rounds up",
             lambda n, k, s, padding: (n + 2 * padding - k) // s + 1),
            ("begins_in_padding", "a window that would begin in the padding on the right is left out",
             lambda n, k, s, padding: -(-(n + 2 * padding - k) // s) + 1),
            ("one_side", "the padding is added on both sides",
             lambda n, k, s, padding: -(-(n + padding - k) // s) + 1),
            ("size_over_stride", "the stride divides what is left beside the first window, not the input",
             lambda n, k, s, padding: -(-n // s)),
            ("padding_ignored", "the padding makes room for more windows",
             lambda n, k, s, padding: -(-(n - k) // s) + 1),
            ("one_missing", "count the windows, not the steps between them: one more than there are steps",
             lambda n, k, s, padding: -(-(n + 2 * padding - k) // s)),
            ("place_in_input", "window i begins at i * s - padding: compare (i * s - padding) with n",
             lambda n, k, s, padding: _ceiled(n, k, s, padding, n)),
            ("place_in_padded", "the padding on the right begins at n + padding of the padded input, and a "
             "window that begins there is left out",
             lambda n, k, s, padding: _ceiled(n, k, s, padding, n + 2 * padding)),
            ("behind_only", "a window that begins with the first cell of the right padding is left out too",
             lambda n, k, s, padding: _ceiled(n, k, s, padding, n + padding + 1)),
            ("padded_over_stride", "the stride divides what is left beside the first window, not the padded "
             "input", lambda n, k, s, padding: -(-(n + 2 * padding) // s)),
            ("fraction", "the number of windows is whole: with ceil_mode the division rounds up",
             lambda n, k, s, padding: (n + 2 * padding - k) / s + 1),
            ("no_padding", "the padding makes room for more windows, and the division rounds up",
             lambda n, k, s, padding: (n - k) // s + 1),
            ("input_alone", "the padding makes room for more windows: they may begin at any cell before "
             "n + padding of the padded input", lambda n, k, s, padding: _ceiled(n, k, s, 0, n)),
            ("whole_strides", "that is the input divided by the stride: the windows have k cells, and the "
             "division rounds up", lambda n, k, s, padding: n // s),
            ("rounded", "ceil_mode rounds up; round() goes to the nearest whole number",
             lambda n, k, s, padding: round((n + 2 * padding - k) / s) + 1),
        ),
        ("Without ceil_mode it is the size of a convolution.",
         "With it the division rounds up: a last window may be partly outside.",
         "One more rule: if the last window would begin in the padding on the right, PyTorch drops it."),
        "answers/why_ceil_mode_gives_one_more",
    ),
    Puzzle(
        "receptive_field",
        "how much of the input one output sees",
        "layers is a list of (k, s, d): the taps, stride and dilation of each layer, the first one first. "
        "Return how many inputs in a row one cell of the last layer depends on.",
        lambda layers: _reach(layers),
        lambda: [
            ([(3, 1, 1)],),
            ([(3, 1, 1), (3, 1, 1)],),
            ([(3, 2, 1), (3, 1, 1)],),
            ([(3, 1, 1), (3, 1, 2), (3, 1, 4)],),
            ([(7, 2, 1), (3, 2, 1), (3, 1, 1), (3, 1, 1)],),
            ([(2, 2, 1)] * 4,),
        ],
        (
            ("stride_ignored", "after a layer of stride 2 neighbours lie two inputs apart: a later filter "
             "sees twice as far", lambda layers: 1 + sum((k - 1) * d for k, _, d in layers)),
            ("front_to_back", "the strides before a layer spread its taps, not those behind it: multiply "
             "them from the first layer on, or walk back from the last: r = (r - 1) * s + (k - 1) * d + 1",
             lambda layers: _reach(layers[::-1])),
            ("own_stride", "a layer's own stride does not widen what its cells see, only what later layers "
             "see", lambda layers: _jumps(layers, True)),
            ("dilation_ignored", "with dilation d a filter covers (k - 1) * d + 1 cells",
             lambda layers: _reach([(k, s, 1) for k, s, _ in layers])),
            ("extent", "a filter covers (k - 1) * d + 1 cells, not k * d",
             lambda layers: _reach([(k * d, s, 1) for k, s, d in layers])),
            ("multiplied", "fields are not multiplied: two 3-tap layers see 5 inputs, not 9",
             lambda layers: int(np.prod([(k - 1) * d + 1 for k, _, d in layers]))),
            ("added", "neighbouring windows overlap: each layer adds (k - 1) * d, not k",
             lambda layers: sum((k - 1) * d + 1 for k, _, d in layers)),
            ("strides_added", "neighbours lie as far apart as the product of the strides before, not the "
             "sum",
             lambda layers: 1 + sum((k - 1) * d * (1 + sum(s - 1 for _, s, _ in layers[:i]))
                                    for i, (k, _, d) in enumerate(layers))),
            ("one_stride", "all strides before a layer count, not the last of them alone",
             lambda layers: 1 + sum((k - 1) * d * (layers[i - 1][1] if i else 1)
                                    for i, (k, _, d) in enumerate(layers))),
            ("one_missing", "begin with 1: one cell sees one cell, before any layer is counted",
             lambda layers: _reach(layers) - 1),
            ("one_step_too_many", "r cells lie (r - 1) * s apart from first to last, not r * s",
             lambda layers: _reach(layers, 0)),
            ("stride_times_size", "r cells lie (r - 1) * s apart from first to last: to that the filter adds "
             "its (k - 1) * d + 1", lambda layers: _reach(layers, 0, 0)),
            ("all_taps", "a layer adds (k - 1) * d steps: the first tap is counted already",
             lambda layers: 1 + sum(k * d * math.prod(s for _, s, _ in layers[:i])
                                    for i, (k, _, d) in enumerate(layers))),
            ("last_layer", "every layer before the last one widens what its window sees",
             lambda layers: _reach(layers[-1:])),
        ),
        ("One layer sees (k - 1) * d + 1 inputs. Draw two layers of 3 taps.",
         "Walk backwards: if r cells of a layer's output are seen, how many of its input are?",
         "r cells lie (r - 1) * s apart from first to last; to that the last one adds its own window."),
        "answers/receptive_field",
    ),
    Puzzle(
        "output_padding",
        "the size that a transposed layer should have",
        "PyTorch's ConvTranspose1d with i inputs, k taps, stride s and padding p should have `wanted` "
        "outputs. Return the output_padding that it needs.",
        lambda i, k, s, p, wanted: wanted - _transposed(i, k, s, p),
        lambda: [
            (i, k, s, p, _transposed(i, k, s, p) + extra)
            for i, (k, s, p) in product((3, 4, 7), ((3, 2, 1), (4, 2, 1), (2, 2, 0), (5, 3, 2)))
            for extra in range(s)
        ],
        (
            ("one_step_too_many", "i inputs lie (i - 1) * s apart from first to last",
             lambda i, k, s, p, wanted: wanted - (i * s + k - 2 * p)),
            ("one_side", "the padding is cut off on both sides",
             lambda i, k, s, p, wanted: wanted - ((i - 1) * s + k - p)),
            ("padding_added", "in a transposed layer padding cuts away: it makes the result smaller",
             lambda i, k, s, p, wanted: wanted - ((i - 1) * s + k + 2 * p)),
            ("sign", "subtract the size that it has from the size that is wanted",
             lambda i, k, s, p, wanted: _transposed(i, k, s, p) - wanted),
            ("padding_ignored", "the padding cuts 2 * p outputs away",
             lambda i, k, s, p, wanted: wanted - ((i - 1) * s + k)),
            ("filter_ignored", "the last stamp has k outputs",
             lambda i, k, s, p, wanted: wanted - ((i - 1) * s - 2 * p)),
            ("one_too_few", "the size without output_padding is (i - 1) * s + k - 2 * p; yours is one less",
             lambda i, k, s, p, wanted: wanted - _transposed(i, k, s, p) + 1),
            ("one_too_many", "the size without output_padding is (i - 1) * s + k - 2 * p; yours is one more",
             lambda i, k, s, p, wanted: wanted - _transposed(i, k, s, p) - 1),
            ("stride_ignored", "the stamps lie s outputs apart",
             lambda i, k, s, p, wanted: wanted - _transposed(i, k, 1, p)),
            ("same", "i * s is the size with TensorFlow's SAME; here the padding is given",
             lambda i, k, s, p, wanted: wanted - i * s),
            ("forward", "that is the size of a convolution; a transposed layer's is (i - 1) * s + k - 2 * p",
             lambda i, k, s, p, wanted: wanted - ((i + 2 * p - k) // s + 1)),
            ("size", "that is the size without output_padding: what does it lack of the wanted one?",
             lambda i, k, s, p, wanted: _transposed(i, k, s, p)),
            ("zero", "0 is right only where the size without output_padding is the wanted one",
             lambda i, k, s, p, wanted: 0),
            ("halved", "output_padding is on one side alone, and so is not halved",
             lambda i, k, s, p, wanted: (wanted - _transposed(i, k, s, p)) // 2),
            ("largest", "s - 1 is the largest legal output_padding; how much is needed depends on `wanted`",
             lambda i, k, s, p, wanted: s - 1),
        ),
        ("Every input stamps k outputs, s outputs after the stamp before. How long is the whole?",
         "padding cuts p outputs away on each side.",
         "output_padding is added to that, on the right."),
        "answers/output_padding",
    ),
    Puzzle(
        "rows_needed",
        "a block of outputs",
        "Outputs first to last - 1 of a layer with n inputs, k taps, stride s and `before` zeros before the "
        "input are computed as a block. Return (start, stop): the inputs start to stop - 1 that it reads.",
        _needed,
        lambda: [
            (*block, n, k, s, before)
            for *block, n in ((0, 2, 16), (2, 4, 16), (3, 7, 16), (3, 7, 8))
            for k, s, before in ((3, 1, 1), (3, 2, 0), (5, 2, 2), (1, 1, 0), (2, 2, 0))
        ],
        (
            ("outside", "the zeros before the input are not read: start is never below 0",
             lambda first, last, n, k, s, before: (first * s - before, min(n, (last - 1) * s - before + k))),
            ("padding_ignored", "the window of output 0 begins `before` places before the input",
             lambda first, last, n, k, s, before: (first * s, min(n, (last - 1) * s + k))),
            ("halo", "the last window reads k inputs: neighbouring blocks overlap by k - s",
             lambda first, last, n, k, s, before: (max(0, first * s - before), min(n, last * s - before))),
            ("beyond", "stop is never above n: there is nothing to read behind the input",
             lambda first, last, n, k, s, before: (max(0, first * s - before), (last - 1) * s - before + k)),
            ("one_missing", "stop is one more than the last input that is read",
             lambda first, last, n, k, s, before: (
                 max(0, first * s - before), min(n, (last - 1) * s - before + k) - 1)),
            ("last_included", "output `last` is not in the block",
             lambda first, last, n, k, s, before: (
                 max(0, first * s - before), min(n, last * s - before + k))),
            ("stride_ignored", "output i begins at input i * s",
             lambda first, last, n, k, s, before: (
                 max(0, first - before), min(n, last - 1 - before + k))),
            ("stop_not_moved", "the zeros before the input move the end of the block too",
             lambda first, last, n, k, s, before: (max(0, first * s - before), min(n, (last - 1) * s + k))),
            ("padding_added", "the zeros are before the input: they move the windows back, not on",
             lambda first, last, n, k, s, before: (
                 max(0, first * s + before), min(n, (last - 1) * s + before + k))),
            ("padding_times_stride", "`before` counts inputs: subtract it after the multiplication by s",
             lambda first, last, n, k, s, before: (
                 max(0, (first - before) * s), min(n, (last - 1 - before) * s + k))),
            ("outputs", "these are numbers of outputs: output i begins at input i * s - before",
             lambda first, last, n, k, s, before: (first, last)),
        ),
        ("Which input does the first tap of output `first` meet?",
         "The last one is read by the last tap of output last - 1.",
         "Both are given by out * s - before + tap; cut them to 0 and n."),
        "larger_than_memory",
    ),
    Puzzle(
        "due",
        "streaming",
        "A layer with k taps, stride s and `before` zeros before the input gets its inputs in chunks. After "
        "`arrived` inputs, return how many outputs can be computed, without knowing what comes next.",
        lambda arrived, k, s, before: max(0, (arrived + before - k) // s + 1),
        lambda: [
            (arrived, k, s, before)
            for arrived, (k, s, before) in product(
                (0, 1, 2, 3, 5, 8, 9), ((3, 1, 0), (3, 1, 2), (4, 2, 0), (5, 3, 1), (1, 1, 0)))
        ],
        (
            ("padding_ignored", "the zeros before the input are there from the beginning",
             lambda arrived, k, s, before: max(0, (arrived - k) // s + 1)),
            ("negative", "before the first window is full it is 0, not less",
             lambda arrived, k, s, before: (arrived + before - k) // s + 1),
            ("too_early", "an output waits until its last tap has arrived",
             lambda arrived, k, s, before: max(0, (arrived + before - k + 1) // s + 1)),
            ("too_late", "the window that ends with the last input is full already",
             lambda arrived, k, s, before: max(0, (arrived + before - k) // s)),
            ("taps_ignored", "an output waits for all of its k taps",
             lambda arrived, k, s, before: arrived // s),
            ("padding_subtracted", "the zeros before the input are there from the beginning: add them",
             lambda arrived, k, s, before: max(0, (arrived - before - k) // s + 1)),
            ("both_sides", "there are zeros before the input alone: what comes behind it is not known yet",
             lambda arrived, k, s, before: max(0, (arrived + 2 * before - k) // s + 1)),
            ("stride_ignored", "the windows lie s apart: what is left beside the first one is divided by s",
             lambda arrived, k, s, before: max(0, arrived + before - k + 1)),
            ("rounded_up", "only whole windows count: the division rounds down",
             lambda arrived, k, s, before: max(0, math.ceil((arrived + before - k) / s) + 1)),
            ("fraction", "only whole windows count: divide by //, which rounds down",
             lambda arrived, k, s, before: max(0, (arrived + before - k) / s + 1)),
            ("size_over_stride", "an output waits for all of its k taps: the stride divides what is beside "
             "the first window", lambda arrived, k, s, before: (arrived + before) // s),
        ),
        ("An output is due as soon as the last tap of its window has arrived.",
         "Output i ends with input i * s - before + k - 1.",
         "Count the i for which that is below `arrived`."),
        "howto/stream_a_network",
    ),
    Puzzle(
        "torch_pad",
        "a SAME layer in PyTorch",
        "A TensorFlow layer with SAME, a k x k filter and stride s gets an image of `rows` x `cols` cells. "
        "Return the four numbers for PyTorch's F.pad, which is then followed by F.conv2d with padding=0.",
        lambda rows, cols, k, s: (*_same(cols, k, s, 1), *_same(rows, k, s, 1)),
        lambda: [
            (rows, cols, k, s)
            for rows, cols, k, s in product((7, 8, 9), (8, 10, 7), (3, 4, 2, 7), (2, 1, 3))
            if rows != cols
        ],
        (
            ("order", "F.pad begins with the last axis: left, right, top, bottom",
             lambda rows, cols, k, s: (*_same(rows, k, s, 1), *_same(cols, k, s, 1))),
            ("symmetric", "padding=(k - 1) // 2 on every side is what PyTorch's layers do; SAME at "
             "stride 2 mostly is not that", lambda rows, cols, k, s: ((k - 1) // 2,) * 4),
            ("padding_side", "SAME puts the odd zero on the right and below",
             lambda rows, cols, k, s: (*_same(cols, k, s, 1)[::-1], *_same(rows, k, s, 1)[::-1])),
            ("stride_ignored", "that is right at stride 1 only",
             lambda rows, cols, k, s: split_padding(k - 1) * 2),
            ("one_axis", "rows and cols have paddings of their own",
             lambda rows, cols, k, s: _same(rows, k, s, 1) * 2),
            ("interleaved", "F.pad takes pairs: left and right, then top and bottom",
             lambda rows, cols, k, s: (
                 *(_same(size, k, s, 1)[0] for size in (cols, rows)),
                 *(_same(size, k, s, 1)[1] for size in (cols, rows)))),
            ("top_left", "F.pad begins with the pair of the last axis: left, right, top, bottom",
             lambda rows, cols, k, s: (
                 *(_same(size, k, s, 1)[0] for size in (rows, cols)),
                 *(_same(size, k, s, 1)[1] for size in (rows, cols)))),
            ("cols_only", "rows and cols have paddings of their own; both of yours are those of the cols",
             lambda rows, cols, k, s: _same(cols, k, s, 1) * 2),
            ("odd_lost", "where the number of zeros is odd, the one that is left over goes right and below",
             lambda rows, cols, k, s: (*_same(cols, k, s, 1)[:1] * 2, *_same(rows, k, s, 1)[:1] * 2)),
            ("one_side", "half of the zeros go on the left and above",
             lambda rows, cols, k, s: (0, sum(_same(cols, k, s, 1)), 0, sum(_same(rows, k, s, 1)))),
            ("negative", "padding is never negative: F.pad would crop",
             lambda rows, cols, k, s: (*split_padding((-(-cols // s) - 1) * s + k - cols),
                                       *split_padding((-(-rows // s) - 1) * s + k - rows))),
            ("not_rounded_up", "SAME has ceil(n / s) outputs; yours are rounded down",
             lambda rows, cols, k, s: (*split_padding(max(0, (cols // s - 1) * s + k - cols)),
                                       *split_padding(max(0, (rows // s - 1) * s + k - rows)))),
        ),
        ("Solve the puzzle `same` first, for the rows and for the cols.",
         "F.pad takes pairs, and the pair of the last axis first.",
         "In NCHW the last axis is the cols: (left, right, top, bottom)."),
        "answers/pytorch_port_at_stride_2",
    ),
)
# fmt: on
