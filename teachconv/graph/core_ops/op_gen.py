"""Generates gen_nn_ops.py: one Python function for each op definition.

TensorFlow: python/framework/python_op_gen.cc. TensorFlow's gen_nn_ops.py exists only in an installed
package and not in the repository; teachconv's is checked in.

    python -m teachconv.graph.core_ops.op_gen            writes the file
    python -m teachconv.graph.core_ops.op_gen --check    checks whether the file is up to date
"""

from __future__ import annotations

import sys
from keyword import iskeyword
from pathlib import Path
from textwrap import fill

from .. import core_ops  # noqa: F401  (fills the registry)
from ..framework.op_def import REGISTRY, ArgDef, OpDef

__all__ = ["generate", "lower_case_op_name"]

TARGET = Path(__file__).parents[1] / "ops" / "gen_nn_ops.py"
_8, _12 = " " * 8, " " * 12

_HEADER = '''"""The ops as Python functions. GENERATED from core_ops/ by op_gen.py: do not edit.

    python -m teachconv.graph.core_ops.op_gen

TensorFlow: python/ops/gen_nn_ops.py, gen_math_ops.py, gen_array_ops.py and gen_state_ops.py, which are
generated when TensorFlow is built and are in no repository. Each function adds a node to the default
graph or, if there is none, runs the op immediately. T stands for the dtype of the inputs. Nothing is computed
here; ``teachconv.find_source(gen_nn_ops.conv2d)``, or with the arguments of a call, shows where it is.
"""

from __future__ import annotations

from typing import Any

from ..common_runtime.execute import execute
from ..framework import op_def_library
from ..framework.context import executing_eagerly

__all__ = [
{names}
]
'''


def lower_case_op_name(name: str) -> str:
    """Convert an op's CamelCase name to the snake_case name of its wrapper, by TensorFlow's rule.

    An underscore is inserted before a capital letter that follows or precedes a lower-case letter. A digit is
    neither, so Conv2D becomes conv2d and not conv2_d.

    Args:
        name: the name of the op.

    Returns:
        The name of the generated function.

    >>> [lower_case_op_name(name) for name in ("Conv2DBackpropInput", "DepthwiseConv2dNative", "MatMul")]
    ['conv2d_backprop_input', 'depthwise_conv2d_native', 'mat_mul']
    """
    result = ""
    for i, letter in enumerate(name):
        follows_small = i > 0 and name[i - 1].islower()
        before_small = i + 1 < len(name) and name[i + 1].islower()
        if letter.isupper() and i > 0 and (follows_small or before_small):
            result += "_"
        result += letter.lower()
    return f"_{result}" if iskeyword(result) else result


def generate() -> str:
    """Return the text of gen_nn_ops.py for the registered ops."""
    public = [op_def for name, op_def in sorted(REGISTRY.items()) if not name.startswith("_")]
    names = "\n".join(f'    "{lower_case_op_name(op_def.name)}",' for op_def in public)
    return _HEADER.replace("{names}", names) + "".join(_function(op_def) for op_def in public)


def _function(op_def: OpDef) -> str:
    inputs = [arg.name for arg in op_def.inputs]
    given = [attr for attr in op_def.attrs if attr.name not in op_def.inferred_attrs]
    required = [attr.name for attr in given if not attr.has_default]
    defaults = [(attr.name, attr.default) for attr in given if attr.has_default]
    parameters = [f"{name}: Any" for name in inputs + required]
    parameters += [f"{name}: Any = {_literal(default)}" for name, default in defaults]
    parameters += ["name: str | None = None"]
    if inputs:
        parameters.append("_kernel: str | None = None")
    attrs = required + [name for name, _ in defaults]
    attr_items = [f'"{attr}": {attr}' for attr in attrs] + (['"_kernel": _kernel'] if inputs else [])
    lines = [f"def {lower_case_op_name(op_def.name)}("]
    lines += [f"    {parameter}," for parameter in parameters]
    lines += [") -> Any:", f'    """{op_def.summary}', ""]
    entries = [f"{arg.name}: input, {_type(arg)}." for arg in op_def.inputs]
    entries += [f"{attr.name}: attribute, {str(attr).partition(': ')[2]}." for attr in given]
    entries.append("name: name of the node.")
    if inputs:
        entries.append("_kernel: label of the kernel; None selects the default.")
    outputs = [f"The output {arg.name}, {_type(arg)}." for arg in op_def.outputs] or ["The operation."]
    for title, items in (("Args", entries), ("Returns", outputs)):
        lines += [
            f"    {title}:",
            *(fill(item, 105, initial_indent=_8, subsequent_indent=_12) for item in items),
        ]
        lines.append("")
    inferred = [attr for attr in op_def.attrs if attr.name in op_def.inferred_attrs]
    facts = f"Op {op_def.name}" + "".join(f"; {attr}" for attr in inferred) + "."
    lines.append(fill(facts, 105, initial_indent="    ", subsequent_indent="    "))
    lines += ['    """', f"    _inputs: list[Any] = [{', '.join(inputs)}]"]
    one_line = f"    _attrs: dict[str, Any] = {{{', '.join(attr_items)}}}"
    if len(one_line) <= 110:
        lines.append(one_line)
    else:
        lines += ["    _attrs: dict[str, Any] = {", *(f"        {item}," for item in attr_items), "    }"]
    lines += [
        "    if executing_eagerly():",
        f'        return execute("{op_def.name}", _inputs, _attrs)',
        f'    return op_def_library.apply_op("{op_def.name}", name, _inputs, _attrs)',
    ]
    return "\n\n" + "\n".join(lines) + "\n"


def _type(arg: ArgDef) -> str:
    return f"reference to a variable of type {arg.type}" if arg.is_ref else f"of type {arg.type}"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def main(arguments: list[str]) -> int:
    """Write the file, or compare it with ``--check``; return the exit status, 1 if it is out of date."""
    text = generate()
    if "--check" in arguments:
        current = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
        state = "up to date" if current else "out of date: python -m teachconv.graph.core_ops.op_gen"
        print(f"{TARGET.name} is {state}")
        return 0 if current else 1
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
