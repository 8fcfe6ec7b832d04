"""Other libraries' arrays in the ops: which argument decides, what comes out, and what is refused."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.support import devices
from teachconv.verification.cases import find_cases

xp = pytest.importorskip("array_api_strict")

CASES = find_cases("small")
ROOT = Path(__file__).parents[2]
X, W = (
    make_array((2, 5, 6, 4), "float32", "integers", "x"),
    make_array((3, 3, 4, 5), "float32", "integers", "w"),
)


def own(values, make):
    """The arguments of a problem with its arrays made another library's."""
    return [make(item) if isinstance(item, np.ndarray) else item for item in values]


# ---------------------------------------------------------------------------------------------
# The registry
# ---------------------------------------------------------------------------------------------


def test_nothing_is_imported_before_it_is_met():
    code = (
        "import sys, numpy as np, teachconv as tc\n"
        "tc.conv2d(np.ones((1, 4, 4, 1)), np.ones((3, 3, 1, 1)))\n"
        "tc.conv2d([[[[1.0]]]], [[[[1.0]]]])\n"
        "assert not [name for name in sys.modules if name.startswith('teachconv.arrays')]\n"
        "import array_api_strict as xp\n"
        "tc.conv2d(xp.ones((1, 4, 4, 1)), xp.ones((3, 3, 1, 1)))\n"
        "assert 'teachconv.arrays.array_api' in sys.modules\n"
        "assert not {'torch', 'jax', 'xarray', 'dask', 'PIL', 'cupy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class Eager:
    """An array whose library records what is done with it."""

    def __init__(self, name):
        self.name = name


class Recorder(devices.Adapter):
    name = "recorder"

    def knows(self, cls):
        return issubclass(cls, Eager)

    def takes_over(self, value):
        return True

    def call(self, value, op, arguments):
        return value.name, op, {name: arguments[name] for name in ("input", "filters", "bias", "strides")}


@pytest.fixture
def recorder(monkeypatch):
    """A library of recorded arrays, entered by the name of its module alone."""
    module = type(sys)("adapter_of_eager")
    module.ADAPTER = Recorder()
    monkeypatch.setitem(sys.modules, "adapter_of_eager", module)
    monkeypatch.setitem(devices.ADAPTERS, Eager.__module__.partition(".")[0], "adapter_of_eager")
    devices._adapter_of_class.cache_clear()
    yield
    devices._adapter_of_class.cache_clear()


@pytest.mark.parametrize("place", ["input", "filters", "bias"])
def test_what_takes_over_decides_wherever_it_stands(recorder, place):
    given = {"input": xp.asarray(X), "filters": W, "bias": None, place: Eager("e")}
    who, op, arguments = tc.conv2d(**given, strides=2)
    assert who == "e"
    assert op is tc.conv2d
    assert arguments == {**given, "strides": 2}


def test_the_first_that_takes_over_decides(recorder):
    assert tc.conv2d(Eager("first"), Eager("second"))[0] == "first"
    assert tc.conv2d(X, Eager("second"), bias=Eager("third"))[0] == "second"


def test_a_subclass_is_known_by_its_base(recorder):
    class Own(Eager):
        __module__ = "somewhere.else"

    assert tc.conv2d(Own("own"), W)[0] == "own"


def test_a_class_of_the_library_that_is_no_array_is_none(recorder):
    class Shape(tuple):
        __module__ = Eager.__module__

    assert devices.adapter_of(Shape()) is None


# ---------------------------------------------------------------------------------------------
# The array API
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES[::9], ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_array_api_arrays_in_and_out(case):
    for problem in case.problems("float32", "integers"):
        kwargs = dict(zip(problem.kwargs, own(problem.kwargs.values(), xp.asarray), strict=True))
        got = problem.op(*own(problem.args, xp.asarray), **kwargs)
        assert isinstance(got, type(xp.asarray(X)))
        assert np.array_equal(np.asarray(got), problem.op(*problem.args, **problem.kwargs))


def test_the_first_array_argument_decides():
    strict = type(xp.asarray(X))
    for x, w, kind in (
        (xp.asarray(X), W, strict),
        (X, xp.asarray(W), np.ndarray),
        (X.tolist(), xp.asarray(W), 0),
    ):
        if kind == 0:  # lists are NumPy's, of float64
            w, kind = xp.asarray(W.astype("float64")), np.ndarray
        got = tc.conv2d(x, w)
        assert type(got) is kind
        assert np.array_equal(np.asarray(got), tc.conv2d(X, W))
    dy = tc.conv2d(X, W)
    assert type(tc.conv2d_backprop_input(X.shape, xp.asarray(W), dy)) is strict
    assert type(tc.conv2d_backprop_input(X.shape, W, xp.asarray(dy))) is np.ndarray
    assert type(tc.conv2d_backprop_filter(xp.asarray(X), W.shape, dy)) is strict


def test_streams_give_the_kind_of_the_chunks():
    stream = tc.stream(tc.conv2d, W, padding="SAME")
    got = [stream.push(xp.asarray(X[:, :2])), stream.push(xp.asarray(X[:, 2:])), stream.flush()]
    assert {type(part) for part in got} == {type(xp.asarray(X))}
    want = tc.conv2d(X, W, padding="SAME", algorithm=stream.algorithm)
    assert np.array_equal(np.concatenate([np.asarray(part) for part in got], 1), want)


def test_dialects_and_plans_take_them():
    nchw, oihw = X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)
    got = tc.dialects.torch.conv2d(xp.asarray(nchw), xp.asarray(oihw), padding=1)
    assert isinstance(got, type(xp.asarray(X)))
    assert np.array_equal(np.asarray(got), tc.dialects.torch.conv2d(nchw, oihw, padding=1))
    padded = tc.dialects.torch.pad(xp.asarray(nchw), (1, 2))
    assert isinstance(padded, type(xp.asarray(X)))
    assert np.array_equal(np.asarray(padded), tc.dialects.torch.pad(nchw, (1, 2)))
    planned = tc.plan(tc.conv2d, xp.asarray(W), input_shape=X.shape)(xp.asarray(X))
    assert np.array_equal(np.asarray(planned), tc.conv2d(X, W))
    assert isinstance(planned, type(xp.asarray(X)))


