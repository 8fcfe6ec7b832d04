"""The changelog has the form of Keep a Changelog, version and citation agree, and a release dates both."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import teachconv as tc

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("release", HERE.parent / "tools" / "release.py")
release = importlib.util.module_from_spec(spec)
spec.loader.exec_module(release)

GOOD = """# Changelog

## [0.2.0] - not yet dated

### Added

- One thing,
  in two lines.
- Another.

### Fixed

- A fault.

## [0.1.0] - 2026-01-02

### Added

- The first.
"""


def test_the_changelog_of_the_project_has_the_form():
    assert list(release.changelog_problems(release.CHANGELOG.read_text())) == []


def test_version_and_citation_agree():
    assert release.version() == tc.__version__
    assert f"version: {tc.__version__}\n" in release.CITATION.read_text()


@pytest.mark.parametrize("page", ["install.md", "teach/index.md"])
def test_the_pages_name_the_wheel_that_is_built(page):
    named = re.findall(r"teachconv-([\d.]+)-py3-none-any", (HERE.parent / "docs" / page).read_text("utf-8"))
    assert {*named} == {tc.__version__}


def test_a_changelog_of_the_form():
    assert list(release.changelog_problems(GOOD)) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("# Changelog\n", "# News\n", "first line"),
        ("[0.2.0] - not yet dated", "[Unreleased]", "only the first section may be"),
        ("[0.1.0] - 2026-01-02", "[0.1.0]", "only the first section may be"),
        ("2026-01-02", "2. 1. 2026", "only the first section may be"),
        ("### Added\n\n- One", "- One", "text before the first heading"),
        ("### Fixed", "### Mended", "Mended: no heading of Keep a Changelog"),
        ("### Fixed", "### Added", "each once, in the order"),
        ("### Added\n\n- One", "### Security\n\n- One", "each once, in the order"),
        ("- A fault.\n", "", "does not begin with an item"),
        ("- Another.", "Another.", "belongs to no item"),
        ("[0.2.0] - not yet dated", "[0.0.9] - 2025-12-31", "latest version does not come first"),
    ],
)
def test_another_form_is_found(old, new, problem):
    assert old in GOOD
    assert any(problem in found for found in release.changelog_problems(GOOD.replace(old, new, 1)))


def test_a_release_dates_changelog_and_citation():
    citation = "title: x\nversion: 0.2.0\ndate-released: 2026-01-02\nlicense: y\n"
    changelog, citation = release.dated(GOOD, citation, "0.2.0", "2026-12-24")
    assert list(release.changelog_problems(changelog)) == []
    assert "## [0.2.0] - 2026-12-24\n" in changelog
    assert "not yet dated" not in changelog
    assert citation == "title: x\nversion: 0.2.0\ndate-released: 2026-12-24\nlicense: y\n"


@pytest.mark.skipif(not (HERE.parent / "paper").exists(), reason="an sdist has no paper")
def test_the_paper_cites_what_it_lists_and_says_what_is_missing():
    paper, references = ((HERE.parent / "paper" / name).read_text() for name in ("paper.md", "paper.bib"))
    cited = set(re.findall(r"(?<![\w.])@(\w+)", paper))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", references, re.MULTILINE))
    headings = re.findall(r"^# (.*)$", paper, re.MULTILINE)
    assert {"Summary", "Statement of need", "What a submission still needs", "References"} <= set(headings)
    assert 700 < len(paper.partition("# What a submission")[0].split()) < 1000


@pytest.mark.slow  # setuptools, twice
def test_two_sdists_of_the_same_files_are_the_same_bytes(tmp_path):
    """Neither the times of the files, nor what others may do with them, nor the place is in an sdist."""
    if not (HERE.parent / ".git").exists():
        pytest.skip("the files of a release are those that git tracks")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=HERE.parent, capture_output=True, text=True, check=True
    )
    digests = []
    for place, mode, time in ("here", 0o644, 1e9), ("there", 0o600, 1.5e9):
        for name in filter(None, names.stdout.split("\0")):
            source, copy = HERE.parent / name, tmp_path / place / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            copy.chmod(mode | source.stat().st_mode & 0o100)
            os.utime(copy, (time, time))
        subprocess.run(
            [sys.executable, "-c", "import setuptools.build_meta as build; build.build_sdist('dist')"],
            cwd=tmp_path / place,
            env=os.environ | {"TEACHCONV_NO_CYTHON": "1"},
            capture_output=True,
            check=True,
        )
        (made,) = (tmp_path / place / "dist").iterdir()
        digests.append(hashlib.sha256(made.read_bytes()).hexdigest())
    assert digests[0] == digests[1]
