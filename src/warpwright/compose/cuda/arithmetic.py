"""How each elementwise operation is written in CUDA C++."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.operations import Op

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
    Op.EXP: "expf",
    Op.EXP2: "exp2f",
    Op.EXPM1: "expm1f",
    Op.LOG: "logf",
    Op.LOG2: "log2f",
    Op.LOG1P: "log1pf",
    Op.SQRT: "sqrtf",
    Op.RSQRT: "rsqrtf",
    Op.ERF: "erff",
    Op.TANH: "tanhf",
    Op.SIN: "sinf",
    Op.COS: "cosf",
    Op.SIGMOID: "sigmoid",
    Op.ABS: "fabsf",
    Op.RELU: "positive",
    Op.FLOOR: "floorf",
    Op.CEIL: "ceilf",
    Op.ROUND: "rintf",
    Op.SIGN: "sign",
    Op.POW: "powf",
    Op.ATAN2: "atan2f",
    Op.MAXIMUM: "larger",
    Op.MINIMUM: "smaller",
    Op.FINITE: "finite_or_zero",
}
HOST_CALLS = {Op.EXP: "std::exp", Op.LOG: "std::log", Op.SQRT: "std::sqrt", Op.POW: "std::pow", Op.ABS: "std::abs"}
INFIX = {Op.ADD: ("+", SUM), Op.SUB: ("-", SUM), Op.MUL: ("*", PRODUCT), Op.DIV: ("/", PRODUCT)}
TESTS = {Op.EQ: "==", Op.NE: "!=", Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">=", Op.AND: "&&", Op.OR: "||"}
DEFINED = {
    Op.SIGMOID: "__device__ float sigmoid(float x) { return __fdividef(1.0f, 1.0f + expf(-x)); }",
    Op.RELU: "// Keeps NaN, as torch does.\n__device__ float positive(float x) { return x < 0.0f ? 0.0f : x; }",
    Op.SIGN: "__device__ float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }",
    Op.MAXIMUM: "// NaN wins.\n__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }",
    Op.MINIMUM: "// NaN wins.\n__device__ float smaller(float a, float b) { return a < b || a != a ? a : b; }",
    Op.FINITE: "// An infinite maximum must not be subtracted from itself.\n"
    "__device__ float finite_or_zero(float x) { return isinf(x) ? 0.0f : x; }",
}
"""Device functions that some operations need."""
DIVIDED = """\
// x / by, rounded as a division rounds it, from a reciprocal that was taken once; infinities go the short way.
__device__ float divided(float x, float by, float inverse) {
    const float near = x * inverse, rest = fmaf(-near, by, x);
    return isnan(rest) ? near : fmaf(rest, inverse, near);
}"""


def written(op: Op, args: list[Term], kind: str, on_host: bool = False) -> Term:
    """One operation on operands that are written already."""
    level = max((arg.level for arg in args), default=0)
    text, binding = _written(op, args, kind, on_host)
    return Term(text, binding, level)


def _written(op: Op, args: list[Term], kind: str, on_host: bool) -> tuple[str, int]:
    if op in INFIX:
        return _infix(op, args)
    if op in TESTS:
        return f"{args[0].within(SUM)} {TESTS[op]} {args[1].within(SUM)}", LOOSE
    if op is Op.WHERE:
        return f"{args[0].within(SUM)} ? {args[1].within(SUM)} : {args[2].within(SUM)}", LOOSE
    if op in (Op.NEG, Op.NOT):
        return f"{'-' if op is Op.NEG else '!'}{args[0].within(ATOM)}", PRODUCT
    if op is Op.RECIPROCAL:
        return f"1.0f / {args[0].within(ATOM)}", PRODUCT
    if op in (Op.TO_FLOAT, Op.TO_INT, Op.TO_BOOL):
        name = {Op.TO_FLOAT: "double" if on_host else "float", Op.TO_INT: "int64_t", Op.TO_BOOL: "bool"}[op]
        return f"static_cast<{name}>({args[0].text})", ATOM
    calls = HOST_CALLS if on_host else CALLS
    if op not in calls or (kind == "int" and op not in (Op.MAXIMUM, Op.MINIMUM)):
        raise CannotCompose(f"aten.{op} here")
    if kind == "int":
        return f"{'max' if op is Op.MAXIMUM else 'min'}({', '.join(arg.text for arg in args)})", ATOM
    return f"{calls[op]}({', '.join(arg.text for arg in args)})", ATOM


def _infix(op: Op, args: list[Term]) -> tuple[str, int]:
    sign, binding = INFIX[op]
    right = binding if op in (Op.ADD, Op.MUL) else binding + 1
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
