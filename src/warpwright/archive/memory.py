"""Text search over lessons and scores of earlier runs.

Both databases give the same answer, since they only select rows; the ranking happens here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, or_, select
from sqlalchemy import Row as Found

from warpwright.archive.database.schema import BRIEFS, CANDIDATES, RECORDS, RUNS
from warpwright.archive.kinds import Row, storable
from warpwright.archive.reading import read
from warpwright.core.records.search import Lesson, Score

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 32
_REMEMBERED = ("lesson", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A lesson, or a candidate with its score and origin."""

    run: str
    task: str
    lesson: str | None = None
    score: Score | None = None
    gpu: str | None = None
    operator: str | None = None
    hint: str | None = None


def words_of(connection: Connection, run: str, row: Row) -> str | None:
    """Returns the searchable words of a record: its task and its text."""
    if row.kind not in _REMEMBERED:
        return None
    task = connection.execute(select(RUNS.c.task).where(RUNS.c.id == run)).scalar_one()
    if row.kind == "lesson":
        return _folded(task, read(Lesson, row.body, "a lesson").text)
    score = read(Score, row.body, "a score")
    return _folded(task, *_origin(connection, run, score.candidate).values(), score.profile)


def search(connection: Connection, text: str, limit: int) -> tuple[Memory, ...]:
    """Finds records by words; rare matching words rank higher, and among equals the newest record comes first."""
    words = list(dict.fromkeys(_WORD.findall(_folded(text))))[:_MOST_WORDS]
    if not words or limit < 1:
        return ()
    rows = _matching(connection, words)
    total = connection.execute(select(func.count()).where(RECORDS.c.kind.in_(_REMEMBERED))).scalar_one()
    counts = {word: sum(word in row.words for row in rows) for word in words}
    weights = {word: math.log(1 + total / count) for word, count in counts.items() if count}
    rows.sort(key=lambda row: sum(weight for word, weight in weights.items() if word in row.words), reverse=True)
    return tuple(_memory(connection, row) for row in rows[:limit])


def _matching(connection: Connection, words: Sequence[str]) -> list[Found[Any]]:
    matches = or_(*(RECORDS.c.words.contains(word, autoescape=True) for word in words))
    rows = select(RECORDS.c.run, RECORDS.c.number, RECORDS.c.words).where(RECORDS.c.kind.in_(_REMEMBERED), matches)
    return list(connection.execute(rows.order_by(RECORDS.c.at.desc(), RECORDS.c.run, RECORDS.c.number.desc())))


def _memory(connection: Connection, found: Found[Any]) -> Memory:
    whole = select(RECORDS.c.run, RECORDS.c.kind, RECORDS.c.body, RUNS.c.task).join(RUNS, RUNS.c.id == RECORDS.c.run)
    row = connection.execute(whole.where(RECORDS.c.run == found.run, RECORDS.c.number == found.number)).one()
    where = f"record {found.number} of run {row.run}"
    if row.kind == "lesson":
        return Memory(run=row.run, task=row.task, lesson=read(Lesson, row.body, where).text)
    score = read(Score, row.body, where)
    return Memory(run=row.run, task=row.task, score=score, **_origin(connection, row.run, score.candidate))


def _origin(connection: Connection, run: str, candidate: str) -> dict[str, str | None]:
    """Returns the GPU, operator and hint of a candidate."""
    gpu = connection.execute(select(CANDIDATES.c.gpu).where(CANDIDATES.c.id == candidate)).scalar()
    proposed = (RECORDS.c.run == run, RECORDS.c.kind == "proposal", RECORDS.c.candidate == candidate)
    joined = RECORDS.join(BRIEFS, (BRIEFS.c.run == RECORDS.c.run) & (BRIEFS.c.number == RECORDS.c.brief))
    first = select(BRIEFS.c.operator, BRIEFS.c.hint).select_from(joined).where(*proposed).order_by(RECORDS.c.number)
    brief = connection.execute(first.limit(1)).first()
    return {"gpu": gpu, "operator": brief.operator if brief else None, "hint": brief.hint if brief else None}


def _folded(*texts: str | None) -> str:
    return storable(" ".join(text for text in texts if text)).casefold()
