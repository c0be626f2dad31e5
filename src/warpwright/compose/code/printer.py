"""Prints statements as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warpwright.compose.code.statements import (
    Also,
    Assign,
    Blank,
    Block,
    Body,
    Call,
    Comment,
    Dispatch,
    Do,
    Form,
    If,
    Lambda,
    Launch,
    Let,
    Loop,
    Raw,
    Statement,
    Wait,
)
from warpwright.compose.code.text import Code, Piece, code, joined

INDENT = "    "
MARGIN = INDENT * 2
"""The indentation of arguments that take lines of their own."""
WAIT = "grid_dependency_wait();"
STREAM = "at::cuda::getCurrentCUDAStream()"


def printed(body: Body) -> list[str]:
    """The lines of statements."""
    return [line for statement in body for line in _lines(statement)]


def _lines(statement: Statement) -> list[str]:
    match statement:
        case Let() | Assign() | Do():
            return f"{_simple(statement)};{f'  // {statement.comment}' if statement.comment else ''}".split("\n")
        case If() | Loop() | Lambda() | Block():
            return _nested(statement)
        case Call(function=function, arguments=arguments, returns=returns):
            call = laid_out(_as_code(function), [_as_code(item) for item in arguments], 104).text
            return f"{'return ' if returns else ''}{call};".split("\n")
        case Launch():
            return _launch(statement)
        case Dispatch(type=type_, body=body):
            return [f"DISPATCH({_text(type_)}, [&] {{", *indented(printed(body)), "});"]
        case Comment(text=text):
            return [f"// {text}"]
        case Blank():
            return [""]
        case Wait():
            return [WAIT]
        case Raw(text=text):
            return text.split("\n")
    raise AssertionError(f"{type(statement).__name__} has no lines")


def _as_code(piece: Piece) -> Code:
    assert isinstance(piece, Code), "a statement holds its expressions as such"
    return piece


def _text(piece: Piece | None) -> str:
    return "" if piece is None else _as_code(piece).text


def _simple(statement: Let | Assign | Do) -> str:
    match statement:
        case Let(type=type_, name=name, value=value, also=also, extent=extent):
            array = "" if extent is None else f"[{_text(extent)}]"
            return f"{_text(type_)} {name}{array}{'' if value is None else f' = {_text(value)}'}{_also(also)}"
        case Assign(target=target, value=value, operator=operator, also=also):
            return f"{_text(target)} {operator} {_text(value)}{_also(also)}"
        case Do(value=value):
            return _text(value)


def _also(others: Iterable[Also]) -> str:
    return "".join(f", {other.name} = {_text(other.value)}" for other in others)


def _nested(statement: If | Loop | Lambda | Block) -> list[str]:
    match statement:
        case If(test=test, then=then, otherwise=otherwise, form=form):
            lines = _under(f"if ({_text(test)})", then, form)
            if not otherwise:
                return lines
            if form is Form.BRACES:
                return [*lines[:-1], "} else {", *indented(printed(otherwise)), "}"]
            return [*lines, *_under("else", otherwise, form)]
        case Loop(head=head, body=body, unroll=unroll, form=form):
            count = f" {unroll}" if unroll else ""
            asked = [] if unroll is None else [f"#pragma unroll{count}"]
            return [*asked, *_under(f"for ({_text(head)})", body, form)]
        case Lambda(name=name, parameters=parameters, body=body, result=result):
            arrow = f" -> {result}" if result else ""
            return [f"const auto {name} = [&]({_text(parameters)}){arrow} {{", *indented(printed(body)), "};"]
        case Block(body=body):
            return ["{", *indented(printed(body)), "}"]


def _under(head: str, body: Body, form: Form) -> list[str]:
    lines = printed(body)
    match form:
        case Form.BRACES:
            return [*f"{head} {{".split("\n"), *indented(lines), "}"]
        case Form.BESIDE:
            return [f"{head} {lines[0]}", *lines[1:]]
        case Form.BELOW:
            return [head, *indented(lines)]


def _launch(launch: Launch) -> list[str]:
    """Prints a launch, with the same line breaks for both kinds."""
    shape = [_text(item) for item in (launch.grid, launch.threads, launch.shared)]
    arguments = [_text(item) for item in launch.arguments]
    *first, last = signature(f"kernel<<<{', '.join([*shape, STREAM])}>>>", arguments, 104)
    if not launch.is_early:
        return [*first, f"{last};", "C10_CUDA_KERNEL_LAUNCH_CHECK();"]
    if not first:
        return [f"launch_pdl({', '.join(['kernel', *shape, *arguments])});"]
    return [f"launch_pdl({', '.join(['kernel', *shape])},", *first[1:], f"{last};"]


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    """Lines of a block; empty ones stay empty."""
    return [f"{INDENT * depth}{line}" if line else "" for line in lines]


def signature(head: str, items: Sequence[object], width: int = 116) -> list[str]:
    """A head with its parameters, on one line if they fit, else wrapped."""
    return laid_out(Code((head,)), [Code((str(item),)) for item in items], width).text.split("\n")


def laid_out(head: Code, items: Sequence[Code], width: int) -> Code:
    """A call, on one line if it fits, else wrapped."""
    flat = code("{head}({items})", head=head, items=joined(", ", items))
    if len(flat.text) <= width or not items:
        return flat
    parts: list[Piece] = [head, "("]
    used = width
    for number, item in enumerate(items, 1):
        end = "," if number < len(items) else ")"
        size = len(item.text) + len(end) + 1
        is_full = used + size > width and used > len(MARGIN)
        parts += ["\n" + MARGIN if is_full else " ", item, end]
        used = (len(MARGIN) if is_full else used) + size
    return joined("", parts)
