"""Rows that are too long for the registers of a block, but fit into its registers and shared memory together.

One block keeps such a row, so that block barriers suffice. Blocks are persistent: while a row is stored, the next row
is prefetched into the freed shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.compose.code.definitions import Definition
from warpwright.compose.code.statements import (
    Barrier,
    Blank,
    Body,
    Do,
    Lambda,
    Let,
    Loop,
    Statement,
)
from warpwright.compose.code.text import (
    Piece,
    code,
)
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    pointers,
    used,
)
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import KERNEL
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.rows.launch import without_end
from warpwright.compose.kernels.rows.onchip import (
    OnChipWriter,
    Tile,
    declining,
    items_in_shared,
    items_of,
    kept_parameters,
    with_shared_memory,
)
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows
from warpwright.compose.kernels.rows.work import row_reads, rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.compose.schedule.row_shapes import MOST_ITEMS, MOST_THREADS, few
from warpwright.core.gpus.table import Gpu

KNOBS = (Knob(name="row_shared", values=(0, 1), default=1, variations={1: 0}),)
"""Whether rows are also kept in shared memory."""


def resident_kernels(work: Rows, graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any]) -> Written | None:
    """The kernels; None if no timed row gains by them."""
    reads = RowReads(work, graph, held)
    fitting = fitting_tiles(reads, config)
    if not fitting:
        return None
    writer = OnChipWriter(work, graph, held, reads.read_again)
    writer.joins = True
    is_next = code("item < IN_SHARED && row + gridDim.x < {rows}")
    writer.behind_last = [writer.fetches(is_next, "(row + gridDim.x)")]
    writer.write()
    body = _body(writer)
    given = used(writer.needs, body)
    return Written(
        name=f"{work.name}_resident",
        device=(_device(work, given, body),),
        launcher=(_launcher(work, writer, pointers(given), fitting, _shortest(reads), config),),
        needs=writer.needs,
        preamble=writer.all_preambles,
    )


def fitting_tiles(reads: RowReads, config: Mapping[str, Any]) -> list[Tile]:
    """One for every length of row that is timed and that a block keeps."""
    found = [kept_by_a_block(reads, case, config) for case in reads.graph.cases.timed]
    return sorted({tile for tile in found if tile})


def kept_by_a_block(reads: RowReads, case: int, config: Mapping[str, Any]) -> Tile | None:
    """The tile with which a block keeps the rows of a case; None if it cannot, or if registers suffice."""
    work, cases, kept, gpu = reads.work, reads.graph.cases, reads.read_again, reads.graph.gpu
    if not config["row_shared"] or work.backwards or not work.stores or not kept:
        return None
    packs = -(-work.columns.values[case] * cases.widths[case] // config["vector_bytes"])
    if work.rows.values[case] < few(gpu) or packs <= _shortest(reads):
        return None
    items = items_of(packs, MOST_THREADS, len(kept), gpu)
    return Tile(items, items_in_shared(items, len(kept))) if items else None


def _shortest(reads: RowReads) -> int:
    """The packs of the longest row that fits into registers for all tensors read along it."""
    return MOST_THREADS * MOST_ITEMS // len(reads.along_rows)


def _body(writer: OnChipWriter) -> list[Statement]:
    row = [
        *writer.fetched("IN_SHARED", "ITEMS"),
        Barrier(code("{__pipeline_wait_prior}(0)")),
        Blank(),
        *without_end(writer.body),
        Barrier(code("{__pipeline_commit}()")),
    ]
    return [
        Let("const int", "lane", "threadIdx.x"),
        *writer.declared(),
        *writer.emitter.lines[KERNEL],
        *writer.fetched("0", "IN_SHARED", "blockIdx.x"),
        Barrier(code("{__pipeline_commit}()")),
        Loop(code("int64_t row = blockIdx.x; row < {rows}; row += gridDim.x"), tuple(row)),
    ]


def _device(work: Rows, given: Needs, body: Body) -> Definition:
    return Definition(
        comments=(
            work.comment,
            "Persistent blocks, one row at a time; each of the THREADS threads keeps ITEMS packs of it, IN_SHARED of",
            "them in shared memory. Loads of the next row overlap with the stores of this one.",
        ),
        template="typename T, int VEC, int THREADS, int ITEMS, int IN_SHARED",
        head=f"__global__ void __launch_bounds__(THREADS, 1) {work.name}_resident_kernel",
        parameters=tuple(kept_parameters(given)),
        body=tuple(body),
    )


def _launcher(
    work: Rows,
    writer: OnChipWriter,
    arguments: Sequence[Piece],
    fitting: Sequence[Tile],
    shortest: int,
    config: Mapping[str, Any],
) -> Definition:
    most = fitting[-1].items * MOST_THREADS
    declined = f"rows < {few(writer.graph.gpu)} || packs <= {shortest} || packs > {most}"
    width, kernel = config["vector_bytes"], f"{work.name}_resident_kernel"
    kept = f"{width * len(writer.emitter.kept) * MOST_THREADS} * in_shared"
    run = (
        *with_shared_memory(kept, "bytes > gpu->sharedMemPerBlockOptin"),
        Let("const int64_t", "blocks", code("{std::min}<int64_t>(rows, gpu->multiProcessorCount)")),
        launch("blocks", str(MOST_THREADS), arguments, "bytes"),
        Do("return true"),
    )
    body = [
        *declining(writer.needs, width, declined),
        Lambda("run", "auto kernel, int in_shared", run),
        *(leave(f"packs <= {tile.items * MOST_THREADS}", tile.run(kernel, MOST_THREADS)) for tile in fitting[:-1]),
        Do(f"return {fitting[-1].run(kernel, MOST_THREADS)}"),
    ]
    what = "For rows too long for the registers of one block; declines rows that exceed its shared memory, too."
    return launcher(f"{work.name}_resident", writer.needs, body, result="bool", comments=(what,))


class RowByBlock(Strategy):
    """Rows that one block keeps in registers and shared memory."""

    name = "block"
    declines = True

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return are_rows(group)

    def applies(self, site: Site, config: Config) -> Fit | None:
        if site.is_streamed:
            return None
        found = fitting_tiles(row_reads(site), config)
        return Fit(cost=1.0, shape=(config["vector_bytes"], tuple(found))) if found else None

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = rows_of(site, writer.kernel_name(site.group))
        kernel = resident_kernels(work, site.graph, site.held, writer.config)
        assert kernel is not None, "a strategy is written only where it applies"
        writer.kernels.append(kernel)
        start = len(writer.calls)
        otherwise()
        writer.first_try(kernel, start)


STRATEGIES = (RowByBlock(),)
