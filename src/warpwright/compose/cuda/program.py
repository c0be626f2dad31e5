"""A whole source: head, shared device functions, kernels with their launchers, entry points."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.compose.code.definitions import Item, text_of
from warpwright.compose.code.passes.fast_math import with_fast_math
from warpwright.compose.code.printer import INDENT
from warpwright.compose.cuda.arithmetic import DEFINED
from warpwright.compose.cuda.host import CHECK, TORCH_TYPES, HostWriter
from warpwright.compose.cuda.kernel import Written
from warpwright.compose.cuda.preamble import DIVISOR, PACKS, QUICK, QUICK_SIGMOID, STORE, STREAMING
from warpwright.compose.cuda.programmatic_launch import WAITING, one_by_one, overlapped
from warpwright.compose.cuda.wrapping import wrapped
from warpwright.compose.ir.operations import Op
from warpwright.core.task import Task

HEADERS = {
    "ATen/cuda/CUDAContext.h": ("at::cuda::",),
    "c10/cuda/CUDAException.h": ("C10_CUDA_",),
    "cooperative_groups.h": ("cooperative_groups",),
    "cuda_fp8.h": ("__nv_fp8",),
    "cuda_pipeline.h": ("__pipeline_",),
    "torch/extension.h": ("torch::",),
}
STANDARD = {
    "algorithm": ("std::clamp", "std::max", "std::min"),
    "climits": ("INT_MAX",),
    "cmath": ("std::abs", "std::exp", "std::log", "std::pow", "std::sqrt"),
    "initializer_list": ("std::initializer_list",),
    "optional": ("std::nullopt",),
    "tuple": ("std::get<",),
    "type_traits": ("std::conditional_t", "std::is_same_v"),
    "vector": ("std::vector",),
}
"""By header: the words that need it."""


def source(task: Task, entries: Sequence[HostWriter], genome: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    """The file; `shown` is what its head tells of the genome."""
    kernels = list({kernel.name: kernel for entry in entries for kernel in entry.kernels}.values())
    fast = genome.get("math") == "fast"
    devices = [_device(kernel.device, fast) for kernel in kernels]
    functions = {text: None for kernel in kernels for text in kernel.needs.functions.values()}
    parts = [
        *_preamble(kernels, devices, genome),
        *(QUICK_SIGMOID if fast and text == DEFINED[Op.SIGMOID] else text for text in functions),
        *(f"{device}\n\n{kernel.launcher}".lstrip() for device, kernel in zip(devices, kernels, strict=True)),
        *([_dispatch(task)] if kernels else []),
        CHECK,
        *("\n".join(entry.host()) for entry in entries),
        _module([entry.entry.name for entry in entries if entry.entry.is_exported]),
    ]
    in_sequence = any(entry.steps > 1 for entry in entries) or any(kernel.in_sequence for kernel in kernels)
    is_overlapped = genome.get("overlap") == "next" and in_sequence
    parts = [WAITING, *map(overlapped, parts)] if is_overlapped else [*map(one_by_one, parts)]
    text = "\n".join(line for part in parts for line in ["", *wrapped(part.split("\n"))])
    return f"{_head(task, shown, text)}\n{text}\n"


def _preamble(kernels: Sequence[Written], devices: Sequence[str], genome: Mapping[str, Any]) -> list[str]:
    """Shared device functions, each once and after those it needs."""
    found = {text: None for kernel in kernels for text in kernel.preamble}
    stores = STREAMING if genome.get("stores") == "streaming" else STORE
    put = [stores] if any("store<VEC>(" in text for text in (*found, *devices)) else []
    first = [PACKS, *put] if PACKS in found else []
    quick = [QUICK] if any("quick_exp<T>" in device for device in devices) else []
    divisor = [DIVISOR] if any("Divisor " in device for device in devices) else []
    return list(dict.fromkeys([*first, *quick, *divisor, *found]))


def _device(device: str | tuple[Item, ...], fast: bool) -> str:
    if isinstance(device, str):
        return _hurried(device) if fast else device
    return text_of(with_fast_math(device) if fast else device)


def _hurried(text: str) -> str:
    """The same with the hardware's exponential for types of 16 bits, whose rounding is coarser than its error."""
    return re.sub(r"(?<!\w)expf\(", "quick_exp<T>(", re.sub(r"(?<!\w)sigmoid\(", "sigmoid<T>(", text))


def _head(task: Task, genome: Mapping[str, Any], text: str) -> str:
    """What the file is, and the headers that its text needs."""
    cuda, standard = (
        [f"#include <{header}>" for header, words in headers.items() if any(word in text for word in words)]
        for headers in (HEADERS, STANDARD)
    )
    lines = [
        f"// {task.name}, {task.direction}" + (f": {task.summary}" if task.summary else ""),
        f"// Composed by Warpwright. genome: {json.dumps(dict(genome))}",
        *cuda,
        *(["", *standard] if standard else []),
    ]
    return "\n".join(lines)


def _dispatch(task: Task) -> str:
    names = [TORCH_TYPES[name].replace("torch::", "at::") for name in task.dtypes]
    cases = [f"{INDENT * 2}AT_DISPATCH_CASE({name}, __VA_ARGS__)" for name in names]
    lines = ["#define DISPATCH(TYPE, ...)", f'{INDENT}AT_DISPATCH_SWITCH(TYPE, "{task.name}",', *cases]
    return " \\\n".join(lines) + ")"


def _module(names: Sequence[str]) -> str:
    lines = [f'{INDENT}m.def("{name}", &{name});' for name in names]
    return "\n".join(["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *lines, "}"])
