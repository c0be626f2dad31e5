"""Planted bugs, each beside a twin that differs in nothing but the bug: all are caught, and no twin is reported.

A file of plants/ is one program. Above each kernel stands what the bug is called, and "here" marks the lines that a
report may name.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.signature import TensorSpec
from warpwright.emulate.findings import Finding, findings
from warpwright.emulate.program import build
from warpwright.emulate.program.build import program
from warpwright.emulate.program.calls import EmulatedCall, Order
from warpwright.emulate.program.lines import resolved
from warpwright.emulate.program.running import Ran, run
from warpwright.seal.cache import Store, default_root

# Whichever comes first on a machine compiles the runtime as well.
pytestmark = pytest.mark.timeout(600)

PLANTS = Path(__file__).parent / "plants"
CONTRACT = (build.RUNTIME / "contract.md").read_text()
PREAMBLE = (PLANTS / "preamble.h").read_text()
_PLANT = re.compile(r"^PLANT(?:_HOST)?\((\w+)", re.MULTILINE)
_KINDS = re.compile(r"^// ((?:[a-z-]+ ?)+)\n", re.MULTILINE)
ELEMENTS = 100
VALUES = struct.pack(f"<{ELEMENTS}f", *((i * 37 % 101 - 50) / 8 for i in range(ELEMENTS)))
X = TensorSpec(name="x", shape=(ELEMENTS,), stride=(1,), dtype="fp32")


@dataclass(frozen=True)
class Plant:
    file: str
    name: str
    kinds: tuple[str, ...]
    lines: tuple[int, ...]


def plants() -> Iterator[Plant]:
    for path in sorted(PLANTS.glob("*.cu")):
        text, start = path.read_text(), 0
        for match in _PLANT.finditer(text):
            section = text[start : match.end()]
            kinds = _KINDS.search(section)
            assert kinds, f"{match[1]} does not say what its bug is"
            first = text[:start].count("\n") + 1
            marked = [first + i for i, line in enumerate(section.splitlines()) if line.endswith("// here")]
            yield Plant(path.stem, match[1], tuple(kinds[1].split()), tuple(marked))
            start = match.end()


ALL = list(plants())


@dataclass(frozen=True)
class Seen:
    ran: Ran
    found: list[Finding]


@cache
def _seen(file: str) -> dict[tuple[str, Order], Seen]:
    """Every entry of a file in every order, in as few processes as will do."""
    store = Store(root=default_root())
    source = f'{PREAMBLE}\n#line 1 "kernel.cu"\n{(PLANTS / file).with_suffix(".cu").read_text()}'
    built = program(Candidate(source=source), store)
    names = [f"{plant.name}_{way}" for plant in ALL if plant.file == file for way in ("wrong", "right")]
    asked = [(name, order) for name in names for order in Order]
    calls = [EmulatedCall(entry=name, arguments=(X,), contents=(VALUES,), order=order, seed=7) for name, order in asked]
    ran = run(built, calls, gpu_named("h200"), store)
    return {key: Seen(one, _found(built, one, store)) for key, one in zip(asked, ran, strict=True)}


def _found(built: Path, ran: Ran, store: Store) -> list[Finding]:
    if ran.report is None or not ran.report.findings:
        return []
    codes = {item.code for item in ran.report.findings} | {i.other.code for i in ran.report.findings if i.other}
    with store.staging() as folder:
        return findings(ran.report, resolved(built, codes, folder), ["x", "y"], "plant", "order")


@pytest.mark.parametrize("plant", ALL, ids=lambda plant: plant.name)
def test_the_bug_is_caught(plant: Plant) -> None:
    seen = [_seen(plant.file)[f"{plant.name}_wrong", order] for order in Order]
    found = [item for one in seen for item in one.found]
    outcomes = {one.ran.report.outcome if one.ran.report else "died" for one in seen}
    named = [item for item in found if item.kind in plant.kinds]
    assert named, f"{[(item.kind, item.line, item.message) for item in found]} {outcomes}"
    if plant.lines:
        assert any({item.line, item.other_line} & set(plant.lines) for item in named), [i.line for i in named]


@pytest.mark.parametrize("plant", ALL, ids=lambda plant: plant.name)
def test_its_twin_is_clean(plant: Plant) -> None:
    for order in Order:
        seen = _seen(plant.file)[f"{plant.name}_right", order]
        assert seen.ran.report is not None, seen.ran.ended
        assert seen.ran.report.outcome == "ran", seen.ran.report.what
        assert [(item.kind, item.line, item.message) for item in seen.found] == []


def test_there_are_enough_of_every_kind_in_the_contract() -> None:
    listed = re.search(r"^    KIND  ((?:[a-z-]+\s+)+)\n", CONTRACT, re.MULTILINE)
    assert listed
    planted = Counter(plant.kinds[0] for plant in ALL)
    assert {kind: planted[kind] for kind in listed[1].split() if planted[kind] < 4} == {}
    assert set(planted) == set(listed[1].split())
    assert len(ALL) >= 100
