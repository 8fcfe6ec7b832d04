// Run the code of notebooks in Pyodide under node: node run.mjs PYODIDE WHEEL NOTEBOOKS MODULE...
// PYODIDE is its folder; NOTEBOOKS a file of JSON, [[name, [cell, ...]], ...]; a MODULE is a file beside the notebooks.
// Prints a line of JSON for each notebook: its name, how many cells ran, and the last line of the error, or null.
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
import json, os, traceback
os.environ["MPLBACKEND"] = "agg"
from IPython.core.interactiveshell import InteractiveShell

def run(cells):
    shell = InteractiveShell.instance(colors="NoColor")
    shell.reset()
    for number, cell in enumerate(cells):
        found = shell.run_cell(cell)
        if not found.success:
            fault = found.error_before_exec or found.error_in_exec
            place = traceback.extract_tb(fault.__traceback__)[-1]
            return json.dumps([number, f"{type(fault).__name__}: {fault} ({place.name}: {place.line})"])
    return json.dumps([len(cells), None])
`);
const run = pyodide.globals.get("run");
for (const [name, cells] of JSON.parse(readFileSync(notebooks, "utf8"))) {
  console.log(JSON.stringify([name, ...JSON.parse(run(pyodide.toPy(cells)))]));
}
