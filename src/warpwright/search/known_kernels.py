"""Reads the kernels of a run, with scores and refutations, from the archive, for prompts."""

from __future__ import annotations

from collections.abc import Mapping

from warpwright.archive.store import Archive
from warpwright.core.codec import decode
from warpwright.core.records.evidence import Dossier, Evidence, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import COPY, Cache
from warpwright.core.records.rungs import SEAL
from warpwright.core.records.search import Basis, Prediction, Proposal, Score
from warpwright.propose.prompting.known import Known, Library
from warpwright.seal.summary import Summary


def library_of(archive: Archive, run: str) -> Library:
    """Returns every candidate of the run by its id."""
    ids = {item.candidate for item in archive.records(run, Proposal) if item.candidate is not None}
    scores, refutations, times = _scores(archive, run), _refutations(archive, run), _times(archive, run)
    summaries, terms = _summaries(archive, run), _terms(archive, run)
    baselines = {record.candidate: best_baselines(record) for record in archive.records(run, Judged)}
    return {
        id_: Known(
            candidate=candidate,
            score=scores.get(id_),
            times_us=times.get(id_, {}),
            baselines=baselines.get(id_, {}),
            terms_us=terms.get(id_, {}) if not baselines.get(id_) else {},
            summary=summaries.get(id_),
            refutation=refutations.get(id_),
        )
        for id_, candidate in archive.candidates(ids).items()
    }


def _scores(archive: Archive, run: str) -> dict[str, Score]:
    """Returns scores by candidate; a measured score replaces a predicted one."""
    ordered = sorted(archive.records(run, Score), key=lambda item: item.basis is Basis.MEASURED)
    return {item.candidate: item for item in ordered}


def _refutations(archive: Archive, run: str) -> dict[str, Evidence]:
    judged = [item for record in archive.records(run, Judged) for item in record.evidence]
    climbed = [item for record in archive.records(run, Dossier) for item in record.evidence]
    return {item.candidate: item for item in (*judged, *climbed) if item.verdict is Verdict.REFUTED}


def _summaries(archive: Archive, run: str) -> dict[str, Summary]:
    """Returns the compiled kernels and launches of each sealed candidate."""
    sealed = [item for record in archive.records(run, Dossier) for item in record.evidence if item.rung == SEAL]
    return {item.candidate: decode(Summary, item.facts["summary"]) for item in sealed if "summary" in item.facts}


def _terms(archive: Archive, run: str) -> dict[str, dict[str, Mapping[str, float]]]:
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for prediction in archive.records(run, Prediction):
        found.setdefault(prediction.candidate, {})[prediction.case] = prediction.terms_us
    return found


def best_baselines(judged: Judged) -> dict[str, str]:
    """Returns the fastest baseline of each case."""
    baselines = [
        item
        for item in judged.measurements
        if item.cache is Cache.COLD and not item.invalid and item.subject not in (judged.candidate, COPY)
    ]
    timed = [(item.case, item.median_us, item.subject) for item in baselines if item.median_us is not None]
    return {case: name for case, _, name in sorted(timed, reverse=True)}


def _times(archive: Archive, run: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for prediction in archive.records(run, Prediction):
        found.setdefault(prediction.candidate, {})[prediction.case] = prediction.time_us
    for judged in archive.records(run, Judged):
        cold = [item for item in judged.measurements if item.subject == judged.candidate and item.cache is Cache.COLD]
        medians = {item.case: item.median_us for item in cold if item.median_us is not None and not item.invalid}
        if medians:
            found[judged.candidate] = {case: time for case, time in medians.items() if time is not None}
    return found
