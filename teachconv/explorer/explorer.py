"""The picture of one call, interactive, in a notebook, on a docs page or as one file."""

from __future__ import annotations

import inspect
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arguments import axis_order, integer
from ..inspection import plotting
from ..inspection.explaining import Explanation, explain
from ..quantized.explaining import is_quantized
from ..running import dispatch, nn_ops
from ..support.devices import call_on_host, values_on_host
from ..support.errors import ArgumentError, ArgumentTypeError, brief, printable, words_of
from ..support.files import path_of
from ..support.progress import during
from ..support.tables import count
from ..truth.exact import judge_direct
from ..verification.diffing import diff
from .document import SIDES, Document, Tables, code, plane_cell
from .packing import dumps
from .page import frame, page
from .shown_part import lift, lifted, part_call
from .variants import Variants

# the parts of the page that a step of a story may keep lit, and their names on it
_PARTS = {
    "source": "source",
    "weights": "operand",
    "products": "products",
    "sum": "sum",
    "result": "result",
}
_PAGE = 340_000  # the default size of a page in bytes
_VARIANTS = 100_000  # bytes of variants of a call that takes more by itself
_IMAGE = 2_000_000  # bytes of the numbers of an image: Jupyter by default discards an output above 3 MB
_DIFF = 10**8  # multiply-adds of a call of which all cells are compared with another result


