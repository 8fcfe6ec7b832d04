"""Chooses a device for each node. TensorFlow: core/common_runtime/placer.cc and colocation_graph.cc.

What is asked for (``with graph.device("/cpu:1")``) holds, and nodes that belong together are placed
together: whatever touches a variable's reference is where the variable is. A device that is not there
is an error or, with ``allow_soft_placement``, a reason that is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .device_spec import DeviceSpec
from .errors import InvalidArgumentError
from .node_def import NodeDef, Nodes, Plan
from .op_def import get_op_def
from .op_kernel import has_kernel

__all__ = ["Placement", "insert_copies", "place"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a node runs, and why there; ``soft`` where it had asked for something else."""

    device: str
    reason: str
    soft: bool = False


def place(
    plan: Plan, devices: Sequence[DeviceSpec], allow_soft_placement: bool
) -> tuple[Plan, dict[str, Placement]]:
    """Return the plan with a device on every node, and the reasons by node.

    Raises ``ValueError`` where a device is not there, or where nodes that belong together ask for
    different ones.
    """
    placements: dict[str, Placement] = {}
    for members in _groups(plan.nodes):
        wanted, asker = _merged(members)
        placement = _choose(members, wanted, asker, devices, allow_soft_placement)
        for node in members:
            reason = placement.reason
            if node is not asker and len(members) > 1 and asker is not None:
                reason = f"together with {asker.name!r}: {reason}"
            placements[node.name] = replace(placement, reason=reason)
    nodes = {name: replace(node, device=placements[name].device) for name, node in plan.nodes.items()}
    return replace(plan, nodes=nodes), placements


def _groups(nodes: Nodes) -> list[list[NodeDef]]:
    """The nodes that have to share a device: joined by reference edges or by ``colocate_with``."""
    parent = {name: name for name in nodes}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]  # halves the path, so that long chains stay cheap
            name = parent[name]
        return name

    for node in nodes.values():
        partners = [] if node.colocated_with not in nodes else [node.colocated_with]
        for arg, (name, _) in zip(get_op_def(node.op).inputs, node.inputs, strict=True):
            if arg.is_ref:
                partners.append(name)
        for partner in partners:
            parent[root(node.name)] = root(str(partner))
    groups: dict[str, list[NodeDef]] = {}
    for name, node in nodes.items():
        groups.setdefault(root(name), []).append(node)
    return list(groups.values())


def _merged(members: list[NodeDef]) -> tuple[DeviceSpec, NodeDef | None]:
    """What the members ask for together, and the first of them that asks for anything."""
    spec, asker = DeviceSpec(), None
    for node in sorted(members, key=lambda node: node.number):
        own = DeviceSpec.from_string(node.device)
        if own == DeviceSpec():
            continue
        if not spec.agrees(own) and asker is not None:
            raise InvalidArgumentError(
                f"{node.name!r} asks for {own} and {asker.name!r} for {spec}, but they have to share a "
                "device: one holds the variable, or its colocation, of the other"
            )
        spec, asker = spec.merge(own), asker or node
    return spec, asker


def _choose(
    members: list[NodeDef],
    wanted: DeviceSpec,
    asker: NodeDef | None,
    devices: Sequence[DeviceSpec],
    allow_soft_placement: bool,
) -> Placement:
    usable = [
        device for device in devices if all(has_kernel(node.op, device.device_type or "") for node in members)
    ]
    if not usable:
        names = ", ".join(f"{node.name} ({node.op})" for node in members[:4])
        raise InvalidArgumentError(f"no device here has kernels for {names}; there is {_names(devices)}")
    for device in usable:
        if wanted.agrees(device):
            asked = "the first device that has a kernel" if asker is None else f"asked for {wanted}"
            return Placement(str(device), asked)
    assert asker is not None
    if not allow_soft_placement:
        raise InvalidArgumentError(
            f"{asker.name!r} (made at {asker.file}:{asker.line}) asks for {wanted}, which is not there; "
            f"there is {_names(devices)}. Ask for one of them, or let the session choose: "
            "ConfigProto(allow_soft_placement=True)"
        )
    reason = f"soft placement: asked for {wanted}, which is not there"
    return Placement(str(usable[0]), reason, soft=True)


def _names(devices: Sequence[DeviceSpec]) -> str:
    return ", ".join(map(str, devices))


def insert_copies(plan: Plan) -> tuple[Plan, list[NodeDef]]:
    """Return the plan with a _Copy on every edge between devices, one for each value and device.

    TensorFlow: core/graph/graph_partition.cc, which cuts the edge into _Send and _Recv.
    """
    nodes: Nodes = {}
    copies: dict[tuple[str, int, str], NodeDef] = {}
    for node in plan.nodes.values():
        inputs = []
        for name, index in node.inputs:
            source = plan.nodes[name]
            if source.device == node.device:
                inputs.append((name, index))
                continue
            key = (name, index, node.device)
            if key not in copies:
                short = node.device.removeprefix("/device:").lower().replace(":", "_")
                copies[key] = NodeDef(
                    f"{name}/_copy{index}_to_{short}",
                    "_Copy",
                    ((name, index),),
                    (),
                    {},
                    node.device,
                    source.number,
                    source.file,
                    source.line,
                )
            inputs.append((copies[key].name, 0))
        nodes[node.name] = replace(node, inputs=tuple(inputs))
    nodes |= {copy.name: copy for copy in copies.values()}
    return replace(plan, nodes=nodes), list(copies.values())
