"""Looks into installed native libraries: C++ that checks or logs keeps the names of its files in them."""

from __future__ import annotations

import mmap
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path


def folder(package: str) -> Path:
    """Return the folder of an installed package; of another, one that does not exist."""
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else Path(package)


@lru_cache(maxsize=64)
def _names(library: Path, text: str) -> bool:
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(text.encode()) >= 0
    except (OSError, ValueError):  # not there, or empty
        return False


def known_from(package: str, pattern: str, source: str) -> str:
    """Say how it is known that a source file is part of what is installed.

    Args:
        package: the package that has the library.
        pattern: the library's file below the package's folder, as a glob pattern.
        source: the path of the source file in the framework's repository.

    Returns:
        "library" if the installed library itself names the file, as the messages of its checks do; else
        "recorded", from the framework's repository.
    """
    name = source.rpartition("/")[2]
    found = any(_names(library, name) for library in sorted(folder(package).glob(pattern)))
    return "library" if found else "recorded"
