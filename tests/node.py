"""Node, in which tests run the JavaScript of the pages without a browser."""

import json
import shutil
import subprocess

import pytest

from teachconv.explorer.page import script

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node found")
# a module that asks where the page is learns that it is nowhere
_NOWHERE = 'globalThis.location = new URL("about:blank");'


def answers(modules, text):
    """Return a function that calls a function of the pages' modules, or of the text after them.

    Args:
        modules: names of modules in explorer/script/.
        text: more JavaScript.

    Returns:
        A function of a JavaScript expression and arguments; these, and what it returns, pass through JSON.
    """
    source = f"{_NOWHERE}\n{script(modules)}\n{text}"

    def answer(function, *arguments):
        call = f"process.stdout.write(JSON.stringify(({function})(...{json.dumps(arguments)})));"
        command = [NODE, "--input-type=module"]
        done = subprocess.run(command, input=f"{source}\n{call}", capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    return answer
