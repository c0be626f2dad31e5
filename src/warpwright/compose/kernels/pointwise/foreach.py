"""Foreach kernels: the same operation on every tensor of a list, many tensors per launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.compose.code.definitions import (
    Definition,
    Item,
    Parameter,
    verbatim,
)
from warpwright.compose.code.printer import indented
from warpwright.compose.code.statements import (
    Also,
    Assign,
    Body,
    Do,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import code
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import Written, emit_stores, launch, over_pack, scalar_type, vec_of
from warpwright.compose.cuda.preamble import ALIGNED, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, Var
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.pointwise.map import KNOBS
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config, Knob
from warpwright.compose.schedule.spaces import ELEMENTS
from warpwright.core.gpus.table import Gpu

MOST = 64
"""The number of tensors of each list per launch, whose addresses must fit into the kernel parameters."""
BLOCKS_PER_SM = 32
"""The largest number of blocks per multiprocessor and launch, over all of its tensors."""


def foreach_kernel(
    name: str,
    comment: str,
    stores: Sequence[Store],
    graph: Graph,
    held: Mapping[int, Tensor],
    config: Mapping[str, Any],
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
        device=(_batch(needs), _device(name, comment, emitter, (elements, after), config)),
        launcher=(_launcher(name, needs, graph.gpu, config),),
        needs=needs,
        preamble=(PACKS, ALIGNED),
    )


def _tensors(needs: Needs) -> dict[str, Tensor]:
    return {**needs.reads, **needs.writes}


def _batch(needs: Needs) -> Item:
    """The structure that holds the addresses of all tensors of a launch."""
    fields = [f"{_type(n, t, needs)} {n}[{MOST}];" for n, t in _tensors(needs).items()]
    inner = indented([*fields, f"int64_t counts[{MOST}];"])
    head = ["// The tensors that one launch works on.", "template <typename T>", "struct Batch {"]
    return verbatim("\n".join([*head, *inner, "};"]))


def _type(name: str, tensor: Tensor, needs: Needs) -> str:
    return f"{'' if name in needs.writes else 'const '}{tensor.cpp}*"


def _device(
    name: str, comment: str, emitter: Emitter, stores: tuple[Body, Body], config: Mapping[str, Any]
) -> Definition:
    needs, size, (elements, after) = emitter.needs, config["map_block"], stores
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


def _launcher(name: str, needs: Needs, gpu: Gpu, config: Mapping[str, Any]) -> Definition:
    tensors = _tensors(needs)
    numbers = [Parameter("int64_t" if v.kind == "int" else "double", n) for n, v in needs.scalars.items()]
    first, size = next(iter(tensors)), config["map_block"]
    arguments = ["batch", *(f"static_cast<{scalar_type(value)}>({n})" for n, value in needs.scalars.items())]
    blocks = "{std::min}((most + share - 1) / share, {std::max}<int64_t>({filling} / tensors, 1))"
    one_launch = (
        Let(
            "const int64_t",
            "tensors",
            code("{std::min}<size_t>({first}.size() - start, {most})", first=first, most=MOST),
        ),
        Let("Batch<T>", "batch", "{}"),
        Let("bool", "vectors", "true"),
        Let("int64_t", "most", "0"),
        Loop("int64_t j = 0; j < tensors; ++j", _gathered(tensors)),
        under("most == 0", [Do("continue")]),
        Let("const int64_t", "share", f"{size} * (vectors ? VEC : 1)"),
        Let("const int64_t", "blocks", code(blocks, filling=BLOCKS_PER_SM * gpu.sms)),
        Let("const auto", "kernel", f"vectors ? {name}_kernel<T, VEC> : {name}_kernel<T, 1>"),
        launch("dim3(blocks, tensors)", str(size), arguments),
    )
    return Definition(
        template="typename T",
        head=f"void launch_{name}",
        parameters=(*(Parameter("const std::vector<torch::Tensor>&", n, "vector") for n in tensors), *numbers),
        body=(
            vec_of(config["vector_bytes"]),
            Loop(f"size_t start = 0; start < {first}.size(); start += {MOST}", one_launch),
        ),
        is_kernel=False,
    )


def _gathered(tensors: Mapping[str, Tensor]) -> tuple[Statement, ...]:
    """The statements that add one tensor of each list to the batch."""
    pointers = ", ".join(f"batch.{n}[j]" for n in tensors)
    return (
        *(Assign(f"batch.{n}[j]", f"{n}[start + j].data_ptr<{t.cpp}>()") for n, t in tensors.items()),
        Assign("batch.counts[j]", f"{next(iter(tensors))}[start + j].numel()"),
        Assign("most", code("{std::max}(most, batch.counts[j])")),
        Assign("vectors", "vectors && batch.counts[j] % VEC == 0"),
        Assign("vectors", f"vectors && aligned({{{pointers}}})"),
    )


class Foreach(Strategy):
    """Lists of tensors."""

    name = "foreach"

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return group.space.kind == ELEMENTS

    def applies(self, site: Site, config: Config) -> Fit | None:
        return Fit(cost=1.0, shape=(config["map_block"], config["vector_bytes"])) if site.is_listed else None

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name = writer.kernel_name(site.group)
        writer.launch(foreach_kernel(name, site.comment, site.group.stores, site.graph, site.held, writer.config))


STRATEGIES = (Foreach(),)
