"""Elementwise kernels: one kernel for any number of values over the same elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter
from warpwright.compose.code.statements import (
    FULLY,
    Also,
    Assign,
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
from warpwright.compose.code.traversal import divisors
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import (
    Written,
    emit_stores,
    launch,
    launcher,
    leave,
    over_pack,
    parameters,
    pointers,
    settle_multiples,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.loads import PackMode
from warpwright.compose.cuda.preamble import ALIGNED, DIVISOR, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, Var
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import VECTOR_BYTES, Config, Knob
from warpwright.compose.schedule.spaces import ELEMENTS
from warpwright.core.gpus.table import Gpu

KNOBS = (
    Knob(name="map_block", values=(128, 256, 512), default=256, variations={5: 512, 7: 128}),
    Knob(name="map_packs", values=(1, 2, 4), default=2, variations={1: 1, 2: 4}),
    VECTOR_BYTES,
)
"""Threads per block, and packs per thread."""

SLACK = 1 << 16
"""An upper bound on how far the last block extends past the last element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """The body of an elementwise kernel."""

    comment: str
    emitter: Emitter
    loop: list[Statement]
    """The loop over the elements of a pack."""
    packs: int
    """The packs per thread."""

    @property
    def needs(self) -> Needs:
        return self.emitter.needs


