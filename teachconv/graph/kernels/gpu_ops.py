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
from ..framework.op_kernel import KERNELS, OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import register_function
from . import array_ops, conv_ops, state_ops  # noqa: F401  (register what the GPU has, too)

__all__ = ["to_gpu"]

for _name in (
    "Conv2D",
    "_FusedConv2D",
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2dNative",
):
    register_kernel(_name, "GPU", "", "cupy")(KERNELS[_name, "CPU", "", ()].kernel)
for _name in ("Identity", "Variable", "Assign", "NoOp"):
    register_kernel(_name, "GPU")(KERNELS[_name, "CPU", "", ()].kernel)


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


@register_function("BiasAdd", device="GPU", name="GpuBiasOp")
def _bias_add(value: Any, bias: Any, *, data_format: str) -> Any:
    """Return value + bias, a number for each channel."""
    if data_format == "NCHW":
        bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
    return array_module(value).add(value, bias)


@register_function("Relu", device="GPU", name="GpuReluOp")
def _relu(features: Any) -> Any:
    """Return max(features, 0); NaN stays NaN."""
    return array_module(features).maximum(features, 0)
