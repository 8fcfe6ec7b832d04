"""A network of fixed filters for the bundled photograph: grey, blur, edges, pool, upsample.

There is no counterpart in TensorFlow. The network demonstrates every pass of the runtime: the vertical blur
filter is the transposed horizontal one (folded), the grey image is used twice (merged), edges are
Conv2D + BiasAdd + Relu (fused), and a mean that is not fetched is removed (pruned).
"""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import graph_options
import numpy as np

from teachconv import graph as tg
from teachconv.data import photo

__all__ = ["PhotoResult", "build", "run"]


def build(rows: int = 150, cols: int = 225) -> tg.Graph:
    """Build the graph for one photograph. Feed ``photo:0``; fetch ``edges:0`` and ``blurred:0``.

    Args:
        rows: the number of rows of the photograph.
        cols: the number of columns.

    Returns:
        The graph.

    >>> [op.name for op in build().get_operations() if op.type == "Conv2DBackpropInput"]
    ['upsample/conv2d_transpose']
    """
    graph = tg.Graph()
    with graph.as_default():
        image = tg.placeholder("float32", [1, rows, cols, 3], name="photo")  # 0..255
        edges = _upsample(tg.nn.max_pool(_edges(_blur(_grey(image))), 2, 2, "SAME", name="pool"), rows, cols)
        tg.identity(edges, name="edges")
        tg.identity(_blur(_grey(image)), name="blurred")  # the same nodes again, merged by the optimiser
        tg.reduce_mean(image, name="brightness")  # never fetched, so pruned
    return graph


def _grey(image: Any) -> Any:
    """Return the luminance of red, green and blue (ITU-R BT.601), 0..1."""
    with tg.name_scope("grey"):
        weights = np.array([0.299, 0.587, 0.114], "float32").reshape(1, 1, 3, 1)
        return tg.nn.conv2d(image, tg.multiply(weights, np.float32(1 / 255), name="weights"))


def _blur(grey: Any) -> Any:
    """Apply a 5 x 5 binomial filter: the outer product of 1 4 6 4 1 with itself, divided by 256."""
    with tg.name_scope("blur"):
        line = tg.constant(np.array([1, 4, 6, 4, 1], "float32").reshape(1, 5, 1, 1), name="line")
        column = tg.transpose(line, [1, 0, 2, 3])
        return tg.nn.depthwise_conv2d(grey, column * line * np.float32(1 / 256), padding="SAME")


def _edges(blurred: Any) -> Any:
    """Apply Sobel filters along columns and rows, light to dark and dark to light: 4 channels.

    The bias makes weak edges negative, and the Relu removes them.
    """
    with tg.name_scope("edge"):
        across = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], "float32")
        kernels = np.stack([across, -across, across.T, -across.T], axis=-1)  # [rows, cols, 4]
        convolved = tg.nn.conv2d(blurred, kernels[:, :, None, :], padding="SAME")
        return tg.nn.relu(tg.nn.bias_add(convolved, np.full(4, -0.15, "float32")))


def _upsample(pooled: Any, rows: int, cols: int) -> Any:
    """Upsample bilinearly by a transposed convolution with stride 2, which also sums the 4 channels."""
    with tg.name_scope("upsample"):
        line = np.array([1, 3, 3, 1], "float32") / 4
        kernel = np.repeat(np.outer(line, line)[:, :, None, None], 4, axis=3)  # [rows, cols, out, in]
        return tg.nn.conv2d_transpose(pooled, kernel, [1, rows, cols, 1], 2, "SAME")


@dataclass(frozen=True)
class PhotoResult:
    """The result of a run on the photograph.

    Attributes:
        backend: the name of the backend.
        edges: [rows, cols] float32.
        blurred: [rows, cols] float32.
        metadata: the log of the run.
    """

    backend: str
    edges: np.ndarray = field(repr=False)
    blurred: np.ndarray = field(repr=False)
    metadata: tg.RunMetadata

    def save_html(self, path: str | Path) -> None:
        """Write a page with the photograph, the results, the log and the graph before and after.

        Args:
            path: the file to write.
        """
        pictures = ""
        for name, cells in (("photo", photo()), ("blurred", self.blurred), ("edges", self.edges)):
            if cells.ndim == 2:
                cells = np.clip(cells / max(1.0, float(cells.max())) * 255, 0, 255).astype(np.uint8)
            data = base64.b64encode(_png(cells)).decode()
            pictures += (
                f"<figure style='display:inline-block;margin:0 1em 1em 0'><img alt='{name}' "
                f"src='data:image/png;base64,{data}'><figcaption>{name}</figcaption></figure>"
            )
        self.metadata.save_html(path, f"<h1>photo network on {escape(self.backend)}</h1>{pictures}")


def run(backend: str = "", config: tg.ConfigProto | None = None) -> PhotoResult:
    """Run the network on the bundled photograph.

    Args:
        backend: the name of a backend, or "" for the default.
        config: the configuration of the session; replaces ``backend``.

    Returns:
        The images and the log.

    >>> result = run("numpy")
    >>> result.edges.shape, [rewrite.into for rewrite in result.metadata.rewrites][-1]
    ((150, 225), 'edge/Relu')
    """
    image = photo()[None].astype(np.float32)
    graph = build(*image.shape[1:3])
    metadata = tg.RunMetadata()
    with tg.Session(graph, config or tg.ConfigProto(backend=backend)) as session:
        edges, blurred = session.run(["edges:0", "blurred:0"], {"photo:0": image}, run_metadata=metadata)
    return PhotoResult(backend or "the default backend", edges[0, :, :, 0], blurred[0, :, :, 0], metadata)


def _png(cells: np.ndarray) -> bytes:
    """Encode uint8 [rows, cols] or [rows, cols, 3] as a PNG file (W3C, Portable Network Graphics)."""
    rows, cols = cells.shape[:2]
    lines = np.zeros((rows, 1 + cells[0].size), np.uint8)  # each starts with its filter type: none
    lines[:, 1:] = cells.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", cols, rows, 8, 0 if cells.ndim == 2 else 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the network as the options say, and print the log."""
    args = graph_options.parse("Fixed filters on the bundled photograph.", arguments)
    result = run(args.backend, graph_options.config(args))
    graph_options.report(args, result.metadata)
    if args.html:
        result.save_html(args.html)
        print(f"wrote {args.html}")


if __name__ == "__main__":
    main()
