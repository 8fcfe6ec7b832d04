"""The part of nvidia-cudnn-frontend that teachconv uses, on the host: graphs, engines with notes, and execution.

It computes from addresses, sizes and strides alone, in float64, and rounds once. So what it is given must be laid
out as the real library is told. Its first engines break a promise each, as those of the real one do: one rounds
float32 to 11 bits, one is wrong at random, one computes what Winograd's transforms may.
"""

import ctypes
from itertools import product
from types import ModuleType, SimpleNamespace

import numpy as np

from teachconv.core.dtypes import to_dtype

DTYPES = {"HALF": "float16", "BFLOAT16": "bfloat16", "FLOAT": "float32", "DOUBLE": "float64"}
NOTES = "NONDETERMINISTIC REDUCED_PRECISION_REDUCTION DOWN_CONVERT_INPUTS FFT TENSOR_CORE"
NOTES += " WINOGRAD WINOGRAD_TILE_6x6 WINOGRAD_TILE_13x13"
ENGINES = (  # name, notes, bytes of scratch memory
    ("random", {"NONDETERMINISTIC"}, 0),
    ("tensor", {"TENSOR_CORE"}, 96),
    ("half sums", {"REDUCED_PRECISION_REDUCTION"}, 0),
    ("transforms", {"WINOGRAD"}, 64),
    ("large transforms", {"WINOGRAD", "WINOGRAD_TILE_6x6"}, 64),
    ("plain", set(), 32),
)


class GraphNotSupportedError(Exception):
    """What cudnn.cudnnGraphNotSupportedError is: no subclass of RuntimeError."""


class Tensor:
    def __init__(self, name="", dim=None, stride=None):
        self.name, self.dim, self.stride, self.is_output, self.dtype = name, dim, stride, False, None

    def set_dim(self, dim):
        self.dim = dim
        return self

    def set_stride(self, stride):
        self.stride = stride
        return self

    def set_output(self, is_output):
        self.is_output = is_output
        return self

    def set_data_type(self, dtype):
        self.dtype = dtype
        return self

    def at(self, address, dtype):
        """The tensor's memory, in its own order of axes."""
        dtype = np.dtype(dtype)
        count = 1 + sum((size - 1) * step for size, step in zip(self.dim, self.stride, strict=True))
        memory = (ctypes.c_ubyte * (count * dtype.itemsize)).from_address(address)
        return np.ndarray(self.dim, dtype, memory, strides=[step * dtype.itemsize for step in self.stride])


