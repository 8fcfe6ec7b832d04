"""Inputs, exact results and the bound of every cell as files, for a kernel that Python does not call.

A directory of vectors has ``index.json``; ``data.bin``, which holds all arrays, little-endian and in C order,
at the offsets that the index says, multiples of 16; ``vectors.h``, the index as a table in C; and
``read_vectors.c``, which reads both. The results are files ``results/ID.bin``, and are judged as `diff`
judges. The index has a checksum of each vector, over what it says and the arrays, so that no file which was
damaged on its way condemns a kernel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from ..core.arguments import axis_order
from ..core.calls import Call
from ..core.dtypes import FLOATS, INTEGERS, to_dtype
from ..core.geometry import ConvGeometry
from ..core.kinds import KINDS, OPS, layout_of
from ..core.law import AxisGeometry
from ..data.seeded import DATA
from ..quantized.calls import of_numbers
from ..running import dispatch
from ..support import tables
from ..support.errors import ArgumentError, brief, plain, words_of
from ..support.files import reading
from ..verification.cases import Case, find_cases
from ..verification.contract import required_rows
from ..verification.diagnosing import at_most
from ..verification.diffing import Truth, tolerance_of
from ..verification.failures import Tolerance
from ..verification.flushing import judging
from ..verification.quantized_cases import quantized_calls
from ..verification.reports import DiffReport, DiffRow, failed_row
from .kernels import NUMBERS, pairs_of, rank_of

__all__ = ["export", "judge"]

_AXIS = ("in_size", "filter_size", "out_size", "stride", "dilation", "pad_before", "pad_after")
_LARGE = 100_000_000  # bytes
_FORMAT = 1  # of the index; the checksums came later, and without them it is read, too
_PARTS = ("first", "second", "bias", "want", "bound", "multiplier", "shift")
_ALIGN = 16  # each array begins at a multiple: a processor may need that to read a double


@judging()
def export(
    directory: Any,
    *,
    dtypes: Iterable[str] | str = "float32",
    kinds: Iterable[str] | str | None = None,
    tags: Iterable[str] | str | None = "small",
    data: Iterable[str] | str = ("integers", "normal"),
    x: str = "NHWC",
    w: str = "HWIO",
    scheme: str | None = None,
    types: Iterable[tuple[str, str]] | None = None,
    large: bool = False,
) -> str:
    """Write the table of cases as test vectors: inputs, the exact result, and the bound of each cell.

    Every call is one of the three functions of a backend: conv2d_transpose is "conv2d_backprop_input", and a
    depthwise convolution has as many groups as channels; padding is given as integers.

    Args:
        directory: where to; it is made.
        dtypes: the dtypes, or one of them.
        kinds: the functions, such as "conv2d"; None for all three.
        tags: only cases with one of these tags; None for all that are not slow.
        data: the kinds of numbers.
        x: the layout of the activations; its letters say for how many axes the cases are.
        w: the layout of the filters.
        scheme: a scheme of `teachconv.quantized`: then the arrays are quantized, five calls for each case, as
            those of `kernel`; multipliers and shifts are among the arrays, and there are no bounds.
        types: pairs of dtypes of quantized x and w, as in `kernel`.
        large: whether more than 100 MB may be written.

    Returns:
        A sentence that says how many vectors there are, and how large they are.

    Raises:
        ValueError: if they take more than 100 MB, a layout is not legal, or there is no such tag, kind, dtype
            or data.
        OSError: if they cannot be written.

    >>> import tempfile
    >>> from teachconv import testing as T
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     T.vectors.export(folder, tags="hand", kinds="conv2d", data="integers")
    '6 vectors, 4.81 KiB'
    """
    rank = rank_of("input", x)
    if rank_of("filters", w) != rank or len(x) != rank + 2 or len(w) != rank + 2:
        raise ArgumentError(
            f'x and w must be whole layouts, such as "NCHW" and "OIHW"; got {brief(x)} and {brief(w)}'
        )
    names, numbers, of = (
        words_of(dtypes, "dtypes", FLOATS + INTEGERS),
        words_of(data, "data", DATA),
        words_of(kinds, "kinds", map(str, KINDS)),
    )
    if scheme is not None:
        names, pairs = ["int32"], pairs_of(scheme, types)
    cases = [case for case in find_cases(tags) if case.geometry.rank == rank and "empty" not in case.tags]
    chosen = [
        (case, name, each) for name in names for each in numbers for case in cases if case.takes(name, each)
    ]
    if (nbytes := sum(_size(case, name) for case, name, _ in chosen)) > _LARGE and not large:
        raise ArgumentError(
            f"these vectors take about {tables.size(nbytes)}: choose fewer, or give large=True (--large)"
        )
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    index, offset = list[dict[str, Any]](), 0
    with open(folder / "data.bin", "wb") as file:
        found = _vectors(chosen, of) if scheme is None else _quantized_vectors(chosen, of, scheme, pairs)
        for entry, parts in found:
            entry |= {"id": len(index)}
            stored = []
            for name, (array, role) in parts.items():
                moved = array.transpose(axis_order(w if role == "filters" else x)) if role else array
                raw = np.ascontiguousarray(moved).astype(moved.dtype.newbyteorder("<"), copy=False)
                entry[name] = {"shape": list(raw.shape), "offset": offset, "nbytes": raw.nbytes}
                if scheme is not None:
                    entry[name]["dtype"] = raw.dtype.name
                stored.append(raw.tobytes())
                offset += file.write(stored[-1] + bytes(-raw.nbytes % _ALIGN))
            index.append(entry | {"crc32": _checksum(x, w, entry, stored)})
    texts = {
        "index.json": json.dumps({"format": _FORMAT, "x": x, "w": w, "vectors": index}, indent=1),
        "vectors.h": _header(index, rank),
    }
    reader = "read_vectors.c" if scheme is None else "read_int8_vectors.c"
    texts[reader] = files(__package__).joinpath(reader).read_text(encoding="utf-8")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return f"{tables.count(len(index), 'vector')}, {tables.size(offset)}"


@at_most(10.0)  # a kernel with one bug may fail in hundreds of rows
@judging()
def judge(
    directory: Any,
    *,
    results: Any = None,
    error: str = "direct",
    require: Iterable[str] | str = (),
    rtol: float | None = None,
    atol: float | None = None,
) -> DiffReport:
    """Judge the results that a kernel wrote for exported vectors.

    Args:
        directory: the directory of the vectors.
        results: the directory of the results, one file for each vector: ``ID.bin``, its cells in the layout
            and dtype of the vectors; None for ``results`` in ``directory``. A vector without a result is not
            run.
        error: how the results were computed, a word of `diff`.
        require: the names of cases that must have a result, such as "same stride 2, odd input": without one,
            there is a failed row.
        rtol: a relative error to allow beside the bound, as in `diff`; None for 0.
        atol: an absolute error to allow beside it; None for 0.

    Returns:
        A `DiffReport` with a row for each vector.

    Raises:
        ValueError: if the directory has no vectors, or they are of another format or damaged, none is of a
            required case, or a tolerance is negative. Older vectors have no checksums: they are judged, and
            the title says that damage is not seen.

    >>> import tempfile
    >>> from teachconv import testing as T
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = T.vectors.export(folder, tags="hand", kinds="conv2d", data="integers")
    ...     print(T.vectors.judge(folder).summary)
    nothing was compared, 6 not run (6: no result): vectors against the reference
    """
    folder = Path(directory)
    what = "vectors, which `python -m teachconv vectors export` writes"
    place = folder / "results" if results is None else Path(results)
    tolerance = tolerance_of(rtol, atol)
    try:
        with reading(folder / "index.json", what, "index.json"):
            about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
            if about["format"] != _FORMAT:
                raise ValueError(f"its format is {brief(about['format'])}, and {_FORMAT} is read here")
            x, w, vectors = about["x"], about["w"], about["vectors"]
            known = dict.fromkeys(entry["name"].partition(": ")[2] for entry in vectors)
        with reading(folder / "data.bin", what, "data.bin", sys.maxsize):
            stored = np.memmap(folder / "data.bin", np.uint8, "r")
    except (OSError, ArgumentError) as problem:
        raise ArgumentError(f"{plain(folder)} has no {what}: {plain(problem)}") from None
    rows = []
    for number, entry in enumerate(vectors):
        with reading(folder / "index.json", "as it was exported", f"vector {number}"):
            rows.append(_judged(entry, stored, x, w, place, error, tolerance))
    rows += required_rows(words_of(require, "require", known) if require else (), rows)
    unseen = " (some have no checksum: damage to them is not seen)"
    title = "vectors" + unseen * any("crc32" not in entry for entry in vectors)
    return DiffReport(title, tuple(rows), None, tolerance.rtol, tolerance.atol)


def _checksum(x: str, w: str, entry: dict[str, Any], stored: Iterable[bytes]) -> int:
    """Return a checksum of what the index says of a vector, and of its arrays."""
    said = {name: value for name, value in entry.items() if name != "crc32"}
    return crc32(b"".join([json.dumps([x, w, said], sort_keys=True).encode(), *stored]))


def _size(case: Case, dtype: str) -> int:
    """About how many bytes the vectors of a case take: its arrays, and the bounds, once for each function."""
    g = case.geometry
    cells = sum(int(np.prod(shape)) for shape in (g.input_shape, g.filters_shape, g.output_shape))
    return cells * (3 * to_dtype(dtype).itemsize + 8)


def _vectors(
    chosen: Iterable[tuple[Case, str, str]], kinds: list[str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield what the index says of each vector, and its arrays with their roles."""
    for case, dtype, data in chosen:
        for problem in case.problems(dtype, data):
            call = problem.call
            if str(call.kind) not in kinds:
                continue
            want = dispatch.run_canonical(call, "reference")
            bound = np.broadcast_to(Truth(call, want).bound("direct", declared=True), want.shape).astype(
                np.float64
            )
            entry = _entry(problem.name, case, call, dtype, data)
            parts = _parts(call, call.first, call.second, call.bias, want)
            yield entry, parts | {"bound": (bound, call.kind.result)}


