"""`Windowed`: what the layers share that slide a window over rows and columns; and those that pool.

Keras: keras/src/layers/pooling.
"""

from __future__ import annotations

from typing import Any

from ...arguments import channels_first, channels_last, normalize_steps
from ...errors import ArgumentError, check_word
from ...geometry import Conv2DGeometry, Conv2DTransposeGeometry, conv2d_geometry
from ...graph import nn
from .layer import Layer, Shape

Geometry = Conv2DGeometry | Conv2DTransposeGeometry


class Windowed(Layer):
    """A layer with strides, padding and a data format, whose output shape follows from its geometry.

    Attributes:
        window: (rows, cols) of the window.
        strides: (rows, cols).
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        layout: the same in TensorFlow's words, "NHWC" or "NCHW".
    """

    def __init__(
        self, window: Any, name_of_window: str, strides: Any, padding: Any, data_format: Any, **more: Any
    ):
        self.window = normalize_steps(window, name_of_window)
        self.strides = normalize_steps(strides, "strides")
        self.padding: Any = check_padding(padding)  # a text
        self.data_format = check_data_format(data_format)
        self.layout = "NHWC" if self.data_format == "channels_last" else "NCHW"
        super().__init__(**more)

    def geometry(self, input_shape: tuple[int, int, int, int]) -> Geometry:
        """Return the geometry for an input [batch, rows, cols, channels], NHWC whatever the data format."""
        raise NotImplementedError

    def geometries(self, input_shape: Shape) -> list[Geometry]:
        """Return the geometry for one image, as `Layer.geometries`; none if rows or columns are unknown."""
        _, *sizes = self._nhwc(input_shape)
        return [] if None in sizes else [self.geometry((1, *sizes))]  # type: ignore[arg-type]

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the output; unknown rows or columns stay unknown."""
        batch, rows, cols, _ = self._nhwc(input_shape)
        known = self._known(input_shape)
        _, out_rows, out_cols, _ = self.geometry(known).output_shape
        shape = batch, rows and out_rows, cols and out_cols, self.out_channels(known[3])
        return shape if self.layout == "NHWC" else channels_first(shape)

    def out_channels(self, channels: int) -> int:
        """Return the number of channels of the output."""
        return channels

    def channels(self, input_shape: Shape) -> int:
        """Return the number of channels of the input; raise if it is unknown."""
        channels = self._nhwc(input_shape)[3]
        if channels is None:
            raise ArgumentError("the number of channels must be known")
        return channels

    def _known(self, shape: Shape) -> tuple[int, int, int, int]:
        """Return [1, rows, cols, channels], with a size that is large enough for one that is unknown."""
        _, rows, cols, _ = self._nhwc(shape)
        large_enough = [max(n or 0, 1 << 12) for n in self.window]
        return 1, rows or large_enough[0], cols or large_enough[1], self.channels(shape)

    def _nhwc(self, shape: Shape) -> Shape:
        if len(shape) != 4:
            axes = "batch, rows, cols, channels" if self.layout == "NHWC" else "batch, channels, rows, cols"
            raise ArgumentError(f"it needs 4 axes ({axes}), not {len(shape)}")
        return channels_last(shape, self.layout)


def check_padding(padding: Any) -> str:
    """Return Keras' word for a padding in lower case; raise unless it is "valid" or "same"."""
    padding = padding.lower() if isinstance(padding, str) else padding
    check_word(padding, "padding", ("valid", "same"))
    return str(padding)


def check_data_format(data_format: Any) -> str:
    """Return Keras' word for a layout; None means channels_last."""
    if data_format is None:
        return "channels_last"
    data_format = data_format.lower() if isinstance(data_format, str) else data_format
    check_word(data_format, "data_format", ("channels_last", "channels_first"))
    return str(data_format)


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
