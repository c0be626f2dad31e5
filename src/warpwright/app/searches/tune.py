"""Settings of one kernel's open constants: tried, compared, remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpwright.app.given import Inputs, KernelLike, TaskLike, candidate_of
from warpwright.app.progress import OnProgress, Reporter
from warpwright.app.searches.settings import settings_for
from warpwright.core.candidate import Candidate
from warpwright.core.records.evidence import Dossier
from warpwright.core.records.search import Score
from warpwright.evolve.policy import Policy
from warpwright.propose.tuning.ranking import MOST, Entrant
from warpwright.report.scores import in_words
from warpwright.search.tuning import Tuned


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TuneResult:
    """The settings of one kernel and how they compare."""

    run: str
    tuned: Tuned
    best: Candidate | None
    """The kernel with its best setting, or with the winners by shape merged; None if none was right and scored."""
    dossiers: Mapping[str, Dossier]

    @property
    def source(self) -> str | None:
        return self.best.source if self.best else None

    @property
    def is_merged(self) -> bool:
        """Whether the best kernel is the one into which the winners by shape were merged."""
        return self.best is not None and self.best.id == self.tuned.merged

    def score(self, entrant: Entrant) -> Score | None:
        return self.tuned.scores.get(entrant.candidate.id)

    def verdict(self, entrant: Entrant) -> str | None:
        """None where a fault of ours left it open."""
        dossier = self.dossiers.get(entrant.candidate.id)
        return dossier.verdict if dossier and not dossier.faults else None

    @property
    def sentence(self) -> str:
        if self.best is None:
            return "No setting was found right and could be scored."
        known = {entrant.candidate.id: entrant for entrant in self.tuned.tried}
        what = "the winners by shape, merged" if self.is_merged else in_words_of(known[self.best.id])
        return f"Best: {what}, {in_words(self.tuned.scores[self.best.id])}"

    def document(self) -> dict[str, Any]:
        """For programs: every setting with its verdict and its score."""
        rows = [
            {
                "candidate": item.candidate.id,
                "settings": item.settings,
                "verdict": self.verdict(item),
                "score": self.score(item),
            }
            for item in self.tuned.tried
        ]
        return {
            "run": self.run,
            "basis": self.tuned.basis,
            "best": self.best.id if self.best else None,
            "merged": self.tuned.merged,
            "refusal": self.tuned.refusal,
            "settings": rows,
        }

    def __repr__(self) -> str:
        rows = (" ".join(row) for row in self._rows())
        return "\n  ".join([self.sentence, *rows])

    def _rows(self) -> list[tuple[str, str, str]]:
        scored = ((item, self.score(item)) for item in self.tuned.tried)
        return [
            (in_words_of(item), self.verdict(item) or "our fault", in_words(score) if score else "")
            for item, score in scored
        ]

    def _repr_html_(self) -> str:
        from warpwright.app.notebook import paragraph, table

        return paragraph(self.sentence) + table(("setting", "verdict", "standing"), self._rows())


def in_words_of(entrant: Entrant) -> str:
    """A setting such as "BLOCK = 64, UNROLL = 2"."""
    return ", ".join(f"{name} = {value}" for name, value in entrant.settings.items())


def tune(
    kernel: KernelLike,
    task: TaskLike,
    *,
    inputs: Inputs = (),
    most: int = MOST,
    merge: bool = False,
    gpu: str = "h200",
    fast_math: bool = False,
    dispatch: str = "auto",
    archive: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> TuneResult:
    """Find the best values for constants that a kernel leaves open, with at most `most` settings.

    A comment such as `// tune: BLOCK = 64, 128, 256` before what sets BLOCK leaves it open. With `merge` the winners
    of different shapes become one kernel.
    """
    from warpwright.archive.opening import open_archive
    from warpwright.search.line import straight_line
    from warpwright.search.wiring import tuning_run

    settings = settings_for(
        task, Policy(), {"inputs": inputs, "gpu": gpu, "fast_math": fast_math, "dispatch": dispatch}
    )
    candidate = candidate_of(kernel, gpu, fast_math)
    with open_archive(archive) as opened:
        run, tuning = tuning_run(opened, settings, candidate, Reporter(on_progress), most=most, merge=merge)
        tuned = tuning.result(straight_line(run))
        return TuneResult(
            run=run.run.id,
            tuned=tuned,
            best=opened.candidate(tuned.best) if tuned.best else None,
            dossiers={item.candidate: item for item in opened.records(run.run.id, Dossier)},
        )
