"""Reports the progress of a long computation on a terminal and in a notebook, and nowhere else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

from .settings import within

_Item = TypeVar("_Item")
_PAUSE = 0.1  # seconds between two texts
_PATIENCE = 2.5  # seconds before a line is shown: what is quick leaves no output in a notebook


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
        with within(_saying, lambda words: outer(f"{what}: {words}")):
            yield
    elif show is not None:
        with _shown(show, f"{what} …") as tell, within(_saying, lambda words: tell(f"{what}: {words} …")):
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
    """Return a function that writes a text over the one before, on a terminal or below a notebook's cell."""
    stream = sys.stderr
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    # A notebook obeys "\r" as a terminal does. One that is run for a page has nobody whom it could ask for
    # input, and every line would stay in the page.
    request: dict[str, Any] = getattr(getattr(shell, "kernel", None), "get_parent", dict)()
    in_notebook = request.get("content", {}).get("allow_stdin", False)
    if not in_notebook and not stream.isatty():
        return None
    width, shown = 0, -1.0

    def write(text: str) -> None:
        nonlocal width, shown
        now = monotonic()
        if text and now - shown < _PAUSE:
            return
        shown = now
        blank = f"\r{' ' * width}\r" if in_notebook else "\r\033[K"
        stream.write(f"{blank}{text}")
        stream.flush()
        width = len(text)

    return write
