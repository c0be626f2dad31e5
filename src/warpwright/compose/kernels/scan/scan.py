"""Running sums along rows: many short rows per block, longer rows in steps, many blocks for few long rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from warpwright.compose.code.definitions import Item, verbatim
from warpwright.compose.code.statements import Also, Assign, Body, Comment, Do, If, Lambda, Let, Statement, Wait
from warpwright.compose.code.text import Piece
from warpwright.compose.cuda.joins import JOINS, NEIGHBOURS, OVER_ROW
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    pointer,
    vec_of,
)
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.operations import Op, Scanned
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.scan import look_back as scan_pieces
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import VECTOR_BYTES, Config, Knob
from warpwright.compose.schedule.row_shapes import LONG, few, is_few_and_long
from warpwright.core.gpus.table import Gpu

KNOBS = (
    VECTOR_BYTES,
    Knob(name="scan_block", values=(128, 256, 512), default=256, variations={5: 128}),
    Knob(name="scan_items", values=(1, 2, 4), default=4, variations={1: 2, 7: 1}),
    Knob(name="scan_rows", values=(4, 8), default=8, variations={5: 4}),
    *scan_pieces.KNOBS,
)
"""The knobs for threads per block, packs per thread and step, and warps of a block with short rows."""
SHORT = 32
"""The packs of a row up to which one warp scans it."""

HEAD = """\
// Prefix $sums along each row, from its end if REVERSED. THREADS threads work on one row, or on a piece of it, ITEMS
// packs each per round: $sums within a pack, then across the warp, then across warps.
template <typename In, typename Out, int VEC, int THREADS, int ITEMS, bool REVERSED>
__global__ void __launch_bounds__(THREADS < 256 ? 256 : THREADS) ${name}(
        const In* __restrict__ from, Out* __restrict__ to, const float* __restrict__ parts, int64_t rows, int columns,
        int length, int pieces) {"""
BODY = """\
    constexpr int WARPS = THREADS < 32 ? 1 : THREADS / 32;
    const int lane = threadIdx.x % THREADS, warp = lane / 32, piece = blockIdx.x % pieces;
    const int64_t row = static_cast<int64_t>(blockIdx.x / pieces) * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    if (row >= rows) return;
    from += row * columns;
    to += row * columns;
    float carried = $unit;
    for (int earlier = 0; earlier < piece; ++earlier) carried $sign= parts[row * pieces + earlier];
    const int end = min(columns, (piece + 1) * length);
    for (int start = piece * length; start < end; start += THREADS * VEC * ITEMS) {
        Pack<In, VEC> packs[ITEMS];
        #pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int place = start + (item * THREADS + lane) * VEC;
            if (place < end) packs[item] = load<VEC>(from + (REVERSED ? columns - VEC - place : place));
        }
        float $sums[ITEMS][VEC] = {}, up_to_here[ITEMS];
        #pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int place = start + (item * THREADS + lane) * VEC;
            #pragma unroll
            for (int k = 0; k < VEC && place < end; ++k)
                $sums[item][k] = float(packs[item].at[REVERSED ? VEC - 1 - k : k]) $sign \
(k > 0 ? $sums[item][k - 1] : $unit);
            up_to_here[item] = $sums[item][VEC - 1];
            for (int offset = 1; offset < LANES<THREADS>; offset *= 2) {
                const float below = __shfl_up_sync(row_lanes<THREADS>(), up_to_here[item], offset, LANES<THREADS>);
                if (lane % 32 >= offset) up_to_here[item] $sign= below;
            }
        }
        __shared__ float of_warp[ITEMS][WARPS];
        if constexpr (WARPS > 1) {
            #pragma unroll
            for (int item = 0; item < ITEMS; ++item)
                if (lane % 32 == 31) of_warp[item][warp] = up_to_here[item];
            __syncthreads();
        }
        #pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            // A shuffle, not a subtraction of the thread's own sum: inf - inf would be NaN.
            const float below = __shfl_up_sync(row_lanes<THREADS>(), up_to_here[item], 1, LANES<THREADS>);
            float before = carried;
            if constexpr (WARPS > 1) {
                for (int other = 0; other < WARPS; ++other) {
                    if (other == warp) before = carried;
                    carried $sign= of_warp[item][other];
                }
            } else {
                carried $sign= __shfl_sync(row_lanes<THREADS>(), up_to_here[item], LANES<THREADS> - 1, LANES<THREADS>);
            }
            if (lane % 32 > 0) before $sign= below;
            const int place = start + (item * THREADS + lane) * VEC;
            Pack<Out, VEC> pack;
            #pragma unroll
            for (int k = 0; k < VEC; ++k) pack.at[REVERSED ? VEC - 1 - k : k] = before $sign $sums[item][k];
            if (place < end) store<VEC>(to + (REVERSED ? columns - VEC - place : place), pack);
        }
        if constexpr (WARPS > 1) __syncthreads();  // The next round overwrites of_warp.
    }
}"""

PIECES = verbatim(
    """\
