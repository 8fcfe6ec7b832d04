"""The derivatives of the ops in their array arguments, written with the ops themselves.

A convolution is linear in its input and in its filters, so each derivative is one of the other ops with the
same strides, padding and dilations. PyTorch's and JAX's wrappers both read this table. The ops are called
on the library's own arrays, which are recorded again: that gives derivatives of any order.

TensorFlow: python/ops/nn_grad.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import add
from typing import Any

from ..core.arguments import normalize_output_padding
from ..core.geometry import conv_transpose_geometry
from ..core.kinds import Op, gradient_of, sibling
from ..running import nn_ops
from ..support.errors import ArgumentTypeError

Arguments = Mapping[str, Any]

_OPS = {function: op for op, function in nn_ops.FUNCTIONS.items()}

# the arguments of each op that are arrays, in the order of its signature
ARRAYS = {function: op.arrays for function, op in _OPS.items()}


def gradients(
    op: Callable[..., Any], arguments: Arguments, gradient: Any, wanted: Iterable[str]
) -> dict[str, Any]:
    """Return the gradients of an op in some of its array arguments.

    Args:
        op: an op of `ARRAYS`.
        arguments: all of its arguments by name.
        gradient: the gradient in its result, of the result's shape.
        wanted: the names of the arguments.

    Returns:
        The gradient in each of them, of its shape.
    """
    return {name: _gradient(_OPS[op], name, arguments, gradient) for name in wanted}


def tangent(op: Callable[..., Any], arguments: Arguments, tangents: Arguments) -> Any:
    """Return the tangent of an op's result, by the product rule.

    Args:
        op: an op of `ARRAYS`.
        arguments: all of its arguments by name.
        tangents: the tangents of those of its arrays that have one, by name; at least one.

    Returns:
        The tangent, of the result's shape; of a shape that broadcasts to it if the bias alone has a tangent.
    """
    unbiased = {**arguments, "bias": None} if "bias" in ARRAYS[op] else arguments
    terms = [op(**{**unbiased, name: moved}) for name, moved in tangents.items() if name != "bias"]
    if "bias" in tangents:
        bias = tangents["bias"]
        layout = arguments["data_format"] or "C"
        terms.append(bias if layout[-1] == "C" else bias.reshape(-1, *(1,) * (len(layout) - 2)))
    return reduce(add, terms)


def check(op: Callable[..., Any], arguments: Arguments, instead: str) -> None:
    """Raise ``TypeError`` for what cannot be differentiated: a dialect's function, and ``out``.

    Args:
        op: what was called.
        arguments: its arguments by name.
        instead: how to call it without a derivative, for the message.
    """
    if op not in ARRAYS:
        ops = ", ".join(one.__name__ for one in ARRAYS)
        raise ArgumentTypeError(
            f"{nn_ops.name_of(op)} has no derivative here; those that have are teachconv's {ops}. "
            f"Without a derivative: {instead}"
        )
    if arguments.get("out") is not None:
        raise ArgumentTypeError(f"out must not be given where a derivative is recorded; {instead}")


def _gradient(op: Op, name: str, a: Arguments, g: Any) -> Any:
    """Return the gradient with respect to an argument; algorithm, which belongs to a kind, is left out."""
    if name == "bias":
        channel = (a["data_format"] or "C")[-1] == "C" and len(g.shape) - 1
        return g.sum(tuple(axis for axis in range(len(g.shape)) if axis != (channel or 1)))
    (role,) = (role for role, word in op.words.items() if word == name)
    arrays = {role: a.get(word) for role, word in op.words.items()}
    kind, reads = gradient_of(op.kind, role, arrays, _read_part(a, g) if op.transposed else g)
    other = sibling(op, kind)
    arguments = {other.words[role]: array for role, array in reads.items()}
    if other.sizes:
        arguments[other.sizes] = tuple(a[name].shape)
    same = ("strides", "padding", "data_format", "dilations", "backend", "precision")
    return nn_ops.FUNCTIONS[other](**arguments, **{each: a[each] for each in same})


def _read_part(a: Arguments, g: Any) -> Any:
    """Return the part of a transposed op's result that its windows reach.

    With an output_padding of at least the stride, which a larger dilation allows, a forward convolution of
    all of them would have another row of windows.
    """
    if a["output_padding"] is None:
        return g
    layout = a["data_format"]
    found = conv_transpose_geometry(
        tuple(a["input"].shape), tuple(a["filters"].shape), None, a["strides"], a["padding"], layout,
        a["dilations"], output_padding=a["output_padding"],
    )  # fmt: skip
    extra = normalize_output_padding(a["output_padding"], found.data_format)
    parts = [
        slice(axis.in_size - max(0, more - (axis.stride - 1)))
        for axis, more in zip(found.axes, extra, strict=True)
    ]
    return g[:, *parts] if found.data_format[-1] == "C" else g[:, :, *parts]
