"""Variables that are looked up by name: `variable_scope` and `get_variable`.

TensorFlow: python/ops/variable_scope.py, and init_ops.py for the default initial values. Each graph has a
store of its named variables. The name of a variable comes from the variable scopes alone, which may be
entered again; the name scope that a variable scope opens gets a number the second time, as all others do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

from ...support.errors import ArgumentError
from ...support.settings import within
from ..framework.context import get_default_graph
from ..framework.ops import Graph, name_scope
from ..framework.tensor_shape import as_shape, is_fully_defined
from .random_ops import random_uniform
from .variables import Variable

AUTO_REUSE = "AUTO_REUSE"  # share a variable if it exists, else create it


@dataclass(frozen=True)
class VariableScope:
    """A variable scope.

    Attributes:
        name: the beginning of the variables' names, without the slash.
        reuse: whether variables are shared: True, False or `AUTO_REUSE`.
        initializer: what makes initial values where `get_variable` is given nothing, or None.
    """

    name: str = ""
    reuse: Any = False
    initializer: Any = None


_NO_SCOPE = VariableScope()


def get_variable_scope() -> VariableScope:
    """Return the current variable scope of the default graph."""
    return get_default_graph().variable_scope.get() or _NO_SCOPE


def variable_scope(
    name_or_scope: str | VariableScope, reuse: Any = None, initializer: Any = None
) -> AbstractContextManager[VariableScope]:
    """Put a scope before the names of the variables that `get_variable` makes or finds in the block.

    As with every scope, the graph is the default one where it is called, not where the block begins.

    Args:
        name_or_scope: a name, or a `VariableScope` to enter again.
        reuse: True to share variables, `AUTO_REUSE` to share those that exist, None for the outer
            scope's setting.
        initializer: what makes initial values where `get_variable` is given nothing.

    Returns:
        The context manager, which gives the scope.

    Raises:
        ValueError: outside a graph.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     with variable_scope("layer"):
    ...         w = get_variable("w", [2])
    ...     with variable_scope("layer", reuse=True):
    ...         print(w.name, get_variable("w", [2]) is w)
    layer/w:0 True
    """
    return _in_scope(get_default_graph(), name_or_scope, reuse, initializer)


@contextmanager
def _in_scope(
    graph: Graph, name_or_scope: str | VariableScope, reuse: Any, initializer: Any
) -> Iterator[VariableScope]:
    before = graph.variable_scope.get() or _NO_SCOPE
    again = isinstance(name_or_scope, VariableScope)
    name = name_or_scope.name if isinstance(name_or_scope, VariableScope) else name_or_scope
    scope = VariableScope(
        name if again else "/".join(filter(None, (before.name, name))),
        (reuse if reuse is not None else before.reuse),
        initializer or before.initializer,
    )
    with within(graph.variable_scope, scope), graph.name_scope(name.rpartition("/")[2] if again else name):
        yield scope


def get_variable(
    name: str, shape: Any = None, dtype: Any = "float32", initializer: Any = None, trainable: bool = True
) -> Variable:
    """Return the variable of a name in the current variable scope, made or shared as the scope says.

    Args:
        name: the name after the scope's.
        shape: the shape; not needed if ``initializer`` is a value.
        dtype: the dtype.
        initializer: a function of shape and dtype, a value, or None for uniform numbers in
            ±√(6 / (inputs + outputs)).
        trainable: as for `Variable`.

    Returns:
        The variable.

    Raises:
        ValueError: if the variable exists but must not, must exist but does not, or has a different shape.
    """
    variables, scope = get_default_graph().variables_by_name, get_variable_scope()
    full = f"{scope.name}/{name}".lstrip("/")
    found = variables.get(full)
    if found is None and scope.reuse is True:
        raise ArgumentError(f"Variable {full} does not exist, or was not created with get_variable().")
    if found is not None and not scope.reuse:
        raise ArgumentError(
            f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if found is not None:
        if shape is not None and not found.shape.is_compatible_with(shape):
            raise ArgumentError(
                f"Trying to share variable {full}, but specified shape {shape} and found shape {found.shape}."
            )
        return found
    make = initializer if initializer is not None else scope.initializer or glorot_uniform
    if callable(make) and not is_fully_defined(as_shape(shape)):
        raise ArgumentError(
            f"Shape of a new variable ({full}) must be fully defined, but instead was {shape}."
        )
    with name_scope(None):
        value = (lambda: make(as_shape(shape), dtype)) if callable(make) else make
        variables[full] = Variable(value, trainable, full, dtype)
    return variables[full]


def glorot_uniform(shape: Any, dtype: Any, seed: int | None = None) -> Any:
    """Return uniform random numbers in ±√(6 / (inputs + outputs)) for a weight."""
    field_size = prod(shape[:-2])
    fan_in, fan_out = (shape[-2] if len(shape) > 1 else shape[-1], shape[-1]) if shape else (1, 1)
    limit = sqrt(6 / max(1, field_size * (fan_in + fan_out)))
    return random_uniform(shape, -limit, limit, dtype, seed)
