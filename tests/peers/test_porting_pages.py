"""The pages about porting run in the real frameworks: their cells, and the blocks that Sphinx does not run."""

import re
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc

# Keras' own, where it runs on PyTorch, for NumPy 2
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"
)
DOCS = Path(__file__).parents[2] / "docs"
PAGES = {  # the modules that its blocks import
    "howto/port_to_tflite": ("tensorflow", "torch", "ai_edge_litert"),
    "howto/port_from_tensorflow_1": ("tensorflow", "torch", "ai_edge_litert"),
    "howto/layer_by_layer": ("torch", "keras", "tensorflow", "jax"),
}


@pytest.mark.filterwarnings("ignore:Statistics for quantized inputs:UserWarning")  # TensorFlow's own
@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs(page, tmp_path, monkeypatch):
    for module in PAGES[page]:
        pytest.importorskip(module)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|\{code-cell\})\n((?:.*\n)*?)```$", text, re.MULTILINE)
    assert any("assert " in block for block in blocks)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def table(page, first):
    """Return the cells of each row of a page's table whose head begins with a word, by the first cell."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    rows = re.search(rf"^\| {first} \|.*\n\|[ :|-]*\n((?:\|.*\n)*)", text, re.MULTILINE)[1].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0]: row[1:] for row in cells}


def moved(cell, array, **sizes):
    """Return an array after what a cell says is done to it."""
    text = cell.strip("`")
    name = re.match("kernel|weight|", text)[0]
    return (
        array if text == "unchanged" else eval(text if name else f"w.{text}", {name or "w": array, **sizes})
    )


def test_the_transposes_between_keras_and_torch():
    """Each row of the table moves the kernel of a real Keras layer into a real PyTorch layer, and back."""
    keras, torch = pytest.importorskip("keras"), pytest.importorskip("torch")
    rows, cols, channels, units = 4, 5, 4, 6
    same = {"use_bias": False}
    layers = {  # Keras' layer, PyTorch's, the axes of the image beside its channels
        "Conv2D": (
            keras.layers.Conv2D(6, (3, 2), groups=2, **same),
            torch.nn.Conv2d(4, 6, (3, 2), groups=2),
            2,
        ),
        "Conv1D": (keras.layers.Conv1D(6, 3, **same), torch.nn.Conv1d(4, 6, 3), 1),
        "Conv3D": (keras.layers.Conv3D(6, (3, 2, 1), **same), torch.nn.Conv3d(4, 6, (3, 2, 1)), 3),
        "DepthwiseConv2D": (
            keras.layers.DepthwiseConv2D((3, 2), depth_multiplier=3, **same),
            torch.nn.Conv2d(4, 12, (3, 2), groups=4),
            2,
        ),
        "Conv2DTranspose": (
            keras.layers.Conv2DTranspose(6, (3, 2), 2, **same),
            torch.nn.ConvTranspose2d(4, 6, (3, 2), 2),
            2,
        ),
        "Dense": (keras.layers.Dense(units, **same), torch.nn.Linear(4, units), 0),
        "[Dense": (
            keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(units, **same)]),
            torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(80, units)),
            2,
        ),
    }
    rng, tried = np.random.default_rng(0), 0
    for name, cells in table("answers/converting_filters", "layer").items():
        if "SeparableConv2D" in name:  # the page runs it
            continue
        ours, theirs, axes = layers[name.replace(",", " ").split()[0]]
        x = rng.integers(-4, 5, (1, *(rows, cols, 3)[:axes], channels)).astype("float32")
        ours(x)
        kernel = rng.integers(-4, 5, ours.get_weights()[0].shape).astype("float32")
        ours.set_weights([kernel])
        to_torch, back = cells
        sizes = {"channels": channels, "units": units, "M": 3, "rows": rows, "cols": cols}
        if "Depthwise" in name:
            sizes |= {"rows": 3, "cols": 2}
        weight = moved(to_torch, kernel, **sizes)
        assert np.array_equal(moved(back, weight, **sizes), kernel), name
        last = theirs[-1] if isinstance(theirs, torch.nn.Sequential) else theirs
        last.weight.data, last.bias.data = torch.from_numpy(weight.copy()), torch.zeros_like(last.bias)
        got = theirs(torch.from_numpy(np.moveaxis(x, -1, 1).copy())).detach().numpy()
        want = np.asarray(ours(x))
        assert np.array_equal(np.moveaxis(got, 1, -1) if got.ndim > 2 else got, want), name
        tried += 1
    assert tried == len(layers)


TFLITE = {  # the shapes of TensorFlow's kernel and of an image, the call of TensorFlow that becomes the operator
    "CONV_2D": ((3, 5, 4, 8), (1, 8, 8, 4), "tf.nn.conv2d(x, w, 1, 'SAME')"),
    "DEPTHWISE_CONV_2D": ((3, 5, 4, 2), (1, 8, 8, 4), "tf.nn.depthwise_conv2d(x, w, [1] * 4, 'SAME')"),
    "TRANSPOSE_CONV": ((3, 5, 8, 4), (1, 8, 8, 4), "tf.nn.conv2d_transpose(x, w, [1, 16, 16, 8], 2)"),
    "FULLY_CONNECTED": ((4, 8), (3, 4), "tf.matmul(x, w)"),
    "CONV_3D (float only)": ((3, 2, 1, 4, 8), (1, 6, 6, 6, 4), "tf.nn.conv3d(x, w, [1] * 5, 'SAME')"),
    "a signal: CONV_2D on one row": ((5, 4, 8), (1, 9, 4), "tf.nn.conv1d(x, w, 1, 'SAME')"),
}


