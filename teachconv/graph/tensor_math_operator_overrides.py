"""Says which function each operator of a tensor calls.

TensorFlow: python/ops/tensor_math_operator_overrides.py.
"""

from . import cwise_ops, gen_nn_ops
from .operators import OVERRIDES
from .tensor_getitem_override import slice_helper

__all__: list[str] = []

OVERRIDES.update(
    {
        "add": gen_nn_ops.add,
        "sub": gen_nn_ops.sub,
        "mul": gen_nn_ops.mul,
        "matmul": gen_nn_ops.mat_mul,
        "truediv": cwise_ops.truediv,
        "floordiv": cwise_ops.floordiv,
        "mod": cwise_ops.floormod,
        "pow": cwise_ops.pow,
        "Greater": cwise_ops.greater,
        "GreaterEqual": cwise_ops.greater_equal,
        "Less": cwise_ops.less,
        "LessEqual": cwise_ops.less_equal,
        "Equal": cwise_ops.equal,
        "NotEqual": cwise_ops.not_equal,
        "Neg": cwise_ops.negative,
        "Abs": cwise_ops.abs,
        "strided_slice": slice_helper,
    }
)
