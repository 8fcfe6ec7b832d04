"""What the strategies draw is legal, is all there is, and becomes small."""

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv import testing as T
from teachconv.core.kinds import KINDS

FRAMEWORKS = ["tensorflow", "torch", "onnx", "jax", "keras"]


@settings(max_examples=150)
@given(call=T.strategies.calls(dialects=FRAMEWORKS, dtypes=["float32", "int32"]))
def test_every_call_is_legal(call):
    tc.diff(call.op, *call.args, backends=["numpy"], **call.kwargs).check()


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", [*map(str, KINDS)])
def test_ranks_and_kinds_are_chosen(rank, kind):
    @settings(max_examples=20)
    @given(call=T.strategies.calls(ranks=[rank], kinds=kind))
    def chosen(call):
        assert (call.call.geometry.rank, str(call.call.kind)) == (rank, kind)

    chosen()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda call: call.call.geometry.groups > 1 and not call.call.op.depthwise, ""),
        (lambda call: "torch" in call.name, "torch"),
        (lambda call: call.kwargs.get("padding") == "CAUSAL", "conv"),
        (lambda call: call.op is tc.conv3d_transpose, ""),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (lambda call: call.call.op.depthwise and call.call.op.is_gradient, "backprop"),
                (lambda call: call.call.op.depthwise, "depthwise"),
                (lambda call: call.call.op.transposed, "transpose"),
                (lambda call: call.kwargs.get("data_format") == "NCHW", ""),
                (lambda call: call.kwargs.get("padding") == "SAME_LOWER", ""),
                (lambda call: "jax" in call.name, "jax"),
            )
        ),
    ],
)
def test_everything_is_drawn_and_becomes_small(condition, words):
    no_database = settings(database=None, max_examples=2000, phases=[Phase.generate, Phase.shrink])
    found = find(T.strategies.calls(dialects=FRAMEWORKS), condition, settings=no_database)
    assert words in f"{found.op.__name__} {found.name}"
    assert max(found.call.geometry.input_shape) <= 4
    assert found.call.geometry.macs <= 16


def test_bad_words_are_refused():
    for options in ({"kinds": "conv3d"}, {"dtypes": "float31"}, {"dialects": "caffe"}, {"data": "pretty"}):
        with pytest.raises(ValueError, match="must be one of"):
            find(T.strategies.calls(**options), lambda call: True)


@given(drawn=T.strategies.shapes(pads=st.just(0), words=["VALID"]))
def test_shapes_are_those_of_a_geometry(drawn):
    geometry = tc.conv2d_geometry(**drawn)
    assert geometry.padding == ((0, 0), (0, 0))
