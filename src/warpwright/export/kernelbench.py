"""A Python file with `class ModelNew`, as KernelBench evaluates it: the kernel is built by `load_inline`.

The file contains the problem as well. ModelNew derives from its Model, so that both draw equal parameters from equal
seeds.
"""

from __future__ import annotations

from collections.abc import Mapping

from warpwright.core.candidate import CUDA, Candidate
from warpwright.core.errors import UsageError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.task import Direction, Task

_FILE = '''"""{name}: the problem, and a kernel for it."""

{problem}


from operator import attrgetter

from torch.utils.cpp_extension import load_inline

CUDA_SOURCE = r"""{source}"""

kernel = load_inline(
    name="{extension}",
    cpp_sources="",
    cuda_sources=CUDA_SOURCE,
    extra_cuda_cflags={flags},
)
state = [attrgetter(name) for name in {state}]


class ModelNew(Model):
    def forward(self, *inputs):
        return kernel.forward(*inputs, *(get(self) for get in state))
'''


def files(task: Task, candidate: Candidate, sealed: Sealed) -> Mapping[str, str]:
    _check(task, candidate, sealed)
    text = _FILE.format(
        name=task.name,
        problem=_problem(task),
        source=candidate.source,
        extension=f"kernel_{candidate.id[:12]}",
        flags=list(_flags(candidate)),
        state=list(task.reference.state),
    )
    return {f"{task.name}.py": text}


def _check(task: Task, candidate: Candidate, sealed: Sealed) -> None:
    reason = None
    if task.reference.style != "module" or task.direction is not Direction.FORWARD:
        reason = f"{task.key} is no forward pass of a KernelBench problem"
    elif candidate.language != CUDA:
        reason = f"a kernel in {candidate.language} is a file for KernelBench already, or cannot become one"
    elif '"""' in candidate.source:
        reason = 'the kernel contains """, which would end its string in the file'
    elif "prepare" in sealed.entries:
        reason = "KernelBench has no call in which `prepare` could run untimed"
    if reason:
        raise UsageError(f"it cannot be exported to KernelBench: {reason}")


def _problem(task: Task) -> str:
    """The problem file, without the function that our loader appends."""
    return task.reference.source.partition(f"\ndef {task.reference.entry}():")[0].strip()


def _flags(candidate: Candidate) -> tuple[str, ...]:
    """The flags of nvcc that change what a kernel computes."""
    return ("-O3", "-std=c++20", *(["--use_fast_math"] if candidate.flags.fast_math else []), *candidate.flags.extra)
