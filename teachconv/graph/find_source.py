"""Finds where an op is executed: the steps from a public function to the loops, with file and line.

TensorFlow has no such function; there the path leads through a generated file, a C++ registry filled by
macros, and a library that was chosen when TensorFlow was compiled.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import backends, tables
from ..errors import ArgumentError
from . import array_ops, gen_nn_ops, kernels, math_ops, nn_ops  # noqa: F401  (kernels fills the registry)
from .op_def import REGISTRY
from .op_kernel import KERNELS
from .run_metadata import place

__all__ = ["SourceChain", "SourceStep", "find_source"]

_PUBLIC: tuple[ModuleType, ...] = (nn_ops, math_ops, array_ops)


@dataclass(frozen=True)
class SourceStep:
    """One step.

    Attributes:
        what: the kind of step, such as "kernel".
        name: the name of the function, class or op.
        where: ``file:line``.
        note: a remark.
    """

    what: str
    name: str
    where: str
    note: str = ""


@dataclass(frozen=True, repr=False)
class SourceChain(tables.Report):
    """The steps of one op from the public function to the functions that compute.

    Attributes:
        query: the name that was looked up.
        steps: the steps in order.
    """

    query: str
    steps: tuple[SourceStep, ...]

    def _headline(self) -> str:
        return f"where is {self.query} executed?"

    def _table(self) -> tables.Table:
        rows = [(step.what, step.name, step.where, step.note) for step in self.steps]
        return tables.Table(tables.left(*[""] * 4), rows, self._headline())

    __repr__ = tables.Report.__str__


def find_source(name: str) -> SourceChain:
    """Follow an op from its public wrapper to its kernels and the functions of the backends.

    Args:
        name: the name of the public wrapper (``conv2d_transpose``), the generated wrapper
            (``conv2d_backprop_input``) or the op (``Conv2DBackpropInput``).

    Returns:
        The steps with file and line.

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
        steps.append(SourceStep("public wrapper", wrapper.__name__, _at(wrapper), "normalises its arguments"))
    from .op_gen import lower_case_op_name

    generated = getattr(gen_nn_ops, lower_case_op_name(op_name), None)
    if generated is not None:
        rule = f"snake case of {op_name}; written by op_gen.py"
        steps.append(SourceStep("generated wrapper", generated.__name__, _at(generated), rule))
    inputs = ", ".join(arg.name for arg in op_def.inputs)
    steps.append(
        SourceStep("op definition", op_name, place(op_def.file, op_def.line), f"inputs: {inputs or 'none'}")
    )
    steps += _kernels(op_name)
    return SourceChain(name, tuple(steps))


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
    raise ArgumentError(f"{public.__name__} calls no generated wrapper")


def _kernels(op_name: str) -> list[SourceStep]:
    steps = []
    found = [definition for (op, _, _), definition in KERNELS.items() if op == op_name]
    for kernel in dict.fromkeys(definition.kernel for definition in found):
        mine = [definition for definition in found if definition.kernel is kernel]
        labels = ", ".join(definition.label or "default" for definition in mine)
        where = place(mine[0].file, mine[0].line)
        devices = ", ".join(sorted({definition.device for definition in mine}))
        steps.append(SourceStep("kernel", kernel.__name__, where, f"{devices}; labels: {labels}"))
        if kernel.backend_function is not None:
            steps += _backends(kernel.backend_function)
        else:
            steps.append(SourceStep("computes", f"{kernel.__name__}.compute", _at(kernel.compute), "NumPy"))
    return steps


def _backends(function: str) -> list[SourceStep]:
    steps = []
    for backend in backends.TABLE:
        problem = backends.why_not(backend)
        if problem:
            steps.append(SourceStep("backend", backend, "", f"not here: {problem}"))
            continue
        module = backends.get(backend)
        steps.append(SourceStep("backend", f"{backend}.{function}", _at(getattr(module, function))))
        if backend == "cython":
            steps += _compiled(function)
    return steps


def _compiled(function: str) -> list[SourceStep]:
    """Return the functions of the compiled module, which contain the loops."""
    path = Path(backends.__file__).parent.parent / "_kernels.pyx"
    if not path.exists():  # an installed package contains only the compiled module
        return []
    steps = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("def ") and line.partition("(")[0].endswith(f"_{function}"):
            name = line.removeprefix("def ").partition("(")[0]
            steps.append(SourceStep("compiled loops", name, place(str(path), number)))
    return steps


def _at(function: Any) -> str:
    code = inspect.unwrap(function).__code__
    return place(code.co_filename, code.co_firstlineno)
