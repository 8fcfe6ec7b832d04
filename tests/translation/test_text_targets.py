"""MLX and PaddlePaddle: the code that is written for them, and what they answered when it ran (recorded)."""

import json
from pathlib import Path

import numpy as np
import pytest
from recorders import record_text_targets as recorder

import teachconv as tc
from teachconv.networks import definitions
from teachconv.translation.dialect_map import OPTIONS
from teachconv.truth import bounds

RECORDED = json.loads((Path(__file__).parents[1] / "recorded/text_targets.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("to", ["mlx", "paddle"])
def test_the_code_is_what_was_recorded_and_the_answers_are_equal(to):
    found = RECORDED[to]["cases"]
    written = list(recorder.codes(to))
    assert [name for name, *_ in written] == [*found]
    assert len(found) > 40
    for name, code, shapes in written:
        assert code == found[name]["code"], name
        assert max(map(len, code.split("\n"))) < 110
        probe = OPTIONS[int(name.split()[0])]
        want = probe.function(*recorder.arrays(shapes), **probe.arguments)
        assert np.array_equal(want, found[name]["output"]), name


@pytest.mark.parametrize("to", ["mlx", "paddle"])
def test_a_chain_and_activations(to):
    found = RECORDED[to]
    code, weights = recorder.chain(to)
    assert (code, weights) == (found["chain"]["code"], found["chain"]["weights"])
    kernel, bias, matrix, added = (
        np.array(w, "float32") for of in ("conv", "dense", "dense (bias)") for w in weights[of]
    )
    (x,) = recorder.arrays([(2, 7, 6, 2)])
    y = np.maximum(tc.conv2d(x, kernel, 2, "SAME", bias=bias), 0)
    assert np.array_equal(y.reshape(2, -1) @ matrix + added, found["chain"]["output"])
    x = recorder.numbers()
    for name, lines in recorder.activations(to):
        assert lines == found["activations"][name]
        if name in ("relu", "clip", "leaky_relu"):
            limits = {"relu": (0, np.inf), "clip": (-1, 2)}.get(name)
            want = np.where(x < 0, x / 4, x) if limits is None else np.clip(x, *limits)
            assert np.array_equal(want, np.float32(found["values"][name]))
            continue
        made = definitions.smooth(x, function={"silu": "silu (swish)"}.get(name, name))
        bound = bounds.direct(np.asarray(made.sizes), made.terms, "float32")
        assert (np.abs(made.value - np.float32(found["values"][name])) <= bound).all(), name


def test_what_has_no_words_is_impossible_and_what_is_not_installed_is_said(monkeypatch):
    pool = tc.translate(tc.max_pool, (1, 8, 8, 2), 2, 2, "VALID", to="mlx")
    assert pool.why == "MLX is a target of convolutions only"
    assert (
        "paddle.grad"
        in tc.translate(
            tc.conv2d_backprop_filter, (1, 8, 8, 2), (3, 3, 2, 4), (1, 8, 8, 4), 1, "SAME", to="paddlepaddle"
        ).why
    )
    monkeypatch.setattr("teachconv.translation.translating.installed", lambda name: False)
    with pytest.raises(tc.BackendUnavailable, match="mlx is not installed"):
        tc.translate(tc.conv2d, (1, 8, 8, 2), (3, 3, 2, 4), to="mlx").check()


def test_filters_for_mlx_and_paddle():
    w = np.arange(3 * 5 * 2 * 4).reshape(3, 5, 2, 4).astype("float32")
    assert tc.convert_filters(w, "tensorflow", "mlx").shape == (4, 3, 5, 2)
    assert tc.convert_filters(w, "tensorflow", "paddle").shape == (4, 2, 3, 5)
    assert np.array_equal(
        tc.convert_filters(tc.convert_filters(w, "tensorflow", "mlx"), "mlx", "tensorflow"), w
    )
