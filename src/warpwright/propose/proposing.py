"""Turns a brief into a candidate: asks a model, reads the answer, and asks once more if the answer is unusable."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.errors import ModelFailed
from warpwright.core.protocols import Model, Request
from warpwright.core.records.search import Brief, Call, Operator
from warpwright.core.task import Task
from warpwright.propose.answers.asking import Note, Noted
from warpwright.propose.answers.edits import Unreadable
from warpwright.propose.answers.reply import source_in
from warpwright.propose.prompting.known import Library
from warpwright.propose.prompting.prompt import Setting, editable, question, shared_part
from warpwright.propose.prompting.quoting import quoted
from warpwright.propose.prompting.template import render
from warpwright.propose.summarising import issue_of, shortened

MOST_TOKENS = 32000
_OWN_FAILURES = ("refused", "truncated", "malformed")
"""Kinds of failures that the model itself causes: it was paid and returned nothing usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The outcome of a brief: a candidate, or why there is none, with every call that was made for it."""

    candidate: Candidate | None = None
    problem: str | None = None
    faulted: bool = False
    """True if the model could not be reached: the brief is spent, but does not count against the model."""
    calls: tuple[Call, ...] = ()


def propose(
    task: Task,
    brief: Brief,
    model: Model,
    library: Library | None = None,
    *,
    flags: Flags | None = None,
    tried: str = "",
    predicts: bool = False,
    written_in: str = CUDA,
    max_tokens: int | None = MOST_TOKENS,
    note: Note | None = None,
) -> Proposed:
    """Asks for a kernel. `library` holds every kernel that the brief names; `flags` names the target, `tried` tells
    what happened to earlier proposals, `predicts` whether times are predicted, and `written_in` is the language of new
    files; `note` is called with every call as soon as it has ended."""
    setting = Setting(
        task=task,
        brief=brief,
        library=library or {},
        flags=flags or Flags(),
        tried=tried,
        predicts=predicts,
        written_in=written_in,
    )
    noted = Noted(model, brief.number, note=note)
    try:
        source = _source(setting, noted, max_tokens)
    except ModelFailed as failed:
        faulted = failed.kind not in _OWN_FAILURES
        return Proposed(problem=str(failed), faulted=faulted, calls=tuple(noted.calls))
    except Unreadable as unreadable:
        return Proposed(problem=str(unreadable), calls=tuple(noted.calls))
    candidate = Candidate(source=source, language=setting.language.name, flags=setting.flags)
    return Proposed(candidate=candidate, calls=tuple(noted.calls))


def _source(setting: Setting, model: Model, max_tokens: int | None) -> str:
    brief = setting.brief
    if brief.operator is Operator.REPAIR:
        setting = replace(setting, issue=issue_of(setting.task, setting.parent(), model))
    shared = shared_part(setting)
    request = Request(
        prompt=shared + question(setting),
        shared=len(shared),
        purpose=brief.operator.value,
        temperature=brief.temperature,
        effort=brief.arm.effort if brief.arm else None,
        max_tokens=max_tokens,
    )
    parent = setting.parent().candidate.source if editable(brief) else None
    answer = model.complete(request).text
    try:
        return source_in(setting.language, answer, parent)
    except Unreadable as unreadable:
        return source_in(setting.language, model.complete(_again(request, answer, str(unreadable))).text, parent)


def _again(request: Request, answer: str, problem: str) -> Request:
    """The same prompt with the unusable answer and the reason, because a model has no memory of earlier calls."""
    fields = {"prompt": request.prompt, "problem": problem, "answer": quoted("your answer", shortened(answer))}
    return replace(request, prompt=render("again", fields), purpose=f"{request.purpose}-again")
