"""The page of a network: its numbers are those of the rule in Python and of `explain`, its sets those of a brute-force search."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest
from drawn_digits import prepare
from node import answers, needs_node
from recordings import RECORDED

import teachconv as tc
from teachconv import data, keras
from teachconv.cli.main import main
from teachconv.explorer import page, sphinx_directive
from teachconv.explorer.digits import digits_model, draw_a_digit
from teachconv.networks import recorder
from teachconv.networks.walking import walk

MODULES = (*page.MODULES, "call_document", "network_numbers", "network_reach", "network_why")


def image(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype("float32")


def own():
    """Every layer of a small classifier; batch normalisation has numbers of its own."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(4, 3, padding="same", activation="relu", name="conv1"),
            layers.MaxPooling2D(2),
            layers.Conv2D(6, 3, padding="same", dilation_rate=2, name="conv2"),
            layers.BatchNormalization(name="norm"),
            layers.ReLU(),
            layers.AveragePooling2D(3, 2, padding="same"),
            layers.Flatten(),
            layers.Dense(7, activation="tanh"),
            layers.Dense(10, activation="softmax", name="answer"),
        ]
    )
    return drawn_weights(model), image(1, 8, 8, 1)


def drawn_weights(model):
    rng = np.random.default_rng(11)
    for layer in model.layers:
        shapes = [np.shape(weight) for weight in layer.get_weights()]
        layer.set_weights(
            [np.float32(np.abs(rng.normal(size=s)) if len(s) == 1 else rng.normal(size=s)) for s in shapes]
        )
    return model


def residual():
    """A sum of two ways, depthwise filters, a concatenation, a mean over the image."""
    layers = keras.layers
    start = layers.Input((6, 7, 3))
    a = layers.Conv2D(4, 3, padding="same", activation="relu", name="first")(start)
    b = layers.DepthwiseConv2D(3, padding="same", name="deep")(a)
    c = layers.ReLU()(layers.Add(name="sum")([a, b]))
    d = layers.Concatenate(name="both")([c, a])
    e = layers.GlobalAveragePooling2D(name="mean")(layers.Conv2D(5, 1, name="mix")(d))
    return drawn_weights(keras.Model(start, e)), image(1, 6, 7, 3)


def decoder():
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((3, 4, 2)),
            layers.Conv2DTranspose(
                3, 3, strides=2, padding="same", activation="relu", use_bias=False, name="up1"
            ),
            layers.Conv2DTranspose(2, 4, strides=2, padding="valid", use_bias=False, name="up2"),
        ]
    )
    return drawn_weights(model), image(1, 3, 4, 2)


def torch_model():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(5)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, padding=1),
        nn.Conv2d(4, 8, 3, groups=2, padding=1),
        nn.BatchNorm2d(8),
        nn.LeakyReLU(0.1),
        nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1),
        nn.Flatten(),
        nn.Linear(4 * 4 * 6, 5),
    )
    return model.eval(), image(1, 3, 8, 12)


