"""`warpwright demo`: what Warpwright can do by now, in a minute and without a GPU."""

from __future__ import annotations

from typing import Annotated

import typer

from warpwright.cli.output import Json, emit

SAMPLE = ("paper/layernorm", "paper/mnist_cross_entropy", "modern/softmax")


def demo(
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Processes; one per core if not given.")] = None,
    as_json: Json = False,
) -> None:
    """Admit a sample of the suites by negative controls and show the table of tasks."""
    from warpwright.cli.admissions import admissions_data, admit_all, show_admissions, verdict
    from warpwright.cli.tasks import show_tasks
    from warpwright.tasks import all_tasks, load

    tasks = all_tasks()
    if not as_json:
        show_tasks(tasks)
    sample = [task for name in SAMPLE for task in load(name)]
    admissions = admit_all(sample, jobs, silent=as_json)
    if as_json:
        emit("demo/1", tasks=[task.key for task in tasks], admissions=admissions_data(admissions))
    else:
        show_admissions(admissions)
    raise typer.Exit(verdict(admissions))
