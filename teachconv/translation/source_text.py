"""Writes a translated call as the source text of a Python function over NumPy arrays.

The function converts the arrays from the source's layouts to the target's, calls the framework, and converts
the result back. `here` returns the same function with teachconv's own dialect in place of the framework, so
that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arguments import Pads
from ..dialects.calls import ConvCall
from .targets import TargetCall, filter_letters, is_input_gradient, is_transposed

__all__ = ["filter_permutation", "here", "write"]

_NONE: Pads = ((0, 0), (0, 0))

_IMPORTS = {
    "tensorflow": ["import tensorflow as tf"],
    "torch": ["import torch", "import torch.nn.functional as F"],
    "jax": ["import jax"],
    "onnx": ["import onnxruntime", "from onnx import helper"],
    "keras": ["import keras"],
    "scipy": ["from scipy import signal"],
}


def write(conv: ConvCall, target: TargetCall) -> str:
    """Return the source text of ``convolve(x, w)``, or of ``convolve(x, w, b)`` if the call has a bias.

    Args:
        conv: the call to translate.
        target: the call that it is translated to.

    Returns:
        Python source text, with its imports.
    """
    section = [*_pad_lines("x", target, target.pad_input), *_SECTIONS[target.target](conv, target)]
    section += _pad_lines("y", target, target.pad_output)
    if conv.bias and not _bias_in_call(target):
        section.append(_bias_line(target))
    imports = ["import numpy as np", *_IMPORTS[target.target]]
    if target.target == "scipy":
        imports = ["import numpy as np", "from scipy import signal"]
    return "\n".join([*imports, "", "", *_function(conv, target, section), ""])


def here(conv: ConvCall, target: TargetCall) -> Callable[..., np.ndarray]:
    """Return ``convolve`` with teachconv's function of the target's signature in place of the framework's.

    Args:
        conv: the call to translate.
        target: the call that it is translated to.

    Returns:
        A function of NumPy arrays.
    """
    assert target.function is not None
    function, axis = target.function, target.layout.index("C")
    in_axis = target.filter_layout.index("I")

    def call(x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        x = _padded(x, target.layout, target.pad_input)
        parts = zip(np.split(x, target.split, axis), np.split(w, target.split, in_axis), strict=True)
        y = np.concatenate([function(part, filters, **target.arguments) for part, filters in parts], axis)
        y = _padded(y, target.out_layout, target.pad_output)
        if b is None:
            return y
        return np.asarray(y + b.reshape([-1 if letter == "C" else 1 for letter in target.out_layout]))

    names: dict[str, Any] = {"np": np, "call": call}
    section = ["y = call(x, w, b)" if conv.bias else "y = call(x, w)"]
    exec("\n".join(_function(conv, target, section)), names)
    return names["convolve"]


def _padded(array: np.ndarray, layout: str, pads: Pads) -> np.ndarray:
    """Return an array padded with zeros, or cropped where the pads are negative."""
    sides = {"H": pads[0], "W": pads[1]}
    both = [sides.get(letter, (0, 0)) for letter in layout]
    inside = tuple(
        slice(max(0, -before), size - max(0, -after))
        for size, (before, after) in zip(array.shape, both, strict=True)
    )
    return np.pad(array[inside], [(max(0, before), max(0, after)) for before, after in both])


def filter_permutation(conv: ConvCall, target: TargetCall) -> tuple[int, ...]:
    """Return the permutation of a filter from the source's order to the target's, without flip or regrouping.

    Args:
        conv: the call to translate.
        target: the call that it is translated to.

    Returns:
        The argument of ``filters.transpose``.
    """
    letters = filter_letters(conv).replace("M", "O")
    return tuple(letters.index(letter) for letter in target.filter_layout)


# ---------------------------------------------------------------------------------------------
# To the target's layouts, and back
# ---------------------------------------------------------------------------------------------


def _function(conv: ConvCall, target: TargetCall, section: list[str]) -> list[str]:
    """Return the lines of ``convolve`` around the lines that call the framework."""
    arguments = "x, w, b" if conv.bias else "x, w"
    what = "the gradient of the output" if is_input_gradient(conv) else "the input"
    lines = [
        f"# x: {what}, {conv.layout(conv.kind.first)}; w: {conv.filter_layout}, as {conv.function} has them"
    ]
    lines += [f"# {note}" for note in target.notes]
    lines += [
        *_input_lines(conv, target),
        *_filter_lines(conv, target),
        *section,
        *_output_lines(conv, target),
    ]
    return [f"def convolve({arguments}):", *("    " + line for line in lines)]


def _transpose(name: str, have: str, want: str) -> list[str]:
    """Return the line that changes an array's layout, or none if it has the layout already."""
    if have == want:
        return []
    order = tuple(have.index(letter) for letter in want)
    return [f"{name} = {name}.transpose{order}  # {have} to {want}"]


