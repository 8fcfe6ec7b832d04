"""``python -m teachconv translate``: a call in one framework's words as source text for another."""

from __future__ import annotations

import argparse
import ast
from typing import Any

from ..networks.handing import translate
from ..support.errors import ArgumentError
from ..support.tables import count
from ..translation.targets import TARGETS, framework, function_named, known_functions
from ..translation.translating import operands
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the function, its arguments as words, and the target."""
    names = [*known_functions()]
    parser.epilog = "example: translate torch.conv2d 1,3,16,16 8,3,3,3 stride=2 padding=1 --to tensorflow"
    parser.add_argument("function", help="the call's function: " + ", ".join(names))
    parser.add_argument(
        "operands",
        nargs="+",
        metavar="SHAPE|NAME=VALUE",
        help="shapes of the arrays (1,3,16,16) in the function's order, then its arguments (stride=2)",
    )
    parser.add_argument(
        "--to", required=True, type=framework, choices=TARGETS, help="the framework to write it for"
    )
    parser.add_argument(
        "--any-size", action="store_true", help="write code that holds for images of any size"
    )
    parser.add_argument("--resolve", action="store_true", help="print the derivation first")
    parser.add_argument("--check", action="store_true", help="run both sides and compare")


def run(arguments: argparse.Namespace) -> int:
    """Print the translation; exit status 1 where there is none, or where its check fails."""
    function = function_named(arguments.function)
    words = dict(word.split("=", 1) for word in arguments.operands if "=" in word)
    shapes = [_literal(word) for word in arguments.operands if "=" not in word]
    names = [operand.name for operand in operands(function)]
    if len(shapes) > len(names):
        raise ArgumentError(
            f"{arguments.function} takes {count(len(names), 'shape')}, {', '.join(names)}; got {len(shapes)}"
        )
    named = {
        **{name: _shape(shape) for name, shape in zip(names, shapes, strict=False)},
        **{name: _literal(value) for name, value in words.items()},
    }
    translation = translate(function, **named, to=arguments.to, any_size=arguments.any_size)
    if arguments.resolve:
        show(translation.source, "")
    show(translation)
    if not translation.possible:
        return 1
    if arguments.check:
        report = translation.check()
        show("", report)
        return 0 if report.passed else 1
    return 0


def _literal(text: str) -> Any:
    """A Python literal, or the text itself: SAME need not be quoted."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _shape(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value
