"""The public names and signatures are the recorded ones, and what is recorded is documented as public.

After a change that is meant: make public-api. docs/reliability.md says what may change in which version.
"""

import importlib.util
import json
import sys
from pathlib import Path

import teachconv as tc

RECORDED = Path(__file__).parent / "recorded"


def script():
    spec = importlib.util.spec_from_file_location("record_public_api", RECORDED / "record_public_api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flat(found):
    """{(module, name, attribute): signature}, so that a difference is shown alone."""
    return {
        (module, name, attribute): text
        for module, names in found.items()
        for name, value in names.items()
        for attribute, text in (value.items() if isinstance(value, dict) else [("", value)])
    }


def test_the_public_api_is_the_recorded_one():
    want, got = flat(json.loads((RECORDED / "public_api.json").read_text())), flat(script().public_api())
    if sys.version_info[:2] != (3, 11):  # what classes inherit from Python's own differs between versions
        want, got = ({key: text for key, text in found.items() if not key[2]} for found in (want, got))
    assert sorted(want.keys() - got.keys()) == [], "removed: run make public-api if it is meant"
    assert sorted(got.keys() - want.keys()) == [], "added: run make public-api if it is meant"
    assert {key: (want[key], got[key]) for key in want if want[key] != got[key]} == {}, "changed"


def test_the_record_sees_a_change():
    module = script()

    def one(x, *, axis=1):
        """A function."""

    assert module.signature(one) == "(x, *, axis=1)"
    assert module.signature(tc.conv2d).startswith("(input, filters, strides=1, padding='VALID', ")


def test_the_package_says_that_it_has_types():
    assert (Path(tc.__file__).parent / "py.typed").exists()