@pytest.mark.filterwarnings("ignore:Statistics for quantized inputs:UserWarning")
@pytest.mark.parametrize("name", TFLITE)
def test_the_layouts_of_tflite_files(name):
    """A row of the table has the filter that TensorFlow's converter writes, and the axis of its scales."""
    tf, litert = pytest.importorskip("tensorflow"), pytest.importorskip("ai_edge_litert.interpreter")
    rows = table("howto/port_to_tflite", "operator")
    assert set(TFLITE) <= set(rows)
    _, scales, from_tensorflow, from_torch = rows[name]
    shape, image, call = TFLITE[name]
    kernel = np.random.default_rng(0).standard_normal(shape).astype("float32")
    weight = kernel.reshape(3, 5, 1, 8) if "DEPTHWISE" in name else kernel
    weight = weight.transpose(weight.ndim - 1, weight.ndim - 2, *range(weight.ndim - 2))
    stored = moved(from_tensorflow, kernel, rows=3, cols=5)
    assert np.array_equal(moved(from_torch, weight), stored)

    function = tf.function(lambda x: eval(call, {"tf": tf, "x": x, "w": kernel}), autograph=False)
    concrete = function.get_concrete_function(tf.TensorSpec(image))
    for integers in (False, True) if scales.isdigit() else (False,):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
        if integers:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.representative_dataset = lambda: [[np.ones(image, "float32")]]
        interpreter = litert.Interpreter(model_content=converter.convert())
        interpreter.allocate_tensors()
        tensors = [
            tensor for tensor in interpreter.get_tensor_details() if tuple(tensor["shape"]) == stored.shape
        ]
        if integers:
            facts = [tensor["quantization_parameters"] for tensor in tensors if tensor["dtype"] == np.int8]
            axis = int(scales)
            assert (len(facts[0]["scales"]), facts[0]["quantized_dimension"]) == (stored.shape[axis], axis)
        else:
            assert any(np.array_equal(interpreter.get_tensor(tensor["index"]), stored) for tensor in tensors)


def lowest_around(tf, x):
    return tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], constant_values=-np.inf)


@pytest.mark.parametrize(
    ("call", "operators"),
    [
        ("tf.nn.conv2d(x, w[:, :, :2], 2, 'SAME')", ["CONV_2D"]),  # two groups
        ("tf.nn.conv2d(x, w, 1, 'SAME', dilations=2)", ["CONV_2D"]),
        ("tf.nn.depthwise_conv2d(x, w[..., :2], [1] * 4, 'SAME', dilations=[2, 2])", ["DEPTHWISE_CONV_2D"]),
        ("tf.nn.conv2d(x, w, 2, [[0, 0], [1, 1], [1, 1], [0, 0]])", ["PAD", "CONV_2D"]),
        ("tf.nn.max_pool2d(lowest_around(tf, x), 3, 2, 'VALID')", ["PADV2", "MAX_POOL_2D"]),
        ("tf.nn.relu6(tf.nn.conv2d(x, w, 1, 'SAME'))", ["CONV_2D"]),  # the activation is fused
    ],
)
def test_what_tflites_operators_have(call, operators):
    """The table of what the operators lack: these calls become those operators, and give TensorFlow's numbers."""
    tf, litert = pytest.importorskip("tensorflow"), pytest.importorskip("ai_edge_litert.interpreter")
    rng = np.random.default_rng(0)
    names = {
        "tf": tf,
        "w": rng.integers(-4, 5, (3, 3, 4, 6)).astype("float32"),
        "lowest_around": lowest_around,
    }
    x = rng.integers(-4, 5, (1, 8, 8, 4)).astype("float32")
    function = tf.function(lambda x: eval(call, names, {"x": x}), autograph=False)
    concrete = function.get_concrete_function(tf.TensorSpec(x.shape))
    model = tf.lite.TFLiteConverter.from_concrete_functions([concrete]).convert()
    plain = litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = litert.Interpreter(model_content=model, experimental_op_resolver_type=plain)
    interpreter.allocate_tensors()
    assert [row["op_name"] for row in interpreter._get_ops_details()] == operators
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    assert np.array_equal(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), function(x))


def test_a_dilated_transposed_filter_is_one_with_zeros():
    x = np.arange(32.0).reshape(1, 4, 4, 2)
    w = np.random.default_rng(0).integers(-4, 5, (3, 3, 5, 2)).astype(float)
    wide = np.zeros((5, 5, 5, 2))
    wide[::2, ::2] = w
    want = tc.conv2d_transpose(x, w, None, 2, "VALID", dilations=2)
    assert np.array_equal(tc.conv2d_transpose(x, wide, None, 2, "VALID"), want)
