"""Scatters: elements to places of their own row, and whole rows to rows of a table.

Rows are put together in shared memory, several short ones at a time, and leave it once. Rows of a table are found by
lists: every row knows the last one that goes to it, and that one the one before; so each row of the table is written
once, whether any goes there or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from warpwright.compose.code.printer import printed, signature
from warpwright.compose.code.text import as_code
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import (
    Written,
    block,
    choice,
    launch,
    launcher_parameters,
    named,
    parameters,
    pointers,
    settle_multiples,
    vec_of,
    vector_test,
    words_of,
)
from warpwright.compose.cuda.preamble import ALIGNED, DIVISOR, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Loaded, Total, Var
from warpwright.compose.ir.operations import Scattered
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.core.gpus.table import KIB, Gpu

THREADS = 256
EACH = 4
"""Items that a thread has under way at a time."""
MODEST = 16 * KIB
"""Bytes of shared memory that leave room for as many blocks as a multiprocessor has threads for, or less."""


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
    body = _scatter_body(emitter, store, at.text, what.text)
    given = named(emitter.needs, words_of(body))
    return Written(
        name=name,
        device="\n".join(_scatter_device(name, tensor, given, body)),
        launcher="\n".join(_scatter_launcher(name, emitter.needs, graph.gpu, pointers(given))),
        needs=emitter.needs,
        preamble=(PACKS, ALIGNED, DIVISOR),
    )


def _scatter_body(emitter: Emitter, store: Store, at: str, what: str) -> list[str]:
    """Items of neighbouring rows are neighbours in memory: threads take them as they come, whatever row they are of."""
    tensor, round_ = store.tensor, THREADS * EACH
    place = "places[item / count * columns + to[i]]"
    put = f"atomicAdd(&{place}, what[i]);" if store.value.attr(Scattered).adds else f"{place} = what[i];"
    return [
        "extern __shared__ __align__(16) float places[];",
        "const int64_t first = static_cast<int64_t>(blockIdx.x) * share;",
        "const int own = min(static_cast<int64_t>(share), rows - first);",
        "const int items = own * count, size = own * columns;",
        *printed(emitter.lines[KERNEL]),
        *printed(emitter.lines[ROW]),
        "const auto found = [&](int64_t item, int64_t& to) -> float {",
        *block([*printed(emitter.lines[PACK]), *printed(emitter.lines[ELEMENT]), f"to = {at};", f"return {what};"]),
        "};",
        f"int64_t to[{EACH}];",
        f"float what[{EACH}];",
        "const auto fetch = [&](int start) {",
        *block(_each_item("what[i] = found(first * count + item, to[i]);")),
        "};",
        "fetch(threadIdx.x);  // Under way while the rows are emptied.",
        f"for (int place = threadIdx.x * 4; place < size; place += {THREADS} * 4)",
        "    *reinterpret_cast<float4*>(places + place) = float4{};",
        "__syncthreads();",
        f"for (int start = threadIdx.x; start < items; start += {round_}) {{",
        f"    if (start >= {round_}) fetch(start);",
        *block(_each_item(put)),
        "}",
        "__syncthreads();",
        "#pragma unroll 4",
        f"for (int place = threadIdx.x * VEC; place < size; place += {THREADS} * VEC) {{",
        f"    Pack<{tensor.cpp}, VEC> pack;",
        "    #pragma unroll",
        "    for (int k = 0; k < VEC; ++k) pack.at[k] = places[place + k];",
        f"    store<VEC>({tensor.name} + first * columns + place, pack);",
        "}",
    ]


def _each_item(statement: str) -> list[str]:
    return [
        "#pragma unroll",
        f"for (int i = 0; i < {EACH}; ++i) {{",
        f"    const int item = start + i * {THREADS};",
        f"    if (item < items) {statement}",
        "}",
    ]


def _scatter_device(name: str, tensor: Tensor, given: Needs, body: Sequence[str]) -> list[str]:
    typed = [replace(item, type="By<int>") if item.name == "count" else item for item in parameters(given)]
    head = signature(f"__global__ void __launch_bounds__({THREADS}) {name}_kernel", [*typed, "int share"])
    head[-1] += " {"
    comment = f"// Computes {tensor.name}: a block puts a share of the rows together in shared memory."
    return [comment, "template <typename T, int VEC>", *head, *block(body), "}"]


def _most_columns(gpu: Gpu) -> int:
    """Elements of a row that is put together in shared memory."""
    return gpu.architecture.shared_per_block_optin // (4 * KIB) * KIB


def _modest(gpu: Gpu) -> int:
    of = gpu.architecture
    share = of.shared_per_sm // (of.threads_per_sm // THREADS) - of.shared_reserved_per_block
    return min(MODEST, share // KIB * KIB)


def _scatter_launcher(name: str, needs: Needs, gpu: Gpu, arguments: Sequence[str]) -> list[str]:
    head = signature(f"void launch_{name}", launcher_parameters(needs))
    head[-1] += " {"
    lines = launch("blocks", str(THREADS), [*arguments, "share"])
    body = [
        "if (rows == 0 || columns == 0) return;",
        vec_of(16),
        vector_test(needs),
        *choice(f"{name}_kernel", ["T", "VEC"]),
        "// Rows enough to keep every thread busy; a power of two, as their number mostly is: all blocks get as many.",
        "const int64_t row_bytes = columns * sizeof(float);",
        "int share = 1;",
        f"while (2 * share * count <= {THREADS * EACH} && 2 * share * row_bytes <= {_modest(gpu)}) share *= 2;",
        "const int64_t blocks = (rows + share - 1) / share;",
        "const int bytes = (share * row_bytes + 15) / 16 * 16;",
        "if (bytes > 48 * 1024) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);",
        *(line.replace(f", {THREADS}, 0, ", f", {THREADS}, bytes, ") for line in lines),
    ]
    return ["template <typename T>", *head, *block(body), "}"]


LINK = """\
// Puts every item in front of the list of the row it goes to. Lists hold positions from one; zero ends them.
template <typename Index>
__global__ void __launch_bounds__(256) link_kernel(
        const Index* __restrict__ to, int* __restrict__ last, int* __restrict__ before, int64_t rows, int64_t count) {
    const int64_t item = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
    if (item >= count) return;
    const int64_t row = to[item] < 0 ? to[item] + rows : to[item];
    before[item] = atomicExch(&last[row], static_cast<int>(item) + 1);
}"""


def list_rows_kernel(
    name: str, store: Store, graph: Graph, held: Mapping[int, Tensor], genome: Mapping[str, Any]
) -> Written:
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
    body = _list_body(tensor, emitter, term.text)
    taken = named(emitter.needs, words_of(body))
    device = _list_device(name, tensor, taken, body)
    launcher = _list_launcher(name, given, tensor, emitter.needs, pointers(taken), genome)
    return Written(
        name=name,
        device="\n".join(device),
        launcher="\n".join(launcher),
        needs=emitter.needs,
        preamble=(PACKS, ALIGNED, LINK),
        in_sequence=True,
    )


def _list_body(tensor: Tensor, emitter: Emitter, text: str) -> list[str]:
    inner = [
        "const int64_t item = next - 1;",
        *printed(emitter.lines[PACK]),
        "#pragma unroll",
        "for (int k = 0; k < VEC; ++k) {",
        *block([*printed(emitter.lines[ELEMENT]), f"sum[k] += {text};"]),
        "}",
    ]
    return [
        "const int64_t row = blockIdx.x;",
        *printed(emitter.lines[KERNEL]),
        *printed(emitter.lines[ROW]),
        f"for (int column = threadIdx.x * VEC; column < columns; column += {THREADS} * VEC) {{",
        "    float sum[VEC] = {};",
        "    for (int next = last[row]; next > 0; next = before[next - 1]) {",
        *block(inner, 2),
        "    }",
        f"    Pack<{tensor.cpp}, VEC> pack;",
        "    #pragma unroll",
        "    for (int k = 0; k < VEC; ++k) pack.at[k] = sum[k];",
        f"    store<VEC>({tensor.name} + row * columns + column, pack);",
        "}",
    ]


def _list_device(name: str, tensor: Tensor, taken: Needs, body: Sequence[str]) -> list[str]:
    lists = [f"const int* __restrict__ {listed}" for listed in ("last", "before")]
    head = signature(
        f"__global__ void __launch_bounds__({THREADS}) {name}_kernel",
        [*lists, f"{tensor.cpp}* __restrict__ {tensor.name}", *parameters(taken)],
    )
    head[-1] += " {"
    comment = f"// Computes {tensor.name}: a block adds up what goes to its row."
    return [comment, "template <typename T, int VEC>", *head, *block(body), "}"]


def _list_launcher(
    name: str, index: Tensor, tensor: Tensor, needs: Needs, taken: Sequence[str], genome: Mapping[str, Any]
) -> list[str]:
    arguments = ["last.data_ptr<int>()", "before.data_ptr<int>()", f"{tensor.name}.data_ptr<{tensor.cpp}>()", *taken]
    needs.writes[tensor.name] = tensor
    needs.vectors[tensor.name] = tensor
    test = vector_test(needs)
    needs.reads[index.name] = index
    head = signature(f"void launch_{name}", launcher_parameters(needs))
    head[-1] += " {"
    link = ["last.data_ptr<int>()", "before.data_ptr<int>()", "rows", "count"]
    body = [
        "if (rows == 0 || columns == 0) return;",
        vec_of(genome["vector_bytes"]),
        test,
        f"auto last = torch::zeros({{rows}}, {index.name}.options().dtype(torch::kInt32));",
        f"auto before = torch::empty({{count}}, {index.name}.options().dtype(torch::kInt32));",
        "if (count > 0) {",
        f"    const auto kernel = link_kernel<{index.cpp}>;",
        *block(launch("(count + 255) / 256", "256", [f"{index.name}.data_ptr<{index.cpp}>()", *link])),
        "}",
        *choice(f"{name}_kernel", ["T", "VEC"]),
        *launch("rows", str(THREADS), arguments),
    ]
    return ["template <typename T>", *head, *block(body), "}"]
