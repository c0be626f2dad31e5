"""Tools that check, time and compose kernels.

A kernel is always its source text: a client sends what it wrote, and names no files of this machine.
"""

from __future__ import annotations

from mcp.server.mcpserver import Context

from warpwright.app.compose import compose as composed
from warpwright.app.given import subject_of
from warpwright.app.kernels.bench import bench as benched
from warpwright.app.kernels.bench import documents
from warpwright.app.kernels.check import Demands
from warpwright.app.kernels.check import check as checked
from warpwright.app.tasks import contract, summary
from warpwright.app.tasks import tasks as all_tasks
from warpwright.core.candidate import CUDA, Candidate, Flags
from warpwright.core.gpus.table import gpu_named
from warpwright.languages import named
from warpwright.mcp.answers import Document, answered, plain

DEADLINE_S = 300.0


def tasks(suite: str | None = None) -> Document:
    """List the tasks of the suites that come with Warpwright. Functions of your own are tasks too: see `task`."""
    return plain({"tasks": [summary(task) for task in all_tasks(suite)]})


async def task(context: Context, task: str, inputs: list[str] | None = None, gpu: str = "h200") -> Document:
    """Show what a task asks of a kernel: reference, cases, tolerance, physical limits, and a skeleton to start from.

    `task` is a name such as "layernorm" or "modern/topk_gating:forward", a KernelBench file, or "ref.py:fn" with
    `inputs` such as ["8,512:bf16"].
    """

    def found(on_progress: object) -> Document:
        return plain(contract(subject_of(task, inputs or ()).task, gpu_named(gpu), named(CUDA)))

    return await answered(context, found)


async def check(
    context: Context,
    source: str,
    task: str,
    inputs: list[str] | None = None,
    language: str = CUDA,
    gpu: str = "h200",
    envelope: bool = False,
    seconds: float = DEADLINE_S,
) -> Document:
    """Check a kernel without a GPU: does it compile, is its host code pure, is it right on the CPU?

    The verdict is holds, refuted (with a counterexample and where it is), or undecided. `envelope` also demands sizes
    that were not asked for.
    """
    candidate = Candidate(source=source, language=language, flags=Flags(gpu=gpu_named(gpu).name))
    demands = Demands(envelope=envelope, seconds=seconds)
    return plain((await answered(context, checked, candidate, task, inputs=inputs or (), demands=demands)).document())


async def bench(
    context: Context,
    source: str,
    task: str,
    inputs: list[str] | None = None,
    language: str = CUDA,
    gpu: str = "h200",
    baselines: list[str] | None = None,
) -> Document:
    """Check a kernel on this machine's GPU and time it in turns with PyTorch's own implementations."""
    candidate = Candidate(source=source, language=language, flags=Flags(gpu=gpu_named(gpu).name))
    found = await answered(context, benched, candidate, task, inputs=inputs or (), baselines=baselines)
    return plain(documents([found]))


async def compose(context: Context, task: str, inputs: list[str] | None = None, gpu: str = "h200") -> Document:
    """Write a kernel by rule, with no model, and check it."""
    found = await answered(context, composed, task, inputs=inputs or (), gpu=gpu)
    return plain({"source": found.source, "verdict": found.verdict, "sentence": found.sentence})
