"""compile, fit, evaluate, predict: what they return, print and refuse."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from keras_networks import NETWORKS, compiled, samples

import teachconv as tc
from teachconv import graph as tg
from teachconv import keras
from teachconv.graph.ops.nn_impl import dropout
from teachconv.keras import layers

IMAGES, LABELS, HOT, _ = samples()


def network(*more, loss=None, metrics=("accuracy",), optimizer="sgd", **options):
    keras.utils.set_random_seed(0)
    keras.utils.clear_session()
    model = keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Conv2D(4, 3), *more, layers.Flatten(), layers.Dense(10)]
    )
    loss = loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=metrics, **options)
    return model


# ---------------------------------------------------------------------------------------------
# fit
# ---------------------------------------------------------------------------------------------


def test_history_has_a_number_for_each_epoch_and_name():
    history = network().fit(IMAGES, LABELS, epochs=3, verbose=0, validation_split=0.3)
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert history.epoch == [0, 1, 2]
    assert all(len(values) == 3 for values in history.history.values())
    assert history.history["loss"][2] < history.history["loss"][0]


def test_a_fit_is_its_steps():
    """fit without shuffling is train_on_batch, batch after batch; a validation changes no weight."""
    one, other = network(), network()
    one.fit(
        IMAGES[:80],
        LABELS[:80],
        batch_size=30,
        shuffle=False,
        verbose=0,
        validation_data=(IMAGES[80:], LABELS[80:]),
    )
    for start in (0, 30, 60):
        rows = slice(start, min(start + 30, 80))
        other.train_on_batch(IMAGES[rows], LABELS[rows])
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_loss_of_an_epoch_is_the_mean_over_samples():
    model = network(optimizer=keras.optimizers.SGD(0.0))
    loss, accuracy = model.evaluate(IMAGES, LABELS, batch_size=100, verbose=0)
    history = model.fit(IMAGES, LABELS, batch_size=30, verbose=0)  # batches of 30, 30, 30 and 10
    assert history.history["loss"][0] == pytest.approx(loss, rel=1e-6)
    assert history.history["accuracy"][0] == accuracy == (model.predict(IMAGES).argmax(1) == LABELS).mean()


def test_a_seed_fixes_the_order_of_the_samples():
    first, again, other = (network().fit(IMAGES, LABELS, verbose=0, seed=seed).history for seed in (1, 1, 2))
    assert first == again != other


def test_callbacks_are_told_everything():
    told = []

    class Listener(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            told.append("begin")

        def on_epoch_begin(self, epoch, logs=None):
            told.append(("epoch", epoch))

        def on_train_batch_end(self, batch, logs=None):
            told.append((batch, sorted(logs)))

        def on_epoch_end(self, epoch, logs=None):
            self.model.optimizer.learning_rate = 0.001
            self.model.stop_training = epoch == 1

        def on_train_end(self, logs=None):
            told.append("end")

    model = network()
    model.fit(IMAGES, LABELS, batch_size=60, epochs=9, verbose=0, callbacks=[Listener()])
    step = [(0, ["accuracy", "loss"]), (1, ["accuracy", "loss"])]
    assert told == ["begin", ("epoch", 0), *step, ("epoch", 1), *step, "end"]
    assert model.optimizer.learning_rate.numpy() == np.float32(0.001)


def test_callbacks_hear_of_fit_and_evaluate():
    told = []

    def listen(name):
        return lambda self, *given, logs=None: told.append((name, *given[: "batch" in name]))

    stages = [f"{kind}{when}" for kind in ("train_", "test_") for when in ("batch_begin", "batch_end")]
    stages += [f"{kind}_{when}" for kind in ("train", "test") for when in ("begin", "end")]
    listener = type(
        "Listener", (keras.callbacks.Callback,), {f"on_{name}": listen(name) for name in stages}
    )()
    model = network()

    def heard(call, *data, **options):
        told.clear()
        call(*data, batch_size=60, verbose=0, callbacks=[listener], **options)
        return told

    def steps(kind, count):
        return [(f"{kind}batch_{when}", step) for step in range(count) for when in ("begin", "end")]

    tested = [("test_begin",), *steps("test_", 2), ("test_end",)]
    fitted = heard(model.fit, IMAGES, LABELS, validation_data=(IMAGES, LABELS))
    assert fitted == [("train_begin",), *steps("train_", 2), *tested, ("train_end",)]
    assert heard(model.evaluate, IMAGES, LABELS) == tested
    with pytest.raises(TypeError, match="predict has no argument 'callbacks'"):
        model.predict(IMAGES, callbacks=[listener])


def test_a_schedule_may_take_the_epoch_alone():
    model = network()
    for schedule, rates in (
        (lambda epoch: 0.5 / (epoch + 1), [0.5, 0.25]),
        (lambda _, old: old / 2, [0.125, 0.0625]),
    ):
        told = [keras.callbacks.LearningRateScheduler(schedule)]
        history = model.fit(IMAGES, LABELS, epochs=2, verbose=0, callbacks=told).history
        assert history["learning_rate"] == rates


def test_a_learning_rate_may_be_a_tensor():
    adam = keras.optimizers.Adam(tg.constant(0.5))
    adam.learning_rate = adam.learning_rate * 0.5
    assert adam.learning_rate.numpy() == 0.25
    adam.learning_rate.assign(tg.constant(0.125))
    assert (adam.learning_rate * tg.constant(2.0)).numpy() == 0.25
    with pytest.raises(ValueError, match="learning_rate must be from 0"):
        adam.learning_rate = tg.constant(-1.0)


def test_a_new_learning_rate_counts_without_a_new_trace():
    model = network()
    model.train_on_batch(IMAGES, LABELS)
    before = model.get_weights()
    model.optimizer.learning_rate = 0.0
    model.train_on_batch(IMAGES, LABELS)
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    assert len(model.train_function.trace_log) == 1


def test_a_callback_ends_the_training():
    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    assert network().fit(IMAGES, LABELS, epochs=5, verbose=0, callbacks=[Stop()]).epoch == [0, 1]


@pytest.mark.parametrize("verbose", ["auto", 2])
def test_the_progress_is_printed_as_keras_prints_it(verbose, capsys):
    network().fit(IMAGES, LABELS, batch_size=30, epochs=2, verbose=verbose, validation_split=0.5)
    lines = capsys.readouterr().out.splitlines()
    number = r"(\d\.\d{4}|\d\.\d{4}e[+-]\d\d)"
    numbers = " - ".join(f"{name}: {number}" for name in ("accuracy", "loss", "val_accuracy", "val_loss"))
    bar, between = ("━" * 20 + " ", " ") if verbose == "auto" else ("- ", " - ")
    assert lines[::2] == ["Epoch 1/2", "Epoch 2/2"]
    assert all(
        re.fullmatch(rf"2/2 {bar}\d+s{between}\d+[mu]?s/step - {numbers}", line) for line in lines[1::2]
    ), lines


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_an_optimizer_updates_a_variable_without_axes_as_one_of_one_element(name):
    results = []
    for start, gradient in ((1.0, 0.5), ([1.0], [0.5])):
        optimizer, v = getattr(keras.optimizers, name)(0.125), tg.Variable(start)
        for _ in range(2):
            optimizer.apply_gradients([(tg.constant(gradient), v)])
        assert v.numpy().shape == np.shape(start)
        results.append(np.ravel(v.numpy()).tolist())
    assert results[0] == results[1] != [1.0]


def test_run_eagerly_gives_the_same():
    one, other = network(layers.BatchNormalization()), network(layers.BatchNormalization(), run_eagerly=True)
    for model in (one, other):
        model.fit(IMAGES, LABELS, verbose=0, seed=0)
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_model_has_inputs_and_outputs():
    model = network()
    assert ([t.shape for t in model.inputs], model.output.shape) == ([(None, 8, 8, 1)], (None, 10))
    assert model.layers[1].input is model.layers[0].output
    part = keras.Model(model.inputs, model.layers[0].output)
    np.testing.assert_array_equal(part(IMAGES), model.layers[0](IMAGES))
    more = keras.Model(part.input, layers.Flatten()(part.output))
    assert more.predict(IMAGES[:2]).shape == (2, 144)
    with pytest.raises(AttributeError, match="has not been called, and has no input yet"):
        _ = layers.Dense(3).input
    with pytest.raises(ValueError, match="its first layer needs an Input"):
        _ = keras.Sequential([layers.Dense(3)]).inputs


def test_small_words_of_keras():
    model = keras.Sequential([layers.Dense(1, input_shape=(4,))])
    assert model.metrics_names == []
    model.compile("ADAM", "MSE", metrics=["mse"])
    x, y = np.ones((2, 4)), np.ones((2, 1))
    model.fit(x, y, verbose=0)
    assert model.metrics_names == ["loss", "mse"]
    assert layers.Conv2D(1, 1, data_format="CHANNELS_LAST").data_format == "channels_last"
    with pytest.raises(TypeError, match=r"x must be an array; got None"):
        model.fit(None, y, validation_split=0.5)
    own = type("Own", (keras.Sequential,), {"train_step": lambda self, data: tg.constant(1.0)})
    model = own([layers.Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match="train_step must return a dict of numbers by their names"):
        model.fit(x, y, verbose=0)
    model = keras.Sequential([layers.Dense(1, input_shape=(4,))])
    model.compile("sgd")
    with pytest.raises(ValueError, match=r"is not compiled with a loss: call compile\(optimizer, loss\)"):
        model.fit(x, y, verbose=0)


def test_a_batch_has_a_loss_of_its_own():
    """Keras 3.15 gave the numbers."""
    numbers = (np.arange(16) * 7 % 5 - 2).reshape(4, 4).astype("float32")
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    losses = [model.train_on_batch(numbers, numbers.ravel()[:4]) for _ in range(3)]
    np.testing.assert_allclose(losses, [4.75, 4.272913, 3.853361], rtol=1e-6)
    inputs = keras.Input((4,))
    model = keras.Model(inputs, layers.Dense(1, kernel_initializer="ones")(inputs))  # not compiled
    assert model.predict(numbers).ravel().tolist() == [-1, 1, -2, 0]


def test_adam_corrects_its_bias_by_the_number_of_steps():
    """Keras 3.15 gave the numbers."""
    w, adam, found = tg.Variable(1.0), keras.optimizers.Adam(0.1), []
    adam.iterations.assign(10)
    for gradient in (1.0, -0.5):
        adam.apply([tg.constant(gradient)], [w])
        found.append(w.numpy())
    np.testing.assert_allclose(found, [0.951787, 0.934556], rtol=1e-6)


def test_labels_in_a_column_become_rows():
    hot = keras.utils.to_categorical(np.array([[3], [1]]), 4)
    assert hot.tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]
    assert keras.utils.to_categorical([3], 4).shape == (1, 4)


def test_one_trace_for_each_batch_size():
    model = network()
    model.fit(IMAGES, LABELS, batch_size=40, epochs=3, verbose=0)  # 40, 40, 20
    assert len(model.train_function.trace_log) == 2


def test_what_is_not_trainable_stays():
    model = network(layers.BatchNormalization())
    model.layers[0].trainable = False
    frozen, mean = model.layers[0].get_weights(), model.layers[1].moving_mean.numpy()
    model.fit(IMAGES, LABELS, verbose=0)
    assert all((a == b).all() for a, b in zip(frozen, model.layers[0].get_weights(), strict=True))
    assert (model.layers[1].moving_mean.numpy() != mean).any()


def test_a_model_of_models_trains():
    encoder = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(4, 3, 2, "same")], name="encoder")
    decoder = keras.Sequential(
        [keras.Input((4, 4, 4)), layers.Conv2DTranspose(1, 4, 2, "same")], name="decoder"
    )
    model = keras.Sequential([encoder, decoder])
    model.compile("adam", "mse")
    history = model.fit(IMAGES, IMAGES, epochs=2, verbose=0).history["loss"]
    assert history[1] < history[0]
    assert len(model.trainable_variables) == 4
    assert model.geometries(model.input_shape)[0] == tc.conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 4), 2, "SAME")


@pytest.mark.parametrize("traced", [True, False])
def test_a_loop_of_ones_own_trains_alike(traced):
    """The loop of TensorFlow's tutorials: a tape, gradients, apply_gradients; traced for any batch size."""
    model, other = network(), network()
    images, labels = IMAGES.astype("float32"), LABELS.astype("int64")

    def step(x, y):
        with tg.GradientTape() as tape:
            loss = other.loss(y, other(x, training=True))
        gradients = tape.gradient(loss, other.trainable_variables)
        other.optimizer.apply_gradients(zip(gradients, other.trainable_variables, strict=True))
        return loss

    if traced:
        any_batch = [tg.TensorSpec([None, 8, 8, 1], "float32"), tg.TensorSpec([None], "int64")]
        step = tg.function(step).get_concrete_function(*any_batch)
    for rows in (slice(0, 60), slice(60, 100), slice(20, 90)):
        model.reset_metrics()
        loss, _ = model.train_on_batch(images[rows], labels[rows])
        assert float(step(images[rows], labels[rows])) == pytest.approx(loss, rel=1e-6)
    for a, b in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["upscaling", "mixed"])
