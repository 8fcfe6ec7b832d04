"""Chooses a device for each node. TensorFlow: core/common_runtime/placer.cc and colocation_graph.cc.

Explicit requests (``with graph.device("/cpu:1")``) are respected. Every
node that uses a reference to a variable runs where the variable is. A missing device is an error or, with
``allow_soft_placement``, a reported reason for choosing another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ... import backends
from ...support.errors import brief
from ..framework.config import DeviceSpec
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef, Nodes
from ..framework.op_def import get_op_def
from ..framework.op_kernel import find_kernel, has_kernel


@dataclass(frozen=True, slots=True)
class Placement:
    """The device of a node.

    Attributes:
        device: the name of the device.
        reason: why it was chosen.
        soft: whether the node requested another device.
    """

    device: str
    reason: str
    soft: bool = False


def place(
    nodes: Nodes, devices: Sequence[DeviceSpec], allow_soft_placement: bool, label: str = ""
) -> tuple[Nodes, dict[str, Placement]]:
    """Choose a device for every node of a graph, whether or not a run needs it.

    Args:
        nodes: the nodes by name.
        devices: the devices that exist, the preferred ones first.
        allow_soft_placement: whether a node may run on another device than it requests.
        label: the kernel label of the run (the backend).

    Returns:
        The nodes with devices, and the placement by node name.

    Raises:
        ValueError: if a device does not exist, or nodes that must share one request different devices.
    """
    placements: dict[str, Placement] = {}
    for members in _groups(nodes):
        wanted, asker = _merged(members)
        placement = _choose(members, wanted, asker, devices, allow_soft_placement, label)
        for node in members:
            reason = placement.reason
            if node is not asker and len(members) > 1 and asker is not None:
                reason = f"together with {brief(asker.name)}: {reason}"
            placements[node.name] = replace(placement, reason=reason)
    placed = {name: replace(node, device=placements[name].device) for name, node in nodes.items()}
    return placed, placements


def _groups(nodes: Nodes) -> list[list[NodeDef]]:
    """Group the nodes that must share a device because of reference edges."""
    parent = {name: name for name in nodes}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]  # path halving keeps long chains cheap
            name = parent[name]
        return name

    for node in nodes.values():
        op_def = get_op_def(node.op)
        for arg, (name, _) in zip(op_def.flat(op_def.inputs, node.attrs), node.inputs, strict=True):
            if arg.is_ref:
                parent[root(node.name)] = root(name)
    groups: dict[str, list[NodeDef]] = {}
    for name, node in nodes.items():
        groups.setdefault(root(name), []).append(node)
    return list(groups.values())


def _merged(members: list[NodeDef]) -> tuple[DeviceSpec, NodeDef | None]:
    """Return the combined request of the members, and the first member that makes one."""
    spec, asker = DeviceSpec(), None
    asking = [node for node in members if node.device]
    for node in sorted(asking, key=lambda node: node.number):
        own = DeviceSpec.from_string(node.device)
        if not spec.agrees(own) and asker is not None:
            raise InvalidArgumentError(
                f"{brief(node.name)} asks for {own} and {brief(asker.name)} for {spec}, but they must share "
                "a device: one uses the variable of the other"
            )
        spec, asker = spec.merge(own), asker or node
    return spec, asker


def _choose(
    members: list[NodeDef],
    wanted: DeviceSpec,
    asker: NodeDef | None,
    devices: Sequence[DeviceSpec],
    allow_soft_placement: bool,
    label: str,
) -> Placement:
    usable = [
        device
        for device in devices
        if all(has_kernel(node, device.device_type or "", label) for node in members)
    ]
    for node in members:
        if not any(has_kernel(node, device.device_type or "", label) for device in devices):
            find_kernel(node, devices[-1].device_type or "", label)  # raises, and lists the kernels there are
    if not usable:
        names = ", ".join(f"{node.name} ({node.op})" for node in members[:4])
        raise InvalidArgumentError(f"no device here has kernels for {names}; available: {_names(devices)}")
    for device in usable:
        if wanted.agrees(device):
            asked = "the first device with a kernel" if asker is None else f"asked for {wanted}"
            return Placement(str(device), asked)
    assert asker is not None
    if any(map(wanted.agrees, devices)):
        ops = ", ".join(dict.fromkeys(node.op for node in members))
        why = f"which has no kernel for {ops}; usable: {_names(usable)}"
    else:
        no_gpu = backends.why_not("cupy") if wanted.device_type == "GPU" else None
        why = f"which does not exist; available: {_names(devices)}" + (f" ({no_gpu})" if no_gpu else "")
    if not allow_soft_placement:
        raise InvalidArgumentError(
            f"{brief(asker.name)} (made at {asker.file}:{asker.line}) asks for {wanted}, {why}. Request one "
            "of these, or let the session choose: ConfigProto(allow_soft_placement=True)"
        )
    reason = f"soft placement: asked for {wanted}, {why.partition(';')[0]}"
    return Placement(str(usable[0]), reason, soft=True)


def _names(devices: Sequence[DeviceSpec]) -> str:
    return ", ".join(map(str, devices))
