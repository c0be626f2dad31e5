"""Names: the free ones in C++ and our kernels, and words for unnamed values."""

from __future__ import annotations

import re

from warpwright.compose.ir.operations import Op, Routine

CPP_WORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for
friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template
this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq"""
OUR_WORDS = """sigmoid positive sign larger smaller finite_or_zero load store aligned row_reduce better best_of_row
best_of_warp welford_of_pack welford_of_row welford_of_warp add_warps add_parts to_e4m3 within_e4m3
saturated_e4m3 grid_dependency_wait launch_pdl first divided warp_inclusive_scan last share teams team p i k
lane row column rows columns count item piece pieces other length begin end places T VEC THREADS ITEMS WARPS
Index Pack Best erf exp log pow abs min max cluster block rank BLOCKS load_row shared welford_of_blocks
row_reduce_all ShiftedMoments check scalar_t kernel run vectors blocks threads grid most small unit wanted packs
items per_block processors gpu bytes row_bytes width strips filling shares parts published words number warp
each unpack_each_pass place from to prefetch_l2 row_lanes LANES OnChipRow Welford merge from_shifted_sums
in_shared in_registers IN_SHARED shared_memory unpack fast_exp FastDivisor DivisorFor"""
WORDS = {
    Op.ADD: "total",
    Op.AMAX: "largest",
    Op.AMIN: "smallest",
    Op.COLUMNS: "sum",
    Op.DIV: "quotient",
    Op.EXP: "power",
    Op.LOG: "logarithm",
    Op.MAXIMUM: "bounded",
    Op.MINIMUM: "bounded",
    Op.MUL: "product",
    Op.NEG: "negative",
    Op.NOT: "otherwise",
    Op.RELU: "activated",
    Op.SIGMOID: "logistic",
    Op.SUB: "difference",
    Op.WHERE: "chosen",
}
"""Words for unnamed results, by operation."""
CALLED = {Routine.CONVOLUTION: "convolved", Routine.CONVOLUTION_BACKWARD: "gradient"}
"""Words for library calls; all others are products."""
RESERVED = frozenset(f"{CPP_WORDS} {OUR_WORDS}".split())


def safe_name(name: str) -> str:
    """An argument's name, changed if kernels use it otherwise."""
    return f"{name}_" if name in RESERVED else name


def stem_of(task: str) -> str:
    """The stem of kernel names: a valid C++ name derived from the task's name."""
    words = re.sub(r"[\W_]+", "_", task, flags=re.ASCII).strip("_")
    return words if words[:1].isalpha() else f"task_{words}".rstrip("_")
