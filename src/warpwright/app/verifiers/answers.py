"""Asks every verifier about labelled kernels. Answers are kept beside the labels, so that this can be resumed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warpwright.app.given import candidate_of
from warpwright.app.kernels.check import Demands, Piece, check_pieces
from warpwright.app.progress import Reporter
from warpwright.core.codec import CodecError, content_id, dumps, loads
from warpwright.core.records.evidence import Dossier, Verdict
from warpwright.verify.comparison import OURS

if TYPE_CHECKING:
    from warpwright.faults.published import Repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Which verifiers are asked, and how."""

    folder: Path
    published: bool = False
    """Whether the checks of KernelBench and KernelBench-Verified are asked too."""
    again: bool = False
    """Whether kernels are asked about that have been before."""
    seconds: float | None = None
    dtypes: tuple[str, ...] = ()

    def place(self, piece: Piece) -> Path:
        """The file of the answers on one kernel."""
        source, task = candidate_of(piece.kernel).source, piece.subject.task.id
        key = content_id([piece.name, source, task, piece.dtypes or self.dtypes, self.published, self.seconds])
        return self.folder / "answers" / f"{key}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What was answered about one kernel, as it is stored."""

    dossier: Dossier
    others: Mapping[str, Verdict]
    """The verdicts of published checks."""
    seconds: Mapping[str, float]


def asked(work: Sequence[Piece], asking: Asking, jobs: int | None, progress: Reporter) -> list[Kept]:
    """What was answered about every kernel, in order."""
    from warpwright.dispatch.pool import parallel

    ask = partial(_asked, asking=asking)
    return parallel(ask, work, jobs=jobs, progress=progress, label=lambda piece: piece.name)


def _asked(piece: Piece, asking: Asking) -> Kept:
    from warpwright.archive.travel.whole_files import atomic_write

    place = asking.place(piece)
    known = None if asking.again else _read(place)
    found = known or _answers(piece, asking)
    if known is None and not found.dossier.faults:
        place.parent.mkdir(exist_ok=True)
        with atomic_write(place) as path:
            path.write_text(dumps(found))
    return found


def _read(place: Path) -> Kept | None:
    try:
        found: Kept = loads(Kept, place.read_text())
    except (OSError, CodecError):
        return None
    return found


def _answers(piece: Piece, asking: Asking) -> Kept:
    start = time.monotonic()
    (checked,) = check_pieces([piece], dtypes=asking.dtypes, demands=Demands(seconds=asking.seconds))
    took = {OURS: time.monotonic() - start}
    others: dict[str, Verdict] = {}
    for name, repeated in _published() if asking.published else ():
        start = time.monotonic()
        others[name] = repeated.verdict(piece.subject.task, checked.candidate)
        took[name] = time.monotonic() - start
    return Kept(dossier=checked.dossier, others=others, seconds=took)


def _published() -> list[tuple[str, Repeated]]:
    from warpwright.faults.published import Repeated
    from warpwright.faults.running import Runner
    from warpwright.oracle.inputs.published import PUBLISHED
    from warpwright.seal.cache import Store, default_root
    from warpwright.verify.library import execute_on_cpu

    runner = Runner(gpu="h200", store=Store(root=default_root()), library=execute_on_cpu)
    return [(check.name, Repeated(check=check, runner=runner)) for check in PUBLISHED]
