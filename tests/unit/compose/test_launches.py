"""Launches: which kernels share one, and how those that do not follow each other."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from warpwright.compose import plan as plan_of
from warpwright.compose.kernels.pointwise.horizontal_fusion import can_share
from warpwright.tasks import load


@cache
def source(name: str, **genome: object) -> str:
    (task,) = load(name)
    return plan_of(task).write(genome)


def test_elements_of_several_counts_share_a_launch_where_none_needs_another() -> None:
    text = source("modern/rope_cache:forward")
    assert text.count("__global__") == 1
    assert "if (block >= start_3) return rope_cache_elements_part_3<Index, T, VEC>(" in text
    assert "_part_" not in source("modern/swiglu:training")


def test_what_one_step_leaves_for_the_next_shares_no_launch() -> None:
    works = [played("x", "y"), played("y", "z")]
    assert not can_share(works)
    assert not can_share(works[::-1])
    assert can_share([played(reads, reads * 2) for reads in ("a", "b")])


def played(reads: str, writes: str) -> Any:
    return SimpleNamespace(reads=frozenset({reads}), writes=frozenset({writes}))


def test_kernels_of_one_call_follow_each_other_without_a_pause() -> None:
    text = source("paper/layernorm:backward")
    kernels = kernels_of(text)
    assert len(kernels) > 3
    assert all(kernel.count("grid_dependency_wait();\n") == 1 for kernel in kernels)
    late = [kernel for kernel in kernels if not kernel.split(") {\n", 1)[1].startswith("    grid_dependency_wait();\n")]
    assert all("fetch(begin" in kernel for kernel in late)
    assert "<<<" not in text
    assert text.count("launch_pdl(") == text.count("launch_pdl(kernel, ") + 1
    assert "C10_CUDA_KERNEL_LAUNCH_CHECK" not in text


def kernels_of(text: str) -> list[str]:
    return [part[: part.index("\n}")] for part in text.split("__global__")[1:]]


def test_what_was_there_before_the_call_is_read_before_the_kernel_waits() -> None:
    finish = next(kernel for kernel in kernels_of(source("paper/layernorm:forward")) if "_finish_kernel(" in kernel)
    early, _, late = finish.partition("grid_dependency_wait();")
    assert all(f"{name}_words[p] = load_words<VEC>({name} +" in early for name in ("x", "weight", "bias"))
    assert "fetch(begin + lane * VEC);" in early
    assert "parts_1[part]" not in early
    assert "parts_1[part]" in late


def test_what_the_call_itself_has_made_is_read_after_that() -> None:
    """A softmax of what a library leaves."""
    text = source("modern/linear_cross_entropy:forward")
    assert "_pass_1_kernel" in text
    assert "fetch(begin" not in text


def test_kernels_that_have_none_beside_them_are_launched_plainly() -> None:
    assert "kernel<<<" in source("modern/log_softmax:forward")
    assert "grid_dependency_wait" not in source("modern/log_softmax:forward")
    assert "grid_dependency_wait" not in source("paper/layernorm:backward", overlap="none")
