"""The layers that pool: the largest value, or the mean, of each window. Keras: keras/src/layers/pooling."""

from __future__ import annotations

from typing import Any

from ...geometry import conv2d_geometry
from ...graph import nn
from .windows import Geometry, Windowed

__all__ = ["AveragePooling2D", "MaxPooling2D"]


class _Pooling(Windowed):
    def __init__(self, pool_size: Any, strides: Any, padding: str, data_format: str | None, **more: Any):
        strides = pool_size if strides is None else strides
        super().__init__(pool_size, "pool_size", strides, padding, data_format, **more)

    @property
    def pool_size(self) -> tuple[int, ...]:
        """(rows, cols) of the window."""
        return self.window

    def geometry(self, input_shape: tuple[int, int, int, int]) -> Geometry:
        """Return the geometry of one channel: windows of a pool follow the same law as filters."""
        window = (*self.window, 1, 1)
        return conv2d_geometry((*input_shape[:3], 1), window, self.strides, self.padding.upper())


class MaxPooling2D(_Pooling):
    """Takes the largest value of each window: one MaxPool node.

    Args:
        pool_size: an int or (rows, cols) of the window.
        strides: an int or (rows, cols); None for ``pool_size``, so that windows touch and do not overlap.
        padding: "valid" or "same"; padding is never the largest.
        data_format: as in `Conv2D`.
        name: as in `Layer`.
        **more: as in `Layer`.

    >>> from teachconv import keras
    >>> keras.layers.MaxPooling2D(input_shape=(7, 7, 3)).output_shape
    (None, 3, 3, 3)
    """

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **more: Any,
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the MaxPool node."""
        return nn.max_pool(inputs, self.window, self.strides, self.padding.upper(), self.layout)


class AveragePooling2D(_Pooling):
    """Takes the mean of each window: one AvgPool node.

    Args:
        pool_size, strides, data_format, name: as in ``MaxPooling2D``.
        padding: "valid" or "same"; padding does not count in the mean.
        **more: as in `Layer`.

    >>> from teachconv import keras
    >>> keras.layers.AveragePooling2D(2)([[[[1.0], [2.0]], [[3.0], [4.0]]]]).numpy().ravel().tolist()
    [2.5]
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **more: Any,
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the AvgPool node."""
        return nn.avg_pool(inputs, self.window, self.strides, self.padding.upper(), self.layout)
