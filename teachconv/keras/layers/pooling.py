"""`Windowed`, the base of all layers that slide a window over one to three axes; layers that pool or pad.

Keras: keras/src/layers/pooling and reshaping. Classes over one to three axes differ only in their rank.
"""

from __future__ import annotations

from typing import Any

from ...core.arguments import channels_first, channels_last, normalize_padding, normalize_steps, truth
from ...core.geometry import ConvGeometry, ConvTransposeGeometry, conv_geometry
from ...core.kinds import AXES, layout_of
from ...graph import nn, pad, reduce_max, reduce_mean
from ...support.argument_types import Ints, KerasPadding
from ...support.errors import ArgumentError, ArgumentTypeError, brief, check_word
from ..config import image_data_format
from .layer import Layer, Shape

Geometry = ConvGeometry | ConvTransposeGeometry


class Windowed(Layer):
    """A layer with strides, padding and a data format, whose output shape follows from its geometry.

    Attributes:
        window: the size of the window along each axis, (rows, cols) for images.
        strides: likewise.
        padding: "valid" or "same"; of `Conv1D` also "causal"; of layers that pad or crop, (before, after) of
            each axis.
        data_format: "channels_last" or "channels_first".
        layout: the same in TensorFlow's words, "NHWC" or "NCHW" for images.
    """

    _rank = 2  # over how many axes its windows move
    _paddings: tuple[str, ...] = ("valid", "same")

    def __init_subclass__(cls, rank: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._rank = cls._rank if rank is None else rank

    def __init__(
        self, window: Any, name_of_window: str, strides: Any, padding: Any, data_format: Any, **more: Any
    ):
        self.data_format = check_data_format(data_format)
        last = layout_of("input", self._rank)
        self.layout = last if self.data_format == "channels_last" else f"NC{last[1:-1]}"
        self.window = normalize_steps(window, name_of_window, self.layout)
        self.strides = normalize_steps(strides, "strides", self.layout)
        self.padding = self._padding_of(padding)
        super().__init__(**more)

    def _padding_of(self, padding: Any) -> Any:
        """Return the padding as the layer keeps it; raise unless it is legal."""
        word = padding.lower() if isinstance(padding, str) else padding
        check_word(word, "padding", self._paddings)
        return word

    @property
    def spatial_axes(self) -> list[int]:
        """The axes over which the window moves."""
        first = 1 if self.layout[-1] == "C" else 2
        return [*range(first, first + self._rank)]

    def geometry(self, input_shape: tuple[int, ...]) -> Geometry:
        """Return the geometry for an input ``[batch, *sizes, channels]``, whatever the data format."""
        raise NotImplementedError

    def geometries(self, input_shape: Shape) -> list[Geometry]:
        """Return the geometry for one image, as `Layer.geometries`; none if a size is unknown."""
        _, *sizes = self._channels_last(input_shape)
        return [] if None in sizes else [self.geometry((1, *sizes))]  # type: ignore[arg-type]

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the output; unknown sizes stay unknown."""
        batch, *sizes, _ = self._channels_last(input_shape)
        known = self._known(input_shape)
        outer = self.geometry(known).output_shape[1:-1]
        spatial = (size and out for size, out in zip(sizes, outer, strict=True))
        shape = batch, *spatial, self.out_channels(known[-1])
        return shape if self.layout[-1] == "C" else channels_first(shape)

    def out_channels(self, channels: int) -> int:
        """Return the number of channels of the output."""
        return channels

    def channels(self, input_shape: Shape) -> int:
        """Return the number of channels of the input; raise if it is unknown."""
        channels = self._channels_last(input_shape)[-1]
        if channels is None:
            raise ArgumentError("the number of channels must be known")
        return channels

    def _known(self, shape: Shape) -> tuple[int, ...]:
        """Return ``[1, *sizes, channels]``, with a size that is large enough for one that is unknown."""
        sizes = zip(self._channels_last(shape)[1:-1], self.window, strict=True)
        return 1, *(size or max(taps, 1 << 12) for size, taps in sizes), self.channels(shape)

    def _channels_last(self, shape: Shape) -> Shape:
        if len(shape) != self._rank + 2:
            names = AXES[-self._rank :]
            axes = ("batch", *names, "channels") if self.layout[-1] == "C" else ("batch", "channels", *names)
            raise ArgumentError(f"it needs {self._rank + 2} axes ({', '.join(axes)}), not {len(shape)}")
        return channels_last(shape, self.layout)


def check_data_format(data_format: Any) -> str:
    """Return Keras' word for a layout; None means channels_last."""
    if data_format is None:
        return image_data_format()
    data_format = data_format.lower() if isinstance(data_format, str) else data_format
    check_word(data_format, "data_format", ("channels_last", "channels_first"))
    return str(data_format)


class _Pooling(Windowed):
    def __init__(
        self,
        pool_size: Any,
        strides: Ints | None = None,
        padding: KerasPadding = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **more: Any,
    ):
        strides = pool_size if strides is None else strides
        super().__init__(pool_size, "pool_size", strides, padding, data_format, name=name, **more)

    @property
    def pool_size(self) -> tuple[int, ...]:
        """The size of the window: (rows, cols) for images."""
        return self.window

    def geometry(self, input_shape: tuple[int, ...]) -> Geometry:
        """Return the geometry of one channel: windows of a pool follow the same law as filters."""
        window = (*self.window, 1, 1)
        return conv_geometry((*input_shape[:-1], 1), window, self.strides, self.padding.upper())


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
        pool_size: Any = 2,
        strides: Ints | None = None,
        padding: KerasPadding = "valid",
        data_format: str | None = None,
        name: str | None = None,
        **more: Any,
    ):
        super().__init__(pool_size, strides, padding, data_format, name, **more)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return nn.max_pool(inputs, self.window, self.strides, self.padding.upper(), self.layout)


