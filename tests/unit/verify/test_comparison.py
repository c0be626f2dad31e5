"""Verifiers compared on the same kernels: shares of faults by class, false rejections, and what was missed."""

from __future__ import annotations

from warpwright.core.records.evidence import Verdict
from warpwright.verify.comparison import ALL, OURS, Answer, beyond, false_rejections, missed, shares

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED


def answer(file: str, kind: str, known: Verdict, ours: Verdict, other: Verdict, scope: str = "asked") -> Answer:
    verdicts = {OURS: ours, "other": other}
    return Answer(file=file, kind=kind, known=known, verdicts=verdicts, scope=scope, seconds={OURS: 2.0})


ANSWERS = (
    answer("right", "right", HOLDS, HOLDS, REFUTED),
    answer("one", "index", REFUTED, REFUTED, HOLDS),
    answer("two", "index", REFUTED, UNDECIDED, REFUTED),
    answer("three", "loop", REFUTED, REFUTED, REFUTED),
    answer("four", "loop", HOLDS, REFUTED, HOLDS, scope="beyond"),
)


def test_each_verifier_has_its_share_of_each_class() -> None:
    found = {(item.kind, item.verifier): item for item in shares(ANSWERS)}
    assert found["index", OURS].share == found["index", "other"].share == 0.5
    assert (found["index", OURS].undecided, found["loop", OURS].share) == (1, 1.0)
    assert (found[ALL, OURS].faults, found[ALL, OURS].found, found[ALL, OURS].seconds) == (3, 2, 2.0)


def test_what_cannot_be_repeated_here_does_not_count_against_another_check() -> None:
    answers = [answer("one", "index", REFUTED, UNDECIDED, UNDECIDED), answer("two", "index", REFUTED, REFUTED, REFUTED)]
    found = {(item.kind, item.verifier): item.share for item in shares(answers)}
    assert (found["index", OURS], found["index", "other"]) == (0.5, 1.0)


def test_only_right_kernels_are_wrongly_rejected() -> None:
    assert false_rejections(ANSWERS) == {OURS: [], "other": ["right"]}


def test_an_undecided_fault_is_missed() -> None:
    assert [item.file for item in missed(ANSWERS)] == ["two"]


def test_what_shows_beyond_the_requested_sizes_is_counted_apart() -> None:
    assert beyond(ANSWERS) == (1, 1)
