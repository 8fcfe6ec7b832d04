"""`tc.playground`: a page on which the reader sets a convolution, with no Python behind it."""

from __future__ import annotations

from pathlib import Path

from ..support.files import path_of
from .page import frame, playground_page


class Playground:
    """The page that `playground` returns and a notebook displays; ``save(path)`` writes it as one file."""

    def save(self, path: str | Path) -> Path:
        """Write the playground as one self-contained file, which needs no server and no network.

        The address of the file holds the reader's choices: ``page.html#conv2d&n=7&k=3&s=2&p=same&at=1,2``.

        Args:
            path: where to write it.

        Returns:
            The path.
        """
        path = path_of(path)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def html(self) -> str:
        """Return the playground as the HTML text of one page."""
        return playground_page()

    def _repr_html_(self) -> str:
        return frame(self.html(), "", repr(self))

    def __repr__(self) -> str:
        return "Playground()"


def playground() -> Playground:
    """Return the playground: a page on which the reader sets sizes, padding, framework and numbers.

    The page computes everything itself, with a copy of the laws of `conv2d_geometry`; `explore` makes a page
    of one call of Python, with its trace and its backend's result.

    Returns:
        A `Playground`. A notebook displays it; ``.save("page.html")`` writes one file.

    >>> import teachconv as tc
    >>> tc.playground()
    Playground()
    >>> tc.playground().html()[:15]
    '<!DOCTYPE html>'
    """
    return Playground()
