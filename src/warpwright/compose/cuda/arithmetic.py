"""Writes each elementwise operation in CUDA C++."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warpwright.compose.code.definitions import verbatim
from warpwright.compose.code.text import KNOWN, Code, Function, as_code, code, joined
from warpwright.compose.errors import CannotCompose
from warpwright.compose.ir.operations import Op

LOOSE, SUM, PRODUCT, ATOM = range(4)
"""Operator precedence, from loose to tight."""


@dataclass(frozen=True, slots=True)
class Term:
    """An expression with its binding and the level it must be computed at."""

    code: Code
    binding: int = ATOM
    level: int = 0
    is_free: bool = False
    """Whether it may be repeated at no cost, although it is more than a name or a number."""

    @property
    def text(self) -> str:
        return self.code.text

    @property
    def is_simple(self) -> bool:
        """Whether it may be written again wherever it is read."""
        return self.is_free or len(self.code.parts) == 1

    def within(self, binding: int) -> Code:
        """The expression as an operand of one that binds so tightly."""
        return self.code if self.binding >= binding else code("({inner})", inner=self.code)


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
    Op.SIGMOID: verbatim("__device__ float sigmoid(float x) { return __fdividef(1.0f, 1.0f + expf(-x)); }"),
    Op.RELU: verbatim(
        "// Keeps NaN, as torch does.\n__device__ float positive(float x) { return x < 0.0f ? 0.0f : x; }"
    ),
    Op.SIGN: verbatim("__device__ float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }"),
    Op.MAXIMUM: verbatim("// NaN wins.\n__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }"),
    Op.MINIMUM: verbatim(
        "// NaN wins.\n__device__ float smaller(float a, float b) { return a < b || a != a ? a : b; }"
    ),
    Op.FINITE: verbatim(
        "// An infinite maximum must not be subtracted from itself.\n"
        "__device__ float finite_or_zero(float x) { return isinf(x) ? 0.0f : x; }"
    ),
}
"""Device functions that some operations need."""
DIVIDED = verbatim(
    """\
// x / by from a precomputed reciprocal, correctly rounded by one Newton step; infinities skip the correction.
__device__ float divided(float x, float by, float inverse) {
    const float near = x * inverse, rest = fmaf(-near, by, x);
    return isnan(rest) ? near : fmaf(rest, inverse, near);
}"""
)


def written(op: Op, args: list[Term], kind: str, on_host: bool = False) -> Term:
    """One operation on operands that are written already."""
    level = max((arg.level for arg in args), default=0)
    found, binding = _written(op, args, kind, on_host)
    return Term(found, binding, level, _is_free(op, args))


def _is_free(op: Op, args: list[Term]) -> bool:
    """Whether it is a name with a sign, or as a float."""
    is_name = len(args) == 1 and args[0].is_simple and args[0].binding == ATOM
    return is_name and (op is Op.NEG or (op is Op.TO_FLOAT and len(args[0].code.parts) == 1))


def _written(op: Op, args: list[Term], kind: str, on_host: bool) -> tuple[Code, int]:
    if op in INFIX:
        return _infix(op, args)
    if op in TESTS:
        return code("{a} {sign} {b}", a=args[0].within(SUM), sign=TESTS[op], b=args[1].within(SUM)), LOOSE
    if op is Op.WHERE:
        test, yes, no = (arg.within(SUM) for arg in args)
        return code("{test} ? {yes} : {no}", test=test, yes=yes, no=no), LOOSE
    if op in (Op.NEG, Op.NOT):
        return code("{sign}{x}", sign="-" if op is Op.NEG else "!", x=args[0].within(ATOM)), PRODUCT
    if op is Op.RECIPROCAL:
        return code("1.0f / {x}", x=args[0].within(ATOM)), PRODUCT
    if op in (Op.TO_FLOAT, Op.TO_INT, Op.TO_BOOL):
        name = {Op.TO_FLOAT: "double" if on_host else "float", Op.TO_INT: "int64_t", Op.TO_BOOL: "bool"}[op]
        return code("static_cast<{name}>({x})", name=name, x=args[0].code), ATOM
    return code("{function}({args})", function=_function(op, kind, on_host), args=joined(", ", _codes(args))), ATOM


def _codes(args: list[Term]) -> list[Code]:
    return [arg.code for arg in args]


def _function(op: Op, kind: str, on_host: bool) -> Code:
    """The function that computes an operation."""
    calls = HOST_CALLS if on_host else CALLS
    if op not in calls or (kind == "int" and op not in (Op.MAXIMUM, Op.MINIMUM)):
        raise CannotCompose(f"aten.{op} here")
    if kind == "int":
        return as_code("max" if op is Op.MAXIMUM else "min")
    name = calls[op]
    return as_code(Function(name, header="cmath") if on_host else KNOWN.get(name, Function(name)))


def _infix(op: Op, args: list[Term]) -> tuple[Code, int]:
    sign, binding = INFIX[op]
    right = binding if op in (Op.ADD, Op.MUL) else binding + 1
    return code("{a} {sign} {b}", a=args[0].within(binding), sign=sign, b=args[1].within(right)), binding


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
