"""Normalises the arguments of a call to the few forms that the rest of the library knows.

Strides, dilations, pads and shapes become tuples of plain ints; arrays, nested lists and other
libraries' arrays become aligned NumPy arrays of a supported dtype. Invalid arguments are refused here;
the message names the argument, its value and what would be legal.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import prod
from numbers import Number
from typing import Any, TypeAlias, TypeVar, get_args

import numpy as np

from ..support.argument_types import PaddingWord
from ..support.devices import (
    Adapter,
    adapter_of,
    check_same_place,
    first_of,
    is_on_device,
    refuse_masked,
)
from ..support.errors import ArgumentError, ArgumentTypeError, brief, is_one_of, plain, suggestion
from ..support.memory import TRIFLE, check_memory
from .dtypes import FLOATS, INTEGERS, KNOWN_DTYPES, converted, is_integer, unsupported
from .kinds import AXES, layout_of

Pair: TypeAlias = tuple[int, int]
Pads: TypeAlias = tuple[Pair, ...]  # (before, after) of each axis; negative numbers crop
Padding: TypeAlias = tuple[str, Pads]  # the mode, and the pads, which are zero unless the mode is EXPLICIT
Shape: TypeAlias = tuple[int, ...]
T = TypeVar("T")

SIDES = (("front", "back"), ("top", "bottom"), ("left", "right"))  # of `AXES`
# by how many spatial axes there may be; the letters of a data_format say how many there are
_FORMATS = {rank: (layout_of("input", rank), "NC" + "DHW"[-rank:]) for rank in (1, 2, 3)}


# ---------------------------------------------------------------------------------------------
# Strides, dilations, pads and shapes
# ---------------------------------------------------------------------------------------------


def check_data_format(data_format: Any, rank: int = 2) -> str:
    """Return ``data_format`` if it is legal.

    Args:
        data_format: "NHWC" or "NCHW"; for rank 1 "NWC" or "NCW", for rank 3 "NDHWC" or "NCDHW".
        rank: the number of spatial axes.

    Returns:
        The same.

    Raises:
        ArgumentError: if it is anything else.
    """
    if isinstance(data_format, str) and data_format in _FORMATS[rank]:
        return data_format
    last, first = _FORMATS[rank]
    near = suggestion(data_format, _FORMATS[rank])
    for other, formats in _FORMATS.items():
        near = f", which is for {other} spatial axes" if is_one_of(data_format, formats) else near
    raise ArgumentError(f'data_format must be "{last}" or "{first}"; got {brief(data_format)}{near}')


def channels_last(shape: tuple[T, ...], data_format: str) -> tuple[T, ...]:
    """Return a shape, or other values with one for each axis, with channels last: NHWC for rank 2.

    Args:
        shape: the sizes in ``data_format`` order.
        data_format: "NHWC", "NCHW", or that of another rank.

    >>> channels_last((1, 3, 8, 6), "NCHW"), channels_first((1, 8, 6, 3))
    ((1, 8, 6, 3), (1, 3, 8, 6))
    """
    return shape if data_format[-1] == "C" else (shape[0], *shape[2:], shape[1])


def channels_first(shape: tuple[T, ...]) -> tuple[T, ...]:
    """Return a shape with channels last in the order of "NCHW": the inverse of `channels_last`."""
    return (shape[0], shape[-1], *shape[1:-1])


@lru_cache(maxsize=64)
def axis_order(layout: str) -> tuple[int, ...]:
    """Return the permutation from a backend's layout, NHWC or HWIO for rank 2, to another one.

    Args:
        layout: the letters of the wanted layout; one with an "O" is a filter's.

    Returns:
        For each axis of ``layout``, its position in NHWC or HWIO, or in what stands for them in its rank.

    >>> axis_order("NCHW"), axis_order("OIHW"), axis_order("NCDHW")
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 4, 1, 2, 3))
    """
    canonical = layout_of("filters" if "O" in layout else "input", sum(letter in "DHW" for letter in layout))
    return tuple(canonical.index(letter) for letter in layout)


# what messages say of None among sizes
UNKNOWN_SIZE = "tf.shape(x)[0] is the size of an axis that only a run knows; tf.stack joins sizes"
_LARGEST = 2**256  # in size: nothing legal comes near, and messages can write it


def positive(value: Any, name: str) -> int:
    """Return ``value`` as an int; raise unless it is an integer of at least 1."""
    number = integer(value, name)
    if number < 1:
        raise ArgumentError(f"{name} must be at least 1; got {number}")
    return number


def integer(value: Any, name: str, what: str = "integers") -> int:
    """Return ``value`` as an int.

    Args:
        value: an integer of any library.
        name: what error messages call the argument.
        what: what they say that it must be: "an integer" where it is one alone.

    Returns:
        A Python int.

    Raises:
        ArgumentTypeError: if it is not an integer; floats and bools are not.
        ArgumentError: if it has more than 256 bits.
    """
    if type(value) is int and -_LARGEST <= value <= _LARGEST:
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise ArgumentTypeError(f"{name} must be {what}; got {brief(value)}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be {what}; got {brief(value)}") from None
    if abs(number) > _LARGEST:
        raise ArgumentError(f"{name} must be {what} of at most 256 bits; got {brief(value)}")
    return number


def real(value: Any, name: str) -> float:
    """Return ``value`` as a float.

    Args:
        value: a number of any library.
        name: what error messages call the argument.

    Returns:
        A Python float, which may be infinite or NaN.

    Raises:
        ArgumentTypeError: if it is not a number; texts and bools are not.
        ArgumentError: if it is an integer that is too large for a float.
    """
    try:
        if isinstance(value, (str, bytes, bytearray)) or type(value).__name__ in ("bool_", "bool"):
            raise TypeError
        return float(value)
    except OverflowError:
        raise ArgumentError(f"{name} must be a number that a float can hold; got {brief(value)}") from None
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{name} must be a number; got {brief(value)}") from None


def truth(value: Any, name: str) -> bool:
    """Return whether ``value`` is true; raise ``ArgumentTypeError`` if it cannot tell."""
    try:
        return bool(value)
    except Exception:
        raise ArgumentTypeError(f"{name} must be True or False; got {brief(value)}") from None


def _items(value: Any, name: str, legal: str = "an int or a sequence of ints") -> list[Any]:
    """Return the items of a sequence of ints; at most 16, more than are legal, for it may have no end."""
    if (
        isinstance(value, (str, bytes, bytearray, dict, set))
        or not isinstance(value, Iterable)
        or _is_scalar(value)
    ):
        raise ArgumentTypeError(f"{name} must be {legal}; got {brief(value)}")
    return list(islice(value, 16))


def _is_scalar(value: Any) -> bool:
    """Return whether a value is one number, not a sequence."""
    return type(value) is int or getattr(value, "ndim", None) == 0 or not isinstance(value, Iterable)


def normalize_shape(shape: Any, name: str, batch: int | None = None, rank: int | None = 2) -> Shape:
    """Return a shape as ints: those of the spatial axes, and two more.

    Args:
        shape: a sequence of integers.
        name: what error messages call the argument.
        batch: what -1 stands for as the first size, as in TensorFlow; None if it is not allowed.
        rank: the number of spatial axes; None for 1, 2 or 3.

    Returns:
        The shape as a tuple.

    Raises:
        ArgumentError, ArgumentTypeError: if the number of sizes is wrong, or one is negative or no integer.

    >>> normalize_shape([-1, 8, 8, 3], "output_shape", batch=2)
    (2, 8, 8, 3)
    """
    label = f"{name} shape" if name in ("input", "filters") else name
    legal = (3, 4, 5) if rank is None else (rank + 2,)
    numbers = listed(legal, "or")
    items = _items(shape, label, f"a sequence of {numbers} ints")
    if any(item is None for item in items):
        first = "" if batch is None else "-1 stands for the input's batch, and "
        raise ArgumentTypeError(f"{label} must be integers; got {brief(items)}: {first}{UNKNOWN_SIZE}")
    sizes = tuple(integer(item, label) for item in items)
    if len(sizes) not in legal:
        raise ArgumentError(f"{label} must have {numbers} sizes; got {brief(list(sizes))}")
    if batch is not None and sizes[0] == -1:
        sizes = (batch, *sizes[1:])
    if min(sizes) < 0:
        but = "" if batch is None else " except -1 for the batch"
        raise ArgumentError(f"{label} must have no negative size{but}; got {brief(list(sizes))}")
    return sizes


def grouped_shape(shape: Shape, in_channels: int, name: str) -> Shape:
    """Return the shape of a depthwise filter, over any axes, as a backend has it: groups = in_channels.

    Args:
        shape: [*filter_sizes, in_channels, channel_multiplier].
        in_channels: the input's channels.
        name: what error messages call the argument.

    Raises:
        ArgumentError: if the filter has another number of channels.

    >>> grouped_shape((3, 3, 4, 2), 4, "filters")
    (3, 3, 1, 8)
    """
    *taps, channels, multiplier = shape
    if channels != in_channels:
        sizes = ", ".join(f"filter_{axis}" for axis in AXES[-len(taps) :])
        raise ArgumentError(
            f"depthwise {name} must be [{sizes}, in_channels, channel_multiplier] with "
            f"in_channels = {in_channels}; got {list(shape)}"
        )
    return (*taps, min(1, channels), channels * multiplier)


def cell_inside(cell: Any, name: str, shape: Shape, axes: str) -> Shape:
    """Return a cell that the caller gave, checked and counted from 0.

    Args:
        cell: its indices; negative ones count from the end.
        name: what error messages call the argument.
        shape: the shape of its array.
        axes: what messages call the axes: "(n, row, col, channel)".

    Raises:
        ArgumentError, ArgumentTypeError: if there are more or fewer indices, or one is not an integer.
        IndexError: if it is outside the shape.

    >>> cell_inside((0, -1), "at", (2, 3), "(row, col)")
    (0, 2)
    """
    try:
        numbers = [integer(index, name) for index in islice(cell, len(shape) + 1)]
    except TypeError:
        raise ArgumentTypeError(f"{name} must be {axes}, {len(shape)} integers; got {brief(cell)}") from None
    if len(numbers) != len(shape):
        raise ArgumentError(f"{name} must be {axes}, {len(shape)} integers; got {brief(cell)}")
    for index, size in zip(numbers, shape, strict=True):
        if not -size <= index < size:
            raise IndexError(f"{name} must be inside shape {list(shape)} as {axes}; got {tuple(numbers)}")
    return tuple(index % size for index, size in zip(numbers, shape, strict=True))


def other_order(sizes: Sequence[int | None], layout: str, channels: Any, words: str = "") -> str:
    """Return a hint at the order of axes that an input seems to have, or "".

    Args:
        sizes: the input's shape, in the caller's order.
        layout: that order, such as "NHWC".
        channels: how many channels the filters are for.
        words: how the caller would give the other order, such as "data_format="; "" where it cannot.

    >>> other_order((1, 3, 32, 32), "NHWC", 3, "data_format=")
    "; the input [1, 3, 32, 32] looks like NCHW: data_format='NCHW', or transpose it by (0, 2, 3, 1)"
    """
    last, rank = layout[-1] == "C", len(layout)
    mine, there = (-1, 1) if last else (1, -1)
    if len(sizes) != rank or sizes[mine] == channels or sizes[there] != channels:
        return ""
    other = f"NC{layout[1:-1]}" if last else f"N{layout[2:]}C"
    order = (0, *range(2, rank), 1) if last else (0, rank - 1, *range(1, rank - 1))
    instead = f"{words}{other!r}, or " if words else ""
    return f"; the input {brief(list(sizes))} looks like {other}: {instead}transpose it by {order}"


def check_elements(sizes: Shape, label: str) -> None:
    """Reject a shape with more elements than an array can have."""
    if prod(max(size, 1) for size in sizes) > sys.maxsize:
        raise ArgumentError(f"{label} must have at most {sys.maxsize} elements; got {brief(list(sizes))}")


_FARTHEST = 2**31 - 1  # below it, no index that a kernel computes leaves 64 bits


def check_steps(numbers: Iterable[int], name: str, value: Any) -> None:
    """Reject strides, dilations and pads that are too large to compute an index with."""
    if max(map(abs, numbers), default=0) > _FARTHEST:
        raise ArgumentError(f"{name} must be at most {_FARTHEST} (2**31 - 1) in size; got {brief(value)}")


def axis_names(rank: int) -> str:
    """Return what a message calls one number for each axis: "(rows, cols)"."""
    return str(AXES[-rank:]).replace("'", "")


def normalize_steps(value: Any, name: str, data_format: str = "NHWC") -> Shape:
    """Return strides or dilations as positive ints, one for each axis: (rows, cols); None means 1.

    Args:
        value: None, an int, one int for all axes or for each, or one for each letter of ``data_format``.
        name: what error messages call the argument.
        data_format: "NHWC", "NCHW", or that of another rank.

    Returns:
        (rows, cols), or (cols,) for rank 1 and (depth, rows, cols) for rank 3.

    Raises:
        ArgumentError, ArgumentTypeError: if ``value`` is none of these, or steps over images or channels.

    >>> normalize_steps([1, 2, 3, 1], "strides", "NHWC"), normalize_steps(2, "strides", "NDHWC")
    ((2, 3), (2, 2, 2))
    """
    rank = len(data_format) - 2
    if type(value) is int and 1 <= value <= _FARTHEST:
        return (value,) * rank
    if value is None:
        return (1,) * rank
    is_plain = type(value) in (tuple, list) and {int}.issuperset(map(type, value))
    if not is_plain and _is_scalar(value):
        steps = [integer(value, name)] * rank
    else:
        steps = [*value] if is_plain else [integer(item, name) for item in _items(value, name)]
        if len(steps) == rank + 2:
            batch, *steps, channels = channels_last(tuple(steps), data_format)
            if batch != 1 or channels != 1:
                raise ArgumentError(
                    f"{name} must be 1 at N and C in {data_format} order: no window spans several "
                    f"images or channels, or steps over them; got {brief(value)}"
                )
        elif len(steps) == 1:
            steps *= rank
    if len(steps) != rank:
        legal = f"an int, {axis_names(rank)} or {rank + 2} ints in {data_format} order"
        raise ArgumentError(f"{name} must be {legal}; got {brief(value)}")
    if min(steps) < 1:
        raise ArgumentError(f"{name} must be at least 1; got {brief(value)}")
    check_steps(steps, name, value)
    return tuple(steps)


def ints_in(text: str) -> Any:
    """Return ints that are written with commas between them: one as an int, several as a tuple.

    Raises:
        ArgumentError: if they are not.

    >>> ints_in("2"), ints_in("1, 2, 2, 1")
    (2, (1, 2, 2, 1))
    """
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"expected ints separated by commas; got {brief(text)}") from None
    return numbers[0] if len(numbers) == 1 else numbers


def padding_in(text: str) -> Any:
    """Return a padding that is written as a word or as ints, of which four are two pairs, and six three.

    >>> padding_in("same"), padding_in("1"), padding_in("0,1,0,1")
    ('SAME', 1, ((0, 1), (0, 1)))
    """
    if text.strip().replace("_", "").isalpha():
        return text.strip().upper()
    numbers = ints_in(text)
    if isinstance(numbers, tuple) and len(numbers) in (4, 6):
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return numbers


def normalize_output_padding(value: Any, data_format: str = "NHWC") -> Shape:
    """Return output_padding as ints, one for each axis; `geometry` checks their range.

    Args:
        value: an int or (rows, cols).
        data_format: its letters say how many axes there are; images and channels have no entries.

    Returns:
        (rows, cols), or that of another rank.

    Raises:
        ArgumentError, ArgumentTypeError: if ``value`` is neither.
    """
    rank = len(data_format) - 2
    if _is_scalar(value):
        extra = (integer(value, "output_padding"),) * rank
    else:
        extra = tuple(integer(item, "output_padding") for item in _items(value, "output_padding"))
    check_steps(extra, "output_padding", value)
    if len(extra) != rank:
        raise ArgumentError(f"output_padding must be an int or {axis_names(rank)}; got {brief(value)}")
    return extra


PADDING_WORDS: tuple[str, ...] = get_args(PaddingWord)


def begins_then_ends(pads: Iterable[Sequence[int]]) -> list[int]:
    """Return pads in ONNX's order: before every axis, then after every axis.

    >>> begins_then_ends([(0, 1), (2, 3)])
    [0, 2, 1, 3]
    """
    return [pad for side in zip(*pads, strict=True) for pad in side]


def _padding_help(rank: int, words: Sequence[str] = PADDING_WORDS) -> str:
    """Return what a message calls a legal padding."""
    sides = str(SIDES[-rank:]).replace("'", "")
    quoted = ", ".join(f'"{word}"' for word in words)
    return f"{quoted}, an int, {axis_names(rank)}, {sides} or {rank + 2} pairs in data_format order"


def normalize_padding(value: Any, data_format: str = "NHWC", causal: bool = False) -> Padding:
    """Return padding as its mode and its pads.

    Args:
        value: "SAME", "VALID", "SAME_LOWER", an int, (rows, cols), ((top, bottom), (left, right)), or 4 pairs
            in ``data_format`` order. For rank 1 these are (cols,), ((left, right),) and 3 pairs; for rank 3
            (depth, rows, cols), ((front, back), (top, bottom), (left, right)) and 5 pairs.
        data_format: "NHWC", "NCHW", or that of another rank.
        causal: whether it may also be "CAUSAL", if the rank is 1.

    Returns:
        (mode, ((top, bottom), (left, right))). The mode is "SAME", "VALID", "SAME_LOWER", "CAUSAL" or
        "EXPLICIT"; only the last has pads other than zero.

    Raises:
        ArgumentError, ArgumentTypeError: if ``value`` is none of these, or pads images or channels.

    >>> normalize_padding([[0, 0], [1, 2], [3, 4], [0, 0]])
    ('EXPLICIT', ((1, 2), (3, 4)))
    >>> normalize_padding((1, 2))                   # (rows, cols), the same on both sides
    ('EXPLICIT', ((1, 1), (2, 2)))
    >>> normalize_padding("SAME", "NWC")
    ('SAME', ((0, 0),))
    """
    rank = len(data_format) - 2
    if isinstance(value, str):
        words = (*PADDING_WORDS, "CAUSAL") if causal and rank == 1 else PADDING_WORDS
        if value in words:
            return value, ((0, 0),) * rank
        near = suggestion(value, words)
        raise ArgumentError(f"padding must be {_padding_help(rank, words)}; got {brief(value)}{near}")
    if value is None:
        raise ArgumentTypeError(f"padding must be {_padding_help(rank)}; got None")
    pads = _explicit_padding(value, data_format)
    check_steps((side for pair in pads for side in pair), "padding", value)
    return "EXPLICIT", pads


def _explicit_padding(value: Any, data_format: str) -> Pads:
    rank = len(data_format) - 2
    if _is_scalar(value):
        all_sides = integer(value, "padding")
        return ((all_sides, all_sides),) * rank
    items = _items(value, "padding")
    numbers = all(map(_is_scalar, items))
    if numbers and len(items) == rank:
        return tuple((size, size) for size in [integer(item, "padding") for item in items])
    pairs = []
    for item in items:
        sides = [] if _is_scalar(item) else [integer(side, "padding") for side in _items(item, "padding")]
        if len(sides) != 2:
            near = (
                f"; write ({brief(tuple(items))},) for left and right"
                if numbers and (rank, len(items)) == (1, 2)
                else ""
            )
            raise ArgumentError(f"padding must be {_padding_help(rank)}; got {brief(value)}{near}")
        pairs.append((sides[0], sides[1]))
    if len(pairs) == rank + 2:
        batch, *pairs, channels = channels_last(tuple(pairs), data_format)
        if batch != (0, 0) or channels != (0, 0):
            raise ArgumentError(
                f"padding must be (0, 0) at N and C in {data_format} order: images and channels are "
                f"not padded; got {brief(value)}"
            )
    if len(pairs) != rank:
        raise ArgumentError(f"padding must be {_padding_help(rank)}; got {brief(value)}")
    return tuple(pairs)


# ---------------------------------------------------------------------------------------------
# Arrays
# ---------------------------------------------------------------------------------------------


def as_array(value: Any, name: str, ndim: int | tuple[int, ...] | None = 4, axes: str = "") -> np.ndarray:
    """Return ``value`` as an aligned NumPy array of a supported dtype in native byte order.

    An array on a GPU stays there and becomes a CuPy array.

    Args:
        value: an array, nested lists, or an object with ``__array__``, ``__dlpack__`` or the array API.
        name: what error messages call the argument.
        ndim: the number of axes, several legal numbers, or None for any number.
        axes: what error messages call the axes; "" for those of a convolution of that rank.

    Returns:
        The array; a copy only if it was not aligned or not in native byte order.

    Raises:
        ArgumentError: if the number of axes is wrong or elements are masked.
        ArgumentTypeError: if it is not an array or its dtype is not supported.
        MemoryError: if it is a view that repeats numbers, and as an array it would not fit into memory.
    """
    array = value if type(value) is np.ndarray else _foreign_array(value, name)
    if array.ndim != ndim and ndim is not None and (type(ndim) is int or array.ndim not in ndim):  # type: ignore[operator]
        if array.dtype.kind in _NO_NUMBERS:
            raise ArgumentTypeError(_no_numbers(array, name))
        legal = (ndim,) if isinstance(ndim, int) else ndim
        sizes = ", ".join(AXES[2 - ndim :]) if isinstance(ndim, int) else "*sizes"
        axes = axes or (f"[batch, {sizes}, channels]" if name != "filters" else f"[{sizes}, in, out]")
        expected = "1 axis, [out_channels]" if ndim == 1 else f"{listed(legal, 'or')} axes, {axes}"
        raise ArgumentError(f"{name} must have {expected}; got shape {brief(list(array.shape))}")
    if array.dtype not in KNOWN_DTYPES and array.dtype.name != "bfloat16":
        if not array.dtype.isnative and array.dtype.newbyteorder("=") in KNOWN_DTYPES:
            return array.astype(array.dtype.newbyteorder("="))
        no_numbers = array.dtype.kind in _NO_NUMBERS
        raise ArgumentTypeError(_no_numbers(array, name) if no_numbers else unsupported(array.dtype, name))
    if type(value) is not np.ndarray and is_on_device(array):
        return array  # CuPy arrays are always native and aligned
    flags = array.flags
    if not flags.c_contiguous and array.nbytes > TRIFLE and type(value) is not ShapeOnly:
        span = sum((n - 1) * abs(step) for n, step in zip(array.shape, array.strides, strict=True))
        if array.nbytes > span + array.itemsize:  # a broadcast view may be larger than the memory
            check_memory(array.shape, array.dtype, name)
    return array if flags.aligned else array.copy()


def is_shape(value: Any) -> bool:
    """Return whether an argument is the shape of an array, and not an array or nested lists.

    >>> is_shape((1, 8, 8, 3)), is_shape([[1.0], [2.0]])
    (True, False)
    """
    return isinstance(value, (list, tuple)) and not any(isinstance(size, (list, tuple)) for size in value)


def shape_of(value: Any, name: str, ranks: tuple[int, ...] | None, axes: str) -> Shape | None:
    """Return the shape of an array, or a shape given in its place; None for a missing bias."""
    if value is None and ranks == (1,):
        return None
    sizes = value if is_shape(value) else getattr(value, "shape", None)
    if sizes is None:
        sizes = as_array(value, name, ranks, axes).shape
    shape = tuple(integer(size, f"{name} shape") for size in sizes)
    if ranks is not None and len(shape) not in ranks:
        legal = " or ".join(map(str, ranks))
        raise ArgumentError(
            f"{name} must have {legal} axes{', ' + axes if axes else ''}; got shape {brief(list(shape))}"
        )
    if min(shape, default=0) < 0:
        raise ArgumentError(f"{name} shape must have no negative size; got {list(shape)}")
    check_elements(shape, f"{name} shape")
    return shape


class ShapeOnly(np.ndarray):
    """An array that stands for one whose shape and dtype alone are known; it has one element, repeated."""


def shape_only(shape: Sequence[int], dtype: Any) -> ShapeOnly:
    """Return an array that takes no memory, for calls that are resolved before there are values.

    Args:
        shape: its shape, which may be larger than the machine's memory.
        dtype: its dtype.
    """
    return np.broadcast_to(np.zeros((), dtype), tuple(shape)).view(ShapeOnly)


def listed(words: Iterable[Any], joint: str) -> str:
    """Return words as a list in a sentence.

    >>> listed(["depth", "rows", "cols"], "and"), listed((3, 4), "or"), listed((4,), "or")
    ('depth, rows and cols', '3 or 4', '4')
    """
    *most, last = map(str, words)
    return f"{', '.join(most)} {joint} {last}" if most else last


def _foreign_array(value: Any, name: str) -> np.ndarray:
    """Return an array of another library, a masked array or nested lists as NumPy's, or CuPy's on a GPU."""
    if isinstance(value, np.ma.MaskedArray):
        refuse_masked(value, name)
        return np.asarray(value.data)
    if isinstance(value, (list, tuple)):
        return _array_of_lists(value, name)
    return (adapter_of(value) or Adapter()).to_array(value, name)


def _array_of_lists(value: Any, name: str) -> np.ndarray:
    """Return nested lists as an array: integers as int32, floats as float64."""
    first_of(value, name)
    try:
        array = np.asarray(value)
    except Exception as error:  # of an item's method, or of endlessly nested lists
        raise ArgumentError(
            f"{name} must be nested lists of equal lengths, of numbers: {plain(error)}"
        ) from None
    if not is_integer(array.dtype):
        return array
    limits = np.iinfo(np.int32)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise ArgumentError(
            f"{name}: lists of integers become int32, and some of these do not fit; "
            "use numpy.array(..., dtype='int64')"
        )
    return array.astype(np.int32)


_SHAPES = ("shape", "dims", "multiples", "output_shape", "size")  # arguments that hold sizes
_NO_NUMBERS = "OSU"  # the kinds of arrays of objects and texts


def _no_numbers(array: np.ndarray, name: str) -> str:
    """Return the error message for an array of objects or texts; it names the first that is not a number."""
    wrong = [item for item in array.ravel().tolist() if not isinstance(item, Number)]
    if not wrong:
        got = f"{array.dtype}: {converted(name, 'float64')}, if its elements are numbers"
    else:
        got = f"{array.dtype}, which holds {brief(wrong[0])}" if array.ndim else f"{brief(wrong[0])}"
        got += f" (of a shape, {UNKNOWN_SIZE})" if wrong[0] is None and name.split()[0] in _SHAPES else ""
    return f"{name} must have dtype {', '.join(FLOATS + INTEGERS)}; got {got}"


def check_alike(arrays: Mapping[str, np.ndarray]) -> None:
    """Raise unless all arrays, given by name, have the device and the dtype of the first.

    The message names conversions that cut nothing off: to the first floating dtype among them, and if there
    is none, to the widest integers.

    >>> check_alike({"input": np.ones(2, "int64"), "filters": np.ones(2, "float32")})
    Traceback (most recent call last):
    teachconv.support.errors.ArgumentTypeError: filters must have the dtype of input, int64; got float32: \
input.astype("float32")
    """
    (first, array), *others = arrays.items()
    if not {np.ndarray}.issuperset(map(type, arrays.values())):
        for name, other in others:
            check_same_place(array, first, other, name)
    for name, other in others:
        if other.dtype != array.dtype:
            dtypes = [one.dtype for one in arrays.values()]
            widest = max(dtypes, key=lambda dtype: dtype.itemsize)
            to = next((dtype for dtype in dtypes if not is_integer(dtype)), widest)
            help_ = " and ".join(converted(key, to.name) for key, one in arrays.items() if one.dtype != to)
            raise ArgumentTypeError(
                f"{name} must have the dtype of {first}, {array.dtype}; got {other.dtype}: {help_}"
            )