class MaxPooling1D(MaxPooling2D, rank=1):
    """Takes the largest value of each window of a signal; arguments as in `MaxPooling2D`, of one axis."""


class MaxPooling3D(MaxPooling2D, rank=3):
    """Takes the largest value of each window of a volume: one MaxPool3D node; as `MaxPooling2D`."""


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

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return nn.avg_pool(inputs, self.window, self.strides, self.padding.upper(), self.layout)


class AveragePooling1D(AveragePooling2D, rank=1):
    """Takes the mean of each window of a signal; arguments as in `AveragePooling2D`, of one axis."""


class AveragePooling3D(AveragePooling2D, rank=3):
    """Takes the mean of each window of a volume: one AvgPool3D node; as `AveragePooling2D`."""


class _GlobalPooling(Windowed):
    """One window over the whole image: its geometry has the sizes of the input as its window."""

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **more: Any):
        self.keepdims = truth(keepdims, "keepdims")
        super().__init__(1, "pool_size", 1, "valid", data_format, **more)

    def geometry(self, input_shape: tuple[int, ...]) -> Geometry:
        """Return the geometry of one channel."""
        return conv_geometry((*input_shape[:-1], 1), (*input_shape[1:-1], 1, 1))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the batch and the channels, with ``keepdims`` between ones."""
        shape = super().compute_output_shape(input_shape)
        if self.keepdims:
            return tuple(1 if axis in self.spatial_axes else size for axis, size in enumerate(shape))
        return shape[0], self.channels(input_shape)


class GlobalAveragePooling2D(_GlobalPooling):
    """Takes the mean of all cells of each channel: one Mean node.

    Args:
        data_format: as in `Conv2D`.
        keepdims: whether rows and cols stay, with size 1.
        **more: as in `Layer`.

    >>> from teachconv import keras
    >>> keras.layers.GlobalAveragePooling2D()([[[[1.0], [2.0]], [[3.0], [6.0]]]]).numpy().tolist()
    [[3.0]]
    """

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return reduce_mean(inputs, self.spatial_axes, self.keepdims)


class GlobalMaxPooling2D(_GlobalPooling):
    """Takes the largest value of each channel: one Max node; arguments as in `GlobalAveragePooling2D`."""

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return reduce_max(inputs, self.spatial_axes, self.keepdims)


class GlobalAveragePooling1D(GlobalAveragePooling2D, rank=1):
    """Takes the mean of each channel of a signal; arguments as in `GlobalAveragePooling2D`."""


class GlobalMaxPooling1D(GlobalMaxPooling2D, rank=1):
    """Takes the largest value of each channel of a signal; arguments as in `GlobalAveragePooling2D`."""


class ZeroPadding2D(Windowed):
    """Adds zeros around the image: one Pad node.

    Args:
        padding: an int, (rows, cols), or ((top, bottom), (left, right)); no number is negative.
        data_format: as in `Conv2D`.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> keras.layers.ZeroPadding2D(((1, 0), (2, 2)), input_shape=(4, 4, 3)).output_shape
    (None, 5, 8, 3)
    """

    _argument, _sign = "padding", 1

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **more: Any):
        super().__init__(1, "pool_size", 1, padding, data_format, **more)

    def _padding_of(self, padding: Any) -> Any:
        """Return (before, after) of each axis."""
        legal = (
            f"{self._argument} must be an int, (rows, cols) or ((top, bottom), (left, right)), none negative"
        )
        try:
            mode, sides = normalize_padding(padding, self.layout)
        except (ArgumentError, ArgumentTypeError):
            mode, sides = "", ()
        if mode != "EXPLICIT" or min(map(min, sides)) < 0:
            raise ArgumentError(f"{legal}; got {brief(padding)}")
        return sides

    def geometry(self, input_shape: tuple[int, ...]) -> Geometry:
        """Return the geometry of a window of one cell, which what is cropped pads by negative numbers."""
        sides: Any = tuple((self._sign * before, self._sign * after) for before, after in self.padding)
        return conv_geometry((*input_shape[:-1], 1), (*self.window, 1, 1), padding=sides)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        return pad(inputs, self._sides())

    def _sides(self) -> list[tuple[int, int]]:
        """Return (before, after) of every axis of the input, batch and channels too."""
        sides = dict(zip(self.spatial_axes, self.padding, strict=True))
        return [sides.get(axis, (0, 0)) for axis in range(self._rank + 2)]


class Cropping2D(ZeroPadding2D):
    """Leaves out cells at the edges of the image: one Slice node.

    Args:
        cropping: an int, (rows, cols), or ((top, bottom), (left, right)); no number is negative.
        data_format: as in `Conv2D`.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> keras.layers.Cropping2D(((1, 0), (2, 1)), input_shape=(4, 4, 3)).output_shape
    (None, 3, 1, 3)
    """

    _argument, _sign = "cropping", -1

    def __init__(self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **more: Any):
        super().__init__(cropping, data_format, **more)

    @property
    def cropping(self) -> tuple[tuple[int, int], ...]:
        """How many cells are left out before and after, for each axis."""
        return tuple(self.padding)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the node."""
        self.compute_output_shape(tuple(inputs.shape))  # raises where nothing is left
        return inputs[tuple(slice(before, -after or None) for before, after in self._sides())]
