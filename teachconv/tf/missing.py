"""What a module of teachconv.tf answers when it is asked for a name that it does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from ..errors import suggestion

__all__ = ["attribute"]


def attribute(module: str, name: str, known: Iterable[str], later: Mapping[str, str]) -> Any:
    """Import a module that is imported late, or refuse a name.

    Args:
        module: the module's name.
        name: the name that was asked for.
        known: the names that the module has.
        later: the modules behind the names that are imported where they are first asked for.

    Returns:
        The module.

    Raises:
        AttributeError: if ``name`` is none of them.
    """
    if name in later:
        return import_module(later[name])
    near = "" if name.startswith("__") else suggestion(name, known)
    raise AttributeError(
        f"{module} has no {name!r}, only what convolutional networks need{near}", name=name, obj=None
    )
