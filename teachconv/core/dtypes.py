"""The supported element types, their floating-point formats, and the type in which each is summed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..support.errors import ArgumentTypeError, brief, is_one_of, suggestion

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int32", "int64")

# without bfloat16, which NumPy knows only after ml_dtypes is imported
KNOWN_DTYPES = {np.dtype(name) for name in FLOATS + INTEGERS if name != "bfloat16"}


def to_dtype(name: Any) -> np.dtype[Any]:
    """Return a NumPy dtype; for "bfloat16" this imports ml_dtypes.

    Args:
        name: a dtype, or anything that ``numpy.dtype`` takes.

    Returns:
        The dtype.

    Raises:
        ArgumentTypeError: if there is no such dtype, or ml_dtypes is needed and not installed.
    """
    if is_one_of(name, ("bfloat16",)):
        try:
            import ml_dtypes  # noqa: F401
        except ImportError:
            raise ArgumentTypeError(
                "dtype bfloat16 needs the package ml_dtypes: pip install ml_dtypes"
            ) from None
    try:
        return np.dtype(name)
    except Exception:  # of a text that names no type, or of a method of the argument
        raise ArgumentTypeError(
            f"dtype must be one of {', '.join(FLOATS + INTEGERS)}; got {brief(name)}"
            f"{suggestion(name, FLOATS + INTEGERS)}"
        ) from None


def is_integer(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is an integer type, whose arithmetic wraps around on overflow.

    Args:
        dtype: a NumPy dtype.

    Returns:
        True for integers, False for anything else, bool included.

    >>> is_integer(np.dtype("int32")), is_integer(np.dtype("float16"))
    (True, False)
    """
    return dtype.kind in "iu"


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the lowest finite value of a dtype: where a maximum pool of TensorFlow's begins on a CPU."""
    if is_integer(dtype):
        return np.iinfo(dtype).min
    return dtype.type(-3.3895314e38) if dtype.name == "bfloat16" else np.finfo(dtype).min


def wrap(numbers: Any, dtype: np.dtype[Any]) -> Any:
    """Wrap integers of any size around, as an integer type does on overflow.

    Args:
        numbers: a Python integer, or an object array of them.
        dtype: int32 or int64.

    Returns:
        The numbers in the type's range that are equal to these modulo 2^32 or 2^64.

    >>> wrap(2**31, np.dtype("int32"))
    -2147483648
    """
    half = 1 << (8 * dtype.itemsize - 1)
    return (numbers + half) % (2 * half) - half


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary floating-point format.

    Attributes:
        precision: the number of bits of the significand, the leading one included.
        smallest_exponent: the exponent of the smallest subnormal number.
        largest: the largest finite number.
    """

    precision: int
    smallest_exponent: int
    largest: float

    @property
    def unit_roundoff(self) -> float:
        """The unit roundoff u: half the distance from 1 to the next larger number."""
        return 2.0**-self.precision

    @property
    def smallest_subnormal(self) -> float:
        """The smallest subnormal, which is the smallest positive number."""
        return 2.0**self.smallest_exponent

    def round(self, doubles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Round doubles to this format, half to even, and find those that are midpoints.

        It rounds the significand itself, because the casts of NumPy and ml_dtypes to bfloat16 round to
        float32 first.

        Args:
            doubles: float64, of any shape.

        Returns:
            The rounded numbers as float64, and whether each double is halfway between two of the format's
            numbers.

        >>> [numbers.tolist() for numbers in float_format("bfloat16").round(np.array([257.0, 258.0, 259.5]))]
        [[256.0, 258.0, 260.0], [True, False, False]]
        """
        with np.errstate(all="ignore"):
            last_bit = np.maximum(np.frexp(doubles)[1] - self.precision, self.smallest_exponent)
            units = np.ldexp(doubles, -last_bit)  # exact: the number in ulps, units in the last place
            nearest = np.rint(units)
            rounded = np.ldexp(nearest, last_bit)
            rounded = np.where(np.abs(rounded) > self.largest, np.copysign(np.inf, doubles), rounded)
            return rounded, np.abs(units - nearest) == 0.5


FORMATS = {
    "float16": FloatFormat(11, -24, 65504.0),
    "bfloat16": FloatFormat(8, -133, (2 - 2.0**-7) * 2.0**127),
    "float32": FloatFormat(24, -149, (2 - 2.0**-23) * 2.0**127),
    "float64": FloatFormat(53, -1074, (2 - 2.0**-52) * 2.0**1023),
}


@lru_cache(maxsize=64)
def float_format(dtype: Any) -> FloatFormat:
    """Return the format of a floating-point dtype.

    Args:
        dtype: a dtype or its name.

    Returns:
        Its `FloatFormat`.

    Raises:
        ArgumentTypeError: if it is not one of the supported floating-point types.

    >>> float_format(np.dtype("float32")).unit_roundoff == 2.0**-24
    True
    """
    name = to_dtype(dtype).name
    if name not in FORMATS:
        raise ArgumentTypeError(f"dtype must be one of {', '.join(FORMATS)}; got {name}")
    return FORMATS[name]


@lru_cache(maxsize=64)
def accumulator(dtype: Any) -> np.dtype[Any]:
    """Return the type in which products of a dtype are summed: float32 for float16 and bfloat16.

    Args:
        dtype: a dtype or its name.

    Returns:
        float32 for the two half types, else the dtype itself.

    >>> accumulator("float16"), accumulator("float64")
    (dtype('float32'), dtype('float64'))
    """
    dtype = to_dtype(dtype)
    return np.dtype("float32") if dtype.name in ("float16", "bfloat16") else dtype


def unsupported(dtype: np.dtype[Any], name: str) -> str:
    """Return the error message for a dtype that is not supported; it names the ``.astype`` that helps."""
    known = ", ".join(FLOATS + INTEGERS)
    if dtype.kind == "c":
        help_ = f"convolve {name}.real and {name}.imag"
    elif dtype.kind in "biu":
        help_ = (
            f"{converted(name, 'int64' if dtype.itemsize >= 4 else 'int32')} or {converted(name, 'float32')}"
        )
    else:
        help_ = converted(name, "float64")
    return f"{name} must have dtype {known}; got {dtype}: {help_}"


def converted(name: str, dtype: str) -> str:
    """Return the code that converts an argument, with the argument's name if that is a Python name.

    >>> converted("input", "float32"), converted("y of Add", "float32")
    ('input.astype("float32")', 'convert it with .astype("float32")')
    """
    call = f'.astype("{dtype}")'
    return name + call if name.isidentifier() else f"convert it with {call}"
