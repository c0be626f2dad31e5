"""GEMV: many long rows, each multiplied by the same row, several rows at a time.

Each element of the matrix is read once, so performance depends on the number of bytes in flight. A thread therefore
takes the same columns of several rows and loads all of their packs before it uses the first; the vector is read once
for all of them. One barrier at the end combines all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from warpwright.compose.code.definitions import (
    Definition,
    verbatim,
)
from warpwright.compose.code.passes.order import parted
from warpwright.compose.code.statements import (
    FULLY,
    Assign,
    Blank,
    Body,
    Do,
    Let,
    Loop,
    Statement,
)
from warpwright.compose.code.text import (
    KNOWN,
    Piece,
    as_code,
    code,
)
from warpwright.compose.code.traversal import functions, names
from warpwright.compose.cuda.arithmetic import ATOM, Term, written
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    over_pack,
    pointers,
    row_parameters,
    settle_multiples,
    used,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.loads import PackMode
from warpwright.compose.cuda.preamble import ALIGNED, PACKS, WORDS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import FLOAT, Graph, Value
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows, RowWriter
from warpwright.compose.kernels.rows.work import row_reads, rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.core.gpus.table import Gpu

KNOBS = (
    Knob(name="across_block", values=(256, 512), default=256, variations={2: 512}),
    Knob(name="across_rows", values=(2, 4), default=4),
)
"""Threads per block, and rows per block; more would not fit into registers."""
BLOCKS_PER_SM, LONG = 8, 1024
"""The least blocks per multiprocessor and the least row length that fill the GPU."""
OF_A_BYTE = ("int8", "uint8", "bool", "e4m3", "e5m2")
CROWD, CROWD_OF_BYTES = 1536, 1024
"""The resident threads of a multiprocessor; fewer for 8-bit elements, which need more registers per pack."""

OVER_ROWS = verbatim(
    """\
