"""How much memory a call may take: the smallest amount left by system, control groups and process limits.

Linux lets a process have more memory than there is, and kills it once it writes to it. Therefore whatever is
large is checked before it is allocated, and is written to before the next such check.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .tables import size

TRIFLE = 64 << 20  # what takes no more is never refused, so that a small call reads no limit
_ROOT = Path("/")  # of the file system that the limits are read from
# where control groups are mounted: of version 2; beside version 1; and of version 1
_MOUNTS = {"": ("sys/fs/cgroup", "sys/fs/cgroup/unified"), "memory": ("sys/fs/cgroup/memory",)}
_FILES = (  # of version 2 and of version 1: the limit, what is taken, and a prefix of memory.stat
    ("memory.max", "memory.current", ""),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)


def check_memory(shape: Sequence[int], dtype: np.dtype[Any], what: str) -> None:
    """Raise ``MemoryError`` if there is no memory for an array.

    Args:
        shape: the array's shape.
        dtype: its dtype.
        what: what the message calls it.
    """
    nbytes = prod(shape) * dtype.itemsize
    if nbytes > TRIFLE:  # else the text is not needed
        check_bytes(nbytes, f"{what} of shape {list(shape)} and dtype {dtype.name}")


def check_bytes(nbytes: int, what: str) -> None:
    """Raise ``MemoryError`` if ``nbytes`` are more than nine tenths of the available memory.

    The last tenth is for other programs, and for what is too small to be counted.
    """
    if nbytes <= TRIFLE:
        return
    free, limit = min(_limits())
    legal = max(0, free * 9 // 10)
    if nbytes > legal:
        at_most = f"at most {size(legal)} is legal: nine tenths of {limit}"
        raise MemoryError(f"{what} needs {size(nbytes)}; {at_most}")


def _limits() -> Iterator[tuple[int, str]]:
    """Yield what each limit leaves, in bytes, and which limit it is."""
    yield sys.maxsize, "this machine's addresses"
    with suppress(OSError, KeyError):  # not Linux
        available = _table("proc/meminfo")["MemAvailable:"]
        yield 1024 * available, "the memory that is available now (MemAvailable in /proc/meminfo)"
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "this machine's memory"
    yield from _group_limits()
    with suppress(ImportError, OSError):  # Windows; not Linux
        resource = import_module("resource")
        mapped = int((_ROOT / "proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            yield most - mapped, f"what RLIMIT_AS (ulimit -v) of {size(most)} leaves"


def _group_limits() -> Iterator[tuple[int, str]]:
    """Yield what the process's control group and each group around it leave.

    What files occupy in memory counts as free, because the kernel drops it where memory is needed. In a
    container the path may be the one outside, of which only the root of the mount exists.
    """
    with suppress(OSError):  # not Linux
        for line in (_ROOT / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            kind = "memory" if "memory" in controllers.split(",") else controllers
            most, used, prefix = _FILES[bool(kind)]
            folder = Path(path.lstrip("/"))
            for mount, group in product(_MOUNTS.get(kind, ()), (folder, *folder.parents)):
                place = _ROOT / mount / group
                with suppress(OSError, ValueError):  # no such group here; "max", which is not a number
                    limit, taken = (int((place / name).read_text()) for name in (most, used))
                    held = _table(place / "memory.stat")
                    files = sum(held.get(f"{prefix}{state}_file", 0) for state in ("active", "inactive"))
                    name = Path("/", mount, group, most)
                    yield limit - max(0, taken - files), f"what {name} of {size(limit)} leaves"


def _table(path: str | Path) -> dict[str, int]:
    """Return a file of lines with a name and a number."""
    rows = (line.split() for line in (_ROOT / path).read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows}
