"""`teachconv.compare` judges what moves numbers, and what the models return; and recording leaves nothing behind."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import teachconv as tc
from teachconv import keras as own_keras
from teachconv import tf as own_tf
from teachconv.networks import recorder
from teachconv.networks.reading import read
from teachconv.networks.walking import walk

X = np.random.default_rng(0).standard_normal((2, 1, 8, 8)).astype("float32")


def same(y):
    return y


def last(u, v):
    return v


def two_convolutions(between=same, end=last):
    """A module: a convolution, a function, a convolution of the same size, and a function of both results."""
    torch = pytest.importorskip("torch")

    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(7)
            self.a, self.b = torch.nn.Conv2d(1, 2, 3), torch.nn.Conv2d(2, 2, 3, padding=1)

        def forward(self, x):
            u = self.a(x)
            return end(u, self.b(between(u)))

    return Two().eval()


def zeroed(u, v):
    v[:, 1] = 0
    return v


def through_numpy(factor):
    return lambda u, v: v.new_tensor(v.numpy() * np.float32(factor))


WRONG = {
    "view for permute": (same, last, lambda y: y.permute(0, 2, 3, 1).reshape(y.shape), last, "moved"),
    "batch and channels": (same, last, lambda y: y.transpose(0, 1).reshape(y.shape), last, "moved"),
    "flipped between": (same, last, lambda y: y.flip(2), last, "moved"),
    "transposed at the end": (same, last, same, lambda u, v: v.transpose(2, 3), "moved"),
    "pair swapped": (same, lambda u, v: (u, v), same, lambda u, v: (v, u), "wiring"),
    "nested": (same, lambda u, v: {"a": [u, v]}, same, lambda u, v: {"a": [v, u]}, "wiring"),
    "earlier result": (same, last, same, lambda u, v: u, "wiring"),
    "a channel zeroed": (same, last, same, zeroed, "result"),
    "times 3": (same, lambda u, v: v * 1, same, lambda u, v: v * 3, "missing"),
    "times 3 in NumPy": (same, through_numpy(1), same, through_numpy(3), "missing"),
    "softmax": (same, lambda u, v: v.softmax(1), same, lambda u, v: v.softmax(2), "axis"),
    "another dtype": (same, last, same, lambda u, v: v.double(), "dtype"),
    "another shape": (same, last, same, lambda u, v: v.flatten(1), "shape"),
    "one more": (same, last, same, lambda u, v: (v, u), "structure"),
    "a tuple": (same, last, same, lambda u, v: (v,), "structure"),
    "other names": (same, lambda u, v: {"y": v}, same, lambda u, v: {"z": v}, "structure"),
    "None": (same, last, same, lambda u, v: None, "dtype"),
    "a number": (same, lambda u, v: (v, 1), same, lambda u, v: (v, 2), "result"),
    "a sum": (same, lambda u, v: v.sum().item(), same, lambda u, v: u.sum().item(), "result"),
    "a constant": (same, lambda u, v: (v, v.new_ones(2)), same, lambda u, v: (v, v.new_zeros(2)), "result"),
}


@pytest.mark.parametrize("what", WRONG)
def test_models_that_return_something_else_do_not_pass(what):
    between, end, other, other_end, code = WRONG[what]
    report = tc.compare(two_convolutions(between, end), two_convolutions(other, other_end), X)
    assert report.passed is False
    assert report.first_parting.code == code
    names = (row.b or row.a for row in report.layers if row.same is False)
    assert {*names} <= {"b", "permute", "transpose", "flip", "mul", "softmax", "new_tensor"}
    assert "last equal activation" in str(report).replace("\n", " ") or code in ("moved", "axis")
    with pytest.raises(AssertionError):
        report.check()


def test_sums_and_means_of_all_numbers_are_judged():
    models = [two_convolutions(end=lambda u, v: v.sum().mean()) for _ in range(2)]
    assert tc.compare(*models, X).passed
    other = two_convolutions(end=lambda u, v: v.mean())
    assert tc.compare(models[0], other, X).passed is False


def test_the_last_equal_activation_is_said():
    for other, layer in (((lambda y: y.flip(2), last), "a"), ((same, zeroed), "b")):
        text = " ".join(str(tc.compare(two_convolutions(), two_convolutions(*other), X)).split())
        assert f"the last equal activation is that of '{layer}' (torch) and '{layer}' (torch)" in text


SAME = {
    "nothing": (same, last, same, last),
    "a view": (same, last, lambda y: y.reshape(2, -1).reshape(y.shape).contiguous().clone(), last),
    "there and back": (same, last, lambda y: y.permute(0, 2, 3, 1).permute(0, 3, 1, 2), last),
    "a pair": (same, lambda u, v: (u, v), same, lambda u, v: [u, v]),
    "a dictionary": (same, lambda u, v: {"u": u, "v": v}, same, lambda u, v: {"v": v, "u": u}),
    "with None": (same, lambda u, v: (v, None, 3), same, lambda u, v: (v, None, 3)),
    "an unseen step in both": (same, zeroed, same, zeroed),
    "a mask": (same, lambda u, v: v > 0, same, lambda u, v: v > 0),
}


@pytest.mark.parametrize("what", SAME)
def test_models_that_return_the_same_pass(what):
    between, end, other, other_end = SAME[what]
    report = tc.compare(two_convolutions(between, end), two_convolutions(other, other_end), X)
    assert report.passed, str(report)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda u, v: None, "the models return no array"),
        (lambda u, v: slice(v), "the models return no array"),
        (lambda u, v: v.new_full((3,), np.nan), "it holds NaN"),
        (lambda u, v: v.cumsum(1), "1 layer not judged: 'cumsum'"),
        (lambda u, v: v.new_zeros(3).bool(), "all numbers of"),
    ],
)
def test_what_shows_nothing_is_not_judged(end, words):
    report = tc.compare(two_convolutions(end=end), two_convolutions(end=end), X)
    assert report.passed is None
    assert words in " ".join(str(report).split())


def test_the_share_is_that_of_what_the_model_returns():
    """The layer that runs last is not what is returned."""
    torch = pytest.importorskip("torch")
    models = [two_convolutions(end=lambda u, v: u) for _ in range(3)]
    for model, name in zip(models[1:], "ab", strict=True):
        with torch.no_grad():
            getattr(model, name).bias += 1
    assert tc.compare(models[0], models[1], X).first_parting.share > 0.99
    report = tc.compare(models[0], models[2], X)
    assert (report.passed, report.first_parting) == (None, None)  # the results are equal
    assert "nothing that the model returns comes from it" in report.unmatched[0].reason


def test_a_matrix_over_a_square_image_gets_the_image_as_it_is():
    """The channels of both are last; the second once got an image whose axes had been moved."""
    torch = pytest.importorskip("torch")

    class Scores(torch.nn.Module):
        def __init__(self, end):
            super().__init__()
            torch.manual_seed(1)
            self.scores, self.end = torch.nn.Linear(4, 4), end

        def forward(self, x):
            return self.end(self.scores(x))

    x = np.random.default_rng(0).standard_normal((2, 4, 4, 4)).astype("float32")
    one, other, moved = Scores(same), Scores(same), Scores(lambda y: y.transpose(1, 3))
    assert tc.compare(one, other, x).passed
    assert tc.compare(one, moved, x).passed is False


def test_a_layer_whose_result_is_not_used_has_its_partner():
    """What has no weights waits for nothing, in both models."""

    def end(u, v):
        torch.relu(u)
        return u + v

    torch = pytest.importorskip("torch")
    models = [two_convolutions(lambda y: y.tanh(), end) for _ in range(2)]
    assert tc.compare(*models, X).passed, str(tc.compare(*models, X))
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype("float32")
    recorded = [recorder.record_torch(late(torch), x) for _ in range(2)]
    report = tc.compare(*recorded)
    assert report.passed, str(report)
    assert report.unmatched == ()


def late(torch):
    """A module: a sum that needs the first two convolutions runs after the third."""

    class Late(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.a, self.b, self.c = (torch.nn.Conv2d(2, 2, 1) for _ in "abc")

        def forward(self, x):
            u = self.a(x)
            v, w = self.b(u), self.c(u)
            return torch.relu(u) + w, v + u

    return Late().eval()


def test_other_inputs_show_nothing():
    model = two_convolutions()
    report = tc.compare(model, model, (X, 2 * X))
    assert report.passed is None
    assert "the models had other inputs" in " ".join(str(report).split())


def subclass(keras, between=same, end=last):
    """As `two_convolutions`, as a class of Keras."""

    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.a = keras.layers.Conv2D(2, 3, name="a")
            self.b = keras.layers.Conv2D(2, 3, padding="same", name="b")

        def call(self, x):
            u = self.a(x)
            return end(u, self.b(between(u)))

    model, random = Two(), np.random.default_rng(3)
    model(X.transpose(0, 2, 3, 1))
    model.set_weights([random.standard_normal(w.shape).astype("float32") for w in model.get_weights()])
    return model


def raw_operators(keras, relu, softmax, transpose, reshape):
    """(two models that differ in operators of their `call`), and two that do not."""

    def model(*functions, **named):
        return subclass(keras, *functions, **named)

    yield model(lambda y: y * 1), model(lambda y: y * 3), False
    yield model(end=lambda u, v: v * 1), model(end=lambda u, v: v * 3), False
    yield model(), model(relu), False
    yield model(), model(lambda y: reshape(transpose(y, (0, 3, 1, 2)), (-1, 6, 6, 2))), False
    yield model(end=lambda u, v: softmax(v, -1)), model(end=lambda u, v: softmax(v, 1)), False
    yield model(end=lambda u, v: (u, v)), model(end=lambda u, v: (v, u)), False
    yield *[model(relu, lambda u, v: softmax(v * 3, -1)) for _ in range(2)], True


def test_operators_in_the_call_of_our_keras():
    operators = own_tf.nn.relu, own_tf.nn.softmax, own_tf.transpose, own_tf.reshape
    for a, b, passed in raw_operators(own_keras, *operators):
        assert tc.compare(a, b, X.transpose(0, 2, 3, 1)).passed is passed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_operators_in_the_call_of_keras():
    keras = pytest.importorskip("keras")
    ops = keras.ops
    for a, b, passed in raw_operators(keras, ops.relu, ops.softmax, ops.transpose, ops.reshape):
        assert tc.compare(a, b, X.transpose(0, 2, 3, 1)).passed is passed


def channels_moved(keras, torch):
    """Return functions that make a convolution of Keras and one of PyTorch that do the same, and a step behind."""
    layers, random = keras.layers, np.random.default_rng(5)
    kernel, bias = (random.standard_normal(shape).astype("float32") for shape in ((3, 3, 4, 4), (4,)))

    def of_keras(end=same):
        start, conv = keras.Input((6, 6, 4)), layers.Conv2D(4, 3, padding="same")
        model = keras.Model(start, end(conv(start)))
        conv.set_weights([kernel, bias])
        return model

    class OfTorch(torch.nn.Module):
        def __init__(self, end=same):
            super().__init__()
            self.conv, self.end = torch.nn.Conv2d(4, 4, 3, padding=1), end
            with torch.no_grad():
                self.conv.weight.copy_(torch.from_numpy(kernel.transpose(3, 2, 0, 1).copy()))
                self.conv.bias.copy_(torch.from_numpy(bias))

        def forward(self, x):
            return self.end(self.conv(x))

    return of_keras, lambda end=same: OfTorch(end).eval()


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_view_in_place_of_a_permute_between_frameworks():
    """The numbers are equal in the order of the memory, but not at their indices."""
    keras, torch = pytest.importorskip("keras"), pytest.importorskip("torch")
    of_keras, of_torch = channels_moved(keras, torch)
    first = np.random.default_rng(0).standard_normal((2, 4, 6, 6)).astype("float32")
    last_axis, ops = np.ascontiguousarray(first.transpose(0, 2, 3, 1)), keras.ops

    def moved(y):
        return ops.transpose(y, (0, 3, 1, 2))

    viewed = of_keras(lambda y: ops.reshape(moved(y), (-1, 6, 6, 4)))
    wrong = [
        (of_torch(), viewed, first),
        (of_keras(), of_torch(lambda y: y.permute(0, 2, 3, 1).reshape(y.shape)), last_axis),
        (of_torch(lambda y: y.flatten(2)), of_keras(lambda y: ops.reshape(moved(y), (-1, 36, 4))), first),
        (
            of_torch(lambda y: y.flatten(2).transpose(1, 2)),
            of_keras(lambda y: ops.reshape(y, (-1, 4, 36))),
            first,
        ),
    ]
    for one, other, x in wrong:
        report = tc.compare(one, other, x)
        assert report.passed is False, str(report)
        assert report.returned.code == "moved"
    right = [
        (of_torch(), of_keras(), first),
        (of_torch(), of_keras(moved), first),
        (of_keras(), of_torch(lambda y: y.permute(0, 2, 3, 1)), last_axis),
        (of_torch(lambda y: y.flatten(2)), of_keras(lambda y: ops.reshape(y, (-1, 36, 4))), first),
    ]
    for one, other, x in right:
        assert tc.compare(one, other, x).passed, str(tc.compare(one, other, x))
    added, layers = of_torch(lambda y: y + y.tanh()), keras.layers
    for step, passed in ((same, True), (lambda y: ops.reshape(moved(y), (-1, 6, 6, 4)), False)):
        port = of_keras(lambda y, step=step: layers.Add()([y, step(layers.Activation("tanh")(y))]))
        report = tc.compare(added, port, first)
        assert report.passed is passed, str(report)
    assert (report.first_parting.a, report.first_parting.code) == ("add", "moved")


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_clip_of_keras_has_its_limits():
    keras, torch = pytest.importorskip("keras"), pytest.importorskip("torch")
    of_keras, of_torch = channels_moved(keras, torch)
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 6)).astype("float32")
    one = of_torch(lambda y: y.clamp(-0.3, 0.4))
    report = tc.compare(one, of_keras(lambda y: keras.ops.clip(y, -0.3, 0.4)), x)
    assert report.passed, str(report)
    report = tc.compare(one, of_keras(lambda y: keras.ops.clip(y, -0.3, 0.5)), x)
    assert (report.first_wrong, report.first_parting.code) == (None, "high")


def test_a_class_that_has_the_name_of_a_layer_that_moves_numbers():
    class Flatten(own_keras.layers.Layer):
        def call(self, x):
            return x * 2.0

    model = own_keras.Sequential([own_keras.layers.Conv2D(2, 3), Flatten()])
    report = tc.compare(model, model, X.transpose(0, 2, 3, 1))
    assert report.passed is None
    assert "no definition of Flatten" in report.layers[1].reason


def test_files_of_onnx_return_their_outputs():
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")  # it runs Split
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    w = np.random.default_rng(1).standard_normal((2, 1, 3, 3)).astype("float32")

    def model(perm=(0, 1, 2, 3), ends=("y",)):
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["c"], name="c"),
            helper.make_node("Transpose", ["c"], ["y"], name="y", perm=perm),
            helper.make_node("Split", ["c"], ["s", "t"], name="s", axis=1, num_outputs=2),
        ]
        found = [helper.make_tensor_value_info(end, real, None) for end in ends]
        start = [helper.make_tensor_value_info("x", real, [2, 1, 8, 8])]
        graph = helper.make_graph(nodes, "g", start, found, [onnx.numpy_helper.from_array(w, "w")])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    moved = tc.compare(model(), model((0, 1, 3, 2)), X)
    assert (moved.passed, moved.first_parting.code) == (False, "moved")
    other = tc.compare(model(ends=("s",)), model(ends=("t",)), X)
    assert (other.passed, other.first_parting.code) == (False, "moved")
    assert tc.compare(model(ends=("y", "c")), model(ends=("y",)), X).first_parting.code == "structure"
    assert tc.compare(model(), model(), X).returned.same


def test_a_recording_keeps_what_was_returned(tmp_path):
    models = [two_convolutions(end=end) for end in (lambda u, v: (u, {"v": v}), lambda u, v: (u, {"v": u}))]
    paths = [tmp_path / "a.npz", tmp_path / "b.npz"]
    for path, model in zip(paths, models, strict=True):
        recorder.save(path, recorder.record_torch(model, X))
    places = [place for place, _ in recorder.load(paths[0])[-1]["returned"]]
    assert places == ["[0]", "[1]['v']"]
    assert tc.compare(paths[0], paths[0]).passed
    report = tc.compare(*paths)
    assert (report.passed, report.returned.code) == (False, "wiring")
    assert "the result[1]['v']" in report.returned.reason


def test_translate_takes_what_returns_one_array():
    with pytest.raises(ValueError, match="must return one array; this Two returns 2"):
        tc.translate(two_convolutions(end=lambda u, v: (u, v)), X.shape, to="jax")


# ---------------------------------------------------------------------------------------------
# Recording
# ---------------------------------------------------------------------------------------------


def sequential(seed, activation="relu"):
    layers = own_keras.layers
    parts = [layers.Conv2D(3, 3, activation=activation, name="c"), layers.Conv2D(2, 3, name="d")]
    model, random = own_keras.Sequential([own_keras.Input((8, 8, 1)), *parts]), np.random.default_rng(seed)
    model.set_weights([random.standard_normal(w.shape).astype("float32") for w in model.get_weights()])
    return model


def torch_hooks():
    from torch.nn.modules import module

    return [
        len(getattr(module, f"_global_forward_{name}"))
        for name in ("hooks", "pre_hooks", "hooks_always_called")
    ]


@pytest.mark.parametrize("framework", ["teachconv", "torch"])
def test_threads_that_compare_at_once(framework):
    """A fourth one runs a model meanwhile, which is not recorded."""
    call, x, unequal = own_keras.Layer.__call__, X, two_convolutions(zeroed_at_random(1))
    pairs = [[two_convolutions(), two_convolutions()], [two_convolutions(), unequal]]
    if framework == "teachconv":
        x = X.transpose(0, 2, 3, 1)
        pairs = [[sequential(n), sequential(max(1, n))] for n in range(3)]
    want = [tc.compare(*pair, x) for pair in pairs]
    found = []

    def work(pair, right):
        for _ in range(3):
            report = tc.compare(*pair, x)
            found.append(
                (report.passed, [row.b for row in report.layers])
                == (right.passed, [row.b for row in right.layers])
            )

    threads = [
        threading.Thread(target=work, args=given) for given in zip(pairs, want, strict=True) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if framework == "teachconv":
            pairs[0][0](x)
        else:
            pairs[0][0](pytest.importorskip("torch").from_numpy(x))
    for thread in threads:
        thread.join()
    assert found == [True] * len(found)
    assert len(found) == 3 * len(threads)
    assert own_keras.Layer.__call__ is call
    assert framework != "torch" or torch_hooks() == [0, 0, 0]


def zeroed_at_random(channel):
    def zeroed(y):
        y = y.clone()
        y[:, channel] = 0
        return y

    return zeroed


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_stays_behind_when_a_model_raises(error):
    call = own_keras.Layer.__call__

    def raising(*_):
        raise error("no")

    layer = own_keras.layers.Conv2D(3, 3, activation=raising)
    for model, x in (
        (own_keras.Sequential([layer]), X.transpose(0, 2, 3, 1)),
        (two_convolutions(raising), X),
    ):
        try:
            assert tc.compare(model, model, x).passed is None
        except KeyboardInterrupt:
            assert error is KeyboardInterrupt
    assert own_keras.Layer.__call__ is call
    assert layer.activation is raising
    assert torch_hooks() == [0, 0, 0]


def test_an_activation_that_is_not_the_last_step_is_a_part_of_its_layer():
    class Twice(own_keras.layers.Conv2D):
        def call(self, x):
            return self.activation(super().call(x))

    class Inside(own_keras.layers.Conv2D):
        def call(self, x):
            return super().call(x) * 2.0

    for kind in (Twice, Inside):
        model = own_keras.Sequential([kind(3, 3, activation="tanh", name="one")])
        report = tc.compare(model, model, X.transpose(0, 2, 3, 1))
        assert report.passed is None
        assert [row.reason for row in report.layers] == [
            f"no definition of {kind.__name__} with tanh inside here"
        ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_recurrent_layers_of_keras_are_not_judged(kind):
    keras = pytest.importorskip("keras")
    layers = keras.layers
    x = np.random.default_rng(0).standard_normal((1, 5, 3)).astype("float32")

    def model(activation):
        keras.utils.set_random_seed(0)
        return keras.Sequential([keras.Input((5, 3)), getattr(layers, kind)(4, activation=activation)])

    assert tc.compare(model("tanh"), model("tanh"), x).passed is not False
    assert tc.compare(model("tanh"), model("sigmoid"), x).passed is False


_TRACED = """
import keras, numpy as np, teachconv as tc
x = np.random.default_rng(0).standard_normal((1, 5, 3)).astype("float32")
def model(name, activation):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((5, 3)), getattr(keras.layers, name)(4, activation=activation)])
for name in ("LSTM", "GRU", "SimpleRNN"):
    same = tc.compare(model(name, "tanh"), model(name, "tanh"), x)
    assert same.passed is None and "1 layer not judged" in str(same), same
    assert tc.compare(model(name, "tanh"), model(name, "sigmoid"), x).passed is False
