"""Turns candidates into jobs: seals them and draws hidden cases."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.hidden import hidden_cases
from warpwright.core.records.judged import Job, JudgeOptions
from warpwright.core.task import Task
from warpwright.dispatch.bundle import make_job
from warpwright.seal.refusal import Refusal

HIDDEN_CASES = 6


def sealed_jobs(
    task: Task, candidates: Sequence[tuple[str, Candidate]], asked: JudgeOptions, secret: int | None = None
) -> list[tuple[str, Job | Refusal]]:
    """Returns a job for each labelled candidate, or the refusal of the sealer. Without a given secret a new one is
    drawn.
    """
    hidden = hidden_cases(task, secrets.randbits(62) if secret is None else secret, HIDDEN_CASES)
    outcomes = languages.seal_many(task, [candidate for _, candidate in candidates], (*task.asked, *hidden))
    labels = (label for label, _ in candidates)
    return [
        (label, outcome if isinstance(outcome, Refusal) else make_job(label, task, outcome, hidden, asked))
        for label, outcome in zip(labels, outcomes, strict=True)
    ]
