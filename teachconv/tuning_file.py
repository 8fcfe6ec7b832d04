"""The file in which `autotune` keeps its measurements, if the caller names one.

It is JSON to be read by people: machine -> call -> measurements, each level by a line of text. A machine is
the processor, its instruction set, the number of threads and the versions of the libraries that compute;
measurements of another one are kept in the file and never used. TensorFlow keeps its choices in memory:
core/util/autotune_maps.
"""

from __future__ import annotations

import json
import platform
from functools import lru_cache
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from . import backends, settings
from .calls import Call
from .errors import ArgumentError, brief, plain
from .files import path_of, replacing

__all__ = ["call_name", "machine_name", "parsed", "place_of", "processor", "read", "write"]

# of each machine, of each call, its measurements: the fields of `teachconv.tuning.Measurement` by name
Measured: TypeAlias = dict[str, dict[str, list[dict[str, Any]]]]

_FORMAT = "teachconv autotune, format 1"
_LARGEST = 16 << 20  # bytes
_TEXTS, _SECONDS = ("backend", "algorithm"), ("median", "least")
_RATES = ("gflops", "over_reference", "over_numpy")  # 0 GFLOP/s of an empty call, 0 times what cannot run


def place_of(cache: Any) -> Path:
    """Return the path that the caller gave; its folder must exist, so that nothing is measured in vain."""
    path = path_of(cache, "cache")
    if not path.parent.is_dir() or (path.exists() and not path.is_file()):
        raise ArgumentError(
            f"cache must be the path of a file in a folder that exists; got {brief(str(cache))}"
        )
    return path


def machine_name() -> str:
    """Return what measurements depend on besides the call: processor, threads, and versions."""
    from . import __version__

    compiled = not backends.why_not("cython")  # which loads it, and then its instruction set is known
    parts = [processor(), settings.instruction_set if compiled else "not compiled"]
    parts += [f"threads {settings.get_num_threads()}", f"teachconv {__version__}"]
    return ", ".join([*parts, *(f"{name} {version(name)}" for name in ("numpy", "scipy"))])


@lru_cache(maxsize=1)
def processor() -> str:
    """Return the name of this machine's processor, as its system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(models), "") or platform.processor() or platform.machine()


def call_name(call: Call) -> str:
    """Return a call as one line: everything that its time may depend on except the data.

    >>> import numpy as np, teachconv as tc
    >>> args = np.ones((1, 5, 5, 2), "float32"), np.ones((3, 3, 2, 4), "float32"), 2, "SAME"
    >>> print(call_name(tc.nn_ops.call_of(tc.conv2d, args, {})[0]))
    conv2d float32 [1, 5, 5, 2] * [3, 3, 2, 4] -> [1, 3, 3, 4], strides (2, 2), pads (1, 1), NHWC
    """
    g = call.geometry
    shapes = f"{list(g.input_shape)} * {list(g.filters_shape)} -> {list(g.output_shape)}"
    parts = [f"{call.title or call.op} {call.first.dtype} {shapes}", f"strides {g.strides}"]
    parts += [] if g.dilations == (1, 1) else [f"dilations {g.dilations}"]
    parts += [f"pads {(g.rows.pad_before, g.cols.pad_before)}", call.layout]
    ordered = call.first.flags.c_contiguous and call.second.flags.c_contiguous
    parts += [] if ordered else ["not in C order"]
    return ", ".join(parts if call.bias is None else [*parts, "bias"])


def read(path: Path) -> Measured:
    """Return what a file holds, nothing if it does not exist yet.

    Raises:
        ArgumentError: if it is not a file of `write`; the message says what is wrong with it.
        OSError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return {}
    try:
        return parsed(content)
    except (ValueError, RecursionError) as error:  # json's errors are ValueErrors, and Unicode's
        why = plain(error)
        raise ArgumentError(
            f"cache {brief(str(path))} is no file of autotune's: {why}; remove it, or give another path"
        ) from None


def parsed(content: bytes) -> Measured:
    """Return what a file says, given its content; ValueError or RecursionError if it is another."""
    if len(content) > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST >> 20} MB")
    found = json.loads(content.decode("utf-8"), parse_constant=_refuse)
    if not isinstance(found, dict) or found.pop("format", None) != _FORMAT:
        raise ValueError(f'it does not say "format": "{_FORMAT}"')
    for machine in found.values():
        for entries in _checked(machine, dict, "a machine").values():
            for entry in _checked(entries, list, "a call"):
                _check_entry(_checked(entry, dict, "a measurement"))
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _checked(value: Any, expected: type, what: str) -> Any:
    if type(value) is not expected:
        name = "object" if expected is dict else "array"
        raise ValueError(f"{what} must be a JSON {name}; got {brief(value)}")
    return value


def _check_entry(entry: dict[str, Any]) -> None:
    if entry.keys() != {*_TEXTS, *_SECONDS, *_RATES, "estimated"}:
        raise ValueError(f"a measurement has the fields {sorted(entry)!s:.120}")
    good = all(type(entry[name]) is str for name in _TEXTS) and type(entry["estimated"]) is bool
    seconds, rates = ([entry[name] for name in names] for names in (_SECONDS, _RATES))
    good = good and all(type(number) is float and isfinite(number) for number in (*seconds, *rates))
    if not good or min(seconds) <= 0 or min(rates) < 0:
        raise ValueError(
            f"a measurement must have names, positive times and no negative number; got {brief(entry)}"
        )


def write(path: Path, machine: str, call: str, entries: list[dict[str, Any]]) -> None:
    """Add the measurements of a call to a file, as a whole or not at all.

    What another process has added since is kept; of two that write at the same moment, one is.
    """
    measured = read(path)
    measured.setdefault(machine, {})[call] = entries
    text = json.dumps({"format": _FORMAT, **measured}, indent=1, allow_nan=False, default=float)
    with replacing(path) as file:
        file.write(f"{text}\n".encode())
