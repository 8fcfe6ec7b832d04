"""The exceptions of teachconv; their messages name the argument, its value and what would be legal."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any, NoReturn, TypeVar

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "BackendUnavailable",
    "hide_unknown",
    "leave_untraced",
    "no_attribute",
    "printable",
    "refuse_unknown",
    "suggestion",
]

F = TypeVar("F", bound=Callable[..., Any])


class _Message(Exception):  # noqa: N818 (what errors have in common)
    """What is not printable in the message is escaped: it may quote a name, and a terminal would obey it."""

    def __str__(self) -> str:
        return printable(Exception.__str__(self), "\n")


class ArgumentError(ValueError, _Message):
    """An argument has a legal type and an invalid value."""


class ArgumentTypeError(TypeError, _Message):
    """An argument has an invalid type: a float stride, a complex array, two different dtypes."""


class ContractError(RuntimeError, _Message):
    """A backend broke its contract: it returned another shape or dtype, or left ``out`` unwritten.

    Attributes:
        result: what the backend returned.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class BackendUnavailable(RuntimeError, _Message):  # noqa: N818 (the name is public)
    """The requested backend cannot run here; the message says what is missing.

    There is no silent fallback: a backend requested by name either runs or raises this error.
    """


def suggestion(word: Any, known: Iterable[str]) -> str:
    """Return a hint at the known word that is nearest to an unknown one, or "" if none is near.

    >>> suggestion("SMAE", ["SAME", "VALID"]), suggestion("pytorch", ["torch", "jax"])
    (' (did you mean "SAME"?)', ' (did you mean "torch"?)')
    >>> suggestion("nothing like it", ["SAME", "VALID"]), suggestion(3, ["SAME", "VALID"])
    ('', '')
    """
    if not isinstance(word, str):
        return ""
    from difflib import get_close_matches  # needed only where something went wrong

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, 1)
    return f' (did you mean "{by_lower[near[0]]}"?)' if near else ""


def refuse_unknown(
    function: Callable[..., Any], unknown: Iterable[str], tool: Callable[..., Any] | None = None
) -> NoReturn:
    """Raise ``TypeError`` for a keyword that a function does not have, with the nearest one named.

    Python itself names the nearest keyword from 3.13 on. The public functions end in ``**unknown: Never``,
    so that every version does, and type checkers still refuse such a keyword. ``tool`` is what was given
    the function and its arguments, such as `diff`, whose own keyword may have been meant.

    >>> def convolve(input, filters, strides=1): ...
    >>> refuse_unknown(convolve, {"stride": 2})
    Traceback (most recent call last):
    teachconv.errors.ArgumentTypeError: convolve has no argument 'stride' (did you mean "strides"?)
    """
    word = next(iter(unknown))
    known, own = inspect.signature(function).parameters, getattr(tool, "__kwdefaults__", ())
    near = suggestion(word, [*known, *own])
    owner = tool if near and near == suggestion(word, own) else function
    raise ArgumentTypeError(f"{getattr(owner, '__name__', owner)} has no argument {word!r}{near}")


class _Untraced:
    """The answer to PyTorch's compiler, which asks before it traces a function: no, nor the whole package.

    The compiler would take the NumPy code of a backend for its own. It leaves the call out of its graph, and
    what the call runs as well, once this file's package is on its list of those to skip.

    PyTorch: torch/_dynamo/symbolic_convert.py, check_inlineable; torch/_dynamo/trace_rules.py, SKIP_DIRS.
    """

    def __bool__(self) -> bool:
        _skip_in_compiler()
        return True


@lru_cache(maxsize=1)
def _skip_in_compiler() -> None:
    """Put the package on the list, once."""
    import_module("torch._dynamo.trace_rules").add(__package__)


def leave_untraced(function: F) -> F:
    """Let torch.compile break its graph at a function of ours, and say why where no break is allowed."""
    mark: Any = function
    mark._torchdynamo_disable = _Untraced()
    mark._torchdynamo_disable_msg = "teachconv computes with NumPy arrays and kernels of its own"
    return function


def hide_unknown(function: F) -> F:
    """Leave ``**unknown`` out of the signature that help, docs and `inspect.signature` show.

    The function itself is returned, so that a call has no additional frame. Every public function with
    arrays comes by here, so that the function is marked for PyTorch's compiler, too.
    """
    signature = inspect.signature(function)
    shown = [parameter for name, parameter in signature.parameters.items() if name != "unknown"]
    function.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return leave_untraced(function)


def no_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error of a module that has no such attribute, the nearest one named.

    >>> print(no_attribute("teachconv", "con2d", ["conv2d", "diff"]))
    module 'teachconv' has no attribute 'con2d' (did you mean "conv2d"?)
    """
    near = "" if name.startswith("__") else suggestion(name, known)
    # with an object Python would look for near names itself, and print a second suggestion
    return AttributeError(f"module {module!r} has no attribute {name!r}{near}", name=name, obj=None)


def printable(text: str, kept: str = "") -> str:
    r"""Return a text with what is not printable as Python escapes it, except the characters in ``kept``.

    These are control characters, those that turn the direction of text, and line breaks. Names come from
    files and from other libraries, and a terminal obeys what they hold.

    >>> print(printable("two\nlines, \x1b[2J and \u202egnp.exe, naïve 卷积"))
    two\nlines, \x1b[2J and \u202egnp.exe, naïve 卷积
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)
