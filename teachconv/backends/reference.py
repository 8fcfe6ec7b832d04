"""The definition: convolution in pure Python, each result the exact sum rounded once.

TensorFlow's own loops are far away (tensorflow/core/kernels/conv_ops.cc hands on to Eigen, oneDNN or
cuDNN). Here the definition is the three functions `conv2d_loops`, `conv2d_backprop_input_loops` and
`conv2d_backprop_filter_loops`. What follows them computes the same sums faster and may be skipped. Every
other backend is checked against this one. The sum of the products is exact and is rounded once, in
`round_sum`, so that a backend's distance from this one is its error.

Three algorithms give the same bits, except for the sign and payload of a NaN. ``loops`` is for reading: plain
loops over cells and taps (a tap is one position in the filter). ``direct`` takes the same sums for many cells
at a time, and ``slices`` computes them by matrix products that have no error (slices.py). Some cells of each
call by ``slices`` are summed again one by one and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from functools import partial
from itertools import islice, product, starmap
from math import fsum, isfinite, nan, prod
from operator import mul
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..core.arguments import Shape
from ..core.dtypes import float_format, is_integer, wrap
from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ..core.rounding import round_sum
from ..core.taps import by_place, factors_of, filled, gather, overlap, scatter
from ..support import progress, record
from ..support.errors import ContractError
from ..support.memory import check_bytes
from . import ONCE, QUIET, Algorithm, finish
from .slices import cut, exact_sums, span_of, widths_for

ALGORITHMS = (
    Algorithm(
        "loops",
        "the definition to read aloud: plain loops, each exact sum rounded once",
        independent_of_extent=True,
        times=ONCE,
    ),
    Algorithm(
        "direct",
        "the same sums for many cells at a time",
        independent_of_extent=True,
        why="few multiply-adds, or few channels",
        times="once for some cells at a time; map and fsum are C of CPython",
    ),
    Algorithm(
        "slices",
        "the same sums by matrix products of slices of the numbers, which have no error",
        independent_of_extent=True,
        why="many multiply-adds: matrix products are 10 to 100 times as fast",
        gives_way_to="direct",
    ),
)

RANKS = (1, 2, 3)
Terms: TypeAlias = list[Any]  # Python numbers


def conv2d_loops(x: np.ndarray, w: np.ndarray, g: ConvGeometry, bias: Sequence[Terms]) -> np.ndarray:
    """Gather: y[n, *out_indices, o] is the sum of x[n, *in_indices, i] * w[*taps, i, o].

    There is one index for each axis: (row, column), or one more or fewer for another rank.

    Args:
        x: [batch, *in_sizes, in_channels].
        w: [*filter_sizes, in_channels / groups, out_channels].
        g: the geometry of the convolution.
        bias: for each out channel a list of one number or none, which are terms of its sums.

    Returns:
        y, [batch, *out_sizes, out_channels].
    """
    depth, outs = g.filters_shape[-2], g.out_channels // g.groups
    y, x, w = np.empty(g.output_shape, x.dtype), _exact_numbers(x), _exact_numbers(w)
    for n, *out_indices, o in _every_cell(g.output_shape):
        terms = list(bias[o])  # mark: kernel of loops/y
        for *taps, i in _every_cell(g.filters_shape[:-1]):
            in_indices = [
                # mark: stride dilation of loops/y
                out_index * axis.stride - axis.pad_before + tap * axis.dilation
                for axis, out_index, tap in zip(g.axes, out_indices, taps, strict=True)
            ]
            # a tap in the padding contributes nothing
            # mark: padding of loops/y
            if all(0 <= index < axis.in_size for axis, index in zip(g.axes, in_indices, strict=True)):
                in_channel = o // outs * depth + i  # o // outs: the group
                terms.append(x[n, *in_indices, in_channel] * w[*taps, i, o])  # mark: multiply-add of loops/y
        y[n, *out_indices, o] = round_sum(terms, y.dtype)
    return y


def conv2d_backprop_input_loops(
    dy: np.ndarray, w: np.ndarray, g: ConvGeometry, bias: Sequence[Terms]
) -> np.ndarray:
    """Scatter along the same taps: each dy[n, *out_indices, o] * w[..., i, o] goes to one cell of dx.

    This is conv2d_transpose. The terms of each cell are listed first, so that their sum is rounded once.

    Args:
        dy: [batch, *out_sizes, out_channels].
        w: [*filter_sizes, in_channels / groups, out_channels].
        g: the geometry of the forward convolution.
        bias: for each in channel a list of one number or none, which are terms of its sums.

    Returns:
        dx, [batch, *in_sizes, in_channels].
    """
    depth, outs = g.filters_shape[-2], g.out_channels // g.groups
    dx, dy, w = np.empty(g.input_shape, dy.dtype), _exact_numbers(dy), _exact_numbers(w)
    terms = {cell: list(bias[cell[-1]]) for cell in _every_cell(g.input_shape)}
    for n, *out_indices, o in _every_cell(g.output_shape):
        for *taps, i in _every_cell(g.filters_shape[:-1]):
            in_indices = [
                # mark: stride dilation of loops/dx
                out_index * axis.stride - axis.pad_before + tap * axis.dilation
                for axis, out_index, tap in zip(g.axes, out_indices, taps, strict=True)
            ]
            # mark: padding of loops/dx
            if all(0 <= index < axis.in_size for axis, index in zip(g.axes, in_indices, strict=True)):
                in_channel = o // outs * depth + i
                # mark: multiply-add of loops/dx
                terms[n, *in_indices, in_channel].append(dy[n, *out_indices, o] * w[*taps, i, o])
    for cell in terms:  # mark: kernel of loops/dx
        dx[cell] = round_sum(terms[cell], dx.dtype)
    return dx


def conv2d_backprop_filter_loops(x: np.ndarray, dy: np.ndarray, g: ConvGeometry) -> np.ndarray:
    """Sum over the same taps: dw[*taps, i, o] is the sum of x[n, *in_indices, i] * dy[n, *out_indices, o].

    Args:
        x: [batch, *in_sizes, in_channels].
        dy: [batch, *out_sizes, out_channels].
        g: the geometry of the forward convolution.

    Returns:
        dw, [*filter_sizes, in_channels / groups, out_channels].
    """
    depth, outs = g.filters_shape[-2], g.out_channels // g.groups
    dw, x, dy = np.empty(g.filters_shape, x.dtype), _exact_numbers(x), _exact_numbers(dy)
    for *taps, i, o in _every_cell(g.filters_shape):
        terms = []  # mark: kernel of loops/dw
        for n, *out_indices in _every_cell(g.output_shape[:-1]):
            in_indices = [
                # mark: stride dilation of loops/dw
                out_index * axis.stride - axis.pad_before + tap * axis.dilation
                for axis, out_index, tap in zip(g.axes, out_indices, taps, strict=True)
            ]
            # mark: padding of loops/dw
            if all(0 <= index < axis.in_size for axis, index in zip(g.axes, in_indices, strict=True)):
                in_channel = o // outs * depth + i
                # mark: multiply-add of loops/dw
                terms.append(x[n, *in_indices, in_channel] * dy[n, *out_indices, o])
        dw[*taps, i, o] = round_sum(terms, dw.dtype)
    return dw


def _every_cell(shape: Sequence[int]) -> Iterator[Shape]:
    """Yield every index of an array: a loop for each axis, the last one innermost."""
    return product(*map(range, shape))


@QUIET
def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Compute conv2d by one of ``ALGORITHMS``: the contract of `teachconv.backends`."""
    extra = _bias_terms(bias, geometry.out_channels)
    _check_room(x, w, geometry.output_shape)
    with _shown(geometry), record.stage("taps") as stage:
        algorithm = _choose(stage, algorithm, geometry, geometry.out_channels)
        stage.say("every cell: patch x filter, exact sum, rounded once to {}", x.dtype)
        if algorithm == "loops":  # mark: choice of loops/y direct/y slices/y
            y = conv2d_loops(x, w, geometry, extra)
        else:
            y = _exact_sums(algorithm, FORWARD, x, w, geometry, extra)
    return finish(y, y.dtype, None, activation, out)


