"""Checks of arguments, and the names of layers, models, losses and other things.

Keras: keras/src/utils/naming.py, and the ``get`` function of each module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from ..core.arguments import integer, real
from ..graph.core_ops.op_gen import snake_case as snake_case  # losses, metrics and others use it, too
from ..graph.framework.eager_tensor import array_of_python
from ..graph.options import check_type
from ..support.errors import ArgumentError, ArgumentTypeError, brief, suggestion
from .missing import instead_of

_AXES = 64  # NumPy's arrays have no more


def check_number(value: Any, name: str, low: float, high: float = inf, *, below: bool = False) -> float:
    """Return ``value`` as a float; raise unless it is a finite number from ``low`` to ``high``.

    Args:
        value: the number.
        name: what error messages call the argument.
        low: the smallest legal value.
        high: the largest legal value; infinity for no limit.
        below: whether ``high`` itself is illegal.

    Returns:
        A float.

    Raises:
        ValueError, TypeError: if it is not such a number.

    >>> check_number(0.5, "rate", 0, 1)
    0.5
    """
    check_type(value, (int, float, np.integer, np.floating), f"{name} must be a number")
    number = real(value, name)
    if not (low <= number <= high and number < inf and not (below and number == high)):
        upper = f" to {'below ' * below}{high}" if high < inf else ", and finite"
        raise ArgumentError(f"{name} must be from {low}{upper}; got {brief(value)}")
    return number


def check_name(name: Any, default: str) -> str:
    """Return a name; None stands for the default."""
    if not isinstance(name, str | None) or name == "":
        raise ArgumentTypeError(f"name must be a text or None; got {brief(name)}")
    return default if name is None else name


def check_sizes(
    value: Any, name: str, least: int | None = 0, *, batch: bool = False, known: bool = False
) -> tuple[Any, ...]:
    """Return a shape, with or without its batch, or that of a weight (``known``), as a tuple.

    None is an unknown size if ``least`` is 0.
    """
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Sequence) or len(value) > _AXES:
        legal = "without the batch, such as (28, 28, 1)"
        if batch or known:
            legal = "with the batch, such as (None, 28, 28, 1)" if batch else "of it, such as (3, 3, 1, 8)"
        raise ArgumentTypeError(f"{name} must be the sizes {legal}; got {brief(value)}")
    is_open = least == 0 and not known
    sizes = tuple(None if size is None and is_open else integer(size, name) for size in value)
    if any(size is not None and least is not None and size < least for size in sizes):
        raise ArgumentError(f"{name} must hold sizes from {least}; got {brief(value)}")
    return sizes


def as_numpy(value: Any, name: str) -> np.ndarray:
    """Return what NumPy makes of a value; raise ``ValueError`` where it cannot."""
    return array_of_python(value, name, "an array")


def check_list(value: Any, name: str, of: str) -> list[Any]:
    """Return a list or tuple as a list, None as an empty one; raise for anything else."""
    if value is None:
        return []
    check_type(value, (list, tuple), f"{name} must be a list of {of}")
    return list(value or ())


_OWN_LOSS = "fit takes sample_weight, and compile a loss of your own, a function of (y_true, y_pred)"
_CLIP = "a train_step of your own can clip the gradients"
_INSTEAD = {
    "class_weight": _OWN_LOSS,
    "clipnorm": _CLIP,
    "clipvalue": _CLIP,
    "global_clipnorm": _CLIP,
    "label_smoothing": "smooth the labels: y * (1 - a) + a / classes",
    "loss_weights": _OWN_LOSS,
    "validation_freq": "a callback can call evaluate in on_epoch_end",
    "weight_decay": "kernel_regularizer of the layers adds the squares of the weights to the loss",
}


# Values that an unsupported argument may have because they change nothing: Keras' defaults, mostly None.
_NOTHING: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("class_weight", "loss_weights", "weighted_metrics"), (None,)),
    **dict.fromkeys(("callbacks", "clipnorm", "clipvalue", "global_clipnorm", "loss_scale_factor"), (None,)),
    **dict.fromkeys(("ema_overwrite_frequency", "gradient_accumulation_steps"), (None,)),
    **dict.fromkeys(("dtype", "ignore_class"), (None,)),
    **dict.fromkeys(("amsgrad", "renorm", "synchronized", "use_ema"), (False,)),
    **dict.fromkeys(("ema_momentum", "renorm_momentum"), (0.99,)),
    **dict.fromkeys(("steps_per_execution", "validation_freq"), (1,)),
    "auto_scale_loss": (True,),
    "axis": (-1,),
    "jit_compile": ("auto", False),  # nothing is compiled here
    "label_smoothing": (0.0,),
    "reduction": ("sum_over_batch_size",),
    "weight_decay": (None, 0.0),
}


def means_nothing(name: str, value: Any) -> bool:
    """Return whether the value of an unsupported argument changes nothing, because it is Keras' default.

    >>> means_nothing("axis", -1), means_nothing("axis", 0), means_nothing("reduction", None)
    (True, False, False)
    """
    legal = _NOTHING.get(name, (None,))
    return value in legal if isinstance(value, (bool, int, float, str)) else value is None and None in legal


def refuse(function: str, unknown: Mapping[str, Any]) -> None:
    """Raise for arguments that a function lacks, unless Keras has them and their values change nothing.

    >>> refuse("fit", {"validation_freq": 1})
    >>> refuse("fit", {"initial_step": 3})
    Traceback (most recent call last):
        ...
    teachconv.support.errors.ArgumentTypeError: fit has no argument 'initial_step' in teachconv.keras
    """
    for name, value in unknown.items():
        if name not in _NOTHING or not means_nothing(name, value):
            instead = _INSTEAD.get(name)
            raise ArgumentTypeError(
                f"{function} has no argument {brief(name)} in "
                f"teachconv.keras{': ' * bool(instead)}{instead or ''}"
            )


def shape_text(shape: Any) -> str:
    """Write a shape as Keras does, or a list of shapes.

    >>> shape_text((None, 8, 8, 1)), shape_text([(10,), (3, 4)])
    ('(None, 8, 8, 1)', '[(10,), (3, 4)]')
    """
    if isinstance(shape, list):
        return f"[{', '.join(map(shape_text, shape))}]"
    return str(tuple(None if size is None else int(size) for size in shape))


_used: Counter[str] = Counter()


def unique_name(class_name: str) -> str:
    """Return the name of a new layer or model: its class in snake case, and a number from the second on.

    >>> clear_session()
    >>> unique_name("MaxPooling2D"), unique_name("MaxPooling2D"), unique_name("Conv2DTranspose")
    ('max_pooling2d', 'max_pooling2d_1', 'conv2d_transpose')
    """
    name = snake_case(class_name)
    _used[name] += 1
    return name if _used[name] == 1 else f"{name}_{_used[name] - 1}"


def clear_session() -> None:
    """Restart the numbers in the names of layers and models, as keras.utils.clear_session."""
    _used.clear()


def look_up(identifier: Any, known: Mapping[str, Any], noun: str, argument: str = "") -> Any:
    """Return the object that a name stands for; return anything callable unchanged.

    Args:
        identifier: a name, in snake case, in capitals or that of a class, or a function, class or object.
        known: the available objects by name.
        noun: the kind of object, for the error message: the module's name without its s.
        argument: the argument's name in the error message, if it is not ``noun``.

    Returns:
        The entry of ``known``, or ``identifier``; for a class, an object made without arguments.

    Raises:
        ValueError: if there is no such name.
        TypeError: if it is neither a name nor callable.
    """
    if isinstance(identifier, str):
        by_name = {**known} | {entry.__name__: entry for entry in known.values()}
        if identifier.isupper() and identifier not in by_name:  # Keras knows "ADAM" and "MSE", too
            return look_up(identifier.lower(), known, noun, argument)
        if identifier not in by_name:
            instead = instead_of("losses" if noun == "loss" else f"{noun}s", identifier)
            near = f"; nearest: {instead}" if instead else suggestion(identifier, known)
            raise ArgumentError(
                f"{argument or noun} must be one of {', '.join(known)}; got {brief(identifier)}{near}"
            )
        identifier = by_name[identifier]
    check_type(identifier, Callable, f"{argument or noun} must be a name ({', '.join(known)}) or callable")
    return identifier() if isinstance(identifier, type) else identifier
