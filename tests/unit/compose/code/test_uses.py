"""What composed kernels say that they use is what they use."""

from __future__ import annotations

import re
from functools import cache

import pytest

from warpwright.compose import plan as compose_plan
from warpwright.compose.code.definitions import Definition
from warpwright.compose.code.printer import printed
from warpwright.compose.code.statements import Launch, Wait
from warpwright.compose.code.traversal import names, nodes
from warpwright.compose.cuda.kernel import Written
from warpwright.tasks import load

TASKS = [
    "modern/adamw:forward",
    "modern/add_rmsnorm:backward",
    "modern/argmax:forward",
    "modern/embedding:backward",
    "modern/group_norm_silu:forward",
    "modern/int8_linear:forward",
    "modern/log_softmax:backward",
    "modern/rope_cache:forward",
    "modern/swiglu_fp8:forward",
    "paper/layernorm:backward",
    "paper/mnist_pool:backward",
    "paper/mnist_pool:forward",
]
HEADERS = {
    "algorithm": ("std::clamp", "std::max", "std::min"),
    "climits": ("INT_MAX",),
    "cmath": ("std::abs", "std::exp", "std::log", "std::pow", "std::sqrt"),
    "initializer_list": ("std::initializer_list",),
    "optional": ("std::nullopt",),
    "tuple": ("std::get<",),
    "type_traits": ("std::conditional_t", "std::is_same_v"),
    "vector": ("std::vector",),
    "ATen/cuda/CUDAContext.h": ("at::cuda::",),
    "c10/cuda/CUDAException.h": ("C10_CUDA_",),
    "cooperative_groups.h": ("cooperative_groups",),
    "cuda_fp8.h": ("__nv_fp8",),
    "cuda_pipeline.h": ("__pipeline_",),
    "torch/extension.h": ("torch::",),
}


@cache
def written(name: str) -> list[Written]:
    """All kernels of a task."""
    (task,) = load(name)
    planned = compose_plan(task)
    return [kernel for writer in planned.writers(planned.usual) for kernel in writer.kernels]


def in_text(kernel: Definition) -> set[str]:
    """Words that stand in the statements of a kernel, members and comments aside."""
    lines = [line.partition("//")[0] for line in printed(kernel.body)]
    return set(re.findall(r"(?<![.\w])[A-Za-z_]\w*", "\n".join(lines)))


def definitions(name: str) -> list[tuple[Written, Definition]]:
    return [(kernel, item) for kernel in written(name) for item in kernel.device if isinstance(item, Definition)]


@pytest.mark.parametrize("name", TASKS)
def test_statements_name_every_parameter_that_stands_in_their_text(name: str) -> None:
    found = definitions(name)
    assert found
    for kernel, item in found:
        needs = kernel.needs
        given = {*needs.reads, *needs.writes, *needs.scalars, *needs.sizes}
        assert names(item.body) & given == in_text(item) & given


@pytest.mark.parametrize("name", ["modern/argmax:forward", "modern/embedding:backward", "paper/mnist_pool:backward"])
def test_a_kernel_takes_nothing_that_it_does_not_use(name: str) -> None:
    for _, item in definitions(name):
        assert [given.name for given in item.parameters if given.name not in in_text(item)] == []


@pytest.mark.parametrize("name", TASKS)
def test_a_source_includes_the_headers_of_what_stands_in_its_text(name: str) -> None:
    (task,) = load(name)
    included, _, text = compose_plan(task).write({}).partition("\n\n//")
    expected = {header for header, words in HEADERS.items() if any(word in text for word in words)}
    assert set(re.findall(r"#include <(.*)>", included + text)) == expected


@pytest.mark.parametrize("name", TASKS)
def test_a_kernel_waits_once_at_most_and_is_launched_by_its_launcher(name: str) -> None:
    for kernel, item in definitions(name):
        assert sum(isinstance(node, Wait) for node in nodes(item.body)) <= 1
        assert any(isinstance(node, Launch) for part in kernel.launcher for node in nodes(part.body)) or (
            "launch_cooperative" in "\n".join(line for part in kernel.launcher for line in part.lines)
        )
