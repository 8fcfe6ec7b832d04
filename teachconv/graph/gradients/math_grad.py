"""The gradient functions of arithmetic and reductions. TensorFlow: python/ops/math_grad.py.

Each function takes the operation and the gradients of its outputs, and returns those of its inputs; None for
an input that has none. They call the public functions, so they work in graphs, in functions and eagerly, and
what they compute can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..framework.op_def import is_trainable
from ..framework.shape_inference import known_value
from ..framework.tensor_shape import StaticShape, as_shape, is_fully_defined
from ..ops import array_ops, gen_nn_ops, math_ops
from .gradients_util import RegisterGradient

# --- broadcasting: the gradient of an axis that was repeated is the sum over it -----------------------


def reduce_gradients(x: Any, y: Any, grad_x: Any, grad_y: Any, kept: int = 0) -> tuple[Any, Any]:
    """Return the gradients summed over the axes along which broadcasting repeated x and y.

    Args:
        x: the first input.
        y: the second input.
        grad_x: the gradient of x in the shape of the result, or None.
        grad_y: likewise of y.
        kept: how many axes at the end are not broadcast.

    Returns:
        The gradients in the shapes of x and y.
    """
    shape_x, shape_y = (
        None if shape is None else shape[: len(shape) - kept]
        for shape in (as_shape(x.shape), as_shape(y.shape))
    )
    if shape_x == shape_y and shape_x is not None and None not in shape_x:
        return grad_x, grad_y
    axes = _repeated_axes(shape_x, shape_y)
    sizes = array_ops.shape(x), array_ops.shape(y)
    if axes is None:
        axes = gen_nn_ops.broadcast_gradient_args(*(size[:-kept] if kept else size for size in sizes))
    shapes = shape_x, shape_y
    results = []
    for grad, its_axes, size, mine, other in zip(
        (grad_x, grad_y), axes, sizes, shapes, shapes[::-1], strict=True
    ):
        needed = not isinstance(its_axes, list) or its_axes or len(mine or ()) < len(other or ())
        if grad is not None and needed:
            grad = array_ops.reshape(math_ops.reduce_sum(grad, its_axes, keepdims=True), size)
        results.append(grad)
    return results[0], results[1]


def _repeated_axes(x: StaticShape, y: StaticShape) -> Any:
    """Return, for each shape, the axes of the result along which it was repeated; None where not known."""
    if x is None or y is None:
        return None
    rank = max(len(x), len(y))
    axes: tuple[list[int], list[int]] = [], []
    wide = [(1,) * (rank - len(shape)) + shape for shape in (x, y)]
    for axis, (a, b) in enumerate(zip(*wide, strict=True)):
        if a == 1 and b != 1:
            axes[0].append(axis)
        elif b == 1 and a != 1:
            axes[1].append(axis)
        elif a is None or b is None:
            return None  # either of them may turn out to be 1
    return axes


# --- two inputs ---------------------------------------------------------------------------------------

# The gradients of x and y, before broadcasting is undone, for that of the result.
_OF_TWO_INPUTS: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "Add": lambda x, y, grad: (grad, grad),
    "Sub": lambda x, y, grad: (grad, -grad),
    "RealDiv": lambda x, y, grad: (
        gen_nn_ops.real_div(grad, y),
        grad * gen_nn_ops.real_div(gen_nn_ops.real_div(-x, y), y),
    ),
    "FloorMod": lambda x, y, grad: (grad, grad * -gen_nn_ops.floor_div(x, y)),
}


def _grad_of_two_inputs(op: Any, grad: Any) -> tuple[Any, Any]:
    x, y = op.inputs
    return reduce_gradients(x, y, *_OF_TWO_INPUTS[op.type](x, y, grad))


for _name in _OF_TWO_INPUTS:
    RegisterGradient(_name)(_grad_of_two_inputs)


@RegisterGradient("Mul")
def _mul_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    x, y = op.inputs
    shape = as_shape(x.shape)
    same = is_fully_defined(shape) and shape == as_shape(y.shape) and x.dtype == "float32"
    to_x = gen_nn_ops.mul(grad, y)
    # TensorFlow has a shorter way for float32 of one shape, and the factors change places there
    return reduce_gradients(x, y, to_x, gen_nn_ops.mul(grad, x) if same else gen_nn_ops.mul(x, grad))


@RegisterGradient("Pow")
def _pow_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """y x^(y-1) and x^y log(x); the latter is 0 where x is not positive, to avoid NaN."""
    x, y = op.inputs
    to_x = grad * y * math_ops.pow(x, y - 1)
    positive = x > 0
    safe = math_ops.where(positive, x, array_ops.ones_like(x))
    log = math_ops.where(positive, math_ops.log(safe), array_ops.zeros_like(x))
    return reduce_gradients(x, y, to_x, grad * op.outputs[0] * log)


@RegisterGradient("Maximum")
@RegisterGradient("Minimum")
def _maximum_or_minimum_grad(op: Any, grad: Any) -> tuple[Any, Any]:
    """The gradient goes to the input that was chosen, to x if both are equal."""
    comparison = math_ops.greater_equal if op.type == "Maximum" else math_ops.less_equal
    x, y = op.inputs
    zeros = array_ops.zeros_like(grad)
    first = comparison(x, y)
    to_x, to_y = math_ops.where(first, grad, zeros), math_ops.where(first, zeros, grad)
    return reduce_gradients(x, y, to_x, to_y)


@RegisterGradient("MatMul")
@RegisterGradient("BatchMatMulV2")
def _mat_mul_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """grad b' and a' grad; where the op transposes a factor, its gradient is transposed."""
    a, b = op.inputs
    is_batch, kernel = op.type != "MatMul", op.attrs.get("_kernel")
    names = ("adj_x", "adj_y") if is_batch else ("transpose_a", "transpose_b")
    transpose_a, transpose_b = map(op.get_attr, names)
    multiply = gen_nn_ops.batch_mat_mul_v2 if is_batch else gen_nn_ops.mat_mul

    def product(x: Any, y: Any, *transposes: Any) -> Any:
        return multiply(x, y, **dict(zip(names, transposes, strict=True)), _kernel=kernel)

    to_a = product(b, grad, transpose_b, True) if transpose_a else product(grad, b, False, not transpose_b)
    to_b = product(grad, a, True, transpose_a) if transpose_b else product(a, grad, not transpose_a, False)
    return reduce_gradients(a, b, to_a, to_b, kept=2) if is_batch else (to_a, to_b)


# --- one input ----------------------------------------------------------------------------------------

# The gradient of x for that of y = f(x). Where y says it, x need not be kept.
_OF_ONE_INPUT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Neg": lambda x, y, grad: -grad,
    "Abs": lambda x, y, grad: grad * gen_nn_ops.sign(x),
    "Sign": lambda x, y, grad: array_ops.zeros_like(x),
    "Square": lambda x, y, grad: gen_nn_ops.mul(
        grad, gen_nn_ops.mul(x, array_ops.constant(2, dtype=x.dtype))
    ),
    "Sqrt": lambda x, y, grad: 0.5 * grad / y,
    "Rsqrt": lambda x, y, grad: -0.5 * grad * y * y * y,
    "Tanh": lambda x, y, grad: grad * (1.0 - y * y),
    "Sigmoid": lambda x, y, grad: grad * y * (1.0 - y),
    "Exp": lambda x, y, grad: grad * y,
    "Elu": lambda x, y, grad: math_ops.where(y < 0.0, grad * (y + 1.0), grad),
    "Softplus": lambda x, y, grad: grad * math_ops.sigmoid(x),
    "Log": lambda x, y, grad: grad / x,
    "Log1p": lambda x, y, grad: grad / (1.0 + x),
}


def _grad_of_one_input(op: Any, grad: Any) -> Any:
    return _OF_ONE_INPUT[op.type](op.inputs[0], op.outputs[0], grad)


for _name in _OF_ONE_INPUT:
    RegisterGradient(_name)(_grad_of_one_input)


@RegisterGradient("Cast")
def _cast_grad(op: Any, grad: Any) -> Any:
    """Cast back; where either dtype is an integer type there is no gradient."""
    source, target = op.inputs[0].dtype, grad.dtype
    return math_ops.cast(grad, source) if is_trainable(source) and is_trainable(target) else None


# --- several inputs -----------------------------------------------------------------------------------


@RegisterGradient("SelectV2")
def _select_v2_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    condition, x, y = op.inputs
    zeros = array_ops.zeros([], grad.dtype)
    to_x, _ = reduce_gradients(x, op.outputs[0], math_ops.where(condition, grad, zeros), None)
    to_y, _ = reduce_gradients(y, op.outputs[0], math_ops.where(condition, zeros, grad), None)
    return None, to_x, to_y


# --- reductions ---------------------------------------------------------------------------------------


@RegisterGradient("Sum")
def _sum_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """Every cell that was summed gets the gradient of its sum."""
    x, axes = op.inputs
    shape, known = as_shape(x.shape), known_value(axes)
    if shape is not None and known is not None:
        gone = {int(axis) % len(shape) for axis in known.ravel()}
        kept = [1 if axis in gone else size for axis, size in enumerate(shape)]
        if len(gone) == len(shape):  # all axes: repeat a scalar
            grad = array_ops.reshape(grad, kept)
            sizes = array_ops.shape(x) if None in shape else array_ops.constant(np.array(shape, "int32"))
            return array_ops.tile(grad, sizes), None
        if None not in shape:
            multiples = [size if axis in gone else 1 for axis, size in enumerate(shape)]
            return array_ops.tile(array_ops.reshape(grad, kept), multiples), None
    input_shape = array_ops.shape(x)
    if not op.get_attr("keep_dims"):
        grad = array_ops.reshape(grad, math_ops.reduced_shape(input_shape, axes))
    return array_ops.broadcast_to(grad, input_shape), None


@RegisterGradient("Mean")
def _mean_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """That of Sum, divided by the number of cells of each mean."""
    to_sum = _sum_grad(op, grad)[0]
    shape, reduced = as_shape(op.inputs[0].shape), as_shape(op.outputs[0].shape)
    factor: Any
    if shape is not None and reduced is not None and None not in shape and None not in reduced:
        factor = array_ops.constant(prod(shape) // max(prod(reduced), 1), dtype=to_sum.dtype)  # type: ignore[arg-type]
    else:
        sizes = array_ops.shape(op.inputs[0])
        rank = array_ops.size(sizes)
        axes = gen_nn_ops.floor_mod(math_ops.cast(op.inputs[1], "int32") + rank, rank, name="mod")
        factor = math_ops.cast(math_ops.reduce_prod(array_ops.gather(sizes, axes)), to_sum.dtype)
    return math_ops.truediv(to_sum, factor), None


@RegisterGradient("Max")
@RegisterGradient("Min")
def _min_or_max_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """Cells that are equally large (or small) share the gradient."""
    x, axes = op.inputs
    y, sizes = op.outputs[0], array_ops.shape(x)
    if op.get_attr("keep_dims"):
        kept = array_ops.shape(y)
    else:
        kept = math_ops.reduced_shape(sizes, axes)
        y, grad = array_ops.reshape(y, kept), array_ops.reshape(grad, kept)
    selected = math_ops.cast(math_ops.equal(y, x), grad.dtype)
    number = array_ops.reshape(math_ops.reduce_sum(selected, axes), kept)
    return math_ops.truediv(selected, number) * grad, None
