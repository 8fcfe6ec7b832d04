"""Follows a function of JAX to the code that XLA ran: jaxpr, StableHLO, optimised HLO, thunk and time.

The function is traced here, which computes nothing. A probe compiles what came out, runs it, and reads XLA's
profile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..graph.common_runtime import executor, graph_optimizer
from ..inspection.sources import SourceChain, SourceStep, step_at
from ..support.errors import ArgumentError
from ..support.tables import duration
from . import child, onednn
from .libraries import known_from
from .ours import chain, refusals

_RUNTIME = "xla/backends/cpu/runtime/"
# how XLA compiled a convolution for a CPU -> what runs it, and the C++ file
_THUNKS = {
    "__ynn_fusion": ("YNNPACK, a library of kernels", f"{_RUNTIME}ynnpack/ynn_fusion_thunk.cc"),
    "__onednn_fusion": ("oneDNN", f"{_RUNTIME}onednn/onednn_fusion_thunk.cc"),
    "__onednn$convolution": ("oneDNN", "xla/service/cpu/onednn_convolution.cc"),
    "convolution": ("Eigen's convolution", f"{_RUNTIME}convolution_thunk.cc"),
    "kLoop": ("loops, compiled by LLVM for this processor", f"{_RUNTIME}kernel_thunk.cc"),
    "kOutput": ("loops, compiled by LLVM for this processor", f"{_RUNTIME}kernel_thunk.cc"),
}


_BESIDE: dict[str, tuple[str, Callable[..., Any]]] = {
    "compiled to": ("optimiser", graph_optimizer.remap),
    "ran": ("executor", executor.Executor.run),
}


def follow(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Trace a call of JAX, compile and run it in a process of its own, and say what ran.

    Args:
        op: a function of JAX, such as ``jax.lax.conv_general_dilated``, or one that `jax.jit` made.
        args: its positional arguments; arrays become inputs of the compiled function, all else is constant.
        kwargs: its keyword arguments.

    Returns:
        The steps of every convolution in it.

    Raises:
        ArgumentError: if JAX refuses the call, or no convolution is part of it.
    """
    import jax

    name = getattr(op, "__name__", type(op).__name__)
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, (np.ndarray, jax.Array))]
    arrays = [np.asarray(leaves[index]) for index in places]

    def call(*values: Any) -> Any:
        given = list(leaves)
        for index, value in zip(places, values, strict=True):
            given[index] = value
        positional, named = jax.tree_util.tree_unflatten(tree, given)
        return op(*positional, **named)

    with refusals("JAX"):
        jaxpr = jax.make_jaxpr(call)(*arrays)
        exported = jax.export.export(jax.jit(call))(*arrays)
    equations = list(_equations(jaxpr.jaxpr))
    convolutions = [eqn for eqn in equations if eqn.primitive.name == "conv_general_dilated"]
    if not convolutions:
        ran = ", ".join(dict.fromkeys(eqn.primitive.name for eqn in equations)) or "none"
        raise ArgumentError(f"{name} has no convolution; its primitives: {ran[:300]}")
    job = {
        "x64": bool(jax.config.read("jax_enable_x64")),
        "dtypes": [str(array.dtype) for array in arrays],
        "shapes": [list(array.shape) for array in arrays],
    }
    given = {
        f"array{index:03}": np.frombuffer(array.tobytes(), np.uint8) for index, array in enumerate(arrays)
    }
    given["module"] = np.frombuffer(bytes(exported.serialize()), np.uint8)
    answer = child.run(f"{__package__}.jax_probe", job, given, onednn.VERBOSE)
    steps: list[SourceStep] = []
    if hasattr(op, "__code__"):
        steps.append(replace(step_at("public function", op), known="Python"))
    for number, eqn in enumerate(convolutions):
        steps += _traced(eqn, number, exported.mlir_module())
    steps += _compiled(answer.facts, answer.log["call"])
    shapes = " * ".join(str(list(array.shape)) for array in arrays)
    computed = [step.note.partition(";")[0] for step in steps if step.what == "ran"]
    return chain(f"jax's {name} {shapes}", steps, ["Conv2D"], f"JAX {jax.__version__}", computed, _BESIDE)


def _equations(jaxpr: Any) -> Iterator[Any]:
    """Yield the equations of a jaxpr and of those inside it, such as that of a jitted function."""
    for eqn in jaxpr.eqns:
        yield eqn
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


