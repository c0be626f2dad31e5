"""What a thread carries along a row for each reduction, and how that is shared with the others at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from warpwright.propose.composer.arithmetic import ATOM, DEFINED, PRODUCT, Term
from warpwright.propose.composer.emit import Emitter
from warpwright.propose.composer.indices import ROW
from warpwright.propose.composer.preamble import (
    BEST,
    BEST_OF_ROW,
    JOIN_NAMES,
    JOINS,
    NEIGHBOURS,
    OVER_ROW,
    SCORES,
    SPREADS,
)
from warpwright.propose.composer.reductions import Carried, Joint, Spread
from warpwright.propose.composer.values import Value

_DECLARED = re.compile(r"^(?:float|Spread) ")


def again(lines: Iterable[str]) -> list[str]:
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

    def join(self, parts: Sequence[str]) -> list[str]:
        """Takes in what another block has left."""

    def share(self) -> list[str]:
        """Among the threads of a block."""

    def complete(self) -> list[str]:
        """The same where every thread has taken in what all blocks have left."""

    def settle(self) -> list[str]:
        """What is done once the whole row is in."""

    def results(self, emitter: Emitter) -> dict[int, Term]: ...


def carrier(item: Carried, emitter: Emitter) -> Carrier:
    if isinstance(item, Joint):
        return _Joint(item, emitter)
    if isinstance(item, Spread):
        return _Spread(item, emitter)
    return _Best(item, emitter) if item.op in ("argmax", "argmin") else _Plain(item, emitter)


class _Plain:
    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        wanted = {"amax": "largest", "amin": "smallest"}.get(value.op, value.op)
        self.name = emitter.name(emitter.graph.names.get(value.number, wanted))
        self.op = JOIN_NAMES[value.op]
        self.parts = [(self.name, "float", self.name)]
        self.preamble = (JOINS[value.op], NEIGHBOURS, OVER_ROW)

    def begin(self) -> list[str]:
        return [f"float {self.name} = {self.op}::identity();"]

    def add(self, term: Term, done: Pass) -> None:
        done.elements.append(self._added(term.text))

    def _added(self, text: str) -> str:
        plain = self.value.op == "sum"
        return f"{self.name} += {text};" if plain else f"{self.name} = {self.op}::join({self.name}, {text});"

    def join(self, parts: Sequence[str]) -> list[str]:
        return [self._added(parts[0])]

    def share(self) -> list[str]:
        return [f"{self.name} = over_row<{self.op}, THREADS>({self.name});"]

    def complete(self) -> list[str]:
        return []

    def settle(self) -> list[str]:
        return []

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {self.value.number: Term(self.name, ATOM, ROW)}


class _Best:
    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name = emitter.name("best")
        self.sign = "-" if value.op == "argmin" else ""
        self.parts = [
            (f"{self.name}_value", "float", f"{self.name}.value"),
            (f"{self.name}_at", "int", f"{self.name}.at"),
        ]
        self.preamble = (NEIGHBOURS, BEST, BEST_OF_ROW)

    def begin(self) -> list[str]:
        return [f"Best {self.name} = {{-INFINITY, INT_MAX}};"]

    def add(self, term: Term, done: Pass) -> None:
        done.elements.append(f"{self.name} = better({self.name}, Best{{{self.sign}{term.within(ATOM)}, column + k}});")

    def join(self, parts: Sequence[str]) -> list[str]:
        return [f"{self.name} = better({self.name}, Best{{{', '.join(parts)}}});"]

    def share(self) -> list[str]:
        return [f"{self.name} = best_of_row<THREADS>({self.name});"]

    def complete(self) -> list[str]:
        return []

    def settle(self) -> list[str]:
        return []

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {self.value.number: Term(f"{self.name}.at", ATOM, ROW)}


class _Joint:
    """The sum of exponentials is relative to the largest so far."""

    def __init__(self, joint: Joint, emitter: Emitter) -> None:
        self.joint, self.operand = joint, joint.largest.first
        self.largest, self.total, self.values, self.highest = map(
            emitter.name, ("largest", "total", "scores", "highest")
        )
        self.whole = f"{self.largest}_of_row"
        self.parts = [(self.largest, "float", self.whole), (self.total, "float", self.total)]
        self.preamble = (NEIGHBOURS, SCORES)
        emitter.needs.functions["finite"] = DEFINED["finite"]

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

    def complete(self) -> list[str]:
        return [f"{self.whole} = {self.largest};", self._defined()]

    def _defined(self) -> str:
        return f"if (isnan({self.total})) {self.whole} = NAN;  // The maximum alone would have passed over it."

    def settle(self) -> list[str]:
        if self.joint.guarded:
            return []
        return [f"if (isinf({self.whole})) {self.total} = NAN;  // As infinity minus infinity gives."]

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {
            self.joint.largest.number: Term(self.whole, ATOM, ROW),
            self.joint.total.number: Term(self.total, ATOM, ROW),
        }


class _Spread:
    def __init__(self, spread: Spread, emitter: Emitter) -> None:
        self.spread, self.operand = spread, spread.total.first
        self.name, self.values = emitter.name("spread"), emitter.name("values")
        self.parts = [(f"{self.name}_{of}", "float", f"{self.name}.{of}") for of in ("count", "mean", "squares")]
        self.preamble = (NEIGHBOURS, SPREADS)

    def begin(self) -> list[str]:
        return [f"Spread {self.name} = {{}};"]

    def add(self, term: Term, done: Pass) -> None:
        done.packs.append(f"float {self.values}[VEC];")
        done.elements.append(f"{self.values}[k] = {term.text};")
        done.behind.append(f"{self.name} = both({self.name}, spread_of({self.values}));")

    def join(self, parts: Sequence[str]) -> list[str]:
        return [f"{self.name} = both({self.name}, Spread{{{', '.join(parts)}}});"]

    def share(self) -> list[str]:
        return [f"{self.name} = spread_of_row<THREADS>({self.name});"]

    def complete(self) -> list[str]:
        return []

    def settle(self) -> list[str]:
        return []

    def results(self, emitter: Emitter) -> dict[int, Term]:
        return {
            self.spread.total.number: Term(f"{self.name}.mean * {self.name}.count", PRODUCT, ROW),
            self.spread.mean.number: Term(f"{self.name}.mean", ATOM, ROW),
            self.spread.squares.number: Term(f"{self.name}.squares", ATOM, ROW),
        }
