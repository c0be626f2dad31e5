"""Rewrites preprocessed CUDA text to C++ whose kernels run on the CPU.

k<<<grid, block, shared, stream>>>(a)   becomes a configured plain call
__global__ bodies                       become a lambda that is queued with the arguments and run by every thread
__shared__ declarations                 become references into the block's shared memory
asm in device code                      becomes a call that interprets the PTX
everything else                         is kept, on its own line

runtime/contract.md specifies the output.
"""

from __future__ import annotations

from warpwright.cpp.declarations import Function, function_at
from warpwright.cpp.editing import Editing
from warpwright.emulate.program.shared import Declaration, declaration_at
from warpwright.seal.capture.front import BOUND_WORDS, SPACE_WORDS
from warpwright.seal.refusal import undecided

_ASM = frozenset({"asm", "__asm__", "__asm"})
_VOLATILE = frozenset({"volatile", "__volatile__", "inline", "__inline__"})
_NOT_PLACED = frozenset({"const", "constexpr", "inline", "template", "extern", "__constant__", "using", "friend"})
_UNWATCHED = ("no_sanitize", "disable_sanitizer")
_DEVICE_SECTION = '__attribute__((section("warpwright_device")))'


def rewrite(preprocessed: str) -> str:
    """Text for the host compiler. Line numbers are preserved, so that findings name the user's lines."""
    front = _Front(preprocessed)
    front.rewrite_launches()
    front.rewrite_bodies()
    return front.text()


