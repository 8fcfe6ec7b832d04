"""How a session runs: which optimisers, which devices, how many threads, which backend.

TensorFlow: core/protobuf/config.proto and rewriter_config.proto, flattened into one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .. import backends
from ..arguments import integer
from ..errors import ArgumentError
from ..settings import get_num_threads
from .device_spec import DeviceSpec

__all__ = ["ConfigProto"]


@dataclass(frozen=True)
class ConfigProto:
    """What `Session` and `function` are told about running a graph.

    ``constant_folding``, ``common_subexpression_elimination`` and ``remapping`` switch the optimisers.
    ``allow_soft_placement`` lets a node run on another device than it asks for, with a warning.
    ``device_count`` says how many CPU devices there are: more than one divides no processor, but shows
    what placement and copies do. ``inter_op_parallelism_threads`` is how many nodes may run at the same
    time; 0 chooses: the processors that the threads inside a convolution leave free
    (`teachconv.set_num_threads`). ``backend`` is the label of the kernels that have it ("" for the
    default one).

    >>> ConfigProto(device_count={"CPU": 2}).devices()
    [DeviceSpec(device_type='CPU', device_index=0), DeviceSpec(device_type='CPU', device_index=1)]
    """

    constant_folding: bool = True
    common_subexpression_elimination: bool = True
    remapping: bool = True
    allow_soft_placement: bool = False
    device_count: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({"CPU": 1}))
    inter_op_parallelism_threads: int = 0
    backend: str = ""

    def __post_init__(self) -> None:
        for kind, count in self.device_count.items():
            if kind != "CPU" or integer(count, "device_count") < 1:
                raise ArgumentError(
                    f'device_count must be {{"CPU": n}} with n >= 1: no kernels are registered for any other '
                    f"kind of device; got {dict(self.device_count)}"
                )
        if not 0 <= integer(self.inter_op_parallelism_threads, "inter_op_parallelism_threads") <= 4096:
            raise ArgumentError(
                "inter_op_parallelism_threads must be from 0 (choose) to 4096; got "
                f"{self.inter_op_parallelism_threads}"
            )
        if self.backend:
            backends.get(self.backend)  # raises, and says which there are or what is missing

    def devices(self) -> list[DeviceSpec]:
        """The devices that nodes can be placed on."""
        return [DeviceSpec("CPU", index) for index in range(self.device_count.get("CPU", 1))]

    def threads(self) -> int:
        """How many nodes may run at the same time."""
        if self.inter_op_parallelism_threads:
            return self.inter_op_parallelism_threads
        free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, free // get_num_threads())
