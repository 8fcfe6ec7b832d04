"""The solutions of puzzles.md, each checked by running it."""

import numpy as np
import pytest

import teachconv as tc
from teachconv import dialects
from teachconv.data.seeded import make_array
from teachconv.translation.onnx_quantized import quantized
from teachconv.truth import bounds


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


def test_11_the_gradient_counts_what_a_tap_saw():
    shape = (1, 6, 6, 1)
    gradient = tc.conv2d_backprop_filter(np.ones(shape), (3, 3, 1, 1), np.ones((1, 3, 3, 1)), 2, "SAME")
    assert gradient[..., 0, 0].tolist() == [[9, 9, 6], [9, 9, 6], [6, 6, 4]]


def test_12_rows_that_no_window_reads():
    sizes, w, gradient = (1, 11, 11, 1), array(2, 2, 1, 1), array(1, 4, 4, 1)
    ours = tc.conv2d_backprop_input(sizes, w, gradient, 3, "VALID")
    always = tc.conv2d_backprop_input(sizes, abs(w) + 1, abs(gradient) + 1, 3, "VALID")[0, ..., 0]
    assert np.flatnonzero(~always.any(axis=1)).tolist() == [2, 5, 8]
    assert np.array_equal(ours, tc.conv2d_transpose(gradient, w, sizes, 3, "VALID"))


def test_13_the_field_of_a_network_with_strides():
    field = tc.receptive_field([("conv", 5, 2, "SAME"), ("pool", 3, 2, 1), ("conv", 3, 1, "SAME", 2)])
    assert (field.size, field.stride) == ((25, 25), (4, 4))


def test_14_integers_and_their_zero_points():
    x, w = np.full((1, 1, 1, 1), 100 - 28, "int8"), np.full((1, 1, 1, 1), 20, "int8")
    bias = np.rint(np.float32([0.3]) / np.float32(0.02 * 0.005)).astype("int32")
    scales = np.float32([0.02, 0.005, 0.05])
    operands = x, scales[0], np.int8(-28), w, scales[1], np.int8(0), scales[2], np.int8(10), bias
    assert (bias.item(), quantized("QLinearConv", operands, {})(x).item()) == (3000, 20)
    around = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-28)
    inside = quantized("QLinearConv", operands, {"pads": [1, 1, 1, 1]})(x)
    assert np.array_equal(quantized("QLinearConv", operands, {})(around), inside)


def test_15_the_bound_of_a_sum():
    few, many = (bounds.direct(np.float64([100]), terms, "float32").item() for terms in (9 * 64, 9 * 128))
    assert f"{few:.2g} {many / few:.2f}" == "0.0034 2.00"


def test_16_where_a_cell_lands_after_flatten():
    units = 2
    linear = array(units, 64 * 7 * 7)
    kernel = tc.convert_filters(linear.reshape(units, 64, 7, 7), "torch", "keras").reshape(-1, units)
    linear[:, 262] = 1000  # in PyTorch's weight: channel 5 · 49 + row 2 · 7 + column 3
    marked = tc.convert_filters(linear.reshape(units, 64, 7, 7), "torch", "keras").reshape(-1, units)
    assert np.flatnonzero((marked != kernel).any(axis=1)).tolist() == [1093]


def test_17_two_rules_of_resizing():
    row = np.float64([10, 20, 30, 50])
    half = np.interp((np.arange(8) + 0.5) / 2 - 0.5, np.arange(4), row)
    assert (half[3], round(np.interp(3 * 3 / 7, np.arange(4), row), 2)) == (22.5, 22.86)
    tent = np.float64([0.25, 0.75, 0.75, 0.25]).reshape(4, 1, 1)
    ours = tc.conv1d_transpose(row.reshape(1, 4, 1), tent, [1, 8, 1], 2, "SAME").ravel()
    assert np.array_equal(ours[1:-1], half[1:-1])


def test_18_what_a_causal_stack_remembers():
    layers = [tc.conv_geometry((1, 40, 1), (2, 1, 1), 1, "CAUSAL", dilations=d) for d in (1, 2, 4, 8)]
    assert tc.receptive_field(layers).size == (16,)
    last = tc.stream(tc.conv1d, array(2, 1, 1), padding="CAUSAL", dilations=8)
    last.push(array(1, 20, 1))
    assert last.state_nbytes == 8 * np.dtype("float64").itemsize


def test_19_folding_and_the_border():
    w, bias, norm = np.full((1, 1, 1, 1), 2.0), np.ones(1), np.float64([[6], [0.5], [4], [8.75]])
    folded = tc.fold_batch_norm(w, bias, *norm, 0.25)
    assert (folded.filters.item(), folded.bias.item()) == (4, -5.5)
    x, w = array(1, 4, 4, 1), np.abs(array(3, 3, 1, 1)) + 1
    folded = tc.fold_batch_norm(w, bias, *norm, 0.25)
    after = tc.batch_normalization(tc.conv2d(x, w, 1, "SAME", bias=bias), *norm[[2, 3, 1, 0]], 0.25)
    assert np.array_equal(after, tc.conv2d(x, folded.filters, 1, "SAME", bias=folded.bias))
    before = tc.conv2d(tc.batch_normalization(x, *norm[[2, 3, 1, 0]], 0.25), w, 1, "SAME")
    offset = (
        norm[1] - norm[2] * 2
    )  # what the normalisation adds, which would reach every cell if it were folded
    different = (before != tc.conv2d(x, 2 * w, 1, "SAME", bias=offset * w.sum()))[0, ..., 0]
    assert different[0].all()
    assert not different[1:-1, 1:-1].any()


def test_20_windows_that_ceil_mode_adds_and_drops():
    x = np.arange(1, 7.0).reshape(1, 1, 6)
    assert dialects.torch.avg_pool1d(x, 3, 2, ceil_mode=True).ravel().tolist() == [2, 4, 5.5]
    assert dialects.torch.max_pool1d(np.ones((1, 1, 5)), 2, 3, 1, ceil_mode=True).shape == (1, 1, 2)
