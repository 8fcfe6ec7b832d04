"""PyTorch's tensors: NumPy and PyTorch share the memory, and autograd records the ops.

A tensor that requires a gradient or has a tangent takes its call over: the call becomes a node of PyTorch's
graph, `Convolution`, whose backward pass calls our gradient ops, and whose forward-mode derivative calls the
op again. These calls are recorded in turn, which gives derivatives of any order.

PyTorch: torch/autograd/function.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from ..core.arguments import as_array
from ..core.dtypes import FLOATS, INTEGERS, to_dtype
from ..dialects.calls import FUNCTIONS
from ..support.devices import adapter_of, device_array
from ..support.errors import ArgumentTypeError, no_attribute, plain
from . import dialect_calls, gradient_rules
from .array_api import ArrayApi

__all__ = ["Convolution"]  # noqa: F822 (made where it is first asked for)


class Torch(ArrayApi):
    """Tensors on the CPU and on a GPU."""

    name = "torch"
    writable = True
    cast = r".to(torch.\2)"

    def knows(self, cls: type) -> bool:
        """Return whether it is a class of tensors, such as torch.nn.Parameter; not torch.Size."""
        return issubclass(cls, _torch().Tensor)

    def takes_over(self, value: Any) -> bool:
        """Return whether autograd records what is done with the tensor, or torch.func transforms it."""
        torch, functorch = _torch(), _torch()._C._functorch
        return (
            functorch.is_functorch_wrapped_tensor(value)
            or functorch.is_legacy_batchedtensor(value)
            or (value.requires_grad and torch.is_grad_enabled())
            or torch.autograd.forward_ad.unpack_dual(value).tangent is not None
        )

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run an op, as a node of autograd's graph where a derivative is recorded."""
        tensors = [item for item in arguments.values() if adapter_of(item) is self]
        if not any(map(self.takes_over, tensors)):
            return super().call(value, op, arguments)
        if any(map(_torch()._C._functorch.is_legacy_batchedtensor, tensors)):
            raise ArgumentTypeError(
                f"{op.__name__} takes no tensors that torch.autograd batches, as is_grads_batched=True and "
                "vectorize=True do: use torch.func.vmap, torch.func.jacrev or torch.func.jacfwd"
            )
        if op in FUNCTIONS and op not in gradient_rules.ARRAYS:
            tensor = partial(self._tensor, like=value)
            return dialect_calls.run(op, arguments, tensor, _torch().permute, _torch().flip)
        gradient_rules.check(op, arguments, "call it on tensor.detach()")
        names = [name for name in gradient_rules.ARRAYS[op] if arguments[name] is not None]
        arrays = [self._tensor(arguments[name], name, value) for name in names]
        rest = {
            name: arguments[name]
            for name in inspect.signature(op).parameters
            if name not in names and name != "out"
        }
        return _function().apply(op, rest, tuple(names), *arrays)

    def _tensor(self, value: Any, name: str, like: Any) -> Any:
        """Return an array argument as a tensor: autograd wants all of them to be."""
        return value if adapter_of(value) is self else self.from_array(as_array(value, name, None), like)

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Return the tensor as a NumPy array on the same memory, or a CuPy array if it is on a GPU."""
        if self.takes_over(value):
            raise ArgumentTypeError(
                f"{name} requires a gradient, has a tangent or is transformed by torch.func, and PyTorch "
                f"would not see what is done here: {name}.detach()"
            )
        return self._array(value.detach(), name)

    def to_host(self, value: Any) -> np.ndarray:
        """Return the values as a NumPy array, also those of a tensor that requires a gradient."""
        return self._array(value.detach() if value.is_meta else value.detach().cpu(), "tensor")

    def _array(self, value: Any, name: str) -> np.ndarray:
        torch = _torch()
        if str(value.dtype).removeprefix("torch.") not in FLOATS + INTEGERS:
            help_ = f"{name}.real and {name}.imag" if value.is_complex() else f"{name}.to(torch.float32)"
            raise ArgumentTypeError(
                f"{name} must have dtype {', '.join(FLOATS + INTEGERS)}; got {value.dtype}: {help_}"
            )
        if value.layout != torch.strided:
            raise ArgumentTypeError(
                f"{name} must be a dense tensor; got layout {value.layout}: {name}.to_dense()"
            )
        if value.device.type not in ("cpu", "cuda"):
            help_ = f"torch.ones_like({name}, device='cpu')" if value.is_meta else f"{name}.cpu()"
            raise ArgumentTypeError(
                f"{name} must be in the memory of the CPU or of an NVIDIA GPU; got one on "
                f"{value.device}: {help_}"
            )
        if (reason := _why_unread(value)) is not None:
            raise ArgumentTypeError(f"{name} must be a tensor whose numbers can be read now; got {reason}")
        if value.device.type == "cuda":
            return device_array(value, name)
        value = value.resolve_neg()  # a copy for a view that negates, which no other library knows
        if value._is_zerotensor():  # a tangent of zeros that takes no memory
            value = value.clone()
        try:
            if value.dtype == torch.bfloat16:  # DLPack has the type, NumPy does not
                return np.from_dlpack(value.view(torch.int16)).view(to_dtype("bfloat16"))
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError) as error:
            raise ArgumentTypeError(
                f"{name} must be a tensor of numbers that NumPy can read; got {value.dtype}: {plain(error)}"
            ) from error

    def from_array(self, result: np.ndarray, like: Any) -> Any:
        """Return a result as a tensor on the same memory."""
        torch = _torch()
        if isinstance(result, np.ndarray) and result.dtype.name == "bfloat16":
            return torch.from_dlpack(result.view(np.int16)).view(torch.bfloat16)
        return torch.from_dlpack(result)


def _torch() -> Any:
    return import_module("torch")


def _why_unread(value: Any) -> str | None:
    """Return why the numbers of a tensor are missing or must not be read; None if they can be.

    DLPack makes an array of whatever the memory holds of a tensor that has none.
    """
    bits = _torch()._C
    if bits._is_tracing() or bits._get_dispatch_mode(bits._TorchDispatchModeKey.PROXY) is not None:
        return (
            "one while PyTorch traces (make_fx, torch.jit.trace), which would keep the result as a constant"
        )
    if value._is_zerotensor() or not value.numel():
        return None
    try:
        lies = value.data_ptr() != 0
    except RuntimeError:
        lies = False
    kind = type(value).__qualname__
    return (
        None if lies else f"a {kind} without memory of its own, such as stands for a tensor in torch.export"
    )


@lru_cache(maxsize=1)
def _function() -> Any:
    """Return the class `Convolution`; PyTorch is imported here."""
    base: Any = _torch().autograd.Function

    class Convolution(base):
        """One op of teachconv as a node of autograd's graph.

        ``Convolution.apply(op, rest, names, *tensors)`` runs ``op`` with the tensors under their ``names``
        and the other arguments in ``rest``. A call of an op with a tensor that requires a gradient does so.
        """

        @staticmethod
        def forward(op: Any, rest: Mapping[str, Any], names: tuple[str, ...], *tensors: Any) -> Any:
            """Run the op."""
            return op(**rest, **dict(zip(names, (tensor.detach() for tensor in tensors), strict=True)))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            """Keep what the derivatives need."""
            ctx.op, ctx.rest, ctx.names, *tensors = inputs
            ctx.shape = output.shape
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            ctx.set_materialize_grads(False)  # None for a tensor without a tangent, and not zeros

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
            """Return the gradients in the tensors, by the ops that compute them."""
            if gradient is None:
                return (None,) * len(ctx.needs_input_grad)
            arguments = {**ctx.rest, **dict(zip(ctx.names, ctx.saved_tensors, strict=True))}
            wanted = [
                name for name, needed in zip(ctx.names, ctx.needs_input_grad[3:], strict=True) if needed
            ]
            found = gradient_rules.gradients(ctx.op, arguments, gradient, wanted)
            return None, None, None, *(found.get(name) for name in ctx.names)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            """Return the tangent of the result, by the op itself."""
            arguments = {**ctx.rest, **dict(zip(ctx.names, ctx.saved_tensors, strict=True))}
            given = zip(ctx.names, tangents[3:], strict=True)
            moved = {name: tangent for name, tangent in given if tangent is not None}
            return gradient_rules.tangent(ctx.op, arguments, moved).expand(ctx.shape)

        @staticmethod
        def vmap(info: Any, in_dims: Any, op: Any, rest: Any, names: Any, *tensors: Any) -> tuple[Any, int]:
            """Run the op once for each place along the axis that torch.func.vmap maps."""
            found = [
                op(**rest, **{
                    name: tensor if axis is None else tensor.select(axis, place)
                    for name, tensor, axis in zip(names, tensors, in_dims[3:], strict=True)
                })
                for place in range(info.batch_size)
            ]  # fmt: skip
            return _torch().stack(found), 0

    Convolution.__module__, Convolution.__qualname__ = __name__, "Convolution"
    return Convolution


def __getattr__(name: str) -> Any:
    if name == "Convolution":
        return _function()
    raise no_attribute(__name__, name, __all__)


ADAPTER = Torch()
