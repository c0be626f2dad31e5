"""Tasks: which there are, what one asks of a kernel, and whether tasks deserve to be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warpwright.app.given import Inputs, TaskLike, subject_of
from warpwright.app.progress import OnProgress, Reporter
from warpwright.core.calls import entries
from warpwright.core.errors import UsageError
from warpwright.core.gpus.limit import Limit, physical_limit
from warpwright.core.gpus.table import Gpu
from warpwright.core.task import Case, Direction, Role, Task
from warpwright.languages import Frontend
from warpwright.tasks import all_tasks, load

if TYPE_CHECKING:
    from warpwright.verify.admission import Admission


def tasks(suite: str | None = None) -> tuple[Task, ...]:
    """Every task of the suites that come with Warpwright, or of one of them."""
    return all_tasks(suite)


def task(named: TaskLike, *, inputs: Inputs = ()) -> Task:
    """The task that a name, a file, a Python function or an nn.Module stands for."""
    return subject_of(named, inputs).task


def chosen(
    names: Sequence[str], suite: str | None, direction: Direction | None, inputs: Sequence[str]
) -> tuple[Task, ...]:
    """Tasks by name, or all of a suite, each once."""
    if names and suite:
        raise UsageError("give names or --suite, not both")
    if inputs and len(names) != 1:
        raise UsageError("--input describes one function; give exactly one NAME with it")
    if names:
        found = tuple(task for name in names for task in load(name, inputs=inputs, direction=direction))
    else:
        found = tuple(task for task in all_tasks(suite) if direction in (None, task.direction))
    if not found:
        raise UsageError("there is no such task; `warpwright tasks list` names them all")
    return tuple({task.id: task for task in found}.values())


def admit_all(
    tasks: Sequence[Task], *, jobs: int | None = None, on_progress: OnProgress | None = None
) -> list[Admission]:
    """Admit tasks or not, in the order given: wrong implementations must be refuted, honest ones must pass."""
    from warpwright.dispatch.pool import parallel

    return parallel(_admit, tasks, jobs=jobs, progress=Reporter(on_progress), label=lambda task: task.key)


def _admit(task: Task) -> Admission:
    # Imported in the worker: torch is not needed, and not paid for, in the process that only waits.
    from warpwright.verify.admission import admit

    return admit(task)


def contract(task: Task, gpu: Gpu, language: Frontend) -> dict[str, Any]:
    """The contract of a task for kernels in a language, and its limits on a GPU."""
    return {
        "key": task.key,
        "id": task.id,
        "task": task,
        "entries": {name: list(language.parameters(task, name)) for name in entries(task)},
        "gpu": gpu.name,
        "limits": [_limit_data(task, case, gpu) for case in task.cases],
        "skeleton": language.skeleton(task),
    }


def limit_of(task: Task, case: Case, gpu: Gpu) -> Limit | None:
    """The least time that physics allows; None where the task declares no work."""
    return physical_limit(task.work, case, gpu, tf32=task.tolerance.tf32)


def _limit_data(task: Task, case: Case, gpu: Gpu) -> dict[str, Any]:
    limit = limit_of(task, case, gpu)
    return {
        "case": case.name,
        "role": case.role,
        "seconds": limit and limit.seconds,
        "bound_by": limit and limit.bound_by,
        "floor_seconds": limit and limit.floor_seconds,
    }


def summary(task: Task) -> dict[str, object]:
    """A task in a few words."""
    return {
        "key": task.key,
        "id": task.id,
        "suite": task.suite,
        "name": task.name,
        "direction": task.direction,
        "family": task.family,
        "dtypes": task.dtypes,
        "cases": {role.value: len(task.cases_of(role)) for role in (Role.CHECK, Role.TIME)},
        "hidden": bool(task.ranges) and task.is_general,
        "summary": task.summary,
    }
