"""A call from the command line: the options that say it, and the arrays made from them.

Arrays are given as shapes ("1,8,8,1", filled with seeded numbers) or as .npy files.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, BinaryIO

import numpy as np

from .. import nn_ops
from ..arguments import PADDING_WORDS, normalize_shape, shape_only
from ..backends import TABLE
from ..data.seeded import DATA, make_array
from ..dtypes import to_dtype
from ..errors import ArgumentError, brief, plain
from ..memory import check_memory

__all__ = [
    "ARRAYS",
    "OPS",
    "add_backends",
    "add_call",
    "add_call_options",
    "add_options",
    "numbers",
    "padding",
    "read_call",
    "read_npy",
    "refuse_call",
]

OPS = {op.__name__: op for op in nn_ops.RESOLVERS if op.__module__ == nn_ops.__name__}


def add_call(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """Add the op and its arguments to a parser; ``optional`` lets the op be left out."""
    known = f"the op to call: {', '.join(OPS)}"
    parser.add_argument("op", nargs="?" if optional else None, metavar="op", choices=list(OPS), help=known)
    add_call_options(parser)


def add_call_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of an op to a parser."""
    array = "a shape such as 1,8,8,1, or an .npy file"
    parser.add_argument("--input", help=array)
    parser.add_argument("--filters", help=array)
    parser.add_argument("--out-backprop", help=array + " (gradients; default: the shape that fits)")
    parser.add_argument("--input-sizes", type=numbers, help="ints, one for each axis (input gradients)")
    parser.add_argument("--filter-sizes", type=numbers, help="ints, one for each axis (filter gradients)")
    parser.add_argument("--output-shape", type=numbers, help="ints, one for each axis (transposes)")
    parser.add_argument("--output-padding", type=numbers, help="an int or rows,cols (transposes)")
    parser.add_argument("--strides", type=numbers, default=1, help="an int, rows,cols, or 4 ints")
    parser.add_argument("--dilations", type=numbers, default=1, help="an int, rows,cols, or 4 ints")
    parser.add_argument(
        "--padding",
        type=padding,
        help=f"{', '.join(PADDING_WORDS)}, an int, rows,cols or top,bottom,left,right",
    )
    parser.add_argument("--data-format", help="NHWC (the default) or NCHW; NWC, NDHWC ... for another rank")
    parser.add_argument("--dtype", help="dtype of arrays given as shapes (default: float32)")
    parser.add_argument("--data", choices=DATA, help="what arrays given as shapes hold (default: integers)")


ARRAYS = ("input", "filters", "out_backprop", "input_sizes", "filter_sizes")
_RUN = ("backend", "algorithm", "precision")  # not in every command
_CALL_DEFAULTS = {
    **dict.fromkeys((*ARRAYS, "output_shape", "output_padding", "padding", "dtype", "data", *_RUN)),
    "strides": 1,
    "dilations": 1,
    "data_format": None,
}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def refuse_call(arguments: argparse.Namespace, message: str, used: tuple[str, ...] = ()) -> None:
    """Raise for an option of a call where there is none; ``used`` are what the command takes alone."""
    for name, default in _CALL_DEFAULTS.items():
        if name not in used and getattr(arguments, name, default) != default:
            raise ArgumentError(f"{_option(name)} goes with a call: {message}")


def add_backends(parser: argparse.ArgumentParser) -> None:
    """Add the choice of backends."""
    parser.add_argument("--backends", type=lambda text: text.split(","), help="names, comma-separated")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of what runs the call; `read_call` reads it too."""
    parser.add_argument("--backend", help=f"one of {', '.join(TABLE)}")
    parser.add_argument("--algorithm", help="one of the backend's algorithms")
    parser.add_argument("--precision", help="strict or fast")


def read_call(arguments: argparse.Namespace) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The op, its positional arguments and its keyword arguments."""
    op = OPS[arguments.op]
    _check_arrays(arguments, [*signature(op).parameters])
    kwargs: dict[str, Any] = {"strides": arguments.strides, "dilations": arguments.dilations}
    for name in ("padding", "data_format", *_RUN):
        if getattr(arguments, name, None) is not None:
            kwargs[name] = getattr(arguments, name)
    if "output_shape" in signature(op).parameters:
        kwargs |= {"output_shape": arguments.output_shape, "output_padding": arguments.output_padding}
    elif arguments.output_shape is not None or arguments.output_padding is not None:
        raise ValueError("--output-shape and --output-padding go with conv2d_transpose")
    values: dict[str, Callable[[], Any]] = {
        "input": lambda: _array(arguments, "input"),
        "filters": lambda: _array(arguments, "filters"),
        "input_sizes": lambda: _sizes(arguments, "input_sizes"),
        "filter_sizes": lambda: _sizes(arguments, "filter_sizes"),
    }
    first, second = (values[name]() for name in [*signature(op).parameters][:2])
    if op not in nn_ops.FORWARD_OF:
        return op, (first, second), kwargs
    shapes = [getattr(value, "shape", value) for value in (first, second)]
    return op, (first, second, _out_backprop(arguments, op, shapes, kwargs)), kwargs


