"""Pillow's images, as the input of an op: one image, [1, rows, cols, channels].

An image of bytes goes in as the numbers 0 to 255 in float32. The result of a convolution is no image of
bytes: it is a NumPy array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ..devices import Adapter
from ..errors import ArgumentError, ArgumentTypeError

__all__: list[str] = []

_MODES = {"L": np.float32, "RGB": np.float32, "RGBA": np.float32, "F": np.float32, "I": np.int32}
_IMAGES = ("input", "inputs", "X", "lhs", "array")  # the arguments that are images, "array" for tools


class Pillow(Adapter):
    """Images, which go in but do not come out."""

    name = "pillow"

    def knows(self, cls: type) -> bool:
        """Return whether it is a class of images."""
        return issubclass(cls, import_module("PIL.Image").Image)

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run an op on an image, whose channels are the last axis."""
        if arguments.get("data_format") == "NCHW":
            raise ArgumentError(
                "data_format must be NHWC for an image, which is [1, rows, cols, channels]; got 'NCHW'"
            )
        return super().call(value, op, arguments)

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Return the image as [1, rows, cols, channels]."""
        if name not in _IMAGES:
            raise ArgumentTypeError(
                f"{name} must be an array; got an image, which only the input of an op may be: "
                f"numpy.asarray({name})"
            )
        if value.mode not in _MODES:
            raise ArgumentError(
                f"{name} must be an image of mode {', '.join(_MODES)}; got mode {value.mode}: "
                f'{name}.convert("RGB") or {name}.convert("L")'
            )
        pixels = np.asarray(value, _MODES[value.mode])
        return pixels.reshape(1, value.height, value.width, -1)


ADAPTER = Pillow()
