"""The ops as Python functions. GENERATED from core_ops/ by op_gen.py: do not edit.

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
    "abs",
    "add",
    "add_n",
    "apply_adam",
    "apply_gradient_descent",
    "apply_momentum",
    "arg_max",
    "assign",
    "assign_add",
    "assign_sub",
    "avg_pool",
    "avg_pool_grad",
    "bias_add",
    "bias_add_grad",
    "broadcast_gradient_args",
    "broadcast_to",
    "cast",
    "concat_offset",
    "concat_v2",
    "const",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dynamic_stitch",
    "equal",
    "exp",
    "expand_dims",
    "fill",
    "floor_div",
    "floor_mod",
    "gather_v2",
    "greater",
    "greater_equal",
    "identity",
    "invert_permutation",
    "less",
    "less_equal",
    "log",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "mat_mul",
    "max",
    "max_pool",
    "max_pool_grad",
    "max_pool_grad_grad",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mul",
    "neg",
    "no_op",
    "not_equal",
    "one_hot",
    "ones_like",
    "pack",
    "pad",
    "placeholder",
    "pow",
    "prod",
    "random_standard_normal",
    "random_uniform",
    "range",
    "rank",
    "real_div",
    "relu",
    "relu_grad",
    "reshape",
    "resize_nearest_neighbor",
    "resize_nearest_neighbor_grad",
    "resource_apply_keras_momentum",
    "rsqrt",
    "rsqrt_grad",
    "select",
    "select_v2",
    "shape",
    "shape_n",
    "sigmoid",
    "sigmoid_grad",
    "sign",
    "size",
    "slice",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
    "sqrt",
    "sqrt_grad",
    "square",
    "squeeze",
    "stop_gradient",
    "sub",
    "sum",
    "tanh",
    "tanh_grad",
    "tile",
    "transpose",
    "truncated_normal",
    "unpack",
    "unsorted_segment_sum",
    "variable",
    "zeros_like",
]


def abs(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the absolute value.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Abs; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Abs", inputs, attrs)
    return op_def_library.apply_op("Abs", name, inputs, attrs)


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


def add_n(
    inputs: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the sum of tensors of one shape.

    Args:
        inputs: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output sum, of type T.

    Op AddN; N: int; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [inputs]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("AddN", inputs, attrs)
    return op_def_library.apply_op("AddN", name, inputs, attrs)


def apply_adam(
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    use_nesterov: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Updates a variable by Adam: averages m of the gradients and v of their squares, then a step.

    Args:
        var: input, reference to a variable of type T.
        m: input, reference to a variable of type T.
        v: input, reference to a variable of type T.
        beta1_power: input, of type T.
        beta2_power: input, of type T.
        lr: input, of type T.
        beta1: input, of type T.
        beta2: input, of type T.
        epsilon: input, of type T.
        grad: input, of type T.
        use_nesterov: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output out, reference to a variable of type T.

    Op ApplyAdam; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad]
    attrs: dict[str, Any] = {"use_nesterov": use_nesterov, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ApplyAdam", inputs, attrs)
    return op_def_library.apply_op("ApplyAdam", name, inputs, attrs)


def apply_gradient_descent(
    var: Any,
    alpha: Any,
    delta: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Subtracts alpha * delta from a variable.

    Args:
        var: input, reference to a variable of type T.
        alpha: input, of type T.
        delta: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output out, reference to a variable of type T.

    Op ApplyGradientDescent; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [var, alpha, delta]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ApplyGradientDescent", inputs, attrs)
    return op_def_library.apply_op("ApplyGradientDescent", name, inputs, attrs)


def apply_momentum(
    var: Any,
    accum: Any,
    lr: Any,
    grad: Any,
    momentum: Any,
    use_nesterov: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Updates accum = momentum * accum + grad, then subtracts lr * accum from the variable.

    Args:
        var: input, reference to a variable of type T.
        accum: input, reference to a variable of type T.
        lr: input, of type T.
        grad: input, of type T.
        momentum: input, of type T.
        use_nesterov: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output out, reference to a variable of type T.

    Op ApplyMomentum; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [var, accum, lr, grad, momentum]
    attrs: dict[str, Any] = {"use_nesterov": use_nesterov, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ApplyMomentum", inputs, attrs)
    return op_def_library.apply_op("ApplyMomentum", name, inputs, attrs)


def arg_max(
    input: Any,
    dimension: Any,
    output_type: Any = "int64",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the position of the largest value along an axis, the first of equal ones.

    Args:
        input: input, of type T.
        dimension: input, of type Tidx.
        output_type: attribute, {int32, int64} = 'int64'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type output_type.

    Op ArgMax; T: {float16, bfloat16, float32, float64, int32, int64}; Tidx: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [input, dimension]
    attrs: dict[str, Any] = {"output_type": output_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ArgMax", inputs, attrs)
    return op_def_library.apply_op("ArgMax", name, inputs, attrs)


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


def assign_add(
    ref: Any,
    value: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Adds a value to a variable and returns the reference.

    Args:
        ref: input, reference to a variable of type T.
        value: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output_ref, reference to a variable of type T.

    Op AssignAdd; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [ref, value]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("AssignAdd", inputs, attrs)
    return op_def_library.apply_op("AssignAdd", name, inputs, attrs)


def assign_sub(
    ref: Any,
    value: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Subtracts a value from a variable and returns the reference.

    Args:
        ref: input, reference to a variable of type T.
        value: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output_ref, reference to a variable of type T.

    Op AssignSub; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [ref, value]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("AssignSub", inputs, attrs)
    return op_def_library.apply_op("AssignSub", name, inputs, attrs)


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


def avg_pool_grad(
    orig_input_shape: Any,
    grad: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Distributes the gradient of each window equally among its cells.

    Args:
        orig_input_shape: input, of type int32.
        grad: input, of type T.
        ksize: attribute, list(int).
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER}.
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op AvgPoolGrad; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [orig_input_shape, grad]
    attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("AvgPoolGrad", inputs, attrs)
    return op_def_library.apply_op("AvgPoolGrad", name, inputs, attrs)


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


def bias_add_grad(
    out_backprop: Any,
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradient of BiasAdd with respect to the bias: the sum over all other axes.

    Args:
        out_backprop: input, of type T.
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op BiasAddGrad; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [out_backprop]
    attrs: dict[str, Any] = {"data_format": data_format, "_kernel": _kernel}
    if executing_eagerly():
        return execute("BiasAddGrad", inputs, attrs)
    return op_def_library.apply_op("BiasAddGrad", name, inputs, attrs)


def broadcast_gradient_args(
    s0: Any,
    s1: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns, for two shapes, the axes along which broadcasting repeated each of them.

    Args:
        s0: input, of type T.
        s1: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output r0, of type T.
        The output r1, of type T.

    Op BroadcastGradientArgs; T: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [s0, s1]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("BroadcastGradientArgs", inputs, attrs)
    return op_def_library.apply_op("BroadcastGradientArgs", name, inputs, attrs)


def broadcast_to(
    input: Any,
    shape: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Expands axes of size 1 to a shape.

    Args:
        input: input, of type T.
        shape: input, of type Tidx.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op BroadcastTo; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tidx: {int32, int64} =
    'int32'.
    """
    inputs: list[Any] = [input, shape]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("BroadcastTo", inputs, attrs)
    return op_def_library.apply_op("BroadcastTo", name, inputs, attrs)


