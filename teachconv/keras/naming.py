"""Names: of layers and models, and those that stand for an initializer, a loss, a metric or an optimizer.

Keras: keras/src/utils/naming.py, and the ``get`` function of each module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, brief, suggestion
from .missing import instead_of

__all__ = ["clear_session", "look_up", "snake_case", "unique_name"]

_used: Counter[str] = Counter()


def unique_name(class_name: str) -> str:
    """Return the name of a new layer or model: its class in snake case, and a number from the second on.

    >>> clear_session()
    >>> unique_name("MaxPooling2D"), unique_name("MaxPooling2D"), unique_name("Conv2DTranspose")
    ('max_pooling2d', 'max_pooling2d_1', 'conv2d_transpose')
    """
    name = snake_case(class_name)
    _used[name] += 1
    return name if _used[name] == 1 else f"{name}_{_used[name] - 1}"


def snake_case(class_name: str) -> str:
    """Return the name of a class as Keras writes it in the names of layers.

    >>> snake_case("ReLU"), snake_case("BatchNormalization")
    ('re_lu', 'batch_normalization')
    """
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", class_name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def clear_session() -> None:
    """Start the numbers in the names of layers and models anew, as keras.utils.clear_session."""
    _used.clear()


def look_up(identifier: Any, known: Mapping[str, Any], noun: str, argument: str = "") -> Any:
    """Return what a name stands for, and anything callable as it is.

    Args:
        identifier: a name, in snake case, in capitals or that of a class, or a function, class or object.
        known: what there is, by name.
        noun: what is looked up, for the error: the module's name without its s.
        argument: what the error calls the argument, if not so.

    Returns:
        The entry of ``known``, or ``identifier``; of a class, an object that is made without arguments.

    Raises:
        ValueError: if there is no such name.
        TypeError: if it is neither a name nor callable.
    """
    if isinstance(identifier, str):
        by_name = {**known} | {entry.__name__: entry for entry in known.values()}
        if identifier.isupper() and identifier not in by_name:  # Keras knows "ADAM" and "MSE", too
            return look_up(identifier.lower(), known, noun, argument)
        if identifier not in by_name:
            instead = instead_of("losses" if noun == "loss" else f"{noun}s", identifier)
            near = f"; nearest: {instead}" if instead else suggestion(identifier, known)
            raise ArgumentError(
                f"{argument or noun} must be one of {', '.join(known)}; got {brief(identifier)}{near}"
            )
        identifier = by_name[identifier]
    elif not callable(identifier):
        raise ArgumentTypeError(
            f"{argument or noun} must be a name ({', '.join(known)}) or callable; got {brief(identifier)}"
        )
    return identifier() if isinstance(identifier, type) else identifier
