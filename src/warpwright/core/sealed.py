"""A sealed candidate: device code and launch plans, ready for a judge that never sees its host code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.candidate import Flags
from warpwright.core.plan import Kernel, Plan


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

    def plan(self, case: str, entry: str) -> Plan:
        return next(plan for plan in self.plans if (plan.case, plan.entry) == (case, entry))

    def kernel(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernels if kernel.name == name)
