"""The exceptions of teachconv; their messages name the argument, its value and what would be legal."""

from __future__ import annotations

import inspect
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from traceback import walk_stack
from types import ModuleType
from typing import Any, NoReturn, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


_PACKAGE = __name__.partition(".")[0]


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


class _Brief(reprlib.Repr):
    """Shortens nested values while their text is built; `brief` then cuts the middle of a long text."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlong, self.maxstring, self.maxother = 5, _MOST, _MOST, _MOST
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxdeque = 10
        self.repr_bytes = self.repr_bytearray = self.repr_str

    def repr_int(self, x: int, level: int) -> str:
        """Python refuses to write an int of more than 4300 digits, and takes long for nearly as many."""
        return super().repr_int(x, level) if x.bit_length() <= 2048 else f"<int of {x.bit_length()} bits>"


_MOST = 160  # characters of a value in a message


def brief(value: Any) -> str:
    """Return ``repr(value)`` for a message: on one line, cut to 160 characters, and whatever the value is.

    >>> brief((1, "SAME", None)), len(brief(["x" * 1000] * 1000)), brief(10**5000)
    ("(1, 'SAME', None)", 160, '<int of 16610 bits>')
    """
    try:
        text = _Brief().repr(value)
    except Exception:  # of a method of the value, or of endlessly nested lists
        text = f"<{type(value).__name__} instance>"
    return _cut(text)


def plain(value: Any) -> str:
    """Return ``str(value)`` for a message, cut like `brief`: for a path, or the text of another error."""
    try:
        return _cut(str(value))
    except Exception:  # of a method of the value
        return f"<{type(value).__name__} instance>"


def _cut(text: str) -> str:
    text = " ".join(line.strip() for line in text.splitlines())
    text = printable(text)
    return text if len(text) <= _MOST else f"{text[: _MOST // 2 - 2]}...{text[1 - _MOST // 2 :]}"


def is_one_of(value: Any, known: Iterable[Any]) -> bool:
    """Return whether a value is among others; for some values ``in`` raises, such as lists and arrays.

    >>> is_one_of("SAME", ["SAME", "VALID"]), is_one_of([], {"SAME": 1})
    (True, False)
    """
    try:
        return value in known
    except (TypeError, ValueError):
        return False


_SAYS = "tc.resolve gives the padding, strides and layouts that its call takes"
# words that were legal once -> since when they are not, and what does their work
_REMOVED = {
    "bench": "the command was removed in 0.2; print(teachconv.autotune(op, x, w)) times every algorithm",
    **dict.fromkeys(("mlx", "paddle"), f"the target was removed in 0.2; {_SAYS}"),
}


def suggestion(word: Any, known: Iterable[str]) -> str:
    """Return a hint at the known word that is nearest to an unknown one, or "" if none is near.

    A word that was removed gets the release, and what does its work.

    >>> suggestion("SMAE", ["SAME", "VALID"]), suggestion("pytorch", ["torch", "jax"])
    (' (did you mean "SAME"?)', ' (did you mean "torch"?)')
    >>> suggestion("nothing like it", ["SAME", "VALID"]), suggestion(3, ["SAME", "VALID"])
    ('', '')
    """
    if not isinstance(word, str):
        return ""
    if word in _REMOVED:
        return f" ({_REMOVED[word]})"
    from difflib import get_close_matches  # needed only where something went wrong

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_lower, 1, 0.65)  # Python's 0.6 is near for "uint8" and "print"
    return f' (did you mean "{by_lower[near[0]]}"?)' if near else ""


def check_word(word: Any, name: str, legal: Iterable[Any]) -> None:
    """Raise ``ArgumentError`` unless a word is legal for the argument of that name."""
    known = list(legal)
    if not is_one_of(word, known):
        words = [str(one) for one in known]
        raise ArgumentError(
            f"{name} must be one of {', '.join(words)}; got {brief(word)}{suggestion(word, words)}"
        )


def words_of(given: Any, name: str, legal: Iterable[str]) -> list[str]:
    """Return one word or several as a list, all that are legal for None; raise if one is not legal.

    >>> words_of("rows", "axes", ["rows", "cols"]), words_of(None, "axes", ["rows", "cols"])
    (['rows'], ['rows', 'cols'])
    """
    known, several = list(legal), isinstance(given, Iterable) and not isinstance(given, str)
    words = known if given is None else list(given) if several else [given]
    for word in words:
        check_word(word, name, known)
    return words


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line of the program that called teachconv, however many of its functions are in between."""
    stack = enumerate(walk_stack(sys._getframe()), 1)
    outside = (n for n, (frame, _) in stack if not frame.f_globals["__name__"].startswith(f"{_PACKAGE}."))
    warnings.warn(message, category, stacklevel=next(outside, 2))


