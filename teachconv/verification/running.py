"""The one runner of code that is not ours: whatever it does, its caller gets a result or a sentence.

`guarded` goes around each function of a backend under test: a function that prints, exits or changes its
arguments raises `ContractError`, which every report takes for a failed row. What would end or stop Python
itself, a crash or an endless loop, needs a process of its own: `isolated`.
"""

from __future__ import annotations

import importlib
import io
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.reduction import ForkingPickler
from threading import Timer
from types import ModuleType
from typing import Any

import numpy as np

from .. import backends
from ..errors import ArgumentError, ContractError, brief, plain
from ..kinds import KINDS, Kind, kind_of

__all__ = [
    "Refused",
    "Wrapped",
    "guarded",
    "how_it_ended",
    "isolated",
    "name_of",
    "time_limit",
    "what_went_wrong",
]


class Refused(Exception):  # noqa: N818 (the code is not wrong)
    """The code does not take such a call, and says why: its row is not run, and has not failed."""


def what_went_wrong(error: BaseException) -> str:
    """Return the note of a row whose backend raised an error, or whose result is none."""
    if isinstance(error, (ContractError, Refused)):
        return str(error)
    return f"raised {type(error).__name__}: {error}".removesuffix(": ")


_NEVER = {2: 0x7E5C, 4: 0x7FC05C5C, 8: 0x7FF8_0000_5C5C_5C5C}  # NaN, which no arithmetic makes
_NEVER_BFLOAT16 = 0x7FDC


def unwritten(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array to write to; cells that nobody writes to keep a NaN of its own, or 99."""
    if dtype.kind not in "fV":
        return np.full(shape, 99, dtype)
    bits = _NEVER_BFLOAT16 if dtype.kind == "V" else _NEVER[dtype.itemsize]
    return np.full(shape, bits, f"u{dtype.itemsize}").view(dtype)


def never_written(array: np.ndarray) -> np.ndarray:
    """Return which cells hold the NaN of `unwritten`; no others do, but those that something was added to."""
    if array.dtype.kind not in "fV" or array.dtype.itemsize not in _NEVER:
        return np.zeros(array.shape, bool)
    return array.view(f"u{array.dtype.itemsize}") == unwritten((), array.dtype).view(
        f"u{array.dtype.itemsize}"
    )


def name_of(module: Any) -> str:
    """Return the name of a backend, a module or an object."""
    return str(getattr(module, "__name__", type(module).__name__))


@dataclass(frozen=True)
class Wrapped:
    """A backend with something done around its functions.

    ``around`` is given the kind of the function, the function, and then its arguments.
    """

    module: Any
    around: Callable[..., np.ndarray]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__name__":
            raise AttributeError(name)
        found = name_of(self.module) if name == "__name__" else getattr(self.module, name)
        return partial(self.around, kind_of(name), found) if name in map(str, KINDS) else found


def guarded(module: Any) -> Any:
    """Return a backend whose functions are watched as they run; one of the table is returned as it is."""
    return module if backends.is_own(module) or isinstance(module, Wrapped) else Wrapped(module, watch)


def watch(kind: Kind, function: Callable[..., np.ndarray], *args: Any, **options: Any) -> np.ndarray:
    """Run a function; raise ``ContractError`` if it prints, exits or changes its arguments."""
    first, second, _ = kind.words
    given = {first: args[0], second: args[1], "bias": options.get("bias")}
    before = {name: array.tobytes() for name, array in given.items() if isinstance(array, np.ndarray)}
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            result = function(*args, **options)
    except SystemExit as stop:
        raise ContractError(f"called exit({brief(stop.code)})") from stop
    if text := printed.getvalue().strip():
        raise ContractError(f"printed {brief(text.splitlines()[0])}", result)
    for name, was in before.items():
        if given[name].tobytes() != was:
            raise ContractError(f"the backend wrote to its input: {name} was changed")
    return result


# ---------------------------------------------------------------------------------------------
# In a process of its own
# ---------------------------------------------------------------------------------------------


def isolated(module: Any, seconds: float = 10.0, nbytes: int | None = None) -> Wrapped:
    """Return a backend that runs in a process of its own, which is started again after it has ended.

    Args:
        module: the backend: a module, or an object that can be pickled.
        seconds: how long a call may take.
        nbytes: how much memory the process may take beside what it has at its start; None for no limit.
    """
    return Wrapped(module, _Process(module, seconds, nbytes))


class _Process:
    """What goes around the functions of an isolated backend: it asks the other process instead."""

    def __init__(self, module: Any, seconds: float, nbytes: int | None) -> None:
        self._seconds, self._nbytes = seconds, nbytes
        self._sent = module.__name__ if isinstance(module, ModuleType) else module
        self._process: Any = None
        try:
            ForkingPickler.dumps(self._sent)  # as the other process is sent it
        except Exception as error:
            raise ArgumentError(
                "isolate=True needs a function that another process can import: define it with def at the "
                f"top of a module; {plain(error)}"
            ) from None

    def __call__(
        self, kind: Kind, function: Any, *args: Any, out: np.ndarray | None = None, **options: Any
    ) -> np.ndarray:
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(
                target=_serve, args=(self._sent, theirs, self._nbytes), daemon=True
            )
            try:
                self._process.start()
                theirs.close()
                self._pipe.recv()  # it is ready: the time that this takes is not the function's
            except (RuntimeError, EOFError):  # it runs the script that started it
                self._process = None
                note = 'isolate=True runs a script again: put its calls below if __name__ == "__main__":'
                raise ContractError(note) from None
        with time_limit(self._process, self._seconds) as late:
            try:
                self._pipe.send((kind.name, args, options))
                refused, note, result = self._pipe.recv()
            except (EOFError, OSError):
                self._process.join()
                code, self._process = self._process.exitcode, None
                raise ContractError(how_it_ended(code, late, self._seconds)) from None
        if note:
            raise Refused(note) if refused else ContractError(note, result)
        if out is None or out.shape != result.shape:
            return np.asarray(result)
        np.copyto(out, result)
        return out


@contextmanager
def time_limit(process: Any, seconds: float) -> Iterator[list[bool]]:
    """Kill a process that takes longer; the list that is yielded has an item then."""
    late: list[bool] = []

    def stop() -> None:
        late.append(True)
        process.kill()

    timer = Timer(seconds, stop)
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def how_it_ended(code: int, late: list[bool], seconds: float) -> str:
    """Say why a process answers no more."""
    if late:
        return f"took more than {seconds:g} seconds, and was stopped"
    if code < 0:
        with suppress(ValueError):
            return f"crashed: {signal.Signals(-code).name}"
    return f"ended its process with exit status {code}"


def _serve(module: Any, pipe: Any, nbytes: int | None) -> None:
    """Run calls in the other process until nobody asks."""
    if nbytes is not None:
        _limit_memory(nbytes)
    watched = guarded(importlib.import_module(module) if isinstance(module, str) else module)
    pipe.send("ready")
    with suppress(EOFError, KeyboardInterrupt):  # nobody asks any more, or the whole program is stopped
        while True:
            name, args, options = pipe.recv()
            try:
                answer: tuple[bool, str, Any] = False, "", np.array(getattr(watched, name)(*args, **options))
            except Exception as error:
                answer = isinstance(error, Refused), what_went_wrong(error), getattr(error, "result", None)
            pipe.send(answer)


def _limit_memory(nbytes: int) -> None:
    """Let this process take so much more address space; where the system cannot, there is no limit."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/statm") as file:
            has = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (has + nbytes, has + nbytes))
