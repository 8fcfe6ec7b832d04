"""What has to agree before a release: version, changelog, citation, and files that a reader expects.

Usage: python tests/release.py. For make release-check, which then runs every other check; prints what does not hold.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems():
    """Yield each thing that a release may not have, as text."""
    code = (ROOT / "teachconv" / "__init__.py").read_text()
    version = re.search(r'^__version__ = "([^"]+)"$', code, re.MULTILINE)[1]
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        yield f"teachconv/__init__.py: {version} is not a version such as 0.1.0 or 0.2.0rc1"
    changelog = (ROOT / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    if not re.fullmatch(re.escape(f"[{version}]") + r" - \d{4}-\d\d-\d\d", sections[0]):
        yield f'CHANGELOG.md: the first section must be "[{version}] - YYYY-MM-DD"; it is {sections[0]!r}'
    kinds = set(re.findall(r"^### (.+)$", changelog, re.MULTILINE))
    if strange := kinds - {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}:
        yield f"CHANGELOG.md: {', '.join(strange)} are no headings of Keep a Changelog"
    if f"version: {version}\n" not in (ROOT / "CITATION.cff").read_text():
        yield f"CITATION.cff: the version is not {version}"
    for name in ("LICENSE", "SECURITY.md", "README.md", "CONTRIBUTING.md"):
        if not (ROOT / name).exists():
            yield f"{name} is missing"
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    if changed:
        yield f"uncommitted changes:\n{changed.rstrip()}"
    tags = subprocess.run(
        ["git", "tag", "--list", f"v{version}"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    if tags:
        yield f"the tag v{version} exists"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found) or "version, changelog and citation agree")
    sys.exit(bool(found))
