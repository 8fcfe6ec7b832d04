"""The device "GPU": placement, copies, kernels and variables on it, with the stand-in for CuPy."""

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not

tg = tc.graph


@pytest.fixture(params=["stand-in", pytest.param("GPU", marks=pytest.mark.gpu)])
def gpu(request, cupy_forgotten):
    """A machine with a GPU, or with the stand-in's two."""
    if request.param == "stand-in":
        return request.getfixturevalue("stand_in")
    if why := why_not("cupy"):
        pytest.skip(why)
    return __import__("cupy")


def network(device="/gpu:0"):
    rng = np.random.default_rng(0)
    x = tg.placeholder("float32", [None, 6, 6, 2], name="x")
    with tg.device(device):
        w = tg.Variable(rng.integers(-3, 4, (3, 3, 2, 4)).astype("float32"), name="w")
        y = tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(x, w, 1, "SAME"), np.float32([1, 2, 3, 4])), name="y")
    return x, w, tg.subtract(y, 1.0, name="z")


def image():
    return np.random.default_rng(1).integers(-3, 4, (2, 6, 6, 2)).astype("float32")


def run(graph, fetches, feeds, config=None):
    metadata = tg.RunMetadata()
    with tg.Session(graph, config) as session:
        session.run(tg.global_variables_initializer())
        return session.run(fetches, feeds, run_metadata=metadata), metadata


@pytest.mark.parametrize("remapping", [True, False])
def test_a_network_on_the_gpu_gives_the_cpu_s_numbers(gpu, remapping):
    with tg.Graph().as_default() as graph:
        x, w, z = network()
        (value, weights), metadata = run(graph, [z, w], {x: image()}, tg.ConfigProto(remapping=remapping))
    with tg.Graph().as_default() as graph:
        x, w, z = network(None)
        (want, _), _ = run(graph, [z, w], {x: image()})
    assert type(value) is type(weights) is np.ndarray
    assert np.array_equal(value, want)  # integers: exact on every backend
    device = {node.name: node.device for node in metadata.nodes}
    assert device["y"] == device["w"] == device["w/read"] == "/device:GPU:0"
    assert device["z"] == device["_arg_x_0_0"] == "/device:CPU:0"
    by_name = {node.name: node for node in metadata.nodes}
    ran = by_name["y" if remapping else "Conv2D"]
    assert ran.op == ("_FusedConv2D" if remapping else "Conv2D")
    assert ran.backend == "cupy"
    assert "GPU, default" in ran.kernel
    text = " ".join(str(metadata.all).split())
    assert "sent: _arg_x_0_0 from /device:CPU:0 to /device:GPU:0" in text
    assert "sent: y from /device:GPU:0 to /device:CPU:0" in text
    assert "sent: w/read from /device:GPU:0 to /device:CPU:0" in text  # fetched
    assert "partition: 2 subgraphs: " in text
    assert metadata.placements["y"].reason == "asked for /device:GPU:0"


def test_variables_stay_on_the_gpu(gpu):
    with tg.Graph().as_default() as graph, tg.device("/gpu:0"):
        v = tg.Variable([1.0, 2.0], name="v")
        assigned = v.assign([3.0, 4.0])
    with tg.Session(graph) as session:
        session.run(v.initializer)
        assert session.run(v).tolist() == [1, 2]
        assert session.run(assigned).tolist() == [3, 4]
        assert type(session._variables["v"].value) is gpu.ndarray
        assert session.run("v:0").tolist() == [3, 4]


def test_a_function_may_use_the_gpu(gpu):
    w = tg.Variable(np.ones((1, 1, 2, 1), "float32"))

    @tc.function
    def convolve(x):
        with tg.device("/gpu:0"):
            return tg.nn.conv2d(x, w)

    result, metadata = convolve.profile(image())
    assert np.array_equal(result.numpy(), tc.conv2d(image(), w.numpy()))
    assert "/device:GPU:0" in metadata.partitions


def test_device_count_makes_the_gpu_the_first_choice(gpu):
    with tg.Graph().as_default() as graph:
        x, w, z = network(None)
        config = tg.ConfigProto(device_count={"GPU": 1})
        _, metadata = run(graph, z, {x: image()}, config)
        device = {node.name: node.device for node in metadata.nodes}
        assert device["y"] == "/device:GPU:0"
        assert device["z"] == "/device:CPU:0"  # Sub has no kernel on a GPU
        _, metadata = run(graph, z, {x: image()}, tg.ConfigProto(device_count={"GPU": 1}, backend="numpy"))
        (conv,) = [node for node in metadata.nodes if node.op == "Conv2D"]
        assert (conv.backend, conv.device) == ("numpy", "/device:CPU:0")  # only the CPU has that label
        _, metadata = run(graph, z, {x: image()})
        assert set(metadata.partitions) == {"/device:CPU:0"}  # nobody has asked for a GPU
    assert tg.ConfigProto(device_count={"GPU": 0}).devices() == tg.list_physical_devices("CPU")
    assert tg.list_physical_devices()[1:] == tg.list_physical_devices("GPU") != []


