"""`tc.explore`: one call as a picture to play with, in a notebook, on a docs page or as one file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import dispatch
from ..arguments import axis_order
from ..devices import call_on_host, to_host
from ..dtypes import is_integer
from ..errors import ArgumentError, ArgumentTypeError
from ..inspection.explaining import explain
from ..truth import bounds
from ..truth.exact import abs_sum
from ..verification.diffing import diff
from .document import SIDES, Document, code, dumps, nbytes
from .page import asset, frame, page
from .variants import Variants

__all__ = ["Explorer", "explore"]

BUDGET = 900_000  # bytes of one page


class Explorer:
    """The picture of one call, as `explore` returns it; a notebook displays it.

    ``save(path)`` writes it as one file that opens from disk, ``beside(...)`` puts a second call next to
    it, ``live()`` connects it to the running Python. ``result`` is the call's result.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        at: Sequence[int] | None = None,
        budget: int = BUDGET,
    ) -> None:
        self.op, self.at, self.budget = op, at, budget
        self.args, self.kwargs = call_on_host(args, kwargs)
        self._document = Document(op, self.args, self.kwargs, at)
        self._other: tuple[str, Any] | None = None

    @property
    def result(self) -> np.ndarray:
        """What the call returned."""
        return self._document.trace.result

    def beside(self, other: Any = None, /, *, name: str = "", **changes: Any) -> Explorer:
        """Return this picture with another result beside it, the differences marked.

        Give the arguments that differ (``beside(padding=1)``), another `Explorer` (its result is brought
        into this op's layout), or an array from elsewhere, in the layout that the op returns
        (``beside(theirs, name="my port")``). Sizes may differ. Raises ``ValueError`` or ``TypeError``
        where that is no legal call, or not an array of four axes.

        >>> import numpy as np, teachconv as tc
        >>> x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
        >>> tc.explore(tc.conv2d, x, w, 2).beside(padding=1)
        Explorer(tc.conv2d(input [1, 4, 4, 1], filters [3, 3, 1, 1], strides=2), beside padding=1)
        """
        if (other is None) == (not changes):
            raise ArgumentTypeError("give what differs, such as beside(padding=1), or one explorer or array")
        if changes:
            bound = inspect.signature(self.op).bind(*self.args, **self.kwargs)
            arguments = {**bound.arguments, **changes}
            label = name or ", ".join(f"{key}={value!r}" for key, value in changes.items())
            other = Explorer(self.op, (), arguments, self.at)
        elif isinstance(other, Explorer):
            label = name or other.op.__name__
        else:
            label, other = name or "other array", np.asarray(to_host(other))
            if other.ndim != 4 or other.dtype.kind not in "iufV":
                raise ArgumentError(
                    "the array beside must have 4 axes, of numbers; "
                    f"got shape {list(other.shape)}, dtype {other.dtype}"
                )
        both = Explorer(self.op, self.args, self.kwargs, self.at, self.budget)
        both._document = self._document
        both._other = (label, other)
        return both

    # ---------------------------------------------------------------------------------------------
    # Ways to see it
    # ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the picture as one self-contained file: it needs no server and no network."""
        path = Path(path)
        path.write_text(self.html(), encoding="utf-8")
        return path

    def html(self) -> str:
        """The picture as the text of one page."""
        return page(self._document.call.op.name, dumps(self.data()), self._repr_svg_() or "")

    def live(self) -> Any:
        """Return it as a widget (needs the package anywidget): every choice is computed by the backend."""
        from .live import widget

        return widget(self)

    def _repr_html_(self) -> str:
        return frame(self.html(), self._repr_svg_() or "", repr(self))

    def _repr_svg_(self) -> str | None:
        """The still picture, where nothing can run: the first cell explained; None if there is no cell."""
        if self._document.empty:
            return None
        at = self.at
        if at is None:
            at = (0,) * len(self._document.call.result_shape)
        return explain(self.op, *self.args, at=at, **self.kwargs).picture()

    def __repr__(self) -> str:
        beside = "" if self._other is None else f", beside {self._other[0]}"
        return f"Explorer({code(self.op, self.args, self.kwargs)}{beside})"

    # ---------------------------------------------------------------------------------------------
    # What the page is made from
    # ---------------------------------------------------------------------------------------------

    def data(self, *, live: bool = False) -> dict[str, Any]:
        """The JSON document of the page; with ``live`` it holds no variants, Python makes them."""
        document = self._document
        made: dict[str, Any] = {"call": document.base(), "live": live, "beside": None}
        if self._other is not None:
            made["beside"] = self._beside()
        front_end = len((asset("explorer.js") + asset("explorer.css")).encode())
        budget = 0 if live else self.budget - front_end - nbytes(made)
        made["variants"] = Variants(document, live=live).table(budget)
        return made

    def _beside(self) -> dict[str, Any]:
        """The other result, and how it differs."""
        assert self._other is not None
        label, other = self._other
        document = self._document
        call = document.call
        theirs = other if isinstance(other, np.ndarray) else self._brought_here(other)
        row = diff(self.op, *self.args, backends=(), against={label: theirs}, **self.kwargs).rows[-1]
        side, tables = SIDES[call.kind.result], document.tables
        made: dict[str, Any] = {
            "label": label,
            "passed": row.passed,
            "diagnosis": None if row.diagnosis is None else str(row.diagnosis),
            "shape": list(theirs.shape),
            "call": other._document.base() if isinstance(other, Explorer) else None,
        }
        if theirs.shape == tuple(call.result_shape):
            differs = self._judge(call.from_caller(theirs))
            made["differs"] = tables.array(side, differs.astype(np.int32), document.part, "differs")
            made["array"] = tables.array(side, call.from_caller(theirs), document.part, "beside")
        else:
            back = np.argsort(axis_order(call.layout))
            made["array"] = tables.array(side, theirs.transpose(back), document.part, "beside")
        return made

    def _brought_here(self, other: Explorer) -> np.ndarray:
        """The result of another explorer's call, in the layout of ours."""
        ours, theirs = self._document.call, other._document.call
        result = theirs.from_caller(np.asarray(other.result))
        if result.shape == ours.backend_shape:
            return ours.to_caller(result)
        return result.transpose(axis_order(ours.layout))

    def _judge(self, theirs: np.ndarray) -> np.ndarray:
        """Which cells of another result, as a backend has it, lie outside the bound."""
        call = self._document.call
        want = dispatch.run_canonical(call, "reference")
        if is_integer(want.dtype) or self._document.empty:
            return np.asarray(theirs != want)
        sums = abs_sum(call)
        return ~bounds.judge(theirs, want, bounds.direct(sums, call.terms, want.dtype), sums).ok


def explore(
    op: Callable[..., Any],
    *args: Any,
    at: Sequence[int] | None = None,
    budget: int = BUDGET,
    **kwargs: Any,
) -> Explorer:
    """Return the interactive picture of ``op(*args, **kwargs)``: every window, product and sum of it.

    Args:
        op: any op of teachconv, or a dialect's function; the other arguments are its own. The page draws
            in NHWC whatever the dialect; its variants keep the call's padding as numbers.
        at: the cell to begin with, as in `explain`; of a big array its surroundings are shown.
        budget: about how many bytes the page may have. What the call itself leaves goes to its variants
            (other strides, paddings, ...), the nearest first; the page says how many it left out.

    The object displays itself in a notebook; ``.save("page.html")`` writes one file. Cells are named in
    NHWC order whatever the data_format. Raises what the op itself raises for its arguments, and
    ``IndexError`` where ``at`` is outside.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    >>> picture = tc.explore(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"), strides=2, padding="SAME")
    >>> picture
    Explorer(tc.conv2d(input [1, 4, 4, 1], filters [3, 3, 1, 1], strides=2, padding='SAME'))
    >>> picture.html()[:15]
    '<!DOCTYPE html>'
    """
    return Explorer(op, args, kwargs, at, budget)
