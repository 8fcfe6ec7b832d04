"""Several threads that train one variable, or call one function, and forks in between."""

import asyncio
import os
import signal
import threading

import numpy as np
import pytest

import teachconv as tc
from teachconv.graph.framework.op_kernel import KERNELS, TRACING, UPDATING
from teachconv.graph.ops.variable_scope import get_variable, variable_scope

tg = tc.graph
A_MOMENT = 0.1  # long enough for another thread to finish if nothing stops it


def started(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    thread.join(A_MOMENT)
    return thread


def eager(v):
    return lambda: v.assign_add(1.0), v.numpy


def in_function(v):
    add = tc.function(lambda: v.assign_add(1.0))
    add.get_concrete_function()
    return add, v.numpy


def by_optimizer(v):
    optimizer = tg.train.GradientDescentOptimizer(1.0)
    return lambda: optimizer.apply_gradients([(tg.constant(-1.0), v)]), v.numpy


def in_session(_):
    with tg.Graph().as_default() as graph:
        v = tg.Variable(0.0)
        add, init = v.assign_add(1.0), tg.global_variables_initializer()
    session = tg.Session(graph)
    session.run(init)
    return lambda: session.run(add.op), lambda: session.run(v)


@pytest.mark.parametrize("way", [eager, in_function, by_optimizer, in_session])
def test_no_update_is_lost_between_threads(way, monkeypatch):
    """The first update lets another thread try its own before it writes: that one must wait."""
    add, value = way(tg.Variable(0.0))
    op = "ApplyGradientDescent" if way is by_optimizer else "AssignAdd"
    kernel = KERNELS[op, "CPU", ""].kernel
    update, others = kernel.function, []

    def update_with_a_rival(*values):
        result = update(*values)
        if not others:
            others.append(None)
            others[0] = started(add)
        return result

    monkeypatch.setattr(kernel, "function", staticmethod(update_with_a_rival))
    add()
    others[0].join(10)
    assert value() == 2.0


def test_many_updates_by_four_threads():
    v = tg.Variable(np.zeros(3, "float32"))
    add = tc.function(lambda: v.assign_add(tg.ones([3])))

    def work():
        for _ in range(50):
            v.assign_add([1.0, 1.0, 1.0])
            add()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert v.numpy().tolist() == [400.0, 400.0, 400.0]


def test_a_function_that_is_being_traced_is_not_traced_by_another_thread():
    others, results = [], []

    @tc.function
    def double(x):
        if not others:
            others.append(None)
            others[0] = started(lambda: results.append(double(tg.constant([3.0])).numpy().tolist()))
            others.append(started(lambda: results.append(double(tg.constant([3.0, 4.0])).numpy().tolist())))
        return 2.0 * x

    assert double(tg.constant([1.0])).numpy().tolist() == [2.0]
    for thread in others:
        thread.join(10)
    assert sorted(results) == [[6.0], [6.0, 8.0]]
    assert [record.signature for record in double.trace_log] == ["x: (1,) float32", "x: (2,) float32"]


def test_gradients_of_a_function_of_several_threads():
    v = tg.Variable(3.0)
    f = tc.function(lambda x: tg.reduce_sum(x * v * v))
    found = []

    def work(size):
        for _ in range(3):
            with tg.GradientTape() as tape:
                y = f(tg.ones([size]))
            found.append(float(tape.gradient(y, v)) / size)

    threads = [threading.Thread(target=work, args=(1 + index % 2,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [6.0] * 12


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX's, if loaded
def test_a_forked_child_does_not_wait_for_a_lock_of_another_thread():
    v, held, done = tg.Variable(1.0), threading.Event(), threading.Event()

    def hold():
        with UPDATING.lock, TRACING.lock:
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    child = os.fork()
    if not child:  # never returns to pytest
        signal.alarm(10)  # which ends it if it waits; another thread might get the holder's identity
        tc.function(lambda: v.assign_add(1.0))()
        os._exit(0 if v.numpy() == 2.0 else 1)
    status = os.waitpid(child, 0)[1]
    done.set()
    thread.join(10)
    assert status == 0
    assert v.numpy() == 1.0


def test_tapes_of_several_tasks_record_their_own_ops():
    """Entered and left in turn: with one list for the thread, the first to leave would stop the second tape."""
    v = tg.Variable(3.0)

    async def square(entered, left):
        with tg.GradientTape() as tape:
            await asyncio.sleep(entered)
            y = v * v
            await asyncio.sleep(left)
            y = y * v
        return float(tape.gradient(y, v)), len(tape.operations())

    async def main():
        return await asyncio.gather(square(0, 0), square(0, 0.01), square(0.01, 0.01))

    alone = asyncio.run(square(0, 0))
    assert alone[0] == 27.0
    assert asyncio.run(main()) == [alone] * 3


def test_the_scopes_of_a_graph_hold_in_the_thread_that_entered_them():
    graph = tg.Graph()
    with graph.as_default():
        first = tg.constant(1.0)

    def build():
        with graph.as_default():
            made.append(tg.constant(2.0).op)
            made.append(get_variable("v", [1]).op)

    made = []
    with (
        graph.as_default(),
        graph.device("/cpu:1"),
        graph.control_dependencies([first]),
        graph.gradient_override_map({"Const": "Other"}),
        variable_scope("scope"),
    ):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
        inside = tg.constant(3.0).op
        assert get_variable("v", [1]).name == "scope/v:0"
    assert (inside.name, inside.device, inside.control_inputs) == (
        "scope/Const",
        "/device:CPU:1",
        (first.op,),
    )
    assert inside.attrs["_gradient_op_type"] == "Other"
    assert [op.name for op in made] == ["Const_1", "v"]
    assert all(op.device == "" and not op.control_inputs for op in made)
    assert not any("_gradient_op_type" in op.attrs for op in made)
