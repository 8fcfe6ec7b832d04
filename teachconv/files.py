"""Writes files so that a reader never sees half of one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file beside ``path``, which takes its name at the end of the block.

    If the block raises, the new file is removed, and what had the name before is as it was.

    Args:
        path: the file to write; a link is followed.

    Yields:
        The file, open for writing bytes.

    Raises:
        OSError: if the folder does not exist or cannot be written to.
    """
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        file = beside.open("xb")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with file:
            yield file
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
