"""Real networks on every backend: the photograph through fixed filters, a trained network on digits."""

import json
from functools import cache

import digits_network
import numpy as np
import photo_network
import pytest
from graph_bounds import propagate

import teachconv as tc
from teachconv.backends import TABLE, why_not
from teachconv.data import digits, photo
from teachconv.truth import bounds

pytestmark = pytest.mark.xdist_group("graph_networks")

tg = tc.graph

BACKENDS = [
    pytest.param(name, marks=pytest.mark.skip(reason=why_not(name)) if why_not(name) else [])
    for name in TABLE
]


@cache
def photo_run(backend):
    return photo_network.run(backend)


@pytest.fixture(scope="module")
def photo_truth():
    image = photo()[None].astype("float32")
    graph = photo_network.build(*image.shape[1:3])
    return {name: propagate(graph, {"photo:0": image}, name) for name in ("edges", "blurred")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_photo_lies_within_the_propagated_bound(backend, photo_truth):
    result = photo_run(backend)
    for name in ("edges", "blurred"):
        exact, bound = (cells[0, :, :, 0] for cells in photo_truth[name])
        got = getattr(result, name)
        assert got.dtype == np.float32
        assert (abs(got - exact) <= bound).all()
        assert bound.max() < 1e-4 * abs(exact).max()  # the bound is not trivial
    ran = {node.name: node for node in result.metadata.nodes}
    assert ran["edge/Relu"].op == "_FusedConv2D"
    assert ran["edge/Relu"].backend == backend
    assert ran["upsample/conv2d_transpose"].backend_at.startswith(f"teachconv/backends/{backend}")
    assert "brightness" in [node.name for node in result.metadata.pruned]


def test_photo_shows_a_cat():
    result = photo_run("numpy")
    assert result.edges.max() > 10 * np.median(result.edges)  # edges are few
    assert 0.2 < result.blurred.mean() < 0.8


@pytest.mark.parametrize("backend", BACKENDS)
def test_optimising_changes_the_photo_within_the_bound_only(backend, photo_truth):
    plain = tg.ConfigProto(False, False, False, backend=backend)
    result = photo_network.run(backend, plain)
    exact, bound = photo_truth["edges"]
    assert (abs(result.edges - exact[0, :, :, 0]) <= bound[0, :, :, 0]).all()
    assert result.metadata.rewrites == ()
    assert len(result.metadata.nodes) > len(photo_run(backend).metadata.nodes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_digits_agree_with_pytorch(backend):
    data = digits()
    logits = digits_network.run(backend)
    graph = digits_network.build(data)
    weights = {op.name: data[op.name] for op in graph.get_operations() if op.type == "Variable"}
    exact, bound = propagate(graph, {"images:0": data["images"] / 16}, "logits", weights)
    # both runs are float32: each lies within the bound of the exact value, so they are within twice it
    verdict = bounds.judge(logits, data["logits"], 2 * bound)
    assert verdict.passed
    assert (abs(data["logits"] - exact) <= bound).all()
    assert bound.max() < 1e-3 * abs(exact).max()
    assert (logits.argmax(1) == data["logits"].argmax(1)).all()
    assert (logits.argmax(1) == data["labels"]).mean() > 0.95


def test_digits_bound_notices_a_mistake():
    data = digits()
    wrong = dict(data)
    wrong["conv2/filters"] = data["conv2/filters"][::-1, ::-1]  # as a true convolution would have them
    with tg.Session(digits_network.build(wrong)) as session:
        session.run("init")
        logits = session.run("logits:0", {"images:0": data["images"].astype("float32") / 16})
    graph = digits_network.build(data)
    weights = {op.name: data[op.name] for op in graph.get_operations() if op.type == "Variable"}
    _, bound = propagate(graph, {"images:0": data["images"] / 16}, "logits", weights)
    assert not bounds.judge(logits, data["logits"], 2 * bound).passed


# --- the programs ------------------------------------------------------------------------------------


def test_the_photo_program(tmp_path, capsys):
    page, trace = tmp_path / "photo.html", tmp_path / "trace.json"
    photo_network.main(["--backend", "numpy", "--html", str(page), "--chrome-trace", str(trace)])
    assert "remapper: edge/Conv2D + edge/BiasAdd + edge/Relu -> edge/Relu" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert text.count("data:image/png;base64,") == 3
    assert "edge/Relu" in text
    names = [
        event["args"].get("node") for event in json.loads(trace.read_text())["traceEvents"] if "args" in event
    ]
    assert "upsample/conv2d_transpose" in names
    with pytest.raises(ValueError, match="backend must be one of"):
        photo_network.main(["--backend", "nonsense"])


def test_the_digits_program(capsys):
    digits_network.main(["--backend", "numpy", "--no-optimize", "--tree"])
    out = capsys.readouterr().out
    assert "PyTorch's answer is the same for 100" in out
    assert "before: the graph as it was built" in out
    assert "_FusedConv2D" not in out
