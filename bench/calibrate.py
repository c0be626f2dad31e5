"""Measures how well the cost model ranks kernels, and fits its constants to measurements.

make   seals every `.cu` file of a folder, counts its work in the time cases of its task, and writes a bundle for a GPU.
       A file names its task in its first line: `// task: modern/softmax  dtypes: fp32, bf16`; dtypes are optional.
fit    reads the results, prints Spearman's rank correlation between predicted and measured time for each task and
       over all, before and after a fit of the constants declared as calibrated; --save keeps the fit.

Run: python bench/calibrate.py make VARIANTS BUNDLE [--gpu h200]
     python bench/calibrate.py fit BUNDLE [--results FOLDER] [--save]
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from warpwright.core.candidate import Candidate, Flags
from warpwright.core.codec import dumps, loads
from warpwright.core.errors import Undecided, UsageError, WarpwrightError
from warpwright.core.launch.sealed import Sealed
from warpwright.core.records.judged import Job, Judged, JudgeOptions
from warpwright.core.records.measurement import Cache
from warpwright.core.task import Role, Task
from warpwright.dispatch.bundle import make_job, read_jobs, read_results, write_bundle
from warpwright.emulate.cost.constants import DATA, Calibrated, calibrated
from warpwright.emulate.cost.counting import Counted, count
from warpwright.emulate.cost.model import predict
from warpwright.seal.refusal import Refusal
from warpwright.seal.sealing import seal
from warpwright.tasks.find import load

HEADING = re.compile(r"// task: (?P<task>\S+)(?:\s+dtypes: (?P<dtypes>\w+(?:, \w+)*))?")
BOUNDS = {
    "dram_efficiency": (0.5, 1.0),
    "l2_bytes_per_clock": (8.0, 64.0),
    "l2_share": (0.2, 1.0),
    "dram_latency_ns": (300.0, 2000.0),
    "outstanding_loads": (1.0, 32.0),
    "instructions_per_global": (1.0, 20.0),
    "instructions_per_shared": (0.5, 10.0),
    "atomics_per_clock": (0.02, 32.0),
    "barrier_clocks": (5.0, 400.0),
    "matrix_efficiency": (0.1, 1.0),
    "library_efficiency": (0.2, 1.0),
    "launch_us": (0.5, 10.0),
    "next_node_us": (0.2, 10.0),
    "overlap": (1.0, 16.0),
}
PULL = 1e-3
"""The weight of a regularisation towards the initial constants: one that no measurement depends on must not move."""
BAR = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One kernel in one case: the counts from here and the measured time."""

    job: Job
    case: str
    counted: Counted
    measured_us: float


def make(variants: Path, bundle: Path, gpu: str) -> int:
    """Writes the bundle with the counts; returns the number of jobs."""
    jobs, counts = [], {}
    for path in sorted(variants.rglob("*.cu")):
        try:
            job = sealed_job(path, gpu)
            counts[job.id] = list(counted(job))
        except (UsageError, Undecided) as problem:
            print(f"{path.name}: {problem}")
            continue
        jobs.append(job)
        print(f"{path.name}: {sum(found.reason is None for found in counts[job.id])} cases counted")
    if jobs:
        write_bundle(bundle, jobs)
        (bundle / "counts.json").write_text(dumps(counts))
    return len(jobs)


def sealed_job(path: Path, gpu: str) -> Job:
    source = path.read_text(encoding="utf-8")
    match = HEADING.match(source)
    if match is None:
        raise UsageError("its first line does not say '// task: suite/name'")
    (task,) = load(match["task"] if ":" in match["task"] else f"{match['task']}:forward")
    kept = narrowed(task, match["dtypes"].split(", ") if match["dtypes"] else task.dtypes)
    outcome = seal(kept, Candidate(source=source, flags=Flags(gpu=gpu)))
    if isinstance(outcome, Refusal):
        raise UsageError(outcome.reason or (outcome.counterexample.message if outcome.counterexample else "not sealed"))
    return make_job(path.stem, kept, outcome, asked=JudgeOptions(baselines=(), draws_per_check_case=1))


def narrowed(task: Task, dtypes: Iterable[str]) -> Task:
    """Restricts the task to cases of some dtypes, since variants are often written for one."""
    wanted = set(dtypes)
    return replace(task, cases=tuple(case for case in task.cases if case.dtype in wanted))


def counted(job: Job) -> Iterator[Counted]:
    sealed = sealed_of(job)
    candidate = Candidate(source=sealed.source, flags=sealed.manifest.flags)
    for case in job.task.cases_of(Role.TIME):
        yield count(job.task, candidate, sealed, case)


def sealed_of(job: Job) -> Sealed:
    if job.sealed is None:
        raise UsageError(f"job {job.label} has no sealed kernel")
    return job.sealed


