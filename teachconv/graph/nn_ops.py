"""The ops of networks as one calls them: thin wrappers that normalise arguments and compute nothing.

TensorFlow: python/ops/nn_ops.py, nn_impl.py and the tf.nn module. One reads such a function, finds no
loop, and follows it to the generated wrapper (gen_nn_ops.py), which computes nothing either; from there
`find_source` goes on. Inside a graph each returns a tensor, elsewhere an array.
"""

from __future__ import annotations

from typing import Any

from ..arguments import check_data_format, normalize_padding, normalize_pair
from ..errors import ArgumentError
from ..geometry import conv2d_transpose_geometry
from . import gen_nn_ops
from .ops import composite
from .tensor_shape import is_fully_defined
from .tensor_util import to_array

__all__ = [
    "avg_pool",
    "bias_add",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "depthwise_conv2d",
    "max_pool",
    "relu",
    "softmax",
]


def conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Convolve images with filters, as tf.nn.conv2d: a node Conv2D, or its result.

    Arguments are those of `teachconv.conv2d`; ``input`` and ``filters`` may be tensors, variables or
    arrays. ``backend`` is the label of the kernel: the name of one of teachconv's backends.

    >>> from teachconv import graph as tg
    >>> import numpy as np
    >>> with tg.Graph().as_default():
    ...     x = tg.placeholder("float32", [None, 8, 8, 1])
    ...     tg.nn.conv2d(x, np.ones((3, 3, 1, 4), "float32"), 2, "SAME")
    <Tensor 'Conv2D:0' shape=[?, 4, 4, 4] dtype=float32>
    """
    return gen_nn_ops.conv2d(
        input, filters, **_windows(strides, padding, data_format, dilations), name=name, _kernel=backend
    )


def depthwise_conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Convolve each channel with filters of its own, as tf.nn.depthwise_conv2d.

    ``filters`` is [filter_rows, filter_cols, in_channels, channel_multiplier].
    """
    windows = _windows(strides, padding, data_format, dilations)
    return gen_nn_ops.depthwise_conv2d_native(
        input, filters, **windows, name=name or "depthwise", _kernel=backend
    )


