"""Accumulators: the state of a thread for each reduction along a row, and its combination over threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from warpwright.compose.code.definitions import Item
from warpwright.compose.code.passes.again import again
from warpwright.compose.code.statements import FULLY, Also, Assign, Comment, Do, Form, If, Let, Loop, Statement
from warpwright.compose.code.text import Code, as_code, code, joined
from warpwright.compose.cuda.arithmetic import ATOM, DEFINED, PRODUCT, Term
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.joins import (
    ALL_OVER_ROW,
    BEST,
    BEST_OF_ROW,
    JOIN_NAMES,
    JOINS,
    NEIGHBOURS,
    OVER_ROW,
    SCORES,
)
from warpwright.compose.ir.indices import ROW
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.values import Value
from warpwright.compose.kernels.reduction.passes import Carried, OnlineSoftmax, Variance
from warpwright.compose.kernels.reduction.welford import SHIFTED_MOMENTS, WELFORD

Part = tuple[str, str, Code]
"""A partial result of a block for a piece of a row: name, type and expression."""


@dataclass(slots=True)
class Pass:
    """The statements of one pass."""

    before: list[Statement] = field(default_factory=list)
    packs: list[Statement] = field(default_factory=list)
    """Statements before the elements of a pack."""
    elements: list[Statement] = field(default_factory=list)
    behind: list[Statement] = field(default_factory=list)
    """Statements after the elements of a pack."""
    after: list[Statement] = field(default_factory=list)


class Accumulator(Protocol):
    """An accumulator of one reduction, or of two fused ones."""

    parts: list[Part]

    @property
    def preamble(self) -> Sequence[Item]: ...

    @property
    def operand(self) -> Value: ...

    def begin(self) -> list[Statement]: ...

    def add(self, term: Term, done: Pass) -> None: ...

    def share(self) -> list[Statement]:
        """Combines the accumulators of a block's threads."""

    def anew(self) -> list[Statement]:
        """Resets the accumulator, to combine partial results of blocks."""

    def join(self, parts: Sequence[Code]) -> list[Statement]:
        """Adds the partial result of another block."""

    def share_anew(self) -> list[Statement]:
        """Combines the accumulators of a block's threads after adding partial results of other blocks."""

    def of_all(self, count: str) -> list[Statement]:
        """Adds the partial results of `count` blocks in every thread, which saves a broadcast."""

    def settle(self) -> list[Statement]:
        """The statements after the whole row."""

    def results(self, emitter: Emitter) -> dict[int, Term]: ...


def accumulator_of(item: Carried, emitter: Emitter) -> Accumulator:
    if isinstance(item, OnlineSoftmax):
        return _Joint(item, emitter)
    if isinstance(item, Variance):
        return _Welford(item, emitter)
    return _Best(item, emitter) if item.op in (Op.ARGMAX, Op.ARGMIN) else _Plain(item, emitter)


def shared(accumulators: Sequence[Accumulator], anew: bool = False) -> list[Statement]:
    """Combines accumulators over a block's threads, several of the same kind at once."""
    others = [item for item in accumulators if not isinstance(item, _Plain)]
    found = [statement for item in others for statement in (item.share_anew() if anew else item.share())]
    for op, names in _joined_alike(accumulators).items():
        call = code("{op}, THREADS>({names})", op=op, names=joined(", ", names))
        several = Do(code("row_reduce_all<{call}", call=call))
        found.append(several if names[1:] else Assign(names[0], code("row_reduce<{call}", call=call)))
    return found


def preambles(accumulators: Sequence[Accumulator]) -> list[Item]:
    """The device functions that the accumulators need."""
    several = any(names[1:] for names in _joined_alike(accumulators).values())
    return [*(text for item in accumulators for text in item.preamble), *([ALL_OVER_ROW] if several else ())]


def _joined_alike(accumulators: Sequence[Accumulator]) -> dict[str, list[str]]:
    """The names of scalar accumulators, by their operation."""
    found: dict[str, list[str]] = {}
    for item in accumulators:
        if isinstance(item, _Plain):
            found.setdefault(item.op, []).append(item.name)
    return found


