"""The options that the programs with a graph share: backend, optimisers, and what to write."""

from __future__ import annotations

import argparse

from teachconv import graph as tg
from teachconv.backends import TABLE

__all__ = ["config", "parse", "report"]


def parse(description: str, arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options of a command line; None takes that of the program."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--html", metavar="FILE", help="write the log and the graph to a page")
    parser.add_argument("--backend", default="", help=f"one of {', '.join(TABLE)}")
    parser.add_argument("--no-optimize", action="store_true", help="run the graph as it was built")
    parser.add_argument("--chrome-trace", metavar="FILE", help="write a file for chrome://tracing")
    parser.add_argument("--tree", action="store_true", help="print the graph before and after, as text")
    return parser.parse_args(arguments)


def config(args: argparse.Namespace) -> tg.ConfigProto:
    """Return the configuration of the session that the options ask for."""
    on = not args.no_optimize
    return tg.ConfigProto(on, on, on, backend=args.backend)


def report(args: argparse.Namespace, metadata: tg.RunMetadata) -> None:
    """Print the log of a run, and write what the options ask for."""
    print(metadata.all)
    if args.tree:
        print("", metadata.before, "", metadata.after, sep="\n")
    if args.chrome_trace:
        metadata.save_chrome_trace(args.chrome_trace)
        print(f"wrote {args.chrome_trace}")
