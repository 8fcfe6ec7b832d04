"""Answers to every puzzle: at least three that are right, in different styles, and four that are wrong.

The wrong ones stand beside the code that the checker is expected to find. None of them is a function of the
puzzles' own table of mistakes: they are written as somebody would write them.
"""

import math
from fractions import Fraction

import numpy as np

import teachconv as tc

RIGHT = {}
WRONG = {}


def right(*names):
    def keep(function):
        for name in names:
            RIGHT.setdefault(name, []).append(function)
        return function

    return keep


def wrong(name, code):
    def keep(function):
        WRONG.setdefault(name, []).append((code, function))
        return function

    return keep


# ---------------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------------


@right("output_size")
def _(n, k, s, d, before, after):
    return (n + before + after - d * (k - 1) - 1) // s + 1


@right("output_size")
def _(n, k, s, d, before, after):
    count, start = 0, -before
    while start + (k - 1) * d < n + after:
        count, start = count + 1, start + s
    return count


@right("output_size")
def _(n, k, s, d, before, after):
    padded = np.zeros(n + before + after)
    return len(np.convolve(padded, np.zeros((k - 1) * d + 1), "valid")[::s])


@wrong("output_size", "rounded_up")
def _(n, k, s, d, before, after):
    return math.ceil((n + before + after - ((k - 1) * d + 1)) / s + 1)


@wrong("output_size", "one_missing")
def _(n, k, s, d, before, after):
    return math.floor((n + before + after - d * (k - 1) - 1) / s)


@wrong("output_size", "dilation_ignored")
def _(n, k, s, d, before, after):
    return 1 + math.floor((n + before + after - k) / s)


@wrong("output_size", "padding_ignored")
def _(n, k, s, d, before, after):
    return len(range(0, n - (k - 1) * d, s))


@wrong("output_size", "one_side")
def _(n, k, s, d, before, after):
    return (n - (k - 1) * d + before - 1) // s + 1


