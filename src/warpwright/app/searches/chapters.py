"""Collects the contents of a search's page from the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpwright.core.gpus.limit import physical_limit
from warpwright.core.gpus.table import gpu_named
from warpwright.core.records.evidence import Dossier
from warpwright.core.records.judged import Judged
from warpwright.core.records.search import Snapshot
from warpwright.core.task import Task
from warpwright.report.funnel import best
from warpwright.report.page import Chapter

if TYPE_CHECKING:
    from warpwright.archive.store import Archive


def chapter(archive: Archive, task: Task, snapshot: Snapshot, gpu: str) -> Chapter:
    from warpwright.search.known_kernels import library_of

    winner = best(snapshot)
    if winner is None or winner.candidate is None:
        return Chapter(snapshot=snapshot, gpu=gpu)
    run, candidate = snapshot.run.id, winner.candidate
    kernel = library_of(archive, run)[candidate]
    dossiers = {item.candidate: item for item in archive.records(run, Dossier)}
    judged = [item for record in archive.records(run, Judged) for item in record.evidence]
    limits = {case.name: physical_limit(task.work, case, gpu_named(gpu)) for case in task.cases}
    return Chapter(
        snapshot=snapshot,
        source=kernel.candidate.source,
        dossier=dossiers.get(candidate),
        judged=tuple(item for item in judged if item.candidate == candidate),
        times_us=kernel.times_us,
        gpu=gpu_named(gpu).title,
        limits_us={name: limit.seconds * 1e6 if limit else None for name, limit in limits.items()},
    )
