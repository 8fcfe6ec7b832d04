"""Copies the notebooks into docs/learn, with a badge that opens each in Colab if the repository is on GitHub.

The address is `repository-code` of CITATION.cff. The badge is a picture of these pages, so that a page asks
no other host for anything.
"""

import json
import re
from pathlib import Path

import yaml

HERE = Path(__file__).parent
COLAB = "https://colab.research.google.com/github/"


def badge(name: str, address: str) -> str:
    """Return a line of Markdown that opens a notebook in Colab; "" if the repository is not on GitHub.

    >>> badge("07_output_sizes.ipynb", "https://github.com/someone/teachconv")[-60:]
    'someone/teachconv/blob/main/notebooks/07_output_sizes.ipynb)'
    """
    host, _, repository = address.removesuffix("/").removesuffix(".git").partition("github.com/")
    if host != "https://" or not repository:
        return ""
    picture = "[![Open in Colab](../_static/open_in_colab.svg)]"
    return f"{picture}({COLAB}{repository}/blob/main/notebooks/{name})"


def with_badge(text: str, name: str, address: str) -> str:
    """Return a notebook's text with its badge below the title."""
    line = badge(name, address)
    if not line:
        return text
    notebook = json.loads(text)
    first = notebook["cells"][0]["source"]
    how = " [Install teachconv there first](../install.md#in-colab-and-other-hosted-notebooks).\n"
    first[1:1] = ["\n", line + how]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def with_answers(text: str, folder: Path) -> str:
    """Return a notebook's text with a hidden answer in each cell that the reader should fill.

    Args:
        text: the notebook; a cell for an answer says which file of ``answers`` has one.
        folder: the folder of the notebooks.
    """
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        found = re.search(r"%load answers/(\w+)\.py", source)
        if found:
            answer = (folder / "answers" / f"{found[1]}.py").read_text(encoding="utf-8")
            if check := re.search(r"^ex\.check\(.*\)$", source, re.MULTILINE):
                answer += f"\n\nfrom teachconv import exercises as ex\n\nfound = {check[0]}\n"
                answer += "assert found.passed\nfound"
            cell["source"] = answer.rstrip().splitlines(keepends=True)
            cell["metadata"]["tags"] = ["hide-cell"]
            prompts = {"code_prompt_show": "Show an answer", "code_prompt_hide": "Hide the answer"}
            cell["metadata"]["mystnb"] = prompts
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Copy the notebooks, each only if it has changed."""
    cited = yaml.safe_load((HERE.parent / "CITATION.cff").read_text(encoding="utf-8"))
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        text = with_answers(path.read_text(encoding="utf-8"), path.parent)
        text = text.replace("](../docs/", "](../")  # the copies are in docs/learn
        text = with_badge(text, path.name, cited.get("repository-code", ""))
        target = folder / path.name
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
