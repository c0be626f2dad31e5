"""Few long rows: many blocks share each row.

In every pass a block reduces a piece of a row and stores its partial results. Each block of the next kernel begins by
combining the partial results of its row: these are few numbers, and this saves a launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter
from warpwright.compose.code.passes.fast_math import could_be_faster
from warpwright.compose.code.statements import (
    Also,
    Assign,
    Block,
    Body,
    Comment,
    Do,
    If,
    Let,
    Statement,
    Wait,
    under,
)
from warpwright.compose.code.text import as_code, code
from warpwright.compose.code.text import joined as joined_code
from warpwright.compose.code.traversal import names as names_in
from warpwright.compose.cuda.host import Step
from warpwright.compose.cuda.kernel import (
    Written,
    choice,
    launch,
    launcher,
    leave,
    listed,
    pointers,
    row_parameters,
    settle_multiples,
    used,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import KERNEL
from warpwright.compose.ir.operations import REDUCTIONS
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.reduction.accumulators import Accumulator
from warpwright.compose.kernels.reduction.passes import Carried, check, depths, joined
from warpwright.compose.kernels.rows.launch import merged_needs, row_preamble, without_end
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows, RowWriter
from warpwright.compose.kernels.rows.work import rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows, reachable
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.compose.schedule.row_shapes import LONG, few, is_few_and_long
from warpwright.core.gpus.table import Gpu


def knobs(gpu: Gpu) -> tuple[Knob, ...]:
    """The knobs for threads per block, blocks per launch, and packs in flight per thread."""
    blocks = tuple(count * gpu.sms for count in (2, 4, 8))
    return (
        Knob(name="split_block", values=(256, 512, 1024), default=256, variations={2: 512, 4: 1024}),
        Knob(name="split_blocks", values=blocks, default=4 * gpu.sms, variations={1: 8 * gpu.sms}),
        Knob(name="split_unroll", values=(2, 4, 8), default=4, variations={5: 8}),
    )


@dataclass(frozen=True, slots=True)
class Source:
    """The common inputs of all kernels of a split row."""

    work: Rows
    graph: Graph
    held: Mapping[int, Tensor]
    ahead: int
    """The packs that a thread has in flight."""
    given: Set[str]
    """The call's own arguments."""


@dataclass(frozen=True, slots=True)
class Part:
    """A partial result that every block stores for its piece."""

    name: str
    type: str


@dataclass(slots=True)
class Stage:
    """One of the kernels: the partial results that it reads and stores."""

    name: str
    writer: RowWriter
    taken: list[Part]
    left: list[Part]
    stores: Sequence[Store]
    """The results that the kernel stores."""
    given: Needs = field(default_factory=Needs)
    body: Body = ()
    backwards: bool = False
    """Whether rows are processed in reverse order; every other kernel does, to reuse the cache."""

    def settle(self, work: Rows, needs: Needs, backwards: bool) -> None:
        self.backwards = backwards
        self.body = _body(work, self)
        self.given = used(needs, self.body)

    @property
    def pieces(self) -> list[str]:
        """The parameters of the pieces that this kernel uses."""
        return [name for name in ("length", "pieces") if name in names_in(self.body)]

    @property
    def shape(self) -> list[str]:
        """The template parameters that the statements name, or may name with fast math."""
        words = names_in(self.body)
        given = (*self.given.reads.values(), *self.given.writes.values())
        is_typed = "T" in words or any(tensor.cpp == "T" for tensor in given) or could_be_faster(self.body)
        return [*(["T"] if is_typed else []), *(["VEC"] if "VEC" in words else []), "THREADS"]


def is_worth_it(work: Rows, graph: Graph) -> bool:
    is_shaped = is_few_and_long(work.rows, work.columns, graph.cases, graph.gpu)
    return bool(work.reductions or work.stores) and is_shaped


