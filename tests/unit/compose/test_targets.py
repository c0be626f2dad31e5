"""Targets: what is composed for a GPU compiles for it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import pytest

from warpwright.compose import CannotCompose
from warpwright.compose import plan as plan_of
from warpwright.core.candidate import Flags
from warpwright.core.gpus.table import gpu_named
from warpwright.seal import toolchain
from warpwright.seal.cache import Store, default_root
from warpwright.seal.device.nvcc import DeviceCode, compile_device
from warpwright.tasks import all_tasks, load

TARGETS = {"a100-80gb": "sm_80", "l4": "sm_89", "h200": "sm_90a", "b200": "sm_100a", "rtx5090": "sm_120a"}
CHOICE = [
    ("modern/group_norm_silu:forward", "a100-80gb"),
    ("modern/swiglu_fp8:forward", "a100-80gb"),
    ("modern/log_softmax:forward", "l4"),
    ("modern/cumsum:forward", "b200"),
    ("modern/group_norm_silu:forward", "rtx5090"),
]
"""In the default tier: clusters and eight bits where a target has none, less shared memory, later architectures."""

pytestmark = [
    pytest.mark.skipif(toolchain.nvcc() is None, reason="no nvcc on this machine"),
    pytest.mark.timeout(3600),  # compilers of a busy machine take their time
]


@cache
def is_compiled(gpu: str, source: str, folder: Path) -> bool:
    """Once for every source and GPU; raises what nvcc complains about."""
    place = folder / hashlib.sha256(source.encode()).hexdigest()[:16]
    place.mkdir()
    (place / "kernel.cu").write_text(source, encoding="utf-8")
    return isinstance(compile_device(place, Flags(gpu=gpu), Store(root=default_root())), DeviceCode)


def test_the_targets_are_those_architectures() -> None:
    assert {gpu: gpu_named(gpu).arch for gpu in TARGETS} == TARGETS


@pytest.mark.parametrize(("name", "gpu"), CHOICE)
def test_what_is_composed_for_a_gpu_compiles_for_it(tmp_path: Path, name: str, gpu: str) -> None:
    (task,) = load(name)
    assert is_compiled(gpu, plan_of(task, gpu).text({}), tmp_path)


@pytest.mark.corpus
@pytest.mark.parametrize("gpu", TARGETS)
def test_every_task_that_composes_compiles(tmp_path: Path, gpu: str) -> None:
    composed = 0
    for task in all_tasks():
        try:
            text = plan_of(task, gpu).text({})
        except CannotCompose:
            continue
        assert is_compiled(gpu, text, tmp_path), task.key
        composed += 1
    assert composed > 60
