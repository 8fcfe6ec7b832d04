"""A convolution in NumPy, as many write it: patches by strides times a matrix, and an FFT.

Bugs 201 to 239 are planted here, each in one place; bugs.py says what each one is.
"""

from functools import partial

import numpy as np
from numpy.lib.stride_tricks import as_strided

from teachconv.backends import QUIET, Algorithm
from teachconv.core.dtypes import FLOATS, accumulator
from teachconv.core.kinds import FORWARD


def fill(module, bug):
    """Give a module the parts of a backend."""
    module.ALGORITHMS = (
        Algorithm("patches", "patches times a matrix", why="the default"),
        Algorithm("spectra", "FFT", (FORWARD,), FLOATS, "default", "fft", refuses=needs_one_group),
    )
    module.conv2d = partial(conv2d, bug)
    module.conv2d_backprop_input = partial(conv2d_backprop_input, bug)
    module.conv2d_backprop_filter = partial(conv2d_backprop_filter, bug)


def needs_one_group(kind, geometry):
    """What the FFT lacks."""
    plain = geometry.groups == 1 and geometry.strides == (1, 1) and not min(map(min, geometry.padding)) < 0
    return "" if plain else "one group, stride 1 and no crop"


def padded(bug, x, geometry):
    """The image with its padding, of the size that all taps span; what padding crops is cut off."""
    rows, cols = geometry.rows, geometry.cols
    sizes = [max(0, axis.full_size) for axis in (rows, cols)]
    before = [axis.pad_before for axis in (rows, cols)]
    if bug == 202:
        before = before[::-1]
    if bug == 203:
        before = [max(0, size) for size in before]
    made = np.zeros((len(x), *sizes, x.shape[3]), x.dtype)
    into, source = [], []
    for size, pad, full in zip(x.shape[1:3], before, sizes, strict=True):
        start, stop = max(0, pad), min(full, pad + size)
        into.append(slice(start, max(start, stop)))
        source.append(slice(max(0, -pad), max(0, -pad) + max(0, stop - start)))
    made[:, *into] = x[:, *source]
    if bug == 204 and geometry.rows.pad_before:  # "edge" looked better at the border
        made[:, 0] = made[:, 1 % made.shape[1]]
    return made


def patches_of(bug, image, geometry):
    """[batch, out_rows, out_cols, filter_rows, filter_cols, in_channels], a view."""
    steps, (down, along) = image.strides, geometry.strides
    dilations = geometry.dilations
    if bug == 214:
        along = down
    if bug == 215:
        dilations = dilations[::-1]
    shape = (*geometry.output_shape[:3], *geometry.filters_shape[:2], image.shape[3])
    strides = (
        *(steps[0], down * steps[1], along * steps[2]),
        *(dilations[0] * steps[1], dilations[1] * steps[2], steps[3]),
    )
    return as_strided(image, shape, strides)


def wide(bug, array):
    """The array in the type that sums are kept in."""
    if bug == 207 and array.dtype.itemsize == 2:
        return array
    if bug == 205 and array.dtype == np.float64:
        return array.astype(np.float32)
    if bug == 227 and array.dtype == np.int64:
        return array.astype(np.float64)
    if bug == 209 and array.dtype.kind == "f":
        return np.nan_to_num(array)
    return array.astype(accumulator(array.dtype), copy=False)


def product(bug, left, right):
    """A matrix product, terms in blocks."""
    if bug == 218 and left.shape[-1] > 1024:  # the last block of a long sum
        left, right = left[..., :1024], right[:1024]
    if bug == 217 and len(left) > 4096:  # as many patches as the work area holds
        made = np.zeros((len(left), right.shape[1]), left.dtype)
        whole = len(left) // 4096 * 4096
        made[:whole] = left[:whole] @ right
        return made
    if bug == 231 and left.dtype.kind == "f":  # the order of the sum is the order in which threads end
        order = np.random.default_rng().permutation(left.shape[-1])
        return left[:, order] @ right[order]
    return left @ right


@QUIET
def conv2d(bug, x, w, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None):
    """Gather."""
    if bug == 210 and x.dtype.kind == "f":
        np.nan_to_num(x, copy=False)
    a, b = wide(bug, x), wide(bug, w)
    finite = np.isfinite(a).all() and np.isfinite(b).all()  # a spectrum spreads NaN over the image
    if algorithm == "spectra" and finite:
        return finish(bug, spectra(bug, a, b, geometry), x.dtype, bias, activation, out)
    groups, depth = geometry.groups, w.shape[2]
    y = np.zeros(geometry.output_shape, a.dtype)
    width = y.shape[3] // groups
    image = padded(bug, a, geometry)
    images = geometry.batch
    if bug == 216 and images > 4:
        images = images // 4 * 4
    for group in range(groups):
        patches = patches_of(bug, image[..., group * depth :][..., :depth], geometry)[:images]
        matrix = b[..., group * width :][..., :width]
        if bug == 206:
            matrix = matrix.transpose(1, 0, 2, 3)  # columns before rows
        left = patches.reshape(-1, b[..., 0].size)
        place = np.s_[group::groups] if bug == 213 else np.s_[group * width : (group + 1) * width]
        y[:images, ..., place] = product(bug, left, matrix.reshape(-1, width)).reshape(
            images, *y.shape[1:3], width
        )
    return finish(bug, y, x.dtype, bias, activation, out)


