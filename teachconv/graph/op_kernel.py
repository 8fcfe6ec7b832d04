"""Kernels: what computes an op on one kind of device, and the registry that finds them.

TensorFlow: core/framework/op_kernel.h, where REGISTER_KERNEL_BUILDER fills the registry and an
OpKernel has Compute(). A kernel is found by (op, device, label); among the kernels of the convolution
ops the label chooses a backend of teachconv, and "" is the default backend.
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
    """What flows along a reference edge: which variable, not its value."""

    __slots__ = ("dtype", "name", "nbytes", "shape")

    def __init__(self, name: str, shape: Any, dtype: np.dtype[Any]):
        self.name, self.shape, self.dtype, self.nbytes = name, shape, dtype, 0


class OpKernelContext:
    """What a kernel can reach in a run besides its inputs: what was fed, and the variables as they are."""

    __slots__ = ("changed", "feeds", "variables")

    def __init__(self, variables: Mapping[str, np.ndarray], feeds: Sequence[np.ndarray] = ()):
        self.variables, self.feeds = dict(variables), feeds
        self.changed: dict[str, np.ndarray] = {}  # kept by the session only where the whole run succeeds

    def read(self, ref: VariableRef) -> np.ndarray:
        """The variable's value at this moment of the run."""
        try:
            return self.variables[ref.name]
        except KeyError:
            raise FailedPreconditionError(
                f"variable {ref.name!r} has no value yet: run its initializer first, or all of them: "
                "session.run(global_variables_initializer())"
            ) from None

    def assign(self, ref: VariableRef, value: np.ndarray) -> None:
        """Give the variable a value of its own, a copy that nobody writes to."""
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
    """Computes one node; made once for it, and then called in each run, perhaps by several threads.

    A kernel keeps what follows from the attributes and nothing that follows from a run.
    ``is_expensive`` says that it may be worth a thread. ``backend_function`` names the function of the
    backend contract that it calls, if any.
    """

    is_expensive = False
    backend_function: str | None = None

    def __init__(self, node: NodeDef, label: str = ""):
        self.node, self.label = node, label

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the node's output (a tuple where there are several) for these inputs."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class KernelDef:
    """One entry of the registry; ``file`` and ``line`` are those of the kernel's class."""

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
    """Decorator of a kernel's class: registers it for an op, a kind of device and labels (default "")."""

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
    """Return the kernel for a node on a kind of device ("CPU"), or raise and list what there is.

    The node's own label (attribute ``_kernel``) must exist; ``default_label`` holds for the ops that
    have a kernel of that label.

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
        f"{node.name!r}); there is {', '.join(have) or 'none at all'}"
    )


def has_kernel(op: str, device: str) -> bool:
    """Whether any kernel of an op runs on a kind of device."""
    return any(key[0] == op and key[1] == device for key in KERNELS)
