"""Ops that tell or check something: tf.print, and the assertions of tf.debugging.

TensorFlow: python/ops/logging_ops.py, control_flow_assert.py and check_ops.py. In a function that is traced,
they run at every call, in the order of the program. In a graph of TensorFlow 1 they run if they are fetched,
or if something that is fetched has a control dependency on them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError, brief
from .. import nest
from ..framework.context import executing_eagerly
from ..framework.default_graph import name_scope
from ..framework.errors import InvalidArgumentError
from ..framework.shape_inference import known_value
from ..framework.tensor_shape import TensorShape
from ..kernels.logging_ops import summarized
from . import cwise_ops, gen_nn_ops
from .constant_op import convert_to_tensor, is_tensor
from .math_ops import reduce_all

__all__ = [
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_rank",
    "assert_shapes",
    "print",
]


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> Any:
    """Print tensors and other values when the op runs, as tf.print.

    Args:
        *inputs: tensors, Python values, or lists, tuples and dicts of them.
        output_stream: sys.stdout; None for sys.stderr.
        summarize: how many entries of each axis are shown at each end; -1 for all.
        sep: what stands between the inputs.
        end: what stands at the end.
        name: the name of the node.

    Returns:
        None eagerly; in a graph, the operation that prints.

    Raises:
        ValueError: if ``output_stream`` is another one.

    >>> import sys
    >>> from teachconv import graph as tg
    >>> print("x:", tg.constant([1.0, 0.1]), {"n": tg.constant(3)}, output_stream=sys.stdout)
    x: [1 0.1] {'n': 3}
    """
    if output_stream is None or output_stream is sys.stderr:
        stream = "stderr"
    elif output_stream is sys.stdout:
        stream = "stdout"
    else:
        raise ArgumentError(f"output_stream must be sys.stderr or sys.stdout; got {brief(output_stream)}")
    data = [leaf for item in inputs for leaf in nest.flatten(item) if _is_data(leaf)]
    texts = [item if isinstance(item, str) else _with_holes(item) for item in inputs]
    template, placeholder = _template(texts, sep)
    operation = gen_nn_ops.print_v2(data, template, end, placeholder, summarize, stream, name=name)
    return None if executing_eagerly() else operation


_HOLE = "\0tensor\0"  # stands for a tensor in a text


class _Hole:
    def __repr__(self) -> str:
        return _HOLE


def _is_data(leaf: Any) -> bool:
    return is_tensor(leaf) or hasattr(leaf, "_graph_tensor")


def _with_holes(item: Any) -> str:
    return repr(nest.map_structure(lambda leaf: _Hole() if _is_data(leaf) else leaf, item))


def _template(texts: Sequence[str], sep: str) -> tuple[str, str]:
    """Return the text, and the placeholder for each tensor, which occurs nowhere else in it."""
    text, placeholder = sep.join(texts), "{}"
    while placeholder in text:
        placeholder = f"{{{placeholder}}}"
    return text.replace(_HOLE, placeholder), placeholder


def Assert(  # noqa: N802  (TensorFlow's name)
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless a condition holds when the op runs, as tf.debugging.Assert.

    Args:
        condition: a scalar bool.
        data: what the error shows: tensors and strings.
        summarize: how many entries of each axis of a tensor are shown at each end.
        name: the name of the node.

    Returns:
        None eagerly; in a graph, the operation.

    Raises:
        ValueError: if the condition is known to be False.

    >>> Assert(True, ["never shown"])
    """
    texts = [f"[{item}]" if isinstance(item, str) else _HOLE for item in data]
    template, placeholder = _template(texts, " ")
    tensors = [convert_to_tensor(item) for item in data if not isinstance(item, str)]
    count = 3 if summarize is None else summarize
    condition = convert_to_tensor(condition, "bool")
    operation = gen_nn_ops._assert(condition, tensors, template, placeholder, count, name=name or "Assert")
    return None if executing_eagerly() else operation


