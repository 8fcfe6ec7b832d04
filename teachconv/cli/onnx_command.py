"""``python -m teachconv onnx``: the convolutions of a model file."""

from __future__ import annotations

import argparse

from ..support.errors import ArgumentError, brief, printable
from ..support.files import read_npy
from ..support.progress import during, say
from ..translation.onnx_models import input_names, onnx_model
from .call_arguments import numbers
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file, the shapes of its inputs, and the check."""
    parser.add_argument("file", help="the model")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]SHAPE",
        help="shape of an input, as x=1,3,64,64, or an .npy file to feed; without a name the first input's",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare each node with onnxruntime (not the file with the network that it came from)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the table of convolutions; exit status 1 where a check fails, or leaves a convolution out."""
    inputs = {}
    for text in arguments.input:
        name, _, shape = text.rpartition("=")
        try:
            sizes = read_npy(shape) if shape.endswith(".npy") else numbers(shape)
        except argparse.ArgumentTypeError:
            raise ArgumentError(f"--input must be a shape such as x=1,3,64,64; got {brief(text)}") from None
        inputs[name or input_names(arguments.file)[0]] = (sizes,) if isinstance(sizes, int) else sizes
    with during("nodes"):
        model = onnx_model(arguments.file, inputs, check=arguments.check, progress=_tell)
    show(model)
    return 0 if model.passed or not arguments.check else 1


def _tell(done: int, total: int, name: str) -> None:
    say(f"{done} of {total}, {printable(name)}")
