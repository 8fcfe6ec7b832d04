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
import sys
import teachconv as tc
from teachconv.data import photo
assert not tc.__file__.startswith(sys.argv[1] + "/teachconv"), tc.__file__
assert all(info.available for info in tc.backends() if info.name != "cupy"), tc.backends()
from teachconv.backends.cuda import sources
assert "direct_forward" in sources.kernel_names("direct.cu")
assert photo().shape == (150, 225, 3)
CHECK
PYTHONPATH="$work/site" "$work/venv/bin/python" -m teachconv demo -o "$work/page.html" >/dev/null
echo "wheel: installed, imported and run from outside the source tree"
