"""Lists unfinished work of a run's decisions: a killed run completes it before it makes the next decision."""

from __future__ import annotations

from dataclasses import dataclass

from warpwright.core.records.search import Action, Basis, Brief, Decision, Fate, Member, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Unfinished work; false if there is none."""

    ask: tuple[Brief, ...] = ()
    """Briefs without a proposal."""
    verify: tuple[str, ...] = ()
    """Candidates without a dossier."""
    evaluate: tuple[str, ...] = ()
    """Candidates of the last decision without a score, a refutation or a result of the judge."""
    reflect: Decision | None = None
    """A reflection without its lesson. A failed reflection leaves a lesson without text."""

    def __bool__(self) -> bool:
        return bool(self.ask or self.verify or self.evaluate or self.reflect)


def unfinished(snapshot: Snapshot) -> Work:
    open_ = [member for member in snapshot.members if member.fate is Fate.ASKED]
    last = snapshot.decisions[-1] if snapshot.decisions else None
    return Work(
        ask=tuple(member.brief for member in open_ if member.candidate is None),
        verify=tuple(dict.fromkeys(member.candidate for member in open_ if member.candidate is not None)),
        evaluate=_unevaluated(snapshot, last) if last else (),
        reflect=last if last and last.action is Action.REFLECT and _lesson_missing(snapshot) else None,
    )


def _unevaluated(snapshot: Snapshot, last: Decision) -> tuple[str, ...]:
    waiting = {member.candidate for member in snapshot.members if _waits(member, last.basis)}
    return tuple(candidate for candidate in last.candidates if candidate in waiting)


def _waits(member: Member, basis: Basis | None) -> bool:
    """Whether an evaluation is still open: any at all, or the one on this basis."""
    if basis is None:
        return member.fate is Fate.WAITING
    closed = (Fate.REFUTED, Fate.DUPLICATE, Fate.UNREADABLE, Fate.FAULTED)
    return member.fate not in closed and basis not in member.evaluated


def _lesson_missing(snapshot: Snapshot) -> bool:
    reflections = sum(decision.action is Action.REFLECT for decision in snapshot.decisions)
    return len(snapshot.lessons) < reflections
