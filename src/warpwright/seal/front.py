"""The compiler front: preprocessed CUDA text becomes C++ that records what it would launch.

k<<<grid, block, shared, stream>>>(a)   a configured plain call, so that overloads and deduction work as they do
__global__ bodies                       a call of the recorder with the parameters
__device__ bodies                       gone: a host compiler has no use for PTX, wmma or cub
everything else                         stays, on its own line
"""

from __future__ import annotations

from warpwright.seal.declarations import Function, function_at, parameters_of
from warpwright.seal.tokens import Code, Kind, tokenize

_SPACES = frozenset(
    {
        "__device__",
        "__host__",
        "__shared__",
        "__constant__",
        "__managed__",
        "__grid_constant__",
        "__forceinline__",
        "__noinline__",
        "__inline__",
    }
)
_BOUNDS = frozenset({"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__"})
_KEPT_BODIES = frozenset({"__host__", "constexpr", "consteval"})
_NO_CALLEE = frozenset({"return", "if", "while", "for", "switch", "else", "do", "case", "throw", "co_return", "not"})


def rewrite(preprocessed: str, *, keep_host_device: bool = True) -> str:
    """Text for the host compiler. Lines stay where they are, so that its errors name the user's lines."""
    return _Rewrite(preprocessed, keep_host_device).text()


class _Rewrite:
    def __init__(self, preprocessed: str, keep_host_device: bool) -> None:
        self._code = Code(tokenize(preprocessed))
        self._out = [token.text for token in self._code.tokens]
        self._kept_bodies = _KEPT_BODIES if keep_host_device else _KEPT_BODIES - {"__host__"}

    def text(self) -> str:
        for position in reversed(range(len(self._code))):
            if self._code.text(position) == "<<<" and self._code.text(position - 1) != "operator":
                self._launch(position)
        for position in range(len(self._code)):
            self._word(position)
        return "".join(self._out)

    def _word(self, position: int) -> None:
        match self._code.text(position):
            case "__global__":
                self._kernel(position)
            case "__device__":
                self._device(position)
            case text if text in _BOUNDS and self._code.text(position + 1) == "(":
                self._erase(position, self._code.partner.get(position + 1, position) + 1)
            case "__host__" if "__device__" not in (self._code.text(position - 1), self._code.text(position + 1)):
                self._erase(position, position + 1)
            case text if text in _SPACES:
                self._erase(position, position + 1)

    def _kernel(self, word: int) -> None:
        self._put(word, "__attribute__((noinline, used))")
        function = function_at(self._code, word)
        if function is None or function.body is None:
            return
        arguments = ["::warpwright::here()", *self._named_parameters(function)]
        recorder = f"{{ ::warpwright::launched({', '.join(arguments)}); }}"
        self._replace(function.body, self._code.partner[function.body] + 1, recorder)

    def _named_parameters(self, function: Function) -> list[str]:
        names = []
        for number, parameter in enumerate(parameters_of(self._code, function)):
            name = parameter.name or f"warpwright_unnamed_{number}"
            if parameter.name is None:
                self._append(parameter.end - 1, f" {name}")
            names.append(name + "..." * parameter.pack)
        return names

    def _device(self, word: int) -> None:
        self._erase(word, word + 1)
        function = function_at(self._code, word)
        if function is None or function.body is None:
            return
        words = {self._code.text(i) for i in range(function.start, function.parameters)}
        if not words & self._kept_bodies:
            self._drop_body(function, function.body)

    def _drop_body(self, function: Function, body: int) -> None:
        end = self._code.partner[body] + 1
        if self._code.text(function.name - 1) == "::":
            self._replace(body, end, "{ __builtin_unreachable(); }")
        elif self._code.text(function.name - 1) == "~":
            self._replace(body, end, "{}")
        else:
            self._replace(self._initialisers(function, body), end, ";")

    def _initialisers(self, function: Function, body: int) -> int:
        """Where a constructor's `: member(value)` begins, which needs a body; otherwise the body."""
        return next((i for i in range(function.tail, body) if self._code.text(i) == ":"), body)

    def _launch(self, opening: int) -> None:
        closing = self._launch_end(opening)
        if closing is None:
            return
        start = self._callee_start(opening - 1)
        configuration = self._flat(opening + 1, closing)
        self._erase(opening, closing + 3)
        self._prepend(start, f"(::warpwright::configure({configuration}), ")
        self._append(self._code.partner[closing + 3], ")")

    def _launch_end(self, opening: int) -> int | None:
        """The first of the three `>` that close a launch and stand before its arguments."""
        here = opening + 1
        while here < len(self._code):
            match self._code.text(here):
                case "(" | "[" | "{":
                    here = self._code.partner.get(here, len(self._code))
                case ")" | "]" | "}" | ";" | "<<<":
                    return None
                case ">" if [self._code.text(here + i) for i in (1, 2, 3)] == [">", ">", "("]:
                    return here if here + 3 in self._code.partner else None
            here += 1
        return None

    def _callee_start(self, here: int) -> int:
        """Back over what is launched: `ns::kernel<T>`, `(a ? b : c)`, `table[i]`, `object.member`, `choose(x)`."""
        here = self._back_over_suffixes(here)
        while self._code.text(here - 1) in ("::", ".", "->", "template"):
            here -= 1
            before = self._code.text(here - 1)
            if self._code.text(here) != "template" and (self._is_callee(here - 1) or before in (">", ")", "]")):
                here = self._back_over_suffixes(here - 1)
        return here

    def _back_over_suffixes(self, here: int) -> int:
        while True:
            match self._code.text(here):
                case ">" if (opening := self._code.before_angles(here)) is not None:
                    here = opening - 1
                case ")" | "]" if here in self._code.partner:
                    here = self._code.partner[here]
                    if not (self._is_callee(here - 1) or self._code.text(here - 1) in (")", "]", ">")):
                        return here
                    here -= 1
                case _:
                    return here

    def _is_callee(self, position: int) -> bool:
        return self._code.is_word(position) and self._code.text(position) not in _NO_CALLEE

    def _flat(self, begin: int, end: int) -> str:
        """The tokens from begin to end on one line, as rewritten so far."""
        indices = range(self._code.where[begin], self._code.where[end - 1] + 1) if begin < end else range(0)
        kinds = (self._code.tokens[i].kind for i in indices)
        return "".join(
            self._out[i] if kind not in (Kind.SPACE, Kind.DIRECTIVE) else " "
            for i, kind in zip(indices, kinds, strict=True)
        )

    def _erase(self, begin: int, end: int) -> None:
        self._replace(begin, end, "")

    def _replace(self, begin: int, end: int, text: str) -> None:
        """Put text for the tokens from begin to end; line ends and line markers between them stay."""
        last = self._code.where[end - 1] if end > begin else self._code.where[begin]
        for index in range(self._code.where[begin], last + 1):
            if not self._keeps_lines(index):
                self._out[index] = ""
        self._put(begin, text)

    def _keeps_lines(self, index: int) -> bool:
        token = self._code.tokens[index]
        is_marker = token.kind is Kind.DIRECTIVE and not token.text.lstrip(" \t#")[:1].isalpha()
        return is_marker or token.kind is Kind.SPACE

    def _put(self, position: int, text: str) -> None:
        self._out[self._code.where[position]] = text

    def _prepend(self, position: int, text: str) -> None:
        self._out[self._code.where[position]] = text + self._out[self._code.where[position]]

    def _append(self, position: int, text: str) -> None:
        self._out[self._code.where[position]] += text