def refuse_unknown(
    function: Callable[..., Any], unknown: Iterable[str], tool: Callable[..., Any] | None = None
) -> NoReturn:
    """Raise ``TypeError`` for an unknown keyword; the message suggests the nearest one.

    Python itself names the nearest keyword from 3.13 on. The public functions end in ``**unknown: Never``,
    so that every version does, and type checkers still refuse such a keyword. ``tool`` is what was given
    the function and its arguments, such as `diff`, whose own keyword may have been meant.

    >>> def convolve(input, filters, strides=1): ...
    >>> refuse_unknown(convolve, {"stride": 2})
    Traceback (most recent call last):
    teachconv.support.errors.ArgumentTypeError: convolve has no argument 'stride' (did you mean "strides"?)
    """
    word = next(iter(unknown))
    plain_tool: Any = inspect.unwrap(tool) if tool else None  # without its decorators
    known, own = inspect.signature(function).parameters, getattr(plain_tool, "__kwdefaults__", ())
    near = suggestion(word, [*known, *own])
    owner = tool if near and near == suggestion(word, own) else function
    raise ArgumentTypeError(f"{getattr(owner, '__name__', owner)} has no argument {brief(word)}{near}")


class _Untraced:
    """The answer to PyTorch's compiler, which asks before it traces a function: no, nor the whole package.

    The compiler would take the NumPy code of a backend for its own. It leaves the call out of its graph, and
    what the call runs as well, once teachconv is on its list of those to skip.

    PyTorch: torch/_dynamo/symbolic_convert.py, check_inlineable; torch/_dynamo/trace_rules.py, SKIP_DIRS.
    """

    def __bool__(self) -> bool:
        _skip_in_compiler()
        return True


@lru_cache(maxsize=1)
def _skip_in_compiler() -> None:
    """Put the package on the list, once."""
    import_module("torch._dynamo.trace_rules").add(_PACKAGE)


def leave_untraced(function: F) -> F:
    """Let torch.compile break its graph at a function of teachconv; explain it if no break is allowed."""
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
    """Return the error for a missing attribute of a module; it suggests the nearest one.

    >>> print(no_attribute("teachconv", "con2d", ["conv2d", "diff"]))
    module 'teachconv' has no attribute 'con2d' (did you mean "conv2d"?)
    """
    near = "" if name.startswith("__") else suggestion(name, known)
    # with an object Python would look for near names itself, and print a second suggestion
    return AttributeError(f"module {brief(module)} has no attribute {brief(name)}{near}", name=name, obj=None)


class _Attributes:
    """The last finder of imports: it answers as the attributes of teachconv's modules do.

    ``import teachconv.tf.keras.layers`` finds the module that is this attribute, wherever it was defined. A
    name that a module lacks gets the message of its `__getattr__`, which Python drops for ``from module
    import name`` and never asks for with ``import module.name``. With ``from`` Python asks the finders if
    the module has a ``__path__``.
    """

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return a spec for a module that is an attribute; raise ``ModuleNotFoundError`` with a hint."""
        parent, _, name = fullname.rpartition(".")
        module = sys.modules.get(parent)
        is_ours = parent.partition(".")[0] == _PACKAGE and "__getattr__" in vars(module)
        if not is_ours or name.startswith("_") or path is not vars(module).get("__path__"):
            return None  # with another path some tool, such as pytest, looks for a file
        try:
            attribute = getattr(module, name)
        except AttributeError as error:
            raise ModuleNotFoundError(str(error)) from None  # with name= Python would replace the message
        return ModuleSpec(fullname, cls) if inspect.ismodule(attribute) else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Let Python make a module, which the attribute replaces."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Replace a new module by the attribute of that name."""
        parent, _, name = module.__name__.rpartition(".")
        sys.modules[module.__name__] = getattr(sys.modules[parent], name)


sys.meta_path.append(_Attributes)


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
