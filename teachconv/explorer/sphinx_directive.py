"""The Sphinx directive ``teachconv``: the interactive picture of a call in a documentation page.

Add ``teachconv.explorer.sphinx_directive`` to ``extensions`` in conf.py, then::

    .. teachconv:: conv2d
       :input: 1, 7, 7, 1
       :filters: 3, 3, 1, 1
       :strides: 2
       :padding: SAME

A network is drawn from two files beside the page, its model and its input::

    .. teachconv:: network
       :model: digits.onnx
       :x: seven.npy

Input and filters are shapes; the numbers are small seeded integers. Where no script runs, as in LaTeX and
EPUB, there is an image of the first cell's window instead, and in plain text the table of its products.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

from ..core.arguments import ints_in, padding_in
from ..data.seeded import make_array
from ..inspection.images import image_address
from ..inspection.plotting import window
from ..running import nn_ops
from ..support.errors import ArgumentError, check_word
from ..support.files import read_npy
from .explorer import Explorer
from .exploring import explore
from .page import shared_script

# which builders show what: the builders of HTML run scripts, but a reader of EPUB may not
_SCRIPTS, _TEXT = "html and not epub", "text or man"
_IMAGES = "not (html or text or man) or epub"
_DPI = 200  # of the image, for print
_SCRIPT = "_static/teachconv-explorer.js"  # holds the front-end of all pictures of the site
_PLACE = f"teachconv:{_SCRIPT}"  # stands for its address until the page's own is known

_OPS = {op.name: function for op, function in nn_ops.FUNCTIONS.items() if not op.is_gradient}


def _directive() -> Any:
    """Return the directive's class; Sphinx has loaded docutils, which nothing else here needs."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class TeachconvDirective(Directive):  # type: ignore[misc,unused-ignore]
        """Embeds `explore` of one call; what the op refuses is an error of the page, with its line."""

        required_arguments = 1
        option_spec = {
            **dict.fromkeys(("input", "filters", "strides", "dilations", "output_shape", "at"), ints_in),
            "padding": padding_in,
            "model": str,
            "x": str,
        }

        def run(self) -> list[Any]:
            """Return the picture for each builder: its page, its image, or its table."""
            try:
                folder = Path(self.state.document.current_source or "").parent
                picture = _picture(self.arguments[0], self.options, folder)
            except (ValueError, TypeError, IndexError, OSError) as error:
                raise self.error(f"teachconv: {error}") from error
            if not hasattr(self.state.document.settings, "env"):  # docutils alone, without Sphinx's builders
                return [nodes.raw("", picture.framed(), format="html")]
            from sphinx.addnodes import only

            page = nodes.raw("", picture.framed(_PLACE), format="html")
            text = str(picture._explained or picture)
            table = nodes.literal_block(text, text, language="none")
            address = image_address(_png(picture))
            still = nodes.image(uri=address, alt=text.partition("\n")[0]) if address else table.deepcopy()
            shown = {_SCRIPTS: page, _TEXT: table, _IMAGES: still}
            return [only("", node, expr=builders) for builders, node in shown.items()]

    return TeachconvDirective


def _picture(name: str, options: dict[str, Any], folder: Path) -> Explorer:
    """Return the explorer of one directive in a page of a folder."""
    check_word(name, "the op", [*_OPS, "network"])
    if name == "network":
        if "model" not in options:
            raise ArgumentError("the option :model: must name the file of the network")
        x = read_npy(folder / options["x"]) if "x" in options else None
        return explore(folder / options["model"], x, at=options.get("at"))
    words = dict(options)
    for array in ("input", "filters"):
        if array not in words:
            raise ArgumentError(f"the option :{array}: must give its shape")
        words[array] = make_array(words[array], "float32", "integers", f"{name} {array}")
    return explore(_OPS[name], words.pop("input"), words.pop("filters"), **words)


def _png(picture: Explorer) -> bytes | None:
    """Return the first cell's window as PNG for print; None if there is no cell, or no matplotlib."""
    written = BytesIO()
    try:
        if picture._explained is not None:
            window(picture._explained).figure.savefig(written, format="png", dpi=_DPI)
    except ImportError:
        return None
    return written.getvalue() or None


def _address(app: Any, document: Any, name: str) -> None:
    """Write the script's address, as a page has it, into the pictures of the page."""
    if app.builder.format != "html":
        return
    from docutils import nodes
    from sphinx.util.osutil import relative_uri

    for node in [node for node in document.findall(nodes.raw) if _PLACE in node.astext()]:
        address = relative_uri(app.builder.get_target_uri(name), _SCRIPT)
        version = f"{crc32(shared_script().encode()):x}"  # else a browser shows what it kept of another one
        text = node.astext().replace(_PLACE, f"{address}?v={version}")
        node.replace_self(nodes.raw("", text, format="html"))


def _write_script(app: Any, error: Exception | None) -> None:
    """Write the script into the finished site."""
    if error is None and app.builder.format == "html":
        path = Path(app.outdir, _SCRIPT)
        path.parent.mkdir(exist_ok=True)
        path.write_text(shared_script(), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    app.add_directive("teachconv", _directive())
    app.connect("doctree-resolved", _address)
    app.connect("build-finished", _write_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
