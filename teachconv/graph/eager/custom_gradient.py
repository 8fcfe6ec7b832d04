"""`custom_gradient`: a function with a gradient of its own. TensorFlow: python/ops/custom_gradient.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any

from ...errors import ArgumentTypeError, brief
from .. import nest
from ..common_runtime.execute import EagerOperation, active_recorders, stop_recording
from ..framework.context import current_graph
from ..framework.eager_tensor import EagerTensor
from ..framework.op_def import get_op_def
from ..gradients.gradients_util import RegisterGradient
from ..ops import array_ops, gen_nn_ops
from ..ops.constant_op import is_tensor
from .backprop import GradientTape

__all__ = ["custom_gradient"]

_numbers = count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns its result and the function of its gradient, as tf.custom_gradient.

    Args:
        f: a function of tensors. It returns the result (a tensor or a nested structure of them) and a
            function that takes the gradient of each tensor of the result and returns that of each argument.
            It must not read trainable variables; pass them as arguments.

    Returns:
        A function that returns the result alone.

    Raises:
        TypeError: at the call, if ``f`` returns something else or reads a trainable variable.

    >>> from teachconv import graph as tg
    >>> @tg.custom_gradient
    ... def clipped(x):
    ...     return x, lambda dy: tg.minimum(dy, 1.0)
    >>> x = tg.constant(2.0)
    >>> with tg.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = 5.0 * clipped(x)
    >>> float(y), float(tape.gradient(y, x))
    (10.0, 1.0)
    """

    @wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        tensors = [arg if is_tensor(arg) else array_ops.identity(arg) for arg in args]
        with stop_recording(), GradientTape() as reads:
            returned = f(*tensors, **kwargs)
        if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
            raise ArgumentTypeError(
                "a function with a custom gradient must return (result, gradient function); got "
                f"{brief(returned)}"
            )
        if reads.watched_variables():
            names = ", ".join(variable.name for variable in reads.watched_variables())
            raise ArgumentTypeError(
                f"a function with a custom gradient must not read trainable variables ({names}): pass them "
                "as arguments"
            )
        result, function = returned
        return nest.pack_sequence_as(result, _with_gradient(nest.flatten(result), tensors, function))

    return decorated


def _with_gradient(results: list[Any], arguments: list[Any], function: Callable[..., Any]) -> list[Any]:
    """Return the results as outputs of an IdentityN node whose gradient is the function's."""

    def gradient(op: Any, *grads: Any) -> tuple[Any, ...]:
        pairs = zip(grads, op.outputs, strict=True)
        given = [array_ops.zeros_like(output) if grad is None else grad for grad, output in pairs]
        found = nest.flatten(function(*given[: len(results)]))
        if len(found) != len(arguments):
            raise ArgumentTypeError(
                f"a custom gradient must return one gradient for each of the {len(arguments)} arguments; got "
                f"{len(found)}"
            )
        return *(None,) * len(results), *found

    graph = current_graph()
    if graph is not None:
        name = f"CustomGradient-{next(_numbers)}"  # for as long as the process runs, as in TensorFlow
        RegisterGradient(name)(gradient)
        with graph.gradient_override_map({"IdentityN": name}):
            return list(gen_nn_ops.identity_n([*results, *arguments])[: len(results)])
    outputs = [EagerTensor(item._numpy()) for item in (*results, *arguments)]
    operation = EagerOperation(
        get_op_def("IdentityN"), (*results, *arguments), tuple(outputs), {"_gradient_function": gradient}
    )
    for recorder in active_recorders():
        recorder.record(operation)
    return outputs[: len(results)]
