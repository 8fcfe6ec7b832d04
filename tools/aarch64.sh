#!/bin/sh
# The extension for aarch64, with NEON, in Debian's Python for aarch64: cross-compiled here, and run here by qemu-user.
# Runs every case, random shapes, and the tests of the engine. Usage: tools/aarch64.sh PYTHON, which has Cython, SciPy
# and pip. It needs Debian, and installs compiler and qemu as root.
set -eu
python=$1
source=$(pwd)
work=$source/build/aarch64
if [ "$(id -u)" = 0 ] && ! { command -v qemu-aarch64 && command -v aarch64-linux-gnu-gcc; } >/dev/null; then
  apt-get -qq update
  apt-get -qq -y --no-install-recommends install qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross >/dev/null
fi

# Debian's packages of the other processor, unpacked into a folder: nothing of this system is touched
if [ ! -e "$work/root/.complete" ]; then
  rm -rf "$work" && mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
  . /etc/os-release
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" \
    >"$work/sources"
  : >"$work/status"
  apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
      -o Dir::Etc::sourcelist="$work/sources" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/lists" \
      -o Dir::Cache="$work/cache" -o Dir::State::status="$work/status" "$@"
  }
  apt update
  apt -y --no-install-recommends --download-only install python3 libpython3-dev libstdc++6 >/dev/null
  for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$work/root"; done
  touch "$work/root/.complete"
fi
version=$(basename "$(readlink "$work/root/usr/bin/python3")" | sed s/python//) # 3.11
if [ ! -e "$work/site/pytest" ]; then
  "$python" -m pip install --quiet --disable-pip-version-check --target "$work/site" --only-binary :all: --implementation cp \
    --python-version "$version" --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 \
    numpy scipy threadpoolctl ml_dtypes pytest pytest-xdist hypothesis
fi

CC="aarch64-linux-gnu-gcc -I$work/root/usr/include/python$version -idirafter $work/root/usr/include" \
  LDSHARED="aarch64-linux-gnu-gcc -shared" _PYTHON_HOST_PLATFORM=linux-aarch64 TEACHCONV_REQUIRE_CYTHON=1 \
  "$python" setup.py -q build --build-base "$work/build" --build-lib "$work/lib"

export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1
cd "$work"
on_aarch64() {
  qemu-aarch64 -L root -E PYTHONPATH="$work/lib:$source/tests:$work/site" -E PYTHONSAFEPATH=1 "root/usr/bin/python$version" "$@"
}
on_aarch64 -c "import platform, sys, numpy, scipy; print(platform.machine(), sys.version, numpy.__version__, scipy.__version__)"
on_aarch64 "$source/tools/sanitize.py" lib/teachconv/_kernels*.so 300
# qemu-user can neither fork a process of several threads nor start another program of the other processor
on_aarch64 -m pytest -q -p no:cacheprovider --rootdir "$source" -c "$source/pyproject.toml" -k "not fork and not left_out" \
  "$source/tests/backends/test_engine.py" "$source/tests/backends/test_engine_threads.py"
on_aarch64 -m pytest -q -p no:cacheprovider --rootdir "$source" -c "$source/pyproject.toml" -k "bits and cython" \
  "$source/tests/backends/test_backends.py"
