"""A KernelBench problem: class Model, get_inputs and, if the constructor has arguments, get_init_inputs."""

from __future__ import annotations

from typing import Any

from warpwright.core.errors import UsageError
from warpwright.tasks.probing.child.binding import module_subject, parameter_names
from warpwright.tasks.probing.child.exploring import explored
from warpwright.tasks.probing.child.observing import Subject, per_argument_draws
from warpwright.tasks.probing.child.recording import recording
from warpwright.tasks.probing.child.user_file import load, member
from warpwright.tasks.probing.child.values import seen_argument
from warpwright.tasks.probing.seen import Findings, Job, Seen


def problem_findings(job: Job) -> Findings:
    """Explores `Model(*get_init_inputs())(*get_inputs())`."""
    module = load(job)
    kind = member(job, module, "Model", "a KernelBench file defines class Model(nn.Module)")
    get_inputs = member(job, module, "get_inputs", "a KernelBench file defines get_inputs()")
    get_init_inputs = getattr(module, "get_init_inputs", list)

    def prepare(device: str) -> tuple[Subject, tuple[Seen, ...]]:
        arguments = _inputs(get_inputs, kind.forward, device)
        return module_subject(lambda: kind(*get_init_inputs()), device, arguments), arguments

    return explored(job, "Model(*get_init_inputs())(*get_inputs())", prepare)


def _inputs(get_inputs: Any, forward: Any, device: str) -> tuple[Seen, ...]:
    with recording(device) as origins:
        values = get_inputs()
    if not isinstance(values, list | tuple) or not values:
        raise UsageError("get_inputs() must return a list of inputs")
    names = parameter_names(forward, len(values), skipped=1)
    return per_argument_draws([seen_argument(*pair, origins.of) for pair in zip(names, values, strict=True)])
