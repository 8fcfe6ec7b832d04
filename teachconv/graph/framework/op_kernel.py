"""Kernels, which compute an op on one kind of device, the kernel registry, and the locks of variables.

TensorFlow: core/framework/op_kernel.h, where REGISTER_KERNEL_BUILDER fills the registry and an OpKernel has
Compute(). A kernel is looked up by (op, device, label). For the convolution ops the label is the name
of a teachconv backend; "" is the default backend. Resource variables and functions have a mutex each in
TensorFlow; here there is one for all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import RLock
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from ...support.devices import is_on_device
from ...support.errors import brief
from .errors import FailedPreconditionError, InvalidArgumentError
from .node_def import NodeDef
from .tensor_shape import StaticShape, is_compatible, text

# Locks that one thread may take several times, ``with TRACING.lock``; new ones in a forked child. Each is one
# for all functions or variables: two threads that take two of them would wait for each other.
TRACING = SimpleNamespace(lock=RLock())  # held while a function is traced or its gradient is built
# held from reading a variable's value to replacing it by one computed from it
UPDATING = SimpleNamespace(lock=RLock())


def _renew_locks() -> None:
    """A thread that held one at the moment of a fork does not exist in the child, so cannot release it."""
    TRACING.lock, UPDATING.lock = RLock(), RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


# ops that compute nothing: logs of what a program computes leave them out
SILENT = (
    *("Const", "Identity", "NoOp", "Placeholder", "ReadVariableOp", "Shape", "ShapeN", "Variable"),
    *("VariableV2", "_Arg", "_Recv", "_Send"),
)


class VariableRef:
    """A variable's storage, which kernels receive along reference edges instead of a value.

    Attributes:
        name: the variable's name.
        shape: its static shape; every value must be compatible with it.
        dtype: its dtype.
        value: the value, a read-only array, or None before the first assignment.
    """

    __slots__ = ("dtype", "name", "nbytes", "shape", "value")

    def __init__(self, name: str, shape: StaticShape, dtype: np.dtype[Any]):
        self.name, self.shape, self.dtype, self.nbytes = name, shape, dtype, 0
        self.value: np.ndarray | None = None

    def read(self) -> np.ndarray:
        """Return the current value; raise `FailedPreconditionError` if there is none."""
        if self.value is None:
            raise FailedPreconditionError(
                f"variable {brief(self.name)} has no value yet: run its initializer first, or all of them: "
                "session.run(global_variables_initializer())"
            )
        return self.value

    def assign(self, value: np.ndarray) -> None:
        """Replace the value; raise ``ValueError`` if shape or dtype differ. The array becomes read-only."""
        if value.dtype != self.dtype or not is_compatible(self.shape, value.shape):
            raise InvalidArgumentError(
                f"variable {brief(self.name)} has shape {text(self.shape)} and dtype {self.dtype.name}; it "
                f"cannot take a value of shape {text(value.shape)} and dtype {value.dtype.name}"
            )
        if not is_on_device(value):
            if type(value) is not np.ndarray or value.base is not None or not value.flags.c_contiguous:
                value = np.array(value, order="C")  # a view, perhaps of memory that the caller owns
            value.flags.writeable = False
        with UPDATING.lock:
            self.value = value


class OpKernelContext:
    """The state of a run that kernels can access besides their inputs.

    Attributes:
        variables: the variables by the name of their node.
        feeds: the values that were fed.
        config: the configuration of the session, which functions that a kernel calls run with; or None.
        recorder: what receives the statistics of nodes, or None.
        rendezvous: the values on their way from one device to another, by key.
        resources: what kernels keep for later runs of the session or function, by the node's name, such as
            generators of random numbers; None where there is no later run.
    """

    __slots__ = ("config", "feeds", "recorder", "rendezvous", "resources", "variables")

    def __init__(
        self, variables: dict[str, VariableRef], feeds: Sequence[np.ndarray] = (), config: Any = None
    ):
        self.variables, self.feeds, self.config = variables, feeds, config
        self.recorder: Any = None
        self.rendezvous: dict[str, Any] = {}
        self.resources: dict[str, Any] | None = None


class OpKernel:
    """Computes one node. It is created once and called in each run, possibly by several threads.

    A kernel stores data derived from the attributes, but no state of a run.

    Attributes:
        node: the node's definition.
        label: the label under which the kernel was found.
        backend_function: the function of the backend contract that it calls, or None.
    """

    backend_function: str | None = None

    def __init__(self, node: NodeDef, label: str = ""):
        self.node, self.label = node, label

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Compute the node.

        Args:
            context: the feeds and the variables of the run.
            *inputs: one array or `VariableRef` per input.

        Returns:
            The output, or a tuple unless there is exactly one.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class KernelDef:
    """One entry of the registry.

    Attributes:
        op: the op's name.
        device: the kind of device: "CPU" or "GPU".
        label: the label; "" is the default.
        kernel: the kernel's class.
        file: the source file of the class.
        line: the line in that file.
    """

    op: str
    device: str
    label: str
    kernel: type[OpKernel]
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.kernel.__name__} ({self.op}, {self.device}, {self.label or 'default'})"


KERNELS: dict[tuple[str, str, str], KernelDef] = {}  # by op, device and label

_K = TypeVar("_K", bound=type[OpKernel])


def register_kernel(
    op: str,
    device: str = "CPU",
    *labels: str,
    place: tuple[str, int] | None = None,
) -> Callable[[_K], _K]:
    """Decorate a kernel class to register it.

    Args:
        op: the op's name.
        device: the kind of device.
        *labels: the labels; by default "".
        place: file and line of what computes it; None for those of the decorator.

    Returns:
        The decorator.

    Raises:
        ValueError: if a kernel is already registered for the same op, device and label.
    """

    def register(kernel: _K) -> _K:
        caller = sys._getframe(1)  # the frame that applies the decorator
        file, line = place or (caller.f_code.co_filename, caller.f_lineno)
        for label in labels or ("",):
            if (op, device, label) in KERNELS:
                raise InvalidArgumentError(f"a kernel is registered already: {KERNELS[op, device, label]}")
            KERNELS[op, device, label] = KernelDef(op, device, label, kernel, file, line)
            _LABELLED.add((op, label))
        return kernel

    return register


_LABELLED: set[tuple[str, str]] = set()


def find_kernel(node: NodeDef, device: str, default_label: str = "") -> KernelDef:
    """Return the kernel for a node on a kind of device.

    Args:
        node: the node. If it has a label of its own (attribute ``_kernel``), there must be a kernel for it.
        device: the kind of device, such as "CPU".
        default_label: the label for nodes without one; ignored for ops that have no kernel with it.

    Returns:
        The registry entry.

    Raises:
        ValueError: if there is no kernel; the message lists the kernels of the op.

    >>> from teachconv.graph.kernels import KERNELS
    >>> print(KERNELS["Conv2D", "CPU", "numpy"])
    Conv2DOp (Conv2D, CPU, numpy)
    """
    own = node.attrs.get("_kernel")
    for label in (default_label, "") if own is None else (own,):
        if isinstance(label, str) and (node.op, device, label) in KERNELS:
            return KERNELS[node.op, device, label]
    have = [str(definition).partition(" ")[2] for (op, *_), definition in KERNELS.items() if op == node.op]
    raise InvalidArgumentError(
        f"no kernel for op {node.op} on {device}"
        + (f" with label {brief(own)}" if own is not None else "")
        + f" (node {brief(node.name)}); available: {', '.join(have) or 'none'}"
    )


def has_kernel(node: NodeDef, device: str, default_label: str = "") -> bool:
    """Return whether a kind of device has a kernel for a node.

    Args:
        node: the node. If it has a label of its own, the device must have a kernel with that label.
        device: the kind of device.
        default_label: the label for nodes without one; ignored for ops that have no kernel with it anywhere.

    Returns:
        Whether there is one.
    """
    label = node.attrs.get("_kernel", default_label if (node.op, default_label) in _LABELLED else "")
    return isinstance(label, str) and (node.op, device, label) in KERNELS
