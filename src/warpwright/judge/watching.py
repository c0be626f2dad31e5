"""Runs one candidate under NVIDIA's profiler or sanitizer, where they are installed."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warpwright.core.codec import dumps
from warpwright.core.errors import OurFault, Undecided
from warpwright.core.records.evidence import Counterexample, Evidence, Fault, Verdict
from warpwright.core.records.judged import Job

SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
TIMEOUT_S = 300.0
TIME, DRAM, L2, SM, WARPS, L1 = (
    "gpu__time_duration.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
)
_NANOSECONDS = {"ns": 1.0, "nsecond": 1.0, "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6}
_OF_KERNELS = "Invalid|Misaligned|Out-of-range|Illegal|Stack|Uninitialized|Barrier|Error|Warning|Race|Potential"
_SAID = re.compile(rf"^=+ (?P<words>(?:{_OF_KERNELS})\b.*)", re.MULTILINE)
_FINISHED = re.compile(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): \d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledKernel:
    """One kernel of a call as the profiler saw it; percentages are of the hardware's peak."""

    kernel: str
    time_us: float
    metrics: Mapping[str, float] = field(default_factory=dict)


def profile(
    job: Job, case: str | None = None, report: Path | None = None, calls: int = 1
) -> tuple[ProfiledKernel, ...]:
    """Profiles the kernels of cold calls, in order. Undecided if the profiler is missing or may not read counters."""
    tool = shutil.which("ncu")
    if tool is None:
        raise Undecided("ncu is not installed here")
    metrics = ["--metrics", ",".join((TIME, DRAM, L2, SM, WARPS, L1))]
    kept = (
        ["--export", str(report), "--force-overwrite", "--page", "raw", "--csv"]
        if report
        else ["--page", "raw", "--csv"]
    )
    quiet = ["--clock-control", "none", "--cache-control", "none", "--print-units", "base"]
    found = _run([tool, *quiet, *metrics, *kept, *_only(job)], job, case, calls)
    if report:
        found = _finished([tool, "--import", str(report), "--page", "raw", "--csv", "--print-units", "base"], {})
    watched = _table(found.stdout)
    if not watched:
        raise Undecided(f"ncu saw no kernel: {_last_line(found)}")
    return watched


def sanitize(job: Job, tool: str, case: str | None = None) -> Evidence:
    """Runs one call under a tool of compute-sanitizer."""
    assert job.sealed is not None
    program = shutil.which("compute-sanitizer")
    candidate, rung = job.sealed.manifest.candidate, f"sanitizer {tool}"
    if program is None:
        reason = "compute-sanitizer is not installed here"
        return Evidence(candidate=candidate, rung=rung, verdict=Verdict.UNDECIDED, reason=reason)
    found = _run([program, "--tool", tool, "--kernel-regex", f"kns={_names(job)}"], job, case)
    if not _FINISHED.search(found.stdout):
        reason = f"compute-sanitizer did not finish: {_last_line(found)}"
        return Evidence(candidate=candidate, rung=rung, verdict=Verdict.UNDECIDED, reason=reason)
    words = first_report(found.stdout)
    if words is None:
        return Evidence(candidate=candidate, rung=rung, verdict=Verdict.HOLDS)
    shown = Counterexample(kind=tool, message=words, case=case)
    return Evidence(candidate=candidate, rung=rung, verdict=Verdict.REFUTED, counterexample=shown)


def first_report(printed: str) -> str | None:
    """The first report about a kernel. Reports about host calls concern our code: the candidate's host code never runs
    here.
    """
    first = _SAID.search(printed)
    return first["words"] if first else None


def _only(job: Job) -> list[str]:
    return ["--kernel-name-base", "mangled", "--kernel-name", f"regex:{_names(job)}"]


def _names(job: Job) -> str:
    assert job.sealed is not None
    return "|".join(re.escape(kernel.symbol) for kernel in job.sealed.kernels)


def _run(tool: list[str], job: Job, case: str | None, calls: int = 1) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(dumps(job))
        chosen = ["--calls", str(calls), *(["--case", case] if case else [])]
        command = [*tool, sys.executable, "-m", "warpwright.judge.processes.solo", str(path), *chosen]
        return _finished(command, {"PYTHONPATH": str(Path(__file__).parents[2])})


def _finished(command: list[str], extra: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, env={**os.environ, **extra}, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise OurFault(Fault(where=Path(command[0]).name, message=f"no end after {TIMEOUT_S:g} s")) from None


def _table(text: str) -> tuple[ProfiledKernel, ...]:
    """Parses ncu's raw page: a line of names, a line of units, then one line for each kernel."""
    start = text.find('"ID"')
    if start < 0:
        return ()
    names, units, *rows = csv.reader(io.StringIO(text[start:]))
    return tuple(_watched(names, units, row) for row in rows if len(row) == len(names))


def _watched(names: list[str], units: list[str], row: list[str]) -> ProfiledKernel:
    values = dict(zip(names, row, strict=True))
    unit = dict(zip(names, units, strict=True)).get(TIME, "ns")
    metrics = {name: float(values[name].replace(",", "")) for name in (DRAM, L2, SM, WARPS, L1) if values.get(name)}
    nanoseconds = float(values[TIME].replace(",", "")) * _NANOSECONDS.get(unit, 1.0)
    return ProfiledKernel(kernel=values.get("Kernel Name", "?"), time_us=nanoseconds / 1e3, metrics=metrics)


def _last_line(found: subprocess.CompletedProcess[str]) -> str:
    lines = (found.stdout + found.stderr).strip().splitlines()
    return lines[-1][:300] if lines else f"exit status {found.returncode}"
