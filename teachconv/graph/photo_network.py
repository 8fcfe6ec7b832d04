"""A network of fixed filters on the shipped photograph: grey, blur, edges, pool, upsample.

No counterpart in TensorFlow. Everything that the runtime does to a graph happens here for a reason: the
horizontal filter is the vertical one transposed (folded), the grey image is asked for twice (merged),
edges are Conv2D + BiasAdd + Relu (fused), and a mean that nobody fetches is left out (pruned).
"""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..data import photo
from . import nn_ops as nn
from .array_ops import identity, placeholder, transpose
from .config import ConfigProto
from .constant_op import constant
from .math_ops import multiply, reduce_mean
from .ops import Graph, name_scope
from .run_metadata import RunMetadata
from .session import Session

__all__ = ["PhotoResult", "build", "run"]


def build(rows: int = 150, cols: int = 225) -> Graph:
    """Return the graph for one photograph; feed ``photo:0``, fetch ``edges:0`` and ``blurred:0``.

    >>> [op.name for op in build().get_operations() if op.type == "Conv2DBackpropInput"]
    ['upsample/conv2d_transpose']
    """
    graph = Graph()
    with graph.as_default():
        image = placeholder("float32", [1, rows, cols, 3], name="photo")  # 0..255
        edges = _upsample(nn.max_pool(_edges(_blur(_grey(image))), 2, 2, "SAME", name="pool"), rows, cols)
        identity(edges, name="edges")
        identity(_blur(_grey(image)), name="blurred")  # asked for once more, made once
        reduce_mean(image, name="brightness")  # fetched by nobody
    return graph


def _grey(image: Any) -> Any:
    """What the eye makes of red, green and blue (ITU-R BT.601), 0..1."""
    with name_scope("grey"):
        weights = np.array([0.299, 0.587, 0.114], "float32").reshape(1, 1, 3, 1)
        return nn.conv2d(image, multiply(weights, np.float32(1 / 255), name="weights"))


def _blur(grey: Any) -> Any:
    """A 5 x 5 binomial filter: the outer product of 1 4 6 4 1 with itself, over 256."""
    with name_scope("blur"):
        line = constant(np.array([1, 4, 6, 4, 1], "float32").reshape(1, 5, 1, 1), name="line")
        column = transpose(line, [1, 0, 2, 3])
        return nn.depthwise_conv2d(grey, column * line * np.float32(1 / 256), padding="SAME")


def _edges(blurred: Any) -> Any:
    """Sobel's filters, light to dark and dark to light, along columns and rows: 4 channels.

    The bias keeps what is hardly an edge below zero, and the Relu cuts it off.
    """
    with name_scope("edge"):
        across = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], "float32")
        kernels = np.stack([across, -across, across.T, -across.T], axis=-1)  # [rows, cols, 4]
        convolved = nn.conv2d(blurred, kernels[:, :, None, :], padding="SAME")
        return nn.relu(nn.bias_add(convolved, np.full(4, -0.15, "float32")))


def _upsample(pooled: Any, rows: int, cols: int) -> Any:
    """Bilinear, by a transposed convolution of stride 2, which sums the 4 channels at the same time."""
    with name_scope("upsample"):
        line = np.array([1, 3, 3, 1], "float32") / 4
        kernel = np.repeat(np.outer(line, line)[:, :, None, None], 4, axis=3)  # [rows, cols, out, in]
        return nn.conv2d_transpose(pooled, kernel, [1, rows, cols, 1], 2, "SAME")


@dataclass(frozen=True)
class PhotoResult:
    """Edges and blurred photograph, [rows, cols] float32, and the log of the run."""

    backend: str
    edges: np.ndarray = field(repr=False)
    blurred: np.ndarray = field(repr=False)
    metadata: RunMetadata

    def save_html(self, path: str | Path) -> None:
        """Write a page with the photograph, the results, the log and the graph before and after."""
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


def run(backend: str = "", config: ConfigProto | None = None) -> PhotoResult:
    """Run the network on the shipped photograph, on one backend ("" for the default one).

    >>> result = run("numpy")
    >>> result.edges.shape, [rewrite.into for rewrite in result.metadata.rewrites][-1]
    ((150, 225), 'edge/Relu')
    """
    image = photo()[None].astype(np.float32)
    graph = build(*image.shape[1:3])
    metadata = RunMetadata()
    with Session(graph, config or ConfigProto(backend=backend)) as session:
        edges, blurred = session.run(["edges:0", "blurred:0"], {"photo:0": image}, run_metadata=metadata)
    return PhotoResult(backend or "the default backend", edges[0, :, :, 0], blurred[0, :, :, 0], metadata)


def _png(cells: np.ndarray) -> bytes:
    """uint8 [rows, cols] or [rows, cols, 3] as a PNG file (W3C, Portable Network Graphics)."""
    rows, cols = cells.shape[:2]
    lines = np.zeros((rows, 1 + cells[0].size), np.uint8)  # each begins with the number of its filter: none
    lines[:, 1:] = cells.reshape(rows, -1)
    header = struct.pack(">IIBBBBB", cols, rows, 8, 0 if cells.ndim == 2 else 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
