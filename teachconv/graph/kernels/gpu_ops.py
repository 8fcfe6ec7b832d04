"""The kernels of the device "GPU": convolution on the cupy backend, and what surrounds it.

TensorFlow: the registrations with DEVICE_GPU in core/kernels/. The convolution kernels are those of
conv_ops, because an array on a GPU takes them to the cupy backend, where TensorFlow calls cuDNN. All other
ops have no kernel on a GPU here; the placer leaves them on the CPU.
"""

from __future__ import annotations

from typing import Any

from ...devices import array_module, to_host
from ..framework.config import DeviceSpec
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from . import array_ops, conv_ops, state_ops

__all__ = ["to_gpu"]

for _name, _kernel in (
    ("Conv2D", conv_ops.Conv2DOp),
    ("_FusedConv2D", conv_ops.FusedConv2DOp),
    ("Conv2DBackpropInput", conv_ops.Conv2DBackpropInputOp),
    ("Conv2DBackpropFilter", conv_ops.Conv2DBackpropFilterOp),
    ("DepthwiseConv2dNative", conv_ops.DepthwiseConv2dNativeOp),
):
    register_kernel(_name, "GPU", "", "cupy")(_kernel)
register_kernel("Identity", "GPU")(array_ops.IdentityOp)
register_kernel("Variable", "GPU")(state_ops.VariableOp)
register_kernel("Assign", "GPU")(state_ops.AssignOp)
register_kernel("NoOp", "GPU")(state_ops.NoOp)


def to_gpu(array: Any, index: int) -> Any:
    """Return an array in the memory of a GPU; a copy, unless it is there already."""
    import cupy

    if isinstance(array, cupy.ndarray) and array.device.id == index:
        return array
    with cupy.cuda.Device(index):
        return cupy.asarray(to_host(array))


class _OnGpu(OpKernel):
    """The common part of kernels that make arrays on the node's GPU."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.index = DeviceSpec.from_string(node.device).device_index or 0

    def to_device(self, array: Any) -> Any:
        """Return an array in the memory of the node's GPU."""
        return to_gpu(array, self.index)


@register_kernel("_Recv", "GPU")
class GpuRecvOp(_OnGpu):
    """Takes a value from the rendezvous to the memory of a GPU."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a copy on the GPU."""
        return self.to_device(context.rendezvous.pop(self.node.attrs["tensor_name"]))


@register_kernel("Const", "GPU")
class GpuConstantOp(_OnGpu):
    """Returns the attribute ``value``, which it copies to the GPU once."""

    value: Any = None

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the same array in each run."""
        if self.value is None:
            self.value = self.to_device(self.node.attrs["value"])
        return self.value


@register_kernel("BiasAdd", "GPU")
class GpuBiasOp(OpKernel):
    """Adds a bias to each channel."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return value + bias."""
        value, bias = inputs
        if self.node.attrs["data_format"] == "NCHW":
            bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
        return array_module(value).add(value, bias)


@register_kernel("Relu", "GPU")
class GpuReluOp(OpKernel):
    """Computes max(features, 0); NaN stays NaN."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result element-wise."""
        return array_module(inputs[0]).maximum(inputs[0], 0)
