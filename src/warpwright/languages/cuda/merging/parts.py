"""Takes one kernel source apart for merging: includes, macros, the bound entry, and the rest of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpwright.core.errors import UsageError
from warpwright.cpp.tokens import Code, Kind, tokenize

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?P<word>\w+)[ \t]*(?P<rest>.*)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_TUNE = re.compile(r"//[ \t]*tune:")
_FOREIGN = frozenset({"std", "at", "torch", "c10", "cub", "thrust", "cuda", "pybind11", "cooperative_groups"})
_DROPPED = frozenset({"static", "inline", "__host__", "__forceinline__", "__inline__"})
_KEYWORDS = frozenset({"return", "else", "do", "case", "throw", "new", "const"})
_LIBRARIES = frozenset({"TORCH_LIBRARY", "TORCH_LIBRARY_FRAGMENT", "TORCH_LIBRARY_IMPL", "STABLE_TORCH_LIBRARY"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    type: str
    name: str

    @property
    def kind(self) -> str:
        """Classifies the type as a tensor, a container of tensors, or a value: two parts must agree in this."""
        bare = re.sub(r"\bconst\b|[&\s]|\b(at|torch|c10)::", "", self.type)
        return "tensor" if bare == "Tensor" else "tensors" if "Tensor" in bare else "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The function that is bound under the name that the task calls."""

    function: str
    """The function's name as bound, qualified by namespaces inside its part."""
    returns: str
    parameters: tuple[Parameter, ...]
    tail: str
    """The rest of the binding after the function: documentation and argument names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    label: str
    includes: tuple[str, ...]
    macros: tuple[str, ...]
    words: frozenset[str]
    """Every identifier in the source."""
    entry: Entry
    body: str
    """The text without its includes and its PYBIND11_MODULE."""
    has_c_names: bool


def part_of(source: str, entry: str, label: str) -> Part:
    """Takes a source apart; a UsageError says in one sentence why it cannot be merged."""
    return _Reading(source, entry, label).part()


class _Reading:
    def __init__(self, source: str, entry: str, label: str) -> None:
        self._label, self._wanted = label, entry
        self._code = Code(tokenize(source))
        self._out = [token.text for token in self._code.tokens]

    def part(self) -> Part:
        self._refuse_what_a_namespace_breaks()
        module = self._module()
        entry = self._entry(module)
        self._erase(module[0], module[1])
        includes, macros = self._directives()
        return Part(
            label=self._label,
            includes=includes,
            macros=macros,
            words=frozenset(_WORD.findall("".join(token.text for token in self._code.tokens))),
            entry=entry,
            body=_TUNE.sub("// tuned:", "".join(self._out)).strip("\n"),
            has_c_names=any(self._text(i) == "extern" and self._text(i + 1) == '"C"' for i in range(len(self._code))),
        )

    def _text(self, position: int) -> str:
        return self._code.text(position)

    def _refused(self, why: str) -> UsageError:
        return UsageError(f"{self._label} cannot be merged: {why}")

    def _refuse_what_a_namespace_breaks(self) -> None:
        functions = {self._text(position) for position in self._functions()}
        for position in range(len(self._code)):
            text, after = self._text(position), self._text(position + 1)
            if text in _LIBRARIES:
                raise self._refused(f"it registers operators with {text}")
            if text == "namespace" and after in _FOREIGN and self._text(position + 2) in ("{", "::"):
                raise self._refused(f"it adds to the namespace {after}")
            if text == "::" and after in functions and not self._qualified(position):
                raise self._refused(f"it names ::{after}, which would no longer be global")

    def _qualified(self, position: int) -> bool:
        before = self._text(position - 1)
        return before == ">" or (self._code.is_word(position - 1) and before not in _KEYWORDS)

    def _functions(self) -> Iterator[int]:
        """Yields the positions of the names of function definitions."""
        for position in range(len(self._code)):
            close = self._code.partner.get(position + 1, -1)
            if self._code.is_word(position) and self._text(position + 1) == "(" and self._text(close + 1) == "{":
                yield position

    def _module(self) -> tuple[int, int]:
        """The positions of the word PYBIND11_MODULE and of its closing brace."""
        found = [position for position in range(len(self._code)) if self._text(position) == "PYBIND11_MODULE"]
        if len(found) != 1:
            raise self._refused(f"it has {len(found) or 'no'} PYBIND11_MODULE{'s' if len(found) > 1 else ''}")
        opening = self._code.partner.get(found[0] + 1, -2) + 1
        if self._text(opening) != "{" or opening not in self._code.partner:
            raise self._refused("its PYBIND11_MODULE has no body")
        return found[0], self._code.partner[opening]

    def _entry(self, module: tuple[int, int]) -> Entry:
        bound = {self._text(at + 2).strip('"'): at for at in range(*module) if self._text(at) == "def"}
        if "prepare" in bound:
            raise self._refused("it exports prepare, whose results only its own forward can read")
        if self._wanted in bound:
            return self._bound(bound[self._wanted])
        raise self._refused(f"it binds no {self._wanted}")

    def _bound(self, definition: int) -> Entry:
        here = definition + 4 + (self._text(definition + 4) == "&")
        end = here
        while self._code.is_word(end) or self._text(end) == "::":
            end += 1
        close = self._code.partner.get(definition + 1, -1)
        if end == here or self._text(end) not in (",", ")") or self._text(definition + 3) != ",":
            raise self._refused(f"{self._wanted} is not bound to a function by name")
        function = "".join(self._text(i) for i in range(here, end)).removeprefix("::")
        name = self._definition(function.rpartition("::")[2])
        return Entry(
            function=function,
            returns=self._returns(name),
            parameters=tuple(self._parameters(name + 1)),
            tail=self._joined(end, close),
        )

    def _definition(self, name: str) -> int:
        found = [position for position in self._functions() if self._text(position) == name]
        if len(found) != 1:
            raise self._refused(f"{name} is defined {len(found)} times in it")
        return found[0]

    def _returns(self, name: int) -> str:
        start = name
        while self._text(start - 1) not in (";", "{", "}", ""):
            start -= 1
        if self._text(start) in ("template", "extern"):
            raise self._refused(f"{self._text(name)} is a template or has a C name")
        kept = [i for i in range(start, name) if self._text(i) not in _DROPPED]
        return self._joined(kept[0], name) if kept else ""

    def _parameters(self, opening: int) -> Iterator[Parameter]:
        begin, here, close = opening + 1, opening + 1, self._code.partner[opening]
        while here <= close and begin < close:
            text = self._text(here)
            if text == "," or here == close:
                yield self._parameter(begin, here)
                begin = here = here + 1
            elif text in ("(", "[", "{"):
                here = self._code.partner[here] + 1
            else:
                here = (self._code.past_angles(here) if text == "<" else None) or here + 1

    def _parameter(self, begin: int, end: int) -> Parameter:
        end = next((i for i in range(begin, end) if self._text(i) == "="), end)
        if end - begin < 2 or not self._code.is_word(end - 1):
            raise self._refused(f"a parameter of {self._wanted} has no name")
        return Parameter(type=self._joined(begin, end - 1), name=self._text(end - 1))

    def _joined(self, begin: int, end: int) -> str:
        """Joins the text from one token to another on one line, without comments."""
        where = range(self._code.where[begin], self._code.where[end - 1] + 1) if begin < end else range(0)
        kinds = [self._code.tokens[i].kind for i in where]
        pieces = [
            " " if kind in (Kind.SPACE, Kind.DIRECTIVE) else self._code.tokens[i].text
            for i, kind in zip(where, kinds, strict=True)
        ]
        return " ".join("".join(pieces).split())

    def _erase(self, begin: int, end: int) -> None:
        for index in range(self._code.where[begin], self._code.where[end] + 1):
            self._out[index] = ""

    def _erase_line(self, index: int) -> None:
        """Erases a directive and the end of its line."""
        self._out[index] = ""
        if index + 1 < len(self._out) and self._out[index + 1].startswith("\n"):
            self._out[index + 1] = self._out[index + 1][1:]

    def _directives(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Collects includes, which move to the head of the merged source, and the names of macros."""
        includes: dict[str, None] = {}
        macros: dict[str, None] = {}
        depth = 0
        for index, token in enumerate(self._code.tokens):
            match = _DIRECTIVE.match(token.text) if token.kind is Kind.DIRECTIVE else None
            word, rest = (match["word"], match["rest"]) if match else ("", "")
            depth += word.startswith("if") - (word == "endif")
            if word == "include" and depth:
                raise self._refused(f"it includes {rest.strip()} under a condition")
            if word == "include":
                includes[f"#include {rest.strip()}"] = None
            if word == "include" or (word, rest.strip()) == ("pragma", "once"):
                self._erase_line(index)
            if word == "define" and (name := _WORD.match(rest)):
                macros[name[0]] = None
        return tuple(includes), tuple(macros)