class _Front(Editing):
    def __init__(self, preprocessed: str) -> None:
        super().__init__(preprocessed)
        self._functions = self._found_functions()
        self._dynamic: list[Declaration] = []

    def _found_functions(self) -> dict[int, Function]:
        """Device functions by the position of their keyword."""
        words = (i for i in range(len(self.code)) if self.code.text(i) in ("__global__", "__device__"))
        return {word: function for word in words if (function := function_at(self.code, word)) is not None}

    def rewrite_bodies(self) -> None:
        for position in range(len(self.code)):
            if self.code.text(position) in _ASM and self._in_device_code(position):
                self._assembly(position)
        for position in range(len(self.code)):
            self._word(position)
        for word, function in self._functions.items():
            if function.body is not None:
                self._open_dynamic(function.body)
                if self.code.text(word) == "__global__":
                    self._kernel(function, function.body)

    def _in_device_code(self, position: int) -> bool:
        bodies = (function.body for function in self._functions.values() if function.body is not None)
        return any(body < position < self.code.partner[body] for body in bodies)

    def _word(self, position: int) -> None:
        match self.code.text(position):
            case "__global__":
                self.put(position, "__attribute__((noinline, used))")
            case "__shared__":
                self._shared(declaration_at(self.code, position))
            case "__device__" | "__managed__" if self._is_variable(position):
                self.put(position, _DEVICE_SECTION)
            case text if text in BOUND_WORDS and self.code.text(position + 1) == "(":
                self.erase(position, self.code.partner.get(position + 1, position) + 1)
            case text if text in SPACE_WORDS:
                self.erase(position, position + 1)
            case text if text.strip("_").startswith(_UNWATCHED):
                self._watch(position)

    def _watch(self, position: int) -> None:
        """Disables attributes that turn the checker off for a function."""
        self.put(position, "unused")
        if self.code.text(position + 1) == "(":
            self.erase(position + 1, self.code.partner.get(position + 1, position + 1) + 1)

    def _is_variable(self, word: int) -> bool:
        """Whether this is a global variable that kernels may write to, not a function, a lambda or a member."""
        if word in self._functions or self.code.text(word - 1) in ("]", ")"):
            return False
        start, end = self._statement(word)
        words = {self.code.text(i) for i in range(start, end)}
        second = self.code.text(word) == "__device__" and "__managed__" in words
        return not (words & _NOT_PLACED or second or self._in_class(word) or self.code.text(word + 1) == "(")

    def _statement(self, word: int) -> tuple[int, int]:
        start = end = word
        while self.code.text(start - 1) not in (";", "{", "}", ""):
            start -= 1
        while self.code.text(end) not in (";", "=", "{", "[", "(", ""):
            end += 1
        return start, end

    def _in_class(self, position: int) -> bool:
        opening = self._enclosing(position)
        if opening is None:
            return False
        start, _ = self._statement(opening - 1)
        return bool({self.code.text(i) for i in range(start, opening)} & {"struct", "class", "union"})

    def _enclosing(self, position: int) -> int | None:
        """The `{` that directly encloses the position."""
        here = position - 1
        while here >= 0:
            if self.code.text(here) == "{":
                return here
            here = self.code.partner.get(here, here) - 1 if self.code.text(here) in ("}", ")", "]") else here - 1
        return None

    def _kernel(self, function: Function, body: int) -> None:
        names = self.named_parameters(function)
        listed = self.flat(function.parameters, self.code.partner[function.parameters] + 1)
        queue = "::warpwright::enqueue(::warpwright::here(), __PRETTY_FUNCTION__, "
        self.prepend(body, f"{{ {self._clusters(function)}{queue}[]{listed} ")
        self.append(self.code.partner[body], f"{''.join(f', {name}' for name in names)}); }}")

    def _clusters(self, function: Function) -> str:
        """The cluster size with which the kernel is declared; empty if there is none."""
        start, _ = self._statement(function.parameters)
        for word in range(start, function.parameters):
            if self.code.text(word) == "__cluster_dims__":
                size = range(word + 1, self.code.partner[word + 1] + 1)
                return f"::warpwright::emulated::in_clusters(dim3{' '.join(map(self.code.text, size))}); "
        return ""

    def _shared(self, declaration: Declaration) -> None:
        if declaration.dynamic:
            self._dynamic_shared(declaration)
            return
        if self._enclosing(declaration.start) is None:
            raise undecided("unsupported: a __shared__ variable outside of functions")
        names, kind = ", ".join(declaration.names), declaration.kind
        self._as_member(declaration)
        bound = f'auto& [{names}] = ::warpwright::shared<{kind}>("{names}");'
        self.append(declaration.end, f" }}; {bound}")

    def _dynamic_shared(self, declaration: Declaration) -> None:
        self._as_member(declaration)
        self.append(declaration.extent, "1")
        inside = self._enclosing(declaration.start)
        self.append(declaration.end, f" }}; {declaration.opening if self._in_function(inside) else ''}")
        if not self._in_function(inside):
            self._dynamic.append(declaration)

    def _in_function(self, opening: int | None) -> bool:
        bodies = (function.body for function in self._functions.values() if function.body is not None)
        return opening is not None and any(body <= opening < self.code.partner[body] for body in bodies)

    def _as_member(self, declaration: Declaration) -> None:
        for position in declaration.dropped:
            self.erase(position, position + 1)
        self.prepend(declaration.start, f"struct {declaration.kind} {{ ")

    def _open_dynamic(self, body: int) -> None:
        """Declares dynamic shared arrays of namespace scope in every function that mentions them."""
        mentioned = {self.code.text(i) for i in range(body, self.code.partner[body])} if self._dynamic else set()
        for declaration in self._dynamic:
            if declaration.names[0] in mentioned:
                self.append(body, f" {declaration.opening}")

    def _assembly(self, word: int) -> None:
        opening = word + 1
        while self.code.text(opening) in _VOLATILE:
            opening += 1
        close = self.code.partner.get(opening)
        if self.code.text(opening) != "(" or close is None:
            return
        text, *operands = self._sections(opening + 1, close)
        ways = zip(("out", "in"), operands, strict=False)
        calls = [self._operand(way, *piece) for way, pieces in ways for piece in pieces]
        written = f"::warpwright::Ptx({self.flat(*text[0])}){''.join(calls)}.run()"
        self.replace(word, close + 1, written)

    def _sections(self, begin: int, close: int) -> list[list[tuple[int, int]]]:
        """The parts between colons: text, outputs, inputs, clobbers; each as the pieces between its commas."""
        sections: list[list[tuple[int, int]]] = [[]]
        start = here = begin
        while here <= close:
            text = self.code.text(here)
            if here == close or text in (",", ":", "::"):
                sections[-1] += [(start, here)] if here > start else []
                sections += [[] for _ in range(text.count(":"))] if here < close else []
                start = here + 1
            here = self.code.partner[here] + 1 if text in ("(", "[", "{") and here in self.code.partner else here + 1
        return sections

    def _operand(self, way: str, begin: int, end: int) -> str:
        """Writes an operand such as `[name] "=r"(x)` as a call."""
        name = ""
        if self.code.text(begin) == "[":
            name = f', "{self.code.text(begin + 1)}"'
            begin += 3
        opening = next((i for i in range(begin, end) if self.code.text(i) == "("), None)
        if opening is None:
            raise undecided(f"unsupported: asm operand {self.flat(begin, end)}")
        value = self.flat(opening + 1, self.code.partner[opening])
        return f".{way}({self.flat(begin, opening)}, {value}{name})"
