"""What memory has to say of an access, in words."""

from __future__ import annotations

from warpwright.ttir.findings import Finding, Findings, Kind, Triple
from warpwright.ttir.memory.allocations import Buffer
from warpwright.ttir.memory.shadow import Race
from warpwright.ttir.syntax.locations import Line


class Reports:
    """Findings of one launch; programs are numbered, and shown by their three coordinates."""

    def __init__(self, findings: Findings, grid: Triple) -> None:
        self.findings, self.grid = findings, grid

    def program(self, number: int) -> Triple:
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)

    def name(self, number: int) -> str:
        spot = self.program(number)
        return f"program {spot[0]}" if spot[1:] == (0, 0) else f"program {spot}"

    def outside(self, near: Buffer | None, address: int, does: str, program: int, line: Line | None, n: int) -> None:
        def first() -> Finding:
            text = f"{self.name(program)} {does} {_beyond(near, address)}"
            return Finding(kind=Kind.OUT_OF_BOUNDS, message=text, line=line, program=self.program(program))

        self.findings.add(Kind.OUT_OF_BOUNDS, line, n, first)

    def misaligned(self, width: int, address: int, does: str, program: int, line: Line | None, n: int) -> None:
        def first() -> Finding:
            text = f"{self.name(program)} {does} {width} bytes at the address {address:#x}, which they do not divide"
            return Finding(kind=Kind.MISALIGNED, message=text, line=line, program=self.program(program))

        self.findings.add(Kind.MISALIGNED, line, n, first)

    def uninitialised(self, buffer: Buffer, granule: int, program: int, line: Line | None, n: int) -> None:
        def first() -> Finding:
            text = f"{self.name(program)} reads {element(buffer, granule)} before it is written"
            return Finding(kind=Kind.UNINITIALISED, message=text, line=line, program=self.program(program))

        self.findings.add(Kind.UNINITIALISED, line, n, first)

    def race(self, buffer: Buffer, race: Race) -> None:
        def first() -> Finding:
            text = (
                f"{self.name(race.writer)} writes {element(buffer, race.granule)} while {self.name(race.other)} "
                f"{race.does} it: programs of one launch are not ordered"
            )
            return Finding(
                kind=Kind.RACE,
                message=text,
                line=race.line,
                program=self.program(race.writer),
                other_line=race.other_line,
                other_program=self.program(race.other),
            )

        self.findings.add(Kind.RACE, race.line, race.count, first)

    def clash(self, buffer: Buffer, granule: int, program: int, line: Line | None, n: int) -> None:
        def first() -> Finding:
            text = f"{self.name(program)} writes different values to {element(buffer, granule)} in one store"
            return Finding(kind=Kind.CLASH, message=text, line=line, program=self.program(program))

        self.findings.add(Kind.CLASH, line, n, first)


def element(buffer: Buffer, granule: int) -> str:
    return f"{buffer.name}[{granule - buffer.base % 16 // buffer.granule}]"


def _beyond(near: Buffer | None, address: int) -> str:
    if near is None:
        return f"the address {address:#x}, where there is no tensor"
    index, length = (address - near.base) // near.granule, near.size // near.granule
    return f"{near.name}[{index}], outside of its {length} elements"