_SIZES_OF = {"input_sizes": "input", "filter_sizes": "filters"}  # an array that stands for its shape


def _check_arrays(arguments: argparse.Namespace, taken: Sequence[str]) -> None:
    """Raise for an array, or its sizes, that the op does not take, or that is given twice."""
    known = {*taken, *(array for sizes, array in _SIZES_OF.items() if sizes in taken)}
    for name in ARRAYS:
        if name not in known and getattr(arguments, name) is not None:
            raise ArgumentError(f"{arguments.op} takes no {_option(name)}")
    for sizes, array in _SIZES_OF.items():
        if None not in (getattr(arguments, sizes), getattr(arguments, array)):
            raise ArgumentError(f"give {_option(sizes)} or {_option(array)}, not both")


def _sizes(arguments: argparse.Namespace, name: str) -> Any:
    """The sizes that were given, or those of the array that was given in their place."""
    given = getattr(arguments, name)
    if given is None:
        return _array(arguments, _SIZES_OF[name]).shape
    return normalize_shape((given,) if isinstance(given, int) else given, _option(name), rank=None)


def _array(arguments: argparse.Namespace, name: str) -> np.ndarray:
    text, option = getattr(arguments, name), _option(name)
    if text is None:
        raise ArgumentError(f"{arguments.op} needs {option}: a shape or an .npy file")
    if text.lower().endswith(".npy"):
        return read_npy(text)
    try:
        shape = tuple(int(part) for part in text.split(","))
    except ValueError:
        shape = (-1,)
    if min(shape) < 0:
        raise ArgumentError(f"{option} must be a shape such as 1,4,4,1 or an .npy file; got {brief(text)}")
    return _seeded(arguments, shape, name)


def _seeded(arguments: argparse.Namespace, shape: Sequence[int], name: str) -> np.ndarray:
    """Seeded numbers for an array that was given as a shape, or that a gradient needs and was not given."""
    dtype = to_dtype(arguments.dtype or "float32")
    check_memory(shape, dtype, _option(name))
    return make_array(tuple(shape), dtype, arguments.data or "integers", name)


_HEADER = 10_000  # bytes, as numpy.lib.format has it for files that nobody vouches for


def read_npy(path: str) -> np.ndarray:
    """Return the array of an .npy file; one that is damaged, an archive or a pickle is refused by name."""
    try:
        with open(path, "rb") as file:
            _check_header(file)
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))
    except (OSError, MemoryError):
        raise
    except Exception as error:  # a damaged header makes NumPy raise many types, SyntaxError among them
        raise ArgumentError(
            f"{plain(path)} must be an .npy file of numbers; it cannot be read: {plain(error)}"
        ) from error


def _check_header(file: BinaryIO) -> None:
    """Raise for a header that NumPy would refuse, but only after it has read as much as the header claims."""
    start = file.read(12)
    file.seek(0)
    length = (
        int.from_bytes(start[8:12], "little") if start[6:7] > b"\x01" else 0
    )  # version 1 has 65,535 at most
    if length > _HEADER:
        raise ValueError(f"its header claims {length:,} bytes, and {_HEADER:,} are the most")


def _out_backprop(arguments: argparse.Namespace, op: Any, shapes: Any, kwargs: dict[str, Any]) -> np.ndarray:
    """The array asked for, or seeded numbers of the shape that the forward op gives."""
    if arguments.out_backprop is not None:
        return _array(arguments, "out_backprop")
    blank = [shape_only(shape, "float32") for shape in shapes]
    call, _ = nn_ops.call_of(nn_ops.FORWARD_OF[op], tuple(blank), kwargs)
    return _seeded(arguments, call.result_shape, "out_backprop")


def numbers(text: str) -> Any:
    """ "2" as an int, "1,2,2,1" as a tuple of ints."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected ints separated by commas; got {brief(text)}") from None
    return found[0] if len(found) == 1 else found


def padding(text: str) -> Any:
    """ "same" as "SAME", an int, "1,2" as two ints, "0,1,0,1" as two pairs, six ints as three."""
    if text.replace("_", "").isalpha():
        return text.upper()
    found = numbers(text)
    if isinstance(found, tuple) and len(found) in (4, 6):
        return tuple(zip(found[::2], found[1::2], strict=True))
    return found
