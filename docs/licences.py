"""Writes docs/licences.inc, the table of docs/licences.md: the licences of the packages in pyproject.toml.

    python docs/licences.py      (tests/test_licences.py fails if the file is out of date)

A licence is what the package's own metadata says. Rows of packages that are not installed here stay as they
are in the file.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "licences.inc"
HEAD = [
    "% written by docs/licences.py: do not edit",
    "",
    "| package | licence | needed for |",
    "|---|---|---|",
]
# what a classifier stands for, where metadata has no expression
SPDX = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU General Public License (GPL)": "GPL",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF",
}


def needed() -> dict[str, list[str]]:
    """Return for each package what it is needed for: teachconv itself, building it, or extras."""
    data = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    project = data["project"]
    groups = {"**teachconv**": project["dependencies"], "building": data["build-system"]["requires"]}
    groups |= {f"`{extra}`": requirements for extra, requirements in project["optional-dependencies"].items()}
    found: dict[str, list[str]] = {}
    for group, requirements in groups.items():
        for requirement in requirements:
            name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")  # type: ignore[index]
            if name != "teachconv":
                found.setdefault(name, []).append(group)
    return found


def licence(name: str) -> str | None:
    """Return what the metadata of an installed package says; None if it is not installed."""
    try:
        said = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if expression := said.get("License-Expression"):
        return expression.replace("LicenseRef-NVIDIA-Proprietary", "NVIDIA's own")
    classifiers = [
        line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or [] if "License ::" in line
    ]
    if classifiers:
        return " or ".join(SPDX.get(one, one) for one in classifiers)
    text = (said.get("License") or "").strip().partition("\n")[0]
    return text.replace("Apache License 2.0", "Apache-2.0")


def rows_of(text: str) -> dict[str, str]:
    """Return the licences that a table has, by package."""
    return dict(re.findall(r"^\| ([\w.-]+) \| ([^|]+?) \|", text, re.MULTILINE))


def table(known: dict[str, str]) -> str:
    """Return the table; ``known`` has the licences of packages that are not installed here."""
    lines = list(HEAD)
    for name, groups in sorted(needed().items()):
        lines.append(f"| {name} | {licence(name) or known.get(name, '?')} | {', '.join(groups)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file, and say which packages have no licence yet."""
    text = table(rows_of(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {})
    TARGET.write_text(text, encoding="utf-8")
    unknown = [name for name, said in rows_of(text).items() if said == "?"]
    if unknown:
        sys.exit(f"install these, or read their licences: {', '.join(unknown)}")


if __name__ == "__main__":
    main()
