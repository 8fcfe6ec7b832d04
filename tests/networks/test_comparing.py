"""`teachconv.compare`: planted changes are found and named, and rewrites that change nothing give no difference."""

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from networks import built_networks as nets

import teachconv as tc
from teachconv import keras as own_keras
from teachconv.cli.main import main
from teachconv.networks import recorder
from teachconv.networks.comparing import anchoring, spreading
from teachconv.networks.walking import walk
from teachconv.translation import translating
from teachconv.translation.targets import TARGETS

FRAMEWORKS = ("torch", "keras", "onnx", "teachconv")


def image(maker, framework="teachconv", seed=5):
    """A seeded input for a framework's model."""
    x = np.random.default_rng(seed).standard_normal((2, *maker.input_shape)).astype("float32")
    return x if framework in ("keras", "teachconv") else np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def own_network(seed=0):
    """A network of layers that teachconv.keras has."""
    maker = nets.Maker(seed, (12, 10, 3)).conv(6, 3, 2, bias=False).norm().relu().depthwise().relu()
    return (
        maker.conv(6, 3).relu().pool("max_pool", 3, 2, "same").pool("average_pool", 2, 1).flatten().dense(4)
    )


def score(first, second, makers, limit, seed):
    """Count planted changes: all, those whose layer is found, those that are named too; and list the others."""
    count, missed = Counter(), []
    for label, maker in makers.items():
        a, x = nets.build(first, maker.parts, maker.input_shape), image(maker, first)
        found = list(nets.mutants(maker.parts))
        random.Random(seed).shuffle(found)
        for layer, what, codes, parts in found[:limit]:
            try:
                b = nets.build(second, parts, maker.input_shape)
            except Exception:  # the framework refuses such a model, or has no such layer
                count["not built"] += 1
                continue
            report = tc.compare(a, b, x)
            parting = report.first_parting
            right = parting is not None and any(layer in (name or "") for name in (parting.a, parting.b))
            right &= report.passed is False and report.first_wrong is None
            named = right and parting.code in codes
            count.update(all=1, right=right, named=named)
            if not named:
                missed.append((label, layer, what, str(report).splitlines()[0]))
    return count, missed


def good(count, least):
    return (
        count["all"] >= least
        and count["right"] >= 0.95 * count["all"]
        and count["named"] >= 0.8 * count["all"]
    )


def test_planted_changes_are_found_and_named():
    count, missed = score("teachconv", "teachconv", {"own": own_network()}, 8, 0)
    assert good(count, 5), (count, missed)


@pytest.mark.slow
def test_more_planted_changes():
    count, missed = score("teachconv", "teachconv", {seed: own_network(seed) for seed in range(3)}, 100, 1)
    assert good(count, 40), (count, missed)


@pytest.mark.slow
@pytest.mark.parametrize("second", FRAMEWORKS[:3])
@pytest.mark.parametrize("first", FRAMEWORKS[:3])
def test_planted_changes_in_ports(first, second):
    """Three networks, in all nine pairs of frameworks: more than 300 changes together."""
    for name in {"torch": ["torch"], "keras": ["keras"], "onnx": ["onnx", "onnxruntime"]}[second]:
        pytest.importorskip(name)
    pytest.importorskip(first)
    makers = {name: make(1) for name, make in nets.NETWORKS.items()}
    for label, maker in makers.items():
        same = (
            nets.build(first, maker.parts, maker.input_shape),
            nets.build(second, maker.parts, maker.input_shape),
        )
        report = tc.compare(*same, image(maker, first))
        assert report.passed, (label, str(report))
    count, missed = score(first, second, makers, 14, 2)
    assert good(count, 30), (count, missed)


# ---------------------------------------------------------------------------------------------
# Rewrites that change nothing
# ---------------------------------------------------------------------------------------------


def norms_folded(parts):
    """Batch normalisation folded into the convolution before it, in float32 as an exporter does it."""
    found = []
    for part in parts:
        if part.kind == "norm" and found[-1].kind in ("conv", "depthwise"):
            before, w = found.pop(), part.weights
            factor = (w["gamma"] / np.sqrt(w["variance"] + np.float32(part.facts["eps"]))).astype("float32")
            kernel = before.weights["kernel"]
            shape = kernel.shape[-1:] if before.kind == "conv" else (kernel.shape[2], 1)
            bias = before.weights.get("bias", np.float32(0))
            made = {"kernel": kernel * factor.reshape(shape), "bias": (bias - w["mean"]) * factor + w["beta"]}
            found.append(before.with_weights(**made))
        else:
            found.append(part)
    return found


