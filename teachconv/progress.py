"""Reports the progress of a long computation on a terminal and in a notebook, and nowhere else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_PATIENCE = 2.5  # seconds before a line is shown: what is quick leaves no output in a notebook
_output: list[Any] = [None, None]  # the number of the last cell that showed a line, and the line's output


def track(items: list[_Item], what: str) -> Iterator[_Item]:
    """Yield the items; a line shows how many are done."""
    with during(what):
        for number, item in enumerate(items):
            say(f"{number} of {len(items)}")
            yield item


@contextmanager
def during(what: str) -> Iterator[None]:
    """Show what is computed inside the ``with`` statement, and what `say` is told.

    The line is gone at the end. Inside another such statement it is part of that one's line.
    """
    outer = _saying.get()
    show = _line() if outer is None else None
    if outer is not None:
        outer(what)
        with _heard(lambda words: outer(f"{what}: {words}")):
            yield
    elif show is not None:
        with _shown(show, f"{what} …") as tell, _heard(lambda words: tell(f"{what}: {words} …")):
            yield
    else:
        yield


def say(words: str) -> None:
    """Say how far the computation is, where a line shows what is computed."""
    tell = _saying.get()
    if tell is not None:
        tell(words)


_saying: ContextVar[Callable[[str], None] | None] = ContextVar("teachconv_progress", default=None)


@contextmanager
def _heard(tell: Callable[[str], None]) -> Iterator[None]:
    """Let a function hear what `say` is told."""
    token = _saying.set(tell)
    try:
        yield
    finally:
        _saying.reset(token)


@contextmanager
def _shown(show: Callable[[str], None], text: str) -> Iterator[Callable[[str], None]]:
    """Show a text, or the latest one, once the reader has waited; erase it at the end."""
    seen, over, lock = False, False, threading.Lock()

    def say(words: str) -> None:
        nonlocal text
        with lock:
            text = words
            if seen:
                show(text)

    def begin() -> None:
        nonlocal seen
        with lock:
            if not over:
                seen = True
                show(text)

    timer = threading.Timer(_PATIENCE, begin)
    timer.daemon = True
    with suppress(RuntimeError):  # the system refuses a thread: nothing is shown
        timer.start()
    try:
        yield say
    finally:
        timer.cancel()
        with lock:
            over = True
            if seen:
                show("")


def _line() -> Callable[[str], None] | None:
    """Return a function that writes a text in place of the one before: in a notebook, or on a terminal."""
    stream = sys.stderr
    if not stream.isatty():
        return _notebook_line()

    def write(text: str) -> None:
        stream.write(f"\r\033[K{text}")
        stream.flush()

    return write


def _notebook_line() -> Callable[[str], None] | None:
    """Return a function that shows a text as the one output of the running cell; None without a kernel."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None) is None:  # no kernel of Jupyter: a terminal, or no IPython at all
        return None
    from IPython.display import display

    def show(text: str) -> None:
        number, handle = _output
        data = {"text/plain": text} if text else {"text/plain": "", "text/html": ""}  # no empty line is left
        if number == shell.execution_count:
            handle.update(data, raw=True)
        else:
            handle = display(data, raw=True, display_id=True)
            _output[:] = [shell.execution_count, handle]

    return show
