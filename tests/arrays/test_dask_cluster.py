"""dask.distributed: two processes, a backend chosen by each, a worker that dies."""

import os
import signal
import sys
import time

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
cloudpickle = pytest.importorskip("cloudpickle")
distributed = pytest.importorskip("distributed")
zarr = pytest.importorskip("zarr")

pytestmark = [
    pytest.mark.xdist_group("dask_cluster"),
    pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers cannot import a test
    quiet = {
        "distributed.worker.daemon": True,
        "distributed.logging.distributed": "critical",
        "distributed.comm.timeouts.connect": "20s",
    }
    with dask.config.set(quiet):
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GiB"
        ) as cluster:
            with distributed.Client(cluster) as found:
                yield found


W = np.random.default_rng(1).standard_normal((3, 3, 1, 1)).astype("float32")
EMPTY = np.empty((0,) * 4, "float32")  # of a map_blocks, which dask else tries out


def image(size, chunk):
    return da.random.default_rng(0).standard_normal(
        (1, size, size, 1), chunks=(1, chunk, chunk, 1), dtype="float32"
    )


def down_and_up(x):
    return tc.conv2d_transpose(tc.conv2d(x, W, 2, "SAME"), W, strides=2)


def in_memory(x):
    x = x.compute(scheduler="synchronous")
    y = tc.conv2d(x, W, 2, "SAME", algorithm="row_gemm")
    return tc.conv2d_transpose(y, W, strides=2, algorithm="phases")


def choose_reference():
    tc.set_backend("reference")


def choose_nothing():
    tc.set_backend(None)


@pytest.mark.slow
def test_two_processes_give_the_bits_of_one_call(client):
    x = image(120, 32)
    assert down_and_up(x).compute().tobytes() == in_memory(x).tobytes()
    dw = tc.conv2d_backprop_filter(x, W.shape, tc.conv2d(x, W, 2, "SAME"), 2, "SAME").compute()
    array = x.compute()
    y = tc.conv2d(array, W, 2, "SAME", algorithm="row_gemm")
    assert tc.diff(tc.conv2d_backprop_filter, array, W.shape, y, 2, "SAME", backends=[], against=dw).passed


@pytest.mark.slow
def test_each_worker_uses_the_backend_that_it_has_chosen(client):
    first, second = client.scheduler_info()["workers"]
    client.run(choose_reference, workers=[first])
    x = image(24, 24)
    array = x.compute()
    want = {
        first: tc.conv2d(array, W, backend="reference"),
        second: tc.conv2d(array, W, algorithm="row_gemm"),
    }
    assert want[first].tobytes() != want[second].tobytes()
    try:
        for worker in (first, second):
            got = client.compute(tc.conv2d(x, W), workers=[worker], allow_other_workers=False).result()
            assert got.tobytes() == want[worker].tobytes()
    finally:
        client.run(choose_nothing, workers=[first])


def wait_until(true):
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_a_worker_is_killed_in_the_middle_and_the_result_is_right(client, tmp_path):
    x = image(400, 50)

    def slowly(block):
        time.sleep(0.02)
        return block

    y = down_and_up(x.map_blocks(slowly, meta=EMPTY))
    store = da.to_zarr(y, str(tmp_path / "y.zarr"), compute=False)
    future = client.compute(store)
    victim, pid = next(iter(client.run(os.getpid).items()))

    def half_way():
        done = client.run_on_scheduler(
            lambda dask_scheduler: sum(t.state == "memory" for t in dask_scheduler.tasks.values())
        )
        return done > 20

    wait_until(half_way)
    os.kill(pid, signal.SIGKILL)
    future.result(timeout=60)
    assert zarr.open_array(str(tmp_path / "y.zarr"), mode="r")[:].tobytes() == in_memory(x).tobytes()
    wait_until(lambda: len(client.scheduler_info()["workers"]) == 2)
    assert victim not in client.scheduler_info()["workers"]
