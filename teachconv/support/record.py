"""Records the stages of a call while a recording is open, and costs next to nothing otherwise.

Backends and ops wrap each step in ``with record.stage("name") as stage:``. `tracing.trace` opens a
recording around one call. What is imported at its first use is imported in ``with record.loading(...)``, and
this time is counted in no other stage. This module imports nothing from teachconv, so that every module may
import it.
"""

from __future__ import annotations

import linecache
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from inspect import unwrap
from itertools import repeat
from typing import Any

_SMALL = 200  # numbers of an array that is kept


@dataclass(eq=False)
class Stage:
    """One step of a call: where its code is, which arrays it used, and how long it took.

    Attributes:
        name: what the step does, in a few words.
        file: the source file of the code that opened the stage.
        line: the line in it.
        depth: how many stages it is nested in.
        shapes: the shapes of its arrays, by name.
        dtypes: the dtypes of its arrays, by name.
        values: a copy of each of its arrays that is small, by name.
        nbytes: the size of all these arrays together.
        seconds: its wall-clock time, nested stages included, but not the time of loading.
        note: a remark, one or more sentences.
        facts: decisions by name, such as the algorithm, and the geometry of the call.
        is_loading: whether it loads code that is used for the first time in the process.
    """

    name: str
    file: str
    line: int
    depth: int = 0
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict, repr=False)
    nbytes: int = 0
    seconds: float = 0.0
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    is_loading: bool = False
    _stages: list[Stage] | None = field(default=None, repr=False)
    _start: float = field(default=0.0, repr=False)

    def arrays(self, **arrays: Any) -> None:
        """Record the name, shape, dtype and size of each array; only of small ones the numbers are kept."""
        for name, array in arrays.items():
            if array.size <= _SMALL:
                self.values[name] = array.copy()
            self.shapes[name] = tuple(array.shape)
            self.dtypes[name] = str(array.dtype)
            self.nbytes += int(array.nbytes)

    def say(self, text: str, *values: Any) -> None:
        """Add a sentence to the note: the format string ``text``, filled in with ``values``."""
        sentence = text.format(*values)
        self.note = f"{self.note}; {sentence}" if self.note else sentence

    def at(self, function: Any) -> None:
        """Give the stage the file and line of the function that does its work, if it is written in Python."""
        start = time.perf_counter()
        code = getattr(unwrap(function), "__code__", None)
        if code is None:
            return
        self.file, self.line = code.co_filename, code.co_firstlineno
        while linecache.getline(self.file, self.line).startswith("@"):  # the line counts from the decorators
            self.line += 1
        _own.apart += time.perf_counter() - start  # reading the source must not count as part of the call

    def know(self, **facts: Any) -> None:
        """Record decisions by name, such as the algorithm that was chosen."""
        self.facts.update(facts)

    def __enter__(self) -> Stage:
        assert self._stages is not None
        self.depth = sum(1 for other in self._stages if other._start and not other.seconds)
        self._stages.append(self)
        self._start = clock()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds = clock() - self._start
        if self.is_loading:
            _own.apart += self.seconds
            if exception[0] is None:  # a module that is not installed was looked for, not loaded
                loads.append(self)
            self._stages = None


class _Silence:
    """What `stage` returns while nothing is recorded: all its methods do nothing.

    They are methods of C that take anything, so that a call costs next to nothing, and whoever steps through
    it in a debugger does not come by here.
    """

    arrays = say = at = know = __exit__ = "".format
    __enter__: Callable[[_Silence], _Silence]


class _Own(threading.local):
    apart = 0.0  # seconds that this thread has spent on loading, and on reading sources for a trace


_SILENCE = _Silence()
_Silence.__enter__ = repeat(_SILENCE).__next__  # type: ignore[assignment]
_own = _Own()
loads: list[Stage] = []  # everything that was loaded in this process, in order
_listener: ContextVar[list[Stage] | None] = ContextVar("teachconv_record", default=None)


def stage(name: str) -> Stage | _Silence:
    """Return a stage for a ``with`` statement; its file and line are the caller's.

    Args:
        name: what the step does, in a few words.

    Returns:
        A `Stage`, or an object with the same methods that does nothing while nothing is recorded.

    >>> from teachconv.support import record
    >>> with record.recording() as stages:
    ...     with record.stage("add") as step:
    ...         step.say("{} and {}", 1, 2)
    >>> stages[0].name, stages[0].note
    ('add', '1 and 2')
    """
    stages = _listener.get()
    if stages is None:
        return _SILENCE
    caller = sys._getframe(1)
    return Stage(name, caller.f_code.co_filename, caller.f_lineno, _stages=stages)


def is_on() -> bool:
    """Return whether stages are recorded in the running context."""
    return _listener.get() is not None


# Until the first recording both are functions of C, which no debugger steps into; bool() is False.
_heard, stage, is_on = (stage, is_on), partial(next, repeat(_SILENCE)), bool


def loading(name: str) -> Stage:
    """Return the stage of an import at first use, for a ``with`` statement: `clock` stands still in it.

    Args:
        name: what is loaded.

    Returns:
        A `Stage`, which is added to `loads` unless the import fails, and to the recording if there is one.

    >>> from teachconv.support import record
    >>> with record.recording() as stages, record.stage("call") as call, record.loading("load scipy") as load:
    ...     time.sleep(0.01)
    >>> [one.name for one in stages], load.seconds >= 0.01 > call.seconds
    (['call', 'load scipy'], True)
    """
    caller, stages = sys._getframe(1), _listener.get()
    place = caller.f_code.co_filename, caller.f_lineno
    return Stage(name, *place, is_loading=True, _stages=[] if stages is None else stages)


def clock() -> float:
    """Return the time in seconds like time.perf_counter, without time that does not belong to a call.

    That is what this thread spent on loading, and on looking up source lines for a trace.

    Returns:
        Seconds; only differences between two calls in one thread have a meaning.
    """
    return time.perf_counter() - _own.apart


@contextmanager
def recording() -> Iterator[list[Stage]]:
    """Record the stages that are opened inside the ``with`` block.

    Yields:
        A list, to which each stage is appended when it starts.
    """
    global stage, is_on
    stage, is_on = _heard
    stages: list[Stage] = []
    token = _listener.set(stages)
    try:
        yield stages
    finally:
        _listener.reset(token)
