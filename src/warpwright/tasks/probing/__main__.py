"""Reads a Job from stdin, writes an Answer to stdout. What the user's file prints goes to stderr."""

from __future__ import annotations

import os
import sys
import traceback

from warpwright.core.codec import dumps, loads
from warpwright.core.errors import TaskError, UsageError
from warpwright.tasks.probing.binding import function_findings
from warpwright.tasks.probing.directory import backward_findings, forward_findings
from warpwright.tasks.probing.problem import problem_findings
from warpwright.tasks.seen import Answer, Job, Problem

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


def main() -> None:
    channel = os.dup(1)
    os.dup2(2, 1)
    try:
        text = dumps(answer(loads(Job, sys.stdin.read())))
    except BaseException:
        traceback.print_exc()
        sys.stderr.write(f"warpwright-child-failed: {traceback.format_exc().strip().splitlines()[-1]}\n")
        raise SystemExit(1) from None
    with os.fdopen(channel, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os._exit(0)  # threads that the user's file left behind must not keep us


main()
