"""The default backend: of the process by `set_backend`, of a block and its context alone by `use_backend`."""

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import backends
from teachconv.running import default_backend

X, W = np.ones((1, 2, 2, 1)), np.ones((1, 1, 1, 1))


def default():
    """The backend that a call runs on where none is asked for."""
    return tc.trace(tc.conv2d, X, W).backend


@pytest.fixture(autouse=True)
def before():
    """The default that there was, which every test leaves as it was."""
    process = default_backend._process_default
    yield default()
    default_backend._process_default = process


def in_a_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_set_backend_sets_the_default_of_the_process(before):
    tc.set_backend("numpy")
    assert (default(), in_a_thread(default)) == ("numpy", "numpy")
    in_a_thread(lambda: tc.set_backend("scipy"))
    assert (default(), in_a_thread(default)) == ("scipy", "scipy")
    for wrong in ("cudnn", "", 3, ["numpy"]):
        with pytest.raises(ValueError, match="backend must be one of reference"):
            tc.set_backend(wrong)
        with pytest.raises(ValueError, match="backend must be one of reference"):
            tc.use_backend(wrong)
    assert default() == "scipy"
    tc.set_backend(None)
    assert default() == before


def test_a_block_has_no_effect_on_the_process_at_any_moment(before):
    block = tc.use_backend("reference")
    assert (default(), in_a_thread(default)) == (before, before)  # made, not entered
    with block:
        assert in_a_thread(default) == before
    del block
    assert (default(), in_a_thread(default)) == (before, before)
    with pytest.raises(ValueError, match="backend must be one of"), tc.use_backend("cudnn"):
        pass
    assert default() == before


def test_a_thread_never_sees_the_blocks_of_another(before):
    over, seen = threading.Event(), set()

    def look():
        while not over.is_set():
            seen.add(default_backend.default_backend())

    process, interval = default_backend.default_backend(), sys.getswitchinterval()
    looking = threading.Thread(target=look)
    try:
        sys.setswitchinterval(1e-6)
        looking.start()
        for _ in range(20000):
            with tc.use_backend("reference"):
                pass
    finally:
        over.set()
        looking.join()
        sys.setswitchinterval(interval)
    assert seen == {process}


def test_a_block_sets_the_default_of_its_context_alone(before):
    with tc.use_backend("reference"):
        assert (default(), in_a_thread(default)) == ("reference", before)
        with tc.use_backend("numpy"):
            assert default() == "numpy"
            with tc.use_backend(None):
                assert default() == before
            assert default() == "numpy"
        assert default() == "reference"
    assert default() == before
    with pytest.raises(ZeroDivisionError), tc.use_backend("reference"):
        raise ZeroDivisionError
    assert default() == before


def test_set_backend_in_a_block_is_seen_after_it():
    with tc.use_backend("reference"):
        tc.set_backend("numpy")
        assert (default(), in_a_thread(default)) == ("reference", "numpy")
    assert default() == "numpy"


def test_one_instance_serves_several_blocks(before):
    block = tc.use_backend("reference")
    for _ in range(3):
        with block:
            assert default() == "reference"
            with tc.use_backend("numpy"), block, block:
                assert default() == "reference"
            assert default() == "reference"
        assert default() == before
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run_in, [block] * 4)) == ["reference"] * 4
    assert default() == before


def run_in(block):
    with block:
        return default()


def test_interleaved_instances_leave_nothing_behind(before):
    """The order that two threads may come in: made, made, entered, entered, left, left."""
    first, second = tc.use_backend("numpy"), tc.use_backend("reference")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert default() == "reference"
    second.__exit__(None, None, None)
    assert default() == before
    assert in_a_thread(default) == before


def test_interleaved_threads_leave_nothing_behind(before):
    both_in, one_out = threading.Barrier(2), threading.Event()
    seen = {}

    def work(name, waits):
        with tc.use_backend(name):
            both_in.wait(10)
            seen[name] = default()
            if waits:
                one_out.wait(10)
                seen[name] = default()
        one_out.set()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ["numpy", "reference"], [False, True]))
    assert seen == {"numpy": "numpy", "reference": "reference"}
    assert (default(), in_a_thread(default)) == (before, before)


def test_tasks_of_asyncio_have_a_default_each(before):
    async def work(name):
        with tc.use_backend(name):
            await asyncio.sleep(0)
            found = default()
            await asyncio.sleep(0)
            return found, default()

    async def main():
        return await asyncio.gather(*map(work, ("numpy", "reference", "scipy")))

    assert asyncio.run(main()) == [(name, name) for name in ("numpy", "reference", "scipy")]
    assert default() == before


