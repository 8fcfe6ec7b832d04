"""The public names and signatures are the recorded ones, and what is recorded is documented as public.

After a change that is meant: make public-api. docs/versions.md says what may change in which version.
"""

import inspect
import json
import re
import runpy
import sys
from pathlib import Path

import built_links
import pytest
from recorders import record_public_api as script

import teachconv as tc
import teachconv.tf as tf

RECORDED = Path(__file__).parent / "recorded"
reference = built_links.module_at("public_names", RECORDED.parents[1] / "docs")


def flat(found):
    """{(module, name, attribute): signature}, so that a difference is shown alone."""
    return {
        (module, name, attribute): text
        for module, names in found.items()
        for name, value in names.items()
        for attribute, text in (value.items() if isinstance(value, dict) else [("", value)])
    }


def test_the_users_program_runs(capsys):
    """The one whose types make types checks."""
    runpy.run_path(str(Path(__file__).parent / "typing" / "user.py"))
    assert capsys.readouterr().out == "strides must be at least 1; got 0\n"


def test_the_public_api_is_the_recorded_one():
    want, got = flat(json.loads((RECORDED / "public_api.json").read_text())), flat(script.public_api())
    if sys.version_info[:2] != (3, 11):  # what classes inherit from Python's own differs between versions
        want, got = ({key: text for key, text in found.items() if not key[2]} for found in (want, got))
    assert sorted(want.keys() - got.keys()) == [], "removed: run make public-api if it is meant"
    assert sorted(got.keys() - want.keys()) == [], "added: run make public-api if it is meant"
    assert {key: (want[key], got[key]) for key in want if want[key] != got[key]} == {}, "changed"


def test_the_record_sees_a_change():
    def one(x, *, axis=1):
        """A function."""

    assert script.signature(one) == "(x, *, axis=1)"
    assert script.signature(tc.conv2d).startswith("(input, filters, strides=1, padding='VALID', ")


def test_the_package_says_that_it_has_types():
    assert (Path(tc.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize(
    "package", [tc.keras, tc.graph, tf, tf.compat.v1], ids=lambda package: package.__name__
)
def test_every_public_name_is_on_a_page(package):
    listed = reference.listed_modules()
    assert package.__name__ in listed
    entries = {entry["name"]: entry for entry in reference.entries(package.__name__)}
    assert sorted(entries) == sorted(package.__all__)
    for name in package.__all__:
        thing = getattr(package, name)
        if inspect.ismodule(thing) and name not in ("compat", "python"):  # packages of packages
            assert thing in listed.values(), name


@pytest.mark.parametrize("module", [name for name in reference.listed_modules() if ".tf" in name])
def test_every_function_of_tf_says_what_its_arguments_are_or_leads_to_where(module):
    for entry in reference.entries(module):
        thing = getattr(reference.listed_modules()[module], entry["name"])
        if entry["kind"] != "function" or not inspect.signature(thing).parameters:
            continue
        said = "Args:" in thing.__doc__ or "arguments as" in thing.__doc__
        assert said or reference.namesake(f"{module}.{entry['name']}", thing), entry["name"]


def test_every_name_of_the_library_is_on_the_page():
    words = set(
        re.findall(r"\w+", (Path(__file__).parents[1] / "docs" / "api.rst").read_text(encoding="utf-8"))
    )
    assert set(tc.__all__) <= words