def _traced(eqn: Any, number: int, module: str) -> Iterator[SourceStep]:
    """The steps in Python: the primitive with its parameters, its lowering rule, and the op it became."""
    params = eqn.params
    note = (
        f"strides {params['window_strides']}, padding {params['padding']}, "
        f"input dilation {params['lhs_dilation']}, filter dilation {params['rhs_dilation']}, "
        f"groups {params['feature_group_count']}"
    )
    yield SourceStep("primitive", eqn.primitive.name, note=note, known="jaxpr")
    rule = _lowering_rule(eqn.primitive)
    if rule is not None:
        yield replace(step_at("lowering rule", rule), known="JAX's table of rules")
    found = re.findall(r"stablehlo\.convolution\(.*?\) (dim_numbers = .*?), window = (\{.*?\}) ", module)
    if number < len(found):
        numbers, window = found[number]
        yield SourceStep(
            "lowered to", "stablehlo.convolution", note=f"{numbers}; {window}", known="StableHLO"
        )


def _lowering_rule(primitive: Any) -> Any:
    """Return the function that turns a primitive into StableHLO; None where this version has it elsewhere."""
    try:
        from jax._src.interpreters import mlir

        found = mlir._platform_specific_lowerings["cpu"].get(primitive) or mlir._lowerings[primitive]
        return getattr(found, "rule", found)
    except (ImportError, AttributeError, KeyError):
        return None


def _compiled(facts: dict[str, Any], log: str) -> Iterator[SourceStep]:
    """The steps in XLA: what each convolution was compiled to, and the time that it took."""
    text = re.sub(r", metadata=\{[^}]*\}", "", facts["hlo"])
    bodies = dict(re.findall(r"^(?:ENTRY )?%(\S+) \(.*?\) -> .*?\{\n(.*?)^\}", text, re.M | re.S))
    entry = re.search(r"^ENTRY %(\S+)", text, re.M)
    main = bodies.get(entry[1], "") if entry else ""
    found = False
    for line in main.splitlines():
        instruction = re.match(r"\s*(?:ROOT )?%(\S+) = (\S+) (\S+)\(", line)
        if not instruction:
            continue
        name, result, opcode = instruction.groups()
        called = re.search(r"calls=%(\S+?)[,\s]", line + " ")
        inside = bodies.get(called[1], "") if called else ""
        kind = _kind(line, opcode, inside)
        if not kind:
            continue
        found = True
        text_of_it = next(
            (row.strip() for row in inside.splitlines() if " convolution(" in row), line.strip()
        )
        window = re.search(r"window=\{[^}]*\}", text_of_it)
        note = f"{result.partition('{')[0]} {window[0] if window else ''}"
        yield SourceStep("compiled to", f"{opcode} {name}", note=f"{kind}; {note}", known="optimised HLO")
        runs, file = _THUNKS.get(kind, (kind, ""))
        seconds = facts["seconds"].get(name)
        time = f"; {duration(seconds)}" if seconds is not None else ""
        known = "profiler" if time else "optimised HLO"
        known += f", {known_from('jaxlib', 'libjax_common*', file)}" if file else ""
        yield SourceStep("ran", name, file, note=f"{runs}{time}", known=known)
    for ran in onednn.read(log).primitives:
        yield SourceStep(
            "primitive",
            ran.implementation or ran.kind,
            note=f"{ran.kind}: {ran.formats}",
            known="oneDNN's log",
        )
    if not found:
        opcodes = ", ".join(dict.fromkeys(re.findall(r" = \S+ ([\w-]+)\(", main)))
        note = f"XLA rewrote the convolution; the compiled module has {opcodes}"
        yield SourceStep("compiled to", "no convolution", note=note, known="optimised HLO")


def _kind(line: str, opcode: str, inside: str) -> str:
    """Return how an instruction computes a convolution, as `_THUNKS` names it; "" if it computes none."""
    target = re.search(r'custom_call_target="([^"]*conv[^"]*)"', line)
    if target:
        return target[1]
    if opcode == "convolution":
        return opcode
    if " convolution(" not in inside:
        return ""
    named = re.search(r'"kind":"(\w+)"', line)
    plain = re.search(r"kind=(\w+)", line)
    return named[1] if named else plain[1] if plain else ""
