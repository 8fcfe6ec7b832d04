"""``python -m teachconv dialects``: the map, dialect by option."""

from __future__ import annotations

import argparse

from ..translation import dialect_map
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the only option."""
    parser.add_argument("--markdown", action="store_true", help="as Markdown, for the documentation")


def run(arguments: argparse.Namespace) -> None:
    """Print the map."""
    if arguments.markdown:
        print(dialect_map.markdown())
    else:
        resolved, said = dialect_map.both_tables()
        show(resolved, "", said)
