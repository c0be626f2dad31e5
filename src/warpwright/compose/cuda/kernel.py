"""The parts that all kinds of kernels share: parameters, text and launcher."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from warpwright.compose.code.definitions import Definition, Item, Parameter
from warpwright.compose.code.printer import INDENT
from warpwright.compose.code.statements import FULLY, Assign, Body, Do, If, Launch, Let, Loop, Raw, Statement, under
from warpwright.compose.code.text import Code, Piece, code
from warpwright.compose.code.traversal import names as names_in
from warpwright.compose.cuda.eight_bits import as_stored, pack_out
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.indices import Place
from warpwright.compose.ir.operations import Constant, Op
from warpwright.compose.ir.tensors import Store, Tensor
from warpwright.compose.ir.values import Value

LARGEST_E4M3 = 448.0
LONGEST_CHOICE = 87
"""Longer choices among kernels take three lines."""
EIGHT_BITS = ("e4m3", "e5m2")
COUNTED = ("rows", "columns")
"""Sizes that are loop bounds and therefore plain numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A kernel in C++: device code, the host function that launches it, and that function's arguments."""

    name: str
    device: tuple[Item, ...]
    launcher: tuple[Item, ...]
    needs: Needs
    preamble: tuple[Item, ...] = ()
    """Device functions that it calls."""
    in_sequence: bool = False
    """Whether that function launches several kernels, one after the other."""


def listed(stores: Sequence[Store]) -> str:
    """The names of the stored tensors, as in a sentence."""
    names = list(dict.fromkeys(store.tensor.name for store in stores))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def used(needs: Needs, body: Body) -> Needs:
    """Drops unused parameters: keeps the needs that the statements name."""
    return named(needs, names_in(body))


def named(needs: Needs, words: Set[str]) -> Needs:
    """The same needs with these names alone."""
    return replace(
        needs,
        reads={name: tensor for name, tensor in needs.reads.items() if name in words},
        writes={name: tensor for name, tensor in needs.writes.items() if name in words},
        scalars={name: value for name, value in needs.scalars.items() if name in words},
        sizes={name: size for name, size in needs.sizes.items() if name in words},
    )


def parameters(needs: Needs) -> list[Parameter]:
    """The parameters of a kernel: inputs, outputs, scalars, sizes."""
    both = needs.reads.keys() & needs.writes.keys()
    reads = [_pointer(t, "const {}* __restrict__") for name, t in needs.reads.items() if name not in both]
    writes = [_pointer(t, "{}*" if name in both else "{}* __restrict__") for name, t in needs.writes.items()]
    scalars = [Parameter(scalar_type(value), name) for name, value in needs.scalars.items()]
    return [*reads, *writes, *scalars, *(Parameter("int64_t", name) for name in needs.sizes)]


def _pointer(tensor: Tensor, kind: str) -> Parameter:
    header = "cuda_fp8.h" if tensor.dtype in EIGHT_BITS else ""
    return Parameter(kind.format(tensor.cpp), tensor.name, header)


def row_parameters(needs: Needs) -> list[Parameter]:
    """The same, for a kernel that counts columns in an int: a product and a shift divide it."""
    small = needs.small - needs.strides
    quick = {name for name, size in needs.sizes.items() if size in small and name not in COUNTED}
    return [replace(item, type="FastDivisor") if item.name in quick else item for item in parameters(needs)]


def scalar_type(value: Value) -> str:
    return "int64_t" if value.kind == "int" else "float"


def pointers(needs: Needs) -> list[Piece]:
    """The pointers that the launcher passes."""
    both = needs.reads.keys() & needs.writes.keys()
    reads = [pointer(tensor) for name, tensor in needs.reads.items() if name not in both]
    writes = [pointer(tensor) for tensor in needs.writes.values()]
    scalars = [f"static_cast<{scalar_type(value)}>({name})" for name, value in needs.scalars.items()]
    return [*reads, *writes, *scalars, *needs.sizes]


def pointer(tensor: Tensor, element: str | None = None) -> Code:
    """The address of a tensor, of elements of its own type or of that which is given."""
    cpp = element if element and tensor.dtype == "T" else tensor.cpp
    if tensor.dtype in EIGHT_BITS:
        return code("reinterpret_cast<{cpp}*>({tensor}.data_ptr())", cpp=cpp, tensor=tensor.name)
    return code("{tensor}.data_ptr<{cpp}>()", cpp=cpp, tensor=tensor.name)


def launcher(
    name: str, needs: Needs, body: Body, *, result: str = "void", comments: tuple[str, ...] = ()
) -> Definition:
    """The host function that launches a kernel."""
    return Definition(
        comments=comments,
        template="typename T",
        head=f"{result} launch_{name}",
        parameters=tuple(launcher_parameters(needs)),
        body=tuple(body),
        is_kernel=False,
    )


def launcher_parameters(needs: Needs) -> list[Parameter]:
    tensors = [Parameter("const torch::Tensor&", name) for name in {**needs.reads, **needs.writes}]
    scalars = [Parameter("int64_t" if value.kind == "int" else "double", name) for name, value in needs.scalars.items()]
    return [*tensors, *scalars, *(Parameter("int64_t", name) for name in needs.sizes)]


