"""The commands of the dialects: ``translate``, ``dialects`` and ``onnx``."""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from typing import Any

from ..dialects.calls import FUNCTIONS
from ..errors import ArgumentError
from ..translation.targets import TARGETS

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add the three commands to an argparse subparsers object."""
    add_translate(commands)
    add_dialects(commands)
    add_onnx(commands)


def add_translate(commands: Any) -> None:
    """``translate``: a call in one framework's words as source text for another."""
    parser = commands.add_parser(
        "translate",
        help="write a framework's convolution for another framework",
        epilog="example: translate torch.conv2d 1,3,16,16 8,3,3,3 stride=2 padding=1 --to tensorflow",
    )
    parser.add_argument("function", help="the call's function: " + ", ".join(_functions()))
    parser.add_argument(
        "operands",
        nargs="+",
        metavar="SHAPE|NAME=VALUE",
        help="shapes of the arrays (1,3,16,16) in the function's order, then its arguments (stride=2)",
    )
    parser.add_argument("--to", required=True, choices=TARGETS, help="the framework to write it for")
    parser.add_argument("--resolve", action="store_true", help="print the derivation first")
    parser.add_argument("--check", action="store_true", help="run both sides and compare")
    parser.add_argument("--html", metavar="FILE", help="write both sides, with a picture, to FILE")
    parser.set_defaults(run=run_translate)


def run_translate(arguments: argparse.Namespace) -> int:
    """Print the translation; exit status 1 where there is none, or where its check fails."""
    from ..translation.translating import translate

    functions = _functions()
    if arguments.function not in functions:
        raise ArgumentError(f"function must be one of {', '.join(functions)}; got {arguments.function!r}")
    function = functions[arguments.function]
    words = dict(word.split("=", 1) for word in arguments.operands if "=" in word)
    shapes = [_literal(word) for word in arguments.operands if "=" not in word]
    names = [operand.name for operand in FUNCTIONS[function].operands]
    if len(shapes) > len(names):
        raise ArgumentError(
            f"{arguments.function} takes {len(names)} shapes, {', '.join(names)}; got {len(shapes)}"
        )
    given = {name: _shape(shape) for name, shape in zip(names, shapes, strict=False)}
    given |= {name: _literal(value) for name, value in words.items()}
    translation = translate(function, **given, to=arguments.to)
    if arguments.resolve:
        print(translation.source, end="\n\n")
    print(translation)
    if arguments.html:
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>teachconv translate</title>'
        page = (
            f"{head}<body style='font-family:system-ui, sans-serif'>{translation._repr_html_()}</body></html>"
        )
        Path(arguments.html).write_text(page, encoding="utf-8")
    if not translation.possible:
        return 1
    if arguments.check:
        report = translation.check()
        print(f"\n{report}")
        return 0 if report.passed else 1
    return 0


def _functions() -> dict[str, Any]:
    return {entry.name: function for function, entry in FUNCTIONS.items()}


def _literal(text: str) -> Any:
    """A Python literal, or the text itself: SAME need not be quoted."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _shape(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def add_dialects(commands: Any) -> None:
    """``dialects``: the map, dialect by option."""
    parser = commands.add_parser("dialects", help="what each framework's options resolve to")
    parser.add_argument("--markdown", action="store_true", help="as Markdown, for the documentation")
    parser.set_defaults(run=run_dialects)


def run_dialects(arguments: argparse.Namespace) -> int:
    """Print the map."""
    from ..translation import dialect_map

    print(dialect_map.markdown() if arguments.markdown else dialect_map.plain())
    return 0


def add_onnx(commands: Any) -> None:
    """``onnx``: the convolutions of a model file."""
    parser = commands.add_parser("onnx", help="list every 2-D convolution of an ONNX file")
    parser.add_argument("file", help="the model")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]SHAPE",
        help="shape of an input, as x=1,3,64,64; without a name the first input's",
    )
    parser.add_argument("--check", action="store_true", help="compare each node with onnxruntime")
    parser.set_defaults(run=run_onnx)


def run_onnx(arguments: argparse.Namespace) -> int:
    """Print the table of convolutions; exit status 1 where a check fails."""
    from ..translation.onnx_models import input_names, onnx_model

    inputs = {}
    for text in arguments.input:
        name, _, shape = text.rpartition("=")
        sizes = _shape(_literal(shape))
        if not isinstance(sizes, tuple) or not all(isinstance(size, int) for size in sizes):
            raise ArgumentError(f"--input must be a shape such as x=1,3,64,64; got {text!r}")
        inputs[name or input_names(arguments.file)[0]] = sizes
    progress = _progress if sys.stderr.isatty() else None
    model = onnx_model(arguments.file, inputs, check=arguments.check, progress=progress)
    print(model)
    return 0 if model.passed else 1


def _progress(done: int, total: int, name: str) -> None:
    end = "\n" if done == total else ""
    print(f"\r{done}/{total} {name[:60]:<60}", end=end, file=sys.stderr, flush=True)
