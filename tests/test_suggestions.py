"""A name that is not known: the message names the one that was probably meant."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest

import teachconv as tc
from teachconv.running import nn_ops

X, W = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
NCHW, OIHW = X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)
ONNX, TORCH, KERAS, JAX = tc.dialects.onnx, tc.dialects.torch, tc.dialects.keras, tc.dialects.jax


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: tc.conv2d(X, W, padding="SMAE"), "SAME"),
        (lambda: tc.conv2d(X, W, padding="same"), "SAME"),
        (lambda: tc.conv2d(X, W, padding="SAME_LOWR"), "SAME_LOWER"),
        (lambda: tc.conv2d_geometry(X.shape, W.shape, padding="VALLID"), "VALID"),
        (lambda: tc.conv2d(X, W, data_format="NWHC"), "NHWC"),
        (lambda: tc.conv2d(X, W, backend="cyton"), "cython"),
        (lambda: tc.use_backend("Numpy"), "numpy"),
        (lambda: tc.set_backend("Numpy"), "numpy"),
        (lambda: tc.diff(tc.conv2d, X, W, backends=["scippy"]), "scipy"),
        (lambda: tc.autotune(tc.conv2d, X, W, backends="nunpy"), "numpy"),
        (lambda: tc.conv2d(X, W, backend="numpy", algorithm="im2cols"), "im2col"),
        (lambda: tc.conv2d(X, W, precision="strikt"), "strict"),
        (lambda: tc.translate(tc.conv2d, X, W, to="pytorhc"), "torch"),
        (lambda: tc.convert_filters(W, "tensorflwo", "torch"), "tensorflow"),
        (lambda: tc.resolve("conv2", X, W), "conv2d"),
        (lambda: tc.resolve("conv2d_transpos", X, W), "conv2d_transpose"),
        (lambda: tc.resolve("conv2d_inputs", X, W), "torch.conv2d_input"),
        (lambda: tc.resolve("torch.conv2", X, W), "torch.conv2d"),
        (lambda: tc.find_source("conv2"), "conv2d"),
        (lambda: TORCH.conv2d(NCHW, OIHW, padding="smae"), "same"),
        (lambda: TORCH.pad(NCHW, (1, 1), mode="reflekt"), "reflect"),
        (lambda: ONNX.conv(NCHW, OIHW, auto_pad="SAME_UPER"), "SAME_UPPER"),
        (lambda: KERAS.conv(X, W, padding="vallid"), "valid"),
        (lambda: KERAS.conv(X, W, data_format="chanels_last"), "channels_last"),
        (lambda: JAX.conv_general_dilated(NCHW, OIHW, (1, 1), "VALD"), "VALID"),
        (lambda: JAX.conv_transpose(X, W, (1, 1), "SAMEE"), "SAME"),
    ],
)
def test_a_word_that_is_nearly_right(call, meant):
    with pytest.raises(ValueError, match=rf"""\(did you mean "{meant}"\?\)$"""):
        call()


def test_what_is_near_to_nothing_gets_no_suggestion():
    for call in (
        lambda: tc.conv2d(X, W, padding="FULL"),
        lambda: tc.conv2d(X, W, backend=3),
        lambda: tc.conv2d(X, W, data_format=None),
        lambda: tc.translate(tc.conv2d, X, W, to="mxnet"),
    ):
        with pytest.raises(ValueError, match="got ") as error:
            call()
        assert "did you mean" not in str(error.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda **words: tc.trace(tc.conv2d, X, W, **words),
        lambda **words: tc.explain(tc.conv2d, X, W, at=(0, 0, 0, 0), **words),
        lambda **words: tc.diff(tc.conv2d, X, W, **words),
        lambda **words: tc.autotune(tc.conv2d, X, W, **words),
        lambda **words: tc.plan(tc.conv2d, W, input_shape=X.shape, **words),
        lambda **words: tc.explore(tc.conv2d, X, W, **words),
        lambda **words: tc.explore(tc.conv2d, X, W).beside(**words),
        lambda **words: tc.resolve(tc.conv2d, X, W, **words),
        lambda **words: tc.translate(tc.conv2d, X, W, to="torch", **words),
    ],
)
def test_an_argument_that_the_op_has_not(function):
    with pytest.raises(
        TypeError, match=r"""^conv2d has no argument 'stride' \(did you mean "strides"\?\)$"""
    ):
        function(stride=2)


@pytest.mark.parametrize(
    ("tool", "word", "meant"),
    [
        (tc.explain, "att", "at"),
        (tc.explain, "at_inputs", "at_input"),
        (tc.diff, "agaiinst", "against"),
        (tc.diff, "backens", "backends"),
        (tc.autotune, "round", "rounds"),
        (tc.check_gradients, "cell", "cells"),
        (tc.explore, "budgt", "budget"),
    ],
)
def test_an_argument_that_the_tool_has_under_another_name(tool, word, meant):
    message = f"^{tool.__name__} has no argument '{word}' " + rf'\(did you mean "{meant}"\?\)$'
    with pytest.raises(tc.ArgumentTypeError, match=message):
        tool(tc.conv2d, X, W, **{word: 1})


@pytest.mark.parametrize(
    "function",
    [*nn_ops.RESOLVERS, tc.conv2d_geometry, tc.conv2d_transpose_geometry],
    ids=nn_ops.name_of,
)
def test_an_argument_that_a_function_called_directly_has_not(function):
    parameters = inspect.signature(function).parameters
    assert "unknown" not in parameters
    required = [None for parameter in parameters.values() if parameter.default is parameter.empty]
    for right in list(parameters)[len(required) :]:
        message = f"{function.__name__} has no argument '{right}s' (did you mean \"{right}\"?)"
        with pytest.raises(tc.ArgumentTypeError, match=f"^{re.escape(message)}$"):
            function(*required, **{f"{right}s": 1})
    with pytest.raises(TypeError, match=f"^{function.__name__} has no argument 'xyzzy'$"):
        function(*required, xyzzy=1)


def test_a_misspelt_argument_that_is_required():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'filters'"):
        tc.conv2d(X, filter=W)


def test_arguments_that_are_missing_or_too_many():
    with pytest.raises(TypeError, match="conv2d: missing a required argument: 'filters'"):
        tc.diff(tc.conv2d, X)
    with pytest.raises(TypeError, match="conv2d: multiple values for argument 'input'"):
        tc.trace(tc.conv2d, X, W, input=X)
    with pytest.raises(TypeError, match=r"""conv2d has no argument 'strides' \(did you mean "stride"\?\)"""):
        tc.explain(TORCH.conv2d, NCHW, OIHW, strides=2, at=(0, 0, 0, 0))


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (tc, "con2d", "conv2d"),
        (tc, "Explanations", "Explanation"),
        (tc, "explor", "explore"),
        (tc, "dialect", "dialects"),
        (TORCH, "conv2", "conv2d"),
        (ONNX, "convtranspose", "conv_transpose"),
        (JAX, "conv_general_dilate", "conv_general_dilated"),
        (KERAS, "conv_transposed", "conv_transpose"),
    ],
)
def test_a_name_that_a_module_has_not(module, name, meant):
    with pytest.raises(AttributeError, match=rf"""has no attribute '{name}' \(did you mean "{meant}"\?\)$"""):
        getattr(module, name)
    assert not hasattr(module, "__wrapped__")


def test_a_traceback_suggests_once():
    code = "import teachconv as tc\ntc.con2d"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.lower().count("did you mean") == 1
