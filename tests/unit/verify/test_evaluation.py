"""Evaluation of a verifier: labels in, accuracy and the two kinds of error out."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpwright.core.errors import UsageError
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Verdict
from warpwright.verify.evaluation import Label, read_labels, scores


def label(verdict: Verdict, kind: str) -> Label:
    return Label(path=Path("k.cu"), task="t", verdict=verdict, kind=kind)


def dossier(*evidence: tuple[str, Verdict]) -> Dossier:
    items = tuple(
        Evidence(
            candidate="c",
            rung=rung,
            verdict=verdict,
            reason="unsupported: x" if verdict is Verdict.UNDECIDED else None,
            counterexample=Counterexample(kind="k", message="m") if verdict is Verdict.REFUTED else None,
        )
        for rung, verdict in evidence
    )
    return Dossier(candidate="c", task="t", evidence=items)


def test_each_class_has_its_score() -> None:
    labels = [label(Verdict.REFUTED, "race"), label(Verdict.REFUTED, "race"), label(Verdict.HOLDS, "clean")]
    found = [dossier(("emulate", verdict)) for verdict in (Verdict.REFUTED, Verdict.HOLDS, Verdict.REFUTED)]
    race, clean, both = scores(labels, found)
    assert (race.kind, race.right, race.false_accepts, race.accuracy) == ("race", 1, 1, 0.5)
    assert (clean.false_rejects, clean.accuracy) == (1, 0.0)
    assert (both.kind, both.total, both.right) == ("all", 3, 1)


def test_an_undecided_kernel_counts_neither_as_correct_nor_as_wrong() -> None:
    (score, _) = scores([label(Verdict.REFUTED, "race")], [dossier(("emulate", Verdict.UNDECIDED))])
    assert (score.undecided, score.accuracy) == (1, None)


def test_a_rung_is_measured_on_the_kernels_that_reached_it() -> None:
    labels = [label(Verdict.REFUTED, "race"), label(Verdict.REFUTED, "syntax")]
    found = [dossier(("seal", Verdict.HOLDS), ("emulate", Verdict.REFUTED)), dossier(("seal", Verdict.REFUTED))]
    assert [score.kind for score in scores(labels, found, "emulate")] == ["race", "all"]
    assert scores(labels, found, "seal")[-1].false_accepts == 1


def test_label_files_are_found_relative_to_the_table(tmp_path: Path) -> None:
    (tmp_path / "a.cu").touch()
    (tmp_path / "labels.csv").write_text("file,task,verdict,class\na.cu,softmax,refuted,race\n")
    (only,) = read_labels(tmp_path / "labels.csv")
    assert only == Label(path=tmp_path / "a.cu", task="softmax", verdict=Verdict.REFUTED, kind="race")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("file,task,verdict\n", "column 'class' is missing"),
        ("file,task,verdict,class\na.cu,t,wrong,race\n", "line 2: verdict 'wrong'"),
        ("file,task,verdict,class\nnone.cu,t,holds,\n", "none.cu does not exist"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.cu").touch()
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(UsageError, match=says):
        read_labels(tmp_path / "labels.csv")
