"""The verification kit: what checks convolutions that are not ours.

``from teachconv import testing``
"""

from __future__ import annotations

from ..verification.cases import CASES, Case
from ..verification.invariance import InvarianceReport, check_invariance

__all__ = ["CASES", "Case", "InvarianceReport", "check_invariance"]