def cast(
    x: Any,
    DstT: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Converts to another dtype; floats are cut off towards zero, bool becomes 0 or 1.

    Args:
        x: input, of type SrcT.
        DstT: attribute, {float16, bfloat16, float32, float64, int32, int64, bool}.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type DstT.

    Op Cast; SrcT: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"DstT": DstT, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Cast", inputs, attrs)
    return op_def_library.apply_op("Cast", name, inputs, attrs)


def concat_offset(
    concat_dim: Any,
    shape: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns where each input of a ConcatV2 starts in its output, for Slice.

    Args:
        concat_dim: input, of type int32.
        shape: input, of type int32.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output offset, of type int32.

    Op ConcatOffset; N: int.
    """
    inputs: list[Any] = [concat_dim, shape]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ConcatOffset", inputs, attrs)
    return op_def_library.apply_op("ConcatOffset", name, inputs, attrs)


def concat_v2(
    values: Any,
    axis: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Joins tensors along an axis.

    Args:
        values: input, of type T.
        axis: input, of type Tidx.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op ConcatV2; N: int; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tidx: {int32,
    int64} = 'int32'.
    """
    inputs: list[Any] = [values, axis]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ConcatV2", inputs, attrs)
    return op_def_library.apply_op("ConcatV2", name, inputs, attrs)


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


def depthwise_conv2d_native_backprop_filter(
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
    """Returns the gradient of DepthwiseConv2dNative with respect to its filter.

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

    Op DepthwiseConv2dNativeBackpropFilter; T: {float16, bfloat16, float32, float64, int32, int64}.
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
        return execute("DepthwiseConv2dNativeBackpropFilter", inputs, attrs)
    return op_def_library.apply_op("DepthwiseConv2dNativeBackpropFilter", name, inputs, attrs)


def depthwise_conv2d_native_backprop_input(
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
    """Returns the gradient of DepthwiseConv2dNative with respect to its input.

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

    Op DepthwiseConv2dNativeBackpropInput; T: {float16, bfloat16, float32, float64, int32, int64}.
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
        return execute("DepthwiseConv2dNativeBackpropInput", inputs, attrs)
    return op_def_library.apply_op("DepthwiseConv2dNativeBackpropInput", name, inputs, attrs)


def dynamic_stitch(
    indices: Any,
    data: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Merges slices into one tensor by their indices; where two are equal the last one stays.

    Args:
        indices: input, of type int32.
        data: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output merged, of type T.

    Op DynamicStitch; N: int; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [indices, data]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("DynamicStitch", inputs, attrs)
    return op_def_library.apply_op("DynamicStitch", name, inputs, attrs)


def equal(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns whether x and y are equal.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op Equal; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Equal", inputs, attrs)
    return op_def_library.apply_op("Equal", name, inputs, attrs)


def exp(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns e to the power of x.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Exp; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Exp", inputs, attrs)
    return op_def_library.apply_op("Exp", name, inputs, attrs)


def expand_dims(
    input: Any,
    dim: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Inserts an axis of size 1.

    Args:
        input: input, of type T.
        dim: input, of type Tdim.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op ExpandDims; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tdim: {int32, int64} =
    'int32'.
    """
    inputs: list[Any] = [input, dim]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ExpandDims", inputs, attrs)
    return op_def_library.apply_op("ExpandDims", name, inputs, attrs)


def fill(
    dims: Any,
    value: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns a tensor of a shape filled with one value.

    Args:
        dims: input, of type index_type.
        value: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Fill; T: {float16, bfloat16, float32, float64, int32, int64, bool}; index_type: {int32, int64} =
    'int32'.
    """
    inputs: list[Any] = [dims, value]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Fill", inputs, attrs)
    return op_def_library.apply_op("Fill", name, inputs, attrs)


def floor_div(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x / y rounded down.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op FloorDiv; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("FloorDiv", inputs, attrs)
    return op_def_library.apply_op("FloorDiv", name, inputs, attrs)


def floor_mod(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x - y * FloorDiv(x, y).

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op FloorMod; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("FloorMod", inputs, attrs)
    return op_def_library.apply_op("FloorMod", name, inputs, attrs)


def gather_v2(
    params: Any,
    indices: Any,
    axis: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the slices at the indices along an axis.

    Args:
        params: input, of type Tparams.
        indices: input, of type Tindices.
        axis: input, of type Taxis.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tparams.

    Op GatherV2; Tparams: {float16, bfloat16, float32, float64, int32, int64, bool}; Tindices: {int32,
    int64}; Taxis: {int32, int64}.
    """
    inputs: list[Any] = [params, indices, axis]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("GatherV2", inputs, attrs)
    return op_def_library.apply_op("GatherV2", name, inputs, attrs)


def greater(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x > y.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op Greater; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Greater", inputs, attrs)
    return op_def_library.apply_op("Greater", name, inputs, attrs)


def greater_equal(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x >= y.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op GreaterEqual; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("GreaterEqual", inputs, attrs)
    return op_def_library.apply_op("GreaterEqual", name, inputs, attrs)


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


def invert_permutation(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the permutation that undoes a permutation.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op InvertPermutation; T: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("InvertPermutation", inputs, attrs)
    return op_def_library.apply_op("InvertPermutation", name, inputs, attrs)


def less(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x < y.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op Less; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Less", inputs, attrs)
    return op_def_library.apply_op("Less", name, inputs, attrs)


def less_equal(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x <= y.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op LessEqual; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LessEqual", inputs, attrs)
    return op_def_library.apply_op("LessEqual", name, inputs, attrs)


def log(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the natural logarithm.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Log; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Log", inputs, attrs)
    return op_def_library.apply_op("Log", name, inputs, attrs)


def log_softmax(
    logits: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the logarithm of Softmax, computed without overflow.

    Args:
        logits: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output logsoftmax, of type T.

    Op LogSoftmax; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [logits]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogSoftmax", inputs, attrs)
    return op_def_library.apply_op("LogSoftmax", name, inputs, attrs)


def logical_and(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x and y with broadcasting.

    Args:
        x: input, of type bool.
        y: input, of type bool.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op LogicalAnd.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogicalAnd", inputs, attrs)
    return op_def_library.apply_op("LogicalAnd", name, inputs, attrs)


def logical_not(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns not x.

    Args:
        x: input, of type bool.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type bool.

    Op LogicalNot.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogicalNot", inputs, attrs)
    return op_def_library.apply_op("LogicalNot", name, inputs, attrs)


def logical_or(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x or y with broadcasting.

    Args:
        x: input, of type bool.
        y: input, of type bool.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op LogicalOr.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogicalOr", inputs, attrs)
    return op_def_library.apply_op("LogicalOr", name, inputs, attrs)


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


def max(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the largest value over axes.

    Args:
        input: input, of type T.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Max; T: {float16, bfloat16, float32, float64, int32, int64}; Tidx: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [input, reduction_indices]
    attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Max", inputs, attrs)
    return op_def_library.apply_op("Max", name, inputs, attrs)


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


def max_pool_grad(
    orig_input: Any,
    orig_output: Any,
    grad: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Adds the gradient of each window to the first of its largest cells, in row-major order.

    Args:
        orig_input: input, of type T.
        orig_output: input, of type T.
        grad: input, of type T.
        ksize: attribute, list(int).
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op MaxPoolGrad; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [orig_input, orig_output, grad]
    attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("MaxPoolGrad", inputs, attrs)
    return op_def_library.apply_op("MaxPoolGrad", name, inputs, attrs)


def max_pool_grad_grad(
    orig_input: Any,
    orig_output: Any,
    grad: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns, for each window, the value of grad at the first of its largest cells.

    Args:
        orig_input: input, of type T.
        orig_output: input, of type T.
        grad: input, of type T.
        ksize: attribute, list(int).
        strides: attribute, list(int).
        padding: attribute, {SAME, VALID, SAME_LOWER, EXPLICIT}.
        explicit_paddings: attribute, list(int) = ().
        data_format: attribute, {NHWC, NCHW} = 'NHWC'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op MaxPoolGradGrad; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [orig_input, orig_output, grad]
    attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("MaxPoolGradGrad", inputs, attrs)
    return op_def_library.apply_op("MaxPoolGradGrad", name, inputs, attrs)


def maximum(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the larger one of x and y.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op Maximum; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Maximum", inputs, attrs)
    return op_def_library.apply_op("Maximum", name, inputs, attrs)


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


def min(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the smallest value over axes.

    Args:
        input: input, of type T.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Min; T: {float16, bfloat16, float32, float64, int32, int64}; Tidx: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [input, reduction_indices]
    attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Min", inputs, attrs)
    return op_def_library.apply_op("Min", name, inputs, attrs)


def minimum(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the smaller one of x and y.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op Minimum; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Minimum", inputs, attrs)
    return op_def_library.apply_op("Minimum", name, inputs, attrs)


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


def neg(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns -x.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Neg; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Neg", inputs, attrs)
    return op_def_library.apply_op("Neg", name, inputs, attrs)


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


def not_equal(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns whether x and y differ.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type bool.

    Op NotEqual; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("NotEqual", inputs, attrs)
    return op_def_library.apply_op("NotEqual", name, inputs, attrs)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any,
    off_value: Any,
    axis: Any = -1,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns on_value at each index along a new axis and off_value elsewhere.

    Args:
        indices: input, of type TI.
        depth: input, of type int32.
        on_value: input, of type T.
        off_value: input, of type T.
        axis: attribute, int = -1.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op OneHot; T: {float16, bfloat16, float32, float64, int32, int64, bool}; TI: {int32, int64}.
    """
    inputs: list[Any] = [indices, depth, on_value, off_value]
    attrs: dict[str, Any] = {"axis": axis, "_kernel": _kernel}
    if executing_eagerly():
        return execute("OneHot", inputs, attrs)
    return op_def_library.apply_op("OneHot", name, inputs, attrs)


def ones_like(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns ones of the shape and dtype of x.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op OnesLike; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("OnesLike", inputs, attrs)
    return op_def_library.apply_op("OnesLike", name, inputs, attrs)


def pack(
    values: Any,
    axis: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Joins tensors of one shape along a new axis.

    Args:
        values: input, of type T.
        axis: attribute, int = 0.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Pack; N: int; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [values]
    attrs: dict[str, Any] = {"axis": axis, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Pack", inputs, attrs)
    return op_def_library.apply_op("Pack", name, inputs, attrs)


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


def pow(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x to the power of y with broadcasting.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op Pow; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Pow", inputs, attrs)
    return op_def_library.apply_op("Pow", name, inputs, attrs)


def prod(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the product over axes.

    Args:
        input: input, of type T.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Prod; T: {float16, bfloat16, float32, float64, int32, int64}; Tidx: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [input, reduction_indices]
    attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Prod", inputs, attrs)
    return op_def_library.apply_op("Prod", name, inputs, attrs)


def random_standard_normal(
    shape: Any,
    dtype: Any,
    seed: Any = 0,
    seed2: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns normal random numbers.

    Args:
        shape: input, of type T.
        seed: attribute, int = 0.
        seed2: attribute, int = 0.
        dtype: attribute, {float16, bfloat16, float32, float64}.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type dtype.

    Op RandomStandardNormal; T: {int32, int64}.
    """
    inputs: list[Any] = [shape]
    attrs: dict[str, Any] = {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("RandomStandardNormal", inputs, attrs)
    return op_def_library.apply_op("RandomStandardNormal", name, inputs, attrs)


def random_uniform(
    shape: Any,
    dtype: Any,
    seed: Any = 0,
    seed2: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns uniform random numbers in [0, 1).

    Args:
        shape: input, of type T.
        seed: attribute, int = 0.
        seed2: attribute, int = 0.
        dtype: attribute, {float16, bfloat16, float32, float64}.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type dtype.

    Op RandomUniform; T: {int32, int64}.
    """
    inputs: list[Any] = [shape]
    attrs: dict[str, Any] = {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("RandomUniform", inputs, attrs)
    return op_def_library.apply_op("RandomUniform", name, inputs, attrs)


def range(
    start: Any,
    limit: Any,
    delta: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns start, start + delta, ... below limit.

    Args:
        start: input, of type Tidx.
        limit: input, of type Tidx.
        delta: input, of type Tidx.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tidx.

    Op Range; Tidx: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [start, limit, delta]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Range", inputs, attrs)
    return op_def_library.apply_op("Range", name, inputs, attrs)


def rank(
    input: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the number of axes of a tensor.

    Args:
        input: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type int32.

    Op Rank; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Rank", inputs, attrs)
    return op_def_library.apply_op("Rank", name, inputs, attrs)


def real_div(
    x: Any,
    y: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns x / y with broadcasting.

    Args:
        x: input, of type T.
        y: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op RealDiv; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x, y]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("RealDiv", inputs, attrs)
    return op_def_library.apply_op("RealDiv", name, inputs, attrs)


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


def relu_grad(
    gradients: Any,
    features: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradients where the features (or the activations) are positive, elsewhere 0.

    Args:
        gradients: input, of type T.
        features: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output backprops, of type T.

    Op ReluGrad; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [gradients, features]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ReluGrad", inputs, attrs)
    return op_def_library.apply_op("ReluGrad", name, inputs, attrs)


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


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: Any = False,
    half_pixel_centers: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Resizes images [batch, rows, cols, channels]; each cell copies its nearest neighbour.

    Args:
        images: input, of type T.
        size: input, of type int32.
        align_corners: attribute, bool = False.
        half_pixel_centers: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output resized_images, of type T.

    Op ResizeNearestNeighbor; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [images, size]
    attrs: dict[str, Any] = {
        "align_corners": align_corners,
        "half_pixel_centers": half_pixel_centers,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("ResizeNearestNeighbor", inputs, attrs)
    return op_def_library.apply_op("ResizeNearestNeighbor", name, inputs, attrs)


def resize_nearest_neighbor_grad(
    grads: Any,
    size: Any,
    align_corners: Any = False,
    half_pixel_centers: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradient of ResizeNearestNeighbor: each cell sums the gradients of its copies.

    Args:
        grads: input, of type T.
        size: input, of type int32.
        align_corners: attribute, bool = False.
        half_pixel_centers: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op ResizeNearestNeighborGrad; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [grads, size]
    attrs: dict[str, Any] = {
        "align_corners": align_corners,
        "half_pixel_centers": half_pixel_centers,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("ResizeNearestNeighborGrad", inputs, attrs)
    return op_def_library.apply_op("ResizeNearestNeighborGrad", name, inputs, attrs)


def resource_apply_keras_momentum(
    var: Any,
    accum: Any,
    lr: Any,
    grad: Any,
    momentum: Any,
    use_nesterov: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Updates accum = momentum * accum - lr * grad, then adds accum to the variable.

    Args:
        var: input, reference to a variable of type T.
        accum: input, reference to a variable of type T.
        lr: input, of type T.
        grad: input, of type T.
        momentum: input, of type T.
        use_nesterov: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output out, reference to a variable of type T.

    Op ResourceApplyKerasMomentum; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [var, accum, lr, grad, momentum]
    attrs: dict[str, Any] = {"use_nesterov": use_nesterov, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ResourceApplyKerasMomentum", inputs, attrs)
    return op_def_library.apply_op("ResourceApplyKerasMomentum", name, inputs, attrs)


def rsqrt(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns 1 / sqrt(x).

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Rsqrt; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Rsqrt", inputs, attrs)
    return op_def_library.apply_op("Rsqrt", name, inputs, attrs)


def rsqrt_grad(
    y: Any,
    dy: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns -dy y ** 3 / 2, where y = 1 / sqrt(x).

    Args:
        y: input, of type T.
        dy: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op RsqrtGrad; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [y, dy]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("RsqrtGrad", inputs, attrs)
    return op_def_library.apply_op("RsqrtGrad", name, inputs, attrs)


def select(
    condition: Any,
    t: Any,
    e: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns t where the condition is true, e elsewhere; all of one shape.

    Args:
        condition: input, of type bool.
        t: input, of type T.
        e: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Select; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [condition, t, e]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Select", inputs, attrs)
    return op_def_library.apply_op("Select", name, inputs, attrs)


def select_v2(
    condition: Any,
    t: Any,
    e: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns t where the condition is true, e elsewhere, with broadcasting.

    Args:
        condition: input, of type bool.
        t: input, of type T.
        e: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op SelectV2; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [condition, t, e]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SelectV2", inputs, attrs)
    return op_def_library.apply_op("SelectV2", name, inputs, attrs)


def shape(
    input: Any,
    out_type: Any = "int32",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the shape of a tensor as a vector.

    Args:
        input: input, of type T.
        out_type: attribute, {int32, int64} = 'int32'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type out_type.

    Op Shape; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"out_type": out_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Shape", inputs, attrs)
    return op_def_library.apply_op("Shape", name, inputs, attrs)


def shape_n(
    input: Any,
    out_type: Any = "int32",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the shapes of several tensors.

    Args:
        input: input, of type T.
        out_type: attribute, {int32, int64} = 'int32'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type out_type.

    Op ShapeN; N: int; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"out_type": out_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ShapeN", inputs, attrs)
    return op_def_library.apply_op("ShapeN", name, inputs, attrs)


def sigmoid(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns 1 / (1 + exp(-x)).

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Sigmoid; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sigmoid", inputs, attrs)
    return op_def_library.apply_op("Sigmoid", name, inputs, attrs)


def sigmoid_grad(
    y: Any,
    dy: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns dy y (1 - y), where y = sigmoid(x).

    Args:
        y: input, of type T.
        dy: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op SigmoidGrad; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [y, dy]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SigmoidGrad", inputs, attrs)
    return op_def_library.apply_op("SigmoidGrad", name, inputs, attrs)


def sign(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns -1, 0 or 1.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Sign; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sign", inputs, attrs)
    return op_def_library.apply_op("Sign", name, inputs, attrs)


def size(
    input: Any,
    out_type: Any = "int32",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the number of elements of a tensor.

    Args:
        input: input, of type T.
        out_type: attribute, {int32, int64} = 'int32'.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type out_type.

    Op Size; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"out_type": out_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Size", inputs, attrs)
    return op_def_library.apply_op("Size", name, inputs, attrs)


def slice(
    input: Any,
    begin: Any,
    size: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the part that starts at begin and has a size; a size of -1 means to the end.

    Args:
        input: input, of type T.
        begin: input, of type Index.
        size: input, of type Index.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Slice; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Index: {int32, int64}.
    """
    inputs: list[Any] = [input, begin, size]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Slice", inputs, attrs)
    return op_def_library.apply_op("Slice", name, inputs, attrs)


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


def softmax_cross_entropy_with_logits(
    features: Any,
    labels: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the cross-entropy of each row, and its gradient: softmax(features) - labels.

    Args:
        features: input, of type T.
        labels: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output loss, of type T.
        The output backprop, of type T.

    Op SoftmaxCrossEntropyWithLogits; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [features, labels]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SoftmaxCrossEntropyWithLogits", inputs, attrs)
    return op_def_library.apply_op("SoftmaxCrossEntropyWithLogits", name, inputs, attrs)


def sparse_softmax_cross_entropy_with_logits(
    features: Any,
    labels: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Does the same for labels that are class numbers.

    Args:
        features: input, of type T.
        labels: input, of type Tlabels.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output loss, of type T.
        The output backprop, of type T.

    Op SparseSoftmaxCrossEntropyWithLogits; T: {float16, bfloat16, float32, float64}; Tlabels: {int32,
    int64} = 'int64'.
    """
    inputs: list[Any] = [features, labels]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SparseSoftmaxCrossEntropyWithLogits", inputs, attrs)
    return op_def_library.apply_op("SparseSoftmaxCrossEntropyWithLogits", name, inputs, attrs)


def sqrt(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the square root.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Sqrt; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sqrt", inputs, attrs)
    return op_def_library.apply_op("Sqrt", name, inputs, attrs)


def sqrt_grad(
    y: Any,
    dy: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns dy / (2 y), where y = sqrt(x).

    Args:
        y: input, of type T.
        dy: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op SqrtGrad; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [y, dy]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SqrtGrad", inputs, attrs)
    return op_def_library.apply_op("SqrtGrad", name, inputs, attrs)


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


def squeeze(
    input: Any,
    squeeze_dims: Any = (),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Removes axes of size 1: all of them, or those that are named.

    Args:
        input: input, of type T.
        squeeze_dims: attribute, list(int) = ().
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Squeeze; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"squeeze_dims": squeeze_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Squeeze", inputs, attrs)
    return op_def_library.apply_op("Squeeze", name, inputs, attrs)


def stop_gradient(
    input: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns its input, which counts as a constant for gradients.

    Args:
        input: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op StopGradient; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [input]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("StopGradient", inputs, attrs)
    return op_def_library.apply_op("StopGradient", name, inputs, attrs)


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


def tanh(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the hyperbolic tangent.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op Tanh; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Tanh", inputs, attrs)
    return op_def_library.apply_op("Tanh", name, inputs, attrs)


def tanh_grad(
    y: Any,
    dy: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns dy (1 - y ** 2), where y = tanh(x).

    Args:
        y: input, of type T.
        dy: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output z, of type T.

    Op TanhGrad; T: {float16, bfloat16, float32, float64}.
    """
    inputs: list[Any] = [y, dy]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("TanhGrad", inputs, attrs)
    return op_def_library.apply_op("TanhGrad", name, inputs, attrs)


def tile(
    input: Any,
    multiples: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Repeats a tensor along each axis.

    Args:
        input: input, of type T.
        multiples: input, of type Tmultiples.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Tile; T: {float16, bfloat16, float32, float64, int32, int64, bool}; Tmultiples: {int32, int64} =
    'int32'.
    """
    inputs: list[Any] = [input, multiples]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Tile", inputs, attrs)
    return op_def_library.apply_op("Tile", name, inputs, attrs)


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


def truncated_normal(
    shape: Any,
    dtype: Any,
    seed: Any = 0,
    seed2: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns normal random numbers; those beyond two standard deviations are drawn again.

    Args:
        shape: input, of type T.
        seed: attribute, int = 0.
        seed2: attribute, int = 0.
        dtype: attribute, {float16, bfloat16, float32, float64}.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type dtype.

    Op TruncatedNormal; T: {int32, int64}.
    """
    inputs: list[Any] = [shape]
    attrs: dict[str, Any] = {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("TruncatedNormal", inputs, attrs)
    return op_def_library.apply_op("TruncatedNormal", name, inputs, attrs)


def unpack(
    value: Any,
    num: Any,
    axis: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Splits a tensor into its slices along an axis.

    Args:
        value: input, of type T.
        num: attribute, int.
        axis: attribute, int = 0.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op Unpack; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [value]
    attrs: dict[str, Any] = {"num": num, "axis": axis, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Unpack", inputs, attrs)
    return op_def_library.apply_op("Unpack", name, inputs, attrs)


def unsorted_segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the sums of the slices with each segment number; this is the gradient of GatherV2.

    Args:
        data: input, of type T.
        segment_ids: input, of type Tindices.
        num_segments: input, of type Tnumsegments.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op UnsortedSegmentSum; T: {float16, bfloat16, float32, float64, int32, int64}; Tindices: {int32,
    int64}; Tnumsegments: {int32, int64} = 'int32'.
    """
    inputs: list[Any] = [data, segment_ids, num_segments]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("UnsortedSegmentSum", inputs, attrs)
    return op_def_library.apply_op("UnsortedSegmentSum", name, inputs, attrs)


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


def zeros_like(
    x: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns zeros of the shape and dtype of x.

    Args:
        x: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type T.

    Op ZerosLike; T: {float16, bfloat16, float32, float64, int32, int64, bool}.
    """
    inputs: list[Any] = [x]
    attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ZerosLike", inputs, attrs)
    return op_def_library.apply_op("ZerosLike", name, inputs, attrs)
