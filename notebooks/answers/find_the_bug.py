import numpy as np

import teachconv as tc
from teachconv import exercises as ex


def find_the_bug(number):
    random = np.random.default_rng(2)
    x, w, b = (random.standard_normal(shape) for shape in ((1, 8, 11, 3), (3, 3, 3, 3), (3,)))
    result = ex.buggy(number, x, w, b)
    report = tc.diff(tc.conv2d, x, w, (2, 1), "SAME", dilations=(1, 2), bias=b, against=result)
    diagnosis = next(row.diagnosis for row in report.rows if row.name == "against")
    return diagnosis.code.partition("(")[0]  # without the details, as in shift(1,0)
