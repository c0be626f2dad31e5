"""Describes a GPU: the limits of core's table, and the facts of its architecture."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpwright.core.codec import decode
from warpwright.core.gpus.table import KIB, Gpu

_TABLE = Path(__file__).resolve().parent / "gpu_facts.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts of an architecture that a kernel writer must know, beyond its limits."""

    generation: str
    facts: tuple[str, ...]


@cache
def facts_by_architecture() -> dict[str, Facts]:
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return {name: decode(Facts, entry, name) for name, entry in table.items()}


def gpu_words(gpu: Gpu) -> str:
    """Lists limits, peaks and facts, one line each."""
    told = facts_by_architecture()[gpu.arch]
    lines = [f"{gpu.title}, {told.generation}, {gpu.arch}.", *_limits(gpu), *told.facts]
    return "\n".join(f"- {line}" for line in lines)


def _limits(gpu: Gpu) -> tuple[str, ...]:
    arch = gpu.architecture
    matrix = ", ".join(f"{name} {peak:g}" for name, peak in gpu.matrix.items())
    return (
        f"Memory {gpu.bandwidth_gbs:g} GB/s, L2 {gpu.l2_mb:g} MB, {gpu.sms} SMs at up to {gpu.clock_mhz} MHz.",
        f"TFLOP/s: CUDA cores fp32 {gpu.fp32:g}, fp64 {gpu.fp64:g}; matrix units {matrix}.",
        f"Per SM: {arch.threads_per_sm} threads, {arch.blocks_per_sm} blocks, {arch.registers_per_sm} registers, "
        f"{arch.shared_per_sm // KIB} KiB of shared memory ({arch.shared_per_block_optin // KIB} KiB for one block).",
    )