@QUIET
def conv2d_backprop_input(
    dy: np.ndarray,
    w: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the input gradient by one of ``ALGORITHMS``: the contract of `teachconv.backends`."""
    extra = _bias_terms(bias, geometry.in_channels)
    _check_room(dy, w, geometry.input_shape, geometry.macs if algorithm == "loops" else 0)
    with _shown(geometry), record.stage("taps") as stage:
        algorithm = _choose(stage, algorithm, geometry, geometry.in_channels)
        stage.say("every cell: patch x filter, exact sum, rounded once to {}", dy.dtype)
        if algorithm == "loops":  # mark: choice of loops/dx direct/dx slices/dx
            dx = conv2d_backprop_input_loops(dy, w, geometry, extra)
        else:
            dx = _exact_sums(algorithm, INPUT_GRADIENT, dy, w, geometry, extra)
    return finish(dx, dx.dtype, None, activation, out)


@QUIET
def conv2d_backprop_filter(
    x: np.ndarray,
    dy: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the filter gradient by one of ``ALGORITHMS``: the contract of `teachconv.backends`."""
    _check_room(x, dy, geometry.filters_shape)
    with _shown(geometry), record.stage("taps") as stage:
        algorithm = _choose(stage, algorithm, geometry, geometry.out_channels)
        stage.say("every filter cell: images x out_backprop, rounded once to {}", x.dtype)
        if algorithm == "loops":  # mark: choice of loops/dw direct/dw slices/dw
            dw = conv2d_backprop_filter_loops(x, dy, geometry)
        else:
            no_bias = _bias_terms(None, geometry.out_channels)
            dw = _exact_sums(algorithm, FILTER_GRADIENT, x, dy, geometry, no_bias)
    return finish(dw, dw.dtype, None, None, out)


def _choose(stage: Any, algorithm: str | None, geometry: ConvGeometry, channels: int) -> str:
    """Return the algorithm: slices if there are enough products for several channels of the result."""
    worth_it = geometry.macs >= _WORTH_SLICING and channels >= 3 * geometry.groups
    chosen = algorithm or ("slices" if worth_it else "direct")
    stage.know(algorithm=chosen)
    return chosen


def _check_room(first: np.ndarray, second: np.ndarray, shape: Shape, terms: int = 0) -> None:
    """Raise ``MemoryError`` if there is no memory for the Python numbers, sums and kept terms."""
    of_number, of_sum = (48, 120) if is_integer(first.dtype) else (56, 56)  # bytes, measured
    if first.dtype.name == "float64":
        of_number = 150  # four halves, or a Fraction
    nbytes = of_number * (first.size + second.size) + of_sum * prod(shape) + 33 * terms
    check_bytes(nbytes, f"the reference, which computes in Python's numbers, for a result of {list(shape)}")


def _shown(geometry: ConvGeometry) -> AbstractContextManager[None]:
    """Show the progress of a long call; a small one pays nothing for it."""
    return progress.during("the reference") if geometry.macs > _LONG else nullcontext()


def _bias_terms(bias: np.ndarray | None, channels: int) -> list[Terms]:
    """Return the terms that the bias adds to the sums of each channel: itself, or none."""
    if bias is None:
        return [[]] * channels
    return [[number] for number in (bias if is_integer(bias.dtype) else bias.astype(np.float64)).tolist()]


# ---------------------------------------------------------------------------------------------
# direct: the same sums for many cells at a time
# ---------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """Some cells of the result, as [places, channels], whose sums run over parts and terms."""

    cells: tuple[np.ndarray, slice]  # which places, and which channels
    left: np.ndarray  # [parts, places, terms]
    right: np.ndarray  # [parts, terms, channels]


Blocks: TypeAlias = Callable[[np.ndarray, np.ndarray], Iterable[Block]]
LARGEST_BLOCK = 1 << 20  # numbers in `Block.left`, or cells: what is in memory at one time
_STEP = 4 << 20  # terms that are summed in one go, a fifth of a second; in between Python answers Ctrl-C
_CHECKED = 1 << 19  # terms of the sums that are compared in one call: 50 ms
_WORTH_SLICING = 1 << 18  # multiply-adds of a call; of fewer the sums one by one take as long
_LONG = 16 << 20  # multiply-adds of a call that says how far it is: about a second


def _patches(
    images: np.ndarray, filters: np.ndarray, *, g: ConvGeometry, scatters: bool, fill: bool
) -> Iterator[Block]:
    """Yield the cells that meet the same taps together: patches of the images, and the filters' taps.

    ``images`` is [parts, batch, *sizes, channels], ``filters`` [parts, *filter_sizes, in_channels / groups,
    out_channels]. Where the call scatters, sums run over out channels. With ``fill`` some taps are in the
    padding, where they meet a zero.
    """
    tables = [(scatter if scatters else gather)(axis) for axis in g.axes]
    if fill:
        tables = [filled(table, size) for table, size in zip(tables, images.shape[2:-1], strict=True)]
        images = np.pad(images, [(0, 0), (0, 0), *[(0, 1)] * g.rank, (0, 0)])
    parts, batch, *sizes, _ = images.shape
    images, places = images.reshape(parts, batch, prod(sizes), -1), prod(map(len, tables))
    ins, outs = filters.shape[-2], filters.shape[-1] // g.groups
    depth, channels = (outs, ins) if scatters else (ins, outs)
    most = LARGEST_BLOCK // (batch * g.groups * max(1, parts * depth, channels))
    last, rights = None, []
    for taps, cells, met in by_place(tables, sizes, max(1, most)):
        terms = len(taps[0]) * depth
        if taps is not last:
            last, chosen = taps, np.split(filters[:, *taps], g.groups, axis=-1)
            chosen = [right.swapaxes(-1, -2) if scatters else right for right in chosen]
            rights = [right.reshape(len(right), terms, channels) for right in chosen]
        # mark: kernel of direct/y direct/dx slices/y slices/dx
        patches = images.take(met, axis=2)  # [parts, batch, cells, taps, channels]
        rows = (np.arange(batch)[:, None] * places + cells).ravel()
        for k, right in enumerate(rights):
            left = patches[..., k * depth : (k + 1) * depth].reshape(parts, len(rows), terms)
            yield Block((rows, slice(k * channels, (k + 1) * channels)), left, right)


def _overlaps(x: np.ndarray, dy: np.ndarray, *, g: ConvGeometry) -> Iterator[Block]:
    """Yield the cells of the filter, tap by tap: the inputs that the tap meets, and the outputs it feeds.

    ``x`` and ``dy`` are [parts, batch, *sizes, channels].
    """
    depth, outs = g.filters_shape[-2], g.out_channels // g.groups
    for place, taps in enumerate(_every_cell(g.filters_shape[:-2])):
        # mark: kernel of direct/dw slices/dw
        slices = (overlap(axis, tap) for axis, tap in zip(g.axes, taps, strict=True))
        fed, met = zip(*slices, strict=True)
        for k in range(g.groups):
            ins, channels = slice(k * depth, (k + 1) * depth), slice(k * outs, (k + 1) * outs)
            left, right = np.moveaxis(x[:, :, *met, ins], -1, 1), dy[:, :, *fed, channels]
            terms = prod(right.shape[1:-1])
            yield Block(
                (np.arange(place * depth, (place + 1) * depth), channels),
                left.reshape(len(left), depth, terms),
                right.reshape(len(right), terms, outs),
            )


def _exact_sums(
    algorithm: str,
    kind: Kind,
    first: np.ndarray,
    second: np.ndarray,
    g: ConvGeometry,
    bias: Sequence[Terms],
) -> np.ndarray:
    """Return the sums of all cells, each exact and rounded once.

    The correctly rounded doubles of all sums are rounded on to the dtype as one array. Only where a
    double is a midpoint of the dtype, or not finite, are the terms looked at again.
    """
    cuts = _cut(first, second, bias, g.terms_of(kind.result)) if algorithm == "slices" else None
    patches = partial(_patches, g=g, scatters=kind.scatters, fill=cuts is not None)
    blocks: Blocks = partial(_overlaps, g=g) if kind.sums_images else patches

    def exact_blocks() -> Iterable[Block]:
        return blocks(_exact_numbers(first)[np.newaxis], _exact_numbers(second)[np.newaxis])

    dtype, shape, done = first.dtype, g.shape_of(kind.result), 0
    totals = np.empty((prod(shape[:-1]), shape[-1]), object if is_integer(dtype) else np.float64)
    may_underflow = False

    def tell(cells: int) -> None:
        nonlocal done
        done += cells
        progress.say(f"{min(99, 100 * done // prod(shape))} %")

    if cuts is not None:
        for block in blocks(*cuts):
            totals[block.cells] = sums = _sliced_sums(block, bias, is_integer(dtype))
            tell(sums.size)
    elif is_integer(dtype):
        for block in exact_blocks():
            totals[block.cells] = _sums(sum, block, bias, tell)
    else:
        for block in blocks(*_halves(first, second)) if dtype.name == "float64" else exact_blocks():
            try:
                totals[block.cells] = _sums(fsum, block, bias, tell)
            except (OverflowError, ValueError):
                totals[block.cells] = _sums(_fsum_or_nan, block, bias, tell)
        may_underflow = dtype.name == "float64" and _may_underflow(first, second)
    if is_integer(dtype):
        result = wrap(totals, dtype).astype(dtype)
    else:
        rounded, doubtful = float_format(dtype).round(totals)
        doubtful |= ~np.isfinite(totals) | may_underflow
        if doubtful.any():
            for block in exact_blocks():
                at = block.cells
                rounded[at] = _settle(rounded[at], doubtful[at], block, bias, dtype)
        result = rounded.astype(dtype)
    result = result.reshape(shape)
    if cuts is not None:
        _check_some(result, kind, first, second, g, bias)
    return result


def _check_some(
    result: np.ndarray,
    kind: Kind,
    first: np.ndarray,
    second: np.ndarray,
    g: ConvGeometry,
    bias: Sequence[Terms],
) -> None:
    """Compare up to 64 cells with their sums taken one by one, as ``loops`` takes them.

    Which cells these are depends on the result's size only. They are fewer where the sums are so long that
    they would take a large part of the time of the products.

    Raises:
        ContractError: a cell differs.
    """
    dtype = first.dtype
    cost = g.terms_of(kind.result) * (20 if dtype.name == "float64" else 1)  # long integers are slow
    count = min(64, result.size, max(1, _CHECKED // max(1, cost)))
    places = np.random.default_rng(0).choice(result.size, count, replace=False, shuffle=False)
    for cell in zip(*(axis.tolist() for axis in np.unravel_index(places, result.shape)), strict=True):
        want = sum_of_cell(kind, first, second, g, cell, bias[cell[-1]])
        if result[cell] != want:
            raise ContractError(
                f"slices of the reference: cell {list(cell)} is {result[cell]}, and the exact sum, rounded "
                f"once, is {want}; this is a bug of teachconv, or of the BLAS that NumPy multiplies matrices "
                'with. algorithm="direct" uses no BLAS',
                result,
            )


def sum_of_cell(
    kind: Kind, first: np.ndarray, second: np.ndarray, g: ConvGeometry, cell: Shape, bias: Terms
) -> Any:
    """Return one cell of a result: the exact sum of its products and its bias, rounded once.

    Args:
        kind: which of the three arrays is computed.
        first: the first array, NHWC.
        second: the second array, HWIO or NHWC.
        g: the geometry.
        cell: the index of the cell.
        bias: what is added: no number, or one.

    Returns:
        A Python float or int that the dtype of ``first`` holds exactly.
    """
    at = factors_of(g, kind.result, cell)
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        products = _products(first[at[kind.first]], second[at[kind.second]])
    return round_sum([*products, *bias], first.dtype)


def _products(one: np.ndarray, other: np.ndarray) -> Terms:
    """Return the exact products; of finite float64 numbers their sum, by integers, as the only term."""
    if one.dtype.name != "float64" or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return [*map(mul, _exact_numbers(one).flat, _exact_numbers(other).flat)]
    (left, low), (right, high) = _scaled(one), _scaled(other)
    return [Fraction(sum(map(mul, left, right))) * Fraction(2) ** (low + high)]


def _scaled(numbers: np.ndarray) -> tuple[list[int], int]:
    """Return finite float64 numbers as ints, and the power of two that these are multiplied by."""
    parts, exponents = np.frexp(numbers.ravel())
    least = int(exponents.min(initial=0))
    whole, shifts = np.ldexp(parts, 53).tolist(), (exponents - least).tolist()
    return [int(part) << shift for part, shift in zip(whole, shifts, strict=True)], least - 53


def _cut(first: np.ndarray, second: np.ndarray, bias: Sequence[Terms], terms: int) -> list[np.ndarray] | None:
    """Return the slices of both arrays for sums of ``terms`` terms, integers as one; None without any."""
    one, other = (array.astype(np.float64) for array in (first, second))
    if is_integer(first.dtype):
        largest = [int(np.abs(numbers).max(initial=0)) for numbers in (one, other)]
        if terms * prod(largest) < 1 << 53:
            return [one[np.newaxis], other[np.newaxis]]
    elif all(np.isfinite(numbers).all() for numbers in (one, other, _joined(bias))):
        spans = [span_of(numbers, float_format(first.dtype).precision) for numbers in (one, other)]
        if widths := widths_for(terms, *spans):
            return [*map(cut, (one, other), spans, widths)]
    with record.stage("choose algorithm again") as stage:
        stage.know(algorithm="direct")
        stage.say("slices gives way: numbers are not finite, too large, or too different in size")
    return None


def _sliced_sums(block: Block, bias: Sequence[Terms], integers: bool) -> np.ndarray:
    """Return the sums of a block of slices: doubles, each rounded once, or integers."""
    added = _joined(bias[block.cells[-1]])
    if integers:
        sums = exact_sums(block.left, block.right).astype(np.int64).astype(object)
        return np.asarray(sums + np.array(added or 0, object))
    return exact_sums(block.left, block.right, np.array(added) if added else None)


def _joined(bias: Sequence[Terms]) -> Terms:
    """Return the terms of all channels in one list."""
    return [term for of_one in bias for term in of_one]


def _sums(
    add: Callable[[Iterable[Any]], Any], block: Block, bias: Sequence[Terms], tell: Callable[[int], None]
) -> np.ndarray:
    """Return the sums of a block, of shape ``result[block.cells]``, and report how many remain."""
    lefts, rights = _factors(block, bias)
    products = starmap(partial(map, mul), product(lefts, rights))  # mark: multiply-add of direct
    sums = np.empty(len(lefts) * len(rights), object if add is sum else np.float64)
    step = max(1, _STEP // max(1, len(rights[0])))
    for part in (sums[first : first + step] for first in range(0, len(sums), step)):
        part[:] = np.fromiter(map(add, islice(products, len(part))), part.dtype, len(part))
        tell(len(part))
    return sums.reshape(len(lefts), len(rights))


def _fsum_or_nan(terms: Iterable[Any]) -> float:
    try:
        return fsum(terms)
    except (OverflowError, ValueError):  # an intermediate sum is too large, or inf - inf
        return nan


def _settle(
    rounded: np.ndarray, doubtful: np.ndarray, block: Block, bias: Sequence[Terms], dtype: np.dtype[Any]
) -> np.ndarray:
    """Sum the doubtful cells of a block again, one by one."""
    places = np.flatnonzero(doubtful).tolist()
    lefts, rights = _factors(block, bias) if places else ([], [])
    for place in places:
        row, channel = divmod(place, len(rights))
        rounded.flat[place] = round_sum(map(mul, lefts[row], rights[channel]), dtype)
    return rounded


def _factors(block: Block, bias: Sequence[Terms]) -> tuple[list[Terms], list[Terms]]:
    """Return a block's numbers as lists; the bias is one more number on the right, with 1 on the left."""
    lefts = np.concatenate(block.left, axis=1).tolist()
    rights = np.concatenate(block.right).T.tolist()
    for right, extra in zip(rights, bias[block.cells[-1]], strict=True):
        right += extra
    if len(rights[0]) > len(lefts[0]):
        for left in lefts:
            left.append(1)
    return lefts, rights


@QUIET
def _halves(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split both arrays so that doubles hold the products of the parts: (H + L)(h + l) = Hh + Hl + Lh + Ll.

    Each half has at most 27 bits (Veltkamp; T. J. Dekker, A floating-point technique for extending the
    available precision, 1971). Of a number above about 2^995, or not finite, a half is NaN.
    """
    halves = []
    for array in (first, second):
        scaled = 134217729.0 * array  # 2^27 + 1
        high = scaled - (scaled - array)
        halves += [high.astype(object), (array - high).astype(object)]
    H, L, h, l = halves  # noqa: E741
    return np.stack([H, H, L, L]), np.stack([h, l, h, l])


def _may_underflow(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether a product of halves may have bits below the smallest double, 2^-1074."""
    exponents = 0
    for array in (first, second):
        sizes = np.abs(array[np.isfinite(array) & (array != 0)])
        exponents += int(np.frexp(sizes.min(initial=np.finfo(np.float64).max))[1]) - 1
    return exponents < -970


# ---------------------------------------------------------------------------------------------
# Numbers whose products are exact
# ---------------------------------------------------------------------------------------------


def exact_product(a: Any, b: Any) -> Any:
    """Return a * b without rounding: a Fraction where both are finite, else what IEEE 754 says.

    Args:
        a: a Python number.
        b: a Python number.

    Returns:
        A `fractions.Fraction`, or a float that is NaN or infinite.

    >>> exact_product(0.1, 3.0) == 0.1 * 3.0
    False
    """
    return _exact_number(a) * _exact_number(b)


def _exact_numbers(array: np.ndarray) -> np.ndarray:
    """Return an array of Python numbers whose products are exact.

    These are ints; Fractions for float64, except NaN and infinities; and floats for the narrower types, as
    a double holds the product of two float32.
    """
    if is_integer(array.dtype):
        return array.astype(object)
    numbers = array.astype(np.float64).astype(object)
    return np.frompyfunc(_exact_number, 1, 1)(numbers) if array.dtype.name == "float64" else numbers


def _exact_number(value: Any) -> Any:
    return Fraction(value) if isfinite(value) else value
