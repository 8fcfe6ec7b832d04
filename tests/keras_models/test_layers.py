"""Layers, losses, metrics, optimizers and initializers: hand-worked numbers, and what real Keras computed."""

import inspect
import math

import keras_networks as networks
import numpy as np
import pytest
from keras_networks import numbered, recorded

import teachconv as tc
from teachconv import graph as tg
from teachconv import keras
from teachconv.keras import layers
from teachconv.truth import bounds

META, ARRAYS = recorded()


# ---------------------------------------------------------------------------------------------
# Signatures, names, shapes, numbers of parameters
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", META["signatures"])
def test_signatures_are_those_of_keras(name):
    """What can be passed by position here is the beginning of Keras' list; keywords have Keras' defaults."""
    thing = keras
    for part in name.split("."):
        thing = getattr(thing, part)
    theirs = META["signatures"][name]
    defaults = dict(theirs)
    ours = [
        p
        for p in inspect.signature(thing).parameters.values()
        if p.name != "self" and p.kind != p.VAR_KEYWORD
    ]
    by_position = [p.name for p in ours if p.kind == p.POSITIONAL_OR_KEYWORD]
    assert by_position == [parameter for parameter, _ in theirs][: len(by_position)]
    for parameter in ours:
        if parameter.name in OWN.get(name, ()):
            assert parameter.kind == parameter.KEYWORD_ONLY
            continue
        default = None if parameter.default is parameter.empty else repr(parameter.default)
        if (parameter.name, default) == ("name", "None") and "losses" in name or "metrics" in name:
            assert repr(thing().name) == defaults["name"]  # None stands for it
            continue
        if (name, parameter.name) not in REQUIRED_HERE:
            theirs_default = defaults[parameter.name]
            assert default in (theirs_default, ONE_FOR_ALL_AXES.get(theirs_default)), parameter.name


# what means the same: one number for all axes, so that layers of all ranks have one signature
ONE_FOR_ALL_AXES = {"(1, 1)": "1", "(1, 1, 1)": "1", "(2, 2)": "2", "(2, 2, 2)": "2"}
# what Keras does not have, and what it does not need
OWN = {"Sequential.fit": {"seed"}, "Sequential.compile": {"backend"}, "Sequential.summary": {"geometry"}}
REQUIRED_HERE = {
    ("Sequential.train_on_batch", "y"),
    ("Sequential.compile", "optimizer"),
    ("Sequential.compile", "loss"),
    ("layers.Input", "shape"),
}


@pytest.mark.parametrize("name", META["summaries"])
def test_a_summary_says_what_keras_says(name, capsys):
    keras.utils.clear_session()
    model, theirs = getattr(networks, name)(), META["summaries"][name]
    assert model.count_params() == theirs["params"]
    for layer, row in zip(model.layers, theirs["layers"], strict=True):
        assert [layer.name, type(layer).__name__, list(layer.output_shape), layer.count_params()] == [
            row["name"],
            row["class"],
            row["output_shape"],
            row["params"],
        ]
        ours = [[w.name.rpartition("/")[2], list(w.shape), w.trainable] for w in layer.weights]
        assert ours == row["weights"]
    model.summary()
    text = capsys.readouterr().out
    for line in theirs["text"].splitlines():
        if "params:" in line:
            assert line.strip() in text
    assert f'Model: "{name}"' in text


