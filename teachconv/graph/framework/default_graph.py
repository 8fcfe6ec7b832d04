"""The scopes of the default graph as functions, and TensorFlow 1's default graph of the whole process.

TensorFlow: python/framework/ops.py and python/compat/v2_compat.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

from ... import backends
from ...errors import ArgumentTypeError, brief
from .config import DeviceSpec, list_physical_devices
from .context import current_graph, in_a_block, process_graph, set_process_graph, within
from .errors import InvalidArgumentError, SoftPlacementWarning
from .ops import Graph

__all__ = [
    "control_dependencies",
    "device",
    "disable_v2_behavior",
    "eager_device",
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
    if not isinstance(name, str | None):
        raise ArgumentTypeError(f"name must be a text or None; got {brief(name)}")
    return nullcontext(f"{name}/") if graph is None else graph.name_scope(name)


def device(device_name: str | None) -> Any:
    """Request a device in the default graph: `Graph.device`; without a graph, for the ops of the block.

    An op that runs eagerly runs on the requested GPU if it has a kernel there. If it has none, or the machine
    has no such GPU, it runs on the CPU and a `SoftPlacementWarning` says so.

    Args:
        device_name: a device such as "/cpu:1", or None.

    Returns:
        The context manager.

    Raises:
        ValueError: if ``device_name`` is not that of a device.
    """
    graph = current_graph()
    if graph is not None:
        return graph.device(device_name)
    spec = DeviceSpec() if device_name is None else DeviceSpec.from_string(device_name)
    if spec.device_type != "GPU":
        return within(_eager_device, None)
    gpu = DeviceSpec("GPU", spec.device_index or 0)
    if gpu in list_physical_devices("GPU"):
        return within(_eager_device, gpu)
    why = backends.why_not("cupy") or "the machine has fewer GPUs"
    text = f"{device_name}: ops run on the CPU, because {gpu} does not exist: {why}"
    warnings.warn(text, SoftPlacementWarning, 2)
    return within(_eager_device, None)


_eager_device: ContextVar[DeviceSpec | None] = ContextVar("teachconv_eager_device", default=None)


def eager_device() -> DeviceSpec | None:
    """Return the GPU that ops which run eagerly shall use, or None for the CPU."""
    return _eager_device.get()


def control_dependencies(control_inputs: Sequence[Any] | None) -> Any:
    """Order operations in the default graph: `Graph.control_dependencies`; without a graph it has no effect.

    Args:
        control_inputs: operations, tensors or variables, or None.

    Returns:
        The context manager.
    """
    graph = current_graph()
    return nullcontext() if graph is None else graph.control_dependencies(control_inputs)


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
