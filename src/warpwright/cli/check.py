"""`warpwright check`: climbs as far as this machine allows and says what was found."""

from __future__ import annotations

import typer

from warpwright.cli.candidates import FastMath, GpuName, Kernel, TaskName, one_task, read_candidate
from warpwright.cli.output import Json, emit
from warpwright.cli.seal import CODES
from warpwright.cli.tasks import Inputs
from warpwright.core.errors import Exit


def check(
    kernel: Kernel,
    task: TaskName,
    gpu: GpuName = "h200",
    fast_math: FastMath = False,
    inputs: Inputs = None,
    as_json: Json = False,
) -> None:
    """Check a candidate: is it a source, does it compile, is its host code a pure launch plan?"""
    from warpwright.cli.screen import waiting
    from warpwright.verify.ladder import climb

    asked, candidate = one_task(task, inputs), read_candidate(kernel, gpu, fast_math)
    with waiting(f"checking {kernel.name}", silent=as_json):
        dossier = climb(asked, candidate)
    if as_json:
        emit("check/1", verdict=dossier.verdict, dossier=dossier)
    else:
        from warpwright.cli.verdicts import show_dossier

        show_dossier(dossier)
    raise typer.Exit(Exit.OUR_FAULT if dossier.faults else CODES[dossier.verdict])
