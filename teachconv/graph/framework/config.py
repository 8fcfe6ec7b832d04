"""Devices, and the configuration of a session: optimisers, devices and backend.

TensorFlow: python/framework/device_spec.py and config.py; core/protobuf/config.proto and
rewriter_config.proto. The name of a device, such as ``/cpu:0`` or
``/job:localhost/replica:0/task:0/device:CPU:0``, may omit the type or the number; the placer fills them in.
Job, replica and task are accepted but must be the first ones, because there is only one machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from ... import backends
from ...core.arguments import integer, real, truth
from ...support.errors import ArgumentError, brief, is_one_of
from ..options import check_type

_PART = re.compile(r"(?:device:)?(cpu|gpu|\*)(?::(\d+|\*))?$", re.IGNORECASE)
_HOST = {"job:localhost", "replica:0", "task:0"}


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A kind of device and its number.

    Attributes:
        device_type: "CPU" or "GPU", or None for any.
        device_index: the number, or None for any.

    >>> DeviceSpec.from_string("/gpu:1"), str(DeviceSpec.from_string("/cpu:0"))
    (DeviceSpec(device_type='GPU', device_index=1), '/device:CPU:0')
    """

    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    def from_string(cls, text: Any) -> DeviceSpec:
        """Parse the name of a device.

        Args:
            text: a name such as "/cpu:0"; "" specifies nothing.

        Returns:
            The spec.

        Raises:
            ValueError, TypeError: if ``text`` is not the name of a device.
        """
        check_type(text, str, 'device must be a string such as "/cpu:0", or None')
        spec = cls()
        for part in filter(None, text.split("/")):
            if part in _HOST:
                continue
            match = _PART.match(part)
            if match is None:
                raise ArgumentError(
                    f'device must be "/cpu:N", "/gpu:N" or "/device:CPU:N", after "/job:localhost/replica:0'
                    f'/task:0" if you like; got {brief(text)}'
                )
            kind, number = match.groups()
            spec = cls(None if kind == "*" else kind.upper(), None if number in (None, "*") else int(number))
        return spec

    def merge(self, inner: DeviceSpec) -> DeviceSpec:
        """Return the spec inside nested scopes ``device(self)`` and ``device(inner)``; the inner one wins.

        >>> str(DeviceSpec("GPU", 1).merge(DeviceSpec("CPU")))
        '/device:CPU'
        """
        if inner.device_type is not None and inner.device_type != self.device_type:
            return inner
        return DeviceSpec(
            inner.device_type or self.device_type,
            self.device_index if inner.device_index is None else inner.device_index,
        )

    def agrees(self, other: DeviceSpec) -> bool:
        """Return whether some device matches both."""
        return all(
            a is None or b is None or a == b
            for a, b in (
                (self.device_type, other.device_type),
                (self.device_index, other.device_index),
            )
        )

    def __str__(self) -> str:
        if self.device_type is None and self.device_index is None:
            return ""
        number = "" if self.device_index is None else f":{self.device_index}"
        return f"/device:{self.device_type or '*'}{number}"


@dataclass(frozen=True)
class RunOptions:
    """The options of one `Session.run`.

    Attributes:
        trace_level: one of the four constants, as TensorFlow's programs give it; the log of a run is complete
            whenever a `RunMetadata` is given.
        shuffle_seed: takes the nodes that are ready in a random order. Nodes that do not depend on each other
            have no order; with another seed a program that relies on one may give another result.
        NO_TRACE: 0.
        SOFTWARE_TRACE: 1.
        HARDWARE_TRACE: 2.
        FULL_TRACE: 3.

    Raises:
        ValueError, TypeError: if a value is out of range.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default(), tg.Session() as session:
    ...     v = tg.Variable(1.0)
    ...     v.initializer.run()
    ...     race = [v.read_value(), v.assign(2.0)]          # nothing says which comes first
    ...     answers = set()
    ...     for seed in range(20):
    ...         session.run(v.initializer)
    ...         answers.add(float(session.run(race, options=tg.RunOptions(shuffle_seed=seed))[0]))
    >>> sorted(answers)
    [1.0, 2.0]
    """

    NO_TRACE: ClassVar[int] = 0
    SOFTWARE_TRACE: ClassVar[int] = 1
    HARDWARE_TRACE: ClassVar[int] = 2
    FULL_TRACE: ClassVar[int] = 3

    trace_level: int = 0
    shuffle_seed: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= integer(self.trace_level, "trace_level") <= 3:
            raise ArgumentError(
                f"trace_level must be from 0 (NO_TRACE) to 3 (FULL_TRACE); got {brief(self.trace_level)}"
            )
        if self.shuffle_seed is not None:
            integer(self.shuffle_seed, "shuffle_seed")


