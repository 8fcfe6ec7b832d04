"""`teachconv.compare` on networks that are ported for real, and beside other tools on planted mistakes."""

import numpy as np
import pytest
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment

import teachconv as tc

pytestmark = pytest.mark.peers
pytest.importorskip("torch")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras' variables
def test_three_ports_agree_and_the_planted_mistake_is_found():
    pytest.importorskip("keras")
    from peers import ported_networks

    found = 0
    for what, original, right, wrong, layer, code, x in ported_networks.ports():
        report = tc.compare(original, right, x)
        assert report.passed, (what, str(report))
        row = tc.compare(original, wrong, x).first_parting
        assert layer in (row.a + row.b), (what, row)
        assert code in row.code, (what, row)
        found += 1
    assert found == 3


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras' variables
@pytest.mark.parametrize("rank", [1, 3])
def test_layers_over_one_and_three_axes_are_lined_up_with_keras_own(rank):
    keras, torch = pytest.importorskip("keras"), pytest.importorskip("torch")
    first, second = (getattr(torch.nn, f"{name}{rank}d") for name in ("Conv", "ConvTranspose"))
    theirs = torch.nn.Sequential(first(4, 6, 3, padding=1), torch.nn.ReLU(), second(6, 3, 4, 2, 1)).eval()
    first, second = (getattr(keras.layers, f"Conv{rank}D{end}") for end in ("", "Transpose"))
    layers = first(6, 3, padding="same"), keras.layers.ReLU(), second(3, 4, 2, padding="same")
    model = keras.Sequential([keras.Input((*(5, 4, 3)[:rank], 4)), *layers])
    for at, transposed in ((0, False), (2, True)):
        weight, bias = (getattr(theirs[at], name).detach().numpy() for name in ("weight", "bias"))
        model.layers[at].set_weights([tc.convert_filters(weight, "torch", "keras", transposed), bias])
    x = np.random.default_rng(0).standard_normal((1, *(5, 4, 3)[:rank], 4)).astype("float32")
    report = tc.compare(model, theirs, x)
    assert report.passed, str(report)
    assert [row.op_type for row in report.layers] == ["convolution", "relu", "transposed convolution"]


@pytest.mark.release
def test_beside_polygraphy_and_verify_onnx_program():
    """What docs/comparing_tools.inc shows: all find where numbers part, `compare` says why."""
    for name in ("onnx", "onnxruntime", "onnxscript", "polygraphy"):
        pytest.importorskip(name)
    from peers import comparing_tools

    for what, layer, row, (_, polygraphy, torch) in comparing_tools.findings():
        assert layer == row.a, what
        assert row.code, what
        assert "outputs differ" in polygraphy
        assert "values differ" in torch
