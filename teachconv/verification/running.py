"""The one runner of code that is not ours: whatever it does, its caller gets a result or a sentence.

`guarded` goes around each function of a backend under test: a function that prints, exits or changes its
arguments raises `ContractError`, which every report takes for a failed row. What would end or stop Python
itself, a crash or an endless loop, needs a process of its own: `isolated`.
"""

from __future__ import annotations

import ctypes
import importlib
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from math import prod
from multiprocessing import Pipe
from multiprocessing.spawn import import_main_path
from pickletools import genops
from pkgutil import resolve_name
from threading import Thread
from types import ModuleType
from typing import Any
from zlib import crc32

import numpy as np

from .. import backends
from ..core.geometry import ConvGeometry
from ..core.kinds import KINDS, Kind, kind_of
from ..support.errors import ArgumentError, ContractError, brief, plain, printable
from .fences import SIDES, laid, set_side
from .flushing import theirs


class Refused(Exception):  # noqa: N818 (the code is not wrong)
    """The code does not take such a call, and says why: its row is not run, and has not failed."""


def what_went_wrong(error: BaseException) -> str:
    """Return the note of a row whose backend raised an error, or returned no array."""
    if isinstance(error, (ContractError, Refused)):
        return str(error)
    said = str(error) if isinstance(error, ArgumentError) else plain(error)
    return f"raised {type(error).__name__}: {said}".removesuffix(": ")


# of each type a NaN, which no arithmetic makes, as bits
_NEVER = {"float16": 0x7E5C, "bfloat16": 0x7FDC, "float32": 0x7FC05C5C, "float64": 0x7FF8_0000_5C5C_5C5C}


