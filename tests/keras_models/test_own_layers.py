"""Layers of one's own: layers inside them, more arguments of a call, frozen weights. Keras 3.15 gave the numbers."""

import numpy as np
import pytest

from teachconv import graph as tg
from teachconv import keras
from teachconv.keras import layers

ONE = np.ones((1, 2), "float32")


def numbers(*shape):
    return (np.arange(np.prod(shape)) * 7 % 5 - 2).reshape(shape).astype("float32")


class Residual(layers.Layer):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv2D(1, 3, padding="same", kernel_initializer="ones")

    def call(self, x):
        return x + self.conv(x)


class Block(layers.Layer):
    """Has layers in a list that grows, weights of its own, and a call that changes the shape."""

    def __init__(self):
        super().__init__()
        self.norm, self.convs = layers.BatchNormalization(), []
        for _ in range(2):
            self.convs.append(layers.Conv2D(2, 3, 2, "same", kernel_initializer="ones"))

    def build(self, input_shape):
        self.other = self.add_weight(shape=(1,), initializer="zeros", trainable=False, name="other")
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")
        self.unused = self.add_weight((1,), "ones")

    def call(self, x):
        x = self.norm(x * self.scale)
        for conv in self.convs:
            x = conv(x)
        return x


class Skip(layers.Layer):
    def call(self, x, skip=None, scale=1.0):
        return (x if skip is None else x + skip) * scale


def test_layers_inside_a_layer_train():
    model = keras.Sequential(
        [keras.Input((4, 4, 1)), Residual(), layers.Flatten(), layers.Dense(1, kernel_initializer="ones")]
    )
    assert [tuple(w.shape) for w in model.weights] == [(3, 3, 1, 1), (1,), (16, 1), (1,)]
    assert model.count_params() == 27
    model.compile(keras.optimizers.SGD(0.001), "mse")
    loss = model.fit(numbers(4, 4, 4, 1), numbers(4, 1), shuffle=False, verbose=0).history["loss"]
    kernel = model.get_weights()[0].ravel()[:3]
    np.testing.assert_allclose([*kernel, *loss], [0.9525, 0.9775, 0.995, 118.75], atol=1e-5)


def test_a_layer_of_layers_is_keras(tmp_path):
    inputs, block = keras.Input((8, 8, 2)), Block()
    outputs = block(inputs)
    two, kernel = (2,), (3, 3, 2, 2)
    assert outputs.shape == (None, 2, 2, 2)
    shapes = [two, (1,), (1,), two, two, two, two, kernel, two, kernel, two]
    assert [tuple(w.shape) for w in block.weights] == shapes
    assert len(block.trainable_weights) == 8
    assert [tuple(w.shape) for w in block.non_trainable_weights] == [(1,), two, two]

    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse")
    data = numbers(4, 8, 8, 2), numbers(4, 2, 2, 2)
    with pytest.warns(UserWarning, match=f"have no gradient.*: {block.name}/variable$"):
        history = model.fit(*data, verbose=0, shuffle=False).history
    np.testing.assert_allclose(history["loss"], 13.914985, rtol=1e-6)  # the batch's own statistics

    model.trainable = False
    assert (block.norm.trainable, len(model.trainable_weights), len(model.non_trainable_weights)) == (
        False,
        0,
        11,
    )
    model.compile("sgd", "mse")
    before = model.get_weights()
    history = model.fit(*data, verbose=0, shuffle=False).history
    np.testing.assert_allclose(history["loss"], 1512.6372, rtol=1e-6)  # the moving averages
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))

    model.save_weights(tmp_path / "w.weights.npz")
    same = keras.Sequential([keras.Input((8, 8, 2)), Block()])
    same.set_weights([array + 1 for array in before])
    same.save_weights(tmp_path / "same.weights.npz")
    model.load_weights(tmp_path / "same.weights.npz")
    assert all((a + 1 == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    keys = list(np.load(tmp_path / "w.weights.npz"))
    assert {"block/scale", "block/batch_normalization/gamma", "block/conv2d_1/kernel"} < set(keys)
    assert len(keys) == 11


def test_more_arguments_reach_call():
    assert Skip()(ONE, ONE).numpy().tolist() == [[2, 2]]
    assert Skip()(ONE, scale=3.0).numpy().tolist() == [[3, 3]]
    assert Skip()(ONE, skip=ONE, scale=2).numpy().tolist() == [[4, 4]]
    inputs = keras.Input((2,))
    assert keras.Model(inputs, Skip()(inputs, scale=3.0)).predict(ONE).tolist() == [[3, 3]]
    always = keras.Model(inputs, layers.Dropout(1.0)(inputs, training=True))
    assert always(ONE).numpy().tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="pass this one as a keyword argument: True"):
        layers.Dropout(0.5)(ONE, True)
    with pytest.raises(TypeError, match="takes the tensors of a model as its first argument"):
        Skip()(inputs, inputs)


def test_training_reaches_the_layers_inside():
    class Drop(layers.Layer):
        def __init__(self):
            super().__init__()
            self.drop = layers.Dropout(1.0)

        def call(self, x):
            return self.drop(x)

    layer = Drop()
    assert [layer(ONE, training=training).numpy().sum() for training in (None, True, False)] == [2, 0, 2]


def test_a_layer_without_super_says_so():
    class Forgot(layers.Layer):
        def __init__(self):
            self.units = 3

        def call(self, x):
            return x

    with pytest.raises(RuntimeError, match="In layer 'Forgot', you forgot to call"):
        Forgot()(ONE)
    with pytest.raises(RuntimeError, match="In layer 'Forgot', you forgot to call"):
        keras.Sequential([Forgot()])


def test_one_gradient_may_be_none():
    a, b = tg.Variable(1.0, name="a"), tg.Variable(1.0, name="b")
    optimizer = keras.optimizers.SGD(0.5)
    with pytest.warns(UserWarning, match="no gradient.*: b$"):
        optimizer.apply_gradients([(tg.constant(1.0), a), (None, b)])
    assert (a.numpy(), b.numpy(), optimizer.iterations.numpy()) == (0.5, 1.0, 1)
    with pytest.raises(ValueError, match="no weight has a gradient"):
        optimizer.apply_gradients([(None, a), (None, b)])


def test_a_tensor_shape_is_the_shape_of_a_weight():
    layer = layers.Layer()
    assert layer.add_weight(shape=tg.TensorShape([3, 2])).shape == (3, 2)
    with pytest.raises(TypeError, match=r"shape must be the sizes of it, such as \(3, 3, 1, 8\); got 3"):
        layer.add_weight(shape=3)


@pytest.mark.parametrize("layer", [layers.AveragePooling2D(2), layers.Dense(3), layers.Flatten()])
def test_a_layer_that_is_built_by_hand_is_built(layer):
    layer.build((None, 4, 4, 2))
    assert layer.built is True
