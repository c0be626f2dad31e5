"""Parses TTIR. An operation that is unknown is read like all others; it is refused when it is to run."""

from __future__ import annotations

import re

from warpwright.core.errors import Undecided
from warpwright.ttir.syntax import structured
from warpwright.ttir.syntax.attributes import dictionary
from warpwright.ttir.syntax.locations import Locations
from warpwright.ttir.syntax.scanner import LABEL, STRING, SYMBOL, VALUE, WORD, Scanner
from warpwright.ttir.syntax.tree import Block, Function, Module, Operation, Region
from warpwright.ttir.syntax.types import Type

_PACK = re.compile(r":(\d+)")
_REGION = re.compile(r"\{[ \t]*(?:loc\([^\n]*\))?[ \t]*\n")
_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")
_REFERENCE = re.compile(r"#[\w.$]+")
_LOCATION = re.compile(r"loc\(")


def parse(text: str) -> Module:
    """The functions of a module. Undecided names what cannot be read."""
    try:
        parser = _Parser(text)
        return Module(parser.functions())
    except (RecursionError, IndexError, KeyError, ValueError, OverflowError) as error:
        raise Undecided(f"unsupported: the IR cannot be read ({type(error).__name__}: {error})") from error


class _Parser:
    def __init__(self, text: str) -> None:
        self.scan = Scanner(text)
        self.locations = Locations(text)

    def functions(self) -> dict[str, Function]:
        found: dict[str, Function] = {}
        self._open_module()
        while not self._ends():
            function = structured.function(self.scan, self.region)
            _mark_used(function.body)
            found[function.name] = function
        if not any(function.public for function in found.values()):
            raise self.scan.confused("a kernel expected")
        return found

    def _open_module(self) -> None:
        start = re.search(r"^module\b", self.scan.text, re.MULTILINE)
        if start is None:
            raise self.scan.confused("a module expected")
        self.scan.at = start.end()
        if self.scan.accept("attributes"):
            self.scan.expect("{")
            dictionary(self.scan)
        self.scan.expect("{")

    def _ends(self) -> bool:
        self.scan.skip_lines()
        return self.scan.accept("}")

    def region(self) -> Region:
        """The blocks up to the closing brace; the opening one has been taken."""
        blocks = [Block("")]
        while not self._ends():
            if self.scan.sees("^"):
                blocks.append(self._label())
            else:
                blocks[-1].operations.append(self.operation())
        return [block for block in blocks if block.operations or block.label]

    def _label(self) -> Block:
        label = self.scan.take(LABEL, "a label")
        parameters = structured.parameters(self.scan) if self.scan.accept("(") else []
        self.scan.expect(":")
        return Block(label, parameters)

    def operation(self) -> Operation:
        results = self._results()
        name = self.scan.match(STRING) or self.scan.take(WORD, "an operation")
        made = Operation(name.strip('"'), results)
        reader = structured.READERS.get(made.name)
        if reader is not None:
            reader(self.scan, made, self.region)
        self._rest(made)
        made.line = self.locations.line(made.tag)
        return made

    def _results(self) -> list[str]:
        names: list[str] = []
        while (name := self.scan.match(VALUE)) is not None:
            pack = self.scan.match(_PACK)
            names += [f"{name}#{number}" for number in range(int(pack[1:]))] if pack else [name]
            if not self.scan.accept(","):
                self.scan.expect("=")
                break
        return names

    def _rest(self, made: Operation) -> None:
        """Operands, words, dictionaries, regions and types, in whatever order an operation prints them."""
        scan = self.scan
        while not scan.at_line_end():
            if scan.match(_LOCATION):
                made.tag = scan.balanced(")")
                scan.expect(")")
            elif (region := _REGION.match(scan.text, scan.at)) is not None:
                scan.at = region.end()
                made.regions.append(self.region())
            elif scan.accept("<{") or scan.accept("{"):
                made.attributes |= dictionary(scan)
                scan.accept(">")
            elif scan.accept(":"):
                made.taken += [] if scan.sees("%") else self._types()
            elif scan.accept("->"):
                made.given += self._types()
            else:
                self._word(made)

    def _word(self, made: Operation) -> None:
        scan = self.scan
        if (value := scan.match(VALUE)) is not None:
            made.operands.append(value)
        elif (word := scan.match(STRING) or scan.match(SYMBOL) or scan.match(WORD)) is not None:
            made.words.append(word)
        elif (reference := scan.match(_REFERENCE) or scan.match(_NUMBER)) is not None:
            made.words.append(reference)
            if scan.accept("<"):
                scan.balanced(">")
                scan.expect(">")
        elif not any(scan.accept(mark) for mark in "()[],=*<>/"):
            raise scan.confused("an operand expected")

    def _types(self) -> list[Type]:
        """A list of types, in brackets or not; `to` between types parts operands from results, as `->` does."""
        scan = self.scan
        bracket = scan.accept("(")
        found: list[Type] = []
        while not (scan.sees(")") or scan.at_line_end()):
            found.append(scan.type())
            if not any(scan.accept(mark) for mark in (",", "*", "to ")):
                break
        if bracket:
            scan.expect(")")
        return found


def _mark_used(region: Region) -> None:
    """Notes which operations have results that something reads."""
    read: set[str] = set()
    every = [operation for block in region for operation in _nested(block)]
    for operation in every:
        read.update(operation.operands)
        for _, handed in operation.targets:
            read.update(handed)
    for operation in every:
        operation.used = any(result in read for result in operation.results)


def _nested(block: Block) -> list[Operation]:
    found = []
    for operation in block.operations:
        found.append(operation)
        for region in operation.regions:
            for inner in region:
                found += _nested(inner)
    return found