class _Usual(ABC):
    """The common behaviour of most accumulators."""

    parts: list[Part]

    @abstractmethod
    def begin(self) -> list[Statement]: ...

    @abstractmethod
    def share(self) -> list[Statement]: ...

    @abstractmethod
    def join(self, parts: Sequence[Code]) -> list[Statement]: ...

    def anew(self) -> list[Statement]:
        return again(self.begin())

    def share_anew(self) -> list[Statement]:
        return again(self.share())

    def of_all(self, count: str) -> list[Statement]:
        taken = self.join([code("{part}[block]", part=f"{name}_of") for name, _, _ in self.parts])
        return [*self.anew(), Loop(f"int block = 0; block < {count}; ++block", tuple(taken), FULLY)]

    def settle(self) -> list[Statement]:
        return []


class _Plain(_Usual):
    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name = emitter.name(emitter.called(value, ROW))
        self.op = JOIN_NAMES[value.op]
        self.parts = [(self.name, "float", as_code(self.name))]
        self.preamble = (JOINS[value.op], NEIGHBOURS, OVER_ROW)

    def begin(self) -> list[Statement]:
        return [Let("float", self.name, f"{self.op}::identity()")]

    def add(self, term: Term, done: Pass) -> None:
        done.elements.append(self._added(term.code))

    def _added(self, found: Code) -> Statement:
        if self.value.op is Op.SUM:
            return Assign(self.name, found, "+=")
        return Assign(self.name, code("{op}::join({name}, {found})", op=self.op, name=self.name, found=found))

    def join(self, parts: Sequence[Code]) -> list[Statement]:
        return [self._added(parts[0])]

    def share(self) -> list[Statement]:
        return [Assign(self.name, code("row_reduce<{op}, THREADS>({name})", op=self.op, name=self.name))]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {self.value.number: Term(as_code(self.name), ATOM, ROW)}


class _Best(_Usual):
    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name = emitter.name("best")
        self.sign = "-" if value.op is Op.ARGMIN else ""
        self.parts = [
            (f"{self.name}_value", "float", code("{best}.value", best=self.name)),
            (f"{self.name}_at", "int", code("{best}.at", best=self.name)),
        ]
        self.preamble = (NEIGHBOURS, BEST, BEST_OF_ROW)

    def begin(self) -> list[Statement]:
        return [Let("Best", self.name, code("{{-INFINITY, {INT_MAX}}}"))]

    def add(self, term: Term, done: Pass) -> None:
        done.elements.append(self._better(code("{sign}{x}, column + k", sign=self.sign, x=term.within(ATOM))))

    def _better(self, other: Code) -> Statement:
        return Assign(self.name, code("better({best}, Best{{{other}}})", best=self.name, other=other))

    def join(self, parts: Sequence[Code]) -> list[Statement]:
        return [self._better(joined(", ", parts))]

    def share(self) -> list[Statement]:
        return [Assign(self.name, code("best_of_row<THREADS>({best})", best=self.name))]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {self.value.number: Term(code("{best}.at", best=self.name), ATOM, ROW, is_free=True)}


