"""Tells whether ops run immediately or are added to a graph, and to which graph.

TensorFlow: python/eager/context.py, executing_eagerly, and python/framework/ops.py, get_default_graph.
Outside ``with graph.as_default():`` and outside a function that `function` traces, ops run eagerly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from .ops import Graph

__all__ = ["executing_eagerly", "get_default_graph"]

_default_graph: ContextVar[Graph | None] = ContextVar("teachconv_default_graph", default=None)


def executing_eagerly() -> bool:
    """Return whether an op called now runs immediately instead of being added to a graph.

    Returns:
        False inside ``with graph.as_default():`` and inside a function that is being traced.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     inside = tg.executing_eagerly()
    >>> inside, tg.executing_eagerly()
    (False, True)
    """
    return _default_graph.get() is None


def current_graph() -> Graph | None:
    """Return the graph that ops are added to, or None if they run eagerly."""
    return _default_graph.get()


def get_default_graph() -> Graph:
    """Return the graph that ops are added to.

    Returns:
        The graph.

    Raises:
        ValueError: if ops run eagerly.
    """
    graph = _default_graph.get()
    if graph is None:
        raise InvalidArgumentError(
            "there is no graph here: ops run eagerly outside `with graph.as_default():` and outside a "
            "function decorated with teachconv.function"
        )
    return graph


def maybe_name_scope(name: str | None) -> AbstractContextManager[Any]:
    """Return the name scope of the default graph; eagerly, a context without effect that yields None."""
    graph = current_graph()
    return nullcontext() if graph is None else graph.name_scope(name)


@contextmanager
def set_default_graph(graph: Graph | None) -> Iterator[None]:
    """Within the block, add ops to ``graph``; with None, run them eagerly."""
    token = _default_graph.set(graph)
    try:
        yield
    finally:
        _default_graph.reset(token)