def vector_test(needs: Needs, *more: str) -> Let:
    """The statement that says whether the vector path may be taken, under more conditions if there are any."""
    addresses = ", ".join(f"{name}.data_ptr()" for name in needs.vectors)
    tests = [f"aligned({{{addresses}}})"] if addresses else []
    tests += [f"{name} % VEC == 0" for name in _named_multiples(needs)]
    tests += more
    return Let("const bool", "vectors", " && ".join(tests) or "true")


def choice(kernel: str, shape: Sequence[str | int]) -> list[Statement]:
    """Selects the vectorised kernel if the arguments allow it."""
    packed = f"{kernel}<{', '.join(map(str, shape))}>"
    single = f"{kernel}<{', '.join('1' if item == 'VEC' else str(item) for item in shape)}>"
    if packed == single:
        return [Let("const auto", "kernel", packed)]
    found = f"vectors ? {packed} : {single}"
    if len(found) <= LONGEST_CHOICE:
        return [Let("const auto", "kernel", found)]
    lines = ["const auto kernel =", f"{INDENT * 2}vectors ? {packed}", f"{INDENT * 2}        : {single};"]
    return [Raw("\n".join(lines))]


def launch(grid: Piece, threads: Piece, arguments: Sequence[Piece], shared: Piece = "0") -> Launch:
    """A launch on torch's own stream."""
    return Launch(grid, threads, tuple(arguments), shared)


def leave(test: Piece, value: str = "") -> If:
    """Leaves a function, with a value if it has one."""
    return under(test, [Do(f"return {value}" if value else "return")])


def _named_multiples(needs: Needs) -> list[str]:
    """Sizes by their parameter names; constants are omitted."""
    names = {size: name for name, size in needs.sizes.items()}
    return [size.text if size.constant is not None else names[size] for size in needs.multiples if size.text != "0"]


def settle_multiples(emitter: Emitter) -> None:
    """Names every size in the vector test."""
    for size in emitter.needs.multiples:
        emitter.size_text(size)


def vec_of(bytes_: int, type_: str = "T") -> Let:
    """The statement that says how many elements of a type make a pack."""
    return Let("constexpr int", "VEC", f"{bytes_} / sizeof({type_})")


def _target(emitter: Emitter, store: Store, place: Place) -> Place:
    moved = store.place(place)
    if not store.at:
        return moved
    rank = len(store.at[0].shape)
    return (*(emitter.loaded_index(index, place[:rank]) for index in store.at), *moved[rank:])


def _unclamped(value: Value) -> Value | None:
    """The operand of a clamp to the range of 8-bit floats, which the saturating conversion includes."""
    bounds = []
    for op in (Op.MINIMUM, Op.MAXIMUM):
        if value.op is not op or not isinstance(value.args[1].attrs, Constant):
            return None
        bounds.append(value.args[1].attrs.value)
        value = value.first
    return value if bounds == [LARGEST_E4M3, -LARGEST_E4M3] else None


def over_pack(body: Body) -> Loop:
    """A loop over the elements of a pack."""
    return Loop(code("int k = 0; k < {VEC}; ++k"), tuple(body), FULLY)


def over_items(body: Body) -> Loop:
    """A loop over the packs that a thread keeps."""
    return Loop("int item = 0; item < ITEMS; ++item", tuple(body), FULLY)


def emit_stores(
    emitter: Emitter, stores: Sequence[Store], places: Sequence[Place]
) -> tuple[list[Statement], list[Statement]]:
    """The element statements and pack statements that store these values."""
    from warpwright.compose.ir import indices

    elements: list[Statement] = []
    after: list[Statement] = []
    for store, where_to in zip(stores, places, strict=True):
        offset = indices.ravel(_target(emitter, store, where_to), store.tensor.shape, emitter.graph.cases)
        moved = indices.motion(offset, emitter.graph.cases)
        emitter.needs.writes[store.tensor.name] = store.tensor
        in_pairs = moved.kind == "step" and store.tensor.dtype == "e4m3"
        value = store.value.first if in_pairs and store.value.op is Op.NARROW else store.value
        unclamped = _unclamped(value) if in_pairs else None
        value = unclamped or value
        term = emitter.lifted(value, emitter.term(value, where_to), indices.ELEMENT)
        found = term.code if in_pairs else as_stored(emitter.needs, store.tensor, term, value)
        if moved.kind == "step":
            emitter.needs.vectors[store.tensor.name] = store.tensor
            emitter.needs.multiples.update(dict.fromkeys(moved.multiples))
            name = emitter.name(f"{store.tensor.name}_out", ("out", store.tensor.name, offset))
            declared, full = pack_out(emitter.needs, store.tensor, name, unclamped is not None)
            emitter.lines[indices.PACK].append(declared)
            elements.append(Assign(code("{name}{at}[{k}]", name=name, at="" if in_pairs else ".at"), found))
            where = emitter.index_code(offset)
            to = code("{store}<{VEC}>({tensor} + {where}, {full})", tensor=store.tensor.name, where=where, full=full)
            after.append(Do(to))
        else:
            place = code("{tensor}[{where}]", tensor=store.tensor.name, where=emitter.index_code(offset, "k"))
            elements.append(Assign(place, found))
    return elements, after
