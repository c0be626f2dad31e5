"""Predicts the times of candidates with the cost model, where no GPU can measure them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from warpwright import languages
from warpwright.core.candidate import Candidate
from warpwright.core.errors import Undecided
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.core.records.rungs import EMULATE, PREDICT
from warpwright.core.records.search import Prediction
from warpwright.core.task import Role, Task
from warpwright.dispatch.evaluating import Outcome, undecided
from warpwright.dispatch.pool import parallel
from warpwright.emulate.cost.model import predict
from warpwright.seal.refusal import Refusal


class Predictor:
    """Predicts only candidates that passed the emulator: the time of a wrong one is of no use."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def evaluate(self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier]) -> Iterator[Outcome]:
        right = [candidate for candidate in candidates if _was_emulated(dossiers.get(candidate.id))]
        for candidate in candidates:
            if candidate not in right:
                reason = "without a GPU only candidates that passed the emulator can be ranked"
                yield undecided(self._task, candidate.id, PREDICT, reason)
        for candidate, found in zip(right, _all(self._task, right), strict=True):
            yield undecided(self._task, candidate.id, PREDICT, found) if isinstance(found, str) else found


def _all(task: Task, candidates: Sequence[Candidate]) -> Sequence[tuple[Prediction, ...] | str]:
    if len(candidates) < 2:
        return [predictions(task, candidate) for candidate in candidates]
    return parallel(partial(predictions, task), candidates)


def predictions(task: Task, candidate: Candidate) -> tuple[Prediction, ...] | str:
    """Returns a prediction for every timed case, or the reason why there is none."""
    cases = task.cases_of(Role.TIME) or task.cases
    sealed = languages.seal(task, candidate)
    if isinstance(sealed, Refusal):
        return sealed.reason or "it could not be sealed"
    count = languages.of(candidate).count
    try:
        return tuple(predict(task, sealed, case, count(task, candidate, sealed, case)) for case in cases)
    except Undecided as error:
        return str(error)


def _was_emulated(dossier: Dossier | None) -> bool:
    held = (item.rung for item in dossier.evidence if item.verdict is Verdict.HOLDS) if dossier else ()
    return EMULATE in held
