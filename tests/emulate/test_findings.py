"""Findings: the words that a person reads, and that one bug is one finding however often it is met."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpwright.emulate.findings import Finding, findings, merged
from warpwright.emulate.report import Memory, Other, Report, Reported, Tier
from warpwright.seal.capture.traced import Trace, TracedBuffer

TRACE = Trace(outcome="captured", buffers=(TracedBuffer(base=0, bytes=400, origin="argument"),))
RACE = Reported(
    kind="race",
    severity=Tier.FATAL,
    message="memory is read while another thread writes it",
    count=32,
    kernel="void k()",
    code=100,
    block=(0, 0, 0),
    thread=(32, 0, 0),
    other=Other(code=200, block=(0, 0, 0), thread=(0, 0, 0), access="write"),
    memory=Memory(space="shared", name="s", offset=0, bytes=4),
)


def worded(item: Reported) -> Finding:
    report = Report(trace=TRACE, outcome="ran", findings=(item,))
    (found,) = findings(report, {100: 42, 200: 41}, ["x"], "small", "forward")
    return found


def test_a_race_names_both_sides_and_the_missing_barrier() -> None:
    found = worded(RACE)
    said = "thread 32 of block 0 reads s[0] while thread 0 writes it: barrier missing between lines 41 and 42"
    assert found.message == said
    assert (found.line, found.other_line, found.tier) == (42, 41, Tier.FATAL)


def test_a_race_between_blocks_has_no_barrier_to_offer() -> None:
    found = worded(replace(RACE, other=replace(RACE.other, block=(1, 0, 0))))
    assert found.message.endswith("blocks of one launch are not ordered")
    assert "thread 0 of block 1" in found.message


@pytest.mark.parametrize(
    ("kind", "memory", "says"),
    [
        ("out-of-bounds", Memory(space="global", buffer=0, offset=400, bytes=4), "x has 400 bytes"),
        ("uninitialised", Memory(space="shared", name="tile", offset=8, bytes=4), "reads tile[2] before it is written"),
        ("unwritten", Memory(space="global", buffer=0, offset=396, bytes=4), "x[99] is never written"),
    ],
)
def test_places_have_names(kind: str, memory: Memory, says: str) -> None:
    assert says in worded(replace(RACE, kind=kind, memory=memory, other=None)).message


def test_one_line_is_one_finding_and_the_gravest_comes_first() -> None:
    grave, mild = worded(RACE), replace(worded(RACE), tier=Tier.TOLERATED, line=7)
    kept = merged([mild, grave, replace(grave, case="large", count=5)])
    assert [(item.tier, item.line, item.count) for item in kept] == [(Tier.FATAL, 42, 37), (Tier.TOLERATED, 7, 32)]
    assert kept[0].case == "small"
