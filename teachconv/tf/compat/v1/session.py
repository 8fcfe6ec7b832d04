"""tf.Session of TensorFlow 1, with TensorFlow's signature. TensorFlow: python/client/session.py."""

from __future__ import annotations

from typing import Any

from .... import graph as tg
from ...options import unsupported
from .framework import get_default_graph

__all__ = ["InteractiveSession", "Session"]


class Session(tg.Session):
    """Runs a graph, the default one if none is given: `teachconv.graph.Session`."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        unsupported(target=(target, ""))
        super().__init__(get_default_graph() if graph is None else graph, config)


class InteractiveSession(tg.InteractiveSession):
    """A session that is the default from its creation until ``close``.

    It is a `teachconv.graph.InteractiveSession`.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        unsupported(target=(target, ""))
        super().__init__(get_default_graph() if graph is None else graph, config)
