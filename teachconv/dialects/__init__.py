"""The other frameworks' convolutions, and what comes between them, under their own signatures.

::

    tc.dialects.torch    conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d,
                         conv2d_input, conv2d_weight, pad, batch_norm,
                         max_pool1d, max_pool2d, max_pool3d, avg_pool1d, avg_pool2d, avg_pool3d,
                         adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,
                         adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d,
                         interpolate, pixel_shuffle, pixel_unshuffle, fold, unfold
    tc.dialects.onnx     conv, conv_transpose, pad, max_pool, average_pool, batch_normalization,
                         resize, depth_to_space, space_to_depth
    tc.dialects.jax      conv_general_dilated, conv_transpose, pad, reduce_window, resize
    tc.dialects.keras    conv, conv_transpose, pad, max_pool, average_pool, batch_normalization, resize,
                         adaptive_average_pool, adaptive_max_pool

No framework needs to be installed. Arguments, layouts, results and errors are the framework's;
`teachconv.trace`, `teachconv.explain`, `teachconv.diff`, `teachconv.resolve` and `teachconv.translate` take
these functions like teachconv's own.
"""

from functools import partial
from types import ModuleType
from typing import Any

from ..support.errors import no_attribute
from . import jax, keras, onnx, tensorflow, torch

__all__ = ["jax", "keras", "onnx", "tensorflow", "torch"]


def _unknown_name(module: ModuleType, name: str) -> Any:
    """Module `__getattr__`: raise ``AttributeError`` with a suggestion."""
    raise no_attribute(module.__name__, name, module.__all__)


for _module in (jax, keras, onnx, tensorflow, torch):
    vars(_module)["__getattr__"] = partial(_unknown_name, _module)
    vars(_module)["__path__"] = []  # so that `from` shows the message: errors.py
