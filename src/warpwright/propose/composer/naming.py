"""Names for values: those that the reference gives them itself, where C++ and our kernels leave them free."""

from __future__ import annotations

import ast
import re
from typing import Any

CPP_WORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float for
friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template
this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq"""
OUR_WORDS = """sigmoid positive sign larger smaller finite_or_zero load store aligned over_row better
best_of_row best_of_warp both spread_of spread_of_row spread_of_warp add_warps add_parts to_e4m3 within_e4m3
saturated_e4m3 await_results launch_next expect
neighbours first divided up_to_lane last share groups group p i k lane row column rows columns count
item piece pieces other length begin end places T VEC NEAR THREADS ITEMS WARPS Index Pack Best Spread erf exp
log pow abs min max cluster block rank BLOCKS load_row far shared room spread_of_all around
all_over_row Gathered Kept"""
WORDS = {
    "add": "total",
    "amax": "largest",
    "amin": "smallest",
    "columns": "sum",
    "div": "quotient",
    "exp": "power",
    "log": "logarithm",
    "maximum": "bounded",
    "minimum": "bounded",
    "mul": "product",
    "neg": "negative",
    "not": "otherwise",
    "relu": "activated",
    "sigmoid": "logistic",
    "sub": "difference",
    "where": "chosen",
}
"""For what the reference has no name for: results, by operation."""
CALLED = {"convolution": "convolved", "convolution_backward": "gradient"}
"""The same for library calls; all others are products."""
RESERVED = frozenset(f"{CPP_WORDS} {OUR_WORDS}".split())


def safe_name(name: str) -> str:
    """An argument's name, unless kernels have a meaning of their own for it."""
    return f"{name}_" if name in RESERVED else name


def stem_of(task: str) -> str:
    """What kernels are named after: a task's own name may begin with a digit, or hold what no name in C++ does."""
    words = re.sub(r"[\W_]+", "_", task, flags=re.ASCII).strip("_")
    return words if words[:1].isalpha() else f"task_{words}".rstrip("_")


def assigned_names(graph: Any, source: str, filename: str) -> dict[str, str]:
    """By node: the variable that the statement it comes from assigns, for the last node of every such statement."""
    targets = _targets(source)
    last: dict[int, str] = {}
    for node in graph.nodes:
        line = _line(node.meta.get("stack_trace") or "", filename)
        if line in targets and node.op == "call_function":
            last[line] = node.name
    return {node: targets[line] for line, node in last.items()}


def _line(trace: str, filename: str) -> int | None:
    """The innermost line of the reference that a stack goes through."""
    found = re.findall(rf'File "{re.escape(filename)}", line (\d+)', trace)
    return int(found[-1]) if found else None


def _targets(source: str) -> dict[int, str]:
    """The name that each line's statement assigns, where it is a single plain one."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            last = node.end_lineno or node.lineno
            found |= dict.fromkeys(range(node.lineno, last + 1), node.targets[0].id)
    return found
