"""What the runner of other people's programs puts in the place of what they import.

`replace_imports` makes ``import tensorflow`` give teachconv.tf, or teachconv.tf.compat.v1 for a program of
TensorFlow 1, and ``import keras`` teachconv.keras. Modules of TensorFlow's own Python, such as
tensorflow.python.ops.nn_ops, become forwarding modules: they compute nothing and look each name up among the
public names of teachconv.tf. Data that a program would download are small seeded arrays of the same shape
and type. `short_loops` ends the long loops of a training program early.
"""

from __future__ import annotations

import ast
import gzip
import importlib
import struct
import sys
import time
import types
import urllib.request
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np

# modules that only draw, show or write pictures: anything may be called in them, and nothing happens
PICTURES = ("IPython", "imageio", "tensorflow_docs")
SECONDS_A_LOOP = 1.0  # of processor time, after which a loop ends, but not before its second round
FEW_EPOCHS = 2
TRAINING_IMAGES, TEST_IMAGES = 512, 256  # no batch of the programs is longer


class Replacement:
    """Finds the modules that stand for those of a program: see `replace_imports`.

    Attributes:
        replaced: the name of a module -> the name of the module that is imported in its place; what is
            below one is below the other.
        made: the name of a module -> a function of the name that returns it.
        sources: beginnings of names of modules that are read from the checkout itself.
    """

    def __init__(self, replaced, made, checkout=None, sources=()):
        self.replaced, self.made, self.checkout, self.sources = replaced, made, checkout, tuple(sources)

    def find_spec(self, name, path=None, target=None):
        if any(name == known or name.startswith(f"{known}.") for known in (*self.replaced, *self.made)):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        if name.startswith(self.sources or ("/",)):
            path = self.checkout / f"{name.replace('.', '/')}.py"
        if name.startswith(self.sources or ("/",)) and path.exists():
            module.__file__ = str(path)
            code = compile(path.read_text(encoding="utf-8"), path, "exec")
            exec(code, vars(module))
            return
        # the longest beginning decides: tensorflow.compat.v1 before tensorflow
        known = max((k for k in (*self.replaced, *self.made) if f"{name}.".startswith(f"{k}.")), key=len)
        if known in self.made:
            sys.modules[name] = self.made[known](name)
            return
        try:
            sys.modules[name] = importlib.import_module(self.replaced[known] + name[len(known) :])
        except ModuleNotFoundError as error:
            parent, _, last = (self.replaced[known] + name[len(known) :]).rpartition(".")
            if error.name == f"{parent}.{last}":  # the module itself refuses the name, with what is nearest
                sys.modules[name] = getattr(importlib.import_module(parent), last)
            else:
                raise


class Forward(types.ModuleType):
    """A module whose names are those of other modules, the first that has one.

    Programs import modules and names in the same way: whoever uses a module as a function, a class or a
    number asks for something that is not there.
    """

    checkout = None  # of their framework, whose files say which names are modules

    def __init__(self, name, targets, own=()):
        super().__init__(name)
        self.__path__ = []
        self._targets = targets
        vars(self).update(own)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        first = None
        for target in self._targets(name):
            try:
                return getattr(target, name)
            except AttributeError as error:
                first = first or error
        raise first or AttributeError(name)

    def has_module(self, name):
        """Return whether a name is a module in the checkout, and so no function."""
        path = self.checkout / self.__name__.replace(".", "/") / name
        return path.with_suffix(".py").exists() or path.is_dir() or name.startswith("gen_")  # generated ones

    def __call__(self, *_, **__):
        raise NotImplementedError(f"teachconv has no {self.__name__}")

    __int__ = __iter__ = __mro_entries__ = __call__

    def __instancecheck__(self, _):
        return False


def replace_imports(first_version: bool) -> None:
    """Let a program import teachconv for TensorFlow and Keras, and stand-ins for data and pictures.

    Args:
        first_version: whether the program's ``tensorflow`` is TensorFlow 1.
    """
    tensorflow = "teachconv.tf.compat.v1" if first_version else "teachconv.tf"
    replaced = {
        "tensorflow": tensorflow,
        "tensorflow.keras": "teachconv.tf.keras",
        "tensorflow.python": "teachconv.tf.python",
        "tensorflow.python.keras": "teachconv.tf.keras",
        "tensorflow.compat.v1": "teachconv.tf.compat.v1",
        "tensorflow.compat.v2": "teachconv.tf",
        "keras": "teachconv.keras",
    }
    sys.meta_path.insert(0, Replacement(replaced, {}))
    stand_ins()


