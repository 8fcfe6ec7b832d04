"""The picture of a run: a Chrome trace."""

import json

import numpy as np
import pytest

from teachconv import graph as tg
from teachconv.graph.common_runtime.graph_pictures import chrome_trace

pytestmark = pytest.mark.xdist_group("run_pages")


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


def test_each_arrow_of_the_chrome_trace_begins_and_ends_at_a_bar(metadata):
    events = json.loads(chrome_trace(metadata))["traceEvents"]
    starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s"}
    ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) >= 4
    assert all(starts[number] <= ends[number] for number in starts)


def test_the_page_shows_the_run_and_both_graphs(metadata):
    assert metadata._repr_html_().count("<details") == 4
