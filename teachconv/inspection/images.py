"""Images as PNG, which pages and pictures hold."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np


def png(image: np.ndarray) -> bytes:
    """Encode an image as PNG: uint8, [rows, cols] in grey or [rows, cols, 3] in colour.

    >>> png(np.zeros((2, 3), "uint8"))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows, cols = image.shape[:2]
    colour = 2 if image.ndim == 3 else 0
    steps = image.copy()
    # filter 1: each pixel is what it adds to the one before, which packs better
    steps[:, 1:] -= image[:, :-1]
    lines = b"".join(b"\1" + line.tobytes() for line in steps)
    header = struct.pack(">IIBBBBB", cols, rows, 8, colour, 0, 0, 0)
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def image_address(png: bytes | None) -> str:
    """Return the bytes of a PNG as an address that holds them, or "" for None."""
    return f"data:image/png;base64,{b64encode(png).decode()}" if png else ""
