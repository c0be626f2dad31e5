"""Validates a decoded task: names must agree, formulas must evaluate, budgets must be positive numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from warpwright.core.calls import arguments, results
from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import TaskError, UsageError
from warpwright.core.formula import evaluate
from warpwright.core.hidden import hidden_cases
from warpwright.core.task import Case, Compare, Direction, Task, sizes


def validate(path: Path, task: Task, functions: Mapping[str, list[str]]) -> None:
    """Raises TaskError for the first problem."""
    _names_agree(path, task, functions)
    _dtypes_known(path, task)
    _tolerance_is_a_number(path, task)
    for case in (*task.cases, *hidden_cases(task, secret=0, count=1)):
        _formulas_compute(path, task, case)


def _names_agree(path: Path, task: Task, functions: Mapping[str, list[str]]) -> None:
    reference = path.parent / "reference.py"
    names = [argument.name for argument in task.arguments]
    if len(set(names)) != len(names):
        raise TaskError(str(path), "arguments", "two arguments have the same name")
    wanted = {task.reference.entry, *task.variants, *task.baselines}
    if task.direction is Direction.BACKWARD and task.saves:
        wanted.add("save")
    for name in sorted(wanted):
        _function_fits(reference, name, names, functions)
    for name in task.mutates:
        if name not in names:
            raise TaskError(str(path), "mutates", f"'{name}' is not an argument")
    _selectors_exist(path, task, functions)


def _function_fits(reference: Path, name: str, names: list[str], functions: Mapping[str, list[str]]) -> None:
    listed = ", ".join(names)
    if name not in functions:
        raise TaskError(str(reference), None, f"there is no function '{name}'", f"define {name}({listed})")
    if functions[name] != names and not name.startswith("backward"):
        raise TaskError(str(reference), name, f"takes ({', '.join(functions[name])}) but task.toml lists ({listed})")


def _selectors_exist(path: Path, task: Task, functions: Mapping[str, list[str]]) -> None:
    for output in task.outputs:
        if output.compare is Compare.INDEX and output.selects not in functions:
            remedy = "name a function of reference.py that gives the values selected from"
            raise TaskError(str(path), f"outputs.{output.name}.selects", "is missing or unknown", remedy)


def _dtypes_known(path: Path, task: Task) -> None:
    names = [item.dtype for item in (*task.outputs, *task.saves)]
    names += [argument.dtype for argument in task.arguments if hasattr(argument, "dtype")]
    for name in {*task.dtypes, *names} - {"T"}:
        try:
            dtype_named(name)
        except UsageError as error:
            raise TaskError(str(path), "dtype", str(error)) from None


def _tolerance_is_a_number(path: Path, task: Task) -> None:
    if not 0 < task.tolerance.slack < math.inf:
        remedy = "write a positive number; 1.0 is what honest implementations need"
        raise TaskError(str(path), "tolerance.slack", f"{task.tolerance.slack} is not a budget", remedy)


def _formulas_compute(path: Path, task: Task, case: Case) -> None:
    try:
        arguments(task, case)
        results(task, case)
        for formula in (task.work.reads, task.work.writes, task.work.matrix, task.work.scalar):
            evaluate(formula, sizes(case))
    except UsageError as error:
        raise TaskError(str(path), f"case {case.name}", str(error)) from None
