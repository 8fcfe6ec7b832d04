"""The command line, ``python -m teachconv``: parses the arguments and runs the command.

Each command is a module of its own, imported when it runs. Exit status: 0 if all is well, 1 where a
check fails, 2 where the arguments are wrong.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from .. import __version__
from ..support.errors import printable
from .parsing import PROGRAM, Parser, add_commands, fill_from_module

# what the help says of each; the command NAME is the module NAME_command (- as _), with add_arguments and run
COMMANDS = {
    "demo": "a photograph through conv2d and conv2d_transpose",
    "explain": "every tap of one cell, or what one input cell feeds",
    "trace": "every stage of one call, with file and line",
    "find-source": "from a public function to the loops that ran, with file and line",
    "diff": "every backend against the reference; alone, the whole table of cases",
    "compare": "two models layer by layer: which layer differs first, and why",
    "fuzz": "random convolutions on a function of yours, until one fails",
    "vectors": "inputs, exact results and bounds as files, for a kernel in any language",
    "exercises": "puzzles to solve, and a verdict on your answers that names the mistake",
    "backends": "which backends can run here, and what they can do",
    "explore": "an interactive page of one call: windows, products, variants, the transpose four ways",
    "translate": "write a framework's convolution for another framework",
    "dialects": "what each framework's options resolve to",
    "onnx": "list every convolution of an ONNX file",
}

_CLOSED_PIPE = 128 + 13  # what a shell reports of a program that the signal SIGPIPE ended


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    with _writable_streams():
        try:
            try:
                return _run(argv)
            finally:
                sys.stdout.flush()
        except BrokenPipeError:  # the reader of our output has seen enough, as head has
            with suppress(OSError):  # what is still in the buffer goes nowhere, without another error
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _CLOSED_PIPE


_PLAIN = {"×": "x", "µ": "u", "█": "#"}  # where an encoding, such as ASCII, lacks them


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the encoding lacks, or escape them like Python."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or ascii(c)[1:-1] for c in text), error.end


@contextmanager
def _writable_streams() -> Iterator[None]:
    """Let stdout and stderr accept every character; if the caller closed one, discard its output."""
    codecs.register_error("teachconv", _plainly)
    with ExitStack() as later:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is None:
                setattr(sys, name, later.enter_context(open(os.devnull, "w", encoding="utf-8")))
                later.callback(setattr, sys, name, None)
            elif hasattr(stream, "reconfigure") and stream.errors in ("strict", "surrogateescape"):
                later.callback(stream.reconfigure, errors=stream.errors)
                stream.reconfigure(errors="teachconv")
        yield


def _run(argv: Sequence[str] | None) -> int:
    parser = Parser(
        prog=PROGRAM,
        description="Convolution to learn from and to check against: run, trace, explain, diff.",
    )
    parser.add_argument("--version", action="version", version=f"teachconv {__version__}")
    add_commands(parser, COMMANDS, fill_from_module)
    begin = f'To begin: "{PROGRAM} demo" convolves a photograph and writes a page of it.'
    parser.epilog = f"{parser.epilog}\n{begin}"
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments) or 0)
    except BrokenPipeError:
        raise
    except (ValueError, TypeError, IndexError, ImportError, OSError, MemoryError, RuntimeError) as error:
        print(printable(f"teachconv {arguments.command}: {error}", "\n"), file=sys.stderr)
        return 2
