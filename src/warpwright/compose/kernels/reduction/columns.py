"""Column sums over the leading dimensions, fused with elementwise stores of the same elements.

A block processes a strip of columns, one pack per thread; its warps take rows in turn. Many blocks share the rows of
one strip and store partial sums, which a second, small kernel adds in a fixed order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter
from warpwright.compose.code.statements import (
    Also,
    Assign,
    Comment,
    Do,
    If,
    Let,
    Loop,
    Statement,
)
from warpwright.compose.code.text import (
    Piece,
    code,
)
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import (
    Written,
    choice,
    emit_stores,
    launch,
    launcher,
    over_pack,
    parameters,
    pointer,
    pointers,
    settle_multiples,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.preamble import ADD_PARTS, ALIGNED, PACKS
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Total, Var
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import VECTOR_BYTES, Config, Knob
from warpwright.compose.schedule.spaces import COLUMNS
from warpwright.core.gpus.table import Gpu


def knobs(gpu: Gpu) -> tuple[Knob, ...]:
    """Warps of a block, and blocks of a launch."""
    blocks = tuple(count * gpu.sms for count in (4, 8, 16))
    return (
        VECTOR_BYTES,
        Knob(name="column_warps", values=(4, 8, 16), default=8, variations={1: 16, 5: 4}),
        Knob(name="column_blocks", values=blocks, default=8 * gpu.sms, variations={3: 16 * gpu.sms}),
    )


ALONE = 128
"""Threads per block if each sums its own columns."""
FEW = 16
"""The number of rows up to which one thread alone is fastest."""
SOME = 128
"""The number of rows up to which one block is faster than a second kernel."""


class ColumnWriter:
    def __init__(
        self,
        name: str,
        comment: str,
        shape: tuple[Size, Size],
        sums: Sequence[Store],
        stores: Sequence[Store],
        graph: Graph,
        held: Mapping[int, Tensor],
    ) -> None:
        self.name, self.comment, self.sums = name, comment, sums
        rows, columns = shape
        timed = (
            [rows.values[case] for case in graph.cases.timed] if len({item.tensor.cpp for item in sums}) == 1 else []
        )
        self.direct = {most: any(least < count <= most for count in timed) for least, most in ((-1, FEW), (FEW, SOME))}
        """Whether a block writes the result itself, for few rows."""
        roots = [*(store.value.first for store in sums), *(store.value for store in stores)]
        tensors = [store.tensor for store in (*sums, *stores)]
        self.emitter = emitter = Emitter(graph, held, roots, {rows: "rows", columns: "columns"}, tensors)
        emitter.needs.sizes |= {"rows": rows, "columns": columns}
        emitter.needs.multiples[columns] = None
        base = Total(((Var("row", ROW), columns), (Var("column", PACK, innermost=True), graph.cases.one())))
        places = [indices.unravel(base, store.value.shape, graph.cases) for store in stores]
        self.elements, self.after = emit_stores(emitter, stores, places)
        self.names = [emitter.name(f"{store.tensor.name}_sum") for store in sums]
        for store, name in zip(sums, self.names, strict=True):
            term = emitter.term(store.value.first, indices.unravel(base, store.value.first.shape, graph.cases))
            self.elements.append(Assign(code("{sum}[k]", sum=name), term.code, "+="))
        settle_multiples(emitter)

    def written(self, config: Mapping[str, Any]) -> Written:
        return Written(
            name=self.name,
            device=(self._device(),),
            launcher=(self._launcher(config),),
            needs=self._host_needs(),
            preamble=(PACKS, ALIGNED, ADD_PARTS),
            in_sequence=True,
        )

    def _host_needs(self) -> Any:
        """The needs of the host, including the tensors of the partial sums."""
        for store in self.sums:
            self.emitter.needs.writes[store.tensor.name] = store.tensor
        return self.emitter.needs

    def _kernel_parameters(self) -> list[Parameter]:
        partials = [Parameter("Out* __restrict__", f"{store.tensor.name}_parts") for store in self.sums]
        return [*parameters(self.emitter.needs), *partials, Parameter("int64_t", "share")]

    def _device(self) -> Definition:
        emitter = self.emitter
        over = over_pack([*emitter.lines[ELEMENT], *self.elements])
        row = (*emitter.lines[ROW], *emitter.lines[PACK], over, *self.after)
        column = code("(static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * {VEC}")
        head = "int64_t row = blockIdx.y * share + threadIdx.y; row < last; row += WARPS"
        add = "add_warps<{VEC}, WARPS>({sum}, {parts} + blockIdx.y * {columns}, column, {columns})"
        return Definition(
            comments=(self.comment, "Block (x, y) walks down strip x of the columns, over share y of the rows."),
            template="typename T, int VEC, int WARPS, typename Out",
            head=f"__global__ void __launch_bounds__(WARPS == 1 ? {ALONE} : 32 * WARPS) {self.name}_kernel",
            parameters=tuple(self._kernel_parameters()),
            body=(
                Let("const int64_t", "column", column),
                Let("const int64_t", "last", code("min({rows}, (blockIdx.y + 1) * share)")),
                *emitter.lines[KERNEL],
                *(Let("float", name, "{}", extent="VEC") for name in self.names),
                If(code("column < {columns}"), (Loop(head, row, 4),)),
                *(
                    Do(code(add, sum=name, parts=f"{store.tensor.name}_parts"))
                    for store, name in zip(self.sums, self.names, strict=True)
                ),
            ),
        )

    def _launcher(self, config: Mapping[str, Any]) -> Definition:
        needs, warps = self.emitter.needs, config["column_warps"]
        given = pointers(needs)
        if any(self.direct.values()):
            needs.vectors |= {store.tensor.name: store.tensor for store in self.sums}
        test = vector_test(needs)
        strips = Also("strips", "(columns + 32 * width - 1) / (32 * width)")
        body = [
            vec_of(config["vector_bytes"]),
            test,
            Let("const int64_t", "width", "vectors ? VEC : 1", (strips,)),
            *([self._alone(given)] if self.direct[FEW] else ()),
            *([self._together(given, warps)] if self.direct[SOME] else ()),
            *self._shared(given, warps, config["column_blocks"]),
        ]
        return launcher(self.name, self._host_needs(), body)

    def _shared(self, given: Sequence[Piece], warps: int, blocks: int) -> list[Statement]:
        """The statements for many rows, whose blocks store partial sums."""
        parts = [f"{store.tensor.name}_parts" for store in self.sums]
        empty = f"torch::empty({{shares, columns}}, {self.sums[0].tensor.name}.options().dtype(torch::kFloat32))"
        add = "add_parts({parts}.data_ptr<float>(), {to}, shares, columns)"
        least = code("{std::max}<int64_t>(wanted, 1)")
        wanted = code("{std::min}(filling, (rows + {rest}) / {two})", rest=2 * warps - 1, two=2 * warps)
        launched = launch("grid", "threads", [*given, *(f"{part}.data_ptr<float>()" for part in parts), "share"])
        return [
            Comment("Enough blocks to fill the GPU, but at least two rows for every warp."),
            Let("const int64_t", "filling", f"({blocks} + strips - 1) / strips"),
            Let("const int64_t", "wanted", wanted),
            Let("const int64_t", "share", code("(rows + {least} - 1) / {least}", least=least)),
            Let("const int64_t", "shares", "share > 0 ? (rows + share - 1) / share : 0"),
            *(Let("auto", name, empty) for name in parts),
            Do(f"const dim3 grid(strips, shares), threads(32, {warps})"),
            *choice(f"{self.name}_kernel", ["T", "VEC", warps, "float"]),
            If("shares > 0 && columns > 0", (launched,)),
            *(
                Do(code(add, parts=name, to=pointer(store.tensor)))
                for name, store in zip(parts, self.sums, strict=True)
            ),
        ]

    def _alone(self, given: Sequence[Piece]) -> Statement:
        """For few rows: a thread's sum is the result."""
        blocks = f"(columns + {ALONE} * width - 1) / ({ALONE} * width)"
        return If(f"rows <= {FEW} && columns > 0", self._directly(given, 1, blocks, str(ALONE)))

    def _together(self, given: Sequence[Piece], warps: int) -> Statement:
        """For moderately many rows: a block's sum is the result."""
        return If(f"rows <= {SOME} && columns > 0", self._directly(given, warps, "strips", f"dim3(32, {warps})"))

    def _directly(self, given: Sequence[Piece], warps: int, blocks: str, threads: str) -> tuple[Statement, ...]:
        results = [pointer(store.tensor) for store in self.sums]
        return (
            *choice(f"{self.name}_kernel", ["T", "VEC", warps, self.sums[0].tensor.cpp]),
            launch(blocks, threads, [*given, *results, "rows"]),
            Do("return"),
        )


class Columns(Strategy):
    """Sums down columns."""

    name = "columns"

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return knobs(gpu)

    def serves(self, group: Group) -> bool:
        return group.space.kind == COLUMNS

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0, shape=shape_of(config))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name, shape = writer.kernel_name(site.group), (site.space.rows, site.space.columns)
        columns = ColumnWriter(name, site.comment, shape, site.column_sums, site.other_stores, site.graph, site.held)
        writer.launch(columns.written(writer.config))


def shape_of(config: Config) -> tuple[int, int, int]:
    return config["vector_bytes"], config["column_warps"], config["column_blocks"]


STRATEGIES = (Columns(),)
