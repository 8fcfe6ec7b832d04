"""tf.debugging: assertions about tensors, with TensorFlow's signatures.

TensorFlow: python/ops/check_ops.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import check_numerics
from ..graph.ops.logging_ops import (
    Assert,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_rank,
    assert_shapes,
)
from .missing import module_getattr

__all__ = [
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_rank",
    "assert_shapes",
    "check_numerics",
]

if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
