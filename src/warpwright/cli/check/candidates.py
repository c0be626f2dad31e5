"""Options that select a candidate: its file, its task, its flags."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from warpwright.app.given import KernelFile, Subject

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


Dtypes = Annotated[list[str] | None, typer.Option("--dtype", metavar="DTYPE", help="Only these cases; repeat it.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """Compiler options of candidates."""

    gpu: GpuName = "h200"
    fast_math: FastMath = False
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", metavar="NAME=VALUE", help="Define a macro; part of the candidate. Repeat it."),
    ] = None
    undefine: Annotated[
        list[str] | None,
        typer.Option(
            "--undefine", "-U", metavar="NAME", help="Undefine one, such as __CUDA_NO_HALF_CONVERSIONS__; repeat it."
        ),
    ] = None
    include: Annotated[
        list[Path] | None,
        typer.Option("--include", "-I", metavar="FOLDER", help="Where headers of your own lie; repeat it."),
    ] = None

    def file(self, path: Path) -> KernelFile:
        """A file that is compiled with these options."""
        from warpwright.app.given import KernelFile

        defined = [f"-D{name}" for name in self.define or ()]
        undefined = [f"-U{name}" for name in self.undefine or ()]
        return KernelFile(path=path, macros=(*defined, *undefined), includes=tuple(self.include or ()))


TrustTask = Annotated[
    bool, typer.Option("--trust-task", help="Use a function as the reference although it may accept wrong kernels.")
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
    name: str,
    inputs: list[str] | None = None,
    *,
    precision: str | None = None,
    dtypes: list[str] | None = None,
    trusted: bool = False,
    silent: bool = True,
) -> Subject:
    """Loads the task of a candidate. A name without a direction means its first one: forward."""
    from warpwright.app.given import subject_of
    from warpwright.cli.screen import waiting

    with waiting(f"loading {name}", silent=silent):
        return replace(subject_of(name, inputs or (), precision, dtypes or ()), trusted=trusted)