def test_every_layer_takes_an_unknown_batch(name):
    model, x = compiled(name, "float32"), NETWORKS[name][3].astype("float32")
    any_batch = tg.TensorSpec([None, *x.shape[1:]], "float32")
    traced = tg.function(lambda x: model(x)).get_concrete_function(any_batch)
    for size in (3, 5):
        np.testing.assert_allclose(traced(x[:size]).numpy(), model(x[:size]).numpy(), rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------------------------------
# Bad input
# ---------------------------------------------------------------------------------------------

NAN = np.where(np.arange(6400).reshape(IMAGES.shape) == 77, np.nan, IMAGES)
REFUSED = {  # what is passed to fit -> what the message says
    "no samples": ({"x": IMAGES[:0], "y": LABELS[:0]}, "x must have at least one sample"),
    "batches of zero": ({"batch_size": 0}, "batch_size must be at least 1; got 0"),
    "another shape": (
        {"x": IMAGES[:, :7]},
        r"\(None, 8, 8, 1\) for layer 'conv2d' \(Conv2D\).*got \(100, 7, 8, 1\)",
    ),
    "no channels": ({"x": IMAGES[..., 0]}, r"x must have shape \(None, 8, 8, 1\)"),
    "not finite": ({"x": NAN}, r"x must be finite; x\[1, 1, 5, 0\] is nan"),
    "text": ({"x": np.array(["a"] * 100)}, "x must hold numbers"),
    "fewer labels": ({"y": LABELS[:50]}, "y must have a label for each of the 100 samples; got 50"),
    "a label too large": ({"y": LABELS + 1}, r"y must hold classes from 0 to 9.*y\[\d+\] is 10"),
    "a negative label": ({"y": np.where(LABELS == 3, -1, LABELS)}, r"classes from 0 to 9.*is -1"),
    "no whole label": ({"y": LABELS + 0.5}, "y must hold whole numbers"),
    "one-hot labels": ({"y": HOT}, "categorical_crossentropy"),
    "a word for verbose": ({"verbose": "yes"}, "verbose must be one of auto, 0, 1, 2"),
    "no callback": ({"callbacks": [print]}, "callbacks must be Callbacks"),
    "a split of all": ({"validation_split": 1.0}, "validation_split must be from 0 to below 1"),
    "a split that leaves nothing": (
        {"x": IMAGES[:1], "y": LABELS[:1], "validation_split": 0.1},
        "leaves 0 for training",
    ),
    "bad validation labels": ({"validation_data": (IMAGES, LABELS + 1)}, "classes from 0 to 9"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_data_are_refused_before_anything_changes(case):
    model, (arguments, message) = network(), REFUSED[case]
    before = model.get_weights()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(**({"x": IMAGES, "y": LABELS, "verbose": 0} | arguments))
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    assert int(model.optimizer.iterations.numpy()) == 0


def test_a_loss_that_is_not_finite_is_said_with_step_and_layer():
    model = network(
        layers.BatchNormalization(), loss="mse", metrics=None, optimizer=keras.optimizers.SGD(1e18)
    )
    after = []

    class Keep(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            after.append(self.model.get_weights())

    with pytest.raises(FloatingPointError) as raised:
        model.fit(IMAGES, HOT, batch_size=20, epochs=3, shuffle=False, verbose=0, callbacks=[Keep()])
    assert len(after) >= 1
    for a, b in zip(model.get_weights(), after[-1], strict=True):  # moving averages included
        np.testing.assert_array_equal(a, b)
    text = str(raised.value)
    assert re.search(r"the loss is (nan|inf) at step \d of epoch 1: ", text)
    assert "learning rate (now 1e+18)" in text
    step = int(re.search(r"step (\d)", text)[1])
    assert int(model.optimizer.iterations.numpy()) == step - 1  # the step itself updated nothing


def test_the_layer_where_it_began_is_named():
    model = network()
    weights = model.get_weights()
    weights[2] = np.full_like(weights[2], 1e38)
    model.set_weights(weights)
    with pytest.raises(FloatingPointError, match=r"layer 'dense' \(Dense\)"):
        model.fit(IMAGES, LABELS, verbose=0)
    weights[0] = weights[0] * np.nan
    model.set_weights(weights)
    with pytest.raises(
        FloatingPointError, match=r"layer 'conv2d' \(Conv2D\) .* left 'conv2d/kernel' not finite"
    ):
        model.train_on_batch(IMAGES, LABELS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: layers.Conv2D(4, 3, paddin="same"), r"no argument 'paddin' \(did you mean \"padding\"\?\)"),
        (lambda: layers.Conv2D(4, 3, padding="sme"), 'did you mean "same"'),
        (lambda: layers.Conv2D(0, 3), "filters must be at least 1"),
        (lambda: layers.Conv2D(4, 3, groups=3), "filters must be a multiple of groups 3"),
        (lambda: layers.Conv2D(4, 3, 2, dilation_rate=2), "strides above 1 do not go with a dilation_rate"),
        (lambda: layers.Conv2D(4, 3, activation="rleu"), 'did you mean "relu"'),
        (
            lambda: layers.Conv2D(4, 3, kernel_constraint="nonneg"),
            "kernel_constraint of Conv2D is not in teachconv.keras",
        ),
        (
            lambda: layers.Conv2D(4, 3, kernel_initializer="glorot")(np.ones((1, 4, 4, 1))),
            "initializer must be one of",
        ),
        (
            lambda: layers.Conv2D(4, 9, input_shape=(8, 8, 1)),
            r"layer 'conv2d' \(Conv2D\) cannot take .*in_rows >= 9",
        ),
        (lambda: layers.Dropout(1.5), "rate must be from 0 to 1"),
        (lambda: layers.Reshape((3, 3), input_shape=(8,)), "8 elements do not fill"),
        (lambda: layers.UpSampling2D(2, interpolation="bilinear"), "interpolation must be one of nearest"),
        (lambda: layers.Input((8, 8, 1)) + 1, "operators are not layers"),
        (lambda: keras.Sequential([3]), "layers must be layers"),
        (
            lambda: keras.Sequential([layers.Dense(2, name="a"), layers.Dense(2, name="a")]),
            "there is a layer 'a' already",
        ),
        (lambda: network().get_layer("dnese"), 'did you mean "dense"'),
        (
            lambda: keras.Model(keras.Input((3,)), layers.Dense(2)(keras.Input((3,)))),
            "outputs must come from inputs",
        ),
        (lambda: network().compile("adm", "mse"), 'did you mean "adam"'),
        (lambda: network().compile("adam", "msee"), 'did you mean "mse"'),
        (lambda: network().compile("adam", "mse", metrics=["acuracy"]), 'did you mean "accuracy"'),
        (lambda: network().compile("adam", "mse", backend="cyton"), 'did you mean "cython"'),
        (lambda: keras.Sequential([layers.Dense(2)]).fit(IMAGES, LABELS), "is not compiled"),
        (lambda: keras.Sequential([layers.Dense(2)]).summary(), "does not know the shape of its input"),
        (lambda: keras.optimizers.Adam(-1.0), "learning_rate must be from 0, and finite; got -1.0"),
        (lambda: keras.optimizers.SGD(momentum=2), "momentum must be from 0 to 1"),
        (lambda: keras.optimizers.Adam(beta_1=1), "beta_1 must be from 0 to below 1; got 1"),
        (lambda: layers.Dropout("half"), "rate must be a number; got 'half'"),
        (lambda: layers.Conv2D(4, 3, name=3), "name must be a text"),
        (lambda: layers.Dense(4, dtype="int32", input_shape=(3,)), "must be a float; got int32"),
        (lambda: keras.Input(8), r"shape must be the sizes without the batch.*got 8"),
        (lambda: keras.Input((-8, 3)), "shape must hold sizes from 0"),
        (lambda: keras.Sequential(layers.Dense(2)), "layers must be a list of layers"),
        (lambda: network().fit([[1], [2, 3]], LABELS), "x must be an array"),
        (lambda: network().fit(IMAGES, LABELS, epochs=0), "epochs must be at least 1"),
        (
            lambda: network().compile("adam", "mse", metrics="accuracy"),
            r"metrics must be a list .*\['accuracy'\]",
        ),
        (lambda: keras.utils.to_categorical(["a"]), "x must hold whole numbers"),
        (lambda: keras.utils.set_random_seed(-1), "seed must be from 0"),
        (lambda: keras.config.set_floatx("float23"), "did you mean"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    keras.utils.clear_session()
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize("change", ["fewer", "shape", "dtype"])
def test_weights_that_do_not_fit_change_nothing(change):
    model = network()
    weights = model.get_weights()
    wrong = {
        "fewer": [w * 0 for w in weights[:-1]],
        "shape": [*(w * 0 for w in weights[:-1]), np.zeros(11)],
        "dtype": [*(w * 0 for w in weights[:-1]), np.zeros(10, complex)],
    }[change]
    with pytest.raises((ValueError, TypeError), match="dense/bias"):
        model.set_weights(wrong)
    assert all((a == b).all() for a, b in zip(weights, model.get_weights(), strict=True))


def test_a_lambda_is_a_loss_and_logs_begin_empty(capsys):
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append(logs)

        def on_epoch_begin(self, epoch, logs=None):
            seen.append(logs)

        def on_train_batch_begin(self, batch, logs=None):
            seen.append(logs)

    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", lambda y_true, y_pred: y_pred - y_true)
    history = model.fit([[1.0, 2.0]], [[1.0]], verbose=2, callbacks=[Watch()]).history
    assert history == {"loss": [2.0]}
    assert seen == [{}, {}, {}]
    assert "Epoch" not in capsys.readouterr().out  # one epoch: Keras prints its line alone


# --- arguments of Keras' that are not here -------------------------------------------------------------

SIGNATURES = json.loads(
    (Path(__file__).parents[1] / "recorded" / "tensorflow_signatures.json").read_text(encoding="utf-8")
)["signatures"]


def not_here(name, kind):
    """A class, and Keras' arguments that it has not, with their defaults."""
    theirs = [each for each in SIGNATURES[name]["parameters"] if each[1] != "VAR_KEYWORD"]
    return kind, {each[0]: each[2] for each in theirs if each[0] not in inspect.signature(kind).parameters}


NOT_HERE = {
    name: not_here(name, kind)
    for name, kind in {
        "keras.losses.SparseCategoricalCrossentropy": keras.losses.SparseCategoricalCrossentropy,
        "keras.losses.CategoricalCrossentropy": keras.losses.CategoricalCrossentropy,
        "keras.losses.MeanSquaredError": keras.losses.MeanSquaredError,
        "keras.optimizers.SGD": keras.optimizers.SGD,
        "keras.optimizers.Adam": keras.optimizers.Adam,
    }.items()
} | {  # methods are not recorded: these are Keras 3.15's
    "fit": (
        lambda **more: network().fit(IMAGES, LABELS, verbose=0, **more),
        {"class_weight": None, "validation_freq": 1},
    ),
    "evaluate": (
        lambda **more: network().evaluate(IMAGES, LABELS, verbose=0, **more),
        {"class_weight": None},
    ),
    "compile": (
        lambda **more: network().compile("sgd", "mse", **more),
        {"loss_weights": None, "weighted_metrics": None, "steps_per_execution": 1}
        | {"jit_compile": "auto", "auto_scale_loss": True},
    ),
}


@pytest.mark.parametrize("name", NOT_HERE)
def test_an_argument_that_is_not_here_may_have_keras_default_alone(name):
    """None, False and 0 mean something to Keras: no reduction, class 0, axis 0."""
    make, defaults = NOT_HERE[name]
    make(**defaults)
    for argument, default in defaults.items():
        legal = [default] + {"jit_compile": [False], "weight_decay": [0.0]}.get(argument, [])
        for value in (None, False, 0, 1, -1, 0.5, "none"):
            if value not in legal:
                with pytest.raises(TypeError, match=f"has no argument '{argument}'"):
                    make(**{argument: value})
    with pytest.raises(TypeError, match="has no argument 'reductoin'"):
        make(reductoin=None)


def test_a_layer_s_argument_that_is_not_here_may_have_keras_default_alone():
    layers.Dense(1, kernel_regularizer=None, bias_constraint=None, lora_rank=None, activity_regularizer=None)
    layers.BatchNormalization(renorm=False, synchronized=False, renorm_clipping=None, renorm_momentum=0.99)
    for kind, arguments in (
        (lambda **more: layers.Dense(1, **more), {"activity_regularizer": False, "lora_rank": 0}),
        (layers.BatchNormalization, {"renorm": None, "synchronized": None, "renorm_momentum": 0.9}),
    ):
        for name, value in arguments.items():
            with pytest.raises(ValueError, match=f"{name} of .* is not in teachconv.keras"):
                kind(**{name: value})
    layers.ReLU(None, 0.0, 0), layers.ReLU(negative_slope=False)
    for name in ("negative_slope", "threshold"):  # as in Keras
        with pytest.raises(ValueError, match="ReLU is the plain one here"):
            layers.ReLU(**{name: None})


# --- losses of any dtype ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, tg.constant])
def test_losses_of_integers_are_not_truncated(kind):
    """The numbers are Keras 3.15's; a loss class of Keras computes in float32, whatever it is given."""
    wanted = {  # y_true, y_pred -> the mean squared error, the cross-entropies of probabilities and of logits
        ("float32", "int32"): (2.5425, 8.77382, 2.21587),
        ("float32", "uint8"): (2.5425, 8.77382, 2.21587),
        ("float32", "bool"): (0.4925, 1.21301, 1.21301),
        ("int32", "int64"): (3.0, 8.26178, 1.68092),
        ("int64", "float32"): (3.2625, 1.32997, 1.53742),
        ("uint8", "uint8"): (3.0, 8.26178, 1.68092),
        ("float64", "float32"): (2.565, 1.83478, 2.0498),
    }
    truth, predicted = [[0.6, 1.9], [1.0, 0.0]], [[1.5, 2.2], [0.4, 3.0]]
    losses = keras.losses
    for (true_dtype, dtype), numbers in wanted.items():
        y_true = kind(np.array(truth).astype(true_dtype))
        y_pred = kind(np.array(predicted).astype(dtype))
        found = [
            losses.MeanSquaredError()(y_true, y_pred),
            losses.CategoricalCrossentropy()(y_true, y_pred),
            losses.CategoricalCrossentropy(from_logits=True)(y_true, y_pred),
        ]
        assert {each.dtype for each in found} == {np.dtype("float32")}
        assert [round(float(each), 5) for each in found] == pytest.approx(numbers, abs=1e-5)
        classes = kind(np.array([1, 0]).astype(true_dtype))
        sparse = losses.SparseCategoricalCrossentropy(from_logits=True)(classes, y_pred)
        one_hot = losses.CategoricalCrossentropy(from_logits=True)(np.eye(2)[[1, 0]], y_pred)
        assert float(sparse) == pytest.approx(float(one_hot))
    assert losses.mean_squared_error(np.float32([[0.5]]), np.int32([[1]])).numpy().tolist() == [0.25]


def test_a_dropped_value_is_zero_even_if_it_was_infinite():
    x = np.full((4, 50), np.inf, "float32")
    dropped = layers.Dropout(0.5, seed=1)(x, training=True).numpy()
    assert {*dropped.ravel().tolist()} == {0.0, np.inf}
    assert {*dropout(x, 0.5, seed=1).numpy().ravel().tolist()} == {0.0, np.inf}


@pytest.mark.parametrize(
    ("identifier", "function"), [(None, "linear"), ("tanh", "tanh"), (tg.nn.relu, "relu")]
)
def test_the_activation_of_a_layer_can_be_replaced(identifier, function):
    """None stands for no activation, as in Keras, whose layers skip it then."""
    x = IMAGES[:2]
    for layer in (
        layers.Conv2D(2, 3, activation="sigmoid"),
        layers.Dense(3, "relu"),
        layers.Activation("relu"),
    ):
        model = keras.Sequential([keras.Input((8, 8, 1)), layer])
        plain = type(layer).from_config({**layer.get_config(), "activation": None})
        linear = keras.Sequential([keras.Input((8, 8, 1)), plain])
        linear.set_weights(model.get_weights())
        model.layers[-1].activation = identifier
        wanted = getattr(keras.activations, function)(linear(x))
        np.testing.assert_array_equal(model(x), wanted)
        assert layer.get_config()["activation"] is layer.activation


@pytest.mark.parametrize("identifier", [0, False, ""])
def test_only_none_is_no_activation(identifier):
    with pytest.raises((TypeError, ValueError), match="activation must be"):
        layers.Activation(identifier)
    with pytest.raises(TypeError, match="callbacks must be a list"):
        network().evaluate(IMAGES, LABELS, callbacks=identifier)
