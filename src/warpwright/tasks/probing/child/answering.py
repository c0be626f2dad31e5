"""Dispatches each kind of Job to its function."""

from __future__ import annotations

from warpwright.core.errors import TaskError, UsageError
from warpwright.tasks.probing.child.binding import function_findings
from warpwright.tasks.probing.child.directory import backward_findings, forward_findings
from warpwright.tasks.probing.child.problem import problem_findings
from warpwright.tasks.probing.seen import Answer, Job, Problem

_KINDS = {
    "problem": problem_findings,
    "function": function_findings,
    "forward": forward_findings,
    "backward": backward_findings,
}


def answer(job: Job) -> Answer:
    try:
        return Answer(findings=_KINDS[job.kind](job))
    except TaskError as error:
        told = Problem(where=error.where, key=error.key, problem=error.problem, remedy=error.remedy)
    except UsageError as error:
        told = Problem(where=job.filename, key=None, problem=str(error))
    return Answer(problem=told)
