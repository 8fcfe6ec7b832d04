"""Sphinx configuration: warnings are errors (make docs)."""

import teachconv

project = "teachconv"
author = "the teachconv authors"
release = teachconv.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_parser"]
autosummary_generate = True
autodoc_typehints = "none"
myst_enable_extensions = ["dollarmath"]
html_theme = "furo"
html_title = "teachconv"
exclude_patterns = ["_build"]
nitpicky = False
