"""`warpwright check`: climbs the ladder as far as this machine allows, for one kernel or a folder."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warpwright.cli.check.candidates import Compiled, Dtypes, TrustTask
from warpwright.cli.check.seal import CODES
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.search.beforehand import check_file
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit, UsageError
from warpwright.core.records.evidence import Verdict

if TYPE_CHECKING:
    from warpwright.app.kernels.check import Checked
    from warpwright.core.records.evidence import Dossier

Jobs = Annotated[int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes; one per core if not given.")]


@grouped
def check(
    compiled: Compiled,
    kernel: Annotated[Path, typer.Argument(metavar="KERNEL.CU|FOLDER", help="A .cu file, or a folder of them.")],
    task: Annotated[str | None, typer.Option("--task", metavar="TASK", help="As for `warpwright tasks show`.")] = None,
    ref: Annotated[
        str | None, typer.Option("--ref", metavar="REF.PY:FN", help="A function to compare it with; needs --input.")
    ] = None,
    inputs: Inputs = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="CSV", help="Names the task of each file in a folder.")
    ] = None,
    dtypes: Dtypes = None,
    envelope: Annotated[
        bool, typer.Option("--envelope", help="Let sizes chosen by the loader decide too, as in our suites.")
    ] = False,
    trust_task: TrustTask = False,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Also run blocks of sizes that take minutes and much memory.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Also refute kernels that compute another formula: see `warpwright prove`.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", min=1.0, help="End undecided after so long, for each kernel."),
    ] = None,
    jobs: Jobs = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page.")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every warning.")] = False,
    as_json: Json = False,
) -> None:
    """Check a kernel without a GPU, and report what is wrong with it.

    Does it compile, is its host code a pure launch plan, are its results correct on the CPU?
    """
    from warpwright.app.kernels.check import Demands, check_pieces, labelled, pieces
    from warpwright.cli.screen import progress, waiting

    named = [name for name in (task, ref) if name is not None]
    if len(named) + (labels is not None) != 1:
        raise UsageError("say what the kernel should do: one of --task NAME, --ref ref.py:fn and --labels labels.csv")
    check_file(html)
    check_file(junit)
    with waiting("loading the task", silent=as_json):
        work = labelled(kernel, labels) if labels else pieces(kernel, named[0], inputs or (), compiled.file)
    with progress(silent=as_json) as told:
        demands = Demands(envelope=envelope, trust_task=trust_task, thorough=thorough, prove=prove, seconds=timeout)
        checked = check_pieces(
            work,
            gpu=compiled.gpu,
            fast_math=compiled.fast_math,
            dtypes=dtypes or (),
            demands=demands,
            jobs=jobs,
            on_progress=told,
        )
    _write_files(checked, html, junit)
    if as_json:
        documents = [item.document() for item in checked]
        emit("check/1", **(documents[0] if not kernel.is_dir() else {"results": documents}))
    else:
        _show(checked, verbose=verbose)
    raise typer.Exit(worst([ending(item.dossier) for item in checked]))


def _show(checked: Sequence[Checked], *, verbose: bool) -> None:
    from warpwright.cli.check.verdicts import show_dossier
    from warpwright.cli.screen import plain, screen

    if len(checked) == 1:
        show_dossier(checked[0].dossier, checked[0].candidate.source, verbose=verbose)
        return
    for item in checked:
        screen().print(f"{plain(item.name)}: {plain(item.sentence)}", soft_wrap=True)
    counts = {verdict: sum(item.verdict is verdict for item in checked) for verdict in Verdict}
    shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    screen().print(f"{len(checked)} kernels: {shown}.")


def ending(dossier: Dossier) -> Exit:
    return Exit.OUR_FAULT if dossier.faults else CODES[dossier.verdict]


def worst(endings: Collection[Exit]) -> Exit:
    """Orders exit codes: our faults first, since their results are unknown, then the worst verdict."""
    order = (Exit.OUR_FAULT, Exit.REFUTED, Exit.UNDECIDED, Exit.HOLDS)
    return next(code for code in order if code in endings)


def _write_files(checked: Sequence[Checked], html: Path | None, junit: Path | None) -> None:
    from warpwright.app.kernels.documents import junit_xml, page

    for path, document in ((html, page), (junit, junit_xml)):
        if path is None:
            continue
        try:
            path.write_text(document(checked), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
