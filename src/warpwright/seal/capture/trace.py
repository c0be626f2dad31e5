"""Reads a trace as hostile data: the candidate shared the process that wrote it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from warpwright.core.codec import CodecError, decode
from warpwright.core.dtypes import BY_TORCH_NAME, DTYPES
from warpwright.core.launch.operations import OPERATIONS
from warpwright.core.launch.plan import Constant, Copy, Fill, Library, Memset, Origin, View
from warpwright.seal.capture.traced import (
    RETAINED,
    Attribute,
    Query,
    Trace,
    TracedBuffer,
    TracedLaunch,
    TracedNode,
    TracedUpload,
    views,
)

MOST_NODES = 100_000
MOST_BUFFERS = 100_000
MOST_BYTES = 1 << 47
"""The largest size of one buffer: the address range of a GPU."""
_ORIGINS = {*Origin, RETAINED}
_NODES: dict[str, type[TracedNode]] = {
    kind.KIND: kind for kind in (TracedLaunch, Fill, Memset, TracedUpload, Copy, Library)
}


class BadTrace(ValueError):
    """A trace that our recorder cannot have written."""


def read(line: bytes) -> Trace:
    try:
        data = json.loads(line)
        return _trace(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadTrace(f"the output of the capture program is no trace: {error!s:.200}") from None


def _trace(data: Mapping[str, Any]) -> Trace:
    if len(data.get("nodes", ())) > MOST_NODES or len(data.get("buffers", ())) > MOST_BUFFERS:
        raise BadTrace("too many operations or buffers for one call")
    trace = Trace(
        outcome=decode(str, data["outcome"]),
        what=decode(str, data.get("what", ""))[:1000],
        message=decode(str, data.get("message", ""))[:4000],
        buffers=decode(tuple[TracedBuffer, ...], data.get("buffers", [])),
        nodes=tuple(_node(node) for node in data.get("nodes", [])),
        attributes=decode(tuple[Attribute, ...], data.get("attributes", [])),
        queries=decode(tuple[Query, ...], data.get("queries", [])),
        arguments=tuple(_tensor(value) for value in data.get("arguments", [])),  # type: ignore[misc]
        returns=tuple(_values(data.get("returns", {"none": None}))),
        entries=tuple(decode(str, entry["name"]) for entry in data.get("entries", [])),
    )
    _check_references(trace)
    return trace


def _node(data: Mapping[str, Any]) -> TracedNode:
    rest = {key: value for key, value in data.items() if key != "op"}
    if data["op"] == "library":
        rest["inputs"] = [None if view is None else _plain_view(view) for view in rest["inputs"]]
        rest["outputs"] = [_plain_view(view) for view in rest["outputs"]]
    if data["op"] == "fill":
        rest["target"] = _plain_view(rest["target"])
    node: TracedNode = decode(_NODES[data["op"]], rest, f"$.{data['op']}")
    return node


def _plain_view(view: Mapping[str, Any]) -> dict[str, Any]:
    """A VIEW of the trace in the codec's form and with our names of dtypes."""
    known = BY_TORCH_NAME.get(view["dtype"])
    plain = {key: value for key, value in view.items() if key != "host"}
    plain["dtype"] = known.name if known else view["dtype"]
    if not view.get("host"):
        return plain | {"kind": "view"}
    return plain | {"kind": "constant", "data": base64.b64encode(bytes.fromhex(plain["data"])).decode()}


def _tensor(value: Mapping[str, Any]) -> View | Constant:
    tensor: View | Constant = decode(View | Constant, _plain_view(value.get("tensor", value)))
    return tensor


def _values(value: Mapping[str, Any]) -> list[View | Constant | None]:
    """Returned tensors in order, taken out of tuples and lists."""
    match value:
        case {"none": _}:
            return []
        case {"tensor": _}:
            return [_tensor(value)]
        case {"list": items} | {"tuple": items}:
            return [entry for item in items for entry in (_values(item) or [None])]
        case {"dict": items}:
            return [entry for item in items.values() for entry in (_values(item) or [None])]
    raise CodecError(f"{value!r:.100} is not a returned value we know")


def _check_references(trace: Trace) -> None:
    """Checks that every buffer has a known kind and size, that every reference exists, and that every range lies within
    its buffer."""
    if strange := {buffer.origin for buffer in trace.buffers} - _ORIGINS:
        raise BadTrace(f"a buffer of an unknown kind: {min(strange):.40}")
    if not all(0 <= buffer.bytes <= MOST_BYTES for buffer in trace.buffers):
        raise BadTrace("a buffer of a size that no memory has")
    for view in views(trace):
        _check_view(trace, view)
    for node in trace.nodes:
        match node:
            case Library() if node.operation not in OPERATIONS:
                raise BadTrace(f"an operation that our headers do not offer: {node.operation:.80}")
            case Memset():
                _check_span(trace, node.buffer, node.offset, node.bytes)
            case TracedUpload():
                _check_span(trace, node.buffer, node.offset, len(node.data) // 2)
            case Copy():
                _check_span(trace, node.source, node.source_offset, node.bytes)
                _check_span(trace, node.target, node.target_offset, node.bytes)


def _check_view(trace: Trace, view: View) -> None:
    element = DTYPES[view.dtype].bytes if view.dtype in DTYPES else 1
    if len(view.shape) != len(view.stride) or min((*view.shape, *view.stride), default=0) < 0:
        raise BadTrace("a view with a negative or missing size")
    if 0 in view.shape:
        _check_span(trace, view.buffer, 0, 0)
        return
    reach = sum((extent - 1) * stride for extent, stride in zip(view.shape, view.stride, strict=True))
    _check_span(trace, view.buffer, view.offset, (reach + 1) * element)


def _check_span(trace: Trace, buffer: int, offset: int, size: int) -> None:
    if not 0 <= buffer < len(trace.buffers):
        raise BadTrace(f"buffer {buffer} does not exist")
    if offset < 0 or size < 0 or offset + size > trace.buffers[buffer].bytes:
        raise BadTrace(f"{size} bytes at {offset} do not fit in buffer {buffer} of {trace.buffers[buffer].bytes}")