class Explorer:
    """The picture of one call, which `explore` returns and a notebook displays.

    ``save(path)`` writes it as one file that opens from disk, and ``beside(...)`` puts a second result next
    to it.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        at: Sequence[int] | None = None,
        budget: int | None = None,
        story: Sequence[Sequence[Any]] | None = None,
        title: str = "",
    ) -> None:
        self.op, self.at, self.budget, self.story, self.title = op, at, budget, story, title
        self.args, self.kwargs = call_on_host(args, kwargs)
        self._document = Document(op, self.args, self.kwargs, at)
        self._steps = None if story is None else [self._step(step) for step in story]
        self._other: tuple[str, Any] | None = None

    @property
    def result(self) -> np.ndarray:
        """The call's result."""
        return self._document.result

    def beside(self, other: Any = None, /, *, name: str = "", **changes: Any) -> Explorer:
        """Return this picture with another result beside it and the differences marked.

        Args:
            other: another `Explorer`, whose result is converted to this op's layout, or an array of any
                origin in the layout that the op returns. Its size may differ.
            name: a title for the other result.
            **changes: instead of ``other``, the arguments of the call that differ, such as ``padding=1``.

        Returns:
            A new `Explorer`.

        Raises:
            ValueError, TypeError: if the changed call is not legal, or ``other`` is not an array with as many
                axes as the result.

        >>> import numpy as np, teachconv as tc
        >>> x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((3, 3, 1, 1), "float32")
        >>> tc.explore(tc.conv2d, x, w, 2).beside(padding=1)
        Explorer(tc.conv2d(input [1, 4, 4, 1], filters [3, 3, 1, 1], strides=2), beside padding=1)
        """
        if (other is None) == (not changes):
            raise ArgumentTypeError(
                "beside needs either changed arguments, such as beside(padding=1), or one explorer or array"
            )
        if changes:
            bound = inspect.signature(self.op).bind(*self.args, **self.kwargs)
            arguments = {**bound.arguments, **changes}
            label = name or ", ".join(f"{key}={value!r}" for key, value in changes.items())
            other = Explorer(self.op, (), arguments, self.at)
        elif isinstance(other, Explorer):
            label = name or other.op.__name__
        else:
            label, other = name or "other array", values_on_host(other, "other")
            axes = len(self._document.call.result_shape)
            if other.ndim != axes or other.dtype.kind not in "iufV":
                raise ArgumentError(
                    f"other must be an array of numbers with {axes} axes; "
                    f"got shape {list(other.shape)}, dtype {other.dtype}"
                )
        both = Explorer(self.op, self.args, self.kwargs, self.at, self.budget, self.story, self.title)
        both._document = self._document
        both._other = (label, other)
        return both

    # ---------------------------------------------------------------------------------------------
    # Ways to see it
    # ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the picture as one file, in the format that the ending of its name says.

        Args:
            path: where to write it: ``.html``, the interactive page, which needs no server and no network;
                ``.svg`` or ``.png``, the picture of `explain` of the first cell; ``.gif``, that cell tap by
                tap with the running sum, and then all windows, for which the call has 2 axes. ``.png`` and
                ``.gif`` need matplotlib.

        Returns:
            The path.

        Raises:
            ValueError: if the ending is another one, or the call is too large for an image, has no cell, has
                other axes, or is a pool.
            TypeError: if it is not a path.
            ImportError: if a package that the format needs is not installed; the message names it.
        """
        path = path_of(path)
        ending, words = path.suffix.lower(), nn_ops.without_options(self.kwargs)
        if ending not in (".html", ".htm", ".svg", ".png", ".gif"):
            raise ArgumentError(f"path must end in .html, .svg, .png or .gif; got {brief(str(path))}")
        if ending in (".html", ".htm"):
            path.write_text(self.html(), encoding="utf-8")
        elif self._document.empty:
            raise ArgumentError(f"{path.name} would show a window, and the call has none: an array is empty")
        elif self._document.pool or self._document.quantized:
            what = "a pool" if self._document.pool else "a quantized call"
            raise ArgumentError(
                f"path must end in .html: of {what} there is no static picture; got {path.name}"
            )
        elif ending == ".gif":
            plotting.animate(path, self.op, *self.args, at=self._first, **words)
        else:
            plotting.window(self._explained).save(path)
        return path

    @property
    def _first(self) -> Sequence[int]:
        """The first cell to show, as the caller numbers it."""
        call = self._document.call
        return self.at or call.name(call.kind.result, self._document.at) or self._document.at

    @cached_property
    def _explained(self) -> Explanation | None:
        """What `explain` says of the first cell; None if there is no cell."""
        if self._document.empty or self._document.pool or self._document.quantized:
            return None
        return explain(self.op, *self.args, at=self._first, **nn_ops.without_options(self.kwargs))

    def html(self) -> str:
        """Return the picture as the HTML text of one page."""
        return self._page(self.data())

    def _page(self, data: dict[str, Any], shared: bool = False) -> str:
        """Return the page of a document of `data`; ``shared`` as of `page.page`."""
        document, overview = self._document, data["call"]["overview"]
        whole = overview is not None and overview["numbers"] is not None and self._other is None
        words = {"whole": whole, "shared": shared, "quantized": is_quantized(self.op)}
        return page(self.title or document.call.op.name, dumps(data), self._still, document.function, **words)

    def _repr_html_(self) -> str:
        return self.framed()

    def framed(self, shared: str = "") -> str:
        """Return the picture in a frame, for the HTML of another page.

        Args:
            shared: the address of a file with ``page.shared_script``, which the pictures of a site share; ""
                puts the front-end into the picture.
        """
        still = self._still
        image = f"data:image/svg+xml;base64,{b64encode(still.encode()).decode()}" if still else ""
        return frame(self._page(self.data(), bool(shared)), still, repr(self), image, shared)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the page in its frame, and the static picture for places that show no HTML."""
        bundle: dict[str, Any] = {"text/html": self._repr_html_(), "text/plain": repr(self)}
        return bundle | ({"image/svg+xml": self._still} if self._still else {})

    @cached_property
    def _still(self) -> str:
        """The static picture, or "": what a page shows where scripts are disabled."""
        return self._repr_svg_() or ""

    def _repr_svg_(self) -> str | None:
        """Return a static picture, which explains the first cell, or None if there is no cell."""
        return None if self._explained is None else self._explained.picture()

    def __repr__(self) -> str:
        beside = "" if self._other is None else f", beside {printable(self._other[0])}"
        return f"Explorer({code(self.op, self.args, self.kwargs)}{beside})"

    # ---------------------------------------------------------------------------------------------
    # The data of the page
    # ---------------------------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """Return the JSON document of the page."""
        document = self._document
        document.tables = Tables()
        with during("computing the call"):
            made: dict[str, Any] = {
                "call": document.base(0 if self._other else max(_IMAGE, self.budget or 0)),
                "beside": None,
                "story": self._steps,
                "title": self.title,
            }
        if self._other is not None:
            with during(f"comparing it with {self._other[0]}"):
                made["beside"] = self._beside()
        if document.pool:  # call tc.explore with other arguments
            return made | {"variants": {"controls": [], "table": {}, "left_out": 0}}
        variants = Variants(document)
        bare = made | {"variants": variants.table(0)}
        rest = len(self._page(bare).encode())
        usual = _PAGE if rest < _PAGE else rest + _VARIANTS
        size = usual if self.budget is None else self.budget
        with during("its variants"):
            made["variants"] = variants.table(size - rest)
        return made

    def _step(self, step: Sequence[Any]) -> dict[str, Any]:
        """Return a step of the story as the page has it."""
        if not (isinstance(step, (tuple, list)) and 1 <= len(step) <= 4 and isinstance(step[0], str)):
            raise ArgumentTypeError(
                f"each step of story must be (text, at, tap, focus) or fewer; got {brief(step)}"
            )
        text, at, tap, focus = [*step, None, None, None][:4]
        parts = words_of(focus, "focus", _PARTS)
        cell = None if at is None else plane_cell(self._document.call, self._document.cell_at(at))
        if tap is not None and integer(tap, "tap", "an integer") < 0:
            raise ArgumentError(f"tap must be the number of a tap, from 0; got {tap}")
        return {"text": text, "cell": cell, "tap": tap, "focus": [_PARTS[part] for part in parts]}

    def _beside(self) -> dict[str, Any]:
        """Return the other result, and where it differs."""
        assert self._other is not None
        label, other = self._other
        document = self._document
        call, tables, side = document.call, document.tables, SIDES[document.call.kind.result]
        theirs = other if isinstance(other, np.ndarray) else self._brought_here(other)
        made: dict[str, Any] = {
            "label": label,
            "shape": list(theirs.shape),
            "call": other._document.base() if isinstance(other, Explorer) else None,
        }
        large = call.geometry.macs > _DIFF
        work = f"The call has {count(call.geometry.macs, 'multiply-add')}: "
        if theirs.shape != tuple(call.result_shape):
            back = np.argsort(axis_order(call.layout))
            made["array"] = tables.array(side, theirs.transpose(back), document.part, "beside")
            if not large:
                return made | self._diagnosis(label, theirs)
            note = f"Its shape is {list(theirs.shape)}, and this call's is {list(call.result_shape)}. "
            return made | {"passed": False, "diagnosis": f"{note}{work}no mistake was looked for."}
        canonical = call.from_caller(theirs)
        if document.pool or document.quantized:  # the page compares: equal is equal
            made["array"] = tables.array(side, canonical, document.part, "beside")
            return made | self._diagnosis(label, theirs)
        differs = self._judge(canonical)
        made["differs"] = tables.array(side, differs.astype(np.int32), document.part, "differs")
        made["array"] = tables.array(side, canonical, document.part, "beside")
        if not large:
            return made | self._diagnosis(label, theirs)
        note = f"{work}only the cells that are shown were compared."
        return made | {"passed": not differs.any(), "diagnosis": note}

    def _diagnosis(self, label: str, theirs: np.ndarray) -> dict[str, Any]:
        """Return whether the whole of another result is equal, and the mistake that explains a difference."""
        words = nn_ops.without_options(self.kwargs)
        row = diff(self.op, *self.args, backends=(), against={label: theirs}, **words).rows[-1]
        return {"passed": row.passed, "diagnosis": None if row.passed else str(row.diagnosis or row.note)}

    def _brought_here(self, other: Explorer) -> np.ndarray:
        """Return the result of another explorer's call, in the layout of this one's."""
        ours, theirs = self._document.call, other._document.call
        result = theirs.from_caller(np.asarray(other.result))
        if result.shape == ours.backend_shape:
            return ours.to_caller(result)
        return result.transpose(axis_order(ours.layout))

    def _judge(self, theirs: np.ndarray) -> np.ndarray:
        """Return which cells of another result, in a backend's layout, exceed the error bound.

        Only the cells that the page shows are judged; the others are left False.
        """
        document = self._document
        role = document.call.kind.result
        theirs = lift(theirs, role)
        differs = np.zeros(theirs.shape, bool)
        if not document.empty:
            call, shown = part_call(lifted(document.call), document.part)
            want = dispatch.run_canonical(call, "reference")
            differs[shown] = ~judge_direct(call, theirs[shown], want).ok
        return differs
