"""``python -m teachconv explore``: the picture of a call as one page."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtypes import to_dtype
from ..core.kinds import OPS
from ..data import photo
from ..explorer.digits import draw_a_digit
from ..explorer.explorer import Explorer
from ..explorer.exploring import explore
from ..explorer.playgrounds import Playground, playground
from ..running import nn_ops
from ..support.errors import ArgumentError, plain
from ..support.files import read_npy
from ..support.tables import size
from .call_arguments import add_call, numbers, padding, read_call, refuse_call
from .output import show

_IMAGES = {  # the name's ending, and Pillow's format; of its others some start a program, as Ghostscript
    ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".gif": "GIF", ".bmp": "BMP", ".webp": "WEBP",
    ".tif": "TIFF", ".tiff": "TIFF", ".ppm": "PPM", ".pgm": "PPM",
}  # fmt: skip
_EDGES = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])  # Sobel's filter: change along the columns
_EYE = (0.38, 0.37)  # where one of the cat's eyes is, in parts of the photograph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call, which may be left out, and what the page shows."""
    parser.description = (
        "Writes one self-contained page. --input is a shape, an .npy file or an image file; without it the "
        "op runs on the shipped photograph."
    )
    add_call(parser, optional=True)
    parser.add_argument(
        "--network",
        nargs="+",
        metavar=("MODEL", "INPUT"),
        help="the page of a network: an .onnx or .tflite file and its input, an image or an .npy file; "
        "a recording (.npz); or the word digits, for the network that reads what one draws",
    )
    parser.add_argument("--at", type=numbers, help="n,row,col,channel of the cell to begin with")
    parser.add_argument(
        "--beside-padding", metavar="PADDING", type=padding, help="compare with this padding, as --padding"
    )
    parser.add_argument(
        "--budget",
        type=int,
        help="about how many bytes the page may have (default: 340000, and more for a large call)",
    )
    parser.add_argument(
        "--playground",
        action="store_true",
        help="write the page on which the reader sets the call; it takes no call",
    )
    parser.add_argument(
        "-o", "--output", default="teachconv-explore.html", help="the page to write (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the page, and say where it is."""
    picture: Explorer | Playground
    if arguments.playground:
        others = arguments.op, arguments.at, arguments.beside_padding, arguments.budget
        if others != (None, None, None, None):
            raise ArgumentError("--playground takes no call: the reader sets it on the page")
        refuse_call(arguments, "--playground takes none")
        picture = playground()
    elif arguments.network:
        if (arguments.op, arguments.beside_padding) != (None, None):
            raise ArgumentError("--network takes a model and its input, and no call")
        refuse_call(arguments, "--network takes none")
        picture = _network(*arguments.network, at=arguments.at, budget=arguments.budget)
    else:
        picture = _explorer(arguments)
        if arguments.beside_padding is not None:
            picture = picture.beside(padding=arguments.beside_padding)
    path = picture.save(arguments.output)
    show(picture)
    show(f"The page is {path.resolve()}, {size(path.stat().st_size)}: open it in a browser.")


def _explorer(arguments: argparse.Namespace) -> Explorer:
    arguments.op = arguments.op or "conv2d"
    takes_images = not OPS[arguments.op].is_gradient
    if arguments.input is None and takes_images:
        return _of_picture(arguments, photo(), _EYE)
    if arguments.input is not None and Path(arguments.input).suffix.lower() in _IMAGES:
        if not takes_images:
            raise ArgumentError(f"{arguments.op} takes arrays: give --input as a shape or an .npy file")
        return _of_picture(arguments, _image(Path(arguments.input)), (0.5, 0.5))
    op, args, kwargs = read_call(arguments)
    return explore(op, *args, at=arguments.at, budget=arguments.budget, **kwargs)


def _network(model: str, *inputs: str, at: Any, budget: int | None) -> Explorer:
    """The page of the network in a file, with an input: an .npy file as it is, an image divided by 255."""
    if len(inputs) > 1:
        raise ArgumentError(f"--network takes a model and one input; got {len(inputs)} inputs")
    if model == "digits" and not inputs:
        return draw_a_digit()
    if not inputs:
        return explore(model, at=at, budget=budget)
    path = Path(inputs[0])
    if path.suffix.lower() == ".npy":
        return explore(model, read_npy(str(path)), at=at, budget=budget)
    image = _image(path)[None].astype(np.float32) / 255
    image = image.reshape(*image.shape[:3], -1)  # one grey channel has an axis, too
    first = Path(model).suffix.lower() == ".onnx"
    return explore(model, np.moveaxis(image, -1, 1) if first else image, at=at, budget=budget)


def _of_picture(arguments: argparse.Namespace, picture: np.ndarray, centre: tuple[float, float]) -> Explorer:
    """An op on an image, [rows, cols] or [rows, cols, colours]; without --filters an edge filter.

    Without --at the page begins at ``centre``, in parts of the height and the width.
    """
    image = picture.reshape(1, *picture.shape[:2], -1).astype(to_dtype(arguments.dtype or "float32"))
    colours = image.shape[3]
    x = image.transpose(0, 3, 1, 2) if arguments.data_format == "NCHW" else image
    edges = arguments.filters is None
    if edges:
        channels = (1, colours) if OPS[arguments.op].transposed else (colours, 1)
        arguments.filters = f"3,3,{channels[0]},{channels[1]}"
    arguments.input = ",".join(map(str, x.shape))
    op, (_, w), kwargs = read_call(arguments)  # an input of that shape; the image takes its place
    if edges:
        w = np.broadcast_to(_EDGES[:, :, None, None], w.shape).astype(w.dtype)
    at = arguments.at
    if at is None:
        _, rows, cols, _ = nn_ops.call_of(op, (x, w), kwargs)[0].backend_shape
        at = (0, int(rows * centre[0]), int(cols * centre[1]), 0)
    return explore(op, x, w, at=at, budget=arguments.budget, **kwargs)


def _image(path: Path) -> np.ndarray:
    """An image file as [rows, cols] or [rows, cols, 3], 0 to 255; a damaged or huge one is refused."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("image files need the package Pillow: pip install pillow") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)  # more than 89 million pixels
            with Image.open(path, formats=[*_IMAGES.values()]) as image:
                return np.asarray(image.convert("L" if image.mode in ("1", "L", "I", "F") else "RGB"))
    except Exception as error:  # a damaged file makes Pillow raise many types, SyntaxError among them
        if isinstance(error, MemoryError) or getattr(error, "filename", None):  # no such file, a folder
            raise
        raise ArgumentError(
            f"{plain(path)} must be an image file; it cannot be read: {plain(error)}"
        ) from error
