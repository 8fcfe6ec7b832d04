"""The errors of the runtime; their messages name the node and the line of the program that created it.

TensorFlow: python/framework/errors_impl.py.
"""

from __future__ import annotations

from ..errors import ArgumentError, ArgumentTypeError

__all__ = ["FailedPreconditionError", "InvalidArgumentError", "OperatorNotAllowedInGraphError"]


class InvalidArgumentError(ArgumentError):
    """A node cannot run with its inputs, or a graph cannot be run as requested."""


class FailedPreconditionError(RuntimeError):
    """The state of the session does not allow a node to run; usually a variable is not initialised."""


class OperatorNotAllowedInGraphError(ArgumentTypeError):
    """Python needs the value of a tensor that has none while its graph is built."""
