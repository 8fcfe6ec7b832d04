"""Every format that teachconv reads, damaged: only documented errors come out, which say what is wrong with which file."""

import json
import random
import shutil
import zipfile

import numpy as np
import pytest
from hostile import damaging

import teachconv as tc
from teachconv.cli.main import main
from teachconv.networks import recorder
from teachconv.testing import vectors as exported

LEGAL = (tc.ArgumentError, tc.ArgumentTypeError, tc.BackendUnavailable, OSError, MemoryError)
X = damaging.X


def by_command(*command):
    """Run a command, whose error is a status."""
    if main([*map(str, command)]) == 2:
        raise tc.ArgumentError("refused by the command")


def read_npy(path):
    by_command("explain", "conv2d", "--input", path, "--filters", "3,3,2,1", "--at", "0,0,0,0")


def read_image(path):
    by_command("explore", "--input", path, "-o", path.with_suffix(".html"))


def read_recording(path):
    str(tc.compare(damaging.network(), path, X))


def read_onnx(path):
    model = tc.onnx_model(path, check=True)
    assert str(model)
    model.run({each.name: X for each in model._model.graph.input})


def judge(folder):
    """Judge right results: damage is an error, or it is not seen because it changes nothing."""
    report = exported.judge(folder)
    assert report.passed is not False, "damage to the files condemned a right kernel"
    return report


def bytes_of(array):
    file = damaging.io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def saved(path):
    damaging.network().save_weights(path)
    return path.read_bytes()


def recording(path):
    damaging.recording(path)
    return path.read_bytes()


def picture(path):
    image = pytest.importorskip("PIL.Image")
    image.fromarray(np.arange(108, dtype="uint8").reshape(6, 6, 3)).save(path)
    return path.read_bytes()


def with_package(package, made):
    pytest.importorskip(package)
    return made()


FORMATS = {  # the file's name, what it holds, and what reads it
    "an array": ("x.npy", lambda path: bytes_of(X), read_npy),
    "an image": ("x.png", picture, read_image),
    "weights": ("x.weights.npz", saved, lambda path: damaging.network().load_weights(path)),
    "safetensors": (
        "x.safetensors",
        lambda path: with_package("safetensors", lambda: saved(path)),
        lambda path: damaging.network().load_weights(path),
    ),
    "a recording": ("x.npz", recording, read_recording),
    "ONNX": ("x.onnx", lambda path: with_package("onnxruntime", damaging.onnx_network), read_onnx),
    "ONNX, compared": (
        "x.onnx",
        lambda path: with_package("onnx", damaging.onnx_network),
        lambda path: str(tc.compare(damaging.network(), path, X)),
    ),
    "TFLite": (
        "x.tflite",
        lambda path: with_package("ai_edge_litert", damaging.tflite),
        lambda path: str(tc.compare(path, path, X)),
    ),
}


def try_formats(name, folder, trials, seed):
    """Read damaged files; return how many were refused."""
    file, made, read = FORMATS[name]
    path, rng, refused = folder / file, random.Random(seed), []
    whole = made(path)
    path.write_bytes(whole)
    read(path)
    for _ in range(trials):
        ways = [damaging.flipped, damaging.damaged]
        ways += [damaging.recording_with_wrong_fields] * 2 * (name == "a recording")
        path.write_bytes(rng.choice(ways)(whole, rng))
        try:
            read(path)
        except LEGAL as error:
            refused.append(str(error))
    assert all(refused)
    return len(refused)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_give_documented_errors(name, tmp_path):
    assert 0 < try_formats(name, tmp_path, 30, 1) <= 30


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_files_give_documented_errors(name, tmp_path):
    assert 0 < try_formats(name, tmp_path, 1000, 2) <= 1000


