"""A call on the command line: its options, and the arrays made from them.

Arrays are given as shapes ("1,8,8,1", filled with seeded numbers) or as .npy files.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ..backends import TABLE
from ..core import kinds
from ..core.arguments import PADDING_WORDS, ints_in, normalize_shape, padding_in, shape_only
from ..core.dtypes import to_dtype
from ..data.seeded import DATA, make_array
from ..running import nn_ops
from ..support.errors import ArgumentError, brief
from ..support.files import read_npy
from ..support.memory import check_memory

OPS = {op.__name__: op for op in nn_ops.RESOLVERS if op.__module__ == nn_ops.__name__}


def add_call(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """Add the op and its arguments to a parser; ``optional`` lets the op be left out."""
    known = f"the op to call: {', '.join(OPS)}"
    parser.add_argument("op", nargs="?" if optional else None, metavar="op", choices=list(OPS), help=known)
    add_call_options(parser)


ARRAYS = ("input", "filters", "out_backprop", "input_sizes", "filter_sizes")
_ARRAY = "a shape such as 1,8,8,1, or an .npy file"


def _typed(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a converter for argparse, which shows only messages of its own kind of error."""

    def typed(text: str) -> Any:
        try:
            return read(text)
        except ArgumentError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return typed


numbers, padding = _typed(ints_in), _typed(padding_in)
_STEPS: dict[str, Any] = {"type": numbers, "default": 1, "help": "an int, rows,cols, or 4 ints"}
_PADDING_HELP = f"{', '.join(PADDING_WORDS)}, an int, rows,cols or top,bottom,left,right"
_CALL: dict[str, dict[str, Any]] = {
    "input": {"help": _ARRAY},
    "filters": {"help": _ARRAY},
    "out_backprop": {"help": _ARRAY + " (gradients; default: the shape that fits)"},
    "input_sizes": {"type": numbers, "help": "ints, one for each axis (input gradients)"},
    "filter_sizes": {"type": numbers, "help": "ints, one for each axis (filter gradients)"},
    "output_shape": {"type": numbers, "help": "ints, one for each axis (transposes)"},
    "output_padding": {"type": numbers, "help": "an int or rows,cols (transposes)"},
    "strides": _STEPS,
    "dilations": _STEPS,
    "padding": {"type": padding, "help": _PADDING_HELP},
    "data_format": {"help": "NHWC (the default) or NCHW; NWC, NDHWC ... for another rank"},
    "dtype": {"help": "dtype of arrays given as shapes (default: float32)"},
    "data": {
        "choices": DATA,
        "metavar": "KIND",
        "help": f"what arrays given as shapes hold: {', '.join(DATA)} (default: integers)",
    },
}
_RUN: dict[str, dict[str, Any]] = {  # not in every command
    "backend": {"help": f"one of {', '.join(TABLE)}"},
    "algorithm": {"help": "one of the backend's algorithms"},
    "precision": {"help": "strict or fast"},
}


def add_call_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of an op to a parser."""
    _add(parser, _CALL)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of what runs the call; `read_call` reads it too."""
    _add(parser, _RUN)


def _add(parser: argparse.ArgumentParser, options: dict[str, dict[str, Any]]) -> None:
    for name, words in options.items():
        parser.add_argument(_option(name), **words)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def refuse_call(
    arguments: argparse.Namespace, message: str, used: Sequence[str] = (), more: Sequence[str] = ()
) -> None:
    """Raise for an option of a call where no call is made.

    Args:
        arguments: what was given.
        message: what to do, after the option's name.
        used: the options of a call that the command takes without one.
        more: its own options that go with a call, None by default.
    """
    for name, words in (_CALL | _RUN | {name: {} for name in more}).items():
        default = words.get("default")
        if name not in used and getattr(arguments, name, default) != default:
            raise ArgumentError(f"{_option(name)} goes with a call: {message}")


def add_backends(parser: argparse.ArgumentParser) -> None:
    """Add the choice of backends."""
    parser.add_argument("--backends", type=lambda text: text.split(","), help="names, comma-separated")


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
    names = [*signature(op).parameters][:2]
    first, second = ((_sizes if name in _SIZES_OF else _array)(arguments, name) for name in names)
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
    sizes = getattr(arguments, name)
    if sizes is None:
        return _array(arguments, _SIZES_OF[name]).shape
    rank = kinds.OPS[arguments.op].rank
    return normalize_shape((sizes,) if isinstance(sizes, int) else sizes, _option(name), rank=rank)


def _array(arguments: argparse.Namespace, name: str) -> np.ndarray:
    text, option = getattr(arguments, name), _option(name)
    if text is None:
        raise ArgumentError(f"{arguments.op} needs {option}: a shape or an .npy file")
    if text.lower().endswith(".npy"):
        return read_npy(text)
    if not re.fullmatch(r"\s*\d{1,18}\s*(,\s*\d{1,18}\s*)*", text):
        raise ArgumentError(f"{option} must be a shape such as 1,4,4,1 or an .npy file; got {brief(text)}")
    return _seeded(arguments, tuple(map(int, text.split(","))), name)


def _seeded(arguments: argparse.Namespace, shape: Sequence[int], name: str) -> np.ndarray:
    """Seeded numbers for an array that was given as a shape, or that a gradient needs but did not get."""
    dtype = to_dtype(arguments.dtype or "float32")
    check_memory(shape, dtype, _option(name))
    return make_array(tuple(shape), dtype, arguments.data or "integers", name)


def _out_backprop(arguments: argparse.Namespace, op: Any, shapes: Any, kwargs: dict[str, Any]) -> np.ndarray:
    """The array asked for, or seeded numbers of the shape that the forward op gives."""
    if arguments.out_backprop is not None:
        return _array(arguments, "out_backprop")
    blank = [shape_only(shape, "float32") for shape in shapes]
    call, _ = nn_ops.call_of(nn_ops.FORWARD_OF[op], tuple(blank), kwargs)
    return _seeded(arguments, call.result_shape, "out_backprop")
