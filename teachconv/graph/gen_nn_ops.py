"""The ops as Python functions. GENERATED from core_ops.py by op_gen.py: do not edit.

    python -m teachconv.graph.op_gen

TensorFlow: python/ops/gen_nn_ops.py, gen_math_ops.py, gen_array_ops.py and gen_state_ops.py, which are
generated when TensorFlow is built and are in no repository. Each function adds a node to the default
graph or, if there is none, runs the op immediately. T stands for the dtype of the inputs.
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
    """Returns x + y with broadcasting.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op Add; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Assigns a new value to a variable and returns the reference.

    Args:
        ref: input, reference to a variable of type T.
        value: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output_ref, reference to a variable of type T.

    Op Assign; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
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
    """Returns the mean of each window; padding is not counted.

    Args:
        value: input, of type T.
        ksize: attribute, list(int).
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER}.
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op AvgPool; T: {float16, bfloat16, float32, float64}.
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

    Args:
        value: input, of type T.
        bias: input, of type T.
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op BiasAdd; T: {float16, bfloat16, float32, float64, int32, int64}.
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

    Args:
        value: attribute, tensor.
        dtype: attribute, {float16, bfloat16, float32, float64, int32, int64, bool}.
        name: name of the node.

    Returns:
        The output output, of type dtype.

    Op Const.
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

    Args:
        input: input, of type T.
        filter: input, of type T.
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        dilations: attribute, list(int) = (1, 1, 1, 1).
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Conv2D; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Returns the gradient of Conv2D with respect to its filter.

    Args:
        input: input, of type T.
        filter_sizes: input, of type int32.
        out_backprop: input, of type T.
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        dilations: attribute, list(int) = (1, 1, 1, 1).
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Conv2DBackpropFilter; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Returns the gradient of Conv2D with respect to its input; this is conv2d_transpose.

    Args:
        input_sizes: input, of type int32.
        filter: input, of type T.
        out_backprop: input, of type T.
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        dilations: attribute, list(int) = (1, 1, 1, 1).
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Conv2DBackpropInput; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Convolves each channel with its own filters.

    Args:
        input: input, of type T.
        filter: input, of type T.
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        dilations: attribute, list(int) = (1, 1, 1, 1).
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op DepthwiseConv2dNative; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Returns its input; for a variable, its current value.

    Args:
        input: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Identity; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
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

    Args:
        a: input, of type T.
        b: input, of type T.
        transpose_a: attribute, bool = False.
        transpose_b: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output product, of type T.

    Op MatMul; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Returns the largest value of each window; padding is ignored.

    Args:
        input: input, of type T.
        ksize: attribute, list(int).
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op MaxPool; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Returns the mean over axes; integer means are rounded towards zero.

    Args:
        input: input, of type T.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Mean; T: {float16, bfloat16, float32, float64, int32, int64}; Tidx: {int32, int64} = 'int32'.
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
    """Returns x * y with broadcasting.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op Mul; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Mul", inputs, attrs)
    return op_def_library.apply_op("Mul", name, inputs, attrs)


def no_op(
    name: str | None = None,
) -> Any:
    """Does nothing; carries control dependencies, as in `group`.

    Args:
        name: name of the node.

    Returns:
        The operation.

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
    """Adds zeros before and after along each axis.

    Args:
        input: input, of type T.
        paddings: input, of type Tpaddings.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Pad; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tpaddings: {int32, int64} =
    'int32'.
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

    Args:
        dtype: attribute, {float16, bfloat16, float32, float64, int32, int64, bool}.
        shape: attribute, shape = None.
        name: name of the node.

    Returns:
        The output output, of type dtype.

    Op Placeholder.
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
    """Returns max(features, 0) element-wise.

    Args:
        features: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output activations, of type T.

    Op Relu; T: {float16, bfloat16, float32, float64, int32, int64}.
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

    Args:
        tensor: input, of type T.
        shape: input, of type Tshape.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Reshape; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tshape: {int32, int64} =
    'int32'.
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

    Args:
        logits: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output softmax, of type T.

    Op Softmax; T: {float16, bfloat16, float32, float64}.
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

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Square; T: {float16, bfloat16, float32, float64, int32, int64}.
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
    """Returns x - y with broadcasting.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op Sub; T: {float16, bfloat16, float32, float64, int32, int64}.
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

    Args:
        input: input, of type T.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Sum; T: {float16, bfloat16, float32, float64, int32, int64}; Tidx: {int32, int64} = 'int32'.
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
    """Returns the input with its axes permuted.

    Args:
        x: input, of type T.
        perm: input, of type Tperm.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Transpose; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tperm: {int32, int64} =
    'int32'.
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
    """Returns a reference to a value that outlives the run; the session stores the value.

    Args:
        shape: attribute, shape.
        dtype: attribute, {float16, bfloat16, float32, float64, int32, int64, bool}.
        name: name of the node.

    Returns:
        The output ref, reference to a variable of type dtype.

    Op Variable.
    """
    inputs: list[Any] = []
    attrs: dict[str, Any] = {"shape": shape, "dtype": dtype}
    if executing_eagerly():
        return execute("Variable", inputs, attrs)
    return op_def_library.apply_op("Variable", name, inputs, attrs)
