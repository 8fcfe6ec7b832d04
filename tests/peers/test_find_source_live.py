"""What find_source says of PyTorch, JAX and onnxruntime, held against independent runs of them (make test-peers)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from peers import frameworks  # noqa: F401  (sets the environment before a framework is imported)

import teachconv as tc
from teachconv.support.errors import ArgumentError

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code


def log_of(program, **environment):
    """Return what a program prints in a process of its own, native libraries included."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def named(chain, what):
    return [step.name for step in chain.steps if step.what == what]


def lines_exist(chain):
    """Every step in an installed file names a line that is there."""
    installed = [step for step in chain.steps if os.path.isabs(step.file) and step.line]
    for step in installed:
        assert step.line <= len(Path(step.file).read_text(encoding="utf-8").splitlines()), step
    return len(installed)


TORCH = {
    "conv2d": "torch.nn.functional.conv2d(x, w)",
    "channels last": "torch.nn.functional.conv2d(x.to(memory_format=torch.channels_last), w)",
    "depthwise": "torch.nn.functional.conv2d(x, torch.randn(32, 1, 3, 3), groups=32)",
    "transposed": "torch.nn.functional.conv_transpose2d(x, torch.randn(32, 16, 4, 4), stride=2)",
    "input gradient": "torch.nn.grad.conv2d_input((2, 32, 30, 30), w, torch.randn(2, 64, 28, 28))",
    "filter gradient": "torch.nn.grad.conv2d_weight(x, (64, 32, 3, 3), torch.randn(2, 64, 28, 28))",
}


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    """The dtype of what PyTorch makes in the test."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_default_dtype(getattr(torch, request.param))
    yield request.param
    torch.set_default_dtype(torch.float32)


def torch_call(text):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    names = {"torch": torch, "x": torch.randn(2, 32, 30, 30), "w": torch.randn(64, 32, 3, 3)}
    function, _, arguments = text.partition("(")
    args, kwargs = eval(f"(lambda *a, **k: (a, k))({arguments}", names)
    return eval(function, names), args, kwargs


@pytest.mark.parametrize("text", TORCH.values(), ids=TORCH)
def test_the_primitives_of_torch_are_those_of_an_independent_run(text, dtype):
    op, args, kwargs = torch_call(text)
    chain = tc.find_source(op, *args, **kwargs)
    program = f"import torch; torch.set_default_dtype(torch.{dtype}); torch.manual_seed(0); x, w = torch.randn(2, 32, 30, 30), torch.randn(64, 32, 3, 3); {text}"
    log = log_of(program, ONEDNN_VERBOSE="1", MKL_VERBOSE="1")
    primitives = named(chain, "primitive")
    assert primitives
    if primitives == ["none"]:
        assert not re.search("primitive,exec|GEMM", log)
        return
    for name in primitives:
        assert name.partition("(")[0].removeprefix("MKL ") in log, name
    convolutions = re.findall(r"primitive,exec,cpu,(?:de)?convolution,([^,]+),", log)
    assert set(convolutions) <= set(primitives)
    assert lines_exist(chain) >= 1
    assert all(step.known for step in chain.steps)


def test_float64_goes_to_a_matrix_product_of_mkl():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, w = torch.ones(1, 8, 12, 12, dtype=torch.float64), torch.ones(16, 8, 3, 3, dtype=torch.float64)
    chain = tc.find_source(torch.nn.functional.conv2d, x, w)
    assert named(chain, "choice") == ["Slow2d"]
    if torch.backends.mkl.is_available():  # 10 x 10 cells, 16 channels, 8 x 3 x 3 terms
        assert [name for name in named(chain, "primitive") if "DGEMM" in name and "100,16,72" in name]


def test_without_onednn_torch_answers_otherwise():
    op, args, kwargs = torch_call(TORCH["conv2d"])
    torch = pytest.importorskip("torch")
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this PyTorch is built without oneDNN")
    assert named(tc.find_source(op, *args, **kwargs), "choice") == ["Mkldnn"]
    with torch.backends.mkldnn.flags(enabled=False):
        chain = tc.find_source(op, *args, **kwargs)
    assert named(chain, "choice") == ["Slow2d"]
    assert not any("oneDNN" in step.note for step in chain.steps)


def test_a_layer_and_a_backward_of_torch_show_their_python_and_other_calls_are_refused():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.ones(1, 16, 8, 8, requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3))
    chain = tc.find_source(model, x)
    assert "_conv_forward" in named(chain, "Python")
    assert named(chain, "op definition") == ["aten::convolution"] * 2
    assert named(tc.find_source(model(x).sum().backward), "op definition")[0] == "aten::convolution_backward"
    with pytest.raises(ArgumentError, match="ran no convolution; the ops that ran: aten::relu"):
        tc.find_source(torch.relu, x)
    with pytest.raises(ArgumentError, match="PyTorch refuses the call: Given groups=1"):
        tc.find_source(torch.nn.functional.conv2d, x, torch.ones(16, 3, 3, 3))


def jax_call():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    x, w = np.ones((1, 16, 16, 8), "float32"), np.ones((3, 3, 8, 16), "float32")
    return jax, (x, w, (1, 1), "SAME"), {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}


JAX = {  # shapes, dtype, layouts and groups
    "conv2d": ([1, 16, 16, 8], [3, 3, 8, 16], "float32", ("NHWC", "HWIO", "NHWC"), 1),
    "NCHW": ([1, 8, 16, 16], [16, 8, 3, 3], "float32", ("NCHW", "OIHW", "NCHW"), 1),
    "depthwise": ([1, 16, 16, 8], [3, 3, 1, 8], "float32", ("NHWC", "HWIO", "NHWC"), 8),
    "float64": ([1, 16, 16, 8], [3, 3, 8, 16], "float64", ("NHWC", "HWIO", "NHWC"), 1),
}


@pytest.mark.parametrize("case", JAX.values(), ids=JAX)
def test_the_compiled_convolution_of_jax_is_that_of_an_independent_run(case):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    first, second, dtype, layouts, groups = case
    kwargs = {"dimension_numbers": layouts, "feature_group_count": groups}
    with jax.enable_x64(dtype == "float64"):
        arrays = np.ones(first, dtype), np.ones(second, dtype)
        chain = tc.find_source(jax.lax.conv_general_dilated, *arrays, (1, 1), "SAME", **kwargs)
    program = f"""
