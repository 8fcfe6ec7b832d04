"""Generates gen_nn_ops.py: one Python function for each op definition.

TensorFlow: python/framework/python_op_gen.cc. TensorFlow's gen_nn_ops.py exists only in an installed
package and not in the repository; teachconv's is checked in.

    python -m teachconv.graph.core_ops.op_gen
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from keyword import iskeyword
from pathlib import Path
from textwrap import fill

from .. import core_ops  # noqa: F401  (fills the registry)
from ..framework.op_def import REGISTRY, AttrDef, OpDef

TARGET = Path(__file__).parents[1] / "ops" / "gen_nn_ops.py"

_HEADER = '''"""The ops as Python functions. GENERATED from core_ops/ by op_gen.py: do not edit.

    python -m teachconv.graph.core_ops.op_gen

TensorFlow: python/ops/gen_nn_ops.py, gen_math_ops.py, gen_array_ops.py and gen_state_ops.py, which are
generated when TensorFlow is built and not kept in its repository. Each function adds a node to the default
graph or, if there is none, runs the op immediately. Nothing is computed here:
``teachconv.find_source(gen_nn_ops.conv2d)``, optionally with the arguments of a call, shows where it is.

Below its summary each function has the definition of its op: ``Op(inputs) -> outputs``, and the attributes
with their defaults. T is the dtype of the inputs. In every function, ``name`` is the name of the node, and
``_kernel`` the label of its kernel; None stands for the default. Element-wise ops have one kernel, and their
functions are public as they are: tg.exp is gen_nn_ops.exp.
"""

from __future__ import annotations

from typing import Any

from ..common_runtime.execute import run_or_add

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
    result = snake_case(name)
    return f"_{result}" if iskeyword(result) else result


def snake_case(name: str) -> str:
    """Return a CamelCase name with an underscore before each word, as `lower_case_op_name` describes it.

    >>> snake_case("ReLU"), snake_case("BatchNormalization")
    ('re_lu', 'batch_normalization')
    """
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])", "_", name).lower()


def generate() -> str:
    """Return the text of gen_nn_ops.py for the registered ops."""
    public = [op_def for _, op_def in sorted(REGISTRY.items()) if _has_wrapper(op_def)]
    names = "\n".join(f'    "{lower_case_op_name(op_def.name)}",' for op_def in public)
    return _HEADER.replace("{names}", names) + "".join(_function(op_def) for op_def in public)


def _has_wrapper(op_def: OpDef) -> bool:
    """Return whether a program may call the op; what calls functions, the runtime alone adds."""
    return not op_def.name.startswith("_") and all(attr.type != "func" for attr in op_def.attrs)


def _function(op_def: OpDef) -> str:
    inputs = [arg.name for arg in op_def.inputs]
    given = [attr for attr in op_def.attrs if attr.name not in op_def.inferred_attrs]
    given.sort(key=lambda attr: attr.has_default)
    parameters = [f"{name}: Any" for name in inputs]
    parameters += [f"{attr.name}: Any{_default(attr)}" for attr in given] + ["name: str | None = None"]
    attrs = [attr.name for attr in given]
    if inputs and op_def.function is None:
        parameters.append("_kernel: str | None = None")
        attrs.append("_kernel")
    outputs = ", ".join(map(str, op_def.outputs)) or "the operation"
    facts = [
        f"{op_def.name}({', '.join(map(str, op_def.inputs))}) -> {outputs}",
        "; ".join(map(str, op_def.attrs)),
    ]
    items = [f'"{attr}": {attr}' for attr in attrs]
    call = [f'"{op_def.name}"', "name", f"[{', '.join(inputs)}]", _laid_out("{", items, "}", 8)]
    lines = [
        _laid_out(f"def {lower_case_op_name(op_def.name)}(", parameters, ") -> Any:", 0),
        f'    """{op_def.summary}',
        "",
        *(fill(f"{fact}.", 110, initial_indent=" " * 4, subsequent_indent=" " * 8) for fact in facts if fact),
        *([] if op_def.function is None else _arguments(inputs)),
        '    """',
        "    " + _laid_out("return run_or_add(", call, ")", 4),
    ]
    return "\n\n" + "\n".join(lines) + "\n"


def _arguments(inputs: Sequence[str]) -> list[str]:
    one = len(inputs) == 1
    what = "a tensor, variable, array or number" if one else "tensors, variables, arrays or numbers"
    return ["", "    Args:", f"        {', '.join(inputs)}: {what}.", "        name: the name of the node."]


def _laid_out(start: str, items: Sequence[str], end: str, indent: int) -> str:
    """Return a bracket as ruff formats it: on one line, with its items on one line, or one item a line."""
    margin, inner, plain = " " * indent, "\n" + " " * (indent + 4), ", ".join(items)
    if "\n" not in plain and len(margin + start + plain + end) <= 110:
        return start + plain + end
    if "\n" not in plain and len(inner + plain) <= 111 and start != "{":
        return f"{start}{inner}{plain}\n{margin}{end}"
    return start + "".join(f"{inner}{item}," for item in items) + f"\n{margin}{end}"


def _default(attr: AttrDef) -> str:
    if not attr.has_default:
        return ""
    return f' = "{attr.default}"' if isinstance(attr.default, str) else f" = {attr.default!r}"


if __name__ == "__main__":
    TARGET.write_text(generate(), encoding="utf-8", newline="\n")
    print(f"wrote {TARGET}")
