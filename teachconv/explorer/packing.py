"""A document as the text in a page: JSON, and its images as PNG."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..inspection.images import image_address, png

_LONGEST = 16_000  # pixels in a line or a column that every browser draws


def image_numbers(image: np.ndarray, most: int) -> dict[str, Any] | None:
    """Return all numbers of an image, [rows, cols, channels], as a PNG; None if it takes over ``most`` bytes.

    Its lines are those of the first channel, then those of the second one, and so on. Numbers from 0 to 255,
    or these divided by 255, are one byte each: ``scale`` is 1 or 255. Of other floats the PNG has the first
    byte of all numbers, then the second one, and so on: ``scale`` is None.
    """
    planes = np.moveaxis(image, 2, 0)
    scale = next((scale for scale in (1, 255) if _is_in_bytes(image, scale)), None)
    if scale is not None:
        written = np.rint(planes * scale).astype(np.uint8)
    elif image.dtype in (np.float32, np.float64):
        numbers = np.ascontiguousarray(planes, image.dtype.newbyteorder("<"))
        written = np.moveaxis(numbers[..., None].view(np.uint8), -1, 0)
    else:
        return None
    lines = written.reshape(-1, image.shape[1])
    address = image_address(png(lines) if max(lines.shape) <= _LONGEST else None)
    if not 0 < len(address) <= most:
        return None
    return {"image": address, "scale": scale, "shape": list(image.shape)}


def _is_in_bytes(image: np.ndarray, scale: int) -> bool:
    """Whether the numbers of an image are 0 to 255, divided by ``scale`` in its own type."""
    if scale > 1 and image.dtype not in (np.float32, np.float64):  # the page divides in these two
        return False
    if not ((image >= 0) & (image <= 255 / scale)).all():  # NaN is not
        return False
    return bool((np.rint(image * scale).astype(image.dtype) / image.dtype.type(scale) == image).all())


def dumps(value: Any) -> str:
    """Return JSON text without spaces that is safe inside a script element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def nbytes(value: Any) -> int:
    """Return how many bytes of a page a value takes as JSON."""
    return len(dumps(value).encode())
