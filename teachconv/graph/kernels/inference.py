"""A kernel that applies its op's shape function to the inputs of the run.

It checks what could not be known when the node was created, because a size was unknown then, and returns the
shapes of the outputs. TensorFlow's kernels repeat these checks in C++, by OP_REQUIRES.
"""

from __future__ import annotations

from typing import Any

from ..common_shape_fns import InferenceContext
from ..op_def import get_op_def
from ..op_kernel import OpKernel

__all__ = ["InferringKernel"]


class InferringKernel(OpKernel):
    """The base of kernels whose result's shape depends on values, or whose inputs must fit each other."""

    def infer(self, *inputs: Any) -> Any:
        """Return the shapes of the outputs for these inputs; raise ``ValueError`` if they do not fit."""
        op, attrs = self.node.op, self.node.attrs
        shapes = [array.shape for array in inputs]
        return get_op_def(op).shape_fn(InferenceContext(op, shapes, inputs, attrs))
