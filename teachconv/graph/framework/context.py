"""Tells whether ops run immediately or are added to a graph, and to which graph and session.

TensorFlow: python/eager/context.py (executing_eagerly) and python/framework/ops.py (get_default_graph,
get_default_session). Ops run eagerly outside ``with graph.as_default():`` and outside a function that
`function` traces. After `disable_v2_behavior` they are added, there too, to one graph of the
process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ...support.settings import within
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..common_runtime.session import Session
    from .ops import Graph


_innermost: ContextVar[Graph | None] = ContextVar("teachconv_default_graph", default=None)
_sessions: ContextVar[tuple[Session, ...]] = ContextVar("teachconv_default_sessions", default=())
_process_graph: Graph | None = None  # the default graph of a TensorFlow 1 program


def executing_eagerly() -> bool:
    """Return whether an op called now runs immediately instead of being added to a graph.

    Returns:
        False inside ``with graph.as_default():``, inside a function that is being traced, and everywhere
        after `disable_v2_behavior`.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     inside = tg.executing_eagerly()
    >>> inside, tg.executing_eagerly()
    (False, True)
    """
    return _innermost.get() is None and _process_graph is None


def current_graph() -> Graph | None:
    """Return the graph that ops are added to, or None if they run eagerly."""
    return _innermost.get() or _process_graph


def get_default_graph() -> Graph:
    """Return the graph that ops are added to.

    Returns:
        The graph.

    Raises:
        ValueError: if ops run eagerly.
    """
    graph = current_graph()
    if graph is None:
        raise InvalidArgumentError(
            "there is no graph here: ops run eagerly outside `with graph.as_default():` and outside a "
            "function decorated with teachconv.function"
        )
    return graph


def set_default_graph(graph: Graph | None) -> AbstractContextManager[None]:
    """Within the block, add ops to ``graph``; None restores the state outside of every block."""
    return within(_innermost, graph)


@contextmanager
def init_scope() -> Iterator[None]:
    """Within the block, run ops outside of the functions that are being traced, as tf.init_scope.

    Variables that a function makes are made here.
    """
    graph = _innermost.get()
    while graph is not None and graph.is_function:
        graph = graph.outer
    with set_default_graph(graph):
        yield


def in_a_block() -> bool:
    """Return whether ``with graph.as_default():`` or the tracing of a function decides."""
    return _innermost.get() is not None


def process_graph() -> Graph | None:
    """Return the default graph of the process, or None if ops run eagerly outside of every block."""
    return _process_graph


def set_process_graph(graph: Graph | None) -> None:
    """Set the default graph of the process."""
    global _process_graph
    _process_graph = graph


def get_default_session() -> Session | None:
    """Return the session that the innermost ``with session:`` or ``with session.as_default():`` names.

    Returns:
        The session, or None.
    """
    sessions = _sessions.get()
    return sessions[-1] if sessions else None


def session_for(session: Any, what: str) -> Any:
    """Return ``session``, or the default one if it is None; raise ``ValueError`` if there is none."""
    session = get_default_session() if session is None else session
    if session is None:
        raise InvalidArgumentError(
            f"Cannot {what}: No default session is registered. Use `with sess.as_default()` or pass an "
            f"explicit session to `{what.split()[-1].strip('`()')}(session=sess)`"
        )
    return session


def set_default_session(session: Session) -> AbstractContextManager[None]:
    """Within the block, make ``session`` the default."""
    return within(_sessions, (*_sessions.get(), session))
