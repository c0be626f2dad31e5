"""Replaces tokens of CUDA text in place: lines keep their numbers, and launches become plain calls."""

from __future__ import annotations

from warpwright.cpp.declarations import Function, parameters_of
from warpwright.cpp.tokens import Code, Kind, tokenize

_NO_CALLEE = frozenset({"return", "if", "while", "for", "switch", "else", "do", "case", "throw", "co_return", "not"})


class Editing:
    """A text being edited; the base class of edits for different purposes."""

    def __init__(self, text: str) -> None:
        self.code = Code(tokenize(text))
        self._out = [token.text for token in self.code.tokens]

    def text(self) -> str:
        return "".join(self._out)

    def rewrite_launches(self) -> None:
        """Turns `k<<<grid, block>>>(a)` into a configured plain call; inner launches first, as they may be
        arguments.
        """
        for position in reversed(range(len(self.code))):
            if self.code.text(position) == "<<<" and self.code.text(position - 1) != "operator":
                self._launch(position)

    def named_parameters(self, function: Function) -> list[str]:
        """Returns the names of all parameters; unnamed ones get a name."""
        names = []
        for number, parameter in enumerate(parameters_of(self.code, function)):
            name = parameter.name or f"warpwright_unnamed_{number}"
            if parameter.name is None:
                self.append(parameter.end - 1, f" {name}")
            names.append(name + "..." * parameter.pack)
        return names

    def erase(self, begin: int, end: int) -> None:
        self.replace(begin, end, "")

    def replace(self, begin: int, end: int, text: str) -> None:
        """Replaces the tokens from begin to end by a text; line ends and line markers between them stay."""
        last = self.code.where[end - 1] if end > begin else self.code.where[begin]
        for index in range(self.code.where[begin], last + 1):
            if not self._keeps_lines(index):
                self._out[index] = ""
        self.put(begin, text)

    def _keeps_lines(self, index: int) -> bool:
        token = self.code.tokens[index]
        is_marker = token.kind is Kind.DIRECTIVE and not token.text.lstrip(" \t#")[:1].isalpha()
        return is_marker or token.kind is Kind.SPACE

    def put(self, position: int, text: str) -> None:
        self._out[self.code.where[position]] = text

    def prepend(self, position: int, text: str) -> None:
        self._out[self.code.where[position]] = text + self._out[self.code.where[position]]

    def append(self, position: int, text: str) -> None:
        self._out[self.code.where[position]] += text

    def _launch(self, opening: int) -> None:
        closing = self._launch_end(opening)
        if closing is None:
            return
        start = self._callee_start(opening - 1)
        configuration = self.flat(opening + 1, closing)
        self.erase(opening, closing + 3)
        self.prepend(start, f"(::warpwright::configure({configuration}), ")
        self.append(self.code.partner[closing + 3], ")")

    def _launch_end(self, opening: int) -> int | None:
        """Finds the first of the three `>` that close a launch configuration before its arguments."""
        here = opening + 1
        while here < len(self.code):
            match self.code.text(here):
                case "(" | "[" | "{":
                    here = self.code.partner.get(here, len(self.code))
                case ")" | "]" | "}" | ";" | "<<<":
                    return None
                case ">" if [self.code.text(here + i) for i in (1, 2, 3)] == [">", ">", "("]:
                    return here if here + 3 in self.code.partner else None
            here += 1
        return None

    def _callee_start(self, here: int) -> int:
        """Finds the start of the callee: `ns::kernel<T>`, `(a ? b : c)`, `table[i]`, `object.member`, `choose(x)`."""
        here = self._back_over_suffixes(here)
        while self.code.text(here - 1) in ("::", ".", "->", "template"):
            here -= 1
            before = self.code.text(here - 1)
            if self.code.text(here) != "template" and (self._is_callee(here - 1) or before in (">", ")", "]")):
                here = self._back_over_suffixes(here - 1)
        return here

    def _back_over_suffixes(self, here: int) -> int:
        while True:
            match self.code.text(here):
                case ">" if (opening := self.code.before_angles(here)) is not None:
                    here = opening - 1
                case ")" | "]" if here in self.code.partner:
                    here = self.code.partner[here]
                    if not (self._is_callee(here - 1) or self.code.text(here - 1) in (")", "]", ">")):
                        return here
                    here -= 1
                case _:
                    return here

    def _is_callee(self, position: int) -> bool:
        return self.code.is_word(position) and self.code.text(position) not in _NO_CALLEE

    def flat(self, begin: int, end: int) -> str:
        """Returns the tokens from begin to end on one line, as edited so far."""
        indices = range(self.code.where[begin], self.code.where[end - 1] + 1) if begin < end else range(0)
        kinds = (self.code.tokens[i].kind for i in indices)
        return "".join(
            self._out[i] if kind not in (Kind.SPACE, Kind.DIRECTIVE) else " "
            for i, kind in zip(indices, kinds, strict=True)
        )
