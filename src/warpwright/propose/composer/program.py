"""A whole source: head, shared device functions, kernels with their launchers, entry points."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from warpwright.core.task import Task
from warpwright.propose.composer.host import TORCH_TYPES
from warpwright.propose.composer.kernel import INDENT
from warpwright.propose.composer.preamble import PACKS, STORE, STREAMING
from warpwright.propose.composer.steps import EntryWriter


def source(task: Task, entries: Sequence[EntryWriter], genome: Mapping[str, Any]) -> str:
    """The file."""
    kernels = [kernel for entry in entries for kernel in entry.kernels]
    functions = {text: None for kernel in kernels for text in kernel.needs.functions.values()}
    preamble = {text: None for kernel in kernels for text in kernel.preamble}
    if PACKS in preamble:
        stores = STREAMING if genome.get("stores") == "streaming" else STORE
        preamble = {PACKS: None, stores: None, **preamble}
    parts = [
        _head(task, genome, functions),
        *preamble,
        *functions,
        *(f"{kernel.device}\n\n{kernel.launcher}".lstrip() for kernel in kernels),
        *([_dispatch(task)] if kernels else []),
        *("\n".join(entry.host()) for entry in entries),
        _module([entry.entry.name for entry in entries]),
    ]
    text = "\n\n".join(parts) + "\n"
    return _hurried(text) if genome.get("math") == "fast" else text


def _hurried(text: str) -> str:
    """The same with the hardware's own exponential and reciprocal, which are off by a few units in the last place."""
    text = text.replace("return 1.0f / (1.0f + expf(-x));", "return __fdividef(1.0f, 1.0f + expf(-x));")
    return re.sub(r"(?<![\w])expf\(", "__expf(", text)


def _head(task: Task, genome: Mapping[str, Any], functions: Mapping[str, None]) -> str:
    lines = [
        f"// {task.name}, {task.direction}" + (f": {task.summary}" if task.summary else ""),
        f"// Composed by Warpwright. genome: {json.dumps(dict(genome))}",
        "#include <ATen/cuda/CUDAContext.h>",
        "#include <c10/cuda/CUDAException.h>",
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