def _input_lines(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that convert the input."""
    layout, lines = conv.layout(conv.kind.first), []
    if "N" not in layout:
        lines.append("x = x[None]  # a batch of one")
        layout = "N" + layout
    g = conv.geometry
    stuffing = (1, 1) if target.stuffs else conv.stuffing
    if conv.batch_groups > 1 or stuffing != (1, 1):
        lines += _transpose("x", layout, "NHWC")
        layout = "NHWC"
    if conv.batch_groups > 1:
        n, parts = g.batch, conv.batch_groups
        rows, cols = (
            conv.input_shape[conv.input_layout.index("H")],
            conv.input_shape[conv.input_layout.index("W")],
        )
        lines.append(f"x = x.reshape({parts}, {n}, {rows}, {cols}, -1)  # parts of the batch become channels")
        lines.append(f"x = x.transpose(1, 2, 3, 0, 4).reshape({n}, {rows}, {cols}, -1)")
    if stuffing != (1, 1):
        up, left = stuffing
        shape = (g.batch, g.rows.in_size, g.cols.in_size, g.in_channels)
        lines.append(f"stuffed = np.zeros({shape}, x.dtype)  # zeros between the cells: lhs_dilation")
        lines += [f"stuffed[:, ::{up}, ::{left}] = x", "x = stuffed"]
    return lines + _transpose("x", layout, target.layout)


def _filter_lines(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that convert the filter."""
    letters, lines, g = filter_letters(conv), [], conv.geometry
    rows, cols, depth, outs = g.filters_shape
    if letters == "HWIM":
        lines.append(
            f"w = w.reshape({rows}, {cols}, {depth}, {outs})  # the multiplier is the filters of a group"
        )
        letters = "HWIO"
    if conv.regroup != target.regroup:
        lines += _transpose("w", letters, "HWOI")
        letters = "HWOI"
        one = outs // g.groups
        if conv.regroup:  # from [rows, cols, groups * out, in / groups] to teachconv's order
            lines.append(
                f"w = w.reshape({rows}, {cols}, {g.groups}, {depth}, {one}).transpose(0, 1, 3, 2, 4)"
            )
            lines.append(
                f"w = w.reshape({rows}, {cols}, {depth}, {outs})  # groups along the input's channels"
            )
        else:
            lines.append(
                f"w = w.reshape({rows}, {cols}, {depth}, {g.groups}, {one}).transpose(0, 1, 3, 2, 4)"
            )
            lines.append(
                f"w = w.reshape({rows}, {cols}, {depth * g.groups}, {one})  # groups along the output's"
            )
    lines += _transpose("w", letters, target.filter_layout)
    if conv.flip != target.flip:
        index = ", ".join("::-1" if letter in "HW" else ":" for letter in target.filter_layout)
        lines.append(f"w = w[{index}]  # flip rows and columns")
    return lines


def _output_lines(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that convert the result back and return it."""
    layout = conv.layout(conv.kind.result)
    if "N" in layout:
        return [*_transpose("y", target.out_layout, layout), "return y"]
    return [*_transpose("y", target.out_layout, "N" + layout), "return y[0]"]


def _pad_lines(name: str, target: TargetCall, pads: Pads) -> list[str]:
    """Return the lines that pad with zeros and crop in NumPy; for PyTorch, F.pad does both."""
    if pads == _NONE or target.target == "torch":
        return []
    layout = target.layout if name == "x" else target.out_layout
    sides = {"H": pads[0], "W": pads[1]}
    lines = []
    if min(*pads[0], *pads[1]) < 0:
        index = ", ".join(_slice(*sides.get(letter, (0, 0))) for letter in layout)
        lines.append(f"{name} = {name}[{index}]")
    if max(*pads[0], *pads[1]) > 0:
        widths = tuple(
            (max(0, before), max(0, after))
            for before, after in (sides.get(letter, (0, 0)) for letter in layout)
        )
        lines.append(f"{name} = np.pad({name}, {widths})")
    return lines


def _slice(before: int, after: int) -> str:
    """Return the slice that crops an axis by the negative ones of its pads."""
    return f"{-before if before < 0 else ''}:{after if after < 0 else ''}"


def _bias_in_call(target: TargetCall) -> bool:
    """Return whether the framework's call takes the bias, so that no line has to add it."""
    return target.target in ("torch", "onnx") and target.pad_output == _NONE


def _bias_line(target: TargetCall) -> str:
    """Return the line that adds the bias."""
    shape = tuple(-1 if letter == "C" else 1 for letter in target.out_layout)
    return f"y = y + b.reshape{shape}" if target.out_layout[-1] != "C" else "y = y + b"


# ---------------------------------------------------------------------------------------------
# The call of each framework
# ---------------------------------------------------------------------------------------------


def _call(target: TargetCall, arrays: str) -> str:
    """Return the call as text."""
    words = [f"{name}={value!r}" for name, value in target.arguments.items()]
    return f"{target.name}({', '.join([arrays, *words])})"


def _tensorflow(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call TensorFlow."""
    if target.split == 1:
        return [f"y = {_call(target, 'x, w')}.numpy()"]
    return _split_lines(target, f"{_call(target, 'part, filters')}.numpy()")


def _split_lines(target: TargetCall, call: str) -> list[str]:
    """Return the lines that make one call for each group."""
    parts = f"np.split(x, {target.split}, {target.layout.index('C')})"
    filters = f"np.split(w, {target.split}, {target.filter_layout.index('I')})"
    return [
        f"groups = zip({parts}, {filters})",
        f"y = [{call} for part, filters in groups]",
        f"y = np.concatenate(y, {target.out_layout.index('C')})",
    ]


def _torch(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call PyTorch."""
    lines = ["x = torch.from_numpy(x.copy())", "w = torch.from_numpy(w.copy())"]
    if target.pad_input != _NONE:
        lines.append(_torch_pad("x", target.pad_input))
    bias = ", torch.from_numpy(b)" if conv.bias and _bias_in_call(target) else ""
    lines.append(f"y = {_call(target, 'x, w' + bias)}")
    if target.pad_output != _NONE:
        lines.append(_torch_pad("y", target.pad_output))
    return [*lines, "y = y.numpy()"]


def _torch_pad(name: str, pads: Pads) -> str:
    """Return the line that pads or crops with F.pad."""
    (top, bottom), (left, right) = pads
    return f"{name} = F.pad({name}, {(left, right, top, bottom)})  # left, right, top, bottom"


def _jax(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call JAX."""
    return [f"y = {_call(target, 'x, w')}", "y = np.asarray(y)"]


def _keras(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call Keras."""

    def converted(arrays: str) -> str:
        return f"keras.ops.convert_to_numpy({_call(target, arrays)})"

    if target.split == 1:
        return [f"y = {converted('x, w')}"]
    return _split_lines(target, converted("part, filters"))


def _onnx(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call onnxruntime."""
    with_bias = conv.bias and _bias_in_call(target)
    feeds = '{"X": x, "W": w, "B": b}' if with_bias else '{"X": x, "W": w}'
    words = "".join(f", {name}={value!r}" for name, value in target.arguments.items())
    return [
        f"feeds = {feeds}",
        f'node = helper.make_node("{target.name}", list(feeds), ["Y"]{words})',
        "kind = helper.np_dtype_to_tensor_dtype(x.dtype)",
        "inputs = [helper.make_tensor_value_info(name, kind, a.shape) for name, a in feeds.items()]",
        'outputs = [helper.make_tensor_value_info("Y", kind, None)]',
        'graph = helper.make_graph([node], "convolve", inputs, outputs)',
        'model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)',
        "session = onnxruntime.InferenceSession(",
        '    model.SerializeToString(), providers=["CPUExecutionProvider"]',
        ")",
        "y = session.run(None, feeds)[0]",
    ]


def _scipy(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call SciPy."""
    g = conv.geometry
    rows, cols, depth, outs = g.filters_shape
    (s_rows, s_cols), (d_rows, d_cols) = g.strides, g.dilations
    high, wide = g.rows.effective_filter, g.cols.effective_filter
    lines = []
    if g.dilations != (1, 1):
        lines += [
            f"spread = np.zeros({(high, wide, depth, outs)}, w.dtype)  # dilation: zeros between the taps",
            f"spread[::{d_rows}, ::{d_cols}] = w",
            "w = spread",
        ]
    one = outs // g.groups
    if not is_transposed(conv):
        channels = "" if g.groups == 1 else f", o // {one} * {depth} : o // {one} * {depth} + {depth}"
        part = "image" if g.groups == 1 else f"image[:, :{channels}]"
        return [
            *lines,
            "def channel(image, o):",
            f'    return signal.correlate({part}, w[:, :, :, o], "valid", "direct")'
            f"[: {(g.rows.out_size - 1) * s_rows + 1} : {s_rows}, "
            f": {(g.cols.out_size - 1) * s_cols + 1} : {s_cols}, 0]",
            f"y = np.stack([np.stack([channel(image, o) for o in range({outs})], -1) for image in x])",
        ]
    shape = (g.batch, (g.rows.out_size - 1) * s_rows + 1, (g.cols.out_size - 1) * s_cols + 1, g.out_channels)
    inputs = (
        f"range({outs})" if g.groups == 1 else f"range(o // {depth} * {one}, o // {depth} * {one} + {one})"
    )
    tap = "o" if g.groups == 1 else f"o % {depth}"
    return [
        *lines,
        f"stuffed = np.zeros({shape}, x.dtype)  # stride: zeros between the cells",
        f"stuffed[:, ::{s_rows}, ::{s_cols}] = x",
        "def channel(image, o):",
        "    return sum(",
        f'        signal.convolve(image[:, :, i], w[:, :, {tap}, i], "full", "direct")',
        f"        for i in {inputs}",
        "    )",
        f"channels = range({g.in_channels})",
        "y = np.stack([np.stack([channel(image, o) for o in channels], -1) for image in stuffed])",
    ]


_SECTIONS: dict[str, Callable[[ConvCall, TargetCall], list[str]]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "onnx": _onnx,
    "keras": _keras,
    "scipy": _scipy,
}
