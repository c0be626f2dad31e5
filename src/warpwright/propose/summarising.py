"""Asks a model to name one issue, one bottleneck, or the lesson of the results so far."""

from __future__ import annotations

from collections.abc import Sequence

from warpwright import languages
from warpwright.core.gpus.table import Gpu
from warpwright.core.protocols import Model, Request
from warpwright.core.records.evidence import Evidence
from warpwright.core.records.search import Member
from warpwright.core.task import Task
from warpwright.languages import Frontend
from warpwright.propose.prompting.describe import description
from warpwright.propose.prompting.gpu.facts import gpu_words
from warpwright.propose.prompting.history import line
from warpwright.propose.prompting.issue import MOST_WORDS, critical_issue, report
from warpwright.propose.prompting.known import Known
from warpwright.propose.prompting.quoting import NOTICE, quoted
from warpwright.propose.prompting.template import render

_MOST_REPORTED = 12000
"""The number of characters of a report that a model is shown; the middle of a longer one is cut, and the text says
so."""
_LESSON_WORDS = 80


def issue_of(task: Task, kernel: Known, model: Model) -> str:
    """The one critical issue of a wrong kernel: by rule, or by asking a model if no rule applies."""
    evidence = kernel.refutation
    if evidence is None:
        raise ValueError(f"no check refutes {kernel.candidate.id}")
    return critical_issue(evidence, kernel.candidate.source) or _asked_issue(task, kernel, evidence, model)


def _asked_issue(task: Task, kernel: Known, evidence: Evidence, model: Model) -> str:
    lines = kernel.candidate.source.split("\n")
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=1))
    fields = {
        "name": task.key,
        "rung": evidence.rung,
        "kind": evidence.counterexample.kind if evidence.counterexample else "undecided",
        "notice": NOTICE,
        "report": quoted("report", shortened(report(evidence))),
        "kernel": quoted("kernel", numbered),
    }
    asked = render("summarise_error", fields, languages.of(kernel.candidate))
    return _sentence(model, "summarise_error", asked, MOST_WORDS)


def profile_sentence(task: Task, profile: str, gpu: Gpu, language: Frontend, model: Model) -> str:
    """Asks for the one bottleneck that a profiler's report shows, with its figure."""
    fields = {"name": task.key, "gpu": gpu.title, "notice": NOTICE, "report": quoted("report", shortened(profile))}
    return _sentence(model, "summarise_profile", render("summarise_profile", fields, language), MOST_WORDS)


def lesson(
    task: Task, members: Sequence[Member], lessons: Sequence[str], gpu: Gpu, language: Frontend, model: Model
) -> str:
    """Asks for the lesson of a run's results so far, in a few self-contained sentences."""
    earlier = "\n".join(f"- {text}" for text in lessons)
    fields = {
        "name": task.key,
        "notice": NOTICE,
        "task": description(task, gpu, language),
        "gpu": gpu_words(gpu),
        "results": quoted("proposals", "\n".join(map(line, members))),
        "lessons": f"## Earlier lessons\n{earlier}" if earlier else "",
        "words": str(_LESSON_WORDS),
    }
    return _sentence(model, "reflect", render("reflect", fields, language), 2 * _LESSON_WORDS)


def _sentence(model: Model, purpose: str, prompt: str, most: int) -> str:
    """The answer on one line, cut after `most` words, so that a verbose model does not fill the next prompt."""
    words = model.complete(Request(prompt=prompt, purpose=purpose)).text.split()
    return " ".join(words[:most]) + (" …" if len(words) > most else "")


def shortened(text: str) -> str:
    if len(text) <= _MOST_REPORTED:
        return text
    half = _MOST_REPORTED // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out here]\n{text[-half:]}"
