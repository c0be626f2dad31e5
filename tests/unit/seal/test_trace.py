"""A trace is hostile: whatever is written on the descriptor is read, refused in one sentence, and never crashes us."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpwright.core.launch.plan import Constant, Fill, View
from warpwright.seal.capture.trace import BadTrace, read
from warpwright.seal.capture.traced import Trace, TracedLaunch

VIEW = {"buffer": 0, "offset": 16, "shape": [2, 3], "stride": [3, 1], "dtype": "float32"}
BUFFER = {"base": 4096, "bytes": 40, "origin": "argument", "symbol": None, "born": 0, "freed": None}
LAUNCH = {"op": "launch", "code": 4660, "grid": [1, 1, 1], "block": [32, 1, 1], "arguments": ["00ff"]}


def line(**changes: Any) -> bytes:
    return json.dumps({"outcome": "captured", "what": "", "message": "", "buffers": [BUFFER], **changes}).encode()


def test_views_come_out_in_our_names_of_types() -> None:
    trace = read(line(arguments=[{"tensor": VIEW}], returns={"tuple": [{"tensor": VIEW}, {"none": None}]}))
    view = View(buffer=0, offset=16, shape=(2, 3), stride=(3, 1), dtype="fp32")
    assert trace.arguments == (view,)
    assert trace.returns == (view, None)


@pytest.mark.parametrize("returns", [{"none": None}, {"list": []}, {"tuple": []}])
def test_nothing_may_be_returned(returns: dict[str, Any]) -> None:
    assert read(line(returns=returns)).returns == ()


def test_tensors_of_the_host_come_with_their_elements() -> None:
    host = {"host": True, "shape": [2], "stride": [1], "dtype": "uint8", "data": "01ff"}
    trace = read(line(returns={"tensor": host}))
    assert trace.returns == (Constant(shape=(2,), stride=(1,), dtype="uint8", data=b"\x01\xff"),)


def test_nodes_are_told_apart_by_their_operation() -> None:
    trace = read(line(nodes=[LAUNCH, {"op": "fill", "target": VIEW, "value": 1.5}]))
    assert isinstance(trace.nodes[0], TracedLaunch)
    assert isinstance(trace.nodes[1], Fill)
    assert trace.nodes[1].value == 1.5


@pytest.mark.parametrize(
    "changes",
    [
        {"buffers": [{**BUFFER, "bytes": 39}], "returns": {"tensor": VIEW}},
        {"returns": {"tensor": {**VIEW, "buffer": 1}}},
        {"returns": {"tensor": {**VIEW, "buffer": -1}}},
        {"returns": {"tensor": {**VIEW, "stride": [3, -1]}}},
        {"returns": {"tensor": {**VIEW, "stride": [3]}}},
        {"returns": {"object": 1}},
        {"nodes": [{"op": "format disk"}]},
        {"nodes": [{**LAUNCH, "grid": [1, 1]}]},
        {"nodes": [{**LAUNCH, "grid": [1, 1, "x"]}]},
        {"nodes": [{**LAUNCH, "more": 1}]},
        {"nodes": [{"op": "memset", "buffer": 0, "offset": 8, "bytes": 33, "value": 0}]},
        {"nodes": [{"op": "upload", "buffer": 0, "offset": 39, "data": "0102"}]},
        {"nodes": [{"op": "copy", "source": 0, "source_offset": 0, "target": 9, "target_offset": 0, "bytes": 1}]},
        {"nodes": [{"op": "library", "operation": "from_file", "inputs": [], "outputs": [VIEW]}]},
        {"returns": {"tensor": {**VIEW, "buffer": 7, "shape": [0, 3]}}},
        {"buffers": [BUFFER, {**BUFFER, "bytes": -1}]},
        {"buffers": [BUFFER, {**BUFFER, "bytes": 1 << 60}]},
        {"nodes": 7},
        {"buffers": None},
        {"outcome": 3},
    ],
)
def test_what_the_recorder_never_writes_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadTrace):
        read(line(**changes))


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"null", b'"x"', b"[" * 100_000, b"\xff\xfe", b"1" * 10_000])
def test_what_is_no_trace_at_all_is_refused(text: bytes) -> None:
    with pytest.raises(BadTrace):
        read(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(["outcome", "nodes", "buffers", "attributes", "queries", "arguments", "returns", "entries"])


@given(st.dictionaries(_KEYS, _JSON))
def test_any_json_is_read_or_refused(changes: dict[str, Any]) -> None:
    with suppress(BadTrace):
        assert isinstance(read(line(**changes)), Trace)
