"""Optimizers of TensorFlow 1: gradients of a loss, and one Apply* op for each variable.

TensorFlow: python/training/optimizer.py, gradient_descent.py, momentum.py, rmsprop.py, adam.py
and learning_rate_decay.py, which are tf.compat.v1.train. An optimizer works in a graph, in a traced function
and eagerly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..support.errors import ArgumentError
from .framework.context import current_graph, init_scope
from .framework.ops import control_dependencies, device, name_scope
from .gradients.gradients_util import gradients
from .ops import array_ops, gen_nn_ops, math_ops
from .ops.variables import Variable, trainable_variables
from .options import check_type, unsupported

__all__ = [
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "exponential_decay",
]


class Optimizer:
    """The base class: a subclass says which slots a variable has and which op updates it.

    Args:
        use_locking: accepted for compatibility; updates of a variable never overlap here.
        name: the name scope of the nodes.

    Attributes:
        GATE_NONE: a value for ``gate_gradients``: gradients need not wait for each other.
        GATE_OP: the default: all gradients of one op before they are used.
        GATE_GRAPH: all gradients before any is used.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    _slot_values: Mapping[str, float] = {}  # slot name -> what all its elements begin with
    _op: Callable[..., Any]  # updates a variable and its slots

    def __init__(self, use_locking: bool, name: str, **numbers: Any) -> None:
        self._name, self._numbers = name, numbers  # the learning rate and the rest, by the op's argument
        self._slots: dict[str, dict[int, Variable]] = {}  # slot name -> id of the variable -> slot
        self._owned: list[Any] = []  # the variables that have slots, kept alive with their ids

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Add the nodes of one training step: `compute_gradients`, then `apply_gradients`.

        Args:
            loss: a tensor.
            global_step: a variable that counts the steps, or None.
            var_list: the variables to train; None trains all trainable variables.
            gate_gradients: whether an op's gradients wait for each other (GATE_NONE, GATE_OP); the values are
                the same.
            aggregation_method: accepted for compatibility.
            colocate_gradients_with_ops: accepted for compatibility.
            name: the name of the step.
            grad_loss: what the gradients start from, or None.

        Returns:
            The operation to run.

        Raises:
            ValueError: if there are no variables, or the loss depends on none of them.
        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, grad_loss=grad_loss)
        if all(grad is None for grad, _ in pairs):
            names = [variable.name for _, variable in pairs]
            raise ArgumentError(f"No gradients provided for any variable: {names}; the loss depends on none")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Variable]]:
        """Return a list of (gradient, variable); the gradient is None where the loss does not depend on it.

        Args:
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss: as in
                `minimize`.

        Returns:
            The pairs.

        Raises:
            ValueError: if there are no variables to train.
            RuntimeError: if ops run eagerly.
        """
        if current_graph() is None:
            raise RuntimeError(
                "minimize and compute_gradients need a graph: eagerly, a GradientTape computes the gradients "
                "that apply_gradients takes"
            )
        variables = list(trainable_variables() if var_list is None else var_list)
        if not variables:
            raise ArgumentError("No variables to optimize.")
        found = gradients(
            loss,
            variables,
            grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
        )
        return list(zip(found, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Variable]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Any:
        """Update each variable that has a gradient, and then count the step.

        Args:
            grads_and_vars: what `compute_gradients` returns; a gradient may have been changed.
            global_step: a variable that counts the steps, or None.
            name: the name of the step.

        Returns:
            The operation to run; None eagerly.

        Raises:
            ValueError, TypeError: if there is no gradient, or something is not a variable.
        """
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        for _, variable in pairs:
            check_type(variable, Variable, "grads_and_vars must hold pairs with a Variable")
        if not pairs:
            raise ArgumentError("No gradients provided for any variable.")
        with init_scope():
            self._create_slots([variable for _, variable in pairs])
        with name_scope(name or self._name) as scope:
            # the learning rate and the rest, made once for all variables
            rates = {
                key: number
                if hasattr(number, "dtype")
                else array_ops.constant(number, pairs[0][1].dtype, name=_NODES.get(key, key))
                for key, number in self._numbers.items()
            }
            updates = []
            for grad, variable in pairs:
                with name_scope(f"update_{_op_name(variable)}"), device(None):
                    updates.append(self._apply(grad, variable, rates))
            if global_step is None:
                return self._finish(updates, rates, scope)
            done = self._finish(updates, rates, "update")
            with control_dependencies([] if done is None else [done]), device(None):
                one = array_ops.constant(1, global_step.dtype, name="value")
                step = gen_nn_ops.assign_add(global_step, one, name=scope)
        return step.op if current_graph() is not None else None

    # --- slots -----------------------------------------------------------------------------------

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Return a slot of a variable, or None.

        Args:
            var: the variable.
            name: the name of the slot, such as "momentum".

        Returns:
            The slot, a variable of the same shape.
        """
        return self._slots.get(name, {}).get(id(var))

    # --- what a subclass defines -----------------------------------------------------------------

    def _create_slots(self, variables: list[Variable]) -> None:
        """Make the slots of the variables that have none yet."""
        for variable in variables:
            for slot_name, start in self._slot_values.items():
                slots = self._slots.setdefault(slot_name, {})
                if id(variable) in slots:
                    continue
                self._owned.append(variable)
                facts: Any = variable.shape.as_list(), variable.dtype
                value = np.full(facts[0], start, facts[1]) if start else partial(array_ops.zeros, *facts)
                with name_scope(None), device(None):
                    slots[id(variable)] = Variable(value, False, f"{_op_name(variable)}/{self._name}")

    def _apply(self, grad: Any, variable: Variable, rates: dict[str, Any]) -> Any:
        """Add the op that updates a variable and its slots."""
        slots = (self.get_slot(variable, name) for name in self._slot_values)
        return self._op(variable, *slots, grad=grad, **rates)

    def _finish(self, updates: list[Any], rates: dict[str, Any], name: str) -> Any:
        """Add what comes after all updates; return an operation that waits for everything."""
        return array_ops.group(*updates, name=name) if current_graph() is not None else None


def _op_name(variable: Variable) -> str:
    return variable.name.partition(":")[0]


_NODES = {"alpha": "learning_rate", "lr": "learning_rate"}  # where node and argument have different names


class GradientDescentOptimizer(Optimizer):
    """Subtracts the learning rate times the gradient, as tf.compat.v1.train.GradientDescentOptimizer.

    Args:
        learning_rate: a number or a tensor.
        use_locking: accepted for compatibility.
        name: the name scope of the nodes.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     w = tg.Variable([1.0, 2.0], name="w")
    ...     step = tg.train.GradientDescentOptimizer(0.25).minimize(tg.reduce_sum(tg.square(w)))
    ...     with tg.Session() as session:
    ...         session.run(tg.global_variables_initializer())
    ...         session.run(step)
    ...         print(step.name, session.run(w))
    GradientDescent [0.5 1. ]
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name, alpha=learning_rate)

    def _apply(self, grad: Any, variable: Variable, rates: dict[str, Any]) -> Any:
        return gen_nn_ops.apply_gradient_descent(variable, rates["alpha"], grad)


