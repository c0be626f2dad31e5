"""Options for judging."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Baselines = Annotated[
    list[str] | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="eager, compile, max-autotune, or one the task names; repeat it. All if none.",
    ),
]
Seconds = Annotated[
    float,
    typer.Option("--seconds", metavar="SECONDS", min=0.1, help="Time limit for each case and cache state."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """Options for a whole suite in place of one kernel."""

    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            metavar="SUITE",
            help="Instead: a whole suite, paper or modern, or kernelbench:FOLDER or robust-kbench:FOLDER.",
        ),
    ] = None
    levels: Annotated[
        str | None,
        typer.Option("--levels", metavar="1,2,3", help="With kernelbench:FOLDER: only these levels; else all."),
    ] = None
    shard: Annotated[str, typer.Option("--shard", metavar="N/OF", help="With kernelbench:FOLDER: part N of OF.")] = (
        "1/1"
    )
    kernels: Annotated[
        Path | None,
        typer.Option(
            "--kernels", metavar="FOLDER", help="With --suite: NAME.cu, NAME.backward.cu ...; else baselines only."
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="With --suite: its folder, to resume from; else bench-SUITE."),
    ] = None
    timed: Annotated[
        int | None,
        typer.Option("--cases", metavar="N", min=1, help="With --suite: time N cases of each task; else all."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Options for NVIDIA's tools."""

    profile: Annotated[bool, typer.Option("--profile", help="Name its bottleneck in one sentence.")] = False
    ncu_report: Annotated[
        Path | None, typer.Option("--ncu-rep", metavar="FILE", help="Keep the profiler's report of one call.")
    ] = None
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run compute-sanitizer's four tools on one call as well.")
    ] = False
