#!/bin/sh
# Build a wheel, install it into an environment of its own, and use it from outside the source tree: an
# editable install hides what a wheel forgets.
set -eu
python=$1
source=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$source"
"$python" -m venv --system-site-packages "$work/venv"
# the packages of the calling environment, without the editable install of this one
site=$("$python" -c "import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))")
mkdir "$work/site"
for package in numpy numpy.libs scipy scipy.libs threadpoolctl.py; do
  if [ -e "$site/$package" ]; then ln -s "$site/$package" "$work/site/$package"; fi
done
"$work/venv/bin/python" -m pip install --quiet --no-deps --no-index "$work"/teachconv-*.whl
cd "$work"
PYTHONPATH="$work/site" "$work/venv/bin/python" - "$source" <<'CHECK'
import importlib, pkgutil, sys
from pathlib import Path
import teachconv as tc
from teachconv.data import photo
assert not tc.__file__.startswith(sys.argv[1] + "/teachconv"), tc.__file__
assert all(info.available for info in tc.backends() if info.name != "cupy"), tc.backends()
from teachconv.backends.cuda import sources
assert sources.kernel_names("direct.cu") == ["direct"]
assert photo().shape == (150, 225, 3)
from teachconv.inspection import marks
files = {mark.file for mark in marks.read()}
assert {"teachconv/_kernels.pyx", "teachconv/backends/kernels/register_tile.h"} <= files, files
# every module of the source is there and can be imported; those that need an optional package are named
source = Path(sys.argv[1])
wanted = {".".join(path.relative_to(source).with_suffix("").parts) for path in source.glob("teachconv/**/*.py")}
wanted = {name.removesuffix(".__init__") for name in wanted} - {"teachconv"}
found = {module.name for module in pkgutil.walk_packages(tc.__path__, "teachconv.")}
assert wanted <= found, f"not in the wheel: {sorted(wanted - found)}"
for name in sorted(found):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert error.name.split(".")[0] != "teachconv", error
        print(f"wheel: {name} needs {error.name}, which is not installed")
print(f"wheel: {len(found)} modules")
CHECK
PYTHONPATH="$work/site" "$work/venv/bin/python" -m teachconv demo -o "$work/page.html" >/dev/null
echo "wheel: installed, imported and run from outside the source tree"
# a package of somebody else's: its tests by the verification kit, its pages with the directive, and its notebook
cp -r "$source/examples/downstream" "$work/downstream"
cd "$work/downstream"
export PYTHONPATH="$site"
"$work/venv/bin/python" -m pip install --quiet --no-deps --no-index --no-build-isolation .
"$work/venv/bin/python" -c "import stencils, teachconv; assert teachconv.__file__.startswith('$work'), teachconv.__file__"
"$work/venv/bin/python" -m pytest --quiet --conv-seconds 2
pages="$source/docs/_build/html"
if [ -e "$pages/objects.inv" ]; then export TEACHCONV_DOCS="$pages"; fi
"$work/venv/bin/python" -m sphinx -W -q docs build
grep -q "<iframe" build/index.html
grep -q "all pass" build/a_look_inside.html
if [ -n "${TEACHCONV_DOCS:-}" ]; then
  grep -q "href=\"$pages" build/index.html
else
  echo "wheel: no pages to link to: make docs writes them"
fi
echo "wheel: examples/downstream tested and documented with it"
