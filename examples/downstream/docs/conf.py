import os
import sys

STENCILS = os.path.abspath("..")  # where it is, if it is not installed
sys.path.insert(0, STENCILS)
others = os.environ.get("PYTHONPATH")
os.environ["PYTHONPATH"] = f"{STENCILS}{os.pathsep}{others}" if others else STENCILS  # for the notebook

project = "stencils"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.intersphinx", "myst_nb"]
extensions += ["teachconv.explorer.sphinx_directive"]
if "TEACHCONV_DOCS" in os.environ:  # where teachconv's own pages are: an address, or a folder of HTML
    intersphinx_mapping = {"teachconv": (os.environ["TEACHCONV_DOCS"], None)}
nb_execution_mode = "force"
nb_execution_raise_on_error = True
