"""What other frameworks run: how `teachconv.find_source` follows a function of an installed one.

A framework is added in three parts:

1. A line in ``FOLLOWERS`` of inspection/sources.py: the first part of the module's name of its functions,
   methods, classes and objects, and the module here that follows them. Who passes one has imported the
   framework; nothing here imports one for a name.
2. That module has ``follow(op, args, kwargs) -> SourceChain``. It runs the call once, in this process, to see
   the lines of Python that the call takes and the ops that it ends in; the framework's own error becomes an
   `ArgumentError` of one line. It asks a probe about these ops, by `child.run`: a job in types of JSON, NumPy
   arrays by name, the environment with the verbose switches. From the answer it makes the steps. Each says in
   ``known`` how it is known, in a few words ("call stack", "oneDNN's log"), and in ``beside`` where our graph
   runtime does the same, if it does. What cannot be known is a step too ("not known"), with the reason.
3. The probe, ``<framework>_probe.py``, has ``work(job, arrays)``, which `child` calls in another process. It
   imports the framework, with the switches set, and returns facts. ``child.begin(section)`` divides its log;
   what oneDNN prints there is read by `onednn.read`.

Keras is followed to the framework that it computes with. Where a kernel's C++ stands is in no installed
package; ``tensorflow_files.json`` was recorded for one version of TensorFlow. For others the steps say so.
"""

__all__: list[str] = []
