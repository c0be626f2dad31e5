"""Few rows, so long that only all multiprocessors together can keep them: many resident blocks share each row.

All data is read once instead of in every pass. Blocks store the partial results of their pieces, wait at a grid
barrier, and each combines all partial results. A cooperative launch guarantees that all blocks are resident.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warpwright.compose.code.definitions import (
    Definition,
    Parameter,
    verbatim,
)
from warpwright.compose.code.statements import (
    Also,
    Barrier,
    Blank,
    Body,
    Call,
    Do,
    Lambda,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import as_code, code
from warpwright.compose.cuda.kernel import (
    Written,
    launcher,
    leave,
    pointers,
    settle_multiples,
    used,
)
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import KERNEL
from warpwright.compose.ir.operations import REDUCTIONS, Op
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import FLOAT, Graph, Value
from warpwright.compose.kernels.reduction.accumulators import Accumulator, shared
from warpwright.compose.kernels.reduction.passes import Carried, check, depths, joined
from warpwright.compose.kernels.rows.cluster import kept_by_a_cluster
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
from warpwright.compose.kernels.rows.split import Part, needs_no_row, parts_left
from warpwright.compose.kernels.rows.work import row_reads, rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows, reachable
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.compose.schedule.row_shapes import LONG, MOST_ITEMS, few
from warpwright.core.gpus.table import Gpu

THREADS, IN_REGISTERS = 1024, 5
"""Threads of a block, one block per multiprocessor; and packs per thread in registers besides those in flight."""
ELSEWHERE = (Op.FLIP, Op.GATHER, Op.PERMUTE, Op.ROWS_AT, Op.SLICE)
"""Operations that read an element at another position, which is not cached."""
FEW_PACKS = 4
"""The number of packs per thread up to which reading again is cheaper than a grid barrier."""

TOGETHER = verbatim(
    """\
