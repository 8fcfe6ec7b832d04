"""TensorFlow arguments with two names, and TensorFlow arguments and names that teachconv lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import ismodule, signature
from typing import Any, NoReturn, ParamSpec, TypeVar

from ..support.errors import ArgumentError, ArgumentTypeError, brief, suggestion

P = ParamSpec("P")
R = TypeVar("R")


def unsupported(*names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function to refuse TensorFlow arguments that teachconv does not support.

    Args:
        *names: the arguments, of which only the default is legal.

    Returns:
        The decorator; the function then raises ``ValueError`` if one of them has another value.

    >>> @unsupported("conjugate")
    ... def transpose(a, conjugate=False): ...
    >>> transpose([], True)
    Traceback (most recent call last):
        ...
    teachconv.support.errors.ArgumentError: conjugate must be False: teachconv has no other; got True
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(function).parameters
        place = {name: list(parameters).index(name) for name in names}

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, index in place.items():
                default = parameters[name].default
                value = args[index] if index < len(args) else kwargs.get(name, default)
                if value is not default and not (
                    isinstance(value, (bool, int, float, str)) and value == default
                ):
                    raise ArgumentError(
                        f"{name} must be {brief(default)}: teachconv has no other; got {brief(value)}"
                    )
            return function(*args, **kwargs)

        return wrapper

    return decorate


def check_type(value: Any, kinds: Any, legal: str) -> None:
    """Raise an error if a value is of none of some types.

    Args:
        value: the value.
        kinds: the types, as ``isinstance`` takes them.
        legal: what must be, as in "graph must be a Graph or None".

    Raises:
        TypeError: if it is of another type.
    """
    if not isinstance(value, kinds):
        raise ArgumentTypeError(f"{legal}; got {brief(value)}")


def either(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """Return the value of an argument that has a new and an old name; None stands for one not given.

    TensorFlow: python/util/deprecation.py, deprecated_argument_lookup.

    >>> either("filters", None, "filter", 3)
    3
    """
    if value is not None and old_value is not None:
        raise ArgumentError(f"Cannot specify both '{old_name}' and '{name}'.")
    return value if old_value is None else old_value


def refuse_other_names(module: str, answer: Callable[..., Any]) -> None:
    """Let a module, and the modules among its public names, answer for a name that they do not have.

    Args:
        module: the module's name. It is complete, except for modules that are imported on demand.
        answer: makes the `__getattr__` of a module, from its name and the names that it has.
    """
    whole = sys.modules[module]
    below = [vars(whole)[name] for name in whole.__all__ if ismodule(vars(whole).get(name))]
    for each in (whole, *below):
        vars(each)["__getattr__"] = answer(each.__name__, each.__all__)
        vars(each).setdefault("__path__", [])  # so that `from` shows the answer: errors.py


def no_name(
    module: str, name: str, known: Iterable[str], instead: str, otherwise: str = "", why: str = ""
) -> NoReturn:
    """Raise ``AttributeError`` for a name that a module does not have.

    Args:
        module: the module's name.
        name: the name.
        known: the names that it has, of which a similar one is suggested.
        instead: what is nearest, or "".
        otherwise: what is nearest if nothing is similar.
        why: why the module does not have it.
    """
    near = suggestion(name, known) if not instead and not name.startswith("__") else ""
    nearest = instead or ("" if near or name.startswith("__") else otherwise)
    text = f"; nearest: {nearest}" if nearest else near
    why = "" if name.startswith("__") else why  # Python's own names are asked for by Python
    raise AttributeError(f"{module} has no {brief(name)}{why}{text}", name=name, obj=None)
