"""Options that select a candidate: its file, its task, its flags."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from warpwright.app.given import Subject

Kernel = Annotated[Path, typer.Argument(metavar="KERNEL.CU", help="One .cu file in the form of a torch extension.")]
TaskName = Annotated[
    str,
    typer.Option(
        "--task", metavar="TASK", help="As for `warpwright tasks show`: layernorm, layernorm:backward, ref.py:fn ..."
    ),
]
GpuName = Annotated[str, typer.Option("--gpu", metavar="GPU", help="The GPU to compile for, such as h100.")]
FastMath = Annotated[
    bool, typer.Option("--fast-math", help="Compile with --use_fast_math, which makes it another candidate.")
]


PrecisionName = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="strict|tf32",
        help="Whether fp32 products may round to TF32, in torch and in the kernel; default: as the task says.",
    ),
]


def subject(
    name: str, inputs: list[str] | None = None, *, precision: str | None = None, silent: bool = True
) -> Subject:
    """Loads the task of a candidate. A name without a direction means its first one: forward."""
    from warpwright.app.given import subject_of
    from warpwright.cli.screen import waiting

    with waiting(f"loading {name}", silent=silent):
        return subject_of(name, inputs or (), precision)
