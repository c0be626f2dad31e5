"""TTIR of a kernel for given arguments. Nothing is compiled further, which takes some milliseconds."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warpwright.ttir.syntax.parsing import parse
from warpwright.ttir.syntax.tree import Module

_POINTERS = {"float32": "*fp32", "float16": "*fp16", "uint16": "*bf16", "int32": "*i32", "int64": "*i64"}
_ROUND = 16
_numbers = itertools.count()


def kernel(text: str, name: str, folder: Path) -> Any:
    """The function of that name in a source."""
    file = folder / f"kernels_{next(_numbers)}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def module(function: Any, arguments: Mapping[str, Any]) -> tuple[Module, list[str]]:
    """A kernel's TTIR as Triton would specialise it, and the arguments that remain parameters."""
    from triton.compiler import ASTSource

    constants = {name: value for name, value in arguments.items() if _constant(function, name, value)}
    signature = {name: "constexpr" if name in constants else _type(arguments[name]) for name in function.arg_names}
    rest = [name for name in function.arg_names if name not in constants]
    hints = {
        (function.arg_names.index(name),): [["tt.divisibility", _ROUND]] for name in rest if _divides(arguments[name])
    }
    source = ASTSource(function, signature=signature, constexprs=constants, attrs=hints)
    return parse(_lowered(source)), rest


def _constant(function: Any, name: str, value: Any) -> bool:
    return function.params[function.arg_names.index(name)].is_constexpr or (type(value) is int and value == 1)


def _type(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _POINTERS[str(value.dtype)]
    return "fp32" if isinstance(value, float) else "i32" if abs(value) < 1 << 31 else "i64"


def _divides(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, int) and value % _ROUND == 0)


@cache
def _backend() -> Any:
    from triton.backends.compiler import GPUTarget
    from triton.compiler import make_backend

    return make_backend(GPUTarget("cuda", 90, 32))


def _lowered(source: Any) -> str:
    from triton._C.libtriton import ir

    backend = _backend()
    options, context = backend.parse_options({"enable_fp_fusion": True}), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    made = source.make_ir(
        backend.target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    backend.make_ttir(made, {}, options, 90)
    return str(made)
