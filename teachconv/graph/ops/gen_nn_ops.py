"""The ops as Python functions. GENERATED from core_ops/ by op_gen.py: do not edit.

    python -m teachconv.graph.core_ops.op_gen

TensorFlow: python/ops/gen_nn_ops.py, gen_math_ops.py, gen_array_ops.py and gen_state_ops.py, which are
generated when TensorFlow is built and not kept in its repository. Each function adds a node to the default
graph or, if there is none, runs the op immediately. Nothing is computed here:
``teachconv.find_source(gen_nn_ops.conv2d)``, optionally with the arguments of a call, shows where it is.

Below its summary each function has the definition of its op: ``Op(inputs) -> outputs``, and the attributes
with their defaults. T is the dtype of the inputs. In every function, ``name`` is the name of the node, and
``_kernel`` the label of its kernel; None stands for the default. Element-wise ops have one kernel, and their
functions are public as they are: tg.exp is gen_nn_ops.exp.
"""

from __future__ import annotations

from typing import Any

from ..common_runtime.execute import run_or_add

__all__ = [
    "abs",
    "add",
    "add_n",
    "all",
    "any",
    "apply_adam",
    "apply_gradient_descent",
    "apply_momentum",
    "apply_rms_prop",
    "arg_max",
    "assign",
    "assign_add",
    "assign_sub",
    "avg_pool",
    "avg_pool3d",
    "avg_pool3d_grad",
    "avg_pool_grad",
    "batch_mat_mul_v2",
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
    "conv3d",
    "conv3d_backprop_filter_v2",
    "conv3d_backprop_input_v2",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dynamic_stitch",
    "elu",
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
    "log1p",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "mat_mul",
    "max",
    "max_pool",
    "max_pool3d",
    "max_pool3d_grad",
    "max_pool_grad",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mirror_pad",
    "mirror_pad_grad",
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
    "random_uniform_int",
    "range",
    "read_variable_op",
    "real_div",
    "relu",
    "relu_grad",
    "reshape",
    "resource_apply_keras_momentum",
    "rsqrt",
    "select_v2",
    "shape",
    "shape_n",
    "sigmoid",
    "sign",
    "size",
    "slice",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "sparse_softmax_cross_entropy_with_logits",
    "sqrt",
    "square",
    "squeeze",
    "stop_gradient",
    "strided_slice",
    "strided_slice_grad",
    "sub",
    "sum",
    "tanh",
    "tile",
    "transpose",
    "truncated_normal",
    "unpack",
    "variable",
    "write_scalar_summary",
    "zeros_like",
]


