"""The graph to which TensorFlow 1's functions add, whether or not ops run eagerly elsewhere.

TensorFlow 1 has no eager execution: outside of ``with graph.as_default():`` there is a default graph. The
functions of `teachconv.tf.compat.v1` have one, too, so that a program of TensorFlow 1 needs no graph of its
own, also beside programs of TensorFlow 2. After `disable_v2_behavior` ops are added to a default graph
everywhere in the process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, isfunction, signature
from typing import Any, ParamSpec, TypeVar

from .... import graph as tg
from ....graph.framework.context import current_graph, set_default_graph
from ....graph.framework.tensor_shape import Version1Shape
from ....graph.options import either, unsupported

__all__ = ["enable_eager_execution", "imported_in_graph", "in_graph", "reset_default_graph", "version_1"]

# arguments that TensorFlow 2 renamed
_NEW_NAMES = {
    **dict.fromkeys(("dim", "dimension", "reduction_indices", "squeeze_dims"), "axis"),
    **dict.fromkeys(("dilation_rate", "rate"), "dilations"),
    **dict.fromkeys(("tensor", "value"), "input"),
    "filter": "filters",
    "ksizes": "sizes",
    "keep_dims": "keepdims",
    "preferred_dtype": "dtype_hint",
}

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
        with set_default_graph(current_graph() or _graph):
            tg.get_default_graph().shape_type = Version1Shape
            return function(*args, **kwargs)

    wrapper.__doc__ = (function.__doc__ or "").partition("\n    >>>")[0]
    return wrapper


def version_1(function: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate the parameters of a function in TensorFlow 1: the result calls that of TensorFlow 2.

    An argument with an old and a new name may be given by either. One that ``function`` does not have, such
    as ``use_cudnn_on_gpu``, has no effect.

    Args:
        function: the function of TensorFlow 2, which adds to the default graph.
    """
    taken = signature(function).parameters

    def decorate(parameters: Callable[P, R]) -> Callable[P, R]:
        wanted = signature(parameters)

        @wraps(parameters)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            given = wanted.bind(*args, **kwargs)
            given.apply_defaults()
            arguments: dict[str, Any] = {}
            for name in sorted(given.arguments, key=lambda name: name not in taken):
                new, value = name if name in taken else _NEW_NAMES.get(name, ""), given.arguments[name]
                is_meant = value is not None or name == "padding"  # which TensorFlow 1 never chooses
                if new in taken and (is_meant or taken[new].default is Parameter.empty):
                    arguments[new] = either(new, arguments.get(new), name, value)
            return function(**arguments)

        return in_graph(wrapper)

    return decorate


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
