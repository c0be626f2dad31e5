"""The dataset and the log of a run: their contents, refused files, and the docs about them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from warpwright.archive import reading
from warpwright.archive.database.address import address
from warpwright.archive.database.engine import engine_for
from warpwright.archive.dataset.columns import COLUMNS
from warpwright.archive.dataset.export import export
from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate, Flags
from warpwright.core.errors import OurFault, UsageError
from warpwright.core.records.evidence import Counterexample, Dossier, Evidence, Fault, Verdict
from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import Cache, Measurement, Scene
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
)

DOCS = Path(__file__).parents[2] / "docs" / "archive.md"
RIGHT = Candidate(source="// right \ud800", flags=Flags(gpu="h200", extra=("-lineinfo",)))
WRONG = Candidate(source="# wrong", language="other")


def told(archive: Archive) -> None:
    """A run with a correct kernel, a wrong one, a composed one and a proposal without a kernel."""
    for candidate in (RIGHT, WRONG):
        archive.keep(candidate)
    for record in (*asked(), *found()):
        archive.append("r1", record)


def asked() -> list[Any]:
    arm = Arm(model="big", effort="high")
    briefs = (
        Brief(number=1, operator=Operator.TRANSLATE, arm=arm, temperature=0.5, lesson="short"),
        Brief(number=2, operator=Operator.OPTIMISE, parents=(RIGHT.id,), hint="wide loads", arm=arm, island=1),
        Brief(number=3, operator=Operator.COMPOSE, genome={"tile": 4}),
        Brief(number=4, operator=Operator.REPAIR, arm=arm, near_miss=WRONG.id),
        Brief(number=5, operator=Operator.REPAIR),
    )

    def call(name: str, brief: int, **values: Any) -> Call:
        return Call(id=name, brief=brief, purpose="x", model="big-2", prompt=f"ask {name}", seconds=1.0, **values)

    return [
        Decision(number=1, generation=3, action=Action.BREED, reason="go", seed=1, briefs=briefs),
        call("a", 1, reply="no code", usage={"input": 10, "output": 1}, cost_usd=0.25),
        call("b", 1, reply="code", usage={"input": 20, "output": 2}, cost_usd=0.5, temperature=0.6),
        call("c", 2, reply="code", usage={"input": 5}, cost_usd=0.125),
        call("d", 2, error="too late"),
        Proposal(brief=2, candidate=WRONG.id, fingerprint="f2", traits=(1, 2, 3, 0)),
        Proposal(brief=1, candidate=RIGHT.id),
        Proposal(brief=3, candidate=RIGHT.id, duplicate_of=RIGHT.id, genome={"tile": 8}),
        Proposal(brief=4, problem="no code in the reply", faulted=True),
    ]


def found() -> list[Any]:
    def measured(subject: str, *samples: float) -> Measurement:
        scene = Scene(gpu="NVIDIA H200")
        values = {"task": "t", "case": "big", "cache": Cache.COLD, "stopped_because": "enough", "scene": scene}
        return Measurement(subject=subject, samples_us=samples, **values)  # type: ignore[arg-type]

    example = Counterexample(kind="race", message="two threads", case="big", line=7, facts={"address": 64})
    holds = Evidence(candidate=RIGHT.id, rung="seal", verdict=Verdict.HOLDS, seconds=0.5)
    skipped = Evidence(candidate=RIGHT.id, rung="gpu", verdict=Verdict.UNDECIDED, reason="no GPU", skipped=True)
    refuted = Evidence(candidate=WRONG.id, rung="emulate", verdict=Verdict.REFUTED, counterexample=example)
    fault = Fault(where="judge", message="GPU lost")
    return [
        Dossier(candidate=RIGHT.id, task="t", evidence=(holds, skipped)),
        Dossier(candidate=WRONG.id, task="t", evidence=(refuted,)),
        Judged(job="j0", label="x", task="t", candidate=RIGHT.id, faults=(fault,)),
        Judged(
            job="j1",
            label="x",
            task="t",
            candidate=RIGHT.id,
            measurements=(measured(RIGHT.id, 2.0, 4.0), measured("eager", 9.0), measured("compile")),
        ),
        Prediction(candidate=RIGHT.id, task="t", case="big", gpu="h200", time_us=2.5, limited_by="memory"),
        Score(candidate=RIGHT.id, basis=Basis.PREDICTED, value=-0.1),
        Score(
            candidate=RIGHT.id, basis=Basis.MEASURED, value=1.5, by_case={"big": 1.5}, share_of_limit=0.8, profile="p"
        ),
        Lesson(decision=1, text="wide loads pay"),
    ]


def exported(archive: Archive, folder: Path, **which: Any) -> list[dict[str, Any]]:
    target = folder / "rows.jsonl"
    count = export(archive, "jsonl", target, **which)
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert count == len(rows)
    return rows


def test_there_is_one_row_per_proposal_with_every_column(archive: Archive, tmp_path: Path) -> None:
    told(archive)
    rows = exported(archive, tmp_path)
    assert [row["brief"] for row in rows] == [2, 1, 3, 4]
    assert all(set(row) == set(COLUMNS) for row in rows)
    assert {(row["run"], row["generation"], row["decision"]) for row in rows} == {("r1", 3, 1)}


def test_a_row_holds_the_request_and_its_cost(archive: Archive, tmp_path: Path) -> None:
    told(archive)
    wrong, right, composed, nothing = exported(archive, tmp_path)
    assert (right["operator"], right["lesson"], right["parents"]) == ("translate", "short", [])
    assert (right["model"], right["temperature"], right["prompt"], right["reply"]) == ("big-2", 0.6, "ask b", "code")
    assert (right["calls"], right["tokens"], right["cost_usd"]) == (2, {"input": 30, "output": 3}, 0.75)
    assert (wrong["hint"], wrong["parents"], wrong["island"]) == ("wide loads", [RIGHT.id], 1)
    assert (wrong["prompt"], wrong["calls"], wrong["cost_usd"]) == ("ask c", 2, None), "one price is unknown"
    assert (composed["model"], composed["calls"], composed["cost_usd"]) == (None, 0, 0.0)
    assert (composed["genome"], composed["duplicate_of"]) == ('{"tile":8}', RIGHT.id)
    assert (nothing["model"], nothing["effort"], nothing["near_miss"]) == ("big", "high", WRONG.id)


def test_a_row_holds_the_verdict_and_the_times(archive: Archive, tmp_path: Path) -> None:
    told(archive)
    wrong, right, _, nothing = exported(archive, tmp_path)
    assert (right["source"], right["verdict"]) == (RIGHT.source, "undecided"), "a fault is no verdict"
    assert (right["language"], wrong["language"], nothing["language"]) == ("cuda", "other", None)
    assert right["flags"] == {"gpu": "h200", "fast_math": False, "extra": ["-lineinfo"]}
    assert [(rung["rung"], rung["verdict"], rung["skipped"]) for rung in right["rungs"]] == [
        ("seal", "holds", False),
        ("gpu", "undecided", True),
    ]
    assert right["faults"] == [{"where": "judge", "message": "GPU lost"}]
    times = [(time["subject"], time["median_us"], time["samples"]) for time in right["times"]]
    assert times == [("candidate", 3.0, 2), ("eager", 9.0, 1), ("compile", None, 0)]
    assert (right["score"], right["basis"], right["share_of_limit"]) == (1.5, "measured", 0.8)
    assert right["score_by_case"] == [{"case": "big", "score": 1.5}]
    assert [item["time_us"] for item in right["predictions"]] == [2.5]
    assert (wrong["verdict"], wrong["refuted_by"], wrong["traits"]) == ("refuted", "emulate", [1, 2, 3, 0])
    assert wrong["counterexample"] == {
        "kind": "race",
        "message": "two threads",
        "case": "big",
        "line": 7,
        "facts": '{"address":64}',
    }
    assert (nothing["candidate"], nothing["source"], nothing["flags"], nothing["verdict"]) == (None,) * 4
    assert (nothing["problem"], nothing["faulted"], nothing["score"]) == ("no code in the reply", True, None)


def test_parquet_holds_the_same_rows(archive: Archive, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    told(archive)
    rows = exported(archive, tmp_path)
    assert export(archive, "parquet", tmp_path / "rows.parquet") == len(rows)
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.column_names == list(COLUMNS)
    for row in rows:
        row["tokens"] = list(row["tokens"].items())
        row["source"] = row["source"] and row["source"].replace("\ud800", "?")
    assert table.to_pylist() == rows


def test_an_empty_archive_still_has_columns(place: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    with open_archive(place) as archive:
        assert export(archive, "parquet", tmp_path / "rows.parquet") == 0
    assert parquet.read_table(tmp_path / "rows.parquet").column_names == list(COLUMNS)


def test_one_run_can_be_chosen(archive: Archive, tmp_path: Path, new_run: Callable[..., Run]) -> None:
    archive.begin(new_run("q2"))
    for run, count in (("r1", 1), ("q2", 2)):
        for number in range(count):
            archive.append(run, Proposal(brief=number))
    assert [row["run"] for row in exported(archive, tmp_path, run="q")] == ["q2", "q2"]
    assert len(exported(archive, tmp_path)) == 3


def test_an_impossible_export_is_explained(archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="'csv' is no format; one of jsonl, parquet"):
        export(archive, "csv", tmp_path / "rows.csv")
    with pytest.raises(UsageError, match=r"nowhere/rows\.jsonl cannot be written: No such file"):
        export(archive, "jsonl", tmp_path / "nowhere" / "rows.jsonl")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'warpwright\[parquet\]'"):
        export(archive, "parquet", tmp_path / "rows.parquet")
    assert [path.name for path in tmp_path.iterdir() if "rows" in path.name] == []


def test_a_failed_export_leaves_the_old_file(archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "rows.jsonl"
    target.write_text("old")
    monkeypatch.setattr(Archive, "log", lambda self, run: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(archive, "jsonl", target)
    assert target.read_text() == "old"
    assert list(tmp_path.glob(".rows*")) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "line 3: the file was cut off"),
        (lambda lines: [*lines[:1], *lines[2:]], "line 3: the file was cut off"),
        (lambda lines: lines[1:], "line 1: not the log of a run"),
        (
            lambda lines: [lines[0].replace('"log":1', '"log":2'), *lines[1:]],
            "a log of the form 2; this version reads 1",
        ),
        (lambda lines: [lines[0].replace('"r1"', '"../../r1"'), *lines[1:]], "cannot be the id of a run"),
        (lambda lines: [line.replace("lesson", "dream") for line in lines], "line 2: 'dream' is no kind of record"),
        (lambda lines: [line.replace('"text"', '"txt"') for line in lines], "line 2: record: unknown key 'txt'"),
        (lambda lines: [line.replace('"at":"2', '"at":"x') for line in lines], "line 1: 'at' is not a time"),
        (lambda lines: [line.replace("loads", "stores") for line in lines], "disagree about run r1"),
        (lambda lines: ["{"], "line 1: not JSON"),
        (lambda lines: ["[1]"], "line 1: not a JSON object"),
    ],
)
def test_a_truncated_or_changed_log_is_refused(
    archive: Archive, tmp_path: Path, change: Callable[[list[str]], list[str]], message: str
) -> None:
    for number in (1, 2):
        archive.append("r1", Lesson(decision=number, text=f"loads {number}"))
    log = tmp_path / "r1.jsonl"
    archive.export_log("r1", log)
    log.write_text("\n".join(change(log.read_text().splitlines())))
    with pytest.raises(UsageError, match=re.escape(message)):
        archive.import_log(log)
    assert len(list(archive.log("r1"))) == 2


def test_a_log_with_too_deep_nesting_or_too_large_numbers_is_refused(archive: Archive, tmp_path: Path) -> None:
    log = tmp_path / "r1.jsonl"
    archive.export_log("r1", log)
    whole, deep = log.read_text(), '{"a":' * 700 + "1" + "}" * 700
    log.write_text(whole.replace('"settings":{"generations":2}', f'"settings":{deep}'))
    with pytest.raises(UsageError, match="line 1: "):
        archive.import_log(log)
    brief = Brief(number=2**64, operator=Operator.COMPOSE)
    with pytest.raises(OurFault, match="more than 64 bits"):
        archive.append("r1", Decision(number=1, generation=0, action=Action.BREED, reason="", seed=0, briefs=(brief,)))


def test_importing_a_longer_log_adds_the_missing_records(archive: Archive, tmp_path: Path) -> None:
    archive.append("r1", Lesson(decision=1, text="here"))
    archive.export_log("r1", tmp_path / "short.jsonl")
    with open_archive(tmp_path / "elsewhere.db") as other:
        other.import_log(tmp_path / "short.jsonl")
        other.append("r1", Lesson(decision=2, text="there"))
        other.export_log("r1", tmp_path / "long.jsonl")
    archive.import_log(tmp_path / "long.jsonl")
    archive.import_log(tmp_path / "short.jsonl")
    assert [item.text for item in archive.records("r1", Lesson)] == ["here", "there"]


def test_a_log_exported_during_the_run_is_complete(
    archive: Archive, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(*arguments: Any) -> Any:
        with open_archive(place) as other:
            other.keep(RIGHT)
            other.append("r1", Proposal(brief=1, candidate=RIGHT.id))
        return before(*arguments)

    before = reading.candidate_rows
    monkeypatch.setattr(reading, "candidate_rows", meanwhile)
    archive.export_log("r1", tmp_path / "r1.jsonl")
    monkeypatch.undo()
    with open_archive(tmp_path / "other.db") as other:
        other.import_log(tmp_path / "r1.jsonl")
        assert list(other.log("r1")) == []
    assert len(list(archive.log("r1"))) == 1


def test_a_log_is_not_imported_while_the_run_is_in_use(archive: Archive, tmp_path: Path) -> None:
    archive.export_log("r1", tmp_path / "r1.jsonl")
    with archive.claim("r1"), pytest.raises(UsageError, match="r1 is in use by process"):
        archive.import_log(tmp_path / "r1.jsonl")


def test_the_docs_explain_every_column_and_no_other() -> None:
    section = DOCS.read_text(encoding="utf-8").split("## The dataset")[1].split("\n## ")[0]
    explained = [name for line in re.findall(r"^\| (`.*?) \|", section, re.M) for name in re.findall(r"`(\w+)`", line)]
    assert sorted(explained) == sorted(COLUMNS)


def test_the_queries_of_the_docs_run(archive: Archive, place: str) -> None:
    told(archive)
    queries = re.findall(r"```sql\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    engine = engine_for(address(place))
    with engine.connect() as connection:
        found = [connection.execute(text(query)).all() for query in queries]
    engine.dispose()
    assert len(found) >= 3
    assert all(found), "every query finds something in a run that has everything"


def test_the_example_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S):
        exec(compile(code, str(DOCS), "exec"), {})
    assert (tmp_path / "kernels.jsonl").exists()
