"""A sealed candidate: device code and launch plans for a judge that never sees its host code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warpwright.core.calls import PREPARE
from warpwright.core.candidate import Flags
from warpwright.core.launch.plan import Kernel, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """How a candidate was sealed. Unknown values are absent, never guessed."""

    candidate: str
    task: str
    gpu: str
    arch: str
    flags: Flags
    compilers: Mapping[str, str]
    command: tuple[str, ...]
    """The command that compiled the device code, without paths of this machine."""
    hashes: Mapping[str, str]
    """The SHA-256 of each file of the artefact."""
    seconds: Mapping[str, float]
    isolation: str
    """The isolation of the candidate's code while it was compiled and captured."""
    warpwright: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    id: str
    source: str
    manifest: Manifest
    entries: tuple[str, ...]
    """Every entry point that the source binds."""
    cubin: bytes | None
    """None if there was no device compiler."""
    modules: tuple[bytes, ...] = ()
    """Further cubins, for compilers that make one for each kernel."""
    kernels: tuple[Kernel, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """Symbols of the cubin by the names in plans. A variable that no kernel uses is not in the cubin."""
    plans: tuple[Plan, ...] = ()
    """One plan for each case and entry. Results of `prepare`, where it exists, are arguments of `forward`."""

    def plan(self, case: str, entry: str) -> Plan:
        return next(plan for plan in self.plans if (plan.case, plan.entry) == (case, entry))

    def preparation(self, case: str) -> Plan | None:
        """Returns the plan of `prepare`, if the candidate has that entry."""
        return next((plan for plan in self.plans if (plan.case, plan.entry) == (case, PREPARE)), None)

    def kernel(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernels if kernel.name == name)
