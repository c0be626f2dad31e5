"""Library calls: products, convolutions and their gradients."""

from __future__ import annotations

from warpwright.compose.code.statements import Let
from warpwright.compose.cuda import library
from warpwright.compose.cuda.host import Step
from warpwright.compose.ir.operations import Op
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config


class Library(Strategy):
    """One call of a library."""

    name = "library"

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.LIBRARY

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0)

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        value, tensor = site.first.value, site.first.tensor
        text = library.call(value, site.held, writer.size, writer.types())
        text = library.rounded(text, value.dtype, tensor.dtype, site.graph.cases, writer.types())
        writer.calls.append(Step(Let("auto", tensor.name, text), launches=False))
        writer.declared.add(tensor.name)


STRATEGIES = (Library(),)
