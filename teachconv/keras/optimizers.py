"""Optimizers: how a gradient changes a weight. Keras: keras/src/optimizers.

Each weight is updated by one node, an ``Apply*`` op, which also updates the optimizer's own averages (slots).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.arguments import truth
from ..graph import Variable, cast, constant, init_scope, name_scope, pow, sqrt, square, zeros
from ..graph.framework.eager_tensor import NO_GRADIENT
from ..graph.ops import gen_nn_ops
from ..graph.ops.array_ops import is_tensor
from ..support.errors import ArgumentError, ArgumentTypeError, brief, warn
from .checks import check_name, check_number, look_up, refuse, snake_case
from .config import floatx

__all__ = ["SGD", "Adadelta", "Adam", "Optimizer", "RMSprop", "get"]


class Optimizer:
    """The base of all optimizers: the learning rate, the number of steps, and the slots of each weight.

    Args:
        learning_rate: a number that is not negative, or a tensor that holds one.
        name: the name; None for that of the class.
        **unknown: Keras' other arguments, which are refused by name.

    Attributes:
        iterations: a variable, the number of steps so far.
    """

    _slot_names: Sequence[str] = ()

    def __init__(self, learning_rate: float, name: str | None = None, **unknown: Any):
        refuse(type(self).__name__, unknown)
        self.name = check_name(name, snake_case(type(self).__name__))
        with init_scope():
            self._learning_rate = Variable(
                _number(learning_rate, "learning_rate"),
                trainable=False,
                name=f"{self.name}/learning_rate",
                dtype=floatx(),
            )
            self.iterations = Variable(0, trainable=False, name=f"{self.name}/iterations", dtype="int64")
        self._slots: dict[int, list[Variable]] = {}
        self._built_for: list[Variable] = []

    @property
    def learning_rate(self) -> Variable:
        """A variable; assigning a number to ``optimizer.learning_rate`` changes its value."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value: float) -> None:
        self._learning_rate.assign(_number(value, "learning_rate"))

    @property
    def variables(self) -> list[Variable]:
        """The optimizer's own variables: the number of steps, the learning rate, and the slots."""
        slots = [slot for weight in self._built_for for slot in self._slots[id(weight)]]
        return [self.iterations, self._learning_rate, *slots]

    @property
    def built(self) -> bool:
        """Whether the slots exist."""
        return bool(self._built_for)

    def build(self, variables: Sequence[Variable]) -> None:
        """Make the slots of the weights, filled with zeros, unless they exist.

        Args:
            variables: the weights.

        Raises:
            ValueError: if the optimizer was built for other weights.
        """
        unknown = [weight for weight in variables if id(weight) not in self._slots]
        if self.built and unknown:
            raise ArgumentError(
                f"Unknown variable: {brief(unknown[0])}. This optimizer can only be called for the variables "
                "it was originally built with. When working with a new set of variables, you should recreate "
                "a new optimizer instance."
            )
        with init_scope():
            for weight in variables:
                if id(weight) not in self._slots:
                    self._slots[id(weight)] = [
                        Variable(
                            zeros(weight.shape, weight.dtype), False, f"{self.name}/{weight.name}/{slot}"
                        )
                        for slot in self._slot_names
                    ]
                    self._built_for.append(weight)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]]) -> Any:
        """Update weights.

        Args:
            grads_and_vars: pairs of a gradient and its weight.

        Returns:
            As `apply`.
        """
        pairs = list(grads_and_vars)
        return self.apply([gradient for gradient, _ in pairs], [weight for _, weight in pairs])

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Variable]) -> Any:
        """Update each weight by its gradient.

        Args:
            grads: a gradient for each weight; None leaves the weight as it is, with a warning.
            trainable_variables: the weights.

        Returns:
            The number of steps.

        Raises:
            ValueError: if the numbers differ, or no weight has a gradient; nothing is changed then.
        """
        if len(grads) != len(trainable_variables):
            raise ArgumentError(
                f"grads must have a gradient for each of the {len(trainable_variables)} weights; got "
                f"{len(grads)}"
            )
        pairs = [pair for pair in zip(grads, trainable_variables, strict=True) if pair[0] is not None]
        without = [weight.name for weight, g in zip(trainable_variables, grads, strict=True) if g is None]
        if without and not pairs:
            raise ArgumentError(
                f"no weight has a gradient: the loss depends on none of {', '.join(without)}; {NO_GRADIENT}"
            )
        self.build(trainable_variables)
        if without:
            warn(
                f"these weights have no gradient, because the loss does not depend on them, and stay as they "
                f"are: {', '.join(without)}",
                UserWarning,
            )
        with name_scope(self.name):
            scalars: dict[Any, Sequence[Any]] = {}
            for gradient, weight in pairs:
                if weight.dtype not in scalars:
                    scalars[weight.dtype] = self.scalars(weight.dtype)
                self.update(weight, self._slots[id(weight)], gradient, *scalars[weight.dtype])
            return self.iterations.assign_add(1)

    def scalars(self, dtype: Any) -> Sequence[Any]:
        """Return the numbers that the updates of a step share, in the dtype of the weights."""
        return (cast(self._learning_rate, dtype),)

    def update(self, weight: Variable, slots: Sequence[Variable], gradient: Any, *scalars: Any) -> None:
        """Add the ``Apply*`` node that updates a weight and its slots."""
        raise NotImplementedError


