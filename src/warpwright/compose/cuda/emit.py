"""Emits the statements of one kernel, computing each value at the outermost possible loop level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from warpwright.compose.code.statements import Let
from warpwright.compose.code.text import as_code, code
from warpwright.compose.cuda.arithmetic import ATOM, DEFINED, DIVIDED, SUM, Term, literal, written
from warpwright.compose.cuda.eight_bits import in_eight_bits
from warpwright.compose.cuda.loads import DIRECT, KINDS, SUFFIXES, Loads, PackMode
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir import indices
from warpwright.compose.ir.indices import ELEMENT, KERNEL, PACK, Flip, Index, Loaded, Place, Shift
from warpwright.compose.ir.operations import (
    OWN_KERNEL,
    Axis,
    Constant,
    Extent,
    Flipped,
    Op,
    Permuted,
    Rounded,
    Scalar,
    Sliced,
)
from warpwright.compose.ir.sizes import Size
from warpwright.compose.ir.tensors import CPP, Tensor
from warpwright.compose.ir.values import BOOL, FLOAT, INT, Graph, Value, is_host, walk
from warpwright.compose.ir.wording import called

LONGEST = 72
"""Longer expressions are assigned to a variable."""
NAMED_AFTER_FIRST = (Op.BROADCAST, Op.FLIP, Op.GATHER, Op.PERMUTE, Op.RESHAPE, Op.ROWS_AT, Op.SLICE)
"""Operations that only select elements of a tensor."""


class Emitter(Loads):
    """Values as statements of one kernel; `roots` are those that it computes."""

    def __init__(
        self,
        graph: Graph,
        held: Mapping[int, Tensor],
        roots: Sequence[Value],
        size_names: Mapping[Size, str],
        writes: Sequence[Tensor] = (),
        packs: PackMode = DIRECT,
        row_index: Index | None = None,
    ) -> None:
        super().__init__(graph.cases, [*held.values(), *writes], size_names, packs)
        self.graph, self.held = graph, held
        self.results: dict[int, Term] = {}
        """Reductions of this kernel that are finished, by value."""
        self._row_index = row_index
        self._memo: dict[tuple[int, Place], Term] = {}
        self._inverses: dict[Term, Term] = {}
        self._rounds = any(value.op is Op.NARROW for value in walk(roots))
        """Whether results are rounded so coarsely that an error in the last digit may change them."""
        self._uses = Counter(arg.number for value in walk(roots) for arg in value.args)

    def new_pass(self, early_place: str | None = None) -> None:
        """Forgets the values computed for packs and elements; packs are prefetched if there is a place for them."""
        super().new_pass(early_place)
        self._memo = {key: term for key, term in self._memo.items() if term.level < PACK}
        self._inverses = {key: term for key, term in self._inverses.items() if term.level < PACK}

    def term(self, value: Value, place: Place) -> Term:
        """The value at a place, as an expression; emits the statements that it needs."""
        key = (value.number, place)
        if key not in self._memo:
            self._memo[key] = self._settled(value, place, self._rounded(value, self._computed(value, place)))
        return self._memo[key]

    def _rounded(self, value: Value, term: Term) -> Term:
        """The value as other kernels read it from memory, rounded to its stored type."""
        if value.number not in self.graph.rounded or value.number in self.held:
            return term
        return Term(code("float(static_cast<{T}>({term}))", term=term.code), ATOM, term.level)

    def _settled(self, value: Value, place: Place, term: Term) -> Term:
        """Assigns a value to a variable if it is used more than once or would make a long line."""
        uses = self._uses[value.number]  # none where it is only stored
        once = uses == 0 or (uses == 1 and len(term.text) <= LONGEST)
        return term if term.is_simple or once else self._named(value, place, term)

    def _named(self, value: Value, place: Place, term: Term) -> Term:
        name = self.name(self.called(value, term.level), (value.number, place, term.level))
        self.lines[term.level].append(Let(f"const {KINDS[value.kind]}", name, term.code))
        return Term(as_code(name), ATOM, term.level)

    def called(self, value: Value, level: int) -> str:
        """The name of a value, with a suffix if a tensor has that name, or a descriptive word."""
        base = value
        while base.number not in self.held and base.op in NAMED_AFTER_FIRST:
            base = base.first
        held = self.held.get(base.number)
        name = held.name if held else self.graph.names.get(base.number)
        part = f"_{SUFFIXES[level]}" if name in self._tensors else ""
        return f"{name}{part}" if name else called(self.graph, base)

    def lifted(self, value: Value, term: Term, level: int) -> Term:
        """Hoists a value to the level at which it needs computing only once."""
        if term.is_simple or term.level >= level:
            return term
        keys = [key for key, known in self._memo.items() if known is term]
        settled = self._named(value, keys[0][1], term)
        self._memo.update(dict.fromkeys(keys, settled))
        return settled

    def _computed(self, value: Value, place: Place) -> Term:
        if value.number in self.held:
            tensor = self.held[value.number]
            return self.load(tensor, indices.ravel(place, value.shape, self.graph.cases), value.kind)
        if is_host(value):
            return self._host_scalar(value)
        if value.number in self.results:
            return self._result(value, place)
        if rule := _RULES.get(value.op):
            return rule(self, value, place)
        if value.op in OWN_KERNEL:
            raise CannotCompose(f"aten.{value.op} inside another kernel")
        args = [self._operand(arg, place, value.kind) for arg in value.args]
        level = max(arg.level for arg in args)
        args = [self.lifted(arg, term, level) for arg, term in zip(value.args, args, strict=True)]
        if value.op in DEFINED and value.kind == FLOAT:
            self.needs.functions[value.op] = DEFINED[value.op]
        if value.op is Op.DIV and level == ELEMENT and args[1].level < ELEMENT:
            return self._divided(*args)
        return written(value.op, args, value.kind if value.kind != BOOL else FLOAT)

    def _operand(self, arg: Value, place: Place, kind: str) -> Term:
        """An operand; integers among floats are written as floats."""
        if isinstance(arg.attrs, Constant) and arg.kind == INT and kind == FLOAT:
            return Term(as_code(literal(float(arg.attrs.value))), ATOM, KERNEL)
        return self.term(arg, _fitting(arg, place))

    def _divided(self, term: Term, by: Term) -> Term:
        inverse = self._inverse(by)
        if not self._rounds:
            return written(Op.MUL, [term, inverse], FLOAT)
        self.needs.functions["divided"] = DIVIDED
        found = code("divided({x}, {by}, {inverse})", x=term.code, by=by.code, inverse=inverse.code)
        return Term(found, ATOM, term.level)

    def _inverse(self, term: Term) -> Term:
        """Replaces repeated divisions by a multiplication with the reciprocal."""
        if term not in self._inverses:
            name = self.name(f"over_{term.text}" if term.text.isidentifier() else "inverse", ("inverse", term))
            self.lines[term.level].append(Let("const float", name, code("1.0f / {x}", x=term.within(ATOM))))
            self._inverses[term] = Term(as_code(name), ATOM, term.level)
        return self._inverses[term]

    def _host_scalar(self, value: Value) -> Term:
        if isinstance(value.attrs, Constant):
            return Term(as_code(literal(value.attrs.value)), ATOM, KERNEL)
        if isinstance(value.attrs, Extent):
            return Term(as_code(self.size_text(value.attrs.size)), ATOM, KERNEL)
        if value.op is Op.TO_FLOAT and isinstance(value.first.attrs, Extent):
            size = self.size_text(value.first.attrs.size)
            return Term(code("static_cast<float>({size})", size=size), ATOM, KERNEL, is_free=True)
        known = next((name for name, held in self.needs.scalars.items() if held is value), None)
        given = value.attrs.name if isinstance(value.attrs, Scalar) else None
        wanted = given or self.graph.names.get(value.number, "scale")
        name = known or self.name(wanted)
        self.needs.scalars[name] = value
        return Term(as_code(name), ATOM, KERNEL)

    def _result(self, value: Value, place: Place) -> Term:
        where = indices.ravel(place, value.shape, self.graph.cases)
        if where != self._row_index and not (where is None and self.graph.numel(value).is_one):
            raise CannotCompose(f"a {value.op} that is used across rows")
        return self.results[value.number]

    def _broadcast(self, value: Value, place: Place) -> Term:
        pairs = zip(place, value.first.shape, strict=True)
        return self.term(value.first, tuple(None if size.is_one else index for index, size in pairs))

    def _permuted(self, value: Value, place: Place) -> Term:
        order = value.attr(Permuted).order
        return self.term(value.first, tuple(place[order.index(position)] for position in range(len(place))))

    def _reshaped(self, value: Value, place: Place) -> Term:
        inner, cases = value.first, self.graph.cases
        flat = indices.ravel(place, value.shape, cases)
        if inner.number in self.held:
            return self.load(self.held[inner.number], flat, inner.kind)
        return self.term(
            inner, tuple([None] * len(inner.shape)) if flat is None else indices.unravel(flat, inner.shape, cases)
        )

    def _slice(self, value: Value, place: Place) -> Term:
        dim, start = (cut := value.attr(Sliced)).dim, cut.start
        moved = list(place)
        base = place[dim]
        if base is None and start.text != "0":
            moved[dim] = Loaded(as_code(self.size_text(start)), KERNEL)
        elif base is not None and start.text != "0":
            moved[dim] = Shift(base, start)
        return self.term(value.first, tuple(moved))

    def _flip(self, value: Value, place: Place) -> Term:
        dims = value.attr(Flipped).dims
        moved = [
            Flip(index, value.shape[dim]) if dim in dims and index is not None else index
            for dim, index in enumerate(place)
        ]
        return self.term(value.first, tuple(moved))

    def _gather(self, value: Value, place: Place) -> Term:
        table, index = value.args
        moved = list(place)
        moved[value.attr(Axis).dim] = self.loaded_index(index, place)
        return self.term(table, tuple(moved))

    def _rows_at(self, value: Value, place: Place) -> Term:
        table, index = value.args
        rank = len(index.shape)
        return self.term(table, (self.loaded_index(index, place[:rank]), *place[rank:]))

    def loaded_index(self, index: Value, place: Place) -> Index:
        found = self.term(index, place)
        found = self.lifted(index, found, ELEMENT) if found.level < ELEMENT else found
        return Loaded(found.code, found.level, found.binding < ATOM)

    def _position(self, value: Value, place: Place) -> Term:
        index = place[value.attr(Axis).dim]
        moved = indices.motion(index, self.graph.cases)
        self.needs.multiples.update(dict.fromkeys(moved.multiples))
        if moved.kind == "still":
            return Term(self.index_code(index), SUM, indices.level(index))
        return Term(self.index_code(index, "k"), SUM, ELEMENT)

    def _narrow(self, value: Value, place: Place) -> Term:
        inner = self.term(value.first, place)
        dtype = value.attr(Rounded).dtype
        if dtype == "e5m2":
            raise CannotCompose("float8_e5m2")
        if dtype == "e4m3":
            return Term(in_eight_bits(self.needs, inner.code), ATOM, inner.level)
        return Term(code("static_cast<{type}>({inner})", type=CPP[dtype], inner=inner.code), ATOM, inner.level)


_RULES: dict[Op, Callable[[Emitter, Value, Place], Term]] = {
    Op.RESHAPE: Emitter._reshaped,
    Op.BROADCAST: Emitter._broadcast,
    Op.PERMUTE: Emitter._permuted,
    Op.SLICE: Emitter._slice,
    Op.FLIP: Emitter._flip,
    Op.GATHER: Emitter._gather,
    Op.ROWS_AT: Emitter._rows_at,
    Op.POSITION: Emitter._position,
    Op.NARROW: Emitter._narrow,
}
"""The emitters of values that are not arithmetic."""


def _fitting(arg: Value, place: Place) -> Place:
    return place if arg.shape else ()
