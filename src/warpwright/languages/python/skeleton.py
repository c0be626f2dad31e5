"""A Python file to fill in for a task: a class ModelNew with the constructor of the reference."""

from __future__ import annotations

from warpwright.core.calls import entries, entry_call
from warpwright.core.signature import forward_arguments
from warpwright.core.task import Task

_KERNEL = '''"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void {name}_kernel() {{
    // Fill in.
}}

torch::Tensor {name}(torch::Tensor x) {{
    torch::Tensor y = torch::empty_like(x);
    // {name}_kernel<<<grid, block>>>(...);
    return y;
}}
"""'''


def inputs(task: Task) -> tuple[str, ...]:
    """The names of the arguments of `forward`: those of the task without the state of the module."""
    names = [spec.name for spec in forward_arguments(task, task.cases[0])]
    held = len(task.reference.state) if task.reference.style == "module" else 0
    return tuple(names[: len(names) - held])


def skeleton(task: Task) -> str:
    """The whole file."""
    name = entries(task)[0]
    results = entry_call(task, task.cases[0], name).results
    given = ", ".join(inputs(task))
    state = ", ".join(task.reference.state) if task.reference.style == "module" else ""
    held = f"        # The state of the reference: {state}.\n" if state else ""
    return (
        f"# {task.key}\n"
        "import torch\nfrom torch import nn\nfrom torch.utils.cpp_extension import load_inline\n\n"
        f"SOURCE = {_KERNEL.format(name='compute')}\n\n"
        'extension = load_inline(\n    name="extension",\n'
        '    cpp_sources="torch::Tensor compute(torch::Tensor x);",\n'
        '    cuda_sources=SOURCE,\n    functions=["compute"],\n)\n\n\n'
        "class ModelNew(nn.Module):\n"
        "    def __init__(self, *arguments):  # those of the reference\n"
        f"        super().__init__()\n{held}\n"
        f"    def forward(self, {given}):\n"
        f"        # Returns {', '.join(spec.name for spec in results)}.\n"
        f"        return extension.compute({inputs(task)[0] if inputs(task) else ''})\n"
    )
