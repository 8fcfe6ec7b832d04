"""`cond`: runs one of two functions, chosen when the graph runs.

TensorFlow: python/ops/cond_v2.py; AutoGraph writes an ``if`` on a tensor as such a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import ArgumentTypeError
from .. import nest
from ..framework import op_def_library
from ..framework.config import ConfigProto
from ..framework.context import executing_eagerly, set_default_graph
from ..framework.errors import InvalidArgumentError
from ..framework.ops import Operation
from ..framework.tensor import Tensor
from ..ops.variables import Variable
from .concrete_function import ConcreteFunction
from .func_graph import FuncGraph

__all__ = ["cond"]


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None) -> Any:
    """Return ``true_fn()`` if ``pred`` is true, else ``false_fn()``, as tf.cond; adds a node If.

    Both functions are traced; the run calls one of them.

    Args:
        pred: a scalar; a number is true if it is not 0.
        true_fn: a function without arguments.
        false_fn: likewise, with a result of the same structure and dtypes.
        name: the name of the node.

    Returns:
        The result of one function: tensors in their structure.

    Raises:
        TypeError: if a function is not callable, or the results differ in dtype.
        ValueError: if the results differ in structure, or ``pred`` is not a scalar.

    >>> import teachconv as tc
    >>> @tc.function
    ... def absolute(x):
    ...     return tc.graph.cond(x > 0.0, lambda: x, lambda: -x)
    >>> print(absolute(tc.graph.constant(-3.0)))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    for function, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise ArgumentTypeError(f"{what} must be callable; got {function!r}")
    if executing_eagerly():
        return true_fn() if pred else false_fn()
    branches = [_branch(true_fn, "true"), _branch(false_fn, "false")]
    _check_alike(*branches)
    stateful = any(branch.is_stateful for branch in branches)
    outputs = op_def_library.apply_op(
        "If" if stateful else "StatelessIf",
        name or "cond",
        [
            pred,
            [value for branch in branches for value in branch.captured_inputs],
            [variable for branch in branches for variable in branch.variables],
        ],
        {
            "Tout": [output.dtype for output in branches[0].outputs],
            "then_branch": branches[0],
            "else_branch": branches[1],
        },
    )
    return branches[0].pack(outputs if branches[0].outputs else [])


def _branch(function: Callable[[], Any], name: str) -> ConcreteFunction:
    graph = FuncGraph(f"cond_{name}")
    with set_default_graph(graph):
        result = nest.map_structure(_as_tensor, function())
        return ConcreteFunction(graph, [], result, ConfigProto())


def _as_tensor(leaf: Any) -> Any:
    """Return a leaf as a tensor: what a branch returns may depend on the branch."""
    if leaf is None or isinstance(leaf, (Tensor, Operation, Variable)):
        return leaf
    return op_def_library.apply_op("Identity", None, [leaf], {})


def _check_alike(first: ConcreteFunction, second: ConcreteFunction) -> None:
    if first.structure != second.structure:
        raise InvalidArgumentError("true_fn and false_fn must return results of the same structure")
    for one, other in zip(first.outputs, second.outputs, strict=True):
        if one.dtype != other.dtype:
            raise ArgumentTypeError(
                "true_fn and false_fn must return the same dtypes; got "
                f"{one.dtype.name} and {other.dtype.name}"
            )
