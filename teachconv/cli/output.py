"""How the commands print: reports in the width of a terminal, and of 100 characters elsewhere."""

from __future__ import annotations

import sys
from shutil import get_terminal_size

from ..support.errors import printable
from ..support.tables import Report, Table


def show(*things: object) -> None:
    """Print reports, tables and text, one below the other."""
    for thing in things:
        print(printable(as_text(thing), "\n"))


def as_text(thing: object) -> str:
    """Return what `show` prints of a thing."""
    room = get_terminal_size().columns if sys.stdout.isatty() else 0
    if room and isinstance(thing, Table):
        return thing.text(room)
    return thing._as_text(room) if room and isinstance(thing, Report) else str(thing)
