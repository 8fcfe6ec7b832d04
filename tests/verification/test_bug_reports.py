"""The page of real bug reports: what diff says of each."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("bug_reports")

PAGE = Path(__file__).parents[2] / "docs/explanation/real_bug_reports.md"
CELL = re.compile(r"^```\{code-cell\}\n(?::tags:.*\n)?((?:.*\n)*?)```$", re.MULTILINE)
REPORT = re.compile(
    r"^\[([\w./-]+) #(\d+)\]\(https://github\.com/([\w./-]+)/(?:issues|pull)/(\d+)\)", re.MULTILINE
)
SAID = {  # the beginning of what is printed
    "pytorch/pytorch #104206": "output_padding: ",
    "apache/tvm #18635": "output_padding: ",
    "microsoft/onnxruntime #4698": "padding_mode: ",
    "dotnet/TorchSharp #496": "padding: ",
    "pytorch/pytorch #37844": "padding: ",
    "pytorch/pytorch #29712": "padding: ",
    "microsoft/MMdnn #397": "padding_mode: ",
    "tf-encrypted/tf-encrypted #384": "stride: ",
    "IntelLabs/bayesian-torch #34": "dilation_and_groups: ",
    "Samsung/TICO #420": "window: ",
    "keras-team/keras #22876": "output_alignment: ",
    "microsoft/onnxruntime #12537": "output_alignment: ",
    "tensorflow/tensorflow #24151": "output_alignment: ",
    "onnx/tensorflow-onnx #1028": "padding_side: ",
    "google-ai-edge/litert-torch #28": "bias: equal when the bias is subtracted",
    "speechbrain/speechbrain #125": "padding_values: ",
    "Theano/Theano #6297": "groups: ",
    "pytorch/executorch #22951": "reshaped_image: ",
    "pytorch/pytorch #19912": "channels 8-15 of 16 (last 8): zeros",
    "google-ai-edge/LiteRT #9256": "every cell: zeros",
    "ml-explore/mlx #3248": "images 4-5 of 6 (last 2): zeros",
    "Tencent/ncnn #1283": "row 5 of 7, column 5 of 7",
    "apple/coremltools #2515": "row 2 of 3 (last), column 2 of 3 (last)",
    "apache/mxnet #13876": "16 of 25 cells",
}


@pytest.fixture(scope="module")
def reports():
    """Each report by name, with the code of its cell, and the page's first cell under ""."""
    text = PAGE.read_text(encoding="utf-8")
    found = list(REPORT.finditer(text))
    ends = [*(report.start() for report in found[1:]), len(text)]
    cells = {
        f"{report[1]} #{report[2]}": text[report.end() : end] for report, end in zip(found, ends, strict=True)
    }
    return {"": CELL.search(text)[1]} | {name: CELL.search(part)[1] for name, part in cells.items()}


def test_every_report_has_its_own_address(reports):
    text = PAGE.read_text(encoding="utf-8")
    assert all(name == at and number == there for name, number, at, there in REPORT.findall(text))
    assert set(reports) == {"", *SAID}
    assert len(CELL.findall(text)) == len(SAID) + 1  # none is left out


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name, reports, capsys):
    names = {}
    for code in (reports[""], reports[name]):
        exec(compile(code, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.startswith(SAID[name])
