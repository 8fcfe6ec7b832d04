"""The pictures of a run: its timeline as SVG and as a Chrome trace."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from teachconv import graph as tg
from teachconv.graph.common_runtime.graph_pictures import chrome_trace, timeline_svg

pytestmark = pytest.mark.xdist_group("run_pages")

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def metadata():
    metadata = tg.RunMetadata()
    with tg.Graph().as_default() as graph, graph.name_scope("net"):
        x = tg.placeholder("float32", [1, 6, 6, 1], name="x")
        y = tg.nn.max_pool(tg.nn.conv2d(x, np.ones((3, 3, 1, 2), "float32")), 2, 2, "VALID")
        (dx,) = tg.gradients(y, x)
        with tg.Session() as session:
            session.run([y, dx], {x: np.ones((1, 6, 6, 1))}, run_metadata=metadata)
    return metadata


def test_the_timeline_has_a_bar_for_each_node_that_computes_and_an_arrow_for_each_value(metadata):
    root = ElementTree.fromstring(timeline_svg(metadata))
    bars = {group[0].text.split(": ")[0]: group.find(f"{SVG}rect") for group in root.findall(f"{SVG}g")}
    ops = [node.op for node in metadata.nodes if node.name in bars]
    assert ops == ["Conv2D", "MaxPool", "MaxPoolGrad", "Conv2DBackpropInput"]
    lefts = [float(bar.get("x")) for bar in bars.values()]
    assert lefts == sorted(lefts)
    rights = [float(bar.get("x")) + float(bar.get("width")) for bar in bars.values()]
    assert all(230 <= left < right <= 900 - 79 for left, right in zip(lefts, rights, strict=True))
    # conv -> pool, conv and pool -> the gradient of pool, which goes to the gradient of conv
    assert len(root.findall(f"{SVG}path")) == 4
    assert timeline_svg(tg.RunMetadata()) == ""


def test_each_arrow_of_the_chrome_trace_begins_and_ends_at_a_bar(metadata):
    events = json.loads(chrome_trace(metadata))["traceEvents"]
    starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
    ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) >= 4
    assert all(starts[number] <= ends[number] for number in starts)


def test_the_page_shows_the_timeline(metadata):
    page = metadata._repr_html_()
    assert 'aria-label="timeline: ' in page
    assert page.count("<details") == 4