def pads_written(parts):
    """SAME of convolutions as numbers."""
    return [
        part.with_facts(padding=nets.pads_of(part)) if part.kind in ("conv", "depthwise") else part
        for part in parts
    ]


def no_change(parts):
    return list(parts)


REWRITES = {"as it is": no_change, "norms folded": norms_folded, "pads written": pads_written}
REWRITES["both"] = lambda parts: pads_written(norms_folded(parts))


def test_rewrites_give_no_difference():
    for seed, rewrite in enumerate((no_change, norms_folded)):
        maker = own_network(seed)
        models = (
            nets.build("teachconv", parts, maker.input_shape) for parts in (maker.parts, rewrite(maker.parts))
        )
        report = tc.compare(*models, image(maker))
        assert report.passed, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("second", FRAMEWORKS[:3])
def test_rewrites_in_ports_give_no_difference(second):
    """36 for each framework, from Keras' or PyTorch's layout, so that NHWC against NCHW is among them."""
    pytest.importorskip(second)
    first = "torch" if second == "keras" else "keras"
    pytest.importorskip(first)
    for seed in range(3):
        for label, make in nets.NETWORKS.items():
            maker = make(seed)
            a = nets.build(first, maker.parts, maker.input_shape)
            for name, rewrite in REWRITES.items():
                parts = rewrite(maker.parts)
                report = tc.compare(a, nets.build(second, parts, maker.input_shape), image(maker, first))
                assert report.passed, (label, name, seed, str(report))


def test_a_matrix_is_a_convolution_of_one_tap_and_a_relu_may_be_an_argument():
    w = np.random.default_rng(0).standard_normal((4, 5)).astype("float32")
    layers = own_keras.layers
    a = own_keras.Sequential([own_keras.Input((3, 3, 4)), layers.Dense(5, name="dense"), layers.ReLU()])
    b = own_keras.Sequential(
        [own_keras.Input((3, 3, 4)), layers.Conv2D(5, 1, activation="relu", name="conv")]
    )
    a.get_layer("dense").set_weights([w, w[0]])
    b.get_layer("conv").set_weights([w[None, None], w[0]])
    report = tc.compare(a, b, np.random.default_rng(1).standard_normal((2, 3, 3, 4)).astype("float32"))
    assert report.passed
    assert [row.b for row in report.layers] == ["conv", "conv (relu)"]


# ---------------------------------------------------------------------------------------------
# What is said
# ---------------------------------------------------------------------------------------------


def recording(maker, change=None):
    """The recording of an own network; ``change`` is made to its entries."""
    found = recorder.record_keras(nets.build("teachconv", maker.parts, maker.input_shape), image(maker))
    for entry in found:
        if change:
            change(entry)
    return found


def test_a_layer_that_is_wrong_in_itself_is_named():
    maker = own_network()

    def shifted(entry):
        if entry["name"] == "conv_5":
            entry["output"] = np.roll(entry["output"], 1, 2)

    report = tc.compare(recording(maker), recording(maker, shifted))
    assert report.passed is False
    assert report.first_wrong.b == "conv_5"
    assert str(report).startswith("layer 'conv_5' (teachconv) is wrong in itself: ")
    with pytest.raises(AssertionError, match="conv_5"):
        report.check()


def test_one_layer_agrees_and_a_missing_file_is_named(tmp_path):
    layers = own_keras.layers
    model = own_keras.Sequential([own_keras.Input((4, 4, 1)), layers.Conv2D(2, 3)])
    x = np.ones((1, 4, 4, 1), "float32")
    assert str(tc.compare(model, model, x)).startswith("the one layer agrees (teachconv and teachconv)")
    for suffix in ("npz", "onnx", "tflite"):
        missing = tmp_path / f"missing.{suffix}"
        with pytest.raises(ValueError, match=f"b must be a file that exists; got .*missing.{suffix}"):
            tc.compare(model, missing, x)
        with pytest.raises(ValueError, match="a must be a file that exists"):
            tc.compare(str(missing), model, x)


