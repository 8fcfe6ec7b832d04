"""How the commands print: by rich on a terminal, where it is installed, and as plain text elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TextIO

import numpy as np

from ..errors import printable

__all__ = ["progress", "show", "show_json"]

Progress = Callable[[int, int, str], None]


def show(*things: object) -> None:
    """Print reports, tables and text, one below the other. Rich leaves colours away where NO_COLOR is set."""
    console = _console(sys.stdout)
    for thing in things:
        if console is None:
            print(printable(str(thing), "\n"))
        elif hasattr(thing, "__rich__") or hasattr(thing, "__rich_console__"):
            console.print(thing)
        else:
            console.print(printable(str(thing), "\n"), markup=False, emoji=False, soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[Progress]:
    """Yield a function that is told (done, total, name) and shows it on a terminal; elsewhere it is silent.

    ``what`` is counted: "cases". The line is gone at the end.
    """
    console = _console(sys.stderr)
    if console is not None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        name = TextColumn("{task.description}", markup=False)
        columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), name
        with RichProgress(*columns, console=console, transient=True) as bars:
            task = bars.add_task("", total=None)
            yield lambda done, total, name: bars.update(
                task, completed=done, total=total, description=printable(name), refresh=True
            )
    elif sys.stderr.isatty():
        yield lambda done, total, name: print(
            f"\r{what} {done}/{total} {printable(name)[:60]:<60}", end="", file=sys.stderr, flush=True
        )
        print(f"\r{'':<100}\r", end="", file=sys.stderr, flush=True)
    else:
        yield lambda done, total, name: None


def _console(stream: TextIO) -> Any:
    """A console of rich, or None where it is not installed or where nobody looks."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=stream)


def show_json(value: Any) -> None:
    """Print a value as JSON, with the names of attributes as keys."""
    json.dump(_plain(value), sys.stdout, indent=1)
    print()


def _plain(value: Any) -> Any:
    """Dataclasses as dicts of their public attributes, arrays as nested lists, NaN and infinity as text."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in fields(value) if not item.name.startswith("_")]
        names += ["passed"] if isinstance(getattr(type(value), "passed", None), property) else []
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        return _plain(value.astype(float).tolist() if value.dtype.kind == "V" else value.tolist())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _plain(value.item()) if isinstance(value, np.generic) else str(value)
