"""Handing a kernel on, in a form that other programs use, with the evidence for it."""

from __future__ import annotations

from pathlib import Path

from warpwright.app.given import Inputs, KernelLike, TaskLike
from warpwright.app.kernels.check import check
from warpwright.app.kernels.seal import seal
from warpwright.app.progress import OnProgress
from warpwright.core.codec import dumps
from warpwright.core.errors import Undecided, UsageError
from warpwright.core.records.evidence import Verdict

EVIDENCE = "EVIDENCE.json"


def export(
    kernel: KernelLike,
    task: TaskLike,
    form: str,
    folder: str | Path,
    *,
    inputs: Inputs = (),
    gpu: str = "h200",
    on_progress: OnProgress | None = None,
) -> tuple[Path, ...]:
    """Check a kernel and write it into a folder in a form such as "kernelbench"; returns the files.

    EVIDENCE.json lies beside them. A kernel that is refuted is not exported.
    """
    from warpwright.export.forms import form_named

    files = form_named(form).files
    found = check(kernel, task, inputs=inputs, gpu=gpu, on_progress=on_progress)
    if found.verdict is Verdict.REFUTED:
        raise UsageError(f"a refuted kernel is not exported: {found.sentence}")
    sealed = seal(found.candidate, found.subject).sealed
    if sealed is None:
        raise Undecided(f"only a sealed kernel is exported: {found.sentence}")
    texts = {**files(found.subject.task, found.candidate, sealed), EVIDENCE: _evidence(found.document())}
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    return tuple(place / name for name in texts)


def _evidence(document: dict[str, object]) -> str:
    return dumps({"schema": "warpwright.evidence/1", **document}) + "\n"