def test_what_starts_in_a_block_inherits_it_with_a_copy_of_the_context(before):
    async def look():
        await asyncio.sleep(0)
        return default()

    async def main():
        with tc.use_backend("numpy"):
            task, thread = asyncio.create_task(look()), asyncio.to_thread(default)
            assert await asyncio.get_running_loop().run_in_executor(None, default) == before
            inherited = await thread
        return await task, inherited, await look()  # the task goes on when the block is over

    assert asyncio.run(main()) == ("numpy", "numpy", before)
    with tc.use_backend("numpy"):
        context = contextvars.copy_context()
    assert in_a_thread(lambda: context.run(default)) == "numpy"


def test_a_generator_leaves_its_own_block(before):
    def cells():
        with tc.use_backend("numpy"):
            yield default()
            yield default()

    generator = cells()
    assert next(generator) == "numpy"
    with tc.use_backend("reference"):
        assert list(generator) == ["reference"]  # the block entered last
        assert default() == "reference"  # the generator took its own block back, not this one
    assert default() == before


def test_a_graph_on_several_threads_runs_on_the_backend_of_the_block():
    graph = tc.graph
    with graph.Graph().as_default(), graph.Session() as session:
        x = graph.placeholder("float32", X.shape)
        convolved = [graph.nn.conv2d(x, graph.constant(np.float32(W * k)), 1, "SAME") for k in range(1, 4)]
        metadata = graph.RunMetadata()
        with tc.use_backend("reference"):
            session.run(convolved, {x: X}, run_metadata=metadata)
    assert [node.backend for node in metadata.nodes if node.op == "Conv2D"] == ["reference"] * 3


def test_a_function_can_be_a_block(before):
    @tc.use_backend("reference")
    def backend():
        """Return the backend of a call."""
        return tc.trace(tc.conv2d, X, W).backend

    assert (backend(), backend(), backend.__doc__) == (
        "reference",
        "reference",
        "Return the backend of a call.",
    )
    assert tc.trace(tc.conv2d, X, W).backend != "reference"


def test_in_a_browser_no_compiler_is_mentioned(monkeypatch):
    from teachconv.backends import cython_backend

    monkeypatch.setattr(cython_backend, "_kernels", None)
    monkeypatch.setattr(cython_backend, "find_spec", lambda name: None)
    assert "install a C compiler" in cython_backend.unavailable()
    monkeypatch.setattr("sys.platform", "emscripten")
    assert cython_backend.unavailable() == (
        "Python in a browser has no compiled backend: use numpy, scipy or reference"
    )


@pytest.mark.parametrize("pure", [True, False])
def test_a_wheel_that_is_pure_on_purpose_does_not_warn(pure, tmp_path):
    """Students got "install a C compiler" in every notebook."""
    place = tmp_path / "teachconv-0.2.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: teachconv\nVersion: 0.2\n")
    (place / "WHEEL").write_text(f"Wheel-Version: 1.0\nRoot-Is-Purelib: {str(pure).lower()}\n")
    (tmp_path / "teachconv").symlink_to(Path(tc.__file__).parent)
    code = (
        "import sys, warnings; sys.modules['teachconv._kernels'] = None\n"
        "import numpy as np, teachconv as tc\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    tc.conv2d(np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)))\n"
        "print([str(one.message) for one in caught])"
    )
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=variables, capture_output=True, text=True
    )
    said = done.stdout.strip()
    assert said == "[]" if pure else "numpy backend" in said and "chooses it without this warning" in said


@pytest.mark.parametrize("name", ["nonsense", "cupy"])
@pytest.mark.parametrize("library", ["numpy", "jax.numpy", "dask.array"])
def test_the_variable_is_named_where_its_backend_is_not_there(monkeypatch, library, name):
    """The message blamed the argument ``backend``, which nobody had passed."""
    if name == "cupy" and not backends.why_not(name):
        pytest.skip("CuPy can run here")
    ones = pytest.importorskip(library).ones
    # as TEACHCONV_BACKEND sets it at import
    monkeypatch.setattr(default_backend, "_process_default", (name, None))
    with pytest.raises(
        (ValueError, RuntimeError), match=f"^TEACHCONV_BACKEND (must be one of .*)?.*'{name}'"
    ):
        tc.conv2d(ones(X.shape), ones(W.shape))
    with pytest.raises(ValueError, match="^backend must be one of"):
        tc.conv2d(ones(X.shape), ones(W.shape), backend="cudnn")
