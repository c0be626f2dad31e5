"""A candidate from the command line: which file, for which task, compiled how."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from warpwright.core.candidate import Candidate
    from warpwright.core.task import Task

Kernel = Annotated[Path, typer.Argument(metavar="KERNEL.CU", help="One .cu file in the form of a torch extension.")]
TaskName = Annotated[
    str,
    typer.Option(
        "--task", metavar="TASK", help="As for `warpwright tasks show`: layernorm, layernorm:backward, ref.py:fn ..."
    ),
]
GpuName = Annotated[str, typer.Option("--gpu", metavar="GPU", help="The GPU to compile for, such as h100.")]
FastMath = Annotated[bool, typer.Option("--fast-math", help="Compile with --use_fast_math; another candidate then.")]


def read_candidate(path: Path, gpu: str, fast_math: bool) -> Candidate:
    """The file as it is, in the language that its name ends in."""
    from warpwright import languages
    from warpwright.core.candidate import Flags
    from warpwright.core.gpus.table import gpu_named

    return languages.read(path, Flags(gpu=gpu_named(gpu).name, fast_math=fast_math))


def one_task(name: str, inputs: list[str] | None = None, *, silent: bool = True) -> Task:
    """The task a candidate is for. A name without a direction means the first the task has: forward."""
    from warpwright.cli.screen import waiting
    from warpwright.tasks import load

    with waiting(f"loading {name}", silent=silent):
        return load(name, inputs=inputs or ())[0]


def pastime(what: str) -> str:
    """What to say while a candidate is compiled: the first time our own headers are too, which takes far longer."""
    from warpwright import languages
    from warpwright.seal.cache import Store, default_root

    store = Store(root=default_root())
    prepared = all(language.is_prepared(store) for language in languages.frontends().values())
    return what if prepared else f"preparing headers, once; then {what}"
