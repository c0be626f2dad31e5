"""Lists of tensors: the same work on every one of them, many tensors to a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter
from warpwright.compose.code.printer import indented, signature
from warpwright.compose.code.statements import Also, Body, Let, Loop, Raw
from warpwright.compose.code.text import code
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import Written, block, emit_stores, launch, over_pack, scalar_type, vec_of
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, Var
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.core.gpus.table import Gpu

MOST = 64
"""Tensors of each list in one launch: their addresses must fit into the parameters of a kernel."""
BLOCKS_PER_SM = 32
"""Blocks that a launch has for each multiprocessor at most, over all of its tensors."""


def list_kernel(
    name: str,
    comment: str,
    stores: Sequence[Store],
    graph: Graph,
    held: Mapping[int, Tensor],
    genome: Mapping[str, Any],
) -> Written:
    count = graph.numel(stores[0].value)
    emitter = Emitter(
        graph, held, [store.value for store in stores], {count: "count"}, [store.tensor for store in stores]
    )
    base = Var("i", PACK, innermost=True)
    places = [indices.unravel(base, store.value.shape, graph.cases) for store in stores]
    elements, after = emit_stores(emitter, stores, places)
    needs = emitter.needs
    if (
        needs.sizes
        or needs.multiples
        or any(not tensor.listed for tensor in (*needs.reads.values(), *needs.writes.values()))
    ):
        raise CannotCompose("lists of tensors together with other sizes")
    return Written(
        name=name,
        device=(_batch(needs), _device(name, comment, emitter, (elements, after), genome)),
        launcher="\n".join(_launcher(name, needs, graph.gpu, genome)),
        needs=needs,
        preamble=(PACKS, ALIGNED),
    )


def _tensors(needs: Needs) -> dict[str, Tensor]:
    return {**needs.reads, **needs.writes}


def _batch(needs: Needs) -> Raw:
    """The structure that holds the addresses of all tensors of a launch."""
    fields = [f"{_type(n, t, needs)} {n}[{MOST}];" for n, t in _tensors(needs).items()]
    inner = indented([*fields, f"int64_t counts[{MOST}];"])
    head = ["// The tensors that one launch works on.", "template <typename T>", "struct Batch {"]
    return Raw("\n".join([*head, *inner, "};"]))


def _type(name: str, tensor: Tensor, needs: Needs) -> str:
    return f"{'' if name in needs.writes else 'const '}{tensor.cpp}*"


def _device(
    name: str, comment: str, emitter: Emitter, stores: tuple[Body, Body], genome: Mapping[str, Any]
) -> Definition:
    needs, size, (elements, after) = emitter.needs, genome["map_block"], stores
    place = code("(static_cast<int64_t>(blockIdx.x) * {size} + threadIdx.x) * {VEC}", size=size)
    step = Also("step", code("static_cast<int64_t>(gridDim.x) * blockDim.x * {VEC}"))
    loop = (*emitter.lines[PACK], over_pack([*emitter.lines[ELEMENT], *elements]), *after)
    return Definition(
        comments=(comment, "Blocks with the same y work on the same tensors of all lists."),
        template="typename T, int VEC",
        head=f"__global__ void __launch_bounds__({size}) {name}_kernel",
        parameters=(
            Parameter("const Batch<T>", "batch"),
            *(Parameter(scalar_type(value), n) for n, value in needs.scalars.items()),
        ),
        body=(
            *(Let(_type(n, t, needs), n, f"batch.{n}[blockIdx.y]") for n, t in _tensors(needs).items()),
            Let("const int64_t", "count", "batch.counts[blockIdx.y]", (step,)),
            *emitter.lines[KERNEL],
            Loop(code("int64_t i = {place}; i < count; i += step", place=place), loop),
        ),
    )


def _launcher(name: str, needs: Needs, gpu: Gpu, genome: Mapping[str, Any]) -> list[str]:
    tensors = _tensors(needs)
    scalars = [f"{'int64_t' if value.kind == 'int' else 'double'} {n}" for n, value in needs.scalars.items()]
    head = signature(f"void launch_{name}", [*(f"const std::vector<torch::Tensor>& {n}" for n in tensors), *scalars])
    head[-1] += " {"
    first = next(iter(tensors))
    pointers = ", ".join(f"batch.{n}[j]" for n in tensors)
    arguments = ["batch", *(f"static_cast<{scalar_type(value)}>({n})" for n, value in needs.scalars.items())]
    block_size, filling = genome["map_block"], BLOCKS_PER_SM * gpu.sms
    body = [
        vec_of(genome["vector_bytes"]),
        f"for (size_t start = 0; start < {first}.size(); start += {MOST}) {{",
        f"    const int64_t tensors = std::min<size_t>({first}.size() - start, {MOST});",
        "    Batch<T> batch = {};",
        "    bool vectors = true;",
        "    int64_t most = 0;",
        "    for (int64_t j = 0; j < tensors; ++j) {",
        *(f"        batch.{n}[j] = {n}[start + j].data_ptr<{t.cpp}>();" for n, t in tensors.items()),
        f"        batch.counts[j] = {first}[start + j].numel();",
        "        most = std::max(most, batch.counts[j]);",
        "        vectors = vectors && batch.counts[j] % VEC == 0;",
        f"        vectors = vectors && aligned({{{pointers}}});",
        "    }",
        "    if (most == 0) continue;",
        f"    const int64_t share = {block_size} * (vectors ? VEC : 1);",
        f"    const int64_t blocks = std::min((most + share - 1) / share, std::max<int64_t>({filling} / tensors, 1));",
        f"    const auto kernel = vectors ? {name}_kernel<T, VEC> : {name}_kernel<T, 1>;",
        *block(launch("dim3(blocks, tensors)", str(block_size), arguments)),
        "}",
    ]
    return ["template <typename T>", *head, *block(body), "}"]