def onnx_model():
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    rng = np.random.default_rng(4)
    weights = {"w": (4, 1, 3, 3), "b": (4,), "v": (3, 24), "d": (3,)}
    made = [onnx.numpy_helper.from_array(rng.normal(size=s).astype("float32"), n) for n, s in weights.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 0, 1, 2], strides=[2, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("AveragePool", ["r"], ["p"], kernel_shape=[2, 2], strides=[1, 2], pads=[0, 1, 0, 1]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "v", "d"], ["y"], transB=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", 1, [1, 1, 5, 4])], [value("y", 1, [1, 3])], initializer=made
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model, image(1, 1, 5, 4)


NETWORKS = {"own": own, "residual": residual, "decoder": decoder, "torch": torch_model, "onnx": onnx_model}


@pytest.fixture(params=NETWORKS, scope="module")
def network(request):
    model, x = NETWORKS[request.param]()
    return tc.explore(model, x)


def ask(explorer, function, *arguments):
    """Call a function of a network of the page, its numbers and the arguments."""
    text = f"const ran = {function}; const start = (data, ...given) => {{ const network = new Network(data); return ran(network, network.forward(network.input), ...given); }};"
    return answers(MODULES, text)("start", explorer.data(), *arguments)


def cells_of(array, axis):
    array = np.moveaxis(array, axis, -1)[0] if array.ndim > 2 else array.reshape(-1)
    return array.reshape((1,) * (3 - array.ndim) + array.shape)


@needs_node
def test_every_layer_has_the_numbers_that_the_model_computed(network):
    """What each column shows is what the last of its layers returned."""
    got = ask(network, "(network, values) => values.map((v) => [...v])")
    columns = network.data()["columns"]
    assert not [column["name"] for column in columns if column["kind"] == "box"]
    outputs = {
        layer.name: cells_of(layer.output, layer.axis) for layer in network.network.layers if layer.computes
    }
    seen = 0
    for column, numbers in zip(columns[1:], got[1:], strict=True):
        want = outputs[column["name"]] if not column["then"] else None
        if want is None or column["name"] == "answer":
            continue
        seen += 1
        np.testing.assert_allclose(np.reshape(numbers, want.shape), want, rtol=1e-4, atol=1e-5)
    assert seen
    final = np.asarray(network.result)
    if columns[-1]["then"] == [{"kind": "softmax"}]:
        got[-1] = np.exp(got[-1]) / np.exp(got[-1]).sum()
    want = cells_of(final, network.network.axis)
    np.testing.assert_allclose(np.reshape(got[-1], want.shape), want, rtol=1e-4, atol=1e-5)


@needs_node
def test_forty_cells_of_each_network_are_the_sums_of_explain(network):
    """Of the numbers that the page itself has before the layer."""
    rng = np.random.default_rng(8)
    layers = {layer.name: layer for layer in network.network.layers}
    columns = network.data()["columns"]
    sums = [k for k, column in enumerate(columns) if column["kind"].endswith("convolution")]
    cells = [[int(k), *(int(rng.integers(n)) for n in columns[k]["shape"])] for k in rng.choice(sums, 40)]
    values, got = ask(
        network,
        "(network, values, cells) => [values.map((v) => [...v]), cells.map((cell) => network.evaluated(cell, values).sum)]",
        cells,
    )
    for (k, row, col, channel), value in zip(cells, got, strict=True):
        column = columns[k]
        layer = layers.get(column["name"]) or next(
            v for n, v in layers.items() if n.startswith(column["name"])
        )
        before = np.float32(values[column["from"][0]]).reshape(1, *columns[column["from"][0]]["shape"])
        x = layer.inputs[0]
        x = (np.moveaxis(before, -1, layer.axis) if x.ndim == 4 and x.size > x.shape[-1] else before).reshape(
            x.shape
        )
        at = (0, row, col, channel)
        words = dict(layer.arguments)
        if layer.bias is not None:
            words["B" if layer.op.__module__.endswith("onnx") else "bias"] = layer.bias
        explained = tc.explain(layer.op, x, **words, at=cell_names(layer, at))
        assert value == float(explained.value), (column["name"], at)


def cell_names(layer, at):
    """A cell as `explain` of the layer's function numbers it."""
    n, row, col, channel = at
    return (n, channel, row, col) if "dialects" in layer.op.__module__ and layer.axis == 1 else at


# ---- what a cell reads and reaches ----


def ones(model):
    """The same model with weights of which no sum of positive numbers is zero: a cell that reads 1 is positive."""
    for layer in model.layers:
        names = [weight.name.rpartition("/")[2] for weight in layer.weights]
        shapes = [np.shape(weight) for weight in layer.get_weights()]
        zero = ("bias", "beta", "moving_mean")
        layer.set_weights([np.full(s, n not in zero, "float32") for s, n in zip(shapes, names, strict=True)])
    return model


@pytest.mark.parametrize("make", [own, residual, decoder])
@needs_node
def test_what_a_cell_reads_and_reaches_is_what_a_search_through_all_inputs_finds(make):
    """Every input cell alone is put through the real model, whose weights are ones."""
    model, x = make()
    explorer = tc.explore(model, x)
    columns = explorer.data()["columns"]
    size = x[0].size
    every = walk(ones(model), np.eye(size, dtype="float32").reshape(size, *x.shape[1:]))
    outputs = {layer.name: layer.output for layer in every.layers if layer.computes}
    depends = []  # of each column: [cells, input cells]
    for column in columns:
        made = np.eye(size) if column["kind"] == "input" else outputs[column["name"]]
        depends.append(made.reshape(size, -1).T > 0)
    rng = np.random.default_rng(2)
    picks = [(int(k), int(rng.integers(len(depends[k])))) for k in rng.integers(1, len(columns), 100)]
    starts = [int(i) for i in rng.integers(0, size, 100)]
    reads, reached = ask(
        explorer,
        """(network, values, picks, starts) => [
          picks.map(([k, i]) => [...readsOf(network, network.cellAt(k, i)).masks[0]]),
          starts.map((i) => reachedBy(network, network.cellAt(0, i)).map((mask) => [...mask])),
        ]""",
        picks,
        starts,
    )
    for (k, i), mask in zip(picks, reads, strict=True):
        np.testing.assert_array_equal(np.array(mask, bool), depends[k][i], str((columns[k]["name"], i)))
    for i, masks in zip(starts, reached, strict=True):
        for k, mask in enumerate(masks):
            np.testing.assert_array_equal(
                np.array(mask, bool), depends[k][:, i], str((columns[k]["name"], i))
            )


@needs_node
def test_a_window_counts_its_padding():
    """Worked by hand: behind a pool, row 0 of a 3 x 3 SAME convolution reads rows -2 to 3 + 1 of the image."""
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(1, 3, padding="same"),
            layers.MaxPooling2D(2),
            layers.Conv2D(1, 3, padding="same"),
        ]
    )
    got = ask(
        tc.explore(model, image(1, 8, 8, 1)),
        "(network) => { const { masks, spans } = readsOf(network, [3, 0, 1, 0]); return [spans[0], spanOf(network, 0, masks[0]), spans[2]]; }",
    )
    assert got == [
        {"rows": [-1, 4], "cols": [-1, 6]},
        {"count": 35, "first": [0, 0], "sides": [5, 7]},
        {"rows": [-1, 1], "cols": [0, 2]},
    ]


