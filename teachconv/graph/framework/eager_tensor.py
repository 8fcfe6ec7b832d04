"""`EagerTensor`: what an op returns that runs immediately. It has a value, and nothing can change it.

TensorFlow: python/framework/ops.py, EagerTensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError
from .operators import Operators
from .tensor_shape import TensorShape

__all__ = ["EagerTensor"]

_HOST = "/job:localhost/replica:0/task:0"


class EagerTensor(Operators):
    """A tensor with a value.

    NumPy's functions take it as an array (``__array__``); the operators run ops, which a tape records. It is
    hashed by identity, so it can be the key of a dict, although ``==`` compares the elements.

    Attributes:
        made_by: the name of the op that returned it; "" for a constant.
        gradient_of: the name under which the gradient function that returned it is registered, or "".

    Args:
        array: the value, which becomes read-only: the tensor takes it over.
        device: the name of the device that computed it.

    >>> import numpy as np
    >>> t = EagerTensor(np.float32([1, 2]))
    >>> print(t)
    tf.Tensor([1. 2.], shape=(2,), dtype=float32)
    >>> t, t.numpy(), t.shape, t.device
    (<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>,
     array([1., 2.], dtype=float32), TensorShape([2]), '/job:localhost/replica:0/task:0/device:CPU:0')
    """

    __slots__ = ("__weakref__", "_array", "_device", "gradient_of", "made_by")

    def __init__(self, array: np.ndarray, device: str = "/device:CPU:0") -> None:
        array.flags.writeable = False
        self._array, self._device = array, device
        self.made_by = self.gradient_of = ""

    # --- properties ------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return self._array.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, a `TensorShape`."""
        return TensorShape(self._array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._array.ndim

    @property
    def device(self) -> str:
        """The full name of the device that computed it."""
        return _HOST + self._device

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    def __getattr__(self, name: str) -> Any:
        if name in ("op", "name", "graph", "value_index", "consumers", "eval"):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        if name in ("assign", "assign_add", "assign_sub"):
            raise AttributeError(
                f"a tensor has no {name}: only a variable as a whole has one, and v[...] is a tensor"
            )
        raise AttributeError(
            f"EagerTensor has no attribute {name!r}"
            + (": .numpy() gives an array, which has it" if hasattr(np.ndarray, name) else "")
        )

    # --- the value -------------------------------------------------------------------------------

    def _numpy(self) -> np.ndarray:
        """Return the read-only array itself, for the files of the runtime."""
        return self._array

    def numpy(self) -> Any:
        """Return the value: a new array, or a NumPy scalar for a tensor without axes."""
        return self._array.copy() if self._array.ndim else self._array[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array, dtype) if copy else np.asarray(self._array, dtype)

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __float__(self) -> float:
        return float(self._array)

    def __index__(self) -> int:
        return self._array.__index__()

    def __len__(self) -> int:
        if not self._array.ndim:
            raise ArgumentTypeError("Scalar tensor has no `len()`")
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        if not self._array.ndim:
            raise ArgumentTypeError("Cannot iterate over a scalar tensor.")
        return (self[index] for index in range(len(self._array)))

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> Any:
        return EagerTensor, (np.array(self._array), self._device)

    # --- as text ---------------------------------------------------------------------------------

    def __format__(self, spec: str) -> str:
        return format(self._array[()], spec)

    def __str__(self) -> str:
        lines = "\n" if "\n" in str(self._array) else ""
        return f"tf.Tensor({lines}{self._array!s}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        value = repr(self._array) if self._array.ndim else str(self._array)
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={value}>"
