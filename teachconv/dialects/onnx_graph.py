"""Writes an ONNX graph node by node: `OnnxGraph`, and `OnnxTensor`, which is arranged like a NumPy array.

``transpose``, ``reshape`` and slices of a tensor add nodes, so that code that arranges arrays arranges
tensors too. Transposes are held back until a node needs their result: two that cancel leave no node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from ..core.arguments import Pair
from ..support.errors import ArgumentError, BackendUnavailable

OPSET = 18  # the first in which Pad, Resize and the others here have their present form
_IR_VERSION = 8  # that of opset 18
_DTYPES = ("float16", "float32", "float64")  # of Conv in opset 18
_LARGEST = 2**31 - 1  # of a protobuf message

Sizes = tuple[int | None, ...]  # a size that may vary is None; only the batch does


def import_onnx(needed_by: str) -> Any:
    """Return the package onnx; raise ``BackendUnavailable`` if it is missing."""
    try:
        import onnx
    except ImportError as error:
        raise BackendUnavailable(
            f"{needed_by} needs the package onnx: pip install teachconv[onnx] or pip install onnx"
        ) from error
    return onnx


class OnnxTensor:
    """A tensor of an `OnnxGraph`, with the shape and the dtype that it will have.

    Attributes:
        graph: the graph.
        shape: its shape; None for a batch of any size.
        dtype: its dtype.
    """

    __slots__ = ("_order", "_stored", "dtype", "graph", "shape")

    def __init__(
        self,
        graph: OnnxGraph,
        stored: str,
        shape: Sizes,
        dtype: np.dtype[Any],
        order: tuple[int, ...] | None = None,
    ):
        self.graph, self.shape, self.dtype = graph, shape, dtype
        self._stored = stored  # the name of what the graph holds
        self._order = tuple(range(len(shape))) if order is None else order  # its axes, as they are here

    @property
    def name(self) -> str:
        """The name that nodes use; a transpose that was held back is now added."""
        if self._order != tuple(range(len(self.shape))):
            held = OnnxTensor(self.graph, self._stored, _stored_shape(self.shape, self._order), self.dtype)
            done = self.graph.add("Transpose", [held], self.shape, perm=list(self._order))
            self._stored, self._order = done._stored, done._order
        return self._stored

    def transpose(self, *order: Any) -> OnnxTensor:
        """Return the tensor with its axes in a different order, like ``numpy.ndarray.transpose``."""
        axes = tuple(order[0]) if len(order) == 1 else order
        shape = tuple(self.shape[axis] for axis in axes)
        return OnnxTensor(
            self.graph, self._stored, shape, self.dtype, tuple(self._order[axis] for axis in axes)
        )

    def reshape(self, *shape: Any) -> OnnxTensor:
        """Return the tensor with a different shape, like ``numpy.ndarray.reshape``; -1 is derived."""
        sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if -1 in sizes and None not in self.shape:
            rest = prod(self.shape) // -prod(sizes)  # type: ignore[arg-type]
            sizes = tuple(rest if size == -1 else size for size in sizes)
        if sizes == self.shape:
            return self
        wanted = np.array([-1 if size is None else size for size in sizes], np.int64)
        known = tuple(None if size == -1 else size for size in sizes)
        return self.graph.add("Reshape", [self, self.graph.constant("shape", wanted)], known)

    def __getitem__(self, index: Any) -> OnnxTensor:
        """Return a part: ``tensor[None]`` has one more axis; slices cut the first axes or turn them round."""
        if index is None:
            return self.reshape(1, *self.shape)
        return self._sliced(dict(enumerate(index if isinstance(index, tuple) else (index,))))

    def __len__(self) -> int:
        return _known(self.shape[0])

    def map(
        self,
        op_type: str,
        inputs: Sequence[str] = (),
        shape: Sizes | None = None,
        dtype: Any = None,
        **attributes: Any,
    ) -> OnnxTensor:
        """Return the result of a node that does not mix axes, added before a transpose that is held back."""
        shape = self.shape if shape is None else shape
        held = OnnxTensor(self.graph, self._stored, _stored_shape(self.shape, self._order), self.dtype)
        stored = _stored_shape(shape, self._order)
        done = self.graph.add(op_type, [held, *inputs], stored, dtype=dtype, **attributes)
        return OnnxTensor(self.graph, done._stored, shape, done.dtype, self._order)

    def cast(self, dtype: Any) -> OnnxTensor:
        """Return the tensor in another dtype."""
        return self.map("Cast", dtype=dtype, to=self.graph.kind_of(dtype))

    def pad(self, pads: Mapping[int, Pair]) -> OnnxTensor:
        """Return the tensor with zeros (before, after) on some axes; none at all adds no node."""
        if not any(map(any, pads.values())):
            return self
        sizes, columns = list(self.shape), np.zeros((2, len(self.shape)), np.int64)
        for axis, added in pads.items():
            sizes[axis] = _known(sizes[axis]) + sum(added)
            columns[:, self._order[axis]] = added
        names = [self.graph.constant("pads", columns.ravel())]
        return self.map("Pad", names, tuple(sizes), mode="constant")

    def crop(self, crops: Mapping[int, Pair]) -> OnnxTensor:
        """Return the tensor without (before, after) cells of some axes; no node if there are none."""
        if not any(map(any, crops.values())):
            return self
        return self._sliced(
            {axis: slice(before, _known(self.shape[axis]) - after) for axis, (before, after) in crops.items()}
        )

    def _sliced(self, slices: Mapping[int, slice]) -> OnnxTensor:
        sizes, rows = list(self.shape), []
        for axis, part in slices.items():
            start, stop, step = part.indices(_known(sizes[axis]))
            sizes[axis] = len(range(start, stop, step))
            # a stop in front of the first element is -1 in Python's range; ONNX counts -1 from the end
            rows.append((start, np.iinfo(np.int64).min if stop < 0 else stop, self._order[axis], step))
        columns = np.array(rows, np.int64).T
        names = [
            self.graph.constant(name, column)
            for name, column in zip(("starts", "ends", "axes", "steps"), columns, strict=True)
        ]
        return self.map("Slice", names, tuple(sizes))


class OnnxGraph:
    """A graph that is being written.

    Attributes:
        scope: what the names of new nodes and constants begin with.
    """

    def __init__(self, name: str):
        self.name, self.scope = name, ""
        self._onnx = import_onnx("to_onnx")
        self._names: set[str] = set()
        self._nodes: list[Any] = []
        self._constants: dict[str, np.ndarray] = {}
        self._inputs: list[OnnxTensor] = []

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Let the names of what is added in the block begin with ``name``."""
        before, self.scope = self.scope, f"{self.scope}{name}/"
        try:
            yield
        finally:
            self.scope = before

    def input(self, name: str, shape: Sizes, dtype: Any) -> OnnxTensor:
        """Return a new input of the model."""
        found = OnnxTensor(self, self._unique(name), tuple(shape), np.dtype(dtype))
        self._inputs.append(found)
        return found

    def constant(self, name: str, array: np.ndarray) -> str:
        """Add an array to the file, unless the file has it already, and return its name."""
        wanted = self.scope + name
        for known in (wanted, *(key for key in self._constants if key.startswith(f"{wanted}_"))):
            there = self._constants.get(known)
            if (
                there is not None
                and there.dtype == array.dtype
                and np.array_equal(there, array, equal_nan=True)
            ):
                return known
        unique = self._unique(wanted)
        self._constants[unique] = array
        return unique

    def tensor(self, name: str, value: np.ndarray | OnnxTensor) -> OnnxTensor:
        """Return a tensor as it is, and an array as a constant of the file."""
        if isinstance(value, OnnxTensor):
            return value
        return OnnxTensor(self, self.constant(name, np.ascontiguousarray(value)), value.shape, value.dtype)

    def add(
        self,
        op_type: str,
        inputs: Sequence[OnnxTensor | str],
        shape: Sizes,
        dtype: Any = None,
        **attributes: Any,
    ) -> OnnxTensor:
        """Add a node.

        Args:
            op_type: the operator.
            inputs: tensors, and names of constants.
            shape: the shape of the result.
            dtype: the dtype of the result; None for that of the first input.
            **attributes: the node's attributes.

        Returns:
            The result.
        """
        names = [item if isinstance(item, str) else item.name for item in inputs]
        name = self._unique(self.scope + op_type)
        self._nodes.append(self._onnx.helper.make_node(op_type, names, [name], name=name, **attributes))
        first = inputs[0]
        assert isinstance(first, OnnxTensor)
        return OnnxTensor(self, name, shape, np.dtype(dtype or first.dtype))

    def model(self, name: str, output: OnnxTensor) -> Any:
        """Return the model with one output, checked by ``onnx.checker``.

        Args:
            name: what the output is called.
            output: the tensor.

        Returns:
            An ``onnx.ModelProto``.

        Raises:
            ArgumentError: if the weights are larger than a file can hold.
        """
        nbytes = sum(array.nbytes for array in self._constants.values())
        if nbytes > _LARGEST:
            raise ArgumentError(f"the weights of an ONNX file must be below 2 GiB; got {nbytes} bytes")
        onnx, stored = self._onnx, output.name
        if any(stored == item._stored for item in self._inputs):
            stored = output.map("Identity").name
        name = self._unique(name)
        for node in self._nodes:
            node.output[:] = [name if item == stored else item for item in node.output]
            node.input[:] = [name if item == stored else item for item in node.input]
        graph = onnx.helper.make_graph(
            self._nodes,
            self.name,
            [self._value_info(item._stored, item) for item in self._inputs],
            [self._value_info(name, output)],
            [onnx.numpy_helper.from_array(array, key) for key, array in self._constants.items()],
        )
        from .. import __version__

        model = onnx.helper.make_model(
            graph,
            opset_imports=[onnx.helper.make_opsetid("", OPSET)],
            ir_version=_IR_VERSION,
            producer_name="teachconv",
            producer_version=__version__,
        )
        onnx.checker.check_model(model, full_check=True)
        return model

    def _value_info(self, name: str, tensor: OnnxTensor) -> Any:
        sizes = ["batch" if size is None else size for size in tensor.shape]
        return self._onnx.helper.make_tensor_value_info(name, self.kind_of(tensor.dtype), sizes)

    def kind_of(self, dtype: Any) -> int:
        """Return ONNX's number of a dtype."""
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _unique(self, name: str) -> str:
        found, number = name, 0
        while found in self._names:
            number += 1
            found = f"{name}_{number}"
        self._names.add(found)
        return found


def check_dtype(dtype: Any, name: str) -> None:
    """Raise unless Conv of ONNX takes the dtype."""
    if np.dtype(dtype).name not in _DTYPES:
        raise ArgumentError(
            f"{name} must have a dtype of ONNX's Conv in opset {OPSET}, {', '.join(_DTYPES)}; got {dtype}"
        )


def _stored_shape(shape: Sizes, order: Sequence[int]) -> Sizes:
    """Return the shape of what a graph holds, whose axes in ``order`` have the shape given."""
    return tuple(shape[order.index(axis)] for axis in range(len(order)))


def _known(size: int | None) -> int:
    assert size is not None, "only the batch has no size, and nothing cuts or pads the batch"
    return size
