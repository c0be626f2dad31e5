"""`warpwright verifiers`: measures how far the rungs of the ladder can be trusted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import Dtypes, GpuName
from warpwright.cli.check.check import Jobs
from warpwright.cli.output import Json, emit
from warpwright.cli.search.options import Dollars
from warpwright.core.codec import encode

if TYPE_CHECKING:
    from warpwright.verify.evaluation import Score
    from warpwright.verify.opinion.tuning import Outcome

PanelFolder = Annotated[
    Path | None, typer.Option("--panel", metavar="FOLDER", help="A panel that `verifiers tune` wrote; ours if none.")
]

app = typer.Typer(
    help="Measure verifiers on labelled kernels.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("evaluate", epilog="Example: warpwright verifiers evaluate --labels kernels/labels.csv --rung emulate")
def evaluate(
    labels: Annotated[Path, typer.Option("--labels", metavar="CSV", help="Columns file, task, verdict, class.")],
    rung: Annotated[
        str | None, typer.Option("--rung", metavar="RUNG", help="One rung, such as emulate; all by default.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="SPEC", help="The model that gives opinions, for --rung opinion.")
    ] = None,
    panel: PanelFolder = None,
    budget: Dollars = None,
    published: Annotated[
        bool, typer.Option("--published", help="Also ask the checks of KernelBench and KernelBench-Verified.")
    ] = False,
    every: Annotated[int, typer.Option("--every", metavar="N", min=1, help="Take every Nth kernel.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Ask again about kernels that have answers.")] = False,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="Ends the check of a kernel undecided.")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page.")] = None,
    dtypes: Dtypes = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Measure accuracy, false accepts, false rejects and faults found.

    Every labelled kernel is checked; figures are given for each class of bug. Answers are kept in the folder
    `answers` beside the labels, so that an interrupted command can be repeated.
    """
    from warpwright.cli.screen import plain, progress, show_table

    with progress(silent=as_json) as told:
        from warpwright.app.verifiers import tables
        from warpwright.app.verifiers.evaluation import evaluate_verifiers

        found = evaluate_verifiers(
            labels,
            rung=rung,
            model=model,
            panel=panel,
            budget=budget,
            published=published,
            every=every,
            again=again,
            seconds=timeout,
            dtypes=dtypes or (),
            jobs=jobs,
            on_progress=told,
        )
    if html:
        html.write_text(tables.page(found.answers), encoding="utf-8")
    if as_json:
        scores = [_data(score) for score in found.scores]
        compared = tables.data(found.answers)
        emit("verifiers.evaluate/1", rung=rung, scores=scores, faults=found.faults, **compared)
        return
    columns = ("class", "accuracy", "kernels", "right", "false accepts", "false rejects", "undecided")
    show_table(columns, [(plain(score.kind), *_figures(score)) for score in found.scores])
    head, rows, notes = tables.tables(found.answers)
    show_table(head, [tuple(map(plain, row)) for row in rows])
    for name, items in notes.items():
        typer.echo(f"{name}: {len(items)}")
        typer.echo("".join(f"  {item}\n" for item in items), nl=False)


@app.command("corpus", epilog="Example: warpwright verifiers corpus KernelBench/level1 --out faults --each 1")
def corpus(
    places: Annotated[
        list[Path] | None, typer.Argument(metavar="PROBLEMS", help="KernelBench files or folders of them.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="CSV", help="Kernels of your own, labelled `holds`.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder of the labelled kernels.")] = Path(
        "faults"
    ),
    each: Annotated[int, typer.Option("--each", metavar="N", min=1, help="Faults of each class for a kernel.")] = 2,
    every: Annotated[int, typer.Option("--every", metavar="N", min=1, help="Take every Nth kernel.")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Selects the faults.")] = 0,
    gpu: GpuName = "h200",
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Plant faults in right kernels, and keep those with a witness.

    The kernels are the composer's for each problem, and your own. A witness is an input on which the original is right
    and the fault is not. What is done already stays, so that an interrupted command can be repeated.
    """
    from warpwright.cli.screen import plain, progress, show_table

    with progress(silent=as_json) as told:
        from warpwright.app.verifiers.corpus import make_corpus

        found = make_corpus(
            places or (), out, labels=labels, each=each, every=every, seed=seed, gpu=gpu, jobs=jobs, on_progress=told
        )
    if as_json:
        emit("verifiers.corpus/1", folder=str(found.folder), kernels=found.rows, originals=found.harvests)
        return
    counts = Counter((row.kind, row.scope) for row in found.rows)
    kinds = dict.fromkeys(row.kind for row in found.rows)
    show_table(
        ("class", "kernels", "wrong beyond the requested sizes alone"),
        [(plain(kind), str(counts[kind, "asked"]), str(counts[kind, "beyond"])) for kind in kinds],
    )
    for harvest in (harvest for harvest in found.harvests if harvest.reason):
        typer.echo(f"{harvest.name}: {harvest.reason}")
    typer.echo(f"{len(found.rows)} kernels, labelled in {out / 'labels.csv'}")


@app.command("tune", epilog="Example: warpwright verifiers tune --labels kernels/labels.csv --model anthropic:NAME")
def tune(
    labels: Annotated[Path, typer.Option("--labels", metavar="CSV", help="Columns file, task, verdict, class.")],
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="The model that judges and rewrites.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder of the improved panel.")] = Path("panel"),
    panel: PanelFolder = None,
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", min=1, help="Rewrites of each instruction.")] = 3,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Selects the held-out kernels.")] = 0,
    budget: Dollars = None,
    as_json: Json = False,
) -> None:
    """Improve the instructions of models that give opinions.

    They are rewritten on one part of a labelled set and measured on the other.
    """
    from warpwright.cli.screen import plain, show_table, waiting

    with waiting("asking", silent=as_json):
        from warpwright.app.verifiers.evaluation import tune_verifiers

        found = tune_verifiers(labels, model=model, out=out, panel=panel, rounds=rounds, seed=seed, budget=budget)
    if as_json:
        emit("verifiers.tune/1", outcomes=found.outcomes, training=found.training, held_out=found.held_out)
        return
    columns = ("verifier", "training before", "after", "held out before", "after", "rewritten")
    show_table(columns, [tuple(map(plain, _outcome(item))) for item in found.outcomes])
    typer.echo(f"{found.training} kernels to learn from, {found.held_out} held out; the panel is in {out}")


def _outcome(item: Outcome) -> tuple[str, ...]:
    shares = (item.training_before, item.training_after, item.held_out_before, item.held_out_after)
    return item.verifier, *("" if share is None else f"{share:.0%}" for share in shares), str(item.rewritten)


def _figures(score: Score) -> tuple[str, ...]:
    accuracy = "" if score.accuracy is None else f"{score.accuracy:.1%}"
    counts = (score.total, score.right, score.false_accepts, score.false_rejects, score.undecided)
    return accuracy, *map(str, counts)


def _data(score: Score) -> dict[str, object]:
    return {**encode(score), "accuracy": score.accuracy}
