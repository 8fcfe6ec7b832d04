"""From a geometry back to a call: how each framework expresses a convolution, and what it cannot express.

`target_call` uses the framework's padding strings where they fit at every size, explicit numbers where those
do, and otherwise pads or crops before or after the call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..dialects.calls import FUNCTIONS, ConvCall
from ..running import nn_ops
from ..support.argument_types import Framework
from ..support.errors import ArgumentError, brief, suggestion
from ..windows.calls import FUNCTIONS as WINDOWS
from .forward import FORWARD
from .target_calls import Family, TargetCall
from .transposed import TRANSPOSED

TARGETS: tuple[Framework, ...] = ("tensorflow", "torch", "jax", "onnx", "keras", "scipy")

# what people call the frameworks, and the modules that their functions are in
_ALIASES = {
    "tf": "tensorflow",
    "tf.nn": "tensorflow",
    "tensorflow.nn": "tensorflow",
    "tc": "tensorflow",
    "teachconv": "tensorflow",
    "pytorch": "torch",
    "f": "torch",
    "torch.nn.functional": "torch",
    "torch.nn.grad": "torch",
    "lax": "jax",
    "jax.lax": "jax",
    "onnxruntime": "onnx",
    "ort": "onnx",
    "keras.ops": "keras",
    "tf.keras": "keras",
    "scipy.signal": "scipy",
}


def framework(word: Any) -> Any:
    """Return the framework that a word means, or the word itself.

    >>> framework("pytorch"), framework("tf.nn"), framework("torch"), framework("caffe")
    ('torch', 'tensorflow', 'torch', 'caffe')
    """
    return _ALIASES.get(word.lower(), word) if isinstance(word, str) else word


def function_named(name: str) -> Callable[..., Any]:
    """Return a function by its name, with or without its framework; a bare name is TensorFlow's first.

    >>> function_named("F.conv2d").__module__, function_named("conv2d").__module__
    ('teachconv.dialects.torch', 'teachconv.running.nn_ops')

    Raises:
        ArgumentError: if there is no such function, or several frameworks other than TensorFlow have one.
    """
    known = known_functions()
    module, _, last = name.rpartition(".")
    word = f"{framework(module) if module else 'tensorflow'}.{last}"
    if word in known:
        return known[word]
    found = [] if module else [full for full in known if full.endswith("." + name)]
    if len(found) == 1:
        return known[found[0]]
    near = f" (one of {', '.join(found)}?)" if found else _near(name, known)
    raise ArgumentError(f"function must be one of {nn_ops.listed(FUNCTIONS)}; got {brief(name)}{near}")


def known_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that can be resolved and translated, by names such as "torch.conv2d"."""
    known = {entry.name: function for function, entry in FUNCTIONS.items()}
    for function in WINDOWS:
        package, _, place = function.__module__.rpartition(".")
        known[f"{'tensorflow' if package.endswith('windows') else place}.{function.__name__}"] = function
    return known


def _near(name: str, known: dict[str, Any]) -> str:
    """Return a hint at the nearest function; without a framework, teachconv's own before another's."""
    if "." in name:
        return suggestion(name, known)
    from difflib import get_close_matches  # needed only where something went wrong

    words = {full.rpartition(".")[2]: full for full in reversed(known)}
    words |= {full.removeprefix(_OWN): full.removeprefix(_OWN) for full in known if full.startswith(_OWN)}
    found = get_close_matches(name.lower(), words, 1)
    return f' (did you mean "{words[found[0]]}"?)' if found else suggestion(name, known)


_OWN = "tensorflow."  # teachconv's ops have TensorFlow's words


def target_call(family: Family, target: str, any_size: bool = False) -> TargetCall:
    """Return the call of a framework that computes a convolution.

    Args:
        family: the convolution, and the same on images of other sizes.
        target: one of `TARGETS`.
        any_size: whether the call has to hold for images of any size.

    Returns:
        A `TargetCall`; its ``why_not`` is set if the framework has no such call.

    Raises:
        ArgumentError: if the call has to hold for any size and its padding follows no rule.
    """
    problem = _impossible(family[0], target)
    if problem:
        return TargetCall(target, why_not=problem)
    conv = family[0]
    last, letters = conv.geometry.data_format, f"{conv.spatial}IO"
    if conv.kind.scatters:  # full[a : a + o] has the same a at every size
        found, letters = TRANSPOSED[target](family), f"{conv.spatial}OI"
    else:
        found = FORWARD[target](family, any_size)
    return replace(
        found,
        layout=found.layout or last,
        out_layout=found.out_layout or last,
        filter_layout=found.filter_layout or letters,
    )


_GRADIENT = {
    "tensorflow": "tf.raw_ops.Conv2DBackpropFilter",
    "torch": "torch.nn.grad.conv2d_weight",
    "jax": "jax.vjp of conv_general_dilated",
    "onnx": "no operator",
    "keras": "no function; use the automatic differentiation of its backend",
    "scipy": "no function",
}


def _impossible(conv: ConvCall, target: str) -> str:
    """Return why a framework has no call for a convolution, or ""."""
    g = conv.geometry
    if conv.kind.sums_images:
        return (
            "the call computes a filter, so there is no filter that convolve(x, w) could take; "
            f"for this {target} has {_GRADIENT[target]}"
        )
    sizes = (*g.input_shape, *g.output_shape, *g.filters_shape)
    if 0 in sizes and target != "jax":
        return (
            f"the result or an input is empty ({list(conv.input_shape)} -> {list(conv.output_shape)}): "
            f"{target} refuses that, or returns something else"
        )
    return ""
