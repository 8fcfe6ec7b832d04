"""The networks that the documentation streams, beside PyTorch's."""

import numpy as np
import pytest
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment

import teachconv as tc
from teachconv.backends import why_not

pytestmark = pytest.mark.peers
pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_every_layer_of_the_ports_agrees_and_streams_have_the_bits_of_the_whole():
    import networks_to_stream as script

    for name, module, layers, x in script.networks():
        result, seen = script.run(module, x)
        rows = list(script.judged(layers, seen))
        assert len(rows) == {"TCN": 10}.get(name, 78)
        assert all(row.passed for row in rows), name
        stream = tc.stream(layers)
        parts = [stream.push(x[:, :5]), stream.push(x[:, 5:]), stream.flush()]
        assert np.array_equal(np.concatenate(parts, axis=1), script.ports.whole(layers, x))
        assert parts[0].shape[1] == (5 - stream.lookahead if stream.rate == 1 else 0)
        assert abs(np.concatenate(parts, axis=1) - result).max() < 1e-4