def _number(value: Any, name: str) -> float:
    """Return a number that is not negative as a float; it may be a variable, tensor or array without axes."""
    if isinstance(value, np.ndarray | Variable) or is_tensor(value):
        value = np.asarray(value)[()]
    return check_number(value, name, 0)


class SGD(Optimizer):
    """Stochastic gradient descent: w ← w - learning_rate · g.

    With momentum m: v ← m·v - learning_rate·g and w ← w + v; with Nesterov's, w ← w + m·v - learning_rate·g.
    I. Sutskever et al., On the importance of initialization and momentum in deep learning, 2013.

    Args:
        learning_rate: the learning rate.
        momentum: a number from 0 to 1; 0 for no momentum.
        nesterov: whether the momentum is Nesterov's.
        name: the name.
        **unknown: Keras' other arguments, which are refused by name.

    Raises:
        ValueError, TypeError: if a number is out of range.

    >>> from teachconv import graph as tg
    >>> w = tg.Variable([1.0, 2.0])
    >>> _ = SGD(0.5).apply([tg.constant([1.0, 1.0])], [w])
    >>> w.numpy().tolist()
    [0.5, 1.5]
    """

    def __init__(
        self,
        learning_rate: float = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        *,
        name: str | None = None,
        **unknown: Any,
    ):
        super().__init__(learning_rate, name, **unknown)
        self.momentum, self.nesterov = check_number(momentum, "momentum", 0, 1), truth(nesterov, "nesterov")
        self._slot_names = ("momentum",) if momentum else ()

    def update(self, weight: Variable, slots: Sequence[Variable], gradient: Any, *scalars: Any) -> None:
        """Add one ApplyGradientDescent or ResourceApplyKerasMomentum node."""
        (rate,) = scalars
        if slots:
            gen_nn_ops.resource_apply_keras_momentum(
                weight, slots[0], rate, gradient, self.momentum, use_nesterov=self.nesterov
            )
        else:
            gen_nn_ops.apply_gradient_descent(weight, rate, gradient)


class Adam(Optimizer):
    """Adam: each weight's step is scaled by averages of its gradient and of the gradient's square.

    D. Kingma and J. Ba, Adam: a method for stochastic optimization, 2015, in the form at the end of section
    2, whose epsilon is the paper's "epsilon hat". PyTorch's epsilon is that of algorithm 1, which is a
    different number.

    Args:
        learning_rate: the learning rate.
        beta_1: how much of the average of the gradient a step keeps.
        beta_2: how much of the average of its square a step keeps.
        epsilon: added to the root of the latter, so that nothing is divided by zero.
        name: the name.
        **unknown: Keras' other arguments, which are refused by name.

    Raises:
        ValueError, TypeError: if a number is out of range.
    """

    _slot_names = ("momentum", "velocity")

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        *,
        name: str | None = None,
        **unknown: Any,
    ):
        super().__init__(learning_rate, name, **unknown)
        self.beta_1 = check_number(beta_1, "beta_1", 0, 1, below=True)
        self.beta_2 = check_number(beta_2, "beta_2", 0, 1, below=True)
        self.epsilon = check_number(epsilon, "epsilon", 0)

    def scalars(self, dtype: Any) -> Sequence[Any]:
        """Return the powers of the betas and the learning rate."""
        step = cast(self.iterations + 1, "float64")
        powers = [pow(constant(beta, "float64"), step) for beta in (self.beta_1, self.beta_2)]
        return [cast(value, dtype) for value in (*powers, self._learning_rate)]

    def update(self, weight: Variable, slots: Sequence[Variable], gradient: Any, *scalars: Any) -> None:
        """Add one ApplyAdam node."""
        (m, v), (beta_1_power, beta_2_power, rate) = slots, scalars
        gen_nn_ops.apply_adam(
            weight, m, v, beta_1_power, beta_2_power, rate, self.beta_1, self.beta_2, self.epsilon, gradient
        )