// Sums each piece of a row: block (x, y) sums piece x of row y, counted from its end if REVERSED.
template <typename In, int VEC, int THREADS, bool REVERSED>
__global__ void __launch_bounds__(THREADS) piece_sums_kernel(
        const In* __restrict__ from, float* __restrict__ parts, int columns, int length) {""",
    Wait(),
    """\
    const int64_t row = blockIdx.y;
    const int begin = blockIdx.x * length, end = min(columns, begin + length);
    float sum = 0.0f;
    #pragma unroll 4
    for (int place = begin + threadIdx.x * VEC; place < end; place += THREADS * VEC) {
        const Pack<In, VEC> pack = load<VEC>(from + row * columns + (REVERSED ? columns - VEC - place : place));
        #pragma unroll
        for (int k = 0; k < VEC; ++k) sum += float(pack.at[k]);
    }
    sum = row_reduce<Sum, THREADS>(sum);
    if (threadIdx.x == 0) parts[row * gridDim.x + blockIdx.x] = sum;
}""",
)

SUMS = {"unit": "0.0f", "sign": "+", "sums": "sums"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The kind of scan: its direction, and sum or product."""

    reverse: bool
    multiplied: bool = False

    @property
    def kernel(self) -> Item:
        """The text of the kernel, for sums or products."""
        words = {"unit": "1.0f", "sign": "*", "sums": "products"} if self.multiplied else SUMS
        head, body = (Template(part).substitute(words, name=self.kernel_name) for part in (HEAD, BODY))
        return verbatim(head, Wait(), body, calls=("store",))

    @property
    def kernel_name(self) -> str:
        return "product_scan_kernel" if self.multiplied else "scan_kernel"


def scan_kernel(
    name: str,
    source: Tensor,
    target: Tensor,
    shape: tuple[Size, Size],
    way: Way,
    graph: Graph,
    config: Mapping[str, Any],
) -> Written:
    needs = Needs(
        reads={source.name: source}, writes={target.name: target}, sizes={"rows": shape[0], "columns": shape[1]}
    )
    # Products are left to one block for each row: rows so long that several pay have little but zeros in them.
    split = is_few_and_long(*shape, graph.cases, graph.gpu) and not way.multiplied
    walked = scan_pieces.is_worth_it(*shape, graph, config) and not way.multiplied
    first = scan_pieces.launches(source, target, way.reverse, graph.gpu, config) if walked else []
    body = _launcher(source, target, shape[1], way, graph, split, first, config)
    extra = [JOINS[Op.SUM], NEIGHBOURS, OVER_ROW, way.kernel, PIECES] if split else [NEIGHBOURS, way.kernel]
    extra += scan_pieces.PREAMBLE if walked else []
    return Written(
        name=name,
        device=(),
        launcher=(launcher(name, needs, body),),
        needs=needs,
        preamble=(PACKS, ALIGNED, *extra),
        in_sequence=split,
    )


