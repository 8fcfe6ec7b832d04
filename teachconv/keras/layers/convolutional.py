"""The layers that convolve, over one, two or three axes, plainly, by channel, separably and transposed.

Keras: keras/src/layers/convolutional. Each call is three nodes: the convolution, BiasAdd and the
activation. The shape of the output follows from the geometry, as everywhere in teachconv. The layers over
two axes describe the arguments; those over one and three axes differ only in their rank.
"""

from __future__ import annotations

from typing import Any, Literal

from ...core.arguments import normalize_output_padding, normalize_steps, other_order, positive, truth
from ...core.geometry import ConvGeometry, ConvTransposeGeometry, conv_geometry
from ...core.kinds import AXES, layout_of
from ...dialects.keras import transposed_axis
from ...graph import expand_dims, is_tensor, nn, squeeze, stack
from ...support.argument_types import Ints, KerasPadding
from ...support.errors import ArgumentError, brief
from .. import activations
from .layer import Shape, size
from .pooling import Geometry, Windowed

_CONV = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}  # by rank
_TRANSPOSE = {1: nn.conv1d_transpose, 2: nn.conv2d_transpose, 3: nn.conv3d_transpose}


class Convolution(Windowed):
    """The base class: arguments, weights, and the bias and activation after the convolution."""

    _casts_integers = True
    _either_stride_or_dilation = True  # as in Keras, whose depthwise layers take both
    activation = activations.Replaceable()

    def __init__(
        self,
        kernel_size: Any,
        strides: Any,
        padding: Any,
        data_format: Any,
        dilation_rate: Any,
        activation: Any,
        use_bias: bool,
        bias_initializer: Any,
        more: dict[str, Any],
    ):
        self.dilation_rate = normalize_steps(dilation_rate, "dilation_rate", layout_of("input", self._rank))
        self.activation = activation
        self.use_bias = truth(use_bias, "use_bias")
        self.bias_initializer = bias_initializer
        super().__init__(kernel_size, "kernel_size", strides, padding, data_format, **more)
        if self._either_stride_or_dilation and max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ArgumentError(
                "strides above 1 do not go with a dilation_rate above 1, as in Keras; got "
                f"{self.strides} and {self.dilation_rate}"
            )

    @property
    def kernel_size(self) -> tuple[int, ...]:
        """The size of the filter: (rows, cols) for images."""
        return self.window

    def kernel_shapes(self, channels: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each filter by its name, for an input with ``channels`` channels."""
        raise NotImplementedError

    def build(self, input_shape: Shape) -> None:
        """Make the filters and the bias."""
        channels = self.channels(input_shape)
        for name, shape in self.kernel_shapes(channels).items():
            initializer = getattr(self, f"{name.removesuffix('_kernel')}_initializer")
            setattr(self, name, self.add_weight(shape, initializer, name=name))
        sizes = (self.out_channels(channels),)
        self.bias = self.add_weight(sizes, self.bias_initializer, name="bias") if self.use_bias else None

    def check_weights(self, input_shape: Shape) -> None:
        """Raise unless the input has the channels that the filters were made for."""
        for name, wanted in self.kernel_shapes(self.channels(input_shape)).items():
            made = tuple(getattr(self, name).shape)
            if made != wanted:
                channels = self.channels(self.input_shape) if self.input_shape else None
                hint = other_order(input_shape, self.layout, channels)
                raise ArgumentError(
                    f"its {name} is {list(made)}, and such an input needs {list(wanted)}{hint}"
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

    def forward_geometry(self, input_shape: tuple[int, ...], filters: tuple[int, ...]) -> ConvGeometry:
        """Return the geometry of a convolution with the layer's windows."""
        padding: Any = self.padding.upper()
        return conv_geometry(input_shape, filters, self.strides, padding, dilations=self.dilation_rate)

    def windows(self) -> dict[str, Any]:
        """Return strides, padding and its kind in TensorFlow's words."""
        return {
            "strides": self.strides,
            "padding": self.padding.upper(),
            "data_format": self.layout,
            "dilations": self.dilation_rate,
        }


class Conv2D(Convolution):
    """Convolves images with filters that are learned: one Conv2D node.

    Args:
        filters: the number of filters, which is the number of channels of the output.
        kernel_size: an int or (rows, cols).
        strides: an int or (rows, cols).
        padding: "valid" for none, or "same": with stride 1 the output is as large as the input.
        data_format: "channels_last", "channels_first", or None for channels_last.
        dilation_rate: an int or (rows, cols); 1 means no gaps between the taps.
        groups: the number of groups of channels, which are convolved independently.
        activation: "relu", "sigmoid", ..., a function, or None.
        use_bias: whether a bias is added to each channel.
        kernel_initializer: how the filters begin; [rows, cols, in_channels / groups, filters].
        bias_initializer: how the bias begins; [filters].
        **more: ``name``, ``trainable``, ``dtype``, ``input_shape``, as in `Layer`, and ``kernel_regularizer``
            and ``bias_regularizer``.

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
        strides: Ints = 1,
        padding: KerasPadding | Literal["causal"] = "valid",  # causal is of `Conv1D`
        data_format: str | None = None,
        dilation_rate: Any = 1,
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
        self.kernel_initializer = kernel_initializer
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, bias_initializer, more)

    def out_channels(self, channels: int) -> int:
        """Return the number of filters."""
        return self.filters

    def kernel_shapes(self, channels: int) -> dict[str, tuple[int, ...]]:
        """Return that of the filters, ``[*taps, in_channels / groups, filters]``."""
        if channels % self.groups:
            raise ArgumentError(f"groups {self.groups} must divide the {channels} channels")
        return {"kernel": (*self.window, channels // self.groups, self.filters)}

    def geometry(self, input_shape: tuple[int, ...]) -> Geometry:
        """Return the geometry, as `teachconv.conv_geometry`."""
        return self.forward_geometry(input_shape, self.kernel_shapes(input_shape[-1])["kernel"])

    def convolve(self, inputs: Any) -> Any:
        """Return the Conv2D or Conv3D node."""
        return _CONV[self._rank](inputs, self.kernel, **self.windows())


class Conv1D(Conv2D, rank=1):
    """Convolves signals with filters that are learned: one Conv2D node, of images of one row.

    Args:
        filters, groups, activation, use_bias, kernel_initializer, bias_initializer: as in `Conv2D`.
        kernel_size, strides, dilation_rate: an int.
        padding: "valid", "same", or "causal", which pads (kernel_size - 1) * dilation_rate cells before the
            signal and none after: no output depends on what comes later.
        data_format: as in `Conv2D`.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> layer = keras.layers.Conv1D(1, 3, padding="causal", use_bias=False, kernel_initializer="ones")
    >>> layer([[[1.0], [2.0], [4.0], [8.0]]]).numpy().ravel().tolist()
    [1.0, 3.0, 7.0, 14.0]
    """

    _paddings = ("valid", "same", "causal")


class Conv3D(Conv2D, rank=3):
    """Convolves volumes with filters that are learned: one Conv3D node; arguments as in `Conv2D`.

    >>> from teachconv import keras
    >>> keras.layers.Conv3D(4, 3, strides=2, padding="same", input_shape=(8, 8, 6, 1)).output_shape
    (None, 4, 4, 3, 4)
    """


class DepthwiseConv2D(Convolution):
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

    _either_stride_or_dilation = False

    def __init__(
        self,
        kernel_size: Any,
        strides: Ints = 1,
        padding: KerasPadding = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.depth_multiplier = positive(depth_multiplier, "depth_multiplier")
        self.kernel_initializer = self.depthwise_initializer = depthwise_initializer
        more["kernel_regularizer"] = more.pop("depthwise_regularizer", None)
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, bias_initializer, more)

    def out_channels(self, channels: int) -> int:
        """Return depth_multiplier channels for each one of the input."""
        return channels * self.depth_multiplier

    def kernel_shapes(self, channels: int) -> dict[str, tuple[int, ...]]:
        """Return that of the filters, ``[*taps, in_channels, depth_multiplier]``."""
        return {"kernel": (*self.window, channels, self.depth_multiplier)}

    def geometry(self, input_shape: tuple[int, ...]) -> Geometry:
        """Return the geometry of the convolution with one group for each channel."""
        filters = (*self.window, 1, input_shape[-1] * self.depth_multiplier)
        return self.forward_geometry(input_shape, filters)

    def convolve(self, inputs: Any) -> Any:
        """Return the DepthwiseConv2dNative node."""
        return self.by_channel(inputs, self.kernel)

    def by_channel(self, inputs: Any, kernel: Any) -> Any:
        """Return the convolution of each channel with its filters; of signals, that of images of one row."""
        windows = self.windows()
        if self._rank == 2:
            return nn.depthwise_conv2d(inputs, kernel, **windows)
        row = self.layout.index("W")
        windows |= {key: (1, *windows[key]) for key in ("strides", "dilations")}
        images = expand_dims(inputs, row)
        windows["data_format"] = self.layout.replace("W", "HW")
        return squeeze(nn.depthwise_conv2d(images, expand_dims(kernel, 0), **windows), [row])


class DepthwiseConv1D(DepthwiseConv2D, rank=1):
    """Convolves each channel of signals with filters of its own; arguments as in `DepthwiseConv2D`.

    >>> from teachconv import keras
    >>> keras.layers.DepthwiseConv1D(3, depth_multiplier=2, input_shape=(8, 3)).output_shape
    (None, 6, 6)
    """


class SeparableConv2D(DepthwiseConv2D):
    """Convolves each channel with filters of its own, and mixes the channels of each cell: two nodes.

    F. Chollet, Xception: deep learning with depthwise separable convolutions, 2017. It has fewer weights
    than a `Conv2D` of the same size: taps · in · multiplier + in · multiplier · filters.

    Args:
        filters: the number of channels of the output.
        kernel_size, strides, padding, data_format, dilation_rate: as in `Conv2D`, for the first of the two.
        depth_multiplier: as in `DepthwiseConv2D`.
        activation, use_bias, bias_initializer: as in `Conv2D`, after the second.
        depthwise_initializer: how the filters of the channels begin.
        pointwise_initializer: how the filters of one tap begin.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> from teachconv import keras
    >>> separable = keras.layers.SeparableConv2D(16, 3, input_shape=(8, 8, 4))
    >>> separable.count_params(), keras.layers.Conv2D(16, 3, input_shape=(8, 8, 4)).count_params()
    (116, 592)
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Ints = 1,
        padding: KerasPadding = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.filters = positive(filters, "filters")
        self.depth_multiplier = positive(depth_multiplier, "depth_multiplier")
        self.depthwise_initializer, self.pointwise_initializer = depthwise_initializer, pointwise_initializer
        windows = kernel_size, strides, padding, data_format, dilation_rate
        Convolution.__init__(self, *windows, activation, use_bias, bias_initializer, more)

    out_channels = Conv2D.out_channels

    def kernel_shapes(self, channels: int) -> dict[str, tuple[int, ...]]:
        """Return those of the filters of the channels, and of the filters of one tap."""
        between = channels * self.depth_multiplier
        return {
            "depthwise_kernel": (*self.window, channels, self.depth_multiplier),
            "pointwise_kernel": (*(1,) * self._rank, between, self.filters),
        }

    def geometries(self, input_shape: Shape) -> list[Geometry]:
        """Return the geometries of the two convolutions."""
        found = super().geometries(input_shape)
        return found + [
            conv_geometry(g.output_shape, (*(1,) * self._rank, g.output_shape[-1], self.filters))
            for g in found
        ]

    def convolve(self, inputs: Any) -> Any:
        """Return the convolution of the cells after that of the channels."""
        between = self.by_channel(inputs, self.depthwise_kernel)
        return _CONV[self._rank](between, self.pointwise_kernel, data_format=self.layout)


class SeparableConv1D(SeparableConv2D, rank=1):
    """Convolves each channel of signals, and mixes the channels; arguments as in `SeparableConv2D`."""


class Conv2DTranspose(Conv2D):
    """Applies the transpose of a convolution: one Conv2DBackpropInput node.

    With "same" the output is strides times as large as the input. If the kernel size is not a multiple of the
    strides, output cells sum different numbers of products, which shows as a checkerboard.

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

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Ints = 1,
        padding: KerasPadding = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        self.output_padding = None if output_padding is None else self._below_strides(output_padding, strides)
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(
            filters, *windows, 1, activation, use_bias, kernel_initializer, bias_initializer, **more
        )

    def _below_strides(self, output_padding: Any, strides: Any) -> tuple[int, ...]:
        """Return output_padding, one for each axis; raise unless it is below the strides, as in Keras."""
        layout = layout_of("input", self._rank)
        extra, steps = (
            normalize_output_padding(output_padding, layout),
            normalize_steps(strides, "strides", layout),
        )
        if any(not 0 <= size < stride for size, stride in zip(extra, steps, strict=True)):
            raise ArgumentError(
                f"output_padding must be from 0 to below strides {steps}; got {brief(output_padding)}"
            )
        return extra

    def kernel_shapes(self, channels: int) -> dict[str, tuple[int, ...]]:
        """Return that of the filters, ``[*taps, filters, in_channels]``."""
        return {"kernel": (*self.window, self.filters, channels)}

    def geometry(self, input_shape: tuple[int, ...]) -> ConvTransposeGeometry:
        """Return the geometry that Keras' words resolve to, axis by axis."""
        batch, *sizes, channels = input_shape
        extra = self.output_padding or (None,) * self._rank
        facts = sizes, self.window, self.strides, self.dilation_rate, extra
        mode, names = self.padding.upper(), AXES[-self._rank :]
        axes = tuple(transposed_axis(mode, *each) for each in zip(names, *facts, strict=True))
        return ConvTransposeGeometry(ConvGeometry(batch, axes, self.filters, channels, 1))

    def convolve(self, inputs: Any) -> Any:
        """Return the node of the gradient; its first input is the shape of the output."""
        windows, input_shape = self.windows(), tuple(inputs.shape)
        sizes: list[Any] = list(self.compute_output_shape(input_shape))
        laws = self.geometry(self._known(input_shape)).forward.axes
        if self.output_padding is not None:  # TensorFlow's padding words allow only one size: crop explicitly
            windows["padding"] = tuple((axis.pad_before, max(0, axis.pad_after)) for axis in laws)
        for axis, law in enumerate(laws, 1 if self.layout[-1] == "C" else 2):
            if sizes[axis] is None:  # the output grows by the stride with each cell of the input
                sizes[axis] = size(inputs, axis) * law.stride + (law.in_size - law.out_size * law.stride)
        sizes[0] = size(inputs, 0)
        if any(map(is_tensor, sizes)):
            sizes = stack(sizes)
        return _TRANSPOSE[self._rank](inputs, self.kernel, sizes, **windows)


class Conv1DTranspose(Conv2DTranspose, rank=1):
    """Applies the transpose of a convolution to signals; arguments as in `Conv2DTranspose`, of one axis.

    >>> from teachconv import keras
    >>> keras.layers.Conv1DTranspose(1, 3, strides=2, padding="same", input_shape=(4, 8)).output_shape
    (None, 8, 1)
    """


class Conv3DTranspose(Conv2DTranspose, rank=3):
    """Applies the transpose of a convolution to volumes: one Conv3DBackpropInputV2 node.

    Arguments as in `Conv2DTranspose`, but ``data_format`` comes before ``output_padding``, as in Keras.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Ints = 1,
        padding: KerasPadding = "valid",
        data_format: str | None = None,
        output_padding: Any = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        **more: Any,
    ):
        rest = dilation_rate, activation, use_bias, kernel_initializer, bias_initializer
        super().__init__(filters, kernel_size, strides, padding, output_padding, data_format, *rest, **more)
