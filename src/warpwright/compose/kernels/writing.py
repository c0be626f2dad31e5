"""What a strategy may ask of the writer of an entry point."""

from __future__ import annotations

from collections.abc import Set
from typing import Protocol

from warpwright.compose.code.statements import Statement
from warpwright.compose.code.text import Code
from warpwright.compose.cuda.host import Step
from warpwright.compose.cuda.kernel import Written
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.kernels.site import Site
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config


class Writing(Protocol):
    """Collects the kernels of an entry point, and the calls of its host function."""

    kernels: list[Written]
    calls: list[Step]
    declared: set[str]
    config: Config

    def kernel_name(self, group: Group) -> str: ...

    def launch(self, kernel: Written) -> None:
        """Add a kernel and its launch."""
        ...

    @property
    def scalar(self) -> str:
        """The type that launchers are called for."""
        ...

    def call_of(self, kernel: Written) -> Code:
        """The call of its launcher."""
        ...

    def unless_taken(self, call: Code, start: int) -> None:
        """Make the calls from there on only if this one declines."""
        ...

    def first_try(self, kernel: Written, start: int) -> None:
        """Make the calls from there on only if a kernel's launcher declines."""
        ...

    def serve(self, site: Site, alone: bool = False) -> int:
        """Write what serves a site, alone if so asked; gives the number of groups."""
        ...

    def given(self) -> Set[str]:
        """The tensors that lay in memory before the call and have not been written to since."""
        ...

    def size(self, size: Size) -> Code: ...

    def types(self) -> dict[str, str]: ...

    def allocation(self, tensor: Tensor) -> Statement: ...

    def by_library(self, store: Store, site: Site) -> None: ...
