"""`teachconv.compare` on networks that are ported for real, and beside other tools on planted mistakes."""

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
