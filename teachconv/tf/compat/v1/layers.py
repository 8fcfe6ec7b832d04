"""tf.layers of TensorFlow 1: the layers of teachconv.keras, as functions with variables of a variable scope.

TensorFlow: python/layers/, whose layers were those of Keras, too. A name, or else that of the function with a
number, opens a variable scope. Its variables are made or shared by `get_variable`, and so have names like
"conv2d/kernel".
"""

from __future__ import annotations

from typing import Any

from .... import graph as tg
from ....graph.ops import nn_impl
from ....graph.options import unsupported
from ....keras import layers
from .default_graph import in_graph
from .framework import get_variable, ones_initializer, variable_scope, zeros_initializer

__all__ = [
    "average_pooling2d",
    "batch_normalization",
    "conv2d",
    "conv2d_transpose",
    "dense",
    "dropout",
    "flatten",
    "max_pooling2d",
]

_ZEROS, _ONES = zeros_initializer(), ones_initializer()


def _apply(
    layer: layers.Layer,
    inputs: Any,
    name: str | None,
    reuse: Any = None,
    training: Any = False,
) -> Any:
    """Return a layer's output for an input, with variables of the variable scope ``name``."""
    inputs = tg.convert_to_tensor(inputs)

    def add_weight(shape: Any, initializer: Any = None, trainable: bool = True, *, name: str) -> Any:
        return get_variable(
            name,
            shape,
            inputs.dtype,
            initializer,
            getattr(layer, f"{name}_regularizer", None),
            trainable and layer.trainable,
        )

    vars(layer)["add_weight"] = add_weight
    with variable_scope(name, layer.name, reuse=reuse):
        layer.build(tuple(inputs.shape))
        return layer.call(inputs, training=training)


def _chosen(training: Any, value: Any, otherwise: Any) -> Any:
    """Return ``value`` while training, which True or a tensor without axes says."""
    return value if training is True else tg.where(tg.reshape(training, []), value, otherwise)


@in_graph
@unsupported("activity_regularizer", "kernel_constraint", "bias_constraint")
def conv2d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: Any = "valid",
    data_format: str = "channels_last",
    dilation_rate: Any = (1, 1),
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = _ZEROS,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """Convolve images with filters that are a variable, "kernel"; add another, "bias"; apply an activation.

    Args:
        inputs: [batch, in_rows, in_cols, in_channels], the channels second for "channels_first".
        filters: the number of output channels.
        kernel_size, strides, data_format, dilation_rate, use_bias: as in `teachconv.keras.layers.Conv2D`.
        padding: "valid" or "same", in any case.
        activation: a function, a name, or None.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer: as in `get_variable`.
        activity_regularizer, kernel_constraint, bias_constraint: must be None.
        trainable: whether optimizers change the variables.
        name: the variable scope; None for "conv2d", with a number if the scope around it has one.
        reuse: whether the variables must exist, and are shared.

    Returns:
        A tensor [batch, out_rows, out_cols, filters].

    Raises:
        ValueError, TypeError: if an argument is invalid, or a variable exists and is not to be shared.
    """
    return _apply(
        layers.Conv2D(
            filters,
            kernel_size,
            strides,
            padding.lower(),
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            trainable=trainable,
            name="conv2d",
        ),
        inputs,
        name,
        reuse,
    )


