"""What can be said of a search on the command line, wherever it is said."""

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
    typer.Option("--effort", metavar="EFFORT", help="How hard models think: low, medium, high ...; repeat it."),
]
Language = Annotated[
    str, typer.Option("--language", metavar="NAME", help="The language that models write new kernels in.")
]
Dollars = Annotated[
    float | None, typer.Option("--budget", metavar="DOLLARS", min=0.0, help="Dollars that may never be passed.")
]
Minutes = Annotated[
    float | None, typer.Option("--minutes", metavar="MINUTES", min=0.0, help="Wall clock, over all sessions.")
]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Do answers travel piece by piece? Providers: yes; other servers: no."),
]
PerMinute = Annotated[
    int | None, typer.Option("--per-minute", metavar="N", min=1, help="Questions to each model in any minute.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0.1, help="The longest wait for one answer; 1200 if not given."),
]
ArchivePlace = Annotated[
    str | None, typer.Option("--archive", metavar="PLACE", help="A file or a postgresql:// URL; your own if not given.")
]
Dispatch = Annotated[
    str,
    typer.Option(
        "--dispatch", metavar="PLACE", help="auto, local, predict, or bundle:DIR for a GPU that lives elsewhere."
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the best kernel so far is kept.")
]
Record = Annotated[
    Path | None, typer.Option("--record", metavar="FILE", help="Also write all questions and answers, for a replay.")
]
Unpriced = Annotated[bool, typer.Option("--allow-unpriced", help="Keep the budget although a price is unknown.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who writes kernels, what that may cost, and for which GPU; the names are those of the API."""

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
    """How long a search goes on, and how many kernels it writes."""

    generations: Annotated[
        int | None, typer.Option("--generations", metavar="N", min=0, help="Rounds of breeding; 10 if not given.")
    ] = None
    proposals: Annotated[int, typer.Option("--proposals", metavar="N", min=1, help="In each generation.")] = 8
    evaluate: Annotated[int, typer.Option("--evaluate", metavar="N", min=1, help="Of them, how many are timed.")] = 4
    composer: Annotated[bool, typer.Option("--composer/--no-composer", help="May kernels be composed?")] = True

    def policy(self) -> Policy:
        from warpwright.evolve.policy import Policy

        found = Policy(proposals=self.proposals, evaluate=self.evaluate, composer=self.composer)
        return found if self.generations is None else replace(found, generations=self.generations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Kernels that are there already, and who is asked about new ones."""

    start: Annotated[Path | None, typer.Option("--start", metavar="KERNEL.CU", help="A kernel to start from.")] = None
    forward: Annotated[
        Path | None, typer.Option("--forward", metavar="KERNEL.CU", help="A forward kernel to derive a backward from.")
    ] = None
    opinions: Annotated[
        str | None, typer.Option("--opinions", metavar="SPEC", help="A model whose opinions order the queue.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Which run it is."""

    resume: Annotated[str | None, typer.Option("--resume", metavar="RUN", help="Go on with a run.")] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Makes all choices repeatable.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Which settings of a kernel are tried, and where the best goes."""

    most: Annotated[int, typer.Option("--most", metavar="N", min=2, help="Settings to try.")] = 16
    merge: Annotated[bool, typer.Option("--merge", help="Also merge the winners of different shapes.")] = False
    dispatch: Annotated[str, typer.Option("--dispatch", metavar="PLACE", help="auto, local or predict.")] = "auto"
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where the best is written; KERNEL.tuned.cu if not given."),
    ] = None
