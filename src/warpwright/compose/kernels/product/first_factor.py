"""The first factor of products: reads it, or computes it from its inputs."""

from __future__ import annotations

from collections.abc import Mapping

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.printer import indented, printed
from warpwright.compose.code.statements import Assign, Let, Statement
from warpwright.compose.code.text import code
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.kernel import Written, over_pack
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, ROW, Var
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import Graph, Value


def first_factor(name: str, called: str, value: Value, graph: Graph, held: Mapping[int, Tensor]) -> Written | None:
    """A struct that computes the factor's elements; None if an element needs inputs at other positions."""
    emitter = Emitter(graph, held, [value], {})
    emitter.reserve("to")
    place = indices.unravel(Var("i", PACK, innermost=True), value.shape, graph.cases)
    lines = [*_element(emitter, value, place)]
    if not _is_plain(emitter):
        return None
    comment = "read" if value.number in held else "computed where it is read"
    structure = [
        f"// The first factor of products, {comment}: {called}.",
        "template <typename T>",
        f"struct {name} {{",
        *indented(_members(emitter, lines)),
        "};",
    ]
    return Written(name=name, device=(), launcher=(verbatim("\n".join(structure)),), needs=emitter.needs)


def _element(emitter: Emitter, value: Value, place: indices.Place) -> list[Statement]:
    """The statements for one element of a pack."""
    found = emitter.term(value, place).code
    return [*emitter.lines[ELEMENT], Assign("to[k]", found)]


def _is_plain(emitter: Emitter) -> bool:
    """Whether all its inputs are tensors read by packs at the requested position."""
    needs = emitter.needs
    more = needs.sizes or needs.scalars or needs.divides or emitter.lines[KERNEL] or emitter.lines[ROW]
    loads = {
        Let(
            code("const Pack<{type}, {VEC}>", type=tensor.cpp),
            f"{name}_pack",
            code("{load}<{VEC}>({tensor} + {i})", tensor=name),
        )
        for name, tensor in needs.reads.items()
    }
    return not more and set(emitter.lines[PACK]) == loads


def _members(emitter: Emitter, lines: list[Statement]) -> list[str]:
    reads = emitter.needs.reads
    return [
        *(f"const {tensor.cpp}* {name};" for name, tensor in reads.items()),
        "",
        f"bool is_aligned() const {{ return aligned({{{', '.join(reads)}}}); }}",
        "",
        "template <int VEC>",
        "__device__ void read(float (&to)[VEC], int i) const {",
        *indented(printed([*emitter.lines[PACK], over_pack(lines)])),
        "}",
    ]
