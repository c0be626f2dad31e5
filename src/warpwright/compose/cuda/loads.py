"""Loads of elements and packs, each once, and the names of everything that a kernel declares."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from warpwright.compose.code.statements import Let, Statement
from warpwright.compose.code.text import Code, as_code, code
from warpwright.compose.cuda.arithmetic import ATOM, Term
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir import index_code, indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, Index
from warpwright.compose.ir.naming import RESERVED
from warpwright.compose.ir.sizes import Cases, Size
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import BOOL, FLOAT, INT

SUFFIXES = {KERNEL: "value", indices.ROW: "of_row", PACK: "here", ELEMENT: "k"}
KINDS = {FLOAT: "float", INT: "int64_t", BOOL: "bool"}


@dataclass(frozen=True, slots=True)
class Early:
    """A prefetched pack."""

    type: Code
    load: Code


@dataclass(frozen=True, slots=True)
class PackMode:
    """How a kernel holds the packs that it reads."""

    kept: Mapping[str, Code] = field(default_factory=dict)
    """Tensors whose packs are kept on chip, and the position of a pack."""
    opens: bool = False
    """Whether packs are kept as packed words and unpacked at each use."""
    early_place: str | None = None
    """The index of the prefetched pack in use; None if packs are loaded at their use."""


DIRECT = PackMode()
"""Packs are loaded where they are used."""


class Loads:
    """Declares names and loads of one kernel."""

    def __init__(self, cases: Cases, tensors: Iterable[Tensor], size_names: Mapping[Size, str], mode: PackMode) -> None:
        self._cases, self.needs = cases, Needs()
        self._size_names = dict(size_names)
        self.lines: dict[int, list[Statement]] = {level: [] for level in (KERNEL, indices.ROW, PACK, ELEMENT)}
        self.kept, self._opens = dict(mode.kept), mode.opens
        self.early: dict[str, Early] = {}
        """Prefetched packs, by name."""
        self._early_place = mode.early_place
        self.packs: dict[tuple[str, Index | None], Code] = {}
        self._singles: dict[tuple[str, Index | None], Term] = {}
        self._tensors = {tensor.name for tensor in tensors}
        self._taken = {*RESERVED, *self._tensors}
        self._called: dict[Hashable, str] = {}
        """Names of values that another pass computes again, so that they keep their names."""
        self._of_row: dict[Index, str] = {}
        """Quotients of indices that are hoisted out of the row loop, by name."""

    def new_pass(self, early_place: str | None = None) -> None:
        """Forgets what was loaded for packs and elements; packs are prefetched if there is a place for them."""
        self.lines[PACK], self.lines[ELEMENT] = [], []
        self.packs, self.early, self._early_place = {}, {}, early_place
        self._singles = {key: term for key, term in self._singles.items() if term.level < PACK}

    def keep(self, name: str, place: Code) -> None:
        """Finds the packs of a tensor where they are kept on chip from now on."""
        self.kept[name] = place

    def reserve(self, *names: str) -> None:
        """Reserves names that the surrounding text uses."""
        self._taken.update(names)

    def name(self, wanted: str, of: Hashable = None) -> str:
        """A unique C++ name close to the wanted one; the same name for the same `of`."""
        if of in self._called:
            return self._called[of]
        base = re.sub(r"[\W_]+", "_", wanted).strip("_") or "value"
        base = f"v_{base}" if base[0].isdigit() else base
        found, count = base, 1
        while found in self._taken:
            count += 1
            found = f"{base}_{count}"
        self._taken.add(found)
        if of is not None:
            self._called[of] = found
        return found

    def size_text(self, size: Size) -> str:
        if size.constant is not None:
            return size.text
        name = self._size_names.get(size)
        if name is None:
            name = self._size_names[size] = self.name(_size_name(size))
        self.needs.sizes.setdefault(name, size)
        return name

    def index_code(self, index: Index | None, lane: str = "", is_operand: bool = False) -> Code:
        if index is not None and indices.level(index) >= PACK and not (lane and indices.moves_by_row(index)):
            index = index_code.hoisted(index, self._divided_once, self._cases.one())
        return self._index_code(index, lane, is_operand)

    def _divided_once(self, index: Index) -> str:
        """Hoists a division out of the pack loop, which the compiler does not do by itself."""
        if index not in self._of_row:
            self._of_row[index] = self.name("part_of_row")
            self.lines[indices.ROW].append(Let("const int64_t", self._of_row[index], self._index_code(index)))
        return self._of_row[index]

    def _index_code(self, index: Index | None, lane: str = "", is_operand: bool = False) -> Code:
        self.needs.divides |= index_code.divides(index)
        self.needs.small.update(index_code.divisors(index))
        self.needs.strides.update(index_code.strides(index))
        return index_code.written(index, self.size_text, lane, is_operand)

    def load(self, tensor: Tensor, offset: Index | None, kind: str) -> Term:
        self.needs.reads[tensor.name] = tensor
        moved = indices.motion(offset, self._cases)
        wrap = "float({found})" if kind == FLOAT and tensor.dtype != "fp32" else "{found}"
        if moved.kind == "free":
            found = code("{tensor}[{where}]", tensor=tensor.name, where=self.index_code(offset, "k"))
            return Term(code(wrap, found=found), ATOM, ELEMENT)
        self.needs.multiples.update(dict.fromkeys(moved.multiples))
        if moved.kind == "still":
            return self._loaded_once(tensor, offset, kind, wrap)
        return Term(code(wrap, found=code("{pack}.at[{k}]", pack=self._pack(tensor, offset))), ATOM, ELEMENT)

    def _loaded_once(self, tensor: Tensor, offset: Index | None, kind: str, wrap: str) -> Term:
        """Loads one element for the whole pack, row or kernel."""
        key = (tensor.name, offset)
        level = min(indices.level(offset), PACK)
        if key not in self._singles:
            name = self.name(f"{tensor.name}_{SUFFIXES[level]}", key)
            found = code("{tensor}[{where}]", tensor=tensor.name, where=self.index_code(offset))
            self.lines[level].append(Let(f"const {KINDS[kind]}", name, code(wrap, found=found)))
            self._singles[key] = Term(as_code(name), ATOM, level)
        return self._singles[key]

    def _pack(self, tensor: Tensor, offset: Index | None) -> Code:
        self.needs.vectors[tensor.name] = tensor
        key = (tensor.name, offset)
        if key not in self.packs:
            self.packs[key] = self._kept_pack(tensor, offset) or self._loaded_pack(tensor, offset)
        return self.packs[key]

    def _kept_pack(self, tensor: Tensor, offset: Index | None) -> Code | None:
        kept = self.kept.get(tensor.name)
        if not kept or not self._opens:
            return kept
        return self._opened(tensor, offset, code("unpack_each_pass<{type}, {VEC}>({kept})", type=tensor.cpp, kept=kept))

    def _opened(self, tensor: Tensor, offset: Index | None, found: Code) -> Code:
        name = self.name(f"{tensor.name}_pack", ("pack", tensor.name, offset))
        self.lines[PACK].append(Let(code("const Pack<{type}, {VEC}>", type=tensor.cpp), name, found))
        return as_code(name)

    def _loaded_pack(self, tensor: Tensor, offset: Index | None) -> Code:
        if self._early_place is None or indices.is_loaded(offset):
            where = self.index_code(offset)
            return self._opened(
                tensor, offset, code("{load}<{VEC}>({tensor} + {where})", tensor=tensor.name, where=where)
            )
        kind, load, stem = ("Words", "load_words", "words") if self._opens else ("Pack", "load", "pack")
        # Perhaps before there is anything that is known of the row.
        name, where = self.name(f"{tensor.name}_{stem}", (stem, tensor.name, offset)), self._index_code(offset)
        self.early[name] = Early(
            type=code("{kind}<{type}, {VEC}>", kind=kind, type=tensor.cpp),
            load=code("{call}<{VEC}>({tensor} + {where})", call=load, tensor=tensor.name, where=where),
        )
        loaded = code("{name}{place}", name=name, place=self._early_place)
        if not self._opens:
            return loaded
        return self._opened(tensor, offset, code("unpack<{type}, {VEC}>({loaded})", type=tensor.cpp, loaded=loaded))


def _size_name(size: Size) -> str:
    words = {"//": "_per_", "*": "_x_", "+": "_plus_", "-": "_minus_"}
    return re.sub(r"//|[-+*]", lambda sign: words[sign[0]], re.sub(r"[()\s]", "", size.text))
