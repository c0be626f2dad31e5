"""Measures a verifier: its verdicts against the labels of a set of kernels, per class of bug."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Dossier, Verdict

COLUMNS = ("file", "task", "verdict", "class")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The known truth about one kernel: whether it is correct, and if not, the class of its bug."""

    path: Path
    task: str
    verdict: Verdict
    kind: str
    dtypes: tuple[str, ...] = ()
    """The dtypes that the kernel supports, from the optional column `dtypes`; empty for all dtypes of its task."""
    scope: str = "asked"
    """From the optional column `scope`: whether a fault shows at requested sizes, or only "beyond" them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Verdicts on the kernels of one class. Without decided kernels there is no accuracy."""

    kind: str
    total: int
    right: int
    false_accepts: int
    false_rejects: int
    undecided: int

    @property
    def accuracy(self) -> float | None:
        """The share of correct verdicts among the decided ones."""
        decided = self.total - self.undecided
        return self.right / decided if decided else None


def read_labels(path: Path) -> tuple[Label, ...]:
    """Reads a labels.csv; file names are relative to its folder."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
                raise UsageError(f"{path}: column '{missing[0]}' is missing; the columns are {', '.join(COLUMNS)}")
            return tuple(_label(path, number, row) for number, row in enumerate(reader, start=2))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None


def _label(path: Path, number: int, row: dict[str, str | None]) -> Label:
    named = {name: (row[name] or "").strip() for name in COLUMNS}
    if named["verdict"] not in (Verdict.HOLDS, Verdict.REFUTED):
        raise UsageError(f"{path}, line {number}: verdict '{named['verdict']}' is neither holds nor refuted")
    source = path.parent / named["file"]
    if not source.is_file():
        raise UsageError(f"{path}, line {number}: {named['file']} does not exist")
    return Label(
        path=source,
        task=named["task"],
        verdict=Verdict(named["verdict"]),
        kind=named["class"] or "unnamed",
        dtypes=tuple((row.get("dtypes") or "").split()),
        scope=(row.get("scope") or "").strip() or "asked",
    )


def verdict_of(dossier: Dossier, rung: str | None) -> Verdict | None:
    """Returns the verdict of the whole ladder, or of one rung; None if that rung was not reached or was skipped."""
    if rung is None:
        return dossier.verdict
    return next((item.verdict for item in dossier.evidence if item.rung == rung and not item.skipped), None)


def scores(labels: Sequence[Label], dossiers: Sequence[Dossier], rung: str | None = None) -> tuple[Score, ...]:
    """Returns one score per class, in order of first appearance, then one for all kernels."""
    judged = [
        (label, verdict)
        for label, dossier in zip(labels, dossiers, strict=True)
        if (verdict := verdict_of(dossier, rung)) is not None
    ]
    kinds = dict.fromkeys(label.kind for label, _ in judged)
    by_kind = [_score(kind, [pair for pair in judged if pair[0].kind == kind]) for kind in kinds]
    return (*by_kind, _score("all", judged))


def _score(kind: str, judged: Iterable[tuple[Label, Verdict]]) -> Score:
    pairs = [(label.verdict, verdict) for label, verdict in judged]
    return Score(
        kind=kind,
        total=len(pairs),
        right=sum(known is found for known, found in pairs),
        false_accepts=pairs.count((Verdict.REFUTED, Verdict.HOLDS)),
        false_rejects=pairs.count((Verdict.HOLDS, Verdict.REFUTED)),
        undecided=sum(found is Verdict.UNDECIDED for _, found in pairs),
    )
