"""`warpwright demo`: verification and search in a few minutes, with no GPU, no key and no network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warpwright.cli.output import Json
from warpwright.cli.search.beforehand import make_folder


def demo(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="Where kernels and the report are written.")
    ] = Path("warpwright-demo"),
    gpu: Annotated[str, typer.Option("--gpu", metavar="GPU", help="The GPU to write kernels for.")] = "h200",
    as_json: Json = False,
) -> None:
    """Show what Warpwright can do, in a few minutes, without a GPU.

    Catches a planted cheat and a planted race, composes and evolves kernels for three tasks, and writes a report.
    """
    from warpwright.cli.screen import waiting
    from warpwright.core.gpus.table import gpu_named

    make_folder(folder)
    gpu_named(gpu)
    with waiting("starting", silent=as_json):
        from warpwright.cli.demo.demonstration import demonstrate
    raise typer.Exit(demonstrate(folder, gpu, as_json))
