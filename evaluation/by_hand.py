"""Mistakes of hand-written loops and of converters: the call that was meant, and the array that the mistake gives.

Each row makes its array with the loops of this file, or with NumPy: nothing here is shared with the table of
mistakes in `teachconv.verification`. A name is right if "code: sentence" matches the pattern of the row. The
rows at the end are right arrays, which must pass, and wrong ones that have no name, which must get none.
`python evaluation/by_hand.py` prints how many rows are named at both sizes, and which are not.
"""

import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

import teachconv as tc
from teachconv.core.dtypes import FORMATS, to_dtype
from teachconv.data.seeded import make_array

torch = tc.dialects.torch
SIZES = ((2, 11, 10, 8, 8), (3, 18, 21, 16, 32))  # batch, rows, cols, in and out channels
FAR = 64  # zeros around an image, more than any index of these calls goes beyond it


@dataclass(frozen=True)
class Problem:
    """Arrays of one size, the same for the same name."""

    size: int

    @property
    def depth(self):
        return SIZES[self.size][3]

    @property
    def outs(self):
        return SIZES[self.size][4]

    def array(self, name, *shape, dtype="float32"):
        return make_array(shape, dtype, "normal", f"by hand {name} {self.size}")

    def x(self, depth=0, rows=0, cols=0):
        batch, own_rows, own_cols, own_depth, _ = SIZES[self.size]
        return self.array("x", batch, rows or own_rows, cols or own_cols, depth or own_depth)

    def w(self, rows=3, cols=3, depth=0, outs=0):
        return self.array("w", rows, cols, depth or self.depth, outs or self.outs) / 4

    def b(self, outs=0):
        return self.array("b", outs or self.outs)


class Row(NamedTuple):
    """A mistake: a pattern for its name, and a function that gives op, arguments and the wrong array."""

    id: str
    pattern: str | None
    make: Callable


ROWS, INNOCENT, UNKNOWN = [], [], []


def row(pattern):
    """Enter a mistake into the table; the function's name is its id."""
    return lambda make: ROWS.append(Row(make.__name__, pattern, make)) or make


def rows_of(pattern, **makes):
    """Enter several mistakes with the same name."""
    ROWS.extend(Row(name, pattern, make) for name, make in makes.items())


# ---------------------------------------------------------------------------------------------
# Loops: where a window begins is said by the row
# ---------------------------------------------------------------------------------------------


