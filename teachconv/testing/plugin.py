"""A pytest plugin for those who ask: ``pytest_plugins = ["teachconv.testing.plugin"]`` in conftest.py.

It adds the fixture ``conv_fuzz`` and the option ``--conv-seconds``, and a line at the end that says how many
cases of `parametrize` passed, failed and were not run, and why, and what no call told the kernel of, such as
padding. A session in which all of them were refused
fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ..verification.reports import DiffReport
from .checking import Checked
from .fuzzing import fuzz

_MARK = "teachconv case"


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    parser.addoption("--conv-seconds", type=float, default=5.0, help="seconds for each fuzz of a convolution")


@pytest.fixture
def conv_fuzz(request: Any) -> Callable[..., DiffReport]:
    """``conv_fuzz(kernel).check()``: `fuzz` for as many seconds as ``--conv-seconds`` says."""
    return lambda kernel, **options: fuzz(
        kernel, **{"seconds": request.config.getoption("--conv-seconds")} | options
    )


def pytest_runtest_setup(item: Any) -> None:
    """Mark the report of a case, which may come from another process."""
    case = getattr(getattr(item, "callspec", None), "params", {}).get("case")
    if isinstance(case, Checked):
        item.user_properties.append((_MARK, case.told))


def _outcomes(config: Any) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return how many cases passed, failed or were skipped, why, and what kernels were told of how often."""
    stats = getattr(config.pluginmanager.get_plugin("terminalreporter"), "stats", {})
    counts, why, told = Counter[str](), Counter[str](), Counter[str]()
    for outcome in ("passed", "failed", "skipped"):
        for report in stats.get(outcome, ()):
            for name, counted in getattr(report, "user_properties", ()):
                if name == _MARK:
                    counts[outcome] += 1
                    told.update(counted)
                    if outcome == "skipped":
                        why[report.longrepr[2].removeprefix("Skipped: ").partition(": ")[0]] += 1
    return counts, why, told


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """Say what ran."""
    counts, why, told = _outcomes(config)
    if counts:
        reasons = "; ".join(f"{number:,}: {note}" for note, number in why.most_common())
        skipped = f", {counts['skipped']:,} not run ({reasons})" if why else ""
        never = "".join(f"; {word}: 0 calls" for word, count in told.items() if not count)
        terminalreporter.write_line(
            f"convolutions: {counts['passed']:,} pass, {counts['failed']:,} fail{skipped}{never}"
        )


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any) -> None:
    """Fail where every case was refused."""
    counts, _, _ = _outcomes(session.config)
    if counts["skipped"] and counts["skipped"] == counts.total():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
