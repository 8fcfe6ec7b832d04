"""`EagerTensor`, what an op returns that runs immediately, and how values become arrays.

TensorFlow: python/framework/ops.py, EagerTensor, and python/framework/tensor_util.py. An eager tensor has a
value, which nothing can change. Python ints become int32, Python floats become float32, and arrays keep their
dtype.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...core.arguments import as_array
from ...core.dtypes import is_integer
from ...support import devices
from ...support.errors import ArgumentError, ArgumentTypeError, brief, plain
from .dtypes import with_attributes
from .op_def import is_trainable
from .tensor import Operators, tensor_dtype
from .tensor_shape import MOST_AXES, TensorShape, as_shape

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

    __slots__ = ("__weakref__", "_array", "_device", "_keras_logits", "gradient_of", "made_by")
    _keras_logits: Any  # of probabilities: what activations.softmax or sigmoid was given

    def __init__(self, array: np.ndarray, device: str = "/device:CPU:0") -> None:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
        self._array, self._device = array, device
        self.made_by = self.gradient_of = ""

    # --- properties ------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The dtype, a ``DType``."""
        return with_attributes(self._array.dtype)

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

    def __getattr__(self, name: str) -> Any:
        if name in ("op", "name", "graph", "eval"):
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
        return self._array if isinstance(self._array, np.ndarray) else devices.to_host(self._array)

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


# why a gradient may be None
NO_GRADIENT = (
    "a tape does not follow .numpy() and NumPy's functions, and follows a constant only after "
    "tape.watch(x); find_source(tape.gradient, target, x) says why there is none"
)


def to_array(value: Any, dtype: np.dtype[Any] | None, name: str) -> np.ndarray:
    """Convert a value to an array: what every op does with its arguments.

    Without a required dtype an array keeps its own, Python ints become int32, or int64 if they are too large,
    and floats what the first of them is, which for Python's is float32. For a required dtype arrays are
    converted, as in TensorFlow, and Python numbers, too, but no float to an integer. The dtype of a tensor
    changes by `cast` alone.

    Args:
        value: an eager tensor, an array, a NumPy scalar, a Python number or nested lists.
        dtype: the required dtype, or None.
        name: the name of the argument, for messages.

    Returns:
        The array.

    Raises:
        TypeError, ValueError: if the value is not numeric, is a tensor of another dtype, or has a number that
            the dtype cannot hold. TensorFlow would silently change an integer.

    >>> to_array(1, np.dtype("float32"), "x"), to_array(1.5, None, "x").dtype
    (array(1., dtype=float32), dtype('float32'))
    >>> to_array(np.linspace(0, 1, 3), np.dtype("float32"), "x")
    array([0. , 0.5, 1. ], dtype=float32)
    """
    if type(value) is np.ndarray and value.dtype == dtype:
        return value
    if isinstance(value, EagerTensor):
        if dtype is not None and dtype != value.dtype:
            raise ArgumentTypeError(
                f"{name} must have dtype {dtype.name}; got a tensor of {value.dtype.name}: cast converts it"
            )
        return value._numpy()
    if value is None:
        raise ArgumentError(
            f"{name} must be numbers; got None: None values not supported. (Of a gradient: {NO_GRADIENT})"
        )
    value = list(value) if isinstance(value, (TensorShape, range)) else value
    python = isinstance(value, (int, float, list, tuple)) and not isinstance(value, np.generic)
    array = array_of_python(value, name) if python else _array_of_others(value, name)
    if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        return as_array(array, name, None)  # raises: no numbers
    if python and dtype is None:
        dtype = _dtype_of_python(value, array, name)
    if dtype is None or dtype == array.dtype:
        return array if array.dtype in (np.uint8, np.bool_) else as_array(array, name, None)
    if python and _rank(array.dtype) > _rank(dtype) and array.size:
        raise ArgumentTypeError(f"{name} must have dtype {dtype.name}; got {brief(value)}")
    with np.errstate(all="ignore"):
        found = array.astype(dtype)
        if not is_trainable(dtype) and (wrong := found.astype(array.dtype) != array).any():
            raise ArgumentError(
                f"{name} must fit dtype {dtype.name}; "
                f"got {array.dtype.name} {array[wrong][0]}, which does not"
            )
    return found