def test_an_op_without_a_gpu_kernel_says_so(gpu):
    with tg.Graph().as_default() as graph, tg.device("/gpu:0"):
        y = tg.nn.softmax(tg.placeholder("float32", [2], name="x"), name="y")
    with tg.Session(graph) as session:
        with pytest.raises(
            tg.InvalidArgumentError,
            match=r"'x' .*asks for /device:GPU:0, which has no kernel for Placeholder; usable: /device:CPU:0",
        ):
            session.run(y, {"x:0": [1, 2]})
    with pytest.warns(
        tg.SoftPlacementWarning, match="which has no kernel for Placeholder; placed on /device:CPU:0"
    ):
        with tg.Session(graph, tg.ConfigProto(allow_soft_placement=True)) as session:
            assert session.run(y, {"x:0": [1, 1]}).tolist() == [0.5, 0.5]


def test_without_a_gpu_the_error_says_what_is_there(cupy_forgotten, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with tg.Graph().as_default() as graph, tg.device("/gpu:0"):
        y = tg.constant(1.0, name="y")
    assert tg.list_physical_devices("GPU") == []
    with tg.Session(graph) as session:
        with pytest.raises(
            tg.InvalidArgumentError,
            match=r"asks for /device:GPU:0, which does not exist; available: /device:CPU:0 \(.*pip install",
        ):
            session.run(y)


def test_an_eager_op_on_a_gpu_that_is_not_there_is_not_moved_in_silence(cupy_forgotten, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.warns(
        tg.SoftPlacementWarning, match="/gpu:0: ops run on the CPU, because .*GPU:0 does not exist"
    ):
        scope = tg.device("/gpu:0")
    with scope:
        assert tg.constant([1.0]).device.endswith("CPU:0")


def test_eager_ops_run_on_the_gpu(gpu):
    x, w, dy = image(), np.ones((3, 3, 2, 4), "float32"), np.ones((2, 6, 6, 4), "float32")
    with tg.device("/gpu:0"):
        b = tg.constant(np.float32([1, 2, 3, 4]))
        y = tg.nn.conv2d(x, w, 1, "SAME")
        z = tg.nn.relu(tg.nn.bias_add(y, b))
        back = tg.nn.conv2d_backprop_input(x.shape, w, dy, 1, "SAME")
        with tg.device("/cpu:0"):
            on_cpu = tg.nn.relu(y)
        with pytest.warns(
            tg.SoftPlacementWarning, match="Sub has no kernel on /device:GPU:0: it runs on the CPU"
        ):
            difference = z - 1.0
        with pytest.warns(
            tg.SoftPlacementWarning, match="Conv2D has no kernel"
        ):  # only the CPU has that label
            assert np.array_equal(tg.nn.conv2d(x, w, 1, "SAME", backend="numpy"), y)
    for tensor in (b, y, z, back):
        assert tensor.device.endswith("/device:GPU:0")
        assert type(tensor._array) is gpu.ndarray
        assert type(tensor.numpy()) is type(np.asarray(tensor)) is np.ndarray
    for tensor in (on_cpu, difference, tg.nn.relu(y)):
        assert tensor.device.endswith("/device:CPU:0")
    want = tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(x, w, 1, "SAME"), b.numpy()))
    assert np.array_equal(z, want)  # integers: exact on every backend
    assert np.array_equal(difference, want - 1.0)
    assert np.array_equal(back, tg.nn.conv2d_backprop_input(x.shape, w, dy, 1, "SAME"))
    assert (z.shape, z.dtype, z.ndim, len(z)) == ((2, 6, 6, 4), np.float32, 4, 2)
    assert repr(z[0, 0, 0]) == repr(want[0, 0, 0])


def test_a_tape_follows_ops_on_the_gpu(gpu):
    x, v = tg.constant(image()), tg.Variable(np.ones((3, 3, 2, 4), "float32"))
    slopes = []
    for place in ("/gpu:0", "/cpu:0"):
        with tg.GradientTape() as tape, tg.device(place):
            y = tg.nn.conv2d(x, v, 1, "SAME")
        slopes.append(tape.gradient(y, v).numpy())
    assert np.array_equal(*slopes)
    with tg.device("/gpu:0"):
        assert v.assign_add(v).numpy().sum() == 2 * 72  # a variable made eagerly is on the CPU
