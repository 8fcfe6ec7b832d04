"""tf.print and the assertions: what they write and raise, and that they run in the order of the program.

The texts are those of TensorFlow 2.21.
"""

import sys

import numpy as np
import pytest

import teachconv as tc

tg = tc.graph
debugging = tg.debugging


def test_numbers_and_structures_are_printed_as_tensorflow_does(capsys):
    def show(*values, **options):
        debugging.print(*values, output_stream=sys.stdout, **options)
        return capsys.readouterr().out

    numbers = tg.constant([0.1, 1 / 3, 1e10, 1e-10, 123456.789, np.nan, np.inf])
    assert show(numbers, summarize=-1) == "[0.1 0.333333343 1e+10 1e-10 123456.789 nan inf]\n"
    assert show(tg.constant(np.array([0.1, 1 / 3])), tg.constant(0.5)) == "[0.1 0.33333333333333331] 0.5\n"
    rows = tg.reshape(tg.range(100), [10, 10])
    assert show(rows).splitlines() == [
        "[[0 1 2 ... 7 8 9]",
        " [10 11 12 ... 17 18 19]",
        " [20 21 22 ... 27 28 29]",
        " ...",
        " [70 71 72 ... 77 78 79]",
        " [80 81 82 ... 87 88 89]",
        " [90 91 92 ... 97 98 99]]",
    ]
    mixed = ("a", 1, [1, 2.5], {"k": tg.constant(1)}, np.float32(3.5), True, None, tg.constant(True))
    assert show(*mixed, sep="|", end="!\n") == "a|1|[1, 2.5]|{'k': 1}|np.float32(3.5)|True|None|1!\n"
    assert show("{} and {{}}", tg.Variable(2.0)) == "{} and {{}} 2\n"
    assert show() == "\n"
    debugging.print("x:", tg.constant([1, 2]))
    assert capsys.readouterr() == ("", "x: [1 2]\n")
    with pytest.raises(ValueError, match="output_stream must be sys.stderr or sys.stdout; got 'file://x'"):
        debugging.print(output_stream="file://x")


def test_a_function_prints_and_checks_at_every_call_in_order(capsys):
    @tc.function
    def inner(x):
        debugging.print("inner", x)
        debugging.assert_less(x, 10.0, message="too large")
        debugging.print("checked")
        return x

    @tc.function
    def outer(x):
        debugging.print("outer")
        inner(x)  # whose result nothing needs
        tg.cond(x > 1.0, lambda: say("then", x), lambda: say("else", x))
        debugging.print("end")
        return x

    def say(word, x):
        debugging.print(word)
        return x

    for x, branch in ((1.0, "else"), (2.0, "then")):
        assert float(outer(tg.constant(x))) == x
        assert capsys.readouterr().err.split("\n")[:-1] == ["outer", f"inner {x:g}", "checked", branch, "end"]
    with pytest.raises(
        tg.InvalidArgumentError, match=r"too large.*x < y did not hold element-wise.* \[?10\]?"
    ):
        outer(tg.constant(10.0))
    assert capsys.readouterr().err == "outer\ninner 10\n"  # nothing after the check ran


def test_in_a_graph_they_run_if_something_needs_them(capsys):
    with tg.Graph().as_default(), tg.Session() as session:
        x = tg.placeholder("int32", [2], name="x")
        printed, checked = debugging.print("x is", x), debugging.assert_equal(x, [1, 2])
        y = x + 1
        assert checked.type == "Assert"
        with tg.control_dependencies([printed, checked]):
            z = x + 1
        session.run(y, {x: [3, 4]})
        assert capsys.readouterr().err == ""
        session.run(z, {x: [1, 2]})
        assert capsys.readouterr().err == "x is [1 2]\n"
        match = r"Condition x == y did not hold element-wise:\] \[x \(x:0\) = \] \[3 4\] \[y \(.*:0\) = \] \[1 2\]"
        with pytest.raises(tg.InvalidArgumentError, match=match):
            session.run(checked, {x: [3, 4]})
        with pytest.raises(tg.InvalidArgumentError, match="Condition x == y did not hold element-wise"):
            debugging.assert_equal([1, 2], [1, 3])  # both are known: at once, as in TensorFlow


def test_assertions():
    x, y = tg.constant([1.0, 2.0]), tg.Variable([1.0, 3.0])
    text = """oh
Condition x == y did not hold.
Indices of first 1 different values:
[[1]]
Corresponding x values:
[2.]
Corresponding y values:
[3.]
First 2 elements of x:
[1. 2.]
First 2 elements of y:
[1. 3.]"""
    with pytest.raises(tg.InvalidArgumentError) as caught:
        debugging.assert_equal(x, y, message="oh")
    assert str(caught.value) == text
    for name, good, bad in (
        ("assert_equal", ([1, 2], [1, 2]), (1, 2)),
        ("assert_none_equal", (x, [0, 0]), (x, y)),
        ("assert_less", (1, 2), (x, y)),
        ("assert_less_equal", (x, y), (2, 1)),
        ("assert_greater", (y, 0.5), (y, x)),
        ("assert_greater_equal", (y, x), (x, y)),
        ("assert_positive", (x,), ([0, 1],)),
        ("assert_non_negative", ([0, 1],), ([-1, 1],)),
        ("assert_negative", ([-1],), ([0],)),
        ("assert_non_positive", ([0, -1],), ([1],)),
        ("assert_near", (x, [1.0, 2.000001]), (x, [1.0, 2.1])),
        ("assert_rank", (x, 1), (x, 2)),
        ("Assert", (True, []), (False, ["because", x])),
    ):
        assert getattr(debugging, name)(*good) is None
        with pytest.raises(
            ValueError, match=r"did not hold|assertion failed|must have rank 2. Received rank 1"
        ):
            getattr(debugging, name)(*bad)
    with pytest.raises(ValueError, match="condition of Assert must be a scalar"):
        debugging.Assert([True], [])
    assert debugging.assert_shapes({x.ref(): ("N",)}) is None
    for shapes, message in (
        (
            [(x, ("N",)), (tg.ones([3, 2]), ("N", "M"))],
            r"shape=\(2,\).* dimension 0 must have size 2. Received size 3",
        ),
        ([(x, (3,))], "dimension 0 must have size 3. Received size 2"),
        ([(x, ("N", 1))], "must have rank 2. Received rank 1"),
        ([(tg.ones([2, 3]), ("*", 2))], "dimension 1 must have size 2"),
    ):
        with pytest.raises(ValueError, match=message):
            debugging.assert_shapes(shapes)
    debugging.assert_shapes([(tg.ones([2, 3]), ("...", 3)), (x, (None,)), (x, "N"), (np.ones(()), ())])


def test_all_and_any():
    cells = np.array([[True, False, True], [True, True, True]])
    for axis in (None, 0, 1, [0, 1], -1):
        for keep in (False, True):
            numpys = tuple(axis) if isinstance(axis, list) else axis
            assert np.array_equal(tg.reduce_all(cells, axis, keep), cells.all(numpys, keepdims=keep))
            assert np.array_equal(tg.reduce_any(cells, axis, keep), cells.any(numpys, keepdims=keep))
    assert (bool(tg.reduce_all(np.zeros(0, bool))), bool(tg.reduce_any(np.zeros(0, bool)))) == (True, False)
    with pytest.raises(TypeError, match="input_tensor of reduce_all must have dtype bool"):
        tg.reduce_all([1, 0])
    with pytest.raises(ValueError, match="input_tensor of reduce_all must fit dtype bool; got int64 2"):
        tg.reduce_all(np.array([1, 2]))
