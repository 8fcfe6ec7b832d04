"""The call that an op would run, from the shapes of its arrays alone, where values are not there yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import dispatch, nn_ops
from ..dispatch import Call

__all__ = ["arguments_of", "call_of_shapes"]


def arguments_of(op: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that an op has, without other names."""
    return {name: arguments[name] for name in inspect.signature(op).parameters}


def call_of_shapes(op: Callable[..., Any], arguments: Mapping[str, Any]) -> Call:
    """Return the call of an op, its arrays without their values, after every check that the op makes.

    Args:
        op: an op or a dialect's function.
        arguments: its arguments by name; of arrays only shape and dtype are read.

    Returns:
        The call.

    Raises:
        ValueError, TypeError, BackendUnavailable: as the op.
    """
    blanks = {name: _blank(item) if hasattr(item, "dtype") else item for name, item in arguments.items()}
    call, options = nn_ops.call_of(op, (), blanks)
    name, module = dispatch.find_backend(options.get("backend"))
    dispatch.find_algorithm(name, module, call, options.get("algorithm"), options.get("precision"))
    return call


def _blank(array: Any) -> np.ndarray:
    """Return a NumPy array of the shape and dtype of any array; it takes no memory."""
    return np.broadcast_to(np.zeros((), array.dtype), tuple(array.shape))
