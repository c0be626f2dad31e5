"""Writes the kernels around the statements of a row, and the host function that selects among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpwright.compose.code.definitions import (
    Definition,
    Item,
)
from warpwright.compose.code.statements import (
    Assign,
    Blank,
    Body,
    Comment,
    Do,
    Form,
    If,
    Lambda,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import (
    Code,
    Piece,
    as_code,
    code,
)
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    pointers,
    row_parameters,
    used,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.preamble import ALIGNED, PACKS, REOPENED, WORDS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import KERNEL
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows, RowWriter
from warpwright.compose.kernels.rows.work import row_reads, rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows
from warpwright.compose.schedule.knobs import VECTOR_BYTES, Config, Knob
from warpwright.compose.schedule.row_shapes import MOST_ITEMS, MOST_THREADS, cached_bytes
from warpwright.core.gpus.table import Gpu

KNOBS = (
    VECTOR_BYTES,
    Knob(name="warp_items", values=(2, 4, 8, 16), default=4, variations={7: 2}),
    Knob(name="warp_rows", values=(2, 4, 8), default=4, variations={5: 8}),
    Knob(name="row_items", values=(1, 2, 4, 8), default=4, variations={1: 2, 7: 1}),
    Knob(name="row_crowd", values=(0, 1024), default=0, variations={2: 1024}),
    Knob(name="stream_block", values=(256, 512, 1024), default=512, variations={1: 1024, 5: 256}),
    Knob(name="stream_unroll", values=(1, 2, 4, 8), default=4, variations={2: 8, 7: 1}),
)
"""Knobs of kernels over rows. The crowd is the threads that a multiprocessor must have room for; with 0 the compiler
decides, and takes as many registers as it likes."""
WIDE, SHORT = 512, 128
"""Threads of a block that leaves room for a second one, and of a block for short rows."""


def row_kernels(
    work: Rows, graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any], streamed: bool = False
) -> Written:
    """All variants; only the streamed one if another kernel handles the rows that can be kept."""
    reads = RowReads(work, graph, held)
    fitting = [] if streamed else worth_keeping(reads, tiles(work.columns, graph.cases, config))
    writers = [RowWriter(work, graph, held, None, config["stream_unroll"])]
    if fitting:
        writers = [RowWriter(work, graph, held, reads.along_rows), *writers]
    for writer in writers:
        writer.write()
    needs = merged_needs([writer.needs for writer in writers])
    for writer in writers:
        writer.emitter.needs = needs
    bodies = [_kept_body(work, w, needs) if w.is_kept else _streamed_body(work, w) for w in writers]
    given = used(needs, [statement for body in bodies for statement in body])
    definitions = [
        _kept(work, given, body, config) if writer.is_kept else _streamed(work, given, body)
        for writer, body in zip(writers, bodies, strict=True)
    ]
    return Written(
        name=work.name,
        device=tuple(definitions),
        launcher=(launcher(work.name, needs, _launcher(work, reads, fitting, needs, pointers(given), config)),),
        needs=needs,
        preamble=row_preamble(writers),
    )


def worth_keeping(reads: RowReads, fitting: list[Tile]) -> list[Tile]:
    """Drops tiles of long rows that are read only once: streaming overlaps reading and computing."""
    if not any(reads.loaded):
        return []
    return fitting if reads.has_several_passes else [tile for tile in fitting if tile.threads <= SHORT]


def merged_needs(found: list[Needs]) -> Needs:
    """The common parameters of both variants, so that the host can select at run time."""
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


def row_preamble(writers: list[RowWriter]) -> tuple[Item, ...]:
    return (PACKS, WORDS, REOPENED, ALIGNED, *(text for writer in writers for text in writer.preamble))


def kept_bounds(config: Mapping[str, Any]) -> str:
    """The launch bounds; short rows share blocks of up to 256 threads."""
    crowd = config["row_crowd"]
    fewest = f", THREADS < 256 ? {crowd // 256} : {crowd} / THREADS" if crowd else ""
    return f"__launch_bounds__(THREADS < 256 ? 256 : THREADS{fewest})"


def _kept_body(work: Rows, writer: RowWriter, needs: Needs) -> list[Statement]:
    return [
        Let("const int", "lane", "threadIdx.x % THREADS"),
        *_own_row(work.backwards),
        *writer.emitter.lines[KERNEL],
        Blank(),
        *kept_loads(writer, needs),
        Blank(),
        *without_end(writer.body),
    ]


def _kept(work: Rows, given: Needs, body: Body, config: Mapping[str, Any]) -> Definition:
    return Definition(
        comments=(
            work.comment,
            "THREADS threads work on one row; each keeps ITEMS packs in registers across all passes.",
        ),
        template="typename T, int VEC, int THREADS, int ITEMS",
        head=f"__global__ void {kept_bounds(config)} {work.name}_kept",
        parameters=tuple(row_parameters(given)),
        body=tuple(body),
    )


def _own_row(backwards: bool) -> list[Statement]:
    """The row of a thread, which may be out of range."""
    place = as_code("static_cast<int64_t>(blockIdx.x) * (blockDim.x / THREADS) + threadIdx.x / THREADS")
    if backwards:
        place = code("{rows} - 1 - ({place})", place=place)
    return [Let("const int64_t", "row", place), under(beyond(backwards), [Do("return")])]


def beyond(backwards: bool) -> Code:
    """Whether a row is out of range."""
    return as_code("row < 0") if backwards else code("row >= {rows}")


def _over_rows(backwards: bool) -> Code:
    if not backwards:
        return code("int64_t row = blockIdx.x; row < {rows}; row += gridDim.x")
    return code("int64_t row = {rows} - 1 - blockIdx.x; row >= 0; row -= gridDim.x")


def kept_loads(writer: RowWriter, needs: Needs, into: str = "kept") -> list[Statement]:
    """Loads the whole row into registers, issuing all loads at once."""
    return [*kept_packs(writer, needs, into), *loads_to_keep(writer, needs, into)]


def kept_packs(writer: RowWriter, needs: Needs, called: str = "kept") -> list[Statement]:
    """The declarations of the packs that a thread keeps."""
    tensors = [needs.reads[name] for name in writer.emitter.kept]
    return [Let(code("Words<{type}, {VEC}>", type=t.cpp), f"{t.name}_{called}", extent="ITEMS") for t in tensors]


def loads_to_keep(writer: RowWriter, needs: Needs, into: str = "kept") -> list[Statement]:
    """The loads of the packs that a thread keeps."""
    place = "load_words<{VEC}>({tensor} + row * {columns} + column)"
    names = [needs.reads[name].name for name in writer.emitter.kept]
    loads = [Assign(code("{to}[item]", to=f"{name}_{into}"), code(place, tensor=name)) for name in names]
    return [writer.over_kept(loads)]


def without_end(body: Body) -> Body:
    """The statements without the trailing empty line."""
    return body[:-1] if body and isinstance(body[-1], Blank) else body


def _streamed_body(work: Rows, writer: RowWriter) -> list[Statement]:
    return [
        Let("const int", "lane", "threadIdx.x"),
        *writer.emitter.lines[KERNEL],
        Loop(_over_rows(work.backwards), tuple(without_end(writer.body))),
    ]


def _streamed(work: Rows, given: Needs, body: Body) -> Definition:
    return Definition(
        comments=(work.comment, "One block to a row of any length; every pass reads it anew."),
        template="typename T, int VEC, int THREADS",
        head=f"__global__ void __launch_bounds__(THREADS, 1024 / THREADS) {work.name}_streamed",
        parameters=tuple(row_parameters(given)),
        body=tuple(body),
    )


def _launcher(
    work: Rows,
    reads: RowReads,
    fitting: Sequence[Tile],
    needs: Needs,
    arguments: Sequence[Piece],
    config: Mapping[str, Any],
) -> list[Statement]:
    blocks = Let("const int64_t", "blocks", code("{std::min}((rows + rows_per_block - 1) / rows_per_block, most)"))
    given = code("auto kernel, int64_t rows_per_block, int threads, int64_t most = {INT_MAX}")
    return [
        leave("rows == 0"),
        vec_of(config["vector_bytes"]),
        Lambda("run", given, (blocks, launch("blocks", "threads", arguments))),
        vector_test(needs),
        *_kept_choices(work, fitting),
        *_streamed_choice(work, reads, config),
        *(_narrow_choice(work, reads.graph.cases) if fitting else ()),
        leave("columns <= 256", f"run({work.name}_streamed<T, 1, 32>, 1, 32)"),
        Do(f"run({work.name}_streamed<T, 1, 512>, 1, 512)"),
    ]


def _kept_choices(work: Rows, fitting: Sequence[Tile]) -> list[Statement]:
    choices = [
        leave(
            f"vectors && packs <= {tile.packs}",
            f"run({work.name}_kept<T, VEC, {tile.threads}, {tile.items}>, {tile.rows}, {tile.threads * tile.rows})",
        )
        for tile in fitting
    ]
    return [Let("const int64_t", "packs", "columns / VEC"), *choices] if choices else []


def _narrow_choice(work: Rows, cases: Cases) -> list[Statement]:
    """Selects kernels for short rows that are not whole packs, if such rows are timed."""
    lengths = [(work.columns.values[case], cases.widths[case]) for case in cases.timed]
    odd = [length for length, width in lengths if length <= 32 and length * width % 16]
    if not odd:
        return []
    threads = max(1 << (max(odd) - 1).bit_length(), 4)
    kernel = f"{work.name}_kept<T, 1, {threads}, 1>"
    return [leave(f"columns <= {threads}", f"run({kernel}, {SHORT // threads}, {SHORT})")]


def narrowest(choices: Sequence[tuple[int, str]]) -> Statement:
    """Selects the smallest tile that holds a row; the last one takes all others."""
    *narrow, (_, widest) = choices
    found: Statement = Do(widest)
    for packs, run in reversed(narrow):
        found = If(f"packs <= {packs}", (Do(run),), (found,), form=Form.BESIDE)
    return found


def _streamed_choice(work: Rows, reads: RowReads, config: Mapping[str, Any]) -> list[Statement]:
    threads = config["stream_block"]
    if not reads.has_several_passes:
        return [leave("vectors", f"run({work.name}_streamed<T, VEC, {threads}>, 1, {threads})")]
    threads, tensors = min(2 * threads, MOST_THREADS), len(reads.along_rows)
    cache, sms = cached_bytes(reads.graph.gpu), reads.graph.gpu.sms
    bounds = "{std::clamp}<int64_t>({cache} / {std::max}<int64_t>(row_bytes, 1), {least}, {most})"
    return [
        Comment("Limit the rows in flight so that later passes still hit the L2 cache."),
        Let("const int64_t", "row_bytes", f"columns * sizeof(T){f' * {tensors}' if tensors > 1 else ''}"),
        Let("const int64_t", "most", code(bounds, cache=cache, least=sms, most=4 * sms)),
        leave("vectors", f"run({work.name}_streamed<T, VEC, {threads}>, 1, {threads}, most)"),
    ]


@dataclass(frozen=True, slots=True, order=True)
class Tile:
    """The tile of a row: threads, packs per thread, and rows per block."""

    packs: int
    threads: int
    items: int
    rows: int


def tiles(columns: Size, cases: Cases, config: Mapping[str, Any]) -> list[Tile]:
    """A tight tile for every timed row length that can be kept; shortest rows first."""
    found = {
        _tile(-(-columns.values[case] * cases.widths[case] // config["vector_bytes"]), config) for case in cases.timed
    }
    return sorted(tile for tile in found if tile.threads <= MOST_THREADS)


def _tile(packs: int, config: Mapping[str, Any]) -> Tile:
    if packs <= 32 * config["warp_items"]:
        threads = max(min(1 << (packs - 1).bit_length(), 32), 4)
        rows = config["warp_rows"] * 32 // threads
    else:
        most = max(config["row_items"], min(-(-packs // WIDE), MOST_ITEMS))
        threads, rows = -(-packs // (32 * most)) * 32, 1
    items = -(-packs // threads)
    return Tile(threads * items, threads, items, rows)


class RowsByBlock(Strategy):
    """Rows that a warp or a block keeps in registers, and rows of any length that a block streams."""

    name = "rows"

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return are_rows(group)

    def applies(self, site: Site, config: Config) -> Fit:
        reads, cases, block_size = row_reads(site), site.graph.cases, config["stream_block"]
        fitting = [] if site.is_streamed else worth_keeping(reads, tiles(site.space.columns, cases, config))
        threads = min(2 * block_size, MOST_THREADS) if reads.has_several_passes else block_size
        ahead, crowd = reads.ahead(config["stream_unroll"]), config["row_crowd"] if fitting else None
        return Fit(cost=9.0, shape=(config["vector_bytes"], tuple(fitting), crowd, threads, ahead))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = rows_of(site, writer.kernel_name(site.group))
        writer.launch(row_kernels(work, site.graph, site.held, writer.config, site.is_streamed))


STRATEGIES = (RowsByBlock(),)
