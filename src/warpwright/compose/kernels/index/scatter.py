"""Scatters: elements to positions of their row, and whole rows to rows of a table.

Rows are accumulated in shared memory, several short ones at a time, and stored once. For rows of a table, linked lists
connect all source rows of each destination row; so each row of the table is written exactly once, even without sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from warpwright.compose.code.definitions import (
    Definition,
    Parameter,
    verbatim,
)
from warpwright.compose.code.statements import (
    FULLY,
    Also,
    Assign,
    Barrier,
    Body,
    Comment,
    Do,
    Form,
    If,
    Lambda,
    Let,
    Loop,
    Statement,
    Wait,
    under,
)
from warpwright.compose.code.text import (
    Code,
    Piece,
    as_code,
    code,
)
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import (
    Written,
    choice,
    launch,
    launcher,
    leave,
    over_pack,
    parameters,
    pointers,
    settle_multiples,
    used,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.preamble import ALIGNED, DIVISOR, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Loaded, Total, Var
from warpwright.compose.ir.operations import Op, Scattered
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config
from warpwright.compose.schedule.row_shapes import PACK_BYTES
from warpwright.core.gpus.table import KIB, Gpu

THREADS = 256
EACH = 4
"""The number of items that a thread has in flight."""
MODEST = 16 * KIB
"""A number of bytes of shared memory per block that does not limit occupancy."""


def scatter_kernel(name: str, store: Store, graph: Graph, held: Mapping[int, Tensor]) -> Written:
    index, source = store.value.args
    cases, tensor = graph.cases, store.tensor
    rows, count, columns = cases.product(index.shape[:-1]), index.shape[-1], store.value.shape[-1]
    if max(columns.values) > _most_columns(graph.gpu) or store.dim is not None:
        raise CannotCompose("aten.scatter into rows that do not fit into shared memory")
    emitter = Emitter(graph, held, [store.value], {rows: "rows", columns: "columns", count: "count"}, [tensor])
    emitter.reserve("found", "fetch", "to", "what", "pack", "places", "place", "first", "own", "items", "size", "share")
    item = Var("item", PACK)
    at = emitter.term(index, indices.unravel(item, index.shape, cases))
    what = emitter.term(source, indices.unravel(item, source.shape, cases))
    emitter.needs.writes[tensor.name] = tensor
    for size, text in ((rows, "rows"), (columns, "columns"), (count, "count")):
        emitter.needs.sizes[text] = size
    emitter.needs.multiples[columns], emitter.needs.vectors[tensor.name] = None, tensor
    settle_multiples(emitter)
    body = _scatter_body(emitter, store, at.code, what.code)
    given = used(emitter.needs, body)
    return Written(
        name=name,
        device=(_scatter_device(name, tensor, given, body),),
        launcher=(launcher(name, emitter.needs, _scattered(name, emitter.needs, graph.gpu, pointers(given))),),
        needs=emitter.needs,
        preamble=(PACKS, ALIGNED, DIVISOR),
    )


def _most_columns(gpu: Gpu) -> int:
    """The longest row that fits into shared memory."""
    return gpu.architecture.shared_per_block_optin // (4 * KIB) * KIB


def _modest(gpu: Gpu) -> int:
    of = gpu.architecture
    share = of.shared_per_sm // (of.threads_per_sm // THREADS) - of.shared_reserved_per_block
    return min(MODEST, share // KIB * KIB)


def _scatter_body(emitter: Emitter, store: Store, at: Code, what: Code) -> list[Statement]:
    """The body of a scatter: adjacent threads take adjacent items in memory, across rows."""
    round_, place = THREADS * EACH, code("places[item / {count} * {columns} + to[i]]")
    adds = store.value.attr(Scattered).adds
    put = Do(code("atomicAdd(&{place}, what[i])", place=place)) if adds else Assign(place, "what[i]")
    one = (*emitter.lines[PACK], *emitter.lines[ELEMENT], Assign("to", at), Do(code("return {what}", what=what)))
    found = Assign("what[i]", code("found(first * {count} + item, to[i])"))
    empty = Assign("*reinterpret_cast<float4*>(places + place)", "float4{}")
    over = f"int place = threadIdx.x * 4; place < size; place += {THREADS} * 4"
    return [
        Let("extern __shared__ __align__(16) float", "places", extent=""),
        Let("const int64_t", "first", "static_cast<int64_t>(blockIdx.x) * share"),
        Let("const int", "own", code("min(static_cast<int64_t>(share), {rows} - first)")),
        Let("const int", "items", code("own * {count}"), (Also("size", code("own * {columns}")),)),
        *emitter.lines[KERNEL],
        *emitter.lines[ROW],
        Lambda("found", "int64_t item, int64_t& to", one, "float"),
        Let("int64_t", "to", extent=EACH),
        Let("float", "what", extent=EACH),
        Lambda("fetch", "int start", (_each_item(found),)),
        Do("fetch(threadIdx.x)", comment="Overlaps with clearing the rows."),
        Loop(over, (empty,), form=Form.BELOW),
        Barrier("__syncthreads()"),
        Loop(
            f"int start = threadIdx.x; start < items; start += {round_}",
            (under(f"start >= {round_}", [Do("fetch(start)")]), _each_item(put)),
        ),
        Barrier("__syncthreads()"),
        _rows_out(store.tensor),
    ]


def _rows_out(tensor: Tensor) -> Statement:
    """A loop that stores the rows of a block."""
    head = f"int place = threadIdx.x * VEC; place < size; place += {THREADS} * VEC"
    return Loop(head, _pack_out(tensor, "places[place + k]", code("first * {columns} + place")), 4)


def _pack_out(tensor: Tensor, element: str, where: Code) -> tuple[Statement, ...]:
    """The statements that assemble a pack and store it."""
    gathered = Loop("int k = 0; k < VEC; ++k", (Assign("pack.at[k]", element),), FULLY, form=Form.BESIDE)
    stored = code("{store}<{VEC}>({tensor} + {where}, pack)", tensor=tensor.name, where=where)
    return Let(code("Pack<{type}, {VEC}>", type=tensor.cpp), "pack"), gathered, Do(stored)


def _each_item(statement: Statement) -> Statement:
    """A loop over the items that a thread has in flight."""
    item = Let("const int", "item", f"start + i * {THREADS}")
    return Loop(f"int i = 0; i < {EACH}; ++i", (item, under("item < items", [statement])), FULLY)


def _scatter_device(name: str, tensor: Tensor, given: Needs, body: Body) -> Definition:
    typed = [replace(item, type="DivisorFor<int>") if item.name == "count" else item for item in parameters(given)]
    return Definition(
        comments=(f"Computes {tensor.name}: a block puts a share of the rows together in shared memory.",),
        template="typename T, int VEC",
        head=f"__global__ void __launch_bounds__({THREADS}) {name}_kernel",
        parameters=(*typed, Parameter("int", "share")),
        body=tuple(body),
    )


def _scattered(name: str, needs: Needs, gpu: Gpu, arguments: Sequence[Piece]) -> list[Statement]:
    """The statements of the launcher."""
    all_busy = f"2 * share * count <= {THREADS * EACH} && 2 * share * row_bytes <= {_modest(gpu)}"
    attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize"
    return [
        leave("rows == 0 || columns == 0"),
        vec_of(PACK_BYTES),
        vector_test(needs),
        *choice(f"{name}_kernel", ["T", "VEC"]),
        Comment("Enough rows per block to keep every thread busy; a power of two usually divides the rows evenly."),
        Let("const int64_t", "row_bytes", "columns * sizeof(float)"),
        Let("int", "share", "1"),
        Do(f"while ({all_busy}) share *= 2"),
        Let("const int64_t", "blocks", "(rows + share - 1) / share"),
        Let("const int", "bytes", "(share * row_bytes + 15) / 16 * 16"),
        under("bytes > 48 * 1024", [Do(f"cudaFuncSetAttribute(kernel, {attribute}, bytes)")]),
        launch("blocks", str(THREADS), [*arguments, "share"], "bytes"),
    ]


LINK = verbatim(
    """\
