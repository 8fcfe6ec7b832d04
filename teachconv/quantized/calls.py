"""A quantized call, resolved: the stored integers in the law's order, and how their sums are rescaled.

The sums are a convolution of x - x_zero_point with w - w_zero_point. Its padding of zeros is, in stored
integers, padding with x_zero_point. It runs on any backend, in the fastest type in which no sum has an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core import kinds
from ..core.arguments import as_array, listed, shape_only
from ..core.calls import Call, resolve
from ..core.dtypes import to_dtype
from ..core.kinds import Op
from ..running.dispatch import run_canonical
from ..support import record
from ..support.devices import first_of, refuse_masked
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word, is_one_of, plain
from ..windows.calls import FUNCTIONS, CellExplanation
from ..windows.pooling import PoolCall, avg_pool, max_pool
from ..windows.walking import fold
from .schemes import SCHEMES, Averaging, Rescaling, Scheme, fixed_point

TYPES = ("int8", "uint8", "int16")


def _with_own_words(op: Op) -> Op:
    """Return an op whose messages call its arrays x and w."""
    own = {"input": "x", "filters": "w"}
    return replace(op, words=MappingProxyType({role: own.get(word, word) for role, word in op.words.items()}))


_NAMES = "conv1d", "conv2d", "conv3d", "depthwise_conv2d", "conv2d_transpose"
OPS = {name: _with_own_words(kinds.OPS[name]) for name in _NAMES}


@dataclass(frozen=True, eq=False)
class QuantizedCall:
    """One convolution of quantized arrays.

    Attributes:
        call: the call of the stored integers, in float32, which holds each of them and each difference.
        zeros: what is taken off its two arrays, in float32 and shapes that broadcast.
        scheme: how sums are rescaled.
        scales: those of x, w and y.
        rescaling: the numbers of each output channel for the rescaling.
        bias: the bias as it was given, or None.
        y_zero_point: what is added to a rescaled sum.
        limits: the smallest and the largest result, by its dtype and the activation.
        dtype: the dtype of the result.
        types: the dtypes of x and w.
    """

    call: Call
    zeros: tuple[Any, Any]
    scheme: Scheme
    scales: tuple[np.ndarray, ...]
    rescaling: Rescaling
    bias: np.ndarray | None
    y_zero_point: int
    limits: tuple[int, int]
    dtype: np.dtype[Any]
    types: tuple[np.dtype[Any], np.dtype[Any]]

    def __str__(self) -> str:
        return f"quantized.{self.call.op}, {self.scheme}"

    def run(self, backend: Any) -> np.ndarray:
        """Return the result in the caller's layout."""
        return self.call.to_caller(self.run_canonical(backend))

    def run_canonical(self, backend: Any) -> np.ndarray:
        """Return the result with channels last; of a backend with a ``SCHEME`` what its function gives."""
        if hasattr(backend, "SCHEME"):
            own = backend.SCHEME
            if own != self.scheme.name:
                raise ArgumentError(f"scheme must be that of the kernel, '{own}'; got '{self.scheme.name}'")
            function: Any = getattr(backend, str(self.call.kind))
            facts = {"bias": self.bias, "quantized": self.numbers}
            return np.asarray(function(*self.stored, self.call.geometry, **facts))
        total = self.sums(backend) + self.rescaling.bias
        self._check_accumulator(total)
        return self.rescaled(total).astype(self.dtype)

    def rescaled(self, total: Any) -> Any:
        """Return what sums with their bias become: the numbers of the result, in int64 or in a float type."""
        with record.stage("rescale") as stage:
            stage.at(self.scheme.rescale)
            stage.arrays(sums=total)
            steps = list(self.scheme.rescale(total, self.rescaling))
            stage.say("{}", "; ".join(what for what, _ in steps))
        return np.clip(steps[-1][1] + self.y_zero_point, *self.limits)

    @property
    def stored(self) -> tuple[np.ndarray, np.ndarray]:
        """The stored integers of x and w."""
        return self.call.first.astype(self.types[0]), self.call.second.astype(self.types[1])

    @property
    def numbers(self) -> dict[str, Any]:
        """What a kernel is told of the scales and zero points, by name; one number for each channel."""
        names = "x_scale", "w_scale", "y_scale"
        return dict(zip(names, self.scales, strict=True)) | {
            "x_zero_point": int(self.zeros[0]),
            "w_zero_point": self.zeros[1].astype(np.int32),
            "y_zero_point": self.y_zero_point,
            "multiplier": self.rescaling.multiplier.astype(np.int32),
            "shift": self.rescaling.shift.astype(np.int32),
            "half_up": self.rescaling.half_up,
            "activation_min": self.limits[0],
            "activation_max": self.limits[1],
        }

    @property
    def integers(self) -> Call:
        """The call of integers without their zero points, int64, whose result are the sums with the bias."""
        first, second = ((self.call.first, self.call.second)[i] - self.zeros[i] for i in (0, 1))
        bias = self.rescaling.bias if np.any(self.rescaling.bias) else None
        return replace(self.call, first=first.astype(np.int64), second=second.astype(np.int64), bias=bias)

    def sums(self, backend: Any) -> np.ndarray:
        """Return the exact sums without the bias, int64, with channels last."""
        with record.stage("take the zero points off") as stage:
            x, w = self.call.first - self.zeros[0], self.call.second - self.zeros[1]
            stage.arrays(x=x, w=w)
        summed = tuple(axis for axis in range(w.ndim) if axis != w.ndim - 1 - self.call.op.transposed)
        # no sum of some of a cell's products is larger; float32 counts exactly up to 2**24
        largest = float(np.abs(x).max(initial=0)) * float(np.abs(w).sum(summed).max(initial=0))
        by_loops = is_one_of(backend, ("reference",))
        exact: Any = np.int64
        if largest < 2**53 and not by_loops:
            exact = np.float32 if largest < 2**24 else np.float64
        call = replace(self.call, first=x.astype(exact, copy=False), second=w.astype(exact, copy=False))
        # "strict" leaves out Winograd's algorithms and FFTs, which compute with fractions
        sums = run_canonical(call, backend, "loops" if by_loops else None, "strict")
        return sums.astype(np.int64)

    def _check_accumulator(self, total: np.ndarray) -> None:
        """Raise if the runtime's accumulator would overflow."""
        bits = self.scheme.accumulator
        limit = 2 ** (bits - 1)
        if total.max(initial=0) >= limit or total.min(initial=0) < -limit:
            cell = tuple(np.argwhere((total >= limit) | (total < -limit))[0].tolist())
            raise ArgumentError(
                f"each sum with its bias must fit into the {bits} bits of {self.scheme}; "
                f"got {total[cell]} in cell {list(cell)}"
            )


