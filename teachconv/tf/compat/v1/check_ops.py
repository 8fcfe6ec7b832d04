"""The assertions of TensorFlow 1: those of tf.debugging, with ``data`` before the other options.

TensorFlow: python/ops/check_ops.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from ... import debugging
from ...options import unsupported
from .default_graph import in_graph

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
    "check_numerics",
]

_OPTIONS = ("data", "summarize", "message", "name")


def _assertion(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an assertion with the arguments of TensorFlow 1: what is compared, then the options."""
    known = inspect.signature(function).parameters
    compared = [parameter for name, parameter in known.items() if name not in _OPTIONS]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    options = [inspect.Parameter(name, kind, default=None) for name in _OPTIONS]
    signature = inspect.Signature([*compared, *options])

    @wraps(function)
    def assertion(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        unsupported(**{name: (given.pop(name, None), None) for name in _OPTIONS if name not in known})
        return function(**given)

    assertion.__signature__ = signature  # type: ignore[attr-defined]
    return in_graph(assertion)


Assert = in_graph(debugging.Assert)
assert_equal = _assertion(debugging.assert_equal)
assert_greater = _assertion(debugging.assert_greater)
assert_greater_equal = _assertion(debugging.assert_greater_equal)
assert_less = _assertion(debugging.assert_less)
assert_less_equal = _assertion(debugging.assert_less_equal)
assert_near = _assertion(debugging.assert_near)
assert_negative = _assertion(debugging.assert_negative)
assert_non_negative = _assertion(debugging.assert_non_negative)
assert_non_positive = _assertion(debugging.assert_non_positive)
assert_none_equal = _assertion(debugging.assert_none_equal)
assert_positive = _assertion(debugging.assert_positive)
assert_rank = _assertion(debugging.assert_rank)
check_numerics = in_graph(debugging.check_numerics)
