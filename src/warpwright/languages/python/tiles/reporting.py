"""Findings of kernels in the words of the emulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpwright.core.launch.plan import View
from warpwright.emulate.report import Memory, Reported, Tier

if TYPE_CHECKING:
    from warpwright.ttir.findings import Finding
    from warpwright.ttir.memory.allocations import Buffer

_LIKELY = ("race", "clash", "division")


def reported(found: Sequence[Finding], kernel: str, launch: int) -> list[Reported]:
    return [_reported(item, kernel, launch) for item in found]


def _reported(item: Finding, kernel: str, launch: int) -> Reported:
    tier = Tier.LIKELY if item.kind.value in _LIKELY else Tier.FATAL
    other = f" (the other in line {item.other_line.number})" if item.other_line else ""
    return Reported(
        kind=item.kind.value,
        severity=tier if item.kind.refutes else Tier.TOLERATED,
        message=item.message + other,
        count=item.count,
        kernel=kernel,
        launch=launch,
        line=item.line.number if item.line else None,
        block=item.program,
    )


def unwritten_results(held: Buffer, view: View, width: int) -> list[Reported]:
    """A result of which some elements were never written."""
    from warpwright.ttir.plain import unwritten

    places = unwritten(held, view.offset, view.shape, view.stride, width)
    if not places:
        return []
    place = Memory(space="global", offset=places[0], bytes=width, buffer=view.buffer)
    return [Reported(kind="unwritten", severity=Tier.FATAL, message="", count=len(places), memory=place)]
