"""A learner's file, run in a process that holds no right answers: it imports nothing of the exercises."""

from __future__ import annotations

import builtins
import sys
from contextlib import suppress
from functools import cached_property, reduce
from pkgutil import resolve_name
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class Submission:
    """A file of functions, which only the process that calls them runs."""

    def __init__(self, path: str, text: bytes, only: tuple[str, ...] | None = None) -> None:
        self._path = path
        self._text = text  # as the caller read it: another submission may change the file
        self._only = only  # names of teachconv and of other modules: see `_import`

    @cached_property
    def _functions(self) -> dict[str, Any]:
        module = sys.modules["<submission>"] = ModuleType("<submission>")
        module.__file__ = self._path
        if self._only is not None:
            vars(module)["__builtins__"] = {**vars(builtins), "__import__": self._import}
        exec(compile(self._text, self._path, "exec", dont_inherit=True), vars(module))
        return vars(module)

    def _import(self, name: str, *more: Any) -> Any:
        """Import for the file: of teachconv and of the modules in `only`, these names alone."""
        root = name.partition(".")[0]
        names = [word for word in self._only or () if word.startswith(f"{root}.")]
        if not names and root not in ("teachconv", *(self._only or ())):
            return __import__(name, *more)
        wanted = (more[2] if len(more) > 2 else None) or ()
        for asked in [f"{name}.{word}" for word in wanted if word != "*"] or [name]:
            # a name itself, a package on the way to it, or a part of it
            if not any(f"{asked}.".startswith(f"{word}.") or word.startswith(f"{asked}.") for word in names):
                legal = f"; of {root} it may import {', '.join(names)}" if names else ""
                raise ImportError(f"a submission may not import {asked}{legal}")
        top = SimpleNamespace()
        for word in names:
            place, (*outer, last) = top, word.split(".")[1:]
            for part in outer:
                place = vars(place).setdefault(part, SimpleNamespace())
            setattr(place, last, resolve_name(word))
        return reduce(getattr, name.split(".")[1:], top) if wanted else top

    def answer(self, name: str, *args: Any) -> Any:
        """Call one of its functions; with the name "", run only the file."""
        if not name:
            return float(bool(self._functions))
        if name not in self._functions:
            raise NameError(f"there is no function {name}")
        answer = self._functions[name](*args)
        if answer is None:
            return None
        found = as_array(answer)
        return [object()] if found is None else found


def as_array(answer: Any) -> np.ndarray | None:
    """Return an answer as an array, in which objects such as fractions are float64; None if it is none."""
    with suppress(Exception):
        found = np.asarray(answer)
        return found.astype(float) if found.dtype.hasobject else found
    return None
