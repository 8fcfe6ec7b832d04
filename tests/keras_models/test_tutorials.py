"""Networks after TensorFlow's tutorials train as they do there: the same losses, to five digits."""

import json

import numpy as np
import pytest
from recordings import RECORDED
from tutorials import TUTORIALS

import teachconv.tf as tf

META = json.loads((RECORDED / "tutorials.json").read_text(encoding="utf-8"))


def test_was_recorded_with_a_known_version():
    assert META["versions"] == {"keras": "3.15.1", "tensorflow": "2.21.0"}
    assert set(META["programs"]) == set(TUTORIALS)


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_program_has_tensorflows_numbers(name):
    found, recorded = TUTORIALS[name](tf), META["programs"][name]
    assert set(found) == set(recorded)
    for key, numbers in recorded.items():
        five_digits = 1e-5 * np.max(np.abs(numbers))
        np.testing.assert_allclose(found[key], numbers, rtol=0, atol=five_digits, err_msg=key)