# ---- what is refused ----


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((2, 8, 8, 1)), "one image with a batch of one .* got shape .2, 8, 8, 1"),
        (np.full((1, 8, 8, 1), np.nan), "finite numbers; got NaN or infinity"),
        (
            np.zeros((1, 8, 8, 3), "float32"),
            r"x of shape \[1, 8, 8, 3\] does not fit the model: .* needs .3, 3, 3, 4",
        ),
        (np.zeros((1, 10, 10, 1), "float32"), r"x of shape \[1, 10, 10, 1\] does not fit"),
        (np.zeros(8), "shape .8. does not fit"),
        ([np.zeros((1, 8, 8, 1)), np.zeros((1, 8, 8, 1))], "does not fit|batch of one"),
        (None, "x must be an array"),
    ],
)
def test_a_bad_input_is_refused(x, message):
    model, _ = own()
    with pytest.raises((ValueError, TypeError), match=message):
        tc.explore(model, x)


def test_what_is_for_calls_only_is_refused_and_at_must_be_inside(tmp_path):
    model, x = own()
    with pytest.raises(TypeError, match="story is for the picture of a call"):
        tc.explore(model, x, story=[])
    with pytest.raises(TypeError, match="tc.compare"):
        tc.explore(model, x).beside(padding=1)
    with pytest.raises(TypeError, match="a model must be .*'net.txt'"):
        tc.explore("net.txt", x)
    with pytest.raises(ValueError, match="the layer of at must be"):
        tc.explore(model, x, at=("conv9", 0, 0, 0))
    with pytest.raises(IndexError, match=r"at must be inside shape \[8, 8, 4\]"):
        tc.explore(model, x, at=("conv1", 0, 8, 0))
    with pytest.raises(ValueError, match="budget must be at least 3.* got 1,000 B"):
        tc.explore(model, x, budget=1000)
    with pytest.raises(ValueError, match="must end in .html"):
        tc.explore(model, x).save(tmp_path / "page.png")
    assert tc.explore(model, x, at=("conv1", 1, 2, 3)).data()["at"] == [1, 1, 2, 3]


@needs_node
def test_a_column_is_named_by_what_it_does():
    text = "const start = (columns) => columns.map((column) => says({ rows: 4, cols: 4, ...column }));"
    relu, relu6, hardtanh = (
        {"kind": "clip", "low": low, "high": high} for low, high in ((0, None), (0, 6), (-1, 1))
    )
    axis = {"filter_size": 3, "stride": 1, "dilation": 1}
    base = {"kind": "convolution", "filters": [1], "groups": 1, "channels": 4, "sources": [[8, 8, 2]]}
    rows = [axis | {"stride": 2}, axis | {"dilation": 2}]
    same = {"kind": "same", "steps": [hardtanh]}
    columns = [base | {"axes": rows, "then": [relu]}, base | {"axes": [axis, axis], "then": [relu6]}, same]
    got = answers((*MODULES, "network_plane", "network_marks", "network_panels"), text)("start", columns)
    assert got == [["3 × 3, stride 2 × 1, dilation 1 × 2", "ReLU"], ["3 × 3", "ReLU6"], ["clip -1…1"]]