def test_a_summary_with_geometry(capsys):
    keras.utils.clear_session()
    networks.upscaling().summary(geometry=True, show_trainable=True)
    rows = {line.split()[0]: " ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    conv, transposed = rows["conv2d"], rows["conv2d_transpose"]
    # 4 x 4 outputs, 3 x 3 taps, 1 to 8 channels; the transposed one: 4 x 4 inputs, 4 x 4 taps, 8 to 1 channels
    assert "80 Y 3 x 3 1 x 1 1, 1, 1, 1 1,152 3 x 3" in conv
    assert "129 Y 4 x 4 2 x 2 up 1, 1, 1, 1 2,048 4 x 4" in transposed


def test_geometry_is_teachconvs():
    layer = layers.Conv2D(5, (3, 2), strides=2, padding="same", input_shape=(8, 7, 3))
    assert layer.geometries(layer.input_shape) == [
        tc.conv2d_geometry((1, 8, 7, 3), (3, 2, 3, 5), strides=2, padding="SAME")
    ]


def test_unknown_sizes_stay_unknown():
    model = keras.Sequential(
        [keras.Input((None, None, 3)), layers.Conv2D(4, 3), layers.Conv2DTranspose(2, 3, 2)]
    )
    assert model.output_shape == (None, None, None, 2)
    assert model.predict(np.ones((2, 6, 7, 3))).shape == (2, 9, 11, 2)


# ---------------------------------------------------------------------------------------------
# Values
# ---------------------------------------------------------------------------------------------


def value(result):
    return np.asarray(result)


def test_a_conv2d_layer_by_hand():
    layer = layers.Conv2D(
        1, 2, activation="relu", kernel_initializer="ones", bias_initializer=keras.initializers.Constant(-9)
    )
    x = np.arange(9, dtype="float32").reshape(1, 3, 3, 1)
    assert value(layer(x)).ravel().tolist() == [
        0.0,
        3.0,
        11.0,
        15.0,
    ]  # 0+1+3+4 - 9 < 0, 12 - 9, 20 - 9, 24 - 9


@pytest.mark.parametrize("output_padding", [2, (0, 2), -1, "1", (1, 1, 1)])
def test_an_illegal_output_padding_is_refused_at_once(output_padding):
    with pytest.raises((ValueError, TypeError), match=r"output_padding must be"):
        layers.Conv2DTranspose(1, 3, 2, output_padding=output_padding)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("output_padding", [None, 0, 1])
@pytest.mark.parametrize("kernel", [2, 3, 4])
def test_conv2d_transpose_is_the_dialects(padding, output_padding, kernel):
    rng = np.random.default_rng(kernel)
    x = rng.integers(-3, 4, (2, 4, 5, 3)).astype("float32")
    try:
        layer = layers.Conv2DTranspose(
            2, kernel, 2, padding, output_padding, use_bias=False, input_shape=(4, 5, 3)
        )
    except tc.ArgumentError:
        assert padding == "same"
        assert output_padding == 0
        assert kernel % 2 == 0  # would be a size that the forward convolution does not have
        return
    w = rng.integers(-3, 4, layer.get_weights()[0].shape).astype("float32")
    layer.set_weights([w])
    wanted = tc.dialects.keras.conv_transpose(x, w, 2, padding, output_padding)
    np.testing.assert_array_equal(value(layer(x)), wanted)
    assert layer.output_shape == (None, *wanted.shape[1:])


@pytest.mark.parametrize(
    "make",
    [
        lambda f: layers.Conv2D(4, 3, data_format=f, kernel_initializer=keras.initializers.GlorotUniform(1)),
        lambda f: layers.DepthwiseConv2D(
            3, data_format=f, depthwise_initializer=keras.initializers.GlorotUniform(1)
        ),
        lambda f: layers.Conv2DTranspose(
            2, 3, 2, "same", data_format=f, kernel_initializer=keras.initializers.HeNormal(1)
        ),
        lambda f: layers.MaxPooling2D(2, data_format=f),
        lambda f: layers.AveragePooling2D(2, padding="same", data_format=f),
        lambda f: layers.UpSampling2D((2, 3), data_format=f),
    ],
    ids=["Conv2D", "DepthwiseConv2D", "Conv2DTranspose", "MaxPooling2D", "AveragePooling2D", "UpSampling2D"],
)
def test_channels_first_is_channels_last_turned(make):
    x = np.random.default_rng(0).normal(size=(2, 5, 6, 3)).astype("float32")
    last, first = make("channels_last"), make("channels_first")
    turned = first(x.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(value(turned).transpose(0, 2, 3, 1), value(last(x)))
    assert first.output_shape == (None, *turned.shape[1:])
    flat = layers.Flatten("channels_first")(x.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(value(flat), value(layers.Flatten()(x)))


def test_a_dense_layer_takes_more_axes():
    layer = layers.Dense(2, kernel_initializer="ones", input_shape=(3, 4))
    assert layer.output_shape == (None, 3, 2)
    assert value(layer(np.ones((2, 3, 4), "float32"))).tolist() == np.full((2, 3, 2), 4.0).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batch_normalization_is_keras(dtype):
    layer = layers.BatchNormalization(momentum=0.9, epsilon=1e-2, dtype=dtype)
    x, before = ARRAYS["batch_normalization/x"].astype(dtype), numbered("batch_normalization/before")
    layer.build_for((None, 3, 3, 4))
    layer.set_weights(before)
    # two sums of the 54 samples of a channel, one of them squared, and a few operations more
    rtol = 8 * bounds.gamma(54, np.finfo(dtype).eps / 2)
    np.testing.assert_allclose(
        value(layer(x, training=True)), ARRAYS[f"batch_normalization/{dtype}/trained"], rtol, rtol
    )
    for ours, theirs in zip(layer.get_weights(), numbered(f"batch_normalization/{dtype}/after"), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol)
    np.testing.assert_allclose(value(layer(x)), ARRAYS[f"batch_normalization/{dtype}/inferred"], rtol, rtol)


def test_dropout_is_keras():
    facts, x = META["dropout"], np.ones((50, 40), "float32")
    layer = layers.Dropout(0.25, seed=1)
    dropped = value(layer(x, training=True))
    assert sorted(set(dropped.ravel().tolist())) == facts["values"]
    for kept in ((dropped > 0).mean(), facts["kept"]):
        assert abs(kept - 0.75) < 4 * math.sqrt(0.75 * 0.25 / x.size)  # four standard deviations
    assert value(layer(x)).tolist() == x.tolist()
    assert value(layers.Dropout(1.0)(x, training=True)).max() == 0


U = 2.0**-24  # the unit roundoff of float32


def within(got, want, size, terms):
    """Whether float32 numbers lie within gamma_terms * size of the float64 numbers."""
    want = np.asarray(want)
    return bounds.judge(
        np.float32(got), want.astype("float32"), bounds.gamma(terms, U) * np.asarray(size)
    ).passed


def cross_entropy_size(logits, loss):
    """What gamma_{classes + 16} is multiplied by.

    The loss is log(sum exp(z - max)) - (z_true - max). Each difference is rounded; exp and log, also the one
    that made logits of probabilities, are good to 4 ulp (8 u) in every library; the sum has as many terms as
    there are classes. Together that is less than (classes + 16) u times this.
    """
    return 1 + 4 * abs(logits).max(-1) + loss


@pytest.mark.parametrize("given", ["logits", "probabilities", "unnormalised"])
@pytest.mark.parametrize("kind", ["sparse_categorical_crossentropy", "categorical_crossentropy"])
def test_cross_entropy_is_keras(kind, given):
    labels, scores = ARRAYS["losses/labels"], ARRAYS[f"losses/{given}"]
    truth = labels if kind.startswith("sparse") else np.eye(4)[labels]
    loss = getattr(keras.losses, kind)
    exact = value(loss(truth, scores.astype("float64"), from_logits=given == "logits"))
    logits = scores if given == "logits" else np.log(np.clip(scores, 1e-7, None))
    size = cross_entropy_size(logits, exact)
    ours = value(
        loss(truth.astype("float32") if truth.ndim == 2 else truth, scores, from_logits=given == "logits")
    )
    assert within(ours, exact, size, 4 + 16)
    assert within(ARRAYS[f"losses/{kind}/{given}"], exact, size, 4 + 16)


def test_the_other_losses_and_the_accuracies_are_keras():
    labels, logits = ARRAYS["losses/labels"], ARRAYS["losses/logits"]
    hot, probabilities = np.eye(4, dtype="float32")[labels], ARRAYS["losses/probabilities"]
    exact = ((hot.astype("float64") - probabilities) ** 2).mean(-1)
    # every term is positive: a difference, a square, the sum of 4 and a division; then the mean of the samples
    for each in (
        value(keras.losses.mean_squared_error(hot, probabilities)),
        ARRAYS["losses/mean_squared_error"],
    ):
        assert within(each, exact, exact, 4 + 5)
    for mean in (float(keras.losses.MeanSquaredError()(hot, probabilities)), META["mean loss"]):
        assert within(mean, exact.mean(), exact.mean(), 4 + 5 + len(labels))
    # a number of samples divided by their number: rounded once, to float32 or as Keras does
    assert within(keras.metrics.SparseCategoricalAccuracy()(labels, logits), META["sparse accuracy"], 1, 1)
    assert within(keras.metrics.CategoricalAccuracy()(hot, logits), META["categorical accuracy"], 1, 1)


def test_metrics_are_tensors_and_take_weights():
    """Keras 3.15 gave the numbers."""
    mean = keras.metrics.Mean()
    assert mean([1.0, 2.0]).numpy() == 1.5
    mean.update_state([[1.0, 3.0], [5.0, 7.0]], sample_weight=[1.0, 3.0])
    assert (f"{mean.result():.3f}", mean.result().dtype.name) == ("3.833", "float32")
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    accuracy.update_state([1, 0], [[0.1, 0.9], [0.2, 0.8]], sample_weight=[3, 1])
    assert float(accuracy.result()) == 0.75
    with pytest.raises(ValueError, match=r"sample_weight must be a number, or one for each of the 2 samples"):
        mean.update_state([1.0, 2.0], [1.0, 2.0, 3.0])
    mean.reset_state()
    traced = tc.function(lambda values: mean(values))
    assert [float(traced(np.float32(values))) for values in ([1, 3], [5, 5])] == [2.0, 3.5]
    own = keras.metrics.Metric(lambda y_true, y_pred: np.abs(y_true - y_pred), "own")
    assert float(own([1.0], tg.constant([3.0]))) == 2.0
    with pytest.raises(
        NotImplementedError, match="Cannot convert a symbolic"
    ):  # np.abs takes no tensor of a graph
        tc.function(own.update_state)(np.float32([1, 3]), np.float32([1, 3]))


def test_the_logits_behind_a_softmax_are_found_again():
    """Minus the logarithm of a probability of e**-200 is 200; from the probability itself it would be 16.1."""
    logits = np.float32([[0, 200]])

    @tg.function
    def loss(logits):
        return keras.losses.sparse_categorical_crossentropy([0], tg.nn.softmax(logits))

    assert value(loss(logits)).tolist() == [200.0]
    eager = keras.losses.sparse_categorical_crossentropy([0], layers.Softmax()(logits))
    assert value(eager).tolist() == [200.0]
    clipped = keras.losses.sparse_categorical_crossentropy([0], np.float32([[0, 1]]))
    exact = -math.log(1e-7)
    assert within(value(clipped)[0], exact, cross_entropy_size(np.log([1e-7, 1]), exact), 2 + 16)


def run_optimizer(name, dtype, gradients):
    """The weight after each step."""
    kind, arguments = META["optimizers"][name]
    weight = tg.Variable(ARRAYS["optimizers/start"].astype(dtype))
    optimizer = getattr(keras.optimizers, kind)(**arguments)
    for gradient in gradients:
        optimizer.apply_gradients([(tg.constant(gradient.astype(dtype)), weight)])
        yield weight.numpy().astype("float64")
    assert int(optimizer.iterations.numpy()) == len(gradients)


def rounded_defaults():
    """By how much a step changes, relative to itself, where 0.9, 0.999, 0.001 and 0.01 are rounded to float32.

    Keras rounds its defaults, whatever the dtype of the weight is. Moments are sums with the factor 1 - beta,
    and a step divides by them and by 1 - beta to the number of steps: twice the change of each.
    """
    change = [abs(float(np.float32(beta)) - beta) / (1 - beta) for beta in (0.9, 0.999)]
    change += [abs(float(np.float32(rate)) - rate) / rate for rate in (0.001, 0.01)]
    return 2 * sum(change)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", META["optimizers"])
def test_optimizers_are_keras(name, dtype):
    start, gradients, u = ARRAYS["optimizers/start"], ARRAYS["optimizers/gradients"], np.finfo(dtype).eps / 2
    # with gradients that are all positive nothing cancels: their steps bound the sums of absolute terms
    sizes = [start - weight for weight in run_optimizer(name, "float64", abs(gradients))]
    ours = run_optimizer(name, dtype, gradients)
    for number, (weight, theirs) in enumerate(
        zip(ours, ARRAYS[f"optimizers/{name}/{dtype}"], strict=True), 1
    ):
        steps = sizes[number - 1]
        # a step has at most 16 operations that are rounded, here and there
        allowed = 2 * bounds.gamma(16 * number, u) * (abs(start) + steps)
        allowed = allowed + rounded_defaults() * steps * ("default" in name)
        assert (abs(weight - theirs) <= allowed).all(), (number, abs(weight - theirs) / allowed)


@pytest.mark.parametrize("facts", META["initializers"], ids=lambda facts: f"{facts['name']}-{facts['shape']}")
def test_initializers_have_keras_fans_and_distributions(facts):
    from teachconv.keras.initializers import compute_fans

    keras.utils.set_random_seed(0)
    values = keras.initializers.get(facts["name"])(facts["shape"], "float32")
    assert list(compute_fans(facts["shape"])) == facts["fans"]
    assert values.dtype == "float32"
    # the deviation of n samples has a standard error of at most 1 / sqrt(2 n) of it, as that of a normal
    # distribution; Keras' n samples have as much, and four of both are allowed
    assert abs(values.std() - facts["deviation"]) <= 4 / math.sqrt(values.size) * facts["deviation"]
    # a part x of the range at its ends has a probability of at least x / 5, also where a normal distribution is
    # cut off at two deviations, so that no sample of n falls into 100 / n of it with a probability of e**-20
    assert abs(abs(values).max() - facts["largest"]) <= 100 / values.size * facts["largest"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda i: i.Zeros()((3, -1)), r"shape must hold sizes from 0; got \(3, -1\)"),
        (lambda i: i.GlorotUniform()((-2, 3)), "shape must hold sizes from 0"),
        (lambda i: i.Ones()((None, 3)), "shape must be integers"),
        (lambda i: i.HeNormal()((2.5, 3)), "shape must be integers"),
        (lambda i: i.Ones()("33"), "shape must be the sizes of it, such as"),
        (lambda i: i.Ones()(3), "shape must be the sizes of it, such as"),
        (lambda i: i.Ones()((3,), "flot32"), "dtype must be one of"),
        (lambda i: i.Constant("one"), "value must be a number"),
        (lambda i: i.Constant([1, 2])((3,)), r"value of shape \[2\] must fit a weight of shape \[3\]"),
        (lambda i: i.RandomNormal(stddev=-1), "stddev must be from 0"),
        (lambda i: i.RandomNormal("0"), "mean must be a number"),
        (lambda i: i.RandomUniform(1, 0), "minval must be at most maxval; got 1.0 and 0.0"),
        (lambda i: i.VarianceScaling(0), "scale must be positive"),
        (lambda i: i.VarianceScaling("2"), "scale must be a number"),
        (lambda i: i.VarianceScaling(mode="fan"), 'did you mean "fan_'),
        (lambda i: i.RandomNormal(seed=-1), "seed must be from 0"),
    ],
)
def test_initializers_name_what_is_wrong(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(keras.initializers)


def test_a_weight_larger_than_the_memory_is_refused():
    with pytest.raises(MemoryError, match="a weight of shape"):
        keras.initializers.Zeros()((1 << 24, 1 << 24))


def test_seeds():
    make = keras.initializers.GlorotUniform
    assert (make(seed=3)((4, 4)) == make(seed=3)((4, 4))).all()
    assert (make(seed=3)((4, 4)) != make(seed=4)((4, 4))).any()
    unseeded = make()
    assert (unseeded((4, 4)) != unseeded((4, 4))).any()


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "bool"])
def test_integers_become_floats_where_weights_multiply_them(dtype):
    image = np.arange(16).reshape(1, 4, 4, 1).astype(dtype)
    for layer in (layers.Conv2D(2, 3), layers.BatchNormalization(), layers.Dense(3)):
        np.testing.assert_array_equal(layer(image), layer(image.astype("float32")))
    if dtype != "bool":
        assert layers.Flatten()(image).dtype == dtype  # as in Keras