def stand_ins() -> None:
    """Let data sets, downloads and pictures be small arrays, small files and nothing."""
    for name in PICTURES:
        sys.modules[name] = MagicMock(name=name)
        for below in ("display", "vis", "vis.embed"):
            sys.modules[f"{name}.{below}"] = getattr(sys.modules[name], below.rpartition(".")[2])
    sys.modules["IPython"].version_info = (9, 0)  # matplotlib asks for it
    made = {
        "tensorflow.examples": lambda name: Forward(name, lambda _: (), {"read_data_sets": read_data_sets}),
        "tensorflow_datasets": lambda name: Forward(name, lambda _: (), {"load": load_tfds}),
    }
    sys.meta_path.insert(0, Replacement({}, made))
    urllib.request.urlretrieve = download
    keras = importlib.import_module("keras")
    sets = {
        "mnist": data_set(28, 28),
        "fashion_mnist": data_set(28, 28),
        "cifar10": data_set(32, 32, 3, column=True),
        "cifar100": data_set(32, 32, 3, column=True),
    }
    datasets = types.ModuleType("keras.datasets")
    vars(datasets).update({name: types.SimpleNamespace(load_data=load) for name, load in sets.items()})
    tensorflow = importlib.import_module("tensorflow.keras")
    for each in (keras, tensorflow):
        each.datasets = datasets
        each.utils.get_file = get_file
        sys.modules[f"{each.__name__}.datasets"] = datasets
        for name, value in vars(datasets).items():
            sys.modules[f"{each.__name__}.datasets.{name}"] = value


def images(count, *shape, seed=0):
    """Return images of bytes and their classes, in which a network can find the class."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 10, count).astype(np.uint8)
    pictures = rng.integers(0, 100, (count, *shape))
    for picture, number in zip(pictures, classes, strict=True):
        picture[2 * number : 2 * number + 3] += 155
    return pictures.astype(np.uint8), classes


def data_set(*shape, column=False):
    """Return keras.datasets' load_data for images of a shape."""

    def load_data(*_, **__):
        train, test = images(TRAINING_IMAGES, *shape, seed=1), images(TEST_IMAGES, *shape, seed=2)
        return tuple((x, y[:, None] if column else y) for x, y in (train, test))

    return load_data


class DataSet:
    """The images and labels of TensorFlow 1's tutorials."""

    def __init__(self, x, y, one_hot, reshape):
        self.images = np.float32(x.reshape(len(x), -1) if reshape else x[..., None]) / np.float32(255)
        self.labels = np.eye(10)[y] if one_hot else y
        self.num_examples = len(x)
        self._rng = np.random.default_rng(0)

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        chosen = self._rng.integers(0, self.num_examples, batch_size)
        return self.images[chosen], self.labels[chosen]


def read_data_sets(train_dir, fake_data=False, one_hot=False, dtype=None, reshape=True, **_):
    """Return the three parts of MNIST, as tensorflow.examples.tutorials.mnist.input_data does."""
    sizes = {"train": TRAINING_IMAGES, "validation": TEST_IMAGES, "test": TEST_IMAGES}
    sets = {
        name: DataSet(*images(size, 28, 28, seed=seed), one_hot, reshape)
        for seed, (name, size) in enumerate(sizes.items())
    }
    return types.SimpleNamespace(**sets)


