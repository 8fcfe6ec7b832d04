"""The rules of dialects and translations on the pages: Python's functions, written as JavaScript.

The law itself is arithmetic, which the pages have in ``law.js``: `NATIVES` says what stands for what.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from inspect import Parameter, signature
from itertools import islice
from typing import Any

from .. import geometry, nn_ops, tables
from ..argument_types import Framework
from ..arguments import check_steps, integer, normalize_shape, truth
from ..dialects.calls import FUNCTIONS, ConvCall, check_bias
from ..errors import ArgumentError, ArgumentTypeError, brief, suggestion
from ..translation import forward, source_text, transposed
from ..translation.target_calls import Code
from ..translation.translating import written_call
from .javascript import written

__all__ = ["FRAMEWORKS", "PAGE_FUNCTIONS", "rules", "words_of"]

# what the pages offer, by their names
FRAMEWORKS: dict[Framework, str] = {
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "onnx": "ONNX",
    "keras": "Keras",
}

# what the pages resolve and translate: what has a resolver of its own, which can be written as JavaScript
PAGE_FUNCTIONS = {
    entry.name: function
    for function, entry in FUNCTIONS.items()
    if [operand.role for operand in entry.operands][:2] == ["input", "filters"]
    and entry.resolver.__closure__ is None
}

NATIVES: dict[Any, str] = {
    **dict.fromkeys((ArgumentError, ArgumentTypeError, ValueError), "Refusal"),
    geometry.AxisGeometry: "Axis",
    geometry.Conv2DGeometry: "Geometry",
    geometry.conv2d_geometry: "conv2dGeometry",
    geometry.conv2d_transpose_geometry: "conv2dTransposeGeometry",
    geometry.cropped_axis: "croppedAxis",
    geometry.forward_axis: "forwardAxis",
    geometry.forward_geometry: "forwardGeometry",
    geometry.split_padding: "splitPadding",
    Code: "Code",
    brief: "repr",
    integer: "integer",
    islice: "islice",
    normalize_shape: "tupleOf",
    source_text._folded: "folded",
    tables.count: "count",
    truth: "truth",
    **dict.fromkeys((check_steps, suggestion), "nothing"),
    # what no page asks for: SciPy, a bias, code for any size, the cells of a call
    **dict.fromkeys((forward._scipy, transposed._scipy, source_text._scipy), "null"),
    **dict.fromkeys((check_bias, source_text._bias_line, source_text._rule_lines, ConvCall.name), "nothing"),
    **{function: json.dumps(entry.name) for function, entry in FUNCTIONS.items()},
}


def rules(names: Sequence[str]) -> str:
    """Return JavaScript that defines ``FRAMEWORKS``, ``FUNCTIONS`` and ``writtenCall``.

    Args:
        names: those of `PAGE_FUNCTIONS` that the page resolves and translates; there may be none.
    """
    entries = [FUNCTIONS[PAGE_FUNCTIONS[name]] for name in names]
    roots = [entry.resolver for entry in entries]
    found, text = written([*roots, *([written_call] if roots else [])], NATIVES)
    functions = []
    for entry, resolver in zip(entries, found, strict=False):
        operands = ",".join(f'{{name:"{operand.name}",role:"{operand.role}"}}' for operand in entry.operands)
        words = words_of(entry.name)
        usual = [
            f"{name}:{'undefined' if v is Parameter.empty else json.dumps(v)}" for name, v in words.items()
        ]
        own = {*words, *(operand.name for operand in entry.operands)}
        given = ",".join(f"a.{name}" for name in signature(entry.resolver).parameters if name in own)
        functions.append(
            f'"{entry.name}":{{operands:[{operands}],words:{{{",".join(usual)}}},'
            f"resolver:(a)=>{resolver}({given})}}"
        )
    return "\n".join(
        [
            f"const FRAMEWORKS={json.dumps(FRAMEWORKS)};",
            text,
            f"const FUNCTIONS={{{','.join(functions)}}};",
            f"const writtenCall={found[-1] if found else 'null'};",
        ]
    )


def words_of(name: str) -> dict[str, Any]:
    """Return the arguments of a function besides arrays and options, with their defaults."""
    function = PAGE_FUNCTIONS[name]
    arrays = {operand.name for operand in FUNCTIONS[function].operands}
    parameters = nn_ops.without_options(dict(signature(function).parameters))
    return {
        word: parameter.default
        for word, parameter in parameters.items()
        if word not in arrays | {"name", "unknown"}
    }