class Graph:
    def __init__(self, module, io_data_type, intermediate_data_type, compute_data_type, handle):
        assert handle in module.handles
        assert (
            compute_data_type == intermediate_data_type == ("DOUBLE" if io_data_type == "DOUBLE" else "FLOAT")
        )
        self.module, self.dtype, self.barred, self.engine, self.has_relu = (
            module,
            io_data_type,
            set(),
            None,
            False,
        )
        self.extra = None

    def tensor(self, name, dim, stride):
        return Tensor(name, dim, stride)

    def _convolve(self, kind, first, second, pre_padding, post_padding, stride, dilation):
        self.kind, self.operands = kind, (first, second)
        self.pads, self.strides, self.dilations = (
            list(zip(pre_padding, post_padding, strict=True)),
            stride,
            dilation,
        )
        self.sums = self.out = Tensor()
        return self.out

    def conv_fprop(self, image, weight, **how):
        return self._convolve("y", image, weight, **how)

    def conv_dgrad(self, loss, filter, **how):
        return self._convolve("dx", loss, filter, **how)

    def conv_wgrad(self, image, loss, **how):
        return self._convolve("dw", image, loss, **how)

    def bias(self, input, bias):
        assert self.kind == "y"
        assert input is self.sums
        self.extra, self.out = bias, Tensor()
        return self.out

    def relu(self, input):
        assert self.extra is not None
        self.has_relu, self.out = True, Tensor()
        return self.out

    def validate(self):
        if any(pad < 0 for pads in self.pads for pad in pads):
            raise RuntimeError("CUDNN_STATUS_BAD_PARAM")
        x, w, y = self._roles(lambda tensor: tensor.dim)
        for axis in (2, 3):
            reach = (w[axis] - 1) * self.dilations[axis - 2] + 1
            spare = x[axis] + sum(self.pads[axis - 2]) - reach
            assert y[axis] == spare // self.strides[axis - 2] + 1
        assert self.out.is_output
        assert self.out.dtype == self.dtype

    def _roles(self, what):
        """Of the input, the filter and the output."""
        first, second, result = map(what, (*self.operands, self.sums))
        orders = {"y": (first, second, result), "dx": (result, second, first), "dw": (first, result, second)}
        return orders[self.kind]

    def build_operation_graph(self):
        pass

    def create_execution_plans(self, modes):
        assert modes == ["A", "FALLBACK"]
        if self.module.pads_evenly and any(before != after for before, after in self.pads):
            raise GraphNotSupportedError("no valid engine configs")

    def deselect_numeric_notes(self, notes):
        self.barred = set(notes)

    def get_execution_plan_count(self):
        return len(self.module.engines)

    def build_plan_at_index(self, index):
        if self.barred & self.module.engines[index][1]:
            raise GraphNotSupportedError("deselected")
        self.engine = self.module.engines[index]

    def get_plan_name_at_index(self, index):
        return self.module.engines[index][0]

    def get_workspace_size(self):
        return self.engine[2]

    def execute(self, pointers, workspace, handle):
        assert handle in self.module.handles
        assert workspace
        self.module.ran.append((self.engine[0], handle.stream))
        dtype = to_dtype(DTYPES[self.dtype])
        arrays = [tensor.at(pointers.pop(tensor), dtype).astype("float64") for tensor in self.operands]
        if self.engine[0] == "tensor" and dtype == np.float32:
            arrays = [(np.frexp(a)[0] * 2**11).round() / 2**11 * 2.0 ** np.frexp(a)[1] for a in arrays]
        result = self._sum(*arrays)
        if self.engine[0] == "random":
            result = result + self.module.random.standard_normal(result.shape)
        if self.extra is not None:
            result = result + self.extra.at(pointers.pop(self.extra), dtype).astype("float64")
        result = np.maximum(result, 0) if self.has_relu else result
        if self.extra is not None:
            self.out.dim, self.out.stride = self.sums.dim, self.sums.stride
        out = self.out.at(pointers.pop(self.out), dtype)
        assert not pointers
        with np.errstate(over="ignore"):
            out[...] = result.astype(dtype)

    def _sum(self, first, second):
        """The convolution by its definition, over taps and groups."""
        result = np.zeros(self.sums.dim)
        x, w, y = {
            "y": (first, second, result),
            "dx": (result, second, first),
            "dw": (first, result, second),
        }[self.kind]
        rows, cols = (x.shape[axis] + sum(self.pads[axis - 2]) for axis in (2, 3))
        padded = np.zeros((*x.shape[:2], rows, cols))
        inside = padded[
            :,
            :,
            self.pads[0][0] : self.pads[0][0] + x.shape[2],
            self.pads[1][0] : self.pads[1][0] + x.shape[3],
        ]
        inside[...] = x
        ins = w.shape[1]
        groups = x.shape[1] // ins
        outs = w.shape[0] // groups
        for group, row, col in product(range(groups), range(w.shape[2]), range(w.shape[3])):
            of_in, of_out = slice(group * ins, (group + 1) * ins), slice(group * outs, (group + 1) * outs)
            at = [
                slice(tap * d, tap * d + (size - 1) * s + 1, s)
                for tap, d, s, size in zip((row, col), self.dilations, self.strides, y.shape[2:], strict=True)
            ]
            read = padded[:, of_in, at[0], at[1]]
            if self.kind == "y":
                y[:, of_out] += np.einsum("nchw,kc->nkhw", read, w[of_out, :, row, col])
            elif self.kind == "dx":
                read += np.einsum("nkhw,kc->nchw", y[:, of_out], w[of_out, :, row, col])
            else:
                w[of_out, :, row, col] += np.einsum("nchw,nkhw->kc", read, y[:, of_out])
        if self.kind == "dx":
            x[...] = inside - 0
        return result


def fake_cudnn():
    """Return the module; ``ran`` has engine and stream of each execution, ``engines`` what it offers."""
    cudnn = ModuleType("cudnn")
    cudnn.cudnnGraphNotSupportedError = GraphNotSupportedError
    cudnn.data_type = SimpleNamespace(**{name: name for name in DTYPES})
    cudnn.numerical_note = SimpleNamespace(**{name: name for name in NOTES.split()})
    cudnn.heur_mode = SimpleNamespace(A="A", FALLBACK="FALLBACK")
    cudnn.ran, cudnn.engines, cudnn.handles, cudnn.pads_evenly = [], ENGINES, [], False
    cudnn.random = np.random.default_rng(0)
    cudnn.backend_version = lambda: 92801
    cudnn.backend_version_string = lambda: "9.28.1"
    cudnn.pygraph = lambda **how: Graph(cudnn, **how)

    def create_handle():
        cudnn.handles.append(SimpleNamespace(stream=None))
        return cudnn.handles[-1]

    cudnn.create_handle = create_handle
    cudnn.set_stream = lambda handle, stream: setattr(handle, "stream", stream)
    return cudnn
