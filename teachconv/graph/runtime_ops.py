"""Registers the ops that the runtime itself puts into graphs: between partitions, and for functions.

TensorFlow: core/ops/sendrecv_ops.cc and functional_ops.cc.
"""

from __future__ import annotations

from .common_shape_fns import InferenceContext
from .op_def import register_op
from .tensor_shape import StaticShape

__all__: list[str] = []


def unknown_shape(c: InferenceContext) -> list[StaticShape]:
    """Return one unknown shape."""
    return [None]


def no_outputs(c: InferenceContext) -> list[StaticShape]:
    """Return no shapes."""
    return []


_EDGE = ("tensor_name: string", "send_device: string", "recv_device: string")

register_op(
    "_Send",
    inputs=["tensor: T"],
    attrs=["T: type", *_EDGE],
    shape_fn=no_outputs,
    summary="Leaves a value at the rendezvous, for a partition on another device.",
    is_stateful=True,
)
register_op(
    "_Recv",
    outputs=["tensor: tensor_type"],
    attrs=["tensor_type: type", *_EDGE],
    shape_fn=unknown_shape,
    summary="Takes a value from the rendezvous to the memory of its device.",
    is_stateful=True,
)
