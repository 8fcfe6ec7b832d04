"""Variables in the words of TensorFlow 1. TensorFlow: python/ops/variables.py and state_ops.py."""

from __future__ import annotations

from typing import Any

from .... import graph as tg
from ....graph import (
    global_variables,
    global_variables_initializer,
    trainable_variables,
    variables_initializer,
)
from ....graph.options import unsupported
from .default_graph import imported_in_graph, in_graph

__all__ = [
    "Variable",
    "assign",
    "assign_add",
    "assign_sub",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "trainable_variables",
    "variables_initializer",
]


@in_graph
def initialize_all_variables() -> Any:
    """Return an operation that initialises all variables: the old name of global_variables_initializer."""
    return tg.global_variables_initializer()


class Variable(tg.Variable):
    """A variable of the default graph: `teachconv.graph.Variable`."""

    @in_graph
    @unsupported(
        "collections",
        "validate_shape",
        "caching_device",
        "variable_def",
        "expected_shape",
        "import_scope",
        "constraint",
        "synchronization",
        "aggregation",
        "shape",
    )
    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        super().__init__(initial_value, trainable is not False, name or "Variable", dtype)

    assign = in_graph(tg.Variable.assign)
    assign_add = in_graph(tg.Variable.assign_add)
    assign_sub = in_graph(tg.Variable.assign_sub)
    read_value = in_graph(tg.Variable.read_value)


@unsupported("validate_shape")
def assign(
    ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: str | None = None
) -> Any:
    """Replace the value of a variable when the result is run.

    Args:
        ref: the variable.
        value: a tensor or array of its shape and dtype.
        validate_shape: None; teachconv has no other.
        use_locking: has no effect.
        name: the name of the node.

    Returns:
        A tensor: the new value.

    Raises:
        ValueError, TypeError: if shape or dtype of ``value`` does not fit.
    """
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Add to the value of a variable when the result is run.

    Args:
        ref: the variable.
        value: what to add, a tensor or array of its shape and dtype.
        use_locking: has no effect.
        name: the name of the node.

    Returns:
        A tensor: the new value.

    Raises:
        ValueError, TypeError: if shape or dtype of ``value`` does not fit.
    """
    return ref.assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Subtract from the value of a variable when the result is run.

    Args:
        ref, use_locking, name: as in `assign_add`.
        value: what to subtract, a tensor or array of the variable's shape and dtype.

    Returns:
        A tensor: the new value.

    Raises:
        ValueError, TypeError: if shape or dtype of ``value`` does not fit.
    """
    return ref.assign_sub(value, name=name)


imported_in_graph(globals())
