"""Reports are hostile data: what our runtime would never write is refused, not believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warpwright.emulate.report import Tier, read
from warpwright.seal.capture.trace import BadTrace

FINDING = {
    "kind": "race",
    "severity": "likely",
    "kernel": "void k()",
    "launch": 0,
    "code": 100,
    "file": None,
    "line": 7,
    "block": [0, 0, 0],
    "thread": [1, 0, 0],
    "message": "memory is read while another thread writes it",
    "count": 3,
    "other": {"code": 90, "block": [0, 0, 0], "thread": [0, 0, 0], "access": "write"},
    "memory": {"space": "shared", "buffer": None, "name": "s", "offset": 4, "bytes": 4},
}


def line(**emulation: Any) -> bytes:
    return json.dumps({"outcome": "captured", "emulation": {"outcome": "ran", **emulation}}).encode()


def test_a_report_is_read() -> None:
    found = read(line(findings=[FINDING], counters={"barriers": 2}))
    assert (found.outcome, found.counters["barriers"]) == ("ran", 2)
    assert found.findings[0].severity is Tier.LIKELY
    assert found.findings[0].memory is not None
    assert found.findings[0].memory.name == "s"


def test_host_code_that_failed_was_not_emulated() -> None:
    assert read(json.dumps({"outcome": "error", "what": "check"}).encode()).outcome == "skipped"


@pytest.mark.parametrize(
    "bad",
    [
        b"not json",
        b"[]",
        line(outcome=3),
        line(findings=[{**FINDING, "severity": "harmless"}]),
        line(findings=[{**FINDING, "count": "many"}]),
        line(findings="none"),
        line(contents=[{"buffer": 0}]),
        line(counters=[1]),
        json.dumps({"outcome": "captured", "emulation": [1]}).encode(),
    ],
)
def test_anything_else_is_refused(bad: bytes) -> None:
    with pytest.raises(BadTrace):
        read(bad)
