"""Measures the rungs of the ladder on labelled kernels, and improves the instructions of the opinion rung."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwright.app.given import candidate_of, cases_of_types
from warpwright.app.kernels.check import Piece, labelled
from warpwright.app.progress import OnProgress, Reporter
from warpwright.app.verifiers.answers import Asking, asked
from warpwright.core.errors import UsageError
from warpwright.core.protocols import Model
from warpwright.core.records.evidence import Dossier, Fault
from warpwright.core.records.rungs import LADDER, OPINION
from warpwright.dispatch.ordered_map import ordered_map
from warpwright.models.named import Terms, model_named
from warpwright.models.spending.limits import Budget
from warpwright.verify.comparison import Answer, answer, opinion_of
from warpwright.verify.evaluation import Score, scores
from warpwright.verify.ladder import climb
from warpwright.verify.opinion.panel import Panel, read_panel, write_panel
from warpwright.verify.opinion.rung import OpinionRung, as_if_decided
from warpwright.verify.opinion.tuning import Labelled, Tuned, tune
from warpwright.verify.source import SourceRung

AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """Scores by class of bug, then one for all kernels. Faults of ours count for no verifier."""

    scores: tuple[Score, ...]
    faults: tuple[Fault, ...]
    answers: tuple[Answer, ...] = ()
    """What every verifier says of every kernel."""


def evaluate_verifiers(
    labels: Path,
    *,
    rung: str | None = None,
    model: str | None = None,
    panel: Path | None = None,
    budget: float | None = None,
    published: bool = False,
    every: int = 1,
    again: bool = False,
    seconds: float | None = None,
    dtypes: Sequence[str] = (),
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluated:
    """Compare the verdicts of the ladder, of one rung, or of a model's opinions with what is known of the kernels.

    With `published`, the checks of KernelBench and KernelBench-Verified are asked too.
    """
    if (rung == OPINION) != (model is not None):
        raise UsageError("opinions need somebody to ask: --rung opinion and --model SPEC go together")
    if rung is not None and rung not in LADDER:
        raise UsageError(f"there is no rung '{rung}'; one of {', '.join(LADDER)}")
    if panel is not None and model is None:
        raise UsageError("a panel gives opinions: --panel needs --rung opinion and --model SPEC")
    work = labelled(labels.parent, labels)[::every]
    known = [piece.label for piece in work if piece.label]
    if model is not None:
        dossiers = _opinions(work, _model(model, budget), panel, Reporter(on_progress))
        answers = [opinion_of(label, dossier) for label, dossier in zip(known, dossiers, strict=True)]
    else:
        asking = Asking(folder=labels.parent, published=published, again=again, seconds=seconds, dtypes=tuple(dtypes))
        kept = asked(work, asking, jobs, Reporter(on_progress))
        dossiers = [item.dossier for item in kept]
        pairs = zip(known, kept, strict=True)
        answers = [answer(label, item.dossier, item.others, item.seconds) for label, item in pairs]
    return Evaluated(
        scores=scores(known, dossiers, rung),
        faults=tuple(fault for dossier in dossiers for fault in dossier.faults),
        answers=tuple(answers),
    )


def tune_verifiers(
    labels: Path,
    *,
    model: str,
    out: Path,
    panel: Path | None = None,
    rounds: int = 3,
    seed: int = 0,
    budget: float | None = None,
) -> Tuned:
    """Improve the instructions of the models that give opinions, and write them to a folder."""
    work = labelled(labels.parent, labels)
    known = [
        Labelled(
            task=piece.subject.task,
            candidate=candidate_of(piece.kernel),
            verdict=piece.label.verdict,
            kind=piece.label.kind,
        )
        for piece in work
        if piece.label
    ]
    found = tune(read_panel(panel) if panel else read_panel(), known, _model(model, budget), seed, rounds=rounds)
    write_panel(found.panel, out)
    return found


def _model(spec: str, budget: float | None) -> Model:
    terms = Terms(budget=None if budget is None else Budget(budget), at_once=AT_ONCE)
    return model_named(spec, folder=Path.cwd(), terms=terms)


def _opinions(work: Sequence[Piece], model: Model, panel: Path | None, progress: Reporter) -> list[Dossier]:
    """Returns the panel's opinion on every kernel as a verdict."""
    members = read_panel(panel) if panel else None
    progress.start(len(work), "asking")
    answers = ordered_map(lambda piece: _asked(piece, model, members), work, workers=AT_ONCE)
    dossiers = []
    for piece, dossier in zip(work, answers, strict=True):
        dossiers.append(as_if_decided(dossier))
        progress.advance(piece.name)
    return dossiers


def _asked(piece: Piece, model: Model, panel: Panel | None) -> Dossier:
    task = piece.subject.task
    cases = cases_of_types(task, piece.dtypes)
    return climb(task, candidate_of(piece.kernel), cases, (SourceRung(), OpinionRung(model, panel))).dossier