import jax, numpy as np
x, w = np.ones({first}, {dtype!r}), np.ones({second}, {dtype!r})
call = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", **{kwargs})
print(jax.jit(call).lower(x, w).compile().as_text())
"""
    text = log_of(program, JAX_ENABLE_X64=str(int(dtype == "float64")))
    assert {"float32": "f32[", "float64": "f64["}[dtype] in text
    compiled_to = next(step for step in chain.steps if step.what == "compiled to")
    assert {"float32": "f32[", "float64": "f64["}[dtype] in compiled_to.note
    (compiled,) = named(chain, "compiled to")
    assert f"{compiled.split()[0]}(" in text
    kind = next(step.note for step in chain.steps if step.what == "compiled to").partition(";")[0]
    assert kind in text
    assert named(chain, "primitive")[0] == "conv_general_dilated"
    assert "profiler" in next(step.known for step in chain.steps if step.what == "ran")
    assert lines_exist(chain) >= 2


def test_without_its_library_of_kernels_jax_answers_otherwise(monkeypatch):
    jax, (_, w, *more), kwargs = jax_call()
    args = (np.ones((1, 56, 56, 64), "float32"), w.repeat(8, 2), *more)
    before = named(tc.find_source(jax.lax.conv_general_dilated, *args, **kwargs), "compiled to")
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_experimental_ynn_fusion_type=")
    after = named(tc.find_source(jax.lax.conv_general_dilated, *args, **kwargs), "compiled to")
    if not before[0].startswith("fusion"):
        pytest.skip(f"this XLA compiles the call to {before[0]}, with no library to switch off")
    assert after[0].startswith("convolution")


def test_the_transposed_convolution_and_the_gradients_of_jax():
    jax, (x, w, *_), _ = jax_call()
    chain = tc.find_source(jax.lax.conv_transpose, x, w, (2, 2), "SAME")
    assert "input dilation (2, 2)" in next(step.note for step in chain.steps if step.what == "primitive")
    grad = jax.jit(jax.grad(lambda x, w: (jax.lax.conv_transpose(x, w, (2, 2), "SAME") ** 2).sum(), (0, 1)))
    assert len(named(tc.find_source(grad, x, w), "lowered to")) == 3
    with pytest.raises(ArgumentError, match="has no convolution; its primitives: jit, add"):
        tc.find_source(jax.jit(lambda x: x + 1), x)
    with pytest.raises(ArgumentError, match="JAX refuses the call"):
        tc.find_source(jax.lax.conv_general_dilated, x, w[..., :3, :], (1, 1), "SAME")


def onnx_session(level=None):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    make = onnx.helper
    tensor = lambda name, shape: make.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)  # noqa: E731
    filters = onnx.numpy_helper.from_array(np.ones((16, 16, 3, 3), "float32"), "w")
    nodes = [
        make.make_node("Conv", ["x", "w"], ["c"], name="conv"),
        make.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    graph = make.make_graph(nodes, "g", [tensor("x", [1, 16, 8, 8])], [tensor("y", [1, 16, 6, 6])], [filters])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    if level is not None:
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def test_onnxruntime_shows_the_graph_that_ran():
    feed = {"x": np.ones((1, 16, 8, 8), "float32")}
    plain = tc.find_source(onnx_session("ORT_DISABLE_ALL").run, None, feed)
    assert named(plain, "node") == ["Conv"]
    assert plain.steps[2].file == "onnxruntime/core/providers/cpu/nn/conv.cc"
    fused = tc.find_source(onnx_session().run, None, feed)
    assert any(name.startswith("com.microsoft") for name in named(fused, "node"))
    assert any("Relu is part of it" in step.note for step in fused.steps)
    assert lines_exist(fused) >= 1
    with pytest.raises(ArgumentError, match="onnxruntime refuses the call"):
        tc.find_source(onnx_session().run, None, {"x": np.ones((1, 3, 8, 8), "float32")})
    with pytest.raises(ArgumentError, match=r"follows only session\.run"):
        tc.find_source(onnx_session().get_inputs)


def test_a_framework_by_name_says_what_to_pass():
    with pytest.raises(ArgumentError, match="pass torch's function itself in Python"):
        tc.find_source("torch.nn.functional.conv2d")
    with pytest.raises(ArgumentError, match="pass jax's function itself in Python"):
        tc.find_source("lax.conv")
    with pytest.raises(TypeError, match="or a function, layer or method of tensorflow"):
        tc.find_source(lambda: 1)


def test_what_is_asked_stands_in_the_answer_and_our_lines_beside_it():
    op, args, kwargs = torch_call("torch.nn.functional.conv2d(x, w, None, 2, 1)")
    chain = tc.find_source(op, *args, **kwargs)
    assert "strides [2, 2], padding [1, 1]" in next(s.note for s in chain.steps if s.what == "op definition")
    assert [line.mark for line in chain.lines] == ["stride", "padding", "dilation", "multiply-add"]
    session, feed = onnx_session(), {"x": np.ones((1, 16, 8, 8), "float32")}
    assert named(tc.find_source(session, feed), "node") == named(
        tc.find_source(session.run, None, feed), "node"
    )
