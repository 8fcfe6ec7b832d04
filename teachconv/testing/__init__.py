"""The verification kit: what checks convolutions that are not ours.

``from teachconv import testing``
"""

from __future__ import annotations

from ..verification.cases import CASES, Case
from ..verification.invariance import check_invariance

__all__ = ["CASES", "Case", "check_invariance"]
