"""Runs a function in a forked process, which may crash or never end."""

import os
import pickle
import resource
import selectors
import signal
import time


def run(function, cpu_seconds=60, wall_seconds=600):
    """Return ("done", what the function returned), ("crashed", signal) or ("hung", "").

    What the function raises is raised here, as ``RuntimeError``: it is a mistake of the test, not a bug that was found.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        _child(function, writer, cpu_seconds)
    os.close(writer)
    parts, end = [], time.monotonic() + wall_seconds
    with os.fdopen(reader, "rb", buffering=0) as pipe, selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(0.0, end - time.monotonic())) and (part := pipe.read(1 << 20)):
            parts.append(part)
        late = time.monotonic() >= end
    if late:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
        return "hung", ""
    if os.WIFSIGNALED(status):
        return "crashed", signal.Signals(os.WTERMSIG(status)).name
    outcome, value = pickle.loads(b"".join(parts)) if parts else ("crashed", f"exit {os.WEXITSTATUS(status)}")
    if outcome == "raised":
        raise RuntimeError(value)
    return outcome, value


def _child(function, writer, cpu_seconds):
    try:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime + cpu_seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)  # what glibc says of a heap that is broken
        try:
            answer = "done", function()
        except BaseException as error:
            answer = "raised", f"{type(error).__name__}: {error}"
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)
