"""Kernels, which compute an op on one kind of device, and the kernel registry.

TensorFlow: core/framework/op_kernel.h, where REGISTER_KERNEL_BUILDER fills the registry and an
OpKernel has Compute(). A kernel is looked up by (op, device, label). For the convolution ops the label is
the name of a teachconv backend; "" is the default backend.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .errors import FailedPreconditionError, InvalidArgumentError
from .node_def import NodeDef

__all__ = ["KERNELS", "KernelDef", "OpKernel", "OpKernelContext", "find_kernel", "register_kernel"]


class VariableRef:
    """A reference to a variable, passed along reference edges instead of a value."""

    __slots__ = ("dtype", "name", "nbytes", "shape")

    def __init__(self, name: str, shape: Any, dtype: np.dtype[Any]):
        self.name, self.shape, self.dtype, self.nbytes = name, shape, dtype, 0


class OpKernelContext:
    """The state of a run that kernels can access besides their inputs: the feeds and the variables."""

    __slots__ = ("changed", "feeds", "variables")

    def __init__(self, variables: Mapping[str, np.ndarray], feeds: Sequence[np.ndarray] = ()):
        self.variables, self.feeds = dict(variables), feeds
        self.changed: dict[str, np.ndarray] = {}  # stored by the session only if the whole run succeeds

    def read(self, ref: VariableRef) -> np.ndarray:
        """Return the current value of a variable; raise `FailedPreconditionError` if it has none."""
        try:
            return self.variables[ref.name]
        except KeyError:
            raise FailedPreconditionError(
                f"variable {ref.name!r} has no value yet: run its initializer first, or all of them: "
                "session.run(global_variables_initializer())"
            ) from None

    def assign(self, ref: VariableRef, value: np.ndarray) -> None:
        """Set the value of a variable to a read-only copy; raise ``ValueError`` if shape or dtype differ."""
        if value.dtype != ref.dtype or (
            ref.shape is not None
            and (
                len(ref.shape) != value.ndim
                or any(a not in (None, b) for a, b in zip(ref.shape, value.shape, strict=True))
            )
        ):
            raise InvalidArgumentError(
                f"variable {ref.name!r} has shape {ref.shape} and dtype {ref.dtype.name}; it cannot take a "
                f"value of shape {value.shape} and dtype {value.dtype.name}"
            )
        value = np.array(value, order="C")
        value.flags.writeable = False
        self.variables[ref.name] = self.changed[ref.name] = value


class OpKernel:
    """Computes one node. It is created once and called in each run, possibly by several threads.

    A kernel stores data derived from the attributes, but no state of a run.

    Attributes:
        node: the node's definition.
        label: the label under which the kernel was found.
        is_expensive: whether running it on another thread may pay off.
        backend_function: the function of the backend contract that it calls, or None.
    """

    is_expensive = False
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
        device: the kind of device, "CPU".
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


KERNELS: dict[tuple[str, str, str], KernelDef] = {}

_K = TypeVar("_K", bound=type[OpKernel])


def register_kernel(op: str, device: str = "CPU", *labels: str) -> Callable[[_K], _K]:
    """Decorate a kernel class to register it.

    Args:
        op: the op's name.
        device: the kind of device.
        *labels: the labels; by default "".

    Returns:
        The decorator.

    Raises:
        ValueError: if a kernel is already registered for the same op, device and label.
    """

    def register(kernel: _K) -> _K:
        line = inspect.getsourcelines(kernel)[1]
        for label in labels or ("",):
            key = (op, device, label)
            if key in KERNELS:
                raise InvalidArgumentError(f"a kernel is registered already for {key}: {KERNELS[key].kernel}")
            KERNELS[key] = KernelDef(op, device, label, kernel, inspect.getfile(kernel), line)
        return kernel

    return register


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
    if own is None:
        key = (node.op, device, default_label)
        if key not in KERNELS:
            key = (node.op, device, "")
    else:
        key = (node.op, device, own)
    if key in KERNELS:
        return KERNELS[key]
    have = [f"({d}, {label or 'default'})" for op, d, label in KERNELS if op == node.op]
    raise InvalidArgumentError(
        f"no kernel for op {node.op} on {device}" + (f" with label {own!r}" if own else "") + f" (node "
        f"{node.name!r}); available: {', '.join(have) or 'none'}"
    )


def has_kernel(op: str, device: str) -> bool:
    """Return whether an op has a kernel for a kind of device."""
    return any(key[0] == op and key[1] == device for key in KERNELS)
