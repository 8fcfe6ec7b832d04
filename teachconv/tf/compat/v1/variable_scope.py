"""tf.get_variable and tf.variable_scope of TensorFlow 1. TensorFlow: python/ops/variable_scope.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....graph.ops import variable_scope as graph_variable_scope
from ....graph.ops.variable_scope import AUTO_REUSE
from ....graph.options import unsupported
from ...dtypes import float32
from .array_ops import ones, zeros
from .default_graph import in_graph

__all__ = [
    "AUTO_REUSE",
    "get_variable",
    "get_variable_scope",
    "ones_initializer",
    "variable_scope",
    "zeros_initializer",
]

get_variable_scope = in_graph(graph_variable_scope.get_variable_scope)


@in_graph
@unsupported(
    "regularizer",
    "collections",
    "caching_device",
    "partitioner",
    "validate_shape",
    "custom_getter",
    "constraint",
    "synchronization",
    "aggregation",
)
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Any = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """Return the variable of a name in the current variable scope, made or shared as the scope says.

    Args:
        name: the name after the scope's.
        shape: the shape; not needed if ``initializer`` is a value.
        dtype: the dtype; None stands for float32.
        initializer: a function of shape and dtype, a value, or None for what the scope has, or else uniform
            numbers in ±√(6 / (inputs + outputs)).
        trainable: whether optimizers change it; None stands for True.
        use_resource: has no effect.
        regularizer, collections, caching_device, partitioner, custom_getter: None; teachconv has no others.
        constraint, synchronization, aggregation: likewise.
        validate_shape: True; teachconv has no other.

    Returns:
        The variable.

    Raises:
        ValueError: if the variable is there and must not be, or the other way round, or has another shape.
    """
    return graph_variable_scope.get_variable(
        name, shape, float32 if dtype is None else dtype, initializer, trainable is not False
    )


@in_graph
@unsupported(
    "regularizer",
    "caching_device",
    "partitioner",
    "custom_getter",
    "dtype",
    "constraint",
    "auxiliary_name_scope",
)
def variable_scope(
    name_or_scope: Any,
    default_name: Any = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Any = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Any:
    """Put a scope before the names of the variables that `get_variable` makes or finds in the block.

    Args:
        name_or_scope: a name, or a scope to enter again; None for ``default_name``.
        default_name: the name where ``name_or_scope`` is None.
        values, use_resource: have no effect.
        initializer: what makes initial values where `get_variable` is given nothing.
        reuse: True to share variables, `AUTO_REUSE` to share those that are there, None for what the outer
            scope says.
        regularizer, caching_device, partitioner, custom_getter, dtype, constraint: None; teachconv has no
            others.
        auxiliary_name_scope: True; teachconv has no other.

    Returns:
        A context manager that yields the scope.

    Raises:
        ValueError: if an argument is given that teachconv does not have.
    """
    name = default_name if name_or_scope is None else name_or_scope
    return graph_variable_scope.variable_scope(name, reuse, initializer)


def zeros_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes zeros of a shape.

    Args:
        dtype: the dtype where the function is given none.

    Returns:
        A function of a shape and, optionally, a dtype.
    """
    return _constant_initializer(zeros, dtype)


def ones_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes ones of a shape.

    Args:
        dtype: the dtype where the function is given none.

    Returns:
        A function of a shape and, optionally, a dtype.
    """
    return _constant_initializer(ones, dtype)


def _constant_initializer(make: Callable[..., Any], default: Any) -> Callable[..., Any]:
    def initializer(shape: Any, dtype: Any = None) -> Any:
        return make(shape, default if dtype is None else dtype)

    return initializer