# ---------------------------------------------------------------------------------------------
# Vectors: a file that was damaged on its way condemns no kernel
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def vectors(tmp_path):
    """A directory of vectors with right results for two in three."""
    exported.export(tmp_path, tags="hand", data="integers")
    stored = (tmp_path / "data.bin").read_bytes()
    (tmp_path / "results").mkdir()
    for entry in json.loads((tmp_path / "index.json").read_text())["vectors"]:
        at, size = entry["want"]["offset"], entry["want"]["nbytes"]
        if entry["id"] % 3:
            (tmp_path / "results" / f"{entry['id']}.bin").write_bytes(stored[at : at + size])
    return tmp_path


def try_vectors(folder, trials, seed):
    rng, refused = random.Random(seed), []
    whole = {name: (folder / name).read_bytes() for name in ("index.json", "data.bin")}
    for _ in range(trials):
        name = rng.choice([*whole])
        ways = [damaging.flipped, damaging.damaged]
        ways += [lambda text, rng: damaging.with_wrong_fields(text, rng).encode()] * (name == "index.json")
        (folder / name).write_bytes(rng.choice(ways)(whole[name], rng))
        try:
            judge(folder)
        except LEGAL as error:
            refused.append(str(error))
        (folder / name).write_bytes(whole[name])
    assert all(str(folder) in message for message in refused)
    return len(refused)


def test_damaged_vectors(vectors):
    assert judge(vectors).passed
    assert try_vectors(vectors, 60, 1) > 30


@pytest.mark.slow
def test_many_damaged_vectors(vectors):
    assert try_vectors(vectors, 2000, 2) > 1000


def changed_index(folder, change):
    about = json.loads((folder / "index.json").read_text())
    change(about)
    (folder / "index.json").write_text(json.dumps(about))


def test_a_flipped_bit_of_a_stored_result_is_said_and_condemns_no_kernel(vectors):
    about = json.loads((vectors / "index.json").read_text())
    stored = bytearray((vectors / "data.bin").read_bytes())
    stored[about["vectors"][1]["want"]["offset"] + 3] ^= 64
    (vectors / "data.bin").write_bytes(stored)
    with pytest.raises(ValueError, match=r"vector 1 must be as it was exported; .*its checksum differs"):
        exported.judge(vectors)


@pytest.mark.parametrize("format_", [2, 0, "1", None])
def test_another_format_of_vectors_is_refused(format_, vectors):
    changed_index(vectors, lambda about: about.update(format=format_))
    with pytest.raises(ValueError, match=f"its format is {format_!r}, and 1 is read here"):
        exported.judge(vectors)


def test_vectors_without_checksums_are_judged_and_it_is_said(vectors):
    changed_index(vectors, lambda about: [entry.pop("crc32") for entry in about["vectors"]])
    report = exported.judge(vectors)
    assert report.passed
    assert "no checksum" in report.title


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("id"),
        lambda entry: entry.update(op="convolve"),
        lambda entry: entry.update(id="../../secret"),
        lambda entry: entry["first"].update(nbytes=4),
        lambda entry: entry["axes"][0].pop("stride"),
    ],
)
def test_a_vector_with_wrong_fields_is_named(change, vectors):
    def changed(about):
        about["vectors"][2].pop("crc32")
        change(about["vectors"][2])

    changed_index(vectors, changed)
    with pytest.raises(ValueError, match="vector 2 must be as it was exported; .*index.json cannot be read"):
        exported.judge(vectors)


def test_truncated_data_is_said(vectors):
    (vectors / "data.bin").write_bytes((vectors / "data.bin").read_bytes()[:200])
    with pytest.raises(ValueError, match="must be as it was exported"):
        exported.judge(vectors)
    (vectors / "data.bin").write_bytes(b"")
    with pytest.raises(ValueError, match="data.bin is empty"):
        exported.judge(vectors)


# ---------------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------------


def test_a_recording_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path):
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("layers.npy", "w") as member,
    ):
        for _ in range(300):
            member.write(bytes(1 << 20))
    with pytest.raises(ValueError, match="it unpacks to 314,572,800 bytes, and 268,435,456 are the most"):
        tc.compare(damaging.network(), path, X)


