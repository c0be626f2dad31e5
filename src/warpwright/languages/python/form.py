"""The form of a Python candidate: what is called, and how."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from warpwright.core.calls import FORWARD
from warpwright.languages.python.text import parsed

MODULE, SUBMISSION, FUNCTION = "module", "submission", "function"
_NAMES = (FORWARD, "forward_fn", "kernel_function", "run", "solution")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    style: str
    """"module": a class that is constructed as the reference is; "submission": a function of one tuple; "function"."""
    entry: str


def form_of(source: str) -> Form | None:
    """KernelBench's ModelNew, GPU MODE's custom_kernel, or a function; None if there is none of them."""
    tree = parsed(source)
    if tree is None:
        return None
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if "ModelNew" in classes:
        return Form(style=MODULE, entry="ModelNew")
    if "custom_kernel" in functions:
        return Form(style=SUBMISSION, entry="custom_kernel")
    named = next((name for name in _NAMES if name in functions), None)
    return Form(style=FUNCTION, entry=named) if named else None


_BRINGS_KERNELS = re.compile(r"\b(load_inline|cpp_extension|triton\.jit|triton)\b")


def claims(source: str) -> bool:
    """Whether a Python text is a candidate, and not the reference beside one."""
    form = form_of(source)
    return form is not None and (form.style != FUNCTION or bool(_BRINGS_KERNELS.search(source)))
