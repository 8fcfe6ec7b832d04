"""The assertions of TensorFlow 1: those of tf.debugging, with ``data`` before the other options.

TensorFlow: python/ops/check_ops.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from ... import debugging
from ...missing import module_getattr
from ...options import unsupported
from .default_graph import in_graph

__all__ = list(debugging.__all__)

_OPTIONS = ("data", "summarize", "message", "name")
_SAME = ("Assert", "assert_shapes", "check_numerics")  # as in TensorFlow 2


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


globals().update(
    {
        name: in_graph(function) if name in _SAME else _assertion(function)
        for name, function in ((name, getattr(debugging, name)) for name in debugging.__all__)
    }
)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = module_getattr(__name__, __all__)
