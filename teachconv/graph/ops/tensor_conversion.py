"""Converts whatever stands for a tensor to one.

TensorFlow: python/framework/tensor_conversion_registry.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dtypes import to_dtype
from ...errors import ArgumentError
from .array_ops import stack
from .constant_op import constant, is_tensor
from .variables import Variable

__all__ = ["convert_to_tensor"]


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a value as a tensor; a tensor is returned as it is.

    Args:
        value: a tensor, a variable, whose value is read, an array, a number, or nested lists of those.
        dtype: the dtype of the tensor; None keeps that of the value.
        name: the name of the node, where one is added.

    Returns:
        A tensor.

    Raises:
        ValueError: if ``value`` is None, or a tensor of another dtype, which is never converted: see `cast`.
        TypeError: if ``value`` is nothing that a tensor can hold.

    >>> from teachconv import graph as tg
    >>> x = tg.constant([1.0, 2.0])
    >>> convert_to_tensor(x) is x, convert_to_tensor([x, [3, 4]]).numpy().tolist()
    (True, [[1.0, 2.0], [3.0, 4.0]])
    """
    if value is None:
        raise ArgumentError("None values not supported.")
    if isinstance(value, Variable):
        value = value.value()
    if is_tensor(value):
        if dtype is not None and value.dtype != to_dtype(dtype):
            raise ArgumentError(
                f"Tensor conversion requested dtype {to_dtype(dtype)} for Tensor with dtype {value.dtype}: "
                f"{value!r}; cast converts a tensor"
            )
        return value
    if isinstance(value, (list, tuple)) and (dtypes := list(_dtypes(value))):
        wanted = dtypes[0] if dtype is None else dtype
        return stack([convert_to_tensor(item, wanted) for item in value], name=name or "packed")
    if dtype is not None and hasattr(value, "astype"):
        value = value.astype(to_dtype(dtype), casting="same_kind")
    return constant(value, dtype, name=name or "Const")


def _dtypes(value: Any) -> Iterator[Any]:
    """Yield the dtypes of the tensors and variables in nested lists."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _dtypes(item)
    elif is_tensor(value) or isinstance(value, Variable):
        yield value.dtype
