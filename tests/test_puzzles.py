"""The solutions of puzzles.md, each checked by running it."""

import numpy as np
import pytest

import teachconv as tc
from teachconv import dialects
from teachconv.data.seeded import make_array


def array(*shape):
    return make_array(shape, "float64", "integers", f"puzzle {shape}")


def explicit(before, after):
    return [[0, 0], [before, after], [before, after], [0, 0]]


def test_1_seven_by_seven_at_stride_two():
    x, w = array(1, 224, 224, 3), array(7, 7, 3, 2)
    padded = np.pad(x, [(0, 0), (2, 3), (2, 3), (0, 0)])
    assert np.array_equal(tc.conv2d(x, w, 2, "SAME"), tc.conv2d(padded, w, 2, "VALID"))


def test_2_fifteen_four_three():
    geometry = tc.conv2d_geometry((1, 15, 15, 1), (4, 4, 1, 1), 3, "SAME")
    assert (geometry.rows.out_size, geometry.rows.pad_before, geometry.rows.pad_after) == (5, 0, 1)


def test_3_a_transposed_filter_of_pytorch():
    x, weight = array(1, 8, 5, 5), array(8, 3, 4, 4)
    theirs = dialects.torch.conv_transpose2d(x, weight, stride=2, padding=1)
    ours = tc.conv2d_transpose(
        x.transpose(0, 2, 3, 1), weight.transpose(2, 3, 1, 0), [1, 10, 10, 3], 2, "SAME"
    )
    assert np.array_equal(ours.transpose(0, 3, 1, 2), theirs)


def test_4_output_padding_shifts():
    x, weight = array(1, 1, 7, 7), array(1, 1, 3, 3)
    theirs = dialects.torch.conv_transpose2d(x, weight, stride=2, padding=1, output_padding=1)[0, 0]
    x, w = x.transpose(0, 2, 3, 1), weight.transpose(2, 3, 1, 0)
    shape = [1, 14, 14, 1]
    assert not np.array_equal(tc.conv2d_transpose(x, w, shape, 2, "SAME")[0, ..., 0], theirs)
    assert np.array_equal(tc.conv2d_transpose(x, w, shape, 2, explicit(1, 0))[0, ..., 0], theirs)


@pytest.mark.parametrize(("padding", "legal"), [("SAME", {7, 8}), ("VALID", {9, 10})])
def test_5_legal_sizes(padding, legal):
    found = set()
    for rows in range(1, 20):
        try:
            tc.conv2d_transpose(array(1, 4, 4, 1), array(3, 3, 1, 1), [1, rows, rows, 1], 2, padding)
        except ValueError:
            continue
        found.add(rows)
    assert found == legal


@pytest.mark.parametrize(("rows", "pads"), [(32, (0, 1)), (33, (1, 1))])
def test_6_same_depends_on_the_size(rows, pads):
    x, w = array(1, rows, rows, 1), array(3, 3, 1, 1)
    padded = np.pad(x, [(0, 0), pads, pads, (0, 0)])
    assert np.array_equal(dialects.keras.conv(x, w, 2, "same"), tc.conv2d(padded, w, 2, "VALID"))


def test_7_jax_does_not_transpose_the_kernel():
    x, w = array(1, 5, 5, 3), array(3, 3, 2, 3)
    ours = tc.conv2d_transpose(x, w, [1, 10, 10, 2], 2, "SAME")
    numbers = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    theirs = dialects.jax.conv_transpose(x, w, (2, 2), "SAME", transpose_kernel=True, **numbers)
    assert np.array_equal(ours, theirs)
    with pytest.raises(ValueError, match="channels"):
        dialects.jax.conv_transpose(x, w, (2, 2), "SAME", **numbers)


def test_8_the_odd_row_first():
    x, w = array(1, 1, 10, 10), array(1, 1, 4, 4)
    for word, pads in (("SAME_LOWER", (2, 1)), ("SAME_UPPER", (1, 2))):
        padded = np.pad(x, [(0, 0), (0, 0), pads, pads])
        assert np.array_equal(dialects.onnx.conv(x, w, auto_pad=word), dialects.onnx.conv(padded, w))


def test_9_the_receptive_field():
    image = np.zeros((1, 31, 31, 1))
    for dilation in (4, 2, 1):  # what a cell sees, walked backwards by the transposed op
        if dilation == 4:
            image[0, 15, 15, 0] = 1
        image = tc.conv2d_transpose(image, np.ones((3, 3, 1, 1)), image.shape, 1, "SAME", dilations=dilation)
    assert np.ptp(np.nonzero(image[0, :, 15, 0])) + 1 == 15


def test_10_groups_follow_from_the_shapes():
    x, w = array(1, 4, 4, 16), array(3, 3, 1, 32)
    geometry = tc.conv2d_geometry(x.shape, w.shape)
    assert geometry.groups == 16
    alone = np.zeros_like(x)
    alone[..., 2] = x[..., 2]  # channels 4 and 5 belong to group 2
    assert np.array_equal(tc.conv2d(alone, w)[..., 5], tc.conv2d(x, w)[..., 5])
