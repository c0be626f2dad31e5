"""The contract of an archive, in every kind of database."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from warpwright.archive import reading
from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.evidence import Dossier
from warpwright.core.records.search import (
    Action,
    Arm,
    Basis,
    Brief,
    Call,
    Decision,
    Lesson,
    Operator,
    Prediction,
    Proposal,
    Run,
    Score,
    Session,
)

KERNEL = Candidate(source="__global__ void f() {}")
NewRun = Callable[..., Run]


def decision(number: int, *briefs: Brief) -> Decision:
    return Decision(number=number, generation=number, action=Action.BREED, reason="first", seed=2**80, briefs=briefs)


def call(name: str, **values: object) -> Call:
    return Call(
        **{"id": name, "brief": 1, "purpose": "translate", "model": "m", "prompt": "p", "seconds": 1.5} | values
    )


def test_a_new_run_is_stored(archive: Archive, new_run: NewRun) -> None:
    archive.begin(new_run("r1"))
    archive.begin(new_run("r2"))
    assert archive.runs() == (new_run("r1"), new_run("r2"))


def test_a_run_of_the_same_name_with_other_content_is_refused(archive: Archive, new_run: NewRun) -> None:
    with pytest.raises(UsageError, match="r1 is in the archive already"):
        archive.begin(new_run("r1", task="another"))
    assert archive.runs() == (new_run("r1"),)


def test_a_run_id_is_easy_to_type_and_a_valid_file_name(archive: Archive, new_run: NewRun) -> None:
    for name in ("", "../r", "a/b", "-r", "a b", "r\n", "r\0", "ü", "x" * 101):
        with pytest.raises(UsageError, match="cannot be the id of a run"):
            archive.begin(new_run(name))
    assert len(archive.runs()) == 1


def test_a_run_is_found_by_an_unambiguous_prefix(archive: Archive, new_run: NewRun) -> None:
    for name in ("alpha", "alphabet", "beta"):
        archive.begin(new_run(name))
    assert archive.run("b").id == "beta"
    assert archive.run("alpha").id == "alpha"
    with pytest.raises(UsageError, match="several runs: alpha, alphabet"):
        archive.run("al")
    with pytest.raises(UsageError, match="no run 'betta'; the nearest is beta"):
        archive.run("betta")


def test_an_empty_archive_is_named_as_such(place: str) -> None:
    with open_archive(place) as archive:
        assert archive.runs() == ()
        with pytest.raises(UsageError, match="the archive is empty"):
            archive.run("r1")


def test_every_request_for_an_unknown_run_names_the_nearest_one(archive: Archive, tmp_path: Path) -> None:
    for ask in (
        lambda: archive.append("r7", Session(seconds=1.0, reason="done")),
        lambda: archive.records("r7", Call),
        lambda: list(archive.log("r7")),
        lambda: archive.claim("r7").__enter__(),
        lambda: archive.export_log("r7", tmp_path / "log.jsonl"),
    ):
        with pytest.raises(UsageError, match="no run 'r7'; the nearest is r1"):
            ask()


def test_candidates_are_loaded_as_stored(archive: Archive) -> None:
    other = Candidate(source="\0 \ud800 \U0001f600", flags=Flags(gpu="a100", fast_math=True, extra=("-lineinfo",)))
    for candidate in (KERNEL, other, KERNEL):
        archive.keep(candidate)
    assert archive.candidate(other.id) == other
    assert archive.candidates([other.id, KERNEL.id]) == {other.id: other, KERNEL.id: KERNEL}
    assert archive.candidates([]) == {}


def test_names_that_no_database_can_store_are_not_found(archive: Archive) -> None:
    for ask in (
        lambda: archive.append("\0", Session(seconds=1.0, reason="done")),
        lambda: archive.records("\udcff", Call),
        lambda: archive.candidate("\0"),
    ):
        with pytest.raises(UsageError, match="there is no"):
            ask()


def test_a_missing_candidate_is_named(archive: Archive) -> None:
    with pytest.raises(UsageError, match="no candidate feed"):
        archive.candidates(["feed"])


def test_many_candidates_can_be_asked_for_at_once(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PAGE", 10)
    made = [Candidate(source=f"// {number}") for number in range(25)]
    with archive.transaction():
        for candidate in made:
            archive.keep(candidate)
    assert list(archive.candidates([item.id for item in made]).values()) == made


def test_records_are_loaded_in_the_order_of_appending(archive: Archive) -> None:
    archive.keep(KERNEL)
    brief = Brief(number=1, operator=Operator.TRANSLATE, arm=Arm(model="m", effort="high"), temperature=0.3)
    records = [
        decision(1, brief),
        call("b"),
        call("a", cost_usd=0.25, usage={"input": 5}),
        Proposal(brief=1, candidate=KERNEL.id, traits=(0, 1, 2, 3)),
        Dossier(candidate=KERNEL.id, task="t"),
        Prediction(candidate=KERNEL.id, task="t", case="c", gpu="h200", time_us=3.0, limited_by="memory"),
        Score(candidate=KERNEL.id, basis=Basis.PREDICTED, value=-0.5),
        Session(seconds=2.0, reason="budget"),
        Lesson(decision=1, text="wider loads"),
        Session(seconds=2.0, reason="budget"),
    ]
    assert [archive.append("r1", record) for record in records] == [True] * len(records)
    assert list(archive.log("r1")) == records
    assert archive.records("r1", Call) == (records[1], records[2])
    assert archive.records("r1", Session) == (records[7], records[9])


def test_a_long_log_is_read_to_its_end(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PAGE", 10)
    calls = [call(f"c{number}") for number in range(30)]
    with archive.transaction():
        for item in calls:
            archive.append("r1", item)
    assert list(archive.log("r1")) == calls
    assert list(archive.records("r1", Call)) == calls


def test_records_of_different_runs_are_separate(archive: Archive, new_run: NewRun) -> None:
    archive.begin(new_run("r2"))
    assert archive.append("r1", call("a", prompt="one"))
    assert archive.append("r2", call("a", prompt="two"))
    assert [item.prompt for item in archive.records("r2", Call)] == ["two"]


def test_the_same_record_is_stored_once(archive: Archive) -> None:
    assert archive.append("r1", call("a"))
    assert not archive.append("r1", call("a"))
    assert len(archive.records("r1", Call)) == 1


def test_an_integer_for_a_float_gives_the_same_record(archive: Archive) -> None:
    assert archive.append("r1", call("a", seconds=2))
    assert not archive.append("r1", archive.records("r1", Call)[0])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (decision(1), decision(1, Brief(number=1, operator=Operator.COMPOSE))),
        (call("a"), call("a", reply="else")),
        (Proposal(brief=1), Proposal(brief=1, problem="no code")),
        (Dossier(candidate=KERNEL.id, task="t"), Dossier(candidate=KERNEL.id, task="u")),
        (
            Prediction(candidate=KERNEL.id, task="t", case="c", gpu="h200", time_us=3.0, limited_by="memory"),
            Prediction(candidate=KERNEL.id, task="t", case="c", gpu="h200", time_us=4.0, limited_by="memory"),
        ),
        (
            Score(candidate=KERNEL.id, basis=Basis.MEASURED, value=1.0),
            Score(candidate=KERNEL.id, basis=Basis.MEASURED, value=float("nan")),
        ),
        (Lesson(decision=1, text="a"), Lesson(decision=1, text="b")),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_different_record_under_the_same_key_is_our_fault(archive: Archive, first: object, second: object) -> None:
    archive.keep(KERNEL)
    assert archive.append("r1", first)  # type: ignore[arg-type]
    with pytest.raises(OurFault, match="records are never changed"):
        archive.append("r1", second)  # type: ignore[arg-type]
    assert list(archive.log("r1")) == [first]


def test_parts_of_a_key_are_kept_separate(archive: Archive) -> None:
    kept = [Candidate(source=text) for text in ("x", "y")]
    for candidate in kept:
        archive.keep(candidate)
    cases = [("a", "b,c"), ("a,b", "c"), ('a","b', "c")]
    for candidate in kept:
        for case, gpu in cases:
            item = Prediction(candidate=candidate.id, task="t", case=case, gpu=gpu, time_us=1.0, limited_by="m")
            assert archive.append("r1", item)


def test_a_record_about_a_candidate_that_was_never_stored_is_our_fault(archive: Archive) -> None:
    with pytest.raises(OurFault, match="names candidate feed, which was never kept"):
        archive.append("r1", Proposal(brief=1, candidate="feed"))


def test_briefs_are_numbered_once(archive: Archive) -> None:
    brief = Brief(number=3, operator=Operator.COMPOSE)
    archive.append("r1", decision(1, brief))
    for later in (decision(2, brief), decision(2, *[Brief(number=4, operator=Operator.COMPOSE)] * 2)):
        with pytest.raises(OurFault, match="exists twice"):
            archive.append("r1", later)
    assert len(archive.records("r1", Decision)) == 1


def test_a_value_that_is_no_record_is_refused(archive: Archive, new_run: NewRun) -> None:
    with pytest.raises(OurFault, match="Run is no kind of record"):
        archive.append("r1", new_run("r1"))  # type: ignore[arg-type]
    with pytest.raises(OurFault, match="a call cannot be stored"):
        archive.append("r1", call("a", usage={"input": "many"}))


def test_a_transaction_is_atomic(archive: Archive) -> None:
    with archive.transaction():
        archive.keep(KERNEL)
        archive.append("r1", Proposal(brief=1, candidate=KERNEL.id))
        assert len(archive.records("r1", Proposal)) == 1
    assert archive.candidate(KERNEL.id) == KERNEL


def test_a_failed_transaction_stores_nothing(archive: Archive) -> None:
    def fail() -> None:
        with archive.transaction(), archive.transaction():
            archive.append("r1", call("a"))
            raise KeyError("stop")

    with pytest.raises(KeyError):
        fail()
    assert list(archive.log("r1")) == []
    assert archive.append("r1", call("a"))


def test_a_refused_record_inside_a_transaction_does_not_affect_the_others(archive: Archive) -> None:
    with archive.transaction():
        archive.append("r1", call("a"))
        with pytest.raises(OurFault):
            archive.append("r1", call("a", reply="else"))
        archive.append("r1", call("b"))
    assert [item.id for item in archive.records("r1", Call)] == ["a", "b"]


def test_everything_is_stored_after_reopening(place: str, new_run: NewRun) -> None:
    with open_archive(place) as archive:
        archive.begin(new_run("r1"))
        archive.append("r1", call("a"))
    for _ in range(2):
        with open_archive(place) as archive:
            assert archive.runs() == (new_run("r1"),)
            assert list(archive.log("r1")) == [call("a")]


def test_an_archive_is_not_used_from_both_sides_of_a_fork(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(OurFault, match="after a fork, open it anew"):
        archive.runs()


def test_earlier_lessons_and_scores_are_found_by_their_words(archive: Archive, new_run: NewRun) -> None:
    archive.begin(new_run("r2", task="modern/softmax:forward"))
    archive.keep(KERNEL)
    brief = Brief(number=1, operator=Operator.OPTIMISE, hint="Use vectorised 16-byte loads")
    score = Score(candidate=KERNEL.id, basis=Basis.MEASURED, value=0.7, profile="memory traffic: 92 % of peak")
    archive.append("r1", Lesson(decision=1, text="Shared memory did not help; occupancy fell."))
    for record in (decision(1, brief), Proposal(brief=1, candidate=KERNEL.id), score):
        archive.append("r2", record)
    best, second = archive.search("VECTORISED memory loads, 100%_", 5)
    assert (best.run, best.task, best.score) == ("r2", "modern/softmax:forward", score)
    assert (best.operator, best.hint, best.gpu) == ("optimise", brief.hint, "h200")
    assert second.lesson == "Shared memory did not help; occupancy fell."
    assert [found.run for found in archive.search("softmax h200", 5)] == ["r2"]
    assert len(archive.search("memory", 1)) == 1


def test_unknown_words_find_nothing(archive: Archive) -> None:
    archive.append("r1", Lesson(decision=1, text="100 % of the peak_rate"))
    for text in ("", " _%!", "nothing whatsoever", "peakrate"):
        assert archive.search(text, 5) == ()


def test_among_equal_matches_the_newest_comes_first(archive: Archive) -> None:
    for number in range(3):
        archive.append("r1", Lesson(decision=number, text=f"unroll {number}"))
    assert [found.lesson for found in archive.search("unroll", 2)] == ["unroll 2", "unroll 1"]
