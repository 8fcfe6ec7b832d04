"""Runs a subgraph with a queue of the nodes whose inputs are available.

TensorFlow: core/common_runtime/executor.cc. Each node has a count of the nodes it waits for. When a node has
run, it decrements the counts of its followers; those that reach zero enter the queue. A value is freed after
its last use. There is no recursion, so chains of nodes may be as long as memory allows.
"""

from __future__ import annotations

import contextvars
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError
from .config import ConfigProto
from .device_spec import DeviceSpec
from .errors import FailedPreconditionError, InvalidArgumentError
from .node_def import NodeDef, Subgraph, before, sorted_nodes
from .op_def import get_op_def
from .op_kernel import KernelDef, OpKernel, OpKernelContext, VariableRef, find_kernel

if TYPE_CHECKING:
    from .run_metadata import Recorder

__all__ = ["Executor", "Item"]

_BYTES_FOR_A_THREAD = 1 << 16  # passing a node to a thread costs about 30 µs


class Item:
    """A node as the executor sees it, with slot numbers instead of names."""

    __slots__ = (
        "compute",
        "expensive",
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
        self.expensive = self.kernel.is_expensive
        self.first_output, self.outputs = first_output, len(op_def.flat(op_def.outputs, node.attrs))
        self.inputs: tuple[int, ...] = ()
        self.followers: tuple[int, ...] = ()
        # whether the kernel takes each input as a reference instead of a value
        self.takes_refs = tuple(arg.is_ref for arg in op_def.flat(op_def.inputs, node.attrs))


class Executor:
    """A subgraph with a kernel for every node; several threads may call `run` at the same time."""

    def __init__(self, subgraph: Subgraph, config: ConfigProto):
        nodes = sorted_nodes(subgraph.nodes)  # raises if there is a cycle
        self.threads = config.threads()
        self.items: list[Item] = []
        slots: dict[tuple[str, int], int] = {}
        is_ref: list[bool] = []
        for node in nodes:
            device = DeviceSpec.from_string(node.device).device_type or "CPU"
            item = Item(node, find_kernel(node, device, config.backend), len(slots))
            self.items.append(item)
            op_def = get_op_def(node.op)
            for index, arg in enumerate(op_def.flat(op_def.outputs, node.attrs)):
                slots[node.name, index] = len(slots)
                is_ref.append(arg.is_ref)
        self._uses = [0] * len(slots)
        for item in self.items:
            item.inputs = tuple(slots[name] for name in item.node.inputs)
            for slot in item.inputs:
                self._uses[slot] += 1
            refs = [is_ref[slot] for slot in item.inputs]
            wants = any(ref and not takes for ref, takes in zip(refs, item.takes_refs, strict=True))
            item.takes_refs = item.takes_refs if wants else ()
        self._fetches = [slots[name] for name in subgraph.fetches]
        for slot in self._fetches:
            self._uses[slot] += 1  # the caller's use keeps the value alive
        self._pending = self._connect(nodes)
        self._roots = [index for index, count in enumerate(self._pending) if not count]

    def _connect(self, nodes: list[NodeDef]) -> list[int]:
        """Set the followers of each node; return the number of nodes that each waits for."""
        number = {node.name: index for index, node in enumerate(nodes)}
        waits = [{number[name] for name in before(node)} for node in nodes]
        for first, second in _variable_order(nodes):
            waits[number[second]].add(number[first])
        followers: list[list[int]] = [[] for _ in nodes]
        for index, earlier in enumerate(waits):
            for other in sorted(earlier):
                followers[other].append(index)
        for item, after in zip(self.items, followers, strict=True):
            item.followers = tuple(after)
        return [len(earlier) for earlier in waits]

    def run(self, context: OpKernelContext, recorder: Recorder | None = None) -> list[Any]:
        """Run the subgraph.

        Args:
            context: the feeds and the variables.
            recorder: receives the statistics of each node, or None.

        Returns:
            The fetched values.

        Raises:
            ValueError, FailedPreconditionError: if a kernel fails; the message names the node.
        """
        if recorder is not None or self.threads > 1:
            values = self._run_in_steps(context, recorder)
        else:
            values = self._run_plainly(context)
        fetched = [values[slot] for slot in self._fetches]
        return [value.read() if type(value) is VariableRef else value for value in fetched]

    def _run_plainly(self, context: OpKernelContext) -> list[Any]:
        """Run on one thread without recording; this loop is the whole overhead of a graph."""
        values: list[Any] = [None] * len(self._uses)
        pending, uses, items = self._pending.copy(), self._uses.copy(), self.items
        ready = deque(self._roots)
        item = None
        try:
            with np.errstate(all="ignore"):
                while ready:
                    item = items[ready.popleft()]
                    inputs = [values[slot] for slot in item.inputs]
                    if item.takes_refs:
                        inputs = _dereference(inputs, item)
                    result = item.compute(context, *inputs)
                    if item.outputs == 1:
                        if uses[item.first_output]:
                            values[item.first_output] = result
                    elif item.outputs:
                        _store(values, uses, item, result)
                    for slot in item.inputs:
                        uses[slot] -= 1
                        if not uses[slot]:
                            values[slot] = None
                    for follower in item.followers:
                        pending[follower] -= 1
                        if not pending[follower]:
                            ready.append(follower)
        except Exception as error:
            raise _with_node(error, item) from error
        return values

    def _run_in_steps(self, context: OpKernelContext, recorder: Recorder | None) -> list[Any]:
        """Run with threads for expensive nodes, and report every step to ``recorder``.

        Only this thread accesses the queue and the values; other threads only compute. The results are
        therefore those of `_run_plainly` for any number of threads.
        """
        values: list[Any] = [None] * len(self._uses)
        pending, uses = self._pending.copy(), self._uses.copy()
        ready, running = deque(self._roots), 0
        finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        failed: list[tuple[int, BaseException]] = []
        while (ready and not failed) or running:
            if ready and not failed:
                index = ready.popleft()
                item = self.items[index]
                inputs = [values[slot] for slot in item.inputs]
                step = _Step(item, index, inputs, context, recorder, finished)
                alone = not ready and not running
                if self.threads > running + 1 and not alone and _worth_a_thread(item, inputs):
                    _pool(self.threads, os.getpid()).submit(contextvars.copy_context().run, step)
                    running += 1
                    continue
                step()
            else:
                running -= 1
            index, result, error = finished.get()
            item = self.items[index]
            if error is not None:
                failed.append((index, error))
                continue
            _store(values, uses, item, (result,) if item.outputs == 1 else result, recorder)
            for slot in item.inputs:
                uses[slot] -= 1
                if not uses[slot]:
                    if recorder is not None:
                        recorder.freed(values[slot])
                    values[slot] = None
            for follower in item.followers:
                pending[follower] -= 1
                if not pending[follower]:
                    ready.append(follower)
        if failed:
            index, error = min(failed, key=lambda pair: pair[0])
            raise _with_node(error, self.items[index]) from error
        return values


class _Step:
    """One node with its inputs, ready to be computed by any thread."""

    __slots__ = ("args", "context", "finished", "index", "inputs", "item", "recorder")

    def __init__(
        self,
        item: Item,
        index: int,
        inputs: list[Any],
        context: OpKernelContext,
        recorder: Recorder | None,
        finished: SimpleQueue[tuple[int, Any, BaseException | None]],
    ):
        self.item, self.index, self.inputs, self.context = item, index, inputs, context
        self.recorder, self.finished = recorder, finished

    def __call__(self) -> None:
        try:
            with np.errstate(all="ignore"):
                inputs = self.inputs
                if self.item.takes_refs:
                    inputs = _dereference(inputs, self.item)
                if self.recorder is None:
                    result = self.item.compute(self.context, *inputs)
                else:
                    result = self.recorder.compute(self.item, self.context, inputs)
        except BaseException as error:  # the waiting thread must receive any exception
            self.finished.put((self.index, None, error))
        else:
            self.finished.put((self.index, result, None))


def _dereference(inputs: list[Any], item: Item) -> list[Any]:
    return [
        value if takes or type(value) is not VariableRef else value.read()
        for value, takes in zip(inputs, item.takes_refs, strict=True)
    ]


def _store(
    values: list[Any], uses: list[int], item: Item, results: Any, recorder: Recorder | None = None
) -> None:
    for slot, result in enumerate(results, item.first_output):
        if uses[slot]:
            values[slot] = result
            if recorder is not None:
                recorder.stored(result)


def _worth_a_thread(item: Item, inputs: list[Any]) -> bool:
    return item.expensive and sum(value.nbytes for value in inputs) >= _BYTES_FOR_A_THREAD


@lru_cache(maxsize=8)
def _pool(threads: int, pid: int) -> ThreadPoolExecutor:
    """Return the thread pool of this process for a number of threads; a fork does not inherit threads."""
    return ThreadPoolExecutor(threads - 1, "teachconv-executor")


def _variable_order(nodes: list[NodeDef]) -> list[tuple[str, str]]:
    """Return edges that order the accesses to each variable as in the program, the order of ``nodes``.

    TensorFlow 1 does not define that order unless the program adds control dependencies; TensorFlow 2 adds
    them as this function does (python/framework/auto_control_deps.py).
    """
    refs: dict[str, str] = {}  # node that returns a reference -> the variable
    last_write: dict[str, str] = {}
    reads: dict[str, list[str]] = {}
    edges: list[tuple[str, str]] = []
    for node in nodes:
        if node.op == "Variable":
            refs[node.name] = node.name
            continue
        touched = [refs[name] for name, _ in node.inputs if name in refs]
        written = touched[0] if node.op == "Assign" else None
        for variable in dict.fromkeys(touched):
            if variable in last_write:
                edges.append((last_write[variable], node.name))
            if variable == written:
                edges += [(reader, node.name) for reader in reads.pop(variable, [])]
                last_write[variable], refs[node.name] = node.name, variable
            else:
                reads.setdefault(variable, []).append(node.name)
    return edges


def _with_node(error: BaseException, item: Item | None) -> BaseException:
    """Return the error with the node's name and the line of the program that created the node."""
    if item is None:
        return error
    node = item.node
    where = f"node {node.name!r} ({node.op}, made at {node.file}:{node.line})"
    if isinstance(error, FailedPreconditionError):
        return FailedPreconditionError(f"{where}: {error}")
    if isinstance(error, (ArgumentError, ArgumentTypeError, ValueError, TypeError)):
        return InvalidArgumentError(f"{where}: {error}")
    error.add_note(f"in {where}")
    return error
