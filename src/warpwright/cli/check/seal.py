"""`warpwright seal`: device code and launch plans of a kernel, without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import Compiled, Dtypes, Kernel, TaskName, subject
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from warpwright.core.task import Task
    from warpwright.seal.refusal import Refusal
    from warpwright.seal.summary import PlanSummary, Summary

CODES = {Verdict.HOLDS: Exit.HOLDS, Verdict.REFUTED: Exit.REFUTED, Verdict.UNDECIDED: Exit.UNDECIDED}


@grouped
def seal(
    kernel: Kernel,
    task: TaskName,
    compiled: Compiled,
    inputs: Inputs = None,
    dtypes: Dtypes = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the plan of every case.")] = False,
    as_json: Json = False,
) -> None:
    """Compile a kernel and record what it launches on every case.

    Both are kept as one artefact, which is all that a GPU needs.
    """
    from warpwright.app.kernels.seal import seal as seal_kernel
    from warpwright.cli.screen import progress

    asked = subject(task, inputs, dtypes=dtypes, silent=as_json)
    with progress(silent=as_json) as told:
        found = seal_kernel(
            compiled.file(kernel), asked, gpu=compiled.gpu, fast_math=compiled.fast_math, on_progress=told
        )
    if found.refusal is not None:
        _refuse(found.refusal, asked.task, as_json)
        raise typer.Exit(CODES[found.verdict])
    if as_json and found.sealed is not None:
        made = found.sealed
        emit("seal/1", task=asked.task.key, manifest=made.manifest, kernels=made.kernels, plans=made.plans)
    elif found.summary is not None:
        _show(found.summary, asked.task, verbose)


def _refuse(refusal: Refusal, task: Task, as_json: bool) -> None:
    if as_json:
        emit("seal/1", task=task.key, refusal=refusal)
        return
    from warpwright.cli.check.verdicts import show_refusal

    show_refusal(refusal.verdict, refusal.counterexample, refusal.reason)


def _show(summary: Summary, task: Task, verbose: bool) -> None:
    from warpwright.cli.screen import faint, good, plain, screen, show_table

    spent = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in summary.seconds.items())
    screen().print(f"{good('Sealed')} for {plain(task.key)}: {', '.join(map(plain, summary.entries))}.  {faint(spent)}")
    rows = [
        (
            plain(kernel.name),
            _number(kernel.registers),
            _number(kernel.spill_stores),
            plain(kernel.static_shared),
        )
        for kernel in summary.kernels
    ]
    if rows:
        show_table(("kernel", "registers", "spilled bytes", "static shared"), rows)
    plans = summary.plans if verbose else summary.plans[:8]
    show_table(("case", "entry", "launches", "else", "scratch"), [_plan_row(plan) for plan in plans])
    if len(plans) < len(summary.plans):
        screen().print(faint(f"{len(summary.plans) - len(plans)} more cases; -v shows them all"))
    for warning in summary.warnings:
        screen().print(plain(f"warning: {warning}"))
    screen().print(faint(f"artefact {summary.id}"))


def _plan_row(plan: PlanSummary) -> tuple[str, ...]:
    from warpwright.cli.screen import plain

    launches = [
        f"{_by(launch.grid)} x {_by(launch.block)}"
        + (f" cluster {_by(launch.cluster)}" if launch.cluster != (1, 1, 1) else "")
        + (f" {launch.shared} B" if launch.shared else "")
        + (f" {launch.occupancy:.0%}" if launch.occupancy is not None else "")
        for launch in plan.launches
    ]
    others = [f"{count} {name}" for name, count in plan.operations.items()] + [f"at::{name}" for name in plan.library]
    scratch = f"{plan.scratch_buffers} ({plan.scratch_bytes} B)" if plan.scratch_buffers else ""
    return plain(plan.case), plain(plan.entry), plain("; ".join(launches)), plain(", ".join(others)), plain(scratch)


def _by(triple: tuple[int, int, int]) -> str:
    return ",".join(map(str, triple))


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)
