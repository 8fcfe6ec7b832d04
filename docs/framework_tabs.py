"""The directive ``frameworks``: one call in every framework's words, a tab each, written by ``translate``.

    ```{frameworks} tc.conv2d, (1, 8, 8, 3), (3, 3, 3, 4), 2, "SAME"
    ```

Its argument is what ``tc.translate`` is given. The code of each tab is run and compared before it is shown.
"""

from sphinx.util.docutils import SphinxDirective

import teachconv as tc
from teachconv.translation.targets import TARGETS

# PyTorch is first, since most readers know it; SciPy is left out
NAMES = {name: TARGETS[name].title for name in sorted(TARGETS, key="torch".__ne__) if name != "scipy"}


def translations(call):
    """Yield the name and the translation for each framework of a call, given as text.

    Raises:
        AssertionError: if the code of one of them gives another result than the call.
    """
    for framework, name in NAMES.items():
        found = eval(f"tc.translate({call}, to={framework!r})", {"tc": tc})
        if found.possible:
            report = found.check()
            assert report.passed, f"{call} in {name}: {report}"
        yield name, found


class FrameworkTabs(SphinxDirective):
    """Shows the same call in each framework."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """Return the tabs."""
        lines = []
        for name, found in translations(self.arguments[0]):
            lines += [f"````{{tab}} {name}", "```python", *str(found).strip().splitlines(), "```", "````"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    """Register the directive."""
    app.setup_extension("sphinx_inline_tabs")
    app.add_directive("frameworks", FrameworkTabs)
    return {"parallel_read_safe": True}
