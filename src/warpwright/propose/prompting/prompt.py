"""Builds the prompt of a brief: one template for each operator, and the fields it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwright import languages
from warpwright.core.calls import entries
from warpwright.core.candidate import CUDA, Flags
from warpwright.core.gpus.table import Gpu, gpu_named
from warpwright.core.records.search import Brief, Operator
from warpwright.core.task import Task
from warpwright.languages import Frontend
from warpwright.propose.prompting.cases import limits_us
from warpwright.propose.prompting.describe import description
from warpwright.propose.prompting.gpu.facts import gpu_words
from warpwright.propose.prompting.gpu.hints import hint_text, is_for_later
from warpwright.propose.prompting.issue import circumstances, critical_issue, remedy
from warpwright.propose.prompting.known import Known, Library, known, ladder, shown, standing
from warpwright.propose.prompting.quoting import NOTICE, quoted
from warpwright.propose.prompting.template import render

_FIXED = "kernel to fix"
_IMPROVED = "kernel to improve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The inputs of all prompts for one brief. `issue` is the parent's issue, for a repair."""

    task: Task
    brief: Brief
    library: Library
    flags: Flags
    issue: str | None = None
    written_in: str = CUDA
    """The language of whole new files; edits are in the language of the file that they change."""

    @property
    def language(self) -> Frontend:
        """The language of the answer."""
        return languages.of(self.parent().candidate) if editable(self.brief) else languages.named(self.written_in)

    @property
    def gpu(self) -> Gpu:
        return gpu_named(self.flags.gpu)

    @property
    def limits(self) -> Mapping[str, float | None]:
        return limits_us(self.task, self.gpu)

    def parent(self, position: int = 0) -> Known:
        if position >= len(self.brief.parents):
            raise ValueError(f"{self.brief.operator} needs {position + 1} parents, has {len(self.brief.parents)}")
        return known(self.library, self.brief.parents[position])


def prompt(setting: Setting) -> str:
    """The whole prompt. Only operators that ask a language model have one."""
    operator = setting.brief.operator
    if operator not in _FIELDS:
        raise ValueError(f"{operator} asks no language model")
    return render(operator.value, {**_ordinary(setting), **_FIELDS[operator](setting)}, setting.language)


def editable(brief: Brief) -> bool:
    """Whether an answer may edit the first parent instead of giving a whole file."""
    return brief.operator in (Operator.REPAIR, Operator.OPTIMISE)


def _ordinary(setting: Setting) -> dict[str, str]:
    task, gpu, brief = setting.task, setting.gpu, setting.brief
    return {
        "name": task.key,
        "notice": NOTICE if _quotes(brief) else "",
        "task": description(task, gpu, setting.language),
        "rules": render("rules", setting.language.rules(setting.flags), setting.language),
        "lesson": _section("Lessons of earlier results", brief.lesson),
        **({} if brief.operator is Operator.REPAIR else _creative(setting)),
    }


def _creative(setting: Setting) -> dict[str, str]:
    """The fields that a repair prompt leaves out: a repair fixes one error and needs no ideas."""
    return {"gpu": gpu_words(setting.gpu), "hint": _hint(setting.brief), "near_miss": _near_miss(setting)}


def _quotes(brief: Brief) -> bool:
    """Whether the prompt quotes any kernel."""
    return brief.operator is not Operator.TRANSLATE or brief.near_miss is not None


def _hint(brief: Brief) -> str:
    told = brief.hint if brief.hint and (brief.parents or not is_for_later(brief.hint)) else None
    return _section("An idea to try, unless you see that it cannot help here", told and hint_text(told))


def _section(title: str, text: str | None) -> str:
    return f"## {title}\n{text}" if text else ""


def _near_miss(setting: Setting) -> str:
    """Shows a wrong kernel to learn from, with its one issue."""
    if setting.brief.near_miss is None:
        return ""
    kernel = known(setting.library, setting.brief.near_miss)
    wrong = kernel.refutation and critical_issue(kernel.refutation, kernel.candidate.source)
    said = f"This kernel is wrong:\n{quoted('report', wrong)}" if wrong else "This kernel is wrong."
    return _section("A near miss, to learn from", f"{said}\n\n{shown('wrong kernel', kernel)}")


def _whole_file(setting: Setting) -> str:
    return render("answer_file", {"outline": setting.language.outline(entries(setting.task))}, setting.language)


def _edits(setting: Setting, target: str) -> str:
    return render("answer_edits", {"target": target}, setting.language)


def _profile(kernel: Known) -> str:
    return f"Its bottleneck: {kernel.score.profile}" if kernel.score and kernel.score.profile else ""


def _translate(setting: Setting) -> dict[str, str]:
    return {"answer": _whole_file(setting)}


def _repair(setting: Setting) -> dict[str, str]:
    parent = setting.parent()
    evidence = parent.refutation
    if evidence is None or setting.issue is None:
        raise ValueError(f"{parent.candidate.id} cannot be repaired: no check refutes it")
    return {
        "issue": quoted("report", setting.issue),
        "where": circumstances(evidence),
        "remedy": remedy(evidence, setting.language),
        "kernel": shown(_FIXED, parent),
        "answer": _edits(setting, _FIXED),
    }


def _optimise(setting: Setting) -> dict[str, str]:
    parent = setting.parent()
    return {
        "context": _context(setting),
        **_standing(setting, parent),
        "kernel": shown(_IMPROVED, parent),
        "answer": _edits(setting, _IMPROVED),
    }


def _context(setting: Setting) -> str:
    """Lists correct kernels to learn from; the parent has its own section."""
    names = [name for name in setting.brief.context if name not in setting.brief.parents]
    listed = ladder(setting.task, tuple(known(setting.library, name) for name in names), setting.limits)
    return _section("Other correct kernels so far, slowest first", listed)


def _standing(setting: Setting, kernel: Known) -> dict[str, str]:
    return {"standing": standing(kernel, setting.limits), "profile": _profile(kernel)}


def _crossover(setting: Setting) -> dict[str, str]:
    first, second = setting.parent(0), setting.parent(1)
    return {
        "first": shown("first kernel", first),
        "first_standing": standing(first, setting.limits),
        "second": shown("second kernel", second),
        "second_standing": standing(second, setting.limits),
        "answer": _whole_file(setting),
    }


def _rewrite(setting: Setting) -> dict[str, str]:
    parent = setting.parent()
    kernel = shown("kernel whose method must be replaced", parent)
    return {
        "context": _context(setting),
        **_standing(setting, parent),
        "kernel": kernel,
        "answer": _whole_file(setting),
    }


def _specialise(setting: Setting) -> dict[str, str]:
    setting.parent(1)
    kernels = tuple(known(setting.library, name) for name in setting.brief.parents)
    return {"kernels": ladder(setting.task, kernels, setting.limits), "answer": _whole_file(setting)}


def _derive(setting: Setting) -> dict[str, str]:
    parent = setting.parent()
    return {
        "standing": standing(parent, {}) if parent.times_us or parent.score else "",
        "kernel": shown("forward kernel", parent),
        "answer": _whole_file(setting),
    }


_FIELDS = {
    Operator.TRANSLATE: _translate,
    Operator.DERIVE: _derive,
    Operator.REPAIR: _repair,
    Operator.OPTIMISE: _optimise,
    Operator.CROSSOVER: _crossover,
    Operator.REWRITE: _rewrite,
    Operator.SPECIALISE: _specialise,
}
