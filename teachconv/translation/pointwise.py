"""How each framework says what comes between convolutions: activations, limits, a product of matrices."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from .source_text import call_lines
from .target_calls import Code, Target, TargetCall

_ARRAYS = {"clip": ("x", "low", "high"), "matmul": ("x", "w")}


def pointwise_lines(function: str, arguments: Mapping[str, float], to: Target) -> list[str]:
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
    if word not in to.pointwise:
        return []
    is_tanh = "tanh" in function
    given = {"is_tanh": is_tanh, "tanh_or_none": "tanh" if is_tanh else "none", "slope": limits.get("slope")}
    name, *texts = to.pointwise[word].split()
    pairs = (text.format(**given).split("=") for text in texts)
    words = {key: Code(value) for key, value in pairs}
    call = TargetCall(None, name, words, arrays=_ARRAYS.get(word, ("x",)), target=to)
    ends = (f"{end} = np.array({limits[end]!r}, x.dtype)" for end in _ARRAYS["clip"][1:] if word == "clip")
    return [*(line.replace("inf", "np.inf") for line in ends), *call_lines(None, call)]
