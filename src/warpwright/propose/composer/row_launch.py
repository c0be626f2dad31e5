"""The text around the statements of a row: the kernels themselves, and the host function that chooses among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpwright.propose.composer.indices import KERNEL
from warpwright.propose.composer.kernel import (
    Written,
    block,
    launch,
    launcher_parameters,
    pointers,
    row_parameters,
    signature,
    vec_of,
    vector_test,
)
from warpwright.propose.composer.preamble import ALIGNED, PACKS
from warpwright.propose.composer.row_kernel import KEPT_LOOP, Rows, RowWriter, write_rows
from warpwright.propose.composer.sizes import Cases, Size
from warpwright.propose.composer.tensors import Needs, Tensor
from warpwright.propose.composer.values import Graph

SPACE: dict[str, tuple[Any, ...]] = {
    "vector_bytes": (16, 8),
    "warp_items": (2, 4, 8, 16),
    "warp_rows": (2, 4, 8),
    "row_items": (1, 2, 4, 8),
    "stream_block": (256, 512, 1024),
    "stream_unroll": (1, 2, 4, 8),
}
"""Genes of kernels over rows."""
MOST_THREADS = 1024


def row_kernels(
    work: Rows, graph: Graph, held: Mapping[int, Tensor], genome: Mapping[str, Any], streamed: bool = False
) -> Written:
    """All variants; or only the streamed one, where another kernel has taken care of rows that can be kept."""
    writers = write_rows(work, graph, held)
    if streamed or not writers[0].emitter.kept or not tiles(work.columns, graph.cases, genome):
        writers = writers[-1:]
    needs = merged_needs([writer.needs for writer in writers])
    for writer in writers:
        writer.emitter.needs = needs
    texts = [_device(work, writer, needs, genome) for writer in writers]
    return Written(
        name=work.name,
        device="\n\n".join("\n".join(text) for text in texts),
        launcher="\n".join(_launcher(work, writers, needs, genome)),
        needs=needs,
        preamble=row_preamble(writers),
    )


def merged_needs(found: list[Needs]) -> Needs:
    """Both variants take the same parameters, so that the host can choose late."""
    merged = Needs()
    for needs in found:
        merged.reads |= needs.reads
        merged.writes |= needs.writes
        merged.scalars |= needs.scalars
        merged.sizes |= needs.sizes
        merged.multiples |= needs.multiples
        merged.vectors |= needs.vectors
        merged.functions |= needs.functions
        merged.small |= needs.small
        merged.strides |= needs.strides
    return merged


def row_preamble(writers: list[RowWriter]) -> tuple[str, ...]:
    return (PACKS, ALIGNED, *(text for writer in writers for text in writer.preamble))


def _device(work: Rows, writer: RowWriter, needs: Needs, genome: Mapping[str, Any]) -> list[str]:
    return _kept(work, writer, needs) if writer.is_kept else _streamed(work, writer, needs, genome)


def _kept(work: Rows, writer: RowWriter, needs: Needs) -> list[str]:
    name, emitter = f"{work.name}_kept", writer.emitter
    head = signature(f"__global__ void __launch_bounds__(THREADS < 256 ? 256 : THREADS) {name}", row_parameters(needs))
    head[-1] += " {"
    body = [
        "const int lane = threadIdx.x % THREADS;",
        "const int64_t row = static_cast<int64_t>(blockIdx.x) * (blockDim.x / THREADS) + threadIdx.x / THREADS;",
        "if (row >= rows) return;",
        *emitter.lines[KERNEL],
        "",
        *kept_loads(writer, needs),
        "",
        *writer.body,
    ]
    return [
        f"// {work.comment}",
        "// THREADS threads share a row; each keeps ITEMS packs of it in registers from the first pass to the last.",
        "template <typename T, int VEC, int THREADS, int ITEMS>",
        *head,
        *block(body),
        "}",
    ]


def kept_loads(writer: RowWriter, needs: Needs) -> list[str]:
    """The whole row into registers, all loads under way at once."""
    tensors = [needs.reads[name] for name in writer.emitter.kept]
    loads = [f"{t.name}_kept[item] = load<VEC>({t.name} + row * columns + column);" for t in tensors]
    declared = [f"Pack<{t.cpp}, VEC> {t.name}_kept[ITEMS];" for t in tensors]
    return [*declared, *KEPT_LOOP, *block(loads, 2), "    }", "}"]


def _streamed(work: Rows, writer: RowWriter, needs: Needs, genome: Mapping[str, Any]) -> list[str]:
    head = signature(f"__global__ void __launch_bounds__(THREADS) {work.name}_streamed", row_parameters(needs))
    head[-1] += " {"
    unrolled = f"#pragma unroll {genome['stream_unroll']}"
    body = [
        "const int lane = threadIdx.x;",
        "const int64_t row = blockIdx.x;",
        *writer.emitter.lines[KERNEL],
        "",
        *(unrolled if line == "#pragma unroll UNROLL" else line for line in writer.body),
    ]
    return [
        f"// {work.comment}",
        "// One block to a row of any length; every pass reads it anew.",
        "template <typename T, int VEC, int THREADS>",
        *head,
        *block(body),
        "}",
    ]


def _launcher(work: Rows, writers: list[RowWriter], needs: Needs, genome: Mapping[str, Any]) -> list[str]:
    head = signature(f"void launch_{work.name}", launcher_parameters(needs))
    head[-1] += " {"
    threads = genome["stream_block"]
    body = [
        "if (rows == 0) return;",
        vec_of(genome["vector_bytes"]),
        "const auto run = [&](auto kernel, int64_t rows_per_block, int threads) {",
        "    const int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;",
        *block(launch("blocks", "threads", pointers(needs))),
        "};",
        *vector_test(needs),
        "const int64_t packs = columns / VEC;",
        *(_kept_choices(work, writers[0].graph.cases, genome) if writers[0].is_kept else ()),
        f"if (vectors) return run({work.name}_streamed<T, VEC, {threads}>, 1, {threads});",
        f"if (columns <= 256) return run({work.name}_streamed<T, 1, 32>, 1, 32);",
        f"run({work.name}_streamed<T, 1, 512>, 1, 512);",
    ]
    return ["template <typename T>", *head, *block(body), "}"]


def _kept_choices(work: Rows, cases: Cases, genome: Mapping[str, Any]) -> list[str]:
    return [
        f"if (vectors && packs <= {tile.packs}) "
        f"return run({work.name}_kept<T, VEC, {tile.threads}, {tile.items}>, {tile.rows}, {tile.threads * tile.rows});"
        for tile in tiles(work.columns, cases, genome)
    ]


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """How a row is kept: so many packs by each of so many threads, and so many rows by a block."""

    packs: int
    threads: int
    items: int
    rows: int


def tiles(columns: Size, cases: Cases, genome: Mapping[str, Any]) -> list[Tile]:
    """One that fits tightly for every length of row that is timed, where it can be kept at all; shortest rows first."""
    found = {
        _tile(-(-columns.values[case] * cases.widths[case] // genome["vector_bytes"]), genome) for case in cases.timed
    }
    return sorted(tile for tile in found if tile.threads <= MOST_THREADS)


def _tile(packs: int, genome: Mapping[str, Any]) -> Tile:
    if packs <= 32 * genome["warp_items"]:
        threads = max(min(1 << (packs - 1).bit_length(), 32), 4)
        rows = genome["warp_rows"] * 32 // threads
    else:
        threads, rows = -(-packs // (32 * genome["row_items"])) * 32, 1
    items = -(-packs // threads)
    return Tile(threads * items, threads, items, rows)