def test_a_call_without_training():
    class Double(layers.Layer):
        def call(self, x):
            return x * 2.0

    model = keras.Sequential([keras.Input((2,)), Double()])
    assert model(np.float32([[1, 2]])).numpy().tolist() == [[2, 4]]
    assert model(np.float32([[1, 2]]), training=True).numpy().tolist() == [[2, 4]]


def test_a_layer_that_is_there_twice_shares_its_weights():
    layer = layers.Dense(4)
    model = keras.Sequential([keras.Input((4,)), layer, layer])
    assert (len(model.layers), model.count_params()) == (2, 20)
    inputs = keras.Input((4,))
    path = keras.Model(inputs, layer(layer(inputs)))
    assert (len(path.layers), path.count_params()) == (2, 20)  # Keras 3.15 gave these numbers
    x = np.eye(4, dtype="float32")
    np.testing.assert_array_equal(model(x), layer(layer(x)))
    np.testing.assert_array_equal(path(x), layer(layer(x)))


def test_losses_name_the_shapes_that_differ():
    for loss in (keras.losses.CategoricalCrossentropy(), keras.losses.MeanSquaredError()):
        with pytest.raises(ValueError, match=r"y_true and y_pred must .* got \(2, 3\) and \(2, 4\)"):
            loss(np.ones((2, 3)), np.ones((2, 4)))
    assert float(keras.losses.MeanSquaredError()([0.0, 2.0], [[1.0], [1.0]])) == 1.0  # a last axis of 1
    assert keras.metrics.MeanSquaredError()(np.array([0.0, 2.0]), np.array([[1.0], [1.0]])) == 1.0


