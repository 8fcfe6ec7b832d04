"""Ops that tell or check something while a graph runs. TensorFlow: core/ops/logging_ops.cc.

There are no tensors of strings here, so the text is an attribute, with a placeholder for each tensor.
TensorFlow prints with two nodes: StringFormat makes the text, and PrintV2 writes it.
"""

from __future__ import annotations

from ...errors import ArgumentError
from ..framework.op_def import register_op
from ..framework.shape_inference import InferenceContext
from ..framework.tensor_shape import StaticShape, text
from .common_shape_fns import no_outputs

__all__: list[str] = []

_TEXT = ("T: list(type)", "template: string", "placeholder: string = '{}'", "summarize: int = 3")


def assert_shape(c: InferenceContext) -> list[StaticShape]:
    """Return no shapes; check that the condition is a scalar."""
    if c.shapes[0]:
        raise ArgumentError(f"condition of {c.op} must be a scalar; got shape {text(c.shapes[0])}")
    return []


register_op(
    "Assert",
    inputs=["condition: bool", "data: T"],
    attrs=_TEXT,
    shape_fn=assert_shape,
    summary="Fails with the text unless the condition holds.",
    is_stateful=True,
)
register_op(
    "PrintV2",
    inputs=["inputs: T"],
    attrs=[*_TEXT, "output_stream: {'stderr', 'stdout'} = 'stderr'", "end: string"],
    shape_fn=no_outputs,
    summary="Writes the text to a stream.",
    is_stateful=True,
)
