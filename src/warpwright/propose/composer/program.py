"""A whole source: head, shared device functions, kernels with their launchers, entry points."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.core.task import Task
from warpwright.propose.composer.arithmetic import DEFINED
from warpwright.propose.composer.host import TORCH_TYPES
from warpwright.propose.composer.kernel import INDENT, Written
from warpwright.propose.composer.preamble import PACKS, QUICK, QUICK_SIGMOID, STORE, STREAMING
from warpwright.propose.composer.steps import EntryWriter


def source(task: Task, entries: Sequence[EntryWriter], genome: Mapping[str, Any]) -> str:
    """The file."""
    kernels = [kernel for entry in entries for kernel in entry.kernels]
    fast = genome.get("math") == "fast"
    devices = [_hurried(kernel.device) if fast else kernel.device for kernel in kernels]
    functions = {text: None for kernel in kernels for text in kernel.needs.functions.values()}
    shared = _preamble(kernels, devices, genome)
    parts = [
        _head(task, genome, [*functions, *shared]),
        *shared,
        *(QUICK_SIGMOID if fast and text == DEFINED["sigmoid"] else text for text in functions),
        *(f"{device}\n\n{kernel.launcher}".lstrip() for device, kernel in zip(devices, kernels, strict=True)),
        *([_dispatch(task)] if kernels else []),
        *("\n".join(entry.host()) for entry in entries),
        _module([entry.entry.name for entry in entries]),
    ]
    return "\n\n".join(parts) + "\n"


def _preamble(kernels: Sequence[Written], devices: Sequence[str], genome: Mapping[str, Any]) -> list[str]:
    """Shared device functions, each once and after those it needs."""
    found = {text: None for kernel in kernels for text in kernel.preamble}
    stores = STREAMING if genome.get("stores") == "streaming" else STORE
    first = [PACKS, stores] if PACKS in found else []
    quick = [QUICK] if any("quick_exp<T>" in device for device in devices) else []
    return list(dict.fromkeys([*first, *quick, *found]))


def _hurried(text: str) -> str:
    """The same with the hardware's exponential for types of 16 bits, whose rounding is coarser than its error."""
    return re.sub(r"(?<!\w)expf\(", "quick_exp<T>(", re.sub(r"(?<!\w)sigmoid\(", "sigmoid<T>(", text))


def _head(task: Task, genome: Mapping[str, Any], functions: Sequence[str]) -> str:
    lines = [
        f"// {task.name}, {task.direction}" + (f": {task.summary}" if task.summary else ""),
        f"// Composed by Warpwright. genome: {json.dumps(dict(genome))}",
        "#include <ATen/cuda/CUDAContext.h>",
        "#include <c10/cuda/CUDAException.h>",
        *(["#include <cooperative_groups.h>"] if any("cooperative_groups" in text for text in functions) else []),
        *(["#include <cuda_fp8.h>"] if any("fp8" in text for text in functions) else []),
        "#include <torch/extension.h>",
        "",
        "#include <algorithm>",
        "#include <climits>",
        "#include <initializer_list>",
        "#include <vector>",
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
