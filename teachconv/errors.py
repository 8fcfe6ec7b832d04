"""The exceptions of teachconv; their messages name the argument, its value and what would be legal."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ArgumentError", "ArgumentTypeError", "BackendUnavailable", "suggestion"]


class ArgumentError(ValueError):
    """An argument has a legal type and an invalid value."""


class ArgumentTypeError(TypeError):
    """An argument has an invalid type: a float stride, a complex array, two different dtypes."""


class ContractError(RuntimeError):
    """A backend broke its contract: it returned another shape or dtype, or left ``out`` unwritten.

    Attributes:
        result: what the backend returned.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class BackendUnavailable(RuntimeError):  # noqa: N818 (the name is public)
    """The requested backend cannot run here; the message says what is missing.

    There is no silent fallback: a backend requested by name either runs or raises this error.
    """


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a hint at the known word that is nearest to an unknown one, or "" if none is near.

    >>> suggestion("SMAE", ["SAME", "VALID"])
    ' (did you mean "SAME"?)'
    >>> suggestion("nothing like it", ["SAME", "VALID"])
    ''
    """
    from difflib import get_close_matches  # needed only where something went wrong

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, 1)
    return f' (did you mean "{by_lower[near[0]]}"?)' if near else ""
