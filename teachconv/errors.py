"""The exceptions of teachconv; their messages name the argument, its value and what would be legal."""

from __future__ import annotations

__all__ = ["ArgumentError", "ArgumentTypeError", "BackendUnavailable"]


class ArgumentError(ValueError):
    """An argument has a legal type and an invalid value."""


class ArgumentTypeError(TypeError):
    """An argument has an invalid type: a float stride, a complex array, two different dtypes."""


class BackendUnavailable(RuntimeError):  # noqa: N818 (the name is public)
    """The requested backend cannot run here; the message says what is missing.

    There is no silent fallback: a backend requested by name either runs or raises this error.
    """
