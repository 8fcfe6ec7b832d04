"""Record what callbacks, regularizers and training steps of one's own do in real Keras.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 && python record_keras_fit.py

writes keras_fit.json. The functions below take the module keras, so that the tests run the same ones with teachconv.keras.
"""

import json
import os
import warnings
from pathlib import Path

import numpy as np

# a callback: its arguments, and the numbers that it is told at the end of the epochs
LOSSES = [5.0, 3.0, 3.0, 2.95, 4.0, 2.0, 2.5, 2.5, 2.5, 2.5]
CASES = {
    "stop at once": ("EarlyStopping", {"monitor": "loss"}, LOSSES),
    "stop with patience": ("EarlyStopping", {"monitor": "loss", "patience": 2}, LOSSES),
    "stop and restore": ("EarlyStopping", {"monitor": "loss", "patience": 3, "restore_best_weights": True}, LOSSES),
    "stop with a least step": ("EarlyStopping", {"monitor": "loss", "patience": 2, "min_delta": -0.125}, LOSSES),
    "stop below a baseline": ("EarlyStopping", {"monitor": "loss", "patience": 3, "baseline": 2.5}, LOSSES),
    "stop after a start": ("EarlyStopping", {"monitor": "loss", "start_from_epoch": 3, "patience": 1}, LOSSES),
    "stop at a maximum": ("EarlyStopping", {"monitor": "mae", "mode": "max", "patience": 2}, LOSSES),
    "stop at an accuracy": ("EarlyStopping", {"monitor": "val_accuracy", "patience": 2}, LOSSES),
    "stop at an error": ("EarlyStopping", {"monitor": "val_mse", "patience": 2}, LOSSES),
    "stop without a number": ("EarlyStopping", {"monitor": "absent", "mode": "min"}, LOSSES),
    "reduce": ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "factor": 0.5}, LOSSES),
    "reduce and cool down": ("ReduceLROnPlateau", {"monitor": "loss", "patience": 2, "factor": 0.5, "cooldown": 2}, LOSSES),
    "reduce to a floor": ("ReduceLROnPlateau", {"monitor": "loss", "patience": 1, "factor": 0.25, "min_lr": 0.125}, LOSSES),
    "reduce at an accuracy": ("ReduceLROnPlateau", {"monitor": "accuracy", "patience": 1, "min_delta": 0.0625}, LOSSES),
    "keep all": ("ModelCheckpoint", {"filepath": "{epoch:02d}-{loss:.2f}"}, LOSSES),
    "keep the best": ("ModelCheckpoint", {"filepath": "best", "monitor": "loss", "save_best_only": True}, LOSSES),
    "keep the largest": ("ModelCheckpoint", {"filepath": "{epoch}", "monitor": "mae", "mode": "max", "save_best_only": True}, LOSSES),
    "keep below a threshold": (
        "ModelCheckpoint",
        {"filepath": "{epoch}", "monitor": "val_loss", "save_best_only": True, "initial_value_threshold": 2.96},
        LOSSES,
    ),
    "keep without a number": ("ModelCheckpoint", {"filepath": "{epoch}", "monitor": "absent", "mode": "min", "save_best_only": True}, LOSSES),
}


def drive(keras, case, ending):
    """Tell a callback the numbers of a case; return what it did in each epoch, and at the end."""
    kind, arguments, numbers = CASES[case]
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.SGD(1.0), "mse", metrics=["accuracy", "mse"])
    model.fit(np.ones((2, 2)), np.ones((2, 3)), verbose=0)
    model.stop_training = False
    saved = []
    model.save_weights = lambda path, overwrite=True: saved.append(str(path).removesuffix(ending))
    if kind == "ModelCheckpoint":
        arguments = {**arguments, "filepath": arguments["filepath"] + ending, "save_weights_only": True}
    callback = getattr(keras.callbacks, kind)(**arguments)
    callback.set_model(model)
    callback.on_train_begin({})
    epochs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for epoch, number in enumerate(numbers):
            callback.on_epoch_begin(epoch, {})
            model.set_weights([np.full((2, 3), epoch), np.full(3, epoch)])
            logs = {name: number for name in ("loss", "val_loss", "mae", "accuracy", "val_accuracy", "val_mse")}
            callback.on_epoch_end(epoch, logs)
            epochs.append([float(model.optimizer.learning_rate.numpy()), bool(model.stop_training), [*saved]])
            if model.stop_training:
                break
        callback.on_train_end({})
    return [epochs, float(model.get_weights()[1][0])]


W = (np.arange(12, dtype="float32").reshape(3, 4) - 4) / 8
X = (np.arange(24, dtype="float32").reshape(8, 3) * 7 % 11 - 5) / 4
Y = X.sum(1, keepdims=True).round(1)
REGULARIZERS = {"l1": {}, "l2": {}, "L1": {"l1": 0.5}, "L2": {"l2": 0.25}, "L1L2": {"l1": 0.5, "l2": 0.25}, "l1_l2": {"l1": 0.125}}


