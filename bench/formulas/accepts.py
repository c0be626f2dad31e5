"""What comparisons with a tolerance accept: the emulated float32 results of a kernel against torch's."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from warpwright.core.candidate import Candidate
from warpwright.core.gpus.table import gpu_named
from warpwright.core.task import Case, Draw, Task
from warpwright.emulate.program.build import program
from warpwright.emulate.program.running import run
from warpwright.emulate.staging import Execution, Trial, staged
from warpwright.oracle.truth.expected import exact_results
from warpwright.seal.cache import Store, default_root

SEEDS = range(3)
Pair = tuple[torch.Tensor, torch.Tensor]


def pairs(task: Task, candidate: Candidate, case: Case) -> Iterator[Pair]:
    """Yields each result of the kernel with the true one, on ordinary inputs."""
    store = Store(root=default_root())
    built = program(candidate, store)
    for seed in SEEDS:
        draw = Draw(case=case, distribution=task.distributions[0], seed=seed)
        stage = staged(task, draw)
        (step,) = stage.steps()
        call = stage.call(step, Trial(draw=draw))
        assert call is not None
        (ran,) = run(built, [call], gpu_named(candidate.flags.gpu), store)
        found = stage.results([Execution(step=step, call=call, ran=ran)])
        assert found is not None
        yield from zip(found, exact_results(task, draw, stage.given.copy()), strict=True)


def are_close(compared: list[Pair], tolerance: float) -> bool:
    return all(
        torch.allclose(found, truth.to(found.dtype), atol=tolerance, rtol=tolerance) for found, truth in compared
    )
