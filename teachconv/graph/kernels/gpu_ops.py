"""The kernels of the device "GPU": convolution on the cupy backend, and what surrounds it.

TensorFlow: the registrations with DEVICE_GPU in core/kernels/. The convolution kernels are those of
conv_ops, because an array on a GPU takes them to the cupy backend, where TensorFlow calls cuDNN. All other
ops have no kernel on a GPU here; the placer leaves them on the CPU.
"""

from __future__ import annotations

from typing import Any

from ...support.devices import array_module, to_host
from ..core_ops.nn_ops import CONVOLUTIONS
from ..framework.config import DeviceSpec
from ..framework.op_kernel import KERNELS, OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import register_function
from . import array_ops, conv_ops, cwise_ops, nn_ops, state_ops  # noqa: F401  (register what the GPU has, too)

for _name in (*CONVOLUTIONS, "_FusedConv2D"):
    register_kernel(_name, "GPU", "", "cupy")(KERNELS[_name, "CPU", ""].kernel)
for _name in ("Identity", "ReadVariableOp", "Variable", "Assign", "NoOp", "BiasAdd"):
    register_kernel(_name, "GPU")(KERNELS[_name, "CPU", ""].kernel)


def to_gpu(array: Any, device: str) -> Any:
    """Return an array in the memory of a GPU, such as "/device:GPU:0"; copied if necessary."""
    import cupy

    index = DeviceSpec.from_string(device).device_index or 0
    if isinstance(array, cupy.ndarray) and array.device.id == index:
        return array
    with cupy.cuda.Device(index):
        return cupy.asarray(to_host(array))


@register_function("_Recv", device="GPU", name="GpuRecvOp")
def _recv(*, context: OpKernelContext, tensor_name: str, recv_device: str) -> Any:
    """Return a value from the rendezvous in the memory of a GPU."""
    return to_gpu(context.rendezvous.pop(tensor_name), recv_device)


@register_kernel("Const", "GPU")
class GpuConstantOp(OpKernel):
    """Returns the attribute ``value``, which it copies to the GPU once."""

    value: Any = None

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the same array in each run."""
        if self.value is None:
            self.value = to_gpu(self.node.attrs["value"], self.node.device)
        return self.value


@register_function("Relu", device="GPU", name="GpuReluOp")
def _relu(features: Any) -> Any:
    """Return max(features, 0); NaN stays NaN."""
    return array_module(features).maximum(features, 0)
