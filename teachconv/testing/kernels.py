"""A plain function as a backend: whatever it calls its arguments, and whatever layout its arrays have.

`kernel` looks at the names of a function's parameters. For each call it brings arrays into the function's
layouts, gives numbers in the form that the function takes, and brings the result back. What cannot be said to
the function is refused with a reason, and never computed in another way.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import backends
from ..backends import HALF_SUMS, Algorithm
from ..core.arguments import listed
from ..core.dtypes import FLOATS, INTEGERS
from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, ROLES, Kind, kind_of, layout_of
from ..core.taps import window
from ..quantized.calls import scheme_of
from ..support.argument_types import HasAlgorithms
from ..support.devices import to_host
from ..support.errors import ArgumentError, ArgumentTypeError, ContractError, brief, check_word, words_of
from ..verification.contract import check_guards, guard_of, is_cut, layout_like, packed
from ..verification.fences import laid
from ..verification.running import (
    Imported,
    Refused,
    checksum,
    isolated,
    name_of,
    unchanged,
    unwritten,
    what_went_wrong,
)

# what parameters may be called, in any case of letters; the first word is ours
_WORDS = {
    "input": "input inputs x lhs image images img data src",
    "filters": "filters filter w weight weights kernel kernels rhs",
    "output": "out_backprop dy dout grad_output grad_out grad_y upstream",
    "strides": "strides stride window_strides subsample",
    "pads": "pads pad padding paddings",
    "dilations": "dilations dilation dilation_rate rhs_dilation",
    "groups": "groups group feature_group_count num_groups n_groups",
    "bias": "bias b",
    "output_padding": "output_padding",
    "input_shape": "input_shape input_sizes input_size x_shape",
    "filters_shape": "filters_shape filter_sizes weight_shape weight_size w_shape",
    "output_shape": "output_shape out_shape y_shape",  # of a transposed one, of what it returns
    "out": "out y result",
    "geometry": "geometry",
}
# and of a quantized convolution; the first is given all of these by their names
_QUANTIZED = {
    "quantized": "quantized",
    "x_zero_point": "x_zero_point input_zero_point x_zp",
    "input_offset": "input_offset x_offset lhs_offset",
    "w_zero_point": "w_zero_point filter_zero_point weight_zero_point w_zp",
    "filter_offset": "filter_offset weights_offset w_offset rhs_offset",
    "y_zero_point": "y_zero_point output_zero_point y_zp output_offset y_offset dst_offset",
    "x_scale": "x_scale input_scale",
    "w_scale": "w_scale filter_scale weight_scale",
    "y_scale": "y_scale output_scale",
    "multiplier": "multiplier multipliers output_multiplier dst_multipliers",
    "shift": "shift shifts output_shift dst_shifts",
    "activation_min": "activation_min output_activation_min act_min",
    "activation_max": "activation_max output_activation_max act_max",
}
# the numbers that all channels share; they may be left unsaid if they are 0, or an end of the type
NUMBERS = "x_zero_point", "w_zero_point", "y_zero_point", "activation_min", "activation_max"
_OFFSETS = {"x_zero_point": "input_offset", "w_zero_point": "filter_offset"}  # minus the zero points
_MEANING = {word: meaning for meaning, words in (_WORDS | _QUANTIZED).items() for word in words.split()}
_FORMS = {
    "strides": ("int", "pair"),
    "dilations": ("int", "pair"),
    "pads": ("int", "pair", "pairs", "flat", "applied"),
}


def kernel(
    function: Any,
    *,
    x: str = "NHWC",
    w: str = "HWIO",
    y: str | None = None,
    input_gradient: Callable[..., Any] | None = None,
    filter_gradient: Callable[..., Any] | None = None,
    strides: str | None = None,
    pads: str | None = None,
    dilations: str | None = None,
    groups: bool = False,
    contiguous: bool = False,
    refuses: Any = NotImplementedError,
    dtypes: Iterable[str] | str = "float32",
    error: str = "direct",
    scheme: str | None = None,
    types: Iterable[tuple[str, str]] | None = None,
    isolate: bool = False,
    seconds: float = 10.0,
    nbytes: int | None = None,
) -> HasAlgorithms:
    """Make a backend of a plain function, so that `check_backend`, `diff` and this kit can run it.

    The names of the function's parameters say what they are, in the words of any framework: ``x``, ``input``
    or ``lhs``, ``w``, ``weight`` or ``kernel``, ``stride``, ``pad``, ``dilation``, ``groups``, ``bias``,
    ``out_shape`` and so on. One in the singular, such as ``stride``, ``pad`` or ``padding``, is given one
    int; one in the plural, such as ``strides`` or ``pads``, one for each axis: ``(rows, cols)`` and ``((top,
    bottom), (left, right))``. ``input_shape``, ``input_sizes`` or ``x_shape`` is the shape of the
    convolution's input, which an input gradient returns; ``filters_shape``, ``filter_sizes`` or ``w_shape``
    that of its filters; ``output_shape`` or ``out_shape`` that of its output, but what an
    ``input_gradient`` is to return. ``geometry`` is a `ConvGeometry`, with all of these in it. Without any
    of them for pads the function is given an input that is padded already; a report says "padding: 0 calls".
    A call that cannot be said in this way is refused, and is not run: different strides as one int, groups
    without a parameter for them, a bias without one. Reports say how many these were. If ``out`` or ``y`` is
    a parameter, it is an array to write to, with other memory around it that is not to be touched.

    Args:
        function: computes the output of an input and filters; None if there is no such function. Of a tuple
            that it returns the first item counts. Or a module that keeps the contract of
            `teachconv.backends`, to isolate it. Or, with ``isolate``, the name of a function,
            "module:function": then only the other process imports it.
        x: the layout of its activations: "NHWC", "NCHW", "NCW", "NDHWC" or another order. Without N it is
            called once for each image, and a letter that is left out stands for an axis of size 1.
        w: the layout of its filters, such as "HWIO", "OIHW" or "IOHW"; O are the output channels of the
            convolution, also in a function that computes the transposed one.
        y: the layout of the output, if that is not ``x``.
        input_gradient: computes the gradient in the input of ``dy`` and ``w``. A transposed convolution is
            one: what it calls its input is ``dy``.
        filter_gradient: computes the gradient in the filters of ``x`` and ``dy``.
        strides: "int" or "pair", whatever the parameter is called.
        pads: "int", "pair" for (rows, cols), "pairs" for ((top, bottom), (left, right)), "flat" for (top,
            left, bottom, right), or "applied".
        dilations: "int" or "pair".
        groups: whether it finds the number of groups in the shapes, as TensorFlow's conv2d does, if it has no
            parameter for them.
        contiguous: whether its arrays must be contiguous in memory, in C's order. If not, some calls have
            arrays of other memory strides, as views of larger arrays have them. They are refused where the
            function raises an error for such arrays alone, or asks for the address of one by ``ctypes``.
        refuses: what the functions do not take: a function of the `ConvGeometry` that returns a reason, True
            or False; a type of exception that they raise then; or several of these.
        dtypes: the dtypes that are checked if nobody says which; it is run on any that is asked for.
        error: how it computes, which says by what bound it is judged: a word of `diff`.
        scheme: the scheme of `teachconv.quantized` whose bits a quantized convolution is to give; None for
            numbers that are not quantized. Its parameters may be, too: ``x_zero_point`` or ``input_offset``,
            which is minus the zero point, ``w_zero_point`` or ``filter_offset``, ``y_zero_point`` or
            ``output_offset``; ``x_scale``, ``w_scale``, ``y_scale``, or ``multiplier`` and ``shift``, int32
            arrays with a number for each output channel, of which a negative shift is one to the right;
            ``activation_min`` and ``activation_max``.
        types: of quantized arrays the pairs of dtypes of x and w that it takes; None for the first pair of
            the scheme.
        isolate: whether to run it in a process of its own, which may crash or hang, and cannot touch what
            judges it. It is not a sandbox: it can access files and the network as you can.
        seconds: how long a call may take there; a kernel that was stopped three times in turn is not run
            again. Its module has a minute to be imported.
        nbytes: how much memory it may take there; None for no limit.

    Returns:
        A backend with the functions that were given.

    Raises:
        ValueError: if a parameter has no known name and no default, or a layout or a form is not legal.
        TypeError: if ``function`` cannot be called.

    >>> import numpy as np, teachconv as tc
    >>> from teachconv import testing as T
    >>> def correlate(x, w, stride):  # one image, NumPy alone
    ...     windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (1, 2))
    ...     return np.einsum("crsij,ocij->ors", windows[:, ::stride, ::stride], w)
    >>> mine = T.kernel(correlate, x="CHW", w="OIHW")
    >>> print(tc.check_backend(mine, tags="hand", data="integers", kinds="conv2d").summary.partition(" (")[0])
    4 pass, 11 not run
    """
    if hasattr(function, "ALGORITHMS"):
        return isolated(function, seconds, nbytes) if isolate else function
    forms = {"strides": strides, "pads": pads, "dilations": dilations}
    for name, form in forms.items():
        words_of(form, name, _FORMS[name])
    layouts = {"input": x, "filters": w, "output": x if y is None else y}
    ranks = {rank_of(role, letters) for role, letters in layouts.items()}
    if len(ranks) > 1:
        raise ArgumentError(
            f"x, w and y must have the same axes among D, H, W; got {', '.join(layouts.values())}"
        )
    known = list(refuses) if isinstance(refuses, (tuple, list)) else [refuses]
    if not all(map(callable, known)):
        raise ArgumentTypeError(f"refuses must be functions or types of exceptions; got {brief(refuses)}")
    if scheme is not None:
        dtypes, pairs = "int32", pairs_of(scheme, types)  # the type of the sums
    found = {}
    functions = {FORWARD: function, INPUT_GRADIENT: input_gradient, FILTER_GRADIENT: filter_gradient}
    for kind, given in functions.items():
        if given is not None:
            named = Imported(given) if isolate and isinstance(given, str) else given
            found[kind.name] = adapter = _Adapter(
                named, kind, layouts, forms, groups, contiguous, tuple(known), {} if scheme else None
            )
            if named is given:
                _ = adapter.meanings  # which raises where a parameter has no known name
    if not found:
        raise ArgumentTypeError("function must be a function of arrays; got None, and no gradient")
    first = next(iter(found.values())).function
    algorithm = Algorithm(
        name_of(first),
        "a function under test",
        tuple(map(kind_of, found)),
        (HALF_SUMS[error],) if error in HALF_SUMS else FLOATS + INTEGERS,
        error=error,
    )
    made = Kernel(
        name_of(first), (algorithm,), (ranks.pop(),), tuple(words_of(dtypes, "dtypes", FLOATS + INTEGERS))
    )
    vars(made).update(found, FILTERS=w)
    if scheme is not None:
        made.SCHEME, made.TYPES = scheme, pairs
    return isolated(made, seconds, nbytes) if isolate else made


class Kernel:
    """A backend of the functions that `kernel` was given; those that it was not given it does not have."""

    def __init__(self, name: str, algorithms: Any, ranks: Any, dtypes: tuple[str, ...]) -> None:
        self.__name__, self.ALGORITHMS, self.RANKS, self.DTYPES = name, algorithms, ranks, dtypes

    TAKES_EMPTY_ARRAYS = True  # a function is called also where there is nothing to sum
    SCHEME: str  # of a quantized convolution alone, and the pairs of dtypes of x and w
    TYPES: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    @property
    def takes_bias(self) -> bool:
        """Whether a function has a parameter for a bias; one that another process imports may have one."""
        adapters = [each for each in vars(self).values() if isinstance(each, _Adapter)]
        return any(
            isinstance(each.function, Imported) or "bias" in each.meanings.values() for each in adapters
        )

    @property
    def in_this_process(self) -> bool:
        """Whether a function runs here, where nobody sees what it reads outside an array."""
        adapters = [each for each in vars(self).values() if isinstance(each, _Adapter)]
        return any(getattr(each.function, "in_this_process", True) for each in adapters)

    def padded(self, kind: str) -> bool:
        """Whether a function is given images that are padded already."""
        return bool(getattr(self, kind).forms["pads"] == "applied")


def pairs_of(scheme: str, types: Iterable[tuple[str, str]] | None) -> tuple[tuple[str, str], ...]:
    """Return pairs of dtypes of x and w that a scheme takes, checked; None for its first."""
    legal = scheme_of(scheme).types
    pairs = legal[:1] if types is None else tuple(types)
    for pair in pairs:
        check_word(pair, f"types of {scheme}", legal)
    return pairs


def rank_of(role: str, letters: Any) -> int:
    """Return how many spatial axes a layout has, if it is one."""
    legal = {"N", "C", *"DHW"} if role != "filters" else {"I", "O", *"DHW"}
    text = letters if isinstance(letters, str) else ""
    axes = "".join(letter for letter in "DHW" if letter in text)
    if not axes or axes != "DHW"[-len(axes) :] or not legal.issuperset(text) or len({*text}) < len(text):
        names = {"input": "x", "filters": "w", "output": "y"}
        example = '"HWIO" or "OIHW"' if role == "filters" else '"NHWC", "NCHW" or "CHW"'
        raise ArgumentError(f"{names[role]} must be a layout such as {example}; got {brief(letters)}")
    return len(axes)


_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _meanings(function: Any, kind: Kind, quantized: bool) -> dict[str, str]:
    """Return what each parameter of a function means."""
    known = _WORDS | (_QUANTIZED if quantized else {})
    if not callable(function):
        raise ArgumentTypeError(
            "function must be a function of arrays, or with isolate=True the name of one, "
            f'"module:function"; got {brief(function)}'
        )
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name_of(function)} does not tell its parameters: wrap it, such as "
            "lambda x, w, strides, pads: ..."
        ) from None
    found: dict[str, str] = {}
    for parameter in parameters:
        meaning = _MEANING.get(parameter.name.lower())
        if parameter.kind in _SEVERAL:
            continue
        if meaning in known and meaning not in found.values():
            found[parameter.name] = meaning
        elif parameter.default is parameter.empty:
            legal = "; ".join(words.replace(" ", ", ") for words in known.values())
            raise ArgumentError(
                f"parameter {brief(parameter.name)} of {name_of(function)} has no known name: call it one of "
                f"{legal}; or wrap the function in a lambda of such names (of a pool, "
                "tc.diff(tc.max_pool, x, ..., against=result) judges its result)"
            )
    if kind.scatters and "output" not in found.values():  # a transposed convolution: dy is its input
        found = {name: "output" if meaning == "input" else meaning for name, meaning in found.items()}
    if kind.scatters:  # the shape of what it returns
        found = {
            name: "input_shape" if meaning == "output_shape" else meaning for name, meaning in found.items()
        }
    lacks = [_WORDS[role].split()[1] for role in (kind.first, kind.second) if role not in found.values()]
    if lacks and "geometry" not in found.values():
        raise ArgumentError(
            f"{name_of(function)} must have a parameter for {listed(lacks, 'and')}, its arrays"
        )
    return found


def _forms(meanings: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    """Return the form of strides, pads and dilations: as asked, or as the parameter's name says."""
    names = {meaning: name for name, meaning in meanings.items()}
    most = {"strides": "pair", "pads": "pairs", "dilations": "pair"}
    found = {}
    for meaning, form in given.items():
        name = names.get(meaning)
        told = most[meaning] if name and name.lower().endswith("s") else "int"
        without = "applied" if meaning == "pads" and "geometry" not in names else "absent"
        found[meaning] = form or (told if name else without)
    return found


