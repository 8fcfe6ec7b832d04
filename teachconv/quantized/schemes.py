"""How each runtime turns an exact sum of integers into an integer of the result: its *scheme*.

The sums of (x - x_zero_point) * (w - w_zero_point) are the same everywhere. A scheme adds the bias,
multiplies by x_scale * w_scale / y_scale and rounds. `SCHEMES` lists the schemes with their sources;
tests/peers/test_quantized_live.py compares each with its runtime.

A rescaling yields (what was done, the number after it) for each of its steps, and so does an average. So the
same lines compute an array and explain a single cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import floor, inf
from typing import Any, TypeAlias

import numpy as np

Steps: TypeAlias = Iterator[tuple[str, Any]]
Add: TypeAlias = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Rescaling:
    """What the sums of each output channel are multiplied by, in the forms that the schemes use.

    Each attribute is an array with one number for each channel, or the number of a single channel.

    Attributes:
        bias: the integer that is added to the sum, in units of x_scale * w_scale.
        float_bias: the bias in the same units, where it is not rounded; else 0.
        real: x_scale * w_scale / y_scale in float64.
        factor: the same in float32.
        multiplier: the same as an integer: real is about multiplier / 2**31 * 2**shift.
        shift: the power of two.
        half_up: whether the right shift rounds a half up, or else away from zero.
    """

    bias: Any
    float_bias: Any
    real: Any
    factor: Any
    multiplier: Any
    shift: Any
    half_up: Any

    def of_channel(self, channel: int) -> Rescaling:
        """Return the numbers of one channel: Python's own, and float32 where products are rounded to it."""
        numbers = {name: array[channel] for name, array in vars(self).items()}
        whole = {name: numbers[name].item() for name in ("bias", "multiplier", "shift", "half_up")}
        return Rescaling(**numbers | whole)


# ---------------------------------------------------------------------------------------------
# The multiplier as an integer, and integer roundings
# ---------------------------------------------------------------------------------------------


