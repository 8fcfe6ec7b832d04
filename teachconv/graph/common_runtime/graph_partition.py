"""Splits a placed graph into one partition per device, joined by pairs of _Send and _Recv nodes.

TensorFlow: core/graph/graph_partition.cc. Nodes of different devices share no edge: the value goes through
the rendezvous of the run (core/framework/rendezvous.h), under a key that both nodes of the pair know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..framework.config import DeviceSpec
from ..framework.eager_tensor import frozen
from ..framework.node_def import NodeDef, Nodes, Subgraph, TensorName, before, sorted_nodes
from ..framework.op_def import get_op_def

CLIENT = "/device:CPU:0"  # whose memory the program reads and feeds from


class Transfer(NamedTuple):
    """A pair of nodes that brings a value from one device to another.

    Attributes:
        value: the tensor, (node name, output index); the index is -1 for a control dependency.
        send: the _Send node, on the device of the value.
        recv: the _Recv node, on the other device.
    """

    value: TensorName
    send: NodeDef
    recv: NodeDef

    def __str__(self) -> str:
        what = self.value[0] if self.value[1] >= 0 else f"^{self.value[0]}"
        return f"{what} from {self.send.device} to {self.recv.device} ({self.send.name} -> {self.recv.name})"


def partition(subgraph: Subgraph) -> tuple[dict[str, Nodes], list[Transfer], list[TensorName]]:
    """Split a subgraph by device.

    Args:
        subgraph: a subgraph whose nodes have devices.

    Returns:
        The nodes by name for each device; the pairs that join them, one for each value and receiving device;
        and where the fetches are: what a GPU computes comes to the first CPU, for the client.
    """
    partitions: dict[str, Nodes] = {}
    pairs: dict[tuple[str, int, str], Transfer] = {}

    def on(device: str, name: str, index: int) -> TensorName:
        """Where an output of a node is on a device: at the node itself, or at the _Recv of a pair."""
        source = subgraph.nodes[name]
        if source.device == device:
            return name, index
        return _pair(source, index, device, pairs, partitions).recv.name, 0

    for node in sorted_nodes(subgraph.nodes):
        if any(subgraph.nodes[name].device != node.device for name in before(node)):
            inputs = tuple(on(node.device, *value) for value in node.inputs)
            control = dict.fromkeys(on(node.device, name, -1)[0] for name in node.control_inputs)
            node = replace(node, inputs=inputs, control_inputs=tuple(control))
        partitions.setdefault(node.device, {})[node.name] = node
    fetches: list[TensorName] = []
    for name, index in subgraph.fetches:
        device = subgraph.nodes[name].device
        is_on_gpu = DeviceSpec.from_string(device).device_type == "GPU"
        fetches.append(on(CLIENT if is_on_gpu else device, name, index))
    return partitions, list(pairs.values()), fetches


def _pair(
    source: NodeDef,
    index: int,
    device: str,
    pairs: dict[tuple[str, int, str], Transfer],
    partitions: dict[str, Nodes],
) -> Transfer:
    """Return the pair that brings an output to a device; add its nodes if necessary."""
    key = (source.name, index, device)
    if key not in pairs:
        value = source.name, index
        dtype = np.dtype("float32") if index < 0 else get_op_def(source.op).output_dtypes(source.attrs)[index]
        if index < 0:  # a control dependency: a dummy value that waits for the node is sent
            attrs = {"value": frozen(np.zeros(0, dtype)), "dtype": dtype}
            dummy = replace(
                source,
                name=f"{source.name}/_ctrl_{len(pairs)}",
                op="Const",
                inputs=(),
                control_inputs=(source.name,),
                attrs=attrs,
            )
            partitions.setdefault(source.device, {})[dummy.name] = dummy
            value = dummy.name, 0
        edge = {
            "tensor_name": f"edge_{len(pairs)}_{source.name}",
            "send_device": source.device,
            "recv_device": device,
        }
        send = replace(
            source,
            name=f"{source.name}/_{2 * len(pairs) + 1}",
            op="_Send",
            inputs=(value,),
            control_inputs=(),
            attrs={"T": dtype, **edge},
        )
        recv = replace(
            send,
            name=f"{source.name}/_{2 * len(pairs) + 2}",
            op="_Recv",
            inputs=(),
            attrs={"tensor_type": send.attrs["T"], **edge},
            device=device,
        )
        partitions.setdefault(source.device, {})[send.name] = send
        partitions.setdefault(device, {})[recv.name] = recv
        pairs[key] = Transfer((source.name, index), send, recv)
    return pairs[key]
