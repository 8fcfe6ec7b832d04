"""tf.Session of TensorFlow 1, with TensorFlow's signature. TensorFlow: python/client/session.py."""

from __future__ import annotations

from typing import Any

from .... import graph as tg
from ....graph.options import unsupported
from .framework import get_default_graph

__all__ = ["InteractiveSession", "Session"]


class _OfVersion1:
    """What both sessions take."""

    @unsupported("target")
    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(get_default_graph() if graph is None else graph, config)  # type: ignore[call-arg]


class Session(_OfVersion1, tg.Session):
    """Runs a graph, the default one if none is given: `teachconv.graph.Session`."""


class InteractiveSession(_OfVersion1, tg.InteractiveSession):
    """A session that is the default from its creation until ``close``.

    It is a `teachconv.graph.InteractiveSession`.
    """
