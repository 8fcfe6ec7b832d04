"""Callbacks that watch a number, regularizers, and training steps of one's own: what real Keras does."""

import json

import numpy as np
import pytest
from recorders import record_keras_fit as script
from recordings import RECORDED

from teachconv import graph as tg
from teachconv import keras
from teachconv.graph.data import Dataset
from teachconv.keras import layers

KERAS = json.loads((RECORDED / "keras_fit.json").read_text())


@pytest.mark.parametrize("case", script.CASES)
def test_a_callback_does_what_keras_does(case):
    """In each epoch: the learning rate, whether the training ends, and what is saved; at the end the weights."""
    assert script.drive(keras, case, ".weights.npz") == KERAS["callbacks"][case]


def test_what_a_callback_says(capsys):
    warned = "EarlyStopping watches 'absent', and the logs have loss"
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.5), "mse", metrics=["mae"])
    stop = keras.callbacks.EarlyStopping("learning_rate", mode="max", patience=1, verbose=1)
    plateau = keras.callbacks.ReduceLROnPlateau("mae", patience=1, min_delta=100, verbose=1)
    model.fit(script.X, script.Y, epochs=5, verbose=0, callbacks=[plateau, stop])
    assert capsys.readouterr().out == (
        "\nEpoch 2: ReduceLROnPlateau reducing learning rate to 0.05.\nEpoch 2: early stopping\n"
    )
    with pytest.warns(UserWarning, match=warned):
        model.fit(
            script.X, script.Y, verbose=0, callbacks=[keras.callbacks.EarlyStopping("absent", mode="min")]
        )
    with pytest.raises(ValueError, match="mode must be 'min' or 'max': whether 'absent' .* got 'auto'"):
        model.fit(script.X, script.Y, verbose=0, callbacks=[keras.callbacks.EarlyStopping("absent")])
    with pytest.raises(ValueError, match=r"factor must be from 0 to below 1; got 1\.0"):
        keras.callbacks.ReduceLROnPlateau(factor=1.0)


def test_a_checkpoint_is_a_file_that_load_weights_takes(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    path = tmp_path / "new" / "{epoch}.weights.npz"
    keep = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    model.fit(script.X, script.Y, batch_size=3, epochs=2, verbose=0, callbacks=[keep])
    assert sorted(each.name for each in path.parent.iterdir()) == ["1.weights.npz", "2.weights.npz"]
    last = model.get_weights()
    model.set_weights([w * 0 for w in last])
    model.load_weights(path.with_name("2.weights.npz"))
    assert all(map(np.array_equal, model.get_weights(), last))
    with pytest.raises(ValueError, match="save_weights_only must be true, with a filepath such as 'best"):
        keras.callbacks.ModelCheckpoint(path)
    with pytest.raises(ValueError, match="save_freq must be one of epoch; got 2"):
        keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=2)


def test_regularizers_are_keras():
    found = script.regularized(keras)
    for name, theirs in KERAS["regularizers"].items():
        np.testing.assert_allclose(found[name], theirs, rtol=1e-6, err_msg=name)


def test_where_a_regularizer_goes():
    class Own(layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight((2,), "ones", regularizer="l2")

        def call(self, inputs):
            return inputs * self.w

    model = keras.Sequential([keras.Input((2,)), Own(), layers.Dense(2, kernel_regularizer="L1")])
    model.layers[1].set_weights([np.ones((2, 2)), np.ones(2)])
    assert [round(float(each), 6) for each in model.losses] == [0.02, 0.04]
    again = layers.Dense.from_config(model.layers[1].get_config())
    assert isinstance(again.kernel_regularizer, keras.regularizers.L1)
    with pytest.raises(ValueError, match="activity_regularizer of Dense is not in teachconv.keras"):
        layers.Dense(2, activity_regularizer="l2")
    with pytest.raises(ValueError, match="regularizer must be one of l1, l2, l1_l2; got 'l3'"):
        layers.Dense(2, kernel_regularizer="l3")
    with pytest.raises(ValueError, match="l2 must be from 0"):
        keras.regularizers.L2(-1.0)


def test_an_optimizer_a_loss_and_a_clone_are_keras():
    found = script.numbers(keras, tg)
    for name, theirs in KERAS["numbers"].items():
        if name == "names":
            assert found[name] == theirs
        else:
            np.testing.assert_allclose(found[name], theirs, rtol=1e-5, atol=1e-7, err_msg=name)


def test_the_last_layer_can_be_taken_away():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4, name="first"), layers.Dense(2)])
    assert model.pop() is not model.layers[-1]
    assert (model.output_shape, [layer.name for layer in model.layers]) == ((None, 4), ["first"])
    model.add(layers.Dense(5))
    assert model(np.ones((1, 3))).shape == (1, 5)
    again = keras.models.clone_model(model)
    assert isinstance(again, keras.Sequential)
    assert not np.array_equal(again.get_weights()[0], model.get_weights()[0])


