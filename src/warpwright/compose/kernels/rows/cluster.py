"""Rows that are too long for the registers of a block, or too few for one block each: a cluster of blocks keeps a row,
so that it is read once instead of in every pass.

Each block writes its partial results into the shared memory of all blocks of the cluster: once per pass, for all
reductions of the pass together, since a cluster barrier takes as long as the computation. Blocks read only their own
shared memory, so that each may exit as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpwright.compose.code.definitions import Definition
from warpwright.compose.code.statements import (
    Also,
    Assign,
    Barrier,
    Blank,
    Body,
    Do,
    Form,
    If,
    Lambda,
    Let,
    Statement,
)
from warpwright.compose.code.text import KNOWN, Piece, code
from warpwright.compose.code.traversal import functions
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    pointers,
    settle_multiples,
    used,
)
from warpwright.compose.cuda.preamble import EXPECT
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import KERNEL
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.reduction.passes import Carried, check, depths, joined
from warpwright.compose.kernels.reduction.welford import WELFORD_OF_BLOCKS
from warpwright.compose.kernels.rows.block import kept_by_a_block
from warpwright.compose.kernels.rows.launch import without_end
from warpwright.compose.kernels.rows.onchip import (
    OnChipWriter,
    declining,
    items_in_shared,
    items_of,
    kept_parameters,
    with_shared_memory,
)
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows, RowWriter
from warpwright.compose.kernels.rows.work import row_reads, rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.compose.schedule.row_shapes import LONG, MOST_ITEMS, MOST_THREADS, few
from warpwright.core.gpus.table import Gpu


def knobs(gpu: Gpu) -> tuple[Knob, ...]:
    """The knob for blocks per row; 0 streams such rows, as on GPUs without clusters."""
    values = tuple(blocks for blocks in (0, 4, 8) if blocks <= gpu.architecture.cluster_blocks)
    if not gpu.architecture.has_clusters:
        return ()
    return (Knob(name="row_cluster", values=values, default=values[-1], variations={1: 0, 2: 4}),)


LONGEST_OF_BLOCK = MOST_THREADS * MOST_ITEMS
"""The packs of the longest row that a block can keep."""
THREADS, RESIDENT = (2048, 4096), 1024
"""Threads of a cluster, fewer first; and resident threads of a multiprocessor."""
MOST_WORDS = {4: 32, 2: 24}
"""The words that a thread keeps in registers, by element size; narrow elements need registers for conversion."""


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """The tile of a row: threads, packs per thread, and packs in shared memory."""

    threads: int
    items: int
    in_shared: int


def cluster_kernels(work: Rows, graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any]) -> Written | None:
    """The kernels; None if no timed row gains by them."""
    reads = RowReads(work, graph, held)
    fitting = fitting_tiles(reads, config)
    if not fitting:
        return None
    kept = reads.read_again
    writer = OnChipWriter(work, graph, held, kept, sharing="THREADS * BLOCKS")
    writer.is_tight = True
    _write(writer)
    later = _later(reads)
    body = _body(work, writer, later)
    given, calls = used(writer.needs, body), functions(body)
    besides = [(EXPECT, KNOWN["prefetch_l2"]), (WELFORD_OF_BLOCKS, KNOWN["welford_of_blocks"])]
    return Written(
        name=f"{work.name}_clustered",
        device=(_device(work, given, body),),
        launcher=(_launcher(work, writer, pointers(given), fitting, config),),
        needs=writer.needs,
        preamble=(*writer.all_preambles, *(text for text, function in besides if function in calls)),
    )


def fitting_tiles(reads: RowReads, config: Mapping[str, Any]) -> list[Tile]:
    """One for every length of row that is timed and that a cluster keeps."""
    if any(value.op in (Op.ARGMAX, Op.ARGMIN) for value in reads.work.reductions):
        return []
    found = [kept_by_a_cluster(reads, case, config) for case in reads.graph.cases.timed]
    return sorted({tile for tile in found if tile})


def kept_by_a_cluster(reads: RowReads, case: int, config: Mapping[str, Any]) -> Tile | None:
    """The tile with which a cluster keeps the rows of a case; None if it cannot, or if a block suffices."""
    work, cases, kept, blocks = reads.work, reads.graph.cases, reads.read_again, config.get("row_cluster")
    gpu = reads.graph.gpu
    rows, columns, element = work.rows.values[case], work.columns.values[case], cases.widths[case]
    packs = -(-columns * element // config["vector_bytes"])
    is_long = (rows < few(gpu) and columns >= LONG) or packs > LONGEST_OF_BLOCK
    if not blocks or not kept or not is_long or kept_by_a_block(reads, case, config):
        return None
    tile = _tile(packs, len(kept), element, bool(_later(reads)), gpu)
    return tile if tile and (tile.items <= MOST_ITEMS or rows >= _fewest(blocks, gpu)) else None


def _tile(packs: int, tensors: int, element: int, expects: bool, gpu: Gpu) -> Tile | None:
    """The tile with the fewest threads that can keep the row. Prefetched tensors stay in L2, which has no room for as
    much data as registers and shared memory together hold; then only registers are used."""
    fewest = THREADS[0]
    if not expects and (items := items_of(packs, fewest, tensors, gpu)):
        return Tile(fewest, items, items_in_shared(items, tensors))
    for threads in THREADS:
        items = -(-packs // threads)
        if items * tensors * 4 <= MOST_WORDS.get(element, 0):
            return Tile(threads, items, 0)
    return None


def _later(reads: RowReads) -> list[str]:
    """The tensors that are read only after the cluster barrier."""
    kept = reads.read_again
    return [name for name in reads.along_rows if name not in kept and name not in reads.loaded[0]]


def _fewest(blocks: int, gpu: Gpu) -> int:
    """The number of rows that fill all multiprocessors twice."""
    return 2 * gpu.sms // blocks


def _write(writer: RowWriter) -> None:
    for group in joined(depths([check(value) for value in writer.work.reductions])):
        _exchange(writer, group)
    writer.row_stores()
    writer.last_pass()
    settle_multiples(writer.emitter)


def _exchange(writer: RowWriter, group: Sequence[Carried]) -> None:
    """One pass with an exchange, after which every thread has the results of all blocks."""
    accumulators = writer.reduce(group)
    parts = [part for item in accumulators for part in item.parts]
    place = "*cluster.map_shared_rank(&{part}[rank], threadIdx.x)"
    puts = [Assign(code(place, part=f"{name}_of"), found) for name, _, found in parts]
    writer.body += [
        *(Let(f"__shared__ {kind}", f"{name}_of", extent="BLOCKS") for name, kind, _ in parts),
        If("threadIdx.x < BLOCKS", tuple(puts)),
        Barrier("cluster.sync()"),
        *(statement for item in accumulators for statement in (*item.of_all("BLOCKS"), *item.settle())),
        Blank(),
    ]


def _body(work: Rows, writer: OnChipWriter, later: Sequence[str]) -> list[Statement]:
    besides = [Do(code("{prefetch_l2}({tensor} + row * {columns} + column)", tensor=name)) for name in later]
    row = code("{rows} - 1 - blockIdx.x / BLOCKS") if work.backwards else "blockIdx.x / BLOCKS"
    lane = Also("lane", "rank * THREADS + threadIdx.x")
    return [
        Let("const auto", "cluster", code("{cooperative_groups::this_cluster}()")),
        Let("const int", "rank", "blockIdx.x % BLOCKS", (lane,)),
        Let("const int64_t", "row", row),
        *writer.declared(),
        *writer.emitter.lines[KERNEL],
        *writer.fetched("0", "ITEMS", besides=besides),
        Barrier(code("{__pipeline_commit}()")),
        Barrier(
            "cluster.sync()", comment="All blocks of the cluster have started: their shared memory may be written."
        ),
        Barrier(code("{__pipeline_wait_prior}(0)")),
        Blank(),
        *without_end(writer.body),
    ]


def _device(work: Rows, given: Needs, body: Body) -> Definition:
    bounds = f"__cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS, {RESIDENT} / THREADS)"
    return Definition(
        comments=(
            work.comment,
            "A cluster of BLOCKS blocks works on one row. Each of their THREADS threads keeps ITEMS packs of it,",
            "IN_SHARED of them in shared memory.",
        ),
        template="typename T, int VEC, int THREADS, int ITEMS, int IN_SHARED, int BLOCKS",
        head=f"__global__ void {bounds} {work.name}_clustered_kernel",
        parameters=tuple(kept_parameters(given)),
        body=tuple(body),
    )


def _launcher(
    work: Rows, writer: OnChipWriter, arguments: Sequence[Piece], fitting: Sequence[Tile], config: Mapping[str, Any]
) -> Definition:
    needs, blocks, width, gpu = writer.needs, config["row_cluster"], config["vector_bytes"], writer.graph.gpu
    is_long = f"(rows < {few(gpu)} && columns >= {LONG}) || packs > {LONGEST_OF_BLOCK}"
    declined = f"{RESIDENT} / threads * (bytes + 1024) > gpu->sharedMemPerMultiprocessor"
    run = (
        *with_shared_memory(f"{writer.kept_bytes(width)} * threads * in_shared", declined),
        launch(f"rows * {blocks}", "threads", arguments, "bytes"),
        Do("return true"),
    )
    body = [
        *declining(needs, width, f"rows == 0 || !({is_long})"),
        Lambda("run", "auto kernel, int threads, int in_shared", run),
        *(_choice(work, tile, blocks, gpu) for tile in fitting),
        Do("return false"),
    ]
    comments = ("Takes long rows, and declines what a cluster cannot keep.",)
    return launcher(f"{work.name}_clustered", needs, body, result="bool", comments=comments)


def _choice(work: Rows, tile: Tile, blocks: int, gpu: Gpu) -> Statement:
    """Selects the kernel for rows that fill all but the last pack of each thread."""
    least, threads = (tile.items - 1) * tile.threads, tile.threads // blocks
    enough = f" && rows >= {_fewest(blocks, gpu)}" if tile.items > MOST_ITEMS else ""
    shape = f"T, VEC, {threads}, {tile.items}, {tile.in_shared}, {blocks}"
    run = Do(f"return run({work.name}_clustered_kernel<{shape}>, {threads}, {tile.in_shared})")
    return If(f"packs > {least} && packs <= {least + tile.threads}{enough}", (run,), form=Form.BELOW)


class RowByCluster(Strategy):
    """Rows that a cluster of blocks keeps."""

    name = "cluster"
    declines = True

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return knobs(gpu)

    def serves(self, group: Group) -> bool:
        return are_rows(group)

    def applies(self, site: Site, config: Config) -> Fit | None:
        if site.is_streamed:
            return None
        found = fitting_tiles(row_reads(site), config)
        shape = config["vector_bytes"], config.get("row_cluster"), tuple(found)
        return Fit(cost=1.1, shape=shape) if found else None

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = rows_of(site, writer.kernel_name(site.group))
        kernel = cluster_kernels(work, site.graph, site.held, writer.config)
        assert kernel is not None, "a strategy is written only where it applies"
        writer.kernels.append(kernel)
        start = len(writer.calls)
        otherwise()
        writer.first_try(kernel, start)


STRATEGIES = (RowByCluster(),)
