"""The summary of a model: a row for each layer. Keras: keras/src/utils/summary_utils.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import tables
from ..arguments import truth
from ..errors import ArgumentError, brief
from ..geometry import Conv2DGeometry
from ..inspection.receptive import receptive_field
from .checks import shape_text
from .layers.layer import Layer, number_of_elements

if TYPE_CHECKING:
    from .models import Model

__all__ = ["Row", "Summary"]


@dataclass(frozen=True, slots=True)
class Row:
    """One layer.

    Attributes:
        name: its name.
        kind: its class.
        output_shape: the shape of its output; the batch is None.
        params: the number of elements of its weights.
        trainable: whether an optimizer changes them; None for a layer without weights.
        geometry: the geometry of its window for one image, or None.
        sees: (rows, cols) of the model's input that one cell of its output depends on, or None.
    """

    name: str
    kind: str
    output_shape: tuple[int | None, ...]
    params: int
    trainable: bool | None
    geometry: Any
    sees: tuple[int, int] | None


@dataclass(frozen=True, slots=True, repr=False)
class Summary(tables.Report):
    """The layers of a model and their sizes.

    Attributes:
        name: the model's name.
        rows: a `Row` for each layer.
        sizes: (elements, bytes) of the weights that are trained, of the others, and of the optimizer's.
        columns: the additional columns, "trainable" and "geometry".
    """

    name: str
    rows: tuple[Row, ...]
    sizes: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Model, *, show_trainable: bool = False, geometry: bool = False) -> Summary:
        """Return the summary of a model; see `teachconv.keras.Model.summary`."""
        if not model.built or model.input_shape is None:
            raise ArgumentError(
                f"model {brief(model.name)} does not know the shape of its input: its first layer needs an "
                "Input or input_shape=, or call build((None, ...))"
            )
        rows: list[Row] = []
        stack: list[Any] | None = []  # the windows so far; None after a layer that gives up rows and columns
        for layer in model.layers:
            before, after = layer.input_shape or (), layer.output_shape or ()
            found = layer.geometries(before)
            if found and stack is not None:
                stack += found
            elif len(before) != len(after) or before[1:-1] != after[1:-1]:
                stack = None
            sees = receptive_field(stack).size if found and stack else None
            rows.append(_row(layer, found[0] if len(found) == 1 else None, sees))
        optimizer = getattr(model, "optimizer", None)
        groups = (
            model.trainable_weights,
            model.non_trainable_weights,
            optimizer.variables if optimizer and optimizer.built else [],
        )
        sizes = [
            (
                sum(map(number_of_elements, group)),
                sum(number_of_elements(v) * v.dtype.itemsize for v in group),
            )
            for group in groups
        ]
        columns = ("trainable",) * truth(show_trainable, "show_trainable")
        columns += ("geometry",) * truth(geometry, "geometry")
        return cls(model.name, tuple(rows), (sizes[0], sizes[1], sizes[2]), columns)

    def _headline(self) -> str:
        params = self.sizes[0][0] + self.sizes[1][0]
        return f"{self.name}, {tables.count(len(self.rows), 'layer')}, {params:,} params"

    def _table(self) -> tables.Table:
        columns = [*tables.left("Layer (type)", "Output Shape"), *tables.right("Param #")]
        if "trainable" in self.columns:
            columns += tables.left("Trainable")
        if "geometry" in self.columns:
            columns += [*tables.left("Window", "Strides", "Padding"), *tables.right("Multiply-adds", "Sees")]
        trained, other, optimizer = self.sizes
        total = tuple(sum(pair) for pair in zip(trained, other, strict=True))
        notes = [
            f"Total params: {_size(total)}",
            f"Trainable params: {_size(trained)}",
            f"Non-trainable params: {_size(other)}",
        ]
        if optimizer[0]:
            notes.append(f"Optimizer params: {_size(optimizer)}")
        if "geometry" in self.columns:
            notes.append(
                "Padding: top, bottom, left, right. Multiply-adds: for one image. Sees: how many rows and"
            )
            notes.append("columns of the model's input one cell of the output depends on.")
        rows = [self._cells(row) for row in self.rows]
        return tables.Table(tuple(columns), rows, f'Model: "{self.name}"', notes=notes)

    def _cells(self, row: Row) -> list[str]:
        cells = [f"{row.name} ({row.kind})", shape_text(row.output_shape), f"{row.params:,}"]
        if "trainable" in self.columns:
            cells.append({None: "-", True: "Y", False: "N"}[row.trainable])
        if "geometry" in self.columns:
            cells += _geometry_cells(row)
        return cells


def _row(layer: Layer, geometry: Any, sees: tuple[int, int] | None) -> Row:
    trainable = bool(layer.trainable_weights) if layer.weights else None
    shape = layer.output_shape or ()
    return Row(layer.name, type(layer).__name__, shape, layer.count_params(), trainable, geometry, sees)


def _geometry_cells(row: Row) -> Sequence[str]:
    g = row.geometry
    sees = "" if row.sees is None else _by(row.sees)
    if g is None:
        return ["", "", "", "", sees]
    window = _by((g.rows.filter_size, g.cols.filter_size))
    if max(g.dilations) > 1:
        window += f", dilation {_by(g.dilations)}"
    strides = _by(g.strides) + ("" if isinstance(g, Conv2DGeometry) else " up")
    (top, bottom), (left, right) = g.padding
    macs = f"{g.macs:,}" if row.params else ""  # a pool multiplies nothing
    return [window, strides, f"{top}, {bottom}, {left}, {right}", macs, sees]


def _by(pair: Sequence[int]) -> str:
    return f"{pair[0]} x {pair[1]}"


def _size(pair: Sequence[int]) -> str:
    """Write elements and bytes as Keras does.

    >>> _size((1074, 4296)), _size((8, 32))
    ('1,074 (4.20 KB)', '8 (32.00 B)')
    """
    elements, size = pair[0], float(pair[1])
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{elements:,} ({size:.2f} {unit})"
        size /= 1024
    return f"{elements:,} ({size:.2f} GB)"
