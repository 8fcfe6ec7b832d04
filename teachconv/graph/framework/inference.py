"""A kernel that applies its op's shape function to the inputs of the run.

It checks what could not be known when the node was created, because a size was unknown then, and returns the
shapes of the outputs. TensorFlow's kernels repeat these checks in C++, by OP_REQUIRES.
"""

from __future__ import annotations

from typing import Any

from ..core_ops.common_shape_fns import InferenceContext
from .op_def import get_op_def
from .op_def_library import check_size
from .op_kernel import OpKernel

__all__ = ["InferringKernel"]


class InferringKernel(OpKernel):
    """The base of kernels whose result's shape depends on values, or whose inputs must fit each other."""

    def infer(self, *inputs: Any) -> Any:
        """Return the shapes of the outputs for these inputs.

        Raises:
            ValueError: if the inputs do not fit.
            MemoryError: if an output would be larger than this machine's memory.
        """
        op_def, attrs = get_op_def(self.node.op), self.node.attrs
        context = InferenceContext(op_def.name, [array.shape for array in inputs], inputs, attrs)
        shapes = op_def.shape_fn(context)
        check_size(op_def, attrs, shapes)
        return shapes
