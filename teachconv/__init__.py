"""teachconv: the convolution library to learn from and to check against.

TensorFlow's conv2d, transposed convolution and gradients as readable Python beside fast backends,
under one API, so that one can trace what a call does, explain each number and diff each backend.

>>> import numpy as np, teachconv as tc
>>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
>>> w = np.ones((3, 3, 1, 1), "float32")
>>> tc.conv2d(x, w, strides=2, padding="SAME")[0, :, :, 0].tolist()
[[45.0, 39.0], [66.0, 50.0]]
"""

from typing import TYPE_CHECKING, Any

from . import backends
from .core.geometry import (
    Conv2DGeometry,
    Conv2DTransposeGeometry,
    ConvGeometry,
    ConvTransposeGeometry,
    conv2d_geometry,
    conv2d_transpose_geometry,
    conv_geometry,
    conv_transpose_geometry,
)
from .core.law import AxisGeometry
from .running.default_backend import set_backend, use_backend
from .running.nn_ops import (
    conv1d,
    conv1d_backprop_filter,
    conv1d_backprop_input,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    conv3d_backprop_filter,
    conv3d_backprop_input,
    conv3d_transpose,
    conv_matrix,
    conv_transpose,
    convolution,
    convolution_backprop_filter,
    convolution_backprop_input,
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
)
from .support.errors import ArgumentError, ArgumentTypeError, BackendUnavailable, ContractError, no_attribute
from .support.settings import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from . import arrays, dialects, quantized
    from .dialects.onnx_export import to_onnx
    from .explorer import Explorer, Playground, explore, playground
    from .inspection import plotting as plot
    from .inspection.explaining import Explanation, Tap, explain
    from .inspection.receptive import ReceptiveField, receptive_field
    from .inspection.sources import SourceChain, find_source
    from .inspection.tracing import Trace, trace
    from .networks.comparing.models import Comparison, compare
    from .networks.comparing.parting import LayerRow
    from .networks.comparing.ranking import QuantizedComparison, QuantizedLayer
    from .networks.handing import translate
    from .running.planning import Plan, plan
    from .running.streaming import Stream, stream
    from .running.tuning import autotune
    from .translation.filters import convert_filters
    from .translation.onnx_models import OnnxModel, OnnxNode, onnx_model
    from .translation.translating import Translation, resolve
    from .verification.contract import check_backend
    from .verification.diagnosing import Diagnosis
    from .verification.diffing import diff
    from .verification.gradients import GradientReport, GradientRow, check_gradients
    from .verification.reports import DiffReport, DiffRow
    from .windows.normalization import batch_normalization, fold_batch_norm
    from .windows.padding import pad
    from .windows.pooling import avg_pool, avg_pool_grad, max_pool, max_pool_grad
    from .windows.resizing import depth_to_space, resize, space_to_depth

__version__ = "0.2.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AxisGeometry",
    "BackendUnavailable",
    "Comparison",
    "ContractError",
    "Conv2DGeometry",
    "Conv2DTransposeGeometry",
    "ConvGeometry",
    "ConvTransposeGeometry",
    "Diagnosis",
    "DiffReport",
    "DiffRow",
    "Explanation",
    "Explorer",
    "GradientReport",
    "GradientRow",
    "LayerRow",
    "OnnxModel",
    "OnnxNode",
    "Plan",
    "Playground",
    "QuantizedComparison",
    "QuantizedLayer",
    "ReceptiveField",
    "SourceChain",
    "Stream",
    "Tap",
    "Trace",
    "Translation",
    "arrays",
    "autotune",
    "avg_pool",
    "avg_pool_grad",
    "backends",
    "batch_normalization",
    "check_backend",
    "check_gradients",
    "compare",
    "conv1d",
    "conv1d_backprop_filter",
    "conv1d_backprop_input",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_geometry",
    "conv2d_transpose",
    "conv2d_transpose_geometry",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_input",
    "conv3d_transpose",
    "conv_geometry",
    "conv_matrix",
    "conv_transpose",
    "conv_transpose_geometry",
    "convert_filters",
    "convolution",
    "convolution_backprop_filter",
    "convolution_backprop_input",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dialects",
    "diff",
    "explain",
    "explore",
    "find_source",
    "fold_batch_norm",
    "get_num_threads",
    "max_pool",
    "max_pool_grad",
    "onnx_model",
    "pad",
    "plan",
    "playground",
    "plot",
    "quantized",
    "receptive_field",
    "resize",
    "resolve",
    "set_backend",
    "set_num_threads",
    "space_to_depth",
    "stream",
    "to_onnx",
    "trace",
    "translate",
    "use_backend",
]

# modules that users' programs import, and where they are
_MODULES = {
    "argument_types": "support.argument_types",
    "arrays": "arrays",
    "dialects": "dialects",
    "dtypes": "core.dtypes",
    "errors": "support.errors",
    "graph": "graph",
    "keras": "keras",
    "kinds": "core.kinds",
    "nn_ops": "running.nn_ops",
    "plot": "inspection.plotting",
    "quantized": "quantized",
}
_NAMES = {
    "networks.comparing.models": ("Comparison", "compare"),
    "networks.comparing.parting": ("LayerRow",),
    "networks.comparing.ranking": ("QuantizedComparison", "QuantizedLayer"),
    "dialects.onnx_export": ("to_onnx",),
    "explorer": ("Explorer", "explore", "Playground", "playground"),
    "graph": ("function",),
    "inspection.explaining": ("Explanation", "Tap", "explain"),
    "inspection.receptive": ("ReceptiveField", "receptive_field"),
    "inspection.sources": ("SourceChain", "find_source"),
    "inspection.tracing": ("Trace", "trace"),
    "running.planning": ("Plan", "plan"),
    "running.streaming": ("Stream", "stream"),
    "running.tuning": ("autotune",),
    "translation.filters": ("convert_filters",),
    "translation.onnx_models": ("OnnxModel", "OnnxNode", "onnx_model"),
    "networks.handing": ("translate",),
    "translation.translating": ("Translation", "resolve"),
    "verification.contract": ("check_backend",),
    "verification.diagnosing": ("Diagnosis",),
    "verification.diffing": ("diff",),
    "verification.reports": ("DiffReport", "DiffRow"),
    "verification.gradients": ("GradientReport", "GradientRow", "check_gradients"),
    "windows.normalization": ("batch_normalization", "fold_batch_norm"),
    "windows.padding": ("pad",),
    "windows.pooling": ("avg_pool", "avg_pool_grad", "max_pool", "max_pool_grad"),
    "windows.resizing": ("depth_to_space", "resize", "space_to_depth"),
}
_LATER = _MODULES | {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # else every name would seem to be there

    def __getattr__(name: str) -> Any:
        """Import the larger parts at their first use, so that `import teachconv` stays fast."""
        if name not in _LATER:
            raise no_attribute(__name__, name, __dir__())
        from importlib import import_module

        module = import_module(f".{_LATER[name]}", __name__)
        value = module if name in _MODULES else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, "__version__"})
