"""find_source of layers and of training: from fit to the innermost loops, without a change of the model."""

from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import keras
from teachconv.inspection import marks

ROOT = Path(tc.__file__).parents[1]
X = np.random.default_rng(0).random((6, 8, 8, 1), dtype=np.float32)
Y = np.array([0, 1, 2, 1, 0, 2])


@pytest.fixture
def model():
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu", name="conv2d"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ],
        name="sequential",
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], backend="numpy")
    return model


def text_at(step, more=0):
    return (ROOT / step.file).read_text().split("\n")[step.line - 1 + more]


def test_a_training_step_is_followed_from_fit_to_the_innermost_loops(model):
    before = [weight.copy() for weight in model.get_weights()]
    chain = tc.find_source(model.fit, X, Y, batch_size=4)
    assert chain.query == "fit on a batch of 4"
    assert [(step.what, step.name) for step in chain.steps[:3]] == [
        ("public method", "fit"),
        ("step", "train_step"),
        ("tape", "backpropagate"),
    ]
    kinds = [step.what for step in chain.steps]
    assert kinds[3:13] == [
        *("program", "program", "program", "call", "place", "optimise", "prune", "partition", "executor"),
        "compute",
    ]
    names = [step.name for step in chain.steps]
    forward = names.index("sequential/conv2d/Relu: FusedConv2DOp.compute")
    assert [step.name for step in chain.steps if step.what == "program"][:3] == [
        "return _CONV[self._rank](inputs, self.kernel, ...",
        "outputs = nn.bias_add(outputs, self.bias, ...",
        "return nn.relu(x)",
    ]
    kernel = names.index(
        "gradient_tape/sequential/conv2d/Conv2D/Conv2DBackpropFilter: Conv2DBackpropFilterOp.compute"
    )
    update = names.index("adam/ApplyAdam: ApplyAdamOp.compute")
    assert forward < names.index("_conv2d_grad") == kernel - 1 < update
    assert [(step.what, step.name) for step in chain.steps[kernel + 1 : kernel + 4]] == [
        ("backend", "numpy im2col"),
        ("kernel", "conv2d_backprop_filter"),
        ("innermost loop", "_multiply"),
    ]
    for step in chain.steps:
        if step.what in ("public method", "step", "gradient function"):
            assert f"def {step.name}(" in text_at(step)
        if step.what == "program":
            assert text_at(step).strip().startswith(step.name.removesuffix(" ..."))
        if step.what == "compute":  # the method, the function that is registered as one, or the row of its op
            kernel = step.name.rpartition(" ")[2].removesuffix(".compute")
            text = "\n".join(text_at(step, more) for more in range(3))
            words = ("def compute(", f'"{kernel}"', f'"{kernel.removesuffix("Op")}"')
            assert any(word in text for word in words)
    loops = {(step.file, step.line) for step in chain.steps if step.what == "innermost loop"}
    marked = {(mark.file, mark.line) for mark in marks.read() if mark.mark == "multiply-add"}
    assert loops
    assert loops <= marked
    added = {(line.file, line.line) for line in chain.lines if line.mark == "multiply-add"}
    assert added == loops
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
    assert model.optimizer.iterations.numpy() == 0


def test_the_step_that_is_followed_leaves_a_training_as_it_is(model):
    model.fit(X, Y, batch_size=4, epochs=1, shuffle=False, verbose=0)
    kept = [variable.numpy() for variable in (*model.variables, *model.optimizer.variables)]
    for method in (model.fit, model.train_on_batch, model.evaluate):
        tc.find_source(method, X, Y)
    tc.find_source(model.predict, X)
    again = [variable.numpy() for variable in (*model.variables, *model.optimizer.variables)]
    assert all(np.array_equal(a, b) for a, b in zip(kept, again, strict=True))


def test_a_layer_is_followed_with_its_input(model):
    chain = tc.find_source(model.layers[0], X)
    assert (chain.steps[0].what, chain.steps[0].note) == ("layer", "Conv2D 'conv2d'")
    assert chain.steps[-1].what == "innermost loop"
    assert [step.what for step in tc.find_source(model, X).steps].count("innermost loop") == 2


def test_what_cannot_be_followed_says_so(model):
    with pytest.raises(ValueError, match="needs an input"):
        tc.find_source(model.layers[0])
    with pytest.raises(ValueError, match="must be a layer or one of its methods .*fit.*got 'summary'"):
        tc.find_source(model.summary)
    with pytest.raises(TypeError, match="y must be an array; got None"):
        tc.find_source(model.fit, X)
    with pytest.raises(ValueError, match="labels|from 0 to 2"):
        tc.find_source(model.fit, X, Y + 5)
