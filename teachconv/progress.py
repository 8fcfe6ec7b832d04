"""Says how far a long computation is, on a terminal where rich is installed; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["during", "track"]

_Item = TypeVar("_Item")


def track(items: list[_Item], what: str) -> Iterable[_Item]:
    """Return the items; while they are taken one after the other, a bar shows how many are done."""
    console = _console()
    if console is None:
        return items
    from rich.progress import track

    return track(items, what, console=console, transient=True)


@contextmanager
def during(what: str) -> Iterator[None]:
    """Show what is computed inside the ``with`` statement; the line is gone at the end."""
    console = _console()
    if console is None:
        yield
    else:
        with console.status(f"{what} …"):
            yield


def _console() -> Any:
    """Return a console of rich; None where it is not installed or where nobody looks."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(stderr=True)
