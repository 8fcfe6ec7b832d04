"""tf.get_variable and tf.variable_scope of TensorFlow 1. TensorFlow: python/ops/variable_scope.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....graph.ops import variable_scope as graph_variable_scope
from ....graph.ops.variable_scope import AUTO_REUSE
from ...dtypes import float32
from ...options import unsupported
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
    """Return the variable of a name in the current variable scope, made or shared as the scope says."""
    unsupported(
        regularizer=(regularizer, None),
        collections=(collections, None),
        caching_device=(caching_device, None),
        partitioner=(partitioner, None),
        validate_shape=(validate_shape, True),
        custom_getter=(custom_getter, None),
        constraint=(constraint, None),
        synchronization=(synchronization, None),
        aggregation=(aggregation, None),
    )
    return graph_variable_scope.get_variable(
        name, shape, float32 if dtype is None else dtype, initializer, trainable is not False
    )


@in_graph
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
    """Put a scope before the names of the variables that `get_variable` makes or finds in the block."""
    unsupported(
        regularizer=(regularizer, None),
        caching_device=(caching_device, None),
        partitioner=(partitioner, None),
        custom_getter=(custom_getter, None),
        dtype=(dtype, None),
        constraint=(constraint, None),
        auxiliary_name_scope=(auxiliary_name_scope, True),
    )
    name = default_name if name_or_scope is None else name_or_scope
    return graph_variable_scope.variable_scope(name, reuse, initializer)


def zeros_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes zeros of a shape."""
    return zeros


def ones_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Return a function that makes ones of a shape."""
    return ones
