"""Run the public programs of published_programs.toml with their imports changed, and check what became of each.

Nothing of theirs is in this repository: FOLDER holds a checkout of each source, named owner+name, or owner+name@commit with the
first seven digits where several commits of one source are listed.

    python evaluation/published_programs.py FOLDER [--only WORD]

The rules are those of their_tests.py: imports replaced, small seeded arrays for data, loops that end early (also in the
modules that a program brings along), at most two epochs; but a program has 300 s of processor time, and where it counts on
all rounds of its loop the list has `seconds_a_loop`. The script ends with 1 where an outcome is not the recorded one.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path

import their_imports
import their_tests

LIST = Path(__file__).with_suffix(".toml")


class ShortLoops(SourceFileLoader):
    """Loads a module that a program brings along, with loops that end early."""

    def exec_module(self, module):
        code, names, _ = their_imports.short_loops(Path(self.path).read_text(encoding="utf-8"), self.path)
        vars(module).update(names)
        exec(code, vars(module))


class Beside:
    """Finds the modules of a checkout: in the folder of the program, and in the root."""

    def __init__(self, folders):
        self.folders = folders

    def find_spec(self, name, path=None, target=None):
        for folder in self.folders:
            below = folder.joinpath(*name.split("."))
            for file in (below.with_suffix(".py"), below / "__init__.py"):
                if file.exists():
                    loader = ShortLoops(name, str(file))
                    return importlib.util.spec_from_file_location(name, file, loader=loader)
        return None


def run(checkout: Path, row: dict) -> dict:
    """Run a program in this process, which is used for nothing else, in the folder that holds it there."""
    path = checkout / row["file"]
    for folder in (Path(row["file"]).parent, "docs"):  # some write there
        Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(Path(row["file"]).parent)
    sys.meta_path.insert(0, Beside([path.parent, checkout]))
    sys.modules["sklearn"] = None  # used if it is there, in versions that are not
    their_imports.SECONDS_A_LOOP = row.get("seconds_a_loop", their_imports.SECONDS_A_LOOP)
    # a cell of a notebook may begin with an import of __future__, which a file may not have inside
    source = re.sub(r"^from __future__ .*", "pass", their_tests.source_of(path), flags=re.MULTILINE)
    return their_tests.run_program(path, source, row["version"] == 1)


def programs() -> list[dict]:
    """Return the rows of the list."""
    return tomllib.loads(LIST.read_text(encoding="utf-8"))["program"]


def checkout_of(folder: Path, row: dict) -> Path:
    """Return the checkout that a row is of: owner+name@commit if there is one, else owner+name."""
    name = row["source"].replace("/", "+")
    at_commit = folder / f"{name}@{row['commit'][:7]}"
    return (at_commit if at_commit.exists() else folder / name).resolve()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="holds the checkouts")
    parser.add_argument("--only", default="", help="run the programs whose source or file contains this")
    options = parser.parse_args()
    import matplotlib  # once, for every process below

    import teachconv.tf.compat.v1  # noqa: F401

    matplotlib.use("Agg")
    import matplotlib.pyplot

    their_tests.SECONDS = 300
    differ = 0
    for row in programs():
        if options.only not in f"{row['source']}/{row['file']}":
            continue
        checkout = checkout_of(options.folder, row)
        result = their_tests.in_a_process(run, checkout, row, waiting=1200)
        runs = result["outcome"] == "passed"
        as_recorded = (
            runs if row["now"] == "runs" else not runs and row["now"].split(".")[-1] in result["message"]
        )
        differ += not as_recorded
        state = "as recorded" if as_recorded else f"recorded: {row['now']}"
        print(
            f"{result['outcome']:10} {result['seconds']:5} {row['source']}/{row['file']}  {state}", flush=True
        )
        if not runs:
            print(
                f"           {result.get('at', '')} {result.get('raised_at', '')} {result['message'][:300]}"
            )
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
