"""The explorer connected to the running Python process by anywidget: the backend computes each choice."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..palette import scheme_rules
from .page import script, style
from .variants import Variants

if TYPE_CHECKING:
    from .explorer import Explorer

__all__ = ["widget"]


def widget(explorer: Explorer) -> Any:
    """Return the widget of one explorer.

    Args:
        explorer: the explorer.

    Returns:
        An anywidget.

    Raises:
        ImportError: if anywidget is not installed; the message says what to install.
    """
    made = _widget_class()(data=explorer.data(live=True))
    variants = Variants(explorer._document, live=True)

    def answer(_: Any, message: dict[str, Any], buffers: Any) -> None:
        """Compute what the page requests: another part of the call, or a variant with the tables it uses."""
        nonlocal explorer, variants
        if "at" in message:
            at = explorer._document.call.name(explorer._document.call.kind.result, tuple(message["at"]))
            explorer = explorer._at(at)
            variants = Variants(explorer._document, live=True)
            made.send({"moved": explorer.data(live=True)})
            return
        key = tuple(int(index) for index in message["variant"])
        tables = explorer._document.tables
        try:
            found = variants.make(key, run=True)
        except Exception as error:  # the page waits for an answer, whatever the error is
            found = {"error": f"{type(error).__name__}: {error}"}
        shared = {"axes": tables.axes, "arrays": tables.arrays, "lines": tables.lines}
        made.send({"key": list(key), "variant": found} | shared)

    made.on_msg(answer)
    return made


@lru_cache(maxsize=1)
def _widget_class() -> Any:
    """Return the widget class; raise ``ImportError`` without anywidget."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("the live explorer needs the package anywidget: pip install anywidget") from error

    class LiveExplorer(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
        """One explorer in a notebook."""

        _esm = script() + "\nexport default { render };\n"
        _css = scheme_rules(".tcx") + style()
        data = traitlets.Dict().tag(sync=True)

    return LiveExplorer
