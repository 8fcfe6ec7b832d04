"""Order without data: nodes that only order others, and the order of accesses to a variable in a function.

TensorFlow: python/ops/control_flow_ops.py and python/framework/auto_control_deps.py. Graphs of TensorFlow 1
have no such automatic order: there, only data and the program's own control dependencies decide which of two
accesses comes first.
"""

from __future__ import annotations

from typing import Any

from ..framework.context import get_default_graph
from ..framework.ops import Graph, Operation, name_scope
from . import gen_nn_ops


def group(*inputs: Any, name: str | None = None) -> Any:
    """Return an operation that finishes after all ``inputs`` have finished.

    Args:
        *inputs: operations, tensors or variables of the default graph.
        name: the name of the node.

    Returns:
        A NoOp operation.

    Raises:
        ValueError: outside a graph.
    """
    graph = get_default_graph()
    with graph.control_dependencies(sorted(inputs, key=lambda item: str(item.name))):
        return gen_nn_ops.no_op(name=name or "group_deps")


def tuple(tensors: Any, name: str = "tuple") -> list[Any]:
    """Return tensors each of which waits until all of them are computed, as tf.tuple.

    Args:
        tensors: a list of tensors of the default graph, and Nones.
        name: the name scope of the nodes.

    Returns:
        A list with an Identity for each tensor, and the Nones.
    """
    with name_scope(name):
        gate = group(*(tensor for tensor in tensors if tensor is not None))
        with get_default_graph().control_dependencies([gate]):
            return [
                None if tensor is None else gen_nn_ops.identity(tensor, name="control_dependency")
                for tensor in tensors
            ]


def add_control_dependencies(graph: Graph) -> list[Operation]:
    """Make each access to a variable wait for the ones before it, unless both only read.

    Args:
        graph: the graph of a function, complete.

    Returns:
        The operations that change a variable or write to a file: every call runs them, whether or not its
        result needs them.
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
        to_a_file = op.op_def.is_stateful and not op.op_def.outputs and op.type != "NoOp"
        if written or to_a_file:
            writes.append(op)
        if any(output.is_ref for output in op.outputs):
            refs[op] = next(refs[tensor.op] for tensor in op.inputs if tensor.op in refs)
        known = {*(tensor.op for tensor in op.inputs), *op.control_inputs}
        op.control_inputs = (*op.control_inputs, *(other for other in earlier if other not in known))
    return writes
