"""Error bounds through a model of layers: how far a float32 run may lie from exact arithmetic, cell by cell.

Each layer's value is computed in float64, together with a bound e on the distance of any float32 run from it,
as graph_bounds does node by node. A layer that multiplies by weights w is off by its own image of e under |w|,
plus the error of its own sum over |x| + e. Layers that only move values, and Relu and the maximum, which
change no distance to a larger one, pass e on.
"""

import numpy as np

from teachconv import keras
from teachconv.core.dtypes import float_format
from teachconv.keras import activations, layers
from teachconv.truth import bounds


def exact_models(build, weights):
    """The model in float64 with these weights, and the one with their absolute values."""
    keras.config.set_floatx("float64")
    try:
        models = build(), build()
    finally:
        keras.config.set_floatx("float32")
    for model, change in zip(models, (np.asarray, np.abs), strict=True):
        model.set_weights([change(weight).astype("float64") for weight in weights])
    return models


def propagate(build, weights, x, dtype="float32"):
    """Return the float64 result of a model, and the bound of the error of a run in ``dtype``, for each cell."""
    exact, absolute = exact_models(build, weights)
    value = x.astype("float64"), np.zeros(x.shape)
    for layer, positive in zip(exact.layers, absolute.layers, strict=True):
        value = _layer(layer, positive, *value, dtype)
    return value


def _layer(layer, positive, x, e, dtype):
    if isinstance(layer, (layers.Conv2D, layers.Conv2DTranspose, layers.DepthwiseConv2D, layers.Dense)):
        function = layer.activation
        layer.activation = positive.activation = activations.linear
        dense = isinstance(layer, layers.Dense)
        outs = layer.units if dense else layer.out_channels(layer.channels(layer.input_shape))
        terms = int(np.prod(layer.kernel.shape)) // outs + 1
        y, size = apply(layer, x), apply(positive, abs(x) + e)
        # the image of e alone: the layer of |w| is affine, and its bias is in both terms
        e = size - apply(positive, abs(x)) + bounds.direct(size, terms, dtype)
        return _activation(function, y, e, dtype)
    if isinstance(layer, layers.BatchNormalization):
        # gamma / sqrt(variance + epsilon) has four roundings, and the sum x f - mean f + beta at most four
        sizes = [-1 if axis == layer.axis % x.ndim else 1 for axis in range(x.ndim)]
        gamma, beta, mean, variance = (weight.numpy().reshape(sizes) for weight in layer.weights)
        factor = abs(gamma) / np.sqrt(variance + layer.epsilon)
        size = (abs(x) + e + abs(mean)) * factor + abs(beta)
        return apply(layer, x), e * factor + bounds.direct(size, 8, dtype)
    if isinstance(layer, layers.AveragePooling2D):
        size, terms = apply(layer, abs(x) + e), int(np.prod(layer.pool_size)) + 1
        return apply(layer, x), apply(layer, e) + bounds.direct(size, terms, dtype)
    if isinstance(layer, (layers.Softmax, layers.Activation)):
        function = activations.softmax if isinstance(layer, layers.Softmax) else layer.activation
        return _activation(function, x, e, dtype)
    return apply(layer, x), e if isinstance(layer, layers.ReLU) else apply(layer, e)


def _activation(function, x, e, dtype):
    if function is not activations.softmax:
        return function(x).numpy() if function is activations.relu else x, e
    y = activations.softmax(x).numpy()
    # exp(x - max): the difference is rounded, and so is exp, to less than 4 ulp (8 u) in every library; then
    # a sum of positive terms and a division. e shifts each exponent by at most 2 max e.
    u = float_format(dtype).unit_roundoff
    span = (x.max(-1, keepdims=True) - x.min(-1, keepdims=True)) + 2 * e.max(-1, keepdims=True)
    exponent = 2 * e.max(-1, keepdims=True) + span * u + 8 * u
    return y, y * (np.expm1(2 * exponent) + bounds.gamma(x.shape[-1] + 1, u)) + float_format(
        dtype
    ).smallest_subnormal


def apply(layer, x):
    return layer(x).numpy()
