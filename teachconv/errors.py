"""The exceptions of teachconv: each names the argument, its value and what would be legal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["ArgumentError", "ArgumentTypeError", "BackendUnavailable", "did_you_mean", "no_attribute"]


class ArgumentError(ValueError):
    """An argument of the right type has a value that no convolution can have."""


class ArgumentTypeError(TypeError):
    """An argument has a type that is refused: a float stride, a complex array, two dtypes mixed."""


class BackendUnavailable(RuntimeError):  # noqa: N818 (the name is public)
    """The backend that was asked for cannot run here; the message says what is missing.

    Nothing falls back in silence, so asking for a backend by name gives that backend or this error.
    """


def did_you_mean(value: Any, known: Iterable[str]) -> str:
    """Return the end of a message that names the known word nearest to ``value``; "" where none is near.

    >>> did_you_mean("SMAE", ["SAME", "VALID"]), did_you_mean("pytorch", ["torch", "jax"])
    (' (did you mean "SAME"?)', ' (did you mean "torch"?)')
    >>> did_you_mean("SMAE", ["winograd2"]), did_you_mean(3, ["winograd2"])
    ('', '')
    """
    if not isinstance(value, str):
        return ""
    from difflib import get_close_matches  # needed only where something is wrong

    words = {word.lower(): word for word in known}
    near = get_close_matches(value.lower(), words, n=1)
    return f' (did you mean "{words[near[0]]}"?)' if near else ""


def no_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error of a module that has no such attribute, the nearest one named.

    >>> print(no_attribute("teachconv", "con2d", ["conv2d", "diff"]))
    module 'teachconv' has no attribute 'con2d' (did you mean "conv2d"?)
    """
    near = "" if name.startswith("__") else did_you_mean(name, known)
    # with an object Python would look for near names itself, and print a second suggestion
    return AttributeError(f"module {module!r} has no attribute {name!r}{near}", name=name, obj=None)
