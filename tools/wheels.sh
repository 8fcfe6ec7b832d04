#!/bin/sh
# Build the sdist and the wheel of this machine, check them, and use the wheel as a user without a compiler does:
# in an empty environment, from outside the source tree. Usage: tools/wheels.sh PYTHON [OTHER_PYTHON]
# OTHER_PYTHON is the interpreter that the wheel is tried on, of any version from 3.11; by default PYTHON.
set -eu
python=$1
source=$(pwd)
other=${2:-$python}
tools=$(dirname "$python")
rm -rf dist wheelhouse
"$python" -m build --no-isolation --outdir dist .
# on Linux: the manylinux tag of this machine's C library
if [ "$(uname)" = Linux ]; then
  PATH="$tools:$PATH" "$python" -m auditwheel repair --wheel-dir wheelhouse dist/*.whl
else
  mkdir wheelhouse && cp dist/*.whl wheelhouse
fi
"$python" -m twine check --strict dist/*.tar.gz wheelhouse/*.whl
# W002: the licence of the pictures lies beside them and among the licences
"$tools/check-wheel-contents" --ignore W002 wheelhouse/*.whl
echo "licences inside:"
unzip -Z1 wheelhouse/*.whl | grep licenses/
work=$(mktemp -d)
trap '/bin/rm -rf "$work"' EXIT
"$other" -m venv --without-pip "$work/venv"
# no compiler is found, and nothing is built from source
mkdir "$work/bin"
ln -s "$(command -v env)" "$(command -v sh)" "$work/bin"
"$python" -m pip --python "$work/venv/bin/python" install --quiet --disable-pip-version-check --only-binary :all: \
  "$(ls "$source"/wheelhouse/*.whl)" pytest pytest-xdist hypothesis ml_dtypes
cp -r tests "$work/tests"
cd "$work"
export PATH="$work/bin" CC=false
"$work/venv/bin/python" -m teachconv demo -o page.html
"$work/venv/bin/python" -c "import sys, teachconv as tc; print(sys.version); print(tc.__file__); print(tc.backends())"
printf '[pytest]\nmarkers = slow\n  gpu\n  peers\n' >pytest.ini
# one thread of BLAS, as in make test
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTHONPATH="$work/tests" "$work/venv/bin/python" -m pytest -q -n 2 -m "not slow" --import-mode=importlib \
  tests/backends/test_engine.py tests/backends/test_engine_threads.py tests/test_geometry.py tests/test_arguments.py \
  tests/test_settings.py tests/test_pickling.py
