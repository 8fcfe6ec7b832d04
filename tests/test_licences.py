"""The page of licences lists every package that pyproject.toml names, with the licence that its metadata has."""

import importlib.util
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("licences", HERE.parent / "docs" / "licences.py")
licences = importlib.util.module_from_spec(spec)
spec.loader.exec_module(licences)
KNOWN = licences.rows_of(licences.TARGET.read_text(encoding="utf-8"))


def test_every_package_is_listed_and_no_other(monkeypatch):
    monkeypatch.setattr(licences, "licence", lambda name: None)
    assert licences.TARGET.read_text(encoding="utf-8") == licences.table(KNOWN)


def test_a_licence_is_that_of_the_metadata():
    """Of its first word: a later version of a package may say BSD-3-Clause for BSD."""
    installed = {name: said for name in KNOWN if (said := licences.licence(name)) is not None}
    assert {"numpy", "scipy", "threadpoolctl"} <= installed.keys()
    for name, said in installed.items():
        assert re.match(r"\w+", said)[0] == re.match(r"\w+", KNOWN[name])[0], name


def test_no_licence_is_unknown():
    assert [name for name, said in KNOWN.items() if said in ("?", "")] == []


def test_what_is_required_is_listed_as_such():
    required = [name for name, groups in licences.needed().items() if "**teachconv**" in groups]
    assert sorted(required) == ["numpy", "scipy", "threadpoolctl"]
    assert set(required) <= KNOWN.keys()


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"License-Expression": "MIT", "License": "no"}, "MIT"),
        ({"License-Expression": "LicenseRef-NVIDIA-Proprietary"}, "NVIDIA's own"),
        ({"Classifier": ["License :: OSI Approved :: MIT License", "Topic :: Education"]}, "MIT"),
        ({"License": "Apache License 2.0\nand its text"}, "Apache-2.0"),
        ({}, ""),
    ],
)
def test_a_licence_is_read_from_an_expression_a_classifier_or_a_text(monkeypatch, metadata, found):
    class Said(dict):
        get_all = dict.get

    monkeypatch.setattr(licences.metadata, "metadata", lambda name: Said(metadata))
    assert licences.licence("anything") == found