def regularized(keras):
    """Values of regularizers, and the losses of a model that has some."""
    values = {name: float(getattr(keras.regularizers, name)(**more)(W)) for name, more in REGULARIZERS.items()}
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4, kernel_regularizer="l2", bias_regularizer=keras.regularizers.L1(0.5)),
            keras.layers.Reshape((2, 2, 1)),
            keras.layers.DepthwiseConv2D(2, depthwise_regularizer=keras.regularizers.L2(0.125)),
            keras.layers.Flatten(),
        ]
    )
    model.set_weights([W, W[0], W[1].reshape(2, 2, 1, 1), W[0, :1]])
    model.compile(keras.optimizers.SGD(0.125), "mse")
    values["losses"] = [float(each) for each in model.losses]
    values["evaluate"] = model.evaluate(X, Y, verbose=0)
    values["train"] = [float(model.train_on_batch(X, Y)) for _ in range(4)]
    model.layers[0].trainable = False
    values["frozen"] = [float(each) for each in model.losses]
    return values


def own_steps(keras, tape):
    """The histories of models that override train_step, test_step, compute_loss or metrics."""

    class Compiled(keras.Model):
        def train_step(self, data):
            x, y = data
            with tape() as recorder:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred)
            variables = self.trainable_variables
            self.optimizer.apply(recorder.gradient(loss, variables), variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {metric.name: metric.result() for metric in self.metrics}

        def test_step(self, data):
            x, y = data
            y_pred = self(x, training=False)
            self.metrics[0].update_state(self.compute_loss(y=y, y_pred=y_pred))
            return self.compute_metrics(x, y, y_pred, None)

    class Tracked(keras.Model):
        def __init__(self, dense):
            super().__init__()
            self.dense, self.loss_tracker = dense, keras.metrics.Mean(name="loss")
            self.size = keras.metrics.Mean(name="size")

        @property
        def metrics(self):
            return [self.loss_tracker, self.size]

        def train_step(self, data):
            with tape() as recorder:
                y = self.dense(data)
                loss = keras.losses.MeanSquaredError()(y * 0.0, y)
            gradients = recorder.gradient(loss, self.trainable_weights)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
            self.loss_tracker.update_state(loss)
            self.size.update_state(y)
            return {"loss": self.loss_tracker.result(), "size": self.size.result()}

    class Halved(keras.Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return super().compute_loss(x, y, y_pred, sample_weight) / 2

    class Costly(keras.layers.Layer):
        def call(self, inputs):
            self.add_loss(inputs[0, 0] * 0.125)
            return inputs

    found = {}
    for kind in (Compiled, Halved):
        inputs = keras.Input((3,))
        outputs = keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2")(Costly()(inputs))
        model = kind(inputs, outputs)
        model.compile(keras.optimizers.SGD(0.125), "mse", metrics=["mae"])
        history = model.fit(X, Y, batch_size=3, epochs=2, shuffle=False, verbose=0, validation_data=(X[:4], Y[:4]))
        found[kind.__name__] = {name: values for name, values in sorted(history.history.items())}
    dense = keras.layers.Dense(1, kernel_initializer="ones")
    dense.build((None, 3))
    model = Tracked(dense)
    model.compile(keras.optimizers.SGD(0.0625))
    found["Tracked"] = model.fit(X, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    return found


WEIGHTS = np.float32([0.5, 2, 0, 1, 3, 0.25, 1, 1.5])


def weighted(keras, tape, dataset):
    """Training, evaluation and losses with sample_weight; `dataset` makes one of a tuple of arrays."""

    class Own(keras.Model):
        def train_step(self, data):
            x, y, sample_weight = data if len(data) == 3 else (*data, None)
            with tape() as recorder:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred, sample_weight=sample_weight)
            variables = self.trainable_variables
            self.optimizer.apply(recorder.gradient(loss, variables), variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred, sample_weight=sample_weight)
            return {metric.name: metric.result() for metric in self.metrics}

    found = {}
    column = WEIGHTS[:, None]
    for kind in (keras.Model, Own):
        for name, weights in {"vector": WEIGHTS, "column": column, "none": None}.items():
            inputs = keras.Input((3,))
            dense = keras.layers.Dense(2, kernel_initializer="ones", kernel_regularizer="l2")
            model = kind(inputs, dense(inputs))
            model.compile(keras.optimizers.SGD(0.125), "mse", metrics=["mae"])
            y = np.concatenate([Y, Y * Y], 1)
            parts = (X, y) if weights is None else (X, y, weights)  # a trace of Keras' takes one of the shapes
            more = {"batch_size": 3, "epochs": 2, "shuffle": False, "verbose": 0}
            history = model.fit(X, y, sample_weight=weights, validation_split=0.25, **more).history
            history |= model.fit(X, y, sample_weight=weights, validation_data=parts, **more).history
            history["evaluate"] = model.evaluate(X, y, 5, 0, weights)
            history["train_on_batch"] = model.train_on_batch(X, y, weights)
            history["test_on_batch"] = model.test_on_batch(X, y, weights)
            history["dataset"] = model.evaluate(dataset(parts), verbose=0)
            found[f"{kind.__name__} {name}"] = {key: np.asarray(each).tolist() for key, each in history.items()}
    loss, classes = keras.losses.MeanSquaredError(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    pictures = X.reshape(2, 3, 4)
    cases = {
        "number": (loss, X, X * 0.5, 3.0),
        "vector": (loss, X, X * 0.5, WEIGHTS),
        "column": (loss, X, X * 0.5, column),
        "all zero": (loss, X, X * 0.5, WEIGHTS * 0),
        "classes": (classes, np.arange(8) % 3, X, WEIGHTS),
        "cells": (loss, pictures, pictures * 0.5, WEIGHTS[:6].reshape(2, 3)),
        "cells of one": (loss, pictures[:, :1], pictures[:, :1] * 0.5, WEIGHTS[:2]),
        "one for the cells of each": (loss, pictures, pictures * 0.5, WEIGHTS[:2, None]),
    }
    found["losses"] = {name: float(each(*arguments)) for name, (each, *arguments) in cases.items()}
    return found


def several(keras):
    """A layer and a model that return two tensors, as layers of a model: shapes, outputs, training and weights."""

    class Halves(keras.layers.Layer):
        def __init__(self, **more):
            super().__init__(**more)
            self.norm = keras.layers.BatchNormalization(momentum=0.5)

        def call(self, inputs):
            y = self.norm(inputs)
            return y[:, :2], y[:, 1:]

    inputs = keras.Input((3,), name="inputs")
    left, right = Halves(name="halves")(inputs)
    dense = keras.layers.Dense(2, kernel_initializer="ones", name="dense")
    pair = keras.Model(inputs, (dense(right), left), name="pair")
    again = keras.Input((3,), name="again")
    first, second = pair(again)
    total = keras.layers.Add(name="total")([first, second])
    model = keras.Model([again], [keras.layers.Dense(1, kernel_initializer="ones", name="end")(total)])
    model.compile(keras.optimizers.SGD(0.0625), "mse")
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    inside = keras.Model(pair.input, pair.get_layer("halves").output[1])
    return {
        "shapes": [list(shape) for shape in pair.output_shape],
        "names": [layer.name for layer in (*pair.layers, *model.layers)],
        "loss": history["loss"],
        "pair": [np.asarray(each).tolist() for each in pair.predict(X, verbose=0)],
        "model": model.predict(X, verbose=0).tolist(),
        "inside": inside.predict(X, verbose=0).tolist(),
        "weights": [np.asarray(each).tolist() for each in model.get_weights()],
    }


def numbers(keras, tf):
    """Three steps of Adadelta, a divergence, and a cloned model's outputs with the weights of the first."""
    weight, found = tf.Variable(W[0]), {"adadelta": []}
    optimizer = keras.optimizers.Adadelta(1.0, rho=0.75, epsilon=2**-10)
    for step in range(3):
        optimizer.apply([tf.constant(W[step])], [weight])
        found["adadelta"].append(weight.numpy().tolist())
    truth, predicted = np.float32([[0.5, 0.5, 0], [0.1, 0.2, 0.7]]), np.float32([[0.25, 0.75, 0], [0.6, 0, 0.4]])
    found["divergence"] = [float(x) for x in keras.losses.kl_divergence(truth, predicted)]
    found["divergence"] += [float(keras.losses.KLDivergence()(truth, predicted))]
    inputs = [keras.Input((3,), name="a"), keras.Input((3,), name="b")]
    dense = keras.layers.Dense(3, activation="tanh", name="shared")
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, kernel_regularizer="l2")], name="inner")
    model = keras.Model(inputs, inner(keras.layers.Add(name="sum")([dense(inputs[0]), dense(dense(inputs[1]))])))
    model.set_weights([W[:, :3], W[0, :3], W[:, :2], W[1, :2]])
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    found["clone"] = np.asarray(clone([X, -X])).tolist()
    found["names"] = [layer.name for layer in clone.layers]
    return found


def pictures(keras):
    """The pixels of arrays as images: scaled and not, grey and with the channels first."""
    array = X[:4].reshape(2, 2, 3)
    cases = ((array, {}), (array[..., :1] * 0, {}), (array * 20 + 100, {"scale": False}), (array[:1], {"data_format": "channels_first"}))
    return [np.asarray(keras.utils.array_to_img(each, **more)).tolist() for each, more in cases]


def main():
    os.environ |= {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    import keras
    import tensorflow

    content = {
        "versions": {"keras": keras.__version__, "tensorflow": tensorflow.__version__},
        "script": Path(__file__).name,
        "callbacks": {case: drive(keras, case, ".weights.h5") for case in CASES},
        "regularizers": regularized(keras),
        "numbers": numbers(keras, tensorflow),
        "pictures": pictures(keras),
        "steps": own_steps(keras, tensorflow.GradientTape),
        "several": several(keras),
        "weighted": weighted(
            keras, tensorflow.GradientTape, lambda parts: tensorflow.data.Dataset.from_tensor_slices(parts).batch(3)
        ),
    }
    path = Path(__file__).parents[2] / "tests" / "recorded" / "keras_fit.json"
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n")
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
