"""xarray's DataArrays: the dimensions keep their names, and each cell of the result has a coordinate.

The coordinate of an output cell is that of the centre of its window: by the index law, at the input index
out_index * stride - pad_before + (filter_size - 1) / 2 * dilation. Between two cells, as for an even
filter, it is interpolated, and outside of the input it is extrapolated where the coordinate is uniform. A
transposed op reads the same law backwards, so that the coordinates of an image come back. The array inside
may be of any kind: NumPy's, dask's, CuPy's or PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from .. import nn_ops
from ..arguments import shape_only
from ..calls import Call
from ..devices import Adapter, adapter_of, lazy_call, to_array
from ..dialects.calls import FUNCTIONS, ConvCall
from ..errors import ArgumentError, ArgumentTypeError, brief
from ..geometry import AxisGeometry
from ..planning import Plan
from .shapes import arguments_of, call_of_shapes

__all__: list[str] = []


class Xarray(Adapter):
    """DataArrays: arrays with names for the axes and coordinates along them."""

    name = "xarray"
    labelled = True

    def knows(self, cls: type) -> bool:
        """Return whether it is a class of DataArrays; a Dataset holds several arrays."""
        return issubclass(cls, _xarray().DataArray)

    def takes_over(self, value: Any) -> bool:
        """Return whether the array inside does, such as dask's."""
        inside = adapter_of(value.data)
        return inside is not None and inside.takes_over(value.data)

    def to_array(self, value: Any, name: str) -> np.ndarray:
        """Return the array inside as NumPy's, or CuPy's on a GPU."""
        return to_array(value.data, name)

    def to_host(self, value: Any) -> np.ndarray:
        """Return the values as a NumPy array."""
        inside = adapter_of(value.data)
        return value.data if inside is None else inside.to_host(value.data)

    def lazy_call(self, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the arrays inside have, such as dask's."""
        inside = {name: self._inside(item) for name, item in kwargs.items()}
        return lazy_call(op, tuple(map(self._inside, args)), inside)

    def _inside(self, value: Any) -> Any:
        return value.data if adapter_of(value) is self else value

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run an op on the arrays inside, and give the result its dimensions and coordinates."""
        if isinstance(op, Plan):
            return self._planned(value, op, arguments.get("out"))
        if op not in nn_ops.RESOLVERS:
            raise ArgumentTypeError(
                f"{nn_ops.name_of(op)} takes no DataArray: give it the array inside, .data"
            )
        given = arguments_of(op, arguments)
        labelled = {name: item for name, item in given.items() if adapter_of(item) is self}
        if "out" in labelled:
            raise ArgumentTypeError("out must be an array without names; got a DataArray: out.data")
        given |= {name: item.data for name, item in labelled.items()}
        result = op(**given)
        if given.get("out") is not None:
            return result
        return _Labels(call_of_shapes(op, given, np.float32), op, labelled, given.get("data_format")).label(
            result
        )

    def _planned(self, value: Any, plan: Plan, out: Any) -> Any:
        """Return what a plan gives for the array inside, with the names that the op would give it."""
        result = plan(value.data, out)
        if out is not None:
            return result
        call = plan.call_of(shape_only(value.shape, plan.dtype))
        labelled = {call.op.words[call.kind.first]: value, "filters": plan.labels}
        labelled = {name: array for name, array in labelled.items() if array is not None}
        return _Labels(call, plan, labelled, call.layout).label(result)


def _xarray() -> Any:
    return import_module("xarray")


# the names of axes that no argument names: of a filter gradient, and of images
_OF_FILTERS = {"H": "filter_rows", "W": "filter_cols", "I": "in_channels", "O": "out_channels"}
_OF_FILTERS["M"] = "channel_multiplier"
_OF_IMAGES = {"N": "batch", "H": "rows", "W": "cols", "C": "channels"}


class _Labels:
    """The dimensions and coordinates of the result of a call.

    Args:
        call: the call.
        op: its op, or a dialect's function.
        labelled: the arguments that are DataArrays, by name.
        data_format: the layout of images, where the op has it as an argument.
    """

    def __init__(
        self, call: Call, op: Callable[..., Any], labelled: Mapping[str, Any], data_format: str | None
    ) -> None:
        self.call, self.data_format = call, data_format
        words = {operand.name: operand.role for operand in FUNCTIONS[op].operands} if op in FUNCTIONS else {}
        roles = {word: role for role, word in call.op.words.items()}
        found = {roles.get(words.get(name, name)): array for name, array in labelled.items()}
        self.arrays = {role: array for role, array in found.items() if role is not None}  # a bias has none

    def layout(self, role: str) -> str:
        """The letters of the axes of the caller's array of one role in the law."""
        names = self.call.names
        if isinstance(names, ConvCall):
            return names.layout(role)
        if role != "filters":
            return self.data_format or "NHWC"
        return "HWOI" if self.call.op.transposed else self.call.cells_of(role)[1]

    def label(self, result: Any) -> Any:
        """Return the result as a DataArray, or as it is where only the bias is one."""
        if not self.arrays:
            return result
        dims = {letter: self._name(letter) for letter in self.layout(self.call.kind.result)}
        if len(set(dims.values())) < len(dims):
            raise ArgumentError(
                f"the result's dimensions would be {list(dims.values())}, of which two have one name: rename "
                "one of an argument, such as filters.rename(...)"
            )
        coordinates: dict[Any, Any] = {}
        for role in self._sources():
            for name, coordinate in self.arrays[role].coords.items():
                moved = self._moved(role, name, coordinate, dims)
                if moved is not None:
                    coordinates.setdefault(name, moved)
        like = next(iter(self.arrays.values()))
        return _xarray().DataArray(result, coordinates, list(dims.values()), name=like.name, attrs=like.attrs)

    def _sources(self) -> list[str]:
        """The roles of the DataArrays, the images first."""
        return [role for role in (self.call.kind.first, self.call.kind.second) if role in self.arrays]

    def _axis_of(self, role: str, letter: str) -> str | None:
        """Return the letter that an axis of an argument is in the result, or None if it is not there."""
        kind = self.call.kind
        multiplied = self.layout("filters").endswith("M")
        if kind.sums_images:
            return {"input": "I", "output": None if multiplied else "O"}[role] if letter == "C" else None
        if role == "filters":
            return "C" if letter == ("I" if self.call.op.is_gradient else "O") and not multiplied else None
        names = self.call.names
        same = {
            "N": not (isinstance(names, ConvCall) and names.batch_groups > 1),  # else JAX splits the batch
            "C": multiplied and self.call.geometry.in_channels == self.call.geometry.out_channels,
        }
        return letter if same.get(letter, True) else None

    def _name(self, wanted: str) -> Any:
        """Return the name of an axis of the result."""
        for role in reversed(self._sources()):
            for letter, dim in zip(self.layout(role), self.arrays[role].dims, strict=True):
                if self._axis_of(role, letter) == wanted:
                    return dim
        images = self.arrays.get(self.call.kind.first)
        if images is not None and wanted == "C":
            return images.dims[self.layout(self.call.kind.first).index("C")]
        return (_OF_FILTERS if self.call.kind.sums_images else _OF_IMAGES)[wanted]

    def _moved(self, role: str, name: Any, coordinate: Any, dims: Mapping[str, Any]) -> Any:
        """Return a coordinate of an argument as one of the result, or None if the result lacks an axis."""
        letters = dict(zip(self.arrays[role].dims, self.layout(role), strict=True))
        values, moved = coordinate.values, []
        for axis, dim in enumerate(coordinate.dims):
            letter = self._axis_of(role, letters[dim])
            if letter is None:
                return None
            if letter in ("H", "W"):
                values = _interpolated(values, axis, self._centres(letter), name)
            moved.append(dims[letter])
        return tuple(moved), values, coordinate.attrs

    def _centres(self, letter: str) -> np.ndarray:
        """Return for each row or column of the result where its centre is among those of the images."""
        rows = letter == "H"
        axis: AxisGeometry = self.call.geometry.rows if rows else self.call.geometry.cols
        first = (axis.in_index(0, 0) + axis.in_index(0, axis.filter_size - 1)) / 2
        step = axis.stride
        if self.call.kind.gathers:
            found = first + step * np.arange(axis.out_size, dtype=np.float64)
        else:
            found = (np.arange(axis.in_size, dtype=np.float64) - first) / step
        names = self.call.names
        return found / names.stuffing[0 if rows else 1] if isinstance(names, ConvCall) else found


def _interpolated(values: np.ndarray, axis: int, places: np.ndarray, name: Any) -> np.ndarray:
    """Return a coordinate at fractional indices of one axis.

    Args:
        values: the coordinate.
        axis: the axis.
        places: the indices; one outside of the axis needs a uniform coordinate.
        name: what error messages call the coordinate.
    """
    last = values.shape[axis] - 1
    inside = bool((places >= 0).all() and (places <= last).all())
    if inside and (places == np.rint(places)).all():
        return values.take(places.astype(np.intp), axis)
    if values.dtype.kind not in "iufmM" or last < 1:
        raise ArgumentError(
            f"the coordinate {brief(name)}, of dtype {values.dtype} and size {last + 1}, has no value "
            "between its cells or outside of them, where windows of the result have their centres: "
            f"drop_vars({brief(name)}) leaves it out"
        )
    if not values.size:  # no images
        return values.take(np.zeros(len(places), np.intp), axis)
    origin = values.ravel()[0]
    distances = values - origin
    distance = distances.astype(np.float64)  # times are large integers, their distances are not
    steps = np.diff(distance, axis=axis)
    if not inside and np.ptp(steps) > 8 * np.spacing(np.abs(distance).max(initial=0)) + _rounding(values):
        raise ArgumentError(
            f"the coordinate {brief(name)} is not uniform, and windows of the result have their centre "
            f"outside of the input, where it has no value: drop_vars({brief(name)}) leaves it out"
        )
    before = np.clip(np.floor(places), 0, last - 1).astype(np.intp)
    share = (places - before).reshape([-1 if i == axis else 1 for i in range(values.ndim)])
    found = distance.take(before, axis) + share * steps.take(before, axis)
    if values.dtype.kind in "mM":
        rounded: Any = np.rint(found).astype(np.int64)
        return origin + rounded.astype(distances.dtype)
    dtype = values.dtype if values.dtype.kind == "f" else np.float64
    return (found + origin).astype(dtype)


def _rounding(values: np.ndarray) -> float:
    """Return by how much steps of a uniform coordinate differ because its values are rounded."""
    return 4 * float(np.spacing(np.abs(values).max())) if values.dtype.kind == "f" else 0.0


ADAPTER = Xarray()
