"""The summary of a model: a row for each layer. Keras: keras/src/utils/summary_utils.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.arguments import truth
from ..core.geometry import ConvGeometry
from ..inspection.receptive import receptive_field
from ..support import tables
from ..support.errors import ArgumentError, brief
from .checks import shape_text
from .layers.layer import KerasTensor, Layer, as_list, number_of_elements

if TYPE_CHECKING:
    from .models import Model


@dataclass(frozen=True, slots=True, repr=False)
class Summary(tables.Report):
    """The layers of a model and their sizes.

    Attributes:
        name: the model's name.
        rows: the cells of each layer.
        sizes: (elements, bytes) of the weights that are trained, of the others, and of the optimizer's.
        columns: the additional columns, "trainable", "geometry" and, for a model with branches, "connected".
    """

    name: str
    rows: tuple[tuple[str, ...], ...]
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
        columns = ("trainable",) * truth(show_trainable, "show_trainable")
        columns += ("geometry",) * truth(geometry, "geometry")
        branches = _branches(model)
        columns += ("connected",) * any(len(sources) > 1 for _, sources in branches.values())
        rows = [_cells(layer, *branches.get(layer, ((), [])), columns) for layer in model.layers]
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
        if "connected" in self.columns:
            columns += tables.left("Connected to")
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
            notes += [
                "Padding: top, bottom, left, right. Multiply-adds: for one image. Sees: how many rows and",
                "columns of the model's input one cell of the output depends on.",
            ]
        return tables.Table(tuple(columns), list(self.rows), f'Model: "{self.name}"', notes=notes)


def _branches(model: Model) -> dict[Layer, tuple[tuple[int, ...], list[str]]]:
    """Return, for each layer, how much of the input a cell of its output sees, and which layers feed it."""
    found: dict[Layer, tuple[tuple[int, ...], list[str]]] = {}
    try:
        graph = model.as_functional()
    except ArgumentError:  # its `call` uses more than layers
        return found
    # the windows so far, of each tensor; None after a layer that gives up rows and columns
    windows: dict[int, list[Any] | None] = {id(tensor): [] for tensor in graph.inputs}

    def step(tensor: KerasTensor, shape: Any) -> Any:
        layer, after = tensor.layer, tensor.layer.compute_output_shape(shape)
        stacks = [windows[id(source)] for source in tensor.sources]
        stack = None if None in stacks else max(stacks, key=sees)
        own = layer.geometries(shape)
        if own and stack is not None:
            stack = stack + own
        elif len({(len(each), each[1:-1]) for each in (*as_list(shape), *as_list(after))}) > 1:
            stack = None
        windows.update(dict.fromkeys(map(id, tensor.siblings), stack))
        found[layer] = sees(stack) if own else (), [source.name for source in tensor.sources]
        return after

    graph.walk(graph.input_shape, step)
    return found


def sees(windows: Sequence[Any] | None) -> tuple[int, ...]:
    """Return the size of the receptive field of windows one after the other; () without windows."""
    return tuple(receptive_field([*windows]).size) if windows else ()


def _cells(
    layer: Layer, field: tuple[int, ...], sources: Sequence[str], columns: Sequence[str]
) -> tuple[str, ...]:
    """Return the row of a layer, with the columns that were asked for."""
    kind, params = type(layer).__name__, layer.count_params()
    output = "?" if layer.output_shape is None else shape_text(layer.output_shape)
    cells = [f"{layer.name} ({kind})", output, f"{params:,}"]
    if "trainable" in columns:
        cells.append("-" if not layer.weights else "Y" if layer.trainable_weights else "N")
    if "geometry" in columns:
        found = [] if layer.input_shape is None else layer.geometries(layer.input_shape)
        cells += [*_window(found, params), _by(field)]
    if "connected" in columns:
        cells.append(", ".join(sources))
    return tuple(cells)


def _window(geometries: Sequence[Any], params: int) -> list[str]:
    """Return window, strides, padding and multiply-adds of a layer; of several windows the last alone."""
    # empty for a pool, which multiplies nothing
    macs = f"{sum(g.macs for g in geometries):,}" if params and geometries else ""
    if len(geometries) != 1:
        return ["", "", "", macs]
    (g,) = geometries
    window = _by([axis.filter_size for axis in getattr(g, "forward", g).axes])
    if max(g.dilations) > 1:
        window += f", dilation {_by(g.dilations)}"
    strides = _by(g.strides) + ("" if isinstance(g, ConvGeometry) else " up")
    return [window, strides, ", ".join(str(side) for pair in g.padding for side in pair), macs]


def _by(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


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