@pytest.mark.parametrize("name", ["a recording", "weights"])
def test_an_archive_with_a_wrong_offset_is_named(name, tmp_path):
    file, made, read = FORMATS[name]
    path = tmp_path / file
    whole = bytearray(made(path))
    at = whole.rfind(b"PK\5\6")
    whole[at + 16 : at + 20] = b"\xff\xff\xff\x7f"
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=rf"{file} cannot be read"):
        read(path)


@pytest.mark.parametrize("name", ["an array", "a recording", "weights"])
def test_a_header_that_claims_more_than_the_file_has_is_named(name, tmp_path, capsys):
    file, made, read = FORMATS[name]
    path, array = tmp_path / file, bytes_of(X)
    whole, shape = made(path), str(X.shape).encode()
    larger = b"(1048576, 1048576, 3, 1)"
    claimed = (
        array[:128].replace(shape + b", }" + b" " * (len(larger) - len(shape)), larger + b", }") + array[128:]
    )
    assert len(claimed) == len(array)
    path.write_bytes(whole)
    if name != "an array":
        with zipfile.ZipFile(path) as archive:
            members = {member: archive.read(member) for member in archive.namelist()}
        changed = next(member for member in members if member != "layers.npy")
        members[changed] = claimed
        with zipfile.ZipFile(path, "w") as archive:
            for member, data in members.items():
                archive.writestr(member, data)
    else:
        path.write_bytes(claimed)
    with pytest.raises(ValueError, match=r"refused by the command|cannot be read") as caught:
        read(path)
    words = f"{caught.value}{capsys.readouterr().err}"
    assert file in words
    assert "its header claims 13,194,139,533,312 bytes of numbers" in words


@pytest.mark.parametrize("ending", ["onnx", "tflite"])
def test_a_model_that_is_longer_than_its_format_has_is_not_read(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    with path.open("wb") as file:
        file.truncate(5 << 30)  # a hole
    with pytest.raises(ValueError, match=r"5,368,709,120 bytes, and 2,147,483,647 are the most"):
        tc.compare(damaging.network(), path, X)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="is empty"):
        tc.compare(damaging.network(), path, X)


def doubling(onnx, times, circle=False):
    """A model whose functions each call the one before twice."""
    make, opset = (
        onnx.helper.make_node,
        [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("own", 1)],
    )
    functions = [onnx.helper.make_function("own", "f0", ["a"], ["b"], [make("Relu", ["a"], ["b"])], opset)]
    for n in range(1, times):
        inner = f"f{n if circle else n - 1}"
        body = [make(inner, ["a"], ["h"], domain="own"), make(inner, ["h"], ["b"], domain="own")]
        functions.append(onnx.helper.make_function("own", f"f{n}", ["a"], ["b"], body, opset))
    ends = [onnx.helper.make_tensor_value_info(name, 1, [1, 2, 6, 6]) for name in "xy"]
    graph = onnx.helper.make_graph(
        [make(f"f{times - 1}", ["x"], ["y"], domain="own")], "g", ends[:1], ends[1:]
    )
    return onnx.helper.make_model(graph, opset_imports=opset, ir_version=9, functions=functions)


@pytest.mark.parametrize(
    ("times", "circle", "nodes"),
    [(17, False, "to 65,536"), (60, False, "to 576,460,752,303,423,488"), (2, True, "to infinitely many")],
)
def test_functions_that_double_each_other_are_counted_and_not_expanded(times, circle, nodes, tmp_path):
    onnx = pytest.importorskip("onnx")
    model, path = doubling(onnx, times, circle), tmp_path / "x.onnx"
    path.write_bytes(model.SerializeToString())
    for read in (
        lambda: tc.onnx_model(path),
        lambda: tc.onnx_model(model),
        lambda: tc.compare(damaging.network(), path, X),
        lambda: tc.compare(damaging.network(), model, X),
    ):
        with pytest.raises(
            ValueError, match=f"functions add at most 20,000 nodes; those of 'g' expand {nodes}"
        ):
            read()
    assert tc.onnx_model(doubling(onnx, 5)).nodes == ()


