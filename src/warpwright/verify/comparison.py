"""Compares verifiers on labelled kernels: the share of faults that each finds, by class, and its false rejections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.records.rungs import LADDER, OPINION
from warpwright.verify.evaluation import Label

OURS = "warpwright"
ASKED = "asked"
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What every verifier says of one kernel."""

    file: str
    kind: str
    known: Verdict
    scope: str = ASKED
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """By verifier, and by rung of the ladder. A rung that was not reached is missing."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    """The first reason of the ladder's verdict."""
    names_other_sizes: bool = False
    """Whether the ladder names an error at sizes that were not requested."""

    @property
    def is_fault(self) -> bool:
        return self.known is Verdict.REFUTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one verifier finds of one class."""

    kind: str
    verifier: str
    faults: int
    found: int
    undecided: int
    seconds: float | None
    """The median for one kernel."""

    @property
    def share(self) -> float | None:
        """Undecided is not found for ours; for a check that is repeated here, it says nothing of that check."""
        counted = self.faults if self.verifier in (OURS, *LADDER) else self.faults - self.undecided
        return self.found / counted if counted else None


def verdicts_of(dossier: Dossier) -> dict[str, Verdict]:
    """The verdict of the ladder and of each rung that was climbed here."""
    rungs = {item.rung: item.verdict for item in dossier.evidence if not item.skipped}
    return {OURS: dossier.verdict, **rungs}


def answer(label: Label, dossier: Dossier, others: Mapping[str, Verdict], seconds: Mapping[str, float]) -> Answer:
    """Collects the answers on one kernel."""
    evidence = next((item for item in dossier.evidence if item.verdict is not Verdict.HOLDS and not item.skipped), None)
    found = evidence.counterexample if evidence else None
    return Answer(
        file=f"{label.path.parent.name}/{label.path.name}",
        kind=label.kind,
        known=label.verdict,
        scope=label.scope,
        verdicts={**verdicts_of(dossier), **others},
        seconds={**{item.rung: item.seconds for item in dossier.evidence if item.seconds is not None}, **seconds},
        why=f"{found.kind}: {found.message}" if found else (evidence.reason or "") if evidence else "",
        names_other_sizes=any(item.facts.get("beyond") for item in dossier.evidence),
    )


def opinion_of(label: Label, dossier: Dossier) -> Answer:
    """The opinion of models on one kernel, as a verdict."""
    name = f"{label.path.parent.name}/{label.path.name}"
    verdicts = {OPINION: dossier.verdict}
    return Answer(file=name, kind=label.kind, known=label.verdict, scope=label.scope, verdicts=verdicts)


def shares(answers: Sequence[Answer]) -> tuple[Share, ...]:
    """The share of each verifier by class, in order of first appearance, then of all faults at requested sizes."""
    faults = [item for item in answers if item.is_fault]
    verifiers = list(dict.fromkeys(name for item in answers for name in item.verdicts))
    kinds = [*dict.fromkeys(item.kind for item in faults)]
    groups = [(kind, [item for item in faults if item.kind == kind]) for kind in kinds]
    return tuple(_share(kind, name, group) for kind, group in [*groups, (ALL, faults)] for name in verifiers)


def _share(kind: str, verifier: str, group: Sequence[Answer]) -> Share:
    verdicts = [item.verdicts.get(verifier) for item in group]
    seconds = [item.seconds[verifier] for item in group if verifier in item.seconds]
    return Share(
        kind=kind,
        verifier=verifier,
        faults=len(group),
        found=verdicts.count(Verdict.REFUTED),
        undecided=verdicts.count(Verdict.UNDECIDED),
        seconds=median(seconds) if seconds else None,
    )


def false_rejections(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """The right kernels that each verifier rejects."""
    rejected: dict[str, list[str]] = {}
    for item in (item for item in answers if not item.is_fault and item.scope == ASKED):
        for name, verdict in item.verdicts.items():
            rejected.setdefault(name, []).extend([item.file] if verdict is Verdict.REFUTED else [])
    return rejected


def missed(answers: Iterable[Answer]) -> Iterator[Answer]:
    """The faults that the ladder does not find."""
    return (item for item in answers if item.is_fault and item.verdicts.get(OURS) is not Verdict.REFUTED)


def beyond(answers: Iterable[Answer]) -> tuple[int, int]:
    """Of faults that show only beyond the requested sizes: how many the ladder names, and how many there are."""
    others = [item for item in answers if item.scope != ASKED]
    named = sum(item.names_other_sizes or item.verdicts.get(OURS) is Verdict.REFUTED for item in others)
    return named, len(others)
