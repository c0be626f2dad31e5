"""Explores one direction of a robust-kbench directory."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from warpwright.core.errors import TaskError
from warpwright.tasks.probing.child.autograd import PassedArguments, passed_arguments
from warpwright.tasks.probing.child.exploring import concluded, first
from warpwright.tasks.probing.child.fn_arguments import arguments_of_fn, fitting
from warpwright.tasks.probing.child.observing import Subject
from warpwright.tasks.probing.child.user_file import as_task_errors, load, member
from warpwright.tasks.probing.child.values import made
from warpwright.tasks.probing.seen import Findings, Job, Purpose, Run, Seen, Setting, TensorSeen

Arguments = tuple[Seen, ...]
S = TypeVar("S", bound=Subject)
_WHAT = "Model(**init)(*get_inputs(**input), fn=forward_fn)"
_PARTS = {
    "forward_fn": "a robust-kbench file defines forward_fn(*tensors, *scalars)",
    "Model": "a robust-kbench file defines class Model(nn.Module)",
    "get_inputs": "a robust-kbench file defines get_inputs(**input)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardSubject(Subject):
    """A subject that also records what AutogradFunction passes to its backward_fn."""

    function: Any

    def run(self, arguments: Arguments, purpose: Purpose = Purpose.GIVEN) -> Run:
        run = Subject.run(self, arguments, purpose)
        found = self.passed(arguments, run)
        return replace(run, arguments=_rearranged(arguments, found), saves=found.saves)

    def passed(self, arguments: Arguments, run: Run) -> PassedArguments:
        values = {seen.name: made(seen, self.device) for seen in arguments}
        return passed_arguments(self.function, values, [output.name for output in run.outputs])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Generic[S]):
    """The configurations of a directory, run one after another."""

    subject: S
    arguments: Arguments
    runs: tuple[Run, ...]
    notes: tuple[str, ...]

    def findings(self, function: Any) -> Findings:
        found = concluded(self.subject, self.arguments, self.runs)
        return replace(found, summary=_summary(function), notes=self.notes)


def forward_findings(job: Job) -> Findings:
    module = _parts(job)
    call = module.forward_fn
    return _tried(job, module, lambda device: Subject(call=call, real=lambda: call, device=device)).findings(call)


def backward_findings(job: Job) -> Findings:
    """Explores the backward direction: the order of backward_fn's arguments and results is the contract."""
    module = _parts(job)
    call = module.forward_fn
    function = member(job, module, "AutogradFunction", "func_backward.py defines class AutogradFunction")
    tried = _tried(
        job, module, lambda device: BackwardSubject(call=call, real=lambda: call, device=device, function=function)
    )
    takes = tried.subject.passed(tried.arguments, tried.runs[0]).takes
    names = tuple(seen.name for seen in tried.arguments)
    return replace(tried.findings(call), backward_takes=takes, call=names)


def _parts(job: Job) -> types.ModuleType:
    module = load(job)
    for name, purpose in _PARTS.items():
        member(job, module, name, purpose)
    return module


def _tried(job: Job, module: types.ModuleType, subject_on: Callable[[str], S]) -> Tried[S]:
    """Runs every configuration. Failures are noted; if all fail, the first error is raised."""
    tried: Tried[S] | None = None
    notes: dict[str, None] = {}
    problems: list[TaskError] = []
    for setting in job.settings:
        fit, unfit = fitting(module, setting)
        notes |= dict.fromkeys(unfit)
        try:
            tried = _with(job, module, fit, tried, subject_on)
        except TaskError as error:
            problems.append(error)
            notes[f"the configuration {_shown(fit)} is left out: {error.problem}"] = None
    if tried is None:
        raise problems[0]
    return replace(tried, notes=tuple(notes))


def _with(
    job: Job, module: types.ModuleType, setting: Setting, tried: Tried[S] | None, subject_on: Callable[[str], S]
) -> Tried[S]:
    """Runs one more configuration; the first one decides whether tensors need data."""
    if tried is None:
        subject, arguments, run = first(
            job, _WHAT, lambda device: (subject_on(device), arguments_of_fn(module, setting, device))
        )
        return Tried(subject=subject, arguments=arguments, runs=(run,), notes=())
    with as_task_errors(job, _WHAT):
        run = tried.subject.run(arguments_of_fn(module, setting, tried.subject.device))
    return replace(tried, runs=(*tried.runs, run))


def _rearranged(arguments: Arguments, found: PassedArguments) -> Arguments:
    """Orders arguments: first those with a gradient, in the order of the results, then the others, then those of
    backward only.
    """
    named = {seen.name: seen for seen in arguments}
    with_gradients = [named[name] for name in found.results]
    rest = [_without_gradient(seen) for seen in arguments if seen.name not in found.results]
    return (*with_gradients, *rest, *found.extras)


def _without_gradient(seen: Seen) -> Seen:
    return replace(seen, grad=False) if isinstance(seen, TensorSeen) else seen


def _shown(setting: Setting) -> str:
    return str({**setting.init, **setting.inputs})


def _summary(function: Any) -> str:
    """Returns the docstring up to its list of arguments."""
    text = (getattr(function, "__doc__", None) or "").partition("Args:")[0]
    return " ".join(text.split())[:400]
