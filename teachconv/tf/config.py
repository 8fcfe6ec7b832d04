"""tf.config: the devices of this machine. TensorFlow: python/framework/config.py."""

from __future__ import annotations

from typing import NamedTuple

from .. import graph as tg

__all__ = ["list_physical_devices"]


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices that operations can be placed on, or those of one type, "CPU" or "GPU"."""
    return [
        PhysicalDevice(
            f"/physical_device:{device.device_type}:{device.device_index}", str(device.device_type)
        )
        for device in tg.ConfigProto().devices()
        if device_type in (None, device.device_type)
    ]