@dataclass(kw_only=True)
class GPUOptions:
    """What programs of TensorFlow say about the memory of a GPU; accepted, but nothing reads it.

    CuPy's memory pool takes memory when an array needs it, as TensorFlow does with ``allow_growth``.

    Attributes:
        allow_growth: whether memory is taken when it is needed.
        per_process_gpu_memory_fraction: how much of the memory may be taken.

    >>> config = ConfigProto()
    >>> config.gpu_options.allow_growth = True
    """

    allow_growth: bool = False
    per_process_gpu_memory_fraction: float = 0.0

    def __post_init__(self) -> None:
        truth(self.allow_growth, "allow_growth")
        real(self.per_process_gpu_memory_fraction, "per_process_gpu_memory_fraction")


@dataclass(frozen=True)
class ConfigProto:
    """The configuration of `Session` and `function`.

    Attributes:
        constant_folding: whether to compute nodes of constants in advance.
        common_subexpression_elimination: whether to merge equal nodes.
        remapping: whether to fuse Conv2D, BiasAdd and Relu.
        allow_soft_placement: whether a node may run on another device than it requests, with a warning.
        device_count: the number of devices of each kind. Several CPU devices share the same processors; they
            exist to demonstrate placement and transfers. With ``{"GPU": n}`` nodes that request no device go
            to a GPU where they have a kernel, which is TensorFlow's default; without it a GPU runs only the
            nodes that request it.
        backend: the kernel label for all ops that have a kernel with it; "" for the default.
        log_device_placement: has no effect; `RunMetadata` has the placements.
        gpu_options: accepted, as `GPUOptions` says.

    Raises:
        ValueError, TypeError: if a value is out of range.
        BackendUnavailable: if the backend cannot run here.

    >>> ConfigProto(device_count={"CPU": 2}).devices()
    [DeviceSpec(device_type='CPU', device_index=0), DeviceSpec(device_type='CPU', device_index=1)]
    """

    constant_folding: bool = True
    common_subexpression_elimination: bool = True
    remapping: bool = True
    allow_soft_placement: bool = False
    device_count: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({"CPU": 1}))
    backend: str = ""
    log_device_placement: bool = False
    gpu_options: GPUOptions = field(default_factory=GPUOptions, compare=False)

    def __post_init__(self) -> None:
        check_type(self.gpu_options, GPUOptions, "gpu_options must be GPUOptions")
        legal = 'device_count must be {"CPU": n, "GPU": m} with n >= 1 and m >= 0'
        check_type(self.device_count, Mapping, legal)
        for kind, count in self.device_count.items():
            if kind not in ("CPU", "GPU") or integer(count, "device_count") < (kind == "CPU"):
                raise ArgumentError(f"{legal}; got {brief(dict(self.device_count))}")
        if not is_one_of(self.backend, ("",)):
            backends.get(self.backend)  # raises if it does not exist or cannot run

    def devices(self, with_gpus: bool = False) -> list[DeviceSpec]:
        """Return the devices that nodes can be placed on, the preferred ones first.

        Args:
            with_gpus: whether a node requests a GPU; otherwise they count only if ``device_count`` has them.

        Returns:
            The devices.
        """
        cpus = [DeviceSpec("CPU", index) for index in range(self.device_count.get("CPU", 1))]
        if "GPU" in self.device_count:
            return list_physical_devices("GPU")[: self.device_count["GPU"]] + cpus
        return cpus + (list_physical_devices("GPU") if with_gpus else [])


def list_physical_devices(device_type: str | None = None) -> list[DeviceSpec]:
    """Return the devices of this machine: its processors are one CPU device, and each GPU is one.

    Args:
        device_type: "CPU" or "GPU"; None for both.

    Returns:
        The devices; no GPU if CuPy or a driver is missing (`teachconv.backends` says which).
    """
    found = [] if is_one_of(device_type, ("GPU",)) else [DeviceSpec("CPU", 0)]
    if not is_one_of(device_type, ("CPU",)) and not backends.why_not("cupy"):
        import cupy  # only if there is a GPU and it is asked for

        found += [DeviceSpec("GPU", index) for index in range(cupy.cuda.runtime.getDeviceCount())]
    return found