@dataclass(frozen=True, eq=False)
class _Adapter:
    """A function of a backend that calls a plain function."""

    function: Any
    kind: Kind
    layouts: Mapping[str, str]
    asked: Mapping[str, str | None]  # the forms of numbers, where the caller says them
    groups: bool
    contiguous: bool
    refuses: tuple[Any, ...]
    quantized: Mapping[str, Any] | None  # numbers of a quantized call, by what they mean
    # the last results as the function returned them, and the checksums that they had, the newest first
    kept: list[tuple[np.ndarray, int]] = field(default_factory=list)
    rooms: dict[str, np.ndarray] = field(default_factory=dict)  # by role, for arrays in the function's layout

    @cached_property
    def meanings(self) -> Mapping[str, str]:
        return _meanings(self.function, self.kind, self.quantized is not None)

    @cached_property
    def forms(self) -> Mapping[str, str]:
        return _forms(self.meanings, self.asked)

    def __call__(
        self,
        first: np.ndarray,
        second: np.ndarray,
        geometry: ConvGeometry,
        *,
        bias: np.ndarray | None = None,
        activation: str | None = None,
        out: np.ndarray | None = None,
        quantized: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> np.ndarray:
        if quantized is not None:
            numbers = _told(quantized, self.meanings.values(), np.iinfo(first.dtype))
            return replace(self, quantized=numbers)(first, second, geometry, bias=bias)
        for refuses in self.refuses:
            reason = not _is_error(refuses) and refuses(geometry)
            if reason:
                raise Refused(reason if isinstance(reason, str) else f"refused by {name_of(refuses)}")
        if bias is not None and "bias" not in self.meanings.values():
            raise Refused("no parameter for a bias")
        result = self._batch({self.kind.first: first, self.kind.second: second}, geometry, bias)
        right = result.shape == geometry.shape_of(self.kind.result) and result.dtype == first.dtype
        if (activation is None and out is None) or not right:  # which is said by the caller
            return result
        return backends.finish(result, result.dtype, None, activation, out)

    def _batch(self, arrays: Mapping[str, np.ndarray], g: ConvGeometry, bias: Any) -> np.ndarray:
        """Call the function for all images, or for one after the other."""
        if "N" in self.layouts["input"] or g.batch == 1:
            return self._padded(arrays, g, bias)
        if self.kind.sums_images:
            raise Refused("several images: the layout has no N")
        if not g.batch:
            raise Refused("no images: the layout has no N")
        images = (
            {role: array if role == "filters" else array[n : n + 1] for role, array in arrays.items()}
            for n in range(g.batch)
        )
        return np.concatenate([self._padded(each, replace(g, batch=1), bias).copy() for each in images])

    def _padded(self, arrays: Mapping[str, np.ndarray], g: ConvGeometry, bias: Any) -> np.ndarray:
        """Pad the input, or cut the result from the whole one, where the function does neither."""
        if self.forms["pads"] != "applied":
            return self._call(arrays, g, bias)
        sizes = [  # with rows that no tap reads, as an image that is padded by hand has them
            axis.in_size + axis.pad_before + axis.pad_after if self.kind.gathers else axis.full_size
            for axis in g.axes
        ]
        axes = list(zip(g.axes, sizes, strict=True))
        inner = replace(
            g, axes=tuple(replace(axis, in_size=size, pad_before=0, pad_after=0) for axis, size in axes)
        )
        if any(axis.in_size and not axis.out_size for axis in inner.axes):
            raise Refused("an empty image, which its padding makes one smaller than the filter")
        if not self.kind.scatters:
            zero = arrays["input"].dtype.type(self.quantized["x_zero_point"] if self.quantized else 0)
            copied = replace(
                g,
                axes=tuple(
                    replace(axis, filter_size=1, stride=1, dilation=1, out_size=size) for axis, size in axes
                ),
            )
            padded = backends.pad(arrays["input"] - zero, copied) + zero  # integers wrap around, and back
            if not arrays["input"].flags.c_contiguous:
                padded = layout_like(arrays["input"])(padded, guard_of(padded.dtype))[1]
            return self._call({**arrays, "input": padded}, inner, bias)
        if bias is not None:
            raise Refused("a bias of a result that is cut afterwards")
        whole = self._call(arrays, inner, None)
        if whole.shape != inner.input_shape:
            return whole
        result = np.zeros(g.input_shape, whole.dtype)
        windows = [window(axis) for axis in g.axes]
        result[:, *(axis.source for axis in windows)] = whole[:, *(axis.inside for axis in windows)]
        return result

    def _call(self, arrays: Mapping[str, np.ndarray], g: ConvGeometry, bias: Any) -> np.ndarray:
        """Call the function with what it knows each argument as."""
        dtype = arrays[self.kind.first].dtype
        values: dict[str, Any] = {
            "geometry": g,
            "groups": g.groups,
            "bias": None if bias is None else _packed(bias) if self.contiguous else bias,
            **(self.quantized or {}),
        }
        for role in ROLES:
            values[f"{role}_shape"] = self._shape(role, g.shape_of(role))
            given = arrays.get(role)
            if given is not None:
                values[role] = self._to_theirs(role, given)
        values["output_padding"], known = _extra(g), set(self.meanings.values())
        if known & {"out", self.kind.result}:
            empty = unwritten(values[f"{self.kind.result}_shape"], dtype)
            block = values["out"] = laid(empty)
            guard, beyond = np.int64(_GUARD).astype(dtype), checksum(arrays[self.kind.first]) % 2
            if block is empty:  # no memory around it ends the process: what is written there is seen
                block, values["out"] = packed(empty, guard, beyond)  # the same numbers lie alike again
            values[self.kind.result] = values["out"]
        for name, sizes in (("strides", g.strides), ("pads", g.padding), ("dilations", g.dilations)):
            silent = "geometry" in known and name not in known  # the geometry says it
            values[name] = None if silent else self._number(name, sizes)
        if g.groups > 1 and not self.groups and known.isdisjoint(("groups", "geometry")):
            raise Refused(f"no parameter for groups: {g.groups}")
        if (
            self.kind.scatters
            and any(_extra(g))
            and known.isdisjoint(("output_padding", "input_shape", "out", "geometry"))
        ):
            raise Refused(f"no parameter for output_padding: {_extra(g)}")
        defaults = inspect.signature(self.function).parameters
        named = {
            name: values[meaning]
            for name, meaning in self.meanings.items()
            if values[meaning] is not None or defaults[name].default is inspect.Parameter.empty
        }
        inputs = {name: value for name, value in named.items() if value is not values.get("out")}
        with unchanged(inputs):  # a read-only array can be written to by its address
            result = self._run(named, values.get("out"))
        result = values["out"] if result is None and "out" in known else result
        result = result[0] if isinstance(result, tuple) else result
        if not hasattr(result, "shape"):
            what = "None" if result is None else f"a {type(result).__name__}"
            raise ContractError(f"returned {what}, not an array")
        result = np.asarray(to_host(result))
        result = self._alone(result, values.values())
        if "out" in known:
            name = next(name for name, meaning in self.meanings.items() if meaning == "out")
            result = np.array(result)  # which mostly is the array that is overwritten now
            check_guards(block, values["out"], guard, name, "around it")
        self.kept[:] = [(result, checksum(result)), *self.kept[: _KEPT - 1]]
        return self._from_theirs(self.kind.result, result)

    def _alone(self, result: np.ndarray, given: Iterable[Any]) -> np.ndarray:
        """Return a result, if nobody changed those before; one that lies in what was given is copied."""
        for ago, (before, was) in enumerate(self.kept, 1):
            which = "last result" if ago == 1 else f"result of {ago} calls before"
            fault = f"overwrote its {which}, which its caller has" if checksum(before) != was else ""
            if np.may_share_memory(result, before):
                fault = f"returned the memory of its {which}, which another call changes"
            if fault:
                self.kept.clear()
                raise ContractError(fault, self._from_theirs(self.kind.result, result))
        arrays = [value for value in given if isinstance(value, np.ndarray)]
        return result.copy() if any(np.may_share_memory(result, each) for each in arrays) else result

    def _run(self, named: Mapping[str, Any], out: np.ndarray | None) -> Any:
        """Call the function; of arrays of other memory strides find out whether it takes them."""
        spread = {name: value for name, value in named.items() if value is not out and not _in_order(value)}
        if not spread:
            return self._refusing(named)
        _addresses.clear()
        try:
            return self._refusing({**named, **{name: value.view(_Spread) for name, value in spread.items()}})
        except Exception as error:
            if _addresses:
                raise Refused(_BY_ADDRESS) from None
            if isinstance(error, Refused):
                raise
            try:
                return self._refusing(named)  # numba knows no subclass of an array
            except Exception:
                self._refusing({**named, **{name: _packed(value) for name, value in spread.items()}})
                raise Refused(f"no arrays of other memory strides: {what_went_wrong(error)}") from None

    def _refusing(self, named: Mapping[str, Any]) -> Any:
        try:
            return self.function(**named)
        except tuple(filter(_is_error, self.refuses)) as error:
            raise Refused(str(error) or what_went_wrong(error)) from error
        except Exception as error:
            arrays = [value for value in named.values() if isinstance(value, np.ndarray)]
            if all(array.size for array in arrays):
                raise
            raise Refused(f"an array is empty: {what_went_wrong(error)}") from error

    def _number(self, name: str, given: tuple[Any, ...]) -> Any:
        """Return strides, pads or dilations in the function's form, or refuse what it cannot say."""
        form = self.forms[name]
        if form in ("applied", "absent"):
            if name == "pads" or {*given} == {1}:
                return None
            raise Refused(f"no parameter for {name}: {given}")
        if name == "pads":
            before, after = zip(*given, strict=True)
            if min(*before, *after) < 0:
                raise Refused(f"pads that crop: {given}")
            if form not in ("int", "pair"):
                return given if form == "pairs" else before + after
            if before != after:
                raise Refused(
                    f"{'one int' if form == 'int' else 'one number for each axis'} for pads: {given}"
                )
            given = before
        if form == "int" and len({*given}) > 1:
            raise Refused(f"one int for {name}: {given}")
        return given[0] if form == "int" else given

    def _order(self, role: str) -> tuple[list[int], list[int]]:
        """Return which axes of a backend's array the function's has, in its order, and which it lacks."""
        ours, theirs = layout_of(role, rank_of(role, self.layouts[role])), self.layouts[role]
        return [ours.index(letter) for letter in theirs], [
            i for i, letter in enumerate(ours) if letter not in theirs
        ]

    def _shape(self, role: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        order, lost = self._order(role)
        if any(shape[axis] != 1 for axis in lost):
            raise Refused(f"axes that {self.layouts[role]} lacks: {role} {list(shape)}")
        return tuple(shape[axis] for axis in order)

    def _to_theirs(self, role: str, array: np.ndarray) -> np.ndarray:
        order, lost = self._order(role)
        self._shape(role, array.shape)  # which refuses other sizes than 1 on axes that are lost
        moved = array.transpose(order + lost).squeeze(tuple(range(len(order), array.ndim)))
        if self.contiguous or array.flags.c_contiguous:
            moved = self._at_one_address(role, moved)
        elif is_cut(array):  # also in the function's order of axes
            moved = layout_like(array)(moved, guard_of(array.dtype))[1]
        moved = laid(moved)
        moved.flags.writeable = False
        return moved

    def _at_one_address(self, role: str, array: np.ndarray) -> np.ndarray:
        """Return an array that is contiguous; a copy lies where the last one lay, as in a buffer."""
        if array.flags.c_contiguous:
            return array.ravel().reshape(array.shape)  # with the usual steps, also along axes of one cell
        if (room := self.rooms.get(role)) is None or room.nbytes < array.nbytes:
            self.rooms[role] = room = np.empty(array.nbytes, np.uint8)
        found = room[: array.nbytes].view(array.dtype).reshape(array.shape)
        found[...] = array
        return found

    def _from_theirs(self, role: str, array: np.ndarray) -> np.ndarray:
        order, lost = self._order(role)
        if array.ndim != len(order):
            raise ContractError(f"returned {list(array.shape)}, not an array of {self.layouts[role]}", array)
        return array.reshape(array.shape + (1,) * len(lost)).transpose(np.argsort(order + lost))


def _told(numbers: Mapping[str, Any], known: Iterable[str], limits: Any) -> dict[str, Any]:
    """Return what a kernel is told of a quantized call; refuse what cannot be said to it."""
    ends = {"activation_min": limits.min, "activation_max": limits.max}
    for name in NUMBERS:
        unsaid = {name, _OFFSETS.get(name), "quantized"}.isdisjoint(known)
        if unsaid and np.any(numbers[name] != ends.get(name, 0)):
            raise Refused(f"no parameter for {name}: {numbers[name]}")
    offsets = {offset: -numbers[name] for name, offset in _OFFSETS.items()}
    placed = {name: laid(number) for name, number in {**numbers, **offsets}.items()}
    return {**placed, "quantized": numbers}


_GUARD = -77  # what is around an array that the function writes to
_KEPT = 8  # results that must stay as they were


_addresses: list[int] = []  # of arrays of other strides, for which the function asked
_BY_ADDRESS = "no arrays of other memory strides: it takes arrays by their address"


class _Spread(np.ndarray):
    """An array of other memory strides: its address alone is not to be used."""

    @property
    def ctypes(self) -> Any:
        self._check()
        return super().ctypes

    @property
    def __array_interface__(self) -> Any:
        self._check()
        return super().__array_interface__

    def _check(self) -> None:
        if not self.flags.c_contiguous:
            _addresses.append(id(self))
            raise Refused(_BY_ADDRESS)


def _in_order(value: Any) -> bool:
    """Whether a value is not an array, or is one in C order with no stride below 0."""
    if not isinstance(value, np.ndarray):
        return True
    return value.flags.c_contiguous and min(value.strides, default=0) >= 0


def _packed(array: np.ndarray) -> np.ndarray:
    """Return the array in C order with no stride below 0, a copy if it is not."""
    return np.ascontiguousarray(array) if min(array.strides, default=0) >= 0 else array.copy()


def _is_error(refuses: Any) -> bool:
    return isinstance(refuses, type) and issubclass(refuses, Exception)


def _extra(g: ConvGeometry) -> tuple[int, ...]:
    """Return the output_padding of a transposed convolution, PyTorch's and ONNX's."""
    return tuple(axis.in_size - axis.full_size + axis.pad_before + axis.pad_after for axis in g.axes)
