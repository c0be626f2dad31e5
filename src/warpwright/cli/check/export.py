"""`warpwright export`: a kernel in a form that other programs use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwright.cli.check.candidates import Compiled, Kernel, TaskName, subject
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.tasks.tasks import Inputs


@grouped
def export(
    kernel: Kernel,
    task: TaskName,
    compiled: Compiled,
    form: Annotated[str, typer.Option("--as", metavar="FORM", help="kernelbench: a file with `class ModelNew`.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the files.")],
    inputs: Inputs = None,
    as_json: Json = False,
) -> None:
    """Write a kernel in a form that other programs use.

    The kernel is checked first, and EVIDENCE.json says with what result. A refuted kernel is not exported.
    """
    from warpwright.app.kernels.export import export as export_kernel
    from warpwright.cli.screen import plain, progress, screen

    asked = subject(task, inputs, silent=as_json)
    with progress(silent=as_json) as told:
        files = export_kernel(compiled.file(kernel), asked, form, out, gpu=compiled.gpu, on_progress=told)
    if as_json:
        emit("export/1", files=[str(file) for file in files])
    else:
        screen().print(plain(f"Written: {', '.join(map(str, files))}."), soft_wrap=True)
