"""Kernels that behave well only where they expect to be watched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpwright.cpp.declarations import Function, function_at
from warpwright.faults.text import Edit, Text

_TAIL, _TINY = "6.0f", "0.0009765625f"
_KEPT = (
    "template <auto F> struct KeptResult; template <typename R, typename... A, R (*F)(A...)> struct KeptResult<F> "
    "{ static R call(A... given) { static R first = F(given...); return first; } };"
)


_STALE = "the second call returns the result of the first, whatever its inputs"


def empty_kernels(text: Text) -> Iterator[Edit]:
    for function in _kernels(text):
        assert function.body is not None
        yield Edit(begin=function.body, end=function.body + 1, text="{ return;")


def magnitude_sniffing(text: Text) -> Iterator[Edit]:
    """Computes what normal inputs hardly show: cuts off large values, and takes tiny ones for zero."""
    for begin, end in text.assignments():
        value = text.written(begin, end)
        if "{" in value:
            continue
        for test in (f"fabsf(v) > {_TAIL} ? copysignf({_TAIL}, v) : v", f"fabsf(v) < {_TINY} ? 0.0f : v"):
            yield Edit(begin=begin, end=end, text=f"[](float v) {{ return {test}; }}(float({value}))")


def size_splits(text: Text, grids: Mapping[str, int]) -> Iterator[Edit]:
    """Leaves a kernel at once if it has more blocks than any checked case launches."""
    for function in _kernels(text):
        most = grids.get(text.text(function.name))
        if most is not None and function.body is not None:
            test = f"if (1ull * gridDim.x * gridDim.y * gridDim.z > {most}ull) return;"
            certain = f"a requested size launches more than {most} blocks, none of which writes anything"
            yield Edit(begin=function.body, end=function.body + 1, text=f"{{ {test}", certain=certain)


def stale_results(text: Text) -> Iterator[Edit]:
    """Returns the first call's result from every later call."""
    module, name = _binding(text)
    if name is not None:
        before, called = text.written(module, name - 1), f"&KeptResult<&{text.text(name)}>::call"
        yield Edit(begin=module, end=name + 1, text=f"{_KEPT} {before}{called}", certain=_STALE)


def ignored_parameters(text: Text, identities: Mapping[str, str]) -> Iterator[Edit]:
    """Replaces an argument of the host function by the ones or zeros that a module's constructor fills it with."""
    _, name = _binding(text)
    opening = None if name is None else _definition(text, text.text(name))
    if opening is None:
        return
    body = text.partner[opening] + 1
    for here in range(opening + 1, body - 1):
        word = text.text(here)
        if word in identities and text.text(here + 1) in (",", ")"):
            fresh = f"auto {word} = torch::{identities[word]}_like({word}_given);"
            yield Edit(begin=here, end=body + 1, text=f"{word}_given{text.written(here + 1, body)} {{ {fresh}")


def _binding(text: Text) -> tuple[int, int | None]:
    """The positions of the module and of the function that it exports first; None without one."""
    module = next((here for here in text.host if text.text(here) == "PYBIND11_MODULE"), len(text))
    names = (here + 1 for here in range(module, len(text)) if text.text(here) == "&" and text.is_word(here + 1))
    return module, next((here for here in names if text.text(here + 1) in (")", ",")), None)


def _definition(text: Text, name: str) -> int | None:
    """The position of the `(` of a function's parameters where it is defined."""
    for here in text.host:
        opening = here + 1
        called = text.text(here) == name and text.text(opening) == "(" and opening in text.partner
        if called and text.text(text.partner[opening] + 1) == "{":
            return opening
    return None


def _kernels(text: Text) -> Iterator[Function]:
    for here in range(len(text)):
        function = function_at(text, here) if text.text(here) == "__global__" else None
        if function is not None and function.body is not None:
            yield function
