"""The interactive pages: `explore`, of one call, and `playground`, on which the reader sets the call."""

from .explorer import Explorer, explore
from .playgrounds import Playground, playground

__all__ = ["Explorer", "Playground", "explore", "playground"]
