"""A parser that adds a command's arguments when the command is used, and says what is wrong in two lines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from ..support.errors import brief, printable, suggestion
from ..support.tables import Table, left

PROGRAM = "teachconv" if Path(sys.argv[0]).stem == "teachconv" else "python -m teachconv"


class Parser(argparse.ArgumentParser):
    """``fill`` adds the arguments, when they are first needed: until then its module is not imported."""

    def __init__(self, *args: Any, fill: Callable[[Parser], None] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"allow_abbrev": False})
        self._fill = fill

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse, as argparse does it; words that no argument takes are an error here."""
        if self._fill is not None:
            fill, self._fill = self._fill, None
            fill(self)
        words = list(sys.argv[1:] if args is None else args)
        self._refuse_unknown_options(words)
        known, extra = super().parse_known_args(words, namespace)
        if extra:
            self.error(f"unexpected argument {brief(extra[0])}")
        return known, extra

    def _refuse_unknown_options(self, words: list[str]) -> None:
        """Check the options first: the value of an unknown one would be taken for an argument."""
        known = [option for action in self._actions for option in action.option_strings]
        for word in words:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                return  # the following words are not options, or belong to a command
            option = word.partition("=")[0]
            if option.startswith("--") and option not in known:
                self.error(f"unknown option {option}{suggestion(option, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = list(map(str, action.choices))
            near = suggestion(str(value), known)
            raise argparse.ArgumentError(
                action, f"must be one of {', '.join(known)}; got {brief(value)}{near}"
            )

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where to find help, and exit with status 2."""
        name = self.prog.removeprefix("python -m ")
        self.exit(2, f'{name}: {printable(message)}\nSee "{self.prog} --help".\n')


def add_commands(parser: Parser, commands: dict[str, str], fill: Callable[[str, Parser], None]) -> None:
    """Add commands, by name with their help; ``fill`` adds a command's arguments when it is used.

    Without a command the help is printed.
    """

    parser.set_defaults(run=lambda arguments: parser.print_help())
    known = Table(left("", ""), [(f"  {name}", text) for name, text in commands.items()], "commands:")
    more = f'"{parser.prog} COMMAND --help" says what a command takes.'
    parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, f"{known}\n\n{more}"
    choices = parser.add_subparsers(metavar="command", prog=parser.prog, help=argparse.SUPPRESS)
    parser.usage = "%(prog)s [options] command ..."
    for name, text in commands.items():
        about = text[0].upper() + text[1:] + "."
        choices.add_parser(name, description=about, fill=partial(fill, name))


def add_tolerance(parser: argparse.ArgumentParser, of: str = "") -> None:
    """Add the two errors that may be allowed; ``of`` says more of them."""
    for name, kind in (("rtol", "relative"), ("atol", "absolute")):
        parser.add_argument(f"--{name}", type=float, help=f"{kind} error to allow beside the bound{of}")


def fill_from_module(name: str, parser: Parser) -> None:
    """Import the module of a command, and let it add its arguments; its ``run`` is called with them."""
    module = import_module(f".{name.replace('-', '_')}_command", __package__)
    parser.set_defaults(command=name, run=getattr(module, "run", None))  # or its own commands have it
    module.add_arguments(parser)
