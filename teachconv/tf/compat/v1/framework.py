"""What builds and runs a graph in TensorFlow 1: scopes, devices, constants, gradients, the default graph.

TensorFlow: python/framework/ops.py and python/ops/gradients_impl.py.
"""

from __future__ import annotations

from typing import Any

from ....graph import get_default_graph, gradients
from ....graph.options import either, unsupported
from ... import framework
from ...framework import control_dependencies, no_op
from .default_graph import imported_in_graph, in_graph

__all__ = [
    "constant",
    "control_dependencies",
    "convert_to_tensor",
    "device",
    "get_default_graph",
    "gradients",
    "name_scope",
    "no_op",
]


@in_graph
@unsupported("verify_shape")
def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False
) -> Any:
    """Return a tensor with the same value in each run."""
    return framework.constant(value, dtype, shape, name)


@in_graph
def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:
    """Return a value as a tensor; a tensor is returned as it is."""
    hint = either("dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype)
    return framework.convert_to_tensor(value, dtype, hint, name)


@in_graph
def device(device_name_or_function: Any) -> Any:
    """Request a device for the operations created in the block."""
    return framework.device(device_name_or_function)


@in_graph
def name_scope(name: Any, default_name: str | None = None, values: Any = None) -> Any:
    """Prefix the names of the nodes created in the block; ``default_name`` stands in for a name of None."""
    return framework.name_scope(default_name or "" if name is None else name)


imported_in_graph(globals())
