"""How each elementwise operation is written in CUDA C++."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpwright.compose.errors import CannotCompose

LOOSE, SUM, PRODUCT, ATOM = range(4)
"""How tightly an expression binds."""


@dataclass(frozen=True, slots=True)
class Term:
    """A piece of C++ with its binding and the level it must be computed at."""

    text: str
    binding: int = ATOM
    level: int = 0

    def within(self, binding: int) -> str:
        return self.text if self.binding >= binding else f"({self.text})"


CALLS = {
    "exp": "expf",
    "exp2": "exp2f",
    "expm1": "expm1f",
    "log": "logf",
    "log2": "log2f",
    "log1p": "log1pf",
    "sqrt": "sqrtf",
    "rsqrt": "rsqrtf",
    "erf": "erff",
    "tanh": "tanhf",
    "sin": "sinf",
    "cos": "cosf",
    "sigmoid": "sigmoid",
    "abs": "fabsf",
    "relu": "positive",
    "floor": "floorf",
    "ceil": "ceilf",
    "round": "rintf",
    "sign": "sign",
    "pow": "powf",
    "atan2": "atan2f",
    "maximum": "larger",
    "minimum": "smaller",
    "finite": "finite_or_zero",
}
HOST_CALLS = {"exp": "std::exp", "log": "std::log", "sqrt": "std::sqrt", "pow": "std::pow", "abs": "std::abs"}
INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
TESTS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&&", "or": "||"}
DEFINED = {
    "sigmoid": "__device__ float sigmoid(float x) { return __fdividef(1.0f, 1.0f + expf(-x)); }",
    "relu": "// Keeps NaN, as torch does.\n__device__ float positive(float x) { return x < 0.0f ? 0.0f : x; }",
    "sign": "__device__ float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }",
    "maximum": "// NaN wins.\n__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }",
    "minimum": "// NaN wins.\n__device__ float smaller(float a, float b) { return a < b || a != a ? a : b; }",
    "finite": "// An infinite maximum must not be subtracted from itself.\n"
    "__device__ float finite_or_zero(float x) { return isinf(x) ? 0.0f : x; }",
}
"""Device functions that some operations need."""
DIVIDED = """\
// x / by, rounded as a division rounds it, from a reciprocal that was taken once; infinities go the short way.
__device__ float divided(float x, float by, float inverse) {
    const float near = x * inverse, rest = fmaf(-near, by, x);
    return isnan(rest) ? near : fmaf(rest, inverse, near);
}"""


def written(op: str, args: list[Term], kind: str, on_host: bool = False) -> Term:
    """One operation on operands that are written already."""
    level = max((arg.level for arg in args), default=0)
    text, binding = _written(op, args, kind, on_host)
    return Term(text, binding, level)


def _written(op: str, args: list[Term], kind: str, on_host: bool) -> tuple[str, int]:
    if op in INFIX:
        return _infix(op, args)
    if op in TESTS:
        return f"{args[0].within(SUM)} {TESTS[op]} {args[1].within(SUM)}", LOOSE
    if op == "where":
        return f"{args[0].within(SUM)} ? {args[1].within(SUM)} : {args[2].within(SUM)}", LOOSE
    if op in ("neg", "not"):
        return f"{'-' if op == 'neg' else '!'}{args[0].within(ATOM)}", PRODUCT
    if op == "reciprocal":
        return f"1.0f / {args[0].within(ATOM)}", PRODUCT
    if op in ("to_float", "to_int", "to_bool"):
        name = {"to_float": "double" if on_host else "float", "to_int": "int64_t", "to_bool": "bool"}[op]
        return f"static_cast<{name}>({args[0].text})", ATOM
    calls = HOST_CALLS if on_host else CALLS
    if op not in calls or (kind == "int" and op not in ("maximum", "minimum")):
        raise CannotCompose(f"aten.{op} here")
    if kind == "int":
        return f"{'max' if op == 'maximum' else 'min'}({', '.join(arg.text for arg in args)})", ATOM
    return f"{calls[op]}({', '.join(arg.text for arg in args)})", ATOM


def _infix(op: str, args: list[Term]) -> tuple[str, int]:
    sign, binding = INFIX[op]
    right = binding if op in ("add", "mul") else binding + 1
    return f"{args[0].within(binding)} {sign} {args[1].within(right)}", binding


def literal(value: bool | int | float, on_host: bool = False) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    written = repr(value)
    return written if on_host else f"{written}f" if "." in written or "e" in written else f"{written}.0f"
