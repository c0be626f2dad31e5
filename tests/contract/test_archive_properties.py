"""Whatever is appended, an archive behaves like a list with unique natural keys, and exported runs are exact."""

from __future__ import annotations

import contextlib
import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpwright.archive.kinds import KINDS, Record, natural_key
from warpwright.archive.opening import open_archive
from warpwright.archive.store import Archive
from warpwright.core.candidate import Candidate
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
    Session,
)

NUMBERS = count(1)
KEPT = [Candidate(source=f"// {number}") for number in range(3)]
PROPERTY = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


def survives_json(text: str) -> bool:
    """Combines surrogate pairs, which become one character in any JSON."""
    return bool(json.loads(json.dumps(text)) == text)


texts = st.text(st.characters(exclude_categories=()), max_size=6).filter(survives_json)
names = st.sampled_from(["a", "b", 'c","d', "\0"]) | texts
small = st.integers(0, 3)
any_number = st.integers(-(2**70), 2**70)
floats = st.floats(allow_nan=False)
plain = st.recursive(
    st.none() | st.booleans() | any_number | texts, lambda item: st.lists(item, max_size=2), max_leaves=3
)
mappings = st.dictionaries(texts, plain, max_size=2)
kept = st.sampled_from([item.id for item in KEPT])


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def several(values: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=most).map(tuple)


scenes = st.builds(
    Scene, gpu=maybe(texts), torch=maybe(texts), clocks_mhz=st.dictionaries(texts, any_number, max_size=1)
)
holding = st.builds(
    Evidence, candidate=kept, rung=texts, verdict=st.just(Verdict.HOLDS), facts=mappings, scene=maybe(scenes)
)
refuting = st.builds(
    Evidence,
    candidate=kept,
    rung=texts,
    verdict=st.just(Verdict.REFUTED),
    counterexample=st.builds(Counterexample, kind=texts, message=texts, line=maybe(any_number), facts=mappings),
)
faults = st.builds(Fault, where=texts, message=texts, retryable=st.booleans())
measurements = st.builds(
    Measurement,
    subject=names,
    task=texts,
    case=texts,
    cache=st.sampled_from(Cache),
    samples_us=several(st.floats(1e-3, 1e6)),
    stopped_because=texts,
    scene=scenes,
)
briefs = st.builds(
    Brief,
    number=st.integers(0, 40),
    operator=st.sampled_from(Operator),
    parents=several(names),
    hint=maybe(texts),
    arm=maybe(st.builds(Arm, model=texts, effort=maybe(texts))),
    temperature=maybe(floats),
    genome=mappings,
)
RECORDS: dict[type, st.SearchStrategy[Any]] = {
    Decision: st.builds(
        Decision,
        number=small,
        generation=small,
        action=st.sampled_from(Action),
        reason=texts,
        seed=any_number,
        briefs=several(briefs),
        candidates=several(names),
    ),
    Call: st.builds(
        Call,
        id=names,
        brief=maybe(any_number),
        purpose=texts,
        model=texts,
        prompt=texts,
        reply=maybe(texts),
        usage=st.dictionaries(texts, any_number, max_size=2),
        cost_usd=maybe(floats),
        seconds=floats,
    ),
    Proposal: st.builds(Proposal, brief=small, candidate=maybe(kept), problem=maybe(texts), genome=mappings),
    Dossier: st.builds(
        Dossier, candidate=kept, task=texts, evidence=several(holding | refuting), faults=several(faults, most=1)
    ),
    Judged: st.builds(
        Judged,
        job=names,
        label=texts,
        task=texts,
        candidate=kept,
        evidence=several(holding, most=1),
        measurements=several(measurements),
        faults=several(faults, most=1),
    ),
    Prediction: st.builds(
        Prediction,
        candidate=kept,
        task=texts,
        case=names,
        gpu=names,
        time_us=floats,
        terms_us=st.dictionaries(texts, floats, max_size=2),
        limited_by=texts,
    ),
    Score: st.builds(
        Score,
        candidate=kept,
        basis=st.sampled_from(Basis),
        value=floats,
        by_case=st.dictionaries(texts, floats, max_size=2),
        profile=maybe(texts),
    ),
    Lesson: st.builds(Lesson, decision=small, text=texts),
    Session: st.builds(Session, seconds=floats, reason=texts),
}


