"""Strided reductions: over dimensions that lie in front of others, as over the channels of images.

Neighbouring threads take neighbouring elements in memory, each of a row of its own, so that every load of a warp is
coalesced. The warps of a block share the loop along the rows. Results of the same shape as the data are stored by
another pass over the strip, whose data is in the cache by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from warpwright.compose.code.definitions import Definition, Item
from warpwright.compose.code.statements import Blank, Comment, If, Let, Loop, Statement
from warpwright.compose.code.text import code
from warpwright.compose.cuda.arithmetic import Term
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import (
    Written,
    choice,
    emit_stores,
    launch,
    launcher,
    leave,
    over_pack,
    parameters,
    pointers,
    settle_multiples,
    used,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW
from warpwright.compose.ir.operations import REDUCTIONS
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph, Value
from warpwright.compose.kernels.reduction.lanes import LanePass, lanes
from warpwright.compose.kernels.reduction.passes import Carried, check, depths, joined
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_strided_rows, reachable
from warpwright.compose.schedule.knobs import VECTOR_BYTES, Config, Knob
from warpwright.compose.schedule.spaces import Space, axes, place_of_operand, position
from warpwright.core.gpus.table import Gpu

KNOBS = (
    VECTOR_BYTES,
    Knob(name="strided_warps", values=(4, 8, 16), default=8, variations={1: 16, 5: 4}),
    Knob(name="strided_unroll", values=(2, 4, 8), default=4, variations={2: 8}),
)
"""Knobs: the warps of a block, and how many rows of each are unrolled."""
FEW = 2
"""Warps of a block for short rows."""


class StridedWriter:
    """Writes the kernel of a group of strided reductions."""

    def __init__(
        self, name: str, comment: str, space: Space, stores: Sequence[Store], graph: Graph, held: Mapping[int, Tensor]
    ) -> None:
        self.name, self.comment, self.space, self.graph = name, comment, space, graph
        elements = space.rows * space.columns
        self.stores = [store for store in stores if graph.numel(store.value) == elements]
        self.results = [store for store in stores if store not in self.stores]
        self.reductions = [
            value for value in reachable([store.value for store in stores], held) if value.op in REDUCTIONS
        ]
        self.emitter = self._emitter([store.tensor for store in stores], held)
        self.preamble: dict[Item, None] = {}
        self.body: list[Statement] = []

    def _emitter(self, written: Sequence[Tensor], held: Mapping[int, Tensor]) -> Emitter:
        assert self.space.inner is not None
        sizes: dict[str, Size] = {"rows": self.space.columns, "columns": self.space.rows, "inner": self.space.inner}
        roots = [*self.reductions, *(store.value for store in (*self.stores, *self.results))]
        named = {size: name for name, size in sizes.items()}
        emitter = Emitter(self.graph, held, roots, named, written, row_index=axes(self.space).result)
        emitter.needs.sizes |= {name: sizes[name] for name in ("rows", "columns")}
        emitter.needs.multiples[self.space.inner] = None
        emitter.reserve("inside", "inner")
        return emitter

    def write(self, unroll: int) -> None:
        for group in joined(depths([check(value) for value in self.reductions])):
            self._reduce(group, unroll)
        self._store_results()
        self._store_elements(unroll)
        settle_multiples(self.emitter)

    def _reduce(self, group: Sequence[Carried], unroll: int) -> None:
        """One pass along the rows for reductions that do not need each other."""
        self.emitter.new_pass()
        done, carried = LanePass(), [lanes(item, self.emitter) for item in group]
        for item in carried:
            item.add(self._operand(item.operand, group), done)
            self.preamble |= dict.fromkeys(item.preamble)
        self.body += [*self._row_lines(), *done.before, self._over_rows(done, unroll), *done.after, Blank()]
        for item in carried:
            self.emitter.results |= item.results()

    def _operand(self, operand: Value, group: Sequence[Carried]) -> Term:
        reduction = next(value for value in self.reductions if value.first is operand)
        place = place_of_operand(reduction, self.space, self.graph.cases)
        return self.emitter.lifted(operand, self.emitter.term(operand, place), ELEMENT)

    def _row_lines(self) -> list[Statement]:
        """The pending statements that are computed once per thread."""
        found, self.emitter.lines[ROW] = self.emitter.lines[ROW], []
        return found

    def _over_rows(self, done: LanePass, unroll: int) -> Loop:
        lines = self.emitter.lines
        inner = [*lines[PACK], *done.packs, over_pack([*lines[ELEMENT], *done.elements])]
        return Loop(code("int64_t row = threadIdx.y; inside && row < {rows}; row += WARPS"), tuple(inner), unroll)

    def _store_results(self) -> None:
        if not self.results:
            return
        self.emitter.new_pass()
        cases = self.graph.cases
        places = [indices.unravel(axes(self.space).result, store.value.shape, cases) for store in self.results]
        elements, after = emit_stores(self.emitter, self.results, places)
        lines = self.emitter.lines
        stored = [*lines[PACK], over_pack([*lines[ELEMENT], *elements]), *after]
        self.body += [*self._row_lines(), If("inside && threadIdx.y == 0", tuple(stored)), Blank()]

    def _store_elements(self, unroll: int) -> None:
        if not self.stores:
            return
        self.emitter.new_pass()
        cases, at = self.graph.cases, position(self.space, self.graph.cases)
        places = [indices.unravel(at, store.value.shape, cases) for store in self.stores]
        elements, after = emit_stores(self.emitter, self.stores, places)
        loop = self._over_rows(LanePass(elements=elements), unroll)
        self.body += [*self._row_lines(), Loop(loop.head, (*loop.body, *after), unroll), Blank()]

    @cached_property
    def kernel(self) -> Definition:
        first = code("(static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x) * {VEC}")
        body = [
            Let("const int64_t", "column", first),
            Let("const bool", "inside", code("column < {columns}")),
            *self.emitter.lines[KERNEL],
            *self.body[:-1],
        ]
        return Definition(
            comments=(self.comment, "Each lane walks along a row of its own; the warps of a block share the walk."),
            template="typename T, int VEC, int WARPS",
            head=f"__global__ void __launch_bounds__(32 * WARPS) {self.name}_kernel",
            parameters=tuple(parameters(used(self.emitter.needs, body))),
            body=tuple(body),
        )

    def launcher(self, config: Config, gpu: Gpu) -> Definition:
        needs = self.emitter.needs
        given = pointers(used(needs, self.kernel.body))
        warps = config["strided_warps"]
        few = [*choice(f"{self.name}_kernel", ["T", "VEC", FEW]), launch("strips", f"dim3(32, {FEW})", given)]
        many = [*choice(f"{self.name}_kernel", ["T", "VEC", warps]), launch("strips", f"dim3(32, {warps})", given)]
        body = [
            vec_of(config["vector_bytes"]),
            Comment("Packs only where they leave a warp for every multiprocessor."),
            vector_test(needs, f"columns >= {32 * gpu.sms} * VEC"),
            Let("const int64_t", "width", "32 * (vectors ? VEC : 1)"),
            Let("const int64_t", "strips", "(columns + width - 1) / width"),
            leave("strips == 0"),
            If(f"rows <= {4 * FEW}", tuple(few), tuple(many)),
        ]
        return launcher(self.name, needs, body)


class StridedRows(Strategy):
    """Reductions over rows whose elements are not neighbours."""

    name = "strided rows"

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return are_strided_rows(group)

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0, shape=(config["vector_bytes"], config["strided_warps"], config["strided_unroll"]))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name = writer.kernel_name(site.group)
        strided = StridedWriter(name, site.comment, site.space, site.group.stores, site.graph, site.held)
        strided.write(writer.config["strided_unroll"])
        kernel = strided.kernel
        writer.launch(
            Written(
                name=name,
                device=(kernel,),
                launcher=(strided.launcher(writer.config, site.graph.gpu),),
                needs=strided.emitter.needs,
                preamble=(PACKS, ALIGNED, *strided.preamble),
            )
        )


STRATEGIES = (StridedRows(),)
