"""The other frameworks' convolutions under their own signatures, all computed by teachconv's index law.

    tc.dialects.torch    conv2d, conv_transpose2d, conv2d_input, conv2d_weight, pad
    tc.dialects.onnx     conv, conv_transpose
    tc.dialects.jax      conv_general_dilated, conv_transpose
    tc.dialects.keras    conv, conv_transpose

No framework needs to be installed. Arguments, layouts, results and errors are the framework's;
`teachconv.trace`, `explain`, `diff`, `resolve` and `translate` take these functions like teachconv's own.
"""

from . import jax, keras, onnx, tensorflow, torch

__all__ = ["jax", "keras", "onnx", "tensorflow", "torch"]
