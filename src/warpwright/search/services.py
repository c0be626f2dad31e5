"""The services of a run: models, the composer, the ladder and an evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from warpwright import languages
from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.climb import Climb
from warpwright.core.errors import ModelFailed, UsageError
from warpwright.core.gpus.table import gpu_named
from warpwright.core.protocols import Model
from warpwright.core.records.evidence import Dossier
from warpwright.core.records.search import Arm, Basis, Brief, Call, Operator, Snapshot
from warpwright.core.task import Task
from warpwright.dispatch.evaluating import Outcome
from warpwright.dispatch.pool import parallel
from warpwright.dispatch.predicting import Predictor
from warpwright.evolve.inputs import Ceiling, SearchInputs, Tunables
from warpwright.models.recordings.remembered import Remembered
from warpwright.propose.answers.asking import Note, Noted
from warpwright.propose.prompting.gpu.hints import applicable, unsuited
from warpwright.propose.prompting.known import Known, Library
from warpwright.propose.proposing import Proposed, propose
from warpwright.propose.specialising import specialised
from warpwright.propose.summarising import lesson
from warpwright.verify.ladder import climb, climb_on
from warpwright.verify.opinion.rung import OpinionRung, score_of


class Composer(Protocol):
    """Writes kernels for one task without a language model."""

    def space(self) -> Mapping[str, tuple[Any, ...]]: ...

    def default(self) -> Mapping[str, Any]: ...

    def write(self, genome: Mapping[str, Any]) -> str: ...


class Evaluator(Protocol):
    def evaluate(self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier]) -> Iterator[Outcome]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServices:
    task: Task
    flags: Flags
    models: Mapping[str, Model]
    evaluator: Evaluator
    predictor: Evaluator | None = None
    """The evaluator that predicts, for evaluations without measurements, if `evaluator` measures."""
    written_in: str = CUDA
    """The language of new kernels."""
    composer: Composer | None = None
    forward: Candidate | None = None
    opinions: Model | None = None
    lessons: tuple[str, ...] = ()
    """Lessons of earlier runs."""
    ceilings: Mapping[Arm, Ceiling] = field(default_factory=dict)
    note: Note | None = None
    """Called with every model call as soon as it is answered, whatever becomes of the proposal."""

    def given(self, library: Library, dossiers: Mapping[str, Dossier]) -> SearchInputs:
        gpu, language = gpu_named(self.flags.gpu), languages.named(self.written_in)
        hints = applicable(self.task, gpu, language, measured=not self._predicts)
        return SearchInputs(
            hints=tuple(hint.id for hint in hints),
            unsuited={id_: unsuited(hints, kernel.candidate.source) for id_, kernel in library.items()},
            forward=self.forward.id if self.forward else None,
            space=self.composer.space() if self.composer else {},
            genome=self.composer.default() if self.composer else {},
            tunables={id_: open_ for id_, kernel in library.items() if (open_ := _tunables(kernel)) is not None},
            promise={id_: score for id_, item in dossiers.items() if (score := score_of(item)) is not None},
            lessons=self.lessons,
            predicts=self._predicts,
            ceilings=self.ceilings,
        )

    @property
    def _predicts(self) -> bool:
        return isinstance(self.evaluator, Predictor)

    def propose(self, brief: Brief, library: Library, asked: Sequence[Call], tried: str = "") -> Proposed:
        if brief.operator is Operator.COMPOSE:
            return self._composed(brief)
        if brief.operator is Operator.TUNE:
            return self._tuned(library[brief.parents[0]], brief)
        merged = self._merged(brief, library) if brief.operator is Operator.SPECIALISE else None
        if merged is not None:
            return merged
        known = library if self.forward is None else {**library, self.forward.id: Known(candidate=self.forward)}
        try:
            model = Remembered(self._model(brief), asked)
        except ModelFailed as failed:
            return Proposed(problem=str(failed), faulted=True)
        return propose(
            self.task,
            brief,
            model,
            known,
            flags=self.flags,
            tried=tried,
            predicts=self._predicts,
            written_in=self.written_in,
            note=self.note,
        )

    def climb(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Dossier, Sequence[Call]]]:
        """Climbs the local rungs on all cores, then asks for opinions on what they left open."""
        climbs = (
            [climb(self.task, candidates[0])]
            if len(candidates) == 1
            else parallel(partial(climb, self.task), candidates, label=lambda candidate: candidate.id)
        )
        yield from map(self._with_opinion, climbs)

    def _with_opinion(self, climbed: Climb) -> tuple[Dossier, Sequence[Call]]:
        if self.opinions is None:
            return climbed.dossier, ()
        model = Noted(self.opinions, note=self.note)
        return climb_on(climbed, [OpinionRung(model)]).dossier, model.calls

    def evaluate(
        self, candidates: Sequence[Candidate], dossiers: Mapping[str, Dossier], basis: Basis | None = None
    ) -> Iterator[Outcome]:
        chosen = self.predictor if basis is Basis.PREDICTED and self.predictor else self.evaluator
        yield from chosen.evaluate(candidates, dossiers)

    def reflect(self, snapshot: Snapshot, library: Library) -> tuple[str, Sequence[Call]]:
        """Asks the first model for a lesson."""
        model = Noted(next(iter(self.models.values())), note=self.note)
        try:
            language = languages.named(self.written_in)
            text = lesson(self.task, snapshot.members, snapshot.lessons, gpu_named(self.flags.gpu), language, model)
        except ModelFailed:
            text = ""
        return text, model.calls

    def _model(self, brief: Brief) -> Model:
        if brief.arm is None or brief.arm.model not in self.models:
            raise ModelFailed("model", f"no model for brief {brief.number}: {brief.arm.model if brief.arm else 'none'}")
        return self.models[brief.arm.model]

    def _composed(self, brief: Brief) -> Proposed:
        assert self.composer is not None, "a genome was asked for without a composer"
        return Proposed(candidate=Candidate(source=self.composer.write(brief.genome), flags=self.flags))

    def _merged(self, brief: Brief, library: Library) -> Proposed | None:
        """Merges the parents by rule; None if a model must do it."""
        try:
            source = specialised(self.task, [library[parent] for parent in brief.parents])
        except UsageError as error:
            return None if brief.arm else Proposed(problem=str(error))
        language = library[brief.parents[0]].candidate.language
        return Proposed(candidate=Candidate(source=source, language=language, flags=self.flags))

    def _tuned(self, parent: Known, brief: Brief) -> Proposed:
        language = languages.of(parent.candidate)
        try:
            source = language.with_settings(parent.candidate.source, brief.genome)
        except UsageError as error:
            return Proposed(problem=str(error))
        return Proposed(candidate=Candidate(source=source, language=language.name, flags=self.flags))


def _tunables(kernel: Known) -> Tunables | None:
    """Returns the tunable constants of a source; None if it has none that can be parsed."""
    language, source = languages.of(kernel.candidate), kernel.candidate.source
    try:
        values = language.space(source)
        return Tunables(space=values, genome=language.settings(source)) if values else None
    except UsageError:
        return None
