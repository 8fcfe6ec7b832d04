"""What has to agree before a release: version, changelog, citation, and files that a reader expects.

Usage: python tools/release.py [date]. Without an argument, for make release-check: prints what does not hold. With
``date``, for make release: the changelog's section of ``teachconv.__version__`` gets today's date, the citation
names both, and the commands that are left to a person are printed.
"""

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHANGELOG, CITATION = ROOT / "CHANGELOG.md", ROOT / "CITATION.cff"
KINDS = (
    "Added",
    "Changed",
    "Deprecated",
    "Removed",
    "Fixed",
    "Security",
)  # of Keep a Changelog, in its order
VERSION = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
DATED = re.compile(rf"\[({VERSION})\] - (\d{{4}}-\d\d-\d\d)(?: \[YANKED\])?")
NEXT = re.compile(rf"\[({VERSION})\] - not yet dated")


def version():
    """Return ``teachconv.__version__``, read from the source."""
    code = (ROOT / "teachconv" / "__init__.py").read_text()
    return re.search(r'^__version__ = "([^"]+)"$', code, re.MULTILINE)[1]


def sections(text, level):
    """Return [(heading, what follows it)] of the headings of a level, after what precedes the first."""
    first, *rest = re.split(rf"^{'#' * level} (.+)\n", text, flags=re.MULTILINE)
    return first, list(zip(rest[::2], rest[1::2], strict=True))


def changelog_problems(text):
    """Yield where a changelog has not the form of Keep a Changelog 1.1.0."""
    if not text.startswith("# Changelog\n"):
        yield "the first line is not '# Changelog'"
    versions = sections(text, 2)[1]
    if not versions:
        yield "no section '## [VERSION] - not yet dated' and none with a date"
    dates = []
    for number, (heading, body) in enumerate(versions):
        found = DATED.fullmatch(heading)
        if found:
            dates.append(found[2])
        elif number or not NEXT.fullmatch(heading):
            yield f"'## {heading}' is not '[VERSION] - YYYY-MM-DD', and only the first section may be not yet dated"
        yield from (f"{heading}: {problem}" for problem in section_problems(body))
    if dates != sorted(dates, reverse=True):
        yield f"the latest version does not come first: {', '.join(dates)}"


def section_problems(body):
    """Yield what is wrong below the heading of one version."""
    before, parts = sections(body, 3)
    if before.strip():
        yield f"text before the first heading: {before.strip().splitlines()[0]!r}"
    kinds = [kind for kind, _ in parts]
    if strange := [kind for kind in kinds if kind not in KINDS]:
        yield f"{', '.join(strange)}: no heading of Keep a Changelog, which has {', '.join(KINDS)}"
    elif kinds != [kind for kind in KINDS if kind in kinds]:
        yield f"the headings are {', '.join(kinds)}: each once, in the order {', '.join(KINDS)}"
    for kind, items in parts:
        lines = items.strip("\n").split("\n")
        if not lines[0].startswith("- "):
            yield f"{kind} does not begin with an item '- ...'"
        for line in lines[1:]:
            if line and line[:2] not in ("- ", "  "):
                yield f"{kind}: {line!r} belongs to no item"


def problems():
    """Yield each thing that a release may not have, as text."""
    now, changelog, citation = version(), CHANGELOG.read_text(), CITATION.read_text()
    if not re.fullmatch(VERSION, now):
        yield f"teachconv/__init__.py: {now} is not a version such as 0.1.0 or 0.2.0rc1"
    yield from (f"CHANGELOG.md: {problem}" for problem in changelog_problems(changelog))
    headings = [heading for heading, _ in sections(changelog, 2)[1]]
    dated = [found[1] for found in map(DATED.fullmatch, headings) if found]
    following = [found[1] for found in map(NEXT.fullmatch, headings) if found]
    if following and now in dated:
        yield f"CHANGELOG.md: {now} is released already; raise __version__ in teachconv/__init__.py"
    if (following or dated)[:1] != [now]:
        yield f"CHANGELOG.md: the first version is {(following or dated)[:1]}, and teachconv.__version__ is {now}"
    if f"version: {now}\n" not in citation:
        yield f"CITATION.cff: the version is not {now}"
    for name in ("LICENSE", "SECURITY.md", "README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md"):
        if not (ROOT / name).exists():
            yield f"{name} is missing"
    if changed := git("status", "--porcelain"):
        yield f"uncommitted changes:\n{changed.rstrip()}"
    if git("tag", "--list", f"v{now}"):
        yield f"the tag v{now} exists"


def git(*arguments):
    """Return what git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def dated(changelog, citation, now, day):
    """Return both texts with the version of a day.

    >>> dated("## [0.1.0] - not yet dated\\n", "version: 0.1.0\\n", "0.1.0", "2026-11-22")
    ('## [0.1.0] - 2026-11-22\\n', 'version: 0.1.0\\ndate-released: 2026-11-22\\n')
    """
    citation = re.sub(r"^date-released: .*\n", "", citation, flags=re.MULTILINE)
    return (
        changelog.replace(f"## [{now}] - not yet dated\n", f"## [{now}] - {day}\n"),
        citation.replace(f"version: {now}\n", f"version: {now}\ndate-released: {day}\n"),
    )


def main():
    """Print the problems and end with 1, or date the release."""
    found = list(problems())
    print("\n".join(found) or f"version {version()}, changelog and citation agree")
    if found or sys.argv[1:] != ["date"]:
        sys.exit(bool(found))
    now = version()
    texts = dated(CHANGELOG.read_text(), CITATION.read_text(), now, datetime.date.today().isoformat())
    for path, text in zip((CHANGELOG, CITATION), texts, strict=True):
        path.write_text(text)
    print(
        f"left to do: git commit -am 'Version {now}' && git tag -a v{now} -m 'Version {now}' && git push --tags"
    )


if __name__ == "__main__":
    main()
