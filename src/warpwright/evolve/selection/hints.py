"""Selects the hint of a prompt: one that is new to the candidate's lineage, preferably one that has helped others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from warpwright.core.records.search import Fate, Member
from warpwright.evolve.selection.population import Population
from warpwright.evolve.turn import Turn

DOUBT = 2.0
"""The number of neutral uses that smooth a hint's record, so that a single failure does not exclude it."""


def hint(turn: Turn, parent: Member) -> str | None:
    unsuited = turn.given.unsuited.get(parent.candidate or "", ())
    known = [text for text in turn.given.hints if text not in unsuited]
    if not known:
        return None
    used = _used_on(parent, turn) | inherited(parent, turn.people)
    open_ = [text for text in known if text not in used] or known
    if not turn.policy.learn_hints:
        return turn.rng.choice(open_)
    worth = record(turn.members, turn.people)
    return turn.rng.choices(open_, [worth.get(text, 1.0) for text in open_])[0]


def _used_on(parent: Member, turn: Turn) -> set[str | None]:
    return {brief.hint for brief in turn.all_briefs if parent.candidate in brief.parents}


def inherited(member: Member, people: Population) -> set[str | None]:
    """The hints used for a member and its ancestors, which its source follows already."""
    return {ancestor.brief.hint for ancestor in people.lineage(member).values()}


def record(members: Collection[Member], people: Population) -> dict[str, float]:
    """For each used hint: twice the smoothed fraction of its uses that made a parent faster."""
    uses, wins = Counter[str](), Counter[str]()
    for member in members:
        if member.brief.hint and member.fate not in (Fate.ASKED, Fate.FAULTED, Fate.WAITING):
            uses[member.brief.hint] += 1
            wins[member.brief.hint] += (people.gain(member) or 0.0) > 0.0
    return {text: (wins[text] + DOUBT / 2) / (uses[text] + DOUBT) * 2 for text in uses}