def test_an_activation_that_does_not_give_the_numbers_of_the_run_is_a_box():
    """A recording of which one number was changed."""
    model, x = own()
    recording = recorder.record_keras(model, x)
    entry = next(entry for entry in recording if entry["name"] == "re_lu" or entry["word"] == "ReLU")
    entry["output"] = entry["output"] * np.float32(2)
    kinds = [column["kind"] for column in tc.explore(recording).data()["columns"]]
    assert kinds[:5] == ["input", "convolution", "max pool", "convolution", "box"]


@pytest.mark.parametrize(("alpha", "is_known"), [(1.0, True), (0.5, False)])
def test_an_activation_with_another_setting_than_the_page_knows_is_a_box(alpha, is_known):
    """An ELU in place of the ReLU, which is a step of its convolution's column if the page has it."""
    recording = recorder.record_keras(*own())
    entry = next(entry for entry in recording if entry["word"] == "ReLU")
    (x,) = entry["args"]
    output = np.where(x < 0, np.float32(alpha) * np.expm1(np.minimum(x, 0)), x)
    entry |= {"word": "ELU", "kwargs": {"alpha": alpha}, "output": output}
    columns = tc.explore(recording).data()["columns"]
    assert [step["kind"] for step in columns[3]["then"]] == ["batch norm", *["elu"] * is_known]


@pytest.mark.parametrize("word", ["Concat", "Sum"])
def test_what_takes_a_constant_beside_several_arrays_is_a_box(word):
    """The page holds no constant, so it cannot compute the cells."""
    x = image(1, 3, 4, 4)
    y, one = np.maximum(x, 0), np.ones_like(x)
    joined = np.concatenate([x, y, one], 1) if word == "Concat" else x + y + one
    facts = {"framework": "onnx", "error": ""}
    recording = [
        facts | {"name": "relu", "word": "Relu", "args": [x], "kwargs": {}, "output": y},
        facts | {"name": "join", "word": word, "args": [x, y, one], "kwargs": {"axis": 1}, "output": joined},
    ]
    *_, column = tc.explore(recording).data()["columns"]
    assert (column["name"], column["kind"]) == ("join", "box")
    recording[1] |= {"args": [x, y], "output": joined[:, :6] if word == "Concat" else x + y}
    *_, column = tc.explore(recording).data()["columns"]
    assert column["kind"] == {"Concat": "concatenate", "Sum": "add"}[word]


def test_an_answer_is_one_row_of_scores_and_a_box_has_the_numbers_of_the_run():
    layers = keras.layers
    maps = keras.Sequential([layers.Input((4, 4, 1)), layers.Conv2D(2, 3)])
    assert tc.explore(maps, image(1, 4, 4, 1)).data()["answer"] is None
    model = keras.Sequential(
        [layers.Input((4, 4, 1)), layers.UpSampling2D(2), layers.Flatten(), layers.Dense(3)]
    )
    data = tc.explore(model, image(1, 4, 4, 1)).data()
    assert data["answer"] == 2
    assert data["columns"][1]["kind"] == "box"
    want = np.repeat(np.repeat(image(1, 4, 4, 1), 2, 1), 2, 2)
    values = np.frombuffer(b64decode(data["columns"][1]["values"]["base64"]), "float32")
    np.testing.assert_array_equal(values, want.ravel())


# ---- the digits network ----


@pytest.fixture(scope="module")
def digit():
    """The page on which one draws, and the counts of ink of the 200 recorded drawings, divided by 16."""
    drawings = json.loads((RECORDED / "drawn_digits.json").read_text(encoding="utf-8"))["digits"]
    strokes = ([np.array(stroke) / 1000 for stroke in drawing["strokes"]] for drawing in drawings)
    return draw_a_digit(), np.stack([*map(prepare, strokes)]).reshape(-1, 8, 8, 1) / 16


