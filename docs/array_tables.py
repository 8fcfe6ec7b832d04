"""Writes docs/array_tables.inc, the table of docs/arrays.md: what goes into an op, and what comes out.

    python docs/array_tables.py      (tests/arrays/test_arrays.py fails if the file is out of date)

Every row is run. The rows of libraries that are not installed here stay as they are in the file; PyTorch's
and JAX's are checked by make test-peers. CuPy's row runs on the stand-in of the tests where there is no GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

import teachconv as tc
from teachconv.support.devices import adapter_of, to_array

HERE = Path(__file__).resolve().parent
TARGET = HERE / "array_tables.inc"
sys.path.insert(0, str(HERE.parent / "tests"))

X = np.arange(1 * 5 * 6 * 2, dtype="float32").reshape(1, 5, 6, 2)
W = np.arange(3 * 3 * 2 * 4, dtype="float32").reshape(3, 3, 2, 4)
HEAD = [
    "% written by docs/array_tables.py: do not edit",
    "",
    "| goes in | as the first array, the result is | beside a NumPy array that is first | memory | tools |",
    "|---|---|---|---|---|",
]


def _strict(array: np.ndarray) -> Any:
    return import_module("array_api_strict").asarray(array)


def _torch(array: np.ndarray) -> Any:
    return import_module("torch").from_numpy(array)


def _recorded(array: np.ndarray) -> Any:
    return _torch(array.copy()).requires_grad_()


def _jax(array: np.ndarray) -> Any:
    return import_module("jax").numpy.asarray(array)


def _dask(array: np.ndarray) -> Any:
    return import_module("dask.array").from_array(
        array, chunks=(1, 3, 6, 2) if array.shape == X.shape else -1
    )


def _eager(array: np.ndarray) -> Any:
    return tc.graph.constant(array)


def _cupy(array: np.ndarray) -> Any:
    return import_module("cupy").asarray(array)


# what is shown -> (the module that it needs, how to make one of a NumPy array)
ROWS: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "NumPy array": ("numpy", lambda array: array),
    "nested lists": ("numpy", lambda array: array.tolist()),
    "PyTorch tensor": ("torch", _torch),
    "PyTorch tensor that requires a gradient": ("torch", _recorded),
    "JAX array": ("jax", _jax),
    "CuPy array": ("cupy", _cupy),
    "array of the array API (array-api-strict)": ("array_api_strict", _strict),
    "dask array": ("dask.array", _dask),
    "tensor of `teachconv.graph`": ("numpy", _eager),
}


def row(shown: str) -> str:
    """Run one row and return its text."""
    make = ROWS[shown][1]
    filters = W
    x, w = make(X), make(filters)
    if make(X) is not X and isinstance(x, list):
        filters = filters.astype("float64")
    first = _kind(_result(lambda: tc.conv2d(x, w)))
    second = "–" if w is filters else _kind(_result(lambda: tc.conv2d(np.asarray(X, filters.dtype), w)))
    cells = shown, first, second, _memory(x), _tools(x, w)
    return "| " + " | ".join(cells) + " |"


def _result(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (TypeError, ValueError) as error:
        return error


def _kind(result: Any) -> str:
    """Return the class of a result as people write it."""
    if isinstance(result, Exception):
        return "refused"
    top = type(result).__module__.partition(".")[0]
    # the stand-in for CuPy has CuPy's name, too
    known = {
        "jaxlib": "jax.Array",
        "dask": "dask.array.Array",
        "cupy": "cupy.ndarray",
        "teachconv": "EagerTensor",
    }
    name = known.get(top, f"{top}.{type(result).__qualname__}")
    inside = ", recorded by autograd" if getattr(result, "requires_grad", False) else ""
    return f"`{name}`{inside}"


def _memory(x: Any) -> str:
    """Return whether an array that goes in is copied: read twice, a copy lies in two places."""
    adapter = adapter_of(x)
    if adapter is not None and adapter.takes_over(x) and not getattr(x, "requires_grad", False):
        return "–"  # the values are not read by the call
    once, again = (_result(lambda: to_array(x, "input")) for _ in range(2))
    if isinstance(once, Exception):
        return "shared"  # what autograd records goes in detached, which shares the memory
    if isinstance(once, list):
        return "copied"
    if isinstance(once, np.ndarray):
        return "shared" if np.shares_memory(once, again) else "copied"
    return "shared" if once is again else "copied"


def _tools(x: Any, w: Any) -> str:
    """Return which of the tools take the arrays."""

    def diffed() -> Any:
        return tc.diff(tc.conv2d, x, w, backends="numpy", against={"it": tc.conv2d(x, w)}).passed or 1 / 0

    calls = {
        "trace": lambda: tc.trace(tc.conv2d, x, w).result,
        "explain": lambda: tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0)).value,
        "diff": diffed,
        "find_source": lambda: tc.find_source(tc.conv2d, x, w).lines[0],
        "explore": lambda: tc.explore(tc.conv2d, x, w).html(),
        "check_gradients": lambda: tc.check_gradients(tc.conv2d, x, w, cells=2).passed or 1 / 0,
        "plan": lambda: tc.plan(tc.conv2d, w, input_shape=(1, 5, 6, np.shape(w)[2]))(x),
    }
    taken = [name for name, call in calls.items() if not isinstance(_result(call), Exception)]
    missing = [name for name in calls if name not in taken]
    return "all" if not missing else f"all but {', '.join(missing)}"


def table() -> list[str]:
    """Return the lines of the file, the rows run that can run here."""
    before = {}
    if TARGET.exists():
        lines = TARGET.read_text(encoding="utf-8").split("\n")
        before = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}
    with cupy():
        rows = [row(shown) if available(module) else before[shown] for shown, (module, _) in ROWS.items()]
    return [*HEAD, *rows]


def available(module: str) -> bool:
    """Return whether a module can be imported."""
    try:
        import_module(module)
    except ImportError:
        return False
    return True


@contextmanager
def cupy() -> Iterator[None]:
    """Let CuPy be imported: the real one with a GPU, else the stand-in."""
    from fake_cupy import fake_cupy

    from teachconv import backends

    if not backends.why_not("cupy"):
        yield
        return
    with TemporaryDirectory() as folder, mock.patch.dict(sys.modules, fake_cupy(Path(folder))):
        backends._ready.pop("cupy", None)
        yield
    backends._ready.pop("cupy", None)


if __name__ == "__main__":
    TARGET.write_text("\n".join([*table(), ""]), encoding="utf-8")
