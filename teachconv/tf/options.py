"""Arguments of TensorFlow that have two names, or that teachconv does not have."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError, brief

__all__ = ["either", "unsupported"]


def unsupported(**options: tuple[Any, Any]) -> None:
    """Refuse arguments that TensorFlow has and teachconv has not.

    Args:
        **options: for each name the value given and TensorFlow's default, which alone is legal.

    Raises:
        ValueError: if a value is not the default.

    >>> unsupported(conjugate=(True, False))
    Traceback (most recent call last):
        ...
    teachconv.errors.ArgumentError: conjugate must be False: teachconv has no other; got True
    """
    for name, (value, default) in options.items():
        if value is not default and not (isinstance(value, (bool, int, float, str)) and value == default):
            raise ArgumentError(
                f"{name} must be {brief(default)}: teachconv has no other; got {brief(value)}"
            )


def either(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """Return the value of an argument that has a new and an old name; None stands for one not given.

    TensorFlow: python/util/deprecation.py, deprecated_argument_lookup.

    >>> either("filters", None, "filter", 3)
    3
    """
    if value is not None and old_value is not None:
        raise ArgumentError(f"Cannot specify both '{old_name}' and '{name}'.")
    return value if old_value is None else old_value
