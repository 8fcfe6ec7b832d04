"""Orders the accesses to each variable in a traced function as the program wrote them.

TensorFlow: python/framework/auto_control_deps.py. TensorFlow 1 graphs have no such order: there, only data
and the program's own control dependencies decide which of two accesses comes first.
"""

from __future__ import annotations

from ..framework.ops import Graph, Operation

__all__ = ["add_control_dependencies"]


def add_control_dependencies(graph: Graph) -> list[Operation]:
    """Make each access to a variable wait for the ones before it, unless both only read.

    Args:
        graph: the graph of a function, complete.

    Returns:
        The operations that change a variable: every call runs them, whether or not its result needs them.
    """
    refs: dict[Operation, Operation] = {}  # operation that returns a reference -> the variable
    last_write: dict[Operation, Operation] = {}
    reads: dict[Operation, list[Operation]] = {}
    writes: list[Operation] = []
    for op in graph.get_operations():
        if op.type == "Variable":
            refs[op] = op
            continue
        touched = {refs[tensor.op] for tensor in op.inputs if tensor.op in refs}
        if not touched:
            continue
        takes = op.op_def.flat(op.op_def.inputs, op.attrs)
        written = {
            refs[tensor.op]
            for tensor, arg in zip(op.inputs, takes, strict=True)
            if arg.is_ref and op.op_def.is_stateful
        }
        earlier: list[Operation] = []
        for variable in touched:
            if variable in last_write:
                earlier.append(last_write[variable])
            if variable in written:
                earlier += reads.pop(variable, [])
                last_write[variable] = op
            else:
                reads.setdefault(variable, []).append(op)
        if written:
            writes.append(op)
        if any(output.is_ref for output in op.outputs):
            refs[op] = next(iter(written or touched))
        known = {*(tensor.op for tensor in op.inputs), *op.control_inputs}
        op.control_inputs = (*op.control_inputs, *(other for other in earlier if other not in known))
    return writes
