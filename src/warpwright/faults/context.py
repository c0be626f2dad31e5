"""What only a task tells of a source: parameters that are an identity by default, and the grids that checks launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.launch.plan import Launch
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Role, Task, TensorArg
from warpwright.cpp.tokens import tokenize


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    identities: Mapping[str, str] = field(default_factory=dict)
    """Arguments that a module's constructor fills with "ones" or "zeros"."""
    grids: Mapping[str, int] = field(default_factory=dict)
    """The most blocks that any checked case launches, of kernels of which a requested case launches more."""


def context_of(task: Task, sealed: Sealed | None) -> Context:
    return Context(identities=dict(_identities(task)), grids={} if sealed is None else _grids(task, sealed))


def _identities(task: Task) -> list[tuple[str, str]]:
    from warpwright.oracle.truth.reference import constructed

    state = len(task.reference.state)
    named = [item.name for item in task.arguments[-state:] if isinstance(item, TensorArg)] if state else []
    found = []
    for name in named:
        value = constructed(task, name)
        for filler, number in (("ones", 1), ("zeros", 0)):
            if value.is_floating_point() and value.numel() and bool((value == number).all()):
                found.append((name, filler))
    return found


def _grids(task: Task, sealed: Sealed) -> dict[str, int]:
    checked = _most_blocks(sealed, {case.name for case in task.cases_of(Role.CHECK)})
    asked = _most_blocks(sealed, {case.name for case in task.cases_of(Role.TIME)})
    return {name: checked[name] for name in checked if asked.get(name, 0) > checked[name]}


def _most_blocks(sealed: Sealed, cases: set[str]) -> dict[str, int]:
    most: dict[str, int] = {}
    for plan in (plan for plan in sealed.plans if plan.case in cases):
        for node in (node for node in plan.nodes if isinstance(node, Launch)):
            blocks = node.grid[0] * node.grid[1] * node.grid[2]
            for name in _words(node.kernel):
                most[name] = max(most.get(name, 0), blocks)
    return most


def _words(kernel: str) -> list[str]:
    """The words of a kernel's full name, one of which is its own."""
    return [token.text for token in tokenize(kernel)]
