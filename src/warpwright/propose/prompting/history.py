"""Tells what a run has tried: one line for each proposal, with its outcome."""

from __future__ import annotations

import math

from warpwright.core.records.search import Basis, Brief, Fate, Member, Score, Snapshot
from warpwright.propose.prompting.gpu.hints import hint_text

_MOST = 40
"""Lines: only the latest proposals are told."""
_OUTCOMES = {
    Fate.ASKED: "not answered yet",
    Fate.UNREADABLE: "no usable code",
    Fate.DUPLICATE: "the same as an earlier kernel",
    Fate.UNDECIDED: "neither shown to be correct nor wrong",
    Fate.WAITING: "correct, not timed yet",
    Fate.UNSCORED: "correct, but its time could be neither measured nor predicted",
}


def history(snapshot: Snapshot, brief: Brief) -> str:
    """Tells a writer what was tried before a brief, and what is asked of other writers at the same time.

    The text does not depend on which of the other writers have answered, so that a resumed run asks the same.
    """
    together = next((item.briefs for item in snapshot.decisions if brief in item.briefs), (brief,))
    earlier = [item for item in snapshot.members if item.brief.number < together[0].number]
    told = [line(member) for member in earlier if member.fate is not Fate.FAULTED]
    others = [_request(other) for other in together if other.number < brief.number]
    return "\n".join([*told, *(f"{other}: being written now by someone else" for other in others)][-_MOST:])


def line(member: Member) -> str:
    """One proposal and its outcome."""
    return f"{_request(member.brief)}: {_outcome(member)}"


def _request(brief: Brief) -> str:
    idea = f", idea: {hint_text(brief.hint)}" if brief.hint else ""
    return f"{brief.number}. {brief.operator}{idea}"


def _outcome(member: Member) -> str:
    if member.fate is Fate.REFUTED:
        return f"wrong, found by {member.refuted_by}: {member.issue}"
    if member.score:
        return f"correct, {_figure(member.score)}" + (f"; {member.score.profile}" if member.score.profile else "")
    said = _OUTCOMES.get(member.fate, member.fate)
    return f"{said}: {member.issue}" if member.issue else said


def _figure(score: Score) -> str:
    ratio = math.exp(score.value)
    if score.basis is Basis.PREDICTED:
        return f"{ratio:.0%} of the physical limit (predicted)"
    return f"{ratio:.2f} times the best baseline (measured)"
