"""Sphinx extension: formulas as MathML, which browsers draw without JavaScript and without another host.

docutils turns the TeX of a page into MathML. A formula that it does not know is a warning.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging


def _mathml(node: Any, as_block: bool) -> str:
    """Return a formula as MathML, or its TeX with a warning."""
    try:
        formula = str(tex2mathml(node.astext(), as_block=as_block))
        # the bars of an absolute value are not operators, so no space surrounds them
        return re.sub(r"<mo[^>]*>\|</mo>", '<mo lspace="0" rspace="0">|</mo>', formula)
    except MathError as error:
        logging.getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{node.astext()}</code>"


def visit_math(translator: Any, node: Any) -> None:
    """Write a formula in a line of text."""
    translator.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: Any) -> None:
    """Write a formula on lines of its own; it scrolls by itself where it is wider than the page."""
    translator.body.append(f'<div class="formula">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer; html_math_renderer in conf.py chooses it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
