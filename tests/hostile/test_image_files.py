"""Damaged and hostile image files of ``explore --input``: one line that names the file, nothing run, nothing written."""

import io
import os
import random
import struct
import zlib

import pytest

from teachconv.cli.main import main

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def saved(name, **more):
    file = io.BytesIO()
    Image.new("RGB", (12, 9), (200, 100, 50)).save(file, name, **more)
    return file.getvalue()


def explore(path, page, capsys):
    """The exit status and the errors of a call whose input is the file."""
    status = main(["explore", "--input", str(path), "-o", str(page)])
    return status, capsys.readouterr().err


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(cols, rows, data):
    header = struct.pack(">IIBBBBB", cols, rows, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


FILES = {
    "empty.png": b"",
    "text.png": b"not a picture\n",
    "half.png": saved("PNG")[:45],
    "half.jpg": saved("JPEG")[:200],
    "huge.png": png(2**31 - 1, 2**31 - 1, b""),
    "100 million pixels.png": png(10_000, 10_000, zlib.compress(bytes(1000))),
    "no such checksum.png": saved("PNG").replace(b"IHDR", b"IHDX"),
    "huge.gif": b"GIF89a\xff\xff\xff\xff" + saved("GIF")[10:],
    "huge.bmp": saved("BMP")[:18] + struct.pack("<ii", 2**30, 2**30) + saved("BMP")[26:],
    "numbers.pgm": b"P5 99999999999999999999 1 255\n",
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files(name, tmp_path, capsys):
    path, page = tmp_path / name, tmp_path / "page.html"
    path.write_bytes(FILES[name])
    status, error = explore(path, page, capsys)
    assert status == 2
    assert error.startswith(f"teachconv explore: {path} must be an image file; it cannot be read: ")
    assert len(error.strip().split("\n")) == 1
    assert not page.exists()


def test_a_program_in_postscript_is_not_started(tmp_path, capsys, monkeypatch):
    """Pillow hands PostScript to Ghostscript, whatever the name's ending; here it is no image."""
    started = tmp_path / "started"
    (tmp_path / "bin").mkdir()
    ghostscript = tmp_path / "bin" / "gs"
    ghostscript.write_text(f"#!/bin/sh\ntouch '{started}'\n")
    ghostscript.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    path = tmp_path / "x.png"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n")
    status, error = explore(path, tmp_path / "page.html", capsys)
    assert status == 2
    assert "must be an image file" in error
    assert not started.exists()
    with Image.open(path) as image, pytest.raises(OSError, match="."):  # without the list of formats
        image.load()
    assert started.exists()


def test_a_folder_and_a_missing_file(tmp_path, capsys):
    (tmp_path / "folder.png").mkdir()
    for name in ("folder.png", "none.png"):
        status, error = explore(tmp_path / name, tmp_path / "page.html", capsys)
        assert status == 2
        assert name in error


def try_damaged(folder, capsys, trials):
    """How many files were refused, and how many read: those fail at a filter that is larger than the image."""
    rng, refused, read = random.Random(20261122), 0, 0
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"):
        whole = saved(kind)
        for _ in range(trials):
            data = bytearray(whole)
            for _ in range(rng.randint(1, 3)):
                place = rng.randrange(len(data))
                data[place : place + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
            path = folder / f"x.{kind.lower()}"
            path.write_bytes(data)
            filters = ["--filters", "70000,1,3,1", "--padding", "valid"]
            assert main(["explore", "--input", str(path), *filters, "-o", str(folder / "page.html")]) == 2
            error = capsys.readouterr().err
            assert len(error.strip().split("\n")) == 1
            refused += f"{path} must be an image file" in error
            read += "must be an image file" not in error
    assert not (folder / "page.html").exists()
    return refused, read


def test_damaged_files(tmp_path, capsys):
    assert min(try_damaged(tmp_path, capsys, 10)) > 0


@pytest.mark.slow
def test_many_damaged_files(tmp_path, capsys):
    assert min(try_damaged(tmp_path, capsys, 60)) > 0
