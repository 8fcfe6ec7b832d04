"""The call that an op would run, from the shapes of its arrays alone, where values are not there yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .. import nn_ops
from ..arguments import shape_only
from ..calls import Call

__all__ = ["arguments_of", "call_of_shapes"]


def arguments_of(op: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that an op has, without other names."""
    return {name: arguments[name] for name in inspect.signature(op).parameters}


def call_of_shapes(op: Callable[..., Any], arguments: Mapping[str, Any], dtype: Any = None) -> Call:
    """Return the call of an op, its arrays without their values.

    Args:
        op: an op or a dialect's function.
        arguments: its arguments by name; of arrays only shape and dtype are read.
        dtype: a dtype for all arrays, where their own is not NumPy's; None for their own.

    Returns:
        The call.

    Raises:
        ValueError, TypeError: as the op.
    """
    blanks = {
        name: shape_only(item.shape, dtype or item.dtype) if hasattr(item, "dtype") else item
        for name, item in arguments.items()
    }
    return nn_ops.call_of(op, (), blanks)[0]
