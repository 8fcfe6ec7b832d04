"""The layers that convolve: Conv2D, DepthwiseConv2D and Conv2DTranspose.

Keras: keras/src/layers/convolutional. Each call is three nodes, the convolution, BiasAdd and the
activation. The shape of the output follows from the geometry, as everywhere in teachconv.
"""

from __future__ import annotations

from typing import Any

from ...arguments import Pair, normalize_steps, truth
from ...dialects.calls import ints
from ...dialects.keras import conv_transpose
from ...errors import ArgumentError, brief
from ...geometry import Conv2DTransposeGeometry, conv2d_geometry
from ...graph import is_tensor, nn, stack
from ...translation.translating import resolve
from .. import activations
from ..checks import positive
from .layer import Shape, size
from .pooling import Geometry, Windowed


class _Convolution(Windowed):
    """What the three layers share: arguments, weights, and the bias and activation after the convolution."""

    _casts_integers = True

    def __init__(
        self,
        kernel_size: Any,
        strides: Any,
        padding: Any,
        data_format: Any,
        dilation_rate: Any,
        activation: Any,
        use_bias: bool,
        kernel_initializer: Any,
        bias_initializer: Any,
        more: dict[str, Any],
    ):
        self.dilation_rate = normalize_steps(dilation_rate, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = truth(use_bias, "use_bias")
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        super().__init__(kernel_size, "kernel_size", strides, padding, data_format, **more)
        self._check_strides()

    def _check_strides(self) -> None:
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ArgumentError(
                "strides above 1 do not go with a dilation_rate above 1, as in Keras; got "
                f"{self.strides} and {self.dilation_rate}"
            )

    @property
    def kernel_size(self) -> tuple[int, ...]:
        """(rows, cols) of the filter."""
        return self.window

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return the shape of the filter for an input with so many channels."""
        raise NotImplementedError

    def build(self, input_shape: Shape) -> None:
        """Make the filter and the bias."""
        channels = self.channels(input_shape)
        self.kernel = self.add_weight(self.kernel_shape(channels), self.kernel_initializer, name="kernel")
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight((self.out_channels(channels),), self.bias_initializer, name="bias")

    def check_weights(self, input_shape: Shape) -> None:
        """Raise unless the input has the channels that the filter was made for."""
        wanted = self.kernel_shape(self.channels(input_shape))
        if tuple(self.kernel.shape) != wanted:
            raise ArgumentError(
                f"its kernel is {list(self.kernel.shape)}, and such an input needs {list(wanted)}"
            )

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return activation(convolution + bias)."""
        outputs = self.convolve(inputs)
        if self.bias is not None:
            outputs = nn.bias_add(outputs, self.bias, data_format=self.layout)
        return self.activation(outputs)

    def convolve(self, inputs: Any) -> Any:
        """Return the convolution alone."""
        raise NotImplementedError

    def _windows(self) -> dict[str, Any]:
        return {
            "strides": self.strides,
            "padding": self.padding.upper(),
            "data_format": self.layout,
            "dilations": self.dilation_rate,
        }


class _Filters(_Convolution):
    """What the two layers share whose number of filters is an argument."""

    filters: int

    def out_channels(self, channels: int) -> int:
        """Return the number of filters."""
        return self.filters


class Conv2D(_Filters):
    """Convolves images with filters that are learned: one Conv2D node.

    Args:
        filters: the number of filters, which is the number of channels of the output.
        kernel_size: an int or (rows, cols).
        strides: an int or (rows, cols).
        padding: "valid" for none, or "same": with stride 1 the output is as large as the input.
        data_format: "channels_last", "channels_first", or None for channels_last.
        dilation_rate: an int or (rows, cols); 1 means no gaps between the taps.
        groups: the channels are divided into so many groups, which are convolved independently.
        activation: "relu", "softmax", ..., a function, or None.
        use_bias: whether a bias is added to each channel.
        kernel_initializer: how the filters begin; [rows, cols, in_channels / groups, filters].
        bias_initializer: how the bias begins; [filters].
        **more: ``name``, ``trainable``, ``dtype``, ``input_shape``, as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> layer = keras.layers.Conv2D(4, 3, strides=2, padding="same", input_shape=(8, 8, 1))
    >>> layer.output_shape, layer.count_params()
    ((None, 4, 4, 4), 40)
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.filters, self.groups = positive(filters, "filters"), positive(groups, "groups")
        if self.filters % self.groups:
            raise ArgumentError(f"filters must be a multiple of groups {groups}; got {filters}")
        super().__init__(
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            more,
        )

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return [rows, cols, in_channels / groups, filters]."""
        if channels % self.groups:
            raise ArgumentError(f"groups {self.groups} must divide the {channels} channels")
        return (*self.window, channels // self.groups, self.filters)

    def geometry(self, input_shape: tuple[int, int, int, int]) -> Geometry:
        """Return the geometry, as `teachconv.conv2d_geometry`."""
        filters = self.kernel_shape(input_shape[3])
        return conv2d_geometry(
            input_shape, filters, self.strides, self.padding.upper(), dilations=self.dilation_rate
        )

    def convolve(self, inputs: Any) -> Any:
        """Return the Conv2D node."""
        return nn.conv2d(inputs, self.kernel, **self._windows())


class DepthwiseConv2D(_Convolution):
    """Convolves each channel with filters of its own: one DepthwiseConv2dNative node.

    Args:
        kernel_size, strides, padding: as in `Conv2D`.
        depth_multiplier: the number of filters of each channel.
        data_format, dilation_rate, activation, use_bias: as in `Conv2D`.
        depthwise_initializer: how the filters begin; [rows, cols, in_channels, depth_multiplier].
        bias_initializer: how the bias begins.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> keras.layers.DepthwiseConv2D(3, depth_multiplier=2, input_shape=(8, 8, 3)).output_shape
    (None, 6, 6, 6)
    """

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.depth_multiplier = positive(depth_multiplier, "depth_multiplier")
        super().__init__(
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            depthwise_initializer,
            bias_initializer,
            more,
        )

    def out_channels(self, channels: int) -> int:
        """Return depth_multiplier channels for each one of the input."""
        return channels * self.depth_multiplier

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return [rows, cols, in_channels, depth_multiplier]."""
        return (*self.window, channels, self.depth_multiplier)

    def geometry(self, input_shape: tuple[int, int, int, int]) -> Geometry:
        """Return the geometry of the convolution with one group for each channel."""
        filters = (*self.window, 1, self.out_channels(input_shape[3]))
        return conv2d_geometry(
            input_shape, filters, self.strides, self.padding.upper(), dilations=self.dilation_rate
        )

    def convolve(self, inputs: Any) -> Any:
        """Return the DepthwiseConv2dNative node."""
        return nn.depthwise_conv2d(inputs, self.kernel, **self._windows())


class Conv2DTranspose(_Filters):
    """Applies the transpose of a convolution: one Conv2DBackpropInput node.

    With "same" the output is strides times as large as the input. Where the kernel size is no multiple of the
    strides, output cells get different numbers of products, which shows as a checkerboard.

    Args:
        filters, kernel_size, strides, padding: as in `Conv2D`; the strides enlarge the image.
        output_padding: None, or an int or (rows, cols) below the strides, which sets the size as
            `teachconv.dialects.keras.conv_transpose` says; None and 0 are not the same.
        data_format, dilation_rate, activation, use_bias: as in `Conv2D`.
        kernel_initializer: how the filters begin; [rows, cols, filters, in_channels].
        bias_initializer: how the bias begins.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same", input_shape=(4, 4, 8)).output_shape
    (None, 8, 8, 1)
    """

    output_padding: Pair | None

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.filters, self.output_padding = positive(filters, "filters"), None
        if output_padding is not None:
            self.output_padding = _below_strides(output_padding, normalize_steps(strides, "strides"))
        super().__init__(
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            more,
        )

    def kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return [rows, cols, filters, in_channels]."""
        return (*self.window, self.filters, channels)

    def geometry(self, input_shape: tuple[int, int, int, int]) -> Geometry:
        """Return the geometry that Keras' words resolve to."""
        call = resolve(
            conv_transpose,
            input_shape,
            self.kernel_shape(input_shape[3]),
            self.strides,
            self.padding,
            self.output_padding,
            dilation_rate=self.dilation_rate,
        )
        return Conv2DTransposeGeometry(call.geometry)

    def convolve(self, inputs: Any) -> Any:
        """Return the Conv2DBackpropInput node; its first input is the shape of the output."""
        windows, input_shape = self._windows(), tuple(inputs.shape)
        sizes: list[Any] = list(self.compute_output_shape(input_shape))
        forward = self.geometry(self._known(input_shape)).forward  # type: ignore[union-attr]
        if self.output_padding is not None:  # TensorFlow's words know only one size: crop explicitly
            windows["padding"] = tuple(
                (axis.pad_before, max(0, axis.pad_after)) for axis in (forward.rows, forward.cols)
            )
        first = self.layout.index("H")
        for axis, law in (first, forward.rows), (first + 1, forward.cols):
            if sizes[axis] is None:  # the output grows by the stride with each row of the input
                sizes[axis] = size(inputs, axis) * law.stride + (law.in_size - law.out_size * law.stride)
        sizes[0] = size(inputs, 0)
        if any(map(is_tensor, sizes)):
            sizes = stack(sizes)
        return nn.conv2d_transpose(inputs, self.kernel, sizes, **windows)


def _below_strides(output_padding: Any, strides: tuple[int, ...]) -> Pair:
    """Return output_padding as (rows, cols); raise unless each is from 0 to below its stride, as in Keras."""
    rows, cols = ints(output_padding, "output_padding", 2, least=0)
    if rows >= strides[0] or cols >= strides[1]:
        raise ArgumentError(f"output_padding must be below strides {strides}; got {brief(output_padding)}")
    return rows, cols