class RMSprop(Optimizer):
    """RMSprop: each weight's step is scaled by an average of its gradient's square.

    T. Tieleman and G. Hinton, Lecture 6.5 - RMSProp, Coursera: Neural networks for machine learning, 2012.

    Args:
        learning_rate: the learning rate.
        rho: how much of the average a step keeps.
        momentum: how much of the step before is added to a step, from 0 to 1.
        epsilon: added to the average, so that nothing is divided by zero.
        name: the name; None for "rmsprop".
        **unknown: Keras' other arguments, which are refused by name.

    Raises:
        ValueError, TypeError: if a number is out of range.

    >>> from teachconv import graph as tg
    >>> w = tg.Variable([1.0])
    >>> _ = RMSprop(0.1, rho=0.75).apply([tg.constant([2.0])], [w])     # 0.1 * 2 / sqrt(0.25 * 2 * 2)
    >>> w.numpy().round(3).tolist()
    [0.800000011920929]
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        *,
        name: str | None = None,
        **unknown: Any,
    ):
        super().__init__(learning_rate, "rmsprop" if name is None else name, **unknown)
        self.rho, self.epsilon = check_number(rho, "rho", 0, 1), check_number(epsilon, "epsilon", 0)
        self.momentum = check_number(momentum, "momentum", 0, 1)
        self._slot_names = ("velocity", "momentum")

    def update(self, weight: Variable, slots: Sequence[Variable], gradient: Any, *scalars: Any) -> None:
        """Add one ApplyRMSProp node."""
        (rate,), (velocity, momentum) = scalars, slots
        numbers = rate, self.rho, self.momentum, self.epsilon
        gen_nn_ops.apply_rms_prop(weight, velocity, momentum, *numbers, gradient)


class Adadelta(Optimizer):
    """Adadelta: a step is the gradient times the ratio of two averages, of past steps and of gradients.

    M. Zeiler, ADADELTA: an adaptive learning rate method, 2012.

    Args:
        learning_rate: what the step is multiplied by; the paper's is 1.
        rho: how much of the averages a step keeps.
        epsilon: added to both averages.
        name: the name.
        **unknown: Keras' other arguments, which are refused by name.

    Raises:
        ValueError, TypeError: if a number is out of range.
    """

    _slot_names = ("accumulated_grad", "accumulated_delta_var")

    def __init__(
        self,
        learning_rate: float = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        *,
        name: str | None = None,
        **unknown: Any,
    ):
        super().__init__(learning_rate, name, **unknown)
        self.rho, self.epsilon = check_number(rho, "rho", 0, 1), check_number(epsilon, "epsilon", 0)

    def update(self, weight: Variable, slots: Sequence[Variable], gradient: Any, *scalars: Any) -> None:
        """Assign the two averages and the weight."""
        (rate,), (squares, steps) = scalars, slots
        squares.assign(squares * self.rho + square(gradient) * (1 - self.rho))
        step = gradient * sqrt(steps + self.epsilon) / sqrt(squares + self.epsilon)
        steps.assign(steps * self.rho + square(step) * (1 - self.rho))
        weight.assign_sub(step * rate)


_BY_NAME: dict[str, type[Optimizer]] = {"adadelta": Adadelta, "adam": Adam, "rmsprop": RMSprop, "sgd": SGD}


def get(identifier: Any) -> Optimizer:
    """Return an optimizer, given by its name or as an object.

    Args:
        identifier: "adadelta", "adam", "rmsprop", "sgd", or an `Optimizer`.

    Returns:
        The optimizer.

    Raises:
        ValueError, TypeError: if there is no such optimizer.

    >>> get("adam").name
    'adam'
    """
    if isinstance(identifier, Optimizer):
        return identifier
    made = look_up(identifier, _BY_NAME, "optimizer")
    if not isinstance(made, Optimizer):
        raise ArgumentTypeError(
            f"optimizer must be a name ({', '.join(_BY_NAME)}) or an Optimizer; got {brief(made)}"
        )
    return made
