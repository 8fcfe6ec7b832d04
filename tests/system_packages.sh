#!/bin/sh
# Chromium and graphviz for the tests that look at pages and drawings, where this may install them: as root
# with apt-get, which is a container or CI. Elsewhere those tests skip and say why. Never fails.
if command -v dot >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "for the tests in a browser: install chromium, chromium-driver and graphviz"
  exit 0
fi
install() { DEBIAN_FRONTEND=noninteractive timeout 240 apt-get -qq -y --no-install-recommends install "$@" >/dev/null 2>&1; }
timeout 60 apt-get -qq update >/dev/null 2>&1
install chromium chromium-driver || echo "chromium could not be installed: the tests in a browser skip"
install graphviz || echo "graphviz could not be installed: the test of its drawings skips"
exit 0
