"""``python -m teachconv diff``: every backend against the reference, on one call or on all small cases."""

from __future__ import annotations

import argparse

from ..backends import BOUNDS
from ..support.files import read_npy
from ..support.progress import track
from ..support.tables import Table, duration, left, number, right
from ..verification.cases import find_cases
from ..verification.diffing import check_cases, diff
from ..verification.reports import DiffReport
from .call_arguments import add_backends, add_call, read_call, refuse_call
from .output import show
from .parsing import add_tolerance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call, which may be left out, and what is compared."""
    add_call(parser, optional=True)
    add_backends(parser)
    parser.add_argument("--against", metavar="FILE", help="an .npy file with the output of another framework")
    words = ", ".join(BOUNDS)
    parser.add_argument(
        "--error", metavar="WORD", help=f"how that output was computed, which says its bound: one of {words}"
    )
    add_tolerance(parser, " (of one call)")
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="print what was loaded, or of all cases every row, also those that pass",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a diff; exit status 1 where it fails, and where nothing was compared."""
    if arguments.op is None:
        refuse_call(arguments, "name an op", ("dtype", "data"), ("against", "error", "rtol", "atol"))
        return _all_cases(arguments)
    op, args, kwargs = read_call(arguments)
    against = {arguments.against: read_npy(arguments.against)} if arguments.against else None
    judged = {"error": arguments.error, "rtol": arguments.rtol, "atol": arguments.atol}
    report = diff(op, *args, backends=arguments.backends, against=against, **judged, **kwargs)
    show(report)
    if arguments.verbose:
        show(*(f"{name}: {duration(seconds)} (not counted in any row)" for name, seconds in report.loading))
    for row in report.rows:
        if row.passed is False and row.explanation is not None:
            show(f"\nfirst bad cell of {row.name} {row.algorithm}:", row.explanation)
    return 0 if report.passed else 1


def _all_cases(arguments: argparse.Namespace) -> int:
    """Every small case, every backend and algorithm: what failed, and a line for each algorithm."""
    rows = []
    kinds = [arguments.data] if arguments.data else ["normal", "integers"]
    dtypes = [arguments.dtype] if arguments.dtype else ["float32", "int32"]
    cases = find_cases("small")  # SciPy calls a function for each pair of channels
    runs = [(case, dtype, data) for dtype in dtypes for data in kinds for case in cases]
    for case, dtype, data in track(runs, "cases"):
        rows += check_cases(arguments.backends, dtype, data, [case])
    report = DiffReport(f"{len(cases)} cases, {len(rows)} results", tuple(rows))
    shown = report.rows if arguments.verbose else tuple(row for row in report.rows if row.passed is False)
    if shown:
        show(DiffReport(report.title, shown))
    show(_worst(report), report.summary)
    return 0 if report.passed else 1


def _worst(report: DiffReport) -> Table:
    """The largest error of each algorithm over all cases."""
    fractions: dict[tuple[str, str], list[float]] = {}
    for row in report.rows:
        fractions.setdefault((row.name.split(":")[0], row.algorithm), []).append(row.bound_fraction)
    columns = (*left("backend", "algorithm"), *right("results", "largest error, of its bound"))
    return Table(columns, [(*names, f"{len(of):,}", number(max(of))) for names, of in fractions.items()])
