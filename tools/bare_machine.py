"""A machine with nothing but Python: from `pip install` to the first picture, and what the sdist gives there.

Usage: python tools/bare_machine.py, after `make wheels`. Builds a folder with an interpreter, its standard library, the
C libraries that a manylinux wheel may expect, and wheels; no shell, no compiler, no network. It then becomes the root
of processes (chroot) that install teachconv and run the three lines of the install page. Needs Linux, root and
unshare; elsewhere it says what is missing and ends well.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# what PEP 599 lets a wheel expect of a system, as far as the packages here use it
LIBRARIES = ["libc", "libm", "libdl", "librt", "libpthread", "libutil", "libnsl", "libgcc_s", "libstdc++"]
CHECK = """
import os, teachconv as tc
assert not os.path.exists("/bin/sh") and os.path.getsize("page.html") > 100_000, os.listdir("/")
rows = {info.name: info.available for info in tc.backends()}
print(tc.__file__, tc.backends(), sep="\\n")
assert rows == {"reference": True, "numpy": True, "scipy": True, "cython": %s, "cupy": False}
"""


def why_not():
    """Return why there can be no such machine here, or ""."""
    if sys.platform != "linux":
        return "it needs Linux"
    if os.geteuid() != 0:
        return "only root may change the root of a process"
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode
    ):
        return "unshare cannot leave the network"
    return ""


def libraries_of(files):
    """Return the shared libraries that files need, with their interpreter, as ldd finds them."""
    said = subprocess.run(["ldd", *files], capture_output=True, text=True).stdout
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", said)}


def system_libraries():
    """Return where the C libraries of `LIBRARIES` are."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    wanted = "|".join(map(re.escape, LIBRARIES))
    found = re.findall(rf"^\s+(?:{wanted})\.so\.\d+ \(libc6,x?.*\) => (\S+)$", known, re.MULTILINE)
    return {Path(path) for path in found}


def build(machine):
    """Copy the interpreter that runs this, without its site-packages, into a folder; return its path there."""
    standard = Path(
        sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix})
    )
    leave = shutil.ignore_patterns(
        "test", "tests", "idlelib", "__pycache__", "*-packages", "EXTERNALLY-MANAGED", "*.a"
    )
    shutil.copytree(standard, machine / standard.relative_to("/"), ignore=leave, symlinks=True)
    python = Path(sys.executable).resolve()
    compiled = [str(path) for path in standard.glob("lib-dynload/*.so")]
    for path in {python} | libraries_of([str(python), *compiled]) | system_libraries():
        place = machine / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    for folder in ("dev", "tmp", "home", "wheels"):
        (machine / folder).mkdir()
    os.mknod(machine / "dev" / "null", 0o20666, os.makedev(1, 3))
    return python


def first_lines():
    """Return the lines of Python that the install page begins with."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    lines = re.search(r"^## The first picture$.*?^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    assert sum(map(bool, lines.split("\n"))) == 3, lines
    return lines


def inside(machine, *command):
    """Run a command on the machine: no network, an empty PATH."""
    environment = {"HOME": "/home", "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    changed = ["unshare", "--net", shutil.which("chroot"), str(machine), *map(str, command)]
    unshare = shutil.which("unshare")
    done = subprocess.run(changed, executable=unshare, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"on the bare machine, {' '.join(map(str, command))[:200]} failed:\n{done.stdout}{done.stderr}"
        )
    return done.stdout + done.stderr


def download(wheels, *requirements):
    """Get wheels, and with them pip as a wheel, which runs as it is."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "download", "--only-binary", ":all:", "--dest", str(wheels), *requirements]
    subprocess.run(command, check=True)


def main():
    """Build the machine twice, for the wheel and for the sdist, and use it."""
    if reason := why_not():
        print(f"bare machine: left out: {reason}")
        return
    [wheel], [sdist] = ROOT.glob("wheelhouse/*.whl"), ROOT.glob("dist/*.tar.gz")
    lines = first_lines()
    for made, compiled in (wheel, True), (sdist, False):
        with tempfile.TemporaryDirectory() as folder:
            machine = Path(folder)
            python = build(machine)
            needed = ["setuptools>=77", "cython>=3.1", "scipy>=1.13", "numpy>=2.0"] * (made == sdist)
            download(machine / "wheels", "pip", str(wheel), *needed)
            (machine / "wheels" / wheel.name).unlink()
            shutil.copy2(made, machine / "wheels")
            [pip] = (machine / "wheels").glob("pip-*.whl")
            install = [python, f"/wheels/{pip.name}/pip", "install", "--root-user-action", "ignore"]
            inside(machine, *install, "--no-index", "--find-links", "/wheels", "teachconv")
            print(f"from {made.name}:")
            print(inside(machine, python, "-c", lines + CHECK % compiled), end="")
    print("bare machine: installed, and the first picture drawn")


if __name__ == "__main__":
    main()
