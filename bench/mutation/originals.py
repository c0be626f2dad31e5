"""Correct kernels of the corpus, each with the fates of its mutants. Worker processes import it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mutation.survey import Survey
from warpwright.core.records.evidence import Verdict
from warpwright.core.task import Role
from warpwright.faults.mutants import few_of_each_kind
from warpwright.tasks.find import load

CORPUS = Path(__file__).parents[2] / "tests" / "corpus" / "seal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One original and the fates of its mutants, as plain data."""

    name: str
    original: str
    reason: str | None
    fates: tuple[tuple[str, str, int, str, str], ...]
    """Kind, fate, line, change, reason."""


def survey(name: str, each: int) -> Result:
    source, asked, dtype = specimen(name)
    task, *_ = load(asked)
    cases = [case for case in task.cases if case.role is Role.CHECK and case.dtype == dtype]
    work = Survey(name, task, source, cases)
    verdict = work.original.verdict
    if verdict is not Verdict.HOLDS:
        shown = work.original.counterexample
        return Result(name=name, original=verdict, reason=shown.message if shown else work.original.reason, fates=())
    fates = [
        (
            item.mutant.kind,
            item.fate.value,
            item.mutant.line,
            f"{item.mutant.was!r} -> {item.mutant.became!r}",
            item.why,
        )
        for item in work.fates(few_of_each_kind(source, each))
    ]
    return Result(name=name, original=verdict, reason=None, fates=tuple(fates))


def specimen(name: str) -> tuple[str, str, str]:
    """Returns source, task and the first dtype of an original, by its first line."""
    source = (CORPUS / f"{name}.cu").read_text()
    header = re.match(r"\ufeff?// task: (\S+)\s+dtypes: (.+?)\s+style: ", source)
    assert header, f"{name} does not say what it is"
    return source, header[1], re.split(r",\s*", header[2])[0]
