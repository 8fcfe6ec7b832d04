"""The verification kit: other people's convolutions, checked by the judge of `diff`.

``from teachconv import testing as T``; `kernel` makes a backend of a plain function.
"""

from __future__ import annotations

from ..verification.cases import CASES, Case
from .kernels import kernel
from .programs import process

__all__ = ["CASES", "Case", "kernel", "process"]
