"""check_backend against bugs that were planted, and mutants of three kernels; right kernels raise no alarm.

The fast tests run a seeded sample, those of a release all. The folders planted/ and mutants/ say how to run one alone.
"""

import shutil

import false_alarms
import numpy as np
import pytest
from mutants import mutants
from planted import kernels, score
from planted.bugs import BUGS

import teachconv as tc
from teachconv.verification.cases import Case

# the kernels run in forks, which do nothing but NumPy: JAX, which another test may have loaded, warns of every fork
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="the planted kernels are compiled with gcc")
SEEN = [bug for bug in BUGS if not bug.unseen]
LARGE = (
    6,
    105,
    *range(110, 117),
    122,
    129,
    148,
    154,
    *range(158, 161),
    217,
    218,
    223,
)  # no small case shows these
RACES = (149, 163)  # their result is right where the threads happen to take turns


def test_every_bug_is_planted_in_one_place():
    sources = "".join(
        path.read_text() for path in kernels.HERE.iterdir() if path.suffix in (".c", ".h", ".py")
    )
    for bug in BUGS:
        assert any(
            word in sources for word in (f"IS({bug.number})", f"BUG({bug.number},", f"bug == {bug.number}")
        ), bug
    assert len({bug.number for bug in BUGS}) == len(BUGS)


@needs_gcc
def test_a_sample_of_the_bugs_is_found():
    plain = [bug for bug in SEEN if bug.dtypes == ("float32",) and bug.number not in (*LARGE, *RACES)]
    sample = [plain[index] for index in np.random.default_rng(36).permutation(len(plain))[:4]]
    for bug in sample:
        assert score.score(bug, stop=True, tags="small").found, bug


@pytest.mark.release
@pytest.mark.slow
@needs_gcc
def test_every_bug_is_found_that_shows_from_outside():
    score.warm_up(BUGS)
    missed = [bug for bug in SEEN if not score.score(bug, stop=True).found and bug.number not in RACES]
    assert not missed


@pytest.mark.release
@pytest.mark.slow
@needs_gcc
def test_every_bug_is_found_by_random_calls_alone():
    missed = [bug for bug in SEEN if not score.fuzz(bug, 60).found and bug.number not in RACES]
    assert not missed


@pytest.mark.release
@pytest.mark.slow
@needs_gcc
def test_what_cannot_be_seen_is_not_found():
    for bug in BUGS:
        assert not bug.unseen or not score.score(bug, stop=True).found, bug


@needs_gcc
def test_a_sample_of_the_mutants_is_killed_or_equal():
    survivors, ends = mutants.run_all(["rows"], every=60, calls=1000)
    assert not survivors
    assert ends["rows killed"] >= 1


@pytest.mark.release
@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("kernel", mutants.KERNELS)
def test_every_mutant_is_killed_or_equal(kernel):
    survivors, ends = mutants.run_all([kernel], calls=5000)
    assert not survivors, [(mutant.line, mutant.text) for mutant in survivors]
    assert sum(ends.values()) > 200


def test_right_kernels_raise_no_alarm():
    runs, alarms = false_alarms.run(100)
    assert runs >= 100
    assert not alarms


@pytest.mark.release
@pytest.mark.slow
def test_many_right_kernels_raise_no_alarm():
    runs, alarms = false_alarms.run(1000, seed=1)
    assert not alarms


def test_a_wrong_kernel_raises_an_alarm(monkeypatch):
    def one_term_less(a, b):
        return false_alarms.in_order(a[..., :-1], b[..., :-1])

    monkeypatch.setattr(false_alarms, "SUMS", (one_term_less,))
    assert false_alarms.run(4, kinds=("normal", "integers"))[1]


def test_a_transform_may_leave_roundings_where_windows_lie_in_the_padding():
    case = Case("padding", "conv2d", (2, 7, 5, 1), (3, 3, 1, 9), 1, ((3, 0), (-1, 3)))
    problem = next(case.problems())
    report = tc.diff(problem.op, *problem.args, **problem.kwargs, backends=[false_alarms.backend()])
    assert report.passed, report
