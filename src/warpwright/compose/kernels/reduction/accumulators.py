"""What a thread carries along a row for each reduction, and how that is shared with the others at the end."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from warpwright.compose.code.text import as_code, code
from warpwright.compose.cuda.arithmetic import ATOM, DEFINED, PRODUCT, Term
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.preamble import (
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
from warpwright.compose.kernels.reduction.passes import Carried, Joint, Spread
from warpwright.compose.kernels.reduction.welford import GATHERED, SPREADS

_DECLARED = re.compile(r"^(?:float|Spread) ")


def _again(lines: Iterable[str]) -> list[str]:
    """The same statements a second time: what they declare is there, and has been explained."""
    return [_DECLARED.sub("", line) for line in lines if not line.startswith("//")]


@dataclass(slots=True)
class Pass:
    """The statements of one pass, as they gather."""

    before: list[str] = field(default_factory=list)
    packs: list[str] = field(default_factory=list)
    """Ahead of the elements of a pack."""
    elements: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    """After the elements of a pack."""
    after: list[str] = field(default_factory=list)


class Carrier(Protocol):
    """One reduction, or two in one."""

    parts: list[tuple[str, str, str]]
    """What a block leaves of a piece of a row: a name, its type, and the expression."""

    @property
    def preamble(self) -> Sequence[str]: ...

    @property
    def operand(self) -> Value: ...

    def begin(self) -> list[str]: ...

    def add(self, term: Term, done: Pass) -> None: ...

    def share(self) -> list[str]:
        """Among the threads of a block."""

    def anew(self) -> list[str]:
        """Begins again, with what blocks have left."""

    def join(self, parts: Sequence[str]) -> list[str]:
        """Takes in what another block has left."""

    def share_anew(self) -> list[str]:
        """Among the threads of a block, which have taken in what others left."""

    def of_all(self, count: str) -> list[str]:
        """Takes in what all blocks have left, as many as that: every thread does, so that none has to be told."""

    def settle(self) -> list[str]:
        """What is done once the whole row is in."""

    def results(self, emitter: Emitter) -> dict[int, Term]: ...


def carrier(item: Carried, emitter: Emitter) -> Carrier:
    if isinstance(item, Joint):
        return _Joint(item, emitter)
    if isinstance(item, Spread):
        return _Spread(item, emitter)
    return _Best(item, emitter) if item.op in (Op.ARGMAX, Op.ARGMIN) else _Plain(item, emitter)


def shared(carriers: Sequence[Carrier], anew: bool = False) -> list[str]:
    """Among the threads of a block: numbers that are joined alike at once."""
    others = [item for item in carriers if not isinstance(item, _Plain)]
    lines = [line for item in others for line in (item.share_anew() if anew else item.share())]
    for op, names in _joined_alike(carriers).items():
        several = f"all_over_row<{op}, THREADS>({', '.join(names)});"
        lines.append(several if names[1:] else f"{names[0]} = over_row<{op}, THREADS>({names[0]});")
    return lines


def preambles(carriers: Sequence[Carrier]) -> list[str]:
    """The device functions that they need."""
    several = any(names[1:] for names in _joined_alike(carriers).values())
    return [*(text for item in carriers for text in item.preamble), *([ALL_OVER_ROW] if several else ())]


def _joined_alike(carriers: Sequence[Carrier]) -> dict[str, list[str]]:
    """Names of plain numbers, by how they are joined."""
    found: dict[str, list[str]] = {}
    for item in carriers:
        if isinstance(item, _Plain):
            found.setdefault(item.op, []).append(item.name)
    return found


class _Usual(ABC):
    """What most of them do alike."""

    parts: list[tuple[str, str, str]]

    @abstractmethod
    def begin(self) -> list[str]: ...

    @abstractmethod
    def share(self) -> list[str]: ...

    @abstractmethod
    def join(self, parts: Sequence[str]) -> list[str]: ...

    def anew(self) -> list[str]:
        return _again(self.begin())

    def share_anew(self) -> list[str]:
        return _again(self.share())

    def of_all(self, count: str) -> list[str]:
        joined = self.join([f"{name}_of[block]" for name, _, _ in self.parts])
        loop = ["#pragma unroll", f"for (int block = 0; block < {count}; ++block) {{"]
        return [*self.anew(), *loop, *(f"    {line}" for line in joined), "}"]

    def settle(self) -> list[str]:
        return []


class _Plain(_Usual):
    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name = emitter.name(emitter.called(value, ROW))
        self.op = JOIN_NAMES[value.op]
        self.parts = [(self.name, "float", self.name)]
        self.preamble = (JOINS[value.op], NEIGHBOURS, OVER_ROW)

    def begin(self) -> list[str]:
        return [f"float {self.name} = {self.op}::identity();"]

    def add(self, term: Term, done: Pass) -> None:
        done.elements.append(self._added(term.text))

    def _added(self, text: str) -> str:
        plain = self.value.op is Op.SUM
        return f"{self.name} += {text};" if plain else f"{self.name} = {self.op}::join({self.name}, {text});"

    def join(self, parts: Sequence[str]) -> list[str]:
        return [self._added(parts[0])]

    def share(self) -> list[str]:
        return [f"{self.name} = over_row<{self.op}, THREADS>({self.name});"]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {self.value.number: Term(as_code(self.name), ATOM, ROW)}


class _Best(_Usual):
    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name = emitter.name("best")
        self.sign = "-" if value.op is Op.ARGMIN else ""
        self.parts = [
            (f"{self.name}_value", "float", f"{self.name}.value"),
            (f"{self.name}_at", "int", f"{self.name}.at"),
        ]
        self.preamble = (NEIGHBOURS, BEST, BEST_OF_ROW)

    def begin(self) -> list[str]:
        return [f"Best {self.name} = {{-INFINITY, INT_MAX}};"]

    def add(self, term: Term, done: Pass) -> None:
        done.elements.append(
            f"{self.name} = better({self.name}, Best{{{self.sign}{term.within(ATOM).text}, column + k}});"
        )

    def join(self, parts: Sequence[str]) -> list[str]:
        return [f"{self.name} = better({self.name}, Best{{{', '.join(parts)}}});"]

    def share(self) -> list[str]:
        return [f"{self.name} = best_of_row<THREADS>({self.name});"]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {self.value.number: Term(code("{best}.at", best=self.name), ATOM, ROW, is_free=True)}


class _Joint(_Usual):
    """The sum of exponentials is relative to the largest so far."""

    def __init__(self, joint: Joint, emitter: Emitter) -> None:
        self.joint, self.operand = joint, joint.largest.first
        self.largest, self.total, self.values, self.highest = map(
            emitter.name, ("largest", "total", "scores", "highest")
        )
        self.whole = f"{self.largest}_of_row"
        self.parts = [(self.largest, "float", self.whole), (self.total, "float", self.total)]
        self.preamble = (NEIGHBOURS, SCORES)
        emitter.needs.functions["finite"] = DEFINED[Op.FINITE]

    def begin(self) -> list[str]:
        return [
            "// The sum of exponentials relative to the largest so far is rescaled whenever that grows.",
            f"float {self.largest} = -INFINITY, {self.total} = 0.0f;",
        ]

    def add(self, term: Term, done: Pass) -> None:
        done.packs += [f"float {self.values}[VEC], {self.highest} = -INFINITY;"]
        done.elements += [
            f"{self.values}[k] = {term.text};",
            f"{self.highest} = fmaxf({self.highest}, {self.values}[k]);",
        ]
        done.behind += [
            *self._rescaled(),
            "#pragma unroll",
            f"for (int k = 0; k < VEC; ++k) {self.total} += expf({self.values}[k] - finite_or_zero({self.largest}));",
        ]

    def _rescaled(self) -> list[str]:
        return [
            f"if ({self.highest} > {self.largest}) {{",
            f"    {self.total} *= expf({self.largest} - {self.highest});",
            f"    {self.largest} = {self.highest};",
            "}",
        ]

    def join(self, parts: Sequence[str]) -> list[str]:
        added = f"{self.total} += {parts[1]} * expf({self.highest} - finite_or_zero({self.largest}));"
        return [f"const float {self.highest} = {parts[0]};", *self._rescaled(), added]

    def share(self) -> list[str]:
        return [
            f"float {self.whole} = over_scores<THREADS>({self.largest}, {self.total});",
            self._defined(),
        ]

    def of_all(self, count: str) -> list[str]:
        return [*super().of_all(count), f"{self.whole} = {self.largest};", self._defined()]

    def _defined(self) -> str:
        return f"if (isnan({self.total})) {self.whole} = NAN;  // The maximum alone would have passed over it."

    def settle(self) -> list[str]:
        if self.joint.guarded:
            return []
        return [f"if (isinf({self.whole})) {self.total} = NAN;  // As infinity minus infinity gives."]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {
            self.joint.largest.number: Term(as_code(self.whole), ATOM, ROW),
            self.joint.total.number: Term(as_code(self.total), ATOM, ROW),
        }


class _Spread(_Usual):
    """Rows that are kept are gathered around a number near their mean: to join pack after pack takes longer."""

    def __init__(self, spread: Spread, emitter: Emitter) -> None:
        self.spread, self.operand = spread, spread.total.first
        self.name, self.values = emitter.name("spread"), emitter.name("values")
        self.gathered = emitter.name("gathered") if emitter.kept else None
        self.parts = [(f"{self.name}_{of}", "float", f"{self.name}.{of}") for of in ("count", "mean", "squares")]
        self.preamble = (NEIGHBOURS, SPREADS, *((GATHERED,) if self.gathered else ()))

    def begin(self) -> list[str]:
        return [f"Gathered {self.gathered};" if self.gathered else f"Spread {self.name} = {{}};"]

    def add(self, term: Term, done: Pass) -> None:
        done.packs.append(f"float {self.values}[VEC];")
        done.elements.append(f"{self.values}[k] = {term.text};")
        if self.gathered:
            done.behind.append(f"{self.gathered}.take({self.values}, item == 0);")
        else:
            done.behind.append(f"{self.name} = both({self.name}, spread_of({self.values}));")

    def share(self) -> list[str]:
        declared, found = ("Spread ", f"{self.gathered}.spread()") if self.gathered else ("", self.name)
        return [f"{declared}{self.name} = spread_of_row<THREADS>({found});"]

    def anew(self) -> list[str]:
        return [f"{self.name} = {{}};"]

    def join(self, parts: Sequence[str]) -> list[str]:
        return [f"{self.name} = both({self.name}, Spread{{{', '.join(parts)}}});"]

    def share_anew(self) -> list[str]:
        return [f"{self.name} = spread_of_row<THREADS>({self.name});"]

    def of_all(self, count: str) -> list[str]:
        return [f"{self.name} = spread_of_all({', '.join(f'{name}_of' for name, _, _ in self.parts)});"]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {
            self.spread.total.number: Term(code("{spread}.mean * {spread}.count", spread=self.name), PRODUCT, ROW),
            self.spread.mean.number: Term(code("{spread}.mean", spread=self.name), ATOM, ROW, is_free=True),
            self.spread.squares.number: Term(code("{spread}.squares", spread=self.name), ATOM, ROW, is_free=True),
        }
