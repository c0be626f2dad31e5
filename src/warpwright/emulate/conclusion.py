"""Concludes from single trials: decides what refutes a candidate, what is a warning, and what is undecided."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from warpwright.core.records.evidence import Counterexample, Verdict
from warpwright.core.task import Role
from warpwright.emulate.emulation import Emulation
from warpwright.emulate.findings import Finding, merged
from warpwright.emulate.program.running import Ran
from warpwright.emulate.report import Tier
from warpwright.emulate.staging import Trial
from warpwright.oracle.compare.results import same_bits
from warpwright.oracle.inputs.storage import to_bytes
from warpwright.oracle.truth.reference import Tensors
from warpwright.seal.refusal import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """The outcome of one trial."""

    trial: Trial
    ran: tuple[Ran, ...]
    results: Tensors | None
    found: tuple[Finding, ...]
    wrong: Counterexample | None
    distance: float | None
    undecided: str | None
    refusal: Refusal | None = None
    """The reason why the host code did not reach its kernels."""

    @property
    def is_rejected(self) -> bool:
        """Whether the host code rejected a case that is not part of the task."""
        case = self.trial.draw.case
        return self.refusal is not None and (case.stands_for is not None or case.role is Role.ENVELOPE)


def wrong_in(trial: Trial, kind: str, message: str, facts: Mapping[str, object]) -> Counterexample:
    """The error of this trial, with the facts needed to reproduce it."""
    draw = trial.draw
    where = {"distribution": draw.distribution, "seed": draw.seed, "dims": dict(draw.case.dims)}
    where |= {"dtype": draw.case.dtype, "order": trial.order.value, "shifted": trial.shifted, "again": trial.again}
    return Counterexample(kind=kind, message=message, case=draw.case.name, facts={**where, **facts})


def _against(outcome: TrialOutcome) -> list[Finding]:
    """The findings that refute. Misaligned accesses to storage that we shifted ourselves are only warnings.

    So are faults that occur only there: the host compiler moves vectors by instructions that require alignment.
    """
    excused = {"misaligned", "fault"} if outcome.trial.shifted else set()
    return [item for item in outcome.found if item.tier is not Tier.TOLERATED and item.kind not in excused]


def refutes(outcome: TrialOutcome) -> bool:
    """Whether this trial alone refutes the candidate."""
    return bool(_against(outcome)) or outcome.wrong is not None


def concluded(outcomes: Sequence[TrialOutcome]) -> Emulation:
    """The conclusion of all trials, without cases outside of the task that the host code rejects."""
    rejected = [outcome for outcome in outcomes if outcome.is_rejected]
    outcomes = [outcome for outcome in outcomes if not outcome.is_rejected]
    counterexample = counterexample_of(outcomes)
    reasons = list(dict.fromkeys(outcome.undecided for outcome in outcomes if outcome.undecided))
    decided = Verdict.UNDECIDED if reasons else Verdict.HOLDS
    dependent = _order_dependent(outcomes)
    return Emulation(
        verdict=Verdict.REFUTED if counterexample else decided,
        reason=None if counterexample or not reasons else "; ".join(reasons[:3]),
        counterexample=counterexample,
        rejected=tuple(dict.fromkeys(outcome.trial.draw.case.name for outcome in rejected)),
        findings=merged(item for outcome in outcomes for item in outcome.found),
        warnings=tuple(_warnings(outcomes, dependent)),
        cases=tuple(dict.fromkeys(o.trial.draw.case.name for o in outcomes if not o.undecided)),
        runs=len(outcomes),
        order_dependent=dependent,
        counters=_largest(outcomes),
        distance=max((o.distance for o in outcomes if o.distance is not None), default=None),
        digest=_digest(outcomes),
    )


def counterexample_of(outcomes: Sequence[TrialOutcome]) -> Counterexample | None:
    """The gravest finding of all runs, because it names the cause; otherwise the first wrong result."""
    by_case = [(outcome, item) for outcome in outcomes for item in _against(outcome)]
    ranked = merged(item for _, item in by_case)
    wrong = next((outcome.wrong for outcome in outcomes if outcome.wrong), None)
    if not ranked:
        return wrong
    worst = ranked[0]
    trial = next(outcome.trial for outcome, item in by_case if (item.kind, item.line) == (worst.kind, worst.line))
    return replace(wrong_in(trial, worst.kind, worst.message, _facts(worst, wrong)), line=worst.line)


def _facts(finding: Finding, wrong: Counterexample | None) -> dict[str, object]:
    keys = ("tier", "kernel", "count", "block", "thread", "other_line", "other_block", "other_thread")
    facts = {key: value for key, value in asdict(finding).items() if key in keys and value is not None}
    return facts | ({"result": wrong.message} if wrong else {})


def _order_dependent(outcomes: Sequence[TrialOutcome]) -> tuple[str, ...]:
    first: dict[str, Tensors] = {}
    dependent: dict[str, None] = {}
    for outcome in outcomes:
        if outcome.results is not None and not outcome.trial.shifted:
            reference = first.setdefault(repr(outcome.trial.draw), outcome.results)
            if not all(map(same_bits, reference, outcome.results)):
                dependent[outcome.trial.draw.case.name] = None
    return tuple(dependent)


def _warnings(outcomes: Sequence[TrialOutcome], dependent: Sequence[str]) -> Iterator[str]:
    shown = [item for outcome in outcomes for item in outcome.found if item not in _against(outcome)]
    for item in merged(shown):
        where = f" (line {item.line})" if item.line else ""
        yield f"{item.message}{where}, {item.count} times, in case {item.case}"
    if dependent:
        yield f"other orders of threads give other bits in {len(dependent)} cases, such as {dependent[0]}"


def _largest(outcomes: Sequence[TrialOutcome]) -> Mapping[str, int]:
    counted = [ran.report.counters for outcome in outcomes for ran in outcome.ran if ran.report]
    return max(counted, key=lambda counters: sum(counters.values()), default={})


def _digest(outcomes: Sequence[TrialOutcome]) -> str:
    digest = hashlib.sha256()
    for outcome in outcomes:
        digest.update(b"none" if outcome.results is None else b"".join(map(to_bytes, outcome.results)))
    return digest.hexdigest()[:20]