def _launcher(
    source: Tensor,
    target: Tensor,
    columns: Size,
    way: Way,
    graph: Graph,
    split: bool,
    first: Body,
    config: Mapping[str, Any],
) -> list[Statement]:
    threads, items, name = config["scan_block"], config["scan_items"], way.kernel_name
    reverse = "true" if way.reverse else "false"
    typed = f"{source.cpp}, {target.cpp}"
    arguments: list[Piece] = [pointer(source), pointer(target), "parts", "rows", "columns", "length", "pieces"]
    blocks = Let("const int64_t", "blocks", "(rows + rows_per_block - 1) / rows_per_block * pieces")
    packs = f"aligned({{{source.name}.data_ptr(), {target.name}.data_ptr()}}) && columns % VEC == 0"
    return [
        leave("rows == 0 || columns == 0"),
        vec_of(config["vector_bytes"]),
        Let("const bool", "vectors", packs),
        *first,
        Let("int64_t", "pieces", "1", (Also("length", "columns"),)),
        Let("const float*", "parts", "nullptr"),
        *(_pieces(source, reverse, threads, items, graph.gpu) if split else ()),
        Lambda(
            "run", "auto kernel, int64_t rows_per_block, int threads", (blocks, launch("blocks", "threads", arguments))
        ),
        *(
            leave(
                f"vectors && columns <= {width} * VEC",
                f"run({name}<{typed}, VEC, {width}, 1, {reverse}>, {rows}, {rows * width})",
            )
            for width, rows in _short(columns, graph.cases, config)
        ),
        leave("vectors", f"run({name}<{typed}, VEC, {threads}, {items}, {reverse}>, 1, {threads})"),
        leave("columns <= 64", f"run({name}<{typed}, 1, 32, 2, {reverse}>, 4, 128)"),
        Do(f"run({name}<{typed}, 1, {threads}, {items}, {reverse}>, 1, {threads})"),
    ]


def _short(columns: Size, cases: Cases, config: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Threads per row and rows per block, for every timed length of short rows."""
    packs = {-(-columns.values[case] * cases.widths[case] // config["vector_bytes"]) for case in cases.timed}
    widths = sorted({max(1 << (count - 1).bit_length(), 4) for count in packs if count <= SHORT})
    return [(width, config["scan_rows"] * 32 // width) for width in widths]


def _pieces(source: Tensor, way: str, threads: int, items: int, gpu: Gpu) -> list[Statement]:
    """The statements that first sum the pieces of few long rows."""
    name, plain = (f"piece_sums_kernel<{source.cpp}, {pack}, {threads}, {way}>" for pack in ("VEC", "1"))
    arguments: list[Piece] = [pointer(source), "sums.data_ptr<float>()", "columns", "length"]
    options = f"{source.name}.options().dtype(torch::kFloat32)"
    pieces = (
        Comment("Split rows into whole rounds, with enough pieces to fill the GPU."),
        Let("const int64_t", "wanted", f"{8 * gpu.sms} / rows", (Also("unit", f"{threads * items} * VEC"),)),
        Assign("length", "(columns + wanted * unit - 1) / (wanted * unit) * unit"),
        Assign("pieces", "(columns + length - 1) / length"),
        Assign("sums", f"torch::empty({{rows, pieces}}, {options})"),
        Assign("parts", "sums.data_ptr<float>()"),
        Let("const auto", "kernel", f"vectors ? {name} : {plain}"),
        launch("dim3(pieces, rows)", str(threads), arguments),
    )
    sums = Let("auto", "sums", f"torch::empty({{0}}, {options})")
    return [sums, If(f"rows < {few(gpu)} && columns >= {LONG}", pieces)]


class Scan(Strategy):
    """Running sums and products."""

    name = "scan"

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.SCAN

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0, shape=_shape(site, config))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        scanned = site.first.value.attr(Scanned)
        way = Way(reverse=scanned.reverse, multiplied=scanned.multiplies)
        name, source = writer.kernel_name(site.group), site.held[site.first.value.first.number]
        target = site.first.tensor
        writer.launch(scan_kernel(name, source, target, _rows_and_columns(site), way, site.graph, writer.config))


def _rows_and_columns(site: Site) -> tuple[Size, Size]:
    *outer, columns = site.first.value.shape
    return site.graph.cases.product(outer), columns


def _shape(site: Site, config: Config) -> tuple[object, ...]:
    shape, graph = _rows_and_columns(site), site.graph
    is_sum = not site.first.value.attr(Scanned).multiplies
    pieces = config["scan_pieces"] if is_sum and scan_pieces.is_worth_it(*shape, graph, config) else None
    short = tuple(_short(shape[1], graph.cases, config))
    return config["vector_bytes"], config["scan_block"], config["scan_items"], short, pieces


STRATEGIES = (Scan(),)