def test_a_trace_shows_the_conversion():
    traced = tc.trace(tc.conv2d, xp.asarray(X), W)
    assert isinstance(traced.result, type(xp.asarray(X)))
    first = traced.stages[0]
    assert first.name == "convert array"
    assert list(first.shapes) == ["input"]  # the filters are NumPy's already


def test_out():
    out = np.empty((2, 3, 4, 5), "float32")
    assert tc.conv2d(xp.asarray(X), xp.asarray(W), out=out) is out
    assert np.array_equal(out, tc.conv2d(X, W))
    with pytest.raises(TypeError, match="out must be an array that can be written to.*array_api_strict"):
        tc.conv2d(xp.asarray(X), W, out=xp.asarray(out))
    with pytest.raises(TypeError, match="out must be a NumPy array"):
        tc.conv2d(X, W, out=xp.asarray(out))


def test_another_device():
    there = xp.asarray(X, device=xp.Device("device1"))
    with pytest.raises(
        TypeError, match="input must be an array or nested lists; got array_api_strict.*device1"
    ):
        tc.conv2d(there, W)
    with pytest.raises(TypeError, match="filters must be an array"):
        tc.conv2d(X, xp.asarray(W, device=xp.Device("device1")))


def test_errors_are_those_of_numpy_arrays():
    with pytest.raises(ValueError, match="input must have 4 axes"):
        tc.conv2d(xp.asarray(X[0]), W)
    with pytest.raises(TypeError, match="filters must have the dtype of input, float32; got float64"):
        tc.conv2d(xp.asarray(X), xp.asarray(W.astype("float64")))
    with pytest.raises(TypeError, match="has no argument 'stride'"):
        tc.conv2d(xp.asarray(X), W, stride=2)


@pytest.mark.parametrize(
    "value", [object(), "text", None, {1: 2}, 3.5], ids=lambda value: type(value).__name__
)
def test_unknown_kinds(value):
    with pytest.raises((TypeError, ValueError), match="input must"):
        tc.conv2d(value, W)


# ---------------------------------------------------------------------------------------------
# On a GPU, and images
# ---------------------------------------------------------------------------------------------


class OnTheGpu:
    """An array of a library with DLPack and the array API, on a GPU; nothing copies it to the host."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self):
        raise AssertionError("the stand-in of CuPy reads the array itself")

    def __array__(self, *args, **kwargs):
        raise AssertionError("copied to the host")

    def __array_namespace__(self):
        return Namespace


class Namespace:
    from_dlpack = staticmethod(OnTheGpu)


def test_arrays_on_a_gpu_never_see_the_host(stand_in, monkeypatch):
    monkeypatch.setattr(stand_in, "from_dlpack", lambda value: value.array)
    x, w = OnTheGpu(stand_in.asarray(X)), OnTheGpu(stand_in.asarray(W))
    traced = tc.trace(tc.conv2d, x, w, padding="SAME")
    assert type(traced.result) is OnTheGpu
    assert traced.backend == "cupy"
    assert not [stage.name for stage in traced.stages if "copy" in stage.name]
    assert np.array_equal(traced.result.array.get(), tc.conv2d(X, W, padding="SAME"))


def test_host_and_gpu_do_not_mix(stand_in):
    with pytest.raises(ValueError, match=r"filters must be where input is, on GPU 0; got one on the host"):
        tc.conv2d(stand_in.asarray(X), xp.asarray(W))
    with pytest.raises(ValueError, match=r"filters must be where input is, on the host; got one on GPU 0"):
        tc.conv2d(xp.asarray(X), stand_in.asarray(W))


def test_an_image_is_refused_with_its_shape():
    image = pytest.importorskip("PIL.Image")
    with pytest.raises(ValueError, match=r"input must have 4 axes, .* got shape \[4, 6, 3\]"):
        tc.conv2d(image.new("RGB", (6, 4)), W)


# ---------------------------------------------------------------------------------------------
# The table in the docs
# ---------------------------------------------------------------------------------------------


def table_script():
    spec = importlib.util.spec_from_file_location("array_tables", ROOT / "docs" / "array_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = table_script()


@pytest.mark.parametrize("shown", TABLES.ROWS)
@pytest.mark.filterwarnings("ignore")  # of the libraries' own code
def test_the_table_is_what_happens(shown, request):
    """If this fails, run: python docs/array_tables.py"""
    module = TABLES.ROWS[shown][0]
    if module == "cupy":
        request.getfixturevalue("stand_in")
    pytest.importorskip(module)
    assert TABLES.row(shown) in TABLES.TARGET.read_text(encoding="utf-8").split("\n")


def test_the_table_has_every_row():
    lines = TABLES.TARGET.read_text(encoding="utf-8").split("\n")
    assert [line.split(" | ")[0][2:] for line in lines[4:-1]] == list(TABLES.ROWS)
