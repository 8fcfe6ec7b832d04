#!/bin/sh
# The extension for 64-bit Windows, cross-compiled by mingw-w64 as setup.py compiles it there, and linked against the names
# of Python's stable ABI. Prints the libraries that it needs. Nothing here can load it, because that takes a Python for
# Windows; its kernels are run by Wine: tools/fuzz/fuzz.py processors, and tests/backends/test_play.py.
# Usage: tools/windows.sh PYTHON, which has Cython. It needs Debian, and installs the compiler and Wine as root.
set -eu
python=$1
work=$(pwd)/build/windows
gcc=x86_64-w64-mingw32-gcc-posix
if [ "$(id -u)" = 0 ] && ! { command -v $gcc && dpkg -s wine64; } >/dev/null 2>&1; then
  apt-get -qq update
  apt-get -qq -y --no-install-recommends install gcc-mingw-w64-x86-64-posix wine64 >/dev/null
fi

# Python's headers with the facts of that system in place of this one's
rm -rf "$work/include" && mkdir -p "$work/lib"
cp -rL "$($python -c 'import sysconfig; print(sysconfig.get_path("include"))')" "$work/include"
cat >"$work/include/pyconfig.h" <<'END'
#define MS_WINDOWS
#define MS_WIN64
#define HAVE_DECLSPEC_DLL
#define HAVE_STDINT_H 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
#define HAVE_SSIZE_T 1
END
# A library of python3.dll that has every name in the headers of the stable ABI
{
  echo "LIBRARY python3.dll"
  echo EXPORTS
  echo "#include <Python.h>" | $gcc -E -P -DPy_LIMITED_API=0x030B0000 -I"$work/include" - | grep -oE '\b_?Py[A-Za-z0-9_]+' | sort -u
} >"$work/python3.def"
x86_64-w64-mingw32-dlltool --input-def "$work/python3.def" --output-lib "$work/lib/libpython3.a"

CC="$gcc -I$work/include" LDSHARED="$gcc -shared -L$work/lib" _PYTHON_HOST_PLATFORM=win-amd64 \
  TEACHCONV_REQUIRE_CYTHON=1 \
  "$python" setup.py -q build --build-base "$work/build" --build-lib "$work/lib"
mv "$work/lib/teachconv/_kernels.abi3.so" "$work/lib/teachconv/_kernels.pyd" # named as this system names it
x86_64-w64-mingw32-objdump -p "$work/lib/teachconv/_kernels.pyd" | awk '/DLL Name/ { print $3 }'
