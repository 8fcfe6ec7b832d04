"""Reads files of unknown origin, and writes files so that a reader never sees half of one."""

from __future__ import annotations

import os
import secrets
import stat
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from .errors import ArgumentError, ArgumentTypeError, BackendUnavailable, brief, plain

_LONGEST = 4096  # characters of a path, Linux's limit; the system's own message would repeat them all


def path_of(path: Any, name: str = "path") -> Path:
    """Return an argument as the path of a file.

    Args:
        path: what the caller gave.
        name: the argument's name.

    Returns:
        The path.

    Raises:
        ArgumentTypeError: if it is not a path.
        ArgumentError: if it is "", or holds what no file's name does.
    """
    try:
        checked = Path(path)
        text = os.fspath(path)
        legal = 0 < len(os.fsencode(checked)) <= _LONGEST and text != "" and "\0" not in text
    except TypeError:
        raise ArgumentTypeError(f"{name} must be a path; got {brief(path)}") from None
    except ValueError:  # of characters that no name can have
        legal = False
    if not legal:
        raise ArgumentError(f"{name} must be the path of a file; got {brief(path)}")
    return checked


LARGEST = 2**31 - 1  # bytes of a file that a parser takes whole; protobuf and flatbuffers have this limit
_UNPACKED = 2**28  # bytes that an archive smaller than this may unpack to
_HEADER = 10_000  # bytes, as numpy.lib.format has it for files that nobody vouches for


@contextmanager
def reading(path: Any, what: str, name: str = "path", largest: int = LARGEST) -> Iterator[None]:
    """Read a file that may be damaged or hostile: the one guard of every format.

    Args:
        path: the file; or an object in its place, which has no size.
        what: what the file must be, such as "an ONNX model".
        name: the argument that it is.
        largest: its most bytes.

    Raises:
        ArgumentError: if the file is empty or larger, or the block raises what no reader documents: zlib's,
            zipfile's, json's, protobuf's or NumPy's own errors, a missing key, an ``OSError`` without a
            file's name, as of a wrong offset. It names the file.
        OSError, MemoryError, TypeError: as the block raises them, TypeError in our words only.
    """
    try:
        if isinstance(path, (str, Path)):
            check_size(path, what, name, largest)
        yield
    except (ArgumentError, ArgumentTypeError, BackendUnavailable, ImportError, MemoryError):
        raise
    except Exception as error:  # the packages do not say which types they raise
        if isinstance(error, OSError) and error.filename is not None:
            raise
        file = plain(path) if isinstance(path, (str, Path)) else "this one"
        raise ArgumentError(f"{name} must be {what}; {file} cannot be read: {plain(error)}") from error


def check_size(path: str | Path, what: str, name: str = "path", largest: int = LARGEST) -> None:
    """Raise for a file that is empty or larger than ``largest``; see `reading`."""
    size = path_of(path, name).stat().st_size
    if size > largest or not size and Path(path).is_file():
        problem = f"has {size:,} bytes, and {largest:,} are the most" if size else "is empty"
        raise ArgumentError(f"{name} must be {what}; {plain(path)} {problem}")


def read_array(file: IO[bytes], size: int) -> np.ndarray:
    """Return the array of an open .npy file; nothing is unpickled, and no long header read.

    Args:
        file: the file, at its beginning.
        size: its bytes: no array is allocated that needs more.
    """
    start = file.read(12)
    file.seek(0)
    length = int.from_bytes(start[8:12], "little") if start[6:7] > b"\x01" else 0  # else 65,535 at most
    if length > _HEADER:
        raise ValueError(f"its header claims {length:,} bytes, and {_HEADER:,} are the most")
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    header = headers.get(np.lib.format.read_magic(file))
    if header is None:
        raise ValueError("its format must be 1.0 or 2.0")
    shape, _, dtype = header(file)
    claimed = prod(shape) * dtype.itemsize
    if claimed > size:
        raise ValueError(f"its header claims {claimed:,} bytes of numbers, and the file has {size:,}")
    file.seek(0)
    return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def read_npy(path: str | Path, name: str = "path") -> np.ndarray:
    """Return the array of an .npy file; the error for a damaged file, an archive or a pickle names it."""
    with reading(path, "an .npy file of numbers", name, sys.maxsize), open(path, "rb") as file:
        return read_array(file, os.fstat(file.fileno()).st_size)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz archive by name, within `reading`.

    An archive that is not compressed, as NumPy writes it, may have any size. Others may unpack to 256 MiB.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        unpacked, most = sum(member.file_size for member in members), max(_UNPACKED, path.stat().st_size)
        if unpacked > most:
            raise ValueError(f"it unpacks to {unpacked:,} bytes, and {most:,} are the most")
        arrays = {}
        for member in members:
            with archive.open(member) as file:
                arrays[member.filename.removesuffix(".npy")] = read_array(file, member.file_size)
    return arrays


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file in the folder of ``path``, which is renamed to ``path`` at the end of the block.

    If the block raises, the new file is removed, and what had the name before is as it was. The new file gets
    the permissions of the one that it replaces, and until then nobody else may read it; if there was none,
    it gets those that the process gives to all its files. A device or a pipe is written to.

    Args:
        path: the file to write; a link is followed.

    Yields:
        The file, open for writing bytes.

    Raises:
        OSError: if the folder does not exist or cannot be written to, if the file must not be, or if
            ``path`` is a folder.
    """
    target = Path(os.path.realpath(path))
    beside = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        old = _facts(path)
        in_place = old is not None and not (stat.S_ISREG(old.st_mode) and os.access(path, os.W_OK))
        file = path.open("wb") if in_place else _new(beside, 0o666 if old is None else 0o600)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with file:
            yield file
        if old is not None and not in_place:
            _give(beside, old)
        if not in_place:
            os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def _facts(path: Path) -> os.stat_result | None:
    """Return what the system knows of a file; None if there is none."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _new(path: Path, mode: int) -> BinaryIO:
    """Create a file, which must not exist yet, with these permissions less those of the umask."""
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def _give(path: Path, old: os.stat_result) -> None:
    """Give a file the permissions of another, and its group and owner, as far as the process may."""
    mode, new = stat.S_IMODE(old.st_mode), path.stat()
    try:
        if new.st_gid != old.st_gid:
            os.chown(path, -1, old.st_gid)
    except OSError:
        mode &= ~stat.S_IRWXG  # they are for another group
    path.chmod(mode)
    if new.st_uid != old.st_uid:
        with suppress(OSError):  # only root may give files away
            os.chown(path, old.st_uid, -1)