def _quantized_vectors(
    chosen: Iterable[tuple[Case, str, str]], kinds: list[str], scheme: str, types: Sequence[tuple[str, str]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the same of quantized calls, and their numbers."""
    for case, _, data in chosen:
        for words, q in quantized_calls(case, scheme, types, data):
            if str(q.call.kind) in kinds:
                name, (x, w) = f"{case.op}: {case.name}, {words}", q.stored
                entry = _entry(name, case, q.call, x.dtype.name, data)
                numbers = {key: np.asarray(value).tolist() for key, value in q.numbers.items()}
                entry["quantized"] = numbers | {"scheme": scheme, "types": [x.dtype.name, w.dtype.name]}
                parts = _parts(q.call, x, w, q.bias, q.run_canonical("numpy"))
                yield entry, parts | {name: (q.numbers[name], "") for name in ("multiplier", "shift")}


def _entry(name: str, case: Case, call: Call, dtype: str, data: str) -> dict[str, Any]:
    """Return what the index says of a call."""
    g = call.geometry
    return {
        "name": name,
        "tags": list(case.tags),
        "op": str(call.kind),
        "dtype": dtype,
        "data": data,
        "batch": g.batch,
        "groups": g.groups,
        "in_channels": g.in_channels,
        "out_channels": g.out_channels,
        "axes": [{name: getattr(axis, name) for name in _AXIS} for axis in g.axes],
    }


def _parts(call: Call, first: Any, second: Any, bias: Any, want: Any) -> dict[str, Any]:
    """Return the arrays of a call with their roles."""
    kind = call.kind
    given = {"first": (first, kind.first), "second": (second, kind.second), "bias": (bias, "")}
    return {name: pair for name, pair in given.items() if pair[0] is not None} | {"want": (want, kind.result)}


def _judged(
    entry: dict[str, Any], stored: Any, x: str, w: str, place: Path, error: str, tolerance: Tolerance
) -> DiffRow:
    """Judge the result of one vector."""
    raw = {
        name: stored[(at := entry[name]["offset"]) : at + entry[name]["nbytes"]].tobytes()
        for name in _PARTS
        if name in entry
    }
    if "crc32" in entry and entry["crc32"] != _checksum(x, w, entry, raw.values()):
        raise ValueError("its checksum differs: export the vectors again; results stay valid")
    number, dtype = entry["id"], np.dtype(entry["dtype"])
    name = f"{number} {entry['name']}, {entry['dtype']} {entry['data']}"
    axes = tuple(AxisGeometry(**axis) for axis in entry["axes"])
    g = ConvGeometry(entry["batch"], axes, entry["in_channels"], entry["out_channels"], entry["groups"])
    op = OPS[entry["op"]]

    def ours(array: np.ndarray, role: str) -> np.ndarray:
        order = axis_order(w if role == "filters" else x)
        return array.reshape([g.shape_of(role)[axis] for axis in order]).transpose(np.argsort(order))

    def part(key: str) -> np.ndarray:
        own = np.dtype(entry[key].get("dtype", dtype))
        return np.frombuffer(raw[key], own.newbyteorder("<")).astype(own)

    kind, layout = op.kind, layout_of(op.kind.result, g.rank)
    first, second = ours(part("first"), kind.first), ours(part("second"), kind.second)
    bias = part("bias") if "bias" in entry else None
    call, quantized = Call(op, first, second, g, g.shape_of(kind.result), layout, bias), None
    if "quantized" in entry:
        quantized = of_numbers(call, **entry["quantized"])
        call = quantized.integers
    try:
        size = (place / f"{number:d}.bin").stat().st_size
    except FileNotFoundError:
        return DiffRow(name, "", None, note="no result")
    if size != len(raw["want"]):
        return failed_row(name, "", f"the result has {size} bytes, not {len(raw['want'])}")
    little = np.fromfile(place / f"{number:d}.bin", dtype.newbyteorder("<"))
    truth = Truth(call, ours(part("want"), kind.result), tolerance=tolerance, quantized=quantized)
    return truth.row(name, "", ours(little.astype(dtype), kind.result), error, declared=True)


def _header(index: list[dict[str, Any]], rank: int) -> str:
    """Return the index as a table in C; ``read_vectors.c`` says what its fields are."""

    def braces(values: Iterable[Any]) -> str:
        return "{" + ", ".join(map(str, values)) + "}"

    lines = []
    for entry in index:
        shapes = (braces(entry[name]["shape"]) for name in ("first", "second", "want"))
        steps = (
            braces(axis[name] for axis in entry["axes"]) for name in ("stride", "pad_before", "dilation")
        )
        places = braces(entry[name]["offset"] if name in entry else -1 for name in _PARTS)
        words = (json.dumps(entry[name]) for name in ("name", "op", "dtype"))
        numbers = (np.ravel(entry.get("quantized", {}).get(name, 0))[0] for name in NUMBERS)
        fields = [*words, *shapes, *steps, str(entry["groups"]), places, braces(numbers)]
        lines.append(f"    {{{', '.join(fields)}}},")
    return "\n".join(
        [f"#define RANK {rank}", _STRUCT, "static const struct vector vectors[] = {", *lines, "};", ""]
    )


_STRUCT = """#define AXES (RANK + 2)
struct vector {
    const char *name, *op, *dtype;
    long first[AXES], second[AXES], result[AXES]; /* shapes */
    long strides[RANK], pads[RANK], dilations[RANK]; /* pads: before; the sizes say what is behind */
    long groups;
    long long at[7]; /* where first, second, bias (or -1), result and bound (double) begin in data.bin; and of
                        quantized arrays, which have no bound, multiplier and shift (int32_t) */
    long numbers[5]; /* of quantized arrays: zero points of x, w and the result, and its limits */
};"""
