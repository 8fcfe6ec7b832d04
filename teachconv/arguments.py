"""Arguments as people write them, turned into the few forms that the rest of the library knows.

Strides, dilations, pads and shapes become tuples of plain ints; arrays, nested lists and other
libraries' arrays become aligned NumPy arrays of a supported dtype. What does not fit is refused here,
with the argument's name, its value and what would be legal.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

import numpy as np

from .devices import device_array, is_on_device, lies_on_a_gpu
from .dtypes import FLOATS, INTEGERS, KNOWN_DTYPES, is_integer
from .errors import ArgumentError, ArgumentTypeError, suggestion
from .tables import size

__all__ = [
    "as_array",
    "check_bytes",
    "check_data_format",
    "check_memory",
    "check_steps",
    "to_nhwc",
]

Pair: TypeAlias = tuple[int, int]
Pads: TypeAlias = tuple[Pair, Pair]  # ((top, bottom), (left, right)); negative numbers crop
Padding: TypeAlias = tuple[str, Pads]  # the mode, and the pads that only the mode EXPLICIT has
Shape: TypeAlias = tuple[int, ...]


# ---------------------------------------------------------------------------------------------
# Strides, dilations, pads and shapes
# ---------------------------------------------------------------------------------------------


def check_data_format(data_format: Any) -> str:
    """Return ``data_format`` if it is "NHWC" or "NCHW"; raise otherwise."""
    if isinstance(data_format, str) and data_format in ("NHWC", "NCHW"):
        return data_format
    near = suggestion(data_format, ("NHWC", "NCHW"))
    raise ArgumentError(f'data_format must be "NHWC" or "NCHW"; got {data_format!r}{near}')


def to_nhwc(shape: Shape, data_format: str) -> Shape:
    """Reorder a shape of 4 from ``data_format`` to NHWC."""
    if data_format == "NCHW":
        return (shape[0], shape[2], shape[3], shape[1])
    return shape


@lru_cache(maxsize=64)
def axis_order(layout: str) -> tuple[int, ...]:
    """Return the permutation from NHWC, or HWIO for a filter, to a layout given by its letters.

    >>> axis_order("NCHW"), axis_order("OIHW")
    ((0, 3, 1, 2), (3, 2, 0, 1))
    """
    canonical = "HWIO" if "O" in layout else "NHWC"
    return tuple(canonical.index(letter) for letter in layout)


def integer(value: Any, name: str) -> int:
    """Return ``value`` as an int; floats, bools and everything else are refused by name."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise ArgumentTypeError(f"{name} must be integers; got {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be integers; got {value!r}") from None


def _items(value: Any, name: str) -> list[Any]:
    if isinstance(value, (str, bytes, dict, set)) or not isinstance(value, Iterable):
        raise ArgumentTypeError(f"{name} must be an int or a sequence of ints; got {value!r}")
    return list(value)


def _is_scalar(value: Any) -> bool:
    return type(value) is int or getattr(value, "ndim", None) == 0 or not isinstance(value, Iterable)


def normalize_shape(shape: Any, name: str) -> Shape:
    label = f"{name} shape" if name in ("input", "filters") else name
    sizes = tuple(integer(item, label) for item in _items(shape, label))
    if len(sizes) != 4:
        raise ArgumentError(f"{label} must have 4 sizes; got {list(sizes)}")
    if min(sizes) < 0:
        raise ArgumentError(f"{label} must have no negative size; got {list(sizes)}")
    return sizes


_FARTHEST = 2**31 - 1  # below it, no index that a kernel computes leaves 64 bits


def check_steps(numbers: Iterable[int], name: str, value: Any) -> None:
    """Refuse strides, dilations and pads that are too large to compute an index with."""
    if max(map(abs, numbers), default=0) > _FARTHEST:
        raise ArgumentError(f"{name} must be at most {_FARTHEST} (2**31 - 1) in size; got {value!r}")


def normalize_pair(value: Any, name: str, data_format: str = "NHWC") -> Pair:
    """Return strides or dilations as (rows, cols) of positive ints; None means 1.

    >>> normalize_pair([1, 2, 3, 1], "strides", "NHWC"), normalize_pair(2, "strides")
    ((2, 3), (2, 2))
    """
    if type(value) is int and 1 <= value <= _FARTHEST:
        return value, value
    if value is None:
        return 1, 1
    if _is_scalar(value):
        pair = [integer(value, name)] * 2
    else:
        pair = [integer(item, name) for item in _items(value, name)]
        if len(pair) == 4:
            batch, pair[0], pair[1], channels = to_nhwc(tuple(pair), data_format)
            if batch != 1 or channels != 1:
                raise ArgumentError(
                    f"{name} must be 1 at N and C in {data_format} order: a convolution does not step "
                    f"over images or channels; got {value!r}"
                )
            pair = pair[:2]
        elif len(pair) == 1:
            pair *= 2
    if len(pair) != 2:
        raise ArgumentError(
            f"{name} must be an int, (rows, cols) or 4 ints in {data_format} order; got {value!r}"
        )
    if min(pair) < 1:
        raise ArgumentError(f"{name} must be at least 1; got {value!r}")
    check_steps(pair, name, value)
    return pair[0], pair[1]


def normalize_output_padding(value: Any, data_format: str = "NHWC") -> Pair:
    """Return output_padding as (rows, cols) of ints; its range is checked where it is used."""
    if _is_scalar(value):
        both = integer(value, "output_padding")
        return both, both
    pair = tuple(integer(item, "output_padding") for item in _items(value, "output_padding"))
    if len(pair) != 2:
        raise ArgumentError(f"output_padding must be an int or (rows, cols); got {value!r}")
    return pair[0], pair[1]


_SPELLED = ("SAME", "VALID", "SAME_LOWER")
_PADDING_HELP = (
    '"SAME", "VALID", "SAME_LOWER", an int, (rows, cols), ((top, bottom), (left, right)) '
    "or 4 pairs in data_format order"
)


def normalize_padding(value: Any, data_format: str = "NHWC") -> Padding:
    """Return padding as its mode and its pads ((top, bottom), (left, right)).

    >>> normalize_padding([[0, 0], [1, 2], [3, 4], [0, 0]])
    ('EXPLICIT', ((1, 2), (3, 4)))
    >>> normalize_padding((1, 2))                   # one number for each axis, both of its sides
    ('EXPLICIT', ((1, 1), (2, 2)))
    >>> normalize_padding("SAME")
    ('SAME', ((0, 0), (0, 0)))
    """
    if isinstance(value, str):
        if value in _SPELLED:
            return value, ((0, 0), (0, 0))
        near = suggestion(value, _SPELLED)
        raise ArgumentError(f"padding must be {_PADDING_HELP}; got {value!r}{near}")
    if value is None:
        raise ArgumentTypeError(f"padding must be {_PADDING_HELP}; got None")
    pads = _explicit_padding(value, data_format)
    check_steps((side for pair in pads for side in pair), "padding", value)
    return "EXPLICIT", pads


def _explicit_padding(value: Any, data_format: str) -> Pads:
    if _is_scalar(value):
        all_sides = integer(value, "padding")
        return (all_sides, all_sides), (all_sides, all_sides)
    items = _items(value, "padding")
    if len(items) == 2 and all(_is_scalar(item) for item in items):
        rows, cols = (integer(item, "padding") for item in items)
        return (rows, rows), (cols, cols)
    pairs = []
    for item in items:
        sides = [] if _is_scalar(item) else [integer(side, "padding") for side in _items(item, "padding")]
        if len(sides) != 2:
            raise ArgumentError(f"padding must be {_PADDING_HELP}; got {value!r}")
        pairs.append((sides[0], sides[1]))
    if len(pairs) == 4:
        batch, rows_pair, cols_pair, channels = (
            (pairs[0], pairs[2], pairs[3], pairs[1]) if data_format == "NCHW" else pairs
        )
        if batch != (0, 0) or channels != (0, 0):
            raise ArgumentError(
                f"padding must be (0, 0) at N and C in {data_format} order: images and channels are "
                f"not padded; got {value!r}"
            )
        return rows_pair, cols_pair
    if len(pairs) != 2:
        raise ArgumentError(f"padding must be {_PADDING_HELP}; got {value!r}")
    return pairs[0], pairs[1]


# ---------------------------------------------------------------------------------------------
# Arrays
# ---------------------------------------------------------------------------------------------


def as_array(value: Any, name: str, ndim: int | tuple[int, ...] | None = 4, axes: str = "") -> np.ndarray:
    """Return ``value`` as a native, aligned NumPy array of ``ndim`` axes and a supported dtype.

    With ``ndim`` None any number of axes will do. What lies on a GPU stays there and becomes a CuPy array.

    Takes arrays, nested lists, and whatever speaks ``__array__``, ``__dlpack__`` or the array API.
    ``axes`` is what the message of an error calls the axes.
    """
    array = value if type(value) is np.ndarray else _foreign_array(value, name)
    if array.ndim != ndim and ndim is not None and (type(ndim) is int or array.ndim not in ndim):  # type: ignore[operator]
        axes = axes or ("[batch, rows, cols, channels]" if name != "filters" else "[rows, cols, in, out]")
        expected = "1 axis, [out_channels]" if ndim == 1 else f"{_counts(ndim)} axes, {axes}"
        raise ArgumentError(f"{name} must have {expected}; got shape {list(array.shape)}")
    if array.dtype not in KNOWN_DTYPES and array.dtype.name != "bfloat16":
        if not array.dtype.isnative and array.dtype.newbyteorder("=") in KNOWN_DTYPES:
            return array.astype(array.dtype.newbyteorder("="))
        raise ArgumentTypeError(_unsupported(array.dtype, name))
    if is_on_device(array):
        return array  # always native and aligned there
    flags = array.flags
    if not flags.c_contiguous:
        check_memory(array.shape, array.dtype, name)  # a broadcast view may claim more than there is
    return array if flags.aligned else array.copy()


def _counts(ndim: int | tuple[int, ...]) -> str:
    return str(ndim) if isinstance(ndim, int) else " or ".join(map(str, ndim))


def _foreign_array(value: Any, name: str) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise ArgumentError(
                f"{name} must have no masked elements: a convolution has no value for them; "
                f"got {np.ma.count_masked(value)} of them (use {name}.filled(...))"
            )
        return np.asarray(value.data)
    if isinstance(value, (list, tuple)):
        return _array_of_lists(value, name)
    if lies_on_a_gpu(value):
        return device_array(value, name)
    try:
        if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
            return np.asarray(value)
        return np.from_dlpack(value)
    except Exception as error:
        raise ArgumentTypeError(
            f"{name} must be an array or nested lists; got {value!r:.80}: {error}"
        ) from error


def _array_of_lists(value: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise ArgumentError(f"{name} must be nested lists of equal lengths, of numbers: {error}") from None
    if not is_integer(array.dtype):
        return array
    limits = np.iinfo(np.int32)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise ArgumentError(
            f"{name}: lists of integers become int32, and some of these do not fit; "
            "use numpy.array(..., dtype='int64')"
        )
    return array.astype(np.int32)


def _unsupported(dtype: np.dtype[Any], name: str) -> str:
    known = ", ".join(FLOATS + INTEGERS)
    if dtype.kind == "c":
        help_ = f"convolve {name}.real and {name}.imag"
    elif dtype.kind in "biu":
        help_ = f'{name}.astype("{"int64" if dtype.itemsize >= 4 else "int32"}") or {name}.astype("float32")'
    elif dtype.kind == "f":
        help_ = f'{name}.astype("float64")'
    else:
        help_ = f'{name}.astype("float64"), if its elements are numbers'
    return f"{name} must have dtype {known}; got {dtype}: {help_}"


def check_memory(shape: Sequence[int], dtype: np.dtype[Any], what: str) -> None:
    """Raise ``MemoryError`` before anything is allocated that this machine cannot hold."""
    nbytes = prod(shape) * dtype.itemsize
    if nbytes > _physical_memory():  # else the text is not needed
        check_bytes(nbytes, f"{what} of shape {list(shape)} and dtype {dtype.name}")


def check_bytes(nbytes: int, what: str) -> None:
    """Raise ``MemoryError`` where this machine has less than ``nbytes`` of memory."""
    if nbytes > _physical_memory():
        raise MemoryError(f"{what} needs {size(nbytes)}; this machine has {size(_physical_memory())}")


@lru_cache(maxsize=1)
def _physical_memory() -> int:
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize
