"""Options of a search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import FastMath, GpuName
from warpwright.cli.tasks.tasks import Inputs

if TYPE_CHECKING:
    from warpwright.evolve.policy import Policy

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="SPEC",
        help="anthropic:NAME, openai:NAME, google:NAME, openai:NAME@URL, command:CMD, mailbox:DIR, replay:FILE or "
        "reworded:FILE; repeat it.",
    ),
]
Efforts = Annotated[
    list[str] | None,
    typer.Option("--effort", metavar="EFFORT", help="Reasoning effort of models: low, medium, high ...; repeat it."),
]
Language = Annotated[
    str, typer.Option("--language", metavar="NAME", help="The language that models write new kernels in.")
]
Dollars = Annotated[
    float | None, typer.Option("--budget", metavar="DOLLARS", min=0.0, help="Dollars that are never exceeded.")
]
Minutes = Annotated[
    float | None, typer.Option("--minutes", metavar="MINUTES", min=0.0, help="Wall clock, over all sessions.")
]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Stream answers? Default for providers: yes; for other servers: no."),
]
PerMinute = Annotated[
    int | None, typer.Option("--per-minute", metavar="N", min=1, help="Most requests to each model per minute.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Time limit of one answer; default 1200."),
]
ArchivePlace = Annotated[
    str | None,
    typer.Option("--archive", metavar="PLACE", help="A file or a postgresql:// URL; default: your own archive."),
]
Dispatch = Annotated[
    str,
    typer.Option(
        "--dispatch", metavar="PLACE", help="auto, local, predict, or bundle:DIR for a GPU of another machine."
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="File of the best kernel so far.")]
Record = Annotated[
    Path | None, typer.Option("--record", metavar="FILE", help="Also record all requests and answers, for a replay.")
]
Unpriced = Annotated[bool, typer.Option("--allow-unpriced", help="Keep the budget although a price is unknown.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Options for who writes kernels, their cost, and the GPU; the names are those of the API."""

    inputs: Inputs = None
    models: Models = None
    efforts: Efforts = None
    budget: Dollars = None
    gpu: GpuName = "h200"
    fast_math: FastMath = False
    language: Language = "cuda"
    dispatch: Dispatch = "auto"
    output: Output = None
    record: Record = None
    stream: Stream = None
    per_minute: PerMinute = None
    timeout: Timeout = None
    allow_unpriced: Unpriced = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Breeding:
    """Options for the length of a search and the number of kernels."""

    generations: Annotated[
        int | None, typer.Option("--generations", metavar="N", min=0, help="Generations; default 10.")
    ] = None
    proposals: Annotated[int, typer.Option("--proposals", metavar="N", min=1, help="In each generation.")] = 8
    evaluate: Annotated[int, typer.Option("--evaluate", metavar="N", min=1, help="How many of them are timed.")] = 4
    composer: Annotated[bool, typer.Option("--composer/--no-composer", help="Whether kernels may be composed.")] = True

    def policy(self) -> Policy:
        from warpwright.evolve.policy import Policy

        found = Policy(proposals=self.proposals, evaluate=self.evaluate, composer=self.composer)
        return found if self.generations is None else replace(found, generations=self.generations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Options for existing kernels, and for opinions about new ones."""

    start: Annotated[Path | None, typer.Option("--start", metavar="KERNEL.CU", help="A kernel to start from.")] = None
    forward: Annotated[
        Path | None, typer.Option("--forward", metavar="KERNEL.CU", help="A forward kernel to derive a backward from.")
    ] = None
    opinions: Annotated[
        str | None, typer.Option("--opinions", metavar="SPEC", help="A model whose opinions order the queue.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Options that select a run."""

    resume: Annotated[str | None, typer.Option("--resume", metavar="RUN", help="Resume a run.")] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Makes all choices repeatable.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Which settings of a kernel are tried, and where the best goes."""

    most: Annotated[int, typer.Option("--most", metavar="N", min=2, help="Settings to try.")] = 16
    merge: Annotated[bool, typer.Option("--merge", help="Also merge the best kernels of different shapes.")] = False
    dispatch: Annotated[str, typer.Option("--dispatch", metavar="PLACE", help="auto, local or predict.")] = "auto"
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File of the best kernel; KERNEL.tuned.cu by default."),
    ] = None
