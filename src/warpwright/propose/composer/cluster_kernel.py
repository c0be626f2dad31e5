"""Rows that are too long for the registers of a block, or too few for one block each: a cluster of blocks keeps each of
them. So it is read once, where blocks that stream it would read it in every pass.

Each block of a cluster writes what it has found into the shared memory of all of them: once for each pass, and for all
reductions of that pass at once, since to meet takes as long as to compute. Nobody reads the memory of others, so that
each may leave as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpwright.propose.composer.carriers import Carrier, again
from warpwright.propose.composer.indices import KERNEL
from warpwright.propose.composer.keeping import kept_parameters
from warpwright.propose.composer.kernel import (
    Written,
    block,
    launch,
    launcher_parameters,
    pointers,
    settle_multiples,
    signature,
    vec_of,
    vector_test,
)
from warpwright.propose.composer.preamble import EXPECT
from warpwright.propose.composer.reductions import Carried, check, depths, joined
from warpwright.propose.composer.resident_kernel import kept_by_a_block
from warpwright.propose.composer.row_kernel import Rows, RowWriter, along_rows
from warpwright.propose.composer.row_launch import (
    MOST_ITEMS,
    MOST_THREADS,
    kept_loads,
    narrowest,
    row_preamble,
    without_end,
)
from warpwright.propose.composer.split_kernel import FEW, LONG
from warpwright.propose.composer.tensors import Needs, Tensor
from warpwright.propose.composer.values import Graph

SPACE: dict[str, tuple[Any, ...]] = {"row_cluster": (0, 4, 8)}
"""Blocks to a row; none where rows of that kind are streamed."""
LONGEST_OF_BLOCK = MOST_THREADS * MOST_ITEMS
"""Packs of the longest row that a block can keep."""
THREADS = 2048, 4096
"""Of a cluster, fewer first."""
MOST_BYTES = {4: 128, 2: 96}
"""What a thread keeps without running out of registers, by the bytes of an element: narrow ones need room to widen."""


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """How a row is kept: so many packs by each of so many threads."""

    packs: int
    threads: int
    items: int


def cluster_kernels(work: Rows, graph: Graph, held: Mapping[int, Tensor], genome: Mapping[str, Any]) -> Written | None:
    """None where no row that matters gains by it."""
    if any(value.op in ("argmax", "argmin") for value in work.reductions):
        return None
    streamed = RowWriter(work, graph, held, None)
    streamed.write()
    found = [kept_by_a_cluster(streamed, case, genome) for case in graph.cases.timed]
    fitting = sorted({tile for tile in found if tile})
    if not fitting:
        return None
    kept = streamed.read_again
    writer = RowWriter(work, graph, held, kept, sharing="THREADS * BLOCKS")
    _write(writer)
    later = [name for name in along_rows(streamed) if name not in kept and name not in streamed.loaded[0]]
    return Written(
        name=f"{work.name}_clustered",
        device="\n".join(_device(work, writer, later)),
        launcher="\n".join(_launcher(work, writer.needs, fitting, genome)),
        needs=writer.needs,
        preamble=(*row_preamble([writer]), *((EXPECT,) if later else ())),
    )


def kept_by_a_cluster(streamed: RowWriter, case: int, genome: Mapping[str, Any]) -> Tile | None:
    """How a cluster keeps the rows of a case; None where it does not, or where a block suffices."""
    work, cases, kept = streamed.work, streamed.graph.cases, streamed.read_again
    rows, columns, element = work.rows.values[case], work.columns.values[case], cases.widths[case]
    packs = -(-columns * element // genome["vector_bytes"])
    is_long = (rows < FEW and columns >= LONG) or packs > LONGEST_OF_BLOCK
    if not genome["row_cluster"] or not kept or not is_long or kept_by_a_block(streamed, case, genome):
        return None
    return _tile(packs, genome["vector_bytes"] * len(kept), element)


def _tile(packs: int, pack_bytes: int, element: int) -> Tile | None:
    """With the fewest threads that have room for it."""
    for threads in THREADS:
        items = -(-packs // threads)
        if items * pack_bytes <= MOST_BYTES.get(element, 0):
            return Tile(threads * items, threads, items)
    return None


def _write(writer: RowWriter) -> None:
    for group in joined(depths([check(value) for value in writer.work.reductions])):
        _exchange(writer, group)
    writer.row_stores()
    writer.last_pass()
    settle_multiples(writer.emitter)


def _exchange(writer: RowWriter, group: Sequence[Carried]) -> None:
    """One pass, after which every thread knows what all blocks have found."""
    carriers = writer.reduce(group)
    parts = [part for item in carriers for part in item.parts]
    puts = [f"*cluster.map_shared_rank(&{name}_of[rank], threadIdx.x) = {text};" for name, _, text in parts]
    writer.body += [
        *(f"__shared__ {kind} {name}_of[BLOCKS];" for name, kind, _ in parts),
        "if (threadIdx.x < BLOCKS) {",
        *block(puts),
        "}",
        "cluster.sync();",
        *_put_together(carriers),
        "",
    ]


def _put_together(carriers: Sequence[Carrier]) -> list[str]:
    """What a thread has carried so far begins anew, since its block is one of those that it now takes in."""
    loop = ["#pragma unroll", "for (int block = 0; block < BLOCKS; ++block) {"]
    for item in carriers:
        loop += block(item.join([f"{name}_of[block]" for name, _, _ in item.parts]))
    begun = again(line for item in carriers for line in item.begin())
    return [*begun, *loop, "}", *(line for item in carriers for line in (*item.complete(), *item.settle()))]


def _device(work: Rows, writer: RowWriter, later: Sequence[str]) -> list[str]:
    bounds = "__cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS, 1024 / THREADS)"
    head = signature(f"__global__ void {bounds} {work.name}_clustered_kernel", kept_parameters(writer.needs))
    head[-1] += " {"
    place = "blockIdx.x / BLOCKS"
    body = [
        "const auto cluster = cooperative_groups::this_cluster();",
        "const int rank = blockIdx.x % BLOCKS, lane = rank * THREADS + threadIdx.x;",
        f"const int64_t row = {f'rows - 1 - {place}' if work.backwards else place};",
        *writer.emitter.lines[KERNEL],
        "",
        *kept_loads(writer, writer.needs, [f"expect({name} + row * columns + column);" for name in later]),
        "cluster.sync();  // From here on all blocks are there to be written to.",
        "",
        *without_end(writer.body),
    ]
    return [
        f"// {work.comment}",
        "// A cluster of BLOCKS blocks shares a row; each of their THREADS threads keeps ITEMS packs in registers.",
        "template <typename T, int VEC, int THREADS, int ITEMS, int BLOCKS>",
        *head,
        *block(body),
        "}",
    ]


def _launcher(work: Rows, needs: Needs, fitting: Sequence[Tile], genome: Mapping[str, Any]) -> list[str]:
    blocks, most = genome["row_cluster"], fitting[-1].packs
    head = signature(f"bool launch_{work.name}_clustered", launcher_parameters(needs))
    head[-1] += " {"
    body = [
        vec_of(genome["vector_bytes"]),
        "const int64_t packs = columns / VEC;",
        vector_test(needs),
        f"const bool is_few = rows < {FEW} && columns >= {LONG}, is_long = packs > {LONGEST_OF_BLOCK};",
        f"if (!vectors || rows == 0 || !(is_few || is_long) || packs > {most}) return false;",
        "const auto run = [&](auto kernel, int threads) {",
        *block(launch(f"rows * {blocks}", "threads", pointers(needs))),
        "};",
        *narrowest([(tile.packs, _run(work, tile, blocks)) for tile in fitting]),
        "return true;",
    ]
    return [
        "// Takes long rows, and declines what a cluster cannot keep in registers.",
        "template <typename T>",
        *head,
        *block(body),
        "}",
    ]


def _run(work: Rows, tile: Tile, blocks: int) -> str:
    shape = f"T, VEC, {tile.threads // blocks}, {tile.items}, {blocks}"
    return f"run({work.name}_clustered_kernel<{shape}>, {tile.threads // blocks});"
