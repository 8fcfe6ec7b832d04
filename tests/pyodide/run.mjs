// Run the code of notebooks in Pyodide under node: node run.mjs PYODIDE WHEEL NOTEBOOKS MODULE...
// PYODIDE is its folder; NOTEBOOKS a file of JSON, [[name, [cell, ...]], ...]; a MODULE is a file beside the notebooks. Prints a line of JSON for each notebook:
// its name, and the last line of the error, or null.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, wheel, notebooks, ...modules] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const quiet = { messageCallback: () => {} };
const pyodide = await loadPyodide({ indexURL: folder, stdout: () => {}, stderr: () => {} });
await pyodide.loadPackage(["numpy", "scipy", "threadpoolctl", "matplotlib", "pillow", "scikit-learn", "ipython"], quiet);
pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel");
for (const path of modules) pyodide.FS.writeFile(path.split("/").pop(), readFileSync(path));
pyodide.runPython(`
import os
os.environ["MPLBACKEND"] = "agg"
from IPython.core.interactiveshell import InteractiveShell

def run(cells):
    shell = InteractiveShell.instance(colors="NoColor")
    shell.reset()
    for cell in cells:
        found = shell.run_cell(cell)
        if not found.success:
            fault = found.error_before_exec or found.error_in_exec
            return f"{type(fault).__name__}: {fault}"
`);
const run = pyodide.globals.get("run");
for (const [name, cells] of JSON.parse(readFileSync(notebooks, "utf8"))) {
  console.log(JSON.stringify([name, run(pyodide.toPy(cells)) ?? null]));
}
