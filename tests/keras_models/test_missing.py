"""What Keras has and teachconv.keras has not: each name is answered with itself and with what is nearest."""

import json

import pytest
from recordings import RECORDED

import teachconv as tc
import teachconv.tf as tf
from teachconv import keras
from teachconv.keras import missing

NAMES = json.loads((RECORDED / "keras_names.json").read_text())["names"]


@pytest.mark.parametrize("module", NAMES)
def test_every_name_of_keras_is_here_or_answered(module):
    ours, place = (
        (getattr(keras, module), f"teachconv.keras.{module}") if module else (keras, "teachconv.keras")
    )
    lacking = [name for name in NAMES[module] if name not in dir(ours)]
    assert len(lacking) < len(NAMES[module])
    for name in lacking:
        with pytest.raises(AttributeError) as caught:
            getattr(ours, name)
        text = str(caught.value)
        assert text.startswith(f"{place} has no {name!r}")
        assert "; nearest: " in text or "did you mean" in text
        for statement in (
            f"from {place} import {name}",
            f"import {place}.{name}",
            f"import {place}.{name}.more",
        ):
            with pytest.raises(ImportError) as refused:
                exec(statement)
            assert str(refused.value) == text


@pytest.mark.parametrize("module", NAMES)
def test_what_is_answered_specially_is_a_name_of_keras_and_not_here(module):
    table, _ = missing._MODULES[module]
    removed = {name for name, text in table.items() if "removed in" in text}  # they were ours
    assert set(table) - removed <= set(NAMES[module])
    assert not set(table) & set(dir(getattr(keras, module) if module else keras))


@pytest.mark.parametrize(
    ("look_up", "message"),
    [
        (lambda: keras.losses.Huber, "nearest: MeanAbsoluteError"),
        (lambda: keras.layers.Rescaling, "nearest: scale the images before fit"),
        (lambda: keras.layers.Dens, 'did you mean "Dense"'),
        (lambda: tf.keras.applications, "teachconv.tf.keras has no 'applications'; nearest: Sequential"),
        (lambda: tf.nn.selu, "nearest: tf.nn.elu"),
        (lambda: tf.io, "teachconv.tf has no 'io'.*nearest: NumPy arrays"),
        (lambda: keras.losses.get("log_cosh"), "got 'log_cosh'; nearest: MeanSquaredError"),
        (lambda: keras.optimizers.get("nadam"), "got 'nadam'; nearest: Adam"),
        (lambda: keras.activations.get("selu"), "nearest: elu"),
        (lambda: keras.initializers.get("identity"), "nearest: Constant"),
    ],
)
def test_some_answers(look_up, message):
    with pytest.raises((AttributeError, ValueError), match=message):
        look_up()


def test_an_activation_that_is_named_as_nearest_works():
    layer = keras.layers.Dense(1, activation=tc.graph.sigmoid)
    assert layer([[0.0]]).numpy().tolist() == [[0.5]]


def test_other_names_of_keras_are_the_same_classes():
    assert keras.layers.MaxPool2D is keras.layers.MaxPooling2D
    assert keras.layers.AvgPool2D is keras.layers.AveragePooling2D
    assert keras.layers.Convolution2D is keras.layers.Conv2D
    assert keras.layers.Convolution2DTranspose is keras.layers.Conv2DTranspose
