"""A whole source: head, shared device functions, kernels with their launchers, entry points."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from warpwright.compose.code.definitions import Item, verbatim
from warpwright.compose.code.passes.fast_math import with_fast_math
from warpwright.compose.code.passes.headers import has_parameter, headers_of, is_called
from warpwright.compose.code.passes.programmatic_launch import with_programmatic_launch, without_waiting
from warpwright.compose.code.printer import INDENT
from warpwright.compose.cuda.arithmetic import DEFINED
from warpwright.compose.cuda.host import CHECK, SCALAR_TYPES, HostWriter
from warpwright.compose.cuda.kernel import Written
from warpwright.compose.cuda.preamble import DIVISOR, PACKS, QUICK, QUICK_SIGMOID, STORE, STREAMING, WAITING
from warpwright.compose.cuda.wrapping import wrapped
from warpwright.compose.ir.operations import Op
from warpwright.core.task import Task

HEADERS = (
    "ATen/cuda/CUDAContext.h",
    "c10/cuda/CUDAException.h",
    "cooperative_groups.h",
    "cuda_fp8.h",
    "cuda_pipeline.h",
    "torch/extension.h",
)
STANDARD = ("algorithm", "climits", "cmath", "initializer_list", "optional", "tuple", "type_traits", "vector")
"""Headers in the order in which they are included."""


def source(task: Task, entries: Sequence[HostWriter], config: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    """The source file; `shown` is the part of the config that its head states."""
    found = program(task, entries, config)
    text = "\n".join(line for item in found for line in ["", *wrapped(item.lines)])
    return f"{_head(task, shown, headers_of(found))}\n{text}\n"


def program(task: Task, entries: Sequence[HostWriter], config: Mapping[str, Any]) -> list[Item]:
    """All definitions of the source file, in order."""
    kernels = list({kernel.name: kernel for entry in entries for kernel in entry.kernels}.values())
    found = _scheduled(_items(kernels, config), entries, kernels, config)
    found += [*([_dispatch(task)] if kernels else []), CHECK, *(entry.host() for entry in entries)]
    found.append(_module([entry.entry.name for entry in entries if entry.entry.is_exported]))
    return found


def _items(kernels: Sequence[Written], config: Mapping[str, Any]) -> list[Item]:
    """Device functions, kernels and their launchers."""
    fast = config.get("math") == "fast"
    devices = [with_fast_math(kernel.device) if fast else kernel.device for kernel in kernels]
    functions = dict.fromkeys(item for kernel in kernels for item in kernel.needs.functions.values())
    quick: dict[Item, Item] = {DEFINED[Op.SIGMOID]: QUICK_SIGMOID} if fast else {}
    shared = [
        *_preamble(kernels, [item for device in devices for item in device], config),
        *(quick.get(item, item) for item in functions),
    ]
    return [
        *dict.fromkeys(shared),
        *(item for device, kernel in zip(devices, kernels, strict=True) for item in (*device, *kernel.launcher)),
    ]


def _preamble(kernels: Sequence[Written], devices: Sequence[Item], config: Mapping[str, Any]) -> list[Item]:
    """The shared device functions, each once and after its dependencies."""
    found = dict.fromkeys(item for kernel in kernels for item in kernel.preamble)
    stores = STREAMING if config.get("stores") == "streaming" else STORE
    put = [stores] if is_called("store", [*found, *devices]) else []
    first = [PACKS, *put] if PACKS in found else []
    quick = [QUICK] if is_called("fast_exp<T>", devices) else []
    divisor = [DIVISOR] if has_parameter("FastDivisor", devices) else []
    return list(dict.fromkeys([*first, *quick, *divisor, *found]))


def _scheduled(
    items: list[Item], entries: Sequence[HostWriter], kernels: Sequence[Written], config: Mapping[str, Any]
) -> list[Item]:
    """The same under programmatic dependent launch, where several kernels follow each other."""
    in_sequence = any(entry.steps > 1 for entry in entries) or any(kernel.in_sequence for kernel in kernels)
    if config.get("overlap") == "next" and in_sequence:
        return [WAITING, *with_programmatic_launch(items)]
    return without_waiting(items)


def _head(task: Task, config: Mapping[str, Any], headers: Set[str]) -> str:
    """The head of the file: a description and the needed headers."""
    cuda, standard = (
        [f"#include <{header}>" for header in known if header in headers] for known in (HEADERS, STANDARD)
    )
    lines = [
        f"// {task.name}, {task.direction}" + (f": {task.summary}" if task.summary else ""),
        f"// Composed by Warpwright. config: {json.dumps(dict(config))}",
        *cuda,
        *(["", *standard] if standard else []),
    ]
    return "\n".join(lines)


def _dispatch(task: Task) -> Item:
    names = [f"at::{SCALAR_TYPES[name]}" for name in task.dtypes]
    cases = [f"{INDENT * 2}AT_DISPATCH_CASE({name}, __VA_ARGS__)" for name in names]
    lines = ["#define DISPATCH(TYPE, ...)", f'{INDENT}AT_DISPATCH_SWITCH(TYPE, "{task.name}",', *cases]
    return verbatim(" \\\n".join(lines) + ")")


def _module(names: Sequence[str]) -> Item:
    lines = [f'{INDENT}m.def("{name}", &{name});' for name in names]
    return verbatim("\n".join(["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *lines, "}"]))