def load_tfds(name, split=None, as_supervised=False, with_info=False, **_):
    """Return a data set of tensorflow_datasets: images and classes, or images and masks, of bytes."""
    from_slices = importlib.import_module("tensorflow").data.Dataset.from_tensor_slices
    side = 28 if "mnist" in name else 256
    x, y = images(16, side, side, 1 if "mnist" in name else 3)
    if "pet" in name:
        parts = {"image": x, "segmentation_mask": x[..., :1] % 3 + 1}
    else:
        parts = (x, np.int64(y)) if as_supervised else {"image": x, "label": np.int64(y)}
    names = ("train", "test", "validation", "trainA", "trainB", "testA", "testB")
    wanted = (
        {each: from_slices(parts) for each in names}
        if split is None
        else [from_slices(parts) for _ in split]
        if isinstance(split, (list, tuple))
        else from_slices(parts)
    )
    label = types.SimpleNamespace(num_classes=10, names=list(range(10)), int2str=str)
    splits = {each: types.SimpleNamespace(num_examples=16) for each in names}
    info = types.SimpleNamespace(features={"label": label}, splits=splits)
    return (wanted, info) if with_info else wanted


def download(url, filename, *_, **__):
    """Write the file that an address ends with: MNIST's formats, pictures, or a text of a thousand words."""
    last, path = url.rpartition("/")[2], Path(filename)
    path.parent.mkdir(parents=True, exist_ok=True)
    x, y = images(TEST_IMAGES if "t10k" in last else TRAINING_IMAGES, 28, 28)
    if last.endswith("ubyte.gz"):
        array = x if "images" in last else y
        head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        path.write_bytes(gzip.compress(head + array.tobytes()))
    elif last.endswith((".jpg", ".jpeg", ".png")):
        from PIL import Image

        Image.fromarray(images(1, 256, 512, 3)[0][0]).save(path)
    elif last.endswith(".zip"):
        words = np.random.default_rng(0).choice(
            [f"word{n}" for n in range(300)] + ["the", "of", "going", "five"] * 20,
            20000,
        )
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("text8", " ".join(words))
    else:
        raise OSError(f"no stand-in for {url}")
    return str(path), None


def get_file(fname=None, origin=None, **options):
    """Return the place of what keras.utils.get_file downloads; an archive is a folder of pictures."""
    name = Path(fname or origin.rpartition("/")[2])
    folder = Path("datasets").absolute()
    if name.suffix in (".jpg", ".jpeg", ".png") or not origin.endswith((".tgz", ".tar.gz", ".zip")):
        return download(origin, folder / name.name)[0]
    stem = name.name.split(".")[0]
    inside = folder / f"{stem}_extracted" / stem
    for below in ("train", "val", "validation", "test", "roses", "tulips"):
        for number in (1, 2, 100):
            download(".jpg", inside / below / f"{number}.jpg")
    return str(inside.parent if options.get("extract") or options.get("untar") else folder / name.name)


class ShortLoops(ast.NodeTransformer):
    """Puts a limit of time into loops, and another number of epochs into calls."""

    def visit_For(self, node):
        self.generic_visit(node)
        node.iter = self._call("__limited__", node.iter)
        return node

    def visit_While(self, node):
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [self._call("__more__", ast.Constant(node.lineno)), node.test])
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg in ("epochs", "nb_epoch"):
                keyword.value = self._call("__few__", keyword.value)
        return node

    @staticmethod
    def _call(name, argument):
        return ast.Call(ast.Name(name, ast.Load()), [argument], [])


def short_loops(source: str, path: str):
    """Compile a program so that its loops end after some seconds, and give the names that it then needs.

    Args:
        source: the program.
        path: its name in tracebacks.

    Returns:
        The code, the names, and a list that gets the number of rounds of each loop that ended early.
    """
    cut, rounds = [], {}

    def limited(iterable):
        start = time.process_time()
        for number, item in enumerate(iterable):
            if number >= 2 and time.process_time() - start > SECONDS_A_LOOP:
                cut.append(number)
                return
            yield item

    def more(line):
        start, number = rounds.setdefault(line, (time.process_time(), 0))
        if number >= 2 and time.process_time() - start > SECONDS_A_LOOP:
            cut.append(number)
            return False
        rounds[line] = start, number + 1
        return True

    def few(epochs):
        return min(epochs, FEW_EPOCHS) if isinstance(epochs, int) else epochs

    tree = ast.fix_missing_locations(ShortLoops().visit(ast.parse(source, path)))
    return compile(tree, path, "exec"), {"__limited__": limited, "__more__": more, "__few__": few}, cut
