"""The interactive pages: `explore`, of a call or a network, and `playground`, where readers set one."""

from .explorer import Explorer
from .exploring import explore
from .playgrounds import Playground, playground

__all__ = ["Explorer", "Playground", "explore", "playground"]
