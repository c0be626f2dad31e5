"""Facts of architectures: every GPU has some, and none contradicts core's table."""

from __future__ import annotations

import pytest

from warpwright.core.gpus.table import GPUS, Gpu
from warpwright.propose.prompting.gpu.facts import facts_by_architecture, gpu_words


def test_exactly_the_architectures_of_the_table_are_told() -> None:
    assert facts_by_architecture().keys() == {gpu.arch for gpu in GPUS.values()}


@pytest.mark.parametrize("gpu", GPUS.values(), ids=lambda gpu: gpu.name)
def test_a_gpu_in_words(gpu: Gpu) -> None:
    text = gpu_words(gpu)
    assert f"Memory {gpu.bandwidth_gbs:g} GB/s" in text
    assert gpu.title in text
    assert len(text) < 2500


@pytest.mark.parametrize("gpu", GPUS.values(), ids=lambda gpu: gpu.name)
def test_words_and_table_agree_on_what_there_is(gpu: Gpu) -> None:
    told = " ".join(facts_by_architecture()[gpu.arch].facts)
    if "no fp8" in told:
        assert "fp8" not in gpu.matrix
    if "no clusters" in told or gpu.architecture.cluster_blocks == 1:
        assert gpu.architecture.cluster_blocks == 1
        assert "Clusters of up to" not in told
    if "no bf16" in told:
        assert "bf16" not in gpu.matrix
