"""Sphinx configuration. `make docs` treats warnings as errors."""

import sys
from pathlib import Path

import teachconv

sys.path.insert(0, str(Path(__file__).parent))
import dialect_map
import explorer_examples

dialect_map.write()
explorer_examples.write(Path(__file__).parent / "_generated")  # embedded by index.md and explorer.md

project = "teachconv"
author = "the teachconv authors"
release = teachconv.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_parser"]
extensions += ["teachconv.explorer.sphinx_directive"]
autosummary_generate = True
autodoc_typehints = "none"
myst_enable_extensions = ["dollarmath"]
html_theme = "furo"
html_title = "teachconv"
html_extra_path = ["_generated/extra"]  # explorer/playground.html, a page that can be linked to
exclude_patterns = ["_build", "_generated"]
nitpicky = False
