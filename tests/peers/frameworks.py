"""The real frameworks, one function each: call an op of theirs on NumPy arrays, get a NumPy array back.

What a framework refuses comes as `RefusedError`, whatever its exception was.
"""

import os

import numpy as np
import pytest

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")


class RefusedError(Exception):
    """The framework raised an exception, whose text this carries."""


def torch(op, arrays, arguments):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch.nn import functional, grad

    function = getattr(grad if op in ("conv2d_input", "conv2d_weight") else functional, op)
    tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in arrays.items()}
    try:
        return function(**tensors, **arguments).numpy()
    except (RuntimeError, TypeError, ValueError) as error:
        raise RefusedError(error) from error


def jax(op, arrays, arguments):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    try:
        return np.asarray(getattr(jax.lax, op)(**arrays, **arguments))
    except Exception as error:  # JAX raises errors of XLA's, too
        raise RefusedError(error) from error


def onnx(op, arrays, arguments):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in arrays.items()}
    inputs = [
        onnx.helper.make_tensor_value_info(name, kinds[name], value.shape) for name, value in arrays.items()
    ]
    outputs = [onnx.helper.make_tensor_value_info("Y", kinds["X"], None)]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        node = onnx.helper.make_node(
            {"conv": "Conv", "conv_transpose": "ConvTranspose"}[op], list(arrays), ["Y"], **arguments
        )
        graph = onnx.helper.make_graph([node], op, inputs, outputs)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 22)], ir_version=10)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return session.run(None, arrays)[0]
    except Exception as error:  # onnxruntime's exceptions have no common class
        raise RefusedError(error) from error


def keras(op, arrays, arguments):
    keras = pytest.importorskip("keras", reason="keras is not installed")
    tensors = {name: keras.ops.convert_to_tensor(value) for name, value in arrays.items()}
    try:
        return keras.ops.convert_to_numpy(getattr(keras.ops, op)(**tensors, **arguments))
    except Exception as error:  # the backend's exceptions come through
        raise RefusedError(error) from error


def unwritten_by_onednn(geometry):
    """Whether TensorFlow 2.21 with oneDNN returns uninitialised memory; see docs/dialects.md."""
    one_column = geometry.cols.out_size == 1 and geometry.cols.stride > 1
    return geometry.batch > 1 and geometry.in_channels == 1 and one_column


def cropped_by_eigen(problem):
    """Whether TensorFlow 2.21 without oneDNN shifts conv3d under SAME; see test_ranks_live."""
    axes = zip(problem.sizes, problem.taps, problem.strides, strict=True)
    return any((-(-n // s) - 1) * s + k - n < -1 for n, k, s in axes)


def wrong_in_jax(pads):
    """Whether JAX 0.10.2 may read past the row: an axis with pads of mixed signs; see docs/dialects.md."""
    return not isinstance(pads, str) and any(min(sides) < 0 < max(sides) for sides in pads)


def ends_in_xla(translation, target):
    """Whether XLA of JAX 0.10.2 may end the process: dilated volumes whose input is dilated too; see docs/dialects.md."""
    g = translation.source.geometry
    gaps = max(g.strides) > 1 if translation.source.kind.scatters else translation.source.has_gaps
    return target in ("jax", "keras") and gaps and max(g.dilations) > 1


def tensorflow(op, arrays, arguments):
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    try:
        return getattr(tf.nn, op)(**arrays, **arguments).numpy()
    except (ValueError, TypeError, tf.errors.OpError) as error:
        raise RefusedError(error) from error


FRAMEWORKS = {"torch": torch, "jax": jax, "onnx": onnx, "keras": keras, "tensorflow": tensorflow}