@in_graph
@unsupported("activity_regularizer", "kernel_constraint", "bias_constraint")
def conv2d_transpose(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: Any = "valid",
    data_format: str = "channels_last",
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = _ZEROS,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """Apply the transpose of a convolution: with "same" the result is ``strides`` times as large.

    Args:
        inputs, filters, kernel_size, strides, padding, data_format, activation, use_bias: as in `conv2d`.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer: likewise.
        activity_regularizer, kernel_constraint, bias_constraint, trainable, name, reuse: likewise.

    Returns:
        A tensor [batch, out_rows, out_cols, filters].

    Raises:
        ValueError, TypeError: as `conv2d`.
    """
    return _apply(
        layers.Conv2DTranspose(
            filters,
            kernel_size,
            strides,
            padding.lower(),
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            trainable=trainable,
            name="conv2d_transpose",
        ),
        inputs,
        name,
        reuse,
    )


@in_graph
@unsupported("activity_regularizer", "kernel_constraint", "bias_constraint")
def dense(
    inputs: Any,
    units: int,
    activation: Any = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = _ZEROS,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """Multiply vectors by a matrix that is a variable, "kernel"; add another, "bias"; apply an activation.

    Args:
        inputs: [..., in_channels].
        units: the number of output channels.
        activation, use_bias: as in `conv2d`.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer: likewise.
        activity_regularizer, kernel_constraint, bias_constraint, trainable, name, reuse: likewise.

    Returns:
        A tensor [..., units].

    Raises:
        ValueError, TypeError: as `conv2d`.
    """
    return _apply(
        layers.Dense(
            units,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            trainable=trainable,
            name="dense",
        ),
        inputs,
        name,
        reuse,
    )


@in_graph
def max_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: Any = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Any:
    """Return the largest value of each window.

    Args:
        inputs: as in `conv2d`.
        pool_size, strides: an int or (rows, cols).
        padding, data_format, name: as in `conv2d`.

    Returns:
        A tensor [batch, out_rows, out_cols, channels].

    Raises:
        ValueError, TypeError: if an argument is invalid.
    """
    return _apply(
        layers.MaxPooling2D(pool_size, strides, padding.lower(), data_format, "max_pooling2d"),
        inputs,
        name,
    )


@in_graph
def average_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: Any = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Any:
    """Return the mean of each window; padding is not counted.

    Args:
        inputs, pool_size, strides, padding, data_format, name: as in `max_pooling2d`.

    Returns:
        As `max_pooling2d`.

    Raises:
        ValueError, TypeError: as `max_pooling2d`.
    """
    return _apply(
        layers.AveragePooling2D(pool_size, strides, padding.lower(), data_format, "average_pooling2d"),
        inputs,
        name,
    )


@in_graph
def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """Return each element of the batch as a vector.

    Args:
        inputs: [batch, ...].
        name, data_format: as in `conv2d`.

    Returns:
        A tensor [batch, values].
    """
    return _apply(layers.Flatten(data_format, name="flatten"), inputs, name)


@in_graph
@unsupported("noise_shape")
def dropout(
    inputs: Any,
    rate: float = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """Set elements to zero at random while training, and multiply the others by 1 / (1 - rate).

    Args:
        inputs: a tensor of floats.
        rate: the probability of a zero.
        noise_shape: must be None.
        seed: as in tf.nn.dropout.
        training: True, False, or a tensor that is either.
        name: as in `conv2d`.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError, TypeError: if an argument is invalid.
    """
    if training is False:
        return tg.identity(inputs)
    with tg.name_scope(name or "dropout"):
        return _chosen(training, nn_impl.dropout(inputs, rate, seed=seed), inputs)


class _BatchNormalization(layers.BatchNormalization):
    """Normalises by the batch if ``training``, which may be a tensor; its updates go to a collection."""

    unbiased = True  # whether the moving variance of images is, as in TensorFlow's kernel for them

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Return the normalised input; add what updates the moving averages to UPDATE_OPS."""
        axes = [axis for axis in range(len(inputs.shape)) if axis != self.axis % len(inputs.shape)]
        mean, variance = self.moving_mean.value(), self.moving_variance.value()
        if training is not False:
            batch_mean, batch_variance = nn_impl.moments(inputs, axes)
            wider = batch_variance
            if self.unbiased and len(axes) == 3:
                values = tg.cast(tg.size(inputs) // inputs.shape[self.axis], inputs.dtype)
                wider = batch_variance * (values / tg.maximum(values - 1.0, 1.0))
            for moving, value in ((self.moving_mean, batch_mean), (self.moving_variance, wider)):
                change = (moving.value() - value) * (1.0 - self.momentum)
                change = _chosen(training, change, 0.0)
                tg.get_default_graph().add_to_collection(tg.GraphKeys.UPDATE_OPS, moving.assign_sub(change))
            mean = _chosen(training, batch_mean, mean)
            variance = _chosen(training, batch_variance, variance)
        return self._normalized(inputs, self._along(mean, axes), self._along(variance, axes), axes)


@in_graph
@unsupported("beta_constraint", "gamma_constraint", "renorm", "virtual_batch_size", "adjustment")
def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = _ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = _ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: Any = None,
    virtual_batch_size: Any = None,
    adjustment: Any = None,
) -> Any:
    """Subtract a mean from each channel and divide by the root of a variance: S. Ioffe and C. Szegedy, 2015.

    While training they are those of the batch, and what updates the moving averages is added to the
    collection ``tf.GraphKeys.UPDATE_OPS``: a training step has to depend on it. Otherwise they are the moving
    averages.

    Args:
        inputs: [batch, ..., channels] of floats.
        axis: the axis of the channels.
        momentum, epsilon, center, scale: as in `teachconv.keras.layers.BatchNormalization`.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer: as in
            `get_variable`.
        beta_regularizer, gamma_regularizer: likewise.
        training: True, False, or a tensor that is either.
        fused: False for a moving variance of images that is the mean square; else it is unbiased.
        trainable, name, reuse: as in `conv2d`.
        beta_constraint, gamma_constraint, renorm, virtual_batch_size, adjustment: must be None or False.
        renorm_clipping, renorm_momentum: have no effect.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError, TypeError: as `conv2d`.
    """
    layer = _BatchNormalization(
        axis[0] if isinstance(axis, (list, tuple)) else axis,
        momentum,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        moving_mean_initializer,
        moving_variance_initializer,
        beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer,
        trainable=trainable,
        name="batch_normalization",
    )
    layer.unbiased = fused is not False
    return _apply(layer, inputs, name, reuse, training)
