"""The kernels that print and check, and how they write tensors as text.

TensorFlow: core/kernels/logging_ops.cc and string_format_op.cc; core/framework/tensor.cc, SummarizeValue.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..framework.errors import InvalidArgumentError
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel

__all__ = ["summarized"]


class _Text(OpKernel):
    def text(self, tensors: Any) -> str:
        """Return the template with the tensors in the places of its placeholders."""
        attrs = self.node.attrs
        first, *rest = attrs["template"].split(attrs["placeholder"])
        parts = zip(tensors, rest, strict=True)
        return first + "".join(summarized(tensor, attrs["summarize"]) + part for tensor, part in parts)


@register_kernel("Assert")
class AssertOp(_Text):
    """Fails unless the condition holds."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return nothing; raise `InvalidArgumentError` if the first input is False."""
        condition, *data = inputs
        if not condition:
            raise InvalidArgumentError(f"assertion failed: {self.text(data)}")
        return ()


@register_kernel("PrintV2")
class PrintOp(_Text):
    """Writes a line."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Write to the stream that has the name now, so that a redirected one is found."""
        stream = getattr(sys, self.node.attrs["output_stream"])
        print(self.text(inputs), end=self.node.attrs["end"], file=stream, flush=True)
        return ()


def summarized(array: Any, summarize: int = 3) -> str:
    """Return an array as TensorFlow prints it: the first and last entries of each axis.

    Args:
        array: the array.
        summarize: how many at each end; -1 for all.

    Returns:
        The text.

    >>> import numpy as np
    >>> print(summarized(np.arange(32).reshape(4, 8)))
    [[0 1 2 ... 5 6 7]
     [8 9 10 ... 13 14 15]
     [16 17 18 ... 21 22 23]
     [24 25 26 ... 29 30 31]]
    """
    return _summarized(np.asarray(array), summarize, 1)


def _summarized(array: np.ndarray, summarize: int, depth: int) -> str:
    if not array.ndim:
        return _number(array)
    parts = list(array)
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    if summarize >= 0 and 2 * summarize < len(parts):
        head, tail = parts[:summarize], parts[len(parts) - summarize :]
        texts = [_summarized(part, summarize, depth + 1) for part in (*head, *tail)]
        texts.insert(summarize, "...")
    else:
        texts = [_summarized(part, summarize, depth + 1) for part in parts]
    return "[" + between.join(texts) + "]"


def _number(value: Any) -> str:
    """Return a number: with the digits that every decimal survives or, if they are too few, with all."""
    if value.dtype.kind in "iub":
        return str(int(value))  # 1 and 0 for True and False, as in TensorFlow
    short, full = (15, 17) if value.dtype == np.float64 else (6, 9)
    number = float(value)
    brief = f"{number:.{short}g}"
    return brief if value.dtype.type(brief) == value or number != number else f"{number:.{full}g}"
