"""Writes a translated call as the source text of a Python function over NumPy arrays.

The function converts the arrays from the source's layouts to the target's, calls the framework, and converts
the result back.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..core.arguments import Pads, Shape
from ..dialects.calls import ConvCall
from .target_calls import (
    TargetCall,
    filter_letters,
    is_input_gradient,
    mixed,
    negative,
    positive,
    sides_of,
    torch_order,
)

_WIDTH = 109  # the longest line of emitted code


def write(conv: ConvCall, target: TargetCall, made_for: str = "") -> str:
    """Return the source text of ``convolve(x, w)``, or of ``convolve(x, w, b)`` if the call has a bias.

    Args:
        conv: the call to translate.
        target: the call that it is translated to.
        made_for: the letters of the input's axes, a comma, and those of the filter's, whose sizes the code
            depends on and therefore checks; see `sizes`.

    Returns:
        Python source text, with its imports.
    """
    record = target.target
    if conv.bias and record.takes_bias and not target.pad_output:
        target = replace(target, arrays=(*target.arrays, "b"))
    section = call_lines(conv, target, _before(conv, target), _after(conv, target))
    if conv.bias and "b" not in target.arrays:
        shape = tuple(-1 if letter == "C" else 1 for letter in target.out_layout)
        section.append("y = y + b" if target.out_layout[-1] == "C" else f"y = y + b.reshape{shape}")
    rule = ["", "", *_rule_lines(target.pad_rule)] if target.pad_rule else []
    function = _function(conv, target, section, made_for)
    return "\n".join(["import numpy as np", *record.imports, *rule, "", "", *function, ""])


def defined(code: str, file: str = "<code>", **names: Any) -> Callable[..., Any]:
    """Return the last function that source text defines; ``names`` are known to it."""
    exec(compile(code, file, "exec"), names)
    return [*names.values()][-1]


def filter_permutation(conv: ConvCall, target: TargetCall) -> tuple[int, ...]:
    """Return the permutation of a filter from the source's order to the target's, without flip or regrouping.

    Args:
        conv: the call to translate.
        target: the call that it is translated to.

    Returns:
        The argument of ``filters.transpose``.
    """
    letters = filter_letters(conv).replace("OM", "OI").replace("M", "O")
    return tuple(letters.index(letter) for letter in target.filter_layout)


# ---------------------------------------------------------------------------------------------
# To the target's layouts, and back
# ---------------------------------------------------------------------------------------------


def _function(conv: ConvCall, target: TargetCall, section: list[str], made_for: str) -> list[str]:
    """Return the lines of ``convolve`` around the lines that call the framework."""
    arguments = "x, w, b" if conv.bias else "x, w"
    what = "the gradient of the output" if is_input_gradient(conv) else "the input"
    lines = [
        f"# x: {what}, {conv.layout(conv.kind.first)}; w: {conv.filter_layout}, as {conv.function} has them",
        *(f"# {note}" for note in target.notes),
        *_size_lines(conv, made_for),
        *_input_lines(conv, target),
        *_filter_lines(conv, target),
        *section,
        *_output_lines(conv, target),
    ]
    lines = [part for line in lines for part in folded(line)]
    return [f"def convolve({arguments}):", *("    " + line for line in lines)]


def folded(line: str) -> list[str]:
    """Return a line, folded if it is a comment that is too long."""
    if len(line) + 4 <= _WIDTH or not line.startswith("#"):
        return [line]
    return textwrap.wrap(line, _WIDTH - 4, subsequent_indent="# ")


def _size_lines(conv: ConvCall, made_for: str) -> list[str]:
    """Return the lines that refuse sizes that the code was not made for."""
    sizes, values, shown, got = [], [], [], []
    first = conv.kind.first
    operands = (
        ("x", conv.layout(first), conv.layout(first), conv.shape(first)),
        ("w", conv.filter_layout, filter_letters(conv), conv.filter_shape),
    )
    for (name, layout, letters, shape), checked in zip(operands, made_for.split(","), strict=False):
        at = [index for index, letter in enumerate(letters) if letter in checked]
        if not at:
            continue
        slices = f"[{at[0] or ''}:{at[-1] + 1 if at[-1] + 1 < len(layout) else ''}]"
        if at == [*range(at[0], at[-1] + 1)]:
            sizes.append(f"{name}.shape{'' if slices == '[:]' else slices}")
        else:
            sizes.append("(" + " ".join(f"{name}.shape[{index}]," for index in at) + ")")
        values += [shape[index] for index in at]
        words = ", ".join(str(n) if i in at else layout[i] for i, n in enumerate(shape))
        shown.append(f"{name} [{words}]")
        got.append(f"{{{name}.shape}}")
    if not sizes:
        return []
    numbers = f"({', '.join(map(str, values))}{',' if len(values) == 1 else ''})"
    text = f'f"made for {" and ".join(shown)}; got {" and ".join(got)}"'
    error = [f"    raise ValueError({text})"]
    if len(error[0]) + 4 > _WIDTH:
        error = ["    raise ValueError(", f"        {text}", "    )"]
    return [f"if {' + '.join(sizes)} != {numbers}:", *error]


def transposed(name: str, have: str, want: str) -> list[str]:
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
    parts = 1 if target.target.stuffs else conv.batch_groups
    stuffed = conv.has_gaps and not target.target.stuffs
    if parts > 1 or stuffed:
        lines += transposed("x", layout, conv.geometry.data_format)
        layout = conv.geometry.data_format
    if parts > 1:
        rank = len(conv.spatial)
        order = ", ".join(f"{axis}" for axis in (*range(1, rank + 2), 0, rank + 2))
        lines += [
            f"x = x.reshape({parts}, -1, *x.shape[1:]).transpose({order})",
            f"x = x.reshape(*x.shape[:{rank + 1}], -1)  # parts of the batch become channels",
        ]
    if stuffed:
        lines += _stuffing_lines(conv.stuffing, "lhs_dilation") + ["x = stuffed"]
    return lines + transposed("x", layout, target.layout)


def _stuffing_lines(steps: Shape, why: str) -> list[str]:
    """Return the lines that put zeros between the cells of x, whose channels are last."""
    return [
        f"# {why}: zeros between the cells",
        f"sizes = [(size - 1) * step + 1 for size, step in zip(x.shape[1:-1], {steps})]",
        "stuffed = np.zeros((len(x), *sizes, x.shape[-1]), x.dtype)",
        f"stuffed[:, {_each(steps)}] = x",
    ]


def _each(steps: Shape) -> str:
    """Return the slices that take every n-th cell of each axis."""
    return ", ".join(f"::{step}" for step in steps)


def _filter_lines(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that convert the filter."""
    letters, lines, groups = filter_letters(conv), [], conv.groups
    rank = len(conv.spatial)
    law = f"{conv.spatial}OI"
    if "M" in letters:
        lines.append(f"w = w.reshape(*w.shape[:{rank}], 1, -1)  # the multiplier is the filters of a group")
        letters = law if conv.kind.scatters else f"{conv.spatial}IO"
    if conv.regroup != target.regroup:
        lines += transposed("w", letters, law)
        letters = law
        order = ", ".join(f"{axis}" for axis in (*range(rank), rank + 1, rank, rank + 2))
        if conv.regroup:  # from [rows, cols, groups * out, in / groups] to teachconv's order
            lines += [
                f"w = w.reshape(*w.shape[:{rank}], {groups}, -1, w.shape[{rank + 1}]).transpose({order})",
                f"w = w.reshape(*w.shape[:{rank + 1}], -1)  # groups along the input's channels",
            ]
        else:
            lines += [
                f"w = w.reshape(*w.shape[:{rank + 1}], {groups}, -1).transpose({order})",
                f"w = w.reshape(*w.shape[:{rank}], -1, w.shape[{rank + 2}])  # groups along the output's",
            ]
    lines += transposed("w", letters, target.filter_layout)
    if conv.flip != target.flip:
        index = ", ".join("::-1" if letter in "DHW" else ":" for letter in target.filter_layout)
        lines.append(f"w = w[{index}]  # flip every axis")
    return lines


