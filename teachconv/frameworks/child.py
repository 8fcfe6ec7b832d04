"""Runs a probe in a separate process and returns its answer and log; this process is not affected.

The switches that make a native library say what it runs are read when the library is loaded, which in the
user's process has long happened. A probe is a module with a function ``work``, which `answer` calls there.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..support.progress import during

_SECTION = "== teachconv: "  # begins a line of the log that says which part of the probe follows
_ASKED, _FACTS, _LOG = "asked.json", "facts.json", "log.txt"


class ProbeError(RuntimeError):
    """The process gave no answer; the message says why, with the last lines of its log."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a probe found.

    Attributes:
        facts: what it returned.
        log: what it and the native libraries printed, by the section that `begin` opened; "" is the first.
    """

    facts: dict[str, Any]
    log: dict[str, str]


def run(
    probe: str,
    job: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    environment: Mapping[str, str],
    seconds: float = 120.0,
) -> Answer:
    """Run a probe and return its answer.

    Args:
        probe: the name of the module.
        job: what it is asked, in types of JSON.
        arrays: the arrays that it gets.
        environment: the variables that it has besides those of this process.
        seconds: the time after which it is ended; on a busy machine ten times what it takes on a free one.

    Raises:
        ProbeError: if it takes longer, crashes, or leaves no readable answer.
    """
    with tempfile.TemporaryDirectory(prefix="teachconv-") as name:
        folder = Path(name)
        for key, array in arrays.items():
            np.save(folder / f"{key}.npy", array, allow_pickle=False)
        (folder / _ASKED).write_text(json.dumps({"job": job, "arrays": list(arrays)}), encoding="utf-8")
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        with during("runs the call in a process of its own"), (folder / _LOG).open("wb") as log:
            try:
                code = subprocess.run(
                    # -u: what was printed before a crash is in the log
                    [sys.executable, "-u", "-P", "-m", __name__, probe, str(folder)],
                    env={**os.environ, "PYTHONPATH": path, **environment},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=seconds,
                ).returncode
                problem = f"ended with {_ending(code)}" if code else ""
            except subprocess.TimeoutExpired:
                problem = f"took longer than {seconds:g} s and was ended"
        text = (folder / _LOG).read_text(encoding="utf-8", errors="replace")
        if not problem:
            try:
                return Answer(json.loads((folder / _FACTS).read_text(encoding="utf-8")), _sections(text))
            except (OSError, ValueError):
                problem = "left no readable answer"
    last = "\n".join(f"    {line[:200]}" for line in text.splitlines()[-5:])
    raise ProbeError(f"{probe}: its process {problem}" + (f"; the end of its log:\n{last}" if last else ""))


def _ending(code: int) -> str:
    """Say how a process ended; a negative code is that of a signal."""
    try:
        return f"exit status {code}" if code > 0 else signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _sections(text: str) -> dict[str, str]:
    first, *rest = f"\n{text}".split(f"\n{_SECTION}")
    parts = (part.partition("\n") for part in rest)
    return {"": first.removeprefix("\n")} | {name: body for name, _, body in parts}


# ---------------------------------------------------------------------------------------------
# In the probe
# ---------------------------------------------------------------------------------------------


def begin(section: str) -> None:
    """Begin a section of the log: what is printed from here on, by Python or by C, is part of it."""
    sys.stdout.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)  # what C still holds belongs to the section before
    os.write(1, f"\n{_SECTION}{section}\n".encode())


def answer(probe: str, folder: Path) -> None:
    """Do the work of a probe: call its function with the job and the arrays, and write what it returns."""
    asked = json.loads((folder / _ASKED).read_text(encoding="utf-8"))
    arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in asked["arrays"]}
    (folder / _FACTS).write_text(
        json.dumps(import_module(probe).work(asked["job"], arrays)), encoding="utf-8"
    )


if __name__ == "__main__":
    answer(sys.argv[1], Path(sys.argv[2]))
