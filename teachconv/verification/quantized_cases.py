"""Quantized calls with the shapes of a case, and the numbers at which kernels differ, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ..quantized.calls import OPS, QuantizedCall, call_of, scheme_of
from ..support.errors import ArgumentError
from .cases import Case


@dataclass(frozen=True)
class Numbers:
    """What the numbers of a quantized call are like.

    Attributes:
        w_scales: returns scales, one for each of a number of channels.
        activation: its activation.
        at_ends: whether zero points lie at the ends of their types.
        symmetric: whether that of w is 0, as many kernels want it.
        reach: how far numbers lie from their zero points; 0 for the ends of the type alone.
        fill: how much of the type the results take; above 1 they saturate.
        most: the largest multiplier; one above 1 shifts to the left.
        exact: whether scales are powers of two, so that results lie exactly between two integers.
        beyond: whether the biases lead the sums beyond 2**24, to both sides of such a place: a float32 of
            that size loses what decides.
    """

    w_scales: Callable[[Any, int], np.ndarray]
    activation: str | None = None
    at_ends: bool = False
    symmetric: bool = False
    reach: int = 2**16
    fill: float = 0.2
    most: float = 0.5
    exact: bool = False
    beyond: bool = False


DRAWN = {
    "any numbers": Numbers(lambda rng, channels: rng.uniform(0.005, 0.02, channels), "relu"),
    "ties, zero points at the ends": Numbers(
        lambda rng, channels: 2.0 ** rng.integers(-4, 0, channels),
        at_ends=True,
        symmetric=True,
        reach=8,
        exact=True,
    ),  # fmt: skip
    "scales over six decades": Numbers(
        lambda rng, channels: 10.0 ** rng.uniform(-6, 0, channels), "relu6", symmetric=True
    ),
    "ends of the types, saturated": Numbers(
        lambda rng, channels: rng.uniform(0.005, 0.02, channels), at_ends=True, reach=0, fill=2.0
    ),
    "multipliers above 1": Numbers(
        lambda rng, channels: rng.uniform(0.005, 0.02, channels), symmetric=True, reach=2, most=64.0
    ),
    "sums beyond 2**24": Numbers(
        lambda rng, channels: np.full(channels, 2.0**-4),
        symmetric=True,
        reach=2,
        most=2.0**-19,
        exact=True,
        beyond=True,
    ),
}


def quantized_calls(
    case: Case, scheme: str, types: Sequence[tuple[str, str]], seed: str
) -> Iterator[tuple[str, QuantizedCall]]:
    """Yield a call with each of the `DRAWN`, if the scheme has the op.

    Args:
        case: the shapes; its numbers are not used.
        scheme: the scheme.
        types: pairs of dtypes of x and w.
        seed: any text.
    """
    op = case.op.replace("convolution", f"conv{case.geometry.rank}d")
    for words, numbers in DRAWN.items() if op in OPS else ():
        rng = np.random.default_rng(crc32(f"{case.name} {words} {seed}".encode()))
        with suppress(ArgumentError):  # the scheme has no such op, or a sum overflows its accumulator
            yield words, _drawn(rng, case, op, numbers, scheme, types[int(rng.integers(len(types)))])


def _drawn(
    rng: Any, case: Case, op: str, numbers: Numbers, scheme: str, types: tuple[str, str]
) -> QuantizedCall:
    law, wide = scheme_of(scheme), types[0] == "int16"
    x_limits, w_limits = (np.iinfo(np.dtype(name)) for name in types)

    def zero_point(limits: Any, symmetric: bool) -> int:
        ends = [limits.min, limits.max]
        return 0 if symmetric else int(rng.choice(ends if numbers.at_ends else range(*ends)))

    def stored(shape: tuple[int, ...], limits: Any, zero: int) -> np.ndarray:
        if not numbers.reach:
            return np.asarray(rng.choice([limits.min, limits.max], shape), limits.dtype)
        least, most = max(limits.min, zero - numbers.reach), min(limits.max, zero + numbers.reach)
        return np.asarray(rng.integers(least, most + 1, shape), limits.dtype)

    x_zero, y_zero = (zero_point(x_limits, wide and law.symmetric) for _ in "xy")
    w_zero = zero_point(w_limits, law.symmetric or numbers.symmetric)
    x, w = case.arranged(stored(case.input, x_limits, x_zero)), stored(case.filters, w_limits, w_zero)
    channels = case.geometry.shape_of("input" if OPS[op].transposed else "output")[-1]
    w_scale = numbers.w_scales(rng, channels)
    x_scale = 2.0**-4 if numbers.exact else float(rng.uniform(0.01, 0.2))
    facts: dict[str, Any] = {
        "x_scale": x_scale,
        "x_zero_point": x_zero,
        "w_scale": w_scale,
        "w_zero_point": w_zero,
        "y_zero_point": y_zero,
        "scheme": scheme,
        "strides": case.strides,
        "padding": case.padding,
        "data_format": case.data_format,
        "dilations": case.dilations,
        "activation": numbers.activation,
        "dtype": None,
    }
    if OPS[op].transposed:
        facts |= {"output_shape": case.output_shape, "output_padding": case.output_padding}
    sums = call_of(op, x, w, None, y_scale=1.0, **facts).sums("numpy")
    size = max(1.0, float(np.abs(sums).mean()) if sums.size else 1.0)
    bias = rng.integers(-size, size + 1, channels)
    if numbers.beyond:
        steps = rng.integers(64, 100, channels)  # of y, where none saturates
        below = 2 * y_zero > int(x_limits.min) + int(x_limits.max)
        means = sums.sum(tuple(range(sums.ndim - 1))) // max(1, sums.size // max(1, channels))
        bias = (2 * steps + 1) * 2**18 * (-1) ** below - means
    if law.bias_types == ("float32",):  # real numbers
        bias = bias * np.float32(x_scale) * w_scale
    dtype = "int64" if wide else law.bias_types[0]
    wanted = numbers.fill * (int(x_limits.max) - int(x_limits.min)) / size
    largest = min(numbers.most, 2.0 ** np.round(np.log2(wanted)))  # of the multipliers
    y_scale = x_scale * w_scale.max(initial=2.0**-20) / largest
    return call_of(op, x, w, bias.astype(dtype) if case.bias else None, y_scale=y_scale, **facts)
