"""BatchNormalization. Keras: keras/src/layers/normalization/batch_normalization.py."""

from __future__ import annotations

from typing import Any

from ...core.arguments import integer, real, truth
from ...graph import reduce_mean, reshape, square
from ...graph.ops.nn_impl import batch_normalization
from ...support.errors import ArgumentError
from .layer import Layer, Shape


class BatchNormalization(Layer):
    """Brings each channel to mean beta and standard deviation gamma, which are learned.

    S. Ioffe and C. Szegedy, Batch normalization: accelerating deep network training by reducing internal
    covariate shift, 2015. While training, mean and variance are those of the batch, and their moving averages
    are updated; otherwise the moving averages are used.

    Args:
        axis: the axis of the channels; -1 for the last.
        momentum: how much of a moving average a training step keeps.
        epsilon: added to the variance, so that nothing is divided by zero.
        center: whether there is a beta.
        scale: whether there is a gamma.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: how they
            begin.
        **more: as in `Layer`.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> import numpy as np
    >>> from teachconv import keras
    >>> layer = keras.layers.BatchNormalization()
    >>> y = layer(np.array([[1.0], [3.0]], "float32"), training=True)
    >>> y.numpy().round(2).ravel().tolist(), layer.moving_mean.numpy()
    ([-1.0, 1.0], array([0.02], dtype=float32))
    """

    _casts_integers = True

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        **more: Any,
    ):
        self.axis = integer(axis, "axis")
        self.momentum, self.epsilon = real(momentum, "momentum"), real(epsilon, "epsilon")
        self.center, self.scale = truth(center, "center"), truth(scale, "scale")
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        super().__init__(**more)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the shape of the input."""
        if not -len(input_shape) < self.axis < len(input_shape) or input_shape[self.axis] is None:
            raise ArgumentError(f"axis {self.axis} must be one of its axes after the batch, of known size")
        return input_shape

    def build(self, input_shape: Shape) -> None:
        """Make gamma, beta and the two moving averages."""

        def add(name: str, wanted: bool = True, trainable: bool = True) -> Any:
            sizes = (input_shape[self.axis],)
            if not wanted:
                return None
            initializer = getattr(self, f"{name}_initializer")
            return self.add_weight(sizes, initializer, trainable=trainable, name=name)  # type: ignore[arg-type]

        self.gamma, self.beta = add("gamma", self.scale), add("beta", self.center)
        self.moving_mean = add("moving_mean", trainable=False)
        self.moving_variance = add("moving_variance", trainable=False)

    def check_weights(self, input_shape: Shape) -> None:
        """Raise unless the input has the channels that the weights were made for."""
        if input_shape[self.axis] != self.moving_mean.shape[0]:
            raise ArgumentError(f"its weights were made for {self.moving_mean.shape[0]} channels")

    def call(self, inputs: Any, training: bool = False) -> Any:
        """Return the normalised input; while training, update the moving averages."""
        axes = [axis for axis in range(len(inputs.shape)) if axis != self.axis % len(inputs.shape)]
        if training and self.trainable:
            mean = reduce_mean(inputs, axes, keepdims=True)
            variance = reduce_mean(square(inputs - mean), axes, keepdims=True)
            for average, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
                average.assign(average * self.momentum + reshape(value, [-1]) * (1 - self.momentum))
        else:
            mean, variance = self._along(self.moving_mean, axes), self._along(self.moving_variance, axes)
        return self._normalized(inputs, mean, variance, axes)

    def _normalized(self, inputs: Any, mean: Any, variance: Any, axes: list[int]) -> Any:
        """Return the inputs less a mean, by the root of a variance, times gamma, plus beta."""
        beta, gamma = (None if each is None else self._along(each, axes) for each in (self.beta, self.gamma))
        return batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)

    def _along(self, weight: Any, axes: list[int]) -> Any:
        """Return a weight as a tensor that has the channels in their axis, and size 1 in the others."""
        sizes = [1] * (len(axes) + 1)
        sizes[self.axis] = -1
        return reshape(weight, sizes)
