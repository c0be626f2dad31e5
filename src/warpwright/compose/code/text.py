"""C++ expressions that know which names they read and which functions they call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter


@dataclass(frozen=True, slots=True)
class Word:
    """A name that an expression reads, or a number by which it divides."""

    text: str
    divides: bool = False
    """Whether it divides a position."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that an expression calls."""

    text: str
    header: str = ""
    """The header that declares it."""
    fast: str = ""
    """The approximation that may replace it."""


Part = str | Word | Function
"""A part of an expression; plain text between names and functions is opaque."""


@dataclass(frozen=True, slots=True)
class Code:
    """An expression."""

    parts: tuple[Part, ...] = ()

    @property
    def text(self) -> str:
        return "".join([part if isinstance(part, str) else part.text for part in self.parts])

    @property
    def words(self) -> Iterator[Word]:
        return (part for part in self.parts if isinstance(part, Word))

    @property
    def names(self) -> set[str]:
        """Every name that it reads."""
        return {word.text for word in self.words}

    @property
    def functions(self) -> set[Function]:
        return {part for part in self.parts if isinstance(part, Function)}

    @property
    def called(self) -> Function | None:
        """The function whose call it is, or begins with."""
        first = self.parts[0] if self.parts else None
        return first if isinstance(first, Function) else None

    @property
    def divisors(self) -> set[str]:
        """Names and numbers that positions are divided by."""
        return {word.text for word in self.words if word.divides}

    def __format__(self, spec: str) -> str:
        raise TypeError("an expression loses its names in an f-string: use code()")


Piece = Code | Part | int
"""Anything that fits into a template. A string that is a name counts as read."""

HEADERS = {
    "algorithm": ("std::clamp", "std::max", "std::min"),
    "climits": ("INT_MAX",),
    "initializer_list": ("std::initializer_list",),
    "optional": ("std::nullopt",),
    "tuple": ("std::get",),
    "vector": ("std::vector",),
    "cooperative_groups.h": ("cooperative_groups::this_cluster", "cooperative_groups::this_grid"),
    "cuda_fp8.h": ("__nv_fp8_e4m3", "__nv_fp8_e5m2"),
    "cuda_pipeline.h": ("__pipeline_commit", "__pipeline_wait_prior"),
    "ATen/cuda/CUDAContext.h": ("at::cuda::getCurrentDeviceProperties",),
    "c10/cuda/CUDAException.h": ("C10_CUDA_CHECK",),
}
"""The names used in templates, by the header that declares them."""
KNOWN: Mapping[str, Function] = {
    **{name: Function(name, header) for header, names in HEADERS.items() for name in names},
    "expf": Function("expf", fast="fast_exp<T>"),
    "sigmoid": Function("sigmoid", fast="sigmoid<T>"),
    **{name: Function(name) for name in ("load", "store", "to_e4m3")},
    "prefetch_l2": Function("prefetch_l2"),
    "welford_of_blocks": Function("welford_of_blocks"),
}


def code(template: str, **given: Piece) -> Code:
    """Builds an expression from a template: a field in braces is replaced by the given piece, a function or a name."""
    parts: list[Part] = []
    for literal, field in _fields(template):
        parts.append(literal)
        if field:
            parts += _parts(given[field] if field in given else KNOWN.get(field) or Word(field))
    return Code(_merged(parts))


@lru_cache(maxsize=4096)
def _fields(template: str) -> tuple[tuple[str, str], ...]:
    """Splits a template into text and fields. The colons of std::min are not a format."""
    return tuple(
        (literal, f"{name}:{spec}" if spec else name or "") for literal, name, spec, _ in Formatter().parse(template)
    )


def _parts(piece: Piece) -> Iterable[Part]:
    match piece:
        case Code(parts=parts):
            return parts
        case str():
            return (Word(piece) if piece.isidentifier() else piece,)
        case int():
            return (str(piece),)
    return (piece,)


def _merged(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Drops empty text and merges adjacent text."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return tuple(found)


def as_code(piece: Piece) -> Code:
    """The piece as an expression of its own."""
    return piece if isinstance(piece, Code) else Code(_merged(_parts(piece)))


def joined(separator: str, pieces: Iterable[Piece]) -> Code:
    """All of them, with the separator in between."""
    parts: list[Part] = []
    for number, piece in enumerate(pieces):
        parts += [separator] if number else []
        parts += _parts(piece)
    return Code(_merged(parts))