def test_every_kind_of_record_is_generated() -> None:
    assert set(RECORDS) == set(KINDS.values())


class Shelf:
    """A model of the archive: a plain list."""

    def __init__(self) -> None:
        self.held: list[Record] = []

    def append(self, record: Record) -> bool | None:
        """Returns None if the archive should refuse the record."""
        key = natural_key(record)
        same = [item for item in self.held if type(item) is type(record) and natural_key(item) == key]
        if key is not None and same:
            return False if same == [record] else None
        if not self._new_briefs(record):
            return None
        self.held.append(record)
        return True

    def _new_briefs(self, record: Record) -> bool:
        decisions = [item for item in (*self.held, record) if isinstance(item, Decision)]
        numbers = [brief.number for item in decisions for brief in item.briefs]
        return len(numbers) == len(set(numbers))


def begun(archive: Archive) -> str:
    name = f"p{next(NUMBERS)}"
    archive.begin(Run(id=name, task="\0 t", seed=2**90, settings={"x": [1, None]}, started="then", warpwright="0"))
    for candidate in KEPT:
        archive.keep(candidate)
    return name


@PROPERTY
@given(records=st.lists(st.one_of(*RECORDS.values()), max_size=8))
def test_an_archive_behaves_like_a_list_with_unique_keys(archive: Archive, records: list[Record]) -> None:
    run, shelf = begun(archive), Shelf()
    for record in records:
        expected = shelf.append(record)
        if expected is None:
            with pytest.raises(OurFault):
                archive.append(run, record)
        else:
            assert archive.append(run, record) is expected
    assert list(archive.log(run)) == shelf.held
    for kind in RECORDS:
        assert list(archive.records(run, kind)) == [item for item in shelf.held if type(item) is kind]


@PROPERTY
@given(records=st.lists(st.one_of(*RECORDS.values()), max_size=8))
def test_an_exported_run_is_imported_exactly(archive: Archive, tmp_path: Path, records: list[Record]) -> None:
    run, shelf = begun(archive), Shelf()
    for record in records:
        if shelf.append(record):
            archive.append(run, record)
    there, back = tmp_path / "there.jsonl", tmp_path / "back.jsonl"
    archive.export_log(run, there)
    with open_archive(tmp_path / "other.db") as other:
        assert other.import_log(there) == archive.run(run)
        other.export_log(run, back)
        assert list(other.log(run)) == shelf.held
    assert back.read_bytes() == there.read_bytes()
    assert archive.import_log(there).id == run
    assert list(archive.log(run)) == shelf.held


@PROPERTY
@given(data=st.data())
def test_a_changed_log_is_refused_or_read_and_never_crashes(tmp_path: Path, data: st.DataObject) -> None:
    whole = sample_log(tmp_path)
    start = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 30))
    put = data.draw(st.binary(max_size=4) | st.sampled_from([b"null", b"[]", b"{}", b"\n", b"1e999", b'"nan"']))
    changed = tmp_path / "changed.jsonl"
    changed.write_bytes(whole[:start] + put + whole[start + length :])
    with open_archive(tmp_path / "import.db") as archive:
        before = everything(archive)
        with contextlib.suppress(UsageError):
            archive.import_log(changed)
            return
        assert everything(archive) == before


def everything(archive: Archive) -> dict[str, list[Record]]:
    return {run.id: list(archive.log(run.id)) for run in archive.runs()}


def sample_log(folder: Path) -> bytes:
    path = folder / "sample.jsonl"
    if not path.exists():
        with open_archive(folder / "sample.db") as archive:
            run = begun(archive)
            archive.append(run, Proposal(brief=1, candidate=KEPT[0].id))
            archive.append(run, Score(candidate=KEPT[0].id, basis=Basis.MEASURED, value=0.5, by_case={"c": 1.0}))
            archive.append(run, Session(seconds=1.0, reason="done"))
            archive.export_log(run, path)
    return path.read_bytes()
