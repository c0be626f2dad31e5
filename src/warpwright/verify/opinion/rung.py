"""The opinion rung: asks language models about a kernel that no other rung could decide.

An opinion never refutes and never accepts. Its evidence is UNDECIDED with the reason "opinion"; its score orders the
queue, and may postpone or skip a candidate if budgets are short. The rung belongs at the end of the ladder: it does not
ask questions that earlier rungs have settled, and is skipped if they have settled all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from string import Template

from warpwright.core.candidate import Candidate
from warpwright.core.climb import Climb
from warpwright.core.codec import decode, encode
from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Model
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.core.records.rungs import OPINION
from warpwright.core.task import Case, Task
from warpwright.verify.opinion.answers import question, vote_in
from warpwright.verify.opinion.panel import FOLDER, Panel, Verifier, read_panel
from warpwright.verify.opinion.votes import Vote, score


class OpinionRung:
    name = OPINION

    def __init__(self, model: Model, panel: Panel | None = None, *, reflect: bool = True) -> None:
        self._model, self._panel, self._reflect = model, panel or read_panel(), reflect

    def climb(self, climbed: Climb) -> Climb:
        return climbed.with_evidence(self._asked(climbed))

    def _asked(self, climbed: Climb) -> Evidence:
        """Asks the panel about questions that earlier evidence leaves open."""
        start, candidate = time.monotonic(), climbed.candidate
        asked = [verifier for verifier in self._panel.verifiers if climbed.held.isdisjoint(verifier.settled_by)]
        if not asked:
            return _skipped(candidate, f"not asked: {', '.join(sorted(climbed.held))} answered already", start)
        votes, failure = self._votes(narrowed(climbed.task, climbed.cases), candidate, asked)
        if all(vote.passed is None for vote in votes):
            return _skipped(candidate, f"no opinion: {failure or 'the answers could not be read'}", start)
        return self._evidence(candidate, votes, start)

    def _votes(self, task: Task, candidate: Candidate, asked: Sequence[Verifier]) -> tuple[list[Vote], str | None]:
        """Collects the votes; after a failure of the model the rest of the panel is not asked."""
        votes: list[Vote] = []
        for verifier in asked:
            try:
                votes.append(asked_vote(task, candidate, verifier, self._model, reflect=self._reflect))
            except ModelFailed as failed:
                return votes, str(failed)
        return votes, None

    def _evidence(self, candidate: Candidate, votes: Sequence[Vote], start: float) -> Evidence:
        return Evidence(
            candidate=candidate.id,
            rung=OPINION,
            verdict=Verdict.UNDECIDED,
            reason=OPINION,
            facts={
                "score": score(votes, self._panel.records, self._panel.prior),
                "votes": encode(list(votes)),
                "model": self._model.name,
            },
            seconds=time.monotonic() - start,
        )


def narrowed(task: Task, cases: Sequence[Case] | None) -> Task:
    """Restricts the task to these cases and their dtypes, so that a kernel is not blamed for dtypes it does not
    support.
    """
    if cases is None:
        return task
    return replace(task, cases=tuple(cases), dtypes=tuple(dict.fromkeys(case.dtype for case in cases)))


def _skipped(candidate: Candidate, reason: str, start: float) -> Evidence:
    return Evidence(
        candidate=candidate.id,
        rung=OPINION,
        verdict=Verdict.UNDECIDED,
        reason=reason,
        skipped=True,
        seconds=time.monotonic() - start,
    )


def asked_vote(task: Task, candidate: Candidate, verifier: Verifier, model: Model, *, reflect: bool) -> Vote:
    """Returns one verifier's vote after one round of reflection. An unreadable reflection leaves the first vote."""
    request = question(task, candidate, verifier.name, verifier.instruction)
    reply = model.complete(request)
    first = vote_in(reply, candidate, verifier.name)
    if not reflect:
        return first
    again = Template((FOLDER / "reflection.md").read_text(encoding="utf-8"))
    prompt = again.substitute(question=request.prompt, answer=reply.text)
    second = vote_in(
        model.complete(replace(request, prompt=prompt, purpose=f"{request.purpose}-reflection")),
        candidate,
        verifier.name,
    )
    return first if second.passed is None else second


def score_of(dossier: Dossier) -> float | None:
    """Returns the probability, by the opinion in a dossier, that the candidate is correct; None without an opinion."""
    found = next((item for item in dossier.evidence if item.is_opinion), None)
    return None if found is None else float(found.facts["score"])


def votes_in(evidence: Evidence) -> tuple[Vote, ...]:
    return decode(tuple[Vote, ...], evidence.facts.get("votes", []), "votes")  # type: ignore[no-any-return]


def as_if_decided(dossier: Dossier) -> Dossier:
    """Turns the opinion in a dossier into a verdict. Only for measuring opinions."""
    return replace(dossier, evidence=tuple(map(_as_if_decided, dossier.evidence)))


def _as_if_decided(evidence: Evidence) -> Evidence:
    if not evidence.is_opinion:
        return evidence
    if float(evidence.facts["score"]) >= 0.5:
        return replace(evidence, verdict=Verdict.HOLDS, reason=None)
    reasons = [reason.why for vote in votes_in(evidence) if vote.passed is False for reason in vote.reasons]
    shown = Counterexample(kind=OPINION, message=reasons[0] if reasons else "the votes are against it")
    return replace(evidence, verdict=Verdict.REFUTED, reason=None, counterexample=shown)
