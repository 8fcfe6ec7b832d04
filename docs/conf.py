"""Sphinx configuration. `make docs` treats warnings as errors."""

import os
import shutil
import sys
from pathlib import Path

import teachconv

sys.path.insert(0, str(Path(__file__).parent))
import dialect_map
import error_index
import explorer_examples
import recorded_runs

HERE = Path(__file__).parent

dialect_map.write()
error_index.write()
explorer_examples.write(HERE / "_generated")  # embedded by index.md and explorer.md
recorded_runs.write(HERE / "_generated")  # included by explanation/
for notebook in (HERE.parent / "notebooks").glob("*.ipynb"):
    shutil.copy2(notebook, HERE / "learn")
os.environ["PYTHONPATH"] = os.pathsep.join(  # the notebooks' kernels import from there
    filter(None, [str(HERE.parent / "examples"), os.environ.get("PYTHONPATH")])
)

project = "teachconv"
author = "the teachconv authors"
release = teachconv.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += ["myst_nb", "sphinx_copybutton", "teachconv.explorer.sphinx_directive", "mathml"]
html_math_renderer = "mathml"
autosummary_generate = True
autosummary_ignore_module_all = False  # a page of a module lists what is public there
templates_path = ["_templates"]
autodoc_typehints = "none"
napoleon_use_ivar = True  # a property is documented once, though Attributes may name it
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "cache"  # a page whose code has not changed is not run again
nb_execution_raise_on_error = True
nb_execution_timeout = 60
nb_merge_streams = True
nb_render_markdown_format = "myst"  # with tables
html_theme = "furo"
html_title = "teachconv"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_extra_path = ["_generated/extra"]  # explorer/playground.html, a page that can be linked to
exclude_patterns = ["_build", "_generated"]
nitpicky = False
default_role = "py:obj"
suppress_warnings = ["mystnb.unknown_mime_type"]
copybutton_exclude = ".linenos, .gp, .go"


def setup(app):
    """Let the search find every word: SAME and VALID are what people look for, not stop words."""
    from sphinx.search.en import SearchEnglish

    SearchEnglish.stopwords = frozenset()
