"""`warpwright tasks`: lists tasks, shows their contracts, and checks their robustness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from warpwright.cli.output import Json, emit, write
from warpwright.core.errors import UsageError
from warpwright.core.task import Direction, Task

Suite = Annotated[str | None, typer.Option("--suite", metavar="SUITE", help="Only this suite, such as paper.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="SIZES:DTYPE",
        help="An input of ref.py:fn, in order or by name; repeat it. 8,512,768:bf16 is a tensor, 16:int64<100 integers"
        " below 100, :fp32 a tensor without dimensions; eps=1e-5, dims=[1,2], bias=none and causal=true are others.",
    ),
]
Which = Annotated[
    Direction | None,
    typer.Option("--direction", metavar="DIRECTION", help="Only this one: forward, backward or training."),
]

app = typer.Typer(
    help="List tasks, show one, check whether it can be fooled.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list", epilog="Example: warpwright tasks list --suite paper")
def list_tasks(suite: Suite = None, as_json: Json = False) -> None:
    """List the tasks of the suites that come with Warpwright."""
    from warpwright.app.tasks import summary
    from warpwright.cli.screen import waiting
    from warpwright.tasks import all_tasks

    with waiting("loading tasks", silent=as_json):
        tasks = all_tasks(suite)
    if as_json:
        emit("tasks.list/1", tasks=[summary(task) for task in tasks])
    else:
        show_tasks(tasks)


@app.command("show", epilog="Example: warpwright tasks show layernorm --direction backward --gpu h200")
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="A task of a suite (layernorm, paper/layernorm, layernorm:backward), a robust-kbench folder, "
            "a KernelBench file, ref.py:fn or model.py:Net.",
        ),
    ],
    direction: Which = None,
    gpu: Annotated[str, typer.Option("--gpu", metavar="GPU", help="The GPU whose limits are shown.")] = "h200",
    inputs: Inputs = None,
    only_skeleton: Annotated[bool, typer.Option("--skeleton", help="Print only the skeleton.")] = False,
    language: Annotated[str, typer.Option("--language", metavar="NAME", help="The language of the skeleton.")] = "cuda",
    as_json: Json = False,
) -> None:
    """Show what a task requires of a kernel, and how fast it could be.

    Also a skeleton of a kernel to fill in; --skeleton prints that alone.
    """
    from warpwright import languages
    from warpwright.app.tasks import contract
    from warpwright.cli.screen import waiting
    from warpwright.cli.tasks.contract import show_contract
    from warpwright.core.gpus.table import gpu_named
    from warpwright.tasks import load

    device, frontend = gpu_named(gpu), languages.named(language)
    if not name:
        raise UsageError("no task is named; `warpwright tasks list` names them all")
    with waiting(f"loading {name}", silent=as_json):
        tasks = load(name, inputs=inputs or (), direction=direction)
    if as_json:
        emit("tasks.show/1", tasks=[contract(task, device, frontend) for task in tasks])
    elif only_skeleton:
        write(frontend.skeleton(tasks[0]))
    else:
        show_contract(tasks, device, frontend)


@app.command("check", epilog="Example: warpwright tasks check layernorm softmax --jobs 2")
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="As for show; by default all tasks of the suites.")
    ] = None,
    suite: Suite = None,
    direction: Which = None,
    inputs: Inputs = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes; one per core if not given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check whether tasks can be fooled.

    Wrong implementations must be refuted, honest ones must pass, outputs must vary.
    """
    from warpwright.app.tasks import admit_all, chosen
    from warpwright.cli.screen import progress, waiting
    from warpwright.cli.tasks.admissions import admissions_data, show_admissions, verdict

    with waiting("loading tasks", silent=as_json):
        tasks = chosen(names or [], suite, direction, inputs or [])
    with progress(silent=as_json) as told:
        admissions = admit_all(tasks, jobs=jobs, on_progress=told)
    if as_json:
        admitted = sum(admission.admitted for admission in admissions)
        emit("tasks.check/1", admitted=admitted, of=len(admissions), admissions=admissions_data(admissions))
    else:
        show_admissions(admissions)
    raise typer.Exit(verdict(admissions))


def show_tasks(tasks: Sequence[Task]) -> None:
    """Prints one row per function, its directions side by side."""
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
