"""Chains of layers as code: the functions have names of their own, and what is checked is the code itself."""

import ast
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import teachconv as tc
from teachconv import keras, translate
from teachconv.translation import translating

RNG = np.random.default_rng(0)


def chain(names, *more):
    """3x3 convolutions with these names and different weights, and layers after them."""
    convolutions = [keras.layers.Conv2D(2, 3, name=name) for name in names]
    model = keras.Sequential([keras.Input((12, 12, 2)), *convolutions, *more])
    model.set_weights([RNG.standard_normal(w.shape).astype(w.dtype) for w in model.get_weights()])
    return model


def functions(code):
    return [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize(
    "names", [("a.0", "a_0"), ("a-b", "a b", "a_b"), ("a_0", "a.0", "a_0_2"), ("ﬁ", "fi"), ("a", "a (bias)")]
)
def test_layers_whose_names_are_alike_are_functions_of_their_own(names):
    found = translate(chain(names), (1, 12, 12, 2), to="torch")
    named = functions(found.code)
    assert len({*named}) == len(named) == len(names) + 1
    assert len(found.weights) == len(names)


@pytest.mark.parametrize("to", ["torch", "tensorflow", "jax", "onnx"])
def test_the_code_of_layers_whose_names_are_alike_computes_the_model(to):
    pytest.importorskip("onnxruntime" if to == "onnx" else to)
    model = chain(("a.0", "a_0"), keras.layers.ReLU())
    found, x = translate(model, (1, 12, 12, 2), to=to), RNG.standard_normal((1, 12, 12, 2), dtype="float32")
    report = found.check()
    assert report.passed
    assert "itself ran" in report.title
    np.testing.assert_allclose(found.function()(x, found.weights), model(x).numpy(), rtol=1e-4, atol=1e-5)


CHANGES = {  # to the code, and the row that fails
    "F.conv2d(x, w": ("F.conv2d(x.abs(), w", "first: torch"),
    "F.relu(x)": ("F.relu(x) + 1e-3", "last"),
    "y = x + b": ("y = x - b", "dense (bias)"),
    "x = layer_second(x, *weights['second'])": ("x = layer_second(x, *weights['first'])", "network"),
    "return x\n": ("return 2 * x\n", "network"),
}


@pytest.mark.parametrize("old", CHANGES)
def test_a_change_of_the_code_fails_its_check(old):
    """What is checked is the text that is handed out, its activations and the order of its calls too."""
    pytest.importorskip("torch")
    keras.utils.set_random_seed(1)  # weights that leave the last layer something above 0
    more = [keras.layers.Flatten(), keras.layers.Dense(3, name="dense"), keras.layers.ReLU(name="last")]
    found = translate(chain(("first", "second"), *more), (1, 12, 12, 2), to="torch")
    assert found.check().passed
    new, row = CHANGES[old]
    assert old in found.code
    report = replace(found, code=found.code.replace(old, new)).check()
    assert any(failed.name.startswith(row) for failed in report.failed), str(report)


def test_without_the_framework_the_order_is_checked(monkeypatch):
    monkeypatch.setattr(translating, "installed", lambda name: False)
    found = translate(chain(("first", "second"), keras.layers.ReLU(name="last")), (1, 12, 12, 2), to="torch")
    report = found.check()
    assert report.passed
    assert "did NOT run" in report.title
    assert {row.name: row.passed for row in report.rows}["last"] is None
    code = found.code.replace("x = layer_last(x)", "x = x")
    assert [row.name for row in replace(found, code=code).check().failed] == ["network"]


@pytest.mark.parametrize(
    "layer", ["Softmax(dim=1)", "ELU(2.0)", "Softplus(2.0)", "Softplus(1.0, 2.0)", "CELU(2.0)"]
)
def test_an_activation_with_other_numbers_is_not_translated_by_its_name(layer):
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3), eval(f"torch.nn.{layer}")).eval()
    found = translate(model, (1, 2, 8, 8), to="torch")
    assert not found.possible
    assert found.why == "layer '1': torch has no function for it here"


def test_what_translate_takes_does_not_depend_on_what_was_imported():
    """In a process of its own, where nothing but the function itself was imported."""
    code = """
from teachconv.networks.handing import translate
from teachconv import keras
import sys
print(translate(keras.layers.Conv2D(4, 3), (1, 8, 8, 3), to="torch").possible)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


PADDED = {  # layers of torch.nn, and the shape of their input
    "Conv1d(2, 3, 3, padding=1, padding_mode='{}')": (1, 2, 8),
    "Conv2d(2, 3, 3, 2, padding=(2, 1), padding_mode='{}')": (1, 2, 8, 9),
    "Conv2d(2, 3, 4, padding='same', padding_mode='{}')": (1, 2, 8, 9),
    "Conv3d(2, 3, 3, padding=1, padding_mode='{}')": (1, 2, 5, 6, 7),
    "Sequential(nn.{}Pad1d((1, 2)), nn.Conv1d(2, 3, 3))": (1, 2, 8),
    "Sequential(nn.{}Pad2d((1, 2, 3, 0)), nn.Conv2d(2, 3, 3))": (1, 2, 8, 9),
    "Sequential(nn.{}Pad3d((1, 2, 3, 0, 1, 1)), nn.Conv3d(2, 3, 3))": (1, 2, 5, 6, 7),
    "Sequential(nn.Conv2d(2, 3, 3), nn.ZeroPad2d((-1, 1, 0, -2)))": (1, 2, 8, 9),
    "Sequential(nn.Conv2d(2, 3, 3), nn.ConstantPad2d((-1, 1, 0, -2), 3.0))": (1, 2, 8, 9),
}
LAYER_OF = {"reflect": "Reflection", "replicate": "Replication", "circular": "Circular"}


def padded(text, mode):
    """The layer, with a seed; ``text`` names the mode as an argument or as a class."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return eval(f"nn.{text.format(mode if 'mode' in text else LAYER_OF[mode])}", {"nn": torch.nn}).eval()


@pytest.mark.parametrize("mode", LAYER_OF)
@pytest.mark.parametrize("text", PADDED)
def test_padding_that_reads_the_image_is_translated(text, mode):
    torch = pytest.importorskip("torch")
    layer, shape = padded(text, mode), PADDED[text]
    for to in ("torch", "onnx"):
        pytest.importorskip("onnxruntime" if to == "onnx" else to)
        found, x = translate(layer, shape, to=to), RNG.standard_normal(shape, dtype="float32")
        assert found.possible, found.why
        assert found.check().passed
        want = layer(torch.from_numpy(x))
        np.testing.assert_allclose(
            found.function()(x, found.weights), want.detach().numpy(), rtol=1e-4, atol=1e-5
        )


def test_a_framework_without_such_padding_says_so_and_compare_names_the_mode():
    text = "Conv2d(2, 3, 3, padding=1, padding_mode='{}')"
    reflect, circular = padded(text, "reflect"), padded(text, "circular")
    assert translate(reflect, (1, 2, 8, 9), to="tensorflow").possible
    assert "tf.pad: mode must be one of" in translate(circular, (1, 2, 8, 9), to="tensorflow").why
    report = tc.compare(reflect, circular, RNG.standard_normal((1, 2, 8, 9), dtype="float32"))
    assert (report.passed, report.first_parting.code) == (False, "mode")
