"""The cases of a task.toml: each table of sizes in each dtype, with scalars in turn and additional gradient layouts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from warpwright.core.dtypes import dtype_named
from warpwright.core.errors import TaskError, UsageError
from warpwright.core.task import Direction, Layout, Role

_RESERVED = {"dtypes", "share", "directions"}


def case_tables(path: Path, table: Mapping[str, Any], direction: Direction) -> list[dict[str, Any]]:
    """Returns the cases as plain tables, ready for the codec."""
    groups = table.get("cases", {})
    if not isinstance(groups, dict) or not groups.get("check"):
        raise TaskError(str(path), "cases.check", "there must be at least one check case", "add [cases] check = [...]")
    if unknown := sorted(groups.keys() - {Role.CHECK, Role.TIME}):
        raise TaskError(str(path), f"cases.{unknown[0]}", "unknown role", "use check, time, and [hidden] for ranges")
    found = [case for role in groups for case in _role_cases(path, table, Role(role), direction)]
    return _unique(found if direction is Direction.FORWARD else found + _other_layouts(found))


def _unique(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Makes names unique, since plans and records refer to cases by name: appends the role or a number."""
    taken: set[str] = set()
    for case in cases:
        choices = (case["name"], f"{case['name']}-{case['role']}", *(f"{case['name']}-{i}" for i in range(2, 1000)))
        case["name"] = next(name for name in choices if name not in taken)
        taken.add(case["name"])
    return cases


def _role_cases(path: Path, table: Mapping[str, Any], role: Role, direction: Direction) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(table["cases"][role]):
        where = f"cases.{role}[{number}]"
        if not isinstance(entry, dict):
            raise TaskError(str(path), where, f"{entry!r} is not a table of sizes", "write { B = 2, D = 64 }")
        if direction not in entry.get("directions", [direction]):
            continue
        for dtype in entry.get("dtypes", table.get("dtypes", ["fp32"])):
            yield _case(path, table, role, entry, number, dtype, where)


def _case(
    path: Path, table: Mapping[str, Any], role: Role, entry: Mapping[str, Any], number: int, dtype: str, where: str
) -> dict[str, Any]:
    scalars = _scalars(table, entry, number)
    dims = {name: value for name, value in entry.items() if name not in _RESERVED and name not in scalars}
    if wrong := [name for name, value in dims.items() if type(value) is not int or value < 0]:
        raise TaskError(str(path), f"{where}.{wrong[0]}", f"{dims[wrong[0]]!r} is not a size")
    try:
        name = dtype_named(dtype).name
    except UsageError as error:
        raise TaskError(str(path), where, str(error)) from None
    label = "-".join(f"{dim}{size}" for dim, size in dims.items())
    label += "".join(f"-{key}{entry[key]}" for key in scalars if key in entry)
    return {
        "name": f"{label}-{name}",
        "role": role.value,
        "dims": dims,
        "dtype": name,
        "scalars": scalars,
        "weight": float(entry.get("share", 1.0)),
    }


def _scalars(table: Mapping[str, Any], entry: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Gives each case the next value of every scalar, unless the case sets one itself."""
    scalars = {}
    for argument in table.get("arguments", []):
        if isinstance(argument, dict) and argument.get("values"):
            values = argument["values"]
            scalars[argument["name"]] = entry.get(argument["name"], values[number % len(values)])
    return scalars


def _other_layouts(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Repeats the most informative check case with expanded and with transposed gradients."""
    checks = [case for case in cases if case["role"] == Role.CHECK]
    chosen = max(checks, key=lambda case: layout_coverage(case["dims"]))
    layouts = (Layout.EXPANDED, Layout.TRANSPOSED)
    return [{**chosen, "name": f"{chosen['name']}-{layout}", "layout": layout.value} for layout in layouts]


def layout_coverage(dims: Mapping[str, int]) -> tuple[int, int]:
    """Ranks cases for a layout test: transposing changes nothing along sizes of one; then larger is better."""
    return sum(size > 1 for size in dims.values()), math.prod(dims.values())
