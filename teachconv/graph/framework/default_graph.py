"""The scopes of the default graph as functions, and TensorFlow 1's default graph of the whole process.

TensorFlow: python/framework/ops.py and python/compat/v2_compat.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from .config import DeviceSpec
from .context import current_graph, in_a_block, process_graph, set_process_graph
from .errors import InvalidArgumentError, SoftPlacementWarning
from .ops import Graph

__all__ = [
    "control_dependencies",
    "device",
    "disable_v2_behavior",
    "enable_v2_behavior",
    "name_scope",
    "reset_default_graph",
]


def name_scope(name: str | None) -> Any:
    """Prefix names in the default graph: `Graph.name_scope`; without a graph it has no effect.

    Args:
        name: the scope, as in `Graph.name_scope`.

    Returns:
        The context manager.
    """
    graph = current_graph()
    return nullcontext(f"{name}/") if graph is None else graph.name_scope(name)


def device(name: str | None) -> Any:
    """Request a device in the default graph: `Graph.device`.

    Ops that run eagerly run on the CPU; where another device is requested for them, a warning says so.

    Args:
        name: a device such as "/cpu:1", or None.

    Returns:
        The context manager.

    Raises:
        ValueError: if ``name`` is not that of a device.
    """
    graph = current_graph()
    if graph is not None:
        return graph.device(name)
    if name is not None and DeviceSpec.from_string(name).device_type not in (None, "CPU"):
        warnings.warn(
            f"{name}: ops that run eagerly run on the CPU; on another device runs what is in a graph or in a "
            "function decorated with teachconv.function",
            SoftPlacementWarning,
            stacklevel=2,
        )
    return nullcontext()


def control_dependencies(inputs: Sequence[Any] | None) -> Any:
    """Order operations in the default graph: `Graph.control_dependencies`; without a graph it has no effect.

    Args:
        inputs: operations, tensors or variables, or None.

    Returns:
        The context manager.
    """
    graph = current_graph()
    return nullcontext() if graph is None else graph.control_dependencies(inputs)


def disable_v2_behavior() -> None:
    """Add ops to one default graph instead of running them, in the whole process, as TensorFlow 1 does.

    >>> from teachconv import graph as tg
    >>> tg.disable_v2_behavior()
    >>> with tg.Session() as session:
    ...     print(session.run(tg.constant(1.0) + 2.0))
    3.0
    >>> tg.enable_v2_behavior()
    """
    if process_graph() is None:
        set_process_graph(Graph())


def enable_v2_behavior() -> None:
    """Run ops immediately again, after `disable_v2_behavior`."""
    set_process_graph(None)


def reset_default_graph() -> None:
    """Replace the default graph of the process by an empty one.

    Raises:
        ValueError: inside ``with graph.as_default():``, where that would have no effect.
    """
    if in_a_block():
        raise InvalidArgumentError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit "
            "the nesting and create a new graph."
        )
    if process_graph() is not None:
        set_process_graph(Graph())
