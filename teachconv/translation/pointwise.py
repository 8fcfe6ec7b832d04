"""How each framework says what comes between convolutions: activations, limits, a product of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from .source_text import call_lines
from .target_calls import TargetCall

_FRAMEWORKS = ("tensorflow", "torch", "jax", "keras", "onnx")
# the name of each function in these frameworks; - if there is none with these numbers
_TABLE = """
relu         tf.nn.relu        F.relu         jax.nn.relu          keras.ops.relu          Relu
leaky_relu   tf.nn.leaky_relu  F.leaky_relu   jax.nn.leaky_relu    keras.ops.leaky_relu    LeakyRelu
clip         tf.clip_by_value  torch.clamp    jax.numpy.clip       keras.ops.clip          Clip
silu         tf.nn.silu        F.silu         jax.nn.silu          keras.ops.silu          -
gelu         tf.nn.gelu        F.gelu         jax.nn.gelu          keras.ops.gelu          Gelu
elu          tf.nn.elu         F.elu          jax.nn.elu           keras.ops.elu           Elu
sigmoid      tf.nn.sigmoid     torch.sigmoid  jax.nn.sigmoid       keras.ops.sigmoid       Sigmoid
tanh         tf.nn.tanh        torch.tanh     jax.numpy.tanh       keras.ops.tanh          Tanh
hardswish    -                 F.hardswish    jax.nn.hard_swish    keras.ops.hard_silu     HardSwish
hardsigmoid  -                 F.hardsigmoid  jax.nn.hard_sigmoid  keras.ops.hard_sigmoid  HardSigmoid
softplus     tf.nn.softplus    F.softplus     jax.nn.softplus      keras.ops.softplus      Softplus
mish         -                 F.mish         jax.nn.mish          -                       Mish
softmax      tf.nn.softmax     F.softmax      jax.nn.softmax       keras.ops.softmax       Softmax
matmul       tf.linalg.matmul  torch.matmul   jax.numpy.matmul     keras.ops.matmul        MatMul
"""
NAMES = {
    function: dict(zip(_FRAMEWORKS, names, strict=True))
    for function, *names in map(str.split, _TABLE.strip().split("\n"))
}
_ARRAYS = {"clip": ("x", "low", "high"), "matmul": ("x", "w")}


def pointwise_lines(function: str, arguments: Mapping[str, float], to: str) -> list[str]:
    """Return the lines that turn the array x into y in a framework's words; none if it has no such function.

    Args:
        function: "relu", "leaky_relu" of a ``slope``, "clip" between ``low`` and ``high``, "matmul" with the
            array w, "softmax" of the last axis, or an activation of `teachconv.networks.definitions`.
        arguments: those numbers.
        to: the framework.
    """
    word, limits = function.partition(" ")[0], {"low": -inf, "high": inf} | dict(arguments)
    if word == "clip" and limits == {"low": 0.0, "high": inf}:
        word = "relu"
    name = NAMES.get(word, {}).get(to, "-")
    if name == "-":
        return []
    approximate = "tanh" in function
    words: dict[str, dict[str, Any]] = {
        "leaky_relu": {"alpha" if to in ("tensorflow", "onnx") else "negative_slope": limits.get("slope")},
        "gelu": {"approximate": ("none", "tanh")[approximate] if to in ("torch", "onnx") else approximate},
        "softmax": {"dim": -1} if to == "torch" else {},
        "hardsigmoid": {"alpha": 1 / 6, "beta": 0.5} if to == "onnx" else {},
    }
    target = TargetCall(to, None, name, words.get(word, {}), arrays=_ARRAYS.get(word, ("x",)))
    ends = (f"{end} = np.array({limits[end]!r}, x.dtype)" for end in _ARRAYS["clip"][1:] if word == "clip")
    return [*(line.replace("inf", "np.inf") for line in ends), *call_lines(None, target)]
