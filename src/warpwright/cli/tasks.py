"""`warpwright tasks`: list them, show one with its contract, and check that they deserve to be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.output import Json, emit
from warpwright.core.errors import Exit, UsageError
from warpwright.core.task import Direction, Role, Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpwright.verify.admission import Admission

Suite = Annotated[str | None, typer.Option("--suite", metavar="SUITE", help="Only this suite, such as paper.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="SIZES:DTYPE", help="An input of ref.py:fn, such as 8,512,768:bf16; repeat it."),
]
Which = Annotated[Direction | None, typer.Option("--direction", help="Only this direction.")]

app = typer.Typer(
    help="What is asked: list the tasks, show one with its contract, admit them by negative controls.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list", epilog="Example: warpwright tasks list --suite paper")
def list_tasks(suite: Suite = None, as_json: Json = False) -> None:
    """List the tasks of the suites that come with Warpwright."""
    from warpwright.tasks import all_tasks

    tasks = all_tasks(suite)
    if as_json:
        emit("tasks.list/1", tasks=[_summary(task) for task in tasks])
    else:
        show_tasks(tasks)


@app.command("show", epilog="Example: warpwright tasks show layernorm --direction backward --gpu h200")
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A task of a suite (layernorm, paper/layernorm, layernorm:backward), a robust-kbench folder, "
            "a KernelBench file, ref.py:fn or model.py:Net."
        ),
    ],
    direction: Which = None,
    gpu: Annotated[str, typer.Option("--gpu", metavar="GPU", help="The GPU whose limits are shown.")] = "h200",
    inputs: Inputs = None,
    only_skeleton: Annotated[bool, typer.Option("--skeleton", help="Print only the .cu skeleton.")] = False,
    as_json: Json = False,
) -> None:
    """Show what a task asks, how fast it could be, and a skeleton of a candidate to fill in."""
    from warpwright.cli.contract import contract, show_contract
    from warpwright.core.gpus import gpu_named
    from warpwright.tasks import load
    from warpwright.tasks.skeleton import skeleton

    device = gpu_named(gpu)
    tasks = load(name, inputs=inputs or (), direction=direction)
    if only_skeleton:
        typer.echo(skeleton(tasks[0]), nl=False)
    elif as_json:
        emit("tasks.show/1", tasks=[contract(task, device) for task in tasks])
    else:
        show_contract(tasks, device)


@app.command("check", epilog="Example: warpwright tasks check layernorm softmax --jobs 2")
def check(
    names: Annotated[list[str] | None, typer.Argument(help="As for show; all tasks of the suites if none.")] = None,
    suite: Suite = None,
    direction: Which = None,
    inputs: Inputs = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Processes; one per core if not given.")] = None,
    as_json: Json = False,
) -> None:
    """Admit tasks: wrong implementations must be refuted, honest ones must pass, outputs must vary."""
    tasks = _chosen(names or [], suite, direction, inputs or [])
    admissions = admit_all(tasks, jobs, silent=as_json)
    if as_json:
        emit("tasks.check/1", admitted=sum(a.admitted for a in admissions), of=len(admissions), admissions=admissions)
    else:
        show_admissions(admissions)
    raise typer.Exit(Exit.HOLDS if all(admission.admitted for admission in admissions) else Exit.REFUTED)


def _chosen(
    names: Sequence[str], suite: str | None, direction: Direction | None, inputs: Sequence[str]
) -> tuple[Task, ...]:
    from warpwright.tasks import all_tasks, load

    if names and suite:
        raise UsageError("give names or --suite, not both")
    if inputs and len(names) != 1:
        raise UsageError("--input describes one function; give exactly one NAME with it")
    if names:
        tasks = tuple(task for name in names for task in load(name, inputs=inputs, direction=direction))
    else:
        tasks = tuple(task for task in all_tasks(suite) if direction in (None, task.direction))
    if not tasks:
        raise UsageError("there is no such task; `warpwright tasks list` names them all")
    return tuple({task.id: task for task in tasks}.values())


def admit_all(tasks: Sequence[Task], jobs: int | None, *, silent: bool) -> tuple[Admission, ...]:
    """Every task admitted or not, in the order given, with a bar while it lasts."""
    from warpwright.cli.screen import progress
    from warpwright.dispatch.pool import parallel
    from warpwright.verify.admission import admit

    with progress(silent=silent) as bar:
        return tuple(parallel(admit, tasks, jobs, bar))


def _summary(task: Task) -> dict[str, object]:
    return {
        "key": task.key,
        "id": task.id,
        "suite": task.suite,
        "name": task.name,
        "direction": task.direction,
        "family": task.family,
        "dtypes": task.dtypes,
        "cases": {role.value: len(task.cases_of(role)) for role in (Role.CHECK, Role.TIME)},
        "hidden": bool(task.ranges),
        "summary": task.summary,
    }


def show_tasks(tasks: Sequence[Task]) -> None:
    """One row per function, its directions side by side."""
    from warpwright.cli.screen import faint, plain, screen, show_table

    functions: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        functions.setdefault((task.suite, task.name), []).append(task)
    rows = [
        (
            plain(f"{suite}/{name}" if suite else name),
            plain(group[0].family),
            plain(", ".join(task.direction for task in group)),
            plain(", ".join(group[0].dtypes)),
            plain(sum(len(task.cases) for task in group)),
            faint(group[0].summary),
        )
        for (suite, name), group in functions.items()
    ]
    show_table(("task", "family", "directions", "dtypes", "cases", "summary"), rows)
    screen().print(f"{len(functions)} functions, {len(tasks)} tasks. Next: warpwright tasks show NAME")


def show_admissions(admissions: Sequence[Admission]) -> None:
    """One row per task; what went wrong is spelled out below."""
    from warpwright.cli.screen import bad, good, plain, screen, show_table

    rows = [
        (
            plain(admission.task),
            good("admitted") if admission.admitted else bad("not admitted"),
            f"{sum(control.refuted is True for control in admission.controls)} refuted"
            f", {sum(control.exempt is not None for control in admission.controls)} exempt",
            f"{sum(variant.passed for variant in admission.honest)}/{len(admission.honest)} pass",
            plain(admission.draws),
            f"{admission.seconds:.1f} s",
        )
        for admission in admissions
    ]
    show_table(("task", "", "wrong ones", "honest ones", "draws", "took"), rows)
    for admission in admissions:
        for problem in admission.problems:
            screen().print(f"{bad(admission.task)}: {plain(problem)}")
    admitted = sum(admission.admitted for admission in admissions)
    screen().print(f"{admitted} of {len(admissions)} tasks admitted.")