class MomentumOptimizer(Optimizer):
    """Accumulates gradients: accum = momentum * accum + gradient, and subtracts learning_rate * accum.

    Args:
        learning_rate: as in `GradientDescentOptimizer`.
        momentum: likewise.
        use_locking: accepted for compatibility.
        name: the name scope of the nodes.
        use_nesterov: whether to look one step ahead, as I. Sutskever et al., 2013.
    """

    _slot_values = {"momentum": 0.0}

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, momentum=momentum)
        self._op = partial(gen_nn_ops.apply_momentum, use_nesterov=use_nesterov)


class RMSPropOptimizer(Optimizer):
    """Divides each gradient by the root of the moving average of its squares: G. Hinton, 2012, lecture 6e.

    Args:
        learning_rate: as in `GradientDescentOptimizer`.
        decay: the decay of the average of squares, which begins with 1.
        momentum: as in `MomentumOptimizer`.
        epsilon: a small number against division by zero, inside the root.
        use_locking: accepted for compatibility.
        centered: must be False.
        name: the name scope of the nodes.
    """

    _slot_values = {"rms": 1.0, "momentum": 0.0}
    _op = staticmethod(gen_nn_ops.apply_rms_prop)

    @unsupported("centered")
    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, rho=decay, momentum=momentum, epsilon=epsilon)


