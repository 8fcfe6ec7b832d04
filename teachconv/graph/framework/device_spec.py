"""Names of devices: ``/cpu:0``, ``/device:CPU:0``, ``/job:localhost/replica:0/task:0/device:CPU:0``.

TensorFlow: python/framework/device_spec.py. A spec may omit the type or the number; the placer fills them in.
Job, replica and task are accepted but must be the first ones, because there is only one machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ...errors import ArgumentError, ArgumentTypeError

__all__ = ["DeviceSpec"]

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
        if not isinstance(text, str):
            raise ArgumentTypeError(f'device must be a string such as "/cpu:0", or None; got {text!r}')
        spec = cls()
        for part in filter(None, text.split("/")):
            if part in _HOST:
                continue
            match = _PART.match(part)
            if match is None:
                raise ArgumentError(
                    f'device must be "/cpu:N", "/gpu:N" or "/device:CPU:N", after "/job:localhost/replica:0'
                    f'/task:0" if you like; got {text!r}'
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

    @property
    def name(self) -> str:
        """The full name, such as "/job:localhost/replica:0/task:0/device:CPU:0"."""
        return f"/job:localhost/replica:0/task:0{self}"

    def __str__(self) -> str:
        if self.device_type is None and self.device_index is None:
            return ""
        number = "" if self.device_index is None else f":{self.device_index}"
        return f"/device:{self.device_type or '*'}{number}"
