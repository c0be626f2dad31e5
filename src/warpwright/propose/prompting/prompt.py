"""Builds the prompt of a brief: a part that all prompts for a function share, then one template for each operator.

The shared part comes first, so that providers can serve it from their caches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpwright import languages
from warpwright.core.calls import entries
from warpwright.core.candidate import CUDA, Flags
from warpwright.core.gpus.table import Gpu, gpu_named
from warpwright.core.records.search import Brief, Operator
from warpwright.core.task import Role, Task
from warpwright.languages import Frontend
from warpwright.propose.prompting.cases import limits_us
from warpwright.propose.prompting.describe import description
from warpwright.propose.prompting.gpu.facts import gpu_words
from warpwright.propose.prompting.gpu.hints import hint_text, is_for_later
from warpwright.propose.prompting.issue import circumstances, critical_issue, other_errors, remedy
from warpwright.propose.prompting.known import Known, Library, known, ladder, shown, standing
from warpwright.propose.prompting.quoting import NOTICE, quoted
from warpwright.propose.prompting.resources import resources
from warpwright.propose.prompting.template import render

_OUTCOMES = (
    "Earlier proposals for this function, each with its outcome. Do not repeat a failure; where something worked, go on"
    " from there or do something else."
)
_NO_GPU = (
    "No GPU is at hand: a cost model predicts the times from the instructions, bytes and barriers that an emulator"
    " counts. Kernels with features that the emulator does not run cannot be ranked."
)
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
    tried: str = ""
    """Earlier proposals of the run and their outcomes, a line each."""
    predicts: bool = False
    """Whether times are predicted, because there is no GPU."""
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
    """The whole prompt."""
    return shared_part(setting) + question(setting)


def question(setting: Setting) -> str:
    """The part that follows the shared one. Only operators that ask a language model have one."""
    operator = setting.brief.operator
    if operator not in _FIELDS:
        raise ValueError(f"{operator} asks no language model")
    return render(operator.value, {**_ordinary(setting), **_FIELDS[operator](setting)}, setting.language)


def shared_part(setting: Setting) -> str:
    """The beginning that all prompts for a task, a GPU and a language have in common."""
    fields = {
        "name": setting.task.key,
        "task": description(setting.task, setting.gpu, setting.language),
        "gpu": gpu_words(setting.gpu),
        "ranking": _NO_GPU if setting.predicts else "",
        "rules": render("rules", setting.language.rules(setting.flags), setting.language),
    }
    return render("function", fields, setting.language) + "\n"


def editable(brief: Brief) -> bool:
    """Whether an answer may edit the first parent instead of giving a whole file."""
    return brief.operator in (Operator.REPAIR, Operator.OPTIMISE)


def _ordinary(setting: Setting) -> dict[str, str]:
    brief = setting.brief
    return {
        "notice": NOTICE if _quotes(setting) else "",
        "lesson": _section("Lessons of earlier results", brief.lesson),
        **({} if brief.operator is Operator.REPAIR else _creative(setting)),
    }


def _creative(setting: Setting) -> dict[str, str]:
    """The fields that a repair prompt leaves out: a repair fixes one error and needs no ideas."""
    return {"tried": _tried(setting), "hint": _hint(setting.brief), "near_miss": _near_miss(setting)}


def _tried(setting: Setting) -> str:
    if not setting.tried:
        return ""
    return _section("Tried so far", f"{_OUTCOMES}\n\n{quoted('proposals', setting.tried)}")


def _quotes(setting: Setting) -> bool:
    """Whether the prompt quotes anything."""
    brief = setting.brief
    return brief.operator is not Operator.TRANSLATE or brief.near_miss is not None or bool(setting.tried)


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


def _profile(setting: Setting, kernel: Known) -> str:
    """States the bottleneck of a kernel and what it takes from the GPU."""
    bottleneck = f"Its bottleneck: {kernel.score.profile}\n" if kernel.score and kernel.score.profile else ""
    timed = frozenset(case.name for case in setting.task.cases_of(Role.TIME))
    taken = resources(kernel.summary, timed, setting.gpu) if kernel.summary else ""
    return bottleneck + (f"Compiled for this GPU:\n{taken}" if taken else "")


def _translate(setting: Setting) -> dict[str, str]:
    return {"answer": _whole_file(setting)}


def _repair(setting: Setting) -> dict[str, str]:
    parent = setting.parent()
    evidence = parent.refutation
    if evidence is None or setting.issue is None:
        raise ValueError(f"{parent.candidate.id} cannot be repaired: no check refutes it")
    return {
        "issue": quoted("report", "\n".join([setting.issue, *other_errors(evidence, parent.candidate.source)])),
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
    return {"standing": standing(kernel, setting.limits), "profile": _profile(setting, kernel)}


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
