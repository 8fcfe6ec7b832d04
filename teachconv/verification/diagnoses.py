"""The table of diagnoses: every mistake that `diff` looks for, what it changes, and an example of it.

A diagnosis is a row here, and a function that makes the mistake: a candidate, which says what would have been
computed, or a fit, whose numbers are read off the result. The order is that in which they are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from ..core.dtypes import is_integer
from . import candidates, fits, geometries, quantized_mistakes
from .failures import Failure, Mistake, Tries, both, relu

# what a result must be for a mistake to be tried
NEEDS: dict[str, Callable[[Failure], bool]] = {
    "bias": lambda case: case.call.bias is not None,
    "filter": lambda case: case.call.kind.second == "filters",
    "filter gradient": lambda case: case.call.kind.sums_images,
    "floats": lambda case: not is_integer(case.got.dtype) and not is_integer(case.call.first.dtype),
    "gathers": lambda case: case.call.kind.gathers,
    "groups": lambda case: case.call.geometry.groups > 1,
    "held": lambda case: case.held is not None,
    "integers": lambda case: is_integer(case.got.dtype),
    "nan": lambda case: bool(np.isnan(case.exact).any()),
    "no scatter": lambda case: not case.call.kind.scatters,
    "quantized": lambda case: case.quantized is not None,
    "not transposed": lambda case: not case.call.op.transposed,
    "scatters": lambda case: case.call.kind.scatters,
    "stride": lambda case: max(case.call.geometry.strides) > 1,
    "transposed": lambda case: case.call.op.transposed,
}


@dataclass(frozen=True)
class Known:
    """A mistake that `diff` knows.

    Attributes:
        code: its name; some have details in parentheses, or an ending.
        sentence: what somebody did.
        changes: what it changes: "filter", "geometry", "input", "bias", "result", "numbers" or "size".
        tries: makes the mistake, the usual ways first; None where another row makes it as well, and for
            another size, which `sizes` explains.
        right: the call that was meant, of arrays x, w and b.
        wrong: the result with the mistake in it.
        page: the page that explains it.
        needs: what a result must be for it, in words of `NEEDS`.
        rarely: makes the mistake in less usual ways, tried after all others.
        slips: the mistake as people make it by hand, which the explorer's quiz looks for: words and a change.
            That is other ``integers`` of an axis, each a number or a sum of numbers and integers of the axis,
            another ``order`` of an array's axes, a ``shift`` of the cell, or a ``transform`` by its name in
            slips.js; and the ``kind`` or ``rank`` of calls, or the least ``stride``, that it is for.
    """

    code: str
    sentence: str
    changes: str
    tries: Tries | None
    right: str
    wrong: str
    page: str
    needs: tuple[str, ...] = ()
    rarely: Tries | None = None
    slips: tuple[tuple[str, dict[str, Any]], ...] = field(default=(), compare=False)

    def mistakes(self, case: Failure, rarely: bool = False) -> Iterator[Mistake]:
        """Yield the ways in which it may have been made."""
        tries = self.rarely if rarely else self.tries
        fitted = rarely or self.changes == "numbers"  # to sums, which a quantized result does not show
        if case.quantized is not None and fitted and "quantized" not in self.needs:
            return
        if tries and all(NEEDS[word](case) for word in self.needs):
            yield from (replace(mistake, code=mistake.code or self.code) for mistake in tries(case))


_PAD = "conv2d(x, w, 1, ((2, 1), (1, 2)))"
_BIAS = "conv2d(x, w, 1, 'SAME', bias=b)"
_PLAIN = "conv2d(x, w, 1, 'SAME')"
_INTEGERS = "conv2d(rint(99 * x).astype('int32'), rint(99 * w).astype('int32'))"
_HALF = "conv2d(x.astype('float16'), w.astype('float16') / 4"
_LARGE = "conv2d(x.astype('float16') * 1000, w.astype('float16') * 100)"
_QUANTIZED = "answers/quantized_convolution"
_INT8 = "quantized.conv2d(xq, wq, bq, padding='SAME', **facts)"
_SMALL = "quantized.conv2d(xq // 16, wq // 16, **facts | {'y_scale': 0.0005}"
_TRANSPOSED = "dialects.torch.conv_transpose2d(nchw(x), w.transpose(2, 3, 0, 1), stride=2, padding=1"

# fmt: off
DIAGNOSES: tuple[Known, ...] = (
    Known("nan_lost", "NaN is lost, as in a relu that compares", "result",
          candidates.lost_nan, "conv2d(where(x > 2, nan, x), w)",
          "nan_to_num(conv2d(where(x > 2, nan, x), w))", "explanation/error_bounds", ("nan",)),
    Known("zero_padding", "the border of a quantized image is not padded with the zero point", "input",
          quantized_mistakes.zero_padding, _INT8,
          "quantized.conv2d(bordered(xq), wq, bq, **facts)", _QUANTIZED,
          ("quantized",)),
    Known("zero_point", "a zero point is ignored, has the other sign, or is taken off in 8 bits", "input",
          quantized_mistakes.zero_points, _INT8,
          "quantized.conv2d(xq, wq, bq, padding='SAME', **facts | {'x_zero_point': 0})", _QUANTIZED,
          ("quantized",)),
    Known("zero_point_moved", "a zero point is moved between int8 and uint8 and the numbers are not", "input",
          quantized_mistakes.moved_zero_points, _INT8,
          f"{_INT8}.astype('int32') + 128", _QUANTIZED, ("quantized",)),
    Known("other_type", "bytes are read as uint8 instead of int8, or the reverse", "input",
          quantized_mistakes.other_types, _INT8, f"{_INT8}.view('uint8')", _QUANTIZED, ("quantized",)),
    Known("one_scale", "all channels have one scale", "numbers",
          quantized_mistakes.one_scales, _INT8,
          "quantized.conv2d(xq, wq, bq, padding='SAME', **facts | {'w_scale': facts['w_scale'].max()})",
          _QUANTIZED, ("quantized",)),
    Known("scale_axis", "scales belong to other channels, or lie along another axis", "numbers",
          quantized_mistakes.scale_axes, _INT8,
          "quantized.conv2d(xq, wq, bq, padding='SAME', **facts | {'w_scale': facts['w_scale'][::-1]})",
          _QUANTIZED, ("quantized",)),
    Known("multiplier_shift", "the shift of a multiplier is another", "numbers",
          quantized_mistakes.shifts, _INT8,
          "quantized.conv2d(xq, wq, bq, padding='SAME', **facts | {'y_scale': facts['y_scale'] * 2})",
          _QUANTIZED, ("quantized",)),
    Known("bias_scale", "the bias is not in steps of x_scale * w_scale", "bias",
          quantized_mistakes.bias_scales, _INT8,
          "quantized.conv2d(xq, wq, rint(bq * facts['w_scale']).astype('int32'), padding='SAME', **facts)",
          _QUANTIZED, ("quantized",)),
    Known("rounding", "the rounding is another scheme's, or of no scheme", "numbers",
          quantized_mistakes.roundings, f"{_SMALL})", f"{_SMALL} | {{'scheme': 'onnx'}})", _QUANTIZED,
          ("quantized",), rarely=quantized_mistakes.float_sums),
    Known("relu_clamp", "a relu clamps at the integer 0, not at the zero point", "result",
          quantized_mistakes.relus, f"{_INT8[:-1]}, activation='relu')", f"maximum({_INT8}, 0)", _QUANTIZED,
          ("quantized",)),
    Known("relu6_clamp", "the upper clamp of a relu6 is missing, or another", "result",
          quantized_mistakes.upper_clamps,
          f"{_INT8[:-1]}, activation='relu6')", f"{_INT8[:-1]}, activation='relu')", _QUANTIZED,
          ("quantized",)),
    Known("saturation", "it saturates too early, at -127, or not at all", "numbers",
          quantized_mistakes.saturations, _INT8, f"maximum({_INT8}, -127)", _QUANTIZED, ("quantized",)),
    Known("accumulator_16_bits", "sums of quantized numbers have 16 bits", "numbers",
          quantized_mistakes.narrow_accumulators, _INT8, "in_16_bits(xq, wq, bq, **facts)", _QUANTIZED,
          ("quantized",)),
    Known("flipped_filter", "the filter is flipped: a true convolution", "filter",
          candidates.flips, _PLAIN, "conv2d(x, w[::-1, ::-1], 1, 'SAME')",
          "answers/correlation_or_convolution",
          slips=(("with the filter flipped, as in a true convolution", {"transform": "flip"}),)),
    Known("swapped_filter_axes", "rows and columns of the filter are exchanged", "filter",
          candidates.swapped_filter_axes, _PLAIN,
          "conv2d(x, w.transpose(1, 0, 2, 3), 1, 'SAME')", "answers/converting_transposed_filters",
          slips=(("with rows and columns of the filter exchanged",
                  {"order": (1, 0, 2, 3), "of": "filter"}),)),
    Known("transposed_filter", "in and out channels of the filter are exchanged", "filter",
          candidates.transposed_filters, _PLAIN,
          "conv2d(x, w.reshape(*w.shape[:2], w.shape[3], -1).transpose(0, 1, 3, 2), 1, 'SAME')",
          "answers/converting_transposed_filters",
          slips=(("with in and out channels of the filter exchanged",
                  {"order": (0, 1, 3, 2), "of": "filter"}),)),
    Known("groups", "channels are dealt out to the groups in turn", "filter",
          candidates.groups, "conv2d(x, w[:, :, ::2])",
          "conv2d(x[..., [*range(0, x.shape[3], 2), *range(1, x.shape[3], 2)]], w[:, :, ::2])",
          "answers/dilated_grouped_depthwise", ("groups",)),
    Known("group_offset", "a group reads the channels of another", "filter",
          candidates.group_offsets, "conv2d(x, w[:, :, ::2])",
          "conv2d(concatenate([x[..., : x.shape[3] // 2]] * 2, 3), w[:, :, ::2])",
          "answers/dilated_grouped_depthwise", ("groups",)),
    Known("causal_stride", "a causal convolution pads ek - s before, not ek - 1", "geometry",
          geometries.causal_strides, "conv1d(x[:, 0], w[0], 2, 'CAUSAL')",
          "conv1d(x[:, 0], w[0], 2, ((1, 1),))", "answers/causal_at_stride_2", ("not transposed",),
          slips=(("with ek - s zeros before, as some frameworks pad a causal convolution",
                  {"integers": {"pad_before": ("effective_filter", "-stride")}, "rank": 1, "stride": 2}),)),
    Known("padding_side", "padding is on the other side", "geometry",
          geometries.padding_sides, "conv2d(x, w, 2, ((0, 1), (0, 1)))", "conv2d(x, w, 2, ((1, 0), (1, 0)))",
          "answers/why_bottom_and_right", ("not transposed",),
          slips=(("with the padding on the other side",
                  {"integers": {"pad_before": "pad_after", "pad_after": "pad_before"}, "kind": "conv2d"}),
                 ("with as much padding on both sides, as PyTorch's padding=1 has",
                  {"integers": {"pad_before": "pad_after"}, "kind": "conv2d"}))),
    Known("stride_phase", "the stride starts at another cell", "geometry",
          geometries.stride_phases,
          "conv2d(x, w, 3, 2)", "conv2d(x, w, 3, ((1, 3), (1, 3)))",
          "answers/one_pixel_shift", ("not transposed",),
          slips=(("with the stride starting one cell further",
            {"integers": {"pad_before": ("pad_before", -1)}, "kind": "conv2d", "stride": 2}),
           ("with the stride starting one cell earlier",
            {"integers": {"pad_before": ("pad_before", 1)}, "kind": "conv2d", "stride": 2}))),
    Known("padding_amount", "another padding before the input", "geometry",
          None, "conv2d(x, w, 1, ((2, 1), (1, 2)))", "conv2d(x, w, 1, ((1, 2), (3, 0)))",
          "answers/is_padding_a_crop", ("no scatter",), geometries.padding_amounts),
    Known("output_alignment", "another part of the full transposed result is kept", "geometry",
          geometries.output_alignments,
          "conv2d_transpose(x, w.transpose(0, 1, 3, 2), None, 2)",
          "conv2d_transpose(x, w.transpose(0, 1, 3, 2), None, 2, 'VALID')[:, 1:, 1:]",
          "answers/why_output_shape", ("scatters",),
          slips=(("with one cell more cut before the result",
                  {"integers": {"pad_before": ("pad_before", 1)}, "kind": "conv2d_backprop_input"}),
                 ("with one cell less cut before the result",
                  {"integers": {"pad_before": ("pad_before", -1)}, "kind": "conv2d_backprop_input"}))),
    Known("output_padding", "output_padding is left out, or another", "size", geometries.repeated_edges,
          f"{_TRANSPOSED}, output_padding=1)", f"{_TRANSPOSED})",
          "answers/output_padding", ("transposed", "stride"),
          slips=(("without output_padding",
                  {"integers": {"pad_after": "pad_before"}, "kind": "conv2d_backprop_input"}),)),
    Known("dilation", "the dilation is ignored, applied twice, or another", "geometry",
          geometries.STEPS["dilation"], "conv2d(x, w, 1, 'SAME', dilations=2)", _PLAIN,
          "answers/dilated_grouped_depthwise", rarely=geometries.STEPS["other_dilation"],
          slips=(("without the dilation", {"integers": {"dilation": 1}}),)),
    Known("stride_and_dilation", "strides and dilations are exchanged", "geometry",
          geometries.STEPS["stride_and_dilation"], "conv2d(x, w, (1, 2), 'SAME', dilations=(2, 1))",
          "conv2d(x, w, (2, 1), 'SAME', dilations=(1, 2))", "arguments/geometry",
          slips=(("with stride and dilation exchanged",
                  {"integers": {"stride": "dilation", "dilation": "stride"}}),)),
    Known("overwrites", "windows that overlap overwrite each other, and are not added", "result",
          geometries.overwritten, "conv2d_transpose(x, w.transpose(0, 1, 3, 2), None, 1, 'SAME')",
          "overwritten(x, w)", "answers/checkerboards", ("scatters",)),
    Known("transposed_for_forward", "a transposed convolution instead of a forward one", "geometry",
          geometries.other_direction,
          "conv2d(x, w[..., : x.shape[3]], 1, 'SAME')",
          "conv2d_transpose(x, w[..., : x.shape[3]], None, 1, 'SAME')",
          "answers/is_it_the_inverse", ("gathers",)),
    Known("forward_for_transposed", "a forward convolution instead of a transposed one", "geometry",
          geometries.other_direction,
          "conv2d_transpose(x, w[..., : x.shape[3]], None, 1, 'SAME')",
          "conv2d(x, w[..., : x.shape[3]], 1, 'SAME')", "answers/is_it_the_inverse", ("transposed",)),
    Known("swapped_strides", "the strides of rows and columns are exchanged", "geometry",
          geometries.STEPS["swapped_strides"], "conv2d(x, w, (1, 2))", "conv2d(x, w, (2, 1))",
          "arguments/geometry",
          slips=(("with the strides of rows and columns exchanged",
                  {"integers": {"stride": "other.stride"}}),)),
    Known("swapped_dilations", "the dilations of rows and columns are exchanged", "geometry",
          geometries.STEPS["swapped_dilations"], "conv2d(x, w, 1, 'SAME', dilations=(1, 2))",
          "conv2d(x, w, 1, 'SAME', dilations=(2, 1))", "arguments/geometry",
          slips=(("with the dilations of rows and columns exchanged",
                  {"integers": {"dilation": "other.dilation"}}),)),
    Known("one_stride", "the strides and dilations of one axis are used for the other", "geometry",
          geometries.STEPS["one_stride"], "conv2d(x, w, (2, 1))",
          "conv2d(x, w, 2, ((0, 0), (0, x.shape[2] - 3)))", "arguments/geometry"),
    Known("stride_left_out", "the stride is left out of the window's index, or ignored", "geometry",
          geometries.strides_left_out, "conv2d(x, w, 2)",
          "conv2d(x, w)[:, : (x.shape[1] - 1) // 2, : (x.shape[2] - 1) // 2]",
          "arguments/geometry"),
    Known("padding_mode", "another padding word", "geometry",
          geometries.padding_modes, "conv2d(x, w, 1, ((2, 0), (2, 0)))", _PLAIN, "answers/same_or_valid",
          slips=(("without the padding, as with VALID", {"integers": {"pad_before": 0, "pad_after": 0}}),)),
    Known("bias", "the bias is left out, added twice, in another order, or along another axis", "bias",
          candidates.biases, _BIAS, _PLAIN, "answers/the_three_steps", ("bias",),
          slips=(("without the bias", {"transform": "no bias"}),
                 ("with the bias added twice", {"transform": "bias twice"}))),
    Known("relu_before_bias", "the relu comes before the bias", "result",
          candidates.relu_before_bias, _BIAS, f"maximum({_PLAIN}, 0) + b",
          "answers/the_three_steps", ("bias",)),
    Known("activation", "an activation is left out, or another one", "result",
          candidates.activations, _BIAS, f"clip({_BIAS}, 0, 6)", "answers/the_three_steps",
          slips=(("after a relu, which this call does not have", {"transform": "relu"}),)),
    Known("accumulates", "the result is added to what out held", "result",
          candidates.accumulations, _PLAIN, f"{_PLAIN} + held", "howto/find_a_bug_in_your_kernel", ("held",)),
    Known("residual", "the input is added to the result", "result",
          candidates.residuals, "conv2d(x, w[..., : x.shape[3]], 1, 'SAME')",
          "conv2d(x, w[..., : x.shape[3]], 1, 'SAME') + x", "answers/the_three_steps"),
    Known("padding_values", "padding with something other than zeros", "input",
          candidates.padding_values, _PAD, "conv2d(pad(x, ((0, 0), (2, 1), (1, 2), (0, 0)), 'SYMMETRIC'), w)",
          "answers/is_padding_a_crop", rarely=fits.padding_constants,
          slips=(("with the padding counted as 1", {"transform": "ones"}),
           ("with the edge repeated in the padding", {"transform": "edge"}))),
    Known("border_bound", "a loop's limit is off by one: the input's first or last row counts as padding",
          "input", geometries.skipped_edges, _PLAIN,
          "conv2d(pad(x[:, 1:], ((0, 0), (1, 0), (0, 0), (0, 0))), w, 1, 'SAME')",
          "answers/is_padding_a_crop", ("gathers",)),
    Known("rounded", "arrays or the result are rounded to a smaller type", "numbers",
          candidates.rounded, _PLAIN, "conv2d(x.astype('float16').astype('float32'), w, 1, 'SAME')",
          "explanation/error_bounds", ("floats",)),
    Known("flushed", "subnormal numbers are flushed to 0", "numbers",
          candidates.flushed, "conv2d(x * 2.0**-64, w * 2.0**-64)",
          "where(abs(conv2d(x * 2.0**-64, w * 2.0**-64)) < 2.0**-126, 0, conv2d(x * 2.0**-64, w * 2.0**-64))",
          "explanation/error_bounds", ("floats",)),
    Known("saturated", "numbers that are too large become the largest of the type", "numbers",
          candidates.saturated, _LARGE, f"clip({_LARGE}, -65504, 65504)",
          "explanation/error_bounds", ("floats",)),
    Known("rounded_before_bias", "the sum is rounded to a half type before the bias is added", "numbers",
          candidates.rounded_before_bias, f"{_HALF}, bias=b.astype('float16'))",
          f"{_HALF}) + b.astype('float16')", "explanation/error_bounds", ("bias", "floats")),
    Known("accumulator", "the sums are formed in a half type", "numbers",
          candidates.accumulators, _PLAIN, "sum16(x, w)", "explanation/error_bounds", ("floats",)),
    Known("permuted_channels", "channels are in another order", "input",
          candidates.channel_orders, _PLAIN, "conv2d(x[..., ::-1], w, 1, 'SAME')", "answers/nhwc_or_nchw"),
    Known("permuted_batch", "images are in another order", "input",
          candidates.image_orders, "conv2d(concatenate([x, -2 * x]), w)",
          "conv2d(concatenate([-2 * x, x]), w)", "answers/nhwc_or_nchw", ("filter gradient",)),
    Known("shift", "the result is moved by rows or columns", "result",
          fits.shifts, _PLAIN, f"pad({_PLAIN}, ((0, 0), (1, 0), (0, 0), (0, 0)))[:, :-1]",
          "answers/one_pixel_shift",
          slips=(("of the next column", {"shift": (0, 1)}), ("of the column before", {"shift": (0, -1)}),
                 ("of the next row", {"shift": (1, 0)}), ("of the row before", {"shift": (-1, 0)}))),
    Known("permuted_rows", "rows or columns of the result are in another order", "result",
          fits.copies, _PLAIN, f"{_PLAIN}[:, ::-1]",
          "howto/find_a_bug_in_your_kernel"),
    Known("copied", "channels, images or rows hold copies of other ones", "result",
          None, _BIAS, f"take({_BIAS}, [0, 1, 1, *range(3, len(b))], 3)",
          "howto/find_a_bug_in_your_kernel"),
    Known("bias_repeated", "the bias is added several times", "bias",
          fits.repeated_biases, _BIAS, f"{_PLAIN} + 9 * b", "answers/the_three_steps", ("bias", "floats")),
    Known("scale", "the result is multiplied by a number", "numbers",
          fits.scales, _BIAS, "conv2d(x / 255, w, 1, 'SAME', bias=b)", "howto/port_a_network",
          slips=(("of the sum, which is not divided yet", {"transform": "sum"}),)),
    Known("channel_shift", "a number is added to each channel", "numbers",
          fits.scales_by_channel, _BIAS, f"{_BIAS} + b * b", "howto/port_a_network"),
    Known("scale_and_shift", "channels are multiplied by numbers, and others added", "numbers",
          None, _BIAS, f"{_BIAS} * (1 + b * b) - b", "howto/port_a_network"),
    Known("missing_terms", "terms of the sums are missing", "numbers",
          fits.terms, _BIAS,
          "conv2d(x[..., :-1], w[:, :, :-1], 1, 'SAME', bias=b)", "howto/find_a_bug_in_your_kernel",
          slips=(("of one channel alone", {"transform": "one channel"}),
                 ("without the last product", {"transform": "last product"}))),
    Known("doubled_terms", "terms of the sums are counted twice", "numbers",
          None, _BIAS,
          f"{_BIAS} + conv2d(x[..., :1], w[:, :, :1], 1, 'SAME')", "howto/find_a_bug_in_your_kernel"),
    Known("input_scale", "the input is not normalised as before: factors or constants differ", "input",
          fits.input_scales, _BIAS, "conv2d(x * 2 - 1, w, 1, 'SAME', bias=b)", "howto/port_a_network"),
    Known("factor_axis", "factors of the output channels multiply the input channels", "filter",
          fits.factor_axes, "conv2d(x, w[..., : x.shape[3]] * exp(b[: x.shape[3]]), 1, 'SAME')",
          "conv2d(x, w[..., : x.shape[3]] * exp(b[: x.shape[3], None]), 1, 'SAME')",
          "answers/folding_batch_normalisation"),
    Known("swapped_image_axes", "rows and columns of the image are exchanged", "input",
          candidates.swapped_images, "conv2d(x[:, :6, :6], w)",
          "conv2d(x[:, :6, :6].transpose(0, 2, 1, 3), w)", "answers/nhwc_or_nchw",
          slips=(("with rows and columns of the input exchanged", {"order": (0, 2, 1, 3), "of": "source"}),)),
    Known("flipped_image", "the image is upside down, or mirrored", "input",
          candidates.flipped_images, _PLAIN, "conv2d(x[:, ::-1], w, 1, 'SAME')",
          "answers/nhwc_or_nchw"),
    Known("reshaped_image", "the image is reshaped where it has to be transposed", "input",
          candidates.reshaped_images, _PLAIN,
          "conv2d(x.transpose(0, 3, 1, 2).reshape(x.shape), w, 1, 'SAME')", "answers/nhwc_or_nchw"),
    Known("cut", "integers are cut to fewer bits", "numbers", candidates.cut_integers,
          _INTEGERS, f"{_INTEGERS}.astype('int16').astype('int32')",
          "explanation/error_bounds", ("integers",)),
    Known("quantized", "the filter is quantized to 8 bits", "numbers",
          candidates.quantized, _PLAIN,
          "conv2d(x, rint(w / (abs(w).max() / 127)) * (abs(w).max() / 127), 1, 'SAME')",
          "explanation/error_bounds", ("filter", "floats")),
    Known("reshaped_filter", "the filter is reshaped where it has to be transposed", "filter",
          candidates.reshaped_filters, _PLAIN,
          "conv2d(x, w.transpose(3, 2, 0, 1).reshape(w.shape), 1, 'SAME')",
          "answers/converting_transposed_filters"),
    Known("layout", "the result's axes are in another order", "result",
          candidates.layouts, _PLAIN, f"{_PLAIN}.transpose(0, 3, 1, 2).reshape({_PLAIN}.shape)",
          "answers/nhwc_or_nchw"),
    Known("blocked", "channels lie in blocks in memory, as in NC4HW4, and are read as if not", "input",
          candidates.blocks, "conv2d(x, concatenate([w, w * w], 3)[..., :8], 1, 'SAME')",
          "nc4hw4(conv2d(x, concatenate([w, w * w], 3)[..., :8], 1, 'SAME'))", "answers/nhwc_or_nchw"),
    Known("pitch", "planes or rows are aligned in memory, and are read without the gaps", "input",
          candidates.pitches, _PLAIN, "conv2d(aligned(x), w, 1, 'SAME')", "answers/nhwc_or_nchw"),
    Known("padding", "padding is left out, or another", "size", None,
          "dialects.torch.conv2d(nchw(x), oihw(w), padding=1)", "dialects.torch.conv2d(nchw(x), oihw(w))",
          "answers/padding_same_with_stride_in_pytorch",
          slips=(("without the padding", {"integers": {"pad_before": 0, "pad_after": 0}}),
                 ("with the padding of one side alone", {"integers": {"pad_after": 0}}))),
    Known("stride", "the stride is left out, or another; or every second cell is kept", "size", None,
          "conv2d(x, w, 3)", "conv2d(x, w, 2)", "arguments/geometry",
          slips=(("without the stride", {"integers": {"stride": 1}}),
                 ("of the input, without the stride", {"transform": "input size"}))),
    Known("size", "another size was asked for", "size", None,
          "conv2d_transpose(x[:, :8, :8], w.transpose(0, 1, 3, 2), (len(x), 16, 16, len(b)), 2)",
          "conv2d_transpose(x[:, :8, :8], w.transpose(0, 1, 3, 2), (len(x), 16, 15, len(b)), 2)",
          "answers/why_output_shape"),
    Known("ceil_mode", "the size is rounded up instead of down", "size", None,
          "dialects.torch.conv2d(nchw(x[:, :8, :8]), oihw(w), stride=2)",
          "nchw(conv2d(pad(x[:, :8, :8], ((0, 0), (0, 1), (0, 1), (0, 0))), w, 2))",
          "answers/why_ceil_mode_gives_one_more",
          slips=(("with the size rounded up", {"transform": "ceil"}),)),
    Known("window", "rows or columns at an edge are missing, or too many", "size", None,
          _BIAS, f"{_BIAS}[:, 2:]", "answers/is_padding_a_crop",
          slips=(("without the + 1 for the first window", {"transform": "fencepost"}),)),
    Known("pool", "a pool comes after it", "size", None,
          "conv2d(x[:, :8, :8], w, 1, 'SAME')",
          "conv2d(x[:, :8, :8], w, 1, 'SAME').reshape(len(x), 4, 2, 4, 2, -1).max((2, 4))",
          "explanation/windows"),
    Known("output_shape", "another size, which nothing explains", "size", None,
          _PLAIN, "zeros((1, 2, 3))", "arguments/geometry"),
)
# fmt: on


_ROWS = {known.code: known for known in DIAGNOSES}
_PADDING = ("padding_side", "output_alignment", "padding_mode", "padding_values")
_USUAL_PAIRS = [
    ("swapped_filter_axes", "flipped_filter"),
    ("transposed_filter", "flipped_filter"),
    ("transposed_filter", "missing_terms"),
    *product(("flipped_filter",), _PADDING),
    *product(_PADDING, ("activation", "bias", "permuted_channels")),
]


def attempts(case: Failure, thorough: bool = False) -> Iterator[Mistake]:
    """The mistakes that may explain a result: single ones, then pairs, then less usual ones."""
    for known in DIAGNOSES:
        yield from known.mistakes(case)
    yield from _with_another_end(case)
    yield from _pairs(case, _USUAL_PAIRS)
    for known in DIAGNOSES:
        yield from known.mistakes(case, rarely=True)
    if thorough:
        every = product(DIAGNOSES, repeat=2)
        yield from _pairs(case, [(a.code, b.code) for a, b in every if a.changes != b.changes])


def _pairs(case: Failure, codes: Iterable[tuple[str, str]]) -> Iterator[Mistake]:
    """Two mistakes at once: the second made in the call of the first."""
    for first, second in codes:
        alike = (m for m in _ROWS[first].mistakes(case) if m.call.backend_shape == case.call.backend_shape)
        for one in alike:  # what is fitted to the result needs one of its size
            activated = case.activated and one.activated
            for other in _ROWS[second].mistakes(replace(case, call=one.call, activated=activated)):
                moves = one.moves or other.moves
                yield replace(_joined(one, other), view=both(one.view, other.view), moves=moves)


def _with_another_end(case: Failure) -> Iterator[Mistake]:
    """A relu that the call does not have, or one that was left out, and another mistake: as its signs say."""
    below = bool((case.got < 0).any())
    if case.quantized is not None or case.activated != below or not (case.exact < 0).any():
        return
    words = "without the relu" if below else "after a relu, which this call does not have"
    end = Mistake(words, case.call, code="activation")
    for known in DIAGNOSES:
        for other in known.mistakes(replace(case, activated=not case.activated)):
            if other.code != end.code:
                view = other.view if below else both(other.view, relu)
                yield replace(_joined(end, other), view=view, activated=not below)


def _joined(one: Mistake, other: Mistake) -> Mistake:
    """The second of two mistakes, with the name and the words of both."""
    sentence = f"{one.sentence}, and {other.sentence}"
    return replace(other, code=f"{one.code}+{other.code}", sentence=sentence)
