"""What messages say of common mistakes, and the index that leads from a message to the page that explains it."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
import teachconv.tf as tf
import teachconv.tf.compat.v1 as tf1
from teachconv import keras

pytestmark = pytest.mark.xdist_group("error_index")

DOCS = Path(__file__).parents[1] / "docs"
torch, onnx = tc.dialects.torch, tc.dialects.onnx


@pytest.fixture(scope="module")
def module():
    sys.path.insert(0, str(DOCS))
    try:
        import error_index
    finally:
        sys.path.remove(str(DOCS))
    return error_index


@pytest.fixture(scope="module")
def index(module):
    return module.page()


def test_each_message_of_a_framework_has_one_advice_and_a_page(module, index):
    messages = [
        entry["message"] for entry in json.loads(module.RECORDED.read_text(encoding="utf-8"))["errors"]
    ]
    for message in messages:
        assert len([part for part in module.ADVICE if part in message]) == 1, message
    for part, text in module.ADVICE.items():
        assert any(part in message for message in messages), part
        assert index.count(text) >= 1
    for page in re.findall(r"See \{doc\}`(.*?)`", index):
        assert (DOCS / f"{page}.md").is_file(), page


@pytest.mark.parametrize(
    "phrase",
    [
        "Negative dimension size",
        "output size would be zero or negative",
        "min_ndim",
        "only supports the NHWC tensor format on the CPU",
        "partially known TensorShape",
        "equal length strides",
    ],
)
def test_a_phrase_leads_to_a_page_that_has_it(phrase, index):
    entries = [part for part in index.split("```{code-block} text")[1:] if phrase in part]
    assert entries
    for entry in entries:
        (page,) = re.findall(r"See \{doc\}`answers/(\w+)`", entry)
        assert phrase in " ".join((DOCS / "answers" / f"{page}.md").read_text(encoding="utf-8").split())


def ones(*shape):
    return np.ones(shape, "float32")


def layer(kind, *shape, **options):
    """Return a layer that was built for images of a shape."""
    made = kind(8, 3, **options) if kind is not keras.layers.DepthwiseConv2D else kind(3, **options)
    made.build((None, *shape))
    return made


FIRST, LAST = (1, 3, 32, 30), (1, 32, 30, 3)  # an image with its channels first, and last
W, DEPTHWISE, TRANSPOSED, OIHW = ones(3, 3, 3, 8), ones(3, 3, 3, 1), ones(3, 3, 8, 3), ones(8, 3, 3, 3)


@pytest.mark.parametrize(
    ("call", "order", "transpose"),
    [
        (lambda: tc.conv2d(ones(*FIRST), W), "data_format='NCHW'", (0, 2, 3, 1)),
        (lambda: tc.conv2d(ones(*LAST), W, data_format="NCHW"), "data_format='NHWC'", (0, 3, 1, 2)),
        (lambda: tc.depthwise_conv2d(ones(*FIRST), DEPTHWISE), "data_format='NCHW'", (0, 2, 3, 1)),
        (lambda: tc.conv1d(ones(1, 3, 100), ones(3, 3, 8)), "data_format='NCW'", (0, 2, 1)),
        (lambda: tc.conv3d(ones(1, 3, 9, 9, 9), ones(3, 3, 3, 3, 8)), "data_format='NCDHW'", (0, 2, 3, 4, 1)),
        (
            lambda: tc.conv2d_transpose(ones(*FIRST), TRANSPOSED, [1, 64, 60, 8], 2),
            "data_format='NCHW'",
            (0, 2, 3, 1),
        ),
        (lambda: tf.nn.conv2d(ones(*FIRST), W, 1, "SAME"), "data_format='NCHW'", (0, 2, 3, 1)),
        (
            lambda: tf.nn.depthwise_conv2d(ones(*FIRST), DEPTHWISE, [1] * 4, "SAME"),
            "data_format='NCHW'",
            (0, 2, 3, 1),
        ),
        (lambda: tf1.nn.conv2d(tf1.placeholder("float", [None, *FIRST[1:]]), W, 1, "SAME"), "", (0, 2, 3, 1)),
        (lambda: layer(keras.layers.Conv2D, 32, 30, 3)(ones(*FIRST)), "", (0, 2, 3, 1)),
        (lambda: layer(keras.layers.DepthwiseConv2D, 32, 30, 3)(ones(*FIRST)), "", (0, 2, 3, 1)),
        (
            lambda: keras.Sequential([keras.Input(LAST[1:]), keras.layers.Conv2D(2, 3)]).predict(
                ones(*FIRST)
            ),
            "",
            (0, 2, 3, 1),
        ),
        (lambda: torch.conv2d(ones(*LAST), OIHW), "", (0, 3, 1, 2)),
        (lambda: torch.conv1d(ones(1, 100, 3), ones(8, 3, 3)), "", (0, 2, 1)),
        (lambda: torch.conv_transpose2d(ones(*LAST), ones(3, 8, 3, 3)), "", (0, 3, 1, 2)),
        (lambda: onnx.conv(ones(*LAST), OIHW), "", (0, 3, 1, 2)),
    ],
)
def test_an_image_in_the_other_order_is_told(call, order, transpose):
    with pytest.raises(ValueError, match="looks like N[A-Z]+: ") as refused:
        call()
    text = str(refused.value)
    assert text.endswith(f"transpose it by {transpose}")
    assert order in text


@pytest.mark.parametrize("shape", [(1, 32, 30, 4), (1, 4, 32, 30), (1, 3, 32, 30, 1)])
def test_no_order_is_named_where_no_axis_fits(shape):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (what it does not say is what is tested)
        tc.conv2d(ones(*shape), W)
    assert "looks like" not in str(refused.value)


def unknown():
    return tf1.placeholder("float", [None, 16, 16, 8])


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.nn.conv2d_transpose(ones(1, 16, 16, 8), W, [None, 32, 32, 3], 2),
        lambda: tc.conv2d_transpose(ones(1, 16, 16, 8), W, [None, 32, 32, 3], 2),
        lambda: tf.nn.conv1d_transpose(ones(1, 16, 8), W[0], [None, 32, 3], 2),
        lambda: tf1.nn.conv2d_transpose(unknown(), W, [None, 32, 32, 3], 2),
        lambda: tf1.nn.conv2d_transpose(unknown(), W, unknown().shape, 2),
        lambda: tf.reshape(ones(2, 3), [None, 3]),
        lambda: tf.zeros([None, 3]),
        lambda: tf.random.normal([None, 3]),
        lambda: tf.tile(ones(2, 3), [None, 1]),
        lambda: tf1.zeros(unknown().shape),
    ],
)
def test_none_among_sizes_is_answered_with_the_shape_of_a_run(call):
    with pytest.raises((TypeError, ValueError), match=r"tf\.shape\(x\)\[0\] is the size of an axis"):
        call()


def test_a_variable_of_a_partially_known_shape_is_refused_in_words():
    with pytest.raises(ValueError, match=r"must be fully defined, but instead was \(\?, 16, 16, 8\)"):
        tf1.get_variable("w", unknown().shape)


@pytest.mark.parametrize(
    ("axis", "shapes", "message"),
    [
        (-1, [(3, 3, 2), (4, 3, 2)], "those of axis -1 must match; axis 1 has 3 and 4"),
        (1, [(3, 3, 2), (3, 5, 2)], "those of axis 1 must match; axis 2 has 3 and 5"),
        (2, [(3, 3, 2), (4, 3, 7)], "those of axis 2 must match; axis 1 has 3 and 4"),
    ],
)
def test_a_concatenation_names_the_axis_and_its_sizes(axis, shapes, message):
    with pytest.raises(ValueError, match=message):
        keras.layers.Concatenate(axis)([keras.Input(shape) for shape in shapes])


def test_a_gradient_that_is_none_has_its_reason():
    v, x, unused = tf.Variable(2.0), tf.constant(3.0), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        cut, whole = tf.constant((v * 2.0).numpy()) * 3.0, v * x
    assert tape.gradient(cut, v) is None  # as in TensorFlow, without a word
    reasons = {
        "ops read it, but none leads to the target": (cut, v),
        "it was not watched: tape.watch": (whole, x),
        "no op of the tape read it": (whole, unused),
    }
    for reason, (target, source) in reasons.items():
        (step,) = [
            step for step in tc.find_source(tape.gradient, target, source).steps if step.what == "no gradient"
        ]
        assert step.note.startswith(reason)
    assert not [
        step for step in tc.find_source(tape.gradient, whole, [v]).steps if step.what == "no gradient"
    ]
    optimizer = keras.optimizers.SGD(0.1)
    for call in (
        lambda: optimizer.apply_gradients([(tape.gradient(cut, v), v)]),
        lambda: v.assign_sub(tape.gradient(whole, x)),
    ):
        with pytest.raises(
            ValueError, match=r"a tape does not follow \.numpy\(\).*find_source\(tape\.gradient"
        ):
            call()
