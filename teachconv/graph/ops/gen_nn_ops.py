"""The ops as Python functions. GENERATED from core_ops/ by op_gen.py: do not edit.

    python -m teachconv.graph.core_ops.op_gen

TensorFlow: python/ops/gen_nn_ops.py, gen_math_ops.py, gen_array_ops.py and gen_state_ops.py, which are
generated when TensorFlow is built and are in no repository. Each function adds a node to the default
graph or, if there is none, runs the op immediately. T stands for the dtype of the inputs. Nothing is computed
here; ``teachconv.find_source(gen_nn_ops.conv2d)``, or with the arguments of a call, shows where it is.
"""

from __future__ import annotations

from typing import Any

from ..common_runtime.execute import execute
from ..framework import op_def_library
from ..framework.context import executing_eagerly

__all__ = [
    "abs",
    "add",
    "add_n",
    "all",
    "any",
    "apply_adam",
    "apply_gradient_descent",
    "apply_momentum",
    "arg_max",
    "_assert",
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
    "check_numerics",
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
    "identity_n",
    "_if",
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
    "partitioned_call",
    "placeholder",
    "pow",
    "print_v2",
    "prod",
    "random_standard_normal",
    "random_uniform",
    "random_uniform_int",
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
    "stateful_partitioned_call",
    "stateless_if",
    "stop_gradient",
    "strided_slice",
    "strided_slice_grad",
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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Abs", _inputs, _attrs)
    return op_def_library.apply_op("Abs", name, _inputs, _attrs)


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

    Op Add; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Add", _inputs, _attrs)
    return op_def_library.apply_op("Add", name, _inputs, _attrs)


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

    Op AddN; N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [inputs]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("AddN", _inputs, _attrs)
    return op_def_library.apply_op("AddN", name, _inputs, _attrs)


def all(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns whether all values over axes are True.

    Args:
        input: input, of type bool.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type bool.

    Op All; Tidx: {int32, int64} = 'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("All", _inputs, _attrs)
    return op_def_library.apply_op("All", name, _inputs, _attrs)


def any(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns whether any value over axes is True.

    Args:
        input: input, of type bool.
        reduction_indices: input, of type Tidx.
        keep_dims: attribute, bool = False.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type bool.

    Op Any; Tidx: {int32, int64} = 'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Any", _inputs, _attrs)
    return op_def_library.apply_op("Any", name, _inputs, _attrs)


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
    _inputs: list[Any] = [var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad]
    _attrs: dict[str, Any] = {"use_nesterov": use_nesterov, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ApplyAdam", _inputs, _attrs)
    return op_def_library.apply_op("ApplyAdam", name, _inputs, _attrs)


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
    _inputs: list[Any] = [var, alpha, delta]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ApplyGradientDescent", _inputs, _attrs)
    return op_def_library.apply_op("ApplyGradientDescent", name, _inputs, _attrs)


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
    _inputs: list[Any] = [var, accum, lr, grad, momentum]
    _attrs: dict[str, Any] = {"use_nesterov": use_nesterov, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ApplyMomentum", _inputs, _attrs)
    return op_def_library.apply_op("ApplyMomentum", name, _inputs, _attrs)


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

    Op ArgMax; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tidx: {int32, int64}
    = 'int32'.
    """
    _inputs: list[Any] = [input, dimension]
    _attrs: dict[str, Any] = {"output_type": output_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ArgMax", _inputs, _attrs)
    return op_def_library.apply_op("ArgMax", name, _inputs, _attrs)


def _assert(
    condition: Any,
    data: Any,
    template: Any,
    placeholder: Any = "{}",
    summarize: Any = 3,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Fails with the text unless the condition holds.

    Args:
        condition: input, of type bool.
        data: input, of type T.
        template: attribute, string.
        placeholder: attribute, string = '{}'.
        summarize: attribute, int = 3.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The operation.

    Op Assert; T: list(type).
    """
    _inputs: list[Any] = [condition, data]
    _attrs: dict[str, Any] = {
        "template": template,
        "placeholder": placeholder,
        "summarize": summarize,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Assert", _inputs, _attrs)
    return op_def_library.apply_op("Assert", name, _inputs, _attrs)


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

    Op Assign; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [ref, value]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Assign", _inputs, _attrs)
    return op_def_library.apply_op("Assign", name, _inputs, _attrs)


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

    Op AssignAdd; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [ref, value]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("AssignAdd", _inputs, _attrs)
    return op_def_library.apply_op("AssignAdd", name, _inputs, _attrs)


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

    Op AssignSub; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [ref, value]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("AssignSub", _inputs, _attrs)
    return op_def_library.apply_op("AssignSub", name, _inputs, _attrs)


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
    _inputs: list[Any] = [value]
    _attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("AvgPool", _inputs, _attrs)
    return op_def_library.apply_op("AvgPool", name, _inputs, _attrs)


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
    _inputs: list[Any] = [orig_input_shape, grad]
    _attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("AvgPoolGrad", _inputs, _attrs)
    return op_def_library.apply_op("AvgPoolGrad", name, _inputs, _attrs)


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

    Op BiasAdd; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [value, bias]
    _attrs: dict[str, Any] = {"data_format": data_format, "_kernel": _kernel}
    if executing_eagerly():
        return execute("BiasAdd", _inputs, _attrs)
    return op_def_library.apply_op("BiasAdd", name, _inputs, _attrs)


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

    Op BiasAddGrad; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [out_backprop]
    _attrs: dict[str, Any] = {"data_format": data_format, "_kernel": _kernel}
    if executing_eagerly():
        return execute("BiasAddGrad", _inputs, _attrs)
    return op_def_library.apply_op("BiasAddGrad", name, _inputs, _attrs)


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
    _inputs: list[Any] = [s0, s1]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("BroadcastGradientArgs", _inputs, _attrs)
    return op_def_library.apply_op("BroadcastGradientArgs", name, _inputs, _attrs)


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

    Op BroadcastTo; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tidx: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [input, shape]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("BroadcastTo", _inputs, _attrs)
    return op_def_library.apply_op("BroadcastTo", name, _inputs, _attrs)


def cast(
    x: Any,
    DstT: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Converts to another dtype; floats are cut off towards zero, bool becomes 0 or 1.

    Args:
        x: input, of type SrcT.
        DstT: attribute, {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output y, of type DstT.

    Op Cast; SrcT: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"DstT": DstT, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Cast", _inputs, _attrs)
    return op_def_library.apply_op("Cast", name, _inputs, _attrs)


def check_numerics(
    tensor: Any,
    message: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns its input; fails if it holds NaN or infinity.

    Args:
        tensor: input, of type T.
        message: attribute, string.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op CheckNumerics; T: {float16, bfloat16, float32, float64}.
    """
    _inputs: list[Any] = [tensor]
    _attrs: dict[str, Any] = {"message": message, "_kernel": _kernel}
    if executing_eagerly():
        return execute("CheckNumerics", _inputs, _attrs)
    return op_def_library.apply_op("CheckNumerics", name, _inputs, _attrs)


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
    _inputs: list[Any] = [concat_dim, shape]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ConcatOffset", _inputs, _attrs)
    return op_def_library.apply_op("ConcatOffset", name, _inputs, _attrs)


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

    Op ConcatV2; N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tidx:
    {int32, int64} = 'int32'.
    """
    _inputs: list[Any] = [values, axis]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ConcatV2", _inputs, _attrs)
    return op_def_library.apply_op("ConcatV2", name, _inputs, _attrs)


def const(
    value: Any,
    dtype: Any,
    name: str | None = None,
) -> Any:
    """Returns the same value in each run.

    Args:
        value: attribute, tensor.
        dtype: attribute, {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
        name: name of the node.

    Returns:
        The output output, of type dtype.

    Op Const.
    """
    _inputs: list[Any] = []
    _attrs: dict[str, Any] = {"value": value, "dtype": dtype}
    if executing_eagerly():
        return execute("Const", _inputs, _attrs)
    return op_def_library.apply_op("Const", name, _inputs, _attrs)


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
    _inputs: list[Any] = [input, filter]
    _attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Conv2D", _inputs, _attrs)
    return op_def_library.apply_op("Conv2D", name, _inputs, _attrs)


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
    _inputs: list[Any] = [input, filter_sizes, out_backprop]
    _attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Conv2DBackpropFilter", _inputs, _attrs)
    return op_def_library.apply_op("Conv2DBackpropFilter", name, _inputs, _attrs)


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
    _inputs: list[Any] = [input_sizes, filter, out_backprop]
    _attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("Conv2DBackpropInput", _inputs, _attrs)
    return op_def_library.apply_op("Conv2DBackpropInput", name, _inputs, _attrs)


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
    _inputs: list[Any] = [input, filter]
    _attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("DepthwiseConv2dNative", _inputs, _attrs)
    return op_def_library.apply_op("DepthwiseConv2dNative", name, _inputs, _attrs)


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
    _inputs: list[Any] = [input, filter_sizes, out_backprop]
    _attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("DepthwiseConv2dNativeBackpropFilter", _inputs, _attrs)
    return op_def_library.apply_op("DepthwiseConv2dNativeBackpropFilter", name, _inputs, _attrs)


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
    _inputs: list[Any] = [input_sizes, filter, out_backprop]
    _attrs: dict[str, Any] = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("DepthwiseConv2dNativeBackpropInput", _inputs, _attrs)
    return op_def_library.apply_op("DepthwiseConv2dNativeBackpropInput", name, _inputs, _attrs)


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

    Op DynamicStitch; N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [indices, data]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("DynamicStitch", _inputs, _attrs)
    return op_def_library.apply_op("DynamicStitch", name, _inputs, _attrs)


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

    Op Equal; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Equal", _inputs, _attrs)
    return op_def_library.apply_op("Equal", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Exp", _inputs, _attrs)
    return op_def_library.apply_op("Exp", name, _inputs, _attrs)


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

    Op ExpandDims; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tdim: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [input, dim]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ExpandDims", _inputs, _attrs)
    return op_def_library.apply_op("ExpandDims", name, _inputs, _attrs)


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

    Op Fill; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; index_type: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [dims, value]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Fill", _inputs, _attrs)
    return op_def_library.apply_op("Fill", name, _inputs, _attrs)


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

    Op FloorDiv; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("FloorDiv", _inputs, _attrs)
    return op_def_library.apply_op("FloorDiv", name, _inputs, _attrs)


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

    Op FloorMod; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("FloorMod", _inputs, _attrs)
    return op_def_library.apply_op("FloorMod", name, _inputs, _attrs)


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

    Op GatherV2; Tparams: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tindices:
    {int32, int64}; Taxis: {int32, int64}.
    """
    _inputs: list[Any] = [params, indices, axis]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("GatherV2", _inputs, _attrs)
    return op_def_library.apply_op("GatherV2", name, _inputs, _attrs)


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

    Op Greater; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Greater", _inputs, _attrs)
    return op_def_library.apply_op("Greater", name, _inputs, _attrs)


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

    Op GreaterEqual; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("GreaterEqual", _inputs, _attrs)
    return op_def_library.apply_op("GreaterEqual", name, _inputs, _attrs)


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

    Op Identity; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Identity", _inputs, _attrs)
    return op_def_library.apply_op("Identity", name, _inputs, _attrs)


def identity_n(
    input: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns its inputs; custom_gradient gives it another gradient.

    Args:
        input: input, of type T.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op IdentityN; T: list(type).
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("IdentityN", _inputs, _attrs)
    return op_def_library.apply_op("IdentityN", name, _inputs, _attrs)


def _if(
    cond: Any,
    input: Any,
    variables: Any,
    Tout: Any,
    then_branch: Any,
    else_branch: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Calls one of two functions, one of which changes variables.

    Args:
        cond: input, of type Tcond.
        input: input, of type Tin.
        variables: input, reference to a variable of type Tvariables.
        Tout: attribute, list(type).
        then_branch: attribute, func.
        else_branch: attribute, func.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tout.

    Op If; Tcond: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tin: list(type);
    Tvariables: list(type).
    """
    _inputs: list[Any] = [cond, input, variables]
    _attrs: dict[str, Any] = {
        "Tout": Tout,
        "then_branch": then_branch,
        "else_branch": else_branch,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("If", _inputs, _attrs)
    return op_def_library.apply_op("If", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("InvertPermutation", _inputs, _attrs)
    return op_def_library.apply_op("InvertPermutation", name, _inputs, _attrs)


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

    Op Less; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Less", _inputs, _attrs)
    return op_def_library.apply_op("Less", name, _inputs, _attrs)


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

    Op LessEqual; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LessEqual", _inputs, _attrs)
    return op_def_library.apply_op("LessEqual", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Log", _inputs, _attrs)
    return op_def_library.apply_op("Log", name, _inputs, _attrs)


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
    _inputs: list[Any] = [logits]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogSoftmax", _inputs, _attrs)
    return op_def_library.apply_op("LogSoftmax", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogicalAnd", _inputs, _attrs)
    return op_def_library.apply_op("LogicalAnd", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogicalNot", _inputs, _attrs)
    return op_def_library.apply_op("LogicalNot", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("LogicalOr", _inputs, _attrs)
    return op_def_library.apply_op("LogicalOr", name, _inputs, _attrs)


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
    _inputs: list[Any] = [a, b]
    _attrs: dict[str, Any] = {"transpose_a": transpose_a, "transpose_b": transpose_b, "_kernel": _kernel}
    if executing_eagerly():
        return execute("MatMul", _inputs, _attrs)
    return op_def_library.apply_op("MatMul", name, _inputs, _attrs)


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

    Op Max; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32, int64} =
    'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Max", _inputs, _attrs)
    return op_def_library.apply_op("Max", name, _inputs, _attrs)


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

    Op MaxPool; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("MaxPool", _inputs, _attrs)
    return op_def_library.apply_op("MaxPool", name, _inputs, _attrs)


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

    Op MaxPoolGrad; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [orig_input, orig_output, grad]
    _attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("MaxPoolGrad", _inputs, _attrs)
    return op_def_library.apply_op("MaxPoolGrad", name, _inputs, _attrs)


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

    Op MaxPoolGradGrad; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [orig_input, orig_output, grad]
    _attrs: dict[str, Any] = {
        "ksize": ksize,
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("MaxPoolGradGrad", _inputs, _attrs)
    return op_def_library.apply_op("MaxPoolGradGrad", name, _inputs, _attrs)


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

    Op Maximum; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Maximum", _inputs, _attrs)
    return op_def_library.apply_op("Maximum", name, _inputs, _attrs)


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

    Op Mean; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32, int64} =
    'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Mean", _inputs, _attrs)
    return op_def_library.apply_op("Mean", name, _inputs, _attrs)


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

    Op Min; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32, int64} =
    'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Min", _inputs, _attrs)
    return op_def_library.apply_op("Min", name, _inputs, _attrs)


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

    Op Minimum; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Minimum", _inputs, _attrs)
    return op_def_library.apply_op("Minimum", name, _inputs, _attrs)


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

    Op Mul; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Mul", _inputs, _attrs)
    return op_def_library.apply_op("Mul", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Neg", _inputs, _attrs)
    return op_def_library.apply_op("Neg", name, _inputs, _attrs)


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
    _inputs: list[Any] = []
    _attrs: dict[str, Any] = {}
    if executing_eagerly():
        return execute("NoOp", _inputs, _attrs)
    return op_def_library.apply_op("NoOp", name, _inputs, _attrs)


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

    Op NotEqual; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("NotEqual", _inputs, _attrs)
    return op_def_library.apply_op("NotEqual", name, _inputs, _attrs)


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

    Op OneHot; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; TI: {uint8, int32,
    int64}.
    """
    _inputs: list[Any] = [indices, depth, on_value, off_value]
    _attrs: dict[str, Any] = {"axis": axis, "_kernel": _kernel}
    if executing_eagerly():
        return execute("OneHot", _inputs, _attrs)
    return op_def_library.apply_op("OneHot", name, _inputs, _attrs)


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

    Op OnesLike; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("OnesLike", _inputs, _attrs)
    return op_def_library.apply_op("OnesLike", name, _inputs, _attrs)


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

    Op Pack; N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [values]
    _attrs: dict[str, Any] = {"axis": axis, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Pack", _inputs, _attrs)
    return op_def_library.apply_op("Pack", name, _inputs, _attrs)


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

    Op Pad; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tpaddings: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [input, paddings]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Pad", _inputs, _attrs)
    return op_def_library.apply_op("Pad", name, _inputs, _attrs)


def partitioned_call(
    args: Any,
    variables: Any,
    Tout: Any,
    f: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Calls a function.

    Args:
        args: input, of type Tin.
        variables: input, reference to a variable of type Tvariables.
        Tout: attribute, list(type).
        f: attribute, func.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tout.

    Op PartitionedCall; Tin: list(type); Tvariables: list(type).
    """
    _inputs: list[Any] = [args, variables]
    _attrs: dict[str, Any] = {"Tout": Tout, "f": f, "_kernel": _kernel}
    if executing_eagerly():
        return execute("PartitionedCall", _inputs, _attrs)
    return op_def_library.apply_op("PartitionedCall", name, _inputs, _attrs)


def placeholder(
    dtype: Any,
    shape: Any = None,
    name: str | None = None,
) -> Any:
    """Stands for a value that is fed to each run.

    Args:
        dtype: attribute, {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
        shape: attribute, shape = None.
        name: name of the node.

    Returns:
        The output output, of type dtype.

    Op Placeholder.
    """
    _inputs: list[Any] = []
    _attrs: dict[str, Any] = {"dtype": dtype, "shape": shape}
    if executing_eagerly():
        return execute("Placeholder", _inputs, _attrs)
    return op_def_library.apply_op("Placeholder", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Pow", _inputs, _attrs)
    return op_def_library.apply_op("Pow", name, _inputs, _attrs)


def print_v2(
    inputs: Any,
    template: Any,
    end: Any,
    placeholder: Any = "{}",
    summarize: Any = 3,
    output_stream: Any = "stderr",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Writes the text to a stream.

    Args:
        inputs: input, of type T.
        template: attribute, string.
        placeholder: attribute, string = '{}'.
        summarize: attribute, int = 3.
        output_stream: attribute, {stderr, stdout} = 'stderr'.
        end: attribute, string.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The operation.

    Op PrintV2; T: list(type).
    """
    _inputs: list[Any] = [inputs]
    _attrs: dict[str, Any] = {
        "template": template,
        "end": end,
        "placeholder": placeholder,
        "summarize": summarize,
        "output_stream": output_stream,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("PrintV2", _inputs, _attrs)
    return op_def_library.apply_op("PrintV2", name, _inputs, _attrs)


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

    Op Prod; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32, int64} =
    'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Prod", _inputs, _attrs)
    return op_def_library.apply_op("Prod", name, _inputs, _attrs)


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
    _inputs: list[Any] = [shape]
    _attrs: dict[str, Any] = {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("RandomStandardNormal", _inputs, _attrs)
    return op_def_library.apply_op("RandomStandardNormal", name, _inputs, _attrs)


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
    _inputs: list[Any] = [shape]
    _attrs: dict[str, Any] = {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("RandomUniform", _inputs, _attrs)
    return op_def_library.apply_op("RandomUniform", name, _inputs, _attrs)


def random_uniform_int(
    shape: Any,
    minval: Any,
    maxval: Any,
    seed: Any = 0,
    seed2: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns uniform random integers from minval to maxval, which is not among them.

    Args:
        shape: input, of type T.
        minval: input, of type Tout.
        maxval: input, of type Tout.
        seed: attribute, int = 0.
        seed2: attribute, int = 0.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tout.

    Op RandomUniformInt; Tout: {int32, int64}; T: {int32, int64}.
    """
    _inputs: list[Any] = [shape, minval, maxval]
    _attrs: dict[str, Any] = {"seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("RandomUniformInt", _inputs, _attrs)
    return op_def_library.apply_op("RandomUniformInt", name, _inputs, _attrs)


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
    _inputs: list[Any] = [start, limit, delta]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Range", _inputs, _attrs)
    return op_def_library.apply_op("Range", name, _inputs, _attrs)


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

    Op Rank; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Rank", _inputs, _attrs)
    return op_def_library.apply_op("Rank", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("RealDiv", _inputs, _attrs)
    return op_def_library.apply_op("RealDiv", name, _inputs, _attrs)


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

    Op Relu; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [features]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Relu", _inputs, _attrs)
    return op_def_library.apply_op("Relu", name, _inputs, _attrs)


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

    Op ReluGrad; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [gradients, features]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ReluGrad", _inputs, _attrs)
    return op_def_library.apply_op("ReluGrad", name, _inputs, _attrs)


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

    Op Reshape; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tshape: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [tensor, shape]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Reshape", _inputs, _attrs)
    return op_def_library.apply_op("Reshape", name, _inputs, _attrs)


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

    Op ResizeNearestNeighbor; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [images, size]
    _attrs: dict[str, Any] = {
        "align_corners": align_corners,
        "half_pixel_centers": half_pixel_centers,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("ResizeNearestNeighbor", _inputs, _attrs)
    return op_def_library.apply_op("ResizeNearestNeighbor", name, _inputs, _attrs)


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

    Op ResizeNearestNeighborGrad; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [grads, size]
    _attrs: dict[str, Any] = {
        "align_corners": align_corners,
        "half_pixel_centers": half_pixel_centers,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("ResizeNearestNeighborGrad", _inputs, _attrs)
    return op_def_library.apply_op("ResizeNearestNeighborGrad", name, _inputs, _attrs)


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
    _inputs: list[Any] = [var, accum, lr, grad, momentum]
    _attrs: dict[str, Any] = {"use_nesterov": use_nesterov, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ResourceApplyKerasMomentum", _inputs, _attrs)
    return op_def_library.apply_op("ResourceApplyKerasMomentum", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Rsqrt", _inputs, _attrs)
    return op_def_library.apply_op("Rsqrt", name, _inputs, _attrs)


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
    _inputs: list[Any] = [y, dy]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("RsqrtGrad", _inputs, _attrs)
    return op_def_library.apply_op("RsqrtGrad", name, _inputs, _attrs)


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

    Op Select; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [condition, t, e]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Select", _inputs, _attrs)
    return op_def_library.apply_op("Select", name, _inputs, _attrs)


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

    Op SelectV2; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [condition, t, e]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SelectV2", _inputs, _attrs)
    return op_def_library.apply_op("SelectV2", name, _inputs, _attrs)


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

    Op Shape; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"out_type": out_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Shape", _inputs, _attrs)
    return op_def_library.apply_op("Shape", name, _inputs, _attrs)


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

    Op ShapeN; N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"out_type": out_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("ShapeN", _inputs, _attrs)
    return op_def_library.apply_op("ShapeN", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sigmoid", _inputs, _attrs)
    return op_def_library.apply_op("Sigmoid", name, _inputs, _attrs)


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
    _inputs: list[Any] = [y, dy]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SigmoidGrad", _inputs, _attrs)
    return op_def_library.apply_op("SigmoidGrad", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sign", _inputs, _attrs)
    return op_def_library.apply_op("Sign", name, _inputs, _attrs)


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

    Op Size; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"out_type": out_type, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Size", _inputs, _attrs)
    return op_def_library.apply_op("Size", name, _inputs, _attrs)


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

    Op Slice; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Index: {int32, int64}.
    """
    _inputs: list[Any] = [input, begin, size]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Slice", _inputs, _attrs)
    return op_def_library.apply_op("Slice", name, _inputs, _attrs)


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
    _inputs: list[Any] = [logits]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Softmax", _inputs, _attrs)
    return op_def_library.apply_op("Softmax", name, _inputs, _attrs)


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
    _inputs: list[Any] = [features, labels]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SoftmaxCrossEntropyWithLogits", _inputs, _attrs)
    return op_def_library.apply_op("SoftmaxCrossEntropyWithLogits", name, _inputs, _attrs)


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
    _inputs: list[Any] = [features, labels]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SparseSoftmaxCrossEntropyWithLogits", _inputs, _attrs)
    return op_def_library.apply_op("SparseSoftmaxCrossEntropyWithLogits", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sqrt", _inputs, _attrs)
    return op_def_library.apply_op("Sqrt", name, _inputs, _attrs)


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
    _inputs: list[Any] = [y, dy]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("SqrtGrad", _inputs, _attrs)
    return op_def_library.apply_op("SqrtGrad", name, _inputs, _attrs)


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

    Op Square; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Square", _inputs, _attrs)
    return op_def_library.apply_op("Square", name, _inputs, _attrs)


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

    Op Squeeze; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"squeeze_dims": squeeze_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Squeeze", _inputs, _attrs)
    return op_def_library.apply_op("Squeeze", name, _inputs, _attrs)


def stateful_partitioned_call(
    args: Any,
    variables: Any,
    Tout: Any,
    f: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Calls a function that changes variables.

    Args:
        args: input, of type Tin.
        variables: input, reference to a variable of type Tvariables.
        Tout: attribute, list(type).
        f: attribute, func.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tout.

    Op StatefulPartitionedCall; Tin: list(type); Tvariables: list(type).
    """
    _inputs: list[Any] = [args, variables]
    _attrs: dict[str, Any] = {"Tout": Tout, "f": f, "_kernel": _kernel}
    if executing_eagerly():
        return execute("StatefulPartitionedCall", _inputs, _attrs)
    return op_def_library.apply_op("StatefulPartitionedCall", name, _inputs, _attrs)


def stateless_if(
    cond: Any,
    input: Any,
    variables: Any,
    Tout: Any,
    then_branch: Any,
    else_branch: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Calls one of two functions.

    Args:
        cond: input, of type Tcond.
        input: input, of type Tin.
        variables: input, reference to a variable of type Tvariables.
        Tout: attribute, list(type).
        then_branch: attribute, func.
        else_branch: attribute, func.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type Tout.

    Op StatelessIf; Tcond: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tin:
    list(type); Tvariables: list(type).
    """
    _inputs: list[Any] = [cond, input, variables]
    _attrs: dict[str, Any] = {
        "Tout": Tout,
        "then_branch": then_branch,
        "else_branch": else_branch,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("StatelessIf", _inputs, _attrs)
    return op_def_library.apply_op("StatelessIf", name, _inputs, _attrs)


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

    Op StopGradient; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [input]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("StopGradient", _inputs, _attrs)
    return op_def_library.apply_op("StopGradient", name, _inputs, _attrs)


def strided_slice(
    input: Any,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: Any = 0,
    end_mask: Any = 0,
    ellipsis_mask: Any = 0,
    new_axis_mask: Any = 0,
    shrink_axis_mask: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns input[key], with the key written as begin, end, strides and masks.

    Args:
        input: input, of type T.
        begin: input, of type Index.
        end: input, of type Index.
        strides: input, of type Index.
        begin_mask: attribute, int = 0.
        end_mask: attribute, int = 0.
        ellipsis_mask: attribute, int = 0.
        new_axis_mask: attribute, int = 0.
        shrink_axis_mask: attribute, int = 0.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op StridedSlice; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Index: {int32,
    int64}.
    """
    _inputs: list[Any] = [input, begin, end, strides]
    _attrs: dict[str, Any] = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("StridedSlice", _inputs, _attrs)
    return op_def_library.apply_op("StridedSlice", name, _inputs, _attrs)


def strided_slice_grad(
    shape: Any,
    begin: Any,
    end: Any,
    strides: Any,
    dy: Any,
    begin_mask: Any = 0,
    end_mask: Any = 0,
    ellipsis_mask: Any = 0,
    new_axis_mask: Any = 0,
    shrink_axis_mask: Any = 0,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns zeros with dy where StridedSlice took its output from.

    Args:
        shape: input, of type Index.
        begin: input, of type Index.
        end: input, of type Index.
        strides: input, of type Index.
        dy: input, of type T.
        begin_mask: attribute, int = 0.
        end_mask: attribute, int = 0.
        ellipsis_mask: attribute, int = 0.
        new_axis_mask: attribute, int = 0.
        shrink_axis_mask: attribute, int = 0.
        name: name of the node.
        _kernel: label of the kernel; None selects the default.

    Returns:
        The output output, of type T.

    Op StridedSliceGrad; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Index:
    {int32, int64}.
    """
    _inputs: list[Any] = [shape, begin, end, strides, dy]
    _attrs: dict[str, Any] = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
        "_kernel": _kernel,
    }
    if executing_eagerly():
        return execute("StridedSliceGrad", _inputs, _attrs)
    return op_def_library.apply_op("StridedSliceGrad", name, _inputs, _attrs)


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

    Op Sub; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    _inputs: list[Any] = [x, y]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Sub", _inputs, _attrs)
    return op_def_library.apply_op("Sub", name, _inputs, _attrs)


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

    Op Sum; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32, int64} =
    'int32'.
    """
    _inputs: list[Any] = [input, reduction_indices]
    _attrs: dict[str, Any] = {"keep_dims": keep_dims, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Sum", _inputs, _attrs)
    return op_def_library.apply_op("Sum", name, _inputs, _attrs)


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
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Tanh", _inputs, _attrs)
    return op_def_library.apply_op("Tanh", name, _inputs, _attrs)


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
    _inputs: list[Any] = [y, dy]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("TanhGrad", _inputs, _attrs)
    return op_def_library.apply_op("TanhGrad", name, _inputs, _attrs)


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

    Op Tile; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tmultiples: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [input, multiples]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Tile", _inputs, _attrs)
    return op_def_library.apply_op("Tile", name, _inputs, _attrs)


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

    Op Transpose; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tperm: {int32,
    int64} = 'int32'.
    """
    _inputs: list[Any] = [x, perm]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("Transpose", _inputs, _attrs)
    return op_def_library.apply_op("Transpose", name, _inputs, _attrs)


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
    _inputs: list[Any] = [shape]
    _attrs: dict[str, Any] = {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    if executing_eagerly():
        return execute("TruncatedNormal", _inputs, _attrs)
    return op_def_library.apply_op("TruncatedNormal", name, _inputs, _attrs)


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

    Op Unpack; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [value]
    _attrs: dict[str, Any] = {"num": num, "axis": axis, "_kernel": _kernel}
    if executing_eagerly():
        return execute("Unpack", _inputs, _attrs)
    return op_def_library.apply_op("Unpack", name, _inputs, _attrs)


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

    Op UnsortedSegmentSum; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tindices:
    {int32, int64}; Tnumsegments: {int32, int64} = 'int32'.
    """
    _inputs: list[Any] = [data, segment_ids, num_segments]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("UnsortedSegmentSum", _inputs, _attrs)
    return op_def_library.apply_op("UnsortedSegmentSum", name, _inputs, _attrs)


def variable(
    shape: Any,
    dtype: Any,
    name: str | None = None,
) -> Any:
    """Returns a reference to a value that outlives the run; the session stores the value.

    Args:
        shape: attribute, shape.
        dtype: attribute, {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
        name: name of the node.

    Returns:
        The output ref, reference to a variable of type dtype.

    Op Variable.
    """
    _inputs: list[Any] = []
    _attrs: dict[str, Any] = {"shape": shape, "dtype": dtype}
    if executing_eagerly():
        return execute("Variable", _inputs, _attrs)
    return op_def_library.apply_op("Variable", name, _inputs, _attrs)


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

    Op ZerosLike; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    _inputs: list[Any] = [x]
    _attrs: dict[str, Any] = {"_kernel": _kernel}
    if executing_eagerly():
        return execute("ZerosLike", _inputs, _attrs)
    return op_def_library.apply_op("ZerosLike", name, _inputs, _attrs)
