"""A matplotlib figure that a notebook shows where it is the last line of a cell.

matplotlib's own figures are shown only after pyplot has been imported there, which `tc.plot` never does. This
module imports matplotlib, so it is imported where a picture is asked for.
"""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure with the method that Jupyter asks for; otherwise matplotlib's."""

    def _repr_svg_(self) -> str:
        """Return the picture as SVG."""
        text = io.StringIO()
        self.savefig(text, format="svg")
        return text.getvalue()