def test_what_is_not_here_is_refused_by_name():
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2)])
    for call, message in [
        (lambda: model.fit([[1, 2]], [[1, 2]], class_weight={0: 1.0}), "fit has no argument 'class_weight'"),
        (lambda: model.evaluate([[1, 2]], [[1, 2]], class_weight=[1]), "evaluate has no .* 'class_weight'"),
        (lambda: model.predict([[1, 2]], steps=3), "steps go with a dataset; of arrays, pass those samples"),
        (lambda: model.compile("sgd", "mse", loss_weights=[1]), "compile has no argument 'loss_weights'"),
        (lambda: keras.optimizers.Adam(clipnorm=1.0), "Adam has no argument 'clipnorm'.*train_step"),
        (lambda: keras.losses.CategoricalCrossentropy(label_smoothing=0.1), "no argument 'label_smoothing'"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()
    keras.optimizers.SGD(clipnorm=None), keras.losses.CategoricalCrossentropy(label_smoothing=0.0)
    for name in ("save", "to_json"):
        with pytest.raises(
            AttributeError, match=f"keras.Model.{name} is not in teachconv.keras: save_weights"
        ):
            getattr(model, name)
    with pytest.raises(AttributeError, match="callbacks has no 'LambdaCallback'; nearest: Callback"):
        keras.callbacks.LambdaCallback  # noqa: B018


def test_layers_and_an_initializer_of_other_programs():
    x = keras.Input((2, 3))
    doubled = layers.Lambda(lambda x, by: x[:, :, :2] * by, arguments={"by": 2.0})(x)
    assert doubled.shape == (None, 2, 2)
    model = keras.Model(x, layers.Permute((2, 1))(doubled))
    assert model([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]).numpy().tolist() == [[[2.0, 8.0], [4.0, 10.0]]]
    with pytest.raises(ValueError, match=r"dims must hold the axes from 1, each once; got \(1, 3\)"):
        layers.Permute((1, 3))
    with pytest.raises(ValueError, match=r"dims \(2, 1\) needs 3 axes, not 2"):
        layers.Permute((2, 1))(np.ones((2, 3)))
    with pytest.raises(TypeError, match="function must be a function of a tensor; got 3"):
        layers.Lambda(3)
    for shape in ((3, 3, 2, 4), (3, 8)):
        matrix = keras.initializers.get("orthogonal")(shape).reshape(-1, shape[-1])
        small = min(matrix.shape)
        product = matrix @ matrix.T if matrix.shape[0] == small else matrix.T @ matrix
        np.testing.assert_allclose(product, np.eye(small), atol=1e-6)
    with pytest.raises(ValueError, match=r"Orthogonal needs a weight of at least two axes; got shape \[3\]"):
        keras.initializers.Orthogonal()((3,))


def test_an_optimizer_refuses_weights_that_it_was_not_built_for():
    optimizer, v, w = keras.optimizers.Adam(), tg.Variable([1.0]), tg.Variable([1.0])
    optimizer.apply_gradients([([1.0], v)])
    with pytest.raises(ValueError, match="Unknown variable: <tf.Variable .*recreate a new optimizer"):
        optimizer.apply_gradients([([1.0], w)])
    assert w.numpy().tolist() == [1.0]


def _numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


@pytest.mark.parametrize(
    ("layer", "sizes", "array", "shape", "checksum"),
    [  # the shapes and checksums are those of Keras 3.15 on TensorFlow 2.21
        (layers.Conv2DTranspose(1, 2, strides=2), (None, None, None, 2), (1, 2, 3, 2), (1, 4, 6, 1), 4028),
        (layers.Conv2DTranspose(1, 3, 2, "same"), (None, None, None, 2), (1, 2, 3, 2), (1, 4, 6, 1), 5757),
        (layers.Conv2DTranspose(1, 3, (1, 2)), (None, None, 3, 2), (1, 2, 3, 2), (1, 4, 7, 1), 9441),
        (layers.Conv2DTranspose(1, 1, strides=3), (2, None, None, 2), (2, 2, 3, 2), (2, 6, 9, 1), 16962),
        (
            layers.Conv2DTranspose(1, 3, 2, output_padding=0),
            (None, None, None, 2),
            (2, 1, 1, 2),
            (2, 3, 3, 1),
            621,
        ),
        (layers.UpSampling2D(), (None, None, None, 2), (1, 2, 3, 2), (1, 4, 6, 2), 8200),
        (layers.Dense(2), (None, None, 3), (1, 4, 3), (1, 4, 2), 642),
        (layers.Dense(2), (None, None, 3), (2, 0, 3), (2, 0, 2), 0),
        (layers.Flatten(), (None, None, 3), (2, 2, 3), (2, 6), 506),
        (layers.Reshape((-1, 2)), (None, None, 4), (2, 3, 4), (2, 6, 2), 4324),
    ],
)
def test_sizes_that_only_the_run_knows(layer, sizes, array, shape, checksum):
    """The weights are ones; the checksum weighs each element with its position."""
    layer.kernel_initializer = "ones"
    traced = tg.function(layer).get_concrete_function(tg.TensorSpec(sizes, "float32"))
    found = traced(_numbers(*array)).numpy()
    assert found.shape == shape
    assert found.ravel() @ np.arange(found.size) == checksum


def test_a_model_may_leave_sizes_open():
    for layer, shape, output in [
        (layers.Reshape((-1, 2)), (None, 4), (None, None, 2)),
        (layers.Flatten(), (None, 4), (None, None)),
    ]:
        model = keras.Sequential([keras.Input(shape), layer])
        assert model.output_shape == output
        assert model.predict(_numbers(2, 3, 4), verbose=0).size == 24