def _output_lines(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that convert the result back and return it."""
    layout = conv.layout(conv.kind.result)
    if "N" in layout:
        return [*transposed("y", target.out_layout, layout), "return y"]
    return [*transposed("y", target.out_layout, "N" + layout), "return y[0]"]


# ---------------------------------------------------------------------------------------------
# Padding and cropping
# ---------------------------------------------------------------------------------------------


def _rule_lines(word: str) -> list[str]:
    """Return the function that computes SAME or SAME_LOWER for any size."""
    larger = "the larger half after" if word == "SAME" else "the larger half before"
    order = "total // 2, total - total // 2" if word == "SAME" else "total - total // 2, total // 2"
    return [
        f"def {word.lower()}_padding(size, filter_size, stride, dilation):",
        f"    # {word}: ceil(size / stride) outputs; {larger}",
        "    outputs = -(-size // stride)",
        "    total = max(0, (outputs - 1) * stride + (filter_size - 1) * dilation + 1 - size)",
        f"    return {order}",
    ]


def _before(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that pad or crop the input."""
    lines: list[str] = []
    if not target.pad_rule:
        return _pad_lines(conv, "x", target, target.layout, target.pad_input)
    g, names = conv.geometry, sides_of(conv)
    for letter, sides, step, spread in zip(conv.spatial, names, g.strides, g.dilations, strict=True):
        size, filter_size = target.layout.index(letter), target.filter_layout.index(letter)
        facts = f"x.shape[{size}], w.shape[{filter_size}], {step}, {spread}"
        lines.append(f"{', '.join(sides)} = {target.pad_rule.lower()}_padding({facts})")
    if target.target.of_tensors:
        return [*lines, f"x = F.pad(x, ({', '.join(torch_order(names))}))"]
    widths = {letter: f"({', '.join(sides)})" for letter, sides in zip(conv.spatial, names, strict=True)}
    return [*lines, f"x = np.pad(x, ({', '.join(widths.get(c, '(0, 0)') for c in target.layout)}))"]


def call_lines(
    conv: Any, target: TargetCall, before: Sequence[str] = (), after: Sequence[str] = ()
) -> list[str]:
    """Return the lines from arrays to a framework's result as an array, with what is done around the call."""
    record = target.target
    arrays = target.arrays if record.of_tensors else ()
    lines = [*(f"{name} = torch.from_numpy({name}.copy())" for name in arrays), *before]
    lines += _tensor_lines(target) if record.section is None else record.section(conv, target)
    return [*lines, *record.last, *after, *(["y = y.numpy()"] if record.of_tensors else [])]


def _after(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that subsample, pad or crop the result."""
    lines = []
    if target.subsample:
        steps = dict(zip(conv.spatial, target.subsample, strict=True))
        index = ", ".join(f"::{steps[letter]}" if letter in steps else ":" for letter in target.out_layout)
        lines.append(f"y = y[{index}]")
    return lines + _pad_lines(conv, "y", target, target.out_layout, target.pad_output)


def _pad_lines(conv: ConvCall, name: str, target: TargetCall, layout: str, pads: Pads) -> list[str]:
    """Return the lines that pad with zeros, then those that crop: the crop may exceed the input."""
    lines: list[str] = []
    padded, cropped = any(max(sides) > 0 for sides in pads), any(min(sides) < 0 for sides in pads)
    if target.target.of_tensors:
        order = ", ".join(torch_order(sides_of(conv)))
        parts = [positive(pads), negative(pads)] if mixed(pads) else [pads] if padded or cropped else []
        return [f"{name} = F.pad({name}, {torch_order(part)})  # {order}" for part in parts]
    if padded:
        widths = dict(zip(conv.spatial, positive(pads), strict=True))
        lines.append(f"{name} = np.pad({name}, {tuple(widths.get(letter, (0, 0)) for letter in layout)})")
    if cropped:
        slices = dict(zip(conv.spatial, (_slice(*sides) for sides in pads), strict=True))
        lines.append(f"{name} = {name}[{', '.join(slices.get(letter, ':') for letter in layout)}]")
    return lines


def _slice(before: int, after: int) -> str:
    """Return the slice that crops an axis by the negative ones of its pads."""
    return f"{-before if before < 0 else ''}:{after if after < 0 else ''}"


# ---------------------------------------------------------------------------------------------
# The call of each framework
# ---------------------------------------------------------------------------------------------


def _call(target: TargetCall, before: str, arrays: str, after: str) -> list[str]:
    """Return a call as lines: one line if it fits, else one for the arrays and one for each argument."""
    words = [arrays, *(f"{name}={value!r}" for name, value in target.arguments.items())]
    line = f"{before}{', '.join(words)}{after}"
    return [line] if len(line) + 4 <= _WIDTH else [before, *(f"    {word}," for word in words), after]


def _tensor_lines(target: TargetCall) -> list[str]:
    """Return the lines that call a function once, or once for each group."""
    before, after = target.target.result.split("{}")
    if target.split == 1:
        return _call(target, f"y = {before}{target.name}(", ", ".join(target.arrays), f"){after}")
    parts = f"np.split(x, {target.split}, {target.layout.index('C')})"
    filters = f"np.split(w, {target.split}, {len(target.filter_layout) - 1})"  # HWIO, or HWOI if transposed
    call = _call(target, f"    {before}{target.name}(", "part, filters", f"){after}")
    return [
        "y = [",
        call[0],
        *(f"    {line}" for line in call[1:]),
        f"    for part, filters in zip({parts}, {filters})",
        "]",
        f"y = np.concatenate(y, {target.out_layout.index('C')})",
    ]


def onnx_section(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call onnxruntime."""
    feeds = ", ".join([f'"{name.upper()}": {name}' for name in target.arrays if name])
    inputs = "list(feeds)" if all(target.arrays) else str([name.upper() for name in target.arrays])
    return [
        f"feeds = {{{feeds}}}",
        *_call(target, "node = helper.make_node(", f'"{target.name}", {inputs}, ["Y"]', ")"),
        "kinds = {name: helper.np_dtype_to_tensor_dtype(a.dtype) for name, a in feeds.items()}",
        "inputs = [helper.make_tensor_value_info(name, kinds[name], a.shape) for name, a in feeds.items()]",
        'outputs = [helper.make_tensor_value_info("Y", kinds["X"], None)]',
        'graph = helper.make_graph([node], "convolve", inputs, outputs)',
        'model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)',
        "session = onnxruntime.InferenceSession(",
        '    model.SerializeToString(), providers=["CPUExecutionProvider"]',
        ")",
        "y = session.run(None, feeds)[0]",
    ]


def scipy_section(conv: ConvCall, target: TargetCall) -> list[str]:
    """Return the lines that call SciPy."""
    g, rank = conv.geometry, len(conv.spatial)
    depth, outs = g.filters_shape[rank:]
    lines, one = [], outs // g.groups
    if max(g.dilations) > 1:
        sizes = ", ".join(f"{axis.effective_filter}" for axis in g.axes)
        lines += [
            f"spread = np.zeros(({sizes}, *w.shape[{rank}:]), w.dtype)  # dilation: zeros between the taps",
            f"spread[{_each(g.dilations)}] = w",
            "w = spread",
        ]
    if not conv.kind.scatters:
        part = "image"
        if g.groups > 1:
            lines.append(f"first = [o // {one} * {depth} for o in range({outs})]  # input channel of a group")
            part = f"image[..., first[o] : first[o] + {depth}]"
        size, taps = f"x.shape[1:{rank + 1}]", f"w.shape[:{rank}]"
        return [
            *lines,
            f"if any(n < k for n, k in zip({size}, {taps})):  # SciPy would exchange the two",
            f'    raise ValueError(f"the filter {{{taps}}} exceeds the padded input {{{size}}}")',
            "def channel(image, o):",
            f'    y = signal.correlate({part}, w[..., o], "valid", "direct")',
            f"    return y[{_each(g.strides)}].squeeze({rank})",
            f"channels = range(w.shape[{rank + 1}])",
            "y = np.stack([np.stack([channel(image, o) for o in channels], -1) for image in x])",
        ]
    inputs, tap = f"range(w.shape[{rank + 1}])", "o"
    if g.groups > 1:
        lines.append(
            f"first = [o // {depth} * {one} for o in range({g.in_channels})]  # of an output's group"
        )
        inputs, tap = f"range(first[o], first[o] + {one})", f"o % {depth}"
    return [
        *lines,
        *_stuffing_lines(g.strides, "stride"),
        "def channel(image, o):",
        "    return sum(",
        f'        signal.convolve(image[..., i], w[..., {tap}, i], "full", "direct")',
        f"        for i in {inputs}",
        "    )",
        f"channels = range({f'w.shape[{rank}]' if g.groups == 1 else g.in_channels})",
        "y = np.stack([np.stack([channel(image, o) for o in channels], -1) for image in stuffed])",
    ]