class _Joint(_Usual):
    """Online softmax: a running maximum and the sum of exponentials relative to it."""

    def __init__(self, joint: OnlineSoftmax, emitter: Emitter) -> None:
        self.joint, self.operand = joint, joint.largest.first
        self.largest, self.total, self.values, self.highest = map(
            emitter.name, ("largest", "total", "scores", "highest")
        )
        self.whole = f"{self.largest}_of_row"
        self.parts = [(self.largest, "float", as_code(self.whole)), (self.total, "float", as_code(self.total))]
        self.preamble = (NEIGHBOURS, SCORES)
        emitter.needs.functions["finite"] = DEFINED[Op.FINITE]

    def _code(self, template: str, **given: Code) -> Code:
        """An expression in the names of this reduction."""
        own = {"largest": self.largest, "total": self.total, "values": self.values, "highest": self.highest}
        return code(template, **own, whole=self.whole, **given)

    def begin(self) -> list[Statement]:
        return [
            Comment("Online softmax: rescale the running sum whenever the running maximum grows."),
            Let("float", self.largest, "-INFINITY", (Also(self.total, "0.0f"),)),
        ]

    def add(self, term: Term, done: Pass) -> None:
        done.packs.append(Let("float", self.values, None, (Also(self.highest, "-INFINITY"),), extent="VEC"))
        score, rest = self._code("{values}[k]"), "{expf}({values}[k] - finite_or_zero({largest}))"
        done.elements += [Assign(score, term.code), Assign(self.highest, self._code("fmaxf({highest}, {values}[k])"))]
        added = Assign(self.total, self._code(rest), "+=")
        over = Loop(code("int k = 0; k < {VEC}; ++k"), (added,), FULLY, form=Form.BESIDE)
        done.behind += [self._rescaled(), over]

    def _rescaled(self) -> Statement:
        scaled = Assign(self.total, self._code("{expf}({largest} - {highest})"), "*=")
        return If(self._code("{highest} > {largest}"), (scaled, Assign(self.largest, self.highest)))

    def join(self, parts: Sequence[Code]) -> list[Statement]:
        added = self._code("{part} * {expf}({highest} - finite_or_zero({largest}))", part=parts[1])
        return [Let("const float", self.highest, parts[0]), self._rescaled(), Assign(self.total, added, "+=")]

    def share(self) -> list[Statement]:
        return [
            Let("float", self.whole, self._code("row_online_softmax<THREADS>({largest}, {total})")),
            self._defined(),
        ]

    def of_all(self, count: str) -> list[Statement]:
        return [*super().of_all(count), Assign(self.whole, self.largest), self._defined()]

    def _defined(self) -> Statement:
        lost = Assign(self.whole, "NAN", comment="fmaxf drops NaN; the sum has kept it.")
        return If(self._code("isnan({total})"), (lost,), form=Form.BESIDE)

    def settle(self) -> list[Statement]:
        if self.joint.guarded:
            return []
        lost = Assign(self.total, "NAN", comment="inf - inf is NaN, as in torch.")
        return [If(self._code("isinf({whole})"), (lost,), form=Form.BESIDE)]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {
            self.joint.largest.number: Term(as_code(self.whole), ATOM, ROW),
            self.joint.total.number: Term(as_code(self.total), ATOM, ROW),
        }


class _Welford(_Usual):
    """Welford accumulator; kept rows use shifted sums, which are faster than merging pack by pack."""

    def __init__(self, spread: Variance, emitter: Emitter) -> None:
        self.spread, self.operand = spread, spread.total.first
        self.name, self.values = emitter.name("statistics"), emitter.name("values")
        self.moments = emitter.name("moments") if emitter.kept else None
        members = ("count", "mean", "m2")
        self.parts = [(f"{self.name}_{of}", "float", self._code(f"{{statistics}}.{of}")) for of in members]
        self.preamble = (NEIGHBOURS, WELFORD, *((SHIFTED_MOMENTS,) if self.moments else ()))

    def _code(self, template: str, **given: Code) -> Code:
        """An expression in the names of this reduction."""
        return code(template, statistics=self.name, values=self.values, moments=self.moments or "", **given)

    def begin(self) -> list[Statement]:
        return [Let("ShiftedMoments", self.moments) if self.moments else Let("Welford", self.name, "{}")]

    def add(self, term: Term, done: Pass) -> None:
        done.packs.append(Let("float", self.values, extent="VEC"))
        done.elements.append(Assign(self._code("{values}[k]"), term.code))
        if self.moments:
            done.behind.append(Do(self._code("{moments}.take({values}, item == 0)")))
        else:
            done.behind.append(Assign(self.name, self._code("merge({statistics}, welford_of_pack({values}))")))

    def share(self) -> list[Statement]:
        if not self.moments:
            return self.share_anew()
        return [Let("Welford", self.name, self._code("welford_of_row<THREADS>({moments}.statistics())"))]

    def anew(self) -> list[Statement]:
        return [Assign(self.name, "{}")]

    def join(self, parts: Sequence[Code]) -> list[Statement]:
        return [Assign(self.name, self._code("merge({statistics}, Welford{{{parts}}})", parts=joined(", ", parts)))]

    def share_anew(self) -> list[Statement]:
        return [Assign(self.name, self._code("welford_of_row<THREADS>({statistics})"))]

    def of_all(self, count: str) -> list[Statement]:
        found = joined(", ", [f"{name}_of" for name, _, _ in self.parts])
        return [Assign(self.name, self._code("{welford_of_blocks}({found})", found=found))]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {
            self.spread.total.number: Term(self._code("{statistics}.mean * {statistics}.count"), PRODUCT, ROW),
            self.spread.mean.number: Term(self._code("{statistics}.mean"), ATOM, ROW, is_free=True),
            self.spread.squares.number: Term(self._code("{statistics}.m2"), ATOM, ROW, is_free=True),
        }
