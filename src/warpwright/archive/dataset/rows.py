"""Builds one row of the dataset per proposal. Unknown values are None."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warpwright.core.candidate import Candidate
from warpwright.core.codec import dumps
from warpwright.core.records.evidence import Counterexample, Dossier
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import Basis, Brief, Call, Decision, Prediction, Proposal, Record, Run, Score


@dataclass(slots=True, kw_only=True)
class _Known:
    """The records of a run, by their subject."""

    asked: dict[int, tuple[Decision, Brief]] = field(default_factory=dict)
    calls: defaultdict[int, list[Call]] = field(default_factory=lambda: defaultdict(list))
    proposals: list[Proposal] = field(default_factory=list)
    findings: defaultdict[str, list[Dossier | Judged]] = field(default_factory=lambda: defaultdict(list))
    predictions: defaultdict[str, list[Prediction]] = field(default_factory=lambda: defaultdict(list))
    scores: dict[tuple[str, Basis], Score] = field(default_factory=dict)


def rows(run: Run, records: Iterable[Record], candidates: Mapping[str, Candidate]) -> Iterator[dict[str, Any]]:
    """Yields the rows in the order of the proposals."""
    known = _sorted(records)
    for proposal in known.proposals:
        decision, brief = known.asked.get(proposal.brief, (None, None))
        name = proposal.candidate or ""
        yield {
            **_of_run(run, decision),
            **_of_brief(brief, proposal),
            **_of_calls(known.calls[proposal.brief], brief),
            **_of_proposal(proposal, candidates.get(name)),
            **_of_findings(name, known.findings[name]),
            **_of_score(name, known),
        }


def _sorted(records: Iterable[Record]) -> _Known:
    known = _Known()
    for record in records:
        match record:
            case Decision():
                known.asked |= {brief.number: (record, brief) for brief in record.briefs}
            case Call() if record.brief is not None:
                known.calls[record.brief].append(record)
            case Proposal():
                known.proposals.append(record)
            case Dossier() | Judged():
                known.findings[record.candidate].append(record)
            case Prediction():
                known.predictions[record.candidate].append(record)
            case Score():
                known.scores[record.candidate, record.basis] = record
    return known


def _of_run(run: Run, decision: Decision | None) -> dict[str, Any]:
    return {
        "run": run.id,
        "task": run.task,
        "started": run.started,
        "warpwright": run.warpwright,
        "decision": decision.number if decision else None,
        "generation": decision.generation if decision else None,
    }


def _of_brief(brief: Brief | None, proposal: Proposal) -> dict[str, Any]:
    genome = proposal.genome or (brief.genome if brief else {})
    return {
        "brief": proposal.brief,
        "operator": brief.operator.value if brief else None,
        "island": brief.island if brief else None,
        "parents": list(brief.parents) if brief else [],
        "context": list(brief.context) if brief else [],
        "near_miss": brief.near_miss if brief else None,
        "hint": brief.hint if brief else None,
        "lesson": brief.lesson if brief else None,
        "genome": dumps(genome) if genome else None,
    }


def _of_calls(calls: Sequence[Call], brief: Brief | None) -> dict[str, Any]:
    """Takes prompt and reply from the last answered call; earlier ones were repeated."""
    answered = [call for call in calls if call.reply is not None] or calls
    last = answered[-1] if answered else None
    arm = brief.arm if brief else None
    return {
        "model": last.model if last else arm.model if arm else None,
        "effort": last.effort if last else arm.effort if arm else None,
        "temperature": last.temperature if last else brief.temperature if brief else None,
        "prompt": last.prompt if last else None,
        "reply": last.reply if last else None,
        "calls": len(calls),
        "tokens": dict(sum((Counter(call.usage) for call in calls), Counter())),
        "cost_usd": _cost(calls),
    }


def _cost(calls: Sequence[Call]) -> float | None:
    """Sums the prices; None if one is unknown, zero without calls."""
    prices = [call.cost_usd for call in calls if call.cost_usd is not None]
    return sum(prices, 0.0) if len(prices) == len(calls) else None


def _of_proposal(proposal: Proposal, candidate: Candidate | None) -> dict[str, Any]:
    flags = candidate.flags if candidate else None
    return {
        "candidate": proposal.candidate,
        "source": candidate.source if candidate else None,
        "language": candidate.language if candidate else None,
        "flags": {"gpu": flags.gpu, "fast_math": flags.fast_math, "extra": list(flags.extra)} if flags else None,
        "fingerprint": proposal.fingerprint,
        "traits": list(proposal.traits) if proposal.traits else None,
        "duplicate_of": proposal.duplicate_of,
        "problem": proposal.problem,
        "faulted": proposal.faulted,
    }


def _of_findings(name: str, findings: Sequence[Dossier | Judged]) -> dict[str, Any]:
    """Combines the results of the ladder and the judge."""
    evidence = tuple(item for finding in findings for item in finding.evidence)
    faults = tuple(item for finding in findings for item in finding.faults)
    whole = Dossier(candidate=name, task="", evidence=evidence, faults=faults)
    refutation = whole.refutation
    return {
        "verdict": whole.verdict.value if findings else None,
        "refuted_by": refutation.rung if refutation else None,
        "counterexample": _counterexample(refutation.counterexample if refutation else None),
        "rungs": [
            {
                "rung": item.rung,
                "verdict": item.verdict.value,
                "reason": item.reason,
                "skipped": item.skipped,
                "seconds": item.seconds,
            }
            for item in evidence
        ],
        "faults": [{"where": item.where, "message": item.message} for item in faults],
        "times": [time for finding in findings if isinstance(finding, Judged) for time in _times(finding)],
    }


def _counterexample(found: Counterexample | None) -> dict[str, Any] | None:
    if found is None:
        return None
    place = {"case": found.case, "line": found.line}
    return {"kind": found.kind, "message": found.message, **place, "facts": dumps(found.facts)}


def _times(judged: Judged) -> list[dict[str, Any]]:
    return [
        {
            "case": item.case,
            "cache": item.cache.value,
            "subject": "candidate" if item.subject == judged.candidate else item.subject,
            "median_us": item.median_us,
            "samples": len(item.samples_us),
            "invalid": item.invalid,
            "gpu": item.scene.gpu,
            "job": judged.job,
        }
        for item in judged.measurements
    ]


def _of_score(name: str, known: _Known) -> dict[str, Any]:
    """Takes the measured score if there is one, else the predicted one; they are never mixed."""
    score = known.scores.get((name, Basis.MEASURED)) or known.scores.get((name, Basis.PREDICTED))
    return {
        "predictions": [
            {"case": item.case, "gpu": item.gpu, "time_us": item.time_us, "limited_by": item.limited_by}
            for item in known.predictions[name]
        ],
        "score": score.value if score else None,
        "basis": score.basis.value if score else None,
        "score_by_case": [{"case": case, "score": value} for case, value in score.by_case.items()] if score else [],
        "share_of_limit": score.share_of_limit if score else None,
        "profile": score.profile if score else None,
    }
