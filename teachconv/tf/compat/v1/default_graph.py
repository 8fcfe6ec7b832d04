"""The graph to which TensorFlow 1's functions add, whether or not ops run eagerly elsewhere.

TensorFlow 1 has no eager execution: outside of ``with graph.as_default():`` there is a default graph. The
functions of `teachconv.tf.compat.v1` have one, too, so that a program of TensorFlow 1 needs no graph of its
own, also beside programs of TensorFlow 2. After `disable_v2_behavior` ops are added to a default graph
everywhere in the process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import Any, ParamSpec, TypeVar

from .... import graph as tg
from ....graph.framework.context import set_default_graph
from ....graph.options import unsupported

__all__ = ["enable_eager_execution", "imported_in_graph", "in_graph", "reset_default_graph"]

P = ParamSpec("P")
R = TypeVar("R")


def _default() -> tg.Graph:
    graph = tg.Graph()
    graph.is_default = True
    return graph


_graph = _default()


def in_graph(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that adds to the default graph where ``function`` would run eagerly.

    Its description has no examples, because those of ``function`` are eager.
    """

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if not tg.executing_eagerly():
            return function(*args, **kwargs)
        with set_default_graph(_graph):
            return function(*args, **kwargs)

    wrapper.__doc__ = (function.__doc__ or "").partition("\n    >>>")[0]
    return wrapper


def imported_in_graph(module: dict[str, Any]) -> None:
    """Let the public functions that a module has imported add to the default graph, as its own functions do.

    Args:
        module: the names of the module, which is complete.
    """
    for name in module["__all__"]:
        function = module[name]
        if isfunction(function) and function.__module__ != module["__name__"]:
            module[name] = in_graph(function)


def reset_default_graph() -> None:
    """Replace the default graph by an empty one.

    Raises:
        ValueError: inside ``with graph.as_default():``, where that would have no effect.
    """
    global _graph
    tg.reset_default_graph()
    _graph = _default()


@unsupported("config", "device_policy", "execution_mode")
def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Run ops immediately again, after `disable_eager_execution`; this package still adds to graphs.

    Args:
        config, device_policy, execution_mode: must be None.

    Raises:
        ValueError: if one of them is given.
    """
    tg.enable_v2_behavior()
