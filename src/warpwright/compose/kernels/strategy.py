"""What a kind of kernel is: where it applies and at what cost, which knobs it has, and how it is written.

A new kind of kernel is one file in a folder here: a class like this one, and an instance of it in the STRATEGIES of the
file. registry.py finds it there; its knobs, their defaults and variations, and the choice follow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol

from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.core.gpus.table import Gpu

Otherwise = Callable[[], None]
"""Writes the calls for what a strategy declines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a strategy serves a site."""

    cost: float
    """Launches and passes over memory for each group, against one launch that reads once; what is least comes first."""
    groups: int = 1
    """Groups of the schedule that it serves at once, from the site's first on."""
    shape: Hashable = ()
    """All that its kernels take from the config: configs of the same shape give the same kernels."""


class Strategy(Protocol):
    """One kind of kernel. A class that names this one as its base inherits what is said here."""

    name: str
    declines: bool = False
    """Whether it serves some of the cases only, as its launcher finds, and leaves the others to the next strategy."""
    serves_several: bool = False
    """Whether it may serve several groups of a schedule at once."""
    overrides: Mapping[str, object] = {}
    """Defaults of knobs of other strategies beside this one."""

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return ()

    def parts(self, group: Group) -> list[Group]:
        """Groups of which it is made, that other strategies serve."""
        return []

    def serves(self, group: Group) -> bool:
        """Whether it is written for groups of that kind at all."""
        ...

    def applies(self, site: Site, config: Config) -> Fit | None:
        """None where no case that is timed gains by it, or the target lacks what it needs. Writes nothing."""
        ...

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None: ...