"""


@pytest.mark.slow
def test_a_layer_whose_cell_jax_traces_counts_as_one():
    for name in ("keras", "jax"):
        pytest.importorskip(name)
    env = os.environ | {"KERAS_BACKEND": "jax"}
    done = subprocess.run([sys.executable, "-c", _TRACED], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _var_mean(x):
    import torch

    variance, mean = torch.var_mean(x, (2, 3), False, True)
    return (x - mean) / (variance + 1e-5).sqrt()


def _by_hand(x):
    variance = x.var((2, 3), unbiased=False, keepdim=True)
    return (x - x.mean((2, 3), keepdim=True)) / (variance + 1e-5).sqrt()


def _aminmax(x):
    least, most = x.aminmax(dim=1, keepdim=True)
    return (x - least) / (most - least)


def _amin_amax(x):
    return (x - x.amin(1, keepdim=True)) / (x.amax(1, keepdim=True) - x.amin(1, keepdim=True))


@pytest.mark.parametrize(("ours", "theirs"), [(_var_mean, _by_hand), (_aminmax, _amin_amax)])
def test_each_of_two_results_has_the_errors_of_what_it_is_computed_from(ours, theirs):
    """A mean that came with a variance counted as a constant: numbers near 1000, twice rounded, as wrong."""
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self, then, offset):
            super().__init__()
            torch.manual_seed(0)
            self.conv, self.norm, self.then = torch.nn.Conv2d(4, 4, 3), torch.nn.BatchNorm2d(4), then
            with torch.no_grad():  # what is exact: 1000 less a number near 1000
                for numbers in (self.conv.bias, self.norm.running_mean):
                    numbers += 1000
                    numbers -= 1000 - offset

        def forward(self, x):
            return self.then(self.norm(self.conv(x)))

    x = np.random.default_rng(0).standard_normal((1, 4, 8, 8)).astype("float32")
    models = [Model(ours, 1000.0).eval(), Model(theirs, 0.0).eval()]
    found = tc.compare(*models, x)
    assert found.passed, found
    assert {len(layer.inputs) for layer in walk(models[0], x).layers if layer.op_type == "subtract"} == {2}
    assert tc.compare(models[0], Model(lambda y: theirs(2 * y + y.abs()), 0.0).eval(), x).passed is False


@pytest.mark.parametrize("part", [2, -1, "mean", None, [0]])
def test_a_part_that_a_call_does_not_have_is_a_layer_without_a_definition(part):
    """As in a damaged recording."""
    entry = {"name": "m", "framework": "torch", "word": "var_mean", "args": [X], "kwargs": {}, "output": X}
    assert read({**entry, "part": part}, lambda _: True).op is None
    assert read({**entry, "part": 1}, lambda _: True).op is not None


def test_a_layer_with_an_activation_is_put_right_before_it():
    one, other = sequential(0), sequential(0)
    weights = other.get_weights()
    weights[1] = weights[1] + 2
    other.set_weights(weights)
    row = tc.compare(one, other, X.transpose(0, 2, 3, 1)).first_parting
    assert row.b == "c"
    assert row.share > 0.99


def test_another_type_of_integers_is_said():
    torch = pytest.importorskip("torch")
    counts = [two_convolutions(end=lambda u, v, t=t: (10 * v).to(t)) for t in (torch.int64, torch.int32)]
    report = tc.compare(*counts, X)
    assert report.passed, str(report)
    assert "the result of the second model is an array of int32, that of the first of int64" in " ".join(
        str(report).split()
    )
    assert not tc.compare(counts[0], counts[0], X).returned.reason