# ---------------------------------------------------------------------------------------------
# From the arguments to the call
# ---------------------------------------------------------------------------------------------


def call_of(
    op: str,
    x: Any,
    w: Any,
    bias: Any,
    *,
    x_scale: Any,
    x_zero_point: Any,
    w_scale: Any,
    w_zero_point: Any,
    y_scale: Any,
    y_zero_point: Any,
    scheme: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    activation: Any,
    dtype: Any,
    output_shape: Any = None,
    output_padding: Any = None,
) -> QuantizedCall:
    """Return the call of an op with these arguments, which are those of its public function, checked."""
    law, own = scheme_of(scheme), OPS[op]
    if (reason := dict(law.refused).get(op)) is not None:
        raise ArgumentError(f"{law} has no {op}: {reason}")
    rank = own.rank or 2
    x = as_stored(x, "x", rank, "[batch, *sizes, channels]")
    w = as_stored(w, "w", rank, "[*taps, in / groups, out]")
    if (x.dtype.name, w.dtype.name) not in law.types:
        legal = listed((f"{one} with {other}" for one, other in law.types), "or")
        raise ArgumentTypeError(f"x and w must be {legal} for {law}; got {x.dtype} with {w.dtype}")
    result = _result_type(dtype, x.dtype, law)
    arguments = strides, padding, data_format, dilations, output_shape, output_padding
    call = resolve(own, x.astype(np.float32), w.astype(np.float32), None, *arguments)
    channels, groups = call.backend_shape[-1], call.geometry.groups
    if law.name == "xnnpack" and own.transposed and any(a.filter_size < a.stride for a in call.geometry.axes):
        raise ArgumentError(
            "XNNPACK takes transposed convolutions with filters at least as large as the strides; LiteRT "
            "runs others by its builtin kernels, scheme='tflite_builtin'; "
            f"got w {list(w.shape)} with strides {strides}"
        )
    x_zero = zero_points(x_zero_point, "x_zero_point", x.dtype)
    y_zero = int(zero_points(y_zero_point, "y_zero_point", result))
    w_zero = zero_points(w_zero_point, "w_zero_point", w.dtype, channels)
    _check_zero_points(law, x_zero, w_zero, y_zero, x.dtype)
    if own.transposed:  # the output channels are not the last axis
        w_zero = np.broadcast_to(w_zero, channels).reshape(groups, -1).T
        w_zero = w_zero.repeat(call.second.shape[-1] // groups, axis=1)
    scales = (
        positive_scales(x_scale, "x_scale"),
        positive_scales(w_scale, "w_scale", channels),
        positive_scales(y_scale, "y_scale"),
    )
    array = None if bias is None else _array(bias, "bias")
    if x.dtype == np.int16 and (own.depthwise or array is None or array.dtype == np.int64):
        law = law.with_wide_bias()
    if array is not None:
        _check_bias(array, law, channels)
    half_up: Any = False
    if law.half_up is not None:
        half_up = law.half_up(not (own.depthwise or own.transposed), groups, channels)
    rescaling = rescaling_of(law, scales, array, half_up, channels)
    limits = _limits(law, activation, result, y_zero, scales[2])
    types, zeros = (x.dtype, w.dtype), (np.float32(x_zero), np.float32(w_zero))
    return QuantizedCall(call, zeros, law, scales, rescaling, array, y_zero, limits, result, types)


def of_numbers(
    call: Call,
    scheme: str,
    types: Sequence[str],
    half_up: Any,
    activation_min: int,
    activation_max: int,
    **facts: Any,
) -> QuantizedCall:
    """Return the quantized call of stored integers with the `QuantizedCall.numbers` of another."""
    law, (x, w) = scheme_of(scheme), map(np.dtype, types)
    if x == np.int16 and (call.bias is None or call.bias.dtype == np.int64):
        law = law.with_wide_bias()
    scales = tuple(np.asarray(facts[name], np.float32) for name in ("x_scale", "w_scale", "y_scale"))
    zeros = np.float32(facts["x_zero_point"]), np.float32(facts["w_zero_point"])
    rescaling = rescaling_of(law, scales, call.bias, half_up, call.backend_shape[-1])
    limits = activation_min, activation_max
    plain = replace(
        call, first=call.first.astype(np.float32), second=call.second.astype(np.float32), bias=None
    )
    return QuantizedCall(
        plain, zeros, law, scales, rescaling, call.bias, facts["y_zero_point"], limits, x, (x, w)
    )


def scheme_of(scheme: Any) -> Scheme:
    """Return the scheme of a name."""
    check_word(scheme, "scheme", SCHEMES)
    return SCHEMES[scheme]


def _array(value: Any, name: str) -> np.ndarray:
    """Return numbers of any library as NumPy's; raise for masked ones and endless lists."""
    refuse_masked(value, name)
    first_of(value, name)
    try:
        return np.asarray(value)
    except Exception as error:  # of a method of the value
        raise ArgumentTypeError(f"{name} must be an array that NumPy can read: {plain(error)}") from None


def as_stored(value: Any, name: str, rank: int | None, axes: str) -> np.ndarray:
    """Return an array of stored integers; raise for another dtype or number of axes."""
    array = _array(value, name)
    if array.dtype.name not in TYPES:
        raise ArgumentTypeError(f"{name} must have dtype {listed(TYPES, 'or')}; got {array.dtype}")
    as_array(shape_only(array.shape, np.int32), name, (3, 4, 5) if rank is None else rank + 2, axes)
    return array


def _result_type(dtype: Any, own: np.dtype[Any], law: Scheme) -> np.dtype[Any]:
    """Return the dtype of the result: that of x, except where no runtime is modelled."""
    legal = TYPES if law.name == "float" else (own.name,)
    result = own if dtype is None else to_dtype(dtype)
    check_word(result.name, f"dtype of {law} for x of {own}", legal)
    return result


def _one_or_each(value: Any, name: str, channels: int) -> np.ndarray:
    """Return a number, or one for each output channel where ``channels`` is not 0."""
    array = _array(value, name)
    if array.ndim and array.shape != (channels,):
        several = f" or {channels} of them, one for each output channel" if channels else ""
        raise ArgumentError(f"{name} must be one number{several}; got shape {list(array.shape)}")
    if array.dtype.kind not in "iuf":
        raise ArgumentTypeError(f"{name} must be a number; got {brief(value)}")
    return array


def positive_scales(value: Any, name: str, channels: int = 0) -> np.ndarray:
    """Return a scale, or one for each output channel, in float32."""
    array = _one_or_each(value, name, channels)
    with np.errstate(over="ignore", under="ignore"):
        scales = array.astype(np.float32)
    if not (np.isfinite(scales) & (scales > 0)).all():
        wrong = array[~(np.isfinite(scales) & (scales > 0))]
        raise ArgumentError(f"{name} must be positive and finite in float32; got {wrong.ravel()[0]}")
    return scales


def zero_points(value: Any, name: str, dtype: np.dtype[Any], channels: int = 0) -> np.ndarray:
    """Return a zero point, or one for each output channel, in int64."""
    array, limits = _one_or_each(value, name, channels), np.iinfo(dtype)
    if array.dtype.kind == "f":
        raise ArgumentTypeError(f"{name} must be an integer; got {brief(value)}")
    wrong = array[(array < limits.min) | (array > limits.max)]
    if wrong.size:
        raise ArgumentError(
            f"{name} must be {limits.min} to {limits.max}, in {dtype}; got {wrong.ravel()[0]}"
        )
    return array.astype(np.int64)


def _check_zero_points(law: Scheme, x: Any, w: np.ndarray, y: int, dtype: np.dtype[Any]) -> None:
    """Raise for zero points that the scheme's runtime refuses."""
    if law.symmetric and w.any():
        raise ArgumentError(f"w_zero_point must be 0 for {law}; got {brief(w)}")
    if law.symmetric and dtype == np.int16 and (x or y):
        raise ArgumentError(f"x_zero_point and y_zero_point must be 0 for int16 and {law}; got {x} and {y}")


def _check_bias(bias: np.ndarray, law: Scheme, channels: int) -> None:
    """Raise unless a bias has a dtype of the scheme and one number for each output channel."""
    if bias.dtype.name not in law.bias_types:
        real = "real numbers" if law.bias_types == ("float32",) else "integers in units of x_scale * w_scale"
        legal = f"{listed(law.bias_types, 'or')}, {real}"
        raise ArgumentTypeError(f"bias must have dtype {legal}, for {law}; got {bias.dtype}")
    if bias.shape != (channels,):
        raise ArgumentError(
            f"bias must have shape [{channels}], one for each output channel; got {list(bias.shape)}"
        )


def rescaling_of(
    law: Scheme, scales: tuple[np.ndarray, ...], bias: np.ndarray | None, half_up: Any, channels: int
) -> Rescaling:
    """Return what the sums are rescaled by; raise if the runtime cannot."""
    x_scale, w_scale, y_scale = scales
    units = x_scale * w_scale
    with np.errstate(over="ignore", under="ignore"):
        factor = units * (np.float32(1) / y_scale) if law.by_inverse else units / y_scale
        real = np.float64(x_scale) * np.float64(w_scale) / np.float64(y_scale)
        whole, part = (0, np.float32(0)) if bias is None else law.bias(bias, units)
    if not units.all():
        raise ArgumentError(
            f"x_scale * w_scale must be positive in float32; got {x_scale} * {w_scale.min()}, which is 0"
        )
    largest = max(float(real.max(initial=0)), float(factor.max(initial=0)))
    if not largest < min(law.below, 2.0**128):
        raise ArgumentError(
            f"x_scale * w_scale / y_scale must be less than {min(law.below, 2.0**128):g} for {law}; "
            f"got {largest:g}"
        )
    reals = np.broadcast_to(real, channels)
    multipliers = np.array([fixed_point(one) for one in reals], np.int64).reshape(-1, 2)
    numbers = [whole, part, real, factor, multipliers[:, 0], multipliers[:, 1], np.asarray(half_up)]
    return Rescaling(*(np.broadcast_to(one, channels) for one in numbers))


def _limits(law: Scheme, activation: Any, dtype: np.dtype[Any], zero: int, y_scale: Any) -> tuple[int, int]:
    """Return the smallest and the largest result."""
    check_word(activation, "activation", (None, "relu", "relu6"))
    limits = np.iinfo(dtype)
    low, high = limits.min, limits.max
    if activation is not None:
        low = max(low, zero)
    if activation == "relu6":
        with np.errstate(over="ignore"):
            high = int(min(high, law.six(np.float32(6) / y_scale, zero)))
    return low, high


# ---------------------------------------------------------------------------------------------
# Pools
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class QuantizedPool:
    """A pool of quantized arrays, a function of the stored integers.

    Attributes:
        pool: its windows: "max" or "average".
        scheme: how averages are rounded.
        scales: those of x and y.
        zeros: their zero points.
        limits: the smallest and the largest result.
    """

    pool: PoolCall
    scheme: Scheme
    scales: tuple[Any, Any]
    zeros: tuple[int, int]
    limits: tuple[int, int]

    @property
    def function(self) -> str:
        """The name of the function."""
        return f"quantized.{self.pool.function.rpartition('.')[2]}"

    @property
    def rule(self) -> str:
        """What is made of the cells of a window, as a sentence."""
        if self.pool.reduce == "max":
            return "maximum of the stored integers: padding never wins"
        return f"mean, by {self.scheme}"

    def steps(self, x: np.ndarray) -> Iterator[tuple[str, Any]]:
        """Yield what is done, and the numbers of all windows after it; the last are the result."""
        if self.pool.reduce == "max":
            yield "maximum", fold(np.maximum, x, self.pool.axes, np.iinfo(x.dtype).min)
            return
        add = partial(fold, np.add, axes=self.pool.axes, start=0)
        count = np.broadcast_to(self.pool.divisors, self.pool.output_shape)
        facts = Averaging(x.astype(np.int64), add, count, self.scales, self.zeros)
        for what, number in self.scheme.average(facts):
            yield what, number
        low, high = self.limits
        yield f"saturated to {low} .. {high}", np.clip(number, low, high).astype(x.dtype)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the result."""
        with record.stage("compute") as stage:
            stage.at(self.scheme.average if self.pool.reduce == "average" else fold)
            steps = list(self.steps(x))
            stage.arrays(x=x, result=steps[-1][1])
            stage.say("{}", "; ".join(what for what, _ in steps))
        return np.asarray(steps[-1][1])

    def explain(self, x: np.ndarray, cell: tuple[int, ...]) -> CellExplanation:
        """Return the cells of the window of a cell of the result, and each step to its integer."""
        steps = tuple((what, numbers[cell]) for what, numbers in self.steps(x))
        return replace(self.pool.explained(x, cell, int(steps[-1][1])), call=self, steps=steps)


def pool_call_of(
    op: str,
    x: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    *,
    x_scale: Any = 1.0,
    x_zero_point: Any = 0,
    y_scale: Any = None,
    y_zero_point: Any = None,
    scheme: Any = "float",
    activation: Any = None,
) -> tuple[QuantizedPool, np.ndarray]:
    """Return a pool with these arguments, which are those of its public function, checked, and its array."""
    law, array = scheme_of(scheme), as_stored(x, "x", None, "[batch, *sizes, channels]")
    resolver = FUNCTIONS[{"max_pool": max_pool, "avg_pool": avg_pool}[op]][0]
    with record.stage("resolve geometry") as stage:
        stage.at(resolver)
        pool = resolver(array.shape, ksize, strides, padding, data_format)
        stage.say("{}", pool)
    if array.dtype.name not in (legal := [one for one, _ in law.types]):
        raise ArgumentTypeError(
            f"x must be {listed(dict.fromkeys(legal), 'or')} for {law}; got {array.dtype}"
        )
    if law.counts_padding:
        pool = replace(pool, divisor=pool.terms)
    scale = positive_scales(x_scale, "x_scale")
    zero = zero_points(x_zero_point, "x_zero_point", array.dtype)
    scales = scale, scale if y_scale is None else positive_scales(y_scale, "y_scale")
    zeros = zero, zero if y_zero_point is None else zero_points(y_zero_point, "y_zero_point", array.dtype)
    if law.same_scale and (scales[1], zeros[1]) != (scale, zero):
        raise ArgumentError(
            f"y_scale and y_zero_point must be those of x, {scale} and {zero}, for {law}; "
            f"got {scales[1]} and {zeros[1]}"
        )
    limits = _limits(law, activation, array.dtype, int(zeros[1]), scales[1])
    return QuantizedPool(pool, law, scales, (int(zero), int(zeros[1])), limits), array
