"""The front-end's modules: joined without a bundler, checked by TypeScript where it is installed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import teachconv.explorer
from teachconv.explorer.page import MODULES, NETWORK_MODULES, PLAYGROUND_MODULES, script

SOURCES = Path(teachconv.explorer.__file__).parent / "script"
MOST_LINES = 450  # of a module that people write
ALL = tuple(dict.fromkeys((*MODULES, *PLAYGROUND_MODULES, *NETWORK_MODULES)))
# what Python writes, and the names that the files rules.d.ts and mistakes.d.ts declare
WRITTEN = {"rules": {"FRAMEWORKS", "FUNCTIONS", "writtenCall"}, "mistakes": {"MISTAKES"}}


def names(text):
    single = re.findall(r"^(?:export )?(?:async )?(?:class|function|const|let)\*? (\w+)", text, flags=re.M)
    several = re.findall(r"^(?:export )?const \[([^\]]*)\]", text, flags=re.M)
    return single + [name for group in several for name in re.findall(r"\w+", group)]


def source(module):
    """The text of a module as it is before modules are joined."""
    return script((module,)) if module in WRITTEN else (SOURCES / f"{module}.js").read_text()


def test_every_module_is_joined_and_short():
    assert {path.stem for path in SOURCES.glob("*.js")} == set(ALL) - WRITTEN.keys()
    lengths = {path.stem: len(path.read_text().splitlines()) for path in SOURCES.glob("*.js")}
    assert lengths.pop("law") < 800  # a program writes it
    assert max(lengths.values()) <= MOST_LINES, lengths


def test_no_two_modules_share_a_name():
    """Joined, the modules are one scope."""
    found = [name for module in ALL for name in names(source(module))]
    assert len(found) == len(set(found)), sorted(name for name in found if found.count(name) > 1)


def test_imports_run_one_way():
    """A module imports only from modules that are joined before it, and all that it imports is exported."""
    exported = {}
    for module in ALL:
        text = source(module)
        for imported, origin in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";', text, flags=re.M):
            assert origin in exported, f"{module} imports from {origin}, which comes later"
            assert set(re.findall(r"\w+", imported)) <= exported[origin], (module, origin)
        exported[module] = set(
            re.findall(r"^export (?:async )?(?:class|function\*?|const|let) (\w+)", text, flags=re.M)
        )
        if module in WRITTEN:
            exported[module] = WRITTEN[module]
            assert exported[module] <= set(names(text))


def test_every_text_ends_on_its_line():
    """Spaces are left out of lines without quotes, which are therefore not inside a text."""
    assert not [line for module in ALL for line in source(module).split("\n") if line.count("`") % 2]


def test_no_statement_of_a_module_is_left():
    assert not re.search(r"^(import|export)\b", script(ALL), flags=re.M)


# make test installs it in the environment, where npm is
TSC = shutil.which("tsc", path=f"{sys.prefix}/node/node_modules/.bin{os.pathsep}{os.environ.get('PATH', '')}")


@pytest.mark.skipif(TSC is None, reason="TypeScript is not installed: npm install -g typescript")
def test_typescript_finds_no_error():
    """Undefined names, unused ones, wrong numbers of arguments, and the types of the JSDoc comments."""
    done = subprocess.run([TSC, "-p", str(SOURCES / "jsconfig.json")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