def split_kernels(
    work: Rows, graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any], given: Set[str]
) -> Written:
    groups = joined(depths([check(value) for value in work.reductions]))
    at_once = [store for store in work.stores if groups and needs_no_row(store, held)]
    source = Source(work, graph, held, config["split_unroll"], given)
    stages: list[Stage] = []
    known: list[list[list[Part]]] = []
    for number, group in enumerate(groups, start=1):
        stage, parts = _reducing(source, groups[: number - 1], known, group, number, [] if known else at_once)
        stages.append(stage)
        known.append(parts)
    rest = replace(work, stores=tuple(store for store in work.stores if store not in at_once))
    stages.append(_last(replace(source, work=rest), groups, known))
    needs = merged_needs([stage.writer.needs for stage in stages])
    for turn, stage in enumerate(stages, work.backwards):
        stage.settle(work, needs, turn % 2 == 1)
    return Written(
        name=f"{work.name}_split",
        device=tuple(_device(work, stage) for stage in stages),
        launcher=(launcher(f"{work.name}_split", needs, _launcher(work, stages, needs, config)),),
        needs=needs,
        preamble=row_preamble([stage.writer for stage in stages]),
        in_sequence=True,
    )


def needs_no_row(store: Store, held: Mapping[int, Tensor]) -> bool:
    """Whether the store can be made in the first pass."""
    return all(value.op not in REDUCTIONS for value in reachable([store.value], held))


def _begun(
    source: Source,
    groups: Sequence[Sequence[Carried]],
    known: Sequence[Sequence[Sequence[Part]]],
) -> RowWriter:
    """A writer that has combined all partial results of earlier kernels."""
    writer = RowWriter(source.work, source.graph, source.held, None, source.ahead, is_piece=True)
    writer.may_fetch_early = lambda names: bool(groups) and names <= source.given
    for group, parts in zip(groups, known, strict=True):
        writer.join(group, [[part.name for part in of_item] for of_item in parts])
    return writer


def _reducing(
    source: Source,
    groups: Sequence[Sequence[Carried]],
    known: Sequence[Sequence[Sequence[Part]]],
    group: Sequence[Carried],
    number: int,
    stores: Sequence[Store],
) -> tuple[Stage, list[list[Part]]]:
    writer = _begun(source, groups, known)
    accumulators = writer.reduce(group, stores)
    parts = [[Part(f"{name}_parts_{number}", kind) for name, kind, _ in item.parts] for item in accumulators]
    writer.body += parts_left(accumulators, parts)
    settle_multiples(writer.emitter)
    left = [part for of_item in parts for part in of_item]
    return Stage(f"{source.work.name}_pass_{number}", writer, _all(known), left, stores), parts


def parts_left(accumulators: Sequence[Accumulator], parts: Sequence[Sequence[Part]]) -> list[Statement]:
    """The statements with which one thread of each block stores its partial results."""
    puts = [
        Assign(code("{part}[row * {pieces} + piece]", part=part.name), found)
        for item, of_item in zip(accumulators, parts, strict=True)
        for part, (_, _, found) in zip(of_item, item.parts, strict=True)
    ]
    return [under("lane == 0", puts)]


def _last(
    source: Source,
    groups: Sequence[Sequence[Carried]],
    known: Sequence[Sequence[Sequence[Part]]],
) -> Stage:
    writer, work = _begun(source, groups, known), source.work
    writer.row_stores("blockIdx.x == 0 && lane == 0")
    writer.last_pass()
    settle_multiples(writer.emitter)
    return Stage(f"{work.name}_finish", writer, _all(known), [], (*work.row_stores, *work.stores))


def _all(known: Sequence[Sequence[Sequence[Part]]]) -> list[Part]:
    """The partial results of all earlier passes."""
    return [part for of_group in known for of_item in of_group for part in of_item]


def _body(work: Rows, stage: Stage) -> list[Statement]:
    number, row = as_code("blockIdx.x"), "gridDim.y - 1 - blockIdx.y" if stage.backwards else "blockIdx.y"
    if stage.backwards:
        number = code("{pieces} - 1 - blockIdx.x")
    end = Also("end", code("min(static_cast<int>({columns}), begin + {length})"))
    piece = [Let("const int", "piece", number), Let("const int", "begin", code("piece * {length}"), (end,))]
    return [
        Let("const int", "lane", "threadIdx.x"),
        Let("const int64_t", "row", row),
        *(piece if stage.left or work.stores else []),
        *([*stage.writer.fetched_early, Wait()] if stage.writer.fetched_early else []),
        *stage.writer.emitter.lines[KERNEL],
        *without_end(stage.writer.body),
    ]


