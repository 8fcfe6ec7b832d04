"""Runs the partitions of a subgraph with a queue of the nodes whose inputs are available.

TensorFlow: core/common_runtime/executor.cc. Each node has a count of the nodes it waits for. When a node has
run, it decrements the counts of its followers; those that reach zero enter the queue. TensorFlow has one
executor per partition, in which a _Recv waits for the rendezvous; here one scheduler serves all partitions,
and a _Recv waits for its _Send. A value is freed after its last use. There is no recursion, so chains of
nodes may be as long as memory allows.

Nodes that do not depend on each other may run in any order. A seed shuffles the queue, so that a missing
control dependency in a program shows up as a different result.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...support.errors import ArgumentError, ArgumentTypeError, brief
from ..framework.config import ConfigProto, DeviceSpec
from ..framework.errors import FailedPreconditionError, InvalidArgumentError
from ..framework.node_def import NodeDef, Nodes, TensorName, before, sorted_nodes
from ..framework.op_def import get_op_def
from ..framework.op_kernel import KernelDef, OpKernel, OpKernelContext, VariableRef, find_kernel
from .graph_partition import Transfer

if TYPE_CHECKING:
    from .run_metadata import StepStatsCollector


class Item:
    """A node as the executor sees it, with slot numbers instead of names."""

    __slots__ = (
        "compute",
        "first_output",
        "followers",
        "inputs",
        "kernel",
        "kernel_def",
        "node",
        "outputs",
        "takes_refs",
    )

    def __init__(self, node: NodeDef, kernel_def: KernelDef, first_output: int):
        op_def = get_op_def(node.op)
        self.node, self.kernel_def = node, kernel_def
        self.kernel: OpKernel = kernel_def.kernel(node, kernel_def.label)
        self.compute: Callable[..., Any] = self.kernel.compute
        self.first_output, self.outputs = first_output, len(op_def.flat(op_def.outputs, node.attrs))
        self.inputs: tuple[int, ...] = ()
        self.followers: list[int] = []
        # whether the kernel takes each input as a reference instead of a value
        self.takes_refs = tuple(arg.is_ref for arg in op_def.flat(op_def.inputs, node.attrs))


class Executor:
    """The partitions of a subgraph with a kernel for every node; several threads may call `run` at once.

    Args:
        partitions: the nodes by name for each device.
        transfers: the pairs that join the partitions.
        fetches: the tensors to return.
        config: the label of the kernels.
    """

    def __init__(
        self,
        partitions: Mapping[str, Nodes],
        transfers: Sequence[Transfer],
        fetches: Sequence[TensorName],
        config: ConfigProto,
    ):
        everything = {name: node for nodes in partitions.values() for name, node in nodes.items()}
        sends = {transfer.recv.name: transfer.send.name for transfer in transfers}
        nodes = sorted_nodes(everything)
        self.items: list[Item] = []
        slots: dict[TensorName, int] = {}
        is_ref: list[bool] = []
        for node in nodes:
            device = DeviceSpec.from_string(node.device).device_type or "CPU"
            item = Item(node, find_kernel(node, device, config.backend), len(slots))
            self.items.append(item)
            op_def = get_op_def(node.op)
            for index, arg in enumerate(op_def.flat(op_def.outputs, node.attrs)):
                slots[node.name, index] = len(slots)
                is_ref.append(arg.is_ref)
        number = {node.name: index for index, node in enumerate(nodes)}
        self._pending: list[int] = []  # how many nodes each node waits for
        for index, item in enumerate(self.items):
            earlier = {number[name] for name in before(item.node, sends)}
            self._pending.append(len(earlier))
            for other in earlier:
                self.items[other].followers.append(index)
            item.inputs = tuple(slots[name] for name in item.node.inputs)
            refs = [is_ref[slot] for slot in item.inputs]
            wants = any(ref and not takes for ref, takes in zip(refs, item.takes_refs, strict=True))
            item.takes_refs = item.takes_refs if wants else ()
        self._fetches = [slots[name] for name in fetches]
        # the caller's use keeps a value alive
        uses = Counter([*self._fetches, *(slot for item in self.items for slot in item.inputs)])
        self._uses = [uses[slot] for slot in range(len(slots))]
        self._roots = [index for index, count in enumerate(self._pending) if not count]

    def run(
        self, context: OpKernelContext, recorder: StepStatsCollector | None = None, seed: int | None = None
    ) -> list[Any]:
        """Run the subgraph, one node after the other; a convolution uses all threads that it may.

        Args:
            context: the feeds and the variables.
            recorder: receives the statistics of each node, or None.
            seed: takes the nodes that are ready in a random order instead of first in, first out.

        Returns:
            The fetched values.

        Raises:
            ValueError, FailedPreconditionError: if a kernel fails; the message names the node.
        """
        values: list[Any] = [None] * len(self._uses)
        pending, uses, items = self._pending.copy(), self._uses.copy(), self.items
        ready = deque(self._roots)
        random = None if seed is None else Random(seed)
        with np.errstate(all="ignore"):
            while ready:
                if random is not None:
                    ready.rotate(random.randrange(len(ready)))
                item = items[ready.popleft()]
                inputs = [values[slot] for slot in item.inputs]
                try:
                    if item.takes_refs:
                        inputs = [
                            value if takes or type(value) is not VariableRef else value.read()
                            for value, takes in zip(inputs, item.takes_refs, strict=True)
                        ]
                    if recorder is None:
                        result = item.compute(context, *inputs)
                    else:
                        result = recorder.compute(item, context, inputs)
                except BaseException as error:
                    _raise_with_node(error, item.node)
                for slot, output in enumerate((result,) if item.outputs == 1 else result, item.first_output):
                    if uses[slot]:
                        values[slot] = output
                for slot in item.inputs:
                    uses[slot] -= 1
                    if not uses[slot]:
                        values[slot] = None
                for follower in item.followers:
                    pending[follower] -= 1
                    if not pending[follower]:
                        ready.append(follower)
        fetched = [values[slot] for slot in self._fetches]
        return [value.read() if type(value) is VariableRef else value for value in fetched]


def _raise_with_node(error: BaseException, node: NodeDef) -> NoReturn:
    """Raise the error with the node's name and the line of the program that created the node."""
    where = f"node {brief(node.name)} ({node.op}, made at {node.file}:{node.line})"
    if isinstance(error, FailedPreconditionError):
        raise FailedPreconditionError(f"{where}: {error}") from error
    if isinstance(error, (ArgumentError, ArgumentTypeError, ValueError, TypeError)):
        failure = InvalidArgumentError(f"{where}: {error}")
        failure.node_def = node
        raise failure from error
    error.add_note(f"in {where}")
    raise error
