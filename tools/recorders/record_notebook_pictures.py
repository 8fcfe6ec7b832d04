"""Record the picture that each notebook carries, so that a repository page shows what it is about.

Usage: python tools/recorders/record_notebook_pictures.py [01 07 ...]. A notebook runs up to the cell with the tag
``cover``, without the cells that are the reader's. What that cell draws is kept as its only output: a PNG with a
palette, made smaller until it takes less than 20 kB. JupyterLab shows no SVG of a notebook that it does not trust. Needs nbclient, ipykernel and the packages of the extra ``notebooks``.
"""

import base64
import io
import json
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parents[2]
MOST = 20_000  # bytes
AS_PNG = """
from io import BytesIO
from IPython.display import Image
if hasattr(_, "save"):  # one of tc.plot's pictures, which are SVG
    written = BytesIO()
    _.figure.savefig(written, format="png", dpi=72)
    display(Image(written.getvalue()))
"""


def small(png):
    """Return a PNG with a palette, as large as fits."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for step in range(10, 1, -1):
        size = (picture.width * step // 10, picture.height * step // 10)
        out = io.BytesIO()
        picture.resize(size, Image.Resampling.LANCZOS).quantize(64).save(out, "PNG", optimize=True)
        if out.tell() < MOST:
            return out.getvalue()
    raise ValueError("the picture is too large")


def drawn(path):
    """Run a notebook as far as its picture, and return that, in base64."""
    notebook = nbformat.read(path, as_version=4)
    last = next(i for i, cell in enumerate(notebook.cells) if "cover" in cell.metadata.get("tags", []))
    notebook.cells = [cell for cell in notebook.cells[: last + 1] if "# your answer" not in cell.source]
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%matplotlib inline"))  # figures of tc.plot are SVG without
    notebook.cells.append(nbformat.v4.new_code_cell(AS_PNG))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [out for cell in notebook.cells[-2:] for out in cell.outputs]
    shown = [out.data["image/png"] for out in outputs if "image/png" in out.get("data", {})]
    return base64.b64encode(small(base64.b64decode(shown[-1]))).decode()


def record(path):
    """Write the picture into the notebook's file, and take all other outputs out of it."""
    text = json.loads(path.read_text(encoding="utf-8"))
    picture = drawn(path)
    for cell in text["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
            if "cover" in cell["metadata"].get("tags", []):
                data = {"image/png": picture, "text/plain": [cell["metadata"]["mystnb"]["image"]["alt"]]}
                cell["outputs"] = [{"data": data, "metadata": {}, "output_type": "display_data"}]
    path.write_text(json.dumps(text, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(path.name, len(picture), "characters", flush=True)


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if not sys.argv[1:] or path.name[:2] in sys.argv[1:]:
            record(path)