def test_what_has_no_definition_is_listed():
    maker = own_network()

    def unknown(entry):
        if entry["word"] == "MaxPooling2D":
            entry["word"] = "Mystery"

    report = tc.compare(recording(maker, unknown), recording(maker, unknown))
    assert report.passed is None
    assert "1 layer not judged: 'max_pool_7'" in str(report)
    assert any("no definition of Mystery" in row.reason for row in report.layers)


def test_recordings_are_compared_from_files_and_by_the_command(tmp_path, capsys):
    maker, paths = own_network(), [str(tmp_path / name) for name in ("a.npz", "b.npz")]
    wrong = [
        part.with_weights(bias=0 * part.weights["bias"]) if part.name == "conv_5" else part
        for part in maker.parts
    ]
    for path, parts in zip(paths, (maker.parts, wrong), strict=True):
        model = nets.build("teachconv", parts, maker.input_shape)
        recorder.save(path, recorder.record_keras(model, image(maker)))
    assert main(["compare", paths[0], paths[0]]) == 0
    assert capsys.readouterr().out.startswith("all ")
    assert main(["compare", *paths]) == 1
    assert capsys.readouterr().out.startswith("the models part at layer 'conv_5'")
    assert main(["compare", *paths, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["passed"] is False


def test_a_recording_of_tflite_is_lined_up_with_batch_normalisation_folded():
    """What ai-edge-litert computed for the file that TensorFlow's converter made of this network."""
    maker, recorded = own_network(), Path(__file__).parents[1] / "recorded/tflite_network.npz"
    report = tc.compare(nets.build("teachconv", maker.parts, maker.input_shape), recorded, image(maker))
    assert report.passed, str(report)
    assert report.frameworks == ("teachconv", "tflite")
    assert report.layers[0].a == "conv_0 + norm_1"
    layer, _, codes, parts = next(each for each in nets.mutants(maker.parts) if each[1] == "flipped")
    wrong = tc.compare(nets.build("teachconv", parts, maker.input_shape), recorded, image(maker))
    assert layer in wrong.first_parting.a
    assert wrong.first_parting.code in codes


def test_a_recorder_runs_without_teachconv(tmp_path):
    """It is one file, which imports nothing of ours."""
    text = Path(recorder.__file__).read_text()
    assert "from ." not in text
    assert "import teachconv" not in text


def test_nan_is_said_where_it_begins():
    maker = own_network()
    parts = [
        part.with_weights(kernel=np.nan * part.weights["kernel"]) if part.name == "conv_5" else part
        for part in maker.parts
    ]
    model = nets.build("teachconv", parts, maker.input_shape)
    report = tc.compare(model, model, image(maker))
    assert str(report).splitlines()[0].endswith("NaN or infinity begins at layer 'conv_5'")


@pytest.mark.parametrize(
    ("a", "x", "words"),
    [
        (3, None, "a model must be a torch.nn.Module"),
        ("other.npz", None, "a recording must be a file that recorder.save wrote"),
        ("net.txt", None, "a model must be a torch.nn.Module"),
        ("x" * 5000, None, "a model must be a torch.nn.Module"),
        ("x" * 5000 + ".onnx", None, "a must be a file that exists"),
        ("own", None, "x must be an array"),
        ("own", np.zeros(3, "float32"), "x must have the batch first"),
    ],
)
def test_bad_input_is_said(a, x, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("other.npz", x=np.zeros(3))
    maker = own_network()
    model = nets.build("teachconv", maker.parts, maker.input_shape) if a == "own" else a
    with pytest.raises((TypeError, ValueError), match=words):
        tc.compare(model, model, x)


def test_inputs_of_other_sizes_are_refused():
    maker = own_network()
    model, x = nets.build("teachconv", maker.parts, maker.input_shape), image(maker)
    with pytest.raises(ValueError, match=r"x must hold as many numbers for a as for b; got .* a has shape"):
        tc.compare(model, model, (x, np.concatenate([x, x])))


def test_an_onnx_file_is_walked_node_by_node():
    onnx = pytest.importorskip("onnx")
    maker = own_network()
    model = nets.onnx_model(nets.in_channels_first(maker.parts), maker.input_shape, onnx)
    network = walk(model, image(maker, "onnx"))
    assert [layer.word for layer in network.layers][:3] == ["Conv", "BatchNormalization", "Relu"]
    ours = nets.build("teachconv", maker.parts, maker.input_shape)
    assert tc.compare(ours, model, image(maker)).passed


@pytest.mark.slow
def test_a_model_in_training_mode_and_an_in_place_relu():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
    x = np.random.default_rng(0).standard_normal((1, 3, 6, 6)).astype("float32")
    with pytest.raises(ValueError, match="eval"):
        tc.compare(model, model, x)
    network = walk(model.eval(), x)
    assert (network.layers[1].output < 0).any()
    assert [layer.name for layer in network.layers] == [
        "0",
        "1",
        "2",
    ]


def branches(order="lr", swapped=False, gate=False):
    """A recording of two convolutions of one input, whose results are joined: as ONNX nodes."""
    random_ = np.random.default_rng(3)
    x = random_.standard_normal((1, 2, 4, 4)).astype("float32")
    weights = {name: random_.standard_normal((3, 2, 3, 3)).astype("float32") for name in "lr"}

    def entry(name, word, args, output, **kwargs):
        return {
            "name": name,
            "framework": "onnx",
            "word": word,
            "args": args,
            "kwargs": kwargs,
            "output": output,
        }

    done = {name: tc.dialects.onnx.conv(x, weights[name], pads=[1, 1, 1, 1]) for name in "lr"}
    found = [entry(name, "Conv", [x, weights[name]], done[name], pads=[1, 1, 1, 1]) for name in order]
    parts = [done[name] for name in ("rl" if swapped else "lr")]
    joined = np.concatenate(parts, 1)
    found.append(entry("join", "Concat", parts, joined, axis=1))
    sigmoid = (1 / (1 + np.exp(-joined.astype(float)))).astype("float32")
    if gate:
        found.append(entry("sigmoid", "Sigmoid", [joined], sigmoid))
        return [*found, entry("gate", "Mul", [joined, sigmoid], joined * sigmoid)]
    return [*found, entry("silu", "Silu", [joined], joined * sigmoid)]


def test_branches_may_run_in_either_order_but_are_joined_in_one():
    assert tc.compare(branches(), branches("rl")).passed
    report = tc.compare(branches(), branches(swapped=True))
    assert (report.first_parting.b, report.first_parting.code) == ("join", "wiring")


def test_a_step_that_was_not_seen_is_said():
    hidden = branches()
    hidden[-1]["args"] = [hidden[-1]["args"][0] * np.float32(1)]
    hidden[-2]["output"] = hidden[-2]["output"] + np.float32(1)  # which a step takes away that nobody sees
    report = tc.compare(branches(), hidden)
    assert report.passed is False
    assert report.first_wrong.b == "join"
    unseen = [row for row in report.layers if "was not seen" in row.reason]
    assert [row.b for row in unseen] == ["silu"]


def test_a_number_times_its_sigmoid_is_a_silu():
    report = tc.compare(branches(), branches(gate=True))
    assert report.passed
    assert [row.b for row in report.layers] == ["l", "r", "join", "sigmoid + gate"]


def test_a_mended_call_is_written_for_the_second_framework():
    maker = own_network()
    wrong = [part.with_facts(padding="valid") if part.name == "depthwise_3" else part for part in maker.parts]
    models = [nets.build("teachconv", parts, maker.input_shape) for parts in (maker.parts[:5], wrong[:5])]
    report = tc.compare(*models, image(maker))
    assert "padding='same'" in report.first_parting.call
    assert "padding='valid'" in report.first_parting.reason
    assert "<table" in report._repr_html_()


@pytest.mark.parametrize("rank", [1, 3])
def test_convolutions_over_other_axes_are_judged(rank):
    """As PyTorch's call of them is recorded."""
    random_ = np.random.default_rng(0)
    x = random_.standard_normal((2, 3, *(7, 6, 5)[:rank])).astype("float32")
    w = random_.standard_normal((4, 3, *(3, 3, 3)[:rank])).astype("float32")
    output = tc.convolution(np.moveaxis(x, 1, -1), np.moveaxis(w, (1, 0), (-2, -1)), 2, [(1, 1)] * rank)
    output = np.moveaxis(output, -1, 1)
    entry = {"name": "c", "framework": "torch", "word": f"conv{rank}d", "kwargs": {}, "output": output}
    right = [entry | {"args": [x, w, None, [2] * rank, [1] * rank, [1] * rank, 1]}]
    assert tc.compare(right, right).passed
    wrong = [entry | {"args": [x, w, None, [2] * rank, [0] * rank, [1] * rank, 1]}]
    assert tc.compare(right, wrong).first_wrong.b == "c"


# ---------------------------------------------------------------------------------------------
# How much a layer causes, memory, and layers handed to `translate`
# ---------------------------------------------------------------------------------------------


def with_wrong_bias(parts, name):
    return [part.with_weights(bias=part.weights["bias"] + 1) if part.name == name else part for part in parts]


def test_what_part_of_the_difference_a_layer_causes():
    maker = own_network()
    one = with_wrong_bias(maker.parts, "conv_5")
    models = [
        nets.build("teachconv", parts, maker.input_shape)
        for parts in (maker.parts, one, with_wrong_bias(one, "dense_10"))
    ]
    report = tc.compare(*models[:2], image(maker))
    assert report.first_parting.share > 0.99
    assert "of the difference at the end it causes 100%" in " ".join(str(report).split())
    report = tc.compare(models[0], models[2], image(maker))  # of two mistakes no one alone
    shares = [row.share for row in report.layers if row.same is False]
    assert len(shares) == 2
    assert all(share < 0.5 for share in shares)
    assert "put right alone, it brings the outputs no nearer" in " ".join(str(report).split())
    x = image(maker)
    recorded = [recorder.record_keras(model, x) for model in models[:2]]
    assert tc.compare(*recorded).first_parting.share is None  # a recording cannot run on


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS[:3])
def test_a_model_of_each_framework_runs_on_with_another_result(framework):
    pytest.importorskip("onnxruntime" if framework == "onnx" else framework)
    maker = nets.normed(1)
    wrong = [part.with_facts(eps=0.05) if part.name == "norm_4" else part for part in maker.parts]
    models = [nets.build(framework, parts, maker.input_shape) for parts in (maker.parts, wrong)]
    assert tc.compare(*models, image(maker, framework)).first_parting.share > 0.99


def test_equal_arrays_of_a_recording_are_kept_once(tmp_path):
    layers = own_keras.layers
    model = own_keras.Sequential([own_keras.Input((96, 96, 4)), layers.ReLU(), layers.ReLU(), layers.ReLU()])
    recorded = recorder.record_keras(model, np.ones((1, 96, 96, 4), "float32"))
    places = {entry["output"].ctypes.data for entry in recorded} | {
        entry["args"][0].ctypes.data for entry in recorded
    }
    assert len(recorded) == 3
    assert len(places) == 1
    assert not recorded[0]["output"].flags.owndata  # it lies in a file
    recorder.save(tmp_path / "small.npz", recorded)
    assert (tmp_path / "small.npz").stat().st_size < 2 * recorded[0]["output"].nbytes
    again = recorder.load(tmp_path / "small.npz")
    assert all(np.array_equal(entry["output"], recorded[0]["output"]) for entry in again)


def test_a_layer_is_handed_to_translate():
    layers = own_keras.layers
    found = tc.translate(layers.Conv2D(4, 3, 2, "same"), (1, 8, 8, 3), to="torch")
    assert "F.pad(x, (0, 1, 0, 1))" in found.code
    assert "def convolve(x, w, b)" in found.code
    up = tc.translate(layers.Conv2DTranspose(4, 3, 2, "same", name="up"), (1, 8, 8, 3), to="keras")
    assert [*up.weights] == ["up", "up (bias)"]  # keras.ops.conv_transpose takes no bias
    with pytest.raises(ValueError, match="must follow it"):
        tc.translate(layers.Conv2D(4, 3), to="torch")
    with pytest.raises(ValueError, match="of this ReLU none is a convolution"):
        tc.translate(layers.ReLU(), (1, 8, 8, 3), to="torch")


def test_a_chain_of_layers_is_one_translation(monkeypatch):
    monkeypatch.setattr(translating, "installed", lambda name: False)  # tests/peers has the frameworks
    maker = own_network()
    model = nets.build("teachconv", maker.parts, maker.input_shape)
    found = tc.translate(model, (1, *maker.input_shape), to="torch")
    assert found.possible
    compile(found.code, "network", "exec")
    assert max(map(len, found.code.split("\n"))) < 110
    lines = found.code[found.code.index("def network") :].split("\n")
    calls = [line.split()[2].partition("(")[0] for line in lines if "layer_" in line]
    names = [part.name for part in maker.parts if part.kind != "flatten"]
    assert [name for name in calls if not name.endswith("_bias")] == [f"layer_{name}" for name in names]
    assert calls[-1] == f"layer_{names[-1]}_bias"  # the matrix first, then what is added
    assert any("x.reshape(-1, " in line for line in lines)  # what Flatten does
    assert {*found.steps} == {
        name for name, kind in zip(names, kinds(maker), strict=True) if kind not in _WORDS
    }
    report = found.check()
    assert report.passed
    assert report.rows[0].name.startswith(f"{names[0]}: ")
    with pytest.raises(ValueError, match="x, w and b must be None"):
        found.check(np.zeros((1, *maker.input_shape)))
    weights = model.get_layer(names[0]).get_weights()
    assert np.array_equal(found.weights[names[0]][0], weights[0])


_WORDS = ("relu", "leaky", "dense")  # what is said by name, without a geometry


def kinds(maker):
    return [part.kind for part in maker.parts if part.kind != "flatten"]


def test_what_a_framework_has_no_words_for_is_said(monkeypatch):
    layers = own_keras.layers
    parts = [own_keras.Input((6, 6, 2)), layers.Conv2D(2, 3, name="a"), layers.MaxPooling2D(name="pool")]
    model = own_keras.Sequential([*parts, layers.ReLU(name="last")])
    monkeypatch.delitem(TARGETS["onnx"].pointwise, "relu")
    with pytest.raises(ValueError, match="takes no arguments"):
        tc.translate(model, (1, 6, 6, 2), to="torch", strides=2)
    alone = own_keras.Sequential([own_keras.Input((6, 6, 2)), layers.Conv2D(3, 3, name="one")])
    assert list(tc.translate(alone, (1, 6, 6, 2), to="torch").weights) == ["one"]  # of one layer too
    found = tc.translate(model, (1, 6, 6, 2), to="onnx")
    assert not found.possible
    assert found.why == "layer 'last': onnx has no function for it here"
    assert found.code == ""
    with pytest.raises(ValueError, match="no translation to check"):
        found.check()
    assert "SciPy is a target of convolutions only" in tc.translate(model, (1, 6, 6, 2), to="scipy").why
    assert "any_size" not in tc.translate(model, (1, 6, 6, 2), to="torch", any_size=True).code


def test_a_node_of_a_file_is_handed_to_translate():
    onnx = pytest.importorskip("onnx")
    maker = own_network()
    model = nets.onnx_model(nets.in_channels_first(maker.parts), maker.input_shape, onnx)
    nodes = tc.onnx_model(model).nodes
    assert [node.op_type for node in nodes] == ["Conv"] * 3
    found = tc.translate(nodes[1], to="tensorflow")
    assert found.source.function == "onnx.conv"
    assert found.source.bias


@pytest.mark.slow
def test_a_module_is_handed_to_translate():
    torch = pytest.importorskip("torch")
    for module in (torch.nn.Conv2d(4, 8, 3, 2, 1, groups=2), torch.nn.ConvTranspose2d(4, 6, 3, 2, 1)):
        assert tc.translate(module, (1, 4, 12, 12), to="tensorflow").check().passed


@pytest.mark.slow
def test_smooth_functions_of_pytorch_are_judged():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    parts = [nn.Hardswish(), nn.Hardsigmoid(), nn.ELU(), nn.Softplus(), nn.Mish(), nn.GELU(), nn.SiLU()]
    model = nn.Sequential(*parts, nn.GELU("tanh"), nn.Sigmoid(), nn.Tanh(), nn.Softmax(-1))
    x = np.random.default_rng(0).standard_normal((3, 40)).astype("float32") * 3
    report = tc.compare(model, model, x)
    assert report.passed, str(report)
    assert len(report.layers) == 11
    assert tc.compare(nn.ELU(2.0), nn.ELU(2.0), x).passed
    steep = nn.Softplus(threshold=3)
    assert tc.compare(steep, steep, x).passed is None  # another one than the table's
    scaled = nn.Sequential(nn.Conv2d(1, 2, 1), nn.ELU(2.0))
    assert "no function for it here" in tc.translate(scaled, (1, 1, 3, 3), to="keras").why


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_batch_normalisation_is_folded_into_transposed_convolutions_with_groups(rank, groups):
    torch = pytest.importorskip("torch")
    nn, random = torch.nn, np.random.default_rng(0)
    kind, norm_kind = getattr(nn, f"ConvTranspose{rank}d"), getattr(nn, f"BatchNorm{rank}d")
    norm = {name: random.standard_normal(4).astype("float32") for name in ("weight", "bias", "running_mean")}
    norm["running_var"] = random.random(4).astype("float32") + np.float32(0.5)
    w = random.standard_normal((4, 4 // groups, *[2] * rank)).astype("float32")
    gamma, beta, mean, variance = norm.values()
    folded = tc.fold_batch_norm(w, None, gamma, beta, mean, variance, 1e-5, channel_axis=1, groups=groups)

    def model(filters, bias, *more):
        layer = kind(4, 4, 2, 2, groups=groups, bias=bias is not None)
        state = {"weight": filters} | ({} if bias is None else {"bias": bias})
        layer.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in state.items()})
        return nn.Sequential(layer, *more).eval()

    last = norm_kind(4)
    last.load_state_dict({name: torch.from_numpy(array) for name, array in norm.items()}, strict=False)
    models = model(w, None, last), model(folded.filters, folded.bias)
    x = random.standard_normal((1, 4, *(5, 4, 3)[:rank])).astype("float32")
    for pair in (models, models[::-1]):
        report = tc.compare(*pair, x)
        assert report.passed, str(report)
        assert len(report.layers) == 1
    wrong = np.where(np.arange(4).reshape(-1, *[1] * (rank + 1)) == 3, 2, 1).astype("float32")
    report = tc.compare(models[0], model(folded.filters * wrong, folded.bias), x)
    assert report.passed is False


def chain_of(onnx, kinds, **weights):
    """An ONNX file of one node after the other."""
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node(kind, [f"x{n}", *inputs], [f"x{n + 1}"], name=f"{kind}{n}")
        for n, (kind, *inputs) in enumerate(kinds)
    ]
    ends = [helper.make_tensor_value_info(name, real, [1, 2, 3, 3]) for name in ("x0", f"x{len(kinds)}")]
    held = [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def test_two_convolutions_beside_the_one_that_they_make_have_no_arguments_in_common():
    """As a SeparableConv2D in a TFLite file: the depthwise one has other groups, and that is no mistake."""
    layers, rng = own_keras.layers, np.random.default_rng(0)
    deep, wide = (rng.standard_normal(shape).astype("float32") for shape in ((3, 3, 4, 1), (1, 1, 4, 6)))

    def network(*made):
        return own_keras.Sequential([own_keras.Input((8, 8, 4)), *made])

    one = network(layers.Conv2D(6, 3, 2, "same", use_bias=False, name="one"))
    one.layers[-1].set_weights([deep * wide])
    parts = layers.DepthwiseConv2D(3, 2, "same", use_bias=False), layers.Conv2D(6, 1, use_bias=False)
    two = network(*parts)
    for factor, passed in ((1.0, True), (1.5, False)):
        two.set_weights([deep, wide * np.where(np.arange(6) == 2, factor, 1).astype("float32")])
        report = tc.compare(one, two, rng.standard_normal((1, 8, 8, 4)).astype("float32"))
        assert report.passed is passed, str(report)
    assert report.first_parting.code not in ("groups", "stride", "groups_and_stride", "padding"), str(report)
    assert "multiplying by 3/2" in report.first_parting.reason


def test_what_an_exporter_computes_of_sizes_is_no_layer():
    """PyTorch's, without constant folding: the factors of a resize are joined by a node."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")  # teachconv itself runs no resize whose size is computed
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    weights = np.random.default_rng(0).standard_normal((2, 2, 1, 1)).astype("float32")
    arrays = {"w": weights, "ones": np.float32([1, 1]), "twos": np.float32([2, 2])}
    arrays["known"] = np.float32([1, 1, 2, 2])

    def model(scales, *nodes):
        nodes = [
            ("Conv", ["x", "w"], "y", {}),
            *nodes,
            ("Resize", ["y", "", scales], "z", {"mode": "linear"}),
        ]
        made = [
            helper.make_node(kind, given, [name], name=name, **words) for kind, given, name, words in nodes
        ]
        ends = [
            helper.make_tensor_value_info(*end)
            for end in (("x", real, [1, 2, 3, 3]), ("z", real, [1, 2, 6, 6]))
        ]
        held = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
        graph = helper.make_graph(made, "sizes", ends[:1], ends[1:], held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    computed = model("made", ("Concat", ["ones", "twos"], "made", {"axis": 0}))
    report = tc.compare(model("known"), computed, np.ones((1, 2, 3, 3), "float32"))
    assert report.passed, str(report)
    assert [row.b for row in report.layers] == ["y", "z"]


def counted(monkeypatch, module, name):
    """Count the calls of a function of a module."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args: calls.append(1) or function(*args))
    return calls


def test_a_long_chain_of_weights_is_looked_at_layer_by_layer(monkeypatch):
    """Not pair by pair: sums tell first which activations may be equal."""
    onnx = pytest.importorskip("onnx")
    random, count = np.random.default_rng(0), 40
    weights = {f"w{n}": random.standard_normal((2, 2, 1, 1)).astype("float32") for n in range(count)}
    model = chain_of(onnx, [("Conv", name) for name in weights], **weights)
    looks = counted(monkeypatch, anchoring, "arranged")
    report = tc.compare(model, model, random.standard_normal((1, 2, 3, 3)).astype("float32"))
    assert report.passed, str(report)
    assert [row.a for row in report.layers] == [row.b for row in report.layers]
    assert count <= len(looks) <= 3 * count  # on the input and on drawn numbers, and the input itself


def test_each_layer_of_a_long_chain_of_equal_arrays_carries_errors_once(monkeypatch):
    """Each relu behind the first changes nothing, so its input may come from all before it."""
    onnx = pytest.importorskip("onnx")
    count = 30
    model = chain_of(onnx, [("Relu",)] * count)
    looks = counted(monkeypatch, spreading, "grown")
    x = np.random.default_rng(0).standard_normal((1, 2, 3, 3), "float32")
    assert tc.compare(model, model, x).passed
    assert 0 < len(looks) <= 4 * count  # of both models, on the input and on drawn numbers


def test_the_slope_of_an_activation_by_its_name_is_keras_own():
    """0.2 of the function, 0.3 of the layer; a model was called different from itself."""
    layers = own_keras.layers
    model = own_keras.Sequential(
        [layers.Input((6, 6, 1)), layers.Conv2D(2, 3, activation="leaky_relu"), layers.LeakyReLU()]
    )
    x = np.random.default_rng(0).normal(size=(1, 6, 6, 1)).astype("float32")
    assert tc.compare(model, model, x).passed is True


@pytest.mark.parametrize("epsilon", [1e-5, 1e-2])
def test_a_batch_norm_that_does_hardly_anything_is_there(epsilon):
    """The port divides by the square root of 1 + 1e-5; its layer was said to be missing."""
    layers = own_keras.layers

    def network(epsilon):
        own_keras.utils.set_random_seed(0)
        return own_keras.Sequential(
            [
                layers.Input((9, 9, 2)),
                layers.Conv2D(4, 3, name="down"),
                layers.BatchNormalization(epsilon=epsilon, name="norm"),
                layers.ReLU(name="relu"),
                layers.Conv2D(3, 3, name="last"),
            ]
        )

    x = np.random.default_rng(0).normal(size=(1, 9, 9, 2)).astype("float32")
    report = tc.compare(network(1e-3), network(epsilon), x)
    assert report.passed is False
    [row] = [row for row in report.layers if row.passed is False]
    assert (row.a, row.b, row.code) == ("norm", "norm", "eps")
