"""The call of a picture as a page needs it to write it in each framework's words, with `rules`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from ..running import nn_ops
from .rules import words_of


def page_function(op: Callable[..., Any]) -> str:
    """Return the name of a function on the page, such as "tensorflow.conv2d" or "torch.conv2d"."""
    dialect, _, name = nn_ops.name_of(op).removeprefix("teachconv.").rpartition(".")
    return f"{dialect.removeprefix('dialects.') or 'tensorflow'}.{name}"


def page_call(
    op: Callable[..., Any], args: tuple[Any, ...], arguments: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the shapes and the arguments of a call, from which the page writes it for every framework.

    Args:
        op: the function.
        args: its arguments, of which only the shapes count.
        arguments: those given by name.

    Returns:
        ``{"shapes", "words"}``, ready for JSON; None if the page does not know the function or an argument.
    """
    known = words_of(page_function(op))
    if known is None:
        return None
    found = signature(op).bind(*args, **nn_ops.without_options(arguments))
    shapes = [list(np.shape(array)) for array in list(found.arguments.values())[:2]]
    words = {}
    for name, value in list(found.arguments.items())[2:]:
        default = found.signature.parameters[name].default
        if value is default or (isinstance(value, (int, str)) and value == default):
            continue
        words[name] = _plain(value)
        if name not in known or words[name] is None:
            return None
    four = page_function(op).startswith("tensorflow.") and any(
        isinstance(words.get(name), list) and len(words[name]) > 2
        for name in ("strides", "dilations", "padding")
    )
    return None if four or any(len(shape) != 4 for shape in shapes) else {"shapes": shapes, "words": words}


def _plain(value: Any) -> Any:
    """Return a number, a word, or a list of them; None for anything else."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    items = [_plain(item) for item in value] if type(value) in (list, tuple) else [None]
    return None if None in items else items
