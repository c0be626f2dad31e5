"""Rewrites preprocessed CUDA text to C++ that records its launches.

k<<<grid, block, shared, stream>>>(a)   becomes a configured plain call, so that overloads and deduction still work
__global__ bodies                       become a call of the recorder with the parameters
__device__ bodies                       are removed: a host compiler cannot compile PTX, wmma or cub
everything else                         is kept, on its own line
"""

from __future__ import annotations

from warpwright.cpp.declarations import Function, function_at
from warpwright.cpp.editing import Editing

SPACE_WORDS = frozenset(
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
BOUND_WORDS = frozenset({"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__"})
_KEPT_BODIES = frozenset({"__host__", "constexpr", "consteval"})


def rewrite(preprocessed: str, *, keep_host_device: bool = True) -> str:
    """Text for the host compiler. Line numbers are preserved, so that its errors name the user's lines."""
    front = _Front(preprocessed, keep_host_device)
    front.rewrite_launches()
    for position in range(len(front.code)):
        front.rewrite_word(position)
    return front.text()


class _Front(Editing):
    def __init__(self, preprocessed: str, keep_host_device: bool) -> None:
        super().__init__(preprocessed)
        self._kept_bodies = _KEPT_BODIES if keep_host_device else _KEPT_BODIES - {"__host__"}

    def rewrite_word(self, position: int) -> None:
        match self.code.text(position):
            case "__global__":
                self._kernel(position)
            case "__device__":
                self._device(position)
            case text if text in BOUND_WORDS and self.code.text(position + 1) == "(":
                self.erase(position, self.code.partner.get(position + 1, position) + 1)
            case "__host__" if "__device__" not in (self.code.text(position - 1), self.code.text(position + 1)):
                self.erase(position, position + 1)
            case text if text in SPACE_WORDS:
                self.erase(position, position + 1)

    def _kernel(self, word: int) -> None:
        self.put(word, "__attribute__((noinline, used))")
        function = function_at(self.code, word)
        if function is None or function.body is None:
            return
        arguments = ["::warpwright::here()", *self.named_parameters(function)]
        recorder = f"{{ ::warpwright::launched({', '.join(arguments)}); }}"
        self.replace(function.body, self.code.partner[function.body] + 1, recorder)

    def _device(self, word: int) -> None:
        self.erase(word, word + 1)
        function = function_at(self.code, word)
        if function is None or function.body is None:
            return
        words = {self.code.text(i) for i in range(function.start, function.parameters)}
        if not words & self._kept_bodies:
            self._drop_body(function, function.body)

    def _drop_body(self, function: Function, body: int) -> None:
        end = self.code.partner[body] + 1
        if self.code.text(function.name - 1) == "::":
            self.replace(body, end, "{ __builtin_unreachable(); }")
        elif self.code.text(function.name - 1) == "~":
            self.replace(body, end, "{}")
        else:
            self.replace(self._initialisers(function, body), end, ";")

    def _initialisers(self, function: Function, body: int) -> int:
        """The position of a constructor's initialiser list, which needs a body; otherwise of the body."""
        return next((i for i in range(function.tail, body) if self.code.text(i) == ":"), body)
