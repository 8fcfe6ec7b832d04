"""`EagerTensor`, what an op returns that runs immediately, and how values become arrays.

TensorFlow: python/framework/ops.py, EagerTensor, and python/framework/tensor_util.py. An eager tensor has a
value, which nothing can change. Python ints become int32, Python floats become float32, and arrays keep their
dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arguments import as_array, converted
from ...devices import to_host
from ...dtypes import is_integer
from ...errors import ArgumentError, ArgumentTypeError, brief
from .tensor import Operators
from .tensor_shape import TensorShape, as_shape

__all__ = ["EagerTensor", "converted_array", "frozen", "int_vector", "numpy_text", "static_shape", "to_array"]

_HOST = "/job:localhost/replica:0/task:0"


class EagerTensor(Operators):
    """A tensor with a value.

    NumPy's functions take it as an array (``__array__``); the operators run ops, which a tape records. It is
    hashed by identity, so it can be the key of a dict, although ``==`` compares the elements.

    Attributes:
        made_by: the name of the op that returned it; "" for a constant.
        gradient_of: the name under which the gradient function that returned it is registered, or "".

    Args:
        array: the value, which becomes read-only: the tensor takes it over. It may be an array on a GPU.
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
        if isinstance(array, np.ndarray):
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
            f"EagerTensor has no attribute {brief(name)}"
            + (": .numpy() gives an array, which has it" if hasattr(np.ndarray, name) else "")
        )

    # --- the value -------------------------------------------------------------------------------

    def _numpy(self) -> np.ndarray:
        """Return the read-only array itself, for the files of the runtime; a copy of one on a GPU."""
        return self._array if isinstance(self._array, np.ndarray) else to_host(self._array)

    def _held(self) -> Any:
        """Return the array where it is: NumPy's or, on a GPU, CuPy's."""
        return self._array

    def numpy(self) -> Any:
        """Return the value: a new array, or a NumPy scalar for a tensor without axes."""
        array = self._numpy()
        return array.copy() if array.ndim else array[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._numpy(), dtype) if copy else np.asarray(self._numpy(), dtype)

    def __bool__(self) -> bool:
        return bool(self._numpy())

    def __int__(self) -> int:
        return int(self._numpy())

    def __float__(self) -> float:
        return float(self._numpy())

    def __index__(self) -> int:
        return self._numpy().__index__()

    def __len__(self) -> int:
        if not self.ndim:
            raise ArgumentTypeError("Scalar tensor has no `len()`")
        return len(self._numpy())

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise ArgumentTypeError("Cannot iterate over a scalar tensor.")
        return (self[index] for index in range(len(self._numpy())))

    def __copy__(self) -> EagerTensor:
        return self

    def __deepcopy__(self, memo: Any) -> EagerTensor:
        return self

    def __reduce__(self) -> Any:
        return EagerTensor, (np.array(self._numpy()), self._device)

    # --- as text ---------------------------------------------------------------------------------

    def __format__(self, spec: str) -> str:
        return format(self._numpy()[()], spec)

    def __str__(self) -> str:
        lines = "\n" if "\n" in str(self._numpy()) else ""
        return f"tf.Tensor({lines}{self._numpy()!s}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={numpy_text(self._numpy())}>"


def numpy_text(array: np.ndarray) -> str:
    """Return an array as TensorFlow writes it after ``numpy=``: on a line of its own if it has several.

    >>> numpy_text(np.float32(1.1).reshape(()))
    '1.100000023841858'
    """
    text = repr(array if array.ndim else array.item())
    return f"\n{text}" if "\n" in text else text


def to_array(value: Any, dtype: np.dtype[Any] | None, name: str) -> np.ndarray:
    """Convert a value to an array of a supported dtype.

    Arrays are never converted to another dtype, because that would hide mistakes: `converted_array` is for a
    dtype that was asked for. Python numbers are converted if they fit.

    Args:
        value: an array, a NumPy scalar, a Python number or nested lists.
        dtype: the required dtype, or None.
        name: the name of the argument, for messages.

    Returns:
        The array.

    Raises:
        TypeError, ValueError: if the value is not numeric or has another dtype.

    >>> to_array(1, np.dtype("float32"), "x"), to_array(1.5, None, "x").dtype
    (array(1., dtype=float32), dtype('float32'))
    """
    if isinstance(value, EagerTensor):
        value = value._numpy()
    elif isinstance(value, TensorShape):
        value = list(value)
    if type(value) is np.ndarray and value.dtype == dtype:
        return value
    if value is None:
        raise ArgumentError(f"{name} must be numbers; got None: None values not supported.")
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, (bool, np.bool_)) or getattr(value, "dtype", None) == np.bool_:
        if dtype is None or dtype == np.bool_:
            return np.asarray(value)
        raise ArgumentTypeError(f"{name} must have dtype {dtype.name}; got {brief(value)}, which is bool")
    python = isinstance(value, (int, float, list, tuple)) and not isinstance(value, np.generic)
    if isinstance(value, (int, float)) and python:
        array = as_array([value], name, None).reshape(())
    else:
        array = as_array(np.asarray(value) if isinstance(value, np.generic) else value, name, None)
    if python and dtype is None and array.dtype == np.float64:
        return array.astype(np.float32)
    if dtype is None or array.dtype == dtype:
        return array
    if python and (not is_integer(dtype) or is_integer(array.dtype) or not array.size):
        return array.astype(dtype)
    raise ArgumentTypeError(
        f"{name} must have dtype {dtype.name}; got {array.dtype.name}: {converted(name, dtype.name)}"
    )


def converted_array(value: Any, dtype: np.dtype[Any] | None, name: str) -> np.ndarray:
    """Convert a value to an array of the dtype that the caller asked for; arrays are converted too.

    Args:
        value, name: as in `to_array`.
        dtype: the dtype that was asked for, or None.

    Returns:
        The array.

    Raises:
        TypeError, ValueError: if the value is not numeric, or has a number that an integer dtype cannot
            hold. TensorFlow would change that number in silence.

    >>> converted_array(np.linspace(0, 1, 3), np.dtype("float32"), "x")
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if dtype is not None and isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufV":
        with np.errstate(all="ignore"):
            array = np.asarray(value).astype(dtype)
        if is_integer(dtype) and not np.array_equal(array, value):
            raise ArgumentTypeError(
                f"{name} must fit dtype {dtype.name}; got {value.dtype.name} that does not: "
                f"{converted(name, dtype.name)} changes the numbers"
            )
        value = array
    return to_array(value, dtype, name)


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only copy, for a node to own."""
    array = np.array(array, order="C")
    array.flags.writeable = False
    return array


def static_shape(value: Any) -> Any:
    """Return the static shape of a tensor, a variable, an array or nested lists."""
    return as_shape(value.shape if hasattr(value, "shape") else to_array(value, None, "input").shape)


def int_vector(value: Any, name: str = "shape") -> Any:
    """Return ``value`` as a vector of ints; an empty list would otherwise become a vector of floats.

    Args:
        value: a tensor or an array, which is returned as it is, or an int or a sequence of ints or tensors.
        name: the name of the argument, for messages.

    Returns:
        What an op takes as a vector.

    Raises:
        TypeError: if it is none of these.
    """
    if hasattr(value, "dtype"):
        return value
    if isinstance(value, int):
        return [value]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise ArgumentTypeError(f"{name} must be ints or a vector; got {brief(value)}")
    return list(value) or to_array([], None, name).astype("int32")
