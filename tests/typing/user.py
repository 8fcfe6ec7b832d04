"""A user's program, for mypy --strict and pyright: every public type is known, and its attributes have types."""
# pyright: strict

from __future__ import annotations

from typing import Any

import numpy as np

import teachconv as tc

x: np.ndarray[Any, np.dtype[np.float32]] = np.ones((1, 8, 8, 3), "float32")
w: np.ndarray[Any, np.dtype[np.float32]] = np.ones((3, 3, 3, 4), "float32")

y = tc.conv2d(x, w, strides=2, padding="SAME")
back = tc.conv2d_transpose(y, w, output_shape=(1, 8, 8, 3), strides=2)
dw = tc.conv2d_backprop_filter(x, w.shape, y, 2, "SAME")
depthwise = tc.depthwise_conv2d(x, np.ones((3, 3, 3, 2), "float32"))
shapes: tuple[int, ...] = y.shape + back.shape + dw.shape + depthwise.shape

geometry: tc.Conv2DGeometry = tc.conv2d_geometry(x.shape, w.shape, 2, "SAME")
padding: int = geometry.rows.pad_before + geometry.cols.pad_after
transposed: tc.Conv2DTransposeGeometry = tc.conv2d_transpose_geometry(y.shape, w.shape, strides=2)

plan: tc.Plan = tc.plan(tc.conv2d, w, input_shape=x.shape)
planned: int = plan(x).size + plan.nbytes

traced: tc.Trace = tc.trace(tc.conv2d, x, w)
explanation: tc.Explanation = tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0))
taps: list[tc.Tap] = list(explanation.taps)
report: tc.DiffReport = tc.diff(tc.conv2d, x, w, against={"mine": tc.conv2d(x, w)})
passed: bool = report.passed is True and all(row.compared for row in report.rows)
chain: tc.SourceChain = tc.find_source(tc.conv2d, x, w)
page: tc.Explorer = tc.explore(tc.conv2d, x, w)
translation: tc.Translation = tc.translate(tc.conv2d, x.shape, w.shape, to="torch")
gradients: tc.GradientReport = tc.check_gradients(tc.conv2d, x, w)
field: tc.ReceptiveField = tc.receptive_field([("conv", 3, 2)])

try:
    tc.conv2d(x, w, strides=0)
except tc.ArgumentError as error:
    print(str(error))

with tc.use_backend("numpy"):
    tc.set_num_threads(tc.get_num_threads())
