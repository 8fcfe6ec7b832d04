"""The first call of a process: what it loads is a stage of its own, and no other time includes it.

Each test runs in a fresh process. Every import is made to take as long as `SLOW` says, so that a time that
includes one is known by its size.
"""

import json
import subprocess
import sys
from functools import cache

import pytest
from helpers import mostly_slow

pytestmark = pytest.mark.xdist_group("first_call")

SLOW = 5.0  # seconds on the clock of the fresh process for everything that is loaded

BEGIN = f"""
import importlib, json, sys, time
import numpy as np, teachconv as tc

x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
real, late = time.perf_counter, 0.0
time.perf_counter = lambda: real() + late

def slow(name, package=None, load=importlib.import_module):
    global late
    late += 0 if name in sys.modules else {SLOW}
    return load(name, package)

importlib.import_module = slow
import teachconv.backends
teachconv.backends.import_module = slow
show = lambda **found: print(json.dumps(found))
"""


@cache
def in_a_fresh_process(code):
    run = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


TRACE = """
t = tc.trace(tc.conv2d, x, w, 2, "SAME", backend={!r}, algorithm={!r})
show(stages=[(s.name, s.depth, s.seconds, s.is_loading) for s in t.stages],
     seconds=t.seconds, loading=t.loading, text=str(t))
"""

# two calls in one process
TWICE = TRACE.format("scipy", "fft") * 2
CASES = [
    (None, None),
    ("reference", "loops"),
    ("numpy", "im2col"),
    ("scipy", "sparse"),
    ("scipy", "fft"),
    ("cython", "im2col"),
]


@pytest.mark.parametrize(
    ("backend", "algorithm"), mostly_slow(CASES, (None, None), ("numpy", "im2col"), ("scipy", "sparse"))
)
def test_loading_a_backend_is_a_stage_before_dispatch(backend, algorithm):
    found = json.loads(in_a_fresh_process(TRACE.format(backend, algorithm)))
    names = [name for name, *_ in found["stages"]]
    load = names.index(f"load backend {backend or 'cython'}")
    assert load < names.index("dispatch")
    assert found["stages"][load][1] == 0  # inside no other stage
    for name, _, seconds, loads in found["stages"]:
        assert (seconds >= SLOW) == loads == name.startswith("load "), name
    assert found["seconds"] < SLOW <= found["loading"]
    assert "of loading" in found["text"].partition("\n")[0]


def test_what_an_algorithm_imports_itself_is_counted_in_no_stage_around_it():
    found = json.loads(in_a_fresh_process(TWICE).split("\n")[0])
    times = {name: seconds for name, _, seconds, _ in found["stages"]}
    assert times["load scipy.signal"] >= SLOW > times["scipy.conv2d"]


def test_a_trace_of_a_quantized_call_loads_the_backend_in_a_stage_of_its_own():
    code = """
facts = dict(x_scale=1.0, x_zero_point=0, w_scale=1.0, y_scale=1.0, y_zero_point=0)
t = tc.trace(tc.quantized.conv2d, x.astype("int8"), w.astype("int8"), backend="reference", **facts)
show(stages=[(s.name, s.seconds) for s in t.stages], seconds=t.seconds, loading=t.loading)
"""
    found = json.loads(in_a_fresh_process(code))
    assert dict(found["stages"])["load backend reference"] >= SLOW
    assert found["seconds"] < SLOW <= found["loading"]


def test_the_second_call_loads_nothing():
    second = json.loads(in_a_fresh_process(TWICE).split("\n")[1])
    assert not second["loading"]
    assert not any(loads for *_, loads in second["stages"])


def test_diff_charges_no_row_with_loading():
    code = """
r = tc.diff(tc.conv2d, x, w, 2, "SAME")
show(rows=[row.seconds for row in r.rows], reference=r.reference_seconds, loading=r.loading, text=str(r))
"""
    found = json.loads(in_a_fresh_process(code))
    assert max(*found["rows"], found["reference"]) < SLOW
    names = [name for name, _ in found["loading"]]
    assert {"load backend scipy", "load scipy.sparse", "load scipy.signal"} <= set(names)
    assert not any(name in found["text"] for name in names)


