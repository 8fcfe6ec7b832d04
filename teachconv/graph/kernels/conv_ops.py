"""Conv2D, Conv3D and related ops: each kernel passes a resolved call to one function of one backend.

TensorFlow: core/kernels/conv_ops.cc, conv_grad_input_ops.cc, conv_grad_filter_ops.cc, depthwise_conv_op.cc,
conv_ops_3d.cc and conv_ops_fused_impl.h. In TensorFlow a template parameter selects Eigen, oneDNN or cuDNN;
here the label of the kernel names the backend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import backends
from ...core.arguments import normalize_padding, normalize_steps
from ...core.kinds import ROLES, Op
from ...running import dispatch
from ..core_ops.common_shape_fns import padding_argument
from ..core_ops.nn_ops import CONVOLUTIONS
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel

_LABELS = ("", *backends.TABLE)  # "" is the default backend: cython unless use_backend says otherwise


class ConvolutionOp(OpKernel):
    """Computes an op that convolves, reads its attributes once, and calls the backend.

    Attributes:
        op: what it is in teachconv: which of the three arrays of a convolution it computes, of which rank.
    """

    op: Op

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        attrs, layout = node.attrs, node.attrs["data_format"]
        mode, pads = normalize_padding(padding_argument(attrs), layout)
        self.windows = (
            normalize_steps(list(attrs["strides"]), "strides", layout),
            pads if mode == "EXPLICIT" else mode,
            layout,
            normalize_steps(list(attrs["dilations"]), "dilations", layout),
        )

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the output for input and filter; of a gradient, one of these two."""
        given = dict(zip(ROLES, inputs, strict=False))
        sizes = given.pop(self.op.kind.result).tolist() if self.op.is_gradient else None
        return self.run(given, None, sizes)

    def run(
        self, arrays: dict[str, Any], bias: Any, sizes: Any = None, activation: str | None = None
    ) -> np.ndarray:
        """Run the call as `teachconv.conv2d` does, on the backend."""
        first, second = (arrays[role] for role in (self.op.kind.first, self.op.kind.second))
        options = (self.label or None, None, None)
        return dispatch.compute(
            self.op, first, second, (*self.windows, sizes), options, bias, activation=activation
        )


for _name, _op in CONVOLUTIONS.items():
    _facts = {"op": _op, "backend_function": _op.kind.name, "__doc__": f"Computes {_name}."}
    _kernel = type(f"{_name}Op", (ConvolutionOp,), _facts)
    register_kernel(_name, "CPU", *_LABELS)(_kernel)


@register_kernel("_FusedConv2D", "CPU", *_LABELS)
class FusedConv2DOp(ConvolutionOp):
    """Computes Conv2D, BiasAdd and optionally Relu with one call to a backend's ``conv2d``."""

    op = CONVOLUTIONS["Conv2D"]
    backend_function = "conv2d"

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the output for input, filter and bias, which the backend's epilogue applies."""
        input, filter, bias = inputs
        activation = "relu" if self.node.attrs["fused_ops"][1:] == ("Relu",) else None
        return self.run({"input": input, "filters": filter}, bias, None, activation)
