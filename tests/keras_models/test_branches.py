"""Models with branches and with a call of their own: layers, weights, summaries, datasets, files, ONNX."""

import json
from itertools import repeat

import numpy as np
import pytest
from recordings import RECORDED

import teachconv as tc
from teachconv import graph as tg
from teachconv import keras
from teachconv.graph.data import Dataset
from teachconv.keras import layers

META = json.loads(np.load(RECORDED / "keras_words.npz")["meta"].item())


def numbers(*shape):
    return (np.arange(np.prod(shape)) * 7 % 5 - 2).reshape(shape).astype("float32")


def branched():
    """The model whose layers the recorder has; a layer is in it twice."""
    a, b = keras.Input((6, 6, 2), name="a"), keras.Input((6, 6, 3), name="b")
    first = layers.Conv2D(4, 3, padding="same", name="first")(a)
    second = layers.Conv2D(4, 1, name="second")(b)
    third = layers.Conv2D(4, 3, padding="same", name="third")(second)
    total = layers.Add(name="total")([first, third])
    shared = layers.Conv2D(4, 3, padding="same", name="shared")
    x = layers.Concatenate(name="joined")([shared(shared(total)), second, total])
    return keras.Model(
        [a, b], layers.Dense(2, name="out")(layers.GlobalAveragePooling2D(name="mean")(x)), name="branched"
    )


