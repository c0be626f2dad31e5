"""`warpwright bundle`: judging on a GPU of another machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.bench.options import Baselines, Seconds
from warpwright.cli.check.candidates import Compiled, Dtypes, PrecisionName, TaskName, TrustTask, subject
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import make_folder
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit, Undecided
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from warpwright.core.records.judged import Job
    from warpwright.seal.refusal import Refusal

app = typer.Typer(
    help="Judge kernels on a GPU of another machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("make", epilog="Example: warpwright bundle make trip/ a.cu b.cu --task layernorm")
@grouped
def make(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the bundle; jobs are added to existing ones.")
    ],
    kernels: Annotated[list[Path], typer.Argument(metavar="KERNEL.CU", help="Candidates for the task.")],
    task: TaskName,
    compiled: Compiled,
    inputs: Inputs = None,
    dtypes: Dtypes = None,
    trust_task: TrustTask = False,
    precision: PrecisionName = None,
    baselines: Baselines = None,
    seconds: Seconds = 1.0,
    as_json: Json = False,
) -> None:
    """Seal kernels and pack them with the judge into one folder.

    The GPU machine needs only Python and torch.
    """
    from warpwright.app.kernels.bundle import make_bundle
    from warpwright.cli.screen import progress

    make_folder(folder)
    asked = subject(task, inputs, precision=precision, dtypes=dtypes, trusted=trust_task, silent=as_json)
    with progress(silent=as_json) as told:
        found = make_bundle(
            folder,
            list(map(compiled.file, kernels)),
            asked,
            baselines=baselines,
            seconds=seconds,
            gpu=compiled.gpu,
            fast_math=compiled.fast_math,
            on_progress=told,
        )
    jobs = [_sealed(label, job) for label, job in found]
    if as_json:
        emit("bundle.make/1", folder=str(folder), jobs=[job.id for job in jobs])
    else:
        number = "1 job" if len(jobs) == 1 else f"{len(jobs)} jobs"
        typer.echo(f"{number} in {folder}. Over there: python3 worker.pyz jobs/ --out results/")


def _sealed(label: str, job: Job | Refusal) -> Job:
    """Builds the job; a kernel that cannot be sealed ends the command."""
    from warpwright.cli.check.verdicts import show_refusal
    from warpwright.seal.refusal import Refusal

    if not isinstance(job, Refusal):
        return job
    if job.verdict is Verdict.UNDECIDED:
        raise Undecided(f"{label}: {job.reason}")
    show_refusal(job.verdict, job.counterexample, job.reason)
    raise typer.Exit(Exit.REFUTED)


@app.command("import", epilog="Example: warpwright bundle import trip/results --jobs trip/jobs")
def bring_home(
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="The results folder copied back.")],
    jobs: Annotated[
        Path | None, typer.Option("--jobs", metavar="FOLDER", help="The jobs folder; beside the results if not given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the results that a GPU machine returned."""
    from warpwright.dispatch.bundle import read_jobs, read_results
    from warpwright.report.standings import standings

    judged = read_results(results)
    tasks = {job.id: job.task for job in read_jobs(jobs or results.parent / "jobs")}
    if as_json:
        stood = {item.label: standings(tasks[item.job], item) for item in judged if item.job in tasks}
        emit("bundle.import/1", judged=judged, standings=stood)
        return
    from warpwright.cli.bench.standings import show_judged

    for item in judged:
        if item.job in tasks:
            show_judged(tasks[item.job], item)
