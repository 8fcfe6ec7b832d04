"""A-priori error bounds: how far a floating-point result may lie from the exact sum.

A *bound* is a proven limit of the error of an algorithm, computed from the data. teachconv judges every
comparison by a bound, never by a tolerance. The reference result is the exact sum rounded once. A backend
sums K terms in some order in its accumulator type with unit roundoff u, so each of its cells obeys

    |error| <= gamma_K * sum |x||w| + K * eta,        gamma_K = K u / (1 - K u)

(N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1). eta is the smallest
subnormal and accounts for products that underflow. The bound holds for fused multiply-adds and for any order
of summation.

An *ulp*, a unit in the last place, is the distance between a number and the next one of its type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite, log2, prod, sqrt
from typing import Any

import numpy as np

from ..backends.planes import with_planes
from ..core.dtypes import FloatFormat, accumulator, float_format
from ..core.geometry import Conv2DGeometry, ConvGeometry
from ..core.kinds import Kind
from ..core.law import AxisGeometry
from ..core.winograd import Tiles, tiles_of, windows

__all__ = [
    "Verdict",
    "direct",
    "fft",
    "gamma",
    "half_accumulation",
    "judge",
    "tensor",
    "tf32",
    "winograd",
    "winograd2",
    "winograd4",
    "winograd4_balanced",
]


def gamma(terms: int, unit_roundoff: float) -> float:
    """Return gamma_K = K u / (1 - K u), which bounds the relative error of a sum of K products.

    Args:
        terms: K, the number of products.
        unit_roundoff: u, half the distance from 1 to the next larger number of the type.

    Returns:
        gamma_K, or infinity if K u >= 1.
    """
    ku = terms * unit_roundoff
    return ku / (1 - ku) if ku < 1 else inf


def direct(abs_sum: np.ndarray, terms: int, dtype: Any) -> np.ndarray:
    """Bound the error of direct summation for each cell, without the last rounding.

    It holds for every algorithm that multiplies each x by its w once and adds the products.

    Args:
        abs_sum: sum |x||w| of each cell.
        terms: K, the number of terms of a cell, the bias included.
        dtype: the data's type.

    Returns:
        The bound of each cell.

    >>> bool(direct(np.array(1.0), 9, "float32") < 9.1 * 2.0**-24)
    True
    """
    form = float_format(accumulator(dtype))
    return gamma(terms, form.unit_roundoff) * abs_sum + terms * form.smallest_subnormal


def fft(kind: Kind, first: np.ndarray, second: np.ndarray, geometry: ConvGeometry, dtype: Any) -> np.ndarray:
    """Bound the error of a convolution by FFT: one number for each image and result channel.

    The bound is normwise. A transform of N points has a relative 2-norm error of e = L h / (1 - L h) with
    L = log2 N and h = u + gamma_4 (sqrt 2 + u) (Higham, theorem 24.2). It is doubled here, because the
    transform uses radices r up to 11, for which sqrt(r) gamma_{r+2} <= 2 h log2 r. The product of two spectra
    has an error of 2e + e^2 + sqrt(2) gamma_4 in the 1-norm, relative to N ||x||_2 ||w||_2. The inverse
    transform adds e ||x * w||_2 <= e sqrt(K) ||x||_2 ||w||_2, where K is the length of the shorter operand.
    Planes are transformed one by one and their results summed, which adds gamma of their number.

    Args:
        kind: the kind of call.
        first: the call's first array.
        second: its second array.
        geometry: its geometry.
        dtype: the data's type.

    Returns:
        The bound, in a shape that broadcasts to the result.
    """
    form = float_format(accumulator(dtype))
    u, gamma4 = form.unit_roundoff, gamma(4, form.unit_roundoff)
    depth = max(geometry.filters_shape[-2], geometry.out_channels // geometry.groups)
    points = 2 * prod(map(_span, geometry.axes))
    step = 2 * (u + gamma4 * (sqrt(2) + u)) * log2(points)
    if step >= 1:
        return np.array(inf)
    e = step / (1 - step)
    shorter, planes = prod(axis.filter_size for axis in geometry.axes), depth
    if kind.sums_images:
        shorter, planes = prod(axis.out_size for axis in geometry.axes), geometry.batch
    factor = (2 * e + e * e + sqrt(2) * gamma4 + e * sqrt(shorter)) * (1 + e)
    factor += (1 + factor) * gamma(planes, u)
    with np.errstate(over="ignore"):
        return factor * _norms(kind, first, second, geometry) + points * form.smallest_subnormal


def winograd(
    kind: Kind, first: np.ndarray, second: np.ndarray, geometry: ConvGeometry, dtype: Any
) -> np.ndarray:
    """Bound the error of Winograd's F(2, r), r up to 3, summed over the pieces of a filter, for each cell.

    An output tile is A' [sum over pieces and channels of (G g G') * (B' d B)] A; how a filter is cut into
    pieces is in kernels/winograd_pieces.h. Each number of a tile results from two additions for B', four for
    G, P C products and sums for P pieces and C channels, and four additions for A'. Its error is therefore at
    most gamma_{PC+12} times the same expression with every number and every matrix entry replaced by its
    absolute value (Higham, section 3.1; for a normwise analysis see B. Barabasz et al., Error Analysis and
    Improving the Accuracy of Winograd Convolution for Deep Neural Networks, ACM TOMS 46, 2020).

    An input gradient is such a convolution for each of its phases, with the flipped, transposed filter. A
    filter gradient is G' [sum over tiles of V * (A dy A')] G: two additions for B', two for A, T products and
    sums for T tiles, and six operations for G' give less than gamma_{T+12}.

    The taps in depth of a volume are further channels; in a filter gradient, where each tap in depth has
    sums of its own, the planes are further images. A sequence is an image of one row.

    Args:
        kind: the kind of call.
        first: the call's first array.
        second: its second array.
        geometry: its geometry, with one group and without dilation.
        dtype: the data's type.

    Returns:
        The bound of each cell.
    """
    return _winograd(kind, first, second, geometry, dtype, "winograd", 12)


def winograd2(
    kind: Kind, first: np.ndarray, second: np.ndarray, geometry: Conv2DGeometry, dtype: Any
) -> np.ndarray:
    """Bound the error of Winograd's F(2x2, 3x3) for each cell: `winograd` of a filter with one piece.

    In a filter gradient, G' [sum over images and tiles of (B' d B) * (A dy A')] G, a row of B' or A has at
    most two entries, 1 or -1: one addition, applied twice, in both factors together at most four roundings.
    With T tiles in all images, a product and at most T - 1 additions follow. A row of G' has at most three
    entries, and halves are exact: two additions, applied twice, make four. That is gamma_{T+8}, less than
    gamma_{T+12}. It holds for any order of the T terms, so also where the GPU sums blocks and slices of tiles
    and cuBLAS cuts them further. Tiles of zeros, which fill the last block, add no rounding.

    Arguments and result are those of `winograd`.
    """
    return winograd(kind, first, second, geometry, dtype)


def winograd4(
    kind: Kind, first: np.ndarray, second: np.ndarray, geometry: Conv2DGeometry, dtype: Any
) -> np.ndarray:
    """Bound the error of Winograd's F(4x4, 3x3) for each cell, as `winograd2` does for the smaller tile.

    A row of B' has at most four entries (a product with 5, three additions); a row of G has three, which are
    rounded themselves (entry, product, two additions); a row of A' has five (four additions). Each is applied
    twice. With the C products and sums this gives gamma_{C+25}, which is less than gamma_{C+32}. Arguments
    and result are those of `winograd2`.
    """
    return _winograd(kind, first, second, geometry, dtype, "winograd4 textbook", 32)


def winograd4_balanced(
    kind: Kind, first: np.ndarray, second: np.ndarray, geometry: Conv2DGeometry, dtype: Any
) -> np.ndarray:
    """Bound the error of F(4, r) with the points 0, +-sqrt(1/2), +-sqrt(2) and infinity for each cell.

    A filter has pieces of r taps, up to 3, as in `winograd`; F(4, 2) uses five of the points, F(4, 1) four.
    As for `winograd4`, the roundings are counted (kernels/winograd_matrices.h). A number of B' d has passed
    at most five: products with a square root that is itself rounded, and three sums. One of G g has passed
    five: products with two rounded constants, and a sum. One of A' m has passed five: a difference, a
    product with a rounded constant, and two sums. Each matrix is applied twice, and P C products are summed
    for P pieces and C channels; that gives gamma_{PC+30}, less than gamma_{PC+32}. The matrices have entries
    up to 2.9 instead of 8.

    A filter gradient is G' [sum over tiles of V * (A dy A')] G, F(r, 4) for pieces of r taps. A number of
    A dy has passed four: a sum, a product with a rounded square root, and a sum. One of G' m has passed
    seven: two products with rounded constants, and three sums. With T products and sums for T tiles:
    gamma_{T+32}.

    This bound is norm-wise. In one dimension, y[0] of F(2, 3) is the sum of m[0], m[1] and m[2], which read
    d[0], d[1] and d[2], the window of y[0]; y[1] likewise reads d[1], d[2] and d[3] only. So the bound of
    `winograd2` depends on the inputs of the cell's own window. In F(4, 3), y[0] is the sum of five products,
    which read d[3] and d[4] too. What these contribute cancels, but its roundings do not: a large input up to
    three cells outside the window adds an error of its own size. Arguments and result are those of
    `winograd`.
    """
    return _winograd(kind, first, second, geometry, dtype, "winograd4", 32)


def _winograd(
    kind: Kind,
    first: np.ndarray,
    second: np.ndarray,
    geometry: ConvGeometry,
    dtype: Any,
    name: str,
    roundings: int,
) -> np.ndarray:
    """Evaluate transforms on absolute values; bound the error by gamma_{terms + roundings} times that.

    Where numbers become subnormal, a rounding costs up to eta / 2 instead of u times the number. In an entry
    of V = B' d B, and of U = G g G' or A dy A', that is less than 12 eta in all, which the other factor of
    the product multiplies; in each product, and in each step of the last transform, it is eta / 2.
    """
    if geometry.rank != 2:
        return with_planes(
            lambda a, b, image, *nothing: _winograd(kind, a, b, image, dtype, name, roundings),
            *(kind, first.astype(np.float64), second, geometry),
        )
    form = float_format(accumulator(dtype))
    tables = rows, cols = [_sizes(tiles_of(name, axis, kind.scatters)) for axis in geometry.axes]
    sizes = [np.where(np.isfinite(array), np.abs(array.astype(np.float64)), 0) for array in (first, second)]
    # unscaled, squares of large numbers would overflow to infinity, and 0 * infinity is NaN
    scales = [np.ldexp(1.0, min(1023, -np.frexp(array.max(initial=0.0))[1])) for array in sizes]
    data, other = (array * scale for array, scale in zip(sizes, scales, strict=True))
    g, a, tiles = (rows.g, cols.g), (rows.a, cols.a), windows(data, tables)
    down, along = rows.tiles * len(rows.a), cols.tiles * len(cols.a)
    if kind.sums_images:
        g, a, terms = a, g, len(other) * rows.tiles * cols.tiles
        padded = np.zeros((len(other), down, along, other.shape[3]))
        padded[:, : rows.size, : cols.size] = other
        others = list(padded.reshape(len(other), rows.tiles, len(rows.a), cols.tiles, len(cols.a), -1))
    else:
        others = [other.swapaxes(2, 3) if kind.scatters else other] * len(data)
        terms = rows.pieces * cols.pieces * data.shape[3]
    steps, eta, parts = terms + roundings, form.smallest_subnormal, []
    with np.errstate(over="ignore"):
        for d, e in zip(tiles, others, strict=True):  # d: tile, tile, channel, span, span
            v = np.einsum("ai,tucij,bj->abtuc", rows.b, d, cols.b, optimize=True)
            if kind.sums_images:
                u = np.einsum("pa,tpuqo,qb->abtuo", g[0], e, g[1], optimize=True)
            else:  # two products of matrices: einsum would copy the filter four times
                by_rows = (g[0] @ e.reshape(len(e), -1)).reshape(len(g[0]), e.shape[1], -1)
                u = (g[1] @ by_rows).reshape(len(g[0]), len(g[1]), *e.shape[2:])
            left, right = v.reshape(*v.shape[:2], -1, v.shape[-1]), u.reshape(*u.shape[:2], -1, u.shape[-1])
            left = left.swapaxes(2, 3) if kind.sums_images else left
            m = gamma(steps, form.unit_roundoff) * (left @ right) / scales[0] / scales[1]
            m += 12 * eta / scales[0] * left.sum(3, keepdims=True)
            m += 12 * eta / scales[1] * right.sum(2, keepdims=True)
            parts.append(m if kind.sums_images else m.reshape(*v.shape[:4], -1))
        if kind.sums_images:
            parts = [np.sum(parts, axis=0)]
        law = _LAST_LAW[kind.sums_images]
        y = np.stack([np.einsum(law, a[0], m + steps * eta, a[1], optimize=True) for m in parts])
    if kind.sums_images:
        return y[0]
    return y.reshape(len(data), down, along, -1)[:, : rows.size, : cols.size]


# the last transform; likewise for the filter gradient
# a, b: products of rows and cols; t, u: tiles; i, j: inputs or taps; p, q: outputs of a tile; c, o: channels
_LAST_LAW = ("pa,abtuo,qb->tpuqo", "ai,abco,bj->ijco")


def _sizes(tiles: Tiles) -> Tiles:
    """Return transforms with the absolute values of their entries."""
    b, g, a = (np.abs(matrix.astype(np.float64)) for matrix in (tiles.b, tiles.g, tiles.a))
    return replace(tiles, b=b, g=g, a=a)


def tensor(abs_sum: np.ndarray, terms: int, dtype: Any) -> np.ndarray:
    """Bound the error of sums on tensor cores for each cell, without the last rounding.

    Products of half types are exact in float32. One instruction adds n >= 4 of them to a running sum. It
    aligns all numbers to the largest and truncates the rest: at worst one unit 2u of the largest for each of
    the n + 1 numbers, and again when the sum is normalised. That is (n + 2) 2u sum |x||w|, or at most 3u
    for each product. Sums are padded with zeros to whole instructions of at most 16 products, which gives
    gamma_{3 (K + 16)}.

    (M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer
    Science 7:e330, 2021, sections 3 and 4: products are exact, sums are truncated and not rounded, subnormals
    are kept. They measured V100, T4 and A100; later cards keep more bits.)

    Args:
        abs_sum: sum |x||w| of each cell.
        terms: K, the number of terms of a cell.
        dtype: the data's type.

    Returns:
        The bound of each cell.

    >>> bool(tensor(np.array(1.0), 9, "float16") < 76 * 2.0**-24)
    True
    """
    form = float_format(accumulator(dtype))
    steps = 3 * (terms + 16)
    return gamma(steps, form.unit_roundoff) * abs_sum + steps * form.smallest_subnormal


def half_accumulation(abs_sum: np.ndarray, terms: int, dtype: Any) -> np.ndarray:
    """Bound the error of sums that are kept in the data's own type, such as float16, for each cell.

    The model: each product is rounded to the type, and so is each partial sum, to nearest; a fused
    multiply-add rounds once instead of twice. The result is the last partial sum. In any order the error is
    at most K u sum |x||w|, for any K (C.-P. Jeannerod, S. M. Rump, Improved error bounds for inner products
    in floating-point arithmetic, SIAM Journal on Matrix Analysis and Applications 34, 2013). gamma_K would be
    infinite from K = 2048 on in float16, and from K = 256 on in bfloat16. A product that underflows is wrong
    by eta / 2.

    Args:
        abs_sum: sum |x||w| of each cell.
        terms: K, the number of terms of a cell, the bias included.
        dtype: the data's type.

    Returns:
        The bound of each cell.

    >>> half_accumulation(np.array(1.0), 512, "float16").round(3), gamma(2048, 2.0**-11)
    (np.float64(0.25), inf)
    """
    form = float_format(dtype)
    relative = terms * form.unit_roundoff
    return relative * abs_sum + terms * (1 + relative) * form.smallest_subnormal


def tf32(abs_sum: np.ndarray, terms: int, largest: float) -> np.ndarray:
    """Bound the error of float32 sums whose factors are rounded to TF32, for each cell.

    Each factor is rounded to 11 bits of its significand, which costs (1 + 2^-11)^2 - 1 for each product. A
    factor below 2^-126 may be flushed to zero; ``largest`` bounds what it would have been multiplied by. The
    sums are those of `tensor`.

    Args:
        abs_sum: sum |x||w| of each cell.
        terms: K, the number of terms of a cell.
        largest: max |x| + max |w|.

    Returns:
        The bound of each cell.

    >>> bool(tf32(np.array(1.0), 9, 1.0) > 2.0**-10)
    True
    """
    rounding = 2.0**-10 + 2.0**-22
    lost = terms * 2.0**-126 * largest if np.isfinite(largest) else 0.0
    return tensor(abs_sum * (1 + rounding), terms, "float32") + rounding * abs_sum + lost


def _span(axis: AxisGeometry) -> int:
    """Return a number that is at least the length of the padded transform along one axis."""
    return max(axis.in_size, axis.full_size) + 2 * axis.effective_filter + abs(axis.pad_before)


def _norms(kind: Kind, first: np.ndarray, second: np.ndarray, geometry: ConvGeometry) -> np.ndarray:
    """Return ||x||_2 ||w||_2 over the operands of one transform, in a shape that broadcasts to the result."""
    g, rank = geometry.groups, geometry.rank
    places, ones = tuple(range(1, rank + 1)), (1,) * rank

    def norms(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        # without the scale, squares of large or small numbers would overflow or underflow
        scale = np.abs(array).max(initial=0.0) or 1.0
        return np.asarray(scale * np.sqrt(((array / scale) ** 2).sum(axis=axes)))

    # data with NaN or infinity are not transformed, and the bound of direct summation holds
    a, b = (np.where(np.isfinite(array), array.astype(np.float64), 0) for array in (first, second))
    if kind.sums_images:
        x = norms(a, places).reshape(len(a), g, -1, 1)  # [batch, groups, in / groups, 1]
        dy = norms(b, places).reshape(len(b), g, 1, -1)  # [batch, groups, 1, out / groups]
        products = (x * dy).sum(axis=0)  # [groups, in / groups, out / groups]
        return np.asarray(products.transpose(1, 0, 2).reshape(*ones, products.shape[1], -1))
    images = norms(a.reshape(*a.shape[:-1], g, -1), (*places, rank + 2))  # [batch, groups]
    w = b.reshape(*b.shape[:-1], g, -1)  # [*taps, in / groups, groups, out / groups]
    taps = tuple(range(rank))
    filters = norms(w, (*taps, rank)) if kind.gathers else norms(w, (*taps, rank + 2)).T
    return np.asarray((images[:, :, None] * filters).reshape(len(a), *ones, -1))


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What `judge` found: arrays of the result's shape, one value for each cell.

    Attributes:
        ok: whether the cell is within its bound.
        error: the absolute error.
        fraction: the error as a fraction of the bound.
        ulps: the error in units in the last place (see `judge`).
        may_overflow: whether an intermediate sum, or the result, may exceed the largest finite number.
    """

    ok: np.ndarray
    error: np.ndarray
    fraction: np.ndarray
    ulps: np.ndarray
    may_overflow: np.ndarray

    @property
    def passed(self) -> bool:
        """Whether every cell lies within its bound."""
        return bool(self.ok.all())

    @classmethod
    def of_equals(cls, shape: tuple[int, ...]) -> Verdict:
        """What `judge` finds of two equal results of which no sum on the way may overflow."""
        yes, no, nothing = (np.broadcast_to(value, shape) for value in (True, False, 0.0))
        return cls(yes, nothing, nothing, nothing, no)