@composite
def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any = None,
    strides: Any = 1,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Apply the transpose of a convolution, as tf.nn.conv2d_transpose: a node Conv2DBackpropInput.

    There is no op of its own for it: it *is* the gradient of Conv2D in its input. ``filters`` is
    [filter_rows, filter_cols, out_channels, in_channels]; ``output_shape`` 4 ints or an int32 tensor.
    Without it the size is that of `teachconv.conv2d_transpose`, for which the input's static shape must
    be known.

    >>> from teachconv import graph as tg
    >>> import numpy as np
    >>> tg.nn.conv2d_transpose(np.ones((1, 1, 2, 1), "int32"), np.ones((1, 2, 1, 1), "int32"),
    ...                        strides=(1, 2), padding="VALID").ravel().tolist()
    [1, 1, 1, 1]
    """
    windows = _windows(strides, padding, data_format, dilations)
    shapes = _static_shape(input), _static_shape(filters)
    known = all(is_fully_defined(shape) for shape in shapes)
    given = output_shape is not None and not hasattr(output_shape, "op")
    if output_shape is None and not known:
        raise ArgumentError(
            "output_shape must be given where the shapes of input and filters are not fully known: 4 ints, "
            f"or an int32 tensor that is fed; input is {shapes[0]}, filters {shapes[1]}"
        )
    if known and (output_shape is None or given):  # says which sizes are legal, where this one is not
        geometry = conv2d_transpose_geometry(
            shapes[0],
            shapes[1],
            output_shape,
            strides,
            padding,
            data_format,
            dilations,
        )
        output_shape = list(geometry.output_shape)
    return gen_nn_ops.conv2d_backprop_input(
        output_shape, filters, input, **windows, name=name or "conv2d_transpose", _kernel=backend
    )


def conv2d_backprop_input(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv2d` in its input, which has the shape ``input_sizes``."""
    windows = _windows(strides, padding, data_format, dilations)
    return gen_nn_ops.conv2d_backprop_input(
        input_sizes, filters, out_backprop, **windows, name=name, _kernel=backend
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv2d` in its filters, which have the shape ``filter_sizes``."""
    windows = _windows(strides, padding, data_format, dilations)
    return gen_nn_ops.conv2d_backprop_filter(
        input, filter_sizes, out_backprop, **windows, name=name, _kernel=backend
    )


def bias_add(value: Any, bias: Any, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Add one number to each channel, as tf.nn.bias_add; ``bias`` is [channels]."""
    return gen_nn_ops.bias_add(value, bias, data_format=check_data_format(data_format), name=name)


def relu(features: Any, name: str | None = None) -> Any:
    """Return max(features, 0), as tf.nn.relu."""
    return gen_nn_ops.relu(features, name=name)


def softmax(logits: Any, name: str | None = None) -> Any:
    """Return exp(logits) over its sum along the last axis, as tf.nn.softmax."""
    return gen_nn_ops.softmax(logits, name=name)


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """Return the largest value of each window, as tf.nn.max_pool2d.

    ``ksize`` and ``strides`` are an int, (rows, cols) or 4 ints in ``data_format`` order, ``padding`` as
    in `conv2d`; padding never wins, even over negative values.

    >>> import numpy as np
    >>> max_pool(np.float32([-1, -2, -3]).reshape(1, 1, 3, 1), 2, 2, "SAME").ravel().tolist()
    [-1.0, -3.0]
    """
    windows = _windows(strides, padding, data_format, None, ksize)
    return gen_nn_ops.max_pool(input, **windows, name=name)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """Return the mean of each window, as tf.nn.avg_pool2d; cells in the padding are not counted.

    ``padding`` is "SAME", "VALID" or "SAME_LOWER"; the rest is as in `max_pool`.

    >>> import numpy as np
    >>> avg_pool(np.float32([1, 2, 3]).reshape(1, 1, 3, 1), 2, 2, "SAME").ravel().tolist()
    [1.5, 3.0]
    """
    windows = _windows(strides, padding, data_format, None, ksize)
    if windows.pop("explicit_paddings"):
        raise ArgumentError(f'padding of avg_pool must be "SAME", "VALID" or "SAME_LOWER"; got {padding!r}')
    return gen_nn_ops.avg_pool(input, **windows, name=name)


def _windows(
    strides: Any, padding: Any, data_format: str, dilations: Any, ksize: Any = None
) -> dict[str, Any]:
    """The attributes of a windowed op in TensorFlow's form: lists of 4, explicit pads as a list of 8."""
    layout = check_data_format(data_format)
    mode, (rows, cols) = normalize_padding(padding, layout)
    attrs: dict[str, Any] = {
        "strides": _list_of_4(normalize_pair(strides, "strides", layout), layout),
        "padding": mode,
        "explicit_paddings": _list_of_8(rows, cols, layout) if mode == "EXPLICIT" else [],
        "data_format": layout,
    }
    if ksize is None:
        attrs["dilations"] = _list_of_4(normalize_pair(dilations, "dilations", layout), layout)
    else:
        attrs["ksize"] = _list_of_4(normalize_pair(ksize, "ksize", layout), layout)
    return attrs


def _list_of_4(pair: tuple[int, int], data_format: str) -> list[int]:
    return [1, 1, *pair] if data_format == "NCHW" else [1, *pair, 1]


def _list_of_8(rows: tuple[int, int], cols: tuple[int, int], data_format: str) -> list[int]:
    return [0, 0, 0, 0, *rows, *cols] if data_format == "NCHW" else [0, 0, *rows, *cols, 0, 0]


def _static_shape(value: Any) -> Any:
    """The shape of a tensor, a variable, an array or nested lists."""
    if hasattr(value, "shape"):
        return value.shape
    return to_array(value, None, "input").shape