def test_arrays_become_the_images_of_keras():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    assert script.pictures(keras) == KERAS["pictures"]
    with pytest.raises(
        ValueError, match=r"x must have rows, cols and 1, 3 or 4 channels; got shape \(2, 2\)"
    ):
        keras.utils.array_to_img(np.ones((2, 2)))


def test_what_a_layer_adds_to_the_loss_is_that_of_the_last_call():
    class Costly(layers.Layer):
        def call(self, inputs):
            self.add_loss(2.0 * inputs[0])
            return inputs

    outer = keras.Sequential([Costly(), Costly()])
    for number in (1.0, 3.0):
        outer([number, 5.0])
        assert [float(loss) for loss in outer.losses] == [2 * number, 2 * number]


def test_ops_have_keras_words():
    x = np.float32([[1, 2], [4, 8]])
    ops = keras.ops
    assert ops.max(ops.power(x, 2.0), axis=1).numpy().tolist() == [4, 64]
    assert ops.clip(ops.divide(ops.sum(x, 0), 5.0), 1.5, 9.0).numpy().tolist() == [1.5, 2.0]
    assert keras.backend.epsilon() == 1e-7
    assert keras.backend.image_data_format() == "channels_last"
    with pytest.raises(
        AttributeError, match="keras.ops has no 'segment_sum'; nearest: the functions of teachconv"
    ):
        ops.segment_sum  # noqa: B018


def test_a_layer_of_two_tensors_runs_once_for_both():
    """Its batch normalisation updates the averages once in each step; the weights have Keras' order."""
    found = script.several(keras)
    assert set(found) == set(KERAS["several"])
    for name, theirs in KERAS["several"].items():
        if name in ("names", "shapes"):
            assert found[name] == theirs
        else:
            for mine, other in zip(found[name], theirs, strict=True):
                np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6, err_msg=name)


def test_random_tensors_have_a_seed_for_each_call_or_one_for_all():
    """The values are not Keras': the shape, the bounds, and what a seed repeats are."""
    draw = keras.random.uniform
    numbers = draw((1000,), 2.0, 3.0, seed=4).numpy()
    assert np.array_equal(numbers, draw((1000,), 2.0, 3.0, seed=4).numpy())
    assert (numbers.dtype, numbers.min() >= 2, numbers.max() < 3) == (np.float32, True, True)
    assert abs(numbers.mean() - 2.5) < 0.05  # five standard deviations of the mean
    one, other = keras.random.SeedGenerator(5), keras.random.SeedGenerator(5)
    first, second = (keras.random.normal((1000,), 1.0, 2.0, seed=one).numpy() for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, keras.random.normal((1000,), 1.0, 2.0, seed=other).numpy())
    assert abs(first.mean() - 1) < 0.3
    assert abs(first.std() - 2) < 0.3
    with pytest.raises(AttributeError, match="keras.random has no 'gamma'; nearest: teachconv.graph.random"):
        keras.random.gamma  # noqa: B018


@pytest.fixture(scope="module")
def weighted():
    return script.weighted(keras, tg.GradientTape, lambda parts: Dataset.from_tensor_slices(parts).batch(3))


@pytest.mark.parametrize("case", KERAS["weighted"])
def test_weights_of_samples_count_as_in_keras(case, weighted):
    theirs = KERAS["weighted"][case]
    assert set(weighted[case]) == set(theirs)
    for name, values in theirs.items():
        np.testing.assert_allclose(weighted[case][name], values, rtol=1e-5, atol=1e-7, err_msg=name)


def test_weights_of_samples_that_do_not_fit_are_refused():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    for weights, message in (
        ([1.0], "sample_weight must have a weight for each of the 8 samples; got 1"),
        (np.ones((8, 0)), r"sample_weight must hold a number for each sample; got shape \(8, 0\)"),
        (np.full(8, np.nan), r"sample_weight must be finite; sample_weight\[0\] is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(script.X, script.Y, sample_weight=weights, verbose=0)
    assert [metric.name for metric in model.metrics] == ["loss", "compile_metrics"]
    alone = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    alone.compile("sgd")
    with pytest.raises(TypeError, match="sample_weight goes with labels; got .* without y"):
        alone.fit(script.X, sample_weight=script.WEIGHTS)


@pytest.fixture(scope="module")
def steps():
    return script.own_steps(keras, tg.GradientTape)


@pytest.mark.parametrize("kind", KERAS["steps"])
def test_a_step_of_ones_own_is_run_as_in_keras(kind, steps):
    theirs = KERAS["steps"][kind]
    assert set(steps[kind]) == set(theirs)
    for name, values in theirs.items():
        np.testing.assert_allclose(steps[kind][name], values, rtol=2e-6, err_msg=name)
