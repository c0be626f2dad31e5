"""Finds the name, parameters and body of function declarations in preprocessed CUDA text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warpwright.cpp.tokens import Code

CALLED_ATTRIBUTES = frozenset(
    {
        "__launch_bounds__",
        "__cluster_dims__",
        "__maxnreg__",
        "__block_size__",
        "__attribute__",
        "__attribute",
        "__align__",
        "__declspec",
        "alignas",
        "decltype",
        "noexcept",
        "explicit",
        "__nv_pure__",
    }
)
EXECUTION_SPACES = frozenset({"__global__", "__device__", "__host__"})
_FARTHEST = 512
"""Tokens searched for one declaration, so that hostile text cannot make the search quadratic."""
_QUALIFIERS = frozenset(
    {"const", "volatile", "typename", "struct", "class", "enum", "union", "register", "__grid_constant__"}
)
_NEVER_NAMES = _QUALIFIERS | frozenset(
    {
        "void",
        "bool",
        "char",
        "short",
        "int",
        "long",
        "signed",
        "unsigned",
        "float",
        "double",
        "auto",
        "__restrict__",
        "__restrict",
        "restrict",
        "wchar_t",
        "char8_t",
        "char16_t",
        "char32_t",
        "__int128",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function as positions in a Code. `tail` follows the parameters; `body` is its `{`, None for a declaration."""

    start: int
    name: int
    parameters: int
    tail: int
    body: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter; an unnamed one would have its name before position `end`."""

    end: int
    name: str | None
    pack: bool


def function_at(code: Code, word: int) -> Function | None:
    """Returns the function to which an execution-space word belongs; None for variables and lambdas."""
    name, parameters = _name_and_parameters(code, word + 1)
    if name < 0 or parameters not in code.partner or code.text(name) in EXECUTION_SPACES:
        return None
    tail = code.partner[parameters] + 1
    body, known = _body(code, tail)
    return Function(start=_start(code, word), name=name, parameters=parameters, tail=tail, body=body) if known else None


def _start(code: Code, word: int) -> int:
    here = word
    while here > max(0, word - _FARTHEST) and code.text(here - 1) not in (";", "{", "}", ":", ""):
        here -= 1
    return here


def _name_and_parameters(code: Code, here: int) -> tuple[int, int]:
    """Finds the name and the `(` of its parameters; (-1, -1) if this is no function."""
    for _ in range(_FARTHEST):
        match code.text(here):
            case "operator":
                return here, _after_operator(code, here + 1)
            case "(":
                return _name_before(code, here), here
            case "=" | ";" | "{" | "}" | "," | ")" | "]" | "":
                break
            case "[" if code.text(here + 1) != "[":
                break
            case "[":
                here = code.partner.get(here, len(code)) + 1
            case "<":
                here = code.past_angles(here) or len(code)
            case text:
                called = text in CALLED_ATTRIBUTES and code.text(here + 1) == "("
                here = code.partner.get(here + 1, len(code)) + 1 if called else here + 1
    return -1, -1


def _after_operator(code: Code, here: int) -> int:
    if code.text(here) == "(":
        return here + 2
    while code.text(here) not in ("(", ""):
        here += 1
    return here


def _name_before(code: Code, parameters: int) -> int:
    before = parameters - 1
    if code.text(before) == ">":
        before = (code.before_angles(before) or 0) - 1
    return before if code.is_word(before) else -1


def _body(code: Code, here: int) -> tuple[int | None, bool]:
    """Finds the start of the body, and whether the text after the parameters could be parsed."""
    while here < len(code):
        match code.text(here):
            case "{":
                return (here, True) if here in code.partner else (None, False)
            case ";" | "=":
                return None, True
            case ":":
                return _past_initialisers(code, here + 1)
            case "(" | "[":
                here = code.partner.get(here, len(code)) + 1
            case "<":
                here = code.past_angles(here) or len(code)
            case "}" | ")" | ",":
                return None, False
            case _:
                here += 1
    return None, False


def _past_initialisers(code: Code, here: int) -> tuple[int | None, bool]:
    while here < len(code):
        match code.text(here):
            case "<":
                here = code.past_angles(here) or len(code)
            case "(" | "{":
                here = code.partner.get(here, len(code)) + 1
                here += code.text(here) == "..."
                if code.text(here) != ",":
                    return (here, True) if code.text(here) == "{" and here in code.partner else (None, False)
            case _:
                here += 1
    return None, False


def parameters_of(code: Code, function: Function) -> list[Parameter]:
    close = code.partner[function.parameters]
    found = [_parameter(code, begin, end) for begin, end in _segments(code, function.parameters + 1, close)]
    return [parameter for parameter in found if parameter is not None]


def _segments(code: Code, here: int, close: int) -> Iterator[tuple[int, int]]:
    begin = here
    while here < close:
        match code.text(here):
            case "(" | "[" | "{":
                here = code.partner.get(here, close) + 1
            case "<":
                past = code.past_angles(here)
                here = past if past is not None and past <= close else here + 1
            case ",":
                yield begin, here
                begin = here = here + 1
            case _:
                here += 1
    if begin < close:
        yield begin, close


def _parameter(code: Code, begin: int, end: int) -> Parameter | None:
    texts = [code.text(i) for i in range(begin, end)]
    if texts == ["void"] or texts == ["..."]:
        return None
    end = _without_default(code, begin, end)
    last = end
    while code.text(last - 1) == "]":
        last = code.partner.get(last - 1, begin)
    if code.text(last - 1) == ")":
        return _wrapped(code, begin, last)
    if _is_name(code, begin, last - 1):
        return Parameter(end=last, name=code.text(last - 1), pack=code.text(last - 2) == "...")
    return Parameter(end=last, name=None, pack=code.text(last - 1) == "...")


def _without_default(code: Code, begin: int, end: int) -> int:
    return next((i for i in range(begin, end) if code.text(i) == "="), end)


def _is_name(code: Code, begin: int, at: int) -> bool:
    if not code.is_word(at) or code.text(at) in _NEVER_NAMES or code.text(at - 1) == "::":
        return False
    return any(code.text(i) not in _QUALIFIERS for i in range(begin, at))


def _wrapped(code: Code, begin: int, last: int) -> Parameter:
    """Parses a pointer to a function or a reference to an array, whose name is inside the first parentheses."""
    opening = next(i for i in range(begin, last) if code.text(i) == "(")
    close = code.partner.get(opening, last)
    name = code.text(close - 1) if code.is_word(close - 1) else None
    return Parameter(end=close, name=name, pack=False)
