"""Evaluates candidates on the GPU of this machine or, through a bundle, on a GPU elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.core.errors import Exit, WarpwrightError
from warpwright.core.records.evidence import Dossier, Evidence, Verdict
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.records.rungs import SEAL
from warpwright.core.records.search import Prediction
from warpwright.core.task import Task
from warpwright.dispatch.bundle import read_jobs, read_results, write_bundle
from warpwright.dispatch.local import judge_here
from warpwright.dispatch.sealed_jobs import sealed_jobs
from warpwright.seal.refusal import Refusal

Outcome = Judged | tuple[Prediction, ...]


class BundleSent(WarpwrightError):
    """Work was sent to another machine; the run cannot continue until its results are back."""

    exit_code = Exit.UNDECIDED

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder, self.jobs = folder, jobs
        super().__init__(
            f"{jobs} jobs are sealed in {folder}; on a machine with a GPU run"
            f" `python3 worker.pyz jobs/ --out results/` there, bring results/ back, and resume"
        )


class Local:
    """Evaluates on the GPU of this machine."""

    def __init__(self, task: Task, asked: JudgeOptions, secret: int) -> None:
        self._task, self._asked, self._secret = task, asked, secret

    def evaluate(self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier]) -> Iterator[Outcome]:
        jobs, refused = jobs_of(self._task, candidates, self._asked, self._secret)
        yield from refused
        yield from judge_here(jobs)


class Bundled:
    """Evaluates on a GPU elsewhere: the first call writes the jobs and stops the run, the next one reads the
    results.
    """

    def __init__(self, task: Task, asked: JudgeOptions, secret: int, folder: Path) -> None:
        self._task, self._asked, self._secret, self._folder = task, asked, secret, folder

    def evaluate(self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier]) -> Iterator[Outcome]:
        back = {item.candidate: item for item in self._results()}
        yield from (back[candidate.id] for candidate in candidates if candidate.id in back)
        missing = [candidate for candidate in candidates if candidate.id not in back]
        jobs, refused = jobs_of(self._task, missing, self._asked, self._secret)
        yield from refused
        if jobs:
            write_bundle(self._folder, jobs)
            raise BundleSent(self._folder, len(jobs))

    def _results(self) -> tuple[Judged, ...]:
        """Reads the results for jobs of this bundle or, if it has no jobs (a recorded run), those for this task.

        Results that contain only faults of ours are left out, so that their candidates are sent again.
        """
        results = self._folder / "results"
        if not results.is_dir() or not any(results.glob("*.json")):
            return ()
        jobs = {job.id for job in read_jobs(self._folder / "jobs")}
        found = (item for item in read_results(results) if item.task == self._task.key and not _only_faults(item))
        return tuple(item for item in found if not jobs or item.job in jobs)


def _only_faults(judged: Judged) -> bool:
    return bool(judged.faults) and not judged.measurements and not judged.evidence


def jobs_of(
    task: Task, candidates: Sequence[Candidate], asked: JudgeOptions, secret: int
) -> tuple[list[Job], list[Judged]]:
    """Seals the candidates on hidden cases too. Returns jobs, and a verdict for each candidate that cannot be
    sealed.
    """
    outcomes = sealed_jobs(task, [(candidate.id, candidate) for candidate in candidates], asked, secret)
    jobs = [outcome for _, outcome in outcomes if isinstance(outcome, Job)]
    refused = [_refused(task, label, outcome) for label, outcome in outcomes if isinstance(outcome, Refusal)]
    return jobs, refused


def _refused(task: Task, candidate: str, refusal: Refusal) -> Judged:
    evidence = Evidence(
        candidate=candidate,
        rung=SEAL,
        verdict=refusal.verdict,
        reason=refusal.reason,
        counterexample=refusal.counterexample,
    )
    return verdict_without_gpu(task, candidate, evidence)


def verdict_without_gpu(task: Task, candidate: str, evidence: Evidence) -> Judged:
    """Builds a result for a candidate whose verdict needs no GPU."""
    return Judged(
        job=content_id(["without a judge", task.id, candidate, evidence]),
        label=candidate,
        task=task.key,
        candidate=candidate,
        evidence=(evidence,),
    )


def undecided(task: Task, candidate: str, rung: str, reason: str) -> Judged:
    return verdict_without_gpu(
        task, candidate, Evidence(candidate=candidate, rung=rung, verdict=Verdict.UNDECIDED, reason=reason)
    )