def points(jobs: Sequence[Job], counts: Mapping[str, Sequence[Counted]], results: Sequence[Judged]) -> list[Point]:
    """Returns every case that was counted and has a valid measurement with a cold cache."""
    by_id = {job.id: job for job in jobs}
    found = []
    for judged in results:
        job = by_id.get(judged.job)
        known = {item.case: item for item in counts.get(judged.job, ()) if item.reason is None}
        for taken in judged.measurements if job else ():
            usable = taken.subject == judged.candidate and taken.cache is Cache.COLD
            if job and usable and taken.invalid is None and taken.median_us is not None and taken.case in known:
                found.append(Point(job=job, case=taken.case, counted=known[taken.case], measured_us=taken.median_us))
    return found


def predicted_us(point: Point, constants: Calibrated) -> float:
    case = next(case for case in point.job.task.cases if case.name == point.case)
    return predict(point.job.task, sealed_of(point.job), case, point.counted, constants).time_us


def spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rank correlation with shared ranks for ties; None with fewer than three pairs or a constant side."""
    left, right = ranks([pair[0] for pair in pairs]), ranks([pair[1] for pair in pairs])
    if len(pairs) < 3 or len(set(left)) == 1 or len(set(right)) == 1:
        return None
    return statistics.correlation(left, right)


def ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [statistics.fmean(places[value]) for value in values]


def correlations(found: Sequence[Point], constants: Calibrated) -> dict[str, float | None]:
    """Returns for each task the mean correlation over its cases, and the correlation over all times."""
    pairs = [(point, (predicted_us(point, constants), point.measured_us)) for point in found]
    groups: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for point, pair in pairs:
        groups.setdefault(point.job.task.key, {}).setdefault(point.case, []).append(pair)
    by_task = {task: [spearman(case) for case in cases.values()] for task, cases in groups.items()}
    known = {task: [value for value in values if value is not None] for task, values in by_task.items()}
    means = {task: statistics.fmean(values) if values else None for task, values in known.items()}
    return {**means, "all": spearman([pair for _, pair in pairs])}


def fitted(found: Sequence[Point], start: Calibrated, rounds: int = 6) -> Calibrated:
    """Coordinate descent: changes one constant after the other by decreasing steps, as long as the error decreases."""
    begun = asdict(start)
    best = dict(begun)
    lowest = misfit(found, best, begun)
    for step in (2.0 ** (1 / 2**number) for number in range(rounds)):
        for name, (low, high) in BOUNDS.items():
            for factor in (step, 1 / step):
                tried = {**best, name: min(max(best[name] * factor, low), high)}
                value = misfit(found, tried, begun)
                if value < lowest:
                    best, lowest = tried, value
    return Calibrated(**best)


def misfit(found: Sequence[Point], constants: Mapping[str, float], start: Mapping[str, float]) -> float:
    """The mean squared logarithm of predicted over measured time, with a slight pull to the initial constants."""
    chosen = Calibrated(**constants)
    errors = [math.log(predicted_us(point, chosen) / point.measured_us) ** 2 for point in found]
    pull = [math.log(constants[name] / start[name]) ** 2 for name in BOUNDS]
    return statistics.fmean(errors) + PULL * statistics.fmean(pull)


def typical_error(found: Sequence[Point], constants: Calibrated) -> float:
    return half_within([(predicted_us(point, constants), point.measured_us) for point in found])


def half_within(pairs: Sequence[tuple[float, float]]) -> float:
    """The factor within which half of the predictions are."""
    return math.exp(statistics.median(abs(math.log(guess / us)) for guess, us in pairs))


def fit(bundle: Path, results: Path, save: bool, say: Callable[[str], None] = print) -> int:
    jobs = read_jobs(bundle / "jobs")
    counts = loads(dict[str, tuple[Counted, ...]], (bundle / "counts.json").read_bytes())
    found = points(jobs, counts, read_results(results))
    if not found:
        raise UsageError(f"{results} has no measurement of a case that was counted")
    gpu = sealed_of(found[0].job).manifest.gpu
    start = calibrated(gpu)
    after = fitted(found, start)
    for title, constants in (("before", start), ("after", after)):
        factor = typical_error(found, constants)
        say(f"{title}: half of {len(found)} predictions are off by a factor of {factor:.2f} or less")
        for name, value in correlations(found, constants).items():
            say(f"  {name:40} {'too few kernels' if value is None else f'{value:+.3f}'}")
    moved = [f"{name} = {value:.4g}" for name, value in asdict(after).items() if value != asdict(start)[name]]
    say(f"fitted for {gpu}: {', '.join(moved) or 'nothing moved'}")
    if save:
        kept = {**json.loads(DATA.read_text()), gpu: asdict(after)}
        DATA.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")
    overall = correlations(found, after)["all"]
    return 0 if overall is not None and overall >= BAR else 1


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make")
    making.add_argument("variants", type=Path)
    making.add_argument("bundle", type=Path)
    making.add_argument("--gpu", default="h200")
    fitting = verbs.add_parser("fit")
    fitting.add_argument("bundle", type=Path)
    fitting.add_argument("--results", type=Path)
    fitting.add_argument("--save", action="store_true")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "make":
            return 0 if make(options.variants, options.bundle, options.gpu) else 1
        return fit(options.bundle, options.results or options.bundle / "results", options.save)
    except WarpwrightError as problem:
        print(problem, file=sys.stderr)
        return int(problem.exit_code)


if __name__ == "__main__":
    sys.exit(main())