def _device(work: Rows, stage: Stage) -> Definition:
    taken = [Parameter(f"const {part.type}* __restrict__", part.name) for part in stage.taken]
    left = [Parameter(f"{part.type}* __restrict__", part.name) for part in stage.left]
    pieces = [Parameter("int", name) for name in stage.pieces]
    share = "a piece of a row" if stage.left or work.stores else "a row"
    what = [f"reduces {share}"] if stage.left else []
    what += [f"computes {listed(stage.stores)} for {'it' if what else share}"] if stage.stores else []
    order = ", the last ones first" if stage.backwards else ""
    return Definition(
        comments=(f"Every block {' and '.join(what)}{order}.",),
        template=", ".join("typename T" if name == "T" else f"int {name}" for name in stage.shape),
        head=f"__global__ void __launch_bounds__(THREADS, 1024 / THREADS) {stage.name}_kernel",
        parameters=(*row_parameters(stage.given), *taken, *left, *pieces),
        body=tuple(stage.body),
    )


def _launcher(work: Rows, stages: Sequence[Stage], needs: Needs, config: Mapping[str, Any]) -> list[Statement]:
    threads = config["split_block"]
    first = next(iter({**needs.reads, **needs.writes}))
    types = {"float": "torch::kFloat32", "int": "torch::kInt32"}
    parts = [part for stage in stages for part in stage.left]
    length = Also("length", "(columns + wanted * unit - 1) / (wanted * unit) * unit")
    wanted = code("{std::max}<int64_t>({blocks} / rows, 1)", blocks=config["split_blocks"])
    return [
        leave("rows == 0"),
        vec_of(config["vector_bytes"]),
        vector_test(needs),
        Comment("Split rows into pieces of whole packs, enough to fill the GPU."),
        Let("const int64_t", "wanted", wanted),
        Let("const int64_t", "unit", f"{threads} * VEC", (length,)),
        Let("const int64_t", "pieces", code("{std::max}<int64_t>((columns + length - 1) / length, 1)")),
        *(
            Let("auto", part.name, f"torch::empty({{rows, pieces}}, {first}.options().dtype({types[part.type]}))")
            for part in parts
        ),
        *(_launched(work, stage, threads) for stage in stages),
    ]


def _launched(work: Rows, stage: Stage, threads: int) -> Statement:
    parts = [f"{part.name}.data_ptr<{part.type}>()" for part in (*stage.taken, *stage.left)]
    arguments = [*pointers(stage.given), *parts, *stage.pieces]
    grid = "dim3(pieces, rows)" if stage.left or work.stores else "dim3(1, rows)"
    chosen = choice(f"{stage.name}_kernel", [threads if name == "THREADS" else name for name in stage.shape])
    return Block((*chosen, launch(grid, str(threads), arguments)))


class RowsInPieces(Strategy):
    """Few long rows: many blocks to a row, one kernel for each pass."""

    name = "split"
    declines = True

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return knobs(gpu)

    def serves(self, group: Group) -> bool:
        return are_rows(group)

    def applies(self, site: Site, config: Config) -> Fit | None:
        if not is_worth_it(rows_of(site), site.graph):
            return None
        ahead = site.once("split reads", lambda: _reads(site)).ahead(config["split_unroll"])
        return Fit(cost=2.0, shape=(config["vector_bytes"], config["split_block"], config["split_blocks"], ahead))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work, gpu = rows_of(site, writer.kernel_name(site.group)), site.graph.gpu
        kernel = split_kernels(work, site.graph, site.held, writer.config, writer.given())
        writer.kernels.append(kernel)
        start = len(writer.calls)
        otherwise()
        rest = tuple(step.statement for step in writer.calls[start:])
        is_few = code("{rows} < {few}", rows=writer.size(work.rows), few=few(gpu))
        is_long = code("{columns} >= {least}", columns=writer.size(work.columns), least=LONG)
        test = is_long if work.rows.is_one else joined_code(" && ", [is_few, is_long])
        writer.calls[start:] = [Step(If(test, (Do(writer.call_of(kernel)),), rest), launches=True)]


def _reads(site: Site) -> RowReads:
    work = rows_of(site)
    at_once = [store for store in work.stores if work.reductions and needs_no_row(store, site.held)]
    return RowReads(work, site.graph, site.held, at_once)


STRATEGIES = (RowsInPieces(),)
