"""Selects the declarations of our headers and the toolkit's that a candidate's text uses, for the device pass.

The headers are preprocessed once for each set of flags and stored as pieces. Parsing all of them takes nvcc longer than
compiling the kernels, so a text gets the pieces that its words request, and transitively those that these pieces
request. All declarations of a name are included together, except functions and specialisations on types that no other
piece mentions, since they cannot be called without a value of such a type. So a text that compiles has the same
meaning, and one that does not is compiled again with all headers.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from warpwright.seal.device.header_slices import Piece, cut, literals

MACROS, PIECES = "macros.h", "pieces"
_WORD = re.compile(r"[^\W\d]\w*")
# Names that compilers look up implicitly, and types that convert from plain numbers.
_IMPLIED = frozenset(
    {
        *("initializer_list", "type_info", "size_t", "ptrdiff_t", "align_val_t", "nothrow_t", "tuple_size"),
        *("tuple_element", "strong_ordering", "weak_ordering", "partial_ordering", "dim3", "cudaConfigureCall"),
        *(
            "__cudaPushCallConfiguration",
            "cudaLaunchKernel",
            "threadIdx",
            "blockIdx",
            "blockDim",
            "gridDim",
            "warpSize",
        ),
        *("memcpy", "memset", "memmove", "malloc", "free", "printf", "__assert_fail"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    text: str
    scope: tuple[int, ...]
    place: str
    words: tuple[str, ...]
    """The words that request other pieces."""
    missing: int
    """The number of words that must be used before the piece is included; 0: always."""


class Preamble:
    """Pieces, and for every word the pieces that wait for it; the flag tells whether the word is one of their names."""

    def __init__(self, entries: Sequence[_Entry], scopes: Sequence[str], waiting: dict[str, list[tuple[int, bool]]]):
        self._entries, self._scopes, self._waiting = entries, scopes, waiting

    def before(self, text: str) -> str:
        """The part of the headers that this text uses."""
        wanted = self._wanted([*_WORD.findall(text), *literals(text)])
        return _joined([self._entries[i] for i in range(len(self._entries)) if wanted[i]], self._scopes)

    def _wanted(self, words: Iterable[str]) -> list[bool]:
        wanted = [entry.missing == 0 for entry in self._entries]
        missing = [entry.missing for entry in self._entries]
        asked = [False] * len(wanted)
        todo = [*words, *_IMPLIED, *(word for entry in self._entries if entry.missing == 0 for word in entry.words)]
        known: set[str] = set()
        while todo:
            word = todo.pop()
            if word in known:
                continue
            known.add(word)
            for index, is_name in self._waiting.get(word, ()):
                if is_name and asked[index]:
                    continue
                asked[index] |= is_name
                missing[index] -= 1
                if missing[index] == 0:
                    wanted[index] = True
                    todo.extend(self._entries[index].words)
        return wanted


def _joined(entries: Iterable[_Entry], scopes: Sequence[str]) -> str:
    parts: list[str] = []
    current: tuple[int, ...] = ()
    file = ""
    for entry in entries:
        shared = sum(1 for _ in _common(current, entry.scope))
        parts.append("}" * (len(current) - shared) + "".join(scopes[step] for step in entry.scope[shared:]))
        current = entry.scope
        if (named := entry.place.partition('"')[2]) != file and named:
            parts.append(f"\n{entry.place}\n")
            file = named
        parts.append(f"{entry.text}\n")
    return "".join([*parts, "}" * len(current), "\n"])


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> Iterable[int]:
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield a


def write(folder: Path, text: str, macros: str, ours: str) -> None:
    """Stores preprocessed headers in a folder. `ours` is the path prefix of files whose functions convert
    implicitly."""
    parts = cut(text)
    classes = _classes(parts.pieces)
    asked = frozenset(name for piece in parts.pieces for name in piece.names)
    rows = [_row(piece, gates, asked | classes) for piece, gates in _gated(parts.pieces, classes, ours)]
    (folder / PIECES).write_bytes(marshal.dumps((rows, list(parts.scopes))))
    (folder / MACROS).write_text(macros)


def _classes(pieces: Sequence[Piece]) -> frozenset[str]:
    """Names of classes and enumerations, and of their aliases, but not of aliases of pointers or numbers."""
    found = {name for piece in pieces if piece.kind == "class" for name in piece.names}
    aliases = [piece for piece in pieces if piece.kind == "alias" and "*" not in piece.text]
    while more := {n for piece in aliases for n in piece.names - found if (piece.words - piece.names) & found}:
        found |= more
    return frozenset(found)


def _gated(pieces: Iterable[Piece], classes: frozenset[str], ours: str) -> Iterator[tuple[Piece, frozenset[str]]]:
    """Yields each piece with the words that it waits for besides its names.

    A using-declaration of an undeclared name does not compile. It therefore waits for the same words as the pieces that
    it names, once for each of them; a duplicate does no harm.
    """
    declared: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = {}
    for piece in pieces:
        before = [one for name in piece.names for one in declared.get(name, ()) if piece.kind == "using"]
        named = {gates for within, gates in before if _may_name(piece.brought_from, within)}
        ways = named or {_gates(piece, classes, ours)}
        for gates in [frozenset[str]()] if frozenset() in ways else sorted(ways, key=sorted):
            yield piece, gates
            for name in piece.words if piece.kind == "always" else piece.names:
                declared.setdefault(name, []).append((piece.within, gates))


def _may_name(path: tuple[str, ...], within: tuple[str, ...]) -> bool:
    """Whether a using-declaration with this path may refer to names in these namespaces."""
    return within == path[1:] if path[:1] == ("",) else within[len(within) - len(path) :] == path


def _gates(piece: Piece, classes: frozenset[str], ours: str) -> frozenset[str]:
    if piece.kind != "operator" and ours in piece.place:
        return frozenset()
    return (piece.takes & classes) - piece.names


def _row(piece: Piece, gates: frozenset[str], asked: frozenset[str]) -> tuple[object, ...]:
    kept = piece.kind == "always" or not (piece.names or gates)
    words = sorted(piece.words & asked)
    return piece.text, piece.scope, piece.place, words, [] if kept else sorted(piece.names), sorted(gates)


@lru_cache(maxsize=4)
def read(folder: Path) -> Preamble:
    rows, scopes = marshal.loads((folder / PIECES).read_bytes())
    entries, waiting = [], dict[str, list[tuple[int, bool]]]()
    for index, (text, scope, place, words, names, gates) in enumerate(rows):
        missing = len(gates) + bool(names)
        entries.append(_Entry(text=text, scope=scope, place=place, words=tuple(words), missing=missing))
        for word in names:
            waiting.setdefault(word, []).append((index, True))
        for word in gates:
            waiting.setdefault(word, []).append((index, False))
    return Preamble(entries, scopes, waiting)