def test_the_command_line_lists_what_a_diff_loaded_on_request():
    call = "'diff', 'conv2d', '--input', '1,8,8,2', '--filters', '3,3,2,2', '--backends', 'scipy'"
    for option, shown in (("", False), (", '-v'", True)):
        text = in_a_fresh_process(f"from teachconv.cli import main; main.main([{call}{option}])")
        assert ("\nload scipy.sparse: " in text) is shown


def test_the_log_of_a_graph_counts_no_loading():
    code = """
from teachconv import graph
m = graph.RunMetadata()
with graph.Graph().as_default(), graph.Session() as session:
    y = graph.nn.conv2d(graph.constant(x), graph.Variable(w), 1, "SAME")
    session.run(graph.global_variables_initializer())
    session.run(y, run_metadata=m)
from teachconv.support import record
show(nodes=[node.end - node.start for node in m.nodes], seconds=m.seconds, loads=[load.seconds for load in record.loads])
"""
    found = json.loads(in_a_fresh_process(code))
    assert max(found["nodes"]) < SLOW > found["seconds"]
    assert max(found["loads"]) >= SLOW


def test_a_page_has_the_trace_of_a_warm_call():
    code = """
from teachconv.explorer import document
d = document.Document(tc.conv2d, (x, w, 2, "SAME"), {"backend": "scipy", "algorithm": "fft"}, None)
show(trace=d.base()["trace"])
"""
    trace = json.loads(in_a_fresh_process(code))["trace"]
    assert len(trace) > 4
    assert all(stage["microseconds"] < SLOW * 1e6 for stage in trace)
    assert not [stage["name"] for stage in trace if stage["name"].startswith("load")]


@pytest.mark.parametrize("command", ["trace", "demo"])
def test_the_command_line_shows_loading_apart(command, tmp_path):
    arguments = {
        "trace": "'trace', 'conv2d', '--input', '1,8,8,2', '--filters', '3,3,2,2'",
        "demo": f"'demo', '-o', {str(tmp_path / 'd.html')!r}",
    }
    lines = in_a_fresh_process(f"from teachconv.cli import main; main.main([{arguments[command]}])").split(
        "\n"
    )
    times = {line.split("  ")[0]: line for line in lines}
    assert " s " in times["load backend cython"]
    assert " s " not in times["dispatch"]


def test_a_clock_without_loading(monkeypatch):
    from teachconv.support import record

    now = 0.0
    monkeypatch.setattr(record.time, "perf_counter", lambda: now)
    start = record.clock()
    with record.recording() as stages, record.stage("call"):
        now += 1
        with record.loading("load a"):
            now += 10
            with record.loading("load b"):
                now += 100
        now += 1000
    assert {stage.name: stage.seconds for stage in stages} == {"call": 1001, "load a": 10, "load b": 100}
    assert record.clock() - start == 1001
    assert [load.name for load in record.loads[-2:]] == ["load b", "load a"]


def test_a_package_that_is_not_installed_was_not_loaded():
    from teachconv import backends
    from teachconv.support import record

    before = list(record.loads)
    with pytest.raises(ModuleNotFoundError):
        backends.load("no_such_package")
    assert record.loads == before


def test_reading_a_source_is_no_part_of_the_call(monkeypatch):
    from teachconv.support import record

    now = 0.0

    def slow_line(*_):
        nonlocal now
        now += 5
        return "def"

    monkeypatch.setattr(record.time, "perf_counter", lambda: now)
    monkeypatch.setattr(record.linecache, "getline", slow_line)
    with record.recording() as stages, record.stage("call") as stage:
        stage.at(slow_line)
    assert now == 5
    assert stages[0].seconds == 0
