"""Variables that are looked up by name: `variable_scope` and `get_variable`.

TensorFlow: python/ops/variable_scope.py, and init_ops.py for the default initial values. Each graph has a
store of its named variables. The name of a variable comes from the variable scopes alone, which may be
entered again; the name scope that a variable scope opens gets a number the second time, as all others do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import chain, count
from math import prod, sqrt
from typing import Any

from ...support.errors import ArgumentError
from ...support.settings import within
from ..framework.context import get_default_graph
from ..framework.ops import Graph, GraphKeys, name_scope
from ..framework.tensor_shape import as_shape, is_fully_defined
from ..options import check_type
from .random_ops import random_uniform
from .variables import Variable

AUTO_REUSE = "AUTO_REUSE"  # share a variable if it exists, else create it


@dataclass
class VariableScope:
    """A variable scope.

    Attributes:
        name: the beginning of the variables' names, without the slash.
        reuse: whether variables are shared: True, False or `AUTO_REUSE`.
        initializer: what makes initial values where `get_variable` is given nothing, or None.
        regularizer: a function of a new variable, whose result goes to a collection, or None.
    """

    name: str = ""
    reuse: Any = False
    initializer: Any = None
    regularizer: Any = None

    def reuse_variables(self) -> None:
        """Share variables from here on."""
        self.reuse = True


def get_variable_scope() -> VariableScope:
    """Return the current variable scope of the default graph."""
    current = get_default_graph().variable_scope
    if current.get() is None:
        current.set(VariableScope())
    return current.get()


def variable_scope(
    name_or_scope: str | VariableScope | None,
    default_name: str | None = None,
    reuse: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
) -> AbstractContextManager[VariableScope]:
    """Put a scope before the names of the variables that `get_variable` makes or finds in the block.

    As with every scope, the graph is the default one where it is called, not where the block begins.

    Args:
        name_or_scope: a name, or a `VariableScope` to enter again; None for ``default_name``.
        default_name: the name where none is given; a number is appended if the block around this one has used
            the name.
        reuse: True to share variables, `AUTO_REUSE` to share those that exist, None for the outer
            scope's setting.
        initializer: what makes initial values where `get_variable` is given nothing.
        regularizer: a function of a new variable that returns a loss, or None.

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
    graph = get_default_graph()
    if name_or_scope is None:
        check_type(default_name, str, "default_name must be a name where name_or_scope is None")
    arguments = reuse, initializer, regularizer
    return _in_scope(graph, get_variable_scope(), name_or_scope, default_name, *arguments)


@contextmanager
def _in_scope(
    graph: Graph,
    before: VariableScope,
    name_or_scope: Any,
    default_name: Any,
    reuse: Any,
    initializer: Any,
    regularizer: Any,
) -> Iterator[VariableScope]:
    again, counts = isinstance(name_or_scope, VariableScope), graph.variable_scope_counts
    inside = f"{before.name}/".lstrip("/")
    if name_or_scope is None:
        numbered = (f"{default_name}_{number}" for number in count(1))
        name_or_scope = next(name for name in chain([default_name], numbered) if not counts[inside + name])
    name, model = (name_or_scope.name, name_or_scope) if again else (inside + name_or_scope, before)
    scope = VariableScope(
        name, reuse or model.reuse, initializer or model.initializer, regularizer or model.regularizer
    )
    counts[name] += 1
    with (
        within(graph.variable_scope, scope),
        graph.name_scope(name.rpartition("/")[2] if again else name_or_scope),
    ):
        yield scope
    for below in [key for key in counts if key.startswith(f"{name}/")]:
        del counts[below]  # the next block that enters the scope counts again, and so shares


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = "float32",
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
) -> Variable:
    """Return the variable of a name in the current variable scope, made or shared as the scope says.

    Args:
        name: the name after the scope's.
        shape: the shape; not needed if ``initializer`` is a value.
        dtype: the dtype.
        initializer: a function of shape and dtype, a value, or None for uniform numbers in
            ±√(6 / (inputs + outputs)).
        regularizer: a function of a new variable, whose result is added to the collection
            ``GraphKeys.REGULARIZATION_LOSSES``; None for what the scope has.
        trainable, collections: as for `Variable`.

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
        variables[full] = Variable(value, trainable, full, dtype, collections)
    regularizer = regularizer or scope.regularizer
    if regularizer is not None:
        with name_scope(f"{full}/Regularizer/"):
            loss = regularizer(variables[full].value())
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variables[full]


def glorot_uniform(shape: Any, dtype: Any, seed: int | None = None) -> Any:
    """Return uniform random numbers in ±√(6 / (inputs + outputs)) for a weight."""
    field_size = prod(shape[:-2])
    fan_in, fan_out = (shape[-2] if len(shape) > 1 else shape[-1], shape[-1]) if shape else (1, 1)
    limit = sqrt(6 / max(1, field_size * (fan_in + fan_out)))
    return random_uniform(shape, -limit, limit, dtype, seed)
