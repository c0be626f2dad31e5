"""What can be said of a search on the command line, wherever it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