def test_names_and_words_that_are_not_utf_8(tmp_path):
    onnx = pytest.importorskip("onnx")
    whole, path = damaging.onnx_network(), tmp_path / "x.onnx"
    path.write_bytes(whole.replace(b"first/", b"fir\xff\xff/"))
    with pytest.raises(ValueError, match="names are UTF-8; one is"):
        tc.onnx_model(path)
    node = onnx.helper.make_node("Conv", ["x", "w"], ["y"], name="n", auto_pad=b"\xff\xfe")
    ends = [onnx.helper.make_tensor_value_info(name, 1, [1, 1, 6, 6]) for name in "xy"]
    weights = [onnx.numpy_helper.from_array(np.ones((1, 1, 3, 3), "float32"), "w")]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", ends[:1], ends[1:], weights))
    (found,) = tc.onnx_model(model).nodes
    assert found.note.startswith("refused: auto_pad must be")


def test_a_recording_whose_calls_are_of_other_forms_is_said(tmp_path):
    path = tmp_path / "x.npz"
    recorded = recorder.record_keras(damaging.network(), X)
    for change in ({"output": "x"}, {"error": 3}, {"kwargs": None}, {"name": 3}, {"args": 3}):
        recorder.save(path, [recorded[0] | change, *recorded[1:]])
        with pytest.raises(
            ValueError, match=r"a recording must be a file that recorder.save wrote; .*x\.npz"
        ):
            tc.compare(damaging.network(), path, X)
    wrong = [
        {"returned": [[-1, X]]},
        {"returned": [["", [X, 3]]]},
        {"returned": [["", {"y": 3}]]},
        {"returned": 3},
    ]
    for change in wrong:
        recorder.save(path, [*recorded[:-1], recorded[-1] | change])
        with pytest.raises(ValueError, match=r"x\.npz cannot be read"):
            tc.compare(damaging.network(), path, X)
    shutil.copy(__file__, path)
    with pytest.raises(ValueError, match="cannot be read: File is not a zip file"):
        tc.compare(damaging.network(), path, X)


@pytest.mark.parametrize("instead", [True, 3.5, "x", []])
def test_a_recorded_convolution_whose_input_is_no_array(instead, tmp_path):
    torch, path = pytest.importorskip("torch"), tmp_path / "x.npz"
    model = torch.nn.Conv2d(X.shape[1], 2, 1).eval()
    (call,) = recorder.record_torch(model, X)
    recorder.save(path, [call | {"args": [instead, *call["args"][1:]]}])
    if isinstance(instead, (bool, float)):
        with pytest.raises(ValueError, match=r"x\.npz cannot be read: the input of .* must be an array; got"):
            tc.compare(model, path, X)
    else:
        assert tc.compare(model, path, X).passed is None


def test_tensors_without_numbers_are_said():
    torch = pytest.importorskip("torch")
    x, layer = torch.ones(1, 2, 8, 8, device="meta"), torch.nn.Conv2d(2, 3, 3, device="meta")
    for query in (lambda: tc.find_source(layer, x), lambda: tc.find_source(tc.dialects.torch.conv2d, x, x)):
        with pytest.raises(
            (ValueError, TypeError), match=r"got one on meta: torch.ones_like\(\w+, device='cpu'\)"
        ):
            query()
    for query in (
        lambda: tc.translate(layer, (1, 2, 8, 8), to="jax"),
        lambda: tc.compare(layer.eval(), layer, np.ones((1, 2, 8, 8), "float32")),
    ):
        with pytest.raises(ValueError, match="weights in memory: 'weight' is on meta"):
            query()