// Reduces ROWS sums over a block at once; every thread gets the sum of row threadIdx.x % ROWS. In each butterfly step
// lanes exchange half of their rows, until each lane holds one.
template <int THREADS, int ROWS>
__device__ float over_rows(float (&sums)[ROWS]) {
    int offset = 16;
    #pragma unroll
    for (int half = ROWS / 2; half > 0; half /= 2, offset /= 2) {
        const bool upper = threadIdx.x & offset;
        #pragma unroll
        for (int r = 0; r < half; ++r) {
            const float given = upper ? sums[r] : sums[r + half];
            sums[r] = (upper ? sums[r + half] : sums[r]) + __shfl_xor_sync(0xffffffff, given, offset);
        }
    }
    for (; offset > 0; offset /= 2) sums[0] += __shfl_xor_sync(0xffffffff, sums[0], offset);
    __shared__ float of_warp[ROWS][THREADS / 32];
    if (threadIdx.x % (32 / ROWS) == 0) of_warp[threadIdx.x % 32 / (32 / ROWS)][threadIdx.x / 32] = sums[0];
    __syncthreads();
    float total = 0.0f;
    #pragma unroll
    for (int warp = 0; warp < THREADS / 32; ++warp) total += of_warp[threadIdx.x % ROWS][warp];
    return total;
}"""
)


def gemv_kernels(work: Rows, graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any]) -> Written | None:
    """The kernels; None if rows are no such products, or no timed case gains by them."""
    if not _is_one_sum(work) or not _are_many_and_long(work, graph):
        return None
    writer = GemvWriter(work, graph, held, RowReads(work, graph, held).along_rows)
    if not writer.is_written():
        return None
    body = writer.whole()
    given = used(writer.needs, body)
    return Written(
        name=f"{work.name}_gemv",
        device=(_device(work, given, body, _crowd(writer)),),
        launcher=(_launcher(work, writer, pointers(given), config),),
        needs=writer.needs,
        preamble=(PACKS, ALIGNED, WORDS, OVER_ROWS),
    )


def _is_one_sum(work: Rows) -> bool:
    """Whether each row stores only its sum."""
    others = work.stores or work.column_sums or work.backwards
    return not others and [value.op for value in work.reductions] == [Op.SUM] and work.reductions[0].kind == FLOAT


def _are_many_and_long(work: Rows, graph: Graph) -> bool:
    """Whether any timed case has many long rows."""
    many, timed = _many(graph.gpu), graph.cases.timed
    return any(work.rows.values[case] >= many and work.columns.values[case] >= LONG for case in timed)


def _many(gpu: Gpu) -> int:
    return BLOCKS_PER_SM * gpu.sms


class GemvWriter(RowWriter):
    """Writes the statements for ROWS rows at a time; `kept` are the tensors read along them."""

    def __init__(self, work: Rows, graph: Graph, held: Mapping[int, Tensor], kept: Sequence[str]) -> None:
        packs = PackMode({name: as_code(f"{name}_pack") for name in kept})
        super().__init__(work, graph, held, kept, packs=packs)
        self.emitter.reserve(*(f"{name}_{what}" for name in kept for what in ("pack", "words")), "start", "sums", "r")
        self.before: list[Statement] = []

    def is_written(self) -> bool:
        """Whether the kernel applies: the summand reads packs of its row, and other tensors along the columns."""
        (total,) = self.work.reductions
        along, outside = self._factors(total.first)
        packs, elements = self.emitter.lines[PACK], self.emitter.lines[ELEMENT]
        added = [Assign("sums[r]", _product(along).code, "+=")] if along else []
        of_row = {"row", *(let.name for let in self.emitter.lines[ROW] if isinstance(let, Let))}
        if KNOWN["load"] not in functions(packs) or of_row & names([*packs, *elements, *added]):
            return False
        self._finish(total, outside, self._sums(packs, [*elements, *added]))
        return bool(self.emitter.kept)

    def _factors(self, operand: Value) -> tuple[list[Term], list[Term]]:
        """The factors of the summand: those that vary along a row, and those that can be applied to the sum."""
        place = self.place(operand)
        terms = [self.emitter.term(value, place if value.shape else ()) for value in self._multiplied(operand)]
        return [term for term in terms if term.level > ROW], [term for term in terms if term.level <= ROW]

    def _multiplied(self, value: Value) -> list[Value]:
        is_left = value.number in self.emitter.held or value.number in self.graph.rounded
        if value.op is not Op.MUL or is_left or any(arg.kind != FLOAT for arg in value.args):
            return [value]
        return [factor for arg in value.args for factor in self._multiplied(arg)]

    def _finish(self, total: Value, outside: Sequence[Term], sums: Body) -> None:
        """Emits the epilogue of a sum; statements that do not depend on the sum come first."""
        name = self.emitter.name(self.emitter.called(total, ROW))
        self.emitter.results[total.number] = _product([Term(as_code(name), ATOM, ROW), *outside])
        self.row_stores(code("threadIdx.x < ROWS && start + threadIdx.x < {rows}"))
        settle_multiples(self.emitter)
        self.before, after = parted(self.body[:-1], name)
        self.body = [*sums, Let("const float", name, "over_rows<THREADS>(sums)"), *after]

    def _sums(self, packs: Body, elements: Body) -> list[Statement]:
        tensors = [self.needs.reads[name] for name in self.emitter.kept]
        load = "load_words<{VEC}>({tensor} + min(start + r, {rows} - 1) * {columns} + column)"
        loads = [Assign(f"{t.name}_words[r]", code(load, tensor=t.name)) for t in tensors]
        opened = [
            Let(
                code("const Pack<{type}, {VEC}>", type=t.cpp),
                f"{t.name}_pack",
                code("unpack<{type}, {VEC}>({words}[r])", type=t.cpp, words=f"{t.name}_words"),
            )
            for t in tensors
        ]
        inner = [
            *(Let(code("Words<{type}, {VEC}>", type=t.cpp), f"{t.name}_words", extent="ROWS") for t in tensors),
            _over_rows(loads),
            *packs,
            _over_rows([*opened, over_pack(elements)]),
        ]
        head = code("int column = threadIdx.x * {VEC}; column < {columns}; column += THREADS * {VEC}")
        return [Let("float", "sums", "{}", extent="ROWS"), Loop(head, tuple(inner), 1)]

    def whole(self) -> list[Statement]:
        own = code("min(start + threadIdx.x % ROWS, {rows} - 1)")
        return [
            Let("const int64_t", "start", "static_cast<int64_t>(blockIdx.x) * ROWS"),
            Let("const int64_t", "row", own, comment="The row that this thread stores, if it exists."),
            *self.emitter.lines[KERNEL],
            *self.before,
            Blank(),
            *self.body,
        ]


def _over_rows(body: Body) -> Loop:
    """A loop over the rows of a block."""
    return Loop("int r = 0; r < ROWS; ++r", tuple(body), FULLY)


def _product(terms: Sequence[Term]) -> Term:
    return reduce(lambda a, b: written(Op.MUL, [a, b], FLOAT), terms)


def _device(work: Rows, given: Needs, body: Body, crowd: int) -> Definition:
    return Definition(
        comments=(
            work.comment,
            "Each block reads ROWS rows at a time for enough loads in flight; indices past the last row repeat it.",
        ),
        template="typename T, int VEC, int THREADS, int ROWS",
        head=f"__global__ void __launch_bounds__(THREADS, {crowd} / THREADS) {work.name}_gemv_kernel",
        parameters=tuple(row_parameters(given)),
        body=tuple(body),
    )


def _launcher(work: Rows, writer: GemvWriter, arguments: Sequence[Piece], config: Mapping[str, Any]) -> Definition:
    narrow, rows = _narrowest(writer), config["across_rows"]
    threads = config["across_block"] // (1 if narrow == "T" else 2)  # Packs of bytes reach twice as far.
    body = [
        vec_of(config["vector_bytes"], narrow),
        vector_test(writer.needs),
        leave(f"!vectors || rows < {_many(writer.graph.gpu)} || columns < {LONG}", "false"),
        Let("const auto", "kernel", f"{work.name}_gemv_kernel<T, VEC, {threads}, {rows}>"),
        launch(f"(rows + {rows - 1}) / {rows}", str(threads), arguments),
        Do("return true"),
    ]
    return launcher(f"{work.name}_gemv", writer.needs, body, result="bool")


def _crowd(writer: GemvWriter) -> int:
    threads = CROWD if _narrowest(writer) == "T" else CROWD_OF_BYTES
    return min(threads, writer.graph.gpu.architecture.threads_per_sm)


def _narrowest(writer: GemvWriter) -> str:
    """The type of the matrix, whose packs determine the vector width."""
    tensors = [writer.needs.reads[name] for name in writer.emitter.kept]
    return next((tensor.cpp for tensor in tensors if tensor.dtype in OF_A_BYTE), "T")


class Gemv(Strategy):
    """Products with a single row: several rows of the matrix to a block."""

    name = "gemv"
    declines = True

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return are_rows(group)

    def applies(self, site: Site, config: Config) -> Fit | None:
        if site.is_streamed or not site.once("is a GEMV", lambda: is_gemv(site)):
            return None
        return Fit(cost=1.3, shape=(config["vector_bytes"], config["across_block"], config["across_rows"]))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = rows_of(site, writer.kernel_name(site.group))
        kernel = gemv_kernels(work, site.graph, site.held, writer.config)
        assert kernel is not None, "a strategy is written only where it applies"
        writer.kernels.append(kernel)
        start = len(writer.calls)
        otherwise()
        writer.first_try(kernel, start)


STRATEGIES = (Gemv(),)


def is_gemv(site: Site) -> bool:
    work, graph = rows_of(site), site.graph
    if not _is_one_sum(work) or not _are_many_and_long(work, graph):
        return False
    return GemvWriter(work, graph, site.held, row_reads(site).along_rows).is_written()