class AdamOptimizer(Optimizer):
    """Adam, as tf.compat.v1.train.AdamOptimizer: D. Kingma and J. Ba, 2015 (arXiv:1412.6980).

    Its epsilon is the "epsilon hat" at the end of section 2 of the paper.

    Args:
        learning_rate: as in `GradientDescentOptimizer`.
        beta1: the decay of the average of gradients.
        beta2: the decay of the average of squared gradients.
        epsilon: a small number against division by zero.
        use_locking: accepted for compatibility.
        name: the name scope of the nodes.
        use_own_namescope_for_non_slot_vars: must be False.
    """

    _slot_values = {"m": 0.0, "v": 0.0}

    @unsupported("use_own_namescope_for_non_slot_vars")
    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        self._powers: list[Variable] = []

    def _create_slots(self, variables: list[Variable]) -> None:
        if not self._powers:
            first = min(variables, key=lambda variable: variable.name)
            with device(None):
                self._powers = [
                    Variable(self._numbers[beta], trainable=False, name=f"{beta}_power", dtype=first.dtype)
                    for beta in ("beta1", "beta2")
                ]
        super()._create_slots(variables)

    def _apply(self, grad: Any, variable: Variable, rates: dict[str, Any]) -> Any:
        return gen_nn_ops.apply_adam(
            variable,
            self.get_slot(variable, "m"),
            self.get_slot(variable, "v"),
            self._powers[0],
            self._powers[1],
            grad=grad,
            **rates,
        )

    def _finish(self, updates: list[Any], rates: dict[str, Any], name: str) -> Any:
        """The powers of the decays grow once all variables have used them."""
        betas = rates["beta1"], rates["beta2"]
        with control_dependencies(updates if current_graph() is not None else []), device(None):
            powers = [
                power.assign(gen_nn_ops.mul(power, beta, name="mul"))
                for power, beta in zip(self._powers, betas, strict=True)
            ]
        return super()._finish([*updates, *powers], rates, name)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """Return learning_rate * decay_rate ** (global_step / decay_steps): a rate that becomes smaller.

    Args:
        learning_rate: the first learning rate, a number or a tensor.
        global_step: the number of the step, a variable or tensor.
        decay_steps: after how many steps the rate has decayed by ``decay_rate``.
        decay_rate: the factor.
        staircase: whether the rate stays the same for ``decay_steps`` steps.
        name: the name scope of the nodes.

    Returns:
        A scalar.

    >>> round(float(exponential_decay(0.1, 25, 10, 0.5)), 6), float(exponential_decay(0.5, 25, 10, 0.5, True))
    (0.017678, 0.125)
    """
    with name_scope(name or "ExponentialDecay") as scope:
        rate = array_ops.convert_to_tensor(learning_rate, name="learning_rate")
        step, steps = math_ops.cast(global_step, rate.dtype), math_ops.cast(decay_steps, rate.dtype)
        divide = math_ops.floordiv if staircase else math_ops.truediv
        factor = math_ops.pow(math_ops.cast(decay_rate, rate.dtype), divide(step, steps))
        return math_ops.multiply(rate, factor, name=scope)