// Builds a linked list of items for every destination row. Positions count from one; zero ends a list.
template <typename Index>
__global__ void __launch_bounds__(256) link_kernel(
        const Index* __restrict__ to, int* __restrict__ last, int* __restrict__ before, int64_t rows, int64_t count) {\
""",
    Wait(),
    """\
    const int64_t item = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    if (item >= count) return;
    const int64_t row = to[item] < 0 ? to[item] + rows : to[item];
    before[item] = atomicExch(&last[row], static_cast<int>(item) + 1);
}""",
)


def list_rows_kernel(name: str, store: Store, graph: Graph, held: Mapping[int, Tensor]) -> Written:
    index, source = store.value.args
    cases, tensor = graph.cases, store.tensor
    given = held.get(index.number)
    if given is None or store.dim is not None:
        raise CannotCompose("aten.index_put with computed indices")
    rows, columns, count = store.value.shape[0], cases.product(store.value.shape[1:]), graph.numel(index)
    emitter = Emitter(graph, held, [source], {rows: "rows", columns: "columns"}, [tensor])
    emitter.reserve("next", "before", "sum", "pack")
    emitter.needs.sizes |= {"rows": rows, "columns": columns, "count": count}
    emitter.needs.multiples[columns] = None
    base = Total(((Loaded(as_code("item"), PACK), columns), (Var("column", PACK, innermost=True), cases.one())))
    term = emitter.term(source, indices.unravel(base, source.shape, cases))
    settle_multiples(emitter)
    body = _list_body(tensor, emitter, term.code)
    taken = used(emitter.needs, body)
    device = _list_device(name, tensor, taken, body)
    listed = _list_launcher(name, given, tensor, emitter.needs, pointers(taken))
    return Written(
        name=name,
        device=(device,),
        launcher=(listed,),
        needs=emitter.needs,
        preamble=(PACKS, ALIGNED, LINK),
        in_sequence=True,
    )


def _list_body(tensor: Tensor, emitter: Emitter, found: Code) -> list[Statement]:
    item = (
        Let("const int64_t", "item", "next - 1"),
        *emitter.lines[PACK],
        over_pack([*emitter.lines[ELEMENT], Assign("sum[k]", found, "+=")]),
    )
    row = (
        Let("float", "sum", "{}", extent="VEC"),
        Loop("int next = last[row]; next > 0; next = before[next - 1]", item),
        *_pack_out(tensor, "sum[k]", code("row * {columns} + column")),
    )
    return [
        Let("const int64_t", "row", "blockIdx.x"),
        *emitter.lines[KERNEL],
        *emitter.lines[ROW],
        Loop(code("int column = threadIdx.x * VEC; column < {columns}; column += {step} * VEC", step=THREADS), row),
    ]


def _list_device(name: str, tensor: Tensor, taken: Needs, body: Body) -> Definition:
    lists = [Parameter("const int* __restrict__", listed) for listed in ("last", "before")]
    written = Parameter(f"{tensor.cpp}* __restrict__", tensor.name)
    return Definition(
        comments=(f"Computes {tensor.name}: a block adds up what goes to its row.",),
        template="typename T, int VEC",
        head=f"__global__ void __launch_bounds__({THREADS}) {name}_kernel",
        parameters=(*lists, written, *parameters(taken)),
        body=tuple(body),
    )


def _list_launcher(name: str, index: Tensor, tensor: Tensor, needs: Needs, taken: Sequence[Piece]) -> Definition:
    arguments = ["last.data_ptr<int>()", "before.data_ptr<int>()", f"{tensor.name}.data_ptr<{tensor.cpp}>()", *taken]
    needs.writes[tensor.name] = tensor
    needs.vectors[tensor.name] = tensor
    test = vector_test(needs)
    needs.reads[index.name] = index
    link = [f"{index.name}.data_ptr<{index.cpp}>()", "last.data_ptr<int>()", "before.data_ptr<int>()", "rows", "count"]
    options = f"{index.name}.options().dtype(torch::kInt32)"
    linked = Let("const auto", "kernel", f"link_kernel<{index.cpp}>"), launch("(count + 255) / 256", "256", link)
    body = [
        leave("rows == 0 || columns == 0"),
        vec_of(PACK_BYTES),
        test,
        Let("auto", "last", f"torch::zeros({{rows}}, {options})"),
        Let("auto", "before", f"torch::empty({{count}}, {options})"),
        If("count > 0", linked),
        *choice(f"{name}_kernel", ["T", "VEC"]),
        launch("rows", str(THREADS), arguments),
    ]
    return launcher(name, needs, body)


class Scatter(Strategy):
    """Elements that go to places of their own row."""

    name = "scatter"

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.SCATTER

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0)

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name = writer.kernel_name(site.group)
        writer.launch(scatter_kernel(name, site.first, site.graph, site.held))


class ListedRows(Strategy):
    """Rows that go to rows of a table, each found by a list."""

    name = "listed rows"

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.LISTS

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0)

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name = writer.kernel_name(site.group)
        writer.launch(list_rows_kernel(name, site.first, site.graph, site.held))


STRATEGIES = (Scatter(), ListedRows())
