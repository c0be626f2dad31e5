"""A sealed candidate: device code and launch plans, ready for a judge that never sees its host code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from warpwright.core.candidate import Flags
from warpwright.core.launch.plan import Kernel, Plan
from warpwright.core.task import Task

PREPARE = "prepare"
"""The optional entry that makes something of its own of constant arguments, once, before any call of `forward`."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """How a candidate was sealed. What is unknown is absent, never guessed."""

    candidate: str
    task: str
    gpu: str
    arch: str
    flags: Flags
    compilers: Mapping[str, str]
    command: tuple[str, ...]
    """What compiled the device code, without paths of this machine."""
    hashes: Mapping[str, str]
    """SHA-256 of each file of the artefact."""
    seconds: Mapping[str, float]
    isolation: str
    """What the candidate's code was kept in while it was compiled and captured."""
    warpwright: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    id: str
    source: str
    manifest: Manifest
    entries: tuple[str, ...]
    """Every entry point the source binds."""
    cubin: bytes | None
    """None where no device compiler was to be had."""
    kernels: tuple[Kernel, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """Symbols of the cubin by the names plans use. A variable that no kernel uses is not in the cubin."""
    plans: tuple[Plan, ...] = ()
    """One for each case and entry. Where there is one of `prepare`, its results are arguments of `forward`'s."""

    def plan(self, case: str, entry: str) -> Plan:
        return next(plan for plan in self.plans if (plan.case, plan.entry) == (case, entry))

    def preparation(self, case: str) -> Plan | None:
        """The plan of `prepare`, where the candidate has that entry."""
        return next((plan for plan in self.plans if (plan.case, plan.entry) == (case, PREPARE)), None)

    def kernel(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernels if kernel.name == name)


def with_prepared(task: Task, arguments: Sequence[T], prepared: Sequence[T]) -> list[T]:
    """What `forward` is called with after `prepare`, specs or values alike.

    Every tensor that `prepare` returned is an argument of its own. They stand where the first of the arguments stood
    that they replace.
    """
    replaced = [argument.name in task.prepares for argument in task.arguments]
    first = replaced.index(True)
    kept = [[value] for value, is_replaced in zip(arguments, replaced, strict=True) if not is_replaced]
    return [value for group in (*kept[:first], prepared, *kept[first:]) for value in group]
