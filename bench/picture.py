"""Draws the kernel of a recorded search beside its baselines: python bench/picture.py docs/examples/topk_gating."""

from __future__ import annotations

import sys
from pathlib import Path

from warpwright.core.candidate import Candidate
from warpwright.dispatch.bundle import read_results
from warpwright.report.comparison import picture, table
from warpwright.report.standings import Standing, standings
from warpwright.tasks import load


def recorded(folder: Path) -> tuple[Standing, ...]:
    """Reads the standings of the kernel of a recorded search."""
    kernel = Candidate(source=(folder / "kernel.cu").read_text(encoding="utf-8"))
    (judged,) = [item for item in read_results(folder / "results") if item.candidate == kernel.id]
    (task,) = load(judged.task)
    return standings(task, judged)


if __name__ == "__main__":
    found = recorded(Path(sys.argv[1]))
    print(table(found))
    (Path(sys.argv[1]) / "kernel.svg").write_text(picture(found) + "\n", encoding="utf-8")
