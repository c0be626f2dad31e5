"""`warpwright verifiers`: how far the rungs of the ladder can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check import Dtypes, Jobs
from warpwright.cli.output import Json, emit
from warpwright.core.codec import encode

if TYPE_CHECKING:
    from warpwright.verify.evaluation import Score

app = typer.Typer(
    help="What verification is worth, measured on kernels of which the truth is known.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("evaluate", epilog="Example: warpwright verifiers evaluate --labels kernels/labels.csv --rung emulate")
def evaluate(
    labels: Annotated[Path, typer.Option("--labels", metavar="CSV", help="Columns file, task, verdict, class.")],
    rung: Annotated[
        str | None, typer.Option("--rung", metavar="RUNG", help="One rung alone, such as emulate; all if none.")
    ] = None,
    dtypes: Dtypes = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Check every labelled kernel: accuracy, false accepts and false rejects per class of bug."""
    from warpwright.cli.checking import check_all, labelled
    from warpwright.cli.screen import plain, show_table
    from warpwright.verify.evaluation import scores

    work = labelled(labels.parent, labels)
    checked = check_all(work, gpu="h200", fast_math=False, dtypes=dtypes or (), jobs=jobs, silent=as_json)
    known = [piece.label for piece in work if piece.label]
    found = scores(known, [item.dossier for item in checked], rung)
    if as_json:
        faults = [fault for item in checked for fault in item.dossier.faults]
        emit("verifiers.evaluate/1", rung=rung, scores=[_data(score) for score in found], faults=faults)
    else:
        columns = ("class", "accuracy", "kernels", "right", "false accepts", "false rejects", "undecided")
        show_table(columns, [(plain(score.kind), *_figures(score)) for score in found])


def _figures(score: Score) -> tuple[str, ...]:
    accuracy = "" if score.accuracy is None else f"{score.accuracy:.1%}"
    counts = (score.total, score.right, score.false_accepts, score.false_rejects, score.undecided)
    return accuracy, *map(str, counts)


def _data(score: Score) -> dict[str, object]:
    return {**encode(score), "accuracy": score.accuracy}
