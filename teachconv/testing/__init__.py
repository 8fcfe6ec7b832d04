"""The verification kit: other people's convolutions, checked by the judge of `diff`.

``from teachconv import testing as T``: `kernel` makes a backend of a plain function and `process` one of a
program; `parametrize` runs the table of cases as tests, and `fuzz` looks for calls that fail.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..support.errors import no_attribute
from ..verification.cases import CASES, Case
from ..verification.invariance import InvarianceReport, check_invariance
from . import vectors
from .checking import Checked, check, parametrize
from .fuzzing import fuzz
from .kernels import kernel
from .programs import process

__all__ = [
    "CASES",
    "Case",
    "Checked",
    "InvarianceReport",
    "check",
    "check_invariance",
    "fuzz",
    "kernel",
    "parametrize",
    "process",
    "strategies",
    "vectors",
]


def __getattr__(name: str) -> Any:
    """Import what needs hypothesis when it is asked for."""
    if name == "strategies":
        return import_module(f"{__name__}.strategies")
    raise no_attribute(__name__, name, __all__)