def in_float64(x):
    """The scores of images by the rule of the page: sums in float64, each rounded once."""
    weights = data.digits()

    def convolved(x, name, filters, padding):
        wide = tc.conv2d(x.astype("float64"), filters.astype("float64"), 1, padding, backend="numpy")
        return (wide + weights[f"{name}/bias"].astype("float64")).astype("float32")

    for name in ("conv1", "conv2"):
        x = tc.max_pool(np.maximum(convolved(x, name, weights[f"{name}/filters"], "SAME"), 0), 2, 2, "VALID")
    return convolved(x, "dense", weights["dense/weights"].reshape(2, 2, 16, 10), "VALID").reshape(-1, 10)


@needs_node
def test_two_hundred_drawings_have_the_scores_of_the_rule_in_python(digit):
    page, images = digit
    got = ask(
        page,
        "(network, _, images) => images.map((image) => [...network.forward(Float32Array.from(image)).at(-1)])",
        images.reshape(200, 64).tolist(),
    )
    want = in_float64(images.astype("float32"))
    np.testing.assert_array_max_ulp(np.float32(got), want, maxulp=1)


@needs_node
def test_why_is_a_difference_of_scores_and_what_is_taken_away_is_computed(digit):
    """The real model runs on without the cell that won the pool."""
    page, _ = digit
    scores = in_float64(page.network.x)[0]
    order = np.argsort(-scores)
    win = int(order[0])
    why = ask(page, "(network, values, win) => explained(network, values, win, null)", win)
    assert (why["win"], why["rival"]) == (win, int(order[1]))
    total = sum(tap["product"] for tap in why["list"]) + why["bias"]
    assert why["margin"] == pytest.approx(scores[win] - scores[order[1]], rel=1e-5)
    assert total == pytest.approx(why["margin"], rel=1e-4)
    first = [line for line in why["lines"] if line["to"][0] == 5]
    assert len(first) == 3
    assert sum(line["share"] for line in first) < 1
    shares = [line["product"] / why["positive"] for line in first]
    assert [line["share"] for line in first] == pytest.approx(shares)
    fed = {tuple(line["to"]) for line in why["lines"]}
    assert {line["from"][0] for line in why["lines"] if tuple(line["from"]) not in fed} == {0}  # the input
    relu = next(layer for layer in page.network.layers if layer.name == "conv2 (relu)")
    for line in first:
        _, row, col, channel = line["from"]
        window = relu.output[0, 2 * row : 2 * row + 2, 2 * col : 2 * col + 2, channel]
        r, q = np.unravel_index(window.argmax(), (2, 2))
        changed = relu.output.copy()
        changed[0, 2 * row + r, 2 * col + q, channel] = 0
        (chances,) = page.network.again({page.network.layers.index(relu): changed}).outputs()
        logs = np.log(chances[0])
        assert line["without"] == pytest.approx(logs[win] - logs[why["rival"]], rel=1e-3)
        assert line["origin"] == [3, 2 * row + r, 2 * col + q, channel]
        assert line["instead"] == pytest.approx(np.partition(window.ravel(), -2)[-2], rel=1e-5)


