"""Describes findings: errors of a kernel, once for each kind and line, with their place in the source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from warpwright.core.launch.plan import Triple
from warpwright.emulate.report import Memory, Report, Reported, Tier

_TIERS = list(Tier)
_SYMPTOMS = frozenset({"uninitialised", "unwritten", "no-device-work"})
"""Kinds that are often consequences of another error, such as a missing barrier or a failed launch."""
_ACCESSES = {"read": "reads", "write": "writes", "atomic": "atomically updates"}
_VERBS = {"read": "reads", "written": "writes", "updated": "atomically updates"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One kind of error at one line, with its first occurrence."""

    kind: str
    tier: Tier
    message: str
    line: int | None
    other_line: int | None = None
    kernel: str
    count: int
    case: str
    order: str
    block: Triple | None = None
    thread: Triple | None = None
    other_block: Triple | None = None
    other_thread: Triple | None = None


def findings(report: Report, lines: Mapping[int, int], names: Sequence[str], case: str, order: str) -> list[Finding]:
    """The findings of one call. `names` are the names of buffers."""
    return [_finding(item, report, lines, names, case, order) for item in report.findings]


def merged(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Merges findings of one kind and line, adding counts; sorted by severity, causes before symptoms, then by
    order."""
    kept: dict[tuple[object, ...], Finding] = {}
    for item in found:
        key = (item.kind, item.tier, item.line, item.other_line, item.kernel)
        first = kept.setdefault(key, item)
        if first is not item:
            kept[key] = replace(first, count=first.count + item.count)
    return tuple(sorted(kept.values(), key=lambda item: (_TIERS.index(item.tier), item.kind in _SYMPTOMS)))


def _finding(
    item: Reported, report: Report, lines: Mapping[int, int], names: Sequence[str], case: str, order: str
) -> Finding:
    line = item.line or lines.get(item.code)
    other_line = lines.get(item.other.code) if item.other else None
    return Finding(
        kind=item.kind,
        tier=item.severity,
        message=_Words(item, report, names, line, other_line).sentence(),
        line=line,
        other_line=other_line,
        kernel=item.kernel[:200],
        count=item.count,
        case=case,
        order=order,
        block=item.block,
        thread=item.thread,
        other_block=item.other.block if item.other else None,
        other_thread=item.other.thread if item.other else None,
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """Writes a finding as a sentence."""

    item: Reported
    report: Report
    names: Sequence[str]
    line: int | None
    other_line: int | None

    def sentence(self) -> str:
        if self.item.kind == "race" and self.item.other is not None:
            return self._race()
        if self.item.kind == "out-of-bounds" and self.item.memory is not None:
            return f"{self._who()} {self.item.message}{self._extent(self.item.memory)}"
        if self.item.kind == "uninitialised" and self.item.memory is not None:
            return f"{self._who()} reads {self._place(self.item.memory)} before it is written"
        if self.item.kind == "unwritten" and self.item.memory is not None:
            return f"{self._place(self.item.memory)} is never written ({self.item.count} elements are not)"
        said = self.item.message or self.item.kind.replace("-", " ")
        return f"{self._who()}: {said}" if self.item.thread is not None else said

    def _who(self) -> str:
        return f"thread {_spot(self.item.thread)} of block {_spot(self.item.block)}"

    def _race(self) -> str:
        """Describes a race: both threads, the element, and the place of the missing barrier."""
        other = self.item.other
        assert other is not None
        does = next((verb for word, verb in _VERBS.items() if f" is {word}" in self.item.message), "uses")
        place = self._place(self.item.memory) if self.item.memory else "the same memory"
        same = other.block == self.item.block
        whom = f"thread {_spot(other.thread)}" + ("" if same else f" of block {_spot(other.block)}")
        text = f"{self._who()} {does} {place} while {whom} {_ACCESSES.get(other.access, 'uses')} it"
        return text + self._remedy(same)

    def _remedy(self, same_block: bool) -> str:
        if not same_block:
            return ": blocks of one launch are not ordered"
        known = sorted(number for number in (self.line, self.other_line) if number is not None)
        if len(known) < 2:
            return ": no barrier orders the two"
        between = f"after line {known[0]}" if known[0] == known[1] else f"between lines {known[0]} and {known[1]}"
        return f": barrier missing {between}"

    def _place(self, memory: Memory) -> str:
        index = memory.offset // memory.bytes if memory.bytes else memory.offset
        return f"{self._owner(memory)}[{index}]"

    def _owner(self, memory: Memory) -> str:
        if memory.name:
            return memory.name
        if memory.buffer is not None and memory.buffer < len(self.names):
            return self.names[memory.buffer]
        return f"{memory.space} memory"

    def _extent(self, memory: Memory) -> str:
        """States the size of the memory next to the access."""
        buffers = self.report.trace.buffers
        if memory.buffer is None or not 0 <= memory.buffer < len(buffers):
            return ""
        return f" ({self._owner(memory)} has {buffers[memory.buffer].bytes} bytes)"


def _spot(place: Triple | None) -> str:
    """Coordinates, without trailing zeros that are not needed."""
    if place is None:
        return "?"
    return str(place[0]) if place[1:] == (0, 0) else f"({', '.join(map(str, place))})"
