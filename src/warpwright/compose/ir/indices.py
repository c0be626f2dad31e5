"""Index expressions of elements over the loop variables of a kernel.

A kernel runs over packs of consecutive elements. An index may be constant within a pack (one scalar load), move in step
with it (one vector load), or move otherwise. Some of this holds only if sizes are multiples of the pack; these sizes
are collected, and the host selects the vector path only if all of them are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul

from warpwright.compose.code.text import Code, Word, as_code, code, joined
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
    if isinstance(base, Total) and len(base.terms) == 2 and base.terms[1][1].is_one:
        (outer, stride), (inner, _) = base.terms
        for cut in range(len(box) + 1):
            if cases.product(box[cut:]) == stride:
                head = _coordinates(outer, box[:cut], cases) if cut else []
                return [*head, *(_coordinates(inner, box[cut:], cases) if cut < len(box) else [])]
        if found := _within_a_side(outer, inner, stride, box, cases):
            return found
    return [Part(base, box, place) for place in range(len(box))]


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
    return terms[0][0] if len(terms) == 1 and terms[0][1].is_one else Total(tuple(terms))


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


def along_row(index: Index | None) -> bool:
    """Whether the index depends only on the position in a row, so that it and its divisors are small."""
    match index:
        case Var(level=found):
            return found == PACK
        case Part(base=base) | Run(base=base) | Shift(base=base) | Flip(base=base):
            return along_row(base)
    return False


def divisors(index: Index | None) -> Iterator[Size]:
    """Yields the divisors of positions in a row."""
    match index:
        case Part(base=base, sizes=sizes, place=place):
            if along_row(base):
                yield from [_product(sizes[place + 1 :])] if sizes[place + 1 :] else []
                yield from [sizes[place]] if place else []
            yield from divisors(base)
        case Run(base=base, inner=inner, modulus=modulus):
            yield from ([inner, *([modulus] if modulus else [])] if along_row(base) else ())
            yield from divisors(base)
        case Shift(base=base) | Flip(base=base):
            yield from divisors(base)
        case Total(terms=terms):
            for term, _ in terms:
                yield from divisors(term)


def strides(index: Index | None) -> Iterator[Size]:
    """Yields the factors of positions in a row."""
    match index:
        case Part(base=base) | Run(base=base) | Shift(base=base) | Flip(base=base):
            yield from strides(base)
        case Total(terms=terms):
            for term, stride in terms:
                yield from [stride] if level(term) >= PACK else []
                yield from strides(term)


Named = Callable[[Size], str]


def divides(index: Index | None) -> bool:
    """Whether the index contains a division, so that the width of positions affects speed."""
    match index:
        case Part() | Run():
            return True
        case Loaded(code=found):
            return bool(found.divisors)
        case Total(terms=terms):
            return any(divides(term) for term, _ in terms)
        case Shift(base=base) | Flip(base=base):
            return divides(base)
    return False


def written(index: Index | None, named: Named, lane: str = "", is_operand: bool = False) -> Code:
    """The index in C++, in brackets where an operand needs them. With a lane, the innermost variable stands for that
    element of the pack, not for its start."""
    return _within(index, named, lane) if is_operand else _written(index, named, lane)[0]


def _within(index: Index | None, named: Named, lane: str) -> Code:
    """The index as part of another expression."""
    found, is_compound = _written(index, named, lane)
    return code("({found})", found=found) if is_compound else found


def _written(index: Index | None, named: Named, lane: str) -> tuple[Code, bool]:
    """An index, and whether it needs parentheses within another expression."""
    match index:
        case None:
            return as_code("0"), False
        case Loaded(code=found, compound=is_compound):
            return found, is_compound
        case Var(name=name, innermost=innermost):
            moves = bool(lane) and innermost
            return (code("{name} + {lane}", name=name, lane=lane), True) if moves else (as_code(name), False)
        case Part(base=base, sizes=sizes, place=place):
            return _divided(base, _inner(sizes[place + 1 :], named, base), sizes[place] if place else None, named, lane)
        case Run(base=base, inner=inner, modulus=modulus):
            return _divided(base, None if inner.is_one else _by(inner, named), modulus, named, lane)
        case Shift(base=base, offset=offset, back=back):
            sign = "-" if back else "+"
            return code("{base} {sign} {by}", base=_within(base, named, lane), sign=sign, by=named(offset)), True
        case Flip(base=base, size=size):
            return code("{size} - 1 - {base}", size=named(size), base=_within(base, named, lane)), True
        case Total(terms=terms):
            return joined(" + ", [_term(term, stride, named, lane) for term, stride in terms]), True


def _by(size: Size, named: Named) -> Code:
    return Code((Word(named(size), divides=True),))


def _inner(sizes: Sequence[Size], named: Named, base: Index) -> Code | None:
    """A single divisor for the whole product if it divides positions in a row, which is fast."""
    if not sizes:
        return None
    if along_row(base) or len(sizes) == 1:
        return _by(_product(sizes), named)
    return code("({product})", product=joined(" * ", map(named, sizes)))


def _divided(base: Index, inner: Code | None, modulus: Size | None, named: Named, lane: str) -> tuple[Code, bool]:
    if inner is None and modulus is None:
        return _written(base, named, lane)
    found = _within(base, named, lane)
    quotient = found if inner is None else code("{found} / {inner}", found=found, inner=inner)
    if modulus is None:
        return quotient, True
    whole = quotient if inner is None else code("({quotient})", quotient=quotient)
    return code("{whole} % {by}", whole=whole, by=_by(modulus, named)), True


def _term(term: Index, stride: Size, named: Named, lane: str) -> Code:
    found = _within(term, named, lane)
    return found if stride.is_one else code("{found} * {stride}", found=found, stride=named(stride))


def hoisted(index: Index | None, once: Callable[[Index], str], one: Size) -> Index | None:
    """Replaces row-constant quotients in an index by names, which `once` provides."""
    match index:
        case Part() | Run() if level(index) == ROW:
            return Loaded(as_code(once(index)), ROW)
        case Part(base=base) | Run(base=base) | Shift(base=base) | Flip(base=base):
            inner = hoisted(base, once, one)
            return index if inner is base or inner is None else replace(index, base=inner)
        case Total(terms=terms):
            return Total(tuple(_hoisted_term(term, stride, once, one) for term, stride in terms))
    return index


def _hoisted_term(term: Index, stride: Size, once: Callable[[Index], str], one: Size) -> tuple[Index, Size]:
    """With its stride, where there is one."""
    if isinstance(term, Part | Run) and level(term) == ROW:
        return Loaded(as_code(once(Total(((term, stride),)))), ROW), one
    return hoisted(term, once, one) or term, stride


def _product(sizes: Sequence[Size]) -> Size:
    return reduce(mul, sizes)
