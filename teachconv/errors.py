"""The exceptions of teachconv: each names the argument, its value and what would be legal."""

from __future__ import annotations

__all__ = ["ArgumentError", "ArgumentTypeError", "BackendUnavailable"]


class ArgumentError(ValueError):
    """An argument of the right type has a value that no convolution can have."""


class ArgumentTypeError(TypeError):
    """An argument has a type that is refused: a float stride, a complex array, two dtypes mixed."""


class ContractError(RuntimeError):
    """A backend broke its contract: it returned another shape or dtype, or left ``out`` unwritten.

    Attributes:
        result: what the backend returned.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class BackendUnavailable(RuntimeError):  # noqa: N818 (the name is public)
    """The backend that was asked for cannot run here; the message says what is missing.

    Nothing falls back in silence, so asking for a backend by name gives that backend or this error.
    """
