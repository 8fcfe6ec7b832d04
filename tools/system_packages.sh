#!/bin/sh
# Chromium and graphviz for the tests that look at pages and drawings, where this may install them: as root
# with apt-get, which is a container or CI. Elsewhere those tests skip and say why. Never fails.
# With "clang" as its argument: the compiler and the libraries that make fuzz needs.
if [ "${1:-}" = clang ]; then
  if command -v clang >/dev/null && [ "$(id -u)" != 0 ]; then exit 0; fi
elif command -v dot >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "for the tests in a browser: install chromium, chromium-driver and graphviz; for make fuzz: clang"
  exit 0
fi
install() { DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq -y --no-install-recommends install "$@" >/dev/null 2>&1; }
timeout 60 apt-get -qq update >/dev/null 2>&1
if [ "${1:-}" = clang ]; then
  install clang || echo "clang could not be installed"
  # libFuzzer and the sanitizers of the version that is installed
  version=$(clang --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
  install "libclang-rt-$version-dev" || echo "the libraries of clang could not be installed"
  exit 0
fi
install chromium chromium-driver || echo "chromium could not be installed: the tests in a browser skip"
install graphviz || echo "graphviz could not be installed: the test of its drawings skips"
exit 0
