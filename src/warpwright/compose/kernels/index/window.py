"""Windows that slide over an image: the largest element, its place, or the mean of what is computed on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warpwright.compose.code.printer import INDENT, printed, signature
from warpwright.compose.code.text import as_code
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import Written, block, launch, launcher_parameters, parameters, pointers
from warpwright.compose.cuda.preamble import DIVISOR
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Loaded, Var
from warpwright.compose.ir.operations import Window
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Graph
from warpwright.compose.kernels.index import quad as quad_kernel
from warpwright.compose.kernels.pointwise.map import indexed, small_test

AXES = ("depth", "height", "width")
THREADS, EACH = 256, 2
"""How many windows a thread takes: loads for the second are under way before the first is done."""


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
        device="\n".join(device),
        launcher="\n".join(_launcher(name, needs, writer.unrolled, quads)),
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
        """Short ones, where the formula would make a long one."""
        extents = self.value.shape[-len(self.axes) :]
        found = {extent: f"out_{axis}" for extent, axis in zip(extents, self.axes, strict=True)}
        found[graph.cases.product(extents)] = "windows"
        return {size: name for size, name in found.items() if not size.text.isidentifier()}

    def _unrolled(self, cases: Cases) -> tuple[str, tuple[int, ...]] | None:
        """The name of a size that all sides of a window have, and what it is where speed is measured."""
        sides = set(self.window.sides)
        side = next(iter(sides))
        if len(sides) > 1 or side.constant is not None:
            return None
        return self._size(side), tuple(sorted({side.values[number] for number in cases.timed}))

    def device(self) -> list[str]:
        emitter, x = self.emitter, self.value.first
        inner = (*self.place[: -len(self.axes)], *(Loaded(as_code(axis), ELEMENT) for axis in self.axes))
        found = emitter.term(x, inner)
        starts = self._starts()
        loops, closing = self._loops()
        kept = self._kept(found.text, x.shape[-len(self.axes) :])
        emitter.needs.writes[self.store.tensor.name] = self.store.tensor
        depth = len(self.axes)
        window = [
            f"const Index i = static_cast<Index>(blockIdx.x) * {THREADS * EACH} + p * {THREADS} + threadIdx.x;",
            "if (i >= count) return;",
            *printed(emitter.lines[PACK]),
            *starts,
            *self._begun(),
            *loops,
            *block([*printed(emitter.lines[ELEMENT]), *kept], depth),
            *closing,
            f"{self.store.tensor.name}[i] = {self._result()};",
        ]
        side = [f"const Index side = SIDE > 0 ? SIDE : {self.unrolled[0]};"] if self.unrolled else []
        body = [
            *side,
            *printed(emitter.lines[KERNEL]),
            *printed(emitter.lines[ROW]),
            "#pragma unroll",
            f"for (int p = 0; p < {EACH}; ++p) {{",
            *block(window),
            "}",
        ]
        typed = indexed(parameters(emitter.needs), body)
        head = signature(f"__global__ void __launch_bounds__({THREADS}) {self.name}_kernel", typed)
        head[-1] += " {"
        template = f"template <typename Index, typename T{', int SIDE' if self.unrolled else ''}>"
        return [self._comment(), template, *head, *block(body), "}"]

    def _comment(self) -> str:
        what = {"max": "the largest of", "at": "where the largest lies in"}.get(self.window.mode, "the mean of")
        known = "\n// SIDE is how far a window reaches, zero where that is not known before." if self.unrolled else ""
        return f"// Computes {self.store.tensor.name}: {what} each window. A thread takes {EACH} of them.{known}"

    def _size(self, size: Size) -> str:
        return self.emitter.size_text(size)

    def _starts(self) -> list[str]:
        lines = []
        for position, axis in enumerate(self.axes):
            stride, padding = self.window.strides[position], self.window.padding[position]
            at = self.emitter.index_code(self.place[position - len(self.axes)]).text
            at, times = (at, "") if stride.is_one else (f"({at})" if " " in at else at, f" * {self._size(stride)}")
            back = "" if padding.text == "0" else f" - {self._size(padding)}"
            lines.append(f"const Index first_{axis} = {at}{times}{back};")
        return lines

    def _loops(self) -> tuple[list[str], list[str]]:
        lines = []
        for position, axis in enumerate(self.axes):
            length, dilation = self.window.sides[position], self.window.dilation[position]
            times = "" if dilation.is_one else f" * {self._size(dilation)}"
            extent = self._size(self.value.first.shape[position - len(self.axes)])
            side = "side" if self.unrolled else self._size(length)
            inner = [
                "#pragma unroll",
                f"for (Index step_{axis} = 0; step_{axis} < {side}; ++step_{axis}) {{",
                f"    const Index {axis} = first_{axis} + step_{axis}{times};",
                f"    if ({axis} < 0 || {axis} >= {extent}) continue;",
            ]
            lines += block(inner, position)
        return lines, [f"{INDENT * depth}}}" for depth in reversed(range(len(self.axes)))]

    def _begun(self) -> list[str]:
        match self.window.mode:
            case "max":
                return ["float best = -INFINITY;"]
            case "at":
                return ["float best = -INFINITY;", "Index at = -1;"]
            case "mean_inside":
                return ["float sum = 0.0f;", "int inside = 0;"]
        return ["float sum = 0.0f;"]

    def _kept(self, text: str, extents: Sequence[Size]) -> list[str]:
        if self.window.mode.startswith("mean"):
            return [f"sum += {text};", *(["++inside;"] if self.window.mode == "mean_inside" else [])]
        name = text if text.isidentifier() else "found"
        found = [] if name == text else [f"const float found = {text};"]
        if self.window.mode == "max":
            return [*found, f"if ({name} > best || {name} != {name}) best = {name};"]
        flat = self.axes[0]
        for axis, extent in zip(self.axes[1:], extents[1:], strict=True):
            flat = (
                f"({flat}) * {self._size(extent)} + {axis}"
                if " " in flat
                else f"{flat} * {self._size(extent)} + {axis}"
            )
        test = f"if (at < 0 || {name} > best || {name} != {name}) {{"
        return [*found, test, f"    best = {name};", f"    at = {flat};", "}"]

    def _result(self) -> str:
        if self.window.mode == "mean":
            return "sum / static_cast<float>(" + " * ".join(self._size(size) for size in self.window.sides) + ")"
        return {"max": "best", "at": "at", "mean_inside": "sum / static_cast<float>(inside)"}[self.window.mode]


def _launcher(name: str, needs: Needs, unrolled: tuple[str, tuple[int, ...]] | None, quads: Sequence[str]) -> list[str]:
    head = signature(f"void launch_{name}", launcher_parameters(needs))
    head[-1] += " {"
    blocks = f"(count + {THREADS * EACH - 1}) / {THREADS * EACH}"
    side, sides = unrolled or ("", ())
    known = [f"if (small && {side} == {size}) return run({name}_kernel<int, T, {size}>);" for size in sides]
    unknown = ", 0" if unrolled else ""
    body = [
        "if (count == 0) return;",
        small_test(needs, ["count"]),
        *quads,
        "const auto run = [&](auto kernel) {",
        *block(launch(blocks, str(THREADS), pointers(needs))),
        "};",
        *known,
        f"if (small) return run({name}_kernel<int, T{unknown}>);",
        f"run({name}_kernel<int64_t, T{unknown}>);",
    ]
    return ["template <typename T>", *head, *block(body), "}"]