def elements(
    comment: str, stores: Sequence[Store], graph: Graph, held: Mapping[int, Tensor], config: Mapping[str, Any]
) -> Elements:
    """Emits stores with equal element counts; fewer packs per thread if positions need several divisions."""
    packs = config["map_packs"]
    found = _emitted(comment, stores, graph, held, packs)
    early = [pack.load.divisors for pack in found.emitter.early.values()]
    is_laborious = len(divisors(found.loop).union(*early)) > 1
    return _emitted(comment, stores, graph, held, packs // 2) if is_laborious and packs > 1 else found


def _emitted(comment: str, stores: Sequence[Store], graph: Graph, held: Mapping[int, Tensor], packs: int) -> Elements:
    cases = graph.cases
    count = graph.numel(stores[0].value)
    emitter = Emitter(
        graph,
        held,
        [store.value for store in stores],
        {count: "count"},
        [store.tensor for store in stores],
        packs=PackMode(early_place="[p]" if packs > 1 else None),
    )
    emitter.needs.sizes["count"] = count
    emitter.needs.multiples[count] = None
    base = Var("i", PACK, innermost=True)
    places = [indices.unravel(base, store.value.shape, cases) for store in stores]
    each, after = emit_stores(emitter, stores, places)
    settle_multiples(emitter)
    loop = [*emitter.lines[PACK], over_pack([*emitter.lines[ELEMENT], *each]), *after]
    return Elements(comment=comment, emitter=emitter, loop=loop, packs=packs)


def map_kernel(name: str, work: Elements, config: Mapping[str, Any]) -> Written:
    """An elementwise kernel whose threads take packs of consecutive elements."""
    return Written(
        name=name,
        device=(_device(name, work, config),),
        launcher=(launcher(name, work.needs, _launcher(name, work, config)),),
        needs=work.needs,
        preamble=(PACKS, ALIGNED, *([DIVISOR] if work.needs.divides else ())),
    )


def _device(name: str, work: Elements, config: Mapping[str, Any]) -> Definition:
    wide, index = ("typename Index, ", "Index") if work.needs.divides else ("", "int64_t")
    body = body_of(work, index, f"static_cast<{index}>(blockIdx.x)", config)
    given = parameters(work.needs)
    return Definition(
        comments=(work.comment,),
        template=f"{wide}typename T, int VEC",
        head=f"__global__ void __launch_bounds__({config['map_block']}) {name}_kernel",
        parameters=tuple(indexed(given, body) if work.needs.divides else given),
        body=tuple(body),
    )


def indexed(typed: Sequence[Parameter], body: Body) -> list[Parameter]:
    """Parameters, with sizes in the index type or as divisors."""
    by = divisors(body)
    wide = {item: "DivisorFor<Index>" if item.name in by else "Index" for item in typed if item.type == "int64_t"}
    return [replace(item, type=wide.get(item, item.type)) for item in typed]


def body_of(work: Elements, index: str, where: str, config: Mapping[str, Any]) -> list[Statement]:
    """The statements of block number `where`."""
    packs, size, emitter, loop = work.packs, config["map_block"], work.emitter, work.loop
    first = code("({where} * {size} + threadIdx.x) * {VEC}", where=where, size=packs * size)
    leave = under(code("i >= {count}"), [Do("return")])
    if packs == 1:
        return [Let(f"const {index}", "i", first), leave, *emitter.lines[KERNEL], *loop]
    place = Let(f"const {index}", "i", code("first + p * {size} * {VEC}", size=size))
    return [
        Let(f"const {index}", "first", first),
        *emitter.lines[KERNEL],
        *_early(emitter, place, packs),
        _over_packs(packs, [place, leave, *loop]),
    ]


def _over_packs(packs: int, body: Body) -> Statement:
    """A loop over the packs that a thread takes."""
    return Loop(f"int p = 0; p < {packs}; ++p", tuple(body), FULLY)


def _early(emitter: Emitter, place: Statement, packs: int) -> list[Statement]:
    """Issues all loads before the first use."""
    early = emitter.early
    if not early:
        return []
    loads = [Assign(code("{name}[p]", name=name), pack.load) for name, pack in early.items()]
    declared = [Let(pack.type, name, extent=packs) for name, pack in early.items()]
    return [*declared, _over_packs(packs, [place, under(code("i < {count}"), loads)])]


def _launcher(name: str, work: Elements, config: Mapping[str, Any]) -> list[Statement]:
    needs = work.needs
    block_size, share = config["map_block"], config["map_block"] * work.packs
    blocks = Also("blocks", f"(packs + {share - 1}) / {share}")
    run = (
        Let("const int64_t", "packs", "(count + width - 1) / width", (blocks,)),
        launch("blocks", str(block_size), pointers(needs)),
    )
    return [
        leave("count == 0"),
        vec_of(config["vector_bytes"]),
        Lambda("run", "auto kernel, int64_t width", run),
        vector_test(needs),
        *choices(name, needs, ["count"]),
    ]


def choices(name: str, needs: Needs, counts: Sequence[str]) -> list[Statement]:
    """Selects vectorised kernels and 32-bit positions if possible."""
    if not needs.divides:
        return [leave("vectors", f"run({name}_kernel<T, VEC>, VEC)"), Do(f"run({name}_kernel<T, 1>, 1)")]
    return [
        Comment("32-bit divisions are several times cheaper than 64-bit ones."),
        small_test(needs, counts),
        leave("vectors && small", f"run({name}_kernel<int, T, VEC>, VEC)"),
        leave("vectors", f"run({name}_kernel<int64_t, T, VEC>, VEC)"),
        leave("small", f"run({name}_kernel<int, T, 1>, 1)"),
        Do(f"run({name}_kernel<int64_t, T, 1>, 1)"),
    ]


def small_test(needs: Needs, counts: Sequence[str]) -> Let:
    """The statement that tests whether 32 bits suffice for every position."""
    largest = ", ".join([*counts, *(f"{tensor}.numel()" for tensor in {**needs.reads, **needs.writes})])
    test = code("{std::max}({{{largest}}}) < (int64_t{{1}} << 31) - {slack}", largest=largest, slack=SLACK)
    return Let("const bool", "small", test)


class Map(Strategy):
    """One group of elements, in a launch of its own."""

    name = "map"

    def knobs(self, gpu: Gpu) -> tuple[Knob, ...]:
        return KNOBS

    def serves(self, group: Group) -> bool:
        return group.space.kind == ELEMENTS

    def applies(self, site: Site, config: Config) -> Fit | None:
        return None if site.is_listed else Fit(cost=1.0, shape=shape_of(site, config))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        work = elements_of(site, writer.config)
        writer.launch(map_kernel(writer.kernel_name(site.group), work, writer.config))


def elements_of(site: Site, config: Config) -> Elements:
    return elements(site.comment, site.group.stores, site.graph, site.held, config)


def shape_of(site: Site, config: Config) -> tuple[int, int, int]:
    packs = config["map_packs"]
    fewer = packs > 1 and site.once("is laborious", lambda: elements_of(site, {**config, "map_packs": 2}).packs == 1)
    return config["map_block"], packs // 2 if fewer else packs, config["vector_bytes"]


STRATEGIES = (Map(),)
