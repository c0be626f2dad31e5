"""Opinions of language models, measured and tuned on kernels of which the truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warpwright.cli.check.candidates import read_candidate
from warpwright.cli.check.checking import Piece
from warpwright.core.protocols import Model, Progress
from warpwright.core.records.evidence import Dossier
from warpwright.dispatch.ordered_map import ordered_map
from warpwright.models.named import Terms, model_named
from warpwright.models.spending.limits import Budget
from warpwright.verify.ladder import climb
from warpwright.verify.opinion.panel import Panel, read_panel
from warpwright.verify.opinion.rung import OpinionRung, as_if_decided
from warpwright.verify.opinion.tuning import Labelled, Tuned, tune
from warpwright.verify.source import SourceRung

AT_ONCE = 8


def asked_model(spec: str, budget: float | None) -> Model:
    terms = Terms(budget=None if budget is None else Budget(budget), at_once=AT_ONCE)
    return model_named(spec, folder=Path.cwd(), terms=terms)


def opinions(work: Sequence[Piece], model: Model, panel: Path | None, progress: Progress) -> list[Dossier]:
    """What the panel thinks of every kernel, as if it had decided."""
    members = read_panel(panel) if panel else None
    progress.start(len(work), "asking")
    answers = ordered_map(lambda piece: _asked(piece, model, members), work, workers=AT_ONCE)
    dossiers = []
    for piece, dossier in zip(work, answers, strict=True):
        dossiers.append(as_if_decided(dossier))
        progress.advance(piece.path.name)
    return dossiers


def _asked(piece: Piece, model: Model, panel: Panel | None) -> Dossier:
    wanted = piece.label.dtypes if piece.label else ()
    cases = tuple(case for case in piece.task.cases if not wanted or case.dtype in wanted)
    candidate = read_candidate(piece.path, "h200", fast_math=False)
    return climb(piece.task, candidate, cases, (SourceRung(), OpinionRung(model, panel))).dossier


def tuned(work: Sequence[Piece], model: Model, panel: Path | None, seed: int, rounds: int) -> Tuned:
    labelled = [
        Labelled(
            task=piece.task,
            candidate=read_candidate(piece.path, "h200", fast_math=False),
            verdict=piece.label.verdict,
            kind=piece.label.kind,
        )
        for piece in work
        if piece.label
    ]
    return tune(read_panel(panel) if panel else read_panel(), labelled, model, seed, rounds=rounds)
