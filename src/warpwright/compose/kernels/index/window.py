"""Pooling windows over an image: the maximum, its position, or the mean of values computed on the fly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpwright.compose.code.definitions import Definition
from warpwright.compose.code.statements import (
    FULLY,
    Assign,
    Body,
    Do,
    If,
    Lambda,
    Let,
    Loop,
    Statement,
    under,
)
from warpwright.compose.code.text import Code, as_code, code, joined
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import (
    Written,
    launch,
    launcher,
    leave,
    parameters,
    pointers,
)
from warpwright.compose.cuda.preamble import DIVISOR
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Loaded, Var
from warpwright.compose.ir.operations import Op, Window
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.index import quad as quad_kernel
from warpwright.compose.kernels.pointwise.map import indexed, small_test
from warpwright.compose.kernels.site import Site
from warpwright.compose.kernels.strategy import Fit, Otherwise, Strategy
from warpwright.compose.kernels.writing import Writing
from warpwright.compose.schedule.groups import Group
from warpwright.compose.schedule.knobs import Config

AXES = ("depth", "height", "width")
THREADS, EACH = 256, 2
"""Threads per block, and windows per thread, so that loads of two windows overlap."""


def window_kernel(name: str, store: Store, graph: Graph, held: Mapping[int, Tensor]) -> Written:
    if store.dim is not None:
        raise CannotCompose("a pool that is part of a concatenation")
    writer = _Windows(name, store, graph, held)
    device, needs = writer.device(), writer.emitter.needs
    in_quads = quad_kernel.is_worth_it(store, held, graph.cases)
    quads = quad_kernel.quads_first(store, held[store.value.first.number], writer.emitter.size_text) if in_quads else []
    needs.functions |= quad_kernel.FUNCTIONS if in_quads else {}
    return Written(
        name=name,
        device=(device,),
        launcher=(launcher(name, needs, _launcher(name, needs, writer.unrolled, quads)),),
        needs=needs,
        preamble=(DIVISOR, *(quad_kernel.PREAMBLE if in_quads else ())),
    )


class _Windows:
    def __init__(self, name: str, store: Store, graph: Graph, held: Mapping[int, Tensor]) -> None:
        self.name, self.store, self.value = name, store, store.value
        self.window = store.value.attr(Window)
        self.axes = AXES[-len(self.window.sides) :]
        count = graph.numel(store.value)
        self.emitter = Emitter(graph, held, [store.value], {**self._size_names(graph), count: "count"}, [store.tensor])
        self.emitter.reserve("best", "found", "at", "sum", "inside", *self.axes)
        self.emitter.needs.sizes["count"] = count
        self.emitter.needs.divides = True
        self.place = indices.unravel(Var("i", PACK), store.value.shape, graph.cases)
        self.unrolled = self._unrolled(graph.cases)

    def _size_names(self, graph: Graph) -> dict[Size, str]:
        """Short names for sizes with long formulas."""
        extents = self.value.shape[-len(self.axes) :]
        found = {extent: f"out_{axis}" for extent, axis in zip(extents, self.axes, strict=True)}
        found[graph.cases.product(extents)] = "windows"
        return {size: name for size, name in found.items() if not size.text.isidentifier()}

    def _unrolled(self, cases: Cases) -> tuple[str, tuple[int, ...]] | None:
        """The name of the size of all sides of a window, and its value in timed cases."""
        sides = set(self.window.sides)
        side = next(iter(sides))
        if len(sides) > 1 or side.constant is not None:
            return None
        return self._size(side), tuple(sorted({side.values[number] for number in cases.timed}))

    def device(self) -> Definition:
        emitter = self.emitter
        window, body = self._window(), (*emitter.lines[KERNEL], *emitter.lines[ROW])
        side = (
            [Let("const Index", "side", code("SIDE > 0 ? SIDE : {size}", size=self.unrolled[0]))]
            if self.unrolled
            else []
        )
        whole = (*side, *body, Loop(f"int p = 0; p < {EACH}; ++p", tuple(window), FULLY))
        return Definition(
            comments=self._comments(),
            template=f"typename Index, typename T{', int SIDE' if self.unrolled else ''}",
            head=f"__global__ void __launch_bounds__({THREADS}) {self.name}_kernel",
            parameters=tuple(indexed(parameters(emitter.needs), whole)),
            body=whole,
        )

    def _window(self) -> list[Statement]:
        """The statements of one window."""
        emitter, x = self.emitter, self.value.first
        inner = (*self.place[: -len(self.axes)], *(Loaded(as_code(axis), ELEMENT) for axis in self.axes))
        found = emitter.term(x, inner)
        starts, walked = self._starts(), self._sides()
        kept = self._kept(found.code, x.shape[-len(self.axes) :])
        emitter.needs.writes[self.store.tensor.name] = self.store.tensor
        number = f"static_cast<Index>(blockIdx.x) * {THREADS * EACH} + p * {THREADS} + threadIdx.x"
        return [
            Let("const Index", "i", number),
            under(code("i >= {count}"), [Do("return")]),
            *emitter.lines[PACK],
            *starts,
            *self._begun(),
            *self._looped(walked, [*emitter.lines[ELEMENT], *kept]),
            Assign(code("{tensor}[i]", tensor=self.store.tensor.name), self._result()),
        ]

    def _comments(self) -> tuple[str, ...]:
        what = {"max": "the largest of", "at": "where the largest lies in"}.get(self.window.mode, "the mean of")
        known = ("SIDE is the window's extent, or zero if it is unknown at compile time.",) if self.unrolled else ()
        return (f"Computes {self.store.tensor.name}: {what} each window. A thread takes {EACH} of them.", *known)

    def _size(self, size: Size) -> str:
        return self.emitter.size_text(size)

    def _starts(self) -> list[Statement]:
        found: list[Statement] = []
        for position, axis in enumerate(self.axes):
            stride, padding = self.window.strides[position], self.window.padding[position]
            at = self.emitter.index_code(self.place[position - len(self.axes)], is_operand=not stride.is_one)
            times = "" if stride.is_one else code(" * {by}", by=self._size(stride))
            back = "" if padding.text == "0" else code(" - {by}", by=self._size(padding))
            found.append(Let("const Index", f"first_{axis}", code("{at}{times}{back}", at=at, times=times, back=back)))
        return found

    def _sides(self) -> list[tuple[Code, list[Statement]]]:
        """The loop head of every axis, and the first statements of the loop."""
        found = []
        for position, axis in enumerate(self.axes):
            length, dilation = self.window.sides[position], self.window.dilation[position]
            times = "" if dilation.is_one else code(" * {by}", by=self._size(dilation))
            extent = self._size(self.value.first.shape[position - len(self.axes)])
            side = "side" if self.unrolled else self._size(length)
            head = code(f"Index step_{axis} = 0; step_{axis} < {{side}}; ++step_{axis}", side=side)
            beyond = code("{axis} < 0 || {axis} >= {extent}", axis=axis, extent=extent)
            here = Let("const Index", axis, code(f"first_{axis} + step_{axis}{{times}}", times=times))
            found.append((head, [here, under(beyond, [Do("continue")])]))
        return found

    def _looped(self, sides: list[tuple[Code, list[Statement]]], inner: Body) -> Body:
        """The statements within loops over all sides of a window."""
        for head, begun in reversed(sides):
            inner = [Loop(head, (*begun, *inner), FULLY)]
        return inner

    def _begun(self) -> list[Statement]:
        match self.window.mode:
            case "max":
                return [Let("float", "best", "-INFINITY")]
            case "at":
                return [Let("float", "best", "-INFINITY"), Let("Index", "at", "-1")]
            case "mean_inside":
                return [Let("float", "sum", "0.0f"), Let("int", "inside", "0")]
        return [Let("float", "sum", "0.0f")]

    def _kept(self, found: Code, extents: Sequence[Size]) -> list[Statement]:
        """The statements that accumulate one element."""
        if self.window.mode.startswith("mean"):
            counted = [Do("++inside")] if self.window.mode == "mean_inside" else []
            return [Assign("sum", found, "+="), *counted]
        is_name = found.text.isidentifier()
        name = found.text if is_name else "found"
        declared = [] if is_name else [Let("const float", "found", found)]
        larger = code("{name} > best || {name} != {name}", name=name)
        if self.window.mode == "max":
            return [*declared, under(larger, [Assign("best", name)])]
        test = code("at < 0 || {larger}", larger=larger)
        return [*declared, If(test, (Assign("best", name), Assign("at", self._flat(extents))))]

    def _flat(self, extents: Sequence[Size]) -> Code:
        """The position of an element in its plane."""
        flat, is_sum = as_code(self.axes[0]), False
        for axis, extent in zip(self.axes[1:], extents[1:], strict=True):
            outer = code("({flat})", flat=flat) if is_sum else flat
            flat, is_sum = code("{outer} * {extent} + {axis}", outer=outer, extent=self._size(extent), axis=axis), True
        return flat

    def _result(self) -> Code:
        if self.window.mode == "mean":
            count = joined(" * ", [self._size(size) for size in self.window.sides])
            return code("sum / static_cast<float>({count})", count=count)
        return as_code({"max": "best", "at": "at", "mean_inside": "sum / static_cast<float>(inside)"}[self.window.mode])


def _launcher(name: str, needs: Needs, unrolled: tuple[str, tuple[int, ...]] | None, quads: Body) -> list[Statement]:
    blocks = f"(count + {THREADS * EACH - 1}) / {THREADS * EACH}"
    side, sides = unrolled or ("", ())
    unknown = ", 0" if unrolled else ""
    return [
        leave("count == 0"),
        small_test(needs, ["count"]),
        *quads,
        Lambda("run", "auto kernel", (launch(blocks, str(THREADS), pointers(needs)),)),
        *(leave(f"small && {side} == {size}", f"run({name}_kernel<int, T, {size}>)") for size in sides),
        leave("small", f"run({name}_kernel<int, T{unknown}>)"),
        Do(f"run({name}_kernel<int64_t, T{unknown}>)"),
    ]


class Windows(Strategy):
    """Windows that slide over an image."""

    name = "windows"

    def serves(self, group: Group) -> bool:
        return group.own_step is Op.POOL

    def applies(self, site: Site, config: Config) -> Fit:
        return Fit(cost=1.0)

    def write(self, site: Site, writer: Writing, otherwise: Otherwise) -> None:
        name = writer.kernel_name(site.group)
        writer.launch(window_kernel(name, site.first, site.graph, site.held))


STRATEGIES = (Windows(),)
