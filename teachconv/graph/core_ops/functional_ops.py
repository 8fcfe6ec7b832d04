"""What the runtime itself puts into graphs: pairs between partitions, calls of functions.

TensorFlow: core/ops/sendrecv_ops.cc and functional_ops.cc.
"""

from __future__ import annotations

from typing import Any

from ..framework.op_def import define_op
from ..framework.shape_inference import InferenceContext
from ..framework.tensor_shape import StaticShape
from .common_shape_fns import no_outputs


def unknown_shape(c: InferenceContext) -> list[StaticShape]:
    """Return one unknown shape."""
    return [None]


_EDGE = ("tensor_name: string", "send_device: string", "recv_device: string")


def call_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the static shapes of the function's outputs."""
    return c.attrs["f"].output_shapes


_CALL: dict[str, Any] = {
    "inputs": ["args: Tin", "variables: Ref(Tvariables)"],
    "outputs": ["output: Tout"],
    "attrs": ["Tin: list(type)", "Tvariables: list(type)", "Tout: list(type)", "f: func"],
    "shape_fn": call_shape,
}

OP_DEFS = (
    define_op(
        "_Send",
        inputs=["tensor: T"],
        attrs=["T: type", *_EDGE],
        shape_fn=no_outputs,
        summary="Leaves a value at the rendezvous, for a partition on another device.",
        is_stateful=True,
    ),
    define_op(
        "_Recv",
        outputs=["tensor: tensor_type"],
        attrs=["tensor_type: type", *_EDGE],
        shape_fn=unknown_shape,
        summary="Takes a value from the rendezvous to the memory of its device.",
        is_stateful=True,
    ),
    define_op("PartitionedCall", **_CALL, summary="Calls a function."),
    define_op(
        "StatefulPartitionedCall",
        **_CALL,
        summary="Calls a function that changes variables.",
        is_stateful=True,
    ),
)
