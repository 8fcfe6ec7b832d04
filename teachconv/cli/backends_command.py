"""``python -m teachconv backends``: which backends are available, and what they can do."""

from __future__ import annotations

import argparse

from .. import backends
from ..support.tables import Table, left
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no option."""


def run(arguments: argparse.Namespace) -> None:
    """Print the table of backends, and that of their algorithms."""
    infos = backends.report()
    ladder = [(i.name, a.name, a.precision, a.summary) for i in infos for a in i.algorithms]
    show(infos, "", Table(left("backend", "algorithm", "precision", "what it is"), ladder))
