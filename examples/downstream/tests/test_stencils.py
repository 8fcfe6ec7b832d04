from collections.abc import Callable
from typing import Any

import numpy as np
import stencils

import teachconv as tc
from teachconv import testing as T

kernel = T.kernel(stencils.correlate, x="HWC", w="HWIO", dtypes=["float32", "float64", "int32"])


@T.parametrize(kernel, tags="small", data="integers", require=["same stride 2, odd input", "explicit"])
def test_correlate(case: T.Checked) -> None:
    case.check(kernel)


def test_random_calls(conv_fuzz: Callable[[Any], tc.DiffReport]) -> None:
    conv_fuzz(kernel).check()


def test_a_step_is_an_edge() -> None:
    image = np.repeat([[0, 0, 1, 1]], 4, axis=0)
    assert np.array_equal(stencils.edges(image)[1:3], [[0, 4, 4, 4]] * 2)