@needs_node
def test_the_least_change_is_the_least_of_all_that_are_tried(digit):
    """Every change of one cell in sixteenths, tried by the real model."""
    page, images = digit
    model = digits_model()
    found = stayed = 0
    for image in images.astype("float32")[[3, 18, 97, 125]]:
        before = int(np.asarray(model(image[None]))[0].argmax())
        tries = np.repeat(image.reshape(1, 64), 64 * 17, 0)
        tries[np.arange(64 * 17), np.arange(64 * 17) // 17] = np.arange(64 * 17) % 17 / 16
        chances = np.asarray(model(tries.reshape(-1, 8, 8, 1)))
        flips = chances.argmax(1) != before
        sizes = np.abs(tries - image.reshape(1, 64)).max(1)
        got = least(page, image)
        _, row, col, _ = got["cell"]
        assert got["tries"] == 64 * 16  # the value that a cell has is no change
        if not flips.any():
            assert not got["flips"]
            logs = np.sort(np.log(chances), 1)
            assert got["ahead"] == pytest.approx((logs[:, -1] - logs[:, -2]).min(), rel=1e-3)
            stayed += 1
            continue
        found += 1
        assert abs(got["to"] - got["was"]) == sizes[flips].min()
        changed = image.copy()
        changed[row, col, 0] = got["to"]
        assert int(np.asarray(model(changed[None]))[0].argmax()) == got["says"] != before
    assert found
    assert stayed


def least(page, image):
    """What the page finds; it may wait, and so is asked for in a script of its own."""
    # a slow machine tries the ends alone: here it has all the time
    text = f"""Object.defineProperty(globalThis, "performance", {{ value: {{ now: () => 0 }} }});
      const found = await leastChange(new Network({json.dumps(page.data())}),
      Float32Array.from({image.ravel().tolist()}), {page.data()["scale"]}, () => true);"""
    return answers(MODULES, text)("() => found")


@needs_node
def test_a_share_that_is_not_all_is_never_a_hundred_percent():
    say = answers((*MODULES, "network_plane", "network_marks"), "")(
        "(all) => all.map(percent)", [1, 0.9999999, 0.9994, 0.996, 0.994, 0.5, 0.0996, 0.02, 0.0004, 0]
    )
    assert say == ["100 %", ">99.9 %", "99.9 %", "99.6 %", "99 %", "50 %", "10 %", "2.0 %", "<0.1 %", "0.0 %"]


# ---- the ways in ----


def saved(tmp_path):
    """A model as a recording, and its input."""
    model, x = own()
    recording = recorder.record_keras(model, x)
    recorder.save(tmp_path / "net.npz", recording)
    return tmp_path / "net.npz", model, x


def test_a_recording_has_its_own_input_and_gives_the_page_of_its_model(tmp_path):
    path, model, x = saved(tmp_path)
    ours, theirs = tc.explore(path).data(), tc.explore(model, x).data()
    assert ours["title"] == "net.npz"
    assert ours["columns"] == theirs["columns"]
    assert ours["input"] == theirs["input"]


def test_the_command_line_writes_the_page_of_a_network(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    image = pytest.importorskip("PIL.Image")
    model, _ = onnx_model()
    onnx.save(model, tmp_path / "net.onnx")
    pixels = np.arange(20, dtype="uint8").reshape(5, 4) * 12
    image.fromarray(pixels).save(tmp_path / "in.png")
    page = tmp_path / "page.html"
    main(["explore", "--network", str(tmp_path / "net.onnx"), str(tmp_path / "in.png"), "-o", str(page)])
    assert "Explorer(net.onnx: 3 layers)" in capsys.readouterr().out
    written = json.loads(re.search('id="explorer-data">(.*?)</script>', page.read_text("utf-8"))[1])
    values = np.frombuffer(b64decode(written["input"]["base64"]), "float32")
    np.testing.assert_array_equal(values, pixels.ravel() / np.float32(255))
    assert main(["explore", "conv2d", "--network", "digits"]) == 2
    assert "--network takes a model" in capsys.readouterr().err


def test_the_directive_takes_the_files_of_a_network(tmp_path):
    path, *_ = saved(tmp_path)
    picture = sphinx_directive._picture("network", {"model": path.name}, tmp_path)
    assert picture.data()["title"] == "net.npz"
    with pytest.raises(ValueError, match=":model:"):
        sphinx_directive._picture("network", {}, tmp_path)
    onnx = pytest.importorskip("onnx")
    model, x = onnx_model()
    onnx.save(model, tmp_path / "net.onnx")
    np.save(tmp_path / "x.npy", x)
    options = {"model": "net.onnx", "x": "x.npy"}
    assert sphinx_directive._picture("network", options, tmp_path).data()["framework"] == "onnx"


def test_keras_itself_gives_the_page_of_the_same_network():
    pytest.importorskip("tensorflow")
    theirs = pytest.importorskip("keras")
    model, x = own()
    layers = theirs.layers
    same = theirs.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(6, 3, padding="same", dilation_rate=2),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.AveragePooling2D(3, 2, padding="same"),
            layers.Flatten(),
            layers.Dense(7, activation="tanh"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    same.set_weights(model.get_weights())
    ours, other = (tc.explore(each, x).data()["columns"] for each in (model, same))
    unlike = ("name", "largest")
    for a, b in zip(ours, other, strict=True):
        assert {k: v for k, v in a.items() if k not in unlike} == {
            k: v for k, v in b.items() if k not in unlike
        }
        assert a.get("largest", 1) == pytest.approx(b.get("largest", 1), rel=1e-4)
