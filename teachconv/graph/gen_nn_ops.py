"""The ops as Python functions. GENERATED from core_ops.py by op_gen.py: do not edit.

    python -m teachconv.graph.op_gen

TensorFlow: python/ops/gen_nn_ops.py, gen_math_ops.py, gen_array_ops.py and gen_state_ops.py, which are
generated when TensorFlow is built and are in no repository. Each function adds a node to the default
graph or, where there is none, runs the op at once.
"""

from __future__ import annotations

from typing import Any

from . import op_def_library
from .context import executing_eagerly
from .execute import execute

__all__ = [
    "add",
    "assign",
    "avg_pool",
    "bias_add",
    "const",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "depthwise_conv2d_native",
    "identity",
    "mat_mul",
    "max_pool",
    "mean",
    "mul",
    "no_op",
    "pad",
    "placeholder",
    "relu",
    "reshape",
    "softmax",
    "square",
    "sub",
    "sum",
    "transpose",
    "variable",
]


def add(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x + y, broadcast.

    Op Add; input x: T; input y: T; output z: T; attribute T: {float16, bfloat16, float32, float64,
    int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Add", inputs, attrs)
    return op_def_library.apply_op("Add", name, inputs, attrs)


def assign(
    ref: Any,
    value: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Gives a variable a new value, and returns the reference for those who want it after that.

    Op Assign; input ref: Ref(T); input value: T; output output_ref: Ref(T); attribute T: {float16,
    bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [ref, value]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Assign", inputs, attrs)
    return op_def_library.apply_op("Assign", name, inputs, attrs)


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the mean of each window; cells in the padding are not counted.

    Op AvgPool; input value: T; output output: T; attribute T: {float16, bfloat16, float32, float64};
    attribute ksize: list(int); attribute strides: list(int); attribute padding: {SAME, VALID,
    SAME_LOWER}; attribute data_format: {NHWC, NCHW} = 'NHWC'.
    """
    inputs: list[Any] = [value]
    attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("AvgPool", inputs, attrs)
    return op_def_library.apply_op("AvgPool", name, inputs, attrs)


def bias_add(
    value: Any,
    bias: Any,
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Adds one number to each channel.

    Op BiasAdd; input value: T; input bias: T; output output: T; attribute T: {float16, bfloat16,
    float32, float64, int32, int64}; attribute data_format: {NHWC, NCHW} = 'NHWC'.
    """
    inputs: list[Any] = [value, bias]
    attrs: dict[str, Any] = {"data_format": data_format, "_kernel": _kernel}
    if executing_eagerly():
        return execute("BiasAdd", inputs, attrs)
    return op_def_library.apply_op("BiasAdd", name, inputs, attrs)


def const(
    value: Any,
    dtype: Any,
    name: str | None = None,
) -> Any:
    """Returns the same value in each run.

    Op Const; output output: dtype; attribute value: tensor; attribute dtype: {float16, bfloat16,
    float32, float64, int32, int64}.
    """
    inputs: list[Any] = []
    attrs: dict[str, Any] = {"value": value, "dtype": dtype}
    if executing_eagerly():
        return execute("Const", inputs, attrs)
    return op_def_library.apply_op("Const", name, inputs, attrs)


def conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Convolves images with filters (a cross-correlation).

    Op Conv2D; input input: T; input filter: T; output output: T; attribute T: {float16, bfloat16,
    float32, float64, int32, int64}; attribute strides: list(int); attribute padding: {SAME, VALID,
    SAME_LOWER, EXPLICIT}; attribute explicit_paddings: list(int) = (); attribute data_format: {NHWC,
    NCHW} = 'NHWC'; attribute dilations: list(int) = (1, 1, 1, 1).
    """
    inputs: list[Any] = [input, filter]
    attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Conv2D", inputs, attrs)
    return op_def_library.apply_op("Conv2D", name, inputs, attrs)


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradient of Conv2D in its filter.

    Op Conv2DBackpropFilter; input input: T; input filter_sizes: int32; input out_backprop: T; output
    output: T; attribute T: {float16, bfloat16, float32, float64, int32, int64}; attribute strides:
    list(int); attribute padding: {SAME, VALID, SAME_LOWER, EXPLICIT}; attribute explicit_paddings:
    list(int) = (); attribute data_format: {NHWC, NCHW} = 'NHWC'; attribute dilations: list(int) = (1, 1,
    1, 1).
    """
    inputs: list[Any] = [input, filter_sizes, out_backprop]
    attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Conv2DBackpropFilter", inputs, attrs)
    return op_def_library.apply_op("Conv2DBackpropFilter", name, inputs, attrs)


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradient of Conv2D in its input; this is conv2d_transpose.

    Op Conv2DBackpropInput; input input_sizes: int32; input filter: T; input out_backprop: T; output
    output: T; attribute T: {float16, bfloat16, float32, float64, int32, int64}; attribute strides:
    list(int); attribute padding: {SAME, VALID, SAME_LOWER, EXPLICIT}; attribute explicit_paddings:
    list(int) = (); attribute data_format: {NHWC, NCHW} = 'NHWC'; attribute dilations: list(int) = (1, 1,
    1, 1).
    """
    inputs: list[Any] = [input_sizes, filter, out_backprop]
    attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Conv2DBackpropInput", inputs, attrs)
    return op_def_library.apply_op("Conv2DBackpropInput", name, inputs, attrs)


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Convolves each channel with filters of its own.

    Op DepthwiseConv2dNative; input input: T; input filter: T; output output: T; attribute T: {float16,
    bfloat16, float32, float64, int32, int64}; attribute strides: list(int); attribute padding: {SAME,
    VALID, SAME_LOWER, EXPLICIT}; attribute explicit_paddings: list(int) = (); attribute data_format:
    {NHWC, NCHW} = 'NHWC'; attribute dilations: list(int) = (1, 1, 1, 1).
    """
    inputs: list[Any] = [input, filter]
    attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("DepthwiseConv2dNative", inputs, attrs)
    return op_def_library.apply_op("DepthwiseConv2dNative", name, inputs, attrs)


def identity(
    input: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns its input; of a variable, the value that it has at this moment.

    Op Identity; input input: T; output output: T; attribute T: {float16, bfloat16, float32, float64,
    int32, int64}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Identity", inputs, attrs)
    return op_def_library.apply_op("Identity", name, inputs, attrs)


def mat_mul(
    a: Any,
    b: Any,
    transpose_a: Any = False,
    transpose_b: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Multiplies two matrices.

    Op MatMul; input a: T; input b: T; output product: T; attribute transpose_a: bool = False; attribute
    transpose_b: bool = False; attribute T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [a, b]
    attrs: dict[str, Any] = {"transpose_a": transpose_a, "transpose_b": transpose_b, "_kernel": _kernel}
    if executing_eagerly():
        return execute("MatMul", inputs, attrs)
    return op_def_library.apply_op("MatMul", name, inputs, attrs)


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the largest value of each window; padding never wins.

    Op MaxPool; input input: T; output output: T; attribute T: {float16, bfloat16, float32, float64,
    int32, int64}; attribute ksize: list(int); attribute strides: list(int); attribute padding: {SAME,
    VALID, SAME_LOWER, EXPLICIT}; attribute explicit_paddings: list(int) = (); attribute data_format:
    {NHWC, NCHW} = 'NHWC'.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("MaxPool", inputs, attrs)
    return op_def_library.apply_op("MaxPool", name, inputs, attrs)


def mean(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the mean over axes; of integers, rounded towards zero.

    Op Mean; input input: T; input reduction_indices: Tidx; output output: T; attribute keep_dims: bool =
    False; attribute T: {float16, bfloat16, float32, float64, int32, int64}; attribute Tidx: {int32,
    int64} = 'int32'.
    """
    inputs: list[Any] = [input, reduction_indices]
    attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Mean", inputs, attrs)
    return op_def_library.apply_op("Mean", name, inputs, attrs)


def mul(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x * y, broadcast.

    Op Mul; input x: T; input y: T; output z: T; attribute T: {float16, bfloat16, float32, float64,
    int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Mul", inputs, attrs)
    return op_def_library.apply_op("Mul", name, inputs, attrs)


def no_op(
    name: str | None = None,
) -> Any:
    """Does nothing: a place for control dependencies, as of `group`.

    Op NoOp.
    """
    inputs: list[Any] = []
    attrs: dict[str, Any] = {}
    if executing_eagerly():
        return execute("NoOp", inputs, attrs)
    return op_def_library.apply_op("NoOp", name, inputs, attrs)


def pad(
    input: Any,
    paddings: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Puts zeros before and after along each axis.

    Op Pad; input input: T; input paddings: Tpaddings; output output: T; attribute T: {float16, bfloat16,
    float32, float64, int32, int64}; attribute Tpaddings: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [input, paddings]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Pad", inputs, attrs)
    return op_def_library.apply_op("Pad", name, inputs, attrs)


def placeholder(
    dtype: Any,
    shape: Any = None,
    name: str | None = None,
) -> Any:
    """Stands for a value that is fed to each run.

    Op Placeholder; output output: dtype; attribute dtype: {float16, bfloat16, float32, float64, int32,
    int64}; attribute shape: shape = None.
    """
    inputs: list[Any] = []
    attrs: dict[str, Any] = {"dtype": dtype, "shape": shape}
    if executing_eagerly():
        return execute("Placeholder", inputs, attrs)
    return op_def_library.apply_op("Placeholder", name, inputs, attrs)


def relu(
    features: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns max(features, 0), element by element.

    Op Relu; input features: T; output activations: T; attribute T: {float16, bfloat16, float32, float64,
    int32, int64}.
    """
    inputs: list[Any] = [features]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Relu", inputs, attrs)
    return op_def_library.apply_op("Relu", name, inputs, attrs)


def reshape(
    tensor: Any,
    shape: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the same elements, in the same order, in another shape.

    Op Reshape; input tensor: T; input shape: Tshape; output output: T; attribute T: {float16, bfloat16,
    float32, float64, int32, int64}; attribute Tshape: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [tensor, shape]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Reshape", inputs, attrs)
    return op_def_library.apply_op("Reshape", name, inputs, attrs)


def softmax(
    logits: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns exp(logits) divided by its sum over the last axis.

    Op Softmax; input logits: T; output softmax: T; attribute T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [logits]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Softmax", inputs, attrs)
    return op_def_library.apply_op("Softmax", name, inputs, attrs)


def square(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x * x.

    Op Square; input x: T; output y: T; attribute T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Square", inputs, attrs)
    return op_def_library.apply_op("Square", name, inputs, attrs)


def sub(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x - y, broadcast.

    Op Sub; input x: T; input y: T; output z: T; attribute T: {float16, bfloat16, float32, float64,
    int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sub", inputs, attrs)
    return op_def_library.apply_op("Sub", name, inputs, attrs)


def sum(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the sum over axes.

    Op Sum; input input: T; input reduction_indices: Tidx; output output: T; attribute keep_dims: bool =
    False; attribute T: {float16, bfloat16, float32, float64, int32, int64}; attribute Tidx: {int32,
    int64} = 'int32'.
    """
    inputs: list[Any] = [input, reduction_indices]
    attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Sum", inputs, attrs)
    return op_def_library.apply_op("Sum", name, inputs, attrs)


def transpose(
    x: Any,
    perm: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the axes in another order.

    Op Transpose; input x: T; input perm: Tperm; output y: T; attribute T: {float16, bfloat16, float32,
    float64, int32, int64}; attribute Tperm: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [x, perm]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Transpose", inputs, attrs)
    return op_def_library.apply_op("Transpose", name, inputs, attrs)


def variable(
    shape: Any,
    dtype: Any,
    name: str | None = None,
) -> Any:
    """Refers to a value that outlives the run; the session keeps it, not the node.

    Op Variable; output ref: Ref(dtype); attribute shape: shape; attribute dtype: {float16, bfloat16,
    float32, float64, int32, int64}.
    """
    inputs: list[Any] = []
    attrs: dict[str, Any] = {"shape": shape, "dtype": dtype}
    if executing_eagerly():
        return execute("Variable", inputs, attrs)
    return op_def_library.apply_op("Variable", name, inputs, attrs)
