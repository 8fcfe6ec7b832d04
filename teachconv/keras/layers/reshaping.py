"""Flatten, Reshape and UpSampling2D. Keras: keras/src/layers/reshaping."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...arguments import normalize_steps
from ...errors import ArgumentError, brief, is_one_of, suggestion
from ...geometry import conv2d_transpose_geometry
from ...graph import reshape, transpose
from ...graph.ops import gen_nn_ops
from ..checks import check_sizes
from .layer import Layer, Shape, shape_text, size
from .windows import check_data_format

__all__ = ["Flatten", "Reshape", "UpSampling2D"]


class Flatten(Layer):
    """Makes one vector of each sample, row by row, the channels innermost.

    Args:
        data_format: "channels_last", or "channels_first", whose channels are moved last before.
        **more: as in `Layer`.

    >>> from teachconv import keras
    >>> keras.layers.Flatten(input_shape=(4, 4, 32)).output_shape
    (None, 512)
    """

    def __init__(self, data_format: str | None = None, **more: Any):
        self.data_format = check_data_format(data_format)
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and the number of elements of a sample, None if a size is unknown."""
        return input_shape[0], _product(input_shape[1:])

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return a Reshape node."""
        axes = tuple(inputs.shape)
        if self.data_format == "channels_first" and len(axes) > 2:
            inputs = transpose(inputs, [0, *range(2, len(axes)), 1])
        elements = _product(axes[1:])
        return reshape(inputs, [size(inputs, 0), -1] if elements is None else [-1, elements or 1])


class Reshape(Layer):
    """Gives each sample another shape.

    Args:
        target_shape: the shape without the batch; one size may be -1 and is then derived.
        **more: as in `Layer`.

    Raises:
        ValueError: if the number of elements differs.

    >>> from teachconv import keras
    >>> keras.layers.Reshape((2, -1), input_shape=(3, 4)).output_shape
    (None, 2, 6)
    """

    def __init__(self, target_shape: Sequence[int], **more: Any):
        self.target_shape = check_sizes(target_shape, "target_shape", least=-1)
        if self.target_shape.count(-1) > 1:
            raise ArgumentError(f"target_shape may hold -1 once; got {brief(target_shape)}")
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and the target shape; with unknown sizes, -1 stands for an unknown one too."""
        elements = _product(input_shape[1:])
        if elements is None:
            return input_shape[0], *(None if n == -1 else n for n in self.target_shape)
        known = prod(n for n in self.target_shape if n != -1)
        fits = elements % max(known, 1) == 0 if -1 in self.target_shape else elements == known
        if not fits:
            raise ArgumentError(
                f"{elements} elements do not fill target_shape {shape_text(self.target_shape)}"
            )
        return input_shape[0], *(elements // known if n == -1 else n for n in self.target_shape)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return a Reshape node."""
        sizes = self.compute_output_shape(tuple(inputs.shape))[1:]
        return reshape(inputs, [size(inputs, 0), *self.target_shape] if None in sizes else [-1, *sizes])


class UpSampling2D(Layer):
    """Repeats rows and columns: one ResizeNearestNeighbor node.

    Followed by a Conv2D it enlarges an image without the checkerboard of a transposed convolution.

    Args:
        size: an int or (rows, cols): how often each is repeated.
        data_format: as in `Conv2D`.
        interpolation: "nearest"; Keras' others are not here.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> keras.layers.UpSampling2D((1, 2))([[[[1.0], [2.0]]]]).numpy().ravel().tolist()
    [1.0, 1.0, 2.0, 2.0]
    """

    def __init__(
        self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest", **more: Any
    ):
        self.size = normalize_steps(size, "size")
        self.data_format = check_data_format(data_format)
        if not is_one_of(interpolation, ("nearest",)):
            near = suggestion(interpolation, ("nearest",))
            raise ArgumentError(f"interpolation must be 'nearest'; got {brief(interpolation)}{near}")
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape with more rows and columns."""
        if len(input_shape) != 4:
            raise ArgumentError(f"it needs 4 axes, not {len(input_shape)}")
        first = 1 if self.data_format == "channels_last" else 2
        sizes = list(input_shape)
        for axis, times in enumerate(self.size, first):
            sizes[axis] = None if sizes[axis] is None else sizes[axis] * times  # type: ignore[operator]
        return tuple(sizes)

    def geometries(self, input_shape: Shape) -> list[Any]:
        """Return the geometry of the transposed convolution that does the same, its filter all ones."""
        last = self.data_format == "channels_last"
        rows, cols = input_shape[1:3] if last else input_shape[2:4]
        if rows is None or cols is None:
            return []
        return [conv2d_transpose_geometry((1, rows, cols, 1), (*self.size, 1, 1), None, self.size, "VALID")]

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the ResizeNearestNeighbor node, between two Transpose nodes for channels_first."""
        first = self.data_format == "channels_first"
        images = transpose(inputs, [0, 2, 3, 1]) if first else inputs
        rows, cols = (size(images, axis) * times for axis, times in enumerate(self.size, 1))
        images = gen_nn_ops.resize_nearest_neighbor(images, [rows, cols])
        return transpose(images, [0, 3, 1, 2]) if first else images


def _product(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else prod(sizes)  # type: ignore[arg-type]
