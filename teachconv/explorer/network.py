"""The picture of a network: all its layers as one interactive page, computed on the page itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.arguments import cell_inside
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word
from ..support.files import path_of
from ..support.tables import count, size
from ..translation.onnx_models import OnnxModel
from .explorer import Explorer
from .large_network import LargeNetwork
from .network_document import NetworkDocument, packed, walked
from .packing import dumps
from .page import network_page

_PAGE = 3_000_000  # the default size of a page in bytes: Jupyter by default discards an output above it


class NetworkExplorer(Explorer):
    """The picture of a network, which `explore` returns: an `Explorer` without the views of one call.

    Args:
        model: what `compare` takes, or an `OnnxModel`.
        x: its input, with a batch of one; None for a recording.
        at: the cell to begin with, (layer, row, column, channel); a layer has its name or number.
        budget: the largest size of the page in bytes.
        scales: see `NetworkDocument`.
        title: the page's title.
        pad: whether the reader draws the input, a digit.
        note: what else the page says of the network.
    """

    _explained = None  # no cell of a call is explained

    def __init__(
        self,
        model: Any,
        x: Any = None,
        *,
        at: Sequence[Any] | None = None,
        budget: int | None = None,
        scales: Sequence[float] | None = None,
        title: str = "",
        pad: bool = False,
        note: str = "",
    ) -> None:
        if isinstance(model, OnnxModel):
            model = model.path if model._model is None else model._model
        self.network = walked(model, x)
        named = Path(model).name if isinstance(model, (str, Path)) else getattr(model, "name", "")
        document = NetworkDocument(self.network, scales)
        cell = None if at is None else _cell_of(document.columns, at)
        title = title or named or type(model).__name__
        self._data: dict[str, Any] = {"title": title, "pad": pad, "note": note, "at": cell}
        limit, around = _PAGE if budget is None else budget, len(network_page(title, "{}"))
        large = document.nbytes + around > 0.95 * limit  # and shapes and names
        made = LargeNetwork(document, cell).data(limit - around - 1000) if large else document.data()
        self._data |= packed(made)
        self._json = dumps(self._data)
        own = len(self.html())
        if own > limit:
            raise ArgumentError(
                f"budget must be at least {size(own)} for the page of this network; got {size(limit)}"
            )

    @property
    def result(self) -> Any:
        """What the network returned: its arrays, or the only one."""
        arrays = self.network.outputs()
        return arrays[0] if len(arrays) == 1 else arrays

    def beside(self, other: Any = None, /, *, name: str = "", **changes: Any) -> Explorer:
        """Raise: two networks are compared by `teachconv.compare`."""
        raise ArgumentTypeError("beside is for the picture of a call; tc.compare(a, b, x) is for networks")

    def save(self, path: str | Path) -> Path:
        """Write the page as one file, ``.html``, which needs no server and no network."""
        path = path_of(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ArgumentError(f"path must end in .html: a network has no static picture; got {path.name}")
        path.write_text(self.html(), encoding="utf-8")
        return path

    def _page(self, data: dict[str, Any], shared: bool = False) -> str:
        return network_page(data["title"], self._json, shared)

    def data(self) -> dict[str, Any]:
        """Return the JSON document of the page."""
        return self._data

    def __repr__(self) -> str:
        return f"Explorer({self._data['title']}: {count(len(self._data['columns']) - 1, 'layer')})"


def _cell_of(columns: Sequence[dict[str, Any]], at: Any) -> list[int]:
    """Return (layer, row, column, channel), the layer by its name or number, as the page has it."""
    if not (isinstance(at, (tuple, list)) and len(at) == 4):
        raise ArgumentTypeError(f"at must be (layer, row, column, channel) of a network; got {brief(at)}")
    names = [column["name"] for column in columns]
    if isinstance(at[0], str):
        check_word(at[0], "the layer of at", names)
    layer = names.index(at[0]) if isinstance(at[0], str) else at[0]
    (number,) = cell_inside([layer], "the layer of at", (len(columns),), "(layer,)")
    place = cell_inside(at[1:], "at", columns[number]["shape"], "(row, column, channel)")
    return [number, *place]
