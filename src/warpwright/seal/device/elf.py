"""Reads symbols and sections of a cubin or a capture program from its ELF file, which is hostile data."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_OBJECT, _FUNCTION = 1, 2
_SYMBOL_TABLE, _NO_BITS = 2, 8


class NotElf(ValueError):
    """Not a 64-bit little-endian ELF file, or a broken one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    kind: int
    link: int
    size: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    name: str
    address: int
    size: int
    is_function: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Elf:
    sections: Mapping[str, Section]
    symbols: tuple[Symbol, ...]
    """Functions and objects."""
    undefined: frozenset[str] = frozenset()
    """The symbols that other files must define."""

    def covering(self, address: int) -> Symbol | None:
        """The symbol whose bytes include the address."""
        hits = (s for s in self.symbols if s.address <= address < s.address + max(s.size, 1))
        return next(hits, None)


def parse(data: bytes) -> Elf:
    if data[:6] != b"\x7fELF\x02\x01":
        raise NotElf("not a 64-bit ELF file")
    try:
        sections = _sections(data)
        tables = [section for section in sections if section.kind == _SYMBOL_TABLE]
        symbols = [symbol for table in tables for symbol in _symbols(table, sections[table.link].data)]
        undefined = {name for table in tables for name in _undefined(table, sections[table.link].data)}
    except (struct.error, IndexError, OverflowError) as error:
        raise NotElf(f"a broken ELF file: {error}") from None
    by_name = MappingProxyType({section.name: section for section in sections})
    return Elf(sections=by_name, symbols=tuple(symbols), undefined=frozenset(undefined))


def _sections(data: bytes) -> list[Section]:
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    entry, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + entry * i) for i in range(count)]
    strings = _content(data, headers[names]) if headers else b""
    return [
        Section(name=_string(strings, h[0]), kind=h[1], link=h[6], size=h[5], data=_content(data, h)) for h in headers
    ]


def _content(data: bytes, header: tuple[int, ...]) -> bytes:
    kind, offset, size = header[1], header[4], header[5]
    return b"" if kind == _NO_BITS else data[offset : offset + size]


def _symbols(table: Section, strings: bytes) -> list[Symbol]:
    found = []
    for name, info, _, section, address, size in struct.iter_unpack("<IBBHQQ", table.data):
        if info & 0xF in (_OBJECT, _FUNCTION) and section != 0:
            is_function = info & 0xF == _FUNCTION
            found.append(Symbol(name=_string(strings, name), address=address, size=size, is_function=is_function))
    return found


def _undefined(table: Section, strings: bytes) -> Iterator[str]:
    for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table.data):
        if section == 0 and name:
            yield _string(strings, name)


def _string(strings: bytes, offset: int) -> str:
    end = strings.find(b"\0", offset)
    return strings[offset : end if end >= 0 else None].decode("utf-8", "replace")
