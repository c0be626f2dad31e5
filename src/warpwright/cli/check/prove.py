"""`warpwright prove`: whether a kernel computes the formula of its reference, without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from warpwright.cli.check.candidates import Compiled, Dtypes, Kernel, TaskName, subject
from warpwright.cli.grouped import grouped
from warpwright.cli.output import Json, emit
from warpwright.cli.tasks.tasks import Inputs
from warpwright.core.errors import Exit

if TYPE_CHECKING:
    from warpwright.app.kernels.prove import Proved
    from warpwright.prove.proof import CaseProof, Grade


@grouped
def prove(
    kernel: Kernel,
    task: TaskName,
    compiled: Compiled,
    inputs: Inputs = None,
    dtypes: Dtypes = None,
    as_json: Json = False,
) -> None:
    """Decide whether a kernel computes its reference's formula.

    Values that are only close to it are not enough. The exit code is 0 for EQUAL, 1 for DIFFERENT, 3 for UNSUPPORTED.
    """
    from warpwright.app.kernels.prove import prove as prove_kernel
    from warpwright.cli.screen import progress

    asked = subject(task, inputs, silent=as_json)
    with progress(silent=as_json) as told:
        found = prove_kernel(compiled.file(kernel), asked, dtypes=dtypes or (), gpu=compiled.gpu, on_progress=told)
    if as_json:
        emit("prove/1", **found.document())
    else:
        _show(found)
    raise typer.Exit(_ending(found.grade))


def _ending(grade: Grade) -> Exit:
    return {"equal": Exit.HOLDS, "different": Exit.REFUTED}.get(grade.value, Exit.UNDECIDED)


def _show(found: Proved) -> None:
    from warpwright.cli.screen import bad, faint, good, plain, screen, show_table

    colour = {"equal": good, "different": bad}.get(found.grade.value, faint)
    screen().print(colour(plain(found.sentence)), soft_wrap=True)
    rows = [tuple(map(plain, _row(item))) for item in found.proof.cases]
    if rows:
        show_table(("case", "formula", "draws", "elements", "error per degree", ""), rows)


def _row(item: CaseProof) -> tuple[str, ...]:
    remark = item.reason or (item.counterexample.message if item.counterexample else "")
    chance = "" if item.error is None else f"{item.error:.0e}"
    counts = ("", "") if item.error is None else (str(item.draws), str(item.elements))
    return item.case, item.grade.value, *counts, chance, remark
