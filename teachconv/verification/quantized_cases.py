"""Quantized calls with the shapes of a case, and the numbers at which kernels differ, drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from zlib import crc32

import numpy as np

from ..quantized.calls import OPS, QuantizedCall, call_of, scheme_of
from ..support.errors import ArgumentError
from .cases import Case

# what a call is hard for, and its activation
DRAWN = {
    "any numbers": "relu",
    "ties, zero points at the ends": None,
    "scales over six decades": "relu6",
    "ends of the types, saturated": None,
}
_TIES, _DECADES, _ENDS = list(DRAWN)[1:]


def quantized_calls(
    case: Case, scheme: str, types: Sequence[tuple[str, str]], seed: str
) -> Iterator[tuple[str, QuantizedCall]]:
    """Yield a call of each kind of `DRAWN`, if the scheme has the op.

    Args:
        case: the shapes; its numbers are not used.
        scheme: the scheme.
        types: pairs of dtypes of x and w.
        seed: any text.
    """
    op = case.op.replace("convolution", f"conv{case.geometry.rank}d")
    for kind in DRAWN if op in OPS else ():
        rng = np.random.default_rng(crc32(f"{case.name} {kind} {seed}".encode()))
        with suppress(ArgumentError):  # the scheme has no such op, or a sum overflows its accumulator
            yield kind, _drawn(rng, case, op, kind, scheme, types[int(rng.integers(len(types)))])


def _drawn(rng: Any, case: Case, op: str, kind: str, scheme: str, types: tuple[str, str]) -> QuantizedCall:
    law, wide = scheme_of(scheme), types[0] == "int16"
    x_limits, w_limits = (np.iinfo(np.dtype(name)) for name in types)

    def zero_point(limits: Any, symmetric: bool) -> int:
        ends = [limits.min, limits.max]
        return 0 if symmetric else int(rng.choice(ends * (kind in (_TIES, _ENDS)) or range(*ends)))

    def stored(shape: tuple[int, ...], limits: Any, zero: int) -> np.ndarray:
        if kind == _ENDS:
            return rng.choice([limits.min, limits.max], shape).astype(limits.dtype)
        least, most = (zero - 8, zero + 8) if kind == _TIES else (limits.min, limits.max)
        return rng.integers(max(least, limits.min), min(most, limits.max) + 1, shape).astype(limits.dtype)

    x_zero, y_zero = (zero_point(x_limits, wide and law.symmetric) for _ in "xy")
    w_zero = zero_point(w_limits, law.symmetric)
    x, w = case.arranged(stored(case.input, x_limits, x_zero)), stored(case.filters, w_limits, w_zero)
    channels = case.geometry.shape_of("input" if OPS[op].transposed else "output")[-1]
    w_scale = 0.01 * rng.uniform(0.5, 2, channels)
    if kind == _DECADES:
        w_scale = 10.0 ** rng.uniform(-6, 0, channels)
    elif kind == _TIES:
        w_scale = 2.0 ** rng.integers(-4, 0, channels)
    facts: dict[str, Any] = {
        "x_scale": 2.0**-4,
        "x_zero_point": x_zero,
        "w_scale": w_scale,
        "w_zero_point": w_zero,
        "y_zero_point": y_zero,
        "scheme": scheme,
        "strides": case.strides,
        "padding": case.padding,
        "data_format": case.data_format,
        "dilations": case.dilations,
        "activation": DRAWN[kind],
        "dtype": None,
    }
    if OPS[op].transposed:
        facts |= {"output_shape": case.output_shape, "output_padding": case.output_padding}
    sums = call_of(op, x, w, None, y_scale=1.0, **facts).sums("numpy")
    size = max(1.0, float(sums.std()) if sums.size else 1.0)
    bias = rng.integers(-size, size + 1, channels)
    if law.bias_types == ("float32",):
        bias = bias * np.float32(2.0**-4) * w_scale
    dtype = "int64" if wide else law.bias_types[0]
    fill = 2.0 if kind == _ENDS else 0.2  # how much of the type the results take
    real = min(0.5, 2.0 ** np.round(np.log2(fill * (int(x_limits.max) - int(x_limits.min)) / size)))
    y_scale = 2.0**-4 * w_scale.max(initial=2.0**-20) / real
    return call_of(op, x, w, bias.astype(dtype) if case.bias else None, y_scale=y_scale, **facts)
