"""8-bit floats: converts values to them, and assembles packs."""

from __future__ import annotations

from warpwright.compose.code.statements import Let, Statement
from warpwright.compose.code.text import KNOWN, Code, as_code, code
from warpwright.compose.cuda.arithmetic import Term
from warpwright.compose.cuda.preamble import SATURATED_E4M3, TO_E4M3
from warpwright.compose.cuda.tensors import Needs
from warpwright.compose.ir.tensors import Tensor
from warpwright.compose.ir.values import FLOAT, Value


def in_eight_bits(needs: Needs, inner: Code, clamped: bool = False) -> Code:
    """An expression rounded to eight bits; out of range it saturates or becomes NaN."""
    needs.functions["saturated"] = SATURATED_E4M3
    if not clamped:
        needs.functions["e4m3"] = TO_E4M3
    return code("saturated_e4m3({inner})" if clamped else "{to_e4m3}({inner})", inner=inner)


def pack_out(needs: Needs, tensor: Tensor, name: str, clamped: bool) -> tuple[Statement, Code]:
    """The declaration of the variable that holds a pack, and the expression that stores it."""
    if tensor.dtype != "e4m3":
        return Let(code("Pack<{type}, {VEC}>", type=tensor.cpp), name), as_code(name)
    return Let("float", name, extent="VEC"), in_eight_bits(needs, as_code(name), clamped)


def as_stored(needs: Needs, tensor: Tensor, term: Term, value: Value) -> Code:
    """A value converted for storage: assignment rounds most floats, a function rounds 8-bit floats."""
    is_rounded = term.code.called == KNOWN["to_e4m3"]
    needs_rounding = value.kind == FLOAT and tensor.dtype == "e4m3" and not is_rounded
    return in_eight_bits(needs, term.code) if needs_rounding else term.code
