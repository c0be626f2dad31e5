"""A task that came from a function, named again: the file of its reference, and the inputs of its first timed case."""

from __future__ import annotations

from warpwright.core.errors import UsageError
from warpwright.core.formula import evaluate_size
from warpwright.core.signature import ScalarSpec, TensorSpec, forward_arguments
from warpwright.core.task import Case, Direction, Role, Task, TensorArg, sizes
from warpwright.tasks.given.callables import Written


def written_again(task: Task) -> Written:
    """The reference's text, with inputs from which the same task is loaded."""
    if task.reference.style != "function":
        raise UsageError(f"{task.key} came from a module and cannot be named again; give the module's file by name")
    case = (task.cases_of(Role.TIME) or task.cases)[0]
    arguments = {argument.name: argument for argument in task.arguments}
    inputs = []
    for spec in forward_arguments(task, case):
        if isinstance(spec, TensorSpec):
            bound = _bound(arguments[spec.name], case)
            sizes = ",".join(map(str, spec.shape)) + ("," if len(spec.shape) == 1 else "")
            inputs.append(f"{spec.name}={sizes}:{spec.dtype}{bound}")
        elif isinstance(spec, ScalarSpec):
            inputs.append(f"{spec.name}={_plain(spec.value)}")
        else:
            raise UsageError(f"{task.key} takes a list of tensors, which cannot be described; give its file by name")
    return Written(source=task.reference.source, entry=task.reference.entry, inputs=tuple(inputs))


def spec_of(task: Task, file: str) -> str:
    """How the task of a function in a file is named."""
    direction = "" if task.direction is Direction.FORWARD else f":{task.direction}"
    return f"{file}:{task.reference.entry}{direction}"


def _bound(argument: object, case: Case) -> str:
    below = argument.below if isinstance(argument, TensorArg) else None
    return "" if below is None else f"<{evaluate_size(below, sizes(case))}"


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return value if isinstance(value, str) else str(value).lower()
