"""TensorFlow 1: ops are added to one default graph of the process instead of running.

TensorFlow: python/compat/v2_compat.py and python/framework/ops.py, reset_default_graph.
"""

from __future__ import annotations

from .context import in_a_block, process_graph, set_process_graph
from .errors import InvalidArgumentError
from .ops import Graph

__all__ = ["disable_v2_behavior", "enable_v2_behavior", "reset_default_graph"]


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