def unwritten(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array to write to; cells that nobody writes to keep a NaN of its own, or 99."""
    if dtype.name not in _NEVER:
        return np.full(shape, 99, dtype)
    return np.full(shape, _NEVER[dtype.name], f"u{dtype.itemsize}").view(dtype)


def never_written(array: np.ndarray) -> np.ndarray:
    """Return which cells hold the NaN of `unwritten`; no others do, but those that something was added to."""
    if array.dtype.name not in _NEVER:
        return np.zeros(array.shape, bool)
    return np.asarray(array.view(f"u{array.dtype.itemsize}") == _NEVER[array.dtype.name])


def name_of(module: Any) -> str:
    """Return the name of a backend, a module or an object."""
    return str(getattr(module, "__name__", type(module).__name__))


@dataclass(frozen=True)
class Wrapped:
    """A backend with something done around its functions.

    ``around`` is given the kind of the function, the function, and then its arguments.
    """

    module: Any
    around: Callable[..., np.ndarray]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__name__":
            raise AttributeError(name)
        found = name_of(self.module) if name == "__name__" else getattr(self.module, name)
        return partial(self.around, kind_of(name), found) if name in map(str, KINDS) else found


def guarded(module: Any) -> Any:
    """Return a backend whose functions are watched as they run; one of the table is returned as it is."""
    return module if backends.is_own(module) or isinstance(module, Wrapped) else Wrapped(module, watch)


# what a call may have beside its arrays, and whether it has it
ASPECTS: dict[str, Callable[[ConvGeometry, Any], bool]] = {
    "padding": lambda g, bias: any(map(any, g.padding)),
    "strides": lambda g, bias: max(g.strides) > 1,
    "dilations": lambda g, bias: max(g.dilations) > 1,
    "groups": lambda g, bias: g.groups > 1,
    "bias": lambda g, bias: bias is not None,
}


# how large a call is, in words and as a number; channels are those of one group
SIZES: dict[str, Callable[[ConvGeometry], int]] = {
    "batch": lambda g: g.batch,
    "size": lambda g: max(axis.in_size for axis in g.axes),
    "in_channels": lambda g: g.in_channels // g.groups,
    "out_channels": lambda g: g.out_channels // g.groups,
    "channel groups": lambda g: g.groups,
    "filter": lambda g: max(axis.filter_size for axis in g.axes),
    "stride": lambda g: max(g.strides),
    "dilation": lambda g: max(g.dilations),
    "elements": lambda g: max(map(prod, (g.input_shape, g.filters_shape, g.output_shape))),
}


def watch(
    kind: Kind,
    function: Callable[..., np.ndarray],
    *args: Any,
    asked: Counter[tuple[Kind, str]] | None = None,
    **options: Any,
) -> np.ndarray:
    """Run a function; raise ``ContractError`` if it prints each time, exits or changes its arguments.

    Of a call that it takes, ``asked`` counts the kind with each of its `ASPECTS`; of `SIZES` it has the
    largest.
    """
    with unchanged(_inputs(kind, args, options)):
        for _ in range(2):  # a line that is printed once, for example by a compiler, is allowed
            printed = io.StringIO()
            try:
                with redirect_stdout(printed), theirs():
                    result = function(*args, **options)
            except SystemExit as stop:
                raise ContractError(f"called exit({brief(stop.code)})") from stop
            if not (text := printed.getvalue().strip()):
                break
        else:
            raise ContractError(f"printed {brief(text.splitlines()[0])}", result)
    if asked is not None:
        asked.update((kind, word) for word, has in ASPECTS.items() if has(args[2], options.get("bias")))
        for word, size in SIZES.items():
            asked[kind, word] = max(asked[kind, word], size(args[2]))
    return result


def _inputs(kind: Kind, args: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays that a backend's function is given, by their names."""
    first, second, _ = kind.words
    return {first: args[0], second: args[1], "bias": options.get("bias")}


@contextmanager
def unchanged(given: Mapping[str, Any]) -> Iterator[None]:
    """Raise ``ContractError`` if the block changes one of the arrays among some values, given by name."""
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    before = [checksum(array) for array in arrays.values()]
    yield
    for (name, array), was in zip(arrays.items(), before, strict=True):
        if checksum(array) != was:
            raise ContractError(f"the backend wrote to its input: {name} was changed")


def checksum(array: np.ndarray) -> int:
    """Return a checksum of an array's bytes."""
    return crc32(array.tobytes())


def within(seconds: float, function: Callable[[], Any], stop: Callable[[int], object] | None = None) -> Any:
    """Return what a function returns, which runs in a thread; raise ``ContractError`` if it takes longer.

    Python in a browser has no threads: there is no limit there.

    Args:
        seconds: how long it may take.
        function: the function.
        stop: called with the thread's number to end it; None ends Python, though not what it calls in C.
    """
    if sys.platform == "emscripten":
        return copy_context().run(function)
    found = Future[Any]()

    def run() -> None:
        try:
            found.set_result(function())
        except BaseException as error:
            found.set_exception(error)

    thread = Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    try:
        thread.join(seconds)
        late = thread.is_alive()
    finally:  # also where the reader interrupts it
        for _ in range(20):  # a function may catch what is to end it
            if thread.is_alive():
                (stop or _end_python)(thread.ident or 0)
                thread.join(0.05)
    if late:
        raise ContractError(f"took more than {seconds:g} seconds, and was stopped")
    return found.result()


@contextmanager
def kept_afresh(check: Callable[[Any], bool], seconds: float) -> Iterator[Callable[[Any], bool | None]]:
    """Yield what runs a check in a process that is as this one is now, whatever runs here in between.

    It returns None where the check crashes or takes longer than ``seconds``, and on a system without fork.
    """
    if not hasattr(os, "fork"):
        yield lambda argument: None
        return
    here, there = Pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: a check that waits for one of them is ended
        keeper = os.fork()
    if not keeper:
        here.close()
        _keep(check, there, seconds)
    there.close()

    def ask(argument: Any) -> bool | None:
        here.send(argument)
        return {0: False, 1: True}.get(os.waitstatus_to_exitcode(int(here.recv_bytes())))

    try:
        yield ask
    finally:
        here.close()
        os.kill(keeper, signal.SIGKILL)
        os.waitpid(keeper, 0)


def _keep(check: Callable[[Any], bool], requests: Any, seconds: float) -> None:
    """Run each check in a fork of this process, which stays as it is, until nobody asks."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        while True:
            argument = requests.recv()
            if child := os.fork():
                requests.send_bytes(b"%d" % os.waitpid(child, 0)[1])
            else:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                os._exit(check(argument))
    finally:
        os._exit(2)


def _end_python(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))


# ---------------------------------------------------------------------------------------------
# In a process of its own
# ---------------------------------------------------------------------------------------------

_IMPORT = 60.0  # seconds in which a process must have imported what it runs
_OFTEN = 3  # consecutive calls that took too long: then stop
_LINE = 1 << 16  # bytes of the line of an answer
_ANSWER = 1 << 20  # bytes of an answer's array, if nobody says how large it may be
_LARGE, _WRONG = 1 << 26, 16  # bytes that any backend may answer; as many times of the right result's


class Program:
    """A program that stays alive: it is sent a line of JSON and bytes, and answers by a line and bytes.

    Answers are never unpickled: whoever wrote one, no code of theirs runs here.
    """

    def __init__(self, command: list[str], seconds: float, hello: bytes = b"") -> None:
        self._command, self._seconds, self._hello = command, seconds, hello
        self._running: Any = None
        self._late, self._why_not = 0, ""

    def ask(self, request: dict[str, Any], data: bytes, sizes: range) -> tuple[Any, bytes]:
        """Return what the answer says, and its bytes, of which there must be one of these numbers."""
        if self._why_not:
            raise ContractError(self._why_not)
        if self._running is None or self._parent != os.getpid():  # whose answers a fork would take
            self._start()
        answer = self._exchange(request, data, sizes, self._seconds)
        self._late = 0
        return answer

    def end(self) -> None:
        """End the program; another call would start it again."""
        if self._running is not None:
            self._running = None
            self._stop()

    def _start(self) -> None:
        self._parent = os.getpid()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by _stop)
        pipe, path = subprocess.PIPE, (entry for entry in sys.path if not _is_here(entry))
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        running: Any = subprocess.Popen(
            self._command,
            stdin=pipe,
            stdout=pipe,
            stderr=self._errors,
            env=environment if self._hello else None,
            start_new_session=True,
        )
        self._running, running.busy = running, False
        self._stop = weakref.finalize(self, _stop, running, self._errors)
        if self._hello:
            try:
                self._exchange({}, self._hello, range(1), _IMPORT)
            except ContractError as error:
                self._why_not = f"another process cannot import it: {error}"
                raise ContractError(self._why_not) from None

    def _exchange(
        self, request: dict[str, Any], data: bytes, sizes: range, seconds: float
    ) -> tuple[Any, bytes]:
        running, self._running = self._running, None  # which it is again when it has answered
        line = json.dumps(request | {"nbytes": len(data)}, separators=(",", ":")).encode() + b"\n"

        def exchange() -> tuple[bytes, dict[str, Any], bytes]:
            running.busy = True  # while a thread uses the pipes, nobody else can close them
            try:
                with suppress(OSError):  # it has ended: then it answers nothing
                    running.stdin.write(line + data)
                    running.stdin.flush()
                answer, said, found = running.stdout.readline(_LINE), {}, b""
                with suppress(ValueError, TypeError, RecursionError):  # it is not a valid answer
                    said = dict(json.loads(answer))
                if isinstance(size := said.get("nbytes"), int) and size in sizes:
                    found = running.stdout.read(size)
                return answer, said, found
            finally:
                running.busy = False
                if running.poll() is not None:  # it was given up, perhaps long ago
                    _close(running)

        late, answer, said, found = "", b"", dict[str, Any](), b""
        try:
            answer, said, found = within(seconds, exchange, lambda _: _kill(running))
        except ContractError as error:
            late = str(error)
        except BaseException:  # whatever it sends next would answer another call
            self._stop()
            raise
        told = "refused" in said or isinstance(said.get("error"), str)  # instead of an array
        if late or not (told or (len(found) == said.get("nbytes") and len(found) in sizes)):
            self._late = self._late + 1 if late else 0
            note = self._what_happened(running, answer, late, said.get("nbytes"), len(found), sizes)
            if self._late == _OFTEN:
                self._why_not = f"not run: {_OFTEN} calls in turn {note}"
            raise ContractError(note)
        self._running = running
        if "refused" in said:
            raise Refused(plain(said["refused"]))
        if told:
            raise ContractError(printable(said["error"]))
        return said, found

    def _what_happened(
        self, running: Any, answer: bytes, late: str, size: Any, got: int, sizes: range
    ) -> str:
        """Say why there is no answer, and end the program: what it sends next would answer another call."""
        ended = late or (not answer and _how_it_ended(running))
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _LINE))
        last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        self._stop()
        if ended:
            return ended + (f"; it said {brief(last)}" if last else "")
        if size is None:
            said = brief(answer.decode(errors="replace").strip())
            return f'printed {said} where a line such as {{"nbytes":{sizes[-1]}}} was due'
        many = got if isinstance(size, int) and size in sizes else brief(size)
        return f"answered {many} bytes, not the {'at most ' * (len(sizes) > 1)}{sizes[-1]} of its result"


def _is_here(entry: str) -> bool:
    """Whether a folder of `sys.path` is the current one, whose json.py or numpy.py is not the library's."""
    return os.path.exists(entry or os.curdir) and os.path.samefile(entry or os.curdir, os.curdir)


def _stop(running: Any, errors: Any) -> None:
    _kill(running)
    with suppress(subprocess.TimeoutExpired):
        running.wait(1.0)
    if not running.busy:  # what it started, and lives on, may hold its pipes
        _close(running)
    errors.close()


def _close(running: Any) -> None:
    for pipe in (running.stdin, running.stdout):
        with suppress(OSError):  # what was not written has nobody to read it
            pipe.close()


def _kill(running: Any) -> None:
    """End a program and what it has started, which would hold its pipes open."""
    with suppress(OSError, AttributeError):  # all have ended; Windows knows no groups
        os.killpg(running.pid, signal.SIGKILL)
    running.kill()


def _how_it_ended(running: Any) -> str:
    with suppress(subprocess.TimeoutExpired):  # it may have closed its pipe, and run on
        running.wait(1.0)
    if running.poll() is None:
        return "ended its answers, and was stopped"
    if running.returncode < 0:
        with suppress(ValueError):
            return f"crashed: {signal.Signals(-running.returncode).name}"
    return f"ended its process with exit status {running.returncode}"


class Imported(str):
    """A function by its name, "module:function": only the process that it is sent to imports it."""

    __name__ = property(lambda self: self.partition(":")[0])  # reports call it by its module

    def __reduce__(self) -> Any:
        return resolve_name, (str(self),)


def isolated(module: Any, seconds: float = 10.0, nbytes: int | None = None) -> Wrapped:
    """Return a backend that runs in a process of its own, as `elsewhere` has it."""
    ask, _ = elsewhere(module, seconds, nbytes, here=True)

    def around(
        kind: Kind, function: Any, *args: Any, out: np.ndarray | None = None, **options: Any
    ) -> np.ndarray:
        right = args[0].itemsize * int(np.prod(args[2].shape_of(kind.result)))
        result = ask(kind.name, args, options, max(_LARGE, _WRONG * right))
        if out is None or out.shape != result.shape:
            return result
        np.copyto(out, result)
        return out

    return _Elsewhere(module, around, ask)


@dataclass(frozen=True)
class _Elsewhere(Wrapped):
    """A backend that runs in a process of its own, which alone may know a function's parameters."""

    ask: Callable[..., np.ndarray]
    in_this_process, fenced = False, True  # a read outside an array ends that process

    def padded(self, kind: str) -> bool:
        """Whether a function is given images that are padded already; a stopped process does not say."""
        try:
            return hasattr(self.module, "padded") and bool(self.ask("padded", (kind,), {}))
        except ContractError:
            return False


def elsewhere(
    module: Any, seconds: float, nbytes: int | None = None, *, here: bool = False
) -> tuple[Callable[..., np.ndarray], Callable[[], None]]:
    """Return what calls an object's functions in a process, which is started again after it has ended.

    That process is sent arrays and arguments, and sends back text and numbers, which are judged here.

    Args:
        module: the object: a module, or one that can be pickled.
        seconds: how long a call may take.
        nbytes: how much memory the process may take beside what it has at its start; None for no limit.
        here: whether it may import from the current folder, what is found nowhere else. It may anyway if this
            process does.

    Returns:
        A function of the name of a function, its arguments, its keyword arguments, and how many bytes its
        result may have, which returns an array; and a function that ends the process. It also ends when
        nobody refers to the first one, but an exception that is kept refers to what raised it.
    """
    try:
        sent = pickle.dumps(module.__name__ if isinstance(module, ModuleType) else module)
    except Exception as error:
        raise ArgumentError(
            "isolate=True needs a function that another process can import, and so must be each function in "
            f"refuses: define them with def at the top of a module; {plain(error)}"
        ) from None
    # bytes do not count: they may be the text of a program
    of_main = any(isinstance(word, str) and "__main__" in word for _, word, _ in genops(sent))
    script = getattr(sys.modules["__main__"], "__file__", None) if of_main else None
    command = [sys.executable, "-P", "-c", _SERVE, str(sys.modules["teachconv"].__file__)]
    hello = pickle.dumps((script, sent, nbytes, here or any(map(_is_here, sys.path))))
    program = Program(command, seconds, hello)
    sides = cycle(SIDES)

    def ask(name: str, args: tuple[Any, ...], options: dict[str, Any], most: int = _ANSWER) -> np.ndarray:
        side = next(sides)
        strides = [getattr(value, "strides", None) for value in (*args, *options.values())]

        def send(side: str | None) -> tuple[dict[str, Any], bytes]:
            return program.ask({}, pickle.dumps((name, args, options, strides, side)), range(most + 1))

        def crashes(side: str | None) -> bool:
            try:
                send(side)
            except ContractError as error:
                return str(error).startswith("crashed")
            return False

        try:
            said, data = send(side)
        except ContractError as error:
            if not str(error).startswith("crashed"):
                raise
            if crashes(None):
                raise
            # far behind a small array may be where a page before it ends
            other, note = SIDES[1 - SIDES.index(side)], f"{error}, not every time"
            fenced = " or ".join(one for one in (side, other) if crashes(one))
            moved = [crashes(place) for place in (f"{side}?", None, f"{side}?")]
            if not moved[0] and side in fenced:
                where = f"where there is no memory {fenced} them"
                note = f"read or wrote outside its arrays: {where}, it {error}"
            elif moved == [True, False, True]:
                where = "where arrays begin at other addresses than multiples of 16, and not at those"
                note = f"{error}, {where}"
            raise ContractError(note) from None
        try:
            shape, dtype = said["shape"], np.dtype(str(said["dtype"]))
            objects = np.broadcast_to(np.array(None), shape) if dtype.hasobject else None  # were not sent
            return np.ndarray(shape, dtype, bytearray(data)) if objects is None else objects
        except Exception as error:  # of any type, if NumPy cannot read the dtype
            raise ContractError(f"its process answered no array: {plain(error)}") from None

    return ask, program.end


# what the process runs: teachconv is the one that runs here, wherever it lies, and imported before all else
_SERVE = f"""
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("teachconv", sys.argv[1])
sys.modules["teachconv"] = module_from_spec(spec)
spec.loader.exec_module(sys.modules["teachconv"])
from {__name__} import serve
serve()
"""


def serve() -> None:
    """Run calls until nobody asks, as the process of `isolated`; the first request says of what."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    for number in (0, 1):  # what is run reads nothing, and prints nowhere
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    backend: Any = None
    for line in requests:
        said, data = dict[str, Any](), requests.read(json.loads(line)["nbytes"])
        try:
            if backend is None:
                backend, data = _imported(*pickle.loads(data)), b""
            else:
                name, args, options, strides, side = pickle.loads(data)
                set_side(side)
                placed = list(map(laid, (*args, *options.values()), strides))
                args, options = placed[: len(args)], dict(zip(options, placed[len(args) :], strict=True))
                with unchanged(_inputs(kind_of(name), args, options) if name in map(str, KINDS) else {}):
                    result = np.array(getattr(backend, name)(*args, **options))
                data = b"" if result.dtype.hasobject else result.tobytes()
                word = result.dtype.name if result.dtype.kind == "V" else result.dtype.str
                said = {"shape": result.shape, "dtype": word}
            said = {"nbytes": len(data)} | said
        except Refused as refused:
            said, data = {"refused": str(refused)}, b""
        except (Exception, SystemExit) as error:
            said, data = {"error": what_went_wrong(error)}, b""
        answers.write(json.dumps(said, separators=(",", ":")).encode() + b"\n" + data)
        answers.flush()


def _imported(script: str | None, sent: bytes, nbytes: int | None, here: bool) -> Any:
    if here:
        sys.path.append("")  # the current folder, behind the installed packages
    if script is not None:
        import_main_path(script)
    with redirect_stdout(io.StringIO()):
        module = pickle.loads(sent)
        backend = guarded(importlib.import_module(module) if isinstance(module, str) else module)
    if nbytes is not None:
        _limit_memory(nbytes)
    return backend


def _limit_memory(nbytes: int) -> None:
    """Let this process take so much more address space; where the system cannot, there is no limit."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/statm") as file:
            has = int(file.read().split()[0]) * resource.getpagesize()
        # its errors go to a file
        for what, most in ((resource.RLIMIT_AS, has + nbytes), (resource.RLIMIT_FSIZE, nbytes)):
            _, hard = resource.getrlimit(what)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (least, least))
