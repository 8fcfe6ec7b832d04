"""The explorer connected to the running Python by anywidget: each choice is computed by the backend."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .page import asset
from .variants import Variants

if TYPE_CHECKING:
    from .explorer import Explorer

__all__ = ["widget"]


def widget(explorer: Explorer) -> Any:
    """Return the widget of one explorer; raise ``ImportError``, saying what to install, without anywidget."""
    made = _widget_class()(data=explorer.data(live=True))
    variants = Variants(explorer._document, live=True)

    def answer(_: Any, message: dict[str, Any], buffers: Any) -> None:
        """Make the variant that the page asks for, and send it with the tables it uses."""
        key = tuple(int(index) for index in message["variant"])
        tables = explorer._document.tables
        try:
            found = variants.make(key, run=True)
        except Exception as error:  # whatever it was, the page is waiting for an answer
            found = {"error": f"{type(error).__name__}: {error}"}
        made.send({"key": list(key), "variant": found, "axes": tables.axes, "arrays": tables.arrays})

    made.on_msg(answer)
    return made


@lru_cache(maxsize=1)
def _widget_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("the live explorer needs the package anywidget: pip install anywidget") from error

    class LiveExplorer(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
        """One explorer in a notebook."""

        _esm = asset("explorer.js")
        _css = asset("explorer.css")
        data = traitlets.Dict().tag(sync=True)

    return LiveExplorer
