"""Index expressions of elements over the loop variables of a kernel.

A kernel runs over packs of consecutive elements. An index may be constant within a pack (one scalar load), move in step
with it (one vector load), or move otherwise. Some of this holds only if sizes are multiples of the pack; these sizes
are collected, and the host selects the vector path only if all of them are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warpwright.compose.code.text import Code
from warpwright.compose.ir.sizes import Cases, Size

KERNEL, ROW, PACK, ELEMENT = range(4)
"""Loop levels: how often a value must be computed."""


@dataclass(frozen=True, slots=True)
class Var:
    """A loop variable. The innermost one is the start of a pack."""

    name: str
    level: int
    innermost: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Coordinate `place` of the position `base` in a box of `sizes`, none of which is one."""

    base: Index
    sizes: tuple[Size, ...]
    place: int


@dataclass(frozen=True, slots=True)
class Run:
    """(base / inner) % modulus; no modulus where base cannot reach it."""

    base: Index
    inner: Size
    modulus: Size | None


@dataclass(frozen=True, slots=True)
class Shift:
    """base + offset, or base - offset."""

    base: Index
    offset: Size
    back: bool = False


@dataclass(frozen=True, slots=True)
class Flip:
    base: Index
    size: Size


@dataclass(frozen=True, slots=True)
class Loaded:
    """An index that was read from memory."""

    code: Code
    level: int
    compound: bool = False
    """Whether it needs parentheses within another expression."""


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of indices times strides."""

    terms: tuple[tuple[Index, Size], ...]


Index = Var | Part | Run | Shift | Flip | Loaded | Total
Place = tuple[Index | None, ...]
"""One index for each dimension; None is zero."""


def unravel(base: Index, sizes: Sequence[Size], cases: Cases) -> Place:
    """The coordinates of a position in a box."""
    box = tuple(size for size in sizes if not size.is_one)
    found = iter(_coordinates(base, box, cases))
    place: Place = tuple(None if size.is_one else next(found) for size in sizes)
    if any(index is not None for index in place):
        cases.positions[(place, tuple(sizes))] = base
    return place


def _coordinates(base: Index, box: tuple[Size, ...], cases: Cases) -> list[Index]:
    if len(box) == 1:
        return [base]
    if parts := _outer_and_inner(base, cases):
        outer, stride, inner = parts
        for cut in range(len(box) + 1):
            if cases.product(box[cut:]) == stride:
                head = _coordinates(outer, box[:cut], cases) if cut else []
                return [*head, *(_coordinates(inner, box[cut:], cases) if cut < len(box) else [])]
        if found := _within_a_side(outer, inner, stride, box, cases):
            return found
    return [Part(base, box, place) for place in range(len(box))]


def _outer_and_inner(base: Index, cases: Cases) -> tuple[Index, Size, Index] | None:
    """A sum as an outer index, its stride, and an inner index of stride one; None if it is not such a sum."""
    if not isinstance(base, Total) or len(base.terms) < 2 or not base.terms[-1][1].is_one:
        return None
    *terms, (inner, _) = base.terms
    stride = terms[-1][1]
    if len(terms) == 1:
        return terms[0][0], stride, inner
    quotients = [cases.one() if size == stride else cases.product([size // stride]) for _, size in terms]
    exact = all(size == part * stride for (_, size), part in zip(terms, quotients, strict=True))
    outer = Total(tuple((index, part) for (index, _), part in zip(terms, quotients, strict=True)))
    return (outer, stride, inner) if exact else None


def _within_a_side(outer: Index, inner: Index, stride: Size, box: tuple[Size, ...], cases: Cases) -> list[Index] | None:
    """Coordinates if rows end within a side of the box, as groups of channels do: splits that side."""
    for cut in range(len(box)):
        behind = cases.product(box[cut + 1 :])
        part = cases.product([stride // behind])
        rest = cases.product([(box[cut] * behind) // stride])
        if part * behind == stride and part * rest == box[cut]:
            head = _coordinates(outer, (*box[:cut], rest), cases)
            tail = _coordinates(inner, (part, *box[cut + 1 :]), cases)
            return [*head[:-1], Total(((head[-1], part), (tail[0], cases.one()))), *tail[1:]]
    return None


def ravel(place: Place, sizes: Sequence[Size], cases: Cases) -> Index | None:
    """The position of coordinates in a box; adjacent coordinates that were split from one position are merged."""
    known: Index | None = cases.positions.get((place, tuple(sizes)))
    if known is not None:
        return known
    terms: list[tuple[Index, Size]] = []
    dims = [(index, size) for index, size in zip(place, sizes, strict=True) if index is not None]
    strides, ends = _strides(place, sizes, cases), _ends(place, sizes)
    position = 0
    while position < len(dims):
        length = _run_length(dims[position : ends[position]])
        first, last = dims[position][0], position + length - 1
        terms.append((_joined(first, length, cases), strides[last]))
        position += length
    if not terms:
        return None
    terms = _rejoined(terms, cases)
    return terms[0][0] if len(terms) == 1 and terms[0][1].is_one else Total(tuple(terms))


def _rejoined(terms: list[tuple[Index, Size]], cases: Cases) -> list[tuple[Index, Size]]:
    """Merges a quotient and the remainder of the same division: base / n * n + base % n is base."""
    found: list[tuple[Index, Size]] = []
    for term, stride in terms:
        whole = _undivided(*found[-1], term, stride, cases) if found else None
        found[-1:] = [(whole, stride)] if whole is not None else [*found[-1:], (term, stride)]
    return found


def _undivided(high: Index, high_stride: Size, low: Index, stride: Size, cases: Cases) -> Index | None:
    if not isinstance(high, Run) or not isinstance(low, Run) or high.base != low.base or low.modulus is None:
        return None
    if high.inner != low.inner * low.modulus or high_stride != low.modulus * stride:
        return None
    if high.modulus is None and low.inner.is_one:
        return low.base
    return Run(low.base, low.inner, None if high.modulus is None else cases.product([high.modulus, low.modulus]))


def _strides(place: Place, sizes: Sequence[Size], cases: Cases) -> list[Size]:
    """The strides of the dimensions with an index."""
    return [cases.product(sizes[position + 1 :]) for position, index in enumerate(place) if index is not None]


def _ends(place: Place, sizes: Sequence[Size]) -> list[int]:
    """The end of the run of adjacent dimensions for each index; an omitted dimension larger than 1 ends a run."""
    found: list[list[Index]] = [[]]
    for index, size in zip(place, sizes, strict=True):
        if index is not None:
            found[-1].append(index)
        elif not size.is_one:
            found.append([])
    ends = [sum(map(len, found[: number + 1])) for number in range(len(found))]
    return [end for end, run in zip(ends, found, strict=True) for _ in run]


def _run_length(dims: list[tuple[Index, Size]]) -> int:
    first = dims[0][0]
    if not isinstance(first, Part):
        return 1
    length = 0
    for offset, (index, size) in enumerate(dims):
        expected = first.place + offset
        same = isinstance(index, Part) and index.base == first.base and index.sizes == first.sizes
        if not same or index.place != expected or index.sizes[expected] != size:  # type: ignore[union-attr]
            break
        length += 1
    return max(length, 1)


def _joined(first: Index, length: int, cases: Cases) -> Index:
    if not isinstance(first, Part):
        return first
    end = first.place + length
    inner = cases.product(first.sizes[end:])
    modulus = cases.product(first.sizes[first.place : end]) if first.place else None
    return first.base if inner.is_one and modulus is None else Run(first.base, inner, modulus)


def level(index: Index | None) -> int:
    """The loop level of an index; ELEMENT only if it neither is constant nor moves in step within a pack."""
    match index:
        case None:
            return KERNEL
        case Var(level=found) | Loaded(level=found):
            return found
        case Total(terms=terms):
            return max(level(term) for term, _ in terms)
        case Part(base=base) | Run(base=base) | Shift(base=base) | Flip(base=base):
            return level(base)


def is_loaded(index: Index | None) -> bool:
    """Whether any part of the index was read from memory."""
    match index:
        case Loaded():
            return True
        case Total(terms=terms):
            return any(is_loaded(term) for term, _ in terms)
        case Part(base=base) | Run(base=base) | Shift(base=base) | Flip(base=base):
            return is_loaded(base)
    return False


def moves_by_row(index: Index | None) -> bool:
    """Whether neighbouring lanes of a pack are in different rows, so that what is constant along a row differs."""
    match index:
        case Var(level=found, innermost=innermost):
            return innermost and found == ROW
        case Part(base=base) | Run(base=base) | Shift(base=base) | Flip(base=base):
            return moves_by_row(base)
        case Total(terms=terms):
            return any(moves_by_row(term) for term, _ in terms)
    return False


@dataclass(frozen=True, slots=True)
class Motion:
    """How an index moves within a pack, and the sizes that must be multiples of the pack for it."""

    kind: str
    """"still", "step" or "free"."""
    multiples: frozenset[Size] = frozenset()


STILL, FREE = Motion("still"), Motion("free")


def motion(index: Index | None, cases: Cases) -> Motion:
    match index:
        case None | Loaded():
            return FREE if isinstance(index, Loaded) and index.level == ELEMENT else STILL
        case Var(innermost=innermost):
            return Motion("step") if innermost else STILL
        case Part(base=base, sizes=sizes, place=place):
            modulus = cases.product(sizes[place : place + 1]) if place else None
            return _run_motion(motion(base, cases), cases.product(sizes[place + 1 :]), modulus)
        case Run(base=base, inner=inner, modulus=modulus):
            return _run_motion(motion(base, cases), inner, modulus)
        case Shift(base=base, offset=offset):
            moved = motion(base, cases)
            return Motion(moved.kind, moved.multiples | {offset}) if moved.kind == "step" else moved
        case Flip(base=base):
            moved = motion(base, cases)
            return STILL if moved.kind == "still" else FREE
        case Total(terms=terms):
            return _total_motion([(motion(term, cases), stride) for term, stride in terms])


def _run_motion(base: Motion, inner: Size, modulus: Size | None) -> Motion:
    if base.kind != "step":
        return base
    if inner.is_one:
        return Motion("step", base.multiples | ({modulus} if modulus is not None else set()))
    return Motion("still", base.multiples | {inner})


def _total_motion(terms: list[tuple[Motion, Size]]) -> Motion:
    moving = [(moved, stride) for moved, stride in terms if moved.kind != "still"]
    multiples = frozenset().union(*(moved.multiples for moved, _ in terms))
    if not moving:
        return Motion("still", multiples)
    if len(moving) > 1 or moving[0][0].kind == "free" or not moving[0][1].is_one:
        return FREE
    strides = frozenset(stride for moved, stride in terms if moved.kind == "still")
    return Motion("step", multiples | strides)
