"""The errors of the runtime; their messages name the node and the line of the program that created it.

TensorFlow: python/framework/errors_impl.py.
"""

from __future__ import annotations

from typing import Any

from ...support.errors import ArgumentError, ArgumentTypeError


class InvalidArgumentError(ArgumentError):
    """A node cannot run with its inputs, or a graph cannot be run as requested.

    Attributes:
        node_def: the node that failed, a ``NodeDef``, or None.
        op: the operation of the graph that it stands for, or None.
    """

    node_def: Any = None
    op: Any = None


class InvalidArgumentTypeError(InvalidArgumentError, ArgumentTypeError):
    """An op that runs eagerly got inputs of types that do not fit."""


class FailedPreconditionError(RuntimeError):
    """The state of the session does not allow a node to run; usually a variable is not initialised."""


class OperatorNotAllowedInGraphError(ArgumentTypeError):
    """Python needs the value of a tensor that has none while its graph is built."""


class NoSymbolicArrayError(ArgumentTypeError, NotImplementedError):
    """NumPy needs the value of a tensor that has none while its graph is built."""


class UnknownNameError(ArgumentError, KeyError):
    """A graph has no operation or tensor of a name; as in TensorFlow, this is a ``KeyError``."""


class SessionError(InvalidArgumentError, RuntimeError):
    """A session is closed, or its graph is empty; as in TensorFlow, this is a ``RuntimeError``."""


class SoftPlacementWarning(UserWarning):
    """Warns that nodes run on another device than they request."""
