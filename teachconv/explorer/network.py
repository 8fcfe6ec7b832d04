"""`tc.explore` of a network: all its layers as one interactive page, computed on the page itself."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.arguments import integer
from ..networks.walking import framework_of
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from ..support.files import path_of
from ..support.tables import size
from ..translation.onnx_models import OnnxModel
from .explorer import Explorer
from .network_document import NetworkDocument, headline, network_input, walked
from .packing import dumps
from .page import network_page

_PAGE = 3_000_000  # the default size of a page in bytes: Jupyter by default discards an output above it


def explored(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    at: Sequence[Any] | None,
    budget: int | None,
    story: Any,
) -> Explorer:
    """Return the picture of a network, for `explore`; raise for what is neither a model nor an op."""
    if isinstance(model, OnnxModel):
        model = model.path if model._model is None else model._model
    if not framework_of(model):
        kinds = (
            "an op, or a model: ours, Keras', a torch.nn.Module, an .onnx or .tflite file, a recording (.npz)"
        )
        raise ArgumentTypeError(f"op must be {kinds}; got {brief(model)}")
    if story is not None:
        raise ArgumentTypeError("story is for the picture of a call")
    found = inspect.signature(lambda x=None: x).bind(*args, **kwargs).arguments
    return NetworkExplorer(model, found.get("x"), at, budget)


class NetworkExplorer(Explorer):
    """The picture of a network, which `explore` returns: an `Explorer` without the views of one call."""

    def __init__(
        self,
        model: Any,
        x: Any = None,
        at: Sequence[Any] | None = None,
        budget: int | None = None,
        scales: Sequence[float] | None = None,
        title: str = "",
        pad: bool = False,
    ) -> None:
        self.model, self.title, self.at, self.budget = model, title, at, budget
        self.network = walked(model, network_input(model, x))
        self._data = NetworkDocument(self.network, scales).data()
        self._data |= {"title": title or self._name, "pad": pad, "at": None if at is None else self._cell(at)}
        self._html = network_page(self._data["title"], dumps(self._data))
        limit = _PAGE if budget is None else budget
        if len(self._html) > limit:
            raise ArgumentError(
                f"the page of this network has {size(len(self._html))}, and budget allows {size(limit)}: "
                "give a larger budget"
            )

    @property
    def result(self) -> Any:
        """What the network returned: its arrays, or the only one."""
        arrays = self.network.outputs()
        return arrays[0] if len(arrays) == 1 else arrays

    def beside(self, other: Any = None, /, *, name: str = "", **changes: Any) -> Explorer:
        """Raise: two networks are compared by `teachconv.compare`."""
        raise ArgumentTypeError(
            "beside is for the picture of a call; tc.compare(a, b, x) compares two networks"
        )

    def save(self, path: str | Path) -> Path:
        """Write the page as one file, ``.html``, which needs no server and no network."""
        path = path_of(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ArgumentError(f"path must end in .html: a network has no static picture; got {path.name}")
        path.write_text(self.html(), encoding="utf-8")
        return path

    def html(self) -> str:
        """Return the page as HTML text."""
        return self._html

    def data(self) -> dict[str, Any]:
        """Return the JSON document of the page."""
        return self._data

    def _repr_svg_(self) -> str | None:
        return None

    @property
    def _explained(self) -> None:
        return None

    @property
    def _name(self) -> str:
        """What the page is called if nobody gave it a title."""
        model = self.model
        if isinstance(model, (str, Path)):
            return Path(model).name
        if isinstance(model, list):
            return "a recording"
        named = getattr(model, "name", "") or getattr(getattr(model, "graph", None), "name", "")
        return named or type(model).__name__

    def __repr__(self) -> str:
        return f"Explorer({self._data['title']}: {headline(self._data)})"

    def _cell(self, at: Any) -> list[int]:
        """Return (layer, row, column, channel), the layer by its name or number, as the page has it."""
        columns = self._data["columns"]
        if not (isinstance(at, (tuple, list)) and len(at) == 4):
            raise ArgumentTypeError(f"at must be (layer, row, column, channel) of a network; got {brief(at)}")
        names = [column["name"] for column in columns]
        layer = names.index(at[0]) if at[0] in names else at[0]
        if isinstance(layer, str):
            raise ArgumentError(f"at must begin with a layer, one of {', '.join(names)}; got {brief(layer)}")
        cell = [integer(index, "at", "four integers") for index in (layer, *at[1:])]
        shape = [len(columns), *(columns[cell[0]]["shape"] if 0 <= cell[0] < len(columns) else ())]
        if any(not 0 <= index < most for index, most in zip(cell, shape, strict=False)):
            raise IndexError(f"at must be inside the layer, [{', '.join(map(str, shape))}]; got {brief(at)}")
        return cell