@right("same")
def _(n, k, s, d):
    total = max(0, (math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n)
    return total // 2, total - total // 2


@right("same")
def _(n, k, s, d):
    reach = (k - 1) * d + 1
    total = max(reach - s, 0) if n % s == 0 else max(reach - n % s, 0)
    return [total // 2, (total + 1) // 2]


@right("same")
def _(n, k, s, d):
    total = 0
    while (n + total - (k - 1) * d - 1) // s + 1 < (n + s - 1) // s:
        total += 1
    return np.array([total // 2, -(-total // 2)])


@wrong("same", "padding_side")
def _(n, k, s, d):
    total = max(0, ((n + s - 1) // s - 1) * s + (k - 1) * d + 1 - n)
    return (total + 1) // 2, total // 2


@wrong("same", "symmetric")
def _(n, k, s, d):
    return (d * (k - 1) // 2,) * 2


@wrong("same", "stride_ignored")
def _(n, k, s, d):
    total = d * (k - 1)
    return total // 2, total - total // 2


@wrong("same", "negative")
def _(n, k, s, d):
    total = (math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n
    return total // 2, total - total // 2


@wrong("same", "nothing")
def _(n, k, s, d):
    (math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n


@right("pool_size")
def _(n, k, s, padding):
    size = math.ceil((n + 2 * padding - k) / s) + 1
    return size - 1 if (size - 1) * s >= n + padding else size


@right("pool_size")
def _(n, k, s, padding):
    starts = [-padding]
    while starts[-1] + k < n + padding and starts[-1] + s < n:
        starts.append(starts[-1] + s)
    return len(starts)


@right("pool_size")
def _(n, k, s, padding):
    steps = -(-(n + 2 * padding - k) // s)
    return len([i for i in range(steps + 1) if i == 0 or i * s - padding < n])


@wrong("pool_size", "rounded_down")
def _(n, k, s, padding):
    return math.floor((n + 2 * padding - k) / s + 1)


@wrong("pool_size", "begins_in_padding")
def _(n, k, s, padding):
    return math.ceil((n + 2 * padding - k) / s) + 1


@wrong("pool_size", "size_over_stride")
def _(n, k, s, padding):
    return math.ceil(n / s)


@wrong("pool_size", "raised")
def _(n, k, s, padding):
    return n // (k - 2)


@right("receptive_field")
def _(layers):
    field = 1
    for k, s, d in layers[::-1]:
        field = field * s + (k - 1) * d + 1 - s
    return field


@right("receptive_field")
def _(layers):
    field, jump = 1, 1
    for k, s, d in layers:
        field += (k - 1) * d * jump
        jump *= s
    return field


@right("receptive_field")
def _(layers):
    seen = {0}
    for k, s, d in reversed(layers):
        seen = {place * s + tap * d for place in seen for tap in range(k)}
    return max(seen) - min(seen) + 1


@wrong("receptive_field", "stride_ignored")
def _(layers):
    field = 1
    for k, _, d in layers:
        field += (k - 1) * d
    return field


@wrong("receptive_field", "dilation_ignored")
def _(layers):
    field, jump = 1, 1
    for k, s, _ in layers:
        field, jump = field + (k - 1) * jump, jump * s
    return field


@wrong("receptive_field", "own_stride")
def _(layers):
    field, jump = 1, 1
    for k, s, d in layers:
        jump *= s
        field += (k - 1) * d * jump
    return field


@wrong("receptive_field", "multiplied")
def _(layers):
    return math.prod((k - 1) * d + 1 for k, s, d in layers)


@right("output_padding")
def _(i, k, s, p, wanted):
    return wanted - (i - 1) * s - k + 2 * p


@right("output_padding")
def _(i, k, s, p, wanted):
    full = np.zeros((i - 1) * s + k)
    return wanted - len(full[p : len(full) - p])


@right("output_padding")
def _(i, k, s, p, wanted):
    x, w = np.zeros((1, 1, i, i)), np.zeros((1, 1, k, k))
    return wanted - tc.dialects.torch.conv_transpose2d(x, w, stride=s, padding=p).shape[2]


@wrong("output_padding", "one_step_too_many")
def _(i, k, s, p, wanted):
    return wanted - s * i - k + 2 * p


@wrong("output_padding", "one_side")
def _(i, k, s, p, wanted):
    return wanted - ((i - 1) * s + k) + p


@wrong("output_padding", "padding_added")
def _(i, k, s, p, wanted):
    return wanted - (2 * p + k + (i - 1) * s)


@wrong("output_padding", "sign")
def _(i, k, s, p, wanted):
    return (i - 1) * s + k - 2 * p - wanted


@right("rows_needed")
def _(first, last, n, k, s, before):
    return max(0, first * s - before), min(n, (last - 1) * s - before + k)


@right("rows_needed")
def _(first, last, n, k, s, before):
    rows = {out * s - before + tap for out in range(first, last) for tap in range(k)} & set(range(n))
    return [min(rows), max(rows) + 1]


@right("rows_needed")
def _(first, last, n, k, s, before):
    return np.clip([first * s - before, (last - 1) * s - before + k], 0, n)


@wrong("rows_needed", "outside")
def _(first, last, n, k, s, before):
    return first * s - before, (last - 1) * s + k - before


@wrong("rows_needed", "padding_ignored")
def _(first, last, n, k, s, before):
    return s * first, min(n, s * (last - 1) + k)


@wrong("rows_needed", "last_included")
def _(first, last, n, k, s, before):
    return max(0, s * first - before), min(n, s * last + k - before)


@wrong("rows_needed", "stride_ignored")
def _(first, last, n, k, s, before):
    return np.clip([first - before, last - 1 - before + k], 0, n)


@right("due")
def _(arrived, k, s, before):
    full = arrived + before - k
    return 0 if full < 0 else full // s + 1


@right("due")
def _(arrived, k, s, before):
    return sum(i * s - before + k <= arrived for i in range(arrived + before + 1))


@right("due")
def _(arrived, k, s, before):
    return len(range(k, arrived + before + 1, s))


@wrong("due", "padding_ignored")
def _(arrived, k, s, before):
    return len(range(k, arrived + 1, s))


@wrong("due", "negative")
def _(arrived, k, s, before):
    return math.floor((arrived + before - k) / s) + 1


@wrong("due", "too_late")
def _(arrived, k, s, before):
    return max((arrived + before - k) // s, 0)


@wrong("due", "taps_ignored")
def _(arrived, k, s, before):
    return int(arrived / s)


def split(total):
    return total // 2, total - total // 2


def same_pads(n, k, s):
    return split(max(0, ((n + s - 1) // s - 1) * s + k - n))


@right("torch_pad")
def _(rows, cols, k, s):
    return (*same_pads(cols, k, s), *same_pads(rows, k, s))


@right("torch_pad")
def _(rows, cols, k, s):
    g = tc.conv2d_geometry((1, rows, cols, 1), (k, k, 1, 1), s, "SAME")
    return [g.cols.pad_before, g.cols.pad_after, g.rows.pad_before, g.rows.pad_after]


@right("torch_pad")
def _(rows, cols, k, s):
    return np.array([same_pads(n, k, s) for n in (rows, cols)])[::-1].ravel()


@wrong("torch_pad", "order")
def _(rows, cols, k, s):
    return np.array([same_pads(n, k, s) for n in (rows, cols)]).ravel()


@wrong("torch_pad", "symmetric")
def _(rows, cols, k, s):
    pad = (k - 1) // 2
    return pad, pad, pad, pad


@wrong("torch_pad", "padding_side")
def _(rows, cols, k, s):
    return np.array([same_pads(n, k, s)[::-1] for n in (cols, rows)]).ravel()


@wrong("torch_pad", "stride_ignored")
def _(rows, cols, k, s):
    return [*split(k - 1), *split(k - 1)]


@wrong("torch_pad", "shape")
def _(rows, cols, k, s):
    return same_pads(cols, k, s), same_pads(rows, k, s)


# ---------------------------------------------------------------------------------------------
# Sums
# ---------------------------------------------------------------------------------------------


@right("correlate")
def _(x, w):
    result = np.zeros(len(x) - len(w) + 1)
    for i in range(len(result)):
        for j in range(len(w)):
            result[i] += x[i + j] * w[j]
    return result


@right("correlate")
def _(x, w):
    return np.correlate(x, w)


@right("correlate")
def _(x, w):
    return [sum(a * b for a, b in zip(x[i:], w, strict=False)) for i in range(len(x) - len(w) + 1)]


@wrong("correlate", "flipped_filter")
def _(x, w):
    return [sum(x[i + j] * w[-1 - j] for j in range(len(w))) for i in range(len(x) - len(w) + 1)]


@wrong("correlate", "one_missing")
def _(x, w):
    return [x[i : i + len(w)] @ w for i in range(len(x) - len(w))]


@wrong("correlate", "full")
def _(x, w):
    return np.convolve(x, w[::-1])


@wrong("correlate", "raised")
def _(x, w):
    return [sum(x[i + j] * w[j] for j in range(len(w))) for i in range(len(x))]


@wrong("correlate", "shape")
def _(x, w):
    return float(np.correlate(x, w)[0])


@right("causal")
def _(x, w, d):
    result = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(w)):
            source = i - (len(w) - 1 - j) * d
            if source >= 0:
                result[i] += x[source] * w[j]
    return result


@right("causal")
def _(x, w, d):
    reach = (len(w) - 1) * d
    x = np.concatenate([np.zeros(reach), x])
    return [x[i : i + reach + 1 : d] @ w for i in range(len(x) - reach)]


@right("causal")
def _(x, w, d):
    spread = np.zeros((len(w) - 1) * d + 1)
    spread[::d] = w
    return np.convolve(x, spread[::-1])[: len(x)]


@wrong("causal", "same")
def _(x, w, d):
    reach = (len(w) - 1) * d
    x = np.pad(x, (reach // 2, reach - reach // 2))
    return [x[i : i + reach + 1 : d] @ w for i in range(len(x) - reach)]


@wrong("causal", "looks_ahead")
def _(x, w, d):
    x = np.append(x, np.zeros((len(w) - 1) * d))
    return [x[i : i + (len(w) - 1) * d + 1 : d] @ w for i in range(len(x) - (len(w) - 1) * d)]


@wrong("causal", "flipped_filter")
def _(x, w, d):
    spread = np.zeros((len(w) - 1) * d + 1)
    spread[::d] = w
    return np.convolve(x, spread)[: len(x)]


@wrong("causal", "one_late")
def _(x, w, d):
    reach = (len(w) - 1) * d + 1
    x = np.pad(x, (reach, 0))
    return [x[i : i + reach : d] @ w for i in range(len(x) - reach)]


@right("dilated")
def _(x, w, d):
    result = []
    for i in range(len(x) - (len(w) - 1) * d):
        result.append(0.0)
        for j, weight in enumerate(w):
            result[-1] += x[i + j * d] * weight
    return result


@right("dilated")
def _(x, w, d):
    reach = (len(w) - 1) * d
    return [x[i : i + reach + 1 : d] @ w for i in range(len(x) - reach)]


@right("dilated")
def _(x, w, d):
    wide = np.zeros((len(w) - 1) * d + 1)
    wide[::d] = w
    return np.correlate(x, wide)


@wrong("dilated", "dilation_ignored")
def _(x, w, d):
    return np.convolve(x, w[::-1], "valid")


@wrong("dilated", "strided")
def _(x, w, d):
    return [x[i : i + len(w)] @ w for i in range(0, len(x) - len(w) + 1, d)]


@wrong("dilated", "flipped_filter")
def _(x, w, d):
    reach = (len(w) - 1) * d
    return [x[i : i + reach + 1 : d] @ w[::-1] for i in range(len(x) - reach)]


@wrong("dilated", "raised")
def _(x, w, d):
    return [sum(x[i + j * d] * w[j] for j in range(len(w))) for i in range(len(x) - len(w) + 1)]


def convolved(x, w, stride, padding):
    x = np.pad(x, [(0, 0), (padding, padding), (padding, padding), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (1, 2))[:, ::stride, ::stride]
    return np.einsum("nrcixy,xyio->nrco", windows, w)


@right("conv2d")
def _(x, w, stride, padding):
    images, rows, cols, _ = x.shape
    k_rows, k_cols, channels, out = w.shape
    sizes = ((rows + 2 * padding - k_rows) // stride + 1, (cols + 2 * padding - k_cols) // stride + 1)
    result = np.zeros((images, *sizes, out))
    for n, r, c, o in np.ndindex(result.shape):
        for a, b, i in np.ndindex(k_rows, k_cols, channels):
            row, col = r * stride - padding + a, c * stride - padding + b
            if 0 <= row < rows and 0 <= col < cols:
                result[n, r, c, o] += x[n, row, col, i] * w[a, b, i, o]
    return result


right("conv2d")(convolved)


@right("conv2d")
def _(x, w, stride, padding):
    x = np.pad(x, [(0, 0), (padding, padding), (padding, padding), (0, 0)])
    rows, cols = ((x.shape[i + 1] - w.shape[i]) // stride + 1 for i in (0, 1))
    return sum(
        x[:, a : a + rows * stride : stride, b : b + cols * stride : stride][:, :rows, :cols] @ w[a, b]
        for a, b in np.ndindex(w.shape[:2])
    )


@wrong("conv2d", "flipped_filter")
def _(x, w, stride, padding):
    return convolved(x, w[::-1, ::-1], stride, padding)


@wrong("conv2d", "one_channel")
def _(x, w, stride, padding):
    return convolved(x[..., :1], w[:, :, :1], stride, padding)


@wrong("conv2d", "stride_phase")
def _(x, w, stride, padding):
    return convolved(x[:, 1:, 1:], w, stride, padding) if stride > 1 else convolved(x, w, stride, padding)


@wrong("conv2d", "shape")
def _(x, w, stride, padding):
    return convolved(x, w, stride, padding)[:, :-1]


def in_groups(x, w, groups):
    parts = zip(np.split(x, groups, 3), np.split(w, groups, 3), strict=True)
    return [convolved(part, each, 1, 0) for part, each in parts]


@right("grouped")
def _(x, w, groups):
    return np.concatenate(in_groups(x, w, groups), -1)


@right("grouped")
def _(x, w, groups):
    size, out = w.shape[2:]
    columns = []
    for o in range(out):
        first = o // (out // groups) * size
        columns.append(convolved(x[..., first : first + size], w[..., o : o + 1], 1, 0)[..., 0])
    return np.stack(columns, -1)


@right("grouped")
def _(x, w, groups):
    whole = np.zeros((*w.shape[:2], x.shape[3], w.shape[3]))
    size, out = w.shape[2], w.shape[3] // groups
    for g in range(groups):
        whole[:, :, g * size : (g + 1) * size, g * out : (g + 1) * out] = w[..., g * out : (g + 1) * out]
    return convolved(x, whole, 1, 0)


@wrong("grouped", "first_group")
def _(x, w, groups):
    return convolved(x[..., : w.shape[2]], w, 1, 0)


@wrong("grouped", "summed")
def _(x, w, groups):
    return np.sum(in_groups(x, w, groups), 0)


@wrong("grouped", "groups")
def _(x, w, groups):
    order = np.arange(x.shape[3]).reshape(-1, groups).T.ravel()
    return np.concatenate(in_groups(x[..., order], w, groups), -1)


@wrong("grouped", "all_channels")
def _(x, w, groups):
    return convolved(x, np.tile(w, (1, 1, groups, 1)), 1, 0)


@right("depthwise")
def by_channel(x, w):
    channels = range(x.shape[3])
    return np.concatenate([convolved(x[..., c : c + 1], w[:, :, c : c + 1], 1, 0) for c in channels], -1)


@right("depthwise")
def _(x, w):
    k_rows, k_cols, channels, m = w.shape
    result = np.zeros((1, x.shape[1] - k_rows + 1, x.shape[2] - k_cols + 1, channels * m))
    for _, r, c, o in np.ndindex(result.shape):
        for a, b in np.ndindex(k_rows, k_cols):
            result[0, r, c, o] += x[0, r + a, c + b, o // m] * w[a, b, o // m, o % m]
    return result


@right("depthwise")
def _(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (1, 2))
    found = np.einsum("nrciab,abim->nrcim", windows, w)
    return found.reshape(*found.shape[:3], -1)


@wrong("depthwise", "channel_order")
def _(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (1, 2))
    found = np.einsum("nrciab,abim->nrcmi", windows, w)
    return found.reshape(*found.shape[:3], -1)


@wrong("depthwise", "summed")
def _(x, w):
    return convolved(x, w, 1, 0)


@wrong("depthwise", "flipped_filter")
def _(x, w):
    return by_channel(x, w[::-1, ::-1])


@wrong("depthwise", "first_filter")
def _(x, w):
    return by_channel(x, w[..., :1])


# ---------------------------------------------------------------------------------------------
# Matrices
# ---------------------------------------------------------------------------------------------


@right("im2col")
def _(x, k, s):
    rows, cols, _ = x.shape
    return [
        x[r : r + k, c : c + k].ravel() for r in range(0, rows - k + 1, s) for c in range(0, cols - k + 1, s)
    ]


@right("im2col")
def _(x, k, s):
    found = np.lib.stride_tricks.sliding_window_view(x, (k, k), (0, 1))[::s, ::s]
    return np.moveaxis(found, 2, 4).reshape(-1, k * k * x.shape[2])


@right("im2col")
def _(x, k, s):
    rows, cols = np.arange(0, x.shape[0] - k + 1, s), np.arange(0, x.shape[1] - k + 1, s)
    r = rows[:, None, None, None] + np.arange(k)[:, None]
    c = cols[None, :, None, None] + np.arange(k)
    return x[r, c].reshape(len(rows) * len(cols), -1)


@wrong("im2col", "transposed")
def _(x, k, s):
    return np.stack(loops_of_windows(x, k, s), 1)


def loops_of_windows(x, k, s):
    corners = [(r, c) for r in range(0, x.shape[0] - k + 1, s) for c in range(0, x.shape[1] - k + 1, s)]
    return [x[r : r + k, c : c + k].ravel() for r, c in corners]


@wrong("im2col", "channels_first")
def _(x, k, s):
    return [patch.reshape(k * k, -1).T.ravel() for patch in loops_of_windows(x, k, s)]


@wrong("im2col", "stride_ignored")
def _(x, k, s):
    return loops_of_windows(x, k, 1)


@wrong("im2col", "flipped")
def _(x, k, s):
    return [patch.reshape(k, k, -1)[::-1, ::-1].ravel() for patch in loops_of_windows(x, k, s)]


def stamped(patches, rows, cols, k, s, stamp):
    image = np.zeros((rows, cols, patches.shape[1] // k**2))
    corners = [(r, c) for r in range(0, rows - k + 1, s) for c in range(0, cols - k + 1, s)]
    for (r, c), patch in zip(corners, patches, strict=True):
        stamp(image[r : r + k, c : c + k], patch)
    return image


def add_patch(place, patch):
    place += patch.reshape(place.shape)


@right("col2im")
def _(patches, rows, cols, k, s):
    return stamped(patches, rows, cols, k, s, add_patch)


@right("col2im")
def _(patches, rows, cols, k, s):
    channels = patches.shape[1] // k**2
    places = np.array(loops_of_windows(np.arange(rows * cols * channels).reshape(rows, cols, channels), k, s))
    image = np.zeros(rows * cols * channels)
    np.add.at(image, places, patches)
    return image.reshape(rows, cols, channels)


@right("col2im")
def _(patches, rows, cols, k, s):
    size = rows * cols * patches.shape[1] // k**2
    unit = np.eye(size).reshape(size, rows, cols, -1)
    matrix = np.stack([np.ravel(loops_of_windows(each, k, s)) for each in unit], 1)
    return (matrix.T @ patches.ravel()).reshape(rows, cols, -1)


@wrong("col2im", "overwritten")
def _(patches, rows, cols, k, s):
    def put(place, patch):
        place[:] = patch.reshape(place.shape)

    return stamped(patches, rows, cols, k, s, put)


@wrong("col2im", "channels_first")
def _(patches, rows, cols, k, s):
    def put(place, patch):
        place += patch.reshape(-1, k, k).transpose(1, 2, 0)

    return stamped(patches, rows, cols, k, s, put)


@wrong("col2im", "flipped")
def _(patches, rows, cols, k, s):
    def put(place, patch):
        place[::-1, ::-1] += patch.reshape(place.shape)

    return stamped(patches, rows, cols, k, s, put)


@wrong("col2im", "shape")
def _(patches, rows, cols, k, s):
    return stamped(patches, rows, cols, k, s, add_patch)[None]


@right("matrix")
def _(w, n, s):
    matrix = np.zeros(((n - len(w)) // s + 1, n))
    for i in range(len(matrix)):
        for j in range(len(w)):
            matrix[i, i * s + j] = w[j]
    return matrix


@right("matrix")
def rolled(w, n, s):
    row = [*w, *[0] * (n - len(w))]
    return [np.roll(row, i) for i in range(0, n - len(w) + 1, s)]


@right("matrix")
def _(w, n, s):
    return np.stack([np.correlate(unit, w)[::s] for unit in np.eye(n)], 1)


@wrong("matrix", "transposed")
def _(w, n, s):
    return [np.correlate(unit, w)[::s] for unit in np.eye(n)]


@wrong("matrix", "flipped_filter")
def _(w, n, s):
    return np.stack([np.convolve(unit, w, "valid")[::s] for unit in np.eye(n)], 1)


@wrong("matrix", "stride_ignored")
def _(w, n, s):
    return np.stack([np.correlate(unit, w) for unit in np.eye(n)], 1)


@wrong("matrix", "wraps")
def _(w, n, s):
    return [[w[(j - i) % n] if (j - i) % n < len(w) else 0 for j in range(n)] for i in range(n)]


@right("scatter")
def _(x, w, s):
    result = np.zeros((len(x) - 1) * s + len(w))
    for m in range(len(x)):
        for j in range(len(w)):
            result[m * s + j] += x[m] * w[j]
    return result


@right("scatter")
def spread(x, w, s):
    wide = np.zeros((len(x) - 1) * s + 1)
    wide[::s] = x
    return np.convolve(wide, w)


@right("scatter")
def _(x, w, s):
    size = (len(x) - 1) * s + len(w)
    return x @ np.stack([np.pad(w, (m * s, size - m * s - len(w))) for m in range(len(x))])


@wrong("scatter", "overwritten")
def _(x, w, s):
    result = [0.0] * ((len(x) - 1) * s + len(w))
    for m in range(len(x)):
        for j in range(len(w)):
            result[m * s + j] = x[m] * w[j]
    return result


@wrong("scatter", "flipped_filter")
def _(x, w, s):
    wide = np.zeros((len(x) - 1) * s + 1)
    wide[::s] = x
    return np.correlate(wide, w, "full")


@wrong("scatter", "stride_ignored")
def _(x, w, s):
    return np.convolve(x, w)


@wrong("scatter", "cut")
def _(x, w, s):
    wide = np.kron(x, np.eye(s)[0])
    return np.convolve(wide, w)[: min(len(wide), (len(x) - 1) * s + len(w))]


@right("gather")
def _(x, w, s, y):
    total = 0.0
    for j in range(len(w)):
        m, rest = divmod(y - j, s)
        if rest == 0 and 0 <= m < len(x):
            total += x[m] * w[j]
    return total


@right("gather")
def _(x, w, s, y):
    return sum(x[m] * w[j] for m in range(len(x)) for j in range(len(w)) if m * s + j == y)


@right("gather")
def _(x, w, s, y):
    return spread(x, w, s)[y]


@wrong("gather", "not_divisible")
def _(x, w, s, y):
    return sum(x[int(np.floor((y - j) / s))] * w[j] for j in range(len(w)) if 0 <= y - j < len(x) * s)


@wrong("gather", "flipped_filter")
def _(x, w, s, y):
    return sum(x[m] * w[-1 - j] for m in range(len(x)) for j in range(len(w)) if m * s + j == y)


@wrong("gather", "wraps")
def _(x, w, s, y):
    total = 0.0
    for j in range(len(w)):
        m, rest = divmod(y - j, s)
        if rest == 0 and m < len(x):
            total += x[m] * w[j]
    return total


@wrong("gather", "shape")
def _(x, w, s, y):
    return spread(x, w, s)


@right("torch_weight")
def _(w):
    return w.transpose(3, 2, 0, 1)


@right("torch_weight")
def _(w):
    return np.moveaxis(np.moveaxis(w, 3, 0), 3, 1)


@right("torch_weight")
def _(w):
    return np.einsum("rcoi->iorc", w)


@wrong("torch_weight", "flipped_filter")
def _(w):
    return np.einsum("rcoi->iorc", np.flip(w, (0, 1)))


@wrong("torch_weight", "transposed_filter")
def _(w):
    return np.einsum("rcoi->oirc", w)


@wrong("torch_weight", "swapped_filter_axes")
def _(w):
    return w.T


@wrong("torch_weight", "reshaped")
def _(w):
    rows, cols, out, channels = w.shape
    return w.reshape(channels, out, rows, cols)


B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])


@right("winograd")
def _(d, g):
    return (G @ g) * (B @ d)


@right("winograd")
def _(d, g):
    even, odd = (g[0] + g[2]) / 2, g[1] / 2
    return [
        (d[0] - d[2]) * g[0],
        (d[1] + d[2]) * (even + odd),
        (d[2] - d[1]) * (even - odd),
        (d[1] - d[3]) * g[2],
    ]


@right("winograd")
def _(d, g):
    outer = (d[0] - d[2]) * g[0], (d[1] - d[3]) * g[2]
    first, second = np.correlate(d, g)
    total, rest = first - outer[0], second + outer[1]
    return outer[0], (total + rest) / 2, (total - rest) / 2, outer[1]


@wrong("winograd", "half")
def _(d, g):
    return (np.array([[1, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 1]]) @ g) * (B @ d)


@wrong("winograd", "sign")
def _(d, g):
    return (G @ g) * (np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]]) @ d)


@wrong("winograd", "outputs")
def _(d, g):
    return [d[:3] @ g, d[1:] @ g]


@wrong("winograd", "raised")
def _(d, g):
    return G @ d


# ---------------------------------------------------------------------------------------------
# Gradients
# ---------------------------------------------------------------------------------------------


@right("bias_gradient")
def _(dy, z):
    return np.where(z > 0, dy, 0).sum(axis=(0, 1, 2))


@right("bias_gradient")
def _(dy, z):
    result = np.zeros(dy.shape[3])
    for cell in np.ndindex(dy.shape):
        if z[cell] > 0:
            result[cell[3]] += dy[cell]
    return result


@right("bias_gradient")
def _(dy, z):
    return np.einsum("nrcb,nrcb->b", dy, np.heaviside(z, 0))


@wrong("bias_gradient", "relu_ignored")
def _(dy, z):
    return np.einsum("nrcb->b", dy)


@wrong("bias_gradient", "at_zero")
def _(dy, z):
    return np.einsum("nrcb,nrcb->b", dy, np.heaviside(z, 1))


@wrong("bias_gradient", "mean")
def _(dy, z):
    return np.where(z > 0, dy, 0).mean((0, 1, 2))


@wrong("bias_gradient", "images_kept")
def _(dy, z):
    return np.where(z > 0, dy, 0).sum(1).sum(1)


@right("input_gradient")
def _(dy, w, n, s):
    dx = [0.0] * n
    for i, grad in enumerate(dy):
        for j, weight in enumerate(w):
            dx[i * s + j] += grad * weight
    return dx


@right("input_gradient")
def _(dy, w, n, s):
    return np.transpose(rolled(w, n, s)) @ dy


@right("input_gradient")
def _(dy, w, n, s):
    found = spread(dy, w, s)
    return np.pad(found, (0, n - len(found)))


@wrong("input_gradient", "flipped_filter")
def _(dy, w, n, s):
    return np.transpose(rolled(w[::-1], n, s)) @ dy


@wrong("input_gradient", "overwritten")
def _(dy, w, n, s):
    dx = [0.0] * n
    for i, grad in enumerate(dy):
        for j, weight in enumerate(w):
            dx[i * s + j] = grad * weight
    return dx


@wrong("input_gradient", "shape")
def _(dy, w, n, s):
    return spread(dy, w, s)


@wrong("input_gradient", "raised")
def _(dy, w, n, s):
    return np.array(rolled(w, n, s)) @ dy


@right("filter_gradient")
def _(x, dy, k, s):
    dw = np.zeros(k)
    for i in range(len(dy)):
        for j in range(k):
            dw[j] += x[i * s + j] * dy[i]
    return dw


@right("filter_gradient")
def _(x, dy, k, s):
    return [x[j : j + (len(dy) - 1) * s + 1 : s] @ dy for j in range(k)]


@right("filter_gradient")
def _(x, dy, k, s):
    wide = np.zeros((len(dy) - 1) * s + 1)
    wide[::s] = dy
    return np.correlate(x, wide)[:k]


@wrong("filter_gradient", "flipped_filter")
def _(x, dy, k, s):
    return [x[j : j + (len(dy) - 1) * s + 1 : s] @ dy for j in reversed(range(k))]


@wrong("filter_gradient", "stride_ignored")
def _(x, dy, k, s):
    return np.correlate(x, dy)[:k]


@wrong("filter_gradient", "mean")
def _(x, dy, k, s):
    return [np.mean(x[j : j + (len(dy) - 1) * s + 1 : s] * dy) for j in range(k)]


@wrong("filter_gradient", "flipped_gradient")
def _(x, dy, k, s):
    return [x[j : j + (len(dy) - 1) * s + 1 : s] @ dy[::-1] for j in range(k)]


@right("is_adjoint")
def _(forward, backward, x, y):
    return np.vdot(forward(x), y) == np.vdot(x, backward(y))


@right("is_adjoint")
def _(forward, backward, x, y):
    return sum(forward(x) * y) == sum(x * backward(y))


@right("is_adjoint")
def _(forward, backward, x, y):
    left = sum(Fraction(a) * Fraction(b) for a, b in zip(forward(x), y, strict=True))
    return left - sum(Fraction(a) * Fraction(b) for a, b in zip(x, backward(y), strict=True)) == 0


@wrong("is_adjoint", "always")
def _(forward, backward, x, y):
    return True


@wrong("is_adjoint", "inverse")
def _(forward, backward, x, y):
    undone = backward(forward(x))
    return undone.shape == x.shape and bool((undone == x).all())


@wrong("is_adjoint", "shape")
def _(forward, backward, x, y):
    return np.outer(forward(x), y) == 0


@wrong("is_adjoint", "raised")
def _(forward, backward, x, y):
    return bool(forward(x) @ y == backward(x, y))


def values_of(program, inputs):
    values = list(inputs)
    for op, i, j in program:
        values.append(values[i] + values[j] if op == "add" else values[i] * values[j])
    return values


def walked(program, inputs, step):
    values = values_of(program, inputs)
    grads = [0.0] * (len(values) - 1) + [1.0]
    for number in reversed(range(len(program))):
        step(values, grads, *program[number], grads[len(inputs) + number])
    return grads[: len(inputs)]


@right("tape")
def _(program, inputs):
    def step(values, grads, op, i, j, grad):
        grads[i] += grad * (1 if op == "add" else values[j])
        grads[j] += grad * (1 if op == "add" else values[i])

    return walked(program, inputs, step)


@right("tape")
def _(program, inputs):
    """The last value is a polynomial: exact differences of fractions find its derivative."""
    step = Fraction(1, 2**200)
    found = []
    for place in range(len(inputs)):
        moved = [Fraction(value) + step * (index == place) for index, value in enumerate(inputs)]
        slope = (values_of(program, moved)[-1] - Fraction(values_of(program, inputs)[-1])) / step
        found.append(float(slope))
    return found


@right("tape")
def _(program, inputs):
    """Forward mode: each value with its derivatives in all inputs."""
    pairs = [(value, np.eye(len(inputs))[n]) for n, value in enumerate(inputs)]
    for op, i, j in program:
        (a, da), (b, db) = pairs[i], pairs[j]
        pairs.append((a + b, da + db) if op == "add" else (a * b, da * b + a * db))
    return pairs[-1][1]


@wrong("tape", "own_factor")
def _(program, inputs):
    def step(values, grads, op, i, j, grad):
        grads[i] += grad * (1 if op == "add" else values[i])
        grads[j] += grad * (1 if op == "add" else values[j])

    return walked(program, inputs, step)


@wrong("tape", "overwritten")
def _(program, inputs):
    def step(values, grads, op, i, j, grad):
        grads[i] = grad * (1 if op == "add" else values[j])
        grads[j] = grad * (1 if op == "add" else values[i])

    return walked(program, inputs, step)


@wrong("tape", "only_sums")
def _(program, inputs):
    def step(values, grads, op, i, j, grad):
        grads[i] += grad
        grads[j] += grad

    return walked(program, inputs, step)


@wrong("tape", "shape")
def _(program, inputs):
    return values_of(program, inputs)


# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


@right("error_bound")
def _(x, w):
    u = 2.0**-24
    gamma = len(x) * u / (1 - len(x) * u)
    return gamma * np.abs(x.astype("float64") * w.astype("float64")).sum()


@right("error_bound")
def _(x, w):
    ku = len(x) * float(np.finfo("float32").eps) / 2
    return ku / (1 - ku) * sum(abs(float(a) * float(b)) for a, b in zip(x, w, strict=True))


@right("error_bound")
def _(x, w):
    ku = Fraction(len(x), 2**24)
    return float(
        ku / (1 - ku) * sum(abs(Fraction(float(a)) * Fraction(float(b))) for a, b in zip(x, w, strict=True))
    )


@wrong("error_bound", "unit")
def _(x, w):
    ku = len(x) * float(np.finfo("float32").eps)
    return ku / (1 - ku) * np.abs(x.astype("float64") * w.astype("float64")).sum()


@wrong("error_bound", "no_terms")
def _(x, w):
    return 2.0**-24 / (1 - 2.0**-24) * np.abs(x.astype("float64") * w.astype("float64")).sum()


@wrong("error_bound", "of_result")
def _(x, w):
    ku = len(x) * 2.0**-24
    return ku / (1 - ku) * abs(x.astype("float64") @ w.astype("float64"))


@wrong("error_bound", "shape")
def _(x, w):
    ku = len(x) * 2.0**-24
    return ku / (1 - ku) * np.abs(x * w)


@right("to_bfloat16")
def _(x):
    whole = x.view("uint32")
    return ((whole + 0x7FFF + (whole >> 16 & 1)) & 0xFFFF0000).astype("uint32").view("float32")


@right("to_bfloat16")
def _(x):
    fraction, exponent = np.frexp(x.astype("float64"))
    return np.ldexp(np.rint(fraction * 256) / 256, exponent).astype("float32")


@right("to_bfloat16")
def _(x):
    result = []
    for value in x:
        low = (np.float32(value).view("uint32") & np.uint32(0xFFFF0000)).view("float32")
        high = (low.view("uint32") + np.uint32(0x10000)).view("float32")
        down, up = abs(float(value) - float(low)), abs(float(high) - float(value))
        even = low.view("uint32") >> np.uint32(16) & np.uint32(1) == 0
        result.append(low if down < up or (down == up and even) else high)
    return np.array(result)


@wrong("to_bfloat16", "cut_off")
def _(x):
    return (x.view("uint32") >> 16 << 16).astype("uint32").view("float32")


@wrong("to_bfloat16", "half_up")
def _(x):
    fraction, exponent = np.frexp(x.astype("float64"))
    return np.ldexp(np.trunc(fraction * 256 + np.copysign(0.5, fraction)) / 256, exponent).astype("float32")


@wrong("to_bfloat16", "float16")
def _(x):
    return x.astype("float16").astype("float32")


@wrong("to_bfloat16", "not_rounded")
def _(x):
    return np.array(x)


@right("tolerance")
def _(x, w):
    return 2 * RIGHT["error_bound"][0](x, w)


@right("tolerance")
def _(x, w):
    return 100 * len(x) * 2.0**-24 * np.abs(x.astype(float) * w).sum()


@right("tolerance")
def _(x, w):
    return np.abs(x * w).min() / 4


@wrong("tolerance", "too_small")
def _(x, w):
    return 1e-8


@wrong("tolerance", "too_small")
def _(x, w):
    return np.finfo("float32").eps * abs(float(x @ w)) / 8


@wrong("tolerance", "too_large")
def _(x, w):
    return 0.5


@wrong("tolerance", "shape")
def _(x, w):
    return 1e-3 * np.abs(x * w)


@right("fold_batch_norm")
def _(w, b, gamma, beta, mean, var, eps):
    factor = gamma / np.sqrt(var + eps)
    return np.vstack([w * factor, (b - mean) * factor + beta])


@right("fold_batch_norm")
def _(w, b, gamma, beta, mean, var, eps):
    columns = []
    for o in range(len(b)):
        factor = gamma[o] / math.sqrt(var[o] + eps)
        columns.append([*(factor * w[:, o]), factor * (b[o] - mean[o]) + beta[o]])
    return np.transpose(columns)


@right("fold_batch_norm")
def _(w, b, gamma, beta, mean, var, eps):
    def layer(x):
        return gamma * (x @ w + b - mean) / np.sqrt(var + eps) + beta

    bias = layer(np.zeros((1, len(w))))
    return np.concatenate([layer(np.eye(len(w))) - bias, bias])


@wrong("fold_batch_norm", "eps_outside")
def _(w, b, gamma, beta, mean, var, eps):
    factor = gamma / (var**0.5 + eps)
    return np.vstack([w * factor, (b - mean) * factor + beta])


@wrong("fold_batch_norm", "no_root")
def _(w, b, gamma, beta, mean, var, eps):
    factor = gamma / (eps + var)
    return np.vstack([w * factor, (b - mean) * factor + beta])


@wrong("fold_batch_norm", "bias_not_scaled")
def _(w, b, gamma, beta, mean, var, eps):
    factor = gamma / np.sqrt(var + eps)
    return np.vstack([w * factor, b + (beta - mean * factor)])


@wrong("fold_batch_norm", "shape")
def _(w, b, gamma, beta, mean, var, eps):
    return w * gamma / np.sqrt(var + eps)


# ---------------------------------------------------------------------------------------------
# Find the bug
# ---------------------------------------------------------------------------------------------

CODES = (
    "flipped_filter padding_side swapped_filter_axes shift transposed_filter dilation bias swapped_strides"
)


@right("find_the_bug")
def _(number):
    return CODES.split()[number]


@right("find_the_bug")
def _(number):
    return np.array(CODES.split())[number]


@right("find_the_bug")
def _(number):
    from teachconv import exercises as ex

    random = np.random.default_rng(2)
    x, w, b = (random.standard_normal(shape) for shape in ((1, 8, 11, 3), (3, 3, 3, 3), (3,)))
    how = {"dilations": (1, 2), "bias": b}
    report = tc.diff(tc.conv2d, x, w, (2, 1), "SAME", backends=[], against=ex.buggy(number, x, w, b), **how)
    return report.rows[0].diagnosis.code.partition("(")[0]


@wrong("find_the_bug", "wrong")
def _(number):
    return CODES.split()[number - 1]


@wrong("find_the_bug", "wrong")
def _(number):
    return "shift"


@wrong("find_the_bug", "nothing")
def _(number):
    print(CODES.split()[number])


@wrong("find_the_bug", "shape")
def _(number):
    return CODES.split()


@right("mean_pool")
def _(x, k, s, padding):
    return np.array([x[max(0, i) : i + k].mean() for i in range(-padding, len(x) + padding - k + 1, s)])


@right("mean_pool")
def _(x, k, s, padding):
    padded = np.pad(x, padding, constant_values=np.nan)
    return np.nanmean(np.lib.stride_tricks.sliding_window_view(padded, k), 1)[::s]


@right("mean_pool")
def _(x, k, s, padding):
    """As PyTorch's call, which is told not to count."""
    pool = tc.dialects.torch.avg_pool1d
    return pool(x[None, None], k, s, padding, count_include_pad=False)[0, 0]


@wrong("mean_pool", "padding_counted")
def _(x, k, s, padding):
    padded = np.concatenate([np.zeros(padding), x, np.zeros(padding)])
    return [padded[i : i + k].mean() for i in range(0, len(padded) - k + 1, s)]


@wrong("mean_pool", "padding_ignored")
def _(x, k, s, padding):
    return [x[i : i + k].mean() for i in range(0, len(x) - k + 1, s)]


@wrong("mean_pool", "sum")
def _(x, k, s, padding):
    return [x[max(0, i) : i + k].sum() for i in range(-padding, len(x) + padding - k + 1, s)]


@wrong("mean_pool", "largest")
def _(x, k, s, padding):
    return [max(x[max(0, i) : i + k]) for i in range(-padding, len(x) + padding - k + 1, s)]


@wrong("mean_pool", "stride_ignored")
def _(x, k, s, padding):
    return [x[max(0, i) : i + k].mean() for i in range(-padding, len(x) + padding - k + 1)]


@wrong("same", "extent")
def _(n, k, s, d):
    total = max(0, (math.ceil(n / s) - 1) * s + k * d - n)
    return total // 2, total - total // 2


@wrong("receptive_field", "extent")
def _(layers):
    field = 1
    for k, s, d in layers[::-1]:
        field = (field - 1) * s + k * d
    return field


@wrong("dilated", "too_few")
def _(x, w, d):
    return [sum(x[i + j * d] * w[j] for j in range(len(w))) for i in range(len(x) - len(w) * d + 1)]


@wrong("conv2d", "one_side")
def _(x, w, stride, padding):
    return tc.conv2d(np.pad(x, [(0, 0), (padding, 0), (padding, 0), (0, 0)]), w, stride)


@wrong("conv2d", "padding_after_stride")
def _(x, w, stride, padding):
    return np.pad(tc.conv2d(x, w, stride), [(0, 0), (padding,) * 2, (padding,) * 2, (0, 0)])


@wrong("conv2d", "flipped_filter")
def _(x, w, stride, padding):
    return tc.conv2d(x, w[::-1, ::-1], stride, padding)


@wrong("conv2d", "swapped_filter_axes")
def _(x, w, stride, padding):
    square = w.shape[0] == w.shape[1]
    return tc.conv2d(x, w.swapaxes(0, 1) if square else w, stride, padding)


# ---------------------------------------------------------------------------------------------
# Slips that once got no name, or the name of another
# ---------------------------------------------------------------------------------------------


@wrong("output_size", "one_too_many")
def _(n, k, s, d, before, after):
    return len(range(0, n + before + after - (k - 1) * d + s - (n + before + after - (k - 1) * d) % s, s))


@wrong("output_size", "stride_ignored")
def _(n, k, s, d, before, after):
    return len(np.correlate(np.zeros(n + before + after), np.zeros((k - 1) * d + 1), "valid"))


@wrong("same", "odd_lost")
def _(n, k, s, d):
    half = max(0, (math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n) // 2
    return half, half


@wrong("same", "all_after")
def _(n, k, s, d):
    return 0, max(0, (math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n)


@wrong("same", "divisible")
def _(n, k, s, d):
    total = max((k - 1) * d + 1 - s, 0)
    return total // 2, total - total // 2


@wrong("pool_size", "padding_ignored")
def _(n, k, s, padding):
    return math.ceil((n - k) / s) + 1


@wrong("pool_size", "one_missing")
def _(n, k, s, padding):
    return math.ceil((n + 2 * padding - k) / s)


@wrong("pool_size", "place_in_input")
def _(n, k, s, padding):
    windows = math.ceil((n + 2 * padding - k) / s) + 1
    return windows - 1 if (windows - 1) * s >= n else windows


@wrong("pool_size", "no_padding")
def _(n, k, s, padding):
    return len(range(0, n - k + 1, s))


@wrong("receptive_field", "front_to_back")
def _(layers):
    field, step = 1, 1
    for k, s, d in layers[::-1]:  # begins with the last layer, and is wrong all the same
        field, step = field + (k - 1) * d * step, step * s
    return field


@wrong("receptive_field", "one_step_too_many")
def _(layers):
    field = 1
    for k, s, d in layers[::-1]:
        field = field * s + (k - 1) * d + 1
    return field


@wrong("receptive_field", "one_stride")
def _(layers):
    field, step = 1, 1
    for k, s, d in layers:
        field, step = field + (k - 1) * d * step, s
    return field


@wrong("receptive_field", "one_missing")
def _(layers):
    field, step = 0, 1
    for k, s, d in layers:
        field, step = field + (k - 1) * d * step, step * s
    return field


@wrong("output_padding", "padding_ignored")
def _(i, k, s, p, wanted):
    return wanted - (s * (i - 1) + k)


@wrong("output_padding", "one_too_few")
def _(i, k, s, p, wanted):
    return wanted - (s * (i - 1) + (k - 1) - 2 * p)


@wrong("output_padding", "same")
def _(i, k, s, p, wanted):
    return wanted - s * i


@wrong("rows_needed", "stop_not_moved")
def _(first, last, n, k, s, before):
    return max(first * s - before, 0), min(last * s - s + k, n)


@wrong("due", "padding_subtracted")
def _(arrived, k, s, before):
    return len(range(k - 1, arrived - before, s))


@wrong("due", "stride_ignored")
def _(arrived, k, s, before):
    return max(0, before + arrived - (k - 1))


@wrong("torch_pad", "interleaved")
def _(rows, cols, k, s):
    totals = [max(0, (math.ceil(n / s) - 1) * s + k - n) for n in (cols, rows)]
    return [total // 2 for total in totals] + [total - total // 2 for total in totals]


@wrong("mean_pool", "moved")
def _(x, k, s, padding):
    starts = [max(0, i * s - padding) for i in range((len(x) + 2 * padding - k) // s + 1)]
    return [np.mean(x[start : start + k]) for start in starts]


@wrong("im2col", "window_place")
def _(x, k, s):
    places = np.ndindex((x.shape[0] - k) // s + 1, (x.shape[1] - k) // s + 1)
    return [x[r : r + k, c : c + k].ravel() for r, c in places]


@wrong("gather", "overwritten")
def _(x, w, s, y):
    found = 0.0
    for j in range(len(w)):
        if (y - j) % s == 0 and 0 <= (y - j) // s < len(x):
            found = x[(y - j) // s] * w[j]
    return found


@wrong("bias_gradient", "images_averaged")
def _(dy, z):
    return np.where(z > 0, dy, 0).mean(0).sum((0, 1))


@wrong("input_gradient", "not_divisible")
def _(dy, w, n, s):
    found = np.zeros(n)
    for p in range(n):
        for j in range(len(w)):
            if 0 <= (p - j) // s < len(dy):
                found[p] += dy[(p - j) // s] * w[j]
    return found


@wrong("tape", "seed")
def _(program, inputs):
    return np.zeros(len(inputs))


@wrong("is_adjoint", "never")
def _(forward, backward, x, y):
    return bool(np.sum(forward(x)) == np.sum(backward(y)))


@wrong("error_bound", "eps")
def _(x, w):
    return len(x) * float(np.finfo(np.float32).eps) * np.abs(x.astype(float) * w).sum()


@wrong("fold_batch_norm", "mean_not_scaled")
def _(w, b, gamma, beta, mean, var, eps):
    factor = gamma / np.sqrt(var + eps)
    return np.vstack([w * factor, b * factor - mean + beta])


@wrong("fold_batch_norm", "bias_left_out")
def _(w, b, gamma, beta, mean, var, eps):
    factor = gamma / np.sqrt(var + eps)
    return np.vstack([w * factor, beta - mean * factor])
