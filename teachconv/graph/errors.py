"""The errors of the runtime, which name the node and the line of the program that made it.

TensorFlow: python/framework/errors_impl.py.
"""

from __future__ import annotations

from ..errors import ArgumentError

__all__ = ["FailedPreconditionError", "InvalidArgumentError"]


class InvalidArgumentError(ArgumentError):
    """A node cannot run on what it was given, or a graph cannot be run as asked."""


class FailedPreconditionError(RuntimeError):
    """A node found the world in the wrong state: most often a variable that was never initialised."""
