"""Finds where an op of the graph is executed: the runtime's own steps, and then those of the backends.

`teachconv.find_source` follows one call, without the runtime.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from .. import backends
from ..errors import ArgumentError
from ..inspection.marks import place
from ..inspection.sources import SourceChain, SourceLine, SourceStep, backend_steps, step_at
from ..kinds import kind_of
from . import array_ops, cwise_ops, gen_nn_ops, image_ops, kernels, math_ops, nn_ops, random_ops  # noqa: F401  (kernels fills the registry)
from .op_def import REGISTRY
from .op_kernel import KERNELS

__all__ = ["find_source"]

_PUBLIC: tuple[ModuleType, ...] = (nn_ops, math_ops, cwise_ops, array_ops, image_ops, random_ops)


def find_source(name: str) -> SourceChain:
    """Follow an op from its public wrapper to its kernels and the functions of the backends.

    Args:
        name: the name of the public wrapper (``conv2d_transpose``), the generated wrapper
            (``conv2d_backprop_input``) or the op (``Conv2DBackpropInput``).

    Returns:
        The steps with file and line, and the lines of every algorithm that apply stride, padding and
        dilation or that multiply and add.

    Raises:
        ValueError: if there is no op of that name; the message suggests similar names.

    >>> chain = find_source("conv2d_transpose")
    >>> [(step.what, step.name) for step in chain.steps[:3]]
    [('public wrapper', 'conv2d_transpose'),
     ('generated wrapper', 'conv2d_backprop_input'),
     ('op definition', 'Conv2DBackpropInput')]
    """
    public, op_name = _resolve(name)
    op_def = REGISTRY[op_name]
    steps: list[SourceStep] = []
    for wrapper in [public] if public is not None else _wrappers(op_name):
        steps.append(step_at("public wrapper", wrapper, "normalises its arguments"))
    from .op_gen import lower_case_op_name

    generated = getattr(gen_nn_ops, lower_case_op_name(op_name), None)
    if generated is not None:
        rule = f"snake case of {op_name}; written by op_gen.py"
        steps.append(step_at("generated wrapper", generated, rule))
    inputs = ", ".join(arg.name for arg in op_def.inputs)
    note = f"inputs: {inputs or 'none'}"
    steps.append(SourceStep("op definition", op_name, place(op_def.file), op_def.line, note))
    kernels_of_op, lines = _kernels(op_name)
    return SourceChain(name, (*steps, *kernels_of_op), tuple(lines))


def _resolve(name: str) -> tuple[Callable[..., Any] | None, str]:
    """Return the public function of that name, if there is one, and the op that it leads to."""
    for module in _PUBLIC:
        if name in module.__all__:
            public = inspect.unwrap(getattr(module, name))
            return public, _op_of(_generated_name(public))
    if name in REGISTRY or name in gen_nn_ops.__all__:
        op_name = name if name in REGISTRY else _op_of(name)
        return None, op_name
    known = {*REGISTRY, *gen_nn_ops.__all__, *(public for module in _PUBLIC for public in module.__all__)}
    near = difflib.get_close_matches(str(name), known, 3)
    raise ArgumentError(
        f"name must be that of an op or of its wrapper; got {name!r}"
        + (f" (did you mean {' or '.join(near)}?)" if near else "")
    )


def _op_of(generated: str) -> str:
    from .op_gen import lower_case_op_name  # not at the top: op_gen is run as a program too

    return next(op for op in REGISTRY if lower_case_op_name(op) == generated)


def _wrappers(op_name: str) -> list[Callable[..., Any]]:
    """Return the public functions that lead to an op."""
    found = []
    for module in _PUBLIC:
        for name in module.__all__:
            public = inspect.unwrap(getattr(module, name))
            if _op_of(_generated_name(public)) == op_name:
                found.append(public)
    return found


def _generated_name(public: Callable[..., Any]) -> str:
    """Return the generated wrapper that a function calls, read from its source instead of a table."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(public)))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "gen_nn_ops"
        ):
            return node.attr
    for node in ast.walk(tree):  # or its helper in the same module does
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            helper = public.__globals__.get(node.func.id)
            if inspect.isfunction(helper) and helper.__module__ == public.__module__:
                return _generated_name(helper)
    raise ArgumentError(f"{public.__name__} calls no generated wrapper")


def _kernels(op_name: str) -> tuple[list[SourceStep], list[SourceLine]]:
    """Return the kernels of an op, each with its backends' steps, and the lines of every algorithm."""
    steps: list[SourceStep] = []
    lines: list[SourceLine] = []
    found = [definition for (op, *_), definition in KERNELS.items() if op == op_name]
    for kernel in dict.fromkeys(definition.kernel for definition in found):
        mine = [definition for definition in found if definition.kernel is kernel]
        labels = [definition.label or "default" for definition in mine]
        of_backends = set(labels) == {"default", *backends.TABLE}  # they have rows of their own below
        named = "default, and every backend" if of_backends else ", ".join(labels)
        devices = ", ".join(sorted({definition.device for definition in mine}))
        note = f"{devices}; labels: {named}"
        steps.append(SourceStep("kernel", kernel.__name__, place(mine[0].file), mine[0].line, note))
        if kernel.backend_function is None:
            computes = step_at("computes", kernel.compute, "NumPy")
            steps.append(replace(computes, name=f"{kernel.__name__}.compute"))
            continue
        more, its_lines = backend_steps(kind_of(kernel.backend_function))
        steps += more
        lines += its_lines
    return steps, lines
