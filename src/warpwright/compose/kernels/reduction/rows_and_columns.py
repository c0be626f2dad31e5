"""Reductions over rows and columns in one kernel, as in gradients of normalisations.

A fixed number of teams of threads loops over the rows. Each thread keeps its packs of a row in registers, and the sums
of its columns over all rows of its team; at the end every team stores its sums, and a second kernel adds them. So all
data is read once instead of twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter
from warpwright.compose.code.statements import (
    Also,
    Assign,
    Blank,
    Body,
    Comment,
    Do,
    Lambda,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import code
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    listed,
    over_items,
    pointer,
    pointers,
    row_parameters,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.preamble import ADD_PARTS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import KERNEL
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.reduction.columns import ColumnWriter, shape_of
from warpwright.compose.kernels.registry import chosen
from warpwright.compose.kernels.rows.launch import (
    Tile,
    kept_bounds,
    kept_packs,
    loads_to_keep,
    narrowest,
    row_preamble,
    tiles,
)
from warpwright.compose.kernels.rows.reads import RowReads
from warpwright.compose.kernels.rows.row import Rows, RowWriter
from warpwright.compose.kernels.rows.work import rows_of
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group, are_rows_and_columns
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.compose.schedule.spaces import COLUMNS
from warpwright.core.gpus.table import Gpu


def knobs(gpu: Gpu) -> tuple[Knob, ...]:
    """Blocks of a launch; and whether a row is loaded while the one before it is computed, which takes twice the
    registers."""
    blocks = tuple(count * gpu.sms for count in (4, 8, 16))
    return (
        Knob(name="fused_blocks", values=blocks, default=8 * gpu.sms, variations={3: 16 * gpu.sms, 4: 4 * gpu.sms}),
        Knob(name="fused_ahead", values=(0, 1), default=0, variations={1: 1}),
    )


def fused_kernels(
    work: Rows, sums: Sequence[Store], graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any]
) -> Written | None:
    """The fused kernels; None if no timed row can be kept."""
    fitting = tiles(work.columns, graph.cases, config)
    if not fitting:
        return None
    writer = RowWriter(work, graph, held, RowReads(work, graph, held).along_rows)
    writer.write()
    device = _device(work, writer, sums, config)
    host = _launcher(work, writer.needs, sums, fitting, config)
    return Written(
        name=work.name,
        device=(device,),
        launcher=(host,),
        needs=_with_sums(writer.needs, sums),
        preamble=(*row_preamble([writer]), ADD_PARTS),
        in_sequence=True,
    )


def _with_sums(needs: Needs, sums: Sequence[Store]) -> Needs:
    for store in sums:
        needs.writes[store.tensor.name] = store.tensor
    return needs


def _device(work: Rows, writer: RowWriter, sums: Sequence[Store], config: Mapping[str, Any]) -> Definition:
    names = [store.tensor.name for store in sums]
    put = "{store}<{VEC}>({parts} + team * {columns} + column, {sums}[item])"
    puts = [Do(code(put, parts=f"{name}_parts", sums=f"{name}_sum")) for name in names]
    return Definition(
        comments=(
            work.comment,
            "A team of THREADS threads iterates over rows and accumulates column sums on the way.",
        ),
        template="typename T, int VEC, int THREADS, int ITEMS",
        head=f"__global__ void {kept_bounds(config)} {work.name}_kernel",
        parameters=(
            *row_parameters(writer.needs),
            *(Parameter("float* __restrict__", f"{name}_parts") for name in names),
        ),
        body=(
            Let("const int", "lane", "threadIdx.x % THREADS"),
            Let("const int64_t", "teams", "gridDim.x * (blockDim.x / THREADS)"),
            Let("const int64_t", "team", "blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS"),
            *writer.emitter.lines[KERNEL],
            *(Let(code("Pack<float, {VEC}>"), f"{name}_sum", "{}", extent="ITEMS") for name in names),
            Blank(),
            *(_ahead(writer) if config["fused_ahead"] else _one_by_one([*_loaded(writer), *writer.body])),
            Blank(),
            writer.over_kept(puts),
        ),
    )


def _loaded(writer: RowWriter) -> list[Statement]:
    return [*kept_packs(writer, writer.needs), *loads_to_keep(writer, writer.needs), Blank()]


def _one_by_one(row: Body) -> list[Statement]:
    return [Loop(code("int64_t row = team; row < {rows}; row += teams"), tuple(row))]


def _ahead(writer: RowWriter) -> list[Statement]:
    """Prefetches the next row while one is computed."""
    moved = [
        Assign(code("{kept}[item]", kept=f"{name}_kept"), code("{next}[item]", next=f"{name}_next"))
        for name in writer.emitter.kept
    ]
    following = Do("load_row(row + teams)", comment="Overlaps with computing this row.")
    row = [
        *kept_packs(writer, writer.needs),
        over_items(moved),
        under(code("row + teams < {rows}"), [following]),
        Blank(),
        *writer.body,
    ]
    return [
        *kept_packs(writer, writer.needs, "next"),
        Lambda("load_row", "int64_t row", tuple(loads_to_keep(writer, writer.needs, "next"))),
        under(code("team < {rows}"), [Do("load_row(team)")]),
        *_one_by_one(row),
    ]


def _launcher(
    work: Rows, needs: Needs, sums: Sequence[Store], fitting: Sequence[Tile], config: Mapping[str, Any]
) -> Definition:
    body = [
        vec_of(config["vector_bytes"]),
        Let("const int64_t", "packs", "columns / VEC"),
        vector_test(needs),
        leave(f"!vectors || rows == 0 || packs > {fitting[-1].packs}", "false"),
        Lambda("run", "auto kernel, int threads, int per_block", _launched(needs, sums, config)),
        narrowest([(tile.packs, _run(work, tile)) for tile in fitting]),
        Do("return true"),
    ]
    comments = ("Declines what it cannot keep in registers.",)
    return launcher(work.name, _with_sums(needs, sums), body, result="bool", comments=comments)


def _launched(needs: Needs, sums: Sequence[Store], config: Mapping[str, Any]) -> tuple[Statement, ...]:
    """The statements that launch a kernel and add the partial sums of its teams."""
    names = [store.tensor.name for store in sums]
    arguments = [*pointers(needs), *(f"{name}_parts.data_ptr<float>()" for name in names)]
    add = "add_parts({parts}.data_ptr<float>(), {to}, teams, columns)"
    most = code("{std::max}<int64_t>({count} / (threads * per_block), 1)", count=config["fused_blocks"] * 128)
    blocks, teams = code("{std::min}((rows + per_block - 1) / per_block, most)"), Also("teams", "blocks * per_block")
    return (
        Comment("Launch the same number of threads whatever the block size."),
        Let("const int64_t", "most", most),
        Let("const int64_t", "blocks", blocks, (teams,)),
        *(
            Let("auto", f"{name}_parts", f"torch::empty({{teams, columns}}, {name}.options().dtype(torch::kFloat32))")
            for name in names
        ),
        launch("blocks", "threads * per_block", arguments),
        *(Do(code(add, parts=f"{store.tensor.name}_parts", to=pointer(store.tensor))) for store in sums),
    )


def _run(work: Rows, tile: Tile) -> str:
    return f"run({work.name}_kernel<T, VEC, {tile.threads}, {tile.items}>, {tile.threads}, {tile.rows})"


class RowsAndColumns(Strategy):
    """One kernel for rows that can be kept and the sums of their columns."""

    name = "rows and columns"
    declines = True
    overrides: Mapping[str, object] = {"row_items": 2, "split_block": 512}

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return knobs(gpu)

    def serves(self, group: Group) -> bool:
        return are_rows_and_columns(group)

    def applies(self, site: Site, config: Config) -> Fit | None:
        fitting = tiles(site.space.columns, site.graph.cases, config)
        names = "vector_bytes", "row_crowd", "fused_blocks", "fused_ahead"
        return Fit(cost=1.0, shape=(tuple(fitting), *(config[name] for name in names))) if fitting else None

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = rows_of(site, f"{writer.kernel_name(site.group)}_and_columns")
        kernel = fused_kernels(work, site.column_sums, site.graph, site.held, writer.config)
        assert kernel is not None, "a strategy is written only where it applies"
        writer.kernels.append(kernel)
        start = len(writer.calls)
        otherwise()
        writer.first_try(kernel, start)


class RowsThenColumns(Strategy):
    """Two kernels: the one over rows leaves what the one over columns needs."""

    name = "rows, then columns"

    def parts(self, group: Group) -> list[Group]:
        sums = [store for store in group.stores if store.value.op is Op.COLUMNS]
        rest = [store for store in group.stores if store not in sums]
        return [Group(group.space, rest), Group(replace(group.space, kind=COLUMNS), sums)]

    def serves(self, group: Group) -> bool:
        return are_rows_and_columns(group)

    def applies(self, site: Site, config: Config) -> Fit:
        over_rows = self._over_rows(site, config)
        rows = [(strategy.name, fit.shape) for strategy, fit in chosen(over_rows, config)] if over_rows else []
        return Fit(cost=3.0, shape=(tuple(rows), shape_of(config)))

    def _over_rows(self, site: Site, config: Config) -> Site | None:
        """Rows are streamed where another kernel takes those that can be kept."""
        is_streamed = FUSED.applies(site, config) is not None
        group = Group(site.space, site.other_stores)
        return (
            site.once(f"rows {is_streamed}", lambda: site.of(group, is_streamed=is_streamed)) if group.stores else None
        )

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name, shape, sums = writer.kernel_name(site.group), (site.space.rows, site.space.columns), site.column_sums
        left = {store.value.number: store.tensor for store in site.other_stores if _is_left(store, site)}
        held = {**site.held, **left}
        columns = ColumnWriter(f"{name}_columns", f"Computes {listed(sums)}.", shape, sums, [], site.graph, held)
        if over_rows := self._over_rows(site, writer.config):
            writer.serve(over_rows)
        writer.launch(columns.written(writer.config))


def _is_left(store: Store, site: Site) -> bool:
    """Whether the second kernel can read it: in memory, in float32, one number for each row."""
    return store.tensor.dtype == "fp32" and site.graph.numel(store.value) == site.space.rows


FUSED = RowsAndColumns()
STRATEGIES = (FUSED, RowsThenColumns())
