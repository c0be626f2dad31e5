"""Islands: populations that breed apart, and a ring along which the best are copied now and then."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright.core.search import Member


def residents(members: Sequence[Member], island: int, islands: int, every: int) -> tuple[Member, ...]:
    """Who may breed on an island: natives and those copied to it, in the order given, which is slowest first."""
    here = {member.candidate for member in members if member.brief.island == island}
    here |= migrants(members, (island - 1) % islands, every)
    return tuple(member for member in members if member.candidate in here)


def migrants(members: Sequence[Member], origin: int, every: int) -> set[str | None]:
    """The best natives of an island at the end of each `every`th generation: copied once, and never sent on."""
    natives = [member for member in members if member.brief.island == origin]
    last = max((member.generation for member in members), default=0)
    best = set()
    for end in range(every, last + 1, every):
        born = [member.candidate for member in natives if member.generation <= end]
        best.update(born[-1:])
    return best
