"""Index expressions in C++: how they are written, what divides them, and which quotients a row computes once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import mul

from warpwright.compose.code.text import Code, Word, as_code, code, joined
from warpwright.compose.ir.indices import PACK, ROW, Flip, Index, Loaded, Part, Run, Shift, Total, Var, level
from warpwright.compose.ir.sizes import Size


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
