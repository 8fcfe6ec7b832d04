"""The interactive picture of a call: `explore`."""

from .explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