class Residual(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv2D(2, 3, padding="same")
        self.blocks = [layers.Conv2D(2, 3, padding="same", activation="relu"), layers.Dropout(0.5)]
        self.out = layers.Dense(1)
        self.flatten = layers.Flatten()

    def call(self, x, training=False):
        x = self.conv(x)
        y = x
        for block in self.blocks:
            y = block(y, training=training)
        return self.out(self.flatten(layers.add([x, y])))


def test_layers_and_weights_have_keras_order():
    model = branched()
    assert [layer.name for layer in model.layers] == META["layers"]
    assert [list(weight.shape) for weight in model.weights] == META["weights"]
    assert model.output_shape == (None, 2)
    assert [tensor.name for tensor in model.inputs] == ["a", "b"]


def test_a_branch_computes_what_its_layers_do():
    model, (x, y) = branched(), (numbers(2, 6, 6, 2), numbers(2, 6, 6, 3))
    get = model.get_layer
    second = get("second")(y)
    total = get("first")(x) + get("third")(second)
    joined = np.concatenate([get("shared")(get("shared")(total)), second, total], -1)
    wanted = get("out")(joined.mean((1, 2)))
    np.testing.assert_allclose(model([x, y]), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.predict([x, y]), wanted, rtol=1e-5, atol=1e-5)


def test_a_model_of_two_inputs_trains_and_is_followed(tmp_path):
    keras.utils.set_random_seed(1)
    model, data = branched(), ([numbers(8, 6, 6, 2), numbers(8, 6, 6, 3)], numbers(8, 2))
    model.compile("sgd", "mse")
    losses = model.fit(*data, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert model.evaluate(*data, verbose=0) == pytest.approx(model.test_on_batch(*data))
    chain = tc.find_source(model, data[0])
    assert [step.what for step in chain.steps].count("innermost loop") >= 4
    model.save_weights(tmp_path / "w.weights.npz")
    other = branched()
    other.load_weights(tmp_path / "w.weights.npz")
    np.testing.assert_array_equal(other(data[0]), model(data[0]))
    for wrong, message in [
        (data[0][0], r"x must be a list of 2 arrays"),
        ([data[0][0]], r"x must be a list of 2 arrays"),
        ([data[0][0], data[0][1][:4]], r"x\[1\] must have 8 samples, as x\[0\] has; got 4"),
        ([data[0][0], data[0][1][:, :5]], r"x\[1\] must have shape \(None, 6, 6, 3\)"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(wrong, data[1], verbose=0)


@pytest.mark.parametrize("kind", ["branched", "own", "sum"])
def test_models_with_branches_as_onnx_files(kind):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    if kind == "sum":
        inputs = keras.Input((6, 6, 2))
        padded = layers.Cropping2D(1)(layers.ZeroPadding2D(2)(inputs))
        pooled = layers.GlobalMaxPooling2D(keepdims=True)(padded)
        model = keras.Model(inputs, layers.Conv2D(2, 3, padding="same", activation="tanh")(padded) + pooled)
    else:
        model = branched() if kind == "branched" else Residual()
    x = [numbers(2, 6, 6, 2), numbers(2, 6, 6, 3)] if kind == "branched" else numbers(2, 6, 6, 2)
    wanted = np.asarray(model(x))
    file = tc.to_onnx(model)
    onnx.checker.check_model(file)
    from onnx.reference import ReferenceEvaluator

    names = [info.name for info in file.graph.input]
    (found,) = ReferenceEvaluator(file).run(
        None, dict(zip(names, x if kind == "branched" else [x], strict=True))
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_class_of_ones_own_is_built_trained_and_summarised(capsys, tmp_path):
    model = Residual()
    assert (model.built, [layer.name for layer in model.layers][0]) == (False, model.conv.name)
    model.build((None, 6, 6, 2))
    assert (model.output_shape, model.count_params()) == ((None, 1), 2 * (18 * 2 + 2) + 73)
    model.summary(geometry=True)
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert "5 x 5" in rows[model.blocks[0].name]
    model.compile(loss="mse")
    assert model.optimizer.name == "rmsprop"
    x, y = numbers(6, 6, 6, 2), numbers(6, 1)
    losses = model.fit(x, y, epochs=3, verbose=0).history["loss"]
    assert len(losses) == 3
    model.save_weights(tmp_path / "w.weights.npz")
    again = Residual()
    again(x[:1])
    again.load_weights(tmp_path / "w.weights.npz")
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    unknown = Residual()
    for call in (unknown.summary, lambda: tc.to_onnx(unknown)):
        with pytest.raises(ValueError, match="does not know the shape of its input|has no weights yet"):
            call()


def test_a_call_with_more_than_layers_has_a_summary_but_no_onnx_file():
    class Scaled(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(3)

        def call(self, x):
            return tg.reduce_sum(self.dense(x), 1)

    model = Scaled()
    assert model(numbers(2, 4)).shape == (2,)
    assert model.output_shape == (None,)
    assert "Total params: 15" in repr(model)
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(ValueError, match="its call must use layers alone"):
        tc.to_onnx(model)


def test_the_repr_of_a_model_is_its_summary():
    model = branched()
    text, html = repr(model), model._repr_html_()
    for part in ("branched", "Connected", "Multiply-adds", "Sees", "Total params:"):
        assert part in text
    assert "first, third" in html
    assert keras.utils.plot_model(model, show_shapes=True, dpi=64)._repr_html_() == html
    assert repr(keras.Sequential([layers.Dense(2)])).startswith("<Sequential name=")
    assert "7 x 7" in text  # of the shared layer: 3, and twice 2 more
    assert "9 x 9" not in text


def test_several_outputs_show_what_lies_between():
    inputs = keras.Input((6, 6, 1))
    first = layers.Conv2D(2, 3)(inputs)
    model = keras.Model(inputs, [first, layers.Flatten()(first)])
    x = numbers(3, 6, 6, 1)
    assert [array.shape for array in model.predict(x)] == [(3, 4, 4, 2), (3, 32)]
    assert [tensor.shape for tensor in model(x)] == [(3, 4, 4, 2), (3, 32)]
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="has 2 outputs, and a loss here takes one"):
        model.fit(x, x, verbose=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda a, b: layers.Add()([a, b]),
            r"cannot take an input of shape \[.*the sizes \[2, 3\] of an axis",
        ),
        (lambda a, b: layers.Add()(a), "takes a list of tensors"),
        (lambda a, b: layers.Add()([a, keras.Input((6,))]), "must have the same number of axes"),
        (lambda a, b: layers.Concatenate(1)([a, b]), "all sizes except those of axis 1 must match"),
        (lambda a, b: layers.Concatenate(0)([a, a]), "axis 0 must be one of the 4 axes, after the batch"),
        (lambda a, b: layers.Concatenate(4)([a, a]), "axis 4 must be one of"),
        (lambda a, b: layers.Concatenate("last"), "axis must be an integer"),
        (lambda a, b: layers.Dense(2)([a, b]), "takes one tensor; got 2 in a list"),
        (lambda a, b: layers.Add()([a, numbers(1, 6, 6, 2)]), "must all have values or all have none"),
        (lambda a, b: a * b, "operators are not layers"),
        (lambda a, b: a + 1.0, "operators are not layers"),
        (
            lambda a, b: keras.Model([a, b], 3),
            "outputs must be tensors that Input or a layer returned; got 3",
        ),
        (lambda a, b: keras.Model([], a), "inputs must be tensors"),
        (lambda a, b: keras.Model([a], layers.Concatenate()([a, b])), "outputs must come from inputs 'a'"),
        (lambda a, b: branched()([numbers(1, 6, 6, 2)]), "takes 2 tensors in a list; got 1"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(keras.Input((6, 6, 2), name="a"), keras.Input((6, 6, 3), name="b"))


def test_a_size_of_one_is_repeated_and_gradients_reach_all_branches():
    x, y = tg.constant(numbers(2, 3, 3, 2)), tg.constant(numbers(2, 1, 1, 2))
    with tg.GradientTape() as tape:
        tape.watch([x, y])
        total = tg.reduce_sum(layers.Add()([x, y]) * 2.0) + tg.reduce_sum(layers.Concatenate(1)([x, x]) * 3.0)
    dx, dy = tape.gradient(total, [x, y])
    assert set(dx.numpy().ravel()) == {8.0}  # 2, and 3 for each half
    assert set(dy.numpy().ravel()) == {18.0}  # 2 for each of the 9 cells
    assert layers.Add().compute_output_shape([(None, 3, None, 2), (None, 1, 4, 2)]) == (None, 3, 4, 2)


# --- datasets -------------------------------------------------------------------------------------------


def compiled():
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((4,)), layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def test_an_iterable_of_batches_trains_as_its_arrays_do(capsys):
    x, y = numbers(10, 4), numbers(10, 1)
    batches = [(x[:4], y[:4]), (x[4:8], y[4:8]), (x[8:], y[8:])]

    class Batches:
        def __iter__(self):
            return iter(batches)

    one, other = compiled(), compiled()
    wanted = one.fit(x, y, 4, epochs=2, shuffle=False, validation_data=(x, y), verbose=0).history
    found = other.fit(Batches(), epochs=2, validation_data=Batches()).history
    for name in wanted:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-5)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1::2]] == ["3/3", "3/3"]
    np.testing.assert_allclose(other.evaluate(Batches(), verbose=0), one.evaluate(x, y, verbose=0), rtol=1e-5)
    np.testing.assert_allclose(other.predict(Batches()), one.predict(x), rtol=1e-5)
    assert compiled().fit(iter(batches), verbose=0).epoch == [0]
    data = Dataset.from_tensor_slices((x, y)).batch(4)
    history = compiled().fit(data.repeat(), epochs=2, steps_per_epoch=3, verbose=0).history
    np.testing.assert_allclose(history["loss"], wanted["loss"], rtol=1e-5)
    assert tc.find_source(one.fit, data).query == "fit on a batch of 4"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": iter([])}, "x must give its batches in each epoch; it gave 0"),
        ({"x": iter([(numbers(2, 4), numbers(2, 1))]), "epochs": 2}, "a generator is read once"),
        ({"x": iter([(numbers(2, 4), numbers(2, 1))]), "steps_per_epoch": 2}, "must give 2 batches"),
        ({"x": iter([numbers(2, 4)])}, "y must be an array; got None"),
        ({"x": iter([(numbers(2, 4), numbers(2, 1), numbers(2), 4)])}, r"sample_weight\); got 4 parts"),
        ({"x": iter([()])}, r"must give batches \(x, y\) or \(x, y, sample_weight\); got 0 parts"),
        ({"x": iter([]), "sample_weight": numbers(2)}, "sample_weight must be left out where x gives"),
        ({"x": iter([(numbers(2, 5), numbers(2, 1))])}, r"x must have shape \(None, 4\)"),
        ({"x": iter([]), "y": numbers(2, 1)}, "y must be left out where x gives batches"),
        ({"x": iter([]), "validation_split": 0.5}, "x must be an array"),
        ({"x": numbers(2, 4), "y": numbers(2, 1), "steps_per_epoch": 2}, "steps go with a dataset"),
        ({"x": iter([]), "steps_per_epoch": 0}, "steps must be at least 1"),
    ],
)
def test_batches_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compiled().fit(verbose=0, **arguments)


class Endless:
    """Numbered batches, as Keras' PyDataset has them; any number is answered."""

    def __init__(self, labelled=True, ended=lambda: None):
        self.labelled, self.asked, self.on_epoch_end = labelled, [], ended

    def __len__(self):
        return 3

    def __getitem__(self, number):
        self.asked.append(number)
        if len(self.asked) > 100:
            raise SystemExit("read on without an end")  # no Exception, which a check may catch
        x = numbers(2, 4) + number
        return (x, x[:, :1]) if self.labelled else x


def test_numbered_batches_are_read_up_to_their_length():
    ended = []
    data = Endless(ended=lambda: ended.append(1))
    arrays = [np.concatenate(parts) for parts in zip(*(data[number] for number in range(3)), strict=True)]
    one, other = compiled(), compiled()
    wanted = one.fit(*arrays, 2, epochs=2, shuffle=False, verbose=0).history
    data.asked.clear()
    found = other.fit(data, epochs=2, shuffle=False, steps_per_epoch=3, validation_data=Endless(), verbose=0)
    np.testing.assert_allclose(found.history["loss"], wanted["loss"], rtol=1e-5)
    assert (data.asked, len(ended)) == ([0, 1, 2] * 2, 2)
    other.fit(data, epochs=4, seed=1, verbose=0)
    orders = [tuple(data.asked[i : i + 3]) for i in range(6, 18, 3)]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    assert len(set(orders)) > 1  # shuffled
    one.set_weights(other.get_weights())
    np.testing.assert_allclose(
        one.evaluate(Endless(), verbose=0), other.evaluate(*arrays, verbose=0), rtol=1e-5
    )
    for labelled in (True, False):
        np.testing.assert_allclose(one.predict(Endless(labelled)), other.predict(arrays[0]), rtol=1e-5)
    assert tc.find_source(one.fit, Endless()).query == "fit on a batch of 2"


def test_a_failure_within_the_length_is_not_the_end():
    class Short(Endless):
        def __getitem__(self, number):
            return [super().__getitem__(0)][number]

    with pytest.raises(IndexError):
        compiled().fit(Short(), shuffle=False, verbose=0)


@pytest.mark.parametrize(
    "read",
    [
        lambda model, data: model.fit(numbers(2, 4), data, verbose=0),
        lambda model, data: model.fit([data], numbers(2, 1), verbose=0),
        lambda model, data: model.train_on_batch(data, numbers(2, 1)),
        lambda model, data: model(data),
        lambda model, data: model.weights[0].assign(data),
        lambda model, data: Dataset.from_tensor_slices(data),
        lambda model, data: tg.constant([data]),
        lambda model, data: tc.conv2d(data, numbers(1, 1, 4, 1)),
    ],
)
def test_an_array_is_never_read_beyond_its_length(read):
    with pytest.raises(TypeError, match="must be an array or nested lists; got .* than its length 3"):
        read(compiled(), Endless(labelled=False))


def test_what_gives_no_batches_by_number_has_its_end_or_steps(monkeypatch):
    monkeypatch.setattr("teachconv.keras.data_adapters._MOST", 5)
    for model_method in ("fit", "evaluate"):
        with pytest.raises(ValueError, match="x has given 5 batches, and has no length: say how many steps"):
            getattr(compiled(), model_method)(repeat((numbers(2, 4), numbers(2, 1))), verbose=0)
    with pytest.raises(ValueError, match="x has given 5 batches"):
        compiled().predict(repeat(numbers(2, 4)))
    endless = Endless()
    endless.num_batches = None  # as Keras' PyDataset says it
    with pytest.raises(ValueError, match="is an endless dataset: say how many steps"):
        compiled().fit(endless, verbose=0)
    with pytest.raises(TypeError, match="x must be an array where validation_split divides it"):
        compiled().fit(Endless(), validation_split=0.5, verbose=0)


def test_the_outputs_of_many_batches_are_refused_before_the_memory_is_full(monkeypatch):
    monkeypatch.setattr("teachconv.support.memory.TRIFLE", 100)
    monkeypatch.setattr("teachconv.support.memory._limits", lambda: iter([(200, "this test")]))
    with pytest.raises(MemoryError, match="the output of 23 batches needs"):
        compiled().predict(repeat(numbers(2, 4)))


def test_a_dataset_without_an_end_needs_steps():
    data = Dataset.from_tensor_slices((numbers(4, 4), numbers(4, 1))).batch(2).repeat()
    with pytest.raises(ValueError, match="is an endless dataset: say how many steps"):
        compiled().fit(data, verbose=0)


# --- configurations ---------------------------------------------------------------------------------------


def test_a_configuration_makes_another_layer():
    layer = layers.Conv2D(4, 3, padding="same", activation="relu", name="c", input_shape=(4, 4, 1))
    config = layer.get_config()
    wanted = {"name": "c", "trainable": True, "dtype": "float32", "filters": 4, "kernel_size": (3, 3)}
    assert wanted.items() <= config.items()
    same = layers.Conv2D.from_config(config)
    assert (same.name, same.window, same.padding, same.activation) == (
        *("c", (3, 3), "same"),
        keras.activations.relu,
    )

    class Scale(layers.Layer):
        def __init__(self, factor=1.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def get_config(self):
            config = super().get_config()
            config.update({"factor": self.factor})
            return config

        def call(self, x):
            return x[:, :2] * self.factor

    made = Scale.from_config(Scale(3.0, name="s").get_config())
    assert (made.factor, made.name) == (3.0, "s")
    assert keras.Sequential([keras.Input((4,)), made]).output_shape == (None, 2)  # that of its call