def to_argument(value: Any, dtype: np.dtype[Any] | None, name: str) -> np.ndarray:
    """Convert an argument of an op, as `to_array`; a message names it as the program wrote it.

    The program called, say, ``uniform(shape, minval)``, and its minval is the y of an inner Mul.
    """
    try:
        return to_array(value, dtype, name)
    except (ArgumentError, ArgumentTypeError):
        name = _written(value) or name
    return to_array(value, dtype, name)  # raises again


def _written(value: Any) -> str | None:
    """Return the name that an argument has in the outermost function of teachconv that was called with it."""
    found, frame = None, sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("teachconv."):
        code = frame.f_code
        if not code.co_name.startswith(("_", "<")):  # "<lambda>"
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            same = (name for name in names if frame.f_locals.get(name) is value)
            found = next((f"{name} of {code.co_name}" for name in same), found)
        frame = frame.f_back  # type: ignore[assignment]
    return found


def own_dtype(value: Any, name: str) -> np.dtype[Any]:
    """Return the dtype of the tensor that a value becomes where no dtype is required."""
    found = tensor_dtype(value)
    return to_argument(value, None, name).dtype if found is None else found


def _array_of_others(value: Any, name: str) -> Any:
    """Return an array of NumPy, or of CuPy if it is on a GPU, for one of any library or a NumPy scalar."""
    devices.refuse_masked(value, name)
    devices.refuse_endless(value, name)
    array = devices.to_array(value, name)
    return array if devices.lies_on_a_gpu(array) else np.asarray(array)


def array_of_python(
    value: Any, name: str, legal: str = "nested lists of equal lengths, of numbers"
) -> np.ndarray:
    """Return what NumPy makes of a value; raise ``ValueError`` where it cannot."""
    devices.first_of(value, name)
    try:
        return np.asarray(value)
    except Exception as error:  # of lists of several lengths, or of a method of an item
        raise ArgumentError(f"{name} must be {legal}: {plain(error)}") from None


def _dtype_of_python(value: Any, array: np.ndarray, name: str) -> np.dtype[Any]:
    """Return the dtype of Python numbers: bool, the least integer type from int32, or that of floats.

    It is float32, unless the first number is a float of NumPy's.
    """
    first = devices.first_of(value, name)
    if isinstance(first, bool) and array.dtype != bool:
        raise ArgumentError(f"{name} must be numbers or bools, not both; got {brief(value)}")
    if array.dtype == bool:
        return array.dtype
    if is_integer(array.dtype):
        fits = (array.astype("int32") == array).all()
        return np.dtype("int32" if fits else "int64")
    own = getattr(first, "dtype", None)
    return own if own is not None and _rank(own) == 2 else np.dtype("float32")


def _rank(dtype: np.dtype[Any]) -> int:
    """Return 0 for bool, 1 for integers and 2 for floats: Python numbers become what ranks higher only."""
    return 2 if is_trainable(dtype) else int(is_integer(dtype))


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only copy, for a node to own."""
    array = np.array(array, order="C")
    array.flags.writeable = False
    return array


def static_shape(value: Any) -> Any:
    """Return the static shape of a tensor, a variable, an array or nested lists, which may hold tensors."""
    if isinstance(value, (list, tuple)) and tensor_dtype(value) is not None:
        inner = static_shape(value[0])
        return None if inner is None else (len(value), *inner)
    return as_shape(value.shape if hasattr(value, "shape") else to_argument(value, None, "input").shape)


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
    return list(islice(value, MOST_AXES + 1)) or to_array([], None, name).astype("int32")


def items(value: Any, name: str, what: str) -> list[Any]:
    """Return the items of the argument ``name``; raise unless it is ``what`` and not empty."""
    try:
        return list(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be {what}; got {brief(value)}") from None
