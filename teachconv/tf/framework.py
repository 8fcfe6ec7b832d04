"""tf.constant, tf.reshape, tf.Variable, tf.function, tf.device and others, with TensorFlow's signatures.

TensorFlow: python/framework/ops.py, python/ops/array_ops.py and variables.py, and
python/eager/polymorphic_function/.
"""

from __future__ import annotations

from typing import Any

from .. import graph as tg
from ..graph import constant, control_dependencies, device, executing_eagerly, init_scope, name_scope
from ..graph.gradients.gradients_util import UnconnectedGradients
from ..graph.ops import array_ops
from ..graph.ops.array_ops import (
    concat,
    expand_dims,
    fill,
    gather,
    identity,
    one_hot,
    ones,
    ones_like,
    pad,
    rank,
    reshape,
    shape,
    size,
    slice,
    split,
    squeeze,
    stack,
    stop_gradient,
    tile,
    transpose,
    unstack,
    zeros,
    zeros_like,
)
from ..graph.ops.math_ops import where
from ..graph.options import unsupported

__all__ = [
    "Tensor",
    "UnconnectedGradients",
    "Variable",
    "concat",
    "constant",
    "control_dependencies",
    "convert_to_tensor",
    "device",
    "executing_eagerly",
    "expand_dims",
    "fill",
    "function",
    "gather",
    "gradients",
    "group",
    "identity",
    "init_scope",
    "is_tensor",
    "name_scope",
    "no_op",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "rank",
    "reshape",
    "shape",
    "size",
    "slice",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "tile",
    "transpose",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]


@unsupported("dtype_hint")
def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """Return a value as a tensor; a tensor is returned as it is."""
    return tg.convert_to_tensor(value, dtype, name)


def is_tensor(x: Any) -> bool:
    """Return whether a value is a tensor or a variable.

    Args:
        x: any object; a NumPy array is neither.

    >>> is_tensor(constant(1.0)), is_tensor(1.0)
    (True, False)
    """
    return tg.is_tensor(x) or isinstance(x, tg.Variable)


@unsupported(
    "input_signature",
    "reduce_retracing",
    "experimental_implements",
    "experimental_autograph_options",
    "experimental_attributes",
    "experimental_relax_shapes",
    "experimental_follow_type_hints",
)
def function(
    func: Any = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: Any = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None,
    experimental_compile: Any = None,
    experimental_follow_type_hints: Any = None,
) -> Any:
    """Trace a Python function to a graph once for each signature, and then run the graph.

    ``autograph`` has no effect: Python's ``if`` and ``while`` are not translated. ``get_concrete_function``
    of a `TensorSpec` makes a trace for sizes that vary.
    """
    return tg.function(func)


@unsupported("aggregation_method")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:
    """Return the gradient of the sum of ``ys`` with respect to each of ``xs``, as nodes of the graph."""
    return tg.gradients(
        ys,
        xs,
        grad_ys,
        name,
        gate_gradients=gate_gradients,
        stop_gradients=stop_gradients,
        unconnected_gradients=unconnected_gradients,
    )


def no_op(name: str | None = None) -> Any:
    """Return an operation that does nothing; with control dependencies it marks that they have finished.

    Args:
        name: the name of the node.

    Returns:
        The operation in a graph; None eagerly.
    """
    return tg.gen_nn_ops.no_op(name=name)


class ClassOfAll(type):
    """The class of a class whose objects other functions make, too, as objects of the runtime's classes.

    ``isinstance`` is then true for all that TensorFlow counts, listed in ``_all``; a subclass has its own.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, vars(cls).get("_all", ())) or super().__instancecheck__(instance)


class Tensor(tg.Tensor, metaclass=ClassOfAll):
    """The class of tensors: `teachconv.graph.Tensor`, and eager tensors."""

    __slots__ = ()
    _all = (tg.Tensor, tg.EagerTensor)


class Variable(tg.Variable, metaclass=ClassOfAll):
    """A value that can be replaced: `teachconv.graph.Variable`."""

    _all = (tg.Variable,)

    @unsupported(
        "validate_shape",
        "caching_device",
        "variable_def",
        "import_scope",
        "constraint",
        "synchronization",
        "aggregation",
        "shape",
        "experimental_enable_variable_lifting",
    )
    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        super().__init__(initial_value, trainable is not False, name or "Variable", dtype)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """Return an operation that finishes after all inputs have finished."""
    return array_ops.group(*inputs, **kwargs)
