"""Runs check_backend on every planted bug, each in a process of its own, and says which it finds.

``PYTHONPATH=.:tests python tests/verification/planted/score.py`` writes one line a bug; numbers of bugs, or names of
kernels, as arguments run these alone. ``--json FILE`` keeps the results. ``--fuzz 60`` runs random calls alone instead.
"""

import argparse
import json
import re
import time
from dataclasses import asdict, dataclass, replace

from verification.planted import child, kernels
from verification.planted.bugs import BUGS

import teachconv as tc
from teachconv import testing
from teachconv.testing import fuzzing
from teachconv.verification import diffing
from teachconv.verification.running import isolated

UNEXPLAINED = re.compile(r"^$|none of the usual mistakes|may overflow|suspicious")
SOMEWHERE = re.compile(r"(all|[\d,]+ of) [\d,]+ cells?.*|every cell.*")  # no words for where


@dataclass(frozen=True)
class Score:
    """What check_backend said of one bug.

    Attributes:
        number: of the bug.
        outcome: "found", "missed", "crashed" or "hung"; a crash and a hang show a bug, too. What is said of
            these comes from a run in a process of the kernel's own.
        failed: how many rows failed.
        rows: how many rows there were.
        first: the first row that failed.
        diagnosis: its diagnosis, or what the first diagnosed row says where it has none.
        note: its note.
        where: where its bad cells are, or what the first row that could be located says.
    """

    number: int
    outcome: str
    failed: int = 0
    rows: int = 0
    first: str = ""
    diagnosis: str = ""
    note: str = ""
    where: str = ""

    @property
    def found(self):
        """Whether the bug was seen."""
        return self.outcome != "missed"

    @property
    def named(self):
        """Whether the report says what the mistake is: a diagnosis, or which part of the contract was broken."""
        return bool(self.diagnosis) or self.found and not UNEXPLAINED.search(self.note)


class RowFailed(BaseException):
    """A row failed, and what made it fail is not asked."""


def passes(module, dtypes, **options):
    """Whether check_backend passes; it stops at the first row that fails. For a process of its own alone."""

    def stop(*arguments):
        raise RowFailed

    diffing.diagnose = stop
    try:
        return bool(tc.check_backend(module, dtypes, **options).passed)
    except RowFailed:
        return False


DIAGNOSE = diffing.diagnose


def _diagnose_a_few(rows=3):
    """Look for the mistakes of the first rows that fail alone: a search takes longer than a case."""
    diagnose, left = DIAGNOSE, iter(range(rows))
    diffing.diagnose = lambda *arguments: (
        diffing.Found() if next(left, None) is None else diagnose(*arguments)
    )


def score(bug, stop=False, cpu_seconds=40, **options):
    """Run check_backend on one bug; with ``stop`` up to the first row that fails, without its diagnosis."""

    def check():
        if stop:
            passed = passes(kernels.module(bug.kernel, bug.number), bug.dtypes, **options)
            return Score(bug.number, "missed" if passed else "found")
        return _said_of(bug, kernels.module(bug.kernel, bug.number), **options)

    outcome, value = child.run(check, cpu_seconds)
    if outcome == "done":
        return value
    if stop:
        return Score(bug.number, outcome, note=value)
    alone = isolated(kernels.Importable(bug.kernel, bug.number), seconds=5)
    return replace(_said_of(bug, alone, **options), outcome=outcome)


def _said_of(bug, module, **options):
    _diagnose_a_few()
    report = tc.check_backend(module, bug.dtypes, **options)
    bad = [row for row in report.rows if row.passed is False]
    named = [row for row in bad if row.diagnosis]
    placed = [row.where for row in bad if row.where and not SOMEWHERE.fullmatch(row.where)]
    return Score(
        bug.number,
        "found" if bad else "missed",
        len(bad),
        len(report.rows),
        f"{bad[0].name} {bad[0].algorithm}" if bad else "",
        str((named or bad)[0].diagnosis or "") if bad else "",
        bad[0].note if bad else "",
        placed[0] if placed else "",
    )


def fuzz(bug, seconds, seed=0):
    """Run `teachconv.testing.fuzz` alone on one bug; the failure is not made small."""

    def check():
        diffing.diagnose = lambda *arguments: diffing.Found()
        fuzzing._shrunk = lambda run, drawn, kinds, found, *rest: found
        start = time.perf_counter()
        module = kernels.module(bug.kernel, bug.number)
        report = testing.fuzz(module, seconds, seed, dtypes=bug.dtypes)
        took = f"{time.perf_counter() - start:.1f} s"
        first = report.failed[0] if report.failed else None
        outcome = "found" if first else "missed"
        where = f"{first.name} {first.algorithm}" if first else ""
        return Score(bug.number, outcome, len(report.failed), len(report.rows), where, "", took)

    outcome, value = child.run(check, 2 * seconds + 20)
    return value if outcome == "done" else Score(bug.number, outcome, note=value)


def warm_up(bugs):
    """Compile the kernels and fill the caches that the processes inherit; every sound kernel must pass."""
    for kernel in dict.fromkeys(bug.kernel for bug in bugs):
        dtypes = {dtype for bug in bugs if bug.kernel == kernel for dtype in bug.dtypes}
        report = tc.check_backend(kernels.module(kernel), sorted(dtypes))
        assert report.passed, report


def main():
    """Score the bugs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("which", nargs="*", help="numbers of bugs, or names of kernels")
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true", help="stop at the first row that fails")
    parser.add_argument(
        "--fuzz", type=float, metavar="SECONDS", help="by random calls alone, for so long each"
    )
    parser.add_argument("--every", type=int, default=1, help="only one bug of so many")
    parser.add_argument("--seed", type=int, default=0, help="of the random calls")
    options = parser.parse_args()
    bugs = [bug for bug in BUGS if not options.which or {str(bug.number), bug.kernel} & {*options.which}]
    bugs = bugs[:: options.every]
    warm_up([] if options.fuzz else bugs)
    for sound in {bug.kernel: replace(bug, number=0) for bug in bugs if options.fuzz}.values():
        assert not fuzz(sound, options.fuzz, options.seed).found, sound.kernel
    scores = []
    for bug in bugs:
        one = fuzz(bug, options.fuzz, options.seed) if options.fuzz else score(bug, options.quick)
        scores.append(one)
        print(f"{bug.number} {bug.kernel} {one.outcome} {one.failed}/{one.rows}: {bug.text}", flush=True)
        if one.found:
            print(
                f"    ideal: {bug.ideal}\n    first: {one.first}\n    {one.diagnosis or one.note}; {one.where}",
                flush=True,
            )
        elif bug.unseen:
            print(f"    cannot be seen: {bug.unseen}")
    seen = [one for bug, one in zip(bugs, scores, strict=True) if not bug.unseen]
    named = sum(one.named for one in seen)
    placed = sum(one.named or bool(one.where) for one in seen)
    print(
        f"{sum(one.found for one in seen)} of {len(seen)} found, {named} named, {placed} named or located; ",
        end="",
    )
    print(f"missed: {[one.number for one in seen if not one.found]}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump([asdict(one) for one in scores], file, indent=1)


if __name__ == "__main__":
    main()