def fixed_point(real: float) -> tuple[int, int]:
    """Return a positive number as an integer of 31 bits and a power of two.

    Source: tensorflow/lite/kernels/internal/quantization_util.cc, QuantizeMultiplier.

    >>> fixed_point(0.75), fixed_point(0.375)               # 1610612736 / 2**31 is 0.75
    ((1610612736, 0), (1610612736, -1))
    """
    fraction, shift = np.frexp(real)
    multiplier = floor(float(fraction) * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    return (0, 0) if shift < -31 else (multiplier, int(shift))


def wrap_int32(numbers: Any) -> Any:
    """Return integers as a C program keeps them in 32 bits: modulo 2**32."""
    return (numbers + 2**31) % 2**32 - 2**31


def high_multiply(numbers: Any, multiplier: Any) -> Any:
    """Return numbers * multiplier / 2**31, rounded half up: gemmlowp's SaturatingRoundingDoublingHighMul.

    >>> high_multiply(3, 2**30), high_multiply(-3, 2**30)   # of 1.5 and -1.5
    (2, -1)
    """
    return (numbers * multiplier + 2**30) >> 31  # mark: rounding of quantized.by_two_roundings


def shift_half_away(numbers: Any, shift: Any) -> Any:
    """Return numbers / 2**shift, rounded half away from zero: gemmlowp's RoundingDivideByPOT.

    >>> shift_half_away(6, 2), shift_half_away(-6, 2)       # of 1.5 and -1.5
    (2, -2)
    """
    # mark: rounding of quantized.by_two_roundings if half_away
    return (numbers + (((1 << shift) - (numbers < 0)) >> 1)) >> shift


def shift_half_up(numbers: Any, shift: Any) -> Any:
    """Return numbers / 2**shift, rounded half up.

    >>> shift_half_up(6, 2), shift_half_up(-6, 2)           # of 1.5 and -1.5
    (2, -1)
    """
    # mark: rounding of quantized.by_one_rounding quantized.by_16_bits
    # mark: rounding of quantized.by_two_roundings if half_up
    return (numbers + ((1 << shift) >> 1)) >> shift


# ---------------------------------------------------------------------------------------------
# From a sum with its bias to an integer of the result's scale
# ---------------------------------------------------------------------------------------------


def by_float32(total: Any, r: Rescaling) -> Steps:
    """Multiply in float32 and round half to even."""
    biased = np.float32(total)
    yield "float32(sum)", biased
    if np.any(r.float_bias):
        biased = biased + r.float_bias
        yield "+ bias / (x_scale * w_scale), float32", biased
    # mark: rounding of quantized.by_float32 quantized.by_float32_to_int32
    product = biased * r.factor
    yield "* multiplier, float32", product
    # mark: rounding of quantized.by_float32 quantized.by_float32_to_int32
    yield "round half to even", np.rint(product)


def by_float32_to_int32(total: Any, r: Rescaling) -> Steps:
    """Multiply in float32 and round half to even, to int32: what does not fit becomes -2**31, as on x86."""
    rounded: Any = None
    for what, rounded in by_float32(total, r):
        yield what, rounded
    yield "convert to int32", np.where(np.abs(rounded) < 2**31, rounded, -(2.0**31))


def by_float64(total: Any, r: Rescaling) -> Steps:
    """Add the bias and multiply in float64, and round half to even."""
    biased = total + r.float_bias
    yield "+ bias / (x_scale * w_scale), float64", biased
    yield "* multiplier, float64", biased * r.real
    yield "round half to even", np.rint(biased * r.real)  # mark: rounding of quantized.by_float64


def by_two_roundings(total: Any, r: Rescaling) -> Steps:
    """Shift left, multiply and round half up; then shift right and round again."""
    left = np.maximum(r.shift, 0)
    shifted = wrap_int32(total << left)
    yield "shift left, in 32 bits", shifted
    high = high_multiply(shifted, r.multiplier)
    yield "* multiplier / 2**31, round half up", high
    away, up = (rounded(high, left - r.shift) for rounded in (shift_half_away, shift_half_up))
    how = "half up" if np.all(r.half_up) else "half away from zero"
    yield f"shift right, round {how}", np.where(r.half_up, up, away)


def by_one_rounding(total: Any, r: Rescaling) -> Steps:
    """Multiply, shift right and round half up, once."""
    product = total * r.multiplier
    yield "* multiplier", product
    doubled = wrap_int32(product >> (30 - r.shift))
    yield "shift right by 30 - shift, in 32 bits", doubled
    yield "shift right by 1, round half up", shift_half_up(doubled, 1)


def by_16_bits(total: Any, r: Rescaling) -> Steps:
    """Multiply by the upper 16 bits of the multiplier, shift right and round half up, once."""
    upper = np.minimum((r.multiplier + 2**15) >> 16, 0x7FFF)
    yield "the multiplier's upper 16 bits", upper
    yield "sum * these", total * upper
    yield "shift right by 15 - shift, round half up", wrap_int32(shift_half_up(total * upper, 15 - r.shift))


# ---------------------------------------------------------------------------------------------
# The bias in units of x_scale * w_scale: what is added to the integer, and what to the float
# ---------------------------------------------------------------------------------------------


def integer_bias(bias: np.ndarray, units: np.ndarray) -> tuple[Any, Any]:
    """Return the bias as it is: an integer in these units."""
    return bias.astype(np.int64), np.float32(0)


def fbgemm_bias(bias: np.ndarray, units: np.ndarray) -> tuple[Any, Any]:
    """Return the quotient, which stays a float32; one scale for all channels multiplies by its inverse."""
    return 0, bias / units if units.ndim else bias * (np.float32(1) / units)


def qnnpack_bias(bias: np.ndarray, units: np.ndarray) -> tuple[Any, Any]:
    """Return the quotient, rounded to an integer, half to even."""
    return np.rint(bias * (np.float32(1) / units)).astype(np.int64), np.float32(0)


def float64_bias(bias: np.ndarray, units: np.ndarray) -> tuple[Any, Any]:
    """Return the quotient in float64."""
    return 0, bias / units.astype(np.float64)


# ---------------------------------------------------------------------------------------------
# The integer that stands for 6, at which relu6 clamps
# ---------------------------------------------------------------------------------------------


def six_half_to_even(six: Any, zero: int) -> float:
    """Round 6 / y_scale half to even and add the zero point."""
    return float(np.rint(six)) + zero


def six_half_away(six: Any, zero: int) -> float:
    """Round 6 / y_scale half away from zero and add the zero point."""
    return float(np.floor(np.float64(six) + 0.5)) + zero


def six_with_zero_point(six: Any, zero: int) -> float:
    """Add the zero point to 6 / y_scale in float32 and round half to even."""
    return float(np.rint(six + np.float32(zero)))


# ---------------------------------------------------------------------------------------------
# The average of a window, before saturation
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Averaging:
    """What the average of a window is computed from.

    Attributes:
        x: the stored integers, int64.
        add: sums an array's numbers in each window, one tap after another.
        count: how many cells of each window count.
        scales: x_scale and y_scale, float32.
        zeros: x_zero_point and y_zero_point.
    """

    x: np.ndarray
    add: Add
    count: np.ndarray
    scales: tuple[Any, Any]
    zeros: tuple[int, int]


def average_of_stored(a: Averaging) -> Steps:
    """Divide the sum of the stored integers, half away from zero."""
    total = a.add(a.x)
    yield "sum of the stored integers", total
    yield "/ cells, half away from zero", np.sign(total) * ((np.abs(total) + a.count // 2) // a.count)


def average_of_float32(a: Averaging) -> Steps:
    """Average the real numbers in float32, divide by y_scale, add y_zero_point and round half to even."""
    total = a.add(np.float32(a.x - a.zeros[0]) * a.scales[0])
    yield "sum of the real numbers, float32", total
    scaled = total / np.float32(a.count) / a.scales[1] + np.float32(a.zeros[1])
    yield "/ cells / y_scale + y_zero_point, float32", scaled
    yield "round half to even", np.rint(scaled)


def average_of_fbgemm(a: Averaging) -> Steps:
    """Multiply the sum by 1 / count in float32, add the zero point and round half to even."""
    total = np.float32(a.add(a.x - a.zeros[0]))
    yield "sum of x - x_zero_point, float32", total
    mean = total * (np.float32(1) / np.float32(a.count)) + np.float32(a.zeros[1])
    yield "* (1 / cells) + y_zero_point, float32", mean
    yield "round half to even", np.rint(mean)


def average_of_qnnpack(a: Averaging) -> Steps:
    """Divide the sum by the cells of the window, padding too, round half to even and add the zero point."""
    total = np.float32(a.add(a.x - a.zeros[0]))
    yield "sum of x - x_zero_point, float32", total
    mean = np.rint(total / np.float32(a.count))
    yield "/ cells, padding too, half to even", mean
    yield "+ y_zero_point", mean + a.zeros[1]


def average_of_float64(a: Averaging) -> Steps:
    """Average the real numbers in float64, round half to even and add y_zero_point."""
    x_scale, y_scale = map(float, a.scales)
    scaled = a.add(a.x - a.zeros[0]) / a.count * (x_scale / y_scale)
    yield "sum / cells * x_scale / y_scale, float64", scaled
    yield "round half to even, + y_zero_point", np.rint(scaled) + a.zeros[1]


def half_up_of_builtin(is_plain: bool, groups: int, channels: int) -> Any:
    """Return which channels LiteRT computes in vectors, which round half up; its loops round half away.

    A convolution without groups is all vectors, and one with groups runs by the reference's loops. Depthwise
    and transposed ones have vectors of 8 channels, and a loop for the channels that are left.
    """
    return groups == 1 if is_plain else np.arange(channels) < channels // 8 * 8


# ---------------------------------------------------------------------------------------------
# The table
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scheme:
    """How one runtime computes.

    Attributes:
        name: what ``scheme=`` calls it.
        runtime: whose results it gives.
        source: where the runtime's code is.
        rescale: yields the steps from a sum with its bias to an integer of the result's scale.
        average: yields the steps to the average of each of a pool's windows.
        types: the dtypes of x and w that the runtime accepts.
        bias: the part of the bias that is added to the integer, and the part added to the float.
        bias_types: the dtypes of a bias.
        refused: the ops that the runtime does not compute in integers, each with what it does instead.
        symmetric: whether w_zero_point must be 0, and with int16 those of x and y, too.
        same_scale: whether an average keeps x's scale and zero point.
        counts_padding: whether padding counts in the divisor of an average.
        by_inverse: whether the multiplier is x_scale * w_scale * (1 / y_scale).
        below: what x_scale * w_scale / y_scale must be less than.
        six: the integer that stands for 6, from 6 / y_scale in float32 and y_zero_point.
        half_up: in which channels the last of two roundings is half up, or None: a function of whether the op
            is neither depthwise nor transposed, the number of groups, and that of output channels.
        accumulator: the bits of the sum with its bias.
        wide: for int16, the rescaling of sums that get a bias of int64; None for the same.
    """

    name: str
    runtime: str
    source: str
    rescale: Callable[[Any, Rescaling], Steps]
    average: Callable[[Averaging], Steps]
    types: tuple[tuple[str, str], ...]
    bias: Callable[[np.ndarray, np.ndarray], tuple[Any, Any]] = integer_bias
    bias_types: tuple[str, ...] = ("int32",)
    refused: tuple[tuple[str, str], ...] = ()
    symmetric: bool = False
    same_scale: bool = True
    counts_padding: bool = False
    by_inverse: bool = False
    below: float = inf
    six: Callable[[Any, int], float] = six_half_to_even
    half_up: Callable[[bool, int, int], Any] | None = None
    accumulator: int = 32
    wide: Callable[[Any, Rescaling], Steps] | None = None

    def __str__(self) -> str:
        return f"scheme '{self.name}' ({self.runtime})"

    def with_wide_bias(self) -> Scheme:
        """Return the scheme of sums that get a bias of int64; the same if it has none."""
        if self.wide is None:
            return self
        return replace(self, rescale=self.wide, bias_types=("int64",), accumulator=48, below=128.0)


_NO_3D = "conv3d", "TFLite's conv3d is a float32 op"
_TFLITE = Scheme(
    "tflite",
    "LiteRT's reference kernels (BUILTIN_REF), and CMSIS-NN by default",
    "tensorflow/lite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier",
    by_two_roundings,
    average_of_stored,
    (("int8", "int8"), ("int16", "int8")),
    wide=by_16_bits,
    refused=(_NO_3D,),
    symmetric=True,
    below=2.0**30,
    six=six_half_away,
)
_FLOAT32 = Scheme(
    "onnx",
    "onnxruntime's QLinearConv and QLinearAveragePool",
    "onnxruntime/core/mlas/lib/quantize.cpp, MlasRequantizeOutput",
    by_float32,
    average_of_float32,
    (("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")),
    refused=(("conv2d_transpose", "onnxruntime computes it in float32"),),
    same_scale=False,
)
_TORCH = replace(
    _FLOAT32,
    name="torch",
    runtime="PyTorch's fbgemm",
    source="FBGEMM/src/QuantUtilsAvx2.cc, requantizeOutputProcessingAvx2",
    rescale=by_float32_to_int32,
    average=average_of_fbgemm,
    types=(("uint8", "int8"),),
    bias=fbgemm_bias,
    bias_types=("float32",),
    refused=(),
    same_scale=True,
)
_SCHEMES = (
    _FLOAT32,
    _TFLITE,
    replace(
        _TFLITE,
        name="tflite_builtin",
        runtime="LiteRT's builtin kernels, without XNNPACK (BUILTIN_WITHOUT_DEFAULT_DELEGATES)",
        source="ruy/apply_multiplier.cc; tensorflow/lite/kernels/internal/optimized/integer_ops",
        half_up=half_up_of_builtin,
    ),
    replace(
        _TFLITE,
        name="tflite_single",
        runtime="CMSIS-NN with CMSIS_NN_USE_SINGLE_ROUNDING",
        source="CMSIS-NN/Include/arm_nnsupportfunctions.h, arm_nn_requantize",
        rescale=by_one_rounding,
    ),
    replace(
        _FLOAT32,
        name="xnnpack",
        runtime="LiteRT by default, with XNNPACK",
        source="XNNPACK/src/qs8-requantization/fp32-scalar-lrintf.c",
        average=average_of_stored,
        types=(("int8", "int8"),),
        refused=(_NO_3D,),
        symmetric=True,
        same_scale=True,
        below=256.0,
        six=six_with_zero_point,
    ),
    _TORCH,
    replace(
        _TORCH,
        name="torch_qnnpack",
        runtime="PyTorch's qnnpack",
        source="aten/src/ATen/native/quantized/cpu/qnnpack/src/requantization/fp32-sse2.c",
        average=average_of_qnnpack,
        counts_padding=True,
        bias=qnnpack_bias,
        by_inverse=True,
    ),
    Scheme(
        "float",
        "no runtime: fake quantization, in float64",
        "tensorflow/core/kernels/fake_quant_ops.cc",
        by_float64,
        average_of_float64,
        tuple((x, w) for x in ("int8", "uint8", "int16") for w in ("int8", "uint8")),
        bias=float64_bias,
        bias_types=("float32",),
        same_scale=False,
        accumulator=53,
    ),
)
SCHEMES = {scheme.name: scheme for scheme in _SCHEMES}