def _binary(
    test: Callable[..., Any], sign: str, x: Any, y: Any, message: str | None, summarize: int | None, name: str
) -> Any:
    """Check that ``x sign y`` holds for all elements."""
    if not isinstance(message, str | None):
        raise ArgumentTypeError(f"message must be a text or None; got {brief(message)}")
    with name_scope(name):
        x, y = _pair(x, y)
        holds = test(x, y)
        every = reduce_all(holds)
        start = [message] if message else []
        if executing_eagerly():
            if not bool(every):
                lines = [*start, f"Condition x {sign} y did not hold.", *_where(holds, x, y, summarize)]
                raise InvalidArgumentError("\n".join(lines))
            return None
        data = [*start, f"Condition x {sign} y did not hold element-wise:"]
        data += [f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        known = known_value(every)
        if known is not None and not known:  # as TensorFlow, at once
            shown = [item if isinstance(item, str) else summarized(known_value(item)) for item in data]
            raise InvalidArgumentError("\n".join(shown))
        return Assert(every, data, summarize)


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Return both as tensors; a Python value takes the dtype of the other."""
    if hasattr(x, "dtype"):
        x = convert_to_tensor(x)
        return x, convert_to_tensor(y, None if hasattr(y, "dtype") else x.dtype)
    y = convert_to_tensor(y)
    return convert_to_tensor(x, y.dtype), y


def _where(holds: Any, x: Any, y: Any, summarize: int | None) -> list[str]:
    """Say where the elements differ, in TensorFlow's words."""
    count = 3 if summarize is None else summarize
    different = np.argwhere(~holds.numpy())
    if not count or count < 0:
        count = x.numpy().size + y.numpy().size + len(different)
    first, place = different[:count], tuple(different[:count].T)
    shape = holds.numpy().shape
    xs, ys = np.broadcast_to(x.numpy(), shape), np.broadcast_to(y.numpy(), shape)
    lines = []
    if shape:
        lines += [f"Indices of first {len(first)} different values:", str(first)]
        lines += ["Corresponding x values:", str(xs[place]), "Corresponding y values:", str(ys[place])]
    for name, value in (("x", x.numpy()), ("y", y.numpy())):
        lines += [f"First {min(count, value.size)} elements of {name}:", str(value.ravel()[:count])]
    return lines


def assert_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless x == y for all elements, as tf.debugging.assert_equal.

    Args:
        x, y: tensors, variables, arrays or numbers of one dtype, whose shapes broadcast.
        message: how the error begins.
        summarize: how many elements the error shows.
        name: the name scope of the nodes.

    Returns:
        None eagerly; in a graph, the operation that checks.

    Raises:
        ValueError: eagerly, or if the values are known, where the condition does not hold.

    >>> assert_equal([1, 2], [1, 2])
    """
    return _binary(cwise_ops.equal, "==", x, y, message, summarize, name or "assert_equal")


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Fail unless x != y for all elements; arguments as `assert_equal`."""
    return _binary(cwise_ops.not_equal, "!=", x, y, message, summarize, name or "assert_none_equal")


def assert_less(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless x < y for all elements; arguments as `assert_equal`."""
    return _binary(cwise_ops.less, "<", x, y, message, summarize, name or "assert_less")


def assert_less_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless x <= y for all elements; arguments as `assert_equal`."""
    return _binary(cwise_ops.less_equal, "<=", x, y, message, summarize, name or "assert_less_equal")


def assert_greater(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless x > y for all elements; arguments as `assert_equal`."""
    return _binary(cwise_ops.greater, ">", x, y, message, summarize, name or "assert_greater")


def assert_greater_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless x >= y for all elements; arguments as `assert_equal`."""
    return _binary(cwise_ops.greater_equal, ">=", x, y, message, summarize, name or "assert_greater_equal")


def assert_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless all elements are above 0; arguments as `assert_equal`."""
    return assert_less(0, x, message, summarize, name or "assert_positive")


def assert_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless all elements are below 0; arguments as `assert_equal`."""
    return assert_less(x, 0, message, summarize, name or "assert_negative")


def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless no element is below 0; arguments as `assert_equal`."""
    return assert_less_equal(0, x, message, summarize, name or "assert_non_negative")


def assert_non_positive(
    x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Fail unless no element is above 0; arguments as `assert_equal`."""
    return assert_less_equal(x, 0, message, summarize, name or "assert_non_positive")


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Fail unless abs(x - y) <= atol + rtol * abs(y) for all elements, as tf.debugging.assert_near.

    Args:
        x, y: as in `assert_equal`, of a float dtype.
        rtol, atol: the tolerances; None for 10 times the machine epsilon of the dtype of ``x``.
        message, summarize, name: as in `assert_equal`.

    Returns:
        As `assert_equal`.

    Raises:
        ValueError: as from `assert_equal`.
    """
    with name_scope(name or "assert_near"):
        x, y = _pair(x, y)
        default = 10 * float(np.spacing(x.dtype.type(1)))
        rtol, atol = (default if each is None else each for each in (rtol, atol))
        distance, allowed = cwise_ops.abs(x - y), atol + rtol * cwise_ops.abs(y)
        data = [message] if message else []
        data += [f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}", "x = ", x, "y = ", y]
        return Assert(reduce_all(cwise_ops.less_equal(distance, allowed)), data, summarize)


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> None:
    """Raise ``ValueError`` unless the static shape has ``rank`` axes, as tf.debugging.assert_rank.

    Args:
        x: a tensor, variable or array.
        rank: the number of axes, an int.
        message: how the error begins.
        name: without effect: nothing is left to check in a run.

    Raises:
        ValueError: if the number of axes is another one, or not known.
    """
    shape = TensorShape(convert_to_tensor(x).shape)
    if shape.rank != rank:
        start = f"{message}. " if message else ""
        raise ArgumentError(f"{start}Tensor must have rank {rank}. Received rank {shape.rank}, shape {shape}")


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Check the static shapes of tensors, and that equal symbols stand for equal sizes.

    Args:
        shapes: pairs of a tensor and its shape, or a dict of them. A shape is a sequence of ints, of strings,
            which stand for one size each, and of None or ".", which stand for any. "*" or "..." at the start
            stands for any number of axes.
        data, summarize, name: without effect: sizes that are not known before the run are not checked.
        message: how the error begins.

    Raises:
        ValueError: if a shape does not fit.

    >>> from teachconv import graph as tg
    >>> assert_shapes([(tg.constant([[1, 2], [3, 4], [5, 6]]), ("N", 2)), (tg.constant([1, 2, 3]), ("N",))])
    """
    start = f"{message}. " if message else ""
    pairs = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    known: dict[str, tuple[int, TensorShape]] = {}
    for tensor, symbols in pairs:
        if hasattr(tensor, "deref"):
            tensor = tensor.deref()
        shape = TensorShape(tensor.shape if hasattr(tensor, "shape") else np.shape(tensor))
        if isinstance(symbols, (int, str)) or symbols is None:
            symbols = (symbols,)
        symbols, any_rank = list(symbols), False
        if symbols and symbols[0] in ("*", "...", Ellipsis):
            symbols, any_rank = symbols[1:], True
        if shape.rank is None:
            continue
        if len(symbols) > shape.rank or (len(symbols) < shape.rank and not any_rank):
            raise ArgumentError(
                f"{start}Tensor shape={shape} must have rank {len(symbols)}. Received rank {shape.rank}"
            )
        first = shape.rank - len(symbols)
        for axis, symbol in enumerate(symbols, first):
            size = shape[axis]
            if symbol in (None, ".") or size is None:
                continue
            if not isinstance(symbol, (int, str)):
                raise ArgumentTypeError(
                    f"a size in shapes must be an int, a string or None; got {brief(symbol)}"
                )
            by = ""
            wanted: Any = symbol
            if isinstance(symbol, str):
                wanted, origin = known.setdefault(symbol, (size, shape))
                by = f"Specified by tensor shape={origin}. "
            if wanted != size:
                raise ArgumentError(
                    f"{start}{by}Tensor shape={shape} dimension {axis} must have size {wanted}. Received "
                    f"size {size}, shape {shape}"
                )
