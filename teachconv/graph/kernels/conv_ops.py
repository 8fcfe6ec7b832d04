"""Conv2D and related ops: each kernel passes a resolved call to one function of one backend.

TensorFlow: core/kernels/conv_ops.cc, conv_grad_input_ops.cc, conv_grad_filter_ops.cc,
depthwise_conv_op.cc and conv_ops_fused_impl.h. In TensorFlow a template parameter selects Eigen, oneDNN or
cuDNN; here the label of the kernel names the backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import backends, dispatch, nn_ops
from ...arguments import normalize_padding, normalize_steps
from ..core_ops.common_shape_fns import all_input_sizes, padding_argument
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel

_LABELS = ("", *backends.TABLE)  # "" is the default backend: cython unless use_backend says otherwise


class _WindowKernel(OpKernel):
    """The common part of the five kernels: reads the attributes once, and calls the backend."""

    public_op: Callable[..., np.ndarray]
    activation: str | None = None

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        attrs = node.attrs
        self.data_format = attrs["data_format"]
        self.windows = (
            normalize_steps(list(attrs["strides"]), "strides", self.data_format),
            _pads(attrs, self.data_format),
            self.data_format,
            normalize_steps(list(attrs["dilations"]), "dilations", self.data_format),
        )
        self.resolve = nn_ops.RESOLVERS[type(self).public_op]

    def run(self, *arguments: Any, **more: Any) -> np.ndarray:
        """Resolve the call as `teachconv.nn_ops` does, and run it on the backend."""
        strides, padding, data_format, dilations = self.windows
        names = type(self).argument_names
        call = self.resolve(
            **dict(zip(names, arguments, strict=True)),
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            **more,
        )
        result = dispatch.run_canonical(call, self.label or None, activation=self.activation)
        return call.to_caller(result)

    argument_names: tuple[str, ...] = ()


def _pads(attrs: Any, data_format: str) -> Any:
    mode, pads = normalize_padding(padding_argument(attrs), data_format)
    return pads if mode == "EXPLICIT" else mode


@register_kernel("Conv2D", "CPU", *_LABELS)
class Conv2DOp(_WindowKernel):
    """Computes Conv2D with a backend's ``conv2d``."""

    backend_function = "conv2d"
    public_op = nn_ops.conv2d
    argument_names = ("input", "filters", "bias")

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the output for input and filter, and for a bias, which the backend's epilogue applies."""
        input, filter, *bias = inputs
        return self.run(input, filter, *bias or [None])


@register_kernel("_FusedConv2D", "CPU", *_LABELS)
class FusedConv2DOp(Conv2DOp):
    """Computes Conv2D, BiasAdd and optionally Relu with one call to a backend's ``conv2d``."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.activation = "relu" if node.attrs["fused_ops"][1:] == ("Relu",) else None


@register_kernel("Conv2DBackpropInput", "CPU", *_LABELS)
class Conv2DBackpropInputOp(_WindowKernel):
    """Computes Conv2DBackpropInput, which is conv2d_transpose, with a backend's ``conv2d_backprop_input``."""

    backend_function = "conv2d_backprop_input"
    public_op = nn_ops.conv2d_backprop_input
    argument_names = ("input_sizes", "filters", "out_backprop")

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient for input_sizes, filter and out_backprop."""
        sizes, filter, out_backprop = inputs
        sizes = sizes.tolist()
        if len(sizes) == 2:
            sizes = all_input_sizes(sizes, len(out_backprop), filter.shape[2], self.data_format)
        return self.run(sizes, filter, out_backprop)


@register_kernel("Conv2DBackpropFilter", "CPU", *_LABELS)
class Conv2DBackpropFilterOp(_WindowKernel):
    """Computes Conv2DBackpropFilter with a backend's ``conv2d_backprop_filter``."""

    backend_function = "conv2d_backprop_filter"
    public_op = nn_ops.conv2d_backprop_filter
    argument_names = ("input", "filter_sizes", "out_backprop")

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient for input, filter_sizes and out_backprop."""
        input, sizes, out_backprop = inputs
        return self.run(input, sizes.tolist(), out_backprop)


@register_kernel("DepthwiseConv2dNative", "CPU", *_LABELS)
class DepthwiseConv2dNativeOp(Conv2DOp):
    """Computes DepthwiseConv2dNative with a backend's ``conv2d`` and one group per channel."""

    public_op = nn_ops.depthwise_conv2d


@register_kernel("DepthwiseConv2dNativeBackpropInput", "CPU", *_LABELS)
class DepthwiseConv2dNativeBackpropInputOp(Conv2DBackpropInputOp):
    """Computes DepthwiseConv2dNativeBackpropInput: one group per channel."""

    public_op = nn_ops.depthwise_conv2d_backprop_input


@register_kernel("DepthwiseConv2dNativeBackpropFilter", "CPU", *_LABELS)
class DepthwiseConv2dNativeBackpropFilterOp(Conv2DBackpropFilterOp):
    """Computes DepthwiseConv2dNativeBackpropFilter: one group per channel."""

    public_op = nn_ops.depthwise_conv2d_backprop_filter