// Cooperative launch: all blocks are resident at once, so a grid barrier is safe.
template <typename... Parameters, typename... Arguments>
void launch_cooperative(
        void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, const Arguments&... arguments) {
    cudaLaunchAttribute together = {};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = at::cuda::getCurrentCUDAStream();
    config.attrs = &together;
    config.numAttrs = 1;
    C10_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}""",
    headers=("ATen/cuda/CUDAContext.h", "c10/cuda/CUDAException.h"),
)


def grid_kernels(work: Rows, graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any]) -> Written | None:
    """The kernels; None if no timed row gains by them."""
    reads = RowReads(work, graph, held)
    kept, remembered, fitting = kept_by_all(reads, config)
    if not fitting:
        return None
    writer = OnChipWriter(work, graph, held, kept, is_piece=True)
    writer.is_tight = True
    writer.remembered, writer.ahead_of_use = remembered, 2 if remembered else 1
    parts, started = _write(writer)
    writer.forget_names()
    body = _body(writer, started)
    given = used(writer.needs, body)
    return Written(
        name=f"{work.name}_cooperative",
        device=(_device(work, given, parts, body),),
        launcher=(_launcher(work, writer, given, parts, fitting, config),),
        needs=writer.needs,
        preamble=(*writer.all_preambles, TOGETHER),
    )


def kept_by_all(reads: RowReads, config: Mapping[str, Any]) -> tuple[Sequence[str], Value | None, list[Tile]]:
    """Which tensors are kept, and what is remembered beside them; and how, in each case that is timed."""
    sums = reads.work.reductions
    if not config["row_shared"] or not sums or any(value.op in (Op.ARGMAX, Op.ARGMIN) for value in sums):
        return [], None, []
    work, cases, kept, found = reads.work, reads.graph.cases, reads.read_again, set()
    gpu = reads.graph.gpu
    left = [store.value for store in work.stores if not needs_no_row(store, reads.held)]
    remembered = _remembered(reads, left) if len(kept) > 1 else None
    if remembered:
        kept = [name for name in kept if name in _read_for(left, reads, remembered)]
    for case in cases.timed:
        packs = -(-work.columns.values[case] * cases.widths[case] // config["vector_bytes"])
        rows, tensors = work.rows.values[case], len(kept) + (4 // cases.widths[case] if remembered else 0)
        is_left = not kept_by_a_cluster(reads, case, config)
        if rows < few(gpu) and work.columns.values[case] >= LONG and is_left and kept:
            items = items_of(packs, gpu.sms // rows * THREADS, tensors, gpu, IN_REGISTERS)
            if items and FEW_PACKS // tensors < items <= MOST_ITEMS:
                found.add(Tile(items, items_in_shared(items, tensors, IN_REGISTERS)))
    return kept, remembered, sorted(found)


def _remembered(reads: RowReads, left: Sequence[Value]) -> Value | None:
    """The value of the first pass that replaces two or more tensors in later passes."""
    work, held, graph = reads.work, reads.held, reads.graph
    needed = reachable(left, held)
    if any(value.op in ELSEWHERE for value in needed):
        return None
    first = [value.first for group in depths(work.reductions)[:1] for value in group]
    made = {value.number for value in reachable(first, held) if value.kind == FLOAT}
    count = work.rows * work.columns
    found = [value for value in needed if value.number in made and graph.numel(value) == count]
    usual = _read_for(left, reads)
    worth = [value for value in found if len(_read_for(left, reads, value)) < len(usual) - 1]
    return worth[-1] if worth else None


def _read_for(roots: Sequence[Value], reads: RowReads, known: Value | None = None) -> set[str]:
    """The tensors along rows that these values need, given the known value and all sums."""
    held, along, found = reads.held, reads.along_rows, set()
    waiting, seen = list(roots), set()
    while waiting:
        value = waiting.pop()
        if value.number in seen or value is known or value.op in REDUCTIONS:
            continue
        seen.add(value.number)
        if value.number in held:
            found.add(held[value.number].name)
        else:
            waiting += value.args
    return found & set(along)


def _write(writer: OnChipWriter) -> tuple[list[Part], Body]:
    """The statements, the partial results exchanged between blocks, and the start of the first pass."""
    work, held = writer.work, writer.emitter.held
    at_once = [store for store in work.stores if needs_no_row(store, held)]
    left: list[Part] = []
    passes: list[Meeting] = []
    for number, group in enumerate(joined(depths([check(value) for value in work.reductions])), start=1):
        passes.append(_met(writer, group, number, [] if left else at_once))
        left += passes[-1].parts
    writer.work, writer.started = replace(work, stores=tuple(s for s in work.stores if s not in at_once)), ()
    writer.row_stores("piece == 0 && lane == 0")
    writer.last_pass()
    settle_multiples(writer.emitter)
    first, *later = [*(found.started for found in passes), writer.started]
    # The first loads of a pass are in flight during the preceding grid barrier.
    whole = [[*found.walk, *started, *found.meeting] for found, started in zip(passes, later, strict=True)]
    writer.body = [*(statement for part in whole for statement in part), *writer.body]
    return left, first


@dataclass(frozen=True, slots=True)
class Meeting:
    """One pass with an exchange, after which every thread has the results of all blocks."""

    started: Body
    """The statements that prefetch the first loads of the pass."""
    walk: Body
    meeting: Body
    parts: Sequence[Part]
    """The partial results exchanged between blocks."""


def _met(writer: OnChipWriter, group: Sequence[Carried], number: int, stores: Sequence[Store]) -> Meeting:
    found = writer.reduced(group, stores)
    accumulators = found.accumulators
    parts = [[Part(f"{name}_parts_{number}", kind) for name, kind, _ in item.parts] for item in accumulators]
    meeting = [
        *found.sharing,
        *parts_left(accumulators, parts),
        Barrier("grid.sync()"),
        *_put_together(accumulators, parts),
        Blank(),
    ]
    return Meeting(writer.started, found.walk, meeting, [part for listed in parts for part in listed])


def _put_together(accumulators: Sequence[Accumulator], parts: Sequence[Sequence[Part]]) -> list[Statement]:
    """Resets the accumulators and adds the partial results of all blocks, including this one."""
    joins = [
        statement
        for item, listed in zip(accumulators, parts, strict=True)
        for statement in item.join([code("{part}[row * {pieces} + other]", part=part.name) for part in listed])
    ]
    return [
        *(statement for item in accumulators for statement in item.anew()),
        Loop(code("int other = lane; other < {pieces}; other += THREADS"), tuple(joins)),
        *shared(accumulators, anew=True),
        *(statement for item in accumulators for statement in item.settle()),
    ]


def _body(writer: OnChipWriter, started: Body) -> list[Statement]:
    row = as_code("blockIdx.x / pieces")
    end = Also("end", code("min({columns}, begin + {length})"))
    return [
        Let("const auto", "grid", code("{cooperative_groups::this_grid}()")),
        Let("const int", "lane", "threadIdx.x", (Also("piece", code("blockIdx.x % {pieces}")),)),
        Let("const int", "begin", code("piece * {length}"), (end,)),
        Let("const int64_t", "row", code("{rows} - 1 - {row}", row=row) if writer.work.backwards else row),
        *writer.declared(),
        *writer.emitter.lines[KERNEL],
        *writer.fetched("0", "ITEMS"),
        Barrier(code("{__pipeline_commit}()")),
        *started,
        Barrier(code("{__pipeline_wait_prior}(0)")),
        Blank(),
        *without_end(writer.body),
    ]


def _device(work: Rows, given: Needs, parts: Sequence[Part], body: Body) -> Definition:
    left = [Parameter(f"{part.type}*", part.name) for part in parts]
    shape = [Parameter("int", "length"), Parameter("int", "pieces")]
    return Definition(
        comments=(
            work.comment,
            "Cooperative kernel: all blocks are resident, one piece of a row each. Every thread keeps ITEMS packs,",
            "IN_SHARED of them in shared memory.",
        ),
        template="typename T, int VEC, int THREADS, int ITEMS, int IN_SHARED",
        head=f"__global__ void __launch_bounds__(THREADS) {work.name}_cooperative_kernel",
        parameters=(*kept_parameters(given), *left, *shape),
        body=tuple(body),
    )


def _launcher(
    work: Rows,
    writer: OnChipWriter,
    given: Needs,
    parts: Sequence[Part],
    fitting: Sequence[Tile],
    config: Mapping[str, Any],
) -> Definition:
    width, first, kernel = config["vector_bytes"], next(iter(writer.needs.reads)), f"{work.name}_cooperative_kernel"
    left = [f"{part.name}.data_ptr<{part.type}>()" for part in parts]
    arguments = ["kernel", "rows * pieces", str(THREADS), "bytes", *pointers(given), *left, "share * VEC", "pieces"]
    empty = f"torch::empty({{rows, pieces}}, {first}.options().dtype(torch::kFloat32))"
    run = (
        *with_shared_memory(
            f"{writer.kept_bytes(width)} * {THREADS} * in_shared", "bytes + 1024 > gpu->sharedMemPerBlockOptin"
        ),
        *(Let("auto", part.name, empty) for part in parts),
        Call("launch_cooperative", tuple(arguments)),
        Do("return true"),
    )
    most = code("{std::min}<int64_t>(most, (packs + {rest}) / {threads})", rest=THREADS - 1, threads=THREADS)
    items = Also("items", f"(share + {THREADS - 1}) / {THREADS}")
    too_short = Do("return false", comment="The last piece is too short.")
    body = [
        *declining(writer.needs, width, f"rows == 0 || rows >= {few(writer.graph.gpu)} || columns < {LONG}"),
        Let("const int64_t", "most", "gpu->multiProcessorCount / rows"),
        Let("const int64_t", "pieces", most),
        Let("const int64_t", "share", "(packs + pieces - 1) / pieces", (items,)),
        Lambda("run", "auto kernel, int in_shared", run),
        under(f"packs - (pieces - 1) * share <= (items - 1) * {THREADS}", [too_short]),
        *(leave(f"items == {tile.items}", tile.run(kernel, THREADS)) for tile in fitting),
        Do("return false"),
    ]
    comments = ("Takes few long rows, and declines what all multiprocessors together cannot keep.",)
    return launcher(f"{work.name}_cooperative", writer.needs, body, result="bool", comments=comments)


class RowsByGrid(Strategy):
    """Few long rows that all blocks together keep."""

    name = "cooperative"
    declines = True

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return ()

    def serves(self, group: Group) -> bool:
        return are_rows(group)

    def applies(self, site: Site, config: Config) -> Fit | None:
        if site.is_streamed:
            return None
        kept, remembered, found = kept_by_all(row_reads(site), config)
        shape = config["vector_bytes"], tuple(kept), remembered and remembered.number, tuple(found)
        return Fit(cost=1.2, shape=shape) if found else None

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = rows_of(site, writer.kernel_name(site.group))
        kernel = grid_kernels(work, site.graph, site.held, writer.config)
        assert kernel is not None, "a strategy is written only where it applies"
        writer.kernels.append(kernel)
        start = len(writer.calls)
        otherwise()
        writer.first_try(kernel, start)


STRATEGIES = (RowsByGrid(),)
