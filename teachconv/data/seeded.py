"""Seeded test arrays, which are the same on every machine."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from ..core.dtypes import FORMATS, is_integer, to_dtype
from ..support.errors import check_word

DATA = ("normal", "integers", "long", "words", "pixels", "blurs", "scaled", "tiny", "huge", "nonfinite")
EXACT = ("integers", "long")  # whole numbers, whose sums are exact in float64


def make_array(shape: Any, dtype: Any, data: str = "normal", seed: str = "") -> np.ndarray:
    """Return a random array that depends only on the arguments, not on the machine.

    Args:
        shape: its shape.
        dtype: its dtype, or the dtype's name.
        data: the kind of values: "normal" (standard normal), "integers" (-4..4, whose sums are exact in any
            type), "long" (the same, but one in a hundred has half of the type's bits: its sums are exact
            too, and of an array that is rounded to a smaller type they are others), "words" (whole numbers of
            16 bits; of 6 for float16), "pixels" (whole numbers from 0 to 255), "blurs" (positive; a case
            makes its filters constant or nearly separable), "scaled" (magnitudes over eight decades), "tiny"
            (products underflow), "huge" (sums overflow) or "nonfinite" (normal, with some NaN and
            infinities). For an integer dtype, every kind but "integers" and "long" gives values from the
            type's whole range.
        seed: any text.

    Returns:
        The array.

    Raises:
        ArgumentError: if ``data`` is not one of these.

    >>> make_array((2,), "int32", "integers", "a").tolist()
    [1, 4]
    """
    check_word(data, "data", DATA)
    dtype = to_dtype(dtype)
    random = np.random.Generator(np.random.PCG64(crc32(seed.encode())))
    if data in EXACT:
        whole = random.integers(-4, 5, shape)
        if data == "long":
            bits = (8 * dtype.itemsize if is_integer(dtype) else FORMATS[dtype.name].precision) // 2
            odd = random.integers(1 << bits - 1, 1 << bits, shape) | 1
            whole = np.where(random.random(shape) < 0.01, odd * random.choice([-1, 1], shape), whole)
        return whole.astype(dtype)
    if is_integer(dtype):
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    if data == "pixels":
        return random.integers(0, 256, shape).astype(dtype)
    if data == "words":
        end = 2**5 if dtype.name == "float16" else 2**15
        return random.integers(-end, end, shape).astype(dtype)
    values = random.standard_normal(shape)
    largest = float(np.finfo(dtype).max) if dtype.name != "bfloat16" else 3.3e38
    smallest = {"float16": 6e-8, "bfloat16": 9e-41, "float32": 1.4e-45}.get(dtype.name, 5e-324)
    if data == "scaled":
        values *= 10.0 ** random.uniform(-4, min(4, np.log10(largest) / 2 - 1), shape)
    elif data == "blurs":
        values = np.abs(values)
    elif data == "tiny":
        values *= smallest**0.5
    elif data == "huge":
        values *= largest**0.5 / 2
    elif data == "nonfinite":
        special = random.choice([np.nan, np.inf, -np.inf], shape)
        values = np.where(random.random(shape) < 0.06, special, values)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def blurred(filters: np.ndarray) -> np.ndarray:
    """Return filters as those that smooth an image: constant, separable, or nearly separable.

    Args:
        filters: [taps..., in_channels, out_channels].

    Returns:
        Filters of the same shape and dtype, all of one of the three kinds, which depends on the numbers.

    >>> blurred(np.array([[1.0, 2.0], [3.0, 3.0]])[..., None, None])[..., 0, 0].tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    if 0 in filters.shape:
        return filters
    rank = filters.ndim - 2
    corner = (slice(0, 1),) * rank
    way = int(abs(float(filters.sum())) * 1000) % 4
    if not way:
        return np.broadcast_to(filters[corner], filters.shape).copy()
    made = np.ones_like(filters)
    for axis in range(rank):
        made = made * filters[(*corner[:axis], slice(None), *corner[axis + 1 :])]
    if way > 1:
        made[tuple(size // 2 for size in filters.shape[:rank])] *= filters.dtype.type(1.01)
    return made
