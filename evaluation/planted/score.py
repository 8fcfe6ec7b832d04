"""Runs check_backend on every planted bug, each in a process of its own, and says which it finds.

``PYTHONPATH=.:evaluation python evaluation/planted/score.py`` writes one line a bug; numbers of bugs, or names of
kernels, as arguments run these alone. ``--json FILE`` keeps the results. ``--fuzz 60`` runs random calls alone instead, on all bugs in half an hour on one
core, and ``--table docs/planted_bugs.inc`` writes their counts.
"""

import argparse
import json
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from planted import child, kernels
from planted.bugs import BUGS

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
        seconds: how long random calls took to find it.
    """

    number: int
    outcome: str
    failed: int = 0
    rows: int = 0
    first: str = ""
    diagnosis: str = ""
    note: str = ""
    where: str = ""
    seconds: float = 0.0

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
        return bool(tc.check_backend(module, dtypes, thorough=True, **options).passed)
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
    report = tc.check_backend(module, bug.dtypes, thorough=True, **options)
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
    """Run `teachconv.testing.fuzz` alone on one bug; the failure is not made small.

    A bug that crashes or hangs is run again in a process of the kernel's own, as its author would do then.
    """

    def check(module):
        diffing.diagnose = lambda *arguments: diffing.Found()
        fuzzing._shrunk = lambda run, history, found, *rest: found
        fuzzing.record = SimpleNamespace(clock=time.process_time)  # a busy machine runs what an idle one does
        start = time.process_time()
        report = testing.fuzz(module, seconds, seed, dtypes=bug.dtypes)
        took = time.process_time() - start
        first = report.failed[0] if report.failed else None
        where, note = (f"{first.name} {first.algorithm}", first.note) if first else ("", "")
        outcome = "found" if first else "missed"
        return Score(bug.number, outcome, len(report.failed), len(report.rows), where, "", note, seconds=took)

    outcome, value = child.run(lambda: check(kernels.module(bug.kernel, bug.number)), 1.2 * seconds + 10)
    if outcome == "done":
        return value
    alone = isolated(kernels.Importable(bug.kernel, bug.number), seconds=5)
    done, found = child.run(lambda: check(alone), 1.2 * seconds + 10)
    return replace(found, outcome=outcome) if done == "done" and found.found else Score(bug.number, "missed")


def write_table(path, scores, seconds, seed):
    """Write how many bugs of each kernel random calls found, and how soon, as a table in Markdown."""
    text = [
        f"<!-- made by evaluation/planted/score.py --fuzz {seconds:g} --seed {seed} --table; do not edit -->",
        "",
        "| kernel | bugs | found | of these by a crash or a hang | processor seconds: median | slowest |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    of = {bug.number: bug for bug in BUGS}
    seen = [one for one in scores if not of[one.number].unseen]
    kernels_of = dict.fromkeys(of[one.number].kernel for one in seen)
    for name, chosen in [*((name, [name]) for name in kernels_of), ("all", kernels_of)]:
        these = [one for one in seen if of[one.number].kernel in chosen]
        found = [one for one in these if one.found]
        ended = sum(one.outcome != "found" for one in found)
        times = sorted(one.seconds for one in found)
        middle, slowest = times[len(times) // 2], times[-1]
        text.append(f"| {name} | {len(these)} | {len(found)} | {ended} | {middle:.1f} | {slowest:.1f} |")
    text += ["", "Not found:"] if any(not one.found for one in seen) else []
    text += [f"- {of[one.number].text} ({one.number})" for one in seen if not one.found]
    unseen = [bug for bug in BUGS if bug.unseen]
    text += ["", f"{len(unseen)} more cannot be seen from outside:", ""]
    text += [f"- {bug.text}: {bug.unseen}" for bug in unseen]
    path.write_text("\n".join([*text, ""]), encoding="utf-8")


def warm_up(bugs):
    """Compile the kernels and fill the caches that the processes inherit; every sound kernel must pass."""
    for kernel in dict.fromkeys(bug.kernel for bug in bugs):
        dtypes = {dtype for bug in bugs if bug.kernel == kernel for dtype in bug.dtypes}
        report = tc.check_backend(kernels.module(kernel), sorted(dtypes), thorough=True)
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
    parser.add_argument("--table", type=Path, help="a file for the counts of random calls, in Markdown")
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
                f"    ideal: {bug.ideal}\n    first: {one.first}\n    {one.diagnosis or one.note}; {one.where}"
                + f"; {one.seconds:.1f} s" * bool(options.fuzz),
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
    if options.table:
        write_table(options.table, scores, options.fuzz, options.seed)
    if options.json:
        with open(options.json, "w") as file:
            json.dump([asdict(one) for one in scores], file, indent=1)


if __name__ == "__main__":
    main()