def abs(x: Any, name: str | None = None) -> Any:
    """Returns the absolute value.

    Abs(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Abs", name, [x], {})


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x + y with broadcasting.

    Add(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Add", name, [x, y], {})


def add_n(inputs: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the sum of tensors of one shape.

    AddN(inputs: N * T) -> sum: T.
    N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    return run_or_add("AddN", name, [inputs], {"_kernel": _kernel})


def all(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns whether all values over axes are True.

    All(input: bool, reduction_indices: Tidx) -> output: bool.
    keep_dims: bool = False; Tidx: {int32, int64} = 'int32'.
    """
    return run_or_add("All", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


def any(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns whether any value over axes is True.

    Any(input: bool, reduction_indices: Tidx) -> output: bool.
    keep_dims: bool = False; Tidx: {int32, int64} = 'int32'.
    """
    return run_or_add("Any", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


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

    ApplyAdam(var: Ref(T), m: Ref(T), v: Ref(T), beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T,
        epsilon: T, grad: T) -> out: Ref(T).
    T: {float16, bfloat16, float32, float64}; use_nesterov: bool = False.
    """
    return run_or_add(
        "ApplyAdam",
        name,
        [var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad],
        {"use_nesterov": use_nesterov, "_kernel": _kernel},
    )


def apply_gradient_descent(
    var: Any, alpha: Any, delta: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Subtracts alpha * delta from a variable.

    ApplyGradientDescent(var: Ref(T), alpha: T, delta: T) -> out: Ref(T).
    T: {float16, bfloat16, float32, float64}.
    """
    return run_or_add("ApplyGradientDescent", name, [var, alpha, delta], {"_kernel": _kernel})


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

    ApplyMomentum(var: Ref(T), accum: Ref(T), lr: T, grad: T, momentum: T) -> out: Ref(T).
    T: {float16, bfloat16, float32, float64}; use_nesterov: bool = False.
    """
    return run_or_add(
        "ApplyMomentum",
        name,
        [var, accum, lr, grad, momentum],
        {"use_nesterov": use_nesterov, "_kernel": _kernel},
    )


def apply_rms_prop(
    var: Any,
    ms: Any,
    mom: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    grad: Any,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Updates the average ms of squared gradients, and mom by the gradients divided by its root.

    ApplyRMSProp(var: Ref(T), ms: Ref(T), mom: Ref(T), lr: T, rho: T, momentum: T, epsilon: T, grad: T) ->
        out: Ref(T).
    T: {float16, bfloat16, float32, float64}.
    """
    return run_or_add(
        "ApplyRMSProp", name, [var, ms, mom, lr, rho, momentum, epsilon, grad], {"_kernel": _kernel}
    )


def arg_max(
    input: Any,
    dimension: Any,
    output_type: Any = "int64",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the position of the largest value along an axis, the first of equal ones.

    ArgMax(input: T, dimension: Tidx) -> output: output_type.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tidx: {int32, int64} = 'int32';
        output_type: {int32, int64} = 'int64'.
    """
    return run_or_add("ArgMax", name, [input, dimension], {"output_type": output_type, "_kernel": _kernel})


def assign(ref: Any, value: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Assigns a new value to a variable and returns the reference.

    Assign(ref: Ref(T), value: T) -> output_ref: Ref(T).
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    return run_or_add("Assign", name, [ref, value], {"_kernel": _kernel})


def assign_add(ref: Any, value: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Adds a value to a variable and returns the reference.

    AssignAdd(ref: Ref(T), value: T) -> output_ref: Ref(T).
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    return run_or_add("AssignAdd", name, [ref, value], {"_kernel": _kernel})


def assign_sub(ref: Any, value: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Subtracts a value from a variable and returns the reference.

    AssignSub(ref: Ref(T), value: T) -> output_ref: Ref(T).
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    return run_or_add("AssignSub", name, [ref, value], {"_kernel": _kernel})


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

    AvgPool(value: T) -> output: T.
    T: {float16, bfloat16, float32, float64}; ksize: list(int); strides: list(int); padding: {SAME, VALID,
        SAME_LOWER}; data_format: {NHWC, NCHW} = 'NHWC'.
    """
    return run_or_add(
        "AvgPool",
        name,
        [value],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the mean of each window; padding is not counted.

    AvgPool3D(input: T) -> output: T.
    T: {float16, bfloat16, float32, float64}; ksize: list(int); strides: list(int); padding: {SAME, VALID,
        SAME_LOWER}; data_format: {NDHWC, NCDHW} = 'NDHWC'.
    """
    return run_or_add(
        "AvgPool3D",
        name,
        [input],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


def avg_pool3d_grad(
    orig_input_shape: Any,
    grad: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Distributes the gradient of each window equally among its cells.

    AvgPool3DGrad(orig_input_shape: int32, grad: T) -> output: T.
    T: {float16, bfloat16, float32, float64}; ksize: list(int); strides: list(int); padding: {SAME, VALID,
        SAME_LOWER}; data_format: {NDHWC, NCDHW} = 'NDHWC'.
    """
    return run_or_add(
        "AvgPool3DGrad",
        name,
        [orig_input_shape, grad],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


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

    AvgPoolGrad(orig_input_shape: int32, grad: T) -> output: T.
    T: {float16, bfloat16, float32, float64}; ksize: list(int); strides: list(int); padding: {SAME, VALID,
        SAME_LOWER}; data_format: {NHWC, NCHW} = 'NHWC'.
    """
    return run_or_add(
        "AvgPoolGrad",
        name,
        [orig_input_shape, grad],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


def batch_mat_mul_v2(
    x: Any,
    y: Any,
    adj_x: Any = False,
    adj_y: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Multiplies the matrices in the last two axes; the axes before them are broadcast.

    BatchMatMulV2(x: T, y: T) -> output: T.
    adj_x: bool = False; adj_y: bool = False; T: {float16, bfloat16, float32, float64, int32, int64}.
    """
    return run_or_add("BatchMatMulV2", name, [x, y], {"adj_x": adj_x, "adj_y": adj_y, "_kernel": _kernel})


def bias_add(
    value: Any, bias: Any, data_format: Any = "NHWC", name: str | None = None, _kernel: str | None = None
) -> Any:
    """Adds one number to each channel.

    BiasAdd(value: T, bias: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; data_format: {NHWC, NCHW} = 'NHWC'.
    """
    return run_or_add("BiasAdd", name, [value, bias], {"data_format": data_format, "_kernel": _kernel})


def bias_add_grad(
    out_backprop: Any, data_format: Any = "NHWC", name: str | None = None, _kernel: str | None = None
) -> Any:
    """Returns the gradient of BiasAdd with respect to the bias: the sum over all other axes.

    BiasAddGrad(out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; data_format: {NHWC, NCHW} = 'NHWC'.
    """
    return run_or_add("BiasAddGrad", name, [out_backprop], {"data_format": data_format, "_kernel": _kernel})


def broadcast_gradient_args(s0: Any, s1: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns, for two shapes, the axes along which broadcasting repeated each of them.

    BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T.
    T: {int32, int64} = 'int32'.
    """
    return run_or_add("BroadcastGradientArgs", name, [s0, s1], {"_kernel": _kernel})


def broadcast_to(input: Any, shape: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Expands axes of size 1 to a shape.

    BroadcastTo(input: T, shape: Tidx) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tidx: {int32, int64} = 'int32'.
    """
    return run_or_add("BroadcastTo", name, [input, shape], {"_kernel": _kernel})


def cast(x: Any, DstT: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Converts to another dtype; floats are cut off towards zero, bool becomes 0 or 1.

    Cast(x: SrcT) -> y: DstT.
    SrcT: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; DstT: {float16, bfloat16, float32,
        float64, int32, int64, uint8, bool}.
    """
    return run_or_add("Cast", name, [x], {"DstT": DstT, "_kernel": _kernel})


def check_numerics(tensor: Any, message: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns its input; fails if it holds NaN or infinity.

    CheckNumerics(tensor: T) -> output: T.
    T: {float16, bfloat16, float32, float64}; message: string.
    """
    return run_or_add("CheckNumerics", name, [tensor], {"message": message, "_kernel": _kernel})


def concat_offset(concat_dim: Any, shape: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns where each input of a ConcatV2 starts in its output, for Slice.

    ConcatOffset(concat_dim: int32, shape: N * int32) -> offset: N * int32.
    N: int.
    """
    return run_or_add("ConcatOffset", name, [concat_dim, shape], {"_kernel": _kernel})


def concat_v2(values: Any, axis: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Joins tensors along an axis.

    ConcatV2(values: N * T, axis: Tidx) -> output: T.
    N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tidx: {int32, int64} =
        'int32'.
    """
    return run_or_add("ConcatV2", name, [values, axis], {"_kernel": _kernel})


def const(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Returns the same value in each run.

    Const() -> output: dtype.
    value: tensor; dtype: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    return run_or_add("Const", name, [], {"value": value, "dtype": dtype})


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

    Conv2D(input: T, filter: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC, NCHW} = 'NHWC';
        dilations: list(int) = (1, 1, 1, 1).
    """
    return run_or_add(
        "Conv2D",
        name,
        [input, filter],
        {
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "dilations": dilations,
            "_kernel": _kernel,
        },
    )


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

    Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC, NCHW} = 'NHWC';
        dilations: list(int) = (1, 1, 1, 1).
    """
    return run_or_add(
        "Conv2DBackpropFilter",
        name,
        [input, filter_sizes, out_backprop],
        {
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "dilations": dilations,
            "_kernel": _kernel,
        },
    )


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

    Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC, NCHW} = 'NHWC';
        dilations: list(int) = (1, 1, 1, 1).
    """
    return run_or_add(
        "Conv2DBackpropInput",
        name,
        [input_sizes, filter, out_backprop],
        {
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "dilations": dilations,
            "_kernel": _kernel,
        },
    )


def conv3d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    explicit_paddings: Any = (),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Convolves volumes with filters (a cross-correlation).

    Conv3D(input: T, filter: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; data_format: {NDHWC, NCDHW} = 'NDHWC'; dilations: list(int) = (1, 1, 1, 1, 1);
        explicit_paddings: list(int) = ().
    """
    return run_or_add(
        "Conv3D",
        name,
        [input, filter],
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
            "explicit_paddings": explicit_paddings,
            "_kernel": _kernel,
        },
    )


def conv3d_backprop_filter_v2(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    explicit_paddings: Any = (),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradient of Conv3D with respect to its filter.

    Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; data_format: {NDHWC, NCDHW} = 'NDHWC'; dilations: list(int) = (1, 1, 1, 1, 1);
        explicit_paddings: list(int) = ().
    """
    return run_or_add(
        "Conv3DBackpropFilterV2",
        name,
        [input, filter_sizes, out_backprop],
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
            "explicit_paddings": explicit_paddings,
            "_kernel": _kernel,
        },
    )


def conv3d_backprop_input_v2(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    explicit_paddings: Any = (),
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the gradient of Conv3D with respect to its input; this is conv3d_transpose.

    Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; data_format: {NDHWC, NCDHW} = 'NDHWC'; dilations: list(int) = (1, 1, 1, 1, 1);
        explicit_paddings: list(int) = (); Tshape: {int32, int64} = 'int32'.
    """
    return run_or_add(
        "Conv3DBackpropInputV2",
        name,
        [input_sizes, filter, out_backprop],
        {
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "dilations": dilations,
            "explicit_paddings": explicit_paddings,
            "_kernel": _kernel,
        },
    )


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

    DepthwiseConv2dNative(input: T, filter: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC, NCHW} = 'NHWC';
        dilations: list(int) = (1, 1, 1, 1).
    """
    return run_or_add(
        "DepthwiseConv2dNative",
        name,
        [input, filter],
        {
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "dilations": dilations,
            "_kernel": _kernel,
        },
    )


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

    DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC, NCHW} = 'NHWC';
        dilations: list(int) = (1, 1, 1, 1).
    """
    return run_or_add(
        "DepthwiseConv2dNativeBackpropFilter",
        name,
        [input, filter_sizes, out_backprop],
        {
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "dilations": dilations,
            "_kernel": _kernel,
        },
    )


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

    DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64}; strides: list(int); padding: {SAME, VALID,
        SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC, NCHW} = 'NHWC';
        dilations: list(int) = (1, 1, 1, 1).
    """
    return run_or_add(
        "DepthwiseConv2dNativeBackpropInput",
        name,
        [input_sizes, filter, out_backprop],
        {
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "dilations": dilations,
            "_kernel": _kernel,
        },
    )


def dynamic_stitch(indices: Any, data: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Merges slices into one tensor by their indices; where two are equal the last one stays.

    DynamicStitch(indices: N * int32, data: N * T) -> merged: T.
    N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    return run_or_add("DynamicStitch", name, [indices, data], {"_kernel": _kernel})


def elu(features: Any, name: str | None = None) -> Any:
    """Returns exp(features) - 1 if features are negative, features otherwise.

    Elu(features: T) -> activations: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        features: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Elu", name, [features], {})


def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns whether x and y are equal.

    Equal(x: T, y: T) -> z: bool.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Equal", name, [x, y], {})


def exp(x: Any, name: str | None = None) -> Any:
    """Returns e to the power of x.

    Exp(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Exp", name, [x], {})


def expand_dims(input: Any, dim: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Inserts an axis of size 1.

    ExpandDims(input: T, dim: Tdim) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tdim: {int32, int64} = 'int32'.
    """
    return run_or_add("ExpandDims", name, [input, dim], {"_kernel": _kernel})


def fill(dims: Any, value: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns a tensor of a shape filled with one value.

    Fill(dims: index_type, value: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; index_type: {int32, int64} = 'int32'.
    """
    return run_or_add("Fill", name, [dims, value], {"_kernel": _kernel})


def floor_div(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x / y rounded down.

    FloorDiv(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("FloorDiv", name, [x, y], {})


def floor_mod(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x - y * FloorDiv(x, y).

    FloorMod(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("FloorMod", name, [x, y], {})


def gather_v2(
    params: Any, indices: Any, axis: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Returns the slices at the indices along an axis.

    GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams.
    Tparams: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tindices: {int32, int64};
        Taxis: {int32, int64}.
    """
    return run_or_add("GatherV2", name, [params, indices, axis], {"_kernel": _kernel})


def greater(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x > y.

    Greater(x: T, y: T) -> z: bool.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Greater", name, [x, y], {})


def greater_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x >= y.

    GreaterEqual(x: T, y: T) -> z: bool.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("GreaterEqual", name, [x, y], {})


def identity(input: Any, name: str | None = None) -> Any:
    """Returns its input; for a variable, its current value.

    Identity(input: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        input: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Identity", name, [input], {})


def invert_permutation(x: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the permutation that undoes a permutation.

    InvertPermutation(x: T) -> y: T.
    T: {int32, int64} = 'int32'.
    """
    return run_or_add("InvertPermutation", name, [x], {"_kernel": _kernel})


def less(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x < y.

    Less(x: T, y: T) -> z: bool.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Less", name, [x, y], {})


def less_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x <= y.

    LessEqual(x: T, y: T) -> z: bool.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("LessEqual", name, [x, y], {})


def log(x: Any, name: str | None = None) -> Any:
    """Returns the natural logarithm.

    Log(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Log", name, [x], {})


def log1p(x: Any, name: str | None = None) -> Any:
    """Returns the natural logarithm of 1 + x.

    Log1p(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Log1p", name, [x], {})


def log_softmax(logits: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the logarithm of Softmax, computed without overflow.

    LogSoftmax(logits: T) -> logsoftmax: T.
    T: {float16, bfloat16, float32, float64}.
    """
    return run_or_add("LogSoftmax", name, [logits], {"_kernel": _kernel})


def logical_and(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x and y with broadcasting.

    LogicalAnd(x: bool, y: bool) -> z: bool.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("LogicalAnd", name, [x, y], {})


def logical_not(x: Any, name: str | None = None) -> Any:
    """Returns not x.

    LogicalNot(x: bool) -> y: bool.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("LogicalNot", name, [x], {})


def logical_or(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x or y with broadcasting.

    LogicalOr(x: bool, y: bool) -> z: bool.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("LogicalOr", name, [x, y], {})


def mat_mul(
    a: Any,
    b: Any,
    transpose_a: Any = False,
    transpose_b: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Multiplies two matrices.

    MatMul(a: T, b: T) -> product: T.
    transpose_a: bool = False; transpose_b: bool = False; T: {float16, bfloat16, float32, float64, int32,
        int64}.
    """
    return run_or_add(
        "MatMul", name, [a, b], {"transpose_a": transpose_a, "transpose_b": transpose_b, "_kernel": _kernel}
    )


def max(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the largest value over axes.

    Max(input: T, reduction_indices: Tidx) -> output: T.
    keep_dims: bool = False; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32,
        int64} = 'int32'.
    """
    return run_or_add("Max", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


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

    MaxPool(input: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; ksize: list(int); strides: list(int);
        padding: {SAME, VALID, SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC,
        NCHW} = 'NHWC'.
    """
    return run_or_add(
        "MaxPool",
        name,
        [input],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the largest value of each window; padding is ignored.

    MaxPool3D(input: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; ksize: list(int); strides: list(int);
        padding: {SAME, VALID, SAME_LOWER}; data_format: {NDHWC, NCDHW} = 'NDHWC'.
    """
    return run_or_add(
        "MaxPool3D",
        name,
        [input],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


def max_pool3d_grad(
    orig_input: Any,
    orig_output: Any,
    grad: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NDHWC",
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Adds the gradient of each window to the first of its largest cells, in row-major order.

    MaxPool3DGrad(orig_input: T, orig_output: T, grad: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; ksize: list(int); strides: list(int);
        padding: {SAME, VALID, SAME_LOWER}; data_format: {NDHWC, NCDHW} = 'NDHWC'.
    """
    return run_or_add(
        "MaxPool3DGrad",
        name,
        [orig_input, orig_output, grad],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


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

    MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; ksize: list(int); strides: list(int);
        padding: {SAME, VALID, SAME_LOWER, EXPLICIT}; explicit_paddings: list(int) = (); data_format: {NHWC,
        NCHW} = 'NHWC'.
    """
    return run_or_add(
        "MaxPoolGrad",
        name,
        [orig_input, orig_output, grad],
        {
            "ksize": ksize,
            "strides": strides,
            "padding": padding,
            "explicit_paddings": explicit_paddings,
            "data_format": data_format,
            "_kernel": _kernel,
        },
    )


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns the larger one of x and y.

    Maximum(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Maximum", name, [x, y], {})


def mean(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the mean over axes; integer means are rounded towards zero.

    Mean(input: T, reduction_indices: Tidx) -> output: T.
    keep_dims: bool = False; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32,
        int64} = 'int32'.
    """
    return run_or_add("Mean", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


def min(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the smallest value over axes.

    Min(input: T, reduction_indices: Tidx) -> output: T.
    keep_dims: bool = False; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32,
        int64} = 'int32'.
    """
    return run_or_add("Min", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns the smaller one of x and y.

    Minimum(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Minimum", name, [x, y], {})


def mirror_pad(
    input: Any, paddings: Any, mode: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Adds cells before and after each axis that mirror those inside.

    MirrorPad(input: T, paddings: Tpaddings) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tpaddings: {int32, int64} = 'int32'; mode:
        {REFLECT, SYMMETRIC}.
    """
    return run_or_add("MirrorPad", name, [input, paddings], {"mode": mode, "_kernel": _kernel})


def mirror_pad_grad(
    input: Any, paddings: Any, mode: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Adds the gradient of each cell to that of the cell that it mirrors.

    MirrorPadGrad(input: T, paddings: Tpaddings) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tpaddings: {int32, int64} = 'int32'; mode:
        {REFLECT, SYMMETRIC}.
    """
    return run_or_add("MirrorPadGrad", name, [input, paddings], {"mode": mode, "_kernel": _kernel})


def mul(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x * y with broadcasting.

    Mul(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Mul", name, [x, y], {})


def neg(x: Any, name: str | None = None) -> Any:
    """Returns -x.

    Neg(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Neg", name, [x], {})


def no_op(name: str | None = None) -> Any:
    """Does nothing; carries control dependencies, as in `group`.

    NoOp() -> the operation.
    """
    return run_or_add("NoOp", name, [], {})


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns whether x and y differ.

    NotEqual(x: T, y: T) -> z: bool.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("NotEqual", name, [x, y], {})


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

    OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> output: T.
    axis: int = -1; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; TI: {uint8, int32,
        int64}.
    """
    return run_or_add(
        "OneHot", name, [indices, depth, on_value, off_value], {"axis": axis, "_kernel": _kernel}
    )


def ones_like(x: Any, name: str | None = None) -> Any:
    """Returns ones of the shape and dtype of x.

    OnesLike(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("OnesLike", name, [x], {})


def pack(values: Any, axis: Any = 0, name: str | None = None, _kernel: str | None = None) -> Any:
    """Joins tensors of one shape along a new axis.

    Pack(values: N * T) -> output: T.
    N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; axis: int = 0.
    """
    return run_or_add("Pack", name, [values], {"axis": axis, "_kernel": _kernel})


def pad(input: Any, paddings: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Adds zeros before and after along each axis.

    Pad(input: T, paddings: Tpaddings) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tpaddings: {int32, int64} = 'int32'.
    """
    return run_or_add("Pad", name, [input, paddings], {"_kernel": _kernel})


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Stands for a value that is fed to each run.

    Placeholder() -> output: dtype.
    dtype: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; shape: shape = None.
    """
    return run_or_add("Placeholder", name, [], {"dtype": dtype, "shape": shape})


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x to the power of y with broadcasting.

    Pow(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Pow", name, [x, y], {})


def prod(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the product over axes.

    Prod(input: T, reduction_indices: Tidx) -> output: T.
    keep_dims: bool = False; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32,
        int64} = 'int32'.
    """
    return run_or_add("Prod", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


def random_standard_normal(
    shape: Any, dtype: Any, seed: Any = 0, seed2: Any = 0, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Returns normal random numbers.

    RandomStandardNormal(shape: T) -> output: dtype.
    seed: int = 0; seed2: int = 0; dtype: {float16, bfloat16, float32, float64}; T: {int32, int64}.
    """
    return run_or_add(
        "RandomStandardNormal",
        name,
        [shape],
        {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel},
    )


def random_uniform(
    shape: Any, dtype: Any, seed: Any = 0, seed2: Any = 0, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Returns uniform random numbers in [0, 1).

    RandomUniform(shape: T) -> output: dtype.
    seed: int = 0; seed2: int = 0; dtype: {float16, bfloat16, float32, float64}; T: {int32, int64}.
    """
    return run_or_add(
        "RandomUniform", name, [shape], {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    )


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

    RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> output: Tout.
    seed: int = 0; seed2: int = 0; Tout: {int32, int64}; T: {int32, int64}.
    """
    return run_or_add(
        "RandomUniformInt", name, [shape, minval, maxval], {"seed": seed, "seed2": seed2, "_kernel": _kernel}
    )


def range(start: Any, limit: Any, delta: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns start, start + delta, ... below limit.

    Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx.
    Tidx: {float16, bfloat16, float32, float64, int32, int64}.
    """
    return run_or_add("Range", name, [start, limit, delta], {"_kernel": _kernel})


def read_variable_op(resource: Any, name: str | None = None) -> Any:
    """Returns the current value of a variable: how a traced function reads one.

    ReadVariableOp(resource: dtype) -> value: dtype.
    dtype: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        resource: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("ReadVariableOp", name, [resource], {})


def real_div(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x / y with broadcasting.

    RealDiv(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("RealDiv", name, [x, y], {})


def relu(features: Any, name: str | None = None) -> Any:
    """Returns max(features, 0) element-wise; NaN stays NaN.

    Relu(features: T) -> activations: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        features: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Relu", name, [features], {})


def relu_grad(gradients: Any, features: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the gradients where the features (or the activations) are positive, elsewhere 0.

    ReluGrad(gradients: T, features: T) -> backprops: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.
    """
    return run_or_add("ReluGrad", name, [gradients, features], {"_kernel": _kernel})


def reshape(tensor: Any, shape: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the same elements, in the same order, in another shape.

    Reshape(tensor: T, shape: Tshape) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tshape: {int32, int64} = 'int32'.
    """
    return run_or_add("Reshape", name, [tensor, shape], {"_kernel": _kernel})


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

    ResourceApplyKerasMomentum(var: Ref(T), accum: Ref(T), lr: T, grad: T, momentum: T) -> out: Ref(T).
    T: {float16, bfloat16, float32, float64}; use_nesterov: bool = False.
    """
    return run_or_add(
        "ResourceApplyKerasMomentum",
        name,
        [var, accum, lr, grad, momentum],
        {"use_nesterov": use_nesterov, "_kernel": _kernel},
    )


def rsqrt(x: Any, name: str | None = None) -> Any:
    """Returns 1 / sqrt(x).

    Rsqrt(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Rsqrt", name, [x], {})


def select_v2(condition: Any, t: Any, e: Any, name: str | None = None) -> Any:
    """Returns t where the condition is true, e elsewhere, with broadcasting.

    SelectV2(condition: bool, t: T, e: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        condition, t, e: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("SelectV2", name, [condition, t, e], {})


def shape(input: Any, out_type: Any = "int32", name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the shape of a tensor as a vector.

    Shape(input: T) -> output: out_type.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; out_type: {int32, int64} = 'int32'.
    """
    return run_or_add("Shape", name, [input], {"out_type": out_type, "_kernel": _kernel})


def shape_n(input: Any, out_type: Any = "int32", name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the shapes of several tensors.

    ShapeN(input: N * T) -> output: N * out_type.
    N: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; out_type: {int32, int64} =
        'int32'.
    """
    return run_or_add("ShapeN", name, [input], {"out_type": out_type, "_kernel": _kernel})


def sigmoid(x: Any, name: str | None = None) -> Any:
    """Returns 1 / (1 + exp(-x)).

    Sigmoid(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Sigmoid", name, [x], {})


def sign(x: Any, name: str | None = None) -> Any:
    """Returns -1, 0 or 1.

    Sign(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Sign", name, [x], {})


def size(input: Any, out_type: Any = "int32", name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the number of elements of a tensor.

    Size(input: T) -> output: out_type.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; out_type: {int32, int64} = 'int32'.
    """
    return run_or_add("Size", name, [input], {"out_type": out_type, "_kernel": _kernel})


def slice(input: Any, begin: Any, size: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the part that starts at begin and has a size; a size of -1 means to the end.

    Slice(input: T, begin: Index, size: Index) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Index: {int32, int64}.
    """
    return run_or_add("Slice", name, [input, begin, size], {"_kernel": _kernel})


def softmax(logits: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns exp(logits) divided by its sum over the last axis.

    Softmax(logits: T) -> softmax: T.
    T: {float16, bfloat16, float32, float64}.
    """
    return run_or_add("Softmax", name, [logits], {"_kernel": _kernel})


def softmax_cross_entropy_with_logits(
    features: Any, labels: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Returns the cross-entropy of each row, and its gradient: softmax(features) - labels.

    SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T.
    T: {float16, bfloat16, float32, float64}.
    """
    return run_or_add("SoftmaxCrossEntropyWithLogits", name, [features, labels], {"_kernel": _kernel})


def softplus(features: Any, name: str | None = None) -> Any:
    """Returns log(exp(features) + 1).

    Softplus(features: T) -> activations: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        features: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Softplus", name, [features], {})


def sparse_softmax_cross_entropy_with_logits(
    features: Any, labels: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Does the same for labels that are class numbers.

    SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T.
    T: {float16, bfloat16, float32, float64}; Tlabels: {int32, int64} = 'int64'.
    """
    return run_or_add("SparseSoftmaxCrossEntropyWithLogits", name, [features, labels], {"_kernel": _kernel})


def sqrt(x: Any, name: str | None = None) -> Any:
    """Returns the square root.

    Sqrt(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Sqrt", name, [x], {})


def square(x: Any, name: str | None = None) -> Any:
    """Returns x * x.

    Square(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Square", name, [x], {})


def squeeze(input: Any, squeeze_dims: Any = (), name: str | None = None, _kernel: str | None = None) -> Any:
    """Removes axes of size 1: all of them, or those that are named.

    Squeeze(input: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; squeeze_dims: list(int) = ().
    """
    return run_or_add("Squeeze", name, [input], {"squeeze_dims": squeeze_dims, "_kernel": _kernel})


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Returns its input, which counts as a constant for gradients.

    StopGradient(input: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        input: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("StopGradient", name, [input], {})


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

    StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Index: {int32, int64}; begin_mask:
        int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0.
    """
    return run_or_add(
        "StridedSlice",
        name,
        [input, begin, end, strides],
        {
            "begin_mask": begin_mask,
            "end_mask": end_mask,
            "ellipsis_mask": ellipsis_mask,
            "new_axis_mask": new_axis_mask,
            "shrink_axis_mask": shrink_axis_mask,
            "_kernel": _kernel,
        },
    )


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

    StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Index: {int32, int64}; begin_mask:
        int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0.
    """
    return run_or_add(
        "StridedSliceGrad",
        name,
        [shape, begin, end, strides, dy],
        {
            "begin_mask": begin_mask,
            "end_mask": end_mask,
            "ellipsis_mask": ellipsis_mask,
            "new_axis_mask": new_axis_mask,
            "shrink_axis_mask": shrink_axis_mask,
            "_kernel": _kernel,
        },
    )


def sub(x: Any, y: Any, name: str | None = None) -> Any:
    """Returns x - y with broadcasting.

    Sub(x: T, y: T) -> z: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}.

    Args:
        x, y: tensors, variables, arrays or numbers.
        name: the name of the node.
    """
    return run_or_add("Sub", name, [x, y], {})


def sum(
    input: Any,
    reduction_indices: Any,
    keep_dims: Any = False,
    name: str | None = None,
    _kernel: str | None = None,
) -> Any:
    """Returns the sum over axes.

    Sum(input: T, reduction_indices: Tidx) -> output: T.
    keep_dims: bool = False; T: {float16, bfloat16, float32, float64, int32, int64, uint8}; Tidx: {int32,
        int64} = 'int32'.
    """
    return run_or_add("Sum", name, [input, reduction_indices], {"keep_dims": keep_dims, "_kernel": _kernel})


def tanh(x: Any, name: str | None = None) -> Any:
    """Returns the hyperbolic tangent.

    Tanh(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("Tanh", name, [x], {})


def tile(input: Any, multiples: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Repeats a tensor along each axis.

    Tile(input: T, multiples: Tmultiples) -> output: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tmultiples: {int32, int64} = 'int32'.
    """
    return run_or_add("Tile", name, [input, multiples], {"_kernel": _kernel})


def transpose(x: Any, perm: Any, name: str | None = None, _kernel: str | None = None) -> Any:
    """Returns the input with its axes permuted.

    Transpose(x: T, perm: Tperm) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; Tperm: {int32, int64} = 'int32'.
    """
    return run_or_add("Transpose", name, [x, perm], {"_kernel": _kernel})


def truncated_normal(
    shape: Any, dtype: Any, seed: Any = 0, seed2: Any = 0, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Returns normal random numbers; those beyond two standard deviations are drawn again.

    TruncatedNormal(shape: T) -> output: dtype.
    seed: int = 0; seed2: int = 0; dtype: {float16, bfloat16, float32, float64}; T: {int32, int64}.
    """
    return run_or_add(
        "TruncatedNormal", name, [shape], {"dtype": dtype, "seed": seed, "seed2": seed2, "_kernel": _kernel}
    )


def unpack(value: Any, num: Any, axis: Any = 0, name: str | None = None, _kernel: str | None = None) -> Any:
    """Splits a tensor into its slices along an axis.

    Unpack(value: T) -> output: num * T.
    num: int; T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}; axis: int = 0.
    """
    return run_or_add("Unpack", name, [value], {"num": num, "axis": axis, "_kernel": _kernel})


def variable(shape: Any, dtype: Any, name: str | None = None) -> Any:
    """Returns a reference to a value that outlives the run; the session stores the value.

    Variable() -> ref: Ref(dtype).
    shape: shape; dtype: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.
    """
    return run_or_add("Variable", name, [], {"shape": shape, "dtype": dtype})


def write_scalar_summary(
    step: Any, value: Any, writer: Any, tag: Any, name: str | None = None, _kernel: str | None = None
) -> Any:
    """Appends a number to the file of a writer.

    WriteScalarSummary(step: int64, value: T) -> the operation.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8}; writer: string; tag: string.
    """
    return run_or_add(
        "WriteScalarSummary", name, [step, value], {"writer": writer, "tag": tag, "_kernel": _kernel}
    )


def zeros_like(x: Any, name: str | None = None) -> Any:
    """Returns zeros of the shape and dtype of x.

    ZerosLike(x: T) -> y: T.
    T: {float16, bfloat16, float32, float64, int32, int64, uint8, bool}.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.
    """
    return run_or_add("ZerosLike", name, [x], {})