def same(size, k, stride):
    """The number of outputs and the zeros before, as SAME has them."""
    outs = -(-size // stride)
    return outs, max(0, (outs - 1) * stride + k - size) // 2


def gathered(x, w, sizes, starts, groups=1):
    """Sums over windows of an image; window o of an axis begins at ``starts[axis](o)``."""
    wide = np.pad(x.astype(np.float64), ((0, 0), *((FAR, FAR),) * len(sizes), (0, 0)))
    depth, outs = w.shape[-2], w.shape[-1] // groups
    y = np.zeros((len(x), *sizes, w.shape[-1]))
    for tap in np.ndindex(w.shape[:-2]):
        index = np.ix_(
            *(start(np.arange(n)) + t + FAR for start, n, t in zip(starts, sizes, tap, strict=True))
        )
        cells = wide[(slice(None), *index)]
        for g in range(groups):
            part = slice(g * outs, (g + 1) * outs)
            y[..., part] += cells[..., g * depth : (g + 1) * depth] @ w[tap][:, part].astype(np.float64)
    return y


def scattered(x, w, sizes, starts):
    """Each pixel of x times the filter, added from ``starts[axis](o)`` on; filters are [rows, cols, out, in]."""
    y = np.zeros((len(x), *(n + 2 * FAR for n in sizes), w.shape[2]))
    for r, c, i, j in product(*map(range, (*x.shape[1:3], *w.shape[:2]))):
        y[:, starts[0](r) + i + FAR, starts[1](c) + j + FAR] += x[:, r, c].astype(float) @ w[i, j].T.astype(
            float
        )
    return y[:, FAR:-FAR, FAR:-FAR]


def strided(padding="SAME", steps=(1, 1), stride=2, moved=(0, 0), bias=False, k=3, first=None):
    """A strided convolution whose windows move by other steps than its stride."""

    def make(p):
        x, w = p.x(), p.w(k, k)
        b = p.b() if bias else None
        pairs = [
            same(n, k, stride) if padding == "SAME" else ((n - k) // stride + 1, 0) for n in x.shape[1:3]
        ]
        pads_before = [before if first is None else first for _, before in pairs]
        starts = [
            lambda o, s=s, before=before, m=m: o * s - before + m
            for s, before, m in zip(steps, pads_before, moved, strict=True)
        ]
        y = gathered(x, w, [n for n, _ in pairs], starts)
        return tc.conv2d, (x, w, stride, padding), {"bias": b}, y + (b if bias else 0)

    return make


def centre(padding):
    def make(p):
        x, w = p.x(), p.w()
        full = tc.conv2d(x, w, 1, padding)
        y = tc.conv2d(x, w, 2, padding)
        (top, left) = ((a - b) // 2 for a, b in zip(full.shape[1:3], y.shape[1:3], strict=True))
        return tc.conv2d, (x, w, 2, padding), {}, full[:, top : top + y.shape[1], left : left + y.shape[2]]

    return make


rows_of(
    "^stride_left_out|stride is left out",
    windows_overlap_same=strided(),
    windows_overlap_valid=strided("VALID"),
    windows_overlap_stride_3=strided(stride=3),
    windows_overlap_in_rows=strided(steps=(1, 2)),
    windows_overlap_in_columns=strided(steps=(2, 1)),
    windows_overlap_with_a_bias=strided(bias=True),
    windows_overlap_5_by_5=strided(k=5),
    stride_ignored_and_cropped_at_the_start=strided(first=1),
    stride_ignored_and_cropped_at_the_centre=centre("SAME"),
    stride_ignored_and_cropped_valid=centre("VALID"),
)


@row("^stride_left_out")
def stride_ignored_read_from_a_larger_buffer(p):
    x, w = p.x(), p.w()
    y, full = tc.conv2d(x, w, 2, "SAME"), tc.conv2d(x, w, 1, "SAME")
    return tc.conv2d, (x, w, 2, "SAME"), {}, full.ravel()[: y.size].reshape(y.shape)


@row("^stride_left_out")
def stride_ignored_planes_of_a_larger_buffer(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.w().transpose(3, 2, 0, 1)
    y, full = torch.conv2d(x, w, stride=2, padding=1), torch.conv2d(x, w, padding=1)
    planes = full.reshape(*full.shape[:2], -1)[..., : y.shape[2] * y.shape[3]]
    return torch.conv2d, (x, w), {"stride": 2, "padding": 1}, planes.reshape(y.shape)


@row("^stride_left_out")
def windows_overlap_in_one_dimension(p):
    x, w = p.x()[:, :, 0], p.w()[0]
    outs, before = same(x.shape[1], 3, 2)
    return tc.conv1d, (x, w, 2, "SAME"), {}, gathered(x, w, [outs], [lambda o: o - before])


@row("^stride_left_out")
def windows_overlap_in_torch(p):
    x, w, b = p.x().transpose(0, 3, 1, 2), p.w(7, 7).transpose(3, 2, 0, 1), p.b()
    y = torch.conv2d(x, w, b, stride=2, padding=3)
    got = gathered(p.x(), p.w(7, 7), y.shape[2:], [lambda o: o - 3] * 2) + b
    return torch.conv2d, (x, w, b), {"stride": 2, "padding": 3}, got.transpose(0, 3, 1, 2)


@row("^stride_left_out")
def windows_overlap_depthwise(p):
    x, w = p.x(), p.array("depthwise", 3, 3, p.depth, 1)
    sizes, before = zip(*(same(n, 3, 2) for n in x.shape[1:3]), strict=True)
    starts = [lambda o: o - before[0], lambda o: o - before[1]]
    got = gathered(x, w.transpose(0, 1, 3, 2), sizes, starts, groups=p.depth)
    return tc.depthwise_conv2d, (x, w, [1, 2, 2, 1], "SAME"), {}, got


def backwards(steps, op):
    """The scatter with other steps than the stride."""

    def make(p):
        dy, w = p.x(), p.w(depth=p.outs, outs=p.depth)
        sizes = [2 * n for n in dy.shape[1:3]]
        starts = [lambda o, s=s: o * s for s in steps]
        got = scattered(dy, w, sizes, starts)
        if op is tc.conv2d_transpose:
            return op, (dy, w, None, 2), {}, got
        return op, ((len(dy), *sizes, p.outs), w, dy, 2, "SAME"), {}, got

    return make


rows_of(
    "^stride_left_out",
    scatter_overlaps=backwards((1, 1), tc.conv2d_transpose),
    scatter_overlaps_in_rows=backwards((1, 2), tc.conv2d_transpose),
    input_gradient_overlaps=backwards((1, 1), tc.conv2d_backprop_input),
    input_gradient_overlaps_in_columns=backwards((2, 1), tc.conv2d_backprop_input),
)


def filter_gradient(steps):
    def make(p):
        x = p.x()
        (rows, top), (cols, left) = (same(n, 3, 2) for n in x.shape[1:3])
        dy = p.array("dy", len(x), rows, cols, p.outs)
        wide = np.pad(x.astype(float), ((0, 0), (top, FAR), (left, FAR), (0, 0)))
        got = np.zeros((3, 3, p.depth, p.outs))
        for i, j, r, c in np.ndindex(3, 3, rows, cols):
            got[i, j] += wide[:, r * steps[0] + i, c * steps[1] + j].T @ dy[:, r, c].astype(float)
        return tc.conv2d_backprop_filter, (x, got.shape, dy, 2, "SAME"), {}, got

    return make


rows_of(
    "^stride_left_out",
    filter_gradient_overlaps=filter_gradient((1, 1)),
    filter_gradient_overlaps_in_rows=filter_gradient((1, 2)),
)


def pooled(x, size, stride, combine, sizes, starts, fill):
    wide = np.pad(x, ((0, 0), (FAR, FAR), (FAR, FAR), (0, 0)), constant_values=fill)
    y = np.zeros((len(x), *sizes, x.shape[3]), x.dtype)
    for r, c in np.ndindex(*sizes):
        top, left = starts[0](r) + FAR, starts[1](c) + FAR
        y[:, r, c] = combine(wide[:, top : top + size, left : left + size], axis=(1, 2))
    return y


def pool_overlaps(op, combine, fill, steps=(1, 1)):
    def make(p):
        x = p.x()
        y = op(x, 2, 2, "VALID")
        got = pooled(x, 2, 2, combine, y.shape[1:3], [lambda o, s=s: o * s for s in steps], fill)
        return op, (x, 2, 2, "VALID"), {}, got

    return make


rows_of(
    "^stride",
    max_pool_overlaps=pool_overlaps(tc.max_pool, np.max, -np.inf),
    max_pool_overlaps_in_rows=pool_overlaps(tc.max_pool, np.max, -np.inf, (1, 2)),
    avg_pool_overlaps=pool_overlaps(tc.avg_pool, np.mean, 0),
    avg_pool_overlaps_in_columns=pool_overlaps(tc.avg_pool, np.mean, 0, (2, 1)),
)


# ---------------------------------------------------------------------------------------------
# A factor or an offset for each input channel
# ---------------------------------------------------------------------------------------------

MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def prepared(wrong, padding="SAME", stride=1, k=3, bias=False):
    """The network wants (x - mean) / std; the port gives it something else."""

    def make(p):
        raw = (p.x(3) % 1).astype("float32")
        w, b = p.w(k, k, 3), p.b() if bias else None
        x = ((raw - MEAN) / STD).astype("float32")
        got = tc.conv2d(wrong(raw).astype("float32"), w, stride, padding, bias=b)
        return tc.conv2d, (x, w, stride, padding), {"bias": b}, got

    return make


rows_of(
    "^input_(scale|shift)",
    mean_and_std_not_applied=prepared(lambda x: x),
    mean_and_std_not_applied_valid=prepared(lambda x: x, "VALID", bias=True),
    mean_and_std_applied_twice=prepared(lambda x: ((x - MEAN) / STD - MEAN) / STD),
    mean_and_std_of_bgr=prepared(lambda x: (x - MEAN[::-1]) / STD[::-1]),
    mean_not_subtracted=prepared(lambda x: x / STD, bias=True),
    std_not_applied=prepared(lambda x: x - MEAN, "VALID"),
    mean_and_std_at_stride_2=prepared(lambda x: x, stride=2, k=7, bias=True),
    mean_added=prepared(lambda x: (x + MEAN) / STD),
)


def ranged(wrong, padding="SAME", bias=False):
    def make(p):
        x, w, b = (p.x() % 1).astype("float32"), p.w(), p.b() if bias else None
        got = tc.conv2d(wrong(x).astype("float32"), w, 1, padding, bias=b)
        return tc.conv2d, (x, w, 1, padding), {"bias": b}, got

    return make


rows_of(
    "^input_(scale|shift)|^scale|^channel_shift|^scale_and_shift",
    twice_x_minus_1=ranged(lambda x: 2 * x - 1),
    twice_x_minus_1_valid_bias=ranged(lambda x: 2 * x - 1, "VALID", True),
    times_255=ranged(lambda x: 255 * x, bias=True),
    minus_a_half=ranged(lambda x: x - 0.5),
    times_255_minus_128=ranged(lambda x: 255 * x - 128, bias=True),
)


def wrong_axis(rank, transposed=False):
    """A factor for each output channel that multiplies the filter along its input channels."""

    def make(p):
        x = p.x()[:, :, :6] if rank < 3 else p.x()[:, :, :6, None] + p.array("deep", 1, 1, 1, 5, 1)
        x = x[:, :, 0] if rank == 1 else x
        w = p.array("w", *(3,) * rank, p.depth, p.depth)
        g = 1 + p.array("gamma", p.depth) / 4
        b = p.b(p.depth)
        if transposed:
            op, args = tc.conv2d_transpose, (None, 2)
            meant, got = w * g[:, None], w * g
        else:
            op, args = {1: tc.conv1d, 2: tc.conv2d, 3: tc.conv3d}[rank], (1, "SAME")
            meant, got = w * g, w * g[:, None]
        return op, (x, meant, *args), {"bias": b}, op(x, got, *args, bias=b)

    return make


rows_of(
    "^factor_axis",
    factor_along_the_inputs_1d=wrong_axis(1),
    factor_along_the_inputs_2d=wrong_axis(2),
    factor_along_the_inputs_3d=wrong_axis(3),
    factor_along_the_inputs_transposed=wrong_axis(2, True),
)


# ---------------------------------------------------------------------------------------------
# The bias
# ---------------------------------------------------------------------------------------------


def biased(wrong, groups=1, square=False):
    """``wrong`` makes the result from that without a bias, the bias and the problem."""

    def make(p):
        x = p.x(rows=p.outs, cols=p.outs + 2) if square else p.x()
        w, b = p.w(depth=p.depth // groups), p.b()
        bare = tc.conv2d(x, w, 1, "SAME")
        return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, wrong(bare, b, p)

    return make


def inside(shape, k=3):
    """How many taps of each window lie in the image."""
    return gathered(
        np.ones((1, *shape[1:3], 1)), np.ones((k, k, 1, 1)), shape[1:3], [lambda o: o - k // 2] * 2
    )


rows_of(
    "^bias",
    bias_along_rows=biased(lambda y, b, p: y + b[None, :, None, None], square=True),
    bias_along_columns=biased(lambda y, b, p: y + np.r_[b, b[:2]][None, None, :, None], square=True),
    bias_of_the_batch=biased(lambda y, b, p: y + b[: len(y), None, None, None]),
    bias_once_per_tap=biased(lambda y, b, p: y + 9 * b),
    bias_once_per_tap_inside=biased(lambda y, b, p: y + inside(y.shape) * b),
    bias_once_per_channel=biased(lambda y, b, p: y + p.depth * b),
    bias_once_per_product=biased(lambda y, b, p: y + 9 * p.depth * b),
    bias_once_per_group=biased(lambda y, b, p: y + 4 * b, groups=4),
    bias_once_per_split=biased(lambda y, b, p: y + 5 * b),
    bias_only=biased(lambda y, b, p: 0 * y + b),
    bias_of_the_first_channel=biased(lambda y, b, p: y + b[0]),
    bias_divided_by_the_splits=biased(lambda y, b, p: y + b / 4),
)


@row("^bias")
def bias_along_steps(p):
    x, w, b = p.x(rows=p.outs)[:, :, 0], p.w()[0], p.b()
    return tc.conv1d, (x, w, 1, "SAME"), {"bias": b}, tc.conv1d(x, w, 1, "SAME") + b[:, None]


rows_of(
    "relu",
    clamped_before_the_bias=biased(lambda y, b, p: np.clip(y, 0, 6) + b),
    relu_then_bias=biased(lambda y, b, p: np.maximum(y, 0) + b),
)
rows_of("^channel_shift", a_constant=biased(lambda y, b, p: y + b + 0.75))


# ---------------------------------------------------------------------------------------------
# Transposed for forward, and transposed filters
# ---------------------------------------------------------------------------------------------


@row("^(forward|transposed)_for")
def transposed_for_forward(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.depth, 3, 3)
    return torch.conv2d, (x, w), {"padding": 1}, torch.conv_transpose2d(x, w, padding=1)


@row("^(forward|transposed)_for")
def forward_for_transposed(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.depth, 3, 3)
    return torch.conv_transpose2d, (x, w), {"padding": 1}, torch.conv2d(x, w, padding=1)


@row("forward")
def forward_for_transposed_at_stride_2(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.depth, 3, 3)
    return (
        torch.conv_transpose2d,
        (x, w),
        {"stride": 2, "padding": 1},
        torch.conv2d(x, w, stride=2, padding=1),
    )


@row("transposed")
def transposed_for_forward_at_stride_2(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.depth, 3, 3)
    return (
        torch.conv2d,
        (x, w),
        {"stride": 2, "padding": 1},
        torch.conv_transpose2d(x, w, stride=2, padding=1),
    )


def grouped(change):
    """The filter of a transposed convolution with two groups, [in, out/2, rows, cols], in another order."""

    def make(p):
        x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.depth // 2, 3, 3)
        got = torch.conv_transpose2d(x, change(w), stride=2, groups=2)
        return torch.conv_transpose2d, (x, w), {"stride": 2, "groups": 2}, got

    return make


rows_of(
    "group",
    grouped_filter_transposed_in_each_group=grouped(
        lambda w: w.reshape(2, len(w) // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)
    ),
    grouped_filter_read_with_groups_on_the_other_axis=grouped(
        lambda w: w.reshape(len(w) // 2, 2, *w.shape[1:]).swapaxes(0, 1).reshape(w.shape)
    ),
)


@row("zeros|^output_padding")
def output_padding_by_zeros_behind_the_result(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.outs, 3, 3)
    how = {"stride": 2, "padding": 1}
    got = np.pad(torch.conv_transpose2d(x, w, **how), ((0, 0), (0, 0), (0, 1), (0, 1)))
    return torch.conv_transpose2d, (x, w), how | {"output_padding": 1}, got


@row("^output_padding")
def output_padding_by_repeating_the_input(p):
    x, w = p.x().transpose(0, 3, 1, 2), p.array("w", p.depth, p.outs, 3, 3)
    how = {"stride": 2, "padding": 1, "output_padding": 1}
    longer = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), "edge")
    got = torch.conv_transpose2d(longer, w, stride=2, padding=1)[:, :, : 2 * x.shape[2], : 2 * x.shape[3]]
    return torch.conv_transpose2d, (x, w), how, got


@row("^output_alignment")
def output_shape_split_at_the_other_end(p):
    x, w = p.x(), p.w(depth=p.outs, outs=p.depth)
    full = tc.conv2d_transpose(x, w, None, 2, "VALID")
    y = tc.conv2d_transpose(x, w, None, 2)
    return tc.conv2d_transpose, (x, w, None, 2), {}, full[:, 1 : 1 + y.shape[1], 1 : 1 + y.shape[2]]


# ---------------------------------------------------------------------------------------------
# Memory
# ---------------------------------------------------------------------------------------------


def blocked(x, block):
    """[N, C, H, W] as nChw8c has it in memory, read as if it were plain."""
    n, c, h, w = x.shape
    return np.ascontiguousarray(x.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2)).reshape(
        x.shape
    )


def unblocked(x, block):
    """A plain [N, C, H, W], read as if it were nChw8c."""
    n, c, h, w = x.shape
    return np.ascontiguousarray(x.reshape(n, c // block, h, w, block).transpose(0, 1, 4, 2, 3)).reshape(
        x.shape
    )


def gaps(x, align, rows=False):
    """Planes (or rows) that are aligned in memory, read as if there were no gaps."""
    parts = x.reshape(-1, x.shape[3]) if rows else x.reshape(x.shape[0] * x.shape[1], -1)
    wide = np.pad(parts, ((0, 0), (0, -parts.shape[1] % align)))
    return wide.ravel()[: x.size].reshape(x.shape)


def in_memory(image=None, result=None, filters=None):
    def make(p):
        depth = 32
        x, w = p.x(depth).transpose(0, 3, 1, 2), p.w(depth=depth, outs=32).transpose(3, 2, 0, 1)
        x, w = np.ascontiguousarray(x), np.ascontiguousarray(w)
        got = torch.conv2d(image(x) if image else x, filters(w) if filters else w, padding=1)
        return torch.conv2d, (x, w), {"padding": 1}, result(got) if result else got

    return make


def filter_blocks(w, inner, outer):
    """OIHW as OIhw8i8o has it, read as if it were plain."""
    o, i, h, k = w.shape
    parts = w.reshape(o // outer, outer, i // inner, inner, h, k).transpose(0, 2, 4, 5, 3, 1)
    return np.ascontiguousarray(parts).reshape(w.shape)


rows_of(
    "^blocked",
    image_in_nc4hw4=in_memory(image=lambda x: blocked(x, 4)),
    image_in_nchw8c=in_memory(image=lambda x: blocked(x, 8)),
    image_in_nchw16c=in_memory(image=lambda x: blocked(x, 16)),
    image_read_as_nc4hw4=in_memory(image=lambda x: unblocked(x, 4)),
    image_read_as_nchw8c=in_memory(image=lambda x: unblocked(x, 8)),
    result_in_nc4hw4=in_memory(result=lambda x: blocked(x, 4)),
    result_in_nchw8c=in_memory(result=lambda x: blocked(x, 8)),
    result_in_nchw16c=in_memory(result=lambda x: blocked(x, 16)),
    result_read_as_nc4hw4=in_memory(result=lambda x: unblocked(x, 4)),
    result_read_as_nchw16c=in_memory(result=lambda x: unblocked(x, 16)),
    filter_in_4i4o=in_memory(filters=lambda w: filter_blocks(w, 4, 4)),
    filter_in_8i8o=in_memory(filters=lambda w: filter_blocks(w, 8, 8)),
    filter_in_16i16o=in_memory(filters=lambda w: filter_blocks(w, 16, 16)),
    filter_in_blocks_of_outputs=in_memory(filters=lambda w: filter_blocks(w, 1, 8)),
)
rows_of(
    "^pitch",
    image_planes_aligned_to_4=in_memory(image=lambda x: gaps(x, 4)),
    image_planes_aligned_to_16=in_memory(image=lambda x: gaps(x, 16)),
    result_planes_aligned_to_4=in_memory(result=lambda x: gaps(x, 4)),
    image_rows_padded_to_a_pitch=in_memory(image=lambda x: gaps(x, 16, True)),
    result_rows_padded_to_a_pitch=in_memory(result=lambda x: gaps(x, 8, True)),
)


@row("^pitch")
def image_rows_of_channels_padded_to_a_pitch(p):
    x, w = p.x(3), p.w(depth=3)
    parts = x.reshape(len(x) * x.shape[1], -1)
    wide = np.pad(parts, ((0, 0), (0, -parts.shape[1] % 4))).ravel()[: x.size].reshape(x.shape)
    return tc.conv2d, (x, w, 1, "SAME"), {}, tc.conv2d(wide, w, 1, "SAME")


# ---------------------------------------------------------------------------------------------
# Pools
# ---------------------------------------------------------------------------------------------


def of_windows(combine, fill):
    """PyTorch's pool of size 3, stride 2, padding 1."""

    def make(p):
        x = p.x(rows=9 + 2 * p.size, cols=11 + 2 * p.size)
        sizes = [(n + 2 - 3) // 2 + 1 for n in x.shape[1:3]]
        return x, pooled(x, 3, 2, combine, sizes, [lambda o: 2 * o - 1] * 2, fill)

    return make


def mean_of(counted):
    """A mean whose divisor counts the padding before, or that behind."""

    def make(p):
        x, sums = of_windows(np.sum, 0)(p)
        counts = [
            [sum(low <= 2 * o - 1 + t < n + high for t in range(3)) for o in range(sums.shape[axis])]
            for axis, n in ((1, x.shape[1]), (2, x.shape[2]))
            for low, high in [counted]
        ]
        got = sums / np.multiply.outer(*map(np.array, counts))[:, :, None]
        how = {"kernel_size": 3, "stride": 2, "padding": 1}
        return torch.avg_pool2d, (x.transpose(0, 3, 1, 2),), how, got.transpose(0, 3, 1, 2)

    return make


rows_of(
    "^count_include_pad|^divisor",
    mean_counts_the_padding_before=mean_of((-1, 0)),
    mean_counts_the_padding_behind=mean_of((0, 1)),
    mean_counts_no_padding=mean_of((0, 0)),
)


def one_window_more(op, fill, **more):
    """ceil_mode keeps a window that begins behind the image and its padding."""

    def make(p):
        x = p.x(rows=9, cols=15 - 6 * p.size).transpose(0, 3, 1, 2)
        how = {"kernel_size": 2, "stride": 2, "padding": 1, "ceil_mode": True, **more}
        y = op(x, **how)
        got = np.pad(y, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=fill)
        return op, (x,), how, got

    return make


rows_of(
    "^ceil_mode",
    window_outside_is_minus_infinity=one_window_more(torch.max_pool2d, -np.inf),
    window_outside_is_nan=one_window_more(torch.avg_pool2d, np.nan, count_include_pad=False),
)


@row("^(padded_with_zeros|start)")
def maximum_with_zeros(p):
    x, got = of_windows(np.max, 0)(p)
    x = -np.abs(x)
    got = pooled(x, 3, 2, np.max, got.shape[1:3], [lambda o: 2 * o - 1] * 2, 0)
    how = {"kernel_size": 3, "stride": 2, "padding": 1}
    return torch.max_pool2d, (x.transpose(0, 3, 1, 2),), how, got.transpose(0, 3, 1, 2)


def with_nan(combine):
    def make(p):
        x = p.x().copy()
        x[:, 3:6, 4] = np.nan
        got = pooled(
            x, 3, 2, combine, [(n - 1) // 2 + 1 for n in x.shape[1:3]], [lambda o: 2 * o - 1] * 2, -np.inf
        )
        how = {"kernel_size": 3, "stride": 2, "padding": 1}
        return torch.max_pool2d, (x.transpose(0, 3, 1, 2),), how, got.transpose(0, 3, 1, 2)

    return make


rows_of("^nan", maximum_drops_nan=with_nan(np.nanmax))


# ---------------------------------------------------------------------------------------------
# Scatter, and loops that end early
# ---------------------------------------------------------------------------------------------


def overwrites(taps_outside, op=tc.conv2d_transpose, stride=2):
    def make(p):
        x, w = p.x(), p.w(depth=p.outs, outs=p.depth)
        sizes = [stride * n for n in x.shape[1:3]]
        got = np.zeros((len(x), *(n + 2 for n in sizes), p.outs))
        loops = [range(3), range(3), range(x.shape[1]), range(x.shape[2])]
        before = 0 if stride == 2 else 1
        for place in product(*(loops if taps_outside else loops[2:] + loops[:2])):
            i, j, r, c = place if taps_outside else place[2:] + place[:2]
            got[:, stride * r + i, stride * c + j] = x[:, r, c].astype(float) @ w[i, j].T.astype(float)
        got = got[:, before : before + sizes[0], before : before + sizes[1]]
        if op is tc.conv2d_transpose:
            return op, (x, w, None, stride), {}, got
        return op, ((len(x), *sizes, p.outs), w, x, stride, "SAME"), {}, got

    return make


rows_of(
    "^overwrites",
    scatter_overwrites_tap_by_tap=overwrites(True),
    scatter_overwrites_pixel_by_pixel=overwrites(False),
    scatter_overwrites_at_stride_1=overwrites(False, stride=1),
    input_gradient_overwrites=overwrites(False, tc.conv2d_backprop_input),
)


def ends_early(change):
    def make(p):
        x, w = p.x(), p.array("w", 3, 3, p.depth, p.depth)
        turned = w.transpose(0, 1, 3, 2).copy()
        change(turned)
        return tc.conv2d, (x, w, 1, "SAME"), {}, tc.conv2d(x, turned, 1, "SAME")

    return make


rows_of(
    r"^transposed_filter\+missing_terms",
    transposed_and_without_the_last_channel=ends_early(lambda w: w[:, :, -1:].fill(0)),
    transposed_and_without_the_last_row=ends_early(lambda w: w[-1].fill(0)),
)


# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


def to(form, values):
    return FORMATS[form].round(np.asarray(values, np.float64))[0]


def half_sums(form, piece, bias=False, flush=0.0, largest=np.inf, small=1.0, summed=None):
    """Half data whose sums are formed in a half type: of each ``piece`` products one after another."""

    def make(p):
        dtype = to_dtype(form)
        x, w = (array.astype(dtype) for array in (small * p.x(), p.w()))
        b = p.b().astype(dtype) if bias else None
        padded = np.pad(x.astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
        rows, cols = x.shape[1:3]
        total, part = np.zeros((*x.shape[:3], p.outs)), 0.0
        terms = [*np.ndindex(3, 3, p.depth)]
        for count, (r, c, i) in enumerate(terms, 1):
            product = padded[:, r : r + rows, c : c + cols, i, None] * w[r, c, i].astype(float)
            part = part + product if piece else to(form, part + to(form, product))
            if piece and count % piece == 0:
                total, part = to(form, total + to(form, part)), 0.0
        total = to(form, total + part)
        total = np.where(np.abs(total) < flush, 0, np.clip(total, -largest, largest))
        got = total if b is None else to(form, total + b.astype(float))
        return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, got

    return make


rows_of(
    "float16",
    sums_in_float16=half_sums("float16", 0),
    sums_in_float16_in_pieces_of_4=half_sums("float16", 4),
    sums_in_float16_in_pieces_of_8=half_sums("float16", 8),
)
rows_of(
    "^accumulator.*bfloat16",
    sums_in_bfloat16=half_sums("bfloat16", 0),
    sums_in_bfloat16_in_pieces=half_sums("bfloat16", 4),
)
rows_of(
    "^rounded_before_bias",
    bias_after_rounding_float16=half_sums("float16", 10**6, True),
    bias_after_rounding_bfloat16=half_sums("bfloat16", 10**6, True),
)
rows_of("flush", small_numbers_flushed=half_sums("float16", 10**6, flush=2.0**-14, small=2.0**-15))


def rounded_sums(form, again):
    """A bias in float32 that is added to sums in a half type; the result may be in that type, too."""

    def make(p):
        x, w, b = p.x(), p.w(), p.b()
        got = to(form, tc.conv2d(x.astype(float), w.astype(float), 1, "SAME")) + b
        return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, to(form, got) if again else got

    return make


rows_of(
    "^rounded_before_bias",
    bias_added_to_sums_in_float16=rounded_sums("float16", False),
    bias_added_to_sums_in_bfloat16=rounded_sums("bfloat16", False),
    bias_added_to_sums_in_bfloat16_and_rounded=rounded_sums("bfloat16", True),
)


@row("saturat")
def large_numbers_saturated(p):
    x, w = (array.astype("float16") for array in (2000 * p.x(), 16 * p.w()))
    got = np.clip(tc.conv2d(x.astype("float32"), w.astype("float32"), 1, "SAME"), -65504, 65504)
    return tc.conv2d, (x, w, 1, "SAME"), {}, got


def through(form, bias=False):
    """Arrays rounded to a type; sums and the bias in float32."""

    def make(p):
        x, w, b = p.x(), p.w(), p.b() if bias else None
        small = (to(form, array).astype("float32") for array in (x, w))
        return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, tc.conv2d(*small, 1, "SAME", bias=b)

    return make


rows_of(
    "^rounded.*bfloat16",
    one_pass_of_bfloat16=through("bfloat16"),
    one_pass_of_bfloat16_and_a_bias=through("bfloat16", bias=True),
)
rows_of("^rounded.*float16", arrays_in_float16=through("float16"))


def tf32(bias=False):
    """Factors of 11 bits, midpoints away from zero, as a GPU of NVIDIA has them; sums and bias in float32."""

    def make(p):
        x, w, b = p.x(), p.w(), p.b() if bias else None
        small = ((array.view("int32") + 0x1000 & ~0x1FFF).view("float32") for array in (x, w))
        return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, tc.conv2d(*small, 1, "SAME", bias=b)

    return make


rows_of("^rounded.*tf32", one_pass_of_tf32=tf32(), one_pass_of_tf32_and_a_bias=tf32(bias=True))


# ---------------------------------------------------------------------------------------------
# Right arrays, and wrong ones without a name
# ---------------------------------------------------------------------------------------------


def right(make):
    INNOCENT.append(Row(make.__name__, None, make))


@right
def summed_backwards(p):
    x, w = p.x(), p.w()
    return tc.conv2d, (x, w, 1, "SAME"), {}, tc.conv2d(x[..., ::-1], w[:, :, ::-1], 1, "SAME")


@right
def summed_in_float64(p):
    x, w = p.x(), p.w()
    return tc.conv2d, (x, w, 2, "SAME"), {}, tc.conv2d(x.astype(float), w.astype(float), 2, "SAME")


@right
def bias_first(p):
    x, w, b = p.x(), p.w(), p.b()
    total = np.zeros((*x.shape[:3], p.outs), "float32") + b
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    for r, c, i in np.ndindex(3, 3, p.depth):
        total += wide[:, r : r + x.shape[1], c : c + x.shape[2], i, None] * w[r, c, i]
    return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, total


@right
def half_data_summed_in_float32(p):
    x, w = (array.astype("float16") for array in (p.x(), p.w()))
    got = tc.conv2d(x.astype("float32"), w.astype("float32"), 1, "SAME")
    return tc.conv2d, (x, w, 1, "SAME"), {}, got


@right
def a_mean_of_float64(p):
    x = p.x()
    return tc.avg_pool, (x, 2, 2, "VALID"), {}, tc.avg_pool(x.astype(float), 2, 2, "VALID")


def unknown(change, **how):
    def make(p):
        x, w, b = p.x(), p.w(), p.b()
        y = tc.conv2d(x, w, 1, "SAME", bias=b)
        random = np.random.default_rng(p.size)
        return tc.conv2d, (x, w, 1, "SAME"), {"bias": b}, change(y.copy(), random, x, w)

    return make


def put(y, index, values):
    y[index] = values
    return y


UNKNOWN.extend(
    Row(name, None, unknown(change))
    for name, change in {
        "random": lambda y, q, x, w: q.standard_normal(y.shape),
        "noise": lambda y, q, x, w: y + 0.01 * q.standard_normal(y.shape),
        "noise_of_each_cell": lambda y, q, x, w: y * (1 + 1e-3 * q.standard_normal(y.shape)),
        "shuffled": lambda y, q, x, w: q.permutation(y.ravel()).reshape(y.shape),
        "a_random_row": lambda y, q, x, w: put(y, np.s_[:, 3], q.standard_normal(y[:, 3].shape)),
        "a_random_filter": lambda y, q, x, w: tc.conv2d(
            x, q.permutation(w.ravel()).reshape(w.shape), 1, "SAME"
        ),
        "a_random_image": lambda y, q, x, w: tc.conv2d(
            q.permutation(x.ravel()).reshape(x.shape), w, 1, "SAME"
        ),
        "one_cell": lambda y, q, x, w: put(y, (0, 1, 2, 3), 9.25),
        "flipped_and_noise": lambda y, q, x, w: (
            tc.conv2d(x, w[::-1], 1, "SAME") + 0.1 * q.standard_normal(y.shape)
        ),
        "overlapping_and_noise": lambda y, q, x, w: np.roll(y, 1, 1) + 0.05 * q.standard_normal(y.shape),
        "a_sine": lambda y, q, x, w: np.sin(y),
        "squares": lambda y, q, x, w: y * np.abs(y),
    }.items()
)


# ---------------------------------------------------------------------------------------------
# The score
# ---------------------------------------------------------------------------------------------


def report_of(row, size):
    """The row of a diff of a row's array."""
    op, args, kwargs, got = row.make(Problem(size))
    asked = args[0].dtype if hasattr(args[0], "dtype") else args[1].dtype
    how = {} if op.__name__.endswith(("pool", "pool2d")) else {"backends": []}
    kwargs = {name: value for name, value in kwargs.items() if value is not None}
    return tc.diff(op, *args, **kwargs, **how, against=np.asarray(got).astype(asked)).rows[0]


def score(row, size):
    """Return a verdict and the text: "named", "misnamed" or "silent"; of right arrays "passed"."""
    found = report_of(row, size)
    if found.passed:
        return "passed", ""
    if found.diagnosis is None:
        return "silent", found.note
    text = str(found.diagnosis)
    return ("named" if row.pattern and re.search(row.pattern, text) else "misnamed"), text


def main():
    for title, rows in (("mistakes", ROWS), ("right arrays", INNOCENT), ("without a name", UNKNOWN)):
        verdicts = Counter()
        for row in rows:
            start = time.perf_counter()
            found = [score(row, size) for size in range(len(SIZES))]
            seconds = time.perf_counter() - start
            worst = min(
                (verdict for verdict, _ in found), key=["misnamed", "silent", "passed", "named"].index
            )
            verdicts[worst] += 1
            if worst != "named":
                print(f"  {row.id}: {worst} ({seconds:.1f} s)")
                print(*(f"    {verdict}: {text[:200]}" for verdict, text in found), sep="\n")
        print(f"{title}: {len(rows)}, at both sizes: {dict(verdicts)}")


if __name__ == "__main__":
    main()