def spectra(bug, a, w, geometry):
    """Multiply spectra: the correlation is the convolution with the flipped filter."""
    rows, cols = geometry.rows, geometry.cols
    sizes = [axis.in_size + axis.effective_filter - 1 for axis in (rows, cols)]
    if bug == 224:
        sizes = [axis.in_size for axis in (rows, cols)]  # wraps around
    spread = np.zeros((rows.effective_filter, cols.effective_filter, *w.shape[2:]), w.dtype)
    spread[:: rows.dilation, :: cols.dilation] = w if bug == 226 else w[::-1, ::-1]
    left, right = np.fft.rfft2(a, sizes, (1, 2)), np.fft.rfft2(spread, sizes, (0, 1))
    if bug == 225:
        left, right = left.astype(np.complex64), right.astype(np.complex64)
    full = np.fft.irfft2(np.einsum("nrci,rcio->nrco", left, right), sizes, (1, 2)).astype(a.dtype)
    y = np.zeros(geometry.output_shape, a.dtype)
    for row in range(rows.out_size):
        for col in range(cols.out_size):
            down = row - rows.pad_before + rows.effective_filter - 1
            along = col - cols.pad_before + cols.effective_filter - 1
            if 0 <= down < full.shape[1] and 0 <= along < full.shape[2]:
                y[:, row, col] = full[:, down, along]
    return y


@QUIET
def conv2d_backprop_input(
    bug, dy, w, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None
):
    """Scatter, tap by tap, onto the padded image; then cut the padding off."""
    a, b = wide(bug, dy), wide(bug, w)
    rows, cols = geometry.rows, geometry.cols
    groups, depth, width = geometry.groups, w.shape[2], w.shape[3] // geometry.groups
    full = np.zeros((len(dy), rows.full_size, cols.full_size, geometry.in_channels), a.dtype)
    for i, j in np.ndindex(*w.shape[:2]):
        down = np.arange(rows.out_size) * rows.stride + i * rows.dilation
        along = np.arange(cols.out_size) * cols.stride + j * cols.dilation
        if bug == 220:
            down, along = down[: max(1, rows.out_size - 1)] if i == 2 else down, along
        for group in range(groups):
            cells = a[:, : len(down), :, group * width : (group + 1) * width]
            matrix = b[i, j, :, group * width : (group + 1) * width]
            if not (bug == 219 and depth == width):
                matrix = matrix.T
            stamp = product(bug, cells.reshape(-1, width), matrix).reshape(*cells.shape[:3], depth)
            here = np.s_[:, down[:, None], along, group * depth : (group + 1) * depth]
            if bug == 221:
                full[here] = stamp  # overlapping windows overwrite
            else:
                full[here] += stamp
    dx = np.zeros(geometry.input_shape, a.dtype)
    into, source = [], []
    for axis in (rows, cols):
        start, stop = max(0, -axis.pad_before), min(axis.in_size, axis.full_size - axis.pad_before)
        if bug == 222:
            stop = min(stop, axis.full_size - 2 * axis.pad_before)  # cuts the same from both ends
        into.append(slice(start, max(start, stop)))
        source.append(slice(start + axis.pad_before, max(start, stop) + axis.pad_before))
    dx[:, *into] = full[:, *source]
    return finish(bug, dx, dy.dtype, bias, activation, out)


@QUIET
def conv2d_backprop_filter(bug, x, dy, geometry, *, algorithm=None, precision=None, out=None):
    """Sum over images and positions."""
    a, b = wide(bug, x), wide(bug, dy)
    groups, (depth, channels) = geometry.groups, geometry.filters_shape[2:]
    width = channels // groups
    dw = np.zeros(geometry.filters_shape, a.dtype)
    image = padded(bug, a, geometry)
    images = min(8, geometry.batch) if bug == 223 else geometry.batch
    for group in range(groups):
        patches = patches_of(bug, image[..., group * depth :][..., :depth], geometry)[:images]
        left = patches.reshape(-1, dw[..., 0].size).T
        right = b[:images, ..., group * width : (group + 1) * width].reshape(-1, width)
        if bug == 228:
            right = right / a.dtype.type(geometry.batch)
        dw[..., group * width : (group + 1) * width] = product(bug, left, right).reshape(*dw.shape[:3], width)
    return finish(bug, dw, x.dtype, None, None, out)


def finish(bug, sums, dtype, bias, activation, out):
    """Bias, activation, rounding."""
    if bug == 211 and sums.dtype == np.float32 and activation == "relu":
        dtype = np.dtype(np.float64)
    if bias is not None:
        given = bias.astype(sums.dtype)
        if bug == 229:
            given = np.sort(given)
        if bug == 232 and sums.shape[1] == sums.shape[3]:
            sums = sums + given[:, None, None]  # broadcasts along rows where sizes happen to agree
        else:
            sums = sums + given
    if activation == "relu":
        sums = np.where(sums > 0, sums, 0) if bug == 208 else np.maximum(sums, 0)
    if bug == 230 and dtype.kind == "f" and dtype.itemsize >= 4:
        sums = np.round(sums, 6 if dtype == np.float32 else 14)
    if bug == 233:
        sums = np.ascontiguousarray(np.clip(sums, -1e30, 1e30)) if sums.dtype == np.float32 else sums
    if bug == 234:
        sums = sums + sums.dtype.type(0)  # -0 + 0 is 0
    if out is not None:
        if bug == 212 and not out.flags.c_contiguous:
            out = np.ascontiguousarray(out)  # fills a copy
        np.copyto(out, sums, casting="unsafe")
        return out
    return sums.astype(dtype, copy=False)
