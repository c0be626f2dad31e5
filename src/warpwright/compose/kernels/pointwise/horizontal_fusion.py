"""Horizontal fusion: independent elementwise kernels of different sizes in one launch, each with its own blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from typing import Any

from warpwright.compose.code.definitions import Definition, Parameter
from warpwright.compose.code.statements import (
    Call,
    Do,
    Lambda,
    Let,
    Statement,
    under,
)
from warpwright.compose.code.text import code
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    parameters,
    pointers,
    vec_of,
    vector_test,
)
from warpwright.compose.cuda.preamble import ALIGNED, DIVISOR, PACKS
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.kernels.pointwise.map import Elements, body_of, choices, elements_of, indexed, shape_of
from warpwright.compose.kernels.rows.launch import merged_needs
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config
from warpwright.compose.schedule.spaces import ELEMENTS


def can_share(sites: Sequence[Site]) -> bool:
    """Whether no kernel writes a tensor that another reads or writes."""
    return all(
        one.writes.isdisjoint(other.reads | other.writes) and other.writes.isdisjoint(one.reads)
        for one, other in combinations(sites, 2)
    )


def fused_horizontally(name: str, works: Sequence[Elements], config: Mapping[str, Any]) -> Written:
    needs = _joined(works)
    parts = [f"{name}_part_{number}" for number in range(1, len(works) + 1)]
    devices = [_part(part, work, config) for part, work in zip(parts, works, strict=True)]
    return Written(
        name=name,
        device=(*devices, _kernel(name, parts, works, needs, config)),
        launcher=(launcher(name, needs, _launcher(name, works, needs, config)),),
        needs=needs,
        preamble=(PACKS, ALIGNED, DIVISOR),
    )


def _joined(works: Sequence[Elements]) -> Needs:
    """The union of their needs; only their counts differ."""
    renamed = [
        replace(work.needs, sizes={_name(size, number): value for size, value in work.needs.sizes.items()})
        for number, work in enumerate(works, 1)
    ]
    return replace(merged_needs(renamed), divides=True)


def _name(size: str, number: int) -> str:
    return f"count_{number}" if size == "count" else size


def _part(name: str, work: Elements, config: Mapping[str, Any]) -> Definition:
    body = body_of(work, "Index", "block", config)
    return Definition(
        comments=(work.comment,),
        template="typename Index, typename T, int VEC",
        head=f"__device__ void {name}",
        parameters=(Parameter("Index", "block"), *indexed(parameters(work.needs), body)),
        body=tuple(body),
        is_kernel=False,
    )


def _kernel(
    name: str, parts: Sequence[str], works: Sequence[Elements], needs: Needs, config: Mapping[str, Any]
) -> Definition:
    """The fused kernel: consecutive ranges of blocks belong to consecutive parts."""
    starts = [Parameter("Index", f"start_{number}") for number in range(2, len(works) + 1)]
    bodies = [statement for work in works for statement in body_of(work, "Index", "block", config)]
    numbered = reversed(list(enumerate(zip(parts, works, strict=True), 1)))
    return Definition(
        template="typename Index, typename T, int VEC",
        head=f"__global__ void __launch_bounds__({config['map_block']}) {name}_kernel",
        parameters=(*indexed(parameters(needs), bodies), *starts),
        body=(
            Let("const Index", "block", "blockIdx.x"),
            *(_called(part, work, number) for number, (part, work) in numbered),
        ),
    )


def _called(part: str, work: Elements, number: int) -> Statement:
    """The call of a part, by its blocks."""
    own, start = work.needs, f"start_{number}"
    reads = [tensor for tensor in own.reads if tensor not in own.writes]
    given = [*reads, *own.writes, *own.scalars, *(_name(size, number) for size in own.sizes)]
    function = code("{part}<Index, {T}, {VEC}>", part=part)
    if number == 1:
        return Call(function, ("block", *given))
    call = Call(function, (code("block - {start}", start=start), *given), returns=True)
    return under(code("block >= {start}", start=start), [call])


def _launcher(name: str, works: Sequence[Elements], needs: Needs, config: Mapping[str, Any]) -> list[Statement]:
    count, shares = len(works), [config["map_block"] * work.packs for work in works]
    counts = [f"count_{number}" for number in range(1, count + 1)]
    ends = ["0", *(f"start_{number}" for number in range(2, count + 1)), "blocks"]
    steps = [
        Let("const int64_t", end, f"{'' if before == '0' else f'{before} + '}blocks_of({items}, {share})")
        for before, items, share, end in zip(ends[:-1], counts, shares, ends[1:], strict=True)
    ]
    blocks = Do("return (count + packs * width - 1) / (packs * width)")
    run = (
        Lambda("blocks_of", "int64_t count, int64_t packs", (blocks,)),
        *steps,
        leave("blocks == 0"),
        launch("blocks", str(config["map_block"]), [*pointers(needs), *ends[1:-1]]),
    )
    return [
        vec_of(config["vector_bytes"]),
        Lambda("run", "auto kernel, int64_t width", run),
        vector_test(needs),
        *choices(name, needs, counts),
    ]


class HorizontalFusion(Strategy):
    """Neighbouring groups of elements that need nothing of each other, in one launch."""

    name = "horizontal fusion"
    serves_several = True

    def serves(self, group: Group) -> bool:
        return group.space.kind == ELEMENTS

    def applies(self, site: Site, config: Config) -> Fit | None:
        run = site.once("fused", lambda: _run(site))
        if len(run) < 2:
            return None
        return Fit(cost=1.0 / len(run), groups=len(run), shape=tuple(shape_of(each, config) for each in run))

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        works = [elements_of(each, writer.config) for each in _run(site)]
        writer.launch(fused_horizontally(writer.kernel_name(site.group), works, writer.config))


def _run(site: Site) -> list[Site]:
    """The site and those after it that share a launch."""
    after = site.siblings[site.index :]
    run = list(takewhile(lambda each: each.space.kind == ELEMENTS and not each.is_listed, after))
    while len(run) > 1 and not can_share(run):
        run.pop()
    return run


STRATEGIES = (HorizontalFusion(),)