@np.errstate(all="ignore")
def judge(
    got: np.ndarray,
    want: np.ndarray,
    error_bound: np.ndarray | float = 0.0,
    abs_sum: np.ndarray | float = 0.0,
    terms: int = 1,
    signed: tuple[np.ndarray, np.ndarray] | None = None,
    exact: np.ndarray | None = None,
    sums: Any = None,
) -> Verdict:
    """Compare a result with the reference's, cell by cell.

    The result is compared with ``want``, which is rounded itself: a half type's result, rounded from float32,
    may then lie two roundings from it, and so may one that was truncated. With ``exact`` a cell passes only
    if it is what some number within the bound of the exact sum is rounded to.

    Integers must be equal if no error is allowed. Where the reference is infinite or NaN, the result must be
    the same infinity or NaN. Where it is infinite because the sum is too large, the result may also be a
    finite number within the bound of the exact sum. A finite cell may be infinite or NaN only if a sum of
    some of its terms exceeds the largest number of the accumulator's type: in which order the terms are
    summed is left to the backend.

    An error is counted in ulps of the larger of the two numbers. Where the terms cancel, both may be far
    smaller than any term, and the error, which has the size of the terms' roundings, would be millions of
    their ulps. So no ulp is taken to be smaller than that of the mean term, ``abs_sum / terms``, which is at
    most the largest term of the sum.

    Args:
        got: the result to judge.
        want: the exact result, rounded once.
        error_bound: a bound on the error without the last rounding, such as `direct` gives. The roundings of
            both results are added here.
        abs_sum: sum |x||w| of each cell: it says where an intermediate sum may overflow, and what counts as
            near zero.
        terms: the number of terms of each sum.
        signed: the sum of the positive terms of each cell, and that of the negative terms without their sign
            (`teachconv.truth.exact.signed_sums`): which infinity an intermediate sum may become. None if
            that is not known, or if the algorithm sums other terms: each then counts as ``abs_sum``.
        exact: the sums in float64 (`teachconv.truth.exact.unrounded`), whose own error is allowed for here;
            or None.
        sums: the type in which the result was summed; None for the accumulator of ``want``'s type.

    Returns:
        A `Verdict`.

    >>> verdict = judge(np.float32([1, 2]), np.float32([1, 2.5]), 0.1)
    >>> verdict.passed, verdict.ok.tolist()
    (False, [True, False])
    """
    if want.dtype.kind in "iu":
        error = np.abs(_exactly(got) - _exactly(want)).astype(np.float64)
        allowed = np.broadcast_to(np.asarray(error_bound, np.float64), want.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            fraction = np.where(error == 0, 0.0, error / allowed)
        return Verdict(error <= allowed, error, fraction, error, np.zeros(want.shape, bool))
    form, sums = float_format(want.dtype), float_format(sums or accumulator(want.dtype))
    g, w = got.astype(np.float64), want.astype(np.float64)
    # an infinity counts as the next number after the largest
    beyond = min(form.largest / (1 - form.unit_roundoff), float_format("float64").largest)
    results = np.clip(g, -beyond, beyond)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        bound = np.broadcast_to(np.asarray(error_bound, np.float64), w.shape)
        target, up, down, overflowed = _overflows(w, abs_sum, terms, signed, form, sums)
        if exact is None:
            last = _half_ulp(np.abs(w) + bound, form)
            # the reference is rounded once; a sum in a wider type is rounded a second time
            allowed = bound + (last if sums == form else 2 * last)
        else:
            target = np.where(np.isfinite(w) | overflowed, exact, target)
            allowed = bound + direct(np.asarray(abs_sum), terms, "float64")
            allowed = allowed + (0 if sums == form else _last_rounding(results, target, form))
        # float64 cannot hold the bound of a sum that is too large for it: that of a sum without cancellation
        nearly = 4 * terms * sums.unit_roundoff * form.largest
        allowed = np.where(overflowed & np.isinf(allowed), nearly, allowed)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        # NaN is the sum of both infinities, of which one may be among the data
        nan = np.isnan(g) & (up | (w == inf)) & (down | (w == -inf))
        finite = np.isfinite(w) | overflowed
        error = np.abs(results - target)
        ok = same | nan | (finite & ((error <= allowed) | ((g == inf) & up) | ((g == -inf) & down)))
        error = np.where(same | (ok & ~np.isfinite(g)), 0.0, error)
        error = np.where(ok | np.isfinite(g) & np.isfinite(w), error, inf)
        fraction = np.where(error == 0, 0.0, error / allowed)
        size = np.where(np.isfinite(g), np.maximum(np.abs(g), np.abs(w)), np.abs(w))
        size = np.maximum(size, np.asarray(abs_sum) / terms)
        ulps = np.where(error == 0, 0.0, error / (2 * _half_ulp(size, form)))
    return Verdict(ok, error, fraction, ulps, up | down | overflowed)


def _overflows(
    want: np.ndarray, abs_sum: Any, terms: int, signed: Any, form: FloatFormat, sums: FloatFormat
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what overflow makes legal, cell by cell.

    Returns:
        The value to compare with: ``want``, or the exact sum where that is too large for the type.
        Whether an intermediate sum may become infinity, and whether it may become minus infinity.
        Whether ``want`` is infinite because the sum is too large, and not because a term is infinite.
    """
    positives, negatives = (np.broadcast_to(part, want.shape) for part in signed or (abs_sum, abs_sum))
    reach = sums.largest / (1 + terms * sums.unit_roundoff)  # roundings may lift a sum that far
    overflowed = np.isinf(want) & (np.where(want > 0, positives, negatives) > form.largest)
    size = np.nan_to_num(np.abs(positives - negatives), nan=0.0)
    exact = np.copysign(np.clip(size, form.largest, float_format("float64").largest), want)
    return np.where(overflowed, exact, want), positives >= reach, negatives >= reach, overflowed


def _exactly(array: np.ndarray) -> np.ndarray:
    """Return numbers as Python's integers and fractions, whose differences are exact; infinity for NaN."""
    if array.dtype.kind in "iu":
        return array.astype(object)
    exact = np.frompyfunc(lambda number: Fraction(number) if isfinite(number) else inf, 1, 1)
    return np.asarray(exact(array.astype(np.float64)), object)


def _half_ulp(sizes: np.ndarray, form: FloatFormat) -> np.ndarray:
    """Return the largest error of rounding a number of at most that size."""
    sizes = np.minimum(sizes, form.largest)
    exponent = np.frexp(sizes)[1] - form.precision
    exponent = np.where(sizes == 0, form.smallest_exponent, exponent)
    return np.asarray(np.ldexp(0.5, np.maximum(exponent, form.smallest_exponent)))


def _last_rounding(found: np.ndarray, target: np.ndarray, form: FloatFormat) -> np.ndarray:
    """Return how far a number that is rounded to ``found`` may lie from it, on the side of ``target``."""
    outwards = np.abs(target) > np.abs(found)
    outwards &= np.signbit(target) == np.signbit(found)
    sizes = np.abs(found)
    return _half_ulp(np.where(outwards | (found == 0), sizes, np.nextafter(sizes, 0)), form)
